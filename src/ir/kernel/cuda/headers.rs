//! kassay's headers for CUDA and HIP, which clang reads from memory.

use std::ffi::CString;

use kassay_base::hash;
use kassay_model::options::CUDA_HEADERS;

/// The headers with declarations.
const OWN: &[(&str, &str)] = &[
    ("approximations", include_str!("include/kassay/approximations.h")),
    ("atomics", include_str!("include/kassay/atomics.h")),
    ("attributes", include_str!("include/kassay/attributes.h")),
    ("bfloat16", include_str!("include/kassay/bfloat16.h")),
    ("complex", include_str!("include/kassay/complex.h")),
    ("complex_numbers", include_str!("include/kassay/complex_numbers.h")),
    ("constants", include_str!("include/kassay/constants.h")),
    ("cooperative_groups", include_str!("include/kassay/cooperative_groups.h")),
    ("cub", include_str!("include/kassay/cub.h")),
    ("cuda", include_str!("include/kassay/cuda.h")),
    ("float8", include_str!("include/kassay/float8.h")),
    ("half", include_str!("include/kassay/half.h")),
    ("hip", include_str!("include/kassay/hip.h")),
    ("hip_vectors", include_str!("include/kassay/hip_vectors.h")),
    ("hipcub", include_str!("include/kassay/hipcub.h")),
    ("host", include_str!("include/kassay/host.h")),
    ("host_functions", include_str!("include/kassay/host_functions.h")),
    ("host_types", include_str!("include/kassay/host_types.h")),
    ("indices", include_str!("include/kassay/indices.h")),
    ("integers", include_str!("include/kassay/integers.h")),
    ("libcudacxx", include_str!("include/kassay/libcudacxx.h")),
    ("libraries", include_str!("include/kassay/libraries.h")),
    ("mathematics", include_str!("include/kassay/mathematics.h")),
    ("memory", include_str!("include/kassay/memory.h")),
    ("numbers16", include_str!("include/kassay/numbers16.h")),
    ("pipeline", include_str!("include/kassay/pipeline.h")),
    ("random", include_str!("include/kassay/random.h")),
    ("rounding", include_str!("include/kassay/rounding.h")),
    ("simd", include_str!("include/kassay/simd.h")),
    ("synchronisation", include_str!("include/kassay/synchronisation.h")),
    ("tensors", include_str!("include/kassay/tensors.h")),
    ("textures", include_str!("include/kassay/textures.h")),
    ("thrust", include_str!("include/kassay/thrust.h")),
    ("torch", include_str!("include/kassay/torch.h")),
    ("vectors", include_str!("include/kassay/vectors.h")),
    ("warps", include_str!("include/kassay/warps.h")),
];

/// The names under which programs include them: one of those above, and names of CUDA's and HIP's.
#[rustfmt::skip]
const NAMES: &[(&str, &[&str])] = &[
    ("cuda", &[
        "builtin_types.h", "channel_descriptor.h", "crt/device_functions.h", "crt/host_defines.h", "cuda.h",
        "cuda_device_runtime_api.h", "cuda_gl_interop.h", "cuda_profiler_api.h", "cuda_runtime.h", "cuda_runtime_api.h",
        "cuda_texture_types.h", "device_atomic_functions.h", "device_functions.h", "device_launch_parameters.h",
        "driver_types.h", "host_defines.h", "library_types.h", "math_functions.h", "nvToolsExt.h", "nvtx3/nvToolsExt.h",
        "sm_20_atomic_functions.h", "sm_30_intrinsics.h", "surface_functions.h", "texture_fetch_functions.h",
        "texture_types.h", "vector_functions.h", "vector_types.h",
    ]),
    ("hip", &[
        "hip/device_functions.h", "hip/hip_runtime.h", "hip/hip_runtime_api.h", "hip/hip_vector_types.h",
        "hip/math_functions.h",
    ]),
    ("half", &["cuda_fp16.h", "hip/hip_fp16.h"]),
    ("bfloat16", &["cuda_bf16.h", "hip/hip_bf16.h", "hip/hip_bfloat16.h"]),
    ("float8", &["cuda_fp8.h", "hip/hip_fp8.h"]),
    ("complex", &["cuComplex.h", "hip/hip_complex.h"]),
    ("constants", &["math_constants.h"]),
    ("cooperative_groups", &[
        "cooperative_groups.h", "cooperative_groups/memcpy_async.h", "cooperative_groups/reduce.h",
        "cooperative_groups/scan.h", "hip/hip_cooperative_groups.h",
    ]),
    ("cub", &[
        "cub/block/block_exchange.cuh", "cub/block/block_load.cuh", "cub/block/block_radix_sort.cuh",
        "cub/block/block_reduce.cuh", "cub/block/block_scan.cuh", "cub/block/block_store.cuh", "cub/cub.cuh",
        "cub/device/device_radix_sort.cuh", "cub/device/device_reduce.cuh", "cub/device/device_scan.cuh",
        "cub/thread/thread_load.cuh", "cub/thread/thread_store.cuh", "cub/util_allocator.cuh", "cub/util_ptx.cuh",
        "cub/warp/warp_reduce.cuh", "cub/warp/warp_scan.cuh",
    ]),
    ("hipcub", &["hipcub/hipcub.hpp"]),
    ("pipeline", &["cuda_pipeline.h", "cuda_pipeline_primitives.h"]),
    ("tensors", &["mma.h"]),
    ("random", &["curand_kernel.h", "hiprand/hiprand_kernel.h", "rocrand/rocrand_kernel.h"]),
    ("libcudacxx", &[
        "cuda/atomic", "cuda/barrier", "cuda/cmath", "cuda/functional", "cuda/pipeline", "cuda/std/algorithm", "cuda/std/array", "cuda/std/atomic",
        "cuda/std/bit", "cuda/std/cassert", "cuda/std/cfloat", "cuda/std/climits", "cuda/std/cmath", "cuda/std/complex",
        "cuda/std/cstddef", "cuda/std/cstdint", "cuda/std/functional", "cuda/std/initializer_list", "cuda/std/iterator",
        "cuda/std/limits", "cuda/std/numeric", "cuda/std/optional", "cuda/std/ratio", "cuda/std/tuple",
        "cuda/std/type_traits", "cuda/std/utility",
    ]),
    ("thrust", THRUST),
    ("torch", &[
        "ATen/ATen.h", "ATen/AccumulateType.h", "ATen/OpMathType.h", "ATen/cuda/CUDAContext.h", "ATen/cuda/Exceptions.h",
        "c10/cuda/CUDAException.h", "c10/cuda/CUDAGuard.h", "c10/cuda/CUDAStream.h", "c10/util/Half.h",
        "torch/all.h", "torch/extension.h", "torch/library.h", "torch/script.h", "torch/serialize/tensor.h", "torch/torch.h",
        "torch/types.h",
    ]),
    ("libraries", &[
        "cublas.h", "cublasLt.h", "cublasXt.h", "cublas_api.h", "cublas_v2.h", "cudnn.h", "cufft.h", "cufftXt.h",
        "curand.h", "cusolverDn.h", "cusolverSp.h", "cusparse.h", "hipblas.h", "hipblas/hipblas.h", "hipfft.h",
        "hipfft/hipfft.h", "hiprand.h", "hiprand/hiprand.h", "nccl.h", "rocblas/rocblas.h",
    ]),
];

/// Thrust's headers, which programs include one by one.
#[rustfmt::skip]
const THRUST: &[&str] = &[
    "thrust/adjacent_difference.h", "thrust/binary_search.h", "thrust/complex.h", "thrust/copy.h", "thrust/count.h",
    "thrust/device_malloc.h", "thrust/device_malloc_allocator.h", "thrust/device_free.h", "thrust/device_ptr.h", "thrust/device_vector.h", "thrust/distance.h",
    "thrust/execution_policy.h", "thrust/extrema.h", "thrust/fill.h", "thrust/find.h", "thrust/for_each.h", "thrust/functional.h",
    "thrust/gather.h", "thrust/generate.h", "thrust/host_vector.h", "thrust/inner_product.h", "thrust/iterator/constant_iterator.h",
    "thrust/iterator/counting_iterator.h", "thrust/iterator/discard_iterator.h", "thrust/iterator/permutation_iterator.h",
    "thrust/iterator/transform_iterator.h", "thrust/iterator/zip_iterator.h", "thrust/logical.h", "thrust/merge.h", "thrust/pair.h",
    "thrust/partition.h", "thrust/random.h", "thrust/reduce.h", "thrust/remove.h", "thrust/replace.h", "thrust/reverse.h",
    "thrust/scan.h", "thrust/scatter.h", "thrust/sequence.h", "thrust/shuffle.h", "thrust/sort.h", "thrust/swap.h",
    "thrust/system/cuda/execution_policy.h", "thrust/system/hip/execution_policy.h", "thrust/tabulate.h", "thrust/transform.h",
    "thrust/transform_reduce.h", "thrust/transform_scan.h", "thrust/tuple.h", "thrust/unique.h", "thrust/universal_vector.h",
    "thrust/version.h",
];

/// The files, by path, each followed by its text: what `kassay_clang` takes.
pub fn files() -> Vec<CString> {
    let own = OWN.iter().map(|(name, text)| (format!("kassay/{name}.h"), (*text).to_owned()));
    let named = NAMES.iter().flat_map(|(own, names)| {
        names.iter().map(move |name| ((*name).to_owned(), format!("#include <kassay/{own}.h>\n")))
    });
    let all = own.chain(named).map(|(name, text)| (format!("{CUDA_HEADERS}/{name}"), text));
    all.flat_map(|(path, text)| [path, text]).filter_map(|text| CString::new(text).ok()).collect()
}

/// What changes with the headers, for keys of caches.
pub fn stamp() -> String {
    let files = files();
    let all: Vec<&[u8]> = files.iter().map(|text| text.as_bytes_with_nul()).collect();
    format!("headers {:032x}", hash::wide(&all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_name_stands_for_a_header_that_exists() {
        let known = |name: &str| OWN.iter().any(|(own, _)| *own == name);
        assert!(NAMES.iter().all(|(own, _)| known(own)));
        assert_eq!(files().len(), 2 * (OWN.len() + NAMES.iter().map(|(_, names)| names.len()).sum::<usize>()));
    }

    #[test]
    fn what_headers_include_of_kassay_exists() {
        for (name, text) in OWN {
            let included = text.split("#include <kassay/").skip(1).filter_map(|rest| rest.split(".h>").next());
            for other in included {
                assert!(OWN.iter().any(|(own, _)| *own == other), "{name} includes {other}");
            }
        }
    }
}
