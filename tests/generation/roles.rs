//! Checks argument roles on small kernels.

use kassay_judge::generate::model::{Contents, KernelModel, Role};
use kassay_judge::generate::roles;
use kassay_prove::program::Region;

use super::support::{with_file, with_source};

fn model(source: &str) -> KernelModel {
    with_source(source, |under_test| roles::infer(under_test).unwrap())
}

fn role(model: &KernelModel, name: &str) -> Role {
    let position = model.interface.args.iter().position(|a| a.name.as_deref() == Some(name)).unwrap();
    model.args[position].role
}

fn length(model: &KernelModel, name: &str) -> Option<String> {
    let position = model.interface.args.iter().position(|a| a.name.as_deref() == Some(name)).unwrap();
    model.args[position].length.clone()
}

fn contents(model: &KernelModel, name: &str) -> Contents {
    let position = model.interface.args.iter().position(|a| a.name.as_deref() == Some(name)).unwrap();
    model.args[position].contents
}

#[test]
fn a_check_before_an_access_gives_the_length() {
    let m = model(
        "kernel void k(global const float *a, global float *b, global int *c, int n, float f) {
            int i = get_global_id(0);
            if (i >= n) return;
            b[i] = a[i] * f;
            c[i] += 1;
        }",
    );
    assert_eq!([role(&m, "a"), role(&m, "b"), role(&m, "c")], [Role::Input, Role::Output, Role::InOut]);
    assert_eq!([role(&m, "n"), role(&m, "f")], [Role::Bound, Role::Data]);
    assert_eq!(length(&m, "a").as_deref(), Some("n"));
    assert!(m.preconditions.contains(&"b has n elements".to_owned()), "{:?}", m.preconditions);
}

#[test]
fn loops_and_short_circuits_and_helpers_are_checks_too() {
    let m = model(
        "int inside(int x, int y, int w, int h) { return x < w && y < h; }
        kernel void k(global const float *a, global float *b, int w, int h, int n, constant float *f) {
            int x = get_global_id(0), y = get_global_id(1);
            if (!inside(x, y, w, h)) return;
            float s = 0;
            for (int j = 0; j < n; j++) s += f[j];
            b[y * w + x] = s * a[y * w + x];
        }",
    );
    assert_eq!(m.dims, 2);
    assert_eq!(length(&m, "f").as_deref(), Some("n"));
    assert_eq!(length(&m, "b").as_deref(), Some("w * h"));
    assert_eq!(role(&m, "n"), Role::Count);
}

#[test]
fn off_by_one_checks_still_give_the_length() {
    let forgot = |line: &str| {
        let m = model(&format!(
            "kernel void k(global const float *a, global float *b, int n) {{
                int i = get_global_id(0);
                {line}
            }}"
        ));
        length(&m, "b")
    };
    assert_eq!(forgot("if (i <= n) b[i] = a[i];").as_deref(), Some("n"));
    assert_eq!(forgot("for (int j = 0; j <= n; j++) b[j] = j;").as_deref(), Some("n"));
    assert_eq!(forgot("if (i <= n - 1) b[i] = a[i];").as_deref(), Some("n"));
    // A layout by n + 1, or an access at n, is deliberate.
    assert_eq!(forgot("for (int j = 0; j <= n; j++) b[j] = b[n + 1 + j];"), None);
    assert_eq!(forgot("for (int j = 0; j <= n; j++) b[j] = j; b[n] = 0;"), None);
}

#[test]
fn unchecked_rows_require_their_length() {
    let m = model(
        "kernel void k(global float *b, int w) {
            b[get_global_id(1) * w + get_global_id(0)] = 1;
        }",
    );
    assert!(matches!(role(&m, "w"), Role::RowLength | Role::Bound));
    assert_eq!(length(&m, "b"), None);
}

#[test]
fn integers_in_buffers_are_places_offsets_counts_or_data() {
    let m = model(
        "kernel void k(global const int *start, global const int *column, global const float *x, global float *y,
                       global const int *turns, global const int *plain, global const uchar *byte, global int *table, int n) {
            int i = get_global_id(0);
            if (i >= n) return;
            float s = 0;
            for (int k = start[i]; k < start[i + 1]; k++) s += x[column[k]];
            for (int k = 0; k < turns[i]; k++) s *= 2;
            y[i] = s + plain[i] + table[byte[i]];
        }",
    );
    assert_eq!(contents(&m, "start"), Contents::Offsets);
    assert!(matches!(contents(&m, "column"), Contents::Indices { target: Region::Argument(2), distinct: false, .. }));
    assert_eq!(contents(&m, "turns"), Contents::TripCounts);
    assert_eq!(contents(&m, "plain"), Contents::Data);
    assert_eq!(contents(&m, "byte"), Contents::Data);
}

#[test]
fn places_may_be_components_sums_and_segments() {
    let m = model(
        "kernel void k(global const int *begin, global const int *count, global const int2 *pair, global const int *kind,
                       global const float *x, constant float *of_both, global float *out) {
            local float depth[9];
            const int g = get_group_id(0), first = begin[g], last = first + count[g];
            for (int i = first + get_local_id(0); i < last; i += get_local_size(0)) {
                const float apart = x[pair[i].x] - x[pair[i].y];
                depth[kind[i] + kind[i + 1]] = apart;
                out[i] = apart * of_both[0];
            }
        }",
    );
    assert_eq!(contents(&m, "begin"), Contents::Offsets);
    assert_eq!(contents(&m, "count"), Contents::Lengths { of: 0 });
    assert!(matches!(contents(&m, "pair"), Contents::Indices { target: Region::Argument(4), room: None, .. }));
    assert!(matches!(contents(&m, "kind"), Contents::Indices { room: Some(5), .. }));
    assert!(m.preconditions.contains(&"count holds how far apart the offsets in begin are".to_owned()));
}

#[test]
fn indices_to_write_to_are_distinct_unless_old_contents_count() {
    let scatter = model(
        "kernel void k(global const int *to, global const float *a, global float *b) {
            int i = get_global_id(0);
            b[to[i]] = a[i];
        }",
    );
    assert!(matches!(contents(&scatter, "to"), Contents::Indices { distinct: true, .. }));
    let count = model(
        "kernel void k(global const int *to, global int *b) {
            int i = get_global_id(0);
            b[to[i]]++;
        }",
    );
    assert!(matches!(contents(&count, "to"), Contents::Indices { distinct: false, .. }));
}

#[test]
fn static_local_arrays_limit_the_group() {
    let m = model(
        "kernel void k(global float *b) {
            local float t[64];
            int l = get_local_id(0);
            t[l] = b[l];
            barrier(CLK_LOCAL_MEM_FENCE);
            b[l] = t[l + 1];
        }",
    );
    assert_eq!(m.groups.at_most[0], Some(64));
    let halo = model(
        "kernel void k(global float *b) {
            local float t[18][18];
            int x = get_local_id(0), y = get_local_id(1);
            t[y][x] = t[y + 1][x + 1] = t[y + 2][x + 2] = b[x];
        }",
    );
    assert_eq!(halo.groups.at_most, [Some(16), Some(16), None]);
    let checked = model(
        "kernel void k(global float *b) {
            local float t[8];
            int l = get_local_id(0);
            if (l < 8) t[l] = b[l];
        }",
    );
    assert_eq!(checked.groups.at_most[0], None);
    // In the helper, only the address says how large the array is.
    let helped = model(
        "float rotated(local float *part, float own) {
            int l = get_local_id(0);
            part[l] = own;
            barrier(CLK_LOCAL_MEM_FENCE);
            return part[l ^ 1];
        }
        kernel void k(global float *b) {
            local float t[8];
            b[get_global_id(0)] = rotated(t, b[get_global_id(0)]);
        }",
    );
    assert_eq!(helped.groups.at_most[0], Some(8));
}

#[test]
fn constants_in_indices_fix_the_group() {
    let of = |line: &str| {
        let source = format!(
            "kernel void k(global float *b, int n) {{
                local float t[256];
                int l = get_local_id(0);
                {line}
            }}"
        );
        model(&source).groups.exactly[0]
    };
    assert_eq!(of("for (int i = l; i < 256; i += 32) t[i] = 0;"), Some(32));
    assert_eq!(of("b[get_group_id(0) * 16 + l] = 0;"), Some(16));
    assert_eq!(of("for (int j = 0; j < n; j++) b[j * 8 + l] = 0;"), Some(8));
    assert_eq!(of("for (int i = l; i < 256; i += get_local_size(0)) t[i] = 0;"), None);
    assert_eq!(of("b[get_group_id(0) * get_local_size(0) + l] = 0;"), None);
}

#[test]
fn tiles_that_are_read_completely_have_the_size_of_the_group() {
    let of = |read: &str| {
        let source = format!(
            "kernel void k(global float *b, int n) {{
                local float t[8][8];
                int x = get_local_id(0), y = get_local_id(1);
                t[y][x] = b[get_global_id(0)];
                barrier(CLK_LOCAL_MEM_FENCE);
                {read}
            }}"
        );
        model(&source).groups.exactly
    };
    assert_eq!(of("for (int k = 0; k < 8; k++) b[x] += t[y][k] * t[k][x];"), [Some(8), Some(8), None]);
    assert_eq!(of("for (int k = 0; k < 8; k++) b[x] += t[y][k];"), [Some(8), None, None]);
    assert_eq!(of("for (int k = 0; k < get_local_size(0); k++) b[x] += t[y][k];"), [None; 3]);
    assert_eq!(of("for (int k = 0; k < 4; k++) b[x] += t[y][k];"), [None; 3]);
    assert_eq!(of("for (int k = 0; k < n; k++) b[x] += t[y][k];"), [None; 3]);
}

/// Ids as SPIR-V has them, which is vectors: only the components that are extracted count.
#[test]
fn only_ids_that_are_used_make_dimensions() {
    let of = |lanes: &[u32]| {
        let mut body = String::from("%v0 = call spir_func i64 @_Z13get_global_idj(i32 0)\n");
        body += "%w0 = insertelement <3 x i64> undef, i64 %v0, i32 0\n";
        for (d, before) in [(1, 0), (2, 1)] {
            body += &format!("%v{d} = call spir_func i64 @_Z13get_global_idj(i32 {d})\n");
            body += &format!("%w{d} = insertelement <3 x i64> %w{before}, i64 %v{d}, i32 {d}\n");
        }
        for lane in lanes {
            body += &format!("%x{lane} = extractelement <3 x i64> %w2, i32 {lane}\n");
            body += &format!("%p{lane} = getelementptr inbounds i32, ptr addrspace(1) %a, i64 %x{lane}\n");
            body += &format!("store i32 1, ptr addrspace(1) %p{lane}, align 4\n");
        }
        let text = format!(
            "target triple = \"spir64-unknown-unknown\"\n\
             define spir_kernel void @k(ptr addrspace(1) %a) !kernel_arg_addr_space !0 !kernel_arg_type !1 {{\n\
             {body}ret void\n}}\n\
             declare spir_func i64 @_Z13get_global_idj(i32)\n\
             !0 = !{{i32 1}}\n!1 = !{{!\"int*\"}}\n"
        );
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("k.ll");
        std::fs::write(&path, text).unwrap();
        with_file(&path, None, &[], |under_test| roles::infer(under_test).unwrap().dims)
    };
    assert_eq!(of(&[0]), 1);
    assert_eq!(of(&[0, 1]), 2);
    assert_eq!(of(&[2]), 3);
}

#[test]
fn loops_that_halve_the_group_require_a_power_of_two() {
    let halving = |start: &str, step: &str| {
        model(&format!(
            "kernel void k(global float *b, local float *t) {{
                int l = get_local_id(0);
                for (int s = {start}; s > 0; {step}) {{
                    if (l < s) t[l] += t[l + s];
                    barrier(CLK_LOCAL_MEM_FENCE);
                }}
                b[l] = t[l];
            }}"
        ))
        .groups
        .power_of_two
    };
    assert!(halving("get_local_size(0) / 2", "s >>= 1"));
    assert!(halving("get_local_size(0) / 2", "s /= 2"));
    assert!(!halving("get_local_size(0)", "s--"));
    assert!(!halving("64", "s >>= 1"));
}

#[test]
fn scalars_have_roles_and_dictionaries() {
    let m = model(
        "typedef struct { int count; float scale; } params;
        kernel void k(global int *b, int mode, int by, int shift, params p, int unused, uchar kind) {
            int i = get_global_id(0);
            if (i >= p.count) return;
            int x = b[i] / by >> shift;
            switch (mode) { case 3: x++; break; case 17: x--; }
            if (kind == 200) x = 0;
            b[i] = x * p.scale;
        }",
    );
    assert_eq!([role(&m, "mode"), role(&m, "shift")], [Role::Flag, Role::Shift]);
    assert_eq!([role(&m, "by"), role(&m, "unused")], [Role::Divisor, Role::Unused]);
    let scalar = |name: &str| m.scalars.iter().find(|s| s.name == name).unwrap();
    assert_eq!(scalar("p.count").role, Role::Bound);
    assert!(scalar("mode").dictionary.contains(&17));
    assert!(scalar("kind").dictionary.contains(&200));
    assert_eq!(length(&m, "b").as_deref(), Some("p.count"));
    assert!(m.preconditions.contains(&"by is not 0".to_owned()), "{:?}", m.preconditions);
}
