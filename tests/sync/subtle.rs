//! Kernels with faults that a proof could miss: none is proved.

use kassay::result::check::Scope;
use kassay::result::proofs::{Proof, Property, Status};
use kassay::{CheckOptions, OpenOptions, Proving, check};

use crate::common::TestResult;

/// What may be proved: in both scopes, if there are two and none is named.
type Claim = (Property, Option<Scope>);

const WITHIN: Claim = (Property::RaceFreedom, Some(Scope::IntraGroup));

/// Kernels that race, diverge or leave an array in some launch, each by one of the ways to overlook it: the property that
/// does not hold (in both scopes, or in one), and what its proof has to assume if there is one.
const SUBTLE: [(&str, &str, Claim, &str); 32] = [
    (
        "a claim that is given back",
        "kernel void k(global int *t, global int *out) { if (atomic_cmpxchg(t, 0, 1) == 0) { out[0] = get_global_id(0); \
         atomic_cmpxchg(t, 1, 0); } }",
        (Property::RaceFreedom, None),
        "",
    ),
    (
        "exchanges of two numbers",
        "kernel void k(global int *t, global int *out) { int g = get_global_id(0); if (g & 1) atomic_xchg(t, 0); else if \
         (atomic_xchg(t, 1) == 0) out[0] = g; }",
        (Property::RaceFreedom, None),
        "",
    ),
    (
        "a claim in each group",
        "kernel void k(global int *out) { local int t; if (get_local_id(0) == 0) t = 0; barrier(CLK_LOCAL_MEM_FENCE); if \
         (atomic_cmpxchg(&t, 0, 1) == 0) out[0] = get_global_id(0); }",
        (Property::RaceFreedom, Some(Scope::InterGroup)),
        "",
    ),
    (
        "halves of what is no power of two",
        "kernel void k(local int *s) { uint l = get_local_id(0); for (uint g = get_local_size(0) / 2; g > 0; g >>= 1) { uint \
         low = 2 * l - (l & (g - 1)); s[low] = s[low + g]; barrier(CLK_LOCAL_MEM_FENCE); } }",
        WITHIN,
        "",
    ),
    (
        "halves of the code that are no power of two",
        "kernel void k(global int *a) { int l = get_local_id(0); for (int g = 12; g > 0; g >>= 1) { int low = 2 * l - (l & \
         (g - 1)); a[low] = a[low + g]; barrier(CLK_GLOBAL_MEM_FENCE); } }",
        WITHIN,
        "",
    ),
    (
        "both of a pair",
        "kernel void k(global int *a) { int l = get_local_id(0); for (int g = 4; g > 0; g >>= 1) { a[l ^ g] = a[l]; \
         barrier(CLK_GLOBAL_MEM_FENCE); } }",
        WITHIN,
        "",
    ),
    (
        "rows that turn in some iterations only",
        "kernel void k(global int *a, global int *b, int n) { global int *from = a, *to = b; int l = get_local_id(0), m = \
         get_local_size(0); for (int i = 0; i < n; i++) { to[l] = from[(l + 1) % m]; barrier(CLK_GLOBAL_MEM_FENCE); if (i \
         != 1) { global int *o = from; from = to; to = o; } } for (int i = 0; i < n; i++) { to[l] = from[(l + 1) % m]; \
         global int *o = from; from = to; to = o; } }",
        WITHIN,
        "",
    ),
    (
        "turns that each work-item takes for itself",
        "kernel void k(global int *a, int n) { int l = get_local_id(0), f = 0; for (int i = 0; i < l; i++) f = 1 - f; a[l + \
         f] = l; }",
        WITHIN,
        "",
    ),
    (
        "a turn that is no turn",
        "kernel void k(global int *a, int n) { int l = get_local_id(0), f = 0; for (int i = 0; i < n; i++) { a[f * l] = l; \
         barrier(CLK_GLOBAL_MEM_FENCE); f = 1 - f; } }",
        WITHIN,
        "",
    ),
    (
        "a conversion between iterations",
        "kernel void k(global int *a, int n) { int p = n; for (int j = 0; j < 3; j++) { if (p != n - j) a[0] = \
         get_global_id(0); p = (uchar)(p - 1); } }",
        (Property::RaceFreedom, None),
        "",
    ),
    (
        "a conversion that ranges decide",
        "kernel void k(global int *a, long n) { int t = (int)n; if (t != n) a[0] = get_global_id(0); }",
        (Property::RaceFreedom, None),
        "integers fit their types",
    ),
    (
        "products of vectors that wrap",
        "kernel void k(global int *a) { uint g = get_global_id(0); uint2 v = (uint2)(g, g) * (uint2)(0x40000000u); \
         a[v.x] = g; }",
        (Property::RaceFreedom, None),
        "integers fit their types",
    ),
    (
        "one place with two widths",
        "typedef union { int i; uchar c; } word; typedef struct { word w; int n; } both; kernel void k(global int *a, \
         both s) { if (s.w.i == 257 && s.w.c == 1) a[0] = get_global_id(0); }",
        (Property::RaceFreedom, None),
        "",
    ),
    (
        "a counter with great steps",
        "kernel void k(global int *a, global int *c) { if (atomic_add(c, 1 << 30) == 0) a[0] = get_global_id(0); }",
        (Property::RaceFreedom, None),
        "",
    ),
    (
        "an atomic of one group",
        "kernel void k(global atomic_int *a) { atomic_fetch_add_explicit(a, 1, memory_order_relaxed, \
         memory_scope_work_group); }",
        (Property::RaceFreedom, Some(Scope::InterGroup)),
        "",
    ),
    (
        "a flag that others set",
        "kernel void k(global atomic_int *f) { if (__opencl_atomic_load(f, memory_order_relaxed, \
         memory_scope_device)) barrier(CLK_LOCAL_MEM_FENCE); __opencl_atomic_store(f, 1, memory_order_relaxed, \
         memory_scope_device); }",
        (Property::Convergence, None),
        "",
    ),
    (
        "a race that parts work-items",
        "kernel void k(global int *f) { if (f[0]) barrier(CLK_GLOBAL_MEM_FENCE); f[0] = 1; }",
        (Property::Convergence, None),
        "no work-items race",
    ),
    (
        "a pointer to one of two arrays",
        "kernel void k(global int *a) { int i = get_global_id(0); int t[4], u[4]; int *both[2] = {t, u}; both[i & \
         1][100] = 3; a[i] = t[0] + u[0]; }",
        (Property::Bounds, None),
        "",
    ),
    (
        "an unsigned scalar",
        "kernel void k(global int *a, uint n) { if (n > 0x7fffffffu) a[0] = get_global_id(0); }",
        (Property::RaceFreedom, None),
        "",
    ),
    (
        "a column without an end",
        "kernel void k(global int *a, int n) { a[get_global_id(1) * n + get_global_id(0)] = 1; }",
        (Property::RaceFreedom, None),
        "n >= ",
    ),
    (
        "a copy that overtakes readers of the last one",
        "kernel void k(global const int *in, global int *out, int n) { local int t[64]; int l = get_local_id(0), x = 0; \
         for (int i = 0; i < n; i++) { event_t e = async_work_group_copy(t, in + 64 * i, 64, 0); wait_group_events(1, \
         &e); x += t[63 - l % 64]; } out[get_global_id(0)] = x; }",
        WITHIN,
        "",
    ),
    (
        "what is copied is read before",
        "kernel void k(global const int *in, global int *out) { local int t[64]; int l = get_local_id(0) % 64; t[l] = 1; \
         barrier(CLK_LOCAL_MEM_FENCE); event_t e = async_work_group_copy(t, in, 64, 0); int x = t[l]; \
         wait_group_events(1, &e); out[get_global_id(0)] = x; }",
        WITHIN,
        "",
    ),
    (
        "what is copied is written before",
        "kernel void k(global int *out) { local int t[64]; int l = get_local_id(0) % 64; if (get_local_id(0) < 64) t[l] = \
         l; event_t e = async_work_group_copy(out + 64 * get_group_id(0), t, 64, 0); wait_group_events(1, &e); }",
        WITHIN,
        "",
    ),
    (
        "the source is changed behind the call",
        "kernel void k(global int *a, global int *out) { local int t[64]; int l = get_local_id(0); size_t b = 64 * \
         get_group_id(0); event_t e = async_work_group_copy(t, a + b, 64, 0); if (l < 64) a[b + l] = 0; \
         wait_group_events(1, &e); out[get_global_id(0)] = t[l % 64]; }",
        WITHIN,
        "",
    ),
    (
        "an event that the next one replaces",
        "kernel void k(global const int *in, global int *out) { local int t[64], u[64]; int l = get_local_id(0) % 64; \
         event_t e = async_work_group_copy(t, in, 64, 0); e = async_work_group_copy(u, in + 64, 64, 0); \
         wait_group_events(1, &e); out[get_global_id(0)] = t[l] + u[l]; }",
        WITHIN,
        "",
    ),
    (
        "two copies to one place",
        "kernel void k(global const int *in, global int *out) { local int t[64]; int l = get_local_id(0) % 64; event_t \
         e[2]; e[0] = async_work_group_copy(t, in, 32, 0); e[1] = async_work_group_copy(t + 31, in + 64, 32, 0); \
         wait_group_events(2, e); out[get_global_id(0)] = t[l]; }",
        WITHIN,
        "",
    ),
    (
        "copies of groups that overlap",
        "kernel void k(global int *out) { local int t[64]; int l = get_local_id(0); if (l < 64) t[l] = l; \
         barrier(CLK_LOCAL_MEM_FENCE); event_t e = async_work_group_strided_copy(out + 64 * get_group_id(0), t, 64, 2, \
         0); wait_group_events(1, &e); }",
        (Property::RaceFreedom, Some(Scope::InterGroup)),
        "get_num_groups(0) == 1",
    ),
    (
        "texels of pairs",
        "kernel void k(write_only image2d_t to) { write_imagef(to, (int2)(get_global_id(0) / 2, get_global_id(1)), \
         (float4)(get_global_id(0))); }",
        WITHIN,
        "",
    ),
    (
        "a barrier that does not order texels",
        "kernel void k(read_write image2d_t a) { int x = get_local_id(0), n = get_local_size(0); write_imagei(a, \
         (int2)(x, get_group_id(0)), (int4)(x)); barrier(CLK_GLOBAL_MEM_FENCE); int4 v = read_imagei(a, (int2)(n - 1 - \
         x, get_group_id(0))); barrier(CLK_IMAGE_MEM_FENCE); write_imagei(a, (int2)(x, get_group_id(0)), v); }",
        WITHIN,
        "",
    ),
    (
        "a place in the sub-group is none in the group",
        "#pragma OPENCL EXTENSION cl_khr_subgroups : enable\nkernel void k(global int *a) { local int t[256]; t[get_sub_group_local_id()] = \
         get_local_id(0); a[get_global_id(0)] = 0; }",
        WITHIN,
        "",
    ),
    (
        "a barrier of the sub-group is none of the group",
        "#pragma OPENCL EXTENSION cl_khr_subgroups : enable\nkernel void k(global int *a) { local int t[256]; int l = \
         get_local_id(0) & 255, n = get_local_size(0); if (l == get_local_id(0)) t[l] = l; \
         sub_group_barrier(CLK_LOCAL_MEM_FENCE); a[get_global_id(0)] = t[255 - l]; }",
        WITHIN,
        "",
    ),
    (
        "a reduction that some do not come to",
        "kernel void k(global int *a, int n) { int l = get_local_id(0); if (l < n) a[get_global_id(0)] = \
         work_group_reduce_add(l); }",
        (Property::Convergence, None),
        "",
    ),
];

/// Nothing is proved that some launch contradicts, but for what the proof names as a precondition.
#[test]
fn subtle_faults_are_not_proved_absent() -> TestResult {
    let folder = tempfile::tempdir()?;
    for (what, text, (property, scope), needs) in SUBTLE {
        let file = folder.path().join("k.cl");
        std::fs::write(&file, text)?;
        let opened = OpenOptions::new().cl_std(Some("CL2.0".to_owned())).open_kernel(&file)?;
        let options = CheckOptions::new().amplify(false).redundant(false).prove(Proving::Long);
        let result = check(&opened, &options)?;
        // A run would put right what was proved wrongly.
        let is_wrong = |note: &&String| note.contains("contradicts") && (needs.is_empty() || !note.contains(needs));
        assert!(!result.notes.iter().any(|note| is_wrong(&note)), "{what}: {:?}", result.notes);
        let is_meant = |proof: &&Proof| proof.property == property && (scope.is_none() || proof.scope == scope);
        let proofs: Vec<&Proof> = result.proofs.iter().filter(is_meant).collect();
        let is_named = |proof: &&Proof| {
            proof.status != Status::Proved
                || (!needs.is_empty() && proof.preconditions.iter().any(|clause| clause.contains(needs)))
        };
        assert!(!proofs.is_empty() && proofs.iter().all(is_named), "{what}: {proofs:?}");
    }
    Ok(())
}
