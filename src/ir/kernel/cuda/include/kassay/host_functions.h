/* Functions of the host's interface, as far as programs have to parse: any arguments do, because no host code is run. */
#pragma once
#include <kassay/host_types.h>

#define KASSAY_API(NAME) template <typename... A> inline cudaError_t NAME(A &&...) { return cudaError_t(0); }
KASSAY_API(cudaArrayGetInfo) KASSAY_API(cudaBindSurfaceToArray) KASSAY_API(cudaBindTexture)
KASSAY_API(cudaBindTexture2D) KASSAY_API(cudaBindTextureToArray) KASSAY_API(cudaChooseDevice)
KASSAY_API(cudaCreateSurfaceObject) KASSAY_API(cudaCreateTextureObject) KASSAY_API(cudaCtxResetPersistingL2Cache)
KASSAY_API(cudaDestroyExternalMemory) KASSAY_API(cudaDestroyExternalSemaphore) KASSAY_API(cudaDestroySurfaceObject)
KASSAY_API(cudaDestroyTextureObject) KASSAY_API(cudaDeviceCanAccessPeer) KASSAY_API(cudaDeviceDisablePeerAccess)
KASSAY_API(cudaDeviceEnablePeerAccess) KASSAY_API(cudaDeviceGetAttribute) KASSAY_API(cudaDeviceGetByPCIBusId)
KASSAY_API(cudaDeviceGetDefaultMemPool) KASSAY_API(cudaDeviceGetLimit) KASSAY_API(cudaDeviceGetMemPool)
KASSAY_API(cudaDeviceGetP2PAttribute) KASSAY_API(cudaDeviceGetPCIBusId) KASSAY_API(cudaDeviceGetStreamPriorityRange)
KASSAY_API(cudaDeviceReset) KASSAY_API(cudaDeviceSetCacheConfig) KASSAY_API(cudaDeviceSetLimit)
KASSAY_API(cudaDeviceSetMemPool) KASSAY_API(cudaDeviceSetSharedMemConfig) KASSAY_API(cudaDeviceSynchronize)
KASSAY_API(cudaDriverGetVersion) KASSAY_API(cudaEventCreate) KASSAY_API(cudaEventCreateWithFlags)
KASSAY_API(cudaEventDestroy) KASSAY_API(cudaEventElapsedTime) KASSAY_API(cudaEventQuery) KASSAY_API(cudaEventRecord)
KASSAY_API(cudaEventSynchronize) KASSAY_API(cudaExternalMemoryGetMappedBuffer) KASSAY_API(cudaFree)
KASSAY_API(cudaFreeArray) KASSAY_API(cudaFreeAsync) KASSAY_API(cudaFreeHost) KASSAY_API(cudaFreeMipmappedArray)
KASSAY_API(cudaFuncGetAttributes) KASSAY_API(cudaFuncSetAttribute) KASSAY_API(cudaFuncSetCacheConfig)
KASSAY_API(cudaFuncSetSharedMemConfig) KASSAY_API(cudaGLSetGLDevice) KASSAY_API(cudaGetChannelDesc)
KASSAY_API(cudaGetDevice) KASSAY_API(cudaGetDeviceCount) KASSAY_API(cudaGetDeviceProperties)
KASSAY_API(cudaGetLastError) KASSAY_API(cudaGetMipmappedArrayLevel) KASSAY_API(cudaGetSymbolAddress)
KASSAY_API(cudaGetSymbolSize) KASSAY_API(cudaGetTextureReference) KASSAY_API(cudaGraphAddDependencies)
KASSAY_API(cudaGraphAddEmptyNode) KASSAY_API(cudaGraphAddHostNode) KASSAY_API(cudaGraphAddKernelNode)
KASSAY_API(cudaGraphAddMemcpyNode) KASSAY_API(cudaGraphAddMemsetNode) KASSAY_API(cudaGraphClone)
KASSAY_API(cudaGraphCreate) KASSAY_API(cudaGraphDestroy) KASSAY_API(cudaGraphExecDestroy)
KASSAY_API(cudaGraphExecKernelNodeSetParams) KASSAY_API(cudaGraphExecUpdate) KASSAY_API(cudaGraphGetNodes)
KASSAY_API(cudaGraphInstantiate) KASSAY_API(cudaGraphLaunch) KASSAY_API(cudaGraphNodeGetType)
KASSAY_API(cudaGraphUpload) KASSAY_API(cudaGraphicsGLRegisterBuffer) KASSAY_API(cudaGraphicsGLRegisterImage)
KASSAY_API(cudaGraphicsMapResources) KASSAY_API(cudaGraphicsResourceGetMappedPointer)
KASSAY_API(cudaGraphicsSubResourceGetMappedArray) KASSAY_API(cudaGraphicsUnmapResources)
KASSAY_API(cudaGraphicsUnregisterResource) KASSAY_API(cudaHostAlloc) KASSAY_API(cudaHostFree)
KASSAY_API(cudaHostGetDevicePointer) KASSAY_API(cudaHostGetFlags) KASSAY_API(cudaHostMalloc)
KASSAY_API(cudaHostRegister) KASSAY_API(cudaHostUnregister) KASSAY_API(cudaImportExternalMemory)
KASSAY_API(cudaImportExternalSemaphore) KASSAY_API(cudaIpcCloseMemHandle) KASSAY_API(cudaIpcGetEventHandle)
KASSAY_API(cudaIpcGetMemHandle) KASSAY_API(cudaIpcOpenEventHandle) KASSAY_API(cudaIpcOpenMemHandle)
KASSAY_API(cudaLaunchCooperativeKernel) KASSAY_API(cudaLaunchHostFunc) KASSAY_API(cudaLaunchKernel)
KASSAY_API(cudaLaunchKernelEx) KASSAY_API(cudaLaunchKernelExC) KASSAY_API(cudaMalloc) KASSAY_API(cudaMalloc3D)
KASSAY_API(cudaMalloc3DArray) KASSAY_API(cudaMallocArray) KASSAY_API(cudaMallocAsync)
KASSAY_API(cudaMallocFromPoolAsync) KASSAY_API(cudaMallocHost) KASSAY_API(cudaMallocManaged)
KASSAY_API(cudaMallocMipmappedArray) KASSAY_API(cudaMallocPitch) KASSAY_API(cudaMemAdvise) KASSAY_API(cudaMemGetInfo)
KASSAY_API(cudaMemPoolCreate) KASSAY_API(cudaMemPoolDestroy) KASSAY_API(cudaMemPoolGetAttribute)
KASSAY_API(cudaMemPoolSetAttribute) KASSAY_API(cudaMemPoolTrimTo) KASSAY_API(cudaMemPrefetchAsync)
KASSAY_API(cudaMemRangeGetAttribute) KASSAY_API(cudaMemcpy) KASSAY_API(cudaMemcpy2D) KASSAY_API(cudaMemcpy2DAsync)
KASSAY_API(cudaMemcpy2DFromArray) KASSAY_API(cudaMemcpy2DToArray) KASSAY_API(cudaMemcpy3D)
KASSAY_API(cudaMemcpy3DAsync) KASSAY_API(cudaMemcpyAsync) KASSAY_API(cudaMemcpyDtoH) KASSAY_API(cudaMemcpyFromArray)
KASSAY_API(cudaMemcpyFromSymbol) KASSAY_API(cudaMemcpyFromSymbolAsync) KASSAY_API(cudaMemcpyHtoD)
KASSAY_API(cudaMemcpyPeer) KASSAY_API(cudaMemcpyPeerAsync) KASSAY_API(cudaMemcpyToArray)
KASSAY_API(cudaMemcpyToSymbol) KASSAY_API(cudaMemcpyToSymbolAsync) KASSAY_API(cudaMemset) KASSAY_API(cudaMemset2D)
KASSAY_API(cudaMemset2DAsync) KASSAY_API(cudaMemset3D) KASSAY_API(cudaMemsetAsync)
KASSAY_API(cudaOccupancyMaxActiveBlocksPerMultiprocessor) KASSAY_API(cudaOccupancyMaxActiveClusters)
KASSAY_API(cudaOccupancyMaxPotentialBlockSize) KASSAY_API(cudaOccupancyMaxPotentialBlockSizeVariableSMem)
KASSAY_API(cudaOccupancyMaxPotentialClusterSize) KASSAY_API(cudaPeekAtLastError) KASSAY_API(cudaPointerGetAttributes)
KASSAY_API(cudaProfilerStart) KASSAY_API(cudaProfilerStop) KASSAY_API(cudaRuntimeGetVersion) KASSAY_API(cudaSetDevice)
KASSAY_API(cudaSetDeviceFlags) KASSAY_API(cudaSignalExternalSemaphoresAsync) KASSAY_API(cudaStreamAddCallback)
KASSAY_API(cudaStreamAttachMemAsync) KASSAY_API(cudaStreamBeginCapture) KASSAY_API(cudaStreamCreate)
KASSAY_API(cudaStreamCreateWithFlags) KASSAY_API(cudaStreamCreateWithPriority) KASSAY_API(cudaStreamDestroy)
KASSAY_API(cudaStreamEndCapture) KASSAY_API(cudaStreamGetCaptureInfo) KASSAY_API(cudaStreamIsCapturing)
KASSAY_API(cudaStreamQuery) KASSAY_API(cudaStreamSetAttribute) KASSAY_API(cudaStreamSynchronize)
KASSAY_API(cudaStreamWaitEvent) KASSAY_API(cudaThreadExit) KASSAY_API(cudaThreadSynchronize)
KASSAY_API(cudaUnbindTexture) KASSAY_API(cudaWaitExternalSemaphoresAsync)
#undef KASSAY_API
#define KASSAY_API(NAME) template <typename... A> inline CUresult NAME(A &&...) { return CUresult(0); }
KASSAY_API(cuCtxCreate) KASSAY_API(cuCtxDestroy) KASSAY_API(cuCtxSetCurrent) KASSAY_API(cuCtxSynchronize)
KASSAY_API(cuDeviceComputeCapability) KASSAY_API(cuDeviceGet) KASSAY_API(cuDeviceGetAttribute)
KASSAY_API(cuDeviceGetCount) KASSAY_API(cuDeviceGetName) KASSAY_API(cuDeviceTotalMem) KASSAY_API(cuGetErrorName)
KASSAY_API(cuGetErrorString) KASSAY_API(cuInit) KASSAY_API(cuLaunchKernel) KASSAY_API(cuMemAlloc)
KASSAY_API(cuMemFree) KASSAY_API(cuMemGetInfo) KASSAY_API(cuMemcpyDtoH) KASSAY_API(cuMemcpyHtoD)
KASSAY_API(cuModuleGetFunction) KASSAY_API(cuModuleLoad) KASSAY_API(cuModuleLoadData) KASSAY_API(cuModuleLoadDataEx)
KASSAY_API(cuModuleUnload) KASSAY_API(cuStreamCreate)
#undef KASSAY_API

inline const char *cudaGetErrorString(cudaError_t) { return ""; }
inline const char *cudaGetErrorName(cudaError_t) { return ""; }
template <typename T> inline cudaChannelFormatDesc cudaCreateChannelDesc() { return {}; }
inline cudaChannelFormatDesc cudaCreateChannelDesc(int, int, int, int, cudaChannelFormatKind) { return {}; }
inline cudaExtent make_cudaExtent(size_t width, size_t height, size_t depth) { return {width, height, depth}; }
inline cudaPos make_cudaPos(size_t x, size_t y, size_t z) { return {x, y, z}; }
inline cudaPitchedPtr make_cudaPitchedPtr(void *p, size_t pitch, size_t x, size_t y) { return {p, pitch, x, y}; }

/* What clang calls where a kernel is launched. */
extern "C" int cudaConfigureCall(dim3, dim3, size_t = 0, cudaStream_t = 0);
extern "C" unsigned __cudaPushCallConfiguration(dim3, dim3, size_t = 0, void * = 0);
