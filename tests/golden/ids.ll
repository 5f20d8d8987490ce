; testdata/vector_add/vector_add.cl
;
; Virtual ids: a launch holds several runs of the kernel, each in a slot of its own, or runs its work-groups in
; another order.
; - `__kassay_ids_enter` derives slot and virtual work-group from the launched work-group, once.
; - Buffers are advanced to the copies of the slot (`__kassay_ids_offset`, by the distance at this word of the probe
;   buffer), and `get_global_id` is replaced.
; - `__kassay_ids_slot` takes the place of `__kassay_slot`: the words of this run, such as the number of its mutant.

define spir_kernel void @vector_add(ptr addrspace(1) noundef align 4 %a, ptr addrspace(1) noundef align 4 %b, ptr addrspace(1) noundef align 4 %c, i32 noundef %n, ptr addrspace(1) %kassay_probe) {
entry:
  %kassay_ids = alloca [7 x i32], align 4
  call spir_func void @__kassay_ids_enter(ptr addrspace(1) %kassay_probe, ptr %kassay_ids)
  %0 = call spir_func i64 @__kassay_ids_offset(ptr addrspace(1) %kassay_probe, ptr %kassay_ids, i32 18)
  %1 = getelementptr i8, ptr addrspace(1) %a, i64 %0
  %2 = call spir_func i64 @__kassay_ids_offset(ptr addrspace(1) %kassay_probe, ptr %kassay_ids, i32 22)
  %3 = getelementptr i8, ptr addrspace(1) %b, i64 %2
  %4 = call spir_func i64 @__kassay_ids_offset(ptr addrspace(1) %kassay_probe, ptr %kassay_ids, i32 26)
  %5 = getelementptr i8, ptr addrspace(1) %c, i64 %4
  %6 = call spir_func ptr addrspace(1) @__kassay_ids_slot(ptr addrspace(1) %kassay_probe, ptr %kassay_ids, i32 32, i32 8)
  %7 = getelementptr inbounds i32, ptr addrspace(1) %6, i32 0
  %kassay.mutant = load i32, ptr addrspace(1) %7, align 4
  %a.addr = alloca ptr addrspace(1), align 8
  %b.addr = alloca ptr addrspace(1), align 8
  %c.addr = alloca ptr addrspace(1), align 8
  %n.addr = alloca i32, align 4
  %i = alloca i32, align 4
  store ptr addrspace(1) %1, ptr %a.addr, align 8
  store ptr addrspace(1) %3, ptr %b.addr, align 8
  store ptr addrspace(1) %5, ptr %c.addr, align 8
  store i32 %n, ptr %n.addr, align 4
  %8 = call spir_func i64 @__kassay_ids_get_global_id(ptr %kassay_ids, i32 0)
  %conv = trunc i64 %8 to i32
  store i32 %conv, ptr %i, align 4
  %9 = load i32, ptr %i, align 4
  %10 = load i32, ptr %n.addr, align 4
  %cmp = icmp slt i32 %9, %10
  br i1 %cmp, label %if.then, label %if.end

if.then:                                          ; preds = %entry
  %11 = load ptr addrspace(1), ptr %a.addr, align 8
  %12 = load i32, ptr %i, align 4
  %idxprom = sext i32 %12 to i64
  %arrayidx = getelementptr inbounds float, ptr addrspace(1) %11, i64 %idxprom
  %13 = load float, ptr addrspace(1) %arrayidx, align 4
  %14 = load ptr addrspace(1), ptr %b.addr, align 8
  %15 = load i32, ptr %i, align 4
  %idxprom2 = sext i32 %15 to i64
  %arrayidx3 = getelementptr inbounds float, ptr addrspace(1) %14, i64 %idxprom2
  %16 = load float, ptr addrspace(1) %arrayidx3, align 4
  %add = fadd float %13, %16
  %17 = load ptr addrspace(1), ptr %c.addr, align 8
  %18 = load i32, ptr %i, align 4
  %idxprom4 = sext i32 %18 to i64
  %arrayidx5 = getelementptr inbounds float, ptr addrspace(1) %17, i64 %idxprom4
  store float %add, ptr addrspace(1) %arrayidx5, align 4
  br label %if.end

if.end:                                           ; preds = %if.then, %entry
  ret void
}
