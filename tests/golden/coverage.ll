; testdata/reduction_tree/reduction_tree.cl
;
; Coverage probes. A work-item sets bits in its private `%kassay.words` and at the end flushes those that are new into
; its work-group's slot of the probe buffer.
; - Only bits that no other ones imply have a probe. Instead of the branches `cond.true` and `cond.false`, the block
;   where they join has one, whose bit depends on the edge (`phi`): 2 and 4 are the outcomes of `gid < n`, 8 and 16
;   those of `lid < stride`, 32 and 64 those of `lid == 0`.
; - `%kassay.loop` counts iterations; `__kassay_loop_end` turns the count into a class: zero, one or many (bits 7 to 9).
; - Bit 0 is the barrier in the loop; the one before it is always reached. The slot's second word takes the barriers
;   that a work-item did not reach: a work-group with both bits of a barrier diverged.

define spir_kernel void @reduction_tree(ptr addrspace(1) noundef align 4 %in, ptr addrspace(1) noundef align 4 %partial, ptr addrspace(3) noundef align 4 %tile, i32 noundef %n, ptr addrspace(1) %kassay_probe) {
entry:
  %kassay.loop = alloca i32, align 4
  store i32 0, ptr %kassay.loop, align 4
  %kassay.words = alloca [1 x i32], align 4
  store [1 x i32] zeroinitializer, ptr %kassay.words, align 4
  %in.addr = alloca ptr addrspace(1), align 8
  %partial.addr = alloca ptr addrspace(1), align 8
  %tile.addr = alloca ptr addrspace(3), align 8
  %n.addr = alloca i32, align 4
  %lid = alloca i32, align 4
  %gid = alloca i32, align 4
  %stride = alloca i32, align 4
  store ptr addrspace(1) %in, ptr %in.addr, align 8
  store ptr addrspace(1) %partial, ptr %partial.addr, align 8
  store ptr addrspace(3) %tile, ptr %tile.addr, align 8
  store i32 %n, ptr %n.addr, align 4
  %call = call spir_func i64 @_Z12get_local_idj(i32 noundef 0)
  %conv = trunc i64 %call to i32
  store i32 %conv, ptr %lid, align 4
  %call1 = call spir_func i64 @_Z13get_global_idj(i32 noundef 0)
  %conv2 = trunc i64 %call1 to i32
  store i32 %conv2, ptr %gid, align 4
  %0 = load i32, ptr %gid, align 4
  %1 = load i32, ptr %n.addr, align 4
  %cmp = icmp slt i32 %0, %1
  br i1 %cmp, label %cond.true, label %cond.false

cond.true:                                        ; preds = %entry
  %2 = load ptr addrspace(1), ptr %in.addr, align 8
  %3 = load i32, ptr %gid, align 4
  %idxprom = sext i32 %3 to i64
  %arrayidx = getelementptr inbounds i32, ptr addrspace(1) %2, i64 %idxprom
  %4 = load i32, ptr addrspace(1) %arrayidx, align 4
  br label %cond.end

cond.false:                                       ; preds = %entry
  br label %cond.end

cond.end:                                         ; preds = %cond.false, %cond.true
  %5 = phi i32 [ 2, %cond.true ], [ 4, %cond.false ]
  %cond = phi i32 [ %4, %cond.true ], [ 0, %cond.false ]
  call spir_func void @__kassay_cover(ptr %kassay.words, i32 0, i32 %5)
  %6 = load ptr addrspace(3), ptr %tile.addr, align 8
  %7 = load i32, ptr %lid, align 4
  %idxprom4 = sext i32 %7 to i64
  %arrayidx5 = getelementptr inbounds i32, ptr addrspace(3) %6, i64 %idxprom4
  store i32 %cond, ptr addrspace(3) %arrayidx5, align 4
  call spir_func void @_Z7barrierj(i32 noundef 1)
  %call6 = call spir_func i64 @_Z14get_local_sizej(i32 noundef 0)
  %conv7 = trunc i64 %call6 to i32
  %div = sdiv i32 %conv7, 2
  store i32 %div, ptr %stride, align 4
  call spir_func void @__kassay_loop_enter(ptr %kassay.words, i32 0, i32 7, ptr %kassay.loop)
  br label %for.cond

for.cond:                                         ; preds = %for.inc, %cond.end
  %8 = load i32, ptr %stride, align 4
  %cmp8 = icmp sgt i32 %8, 0
  br i1 %cmp8, label %for.body, label %for.end

for.body:                                         ; preds = %for.cond
  call spir_func void @__kassay_loop_iterate(ptr %kassay.loop)
  call spir_func void @__kassay_cover(ptr %kassay.words, i32 0, i32 1)
  %9 = load i32, ptr %lid, align 4
  %10 = load i32, ptr %stride, align 4
  %cmp10 = icmp slt i32 %9, %10
  br i1 %cmp10, label %if.then, label %if.end

if.then:                                          ; preds = %for.body
  %11 = load ptr addrspace(3), ptr %tile.addr, align 8
  %12 = load i32, ptr %lid, align 4
  %13 = load i32, ptr %stride, align 4
  %add = add nsw i32 %12, %13
  %idxprom12 = sext i32 %add to i64
  %arrayidx13 = getelementptr inbounds i32, ptr addrspace(3) %11, i64 %idxprom12
  %14 = load i32, ptr addrspace(3) %arrayidx13, align 4
  %15 = load ptr addrspace(3), ptr %tile.addr, align 8
  %16 = load i32, ptr %lid, align 4
  %idxprom14 = sext i32 %16 to i64
  %arrayidx15 = getelementptr inbounds i32, ptr addrspace(3) %15, i64 %idxprom14
  %17 = load i32, ptr addrspace(3) %arrayidx15, align 4
  %add16 = add nsw i32 %17, %14
  store i32 %add16, ptr addrspace(3) %arrayidx15, align 4
  br label %if.end

if.end:                                           ; preds = %if.then, %for.body
  %18 = phi i32 [ 16, %for.body ], [ 8, %if.then ]
  call spir_func void @__kassay_cover(ptr %kassay.words, i32 0, i32 %18)
  call spir_func void @_Z7barrierj(i32 noundef 1)
  br label %for.inc

for.inc:                                          ; preds = %if.end
  %19 = load i32, ptr %stride, align 4
  %shr = ashr i32 %19, 1
  store i32 %shr, ptr %stride, align 4
  br label %for.cond

for.end:                                          ; preds = %for.cond
  %20 = load i32, ptr %lid, align 4
  %cmp17 = icmp eq i32 %20, 0
  br i1 %cmp17, label %if.then19, label %if.end23

if.then19:                                        ; preds = %for.end
  %21 = load ptr addrspace(3), ptr %tile.addr, align 8
  %arrayidx20 = getelementptr inbounds i32, ptr addrspace(3) %21, i64 0
  %22 = load i32, ptr addrspace(3) %arrayidx20, align 4
  %23 = load ptr addrspace(1), ptr %partial.addr, align 8
  %call21 = call spir_func i64 @_Z12get_group_idj(i32 noundef 0)
  %arrayidx22 = getelementptr inbounds nuw i32, ptr addrspace(1) %23, i64 %call21
  store i32 %22, ptr addrspace(1) %arrayidx22, align 4
  br label %if.end23

if.end23:                                         ; preds = %if.then19, %for.end
  %24 = phi i32 [ 64, %for.end ], [ 32, %if.then19 ]
  call spir_func void @__kassay_cover(ptr %kassay.words, i32 0, i32 %24)
  call spir_func void @__kassay_loop_end(ptr %kassay.words, i32 0, i32 7, ptr %kassay.loop)
  %25 = getelementptr inbounds i32, ptr %kassay.words, i32 0
  %26 = load i32, ptr %25, align 4
  call spir_func void @__kassay_flush_group(ptr addrspace(1) %kassay_probe, i32 2, i32 0, i32 %26)
  %27 = xor i32 %26, -1
  %28 = and i32 %27, 1
  call spir_func void @__kassay_flush_group(ptr addrspace(1) %kassay_probe, i32 2, i32 1, i32 %28)
  ret void
}
