//! Knows SPIR-V's capabilities by number and name, and which of them belong to graphics.
//!
//! Numbers and names are those of the SPIR-V specification, section "Capability", as the grammar of Khronos'
//! SPIRV-Headers has them. A capability belongs to graphics if it implies `Shader` or `Matrix`, or if its text is about
//! a stage or a resource of graphics pipelines; those that producers of kernels declare for images all the same
//! (`ImageQuery`, `StorageImageReadWithoutFormat`) are let through.

/// Makes a table of numbers and names.
macro_rules! table {
    ($($number:literal $name:ident)*) => { &[$(($number, stringify!($name))),*] };
}

/// What a capability is for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Capability {
    /// A kernel may need it, or a vendor's extension of kernels: whether it can be read is the translator's to say.
    Kernel,
    /// It belongs to graphics, and to compute shaders; no OpenCL kernel can need it. With its name.
    Graphics(&'static str),
    /// The specification has no capability of this number.
    Unknown,
}

impl Capability {
    /// Returns what the capability of this number is for.
    pub fn of(number: u32) -> Capability {
        match (find(GRAPHICS, number), find(OTHERS, number)) {
            (Some(name), _) => Capability::Graphics(name),
            (None, Some(_)) => Capability::Kernel,
            (None, None) => Capability::Unknown,
        }
    }
}

/// Returns the name of an execution model.
pub fn execution_model(number: u32) -> Option<&'static str> {
    find(EXECUTION_MODELS, number)
}

fn find(table: &[(u32, &'static str)], number: u32) -> Option<&'static str> {
    table.binary_search_by_key(&number, |(number, _)| *number).ok().map(|at| table[at].1)
}

const EXECUTION_MODELS: &[(u32, &str)] = table! {
    0 Vertex 1 TessellationControl 2 TessellationEvaluation 3 Geometry 4 Fragment 5 GLCompute 6 Kernel 5267 TaskNV
    5268 MeshNV 5313 RayGenerationKHR 5314 IntersectionKHR 5315 AnyHitKHR 5316 ClosestHitKHR 5317 MissKHR
    5318 CallableKHR 5364 TaskEXT 5365 MeshEXT
};

const GRAPHICS: &[(u32, &str)] = table! {
    0 Matrix 1 Shader 2 Geometry 3 Tessellation 21 AtomicStorage 23 TessellationPointSize 24 GeometryPointSize
    25 ImageGatherExtended 27 StorageImageMultisample 28 UniformBufferArrayDynamicIndexing
    29 SampledImageArrayDynamicIndexing 30 StorageBufferArrayDynamicIndexing 31 StorageImageArrayDynamicIndexing
    32 ClipDistance 33 CullDistance 34 ImageCubeArray 35 SampleRateShading 36 ImageRect 37 SampledRect
    40 InputAttachment 41 SparseResidency 42 MinLod 45 SampledCubeArray 48 ImageMSArray 49 StorageImageExtendedFormats
    51 DerivativeControl 52 InterpolationFunction 53 TransformFeedback 54 GeometryStreams
    57 MultiViewport 69 ShaderLayer
    70 ShaderViewportIndex 4166 TileImageColorReadAccessEXT 4167 TileImageDepthReadAccessEXT
    4168 TileImageStencilReadAccessEXT 4422 FragmentShadingRateKHR 4427 DrawParameters
    4428 WorkgroupMemoryExplicitLayoutKHR 4429 WorkgroupMemoryExplicitLayout8BitAccessKHR
    4430 WorkgroupMemoryExplicitLayout16BitAccessKHR 4435 StoragePushConstant16 4439 MultiView
    4441 VariablePointersStorageBuffer 4442 VariablePointers 4445 AtomicStorageOps 4447 SampleMaskPostDepthCoverage
    4450 StoragePushConstant8 4471 RayQueryProvisionalKHR 4472 RayQueryKHR 4478 RayTraversalPrimitiveCullingKHR
    4479 RayTracingKHR 4495 TileShadingQCOM 5008 Float16ImageAMD 5009 ImageGatherBiasLodAMD 5010 FragmentMaskAMD
    5013 StencilExportEXT 5015 ImageReadWriteLodAMD 5067 ShaderEnqueueAMDX 5087 QuadControlKHR 5128 DescriptorHeapEXT
    5249 SampleMaskOverrideCoverageNV 5251 GeometryShaderPassthroughNV 5254 ShaderViewportIndexLayerEXT
    5255 ShaderViewportMaskNV 5259 ShaderStereoViewNV 5260 PerViewAttributesNV 5265 FragmentFullyCoveredEXT
    5266 MeshShadingNV 5282 ImageFootprintNV 5283 MeshShadingEXT 5284 FragmentBarycentricKHR
    5288 ComputeDerivativeGroupQuadsKHR 5291 FragmentDensityEXT 5301 ShaderNonUniform 5302 RuntimeDescriptorArray
    5303 InputAttachmentArrayDynamicIndexing 5306 UniformBufferArrayNonUniformIndexing
    5307 SampledImageArrayNonUniformIndexing 5308 StorageBufferArrayNonUniformIndexing
    5309 StorageImageArrayNonUniformIndexing 5310 InputAttachmentArrayNonUniformIndexing
    5311 UniformTexelBufferArrayNonUniformIndexing 5312 StorageTexelBufferArrayNonUniformIndexing
    5336 RayTracingPositionFetchKHR 5340 RayTracingNV 5341 RayTracingMotionBlurNV 5347 PhysicalStorageBufferAddresses
    5350 ComputeDerivativeGroupLinearKHR 5353 RayTracingProvisionalKHR 5357 CooperativeMatrixNV
    5363 FragmentShaderSampleInterlockEXT 5372 FragmentShaderShadingRateInterlockEXT 5373 ShaderSMBuiltinsNV
    5378 FragmentShaderPixelInterlockEXT 5379 DemoteToHelperInvocation 5380 DisplacementMicromapNV
    5381 RayTracingOpacityMicromapKHR 5383 ShaderInvocationReorderNV 5388 ShaderInvocationReorderEXT
    5391 RayQueryPositionFetchKHR 5409 RayTracingDisplacementMicromapNV 5418 RayTracingSpheresGeometryNV
    5419 RayTracingLinearSweptSpheresGeometryNV 5423 PushConstantBanksNV 5426 Shader64BitIndexingEXT
    5437 RayTracingClusterAccelerationStructureNV 6020 RayCullMaskKHR 6032 RayTracingOpacityMicromapExecutionModeKHR
};

const OTHERS: &[(u32, &str)] = table! {
    4 Addresses 5 Linkage 6 Kernel 7 Vector16 8 Float16Buffer 9 Float16 10 Float64 11 Int64 12 Int64Atomics
    13 ImageBasic 14 ImageReadWrite 15 ImageMipmap 17 Pipes 18 Groups 19 DeviceEnqueue 20 LiteralSampler 22 Int16
    38 GenericPointer 39 Int8 43 Sampled1D 44 Image1D 46 SampledBuffer 47 ImageBuffer 50 ImageQuery
    55 StorageImageReadWithoutFormat 56 StorageImageWriteWithoutFormat 58 SubgroupDispatch
    59 NamedBarrier 60 PipeStorage 61 GroupNonUniform 62 GroupNonUniformVote 63 GroupNonUniformArithmetic
    64 GroupNonUniformBallot 65 GroupNonUniformShuffle 66 GroupNonUniformShuffleRelative 67 GroupNonUniformClustered
    68 GroupNonUniformQuad 71 UniformDecoration 4165 CoreBuiltinsARM 4174 TensorsARM
    4175 StorageTensorArrayDynamicIndexingARM 4176 StorageTensorArrayNonUniformIndexingARM 4191 GraphARM
    4201 CooperativeMatrixLayoutsARM 4212 Float8EXT 4213 Float8CooperativeMatrixEXT 4228 Float6EXT 4229 Float4EXT
    4230 Float8UnsignedE8M0EXT 4231 MXInt8EXT 4232 BitcastExtractEXT 4423 SubgroupBallotKHR 4431 SubgroupVoteKHR
    4433 StorageBuffer16BitAccess 4434 UniformAndStorageBuffer16BitAccess 4436 StorageInputOutput16 4437 DeviceGroup
    4448 StorageBuffer8BitAccess 4449 UniformAndStorageBuffer8BitAccess 4464 DenormPreserve 4465 DenormFlushToZero
    4466 SignedZeroInfNanPreserve 4467 RoundingModeRTE 4468 RoundingModeRTZ 4473 UntypedPointersKHR
    4484 TextureSampleWeightedQCOM 4485 TextureBoxFilterQCOM 4486 TextureBlockMatchQCOM
    4496 CooperativeMatrixConversionQCOM 4498 TextureBlockMatch2QCOM 4539 MultipleWaitQueuesQCOM
    4543 ImageGatherLinearQCOM 4544 ImageGatherExtendedModesQCOM 5016 Int64ImageEXT 5055 ShaderClockKHR
    5112 Int4TypeINTEL 5114 Int4CooperativeMatrixINTEL 5116 BFloat16TypeKHR 5117 BFloat16DotProductKHR
    5118 BFloat16CooperativeMatrixKHR 5120 AbortKHR 5146 ConstantDataKHR 5156 PoisonFreezeKHR 5181 WeakLinkageAMD
    5297 GroupNonUniformPartitionedEXT 5304 UniformTexelBufferArrayDynamicIndexing
    5305 StorageTexelBufferArrayDynamicIndexing 5345 VulkanMemoryModel 5346 VulkanMemoryModelDeviceScope
    5390 BindlessTextureNV 5394 CooperativeVectorNV 5404 AtomicFloat16VectorNV 5414 RawAccessChainsNV
    5425 LongVectorEXT 5429 CooperativeMatrixConversionsEXT 5430 CooperativeMatrixReductionsEXT
    5431 CooperativeMatrixConversionsNV 5432 CooperativeMatrixPerElementOperationsEXT
    5433 CooperativeMatrixTensorAddressingNV 5434 CooperativeMatrixBlockLoadsNV 5435 CooperativeVectorTrainingNV
    5438 CooperativeMatrixGetCoordinateEXT 5439 TensorAddressingNV 5447 CooperativeMatrixDecodeVectorNV
    5568 SubgroupShuffleINTEL 5569 SubgroupBufferBlockIOINTEL 5570 SubgroupImageBlockIOINTEL
    5579 SubgroupImageMediaBlockIOINTEL 5582 RoundToInfinityINTEL 5583 FloatingPointModeINTEL
    5584 IntegerFunctions2INTEL 5603 FunctionPointersINTEL 5604 IndirectReferencesINTEL 5606 AsmINTEL
    5612 AtomicFloat32MinMaxEXT 5613 AtomicFloat64MinMaxEXT 5616 AtomicFloat16MinMaxEXT 5617 VectorComputeINTEL
    5619 VectorAnyINTEL 5629 ExpectAssumeKHR 5696 SubgroupAvcMotionEstimationINTEL
    5697 SubgroupAvcMotionEstimationIntraINTEL 5698 SubgroupAvcMotionEstimationChromaINTEL
    5817 VariableLengthArrayINTEL 5821 FunctionFloatControlINTEL 5824 FPGAMemoryAttributesALTERA
    5837 FPFastMathModeINTEL 5844 ArbitraryPrecisionIntegersALTERA 5845 ArbitraryPrecisionFloatingPointALTERA
    5886 UnstructuredLoopControlsINTEL 5888 FPGALoopControlsALTERA 5892 KernelAttributesINTEL
    5897 FPGAKernelAttributesINTEL 5898 FPGAMemoryAccessesALTERA 5904 FPGAClusterAttributesALTERA 5906 LoopFuseALTERA
    5908 FPGADSPControlALTERA 5910 MemoryAccessAliasingINTEL 5916 FPGAInvocationPipeliningAttributesALTERA
    5920 FPGABufferLocationALTERA 5922 ArbitraryPrecisionFixedPointALTERA 5935 USMStorageClassesALTERA
    5939 RuntimeAlignedAttributeALTERA 5943 IOPipesALTERA 5945 BlockingPipesALTERA 5948 FPGARegALTERA
    6016 DotProductInputAll 6017 DotProductInput4x8Bit 6018 DotProductInput4x8BitPacked 6019 DotProduct
    6022 CooperativeMatrixKHR 6024 ReplicatedCompositesEXT 6025 BitInstructions 6026 GroupNonUniformRotateKHR
    6029 FloatControls2 6030 FMAKHR 6033 AtomicFloat32AddEXT 6034 AtomicFloat64AddEXT 6089 LongCompositesINTEL
    6094 OptNoneEXT 6095 AtomicFloat16AddEXT 6114 DebugInfoModuleINTEL 6115 BFloat16ConversionINTEL
    6141 SplitBarrierEXT 6144 ArithmeticFenceEXT 6150 FPGAClusterAttributesV2ALTERA 6161 FPGAKernelAttributesv2INTEL
    6162 TaskSequenceALTERA 6169 FPMaxErrorINTEL 6171 FPGALatencyControlALTERA 6174 FPGAArgumentInterfacesALTERA
    6187 GlobalVariableHostAccessINTEL 6189 GlobalVariableFPGADecorationsALTERA 6220 SubgroupBufferPrefetchINTEL
    6228 Subgroup2DBlockIOINTEL 6229 Subgroup2DBlockTransformINTEL 6230 Subgroup2DBlockTransposeINTEL
    6236 SubgroupMatrixMultiplyAccumulateINTEL 6241 TernaryBitwiseFunctionINTEL 6243 UntypedVariableLengthArrayINTEL
    6245 SpecConditionalINTEL 6246 FunctionVariantsINTEL 6257 PredicatedIOINTEL 6265 RoundedDivideSqrtINTEL
    6400 GroupUniformArithmeticKHR 6425 TensorFloat32RoundingINTEL 6427 MaskedGatherScatterINTEL
    6441 CacheControlsINTEL 6460 RegisterLimitsINTEL 6528 BindlessImagesINTEL 6912 DotProductFloat16AccFloat32VALVE
    6913 DotProductFloat16AccFloat16VALVE 6914 DotProductBFloat16AccVALVE 6915 DotProductFloat8AccFloat32VALVE
    7041 IntrinsicSAMSUNG
};

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_are_sorted_and_disjoint() {
        for table in [EXECUTION_MODELS, GRAPHICS, OTHERS] {
            assert!(table.is_sorted_by(|a, b| a.0 < b.0));
        }
        assert!(GRAPHICS.iter().all(|(number, _)| find(OTHERS, *number).is_none()));
        assert_eq!(Capability::of(1), Capability::Graphics("Shader"));
        assert_eq!(Capability::of(6), Capability::Kernel);
        assert_eq!(Capability::of(5568), Capability::Kernel);
        assert_eq!(Capability::of(4_000_000_000), Capability::Unknown);
    }
}
