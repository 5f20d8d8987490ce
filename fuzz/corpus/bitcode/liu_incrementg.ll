; ModuleID = 'testdata/liu_increment/liu_increment.cl'
source_filename = "testdata/liu_increment/liu_increment.cl"
target datalayout = "e-i64:64-v16:16-v24:32-v32:32-v48:64-v96:128-v192:256-v256:256-v512:512-v1024:1024-G1"
target triple = "spir64"

; Function Attrs: convergent mustprogress nofree norecurse nounwind willreturn memory(argmem: readwrite)
define dso_local spir_kernel void @liu_increment(ptr addrspace(1) noundef align 4 captures(none) %0) local_unnamed_addr #0 !dbg !12 !kernel_arg_addr_space !19 !kernel_arg_access_qual !20 !kernel_arg_type !21 !kernel_arg_base_type !21 !kernel_arg_type_qual !22 {
    #dbg_value(ptr addrspace(1) %0, !18, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !23)
    #dbg_value(ptr addrspace(1) %0, !24, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !28)
  %2 = tail call spir_func i64 @_Z12get_group_idj(i32 noundef 0) #3, !dbg !30
  %3 = tail call spir_func i64 @_Z14get_local_sizej(i32 noundef 0) #3, !dbg !31
  %4 = mul i64 %3, %2, !dbg !32
  %5 = tail call spir_func i64 @_Z12get_local_idj(i32 noundef 0) #3, !dbg !33
  %6 = add i64 %4, %5, !dbg !34
    #dbg_value(i64 %6, !27, !DIExpression(DW_OP_LLVM_convert, 64, DW_ATE_unsigned, DW_OP_LLVM_convert, 32, DW_ATE_unsigned, DW_OP_lit0, DW_OP_swap, DW_OP_xderef, DW_OP_stack_value), !28)
  %7 = shl i64 %6, 32, !dbg !35
  %8 = ashr exact i64 %7, 30, !dbg !35
  %9 = getelementptr inbounds i8, ptr addrspace(1) %0, i64 %8, !dbg !35
  %10 = load i32, ptr addrspace(1) %9, align 4, !dbg !35, !tbaa !8
  %11 = add nsw i32 %10, 1, !dbg !36
  store i32 %11, ptr addrspace(1) %9, align 4, !dbg !37, !tbaa !8
  ret void, !dbg !38
}

; Function Attrs: alwaysinline convergent mustprogress nofree norecurse nounwind willreturn memory(argmem: readwrite)
define dso_local spir_func void @__clang_ocl_kern_imp_liu_increment(ptr addrspace(1) noundef align 4 captures(none) %0) local_unnamed_addr #1 !dbg !25 !kernel_arg_addr_space !19 !kernel_arg_access_qual !20 !kernel_arg_type !21 !kernel_arg_base_type !21 !kernel_arg_type_qual !22 {
    #dbg_value(ptr addrspace(1) %0, !24, !DIExpression(DW_OP_constu, 0, DW_OP_swap, DW_OP_xderef), !39)
  %2 = tail call spir_func i64 @_Z12get_group_idj(i32 noundef 0) #3, !dbg !40
  %3 = tail call spir_func i64 @_Z14get_local_sizej(i32 noundef 0) #3, !dbg !41
  %4 = mul i64 %3, %2, !dbg !42
  %5 = tail call spir_func i64 @_Z12get_local_idj(i32 noundef 0) #3, !dbg !43
  %6 = add i64 %4, %5, !dbg !44
    #dbg_value(i64 %6, !27, !DIExpression(DW_OP_LLVM_convert, 64, DW_ATE_unsigned, DW_OP_LLVM_convert, 32, DW_ATE_unsigned, DW_OP_lit0, DW_OP_swap, DW_OP_xderef, DW_OP_stack_value), !39)
  %7 = shl i64 %6, 32, !dbg !45
  %8 = ashr exact i64 %7, 30, !dbg !45
  %9 = getelementptr inbounds i8, ptr addrspace(1) %0, i64 %8, !dbg !45
  %10 = load i32, ptr addrspace(1) %9, align 4, !dbg !45, !tbaa !8
  %11 = add nsw i32 %10, 1, !dbg !46
  store i32 %11, ptr addrspace(1) %9, align 4, !dbg !47, !tbaa !8
  ret void, !dbg !48
}

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare !dbg !49 dso_local spir_func i64 @_Z12get_group_idj(i32 noundef) local_unnamed_addr #2

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare !dbg !54 dso_local spir_func i64 @_Z14get_local_sizej(i32 noundef) local_unnamed_addr #2

; Function Attrs: convergent mustprogress nofree nounwind willreturn memory(none)
declare !dbg !55 dso_local spir_func i64 @_Z12get_local_idj(i32 noundef) local_unnamed_addr #2

attributes #0 = { convergent mustprogress nofree norecurse nounwind willreturn memory(argmem: readwrite) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "uniform-work-group-size"="true" }
attributes #1 = { alwaysinline convergent mustprogress nofree norecurse nounwind willreturn memory(argmem: readwrite) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" "uniform-work-group-size"="true" }
attributes #2 = { convergent mustprogress nofree nounwind willreturn memory(none) "frame-pointer"="all" "no-trapping-math"="true" "stack-protector-buffer-size"="8" }
attributes #3 = { convergent nounwind willreturn memory(none) }

!llvm.dbg.cu = !{!0}
!llvm.module.flags = !{!2, !3, !4, !5}
!opencl.ocl.version = !{!6}
!opencl.spir.version = !{!6}
!llvm.ident = !{!7}
!llvm.errno.tbaa = !{!8}

!0 = distinct !DICompileUnit(language: DW_LANG_OpenCL, file: !1, producer: "Debian clang version 22.1.8 (1~deb12u1)", isOptimized: true, runtimeVersion: 0, emissionKind: FullDebug, splitDebugInlining: false, nameTableKind: None)
!1 = !DIFile(filename: "testdata/liu_increment/liu_increment.cl", directory: ".", checksumkind: CSK_MD5, checksum: "ae600414f91eb242d155217bd6b13ea8")
!2 = !{i32 7, !"Dwarf Version", i32 5}
!3 = !{i32 2, !"Debug Info Version", i32 3}
!4 = !{i32 1, !"wchar_size", i32 4}
!5 = !{i32 7, !"frame-pointer", i32 2}
!6 = !{i32 1, i32 2}
!7 = !{!"Debian clang version 22.1.8 (1~deb12u1)"}
!8 = !{!9, !9, i64 0}
!9 = !{!"int", !10, i64 0}
!10 = !{!"omnipotent char", !11, i64 0}
!11 = !{!"Simple C/C++ TBAA"}
!12 = distinct !DISubprogram(name: "liu_increment", scope: !1, file: !1, line: 5, type: !13, scopeLine: 6, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0, retainedNodes: !17)
!13 = !DISubroutineType(cc: DW_CC_LLVM_DeviceKernel, types: !14)
!14 = !{null, !15}
!15 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !16, size: 64, dwarfAddressSpace: 1)
!16 = !DIBasicType(name: "int", size: 32, encoding: DW_ATE_signed)
!17 = !{!18}
!18 = !DILocalVariable(name: "data", arg: 1, scope: !12, file: !1, line: 5, type: !15)
!19 = !{i32 1}
!20 = !{!"none"}
!21 = !{!"int*"}
!22 = !{!""}
!23 = !DILocation(line: 0, scope: !12)
!24 = !DILocalVariable(name: "data", arg: 1, scope: !25, file: !1, line: 5, type: !15)
!25 = distinct !DISubprogram(name: "liu_increment", linkageName: "__clang_ocl_kern_imp_liu_increment", scope: !1, file: !1, line: 5, type: !13, scopeLine: 6, flags: DIFlagPrototyped | DIFlagAllCallsDescribed, spFlags: DISPFlagDefinition | DISPFlagOptimized, unit: !0, retainedNodes: !26)
!26 = !{!24, !27}
!27 = !DILocalVariable(name: "i", scope: !25, file: !1, line: 7, type: !16)
!28 = !DILocation(line: 0, scope: !25, inlinedAt: !29)
!29 = distinct !DILocation(line: 6, column: 1, scope: !12)
!30 = !DILocation(line: 7, column: 13, scope: !25, inlinedAt: !29)
!31 = !DILocation(line: 7, column: 31, scope: !25, inlinedAt: !29)
!32 = !DILocation(line: 7, column: 29, scope: !25, inlinedAt: !29)
!33 = !DILocation(line: 7, column: 51, scope: !25, inlinedAt: !29)
!34 = !DILocation(line: 7, column: 49, scope: !25, inlinedAt: !29)
!35 = !DILocation(line: 8, column: 15, scope: !25, inlinedAt: !29)
!36 = !DILocation(line: 8, column: 23, scope: !25, inlinedAt: !29)
!37 = !DILocation(line: 8, column: 13, scope: !25, inlinedAt: !29)
!38 = !DILocation(line: 9, column: 1, scope: !12)
!39 = !DILocation(line: 0, scope: !25)
!40 = !DILocation(line: 7, column: 13, scope: !25)
!41 = !DILocation(line: 7, column: 31, scope: !25)
!42 = !DILocation(line: 7, column: 29, scope: !25)
!43 = !DILocation(line: 7, column: 51, scope: !25)
!44 = !DILocation(line: 7, column: 49, scope: !25)
!45 = !DILocation(line: 8, column: 15, scope: !25)
!46 = !DILocation(line: 8, column: 23, scope: !25)
!47 = !DILocation(line: 8, column: 13, scope: !25)
!48 = !DILocation(line: 9, column: 1, scope: !25)
!49 = !DISubprogram(name: "get_group_id", linkageName: "_Z12get_group_idj", scope: !1, file: !1, line: 7, type: !50, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized)
!50 = !DISubroutineType(cc: DW_CC_LLVM_SpirFunction, types: !51)
!51 = !{!52, !53}
!52 = !DIBasicType(name: "unsigned long", size: 64, encoding: DW_ATE_unsigned)
!53 = !DIBasicType(name: "unsigned int", size: 32, encoding: DW_ATE_unsigned)
!54 = !DISubprogram(name: "get_local_size", linkageName: "_Z14get_local_sizej", scope: !1, file: !1, line: 7, type: !50, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized)
!55 = !DISubprogram(name: "get_local_id", linkageName: "_Z12get_local_idj", scope: !1, file: !1, line: 7, type: !50, flags: DIFlagArtificial | DIFlagPrototyped, spFlags: DISPFlagOptimized)
