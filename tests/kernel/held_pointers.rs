//! Checks which pointers in buffers become places in buffers of their own.

use kassay_ir::kernel::compile::load;
use kassay_ir::llvm::Context;
use kassay_judge::coverage::build::{KernelFile, sources_of};
use kassay_model::interface::{ArgKind, ArgSource, HeldIndex, Type};
use kassay_model::options::KernelOptions;

use crate::cuda::file;

/// What the kernel `k` takes besides its parameters, and where indices are.
struct Found {
    elements: Vec<String>,
    indices: Vec<HeldIndex>,
    /// Whether the elements of the first argument have pointers that nobody can give.
    is_opaque: bool,
}

fn is_opaque(ty: &Type) -> bool {
    match ty {
        Type::Struct(record) => record.fields.iter().any(|field| is_opaque(&field.ty)),
        Type::Array(element, _) => is_opaque(element),
        ty => matches!(ty, Type::Opaque { .. }),
    }
}

fn found(source: &str, of_host: bool) -> Found {
    let (_folder, path) = file(source);
    let loaded = load(&path, &KernelOptions::default(), true).unwrap();
    let context = Context::create();
    let all = KernelFile::parse(&context, &loaded).unwrap();
    let all = if of_host { all.for_host_program() } else { all };
    let interface = all.under_test("k", &loaded, &sources_of(&path)).unwrap().interface;
    Found {
        elements: interface.args.iter().filter(|a| a.source == ArgSource::Element).map(|a| a.label()).collect(),
        is_opaque: matches!(&interface.args[0].kind, ArgKind::Buffer { element: Some(ty), .. } if is_opaque(ty)),
        indices: interface.indices,
    }
}

#[test]
fn pointers_that_are_only_loaded_are_indices() {
    const CASES: [(&str, &[&str]); 6] = [
        ("__global__ void k(float **p) { p[blockIdx.x][threadIdx.x] = 1; }", &["p[]"]),
        // By a helper, through a reference, and in both branches.
        (
            "__device__ int of(int *const *&rows, int i) { return rows[i][0]; }
             __global__ void k(int **p, int i) { int *const *rows = i > 3 ? p + i : p; p[0][i] = of(rows, 2); }",
            &[],
        ),
        (
            "__device__ int of(int *const *rows, int i) { return rows[i][0]; }
             __global__ void k(int **p, int i) { int *const *rows = i > 3 ? p + i : p; p[0][i] = of(rows, 2); }",
            &["p[]"],
        ),
        // A member, in a struct and by a copy of it.
        (
            "struct Row { int n; double *all; };
             __global__ void k(Row *rows) { Row row = rows[1]; for (int i = 0; i < row.n; ++i) rows[0].all[i] = row.all[i]; }",
            &["rows[].all"],
        ),
        // One of two members is loaded: a launch has to say where both lead.
        (
            "struct Pair { char *first; short *second; };
             __global__ void k(Pair *pairs) { pairs[threadIdx.x].second[1] = 0; }",
            &["pairs[].first", "pairs[].second"],
        ),
        ("struct Rows { float *of[2]; }; __global__ void k(Rows *r) { r->of[1][0] = r->of[0][0]; }", &["r[].of[0]", "r[].of[1]"]),
    ];
    for (source, wanted) in CASES {
        let found = found(source, false);
        assert_eq!(found.elements, wanted, "{source}");
        assert_eq!(found.is_opaque, wanted.is_empty(), "{source}");
        assert_eq!(found.indices.len(), wanted.len());
    }
}

#[test]
fn links_lead_back() {
    let list = "struct Node { int value; Node *next; };
        __global__ void k(Node *list, int *sum) { for (Node *at = list; at; at = at->next) *sum += at->value; }";
    let found = found(list, false);
    assert!(found.elements.is_empty());
    assert_eq!(found.indices, [HeldIndex { parameter: 0, offset: 8, into: 0, unit: 16 }]);
}

/// What a kernel stores there itself is an address, and where pointers go that are not plainly loaded is not known.
#[test]
fn other_pointers_stay_addresses() {
    for source in [
        "__global__ void k(float **p, float *q) { p[threadIdx.x] = q; p[0][1] = 2; }",
        "union U { float *p; long long n; }; __global__ void k(U *u) { u->p[0] = 1; }",
        "__global__ void k(float **p, float ***q) { *q = p; p[0][1] = 2; }",
        "struct S { float *p; }; __global__ void k(S *s, S *to) { *to = *s; s->p[0] = 1; }",
        "struct N { N *next; int n; }; __global__ void k(N *list) { N first = *list; first.next->n = 1; }",
        "__global__ void k(float **p, float **q, int i) { (i ? p : q)[0][1] = 2; }",
        "__global__ void k(float **p, int i) { float *all[2]; memcpy(all, p, sizeof all); all[i][0] = 1; p[0][0] = 2; }",
        "struct S { int n; float *rows[3]; }; __global__ void k(S *s, int i) { s->rows[i][0] = 1; }",
    ] {
        let found = found(source, false);
        assert!(found.elements.is_empty() && found.indices.is_empty() && found.is_opaque, "{source}");
    }
}

/// The user's own program puts addresses there.
#[test]
fn host_programs_have_addresses() {
    let found = found("__global__ void k(float **p) { p[blockIdx.x][threadIdx.x] = 1; }", true);
    assert!(found.elements.is_empty() && found.indices.is_empty() && found.is_opaque);
}
