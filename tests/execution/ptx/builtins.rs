//! Checks builtins that libclc for NVPTX lacks, or that differ there.

use kassay_run::exec::Target;

use super::assembler;
use crate::common::kernels::{source_file, with_file, with_source};

/// Returns the PTX of the only kernel of a source text in OpenCL C 2.0, which assembles.
#[track_caller]
fn ptx(source: &str) -> String {
    let (_folder, path) = source_file(source);
    let code = with_file(&path, None, &["-cl-std=CL2.0".to_owned()], |kernel| kernel.plain(Target::Ptx)).unwrap();
    if let Err(complaint) = assembler::assemble(code.bytes()) {
        panic!("{complaint}");
    }
    String::from_utf8(code.bytes().to_vec()).unwrap()
}

#[test]
fn ids_come_from_the_registers_in_which_the_driver_says_where_a_grid_stands() {
    let ptx = ptx("kernel void k(global ulong *a) { a[get_local_id(0)] = get_global_id(1) + get_num_groups(2); }");
    // The offset of a dimension follows from where the grid begins, so the first group cancels out.
    for register in ["%ctaid.y", "%tid.y", "%ntid.y", "%envreg4", "%envreg8"] {
        assert!(ptx.contains(register), "{register}\n{ptx}");
    }
}

#[test]
fn a_barrier_is_not_aligned_and_needs_no_fence() {
    let ptx = ptx("kernel void k(global int *a, local int *l) {
        l[get_local_id(0)] = a[get_global_id(0)];
        barrier(CLK_LOCAL_MEM_FENCE);
        a[get_global_id(0)] = l[0];
    }");
    assert!(ptx.contains("barrier.sync") && !ptx.contains("membar") && !ptx.contains("fence"), "{ptx}");
}

#[test]
fn products_and_sums_are_not_contracted() {
    let ptx = ptx("kernel void k(global float *a) { a[0] = a[1] * a[2] + a[3]; a[4] = a[5] / a[6] + sqrt(a[7]); }");
    for wanted in ["mul.rn.f32", "add.rn.f32", "div.rn.f32", "sqrt.rn.f32"] {
        assert!(ptx.contains(wanted), "{wanted}\n{ptx}");
    }
    assert!(!ptx.contains("fma.") && !ptx.contains(".ftz"), "{ptx}");
}

#[test]
fn approximations_are_those_of_base_2() {
    let ptx = ptx("kernel void k(global float *a, global float4 *b) {
        a[0] = native_exp(a[1]) + native_log(a[2]) + native_log2(a[3]) + native_log10(a[4]) + native_powr(a[5], a[6]);
        b[0] = native_exp(b[1]) + native_log(b[2]);
    }");
    assert!(ptx.contains("ex2.approx") && ptx.contains("lg2.approx"), "{ptx}");
}

#[test]
fn remainders_are_exact() {
    // LLVM would divide, and round the quotient.
    let ptx =
        ptx("kernel void k(global float *a, global double *b) { a[0] = fmod(a[1], a[2]); b[0] = fmod(b[1], b[2]); }");
    assert!(!ptx.contains("div.rn") && ptx.contains("rem.u64"), "{ptx}");
}

#[test]
fn groups_have_collectives_whose_memory_is_as_large_as_they_need() {
    let reduction = |ty: &str| {
        format!("kernel void k(global {ty} *a) {{ a[get_group_id(0)] = work_group_reduce_add(a[get_global_id(0)]); }}")
    };
    let ptx_of = |ty: &str| ptx(&reduction(ty));
    assert!(ptx_of("int").contains("kassay_scratch[4096]"));
    assert!(ptx_of("double").contains("kassay_scratch[8192]"));
    let none = ptx("kernel void k(global int *a) { a[0]++; }");
    assert!(!none.contains("kassay_scratch"));
}

#[test]
fn sub_groups_are_warps() {
    let ptx = ptx("#pragma OPENCL EXTENSION cl_khr_subgroups : enable
        kernel void k(global int *a) {
            a[get_global_id(0)] = sub_group_reduce_max(a[get_global_id(0)]) + (int)get_sub_group_id();
        }");
    assert!(ptx.contains("bar.warp.sync"), "{ptx}");
}

#[test]
fn atomics_of_all_versions_of_the_language_are_instructions() {
    let ptx = ptx("#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
        kernel void k(global int *a, global ulong *b, local uint *l) {
            atomic_inc(a);
            atom_add(b, 3ul);
            atomic_cmpxchg(l, 1u, 2u);
            int expected = 1;
            atomic_compare_exchange_strong_explicit((global atomic_int *)a, &expected, 2, memory_order_acq_rel,
                                                    memory_order_relaxed, memory_scope_work_group);
        }");
    for wanted in ["atom.global.add.u32", "atom.global.add.u64", "atom.relaxed.gpu.shared.cas.b32"] {
        assert!(ptx.contains(wanted), "{wanted}\n{ptx}");
    }
    assert!(ptx.contains("atom.acq_rel.cta"), "{ptx}");
}

#[test]
fn printf_passes_promoted_arguments_in_memory() {
    let ptx = ptx("kernel void k(float f, uchar c, global int *a) { printf(\"%f %d %p %s\\n\", f, c, a, \"text\"); }");
    assert!(ptx.contains("vprintf") && ptx.contains("cvt.f64.f32"), "{ptx}");
}

#[test]
fn printf_prints_the_components_of_vectors_one_by_one() {
    let ptx = ptx("kernel void k(float4 f, short2 s, long3 l, char c, ulong u) {
        printf(\"(%5.2v4f) 100%% %v2hx\", f, s);
        printf(\"%v3ld|%v2hld\", l, (int2)(1, 2));
        printf(\"%hhx %d %F\", c, (int)u, f.x);
    }");
    for format in ["(%5.2f,%5.2f,%5.2f,%5.2f) 100%% %x,%x", "%ld,%ld,%ld|%d,%d", "%x %d %f"] {
        let bytes: Vec<String> = format.bytes().map(|byte| byte.to_string()).collect();
        assert!(ptx.contains(&bytes.join(", ")), "{format}\n{ptx}");
    }
}

#[test]
fn printf_of_many_components_is_several_calls() {
    let ptx = ptx("kernel void k(float16 f) { printf(\"%v16f %v16f %v16f\", f, f, f); }");
    assert_eq!(ptx.matches("vprintf,").count(), 2, "{ptx}");
}

#[test]
fn printf_of_vectors_needs_a_format_that_is_known() {
    let refused = with_source(
        "kernel void k(float4 f, int n) {
            constant char *format = n ? \"%v4f\" : \"%v3f\";
            printf(format, f);
        }",
        |kernel| kernel.plain(Target::Ptx),
    );
    let message = refused.unwrap_err().to_string();
    assert!(message.contains("a format that is no string literal"), "{message}");
    let refused = with_source("kernel void k(int n) { printf(\"%s\", n); }", |kernel| kernel.plain(Target::Ptx));
    let message = refused.unwrap_err().to_string();
    assert!(message.contains("does not go with its conversion `%s`"), "{message}");
}

/// Functions of one, two and three numbers (OpenCL C 3.0, 6.15.2) that all types have.
const OF_ONE: &str = "acos acosh acospi asin asinh asinpi atan atanh atanpi cbrt ceil cos cosh cospi erf erfc exp exp2 \
                      exp10 expm1 fabs floor lgamma log log2 log10 log1p logb rint round rsqrt sin sinh sinpi sqrt tan \
                      tanh tanpi tgamma trunc degrees radians sign";
const OF_TWO: &str = "atan2 atan2pi copysign fdim fmax fmin fmod hypot nextafter pow powr remainder max min step";
const OF_THREE: &str = "fma mad clamp mix smoothstep";

#[test]
fn functions_of_numbers_assemble() {
    for ty in ["float", "double", "float4"] {
        let calls = |names: &str, arguments: &str| -> String {
            names.split_whitespace().map(|name| format!("*a++ = {name}({arguments});\n")).collect()
        };
        let (one, two, three) = (calls(OF_ONE, "x"), calls(OF_TWO, "x, y"), calls(OF_THREE, "x, y, x"));
        let int = if ty == "float4" { "int4" } else { "int" };
        let others = format!(
            "{ty} v; {int} i; *a++ = fract(x, &v); *a++ = modf(x, &v) + v; *a++ = frexp(x, &i); *a++ = sincos(x, &v);
             *a++ = ldexp(x, i); *a++ = pown(x, i); *a++ = rootn(x, i); *a++ = remquo(x, y, &i); *n = ilogb(x) + i;"
        );
        ptx(&format!(
            "kernel void k(global {ty} *a, {ty} x, {ty} y, global {int} *n) {{ {one} {two} {three} {others} }}"
        ));
    }
}

#[test]
fn the_required_size_of_groups_is_told_to_the_driver() {
    let ptx_of = |attribute: &str| ptx(&format!("kernel {attribute} void k(global int *a) {{ a[0]++; }}"));
    assert!(ptx_of("__attribute__((reqd_work_group_size(8, 4, 2)))").contains(".reqntid 8, 4, 2"));
    assert!(ptx_of("").contains(".maxntid 1024"));
}

#[test]
fn images_are_pointers_and_samplers_are_numbers() {
    let ptx = ptx("#pragma OPENCL EXTENSION cl_khr_fp16 : enable
        kernel void k(read_only image2d_t i, sampler_t s, read_write image3d_t v, global float4 *a) {
            half4 h = read_imageh(v, (int4)(0, 0, 0, 0));
            a[0] = h.x + read_imagef(i, s, (float2)(0.5f, 0.5f)) + read_imagef(i, s, (int2)(0, get_image_height(i)));
            write_imagef(v, (int4)(1, 2, 3, 0), a[0]);
        }");
    for parameter in [".ptr .global .align 1 k_param_0", ".param .u32 k_param_1", ".ptr .global .align 1 k_param_2"] {
        assert!(ptx.contains(parameter), "{parameter}\n{ptx}");
    }
    assert!(!ptx.contains(".texref") && !ptx.contains(".samplerref") && !ptx.contains(".surfref"), "{ptx}");
}
