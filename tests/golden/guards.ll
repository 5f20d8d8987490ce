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
  %1 = call ptr addrspace(1) @__kassay_parameters(ptr addrspace(1) %kassay_probe)
  %2 = call ptr addrspace(1) @__kassay_slot(ptr addrspace(1) %kassay_probe)
  %3 = load i32, ptr addrspace(1) %1, align 4
  %4 = getelementptr inbounds nuw i32, ptr addrspace(1) %1, i64 16
  %5 = load i32, ptr addrspace(1) %4, align 4
  %6 = zext i32 %5 to i64
  %7 = getelementptr inbounds nuw i32, ptr addrspace(1) %1, i64 17
  %8 = load i32, ptr addrspace(1) %7, align 4
  %9 = zext i32 %8 to i64
  %10 = shl nuw i64 %9, 32
  %11 = or disjoint i64 %10, %6
  %12 = icmp ult i64 %11, 4
  br i1 %12, label %__kassay_places.exit, label %13

13:                                               ; preds = %0
  %14 = sub nuw i64 %11, 4
  %15 = udiv i64 %14, 4
  %16 = add i64 %15, 1
  br label %__kassay_places.exit

__kassay_places.exit:                             ; preds = %0, %13
  %17 = phi i64 [ %16, %13 ], [ 0, %0 ]
  %18 = call i64 @llvm.umin.i64(i64 %17, i64 2147483648)
  %19 = trunc nuw i64 %18 to i32
  %call = call spir_func i64 @_Z12get_group_idj(i32 noundef 0)
  %call1 = call spir_func i64 @_Z14get_local_sizej(i32 noundef 0)
  %mul = mul i64 %call, %call1
  %call2 = call spir_func i64 @_Z12get_local_idj(i32 noundef 0)
  %add = add i64 %mul, %call2
  %conv = trunc i64 %add to i32
  %idxprom = sext i32 %conv to i64
  %arrayidx = getelementptr inbounds i32, ptr addrspace(1) %data, i64 %idxprom
  %20 = icmp ult i32 %conv, %19
  %21 = xor i1 %20, true
  %22 = zext i1 %21 to i32
  %spec.select = select i1 %20, i32 0, i32 258
  br i1 %20, label %kassay.access, label %__kassay_fault_if.exit

kassay.access:                                    ; preds = %__kassay_places.exit
  %23 = load i32, ptr addrspace(1) %arrayidx, align 4
  br label %__kassay_fault_if.exit

__kassay_fault_if.exit:                           ; preds = %__kassay_places.exit, %kassay.access
  %24 = phi i32 [ %23, %kassay.access ], [ 0, %__kassay_places.exit ]
  %add3 = add nsw i32 %24, 1
  %idxprom4 = sext i32 %conv to i64
  %arrayidx5 = getelementptr inbounds i32, ptr addrspace(1) %data, i64 %idxprom4
  %25 = icmp ult i32 %conv, %19
  %26 = xor i1 %25, true
  %27 = zext i1 %26 to i32
  %spec.select5 = select i1 %25, i32 %spec.select, i32 514
  br i1 %25, label %kassay.access1, label %kassay.end

kassay.access1:                                   ; preds = %__kassay_fault_if.exit
  store i32 %add3, ptr addrspace(1) %arrayidx5, align 4
  br label %kassay.end

kassay.end:                                       ; preds = %__kassay_fault_if.exit, %kassay.access1
  %28 = load i32, ptr addrspace(1) %1, align 4
  %29 = icmp slt i32 %3, 0
  %30 = call i32 @llvm.smax.i32(i32 %3, i32 0)
  %31 = sub i32 %28, %30
  %32 = getelementptr inbounds nuw i8, ptr addrspace(1) %2, i64 16
  %33 = load i32, ptr addrspace(1) %32, align 4
  %34 = icmp ugt i32 %31, %33
  br i1 %34, label %35, label %37

35:                                               ; preds = %kassay.end
  %36 = call spir_func i32 @_Z10atomic_maxPU3AS1Vjj(ptr addrspace(1) noundef nonnull %32, i32 noundef %31)
  br label %37

37:                                               ; preds = %35, %kassay.end
  %38 = icmp eq i32 %spec.select5, 0
  %39 = and i1 %38, %29
  %40 = call i32 @llvm.umax.i32(i32 0, i32 1)
  %41 = select i1 %39, i32 %40, i32 %spec.select5
  %42 = icmp eq i32 %41, 0
  br i1 %42, label %__kassay_report.exit, label %43

43:                                               ; preds = %37
  %44 = getelementptr inbounds nuw i8, ptr addrspace(1) %2, i64 8
  %45 = call spir_func i32 @_Z10atomic_maxPU3AS1Vjj(ptr addrspace(1) noundef nonnull %44, i32 noundef %41)
  %46 = icmp ult i32 %45, %41
  br i1 %46, label %47, label %__kassay_report.exit

47:                                               ; preds = %43
  %48 = getelementptr inbounds nuw i8, ptr addrspace(1) %2, i64 12
  %49 = call spir_func i64 @_Z12get_group_idj(i32 noundef 0)
  %50 = call spir_func i64 @_Z14get_local_sizej(i32 noundef 0)
  %51 = mul i64 %50, %49
  %52 = call spir_func i64 @_Z12get_local_idj(i32 noundef 0)
  %53 = add i64 %51, %52
  %54 = call spir_func i64 @_Z12get_group_idj(i32 noundef 1)
  %55 = call spir_func i64 @_Z14get_local_sizej(i32 noundef 1)
  %56 = mul i64 %55, %54
  %57 = call spir_func i64 @_Z12get_local_idj(i32 noundef 1)
  %58 = add i64 %56, %57
  %59 = call spir_func i64 @_Z12get_group_idj(i32 noundef 2)
  %60 = call spir_func i64 @_Z14get_local_sizej(i32 noundef 2)
  %61 = mul i64 %60, %59
  %62 = call spir_func i64 @_Z12get_local_idj(i32 noundef 2)
  %63 = add i64 %61, %62
  %64 = call spir_func i64 @_Z15get_global_sizej(i32 noundef 1)
  %65 = mul i64 %63, %64
  %66 = add i64 %58, %65
  %67 = call spir_func i64 @_Z15get_global_sizej(i32 noundef 0)
  %68 = mul i64 %66, %67
  %69 = add i64 %53, %68
  %70 = trunc i64 %69 to i32
  %71 = call spir_func i32 @_Z11atomic_xchgPU3AS1Vjj(ptr addrspace(1) noundef nonnull %48, i32 noundef %70)
  br label %__kassay_report.exit

__kassay_report.exit:                             ; preds = %37, %43, %47
  ret void
}
