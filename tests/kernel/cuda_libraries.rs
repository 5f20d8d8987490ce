//! Checks what is read of libraries around CUDA: PyTorch's and Thrust's headers, libcu++, and names that are not there.

use crate::cuda::{Read, read, refusal};

fn note(found: &Read) -> String {
    found.loaded.accepted_errors().to_string()
}

#[test]
fn kernels_of_extensions_for_pytorch_are_those_that_are_dispatched() {
    let found = read(
        "#include <torch/extension.h>
         template <typename T> __global__ void scale(torch::PackedTensorAccessor32<T, 2, torch::RestrictPtrTraits> in, T *out) {
             out[threadIdx.x] = 2 * in[blockIdx.x][threadIdx.x];
         }
         __global__ void k(at::Half *p) { p[0] = p[1]; }
         torch::Tensor run(torch::Tensor x, c10::optional<at::Tensor> bias) {
             TORCH_CHECK(x.is_cuda(), \"on a GPU\");
             auto y = torch::empty_like(x);
             AT_DISPATCH_FLOATING_TYPES(x.scalar_type(), \"run\", ([&] {
                 scale<scalar_t><<<1, 2>>>(x.packed_accessor32<scalar_t, 2, torch::RestrictPtrTraits>(), y.data_ptr<scalar_t>());
             }));
             return y;
         }
         PYBIND11_MODULE(TORCH_EXTENSION_NAME, m) { m.def(\"run\", &run, \"twice\"); }",
    );
    assert_eq!(found.kernels, ["k", "scale<double>", "scale<float>"]);
}

#[test]
fn containers_and_algorithms_of_thrust_are_the_hosts() {
    let found = read(
        "#include <thrust/device_vector.h>
         #include <thrust/sort.h>
         struct Negate : thrust::unary_function<int, int> { __host__ __device__ int operator()(int x) const { return -x; } };
         __global__ void k(int *p, thrust::pair<int, float> *q) { p[0] = Negate()(p[1]) + thrust::plus<int>()(p[2], q->first); }
         int main() {
             thrust::device_vector<int> v(10, 3);
             thrust::sort(thrust::device, v.begin(), v.end(), thrust::greater<int>());
             k<<<1, 1>>>(thrust::raw_pointer_cast(v.data()), nullptr);
             int sum = thrust::reduce(v.begin(), v.end());
             return sum + v[0];
         }",
    );
    assert_eq!(note(&found), "");
}

#[test]
fn names_of_libraries_that_are_not_there_are_taken_as_types_of_the_host() {
    let found = read(
        "#include <somewhere/grid.h>
         #include <vector>
         using namespace somewhere::inner;
         struct App { Timer *timer; somewhere::Grid<float> grid; };
         void run(const somewhere::Grid<float> &in, std::vector<somewhere::inner::Cell> cells, App &app);
         void run(const somewhere::Grid<float> &in, std::vector<somewhere::inner::Cell> cells, App &app) { in.launch(); }
         __global__ void k(int *p) { *p = 1; }",
    );
    let note = note(&found);
    assert!(
        note.contains("types that are not there: Timer, somewhere::Grid, somewhere::inner, somewhere::inner::Cell"),
        "{note}"
    );
}

#[test]
fn such_a_name_in_code_of_the_device_is_an_error() {
    for text in [
        "__global__ void k(lib::Grid *p) { }",
        "void host(lib::Grid &g) { g.run(); } __global__ void k(int *p) { *p = sizeof(lib::Grid); }",
        "struct S { Unknown member; int x; }; __global__ void k(S *p) { p->x = 1; }",
        "__device__ int f() { Unknown u; return 1; } __global__ void k(int *p) { *p = f(); }",
    ] {
        let what = refusal(text);
        assert!(what.contains("identifier 'lib'") || what.contains("type name 'Unknown'"), "{text}: {what}");
    }
    let what = refusal("__global__ void k(int *p) { *p = lib::Grid::cells(3); *p += Unknown::thing(3); }");
    assert!(what.contains("identifier 'lib'") && !what.contains("kassay_unknown"), "{what}");
}

#[test]
fn atomics_of_libcudacxx_have_their_orders_and_scopes() {
    let text = read(
        "#include <cuda/atomic>
         __global__ void k(int *p) {
             cuda::atomic_ref<int, cuda::thread_scope_block> own(p[0]);
             own.fetch_add(2, cuda::memory_order_relaxed);
             cuda::atomic_ref<int, cuda::thread_scope_device>(p[1]).store(3, cuda::std::memory_order_release);
             p[2] = cuda::std::atomic_ref<int>(p[1]).load(cuda::memory_order_acquire);
         }",
    )
    .text;
    let has = |words: &[&str]| text.lines().any(|line| words.iter().all(|word| line.contains(word)));
    assert!(has(&["atomicrmw add ptr", "i32 2 syncscope(\"workgroup\") monotonic"]), "{text}");
    assert!(has(&["store atomic i32 3", "syncscope(\"device\") release"]), "{text}");
    assert!(has(&["load atomic i32", " acquire"]) && !text.contains("memcpy"), "{text}");
}

#[test]
fn barriers_at_which_all_threads_arrive_and_wait_are_the_blocks() {
    let text = read(
        "#include <cuda/barrier>
         #include <cooperative_groups.h>
         __global__ void k(int *p) {
             __shared__ cuda::barrier<cuda::thread_scope_block> all;
             auto block = cooperative_groups::this_thread_block();
             if (threadIdx.x == 0) init(&all, blockDim.x);
             __syncthreads();
             all.arrive_and_wait();
             auto token = all.arrive();
             all.wait(std::move(token));
             all.wait(all.arrive());
             auto arrival = block.barrier_arrive();
             block.barrier_wait(std::move(arrival));
             p[threadIdx.x] = 1;
         }",
    )
    .text;
    assert_eq!(text.matches("call spir_func void @_Z7barrierj(i32").count(), 5, "{text}");
    assert!(!text.contains("@\"cuda."), "{text}");
}

#[test]
fn what_waits_in_ways_of_its_own_is_named() {
    let named = |scope: &str, body: &str, name: &str| {
        let text = read(&format!(
            "#include <cuda/barrier>
             __global__ void k(int *p) {{
                 __shared__ cuda::barrier<cuda::thread_scope_{scope}> all;
                 {body}
             }}"
        ))
        .text;
        assert!(text.contains(&format!("@\"cuda.{name}")), "{name}: {text}");
    };
    named("device", "all.arrive_and_wait();", "cuda::barrier of another scope");
    named("block", "all.arrive_and_drop();", "cuda::barrier::arrive_and_drop");
    named("block", "all.wait(all.arrive(2));", "cuda::barrier::arrive for several threads");
    // Both steps stay where another thread may notice what is done in between.
    let between = "auto token = all.arrive(); p[0] = 1; all.wait(std::move(token));";
    named("block", between, "apart cuda::barrier::arrive");
    named("block", "auto token = all.arrive(); if (p[0]) all.wait(std::move(token));", "apart cuda::barrier::wait");
}

#[test]
fn collectives_of_cub_may_be_of_classes_with_constructors_and_in_unions() {
    read(
        "#include <cub/cub.cuh>
         struct Two { int a, b; __device__ Two() : a(0), b(0) {} __device__ Two(int x) : a(x), b(1) {}
                      __device__ Two operator+(const Two &o) const { Two s; s.a = a + o.a; s.b = b + o.b; return s; } };
         typedef cub::BlockReduce<Two, 32> Reduce;
         __global__ void k(int *p) {
             __shared__ union { Reduce::TempStorage reduce; int other[4]; } memory;
             Two sum = Reduce(memory.reduce).Sum(Two(p[threadIdx.x]));
             if (threadIdx.x == 0) p[0] = sum.a + cub::LaneId();
         }",
    );
}

#[test]
fn matrices_of_inline_assembly_are_loaded_and_multiplied() {
    let kernel = |statement: &str| {
        format!(
            "__global__ void k(unsigned *p) {{
               __shared__ alignas(16) unsigned s[128];
               unsigned x = p[0], y = p[1], z = p[2], w = p[3], at = (unsigned)__cvta_generic_to_shared(s);
               float f = 0, g = 0, h = 0, i = 0;
               {statement}
               p[0] = x + y + z + w + (unsigned)(f + g + h + i);
             }}"
        )
    };
    for statement in [
        r#"asm volatile("ldmatrix.sync.aligned.m8n8.x1.shared.b16 {%0}, [%1+16];" : "=r"(x) : "r"(at));"#,
        r#"asm volatile("ldmatrix.sync.aligned.x4.trans.m8n8.shared.b16 {%0, %1, %2, %3}, [%4];" : "=r"(x), "=r"(y), "=r"(z), "=r"(w) : "r"(at));"#,
        r#"asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%4,%5}, {%0,%1,%2,%3};" : "+f"(f), "+f"(g), "+f"(h), "+f"(i) : "r"(x), "r"(y), "r"(z), "r"(w));"#,
        r#"asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%4,%5}, {%0,%1,%2,%3};" : "+f"(f), "+f"(g), "+f"(h), "+f"(i) : "r"(x), "r"(y), "r"(z), "r"(w));"#,
        r#"asm("mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16 {%0,%1}, {%2,%3}, {%2}, {%0,%1};" : "+r"(x), "+r"(y) : "r"(z), "r"(w));"#,
    ] {
        let text = read(&kernel(statement)).text;
        assert!(!text.contains("cuda.ptx") && text.contains("sub_group_shuffle"), "{statement}\n{text}");
    }
    let other = r#"asm volatile("mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%0,%1,%2,%3}, {%0,%1}, {%0,%1,%2,%3};" : "+r"(x), "+r"(y), "+r"(z), "+r"(w));"#;
    let text = read(&kernel(other)).text;
    assert!(text.contains("cuda.ptx mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32"), "{text}");
}

#[test]
fn errors_of_calls_name_the_nearest_functions_only() {
    let what = refusal("__global__ void k(float *p) { p[0] = min(p, 3); }");
    let candidates = what.matches("note: candidate").count();
    assert!(what.contains("no matching function for call to 'min'") && candidates <= 8, "{candidates}: {what}");
}
