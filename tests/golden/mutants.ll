; testdata/vector_add/vector_add.cl
;
; Eight mutants in one module, each selected by its number in the slot of the probe buffer (`%kassay.mutant`; 0:
; none): 1 to 5 replace the operator of `i < n`, 6 to 8 that of `a[i] + b[i]`.
; - The original operation stays. `kassay.mutants` is entered only if one of the mutants of this place is active,
;   computes all replacements and selects one; a `phi` passes it on.
; - `__kassay_slot` is only declared here; `instrument::ids` defines it.

define spir_kernel void @vector_add(ptr addrspace(1) noundef align 4 %a, ptr addrspace(1) noundef align 4 %b, ptr addrspace(1) noundef align 4 %c, i32 noundef %n, ptr addrspace(1) %kassay_probe) {
kassay.head:
  %kassay.slot = call spir_func ptr addrspace(1) @__kassay_slot(ptr addrspace(1) %kassay_probe)
  %0 = getelementptr inbounds i32, ptr addrspace(1) %kassay.slot, i32 0
  %kassay.mutant = load i32, ptr addrspace(1) %0, align 4
  %a.addr = alloca ptr addrspace(1), align 8
  %b.addr = alloca ptr addrspace(1), align 8
  %c.addr = alloca ptr addrspace(1), align 8
  %n.addr = alloca i32, align 4
  %i = alloca i32, align 4
  store ptr addrspace(1) %a, ptr %a.addr, align 8
  store ptr addrspace(1) %b, ptr %b.addr, align 8
  store ptr addrspace(1) %c, ptr %c.addr, align 8
  store i32 %n, ptr %n.addr, align 4
  %call = call spir_func i64 @_Z13get_global_idj(i32 noundef 0)
  %conv = trunc i64 %call to i32
  store i32 %conv, ptr %i, align 4
  %1 = load i32, ptr %i, align 4
  %2 = load i32, ptr %n.addr, align 4
  %cmp = icmp slt i32 %1, %2
  %3 = sub i32 %kassay.mutant, 1
  %4 = icmp ule i32 %3, 4
  br i1 %4, label %kassay.mutants, label %entry

kassay.mutants:                                   ; preds = %kassay.head
  %5 = icmp eq i32 %kassay.mutant, 1
  %6 = icmp ne i32 %1, %2
  %7 = select i1 %5, i1 %6, i1 %cmp
  %8 = icmp eq i32 %kassay.mutant, 2
  %9 = icmp sle i32 %1, %2
  %10 = select i1 %8, i1 %9, i1 %7
  %11 = icmp eq i32 %kassay.mutant, 3
  %12 = icmp eq i32 %1, %2
  %13 = select i1 %11, i1 %12, i1 %10
  %14 = icmp eq i32 %kassay.mutant, 4
  %15 = icmp sgt i32 %1, %2
  %16 = select i1 %14, i1 %15, i1 %13
  %17 = icmp eq i32 %kassay.mutant, 5
  %18 = icmp sge i32 %1, %2
  %19 = select i1 %17, i1 %18, i1 %16
  br label %entry

entry:                                            ; preds = %kassay.head, %kassay.mutants
  %20 = phi i1 [ %19, %kassay.mutants ], [ %cmp, %kassay.head ]
  br i1 %20, label %kassay.head1, label %if.end

kassay.head1:                                     ; preds = %entry
  %21 = load ptr addrspace(1), ptr %a.addr, align 8
  %22 = load i32, ptr %i, align 4
  %idxprom = sext i32 %22 to i64
  %arrayidx = getelementptr inbounds float, ptr addrspace(1) %21, i64 %idxprom
  %23 = load float, ptr addrspace(1) %arrayidx, align 4
  %24 = load ptr addrspace(1), ptr %b.addr, align 8
  %25 = load i32, ptr %i, align 4
  %idxprom2 = sext i32 %25 to i64
  %arrayidx3 = getelementptr inbounds float, ptr addrspace(1) %24, i64 %idxprom2
  %26 = load float, ptr addrspace(1) %arrayidx3, align 4
  %add = fadd float %23, %26
  %27 = sub i32 %kassay.mutant, 6
  %28 = icmp ule i32 %27, 2
  br i1 %28, label %kassay.mutants2, label %if.then

kassay.mutants2:                                  ; preds = %kassay.head1
  %29 = icmp eq i32 %kassay.mutant, 6
  %30 = fmul float %23, %26
  %31 = select i1 %29, float %30, float %add
  %32 = icmp eq i32 %kassay.mutant, 7
  %33 = fsub float %23, %26
  %34 = select i1 %32, float %33, float %31
  %35 = icmp eq i32 %kassay.mutant, 8
  %36 = fdiv float %23, %26
  %37 = select i1 %35, float %36, float %34
  br label %if.then

if.then:                                          ; preds = %kassay.head1, %kassay.mutants2
  %38 = phi float [ %37, %kassay.mutants2 ], [ %add, %kassay.head1 ]
  %39 = load ptr addrspace(1), ptr %c.addr, align 8
  %40 = load i32, ptr %i, align 4
  %idxprom4 = sext i32 %40 to i64
  %arrayidx5 = getelementptr inbounds float, ptr addrspace(1) %39, i64 %idxprom4
  store float %38, ptr addrspace(1) %arrayidx5, align 4
  br label %if.end

if.end:                                           ; preds = %if.then, %entry
  ret void
}
