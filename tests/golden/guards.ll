; testdata/liu_increment/liu_increment.cl
;
; Guards. The kernel is inlined and promoted to registers first, so that pointers lead back to their arguments.
; - The head computes from the argument's size in the probe buffer (words 16 and 17) how many positions are within
;   bounds (`__kassay_places`).
; - `kassay.access` is entered only within bounds. Otherwise a load gives 0, a store is skipped, and the fault is
;   recorded: 258 is instruction 1, kind 2 (out of bounds), and 514 instruction 2.
; - `kassay.end` reports to the slot: the most fuel that a work-item used (there is no loop here, so none), and the
;   fault of the first work-item that has one with its linear id.

define spir_kernel void @liu_increment(ptr addrspace(1) noundef align 4 %data, ptr addrspace(1) %kassay_probe) {
  %1 = call ptr addrspace(1) @__kassay_slot(ptr addrspace(1) %kassay_probe)
  %2 = load i32, ptr addrspace(1) %kassay_probe, align 4
  %3 = getelementptr inbounds nuw i32, ptr addrspace(1) %kassay_probe, i64 16
  %4 = load i32, ptr addrspace(1) %3, align 4
  %5 = zext i32 %4 to i64
  %6 = getelementptr inbounds nuw i32, ptr addrspace(1) %kassay_probe, i64 17
  %7 = load i32, ptr addrspace(1) %6, align 4
  %8 = zext i32 %7 to i64
  %9 = shl nuw i64 %8, 32
  %10 = or disjoint i64 %9, %5
  %11 = icmp ult i64 %10, 4
  br i1 %11, label %__kassay_places.exit, label %12

12:                                               ; preds = %0
  %13 = sub nuw i64 %10, 4
  %14 = udiv i64 %13, 4
  %15 = add i64 %14, 1
  br label %__kassay_places.exit

__kassay_places.exit:                             ; preds = %0, %12
  %16 = phi i64 [ %15, %12 ], [ 0, %0 ]
  %17 = call i64 @llvm.umin.i64(i64 %16, i64 2147483648)
  %18 = trunc nuw i64 %17 to i32
  %call = call spir_func i64 @_Z12get_group_idj(i32 noundef 0)
  %call1 = call spir_func i64 @_Z14get_local_sizej(i32 noundef 0)
  %mul = mul i64 %call, %call1
  %call2 = call spir_func i64 @_Z12get_local_idj(i32 noundef 0)
  %add = add i64 %mul, %call2
  %conv = trunc i64 %add to i32
  %idxprom = sext i32 %conv to i64
  %arrayidx = getelementptr inbounds i32, ptr addrspace(1) %data, i64 %idxprom
  %19 = icmp ult i32 %conv, %18
  %20 = xor i1 %19, true
  %21 = zext i1 %20 to i32
  %spec.select = select i1 %19, i32 0, i32 258
  br i1 %19, label %kassay.access, label %__kassay_fault_if.exit

kassay.access:                                    ; preds = %__kassay_places.exit
  %22 = load i32, ptr addrspace(1) %arrayidx, align 4
  br label %__kassay_fault_if.exit

__kassay_fault_if.exit:                           ; preds = %__kassay_places.exit, %kassay.access
  %23 = phi i32 [ %22, %kassay.access ], [ 0, %__kassay_places.exit ]
  %add3 = add nsw i32 %23, 1
  %idxprom4 = sext i32 %conv to i64
  %arrayidx5 = getelementptr inbounds i32, ptr addrspace(1) %data, i64 %idxprom4
  %24 = icmp ult i32 %conv, %18
  %25 = xor i1 %24, true
  %26 = zext i1 %25 to i32
  %spec.select5 = select i1 %24, i32 %spec.select, i32 514
  br i1 %24, label %kassay.access1, label %kassay.end

kassay.access1:                                   ; preds = %__kassay_fault_if.exit
  store i32 %add3, ptr addrspace(1) %arrayidx5, align 4
  br label %kassay.end

kassay.end:                                       ; preds = %__kassay_fault_if.exit, %kassay.access1
  %27 = load i32, ptr addrspace(1) %kassay_probe, align 4
  %28 = icmp slt i32 %2, 0
  %29 = call i32 @llvm.smax.i32(i32 %2, i32 0)
  %30 = sub i32 %27, %29
  %31 = getelementptr inbounds nuw i8, ptr addrspace(1) %1, i64 16
  %32 = load i32, ptr addrspace(1) %31, align 4
  %33 = icmp ugt i32 %30, %32
  br i1 %33, label %34, label %36

34:                                               ; preds = %kassay.end
  %35 = call spir_func i32 @_Z10atomic_maxPU3AS1Vjj(ptr addrspace(1) noundef nonnull %31, i32 noundef %30)
  br label %36

36:                                               ; preds = %34, %kassay.end
  %37 = icmp eq i32 %spec.select5, 0
  %38 = and i1 %37, %28
  %39 = call i32 @llvm.umax.i32(i32 0, i32 1)
  %40 = select i1 %38, i32 %39, i32 %spec.select5
  %41 = icmp eq i32 %40, 0
  br i1 %41, label %__kassay_report.exit, label %42

42:                                               ; preds = %36
  %43 = getelementptr inbounds nuw i8, ptr addrspace(1) %1, i64 8
  %44 = call spir_func i32 @_Z14atomic_cmpxchgPU3AS1Vjjj(ptr addrspace(1) noundef nonnull %43, i32 noundef 0, i32 noundef %40)
  %45 = icmp eq i32 %44, 0
  br i1 %45, label %46, label %__kassay_report.exit

46:                                               ; preds = %42
  %47 = getelementptr inbounds nuw i8, ptr addrspace(1) %1, i64 12
  %48 = call spir_func i64 @_Z12get_group_idj(i32 noundef 0)
  %49 = call spir_func i64 @_Z14get_local_sizej(i32 noundef 0)
  %50 = mul i64 %49, %48
  %51 = call spir_func i64 @_Z12get_local_idj(i32 noundef 0)
  %52 = add i64 %50, %51
  %53 = call spir_func i64 @_Z12get_group_idj(i32 noundef 1)
  %54 = call spir_func i64 @_Z14get_local_sizej(i32 noundef 1)
  %55 = mul i64 %54, %53
  %56 = call spir_func i64 @_Z12get_local_idj(i32 noundef 1)
  %57 = add i64 %55, %56
  %58 = call spir_func i64 @_Z12get_group_idj(i32 noundef 2)
  %59 = call spir_func i64 @_Z14get_local_sizej(i32 noundef 2)
  %60 = mul i64 %59, %58
  %61 = call spir_func i64 @_Z12get_local_idj(i32 noundef 2)
  %62 = add i64 %60, %61
  %63 = call spir_func i64 @_Z15get_global_sizej(i32 noundef 1)
  %64 = mul i64 %62, %63
  %65 = add i64 %57, %64
  %66 = call spir_func i64 @_Z15get_global_sizej(i32 noundef 0)
  %67 = mul i64 %65, %66
  %68 = add i64 %52, %67
  %69 = trunc i64 %68 to i32
  %70 = call spir_func i32 @_Z11atomic_xchgPU3AS1Vjj(ptr addrspace(1) noundef nonnull %47, i32 noundef %69)
  br label %__kassay_report.exit

__kassay_report.exit:                             ; preds = %36, %42, %46
  ret void
}
