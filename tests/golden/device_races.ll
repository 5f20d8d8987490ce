; testdata/reduction_tree/reduction_tree.cl
;
; The search for races on a device. The kernel is inlined and promoted to registers first, so that pointers lead back to their
; arguments.
; - Accesses to memory that is written are reported in front of them: to `partial` (object 0) by their distance from the argument
;   in bytes; to `tile` (object 1), whose shadow is in local memory, the last argument but one. Reads of `in` cannot race, and for
;   the read of `tile[lid]` the write after it stands.
; - `%kassay.me` and `%kassay.local` are the work-item's words for both memories. Barriers advance the number of the interval of
;   the memory that they order.
; - `__kassay_race_clear` clears the local shadow memory, in front of everything else.

define spir_kernel void @reduction_tree(ptr addrspace(1) noundef align 4 %in, ptr addrspace(1) noundef align 4 %partial, ptr addrspace(3) noundef align 4 %tile, i32 noundef %n, ptr addrspace(3) align 16 %kassay_local_shadow, ptr addrspace(1) %kassay_probe) {
entry:
  %kassay.me = alloca i64, align 8
  %kassay.local = alloca i32, align 4
  %0 = call spir_func i64 @__kassay_race_begin(ptr addrspace(1) %kassay_probe)
  store i64 %0, ptr %kassay.me, align 8
  %1 = call spir_func i32 @__kassay_race_first(ptr addrspace(1) %kassay_probe)
  %2 = call spir_func i32 @__kassay_race_local_begin()
  store i32 %2, ptr %kassay.local, align 4
  %3 = call spir_func ptr addrspace(1) @__kassay_race_cells(ptr addrspace(1) %kassay_probe, i32 4112)
  %4 = call spir_func i64 @__kassay_race_long(ptr addrspace(1) %kassay_probe, i32 4116)
  %5 = call spir_func i64 @__kassay_race_long(ptr addrspace(1) %kassay_probe, i32 4114)
  %6 = call spir_func i64 @__kassay_race_long(ptr addrspace(1) %kassay_probe, i32 4120)
  %7 = call spir_func i64 @__kassay_race_long(ptr addrspace(1) %kassay_probe, i32 4124)
  call spir_func void @__kassay_race_clear(ptr addrspace(1) %kassay_probe, ptr addrspace(3) %kassay_local_shadow)
  %call = call spir_func i64 @_Z12get_local_idj(i32 noundef 0)
  %conv = trunc i64 %call to i32
  %call1 = call spir_func i64 @_Z13get_global_idj(i32 noundef 0)
  %conv2 = trunc i64 %call1 to i32
  %cmp = icmp slt i32 %conv2, %n
  br i1 %cmp, label %cond.true, label %cond.end

cond.true:                                        ; preds = %entry
  %idxprom = sext i32 %conv2 to i64
  %arrayidx = getelementptr inbounds i32, ptr addrspace(1) %in, i64 %idxprom
  %8 = load i32, ptr addrspace(1) %arrayidx, align 4
  br label %cond.end

cond.end:                                         ; preds = %entry, %cond.true
  %cond = phi i32 [ %8, %cond.true ], [ 0, %entry ]
  %idxprom4 = sext i32 %conv to i64
  %arrayidx5 = getelementptr inbounds i32, ptr addrspace(3) %tile, i64 %idxprom4
  %9 = ptrtoint ptr addrspace(3) %arrayidx5 to i64
  %10 = ptrtoint ptr addrspace(3) %tile to i64
  %11 = sub i64 %9, %10
  %12 = load i32, ptr %kassay.local, align 4
  call spir_func void @__kassay_race_local_write_apart(ptr addrspace(1) %kassay_probe, ptr addrspace(3) %kassay_local_shadow, i64 %6, i64 %7, i64 %11, i64 4, i32 2, i32 %12, i32 0, i32 1, i32 1)
  store i32 %cond, ptr addrspace(3) %arrayidx5, align 4
  call spir_func void @_Z7barrierj(i32 noundef 1)
  %13 = load i32, ptr %kassay.local, align 4
  %14 = call spir_func i32 @__kassay_race_local_advance(ptr addrspace(1) %kassay_probe, i32 %13)
  store i32 %14, ptr %kassay.local, align 4
  %call6 = call spir_func i64 @_Z14get_local_sizej(i32 noundef 0)
  %conv7 = trunc i64 %call6 to i32
  %div = sdiv i32 %conv7, 2
  br label %for.cond

for.cond:                                         ; preds = %if.end, %cond.end
  %stride.0 = phi i32 [ %div, %cond.end ], [ %shr, %if.end ]
  %cmp8 = icmp sgt i32 %stride.0, 0
  br i1 %cmp8, label %for.body, label %for.end

for.body:                                         ; preds = %for.cond
  %cmp10 = icmp slt i32 %conv, %stride.0
  br i1 %cmp10, label %if.then, label %if.end

if.then:                                          ; preds = %for.body
  %add = add nsw i32 %conv, %stride.0
  %idxprom12 = sext i32 %add to i64
  %arrayidx13 = getelementptr inbounds i32, ptr addrspace(3) %tile, i64 %idxprom12
  %15 = ptrtoint ptr addrspace(3) %arrayidx13 to i64
  %16 = ptrtoint ptr addrspace(3) %tile to i64
  %17 = sub i64 %15, %16
  %18 = load i32, ptr %kassay.local, align 4
  call spir_func void @__kassay_race_local_read_apart(ptr addrspace(1) %kassay_probe, ptr addrspace(3) %kassay_local_shadow, i64 %6, i64 %7, i64 %17, i64 4, i32 2, i32 %18, i32 1, i32 1, i32 1)
  %19 = load i32, ptr addrspace(3) %arrayidx13, align 4
  %20 = load i32, ptr addrspace(3) %arrayidx5, align 4
  %add16 = add nsw i32 %20, %19
  %21 = ptrtoint ptr addrspace(3) %arrayidx5 to i64
  %22 = ptrtoint ptr addrspace(3) %tile to i64
  %23 = sub i64 %21, %22
  %24 = load i32, ptr %kassay.local, align 4
  call spir_func void @__kassay_race_local_write_apart(ptr addrspace(1) %kassay_probe, ptr addrspace(3) %kassay_local_shadow, i64 %6, i64 %7, i64 %23, i64 4, i32 2, i32 %24, i32 2, i32 1, i32 1)
  store i32 %add16, ptr addrspace(3) %arrayidx5, align 4
  br label %if.end

if.end:                                           ; preds = %if.then, %for.body
  call spir_func void @_Z7barrierj(i32 noundef 1)
  %25 = load i32, ptr %kassay.local, align 4
  %26 = call spir_func i32 @__kassay_race_local_advance(ptr addrspace(1) %kassay_probe, i32 %25)
  store i32 %26, ptr %kassay.local, align 4
  %shr = ashr i32 %stride.0, 1
  br label %for.cond

for.end:                                          ; preds = %for.cond
  %cmp17 = icmp eq i32 %conv, 0
  br i1 %cmp17, label %if.then19, label %if.end23

if.then19:                                        ; preds = %for.end
  %27 = ptrtoint ptr addrspace(3) %tile to i64
  %28 = ptrtoint ptr addrspace(3) %tile to i64
  %29 = sub i64 %27, %28
  %30 = load i32, ptr %kassay.local, align 4
  call spir_func void @__kassay_race_local_read(ptr addrspace(1) %kassay_probe, ptr addrspace(3) %kassay_local_shadow, i64 %6, i64 %7, i64 %29, i64 4, i32 2, i32 %30, i32 3, i32 1, i32 1)
  %31 = load i32, ptr addrspace(3) %tile, align 4
  %call21 = call spir_func i64 @_Z12get_group_idj(i32 noundef 0)
  %arrayidx22 = getelementptr inbounds nuw i32, ptr addrspace(1) %partial, i64 %call21
  %32 = ptrtoint ptr addrspace(1) %arrayidx22 to i64
  %33 = ptrtoint ptr addrspace(1) %partial to i64
  %34 = sub i64 %32, %33
  %35 = add i64 %34, %5
  %36 = load i64, ptr %kassay.me, align 8
  call spir_func void @__kassay_race_write_once(ptr addrspace(1) %kassay_probe, ptr addrspace(1) %3, i64 %4, i64 %35, i64 4, i32 2, i64 %36, i32 %1, i32 4, i32 0, i32 1)
  store i32 %31, ptr addrspace(1) %arrayidx22, align 4
  br label %if.end23

if.end23:                                         ; preds = %if.then19, %for.end
  ret void
}
