/* Types of libraries, so that declarations of the host that name them parse. */
#pragma once
#include <kassay/bfloat16.h>

#define KASSAY_HANDLE(T) typedef struct __kassay_##T *T;
#define KASSAY_NUMBER(T) typedef int T;
KASSAY_NUMBER(cudaDataType) KASSAY_NUMBER(cudaDataType_t)
KASSAY_HANDLE(cublasHandle_t) KASSAY_NUMBER(cublasStatus_t) KASSAY_NUMBER(cublasComputeType_t) KASSAY_NUMBER(cublasMath_t)
KASSAY_NUMBER(cublasOperation_t) KASSAY_NUMBER(cublasGemmAlgo_t) KASSAY_NUMBER(cublasFillMode_t)
KASSAY_NUMBER(cublasSideMode_t) KASSAY_NUMBER(cublasDiagType_t) KASSAY_NUMBER(cublasPointerMode_t)
KASSAY_HANDLE(cublasLtHandle_t) KASSAY_HANDLE(cublasLtMatmulDesc_t) KASSAY_HANDLE(cublasLtMatrixLayout_t)
KASSAY_HANDLE(cublasLtMatmulPreference_t) KASSAY_NUMBER(cublasLtEpilogue_t)
struct cublasLtMatmulHeuristicResult_t { int algo, state; };
KASSAY_NUMBER(cufftHandle) KASSAY_NUMBER(cufftResult) KASSAY_NUMBER(cufftType)
typedef float2 cufftComplex;
typedef double2 cufftDoubleComplex;
typedef float cufftReal;
typedef double cufftDoubleReal;
KASSAY_HANDLE(curandGenerator_t) KASSAY_NUMBER(curandStatus_t) KASSAY_NUMBER(curandRngType_t)
KASSAY_HANDLE(cusparseHandle_t) KASSAY_NUMBER(cusparseStatus_t) KASSAY_HANDLE(cusparseMatDescr_t)
KASSAY_HANDLE(cusparseSpMatDescr_t) KASSAY_HANDLE(cusparseDnVecDescr_t) KASSAY_HANDLE(cusparseDnMatDescr_t)
KASSAY_NUMBER(cusparseIndexType_t) KASSAY_NUMBER(cusparseOperation_t)
KASSAY_HANDLE(cusolverDnHandle_t) KASSAY_NUMBER(cusolverStatus_t) KASSAY_HANDLE(cusolverSpHandle_t)
KASSAY_HANDLE(ncclComm_t) KASSAY_NUMBER(ncclResult_t) KASSAY_NUMBER(ncclDataType_t)
struct ncclUniqueId { char internal[128]; };
KASSAY_HANDLE(cudnnHandle_t) KASSAY_NUMBER(cudnnStatus_t) KASSAY_NUMBER(cudnnDataType_t)
KASSAY_HANDLE(cudnnTensorDescriptor_t)
KASSAY_HANDLE(hipblasHandle_t) KASSAY_NUMBER(hipblasStatus_t) KASSAY_HANDLE(rocblas_handle) KASSAY_NUMBER(rocblas_status)
#define CUDA_R_32F 0
#define CUDA_R_64F 1
#define CUDA_R_16F 2
#define CUDA_R_16BF 14
#define CUBLAS_COMPUTE_32F 68
#define CUBLAS_STATUS_SUCCESS 0
#define CUBLAS_OP_N 0
#define CUBLAS_OP_T 1
