//! Builds guarded kernels from source, and launches them with a probe buffer.

use std::collections::HashMap;
use std::sync::Arc;

use kassay_ir::instrument::guard::{self, Guards};
use kassay_ir::instrument::ids;
use kassay_ir::instrument::layout::{FaultKind, GuardLayout, header, slot};
use kassay_ir::llvm::Context;
use kassay_ir::lower::spirv;
use kassay_judge::coverage::build::KernelUnderTest;
use kassay_model::code::Effort;
use kassay_model::options::KernelOptions;
use kassay_run::exec::{Code, Executor, Observation, OpenClExecutor, ProgramId, RunOptions, RunResult};
use kassay_suite::launch::{ArgValue, Launch, NdRange};

pub use crate::common::TestResult;
pub use crate::common::devices::{once, opencl as executor};
use crate::common::kernels::{open_bare, source_file};
use crate::common::launches;
pub use crate::common::launches::{int, ints, line as range};

/// More iterations than any kernel here needs.
pub const FUEL: u32 = 100_000_000;

/// A guarded kernel.
pub struct Guarded {
    pub code: Code,
    pub guards: Guards,
    pub layout: GuardLayout,
}

/// Builds a kernel with guards.
pub fn guarded(under_test: &KernelUnderTest<'_>) -> TestResult<Guarded> {
    let KernelUnderTest { entry, machine, interface, .. } = under_test;
    let mut module = under_test.module.clone();
    let layout = GuardLayout { args: interface.args.len() as u32 };
    guard::inline_and_promote(&mut module, entry, machine)?;
    let guards = guard::weave(&mut module, entry, layout, false, machine)?;
    ids::plain(&module, layout)?;
    let code = spirv::lower(&mut module, entry, Effort::Full)??;
    Ok(Guarded { code, guards, layout })
}

/// Returns the words of the probe buffer that a launch needs.
pub fn probe(layout: GuardLayout, launch: &Launch, fuel: u32) -> Vec<u32> {
    let mut words = vec![0; layout.words(1, 0) as usize];
    words[header::FUEL as usize] = fuel;
    words[header::SLOTS as usize] = 1;
    for position in 0..launch.args.len() as u32 {
        let extent = match launch.value(position) {
            Some(ArgValue::Local(bytes)) => *bytes,
            _ => launch.reach(position).unwrap_or(0),
        };
        let at = layout.argument(position) as usize;
        words[at] = extent as u32;
        words[at + 1] = (extent >> 32) as u32;
    }
    words
}

/// The result of a guarded launch.
#[derive(Debug)]
pub struct GuardedRun {
    pub observation: Observation,
    pub fault: Option<(FaultKind, u32)>,
    pub item: u32,
    pub used: u32,
    /// The fault's word as a message.
    pub says: String,
}

impl Guarded {
    /// Runs the kernel with the probe buffer as an additional buffer.
    pub fn run(
        &self,
        executor: &mut OpenClExecutor,
        program: ProgramId,
        launch: &Launch,
        fuel: u32,
        options: &RunOptions,
    ) -> TestResult<Result<GuardedRun, kassay_run::exec::Fault>> {
        let words = probe(self.layout, launch, fuel);
        let mut args = launch.args.clone();
        args.push(ArgValue::Buffer(Arc::new(words.iter().flat_map(|w| w.to_le_bytes()).collect())));
        let launch = Launch { views: launch.views.clone(), ..Launch::new(launch.range.clone(), args) };
        let result: RunResult = executor.run(program, &launch, options)?;
        let mut observation = match result {
            Ok(observation) => observation,
            Err(fault) => return Ok(Err(fault)),
        };
        let (position, bytes) = observation.outputs.pop().ok_or("no probe buffer came back")?;
        assert_eq!(position, self.layout.args);
        let first = self.layout.slot(0);
        let word = |w: u32| {
            let at = 4 * (first + w) as usize;
            u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
        };
        let fault = word(slot::FAULT);
        Ok(Ok(GuardedRun {
            observation,
            fault: FaultKind::read(fault),
            item: word(slot::FAULT_ITEM),
            used: word(slot::FUEL_USED),
            says: self.guards.describe(fault).unwrap_or_default(),
        }))
    }
}

pub fn ints_of(seen: &GuardedRun, position: u32) -> Result<Vec<i32>, String> {
    launches::ints_of(&seen.observation, position)
}

/// A device worker, and the programs that it has loaded by source.
pub struct Device {
    executor: OpenClExecutor,
    loaded: HashMap<String, (Guarded, ProgramId)>,
}

impl Device {
    pub fn start() -> TestResult<Device> {
        Ok(Device { executor: executor()?, loaded: HashMap::new() })
    }

    /// Compiles, guards and runs kernel `k` of `source`. The worker has to survive the run.
    pub fn run(&mut self, source: &str, range: NdRange, args: Vec<ArgValue>, fuel: u32) -> TestResult<GuardedRun> {
        if !self.loaded.contains_key(source) {
            let (_folder, file) = source_file(source);
            let context = Context::create();
            let guarded = guarded(&open_bare(&context, &file, Some("k"), &KernelOptions::default())?.under_test)?;
            let program = self.executor.load(&guarded.code)?;
            self.loaded.insert(source.to_owned(), (guarded, program));
        }
        let (guarded, program) = &self.loaded[source];
        let seen = guarded.run(&mut self.executor, *program, &Launch::new(range, args), fuel, &once())?;
        Ok(seen.map_err(|fault| format!("{fault:?}"))?)
    }
}
