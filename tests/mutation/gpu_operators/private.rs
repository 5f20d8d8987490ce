//! Checks local variables made private: on the device, kernels whose work-items share them compute something else, and
//! kernels whose work-items use only their own part compute the same.

use std::path::Path;

use inkwell::passes::PassBuilderOptions;
use kassay_ir::instrument::guard;
use kassay_ir::instrument::mutants::edit::{Edit, LocalVariable};
use kassay_ir::instrument::mutants::privatise::{Refusal, privatise};
use kassay_ir::llvm::{AttributeIndex, Context, View};
use kassay_ir::lower::spirv;
use kassay_judge::mutation::Selection;
use kassay_judge::mutation::enumerate;
use kassay_model::code::Effort;
use kassay_model::options::KernelOptions;
use kassay_run::exec::{Executor, OpenClExecutor, Target};
use kassay_suite::launch::ArgValue;

use crate::common::devices::{once, opencl};
use crate::common::kernels::{open, open_suite, source_file};
use crate::common::testdata;

/// The effect of making a local variable private: for each test whether the outputs are still the same, or why the
/// variable stays shared.
#[derive(Debug, PartialEq)]
struct Privatisation {
    variable: LocalVariable,
    same: Result<Vec<bool>, Refusal>,
}

fn executor() -> OpenClExecutor {
    opencl().unwrap()
}

fn privatisations(executor: &mut OpenClExecutor, suite: &Path) -> Vec<Privatisation> {
    let context = Context::create();
    let mut opened = open_suite(&context, suite).unwrap();
    opened.choose_local(executor.device());
    let under_test = &opened.kernel.under_test;
    let entry = &under_test.entry;
    let selection = Selection::parse("SHR").unwrap();
    let plain = executor.load(&under_test.plain(Target::SpirV).unwrap()).unwrap();
    let launches: Vec<_> = opened.tests.iter().map(|test| &test.launch).collect();
    let expected: Vec<_> = launches.iter().map(|l| executor.run(plain, l, &once()).unwrap().unwrap().outputs).collect();
    let machine = spirv::machine().unwrap();
    let mut privatisations = Vec::new();
    for mutant in enumerate(&opened.kernel.subject(selection.preset()), &selection).mutants {
        let Edit::Privatise { variable } = mutant.edit else { panic!("{:?}", mutant.edit) };
        let mut same = Vec::new();
        let mut refusal = None;
        for (launch, expected) in launches.iter().zip(&expected) {
            let bytes = match &variable {
                LocalVariable::Argument(at) => match launch.args[*at as usize] {
                    ArgValue::Local(bytes) => bytes,
                    _ => panic!("argument {at} is not local"),
                },
                LocalVariable::Global(_) => 0,
            };
            let mut module = under_test.module.clone();
            guard::inline_and_promote(&mut module, entry, &machine).unwrap();
            if let Err(why) = privatise(&module, entry, &variable, bytes).unwrap() {
                refusal = Some(why);
                break;
            }
            let code = spirv::lower(&mut module, entry, Effort::Full).unwrap().unwrap();
            let program = executor.load(&code).unwrap();
            let outputs = executor.run(program, launch, &once()).unwrap().unwrap().outputs;
            same.push(outputs == *expected);
            executor.unload(program);
        }
        privatisations.push(Privatisation { variable, same: refusal.map_or(Ok(same), Err) });
    }
    executor.unload(plain);
    privatisations
}

#[test]
fn making_shared_variables_private_changes_outputs() {
    let mut executor = executor();
    for name in ["matmul_tiled", "reduction_tree", "histogram_atomic", "atomics_cl20", "scan_blelloch", "bitonic_sort"]
    {
        for privatisation in privatisations(&mut executor, &testdata::suite(name)) {
            let same = privatisation.same.unwrap_or_else(|why| panic!("{name}: {:?}: {why}", privatisation.variable));
            println!("{name}: {:?}: {same:?}", privatisation.variable);
            assert!(same.contains(&false), "{name}: {:?}", privatisation.variable);
        }
    }
}

/// Each work-item uses its own part of local memory, in every way that it can be used.
const OWN: &str = "
typedef struct { int a[6]; float4 b; } Big;

int sum(local int *p, int n) {
    int s = 0;
    for (local int *q = p; q < p + n; q++)
        s += *q;
    return s;
}

kernel void k(global const int *in, global int *out, local int *tile, local float4 *wide) {
    local int own[64][8];
    local Big big[64];
    local uint fixed[4];
    int lid = get_local_id(0), gid = get_global_id(0);
    for (int i = 0; i < 8; i++)
        own[lid][i] = in[gid] + i;
    vstore4((int4)(1, 2, 3, in[gid]), 0, &own[lid][0]);
    int4 v = vload4(1, &own[lid][0]);
    local int *p = in[gid] & 1 ? &own[lid][2] : &own[lid][5];
    *p += 7;
    tile[lid * 2] = in[gid];
    tile[lid * 2 + 1] = -in[gid];
    atomic_add(&tile[lid * 2], 5);
    atomic_min(&tile[lid * 2 + 1], -3);
    atomic_xchg(&own[lid][7], 9);
    int old = atomic_cmpxchg(&own[lid][6], in[gid] + 6, 77);
    atomic_dec(&own[lid][3]);
    Big private_big = { { 1, 2, 3, 4, 5, in[gid] }, (float4)(in[gid]) };
    big[lid] = private_big;
    Big back = big[lid];
    wide[lid] = back.b * 2.0f;
    if (lid == 0) {
        fixed[1] = 4;
        atomic_inc(&fixed[1]);
        out[get_global_size(0) + get_group_id(0)] = fixed[1];
    }
    float whole;
    float part = fract(wide[lid].x + 0.5f, &whole);
    out[gid] = v.x + v.w * 3 + sum(own[lid], 8) + tile[lid * 2] * 5 + tile[lid * 2 + 1] + old + back.a[5]
        + (int)wide[lid].y + (int)(part * 4) + (int)whole;
}
";

const SUITE: &str = "
kernel = \"k.cl\"
[[test]]
name = \"all\"
global = [128]
local = [64]
[test.args]
in = { arange = { len = 128, start = 3, step = 5 } }
out = { fill = 0, len = 130 }
tile = { local = 512 }
wide = { local = 1024 }
";

fn inline(executor: &mut OpenClExecutor, kernel: &str, suite: &str) -> Vec<Privatisation> {
    let (folder, _) = source_file(kernel);
    let path = folder.path().join("suite.toml");
    std::fs::write(&path, suite).unwrap();
    privatisations(executor, &path)
}

#[test]
fn making_unshared_variables_private_changes_nothing() {
    let privatisations = inline(&mut executor(), OWN, SUITE);
    assert_eq!(privatisations.len(), 5);
    for privatisation in privatisations {
        assert_eq!(privatisation.same, Ok(vec![true]), "{:?}", privatisation.variable);
    }
}

#[test]
fn generic_pointers_lead_to_private_memory_too_but_no_atomics() {
    let kernel = |last: &str| {
        format!(
            "
void add(int *p, int n) {{ *p += n; }}
kernel void k(global const int *in, global int *out) {{
    local int own[64];
    int *p = &own[get_local_id(0)];
    *p = in[get_global_id(0)];
    add(p, 3);
    {last}
    out[get_global_id(0)] = *p;
}}
"
        )
    };
    let suite = SUITE.replace("tile = { local = 512 }\nwide = { local = 1024 }\n", "");
    let suite = suite.replace("[[test]]", "options = [\"-cl-std=CL2.0\"]\n[[test]]");
    let mut executor = executor();
    assert_eq!(inline(&mut executor, &kernel(""), &suite)[0].same, Ok(vec![true]));
    let atomic = "atomic_fetch_add((volatile atomic_int *)p, 1);";
    let refused = Err(Refusal::Atomic("atomic_fetch_add".into()));
    assert_eq!(inline(&mut executor, &kernel(atomic), &suite)[0].same, refused);
}

#[test]
fn debug_information_may_stay() {
    let (_folder, path) = source_file(OWN);
    let context = Context::create();
    let under_test = open(&context, &path, Some("k"), &KernelOptions::default()).unwrap().under_test;
    let machine = spirv::machine().unwrap();
    let functions = View::of(&under_test.module).functions().into_iter();
    for f in functions.filter(|f| f.has_body() && f.name() != "k") {
        f.attributes(AttributeIndex::Function).add_flag("alwaysinline");
    }
    let passes = "always-inline,globaldce,function(sroa,mem2reg)";
    under_test.module.run_passes(passes, &machine, PassBuilderOptions::create()).unwrap();
    for variable in ["k.own", "k.big", "k.fixed"] {
        privatise(&under_test.module, "k", &LocalVariable::Global(variable.into()), 0).unwrap().unwrap();
    }
    for position in [2, 3] {
        privatise(&under_test.module, "k", &LocalVariable::Argument(position), 512).unwrap().unwrap();
    }
    assert!(privatise(&under_test.module, "k", &LocalVariable::Argument(0), 512).is_err());
}

#[test]
fn what_needs_local_memory_is_refused() {
    let kernel = "
kernel void k(global const int *in, global int *out, local int *tile, local int *other) {
    event_t e = async_work_group_copy(tile, in, 64, 0);
    wait_group_events(1, &e);
    local int *p = in[0] > 3 ? tile : other;
    out[get_global_id(0)] = p[get_local_id(0)];
}
";
    let suite = SUITE.replace("wide = { local = 1024 }", "other = { local = 512 }");
    let privatisations = inline(&mut executor(), kernel, &suite);
    let why: Vec<String> =
        privatisations.into_iter().map(|privatisation| privatisation.same.unwrap_err().to_string()).collect();
    assert_eq!(why.len(), 2);
    assert!(why.iter().any(|why| why.contains("other local memory")), "{why:?}");
}
