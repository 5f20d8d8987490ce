; ModuleID = 'testdata/saxpy_tail/saxpy_tail.cl'
source_filename = "testdata/saxpy_tail/saxpy_tail.cl"
target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-G1"
target triple = "spir64"

; Function Attrs: convergent norecurse nounwind
define dso_local spir_kernel void @saxpy_tail(i32 noundef %0, float noundef %1, ptr addrspace(1) noalias noundef align 4 %2, ptr addrspace(1) noalias noundef align 4 %3) local_unnamed_addr #0 !kernel_arg_addr_space !8 !kernel_arg_access_qual !9 !kernel_arg_type !10 !kernel_arg_base_type !10 !kernel_arg_type_qual !11 {
  tail call void @llvm.experimental.noalias.scope.decl(metadata !12)
  tail call void @llvm.experimental.noalias.scope.decl(metadata !15)
  %5 = tail call spir_func i64 @_Z13get_global_idj(i32 noundef 0) #7
  %6 = trunc i64 %5 to i32
  %7 = shl nsw i32 %6, 2
  %8 = add nsw i32 %7, 4
  %9 = icmp sgt i32 %8, %0
  br i1 %9, label %10, label %12

10:                                               ; preds = %4
  %11 = icmp slt i32 %7, %0
  br i1 %11, label %21, label %31

12:                                               ; preds = %4
  %13 = sext i32 %7 to i64
  %14 = getelementptr inbounds float, ptr addrspace(1) %2, i64 %13
  %15 = tail call spir_func <4 x float> @_Z6vload4mPU3AS1Kf(i64 noundef 0, ptr addrspace(1) noundef %14) #8, !noalias !15
  %16 = getelementptr inbounds float, ptr addrspace(1) %3, i64 %13
  %17 = tail call spir_func <4 x float> @_Z6vload4mPU3AS1Kf(i64 noundef 0, ptr addrspace(1) noundef %16) #8
  %18 = insertelement <4 x float> poison, float %1, i64 0
  %19 = shufflevector <4 x float> %18, <4 x float> poison, <4 x i32> zeroinitializer
  %20 = tail call <4 x float> @llvm.fmuladd.v4f32(<4 x float> %19, <4 x float> %15, <4 x float> %17)
  tail call spir_func void @_Z7vstore4Dv4_fmPU3AS1f(<4 x float> noundef %20, i64 noundef 0, ptr addrspace(1) noundef %16) #9
  br label %31

21:                                               ; preds = %10, %21
  %22 = phi i32 [ %29, %21 ], [ %7, %10 ]
  %23 = sext i32 %22 to i64
  %24 = getelementptr inbounds float, ptr addrspace(1) %2, i64 %23
  %25 = load float, ptr addrspace(1) %24, align 4, !tbaa !17, !alias.scope !12, !noalias !15
  %26 = getelementptr inbounds float, ptr addrspace(1) %3, i64 %23
  %27 = load float, ptr addrspace(1) %26, align 4, !tbaa !17, !alias.scope !15, !noalias !12
  %28 = tail call float @llvm.fmuladd.f32(float %1, float %25, float %27)
  store float %28, ptr addrspace(1) %26, align 4, !tbaa !17, !alias.scope !15, !noalias !12
  %29 = add nsw i32 %22, 1
  %30 = icmp slt i32 %29, %0
  br i1 %30, label %21, label %31

31:                                               ; preds = %21, %10, %12
  ret void
}

; Function Attrs: alwaysinline convergent norecurse nounwind
define dso_local spir_func void @__clang_ocl_kern_imp_saxpy_tail(i32 noundef %0, float noundef %1, ptr addrspace(1) noalias noundef align 4 %2, ptr addrspace(1) noalias noundef align 4 %3) local_unnamed_addr #1 !kernel_arg_addr_space !8 !kernel_arg_access_qual !9 !kernel_arg_type !10 !kernel_arg_base_type !10 !kernel_arg_type_qual !11 {
  %5 = tail call spir_func i64 @_Z13get_global_idj(i32 noundef 0) #7
  %6 = trunc i64 %5 to i32
  %7 = shl nsw i32 %6, 2
  %8 = add nsw i32 %7, 4
  %9 = icmp sgt i32 %8, %0
  br i1 %9, label %10, label %12

10:                                               ; preds = %4
  %11 = icmp slt i32 %7, %0
  br i1 %11, label %21, label %31

12:                                               ; preds = %4
  %13 = sext i32 %7 to i64
  %14 = getelementptr inbounds float, ptr addrspace(1) %2, i64 %13
  %15 = tail call spir_func <4 x float> @_Z6vload4mPU3AS1Kf(i64 noundef 0, ptr addrspace(1) noundef %14) #8
  %16 = getelementptr inbounds float, ptr addrspace(1) %3, i64 %13
  %17 = tail call spir_func <4 x float> @_Z6vload4mPU3AS1Kf(i64 noundef 0, ptr addrspace(1) noundef %16) #8
  %18 = insertelement <4 x float> poison, float %1, i64 0
  %19 = shufflevector <4 x float> %18, <4 x float> poison, <4 x i32> zeroinitializer
  %20 = tail call <4 x float> @llvm.fmuladd.v4f32(<4 x float> %19, <4 x float> %15, <4 x float> %17)
  tail call spir_func void @_Z7vstore4Dv4_fmPU3AS1f(<4 x float> noundef %20, i64 noundef 0, ptr addrspace(1) noundef %16) #9
  br label %31

21:                                               ; preds = %10, %21
  %22 = phi i32 [ %29, %21 ], [ %7, %10 ]
  %23 = sext i32 %22 to i64
  %24 = getelementptr inbounds float, ptr addrspace(1) %2, i64 %23
  %25 = load float, ptr addrspace(1) %24, align 4, !tbaa !17
  %26 = getelementptr inbounds float, ptr addrspace(1) %3, i64 %23
  %27 = load float, ptr addrspace(1) %26, align 4, !tbaa !17
  %28 = tail call float @llvm.fmuladd.f32(float %1, float %25, float %27)
  store float %28, ptr addrspace(1) %26, align 4, !tbaa !17
  %29 = add nsw i32 %22, 1
  %30 = icmp slt i32 %29, %0
  br i1 %30, label %21, label %31

31:                                               ; preds = %21, %10, %12
  ret void
}

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare dso_local spir_func i64 @_Z13get_global_idj(i32 noundef) local_unnamed_addr #2

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(read)
declare dso_local spir_func <4 x float> @_Z6vload4mPU3AS1Kf(i64 noundef, ptr addrspace(1) noundef) local_unnamed_addr #3

; Function Attrs: convergent nounwind
declare dso_local spir_func void @_Z7vstore4Dv4_fmPU3AS1f(<4 x float> noundef, i64 noundef, ptr addrspace(1) noundef) local_unnamed_addr #4

; Function Attrs: mustprogress nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare <4 x float> @llvm.fmuladd.v4f32(<4 x float>, <4 x float>, <4 x float>) #5

; Function Attrs: mustprogress nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none)
declare float @llvm.fmuladd.f32(float, float, float) #5

; Function Attrs: nocallback nofree nosync nounwind willreturn memory(inaccessiblemem: readwrite)
declare void @llvm.experimental.noalias.scope.decl(metadata) #6

attributes #0 = { convergent norecurse nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "uniform-work-group-size"="true" }
attributes #1 = { alwaysinline convergent norecurse nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "uniform-work-group-size"="true" }
attributes #2 = { convergent mustprogress nofree nounwind willreturn memory(none) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" }
attributes #3 = { convergent mustprogress nofree nounwind willreturn memory(read) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" }
attributes #4 = { convergent nounwind "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" }
attributes #5 = { mustprogress nocallback nocreateundeforpoison nofree nosync nounwind speculatable willreturn memory(none) }
attributes #6 = { nocallback nofree nosync nounwind willreturn memory(inaccessiblemem: readwrite) }
attributes #7 = { convergent nounwind willreturn memory(none) }
attributes #8 = { convergent nounwind willreturn memory(read) }
attributes #9 = { convergent nounwind }

!llvm.module.flags = !{!0, !1}
!opencl.ocl.version = !{!2}
!opencl.spir.version = !{!2}
!llvm.ident = !{!3}
!llvm.errno.tbaa = !{!4}

!0 = !{i32 1, !"wchar_size", i32 4}
!1 = !{i32 7, !"frame-pointer", i32 2}
!2 = !{i32 1, i32 2}
!3 = !{!"Debian clang version 22.1.8 (1~deb12u1)"}
!4 = !{!5, !5, i64 0}
!5 = !{!"int", !6, i64 0}
!6 = !{!"omnipotent char", !7, i64 0}
!7 = !{!"Simple C/C++ TBAA"}
!8 = !{i32 0, i32 0, i32 1, i32 1}
!9 = !{!"none", !"none", !"none", !"none"}
!10 = !{!"int", !"float", !"float*", !"float*"}
!11 = !{!"", !"", !"restrict const", !"restrict"}
!12 = !{!13}
!13 = distinct !{!13, !14, !"__clang_ocl_kern_imp_saxpy_tail: argument 0"}
!14 = distinct !{!14, !"__clang_ocl_kern_imp_saxpy_tail"}
!15 = !{!16}
!16 = distinct !{!16, !14, !"__clang_ocl_kern_imp_saxpy_tail: argument 1"}
!17 = !{!18, !18, i64 0}
!18 = !{!"float", !6, i64 0}
