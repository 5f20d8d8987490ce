; testdata/vector_add/vector_add.cl
;
; Reports of definitions and uses, before everything is inlined.
; - Beside each private variable stands `%kassay.last` with the number of its last definition; 0: none. A use adds it to
;   the number of its own first pair and reports the pair (`__kassay_at_pair`).
; - Accesses to memory report their number, flags (1: a definition), address and length (`__kassay_at_flow`).

define spir_kernel void @vector_add(ptr addrspace(1) noundef align 4 %a, ptr addrspace(1) noundef align 4 %b, ptr addrspace(1) noundef align 4 %c, i32 noundef %n) {
entry:
  %a.addr = alloca ptr addrspace(1), align 8
  %b.addr = alloca ptr addrspace(1), align 8
  %c.addr = alloca ptr addrspace(1), align 8
  %n.addr = alloca i32, align 4
  %i = alloca i32, align 4
  %kassay.last = alloca i32, align 4
  %kassay.last1 = alloca i32, align 4
  %kassay.last2 = alloca i32, align 4
  %kassay.last3 = alloca i32, align 4
  %kassay.last4 = alloca i32, align 4
  store i32 0, ptr %kassay.last4, align 4
  store i32 0, ptr %kassay.last3, align 4
  store i32 0, ptr %kassay.last2, align 4
  store i32 0, ptr %kassay.last1, align 4
  store i32 0, ptr %kassay.last, align 4
  store ptr addrspace(1) %a, ptr %a.addr, align 8
  store i32 1, ptr %kassay.last, align 4
  store ptr addrspace(1) %b, ptr %b.addr, align 8
  store i32 1, ptr %kassay.last1, align 4
  store ptr addrspace(1) %c, ptr %c.addr, align 8
  store i32 1, ptr %kassay.last2, align 4
  store i32 %n, ptr %n.addr, align 4
  store i32 1, ptr %kassay.last3, align 4
  %call = call spir_func i64 @_Z13get_global_idj(i32 noundef 0)
  %conv = trunc i64 %call to i32
  store i32 %conv, ptr %i, align 4
  store i32 1, ptr %kassay.last4, align 4
  %0 = load i32, ptr %i, align 4
  %1 = load i32, ptr %kassay.last4, align 4
  %2 = add i32 %1, 8
  call void @__kassay_at_pair(i32 %2)
  %3 = load i32, ptr %n.addr, align 4
  %4 = load i32, ptr %kassay.last3, align 4
  %5 = add i32 %4, 6
  call void @__kassay_at_pair(i32 %5)
  %cmp = icmp slt i32 %0, %3
  br i1 %cmp, label %if.then, label %if.end

if.then:                                          ; preds = %entry
  %6 = load ptr addrspace(1), ptr %a.addr, align 8
  %7 = load i32, ptr %kassay.last, align 4
  %8 = add i32 %7, 0
  call void @__kassay_at_pair(i32 %8)
  %9 = load i32, ptr %i, align 4
  %10 = load i32, ptr %kassay.last4, align 4
  %11 = add i32 %10, 10
  call void @__kassay_at_pair(i32 %11)
  %idxprom = sext i32 %9 to i64
  %arrayidx = getelementptr inbounds float, ptr addrspace(1) %6, i64 %idxprom
  %12 = load float, ptr addrspace(1) %arrayidx, align 4
  %13 = ptrtoint ptr addrspace(1) %arrayidx to i64
  call void @__kassay_at_flow(i32 9, i32 0, i64 %13, i64 4, i64 1, i64 4)
  %14 = load ptr addrspace(1), ptr %b.addr, align 8
  %15 = load i32, ptr %kassay.last1, align 4
  %16 = add i32 %15, 2
  call void @__kassay_at_pair(i32 %16)
  %17 = load i32, ptr %i, align 4
  %18 = load i32, ptr %kassay.last4, align 4
  %19 = add i32 %18, 12
  call void @__kassay_at_pair(i32 %19)
  %idxprom2 = sext i32 %17 to i64
  %arrayidx3 = getelementptr inbounds float, ptr addrspace(1) %14, i64 %idxprom2
  %20 = load float, ptr addrspace(1) %arrayidx3, align 4
  %21 = ptrtoint ptr addrspace(1) %arrayidx3 to i64
  call void @__kassay_at_flow(i32 12, i32 0, i64 %21, i64 4, i64 1, i64 4)
  %add = fadd float %12, %20
  %22 = load ptr addrspace(1), ptr %c.addr, align 8
  %23 = load i32, ptr %kassay.last2, align 4
  %24 = add i32 %23, 4
  call void @__kassay_at_pair(i32 %24)
  %25 = load i32, ptr %i, align 4
  %26 = load i32, ptr %kassay.last4, align 4
  %27 = add i32 %26, 14
  call void @__kassay_at_pair(i32 %27)
  %idxprom4 = sext i32 %25 to i64
  %arrayidx5 = getelementptr inbounds float, ptr addrspace(1) %22, i64 %idxprom4
  store float %add, ptr addrspace(1) %arrayidx5, align 4
  %28 = ptrtoint ptr addrspace(1) %arrayidx5 to i64
  call void @__kassay_at_flow(i32 15, i32 1, i64 %28, i64 4, i64 1, i64 4)
  br label %if.end

if.end:                                           ; preds = %if.then, %entry
  ret void
}
