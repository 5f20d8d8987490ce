; testdata/vector_add/vector_add.cl
;
; The canonical form, from which sites are read and into which everything is woven: the kernel as clang emits it,
; before any pass. Variables are in memory (`alloca`), and every construct of the source has its blocks: `if.then` and
; `if.end` are those of `if (i < n)`.

define spir_kernel void @vector_add(ptr addrspace(1) noundef align 4 %a, ptr addrspace(1) noundef align 4 %b, ptr addrspace(1) noundef align 4 %c, i32 noundef %n) {
entry:
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
  %0 = load i32, ptr %i, align 4
  %1 = load i32, ptr %n.addr, align 4
  %cmp = icmp slt i32 %0, %1
  br i1 %cmp, label %if.then, label %if.end

if.then:                                          ; preds = %entry
  %2 = load ptr addrspace(1), ptr %a.addr, align 8
  %3 = load i32, ptr %i, align 4
  %idxprom = sext i32 %3 to i64
  %arrayidx = getelementptr inbounds float, ptr addrspace(1) %2, i64 %idxprom
  %4 = load float, ptr addrspace(1) %arrayidx, align 4
  %5 = load ptr addrspace(1), ptr %b.addr, align 8
  %6 = load i32, ptr %i, align 4
  %idxprom2 = sext i32 %6 to i64
  %arrayidx3 = getelementptr inbounds float, ptr addrspace(1) %5, i64 %idxprom2
  %7 = load float, ptr addrspace(1) %arrayidx3, align 4
  %add = fadd float %4, %7
  %8 = load ptr addrspace(1), ptr %c.addr, align 8
  %9 = load i32, ptr %i, align 4
  %idxprom4 = sext i32 %9 to i64
  %arrayidx5 = getelementptr inbounds float, ptr addrspace(1) %8, i64 %idxprom4
  store float %add, ptr addrspace(1) %arrayidx5, align 4
  br label %if.end

if.end:                                           ; preds = %if.then, %entry
  ret void
}
