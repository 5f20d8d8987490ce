//! Compiles kernels written in C in the form of compiled kernels: they call the simulator's hooks themselves.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use kassay_model::native::table::{
    AccessSite, BarrierSite, CallPath, Mode, NativeTable, Object, PlainSite, SourcePlace, Space, Storage,
};
use kassay_run::exec::simulator::observation::{Simulation, SimulationOptions};
use kassay_run::exec::{NativeCode, ProgramId, Simulator};
use kassay_suite::launch::{ArgValue, Launch};

use crate::common::launches::{ints_of, line};

/// The beginning of every object: contexts and hooks as in `lower::native::abi`.
const HEAD: &str = r#"
typedef unsigned int u32; typedef unsigned long u64; typedef long i64; typedef unsigned char u8;
struct group { const void *extents; u8 *local_base; u8 *sink; u64 dimensions, global_size[3], local_size[3], enqueued[3], groups[3],
    offset[3], group_id[3]; };
struct item { const struct group *group; i64 fuel; u64 local_id[3], global_id[3], linear, leaves; void *host; };
void *__kassay_access(struct item *, void *, u32);
void *__kassay_span(struct item *, void *, u32, u64);
void *__kassay_check(struct item *, void *, u32);
void __kassay_division(struct item *, u32);
i64 __kassay_fuel(struct item *, u32);
void __kassay_barrier(struct item *, u32, u32, u32, u64);
void *__kassay_exchange(struct item *, u32, u64, void *, u64, u32);
void *__kassay_async_copy(struct item *, u32, u64, u32, void *, void *, u64, u64, u64, u64, void *);
void __kassay_wait(struct item *, u32, u64, void *, u64);
void __kassay_print(struct item *, u32, const char *, void *);
#define AT(type, pointer, site) (*(type *)__kassay_access(item, pointer, site))
#define BURN(site) if (--fuel < 0) fuel = __kassay_fuel(item, site)
#define ARG(type, n) (*(type *)arguments[n])
#define KERNEL void __kassay_entry(struct item *item, void **arguments)
"#;

/// Compiles `text` (after the head) into code with this table.
pub fn code(text: &str, table: NativeTable) -> Arc<NativeCode> {
    let folder = tempfile::tempdir().unwrap();
    let (source, object) = (folder.path().join("kernel.c"), folder.path().join("kernel.o"));
    std::fs::write(&source, format!("{HEAD}{text}")).unwrap();
    let compiler = std::env::var("KASSAY_CLANG").unwrap_or_else(|_| "clang-22".to_owned());
    compile(&compiler, &source, &object);
    Arc::new(NativeCode { object: std::fs::read(object).unwrap(), entry: "kernel".into(), table })
}

fn compile(compiler: &str, source: &Path, object: &Path) {
    let status = Command::new(compiler)
        .args(["-c", "-O2", "-fPIC", "-fno-strict-aliasing", "-o"])
        .args([object, source])
        .status()
        .unwrap();
    assert!(status.success());
}

/// Returns a table of arguments: `global int *` by name, in order; [`with_access`] adds accesses.
pub fn table(buffers: &[&str]) -> NativeTable {
    let frames = vec![SourcePlace { function: "kernel".into(), file: "k.cl".into(), line: 3, column: 9 }];
    let object = |(position, name): (u32, &&str)| Object {
        name: (*name).into(),
        space: Space::Global,
        storage: Storage::Argument(position),
        element: 4,
    };
    NativeTable {
        paths: vec![CallPath { frames }],
        objects: (0..).zip(buffers).map(object).collect(),
        arguments: buffers.len() as u32,
        granule: vec![4; buffers.len()],
        longest_access: 16,
        ..NativeTable::default()
    }
}

/// Adds an access of four bytes.
pub fn with_access(mut table: NativeTable, mode: Mode, object: Option<u32>, space: Space) -> NativeTable {
    table.accesses.push(AccessSite {
        path: 0,
        mode,
        space,
        object,
        bytes: 4,
        align: 4,
        lead: 0,
        ordering: None,
        builtin: None,
    });
    table
}

/// Adds a barrier.
pub fn with_barrier(mut table: NativeTable, builtin: &str, sub_group: bool) -> NativeTable {
    let source = table.barriers.len() as u32;
    table.barriers.push(BarrierSite { path: 0, builtin: builtin.into(), sub_group, source, flags: None, grid: false });
    table
}

pub fn with_loop(mut table: NativeTable) -> NativeTable {
    table.loops.push(PlainSite { path: 0 });
    table
}

pub fn ints(values: impl IntoIterator<Item = i32>) -> ArgValue {
    ArgValue::Buffer(Arc::new(values.into_iter().flat_map(i32::to_le_bytes).collect()))
}

pub fn launch(global: u64, local: u64, args: Vec<ArgValue>) -> Launch {
    Launch::new(line(global, local), args)
}

pub const LIMIT: Duration = Duration::from_secs(20);

/// Returns a simulator that has loaded this code.
pub fn loaded(code: &Arc<NativeCode>) -> (Simulator, ProgramId) {
    let mut simulator = Simulator::new(1).unwrap();
    let program = simulator.load_native(code).unwrap();
    (simulator, program)
}

pub fn simulate(code: &Arc<NativeCode>, launch: &Launch, options: &SimulationOptions) -> Simulation {
    let (mut simulator, program) = loaded(code);
    simulator.simulate(program, launch, options, LIMIT, &[]).unwrap()
}

/// Returns the output of the argument at `position`, as ints.
pub fn output(simulation: &Simulation, position: u32) -> Vec<i32> {
    ints_of(&simulation.observation, position).unwrap()
}
