/* Types and constants of the host's interface, as far as programs have to parse. Numbers and sizes are not those of any
 * library: no host code is run. */
#pragma once
/* Stands for types of libraries that are not there, which functions of the host name. */
struct kassay_unknown {
    kassay_unknown() = default;
    template <typename T> kassay_unknown(const T &);
    template <typename T> operator T() const;
};
/* Their declarations in namespaces, which kassay gives where clang lacks them (missing.rs). */
#ifdef KASSAY_MISSING
KASSAY_MISSING
#endif
#include <kassay/vectors.h>

enum cudaError_t { cudaSuccess = 0, cudaErrorInvalidValue = 1, cudaErrorMemoryAllocation = 2, cudaErrorOutOfMemory =
    2, cudaErrorInitializationError = 3, cudaErrorInvalidConfiguration = 9, cudaErrorInvalidDevicePointer = 17,
    cudaErrorInvalidMemcpyDirection = 21, cudaErrorNoDevice = 100, cudaErrorInvalidDevice = 101, cudaErrorNotReady =
    600, cudaErrorPeerAccessAlreadyEnabled = 704, cudaErrorPeerAccessNotEnabled = 705, cudaErrorLaunchFailure = 719,
    cudaErrorCooperativeLaunchTooLarge = 720, cudaErrorNotSupported = 801, cudaErrorUnknown = 999,
    cudaErrorCudartUnloading = 4, cudaErrorInvalidResourceHandle = 400, cudaErrorInsufficientDriver = 35,
    cudaErrorSetOnActiveProcess = 708, cudaErrorProfilerDisabled = 5, cudaErrorHostMemoryAlreadyRegistered = 712 };
typedef cudaError_t cudaError;
enum cudaMemcpyKind { cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost, cudaMemcpyDeviceToDevice,
    cudaMemcpyDefault };
typedef struct __kassay_stream *cudaStream_t;
typedef struct __kassay_event *cudaEvent_t;
typedef struct __kassay_array *cudaArray_t;
typedef const struct __kassay_array *cudaArray_const_t;
typedef struct __kassay_array cudaArray;
typedef struct __kassay_graph *cudaGraph_t;
typedef struct __kassay_graph_exec *cudaGraphExec_t;
typedef struct __kassay_graph_node *cudaGraphNode_t;
typedef struct __kassay_pool *cudaMemPool_t;
typedef struct __kassay_mip *cudaMipmappedArray_t;
struct cudaGraphicsResource;
typedef cudaGraphicsResource *cudaGraphicsResource_t;
typedef struct __kassay_extmem *cudaExternalMemory_t;
typedef struct __kassay_extsem *cudaExternalSemaphore_t;
typedef unsigned long long cudaTextureObject_t;
typedef unsigned long long cudaSurfaceObject_t;
typedef int cudaDevice_t;
typedef struct { char reserved[64]; } cudaIpcMemHandle_t;
typedef struct { char reserved[64]; } cudaIpcEventHandle_t;
typedef void *cudaDeviceptrT;
enum cudaChannelFormatKind { cudaChannelFormatKindSigned, cudaChannelFormatKindUnsigned, cudaChannelFormatKindFloat,
    cudaChannelFormatKindNone };
struct cudaChannelFormatDesc { int x, y, z, w; cudaChannelFormatKind f; };
enum cudaTextureAddressMode { cudaAddressModeWrap, cudaAddressModeClamp, cudaAddressModeMirror, cudaAddressModeBorder
    };
enum cudaTextureFilterMode { cudaFilterModePoint, cudaFilterModeLinear };
enum cudaTextureReadMode { cudaReadModeElementType, cudaReadModeNormalizedFloat };
enum cudaResourceType { cudaResourceTypeArray, cudaResourceTypeMipmappedArray, cudaResourceTypeLinear,
    cudaResourceTypePitch2D };
enum cudaSurfaceBoundaryMode { cudaBoundaryModeZero, cudaBoundaryModeClamp, cudaBoundaryModeTrap };
struct cudaResourceDesc { cudaResourceType resType; union { struct { cudaArray_t array; } array; struct {
    cudaMipmappedArray_t mipmap; } mipmap; struct { void *devPtr; cudaChannelFormatDesc desc; size_t sizeInBytes; }
    linear; struct { void *devPtr; cudaChannelFormatDesc desc; size_t width, height, pitchInBytes; } pitch2D; } res;
    };
struct cudaTextureDesc { cudaTextureAddressMode addressMode[3]; cudaTextureFilterMode filterMode; cudaTextureReadMode
    readMode; int sRGB; float borderColor[4]; int normalizedCoords; unsigned maxAnisotropy; cudaTextureFilterMode
    mipmapFilterMode; float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp; };
struct cudaExtent { size_t width, height, depth; };
struct cudaPos { size_t x, y, z; };
struct cudaPitchedPtr { void *ptr; size_t pitch, xsize, ysize; };
struct cudaMemcpy3DParms { cudaArray_t srcArray; cudaPos srcPos; cudaPitchedPtr srcPtr; cudaArray_t dstArray; cudaPos
    dstPos; cudaPitchedPtr dstPtr; cudaExtent extent; cudaMemcpyKind kind; };
struct cudaDeviceProp { char name[256]; size_t totalGlobalMem, sharedMemPerBlock, sharedMemPerMultiprocessor,
    sharedMemPerBlockOptin, memPitch, totalConstMem, textureAlignment; int regsPerBlock, warpSize, maxThreadsPerBlock,
    maxThreadsDim[3], maxGridSize[3], clockRate, major, minor, multiProcessorCount, kernelExecTimeoutEnabled,
    integrated, canMapHostMemory, computeMode, concurrentKernels, ECCEnabled, pciBusID, pciDeviceID, pciDomainID,
    tccDriver, asyncEngineCount, unifiedAddressing, memoryClockRate, memoryBusWidth, l2CacheSize,
    maxThreadsPerMultiProcessor, managedMemory, isMultiGpuBoard, concurrentManagedAccess, cooperativeLaunch,
    cooperativeMultiDeviceLaunch, pageableMemoryAccess, deviceOverlap, computePreemptionSupported,
    canUseHostPointerForRegisteredMem, regsPerMultiprocessor, maxTexture1D, maxTexture2D[2], maxTexture3D[3],
    persistingL2CacheMaxSize, accessPolicyMaxWindowSize, hostNativeAtomicSupported, directManagedMemAccessFromHost,
    streamPrioritiesSupported, globalL1CacheSupported, localL1CacheSupported, maxTexture1DLayered[2],
    maxTexture2DLayered[3], surfaceAlignment, texturePitchAlignment, singleToDoublePrecisionPerfRatio,
    gcnArchName[64]; };
typedef cudaDeviceProp cudaDeviceProp_t;
struct cudaFuncAttributes { size_t sharedSizeBytes, constSizeBytes, localSizeBytes; int maxThreadsPerBlock, numRegs,
    ptxVersion, binaryVersion, cacheModeCA, maxDynamicSharedSizeBytes; };
struct cudaPointerAttributes { int type, memoryType, device; void *devicePointer, *hostPointer; int isManaged;
    unsigned allocationFlags; };
enum cudaFuncCache { cudaFuncCachePreferNone, cudaFuncCachePreferShared, cudaFuncCachePreferL1,
    cudaFuncCachePreferEqual };
typedef cudaFuncCache cudaFuncCache_t;
enum cudaSharedMemConfig { cudaSharedMemBankSizeDefault, cudaSharedMemBankSizeFourByte, cudaSharedMemBankSizeEightByte
    };
enum cudaFuncAttribute { cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
    cudaFuncAttributePreferredSharedMemoryCarveout = 9, cudaFuncAttributeNonPortableClusterSizeAllowed = 13 };
enum cudaDeviceAttr {
    cudaDevAttrMaxThreadsPerBlock = 1, cudaDevAttrMaxBlockDimX = 2, cudaDevAttrMaxBlockDimY = 3,
    cudaDevAttrMaxBlockDimZ = 4, cudaDevAttrMaxGridDimX = 5, cudaDevAttrMaxGridDimY = 6, cudaDevAttrMaxGridDimZ = 7,
    cudaDevAttrMaxSharedMemoryPerBlock = 8, cudaDevAttrTotalConstantMemory = 9, cudaDevAttrWarpSize = 10,
    cudaDevAttrMaxPitch = 11, cudaDevAttrMaxRegistersPerBlock = 12, cudaDevAttrClockRate = 13,
    cudaDevAttrTextureAlignment = 14, cudaDevAttrGpuOverlap = 15, cudaDevAttrMultiProcessorCount = 16,
    cudaDevAttrKernelExecTimeout = 17, cudaDevAttrIntegrated = 18, cudaDevAttrCanMapHostMemory = 19,
    cudaDevAttrComputeMode = 20, cudaDevAttrMaxTexture1DWidth = 21, cudaDevAttrMaxTexture2DWidth = 22,
    cudaDevAttrMaxTexture2DHeight = 23, cudaDevAttrMaxTexture3DWidth = 24, cudaDevAttrMaxTexture3DHeight = 25,
    cudaDevAttrMaxTexture3DDepth = 26, cudaDevAttrSurfaceAlignment = 30, cudaDevAttrConcurrentKernels = 31,
    cudaDevAttrEccEnabled = 32, cudaDevAttrPciBusId = 33, cudaDevAttrPciDeviceId = 34, cudaDevAttrTccDriver = 35,
    cudaDevAttrMemoryClockRate = 36, cudaDevAttrGlobalMemoryBusWidth = 37, cudaDevAttrL2CacheSize = 38,
    cudaDevAttrMaxThreadsPerMultiProcessor = 39, cudaDevAttrAsyncEngineCount = 40, cudaDevAttrUnifiedAddressing = 41,
    cudaDevAttrPciDomainId = 50, cudaDevAttrTexturePitchAlignment = 51, cudaDevAttrComputeCapabilityMajor = 75,
    cudaDevAttrComputeCapabilityMinor = 76, cudaDevAttrStreamPrioritiesSupported = 78,
    cudaDevAttrGlobalL1CacheSupported = 79, cudaDevAttrLocalL1CacheSupported = 80,
    cudaDevAttrMaxSharedMemoryPerMultiprocessor = 81, cudaDevAttrMaxRegistersPerMultiprocessor = 82,
    cudaDevAttrManagedMemory = 83, cudaDevAttrIsMultiGpuBoard = 84, cudaDevAttrMultiGpuBoardGroupID = 85,
    cudaDevAttrHostNativeAtomicSupported = 86, cudaDevAttrSingleToDoublePrecisionPerfRatio = 87,
    cudaDevAttrPageableMemoryAccess = 88, cudaDevAttrConcurrentManagedAccess = 89,
    cudaDevAttrComputePreemptionSupported = 90, cudaDevAttrCanUseHostPointerForRegisteredMem = 91,
    cudaDevAttrCooperativeLaunch = 95, cudaDevAttrCooperativeMultiDeviceLaunch = 96,
    cudaDevAttrMaxSharedMemoryPerBlockOptin = 97, cudaDevAttrCanFlushRemoteWrites = 98,
    cudaDevAttrHostRegisterSupported = 99, cudaDevAttrPageableMemoryAccessUsesHostPageTables = 100,
    cudaDevAttrDirectManagedMemAccessFromHost = 101, cudaDevAttrMaxBlocksPerMultiprocessor = 106,
    cudaDevAttrMaxPersistingL2CacheSize = 108, cudaDevAttrMaxAccessPolicyWindowSize = 109,
    cudaDevAttrReservedSharedMemoryPerBlock = 111, cudaDevAttrMemoryPoolsSupported = 115
};
typedef cudaDeviceAttr cudaDeviceAttribute_t;
enum cudaMemoryAdvise { cudaMemAdviseSetReadMostly = 1, cudaMemAdviseSetPreferredLocation = 3,
    cudaMemAdviseSetAccessedBy = 5 };
enum cudaComputeMode { cudaComputeModeDefault, cudaComputeModeExclusive, cudaComputeModeProhibited,
    cudaComputeModeExclusiveProcess };
enum cudaLimit { cudaLimitStackSize, cudaLimitPrintfFifoSize, cudaLimitMallocHeapSize, cudaLimitDevRuntimeSyncDepth,
    cudaLimitPersistingL2CacheSize = 6 };
enum cudaStreamCaptureMode { cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal,
    cudaStreamCaptureModeRelaxed };
enum cudaMemoryType { cudaMemoryTypeUnregistered, cudaMemoryTypeHost, cudaMemoryTypeDevice, cudaMemoryTypeManaged };
#define cudaEventDefault 0
#define cudaEventBlockingSync 1
#define cudaEventDisableTiming 2
#define cudaStreamDefault 0
#define cudaStreamNonBlocking 1
#define cudaStreamLegacy ((cudaStream_t)1)
#define cudaStreamPerThread ((cudaStream_t)2)
#define cudaHostAllocDefault 0
#define cudaHostAllocPortable 1
#define cudaHostAllocMapped 2
#define cudaHostAllocWriteCombined 4
#define cudaHostMallocDefault 0
#define cudaHostMallocMapped 2
#define cudaHostRegisterDefault 0
#define cudaHostRegisterPortable 1
#define cudaHostRegisterMapped 2
#define cudaMemAttachGlobal 1
#define cudaMemAttachHost 2
#define cudaMemAttachSingle 4
#define cudaDeviceScheduleAuto 0
#define cudaDeviceScheduleBlockingSync 4
#define cudaDeviceBlockingSync 4
#define cudaDeviceMapHost 8
#define cudaArrayDefault 0
#define cudaArraySurfaceLoadStore 2
#define cudaArrayLayered 1
#define cudaCpuDeviceId (-1)
#define cudaInvalidDeviceId (-2)

/* The driver's interface. */
typedef int CUdevice;
typedef int CUresult;
typedef unsigned long long CUdeviceptr;
typedef struct __kassay_ctx *CUcontext;
typedef struct __kassay_mod *CUmodule;
typedef struct __kassay_fun *CUfunction;
typedef cudaStream_t CUstream;
#define CUDA_SUCCESS 0
typedef unsigned long long CUtexObject;
typedef unsigned long long CUsurfObject;
typedef struct __kassay_array *CUarray;
struct cudaAccessPolicyWindow { void *base_ptr; size_t num_bytes; float hitRatio; int hitProp, missProp; };
struct cudaMemAllocNodeParams { void *dptr; size_t bytesize; };
struct cudaKernelNodeParams { void *func; dim3 gridDim, blockDim; unsigned sharedMemBytes; void **kernelParams,
    **extra; };
struct cudaMemsetParams { void *dst; size_t pitch; unsigned value, elementSize; size_t width, height; };
struct cudaHostNodeParams { void (*fn)(void *); void *userData; };
