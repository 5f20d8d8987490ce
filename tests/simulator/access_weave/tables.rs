//! Compares the tables of small kernels with ones written by hand.

use kassay_model::native::table::{Mode, NativeTable, Ordering, PrintArg, Scope, Space, Storage};

use super::support::table;

/// Formats the line and column of every frame of a path, innermost first, with the functions.
fn frames(table: &NativeTable, path: u32) -> String {
    let frames = &table.paths[path as usize].frames;
    let all = frames.iter().map(|f| format!("{}:{}:{}", f.function, f.line, f.column));
    all.collect::<Vec<_>>().join(" < ")
}

/// Formats one line per access: mode, bytes, object (or space), path, builtin.
fn accesses(table: &NativeTable) -> Vec<String> {
    let line = |a: &kassay_model::native::table::AccessSite| {
        let whose = match a.object {
            Some(object) => table.objects[object as usize].name.clone(),
            None => format!("{:?}", a.space),
        };
        let builtin = a.builtin.as_deref().map_or(String::new(), |b| format!(" {b}"));
        format!("{:?} {} of {whose} at {}{builtin}", a.mode, a.bytes, frames(table, a.path))
    };
    table.accesses.iter().map(line).collect()
}

const PATHS: &str = "
float half_of(global const float *p, int i) {
    return p[i] / 2;
}
kernel void k(global float *out, global const float *in, int n) {
    int i = get_global_id(0);
    out[i] = half_of(in, i)
           + half_of(in, i + 1);
}
";

#[test]
fn sites_know_the_calls_that_lead_to_them() {
    for races in [false, true] {
        let table = table(PATHS, "CL1.2", races);
        assert_eq!(
            accesses(&table),
            [
                "Read 4 of in at half_of:3:12 < k:7:14",
                "Read 4 of in at half_of:3:12 < k:8:14",
                "Write 4 of out at k:7:12",
            ]
        );
        assert!(table.paths.iter().all(|p| p.frames.iter().all(|f| f.file.ends_with("k.cl"))));
        assert_eq!(table.objects.iter().map(|o| o.name.as_str()).collect::<Vec<_>>(), ["out", "in", "n"]);
        assert_eq!(table.objects[2].storage, Storage::Private { bytes: 4 });
        assert_eq!((table.arguments, table.races, table.synchronises, table.longest_access), (3, races, false, 4));
        assert_eq!(table.granule[..2], [4, 4]);
        assert!(table.divisions.is_empty() && table.loops.is_empty() && table.barriers.is_empty());
    }
}

const LOCALS: &str = "
void meet(void) { barrier(CLK_LOCAL_MEM_FENCE); }
kernel void k(global int *out, local char *given, constant int *weights) {
    local short a[3];
    local float4 b[5];
    private int mine[4];
    int i = get_local_id(0);
    a[i] = given[i];
    mine[i & 3] = weights[i];
    mine[1] = 5;
    b[i] = (float4)(a[0]);
    meet();
    for (int j = 0; j < 3; j++) {
        meet();
        out[i + j] = mine[j];
    }
    vstore4(b[i], i, (global float *)out);
}
";

#[test]
fn variables_are_laid_out_and_checked() {
    let table = table(LOCALS, "CL1.2", true);
    assert_eq!(
        accesses(&table),
        [
            "Read 1 of given at k:8:12",
            "Write 2 of a at k:8:10",
            "Read 4 of weights at k:9:19",
            "Write 4 of mine at k:9:17",
            "Read 2 of a at k:11:21",
            "Write 16 of b at k:11:10",
            "Read 4 of mine at k:15:22",
            "Write 4 of out at k:15:20",
            "Read 16 of b at k:17:13",
            "Write 16 of out at k:17:5 vstore4",
        ]
    );
    let object = |name: &str| {
        let at = table.objects.iter().position(|o| o.name == name).unwrap();
        (&table.objects[at], table.granule[at])
    };
    let (a, granule) = object("a");
    assert_eq!((a.space, a.storage, a.element, granule), (Space::Local, Storage::Local { bytes: 6, offset: 0 }, 2, 2));
    let (b, granule) = object("b");
    assert_eq!((b.storage, b.element, granule), (Storage::Local { bytes: 80, offset: 65552 }, 16, 16));
    let (mine, _) = object("mine");
    assert_eq!((mine.space, mine.storage, mine.element), (Space::Private, Storage::Private { bytes: 16 }, 4));
    assert_eq!((object("given").0.space, object("given").1), (Space::Local, 1));
    assert_eq!(object("weights").0.space, Space::Constant);
    assert_eq!(object("out").1, 4);
    assert_eq!(table.local_bytes, 65632);
    let barriers: Vec<_> =
        table.barriers.iter().map(|b| (frames(&table, b.path), b.builtin.as_str(), b.source)).collect();
    assert_eq!(
        barriers,
        [("meet:2:19 < k:12:5".to_owned(), "barrier", 0), ("meet:2:19 < k:14:9".to_owned(), "barrier", 0)]
    );
    assert_eq!(table.loops.iter().map(|l| frames(&table, l.path)).collect::<Vec<_>>(), ["k:13:5"]);
    assert!(table.stack_bytes >= 16);
}

const ORDERS: &str = "
kernel void k(global atomic_int *flag, global int *data, global volatile uint *count) {
    atomic_inc(count);
    data[0] = 1;
    atomic_store_explicit(flag, 1, memory_order_release, memory_scope_device);
    if (atomic_load_explicit(flag, memory_order_acquire, memory_scope_work_group))
        data[1] = data[0];
    atomic_fetch_add_explicit(flag, 1, memory_order_relaxed, memory_scope_device);
    atomic_work_item_fence(CLK_GLOBAL_MEM_FENCE, memory_order_acq_rel, memory_scope_device);
}
";

#[test]
fn atomics_have_orders() {
    let table = table(ORDERS, "CL2.0", true);
    let atomics: Vec<_> = table
        .accesses
        .iter()
        .filter(|a| matches!(a.mode, Mode::Atomic | Mode::AtomicRead))
        .map(|a| (a.mode, a.ordering, a.builtin.as_deref().unwrap_or("")))
        .collect();
    let release = Ordering { acquire: false, release: true, scope: Scope::Device };
    let acquire = Ordering { acquire: true, release: false, scope: Scope::WorkGroup };
    assert_eq!(
        atomics,
        [
            (Mode::Atomic, None, "atomic_inc"),
            (Mode::Atomic, Some(release), "atomic_store_explicit"),
            (Mode::AtomicRead, Some(acquire), "atomic_load_explicit"),
            (Mode::Atomic, None, "atomic_fetch_add_explicit"),
        ]
    );
    assert!(table.synchronises);
    assert_eq!(table.fences.iter().map(|f| frames(&table, f.path)).collect::<Vec<_>>(), ["k:9:5"]);
}

#[test]
fn relaxed_atomics_and_lone_fences_order_nothing() {
    let relaxed = "kernel void k(global int *count) { atomic_inc(count); }";
    assert!(!table(relaxed, "CL1.2", true).synchronises);
    let fence = "kernel void k(global int *count) { *count = 1; mem_fence(CLK_GLOBAL_MEM_FENCE); }";
    assert!(!table(fence, "CL1.2", true).synchronises);
    let both = "kernel void k(global int *count) { atomic_inc(count); mem_fence(CLK_GLOBAL_MEM_FENCE); }";
    assert!(table(both, "CL1.2", true).synchronises);
}

const POINTERS: &str = "
struct pair { int x; char y; };
kernel void k(global int *a, global int *b, int n, global struct pair *p, int w) {
    int i = get_global_id(0);
    global int *from = a;
    global int *to = b;
    for (int j = 0; j < n; j++) {
        to[i] = from[i] / w;
        global int *other = from;
        from = to;
        to = other;
    }
    p[i].y = p[i].x % 3;
    p[i + 1] = p[i];
}
";

#[test]
fn pointers_of_several_origins_have_no_object() {
    let table = table(POINTERS, "CL1.2", true);
    assert_eq!(
        accesses(&table),
        [
            "Read 4 of Global at k:8:17",
            "Write 4 of Global at k:8:15",
            "Read 4 of p at k:13:19",
            "Write 1 of p at k:13:12",
            // The copy as a whole, which is within bounds or not, and the members, which are accessed.
            "Read 8 of p at k:14:16",
            "Read 5 of p at k:14:16",
            "Write 8 of p at k:14:16",
            "Write 5 of p at k:14:16",
        ]
    );
    assert_eq!(table.granule, [4, 4, 16, 1, 16]);
    assert_eq!(table.objects[3].element, 8);
    assert_eq!(table.longest_access, 8);
    assert_eq!(table.divisions.iter().map(|d| frames(&table, d.path)).collect::<Vec<_>>(), ["k:8:25"]);
}

const PRINTS: &str = "
kernel void k(global float *x, float3 v, char c) {
    printf(\"%d %v3f\\n\", c, v);
    printf(\"%s %f %p\\n\", \"text\", x[0], x);
    printf(\"none\");
}
";

#[test]
fn prints_are_packed() {
    let table = table(PRINTS, "CL1.2", false);
    let prints: Vec<_> = table
        .prints
        .iter()
        .map(|p| (String::from_utf8(p.format.clone().unwrap()).unwrap(), p.args.clone(), frames(&table, p.path)))
        .collect();
    let float = |bytes, components, offset| PrintArg::Float { bytes, components, offset };
    assert_eq!(
        prints,
        [
            (
                "%d %v3f\n".to_owned(),
                vec![PrintArg::Integer { bytes: 4, components: 1, offset: 0 }, float(4, 3, 4)],
                "k:3:5".to_owned()
            ),
            (
                "%s %f %p\n".to_owned(),
                vec![PrintArg::Pointer { offset: 0 }, float(8, 1, 8), PrintArg::Pointer { offset: 16 }],
                "k:4:5".to_owned()
            ),
            ("none".to_owned(), vec![], "k:5:5".to_owned()),
        ]
    );
}

#[test]
fn texels_and_copies_are_accesses() {
    let source = "kernel void k(read_only image2d_t from, write_only image2d_t to, sampler_t s, global short2 *g, local short2 *l) {
        float4 texel = read_imagef(from, s, (float2)(0.5f, 0.5f));
        write_imagef(to, (int2)(0, 0), texel * get_image_width(from));
        event_t done = async_work_group_copy(l, g, 4, 0);
        wait_group_events(1, &done);
        g[0] = (short2)(work_group_reduce_add(1));
    }";
    let table = table(source, "CL2.0", true);
    assert_eq!(
        accesses(&table),
        [
            "Write 4 of g at k:6:14",
            "Read 16 of from at k:2:24 read_imagef",
            "Write 16 of to at k:3:9 write_imagef",
            "Write 4 of l at k:4:24 async_work_group_copy",
            "Read 4 of g at k:4:24 async_work_group_copy",
        ]
    );
    let barriers: Vec<_> =
        table.barriers.iter().map(|b| (frames(&table, b.path), b.builtin.as_str(), b.sub_group, b.source)).collect();
    assert_eq!(
        barriers,
        [
            ("k:4:24".to_owned(), "async_work_group_copy", false, 0),
            ("k:5:9".to_owned(), "wait_group_events", false, 1),
            ("k:6:25".to_owned(), "work_group_reduce_add", false, 2),
        ]
    );
    assert_eq!(table.granule[3..], [4, 4]);
}

#[test]
fn components_of_vectors_are_written_one_by_one() {
    let source = "kernel void k(global float4 *a, global int3 *b, global uchar2 *c, float2 v, int i) {
        a[i].y = 1;
        a[i].xw = v;
        b[i].z = 2;
        c[i][i & 1] = 3;
        c[i].x += 4;
        a[i].xyzw = a[i].wzyx;
    }";
    let table = table(source, "CL2.0", true);
    assert_eq!(
        accesses(&table),
        [
            "Write 4 of a at k:2:16",
            "Write 4 of a at k:3:17",
            "Write 4 of a at k:3:17",
            "Write 4 of b at k:4:16",
            "Write 1 of c at k:5:21",
            "Read 1 of c at k:6:16",
            "Write 1 of c at k:6:16",
            "Read 16 of a at k:7:21",
            "Write 16 of a at k:7:19",
        ]
    );
    assert_eq!(table.granule[..3], [4, 4, 1]);
}
