//! Compiles kernels of `testdata` and of these tests. Not a test.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use kassay_base::error::Result;
use kassay_ir::kernel::compile::{Loaded, load};
use kassay_ir::kernel::source::Sources;
use kassay_ir::llvm::Context;
use kassay_ir::lower::native::emit::{Effort, emit};
use kassay_judge::coverage::build::{KernelFile, KernelUnderTest, sources_of};
use kassay_model::native::table::NativeTable;
use kassay_run::exec::simulator::observation::{Simulation, SimulationOptions, SimulatorFault};
use kassay_run::exec::{NativeCode, ProgramId, Simulator};
use kassay_suite::launch::{ArgValue, Launch};
use kassay_suite::resolve::Suite;

use crate::common::kernels::{self, open, options_of, source_file};
pub use crate::common::launches::int as value;
use crate::common::launches::line;
use crate::common::testdata::main_suites;
pub use crate::support::{ints, output};

/// Visits all kernels of all fixtures.
pub fn each_kernel(mut visit: impl FnMut(&KernelUnderTest<'_>)) {
    each_loaded(|under_test, _, _| visit(under_test));
}

/// As [`each_kernel`], with the loaded file and its sources.
pub fn each_loaded(mut visit: impl FnMut(&KernelUnderTest<'_>, &Loaded, &Sources)) {
    for suite in main_suites() {
        let suite = Suite::load(&suite).unwrap();
        let loaded = load(&suite.kernel, &options_of(&suite), true).unwrap();
        let context = Context::create();
        let file = KernelFile::parse(&context, &loaded).unwrap();
        let sources = sources_of(&suite.kernel);
        for entry in &file.kernels {
            visit(&file.under_test(entry, &loaded, &sources).unwrap(), &loaded, &sources);
        }
    }
}

/// Returns the table of the kernel `k` in `source`, whose code also has to compile.
pub fn table(source: &str, cl_std: &str, races: bool) -> NativeTable {
    Hooked::new(source, cl_std, races).table.clone()
}

/// A kernel's code with hooks.
pub struct Hooked {
    pub table: NativeTable,
    code: Arc<NativeCode>,
}

impl Hooked {
    /// Weaves and compiles the kernel `k` in `source`.
    pub fn new(source: &str, cl_std: &str, races: bool) -> Hooked {
        let (_folder, path) = source_file(source);
        Hooked::of_file(&path, cl_std, races, Effort::Full).unwrap()
    }

    /// As [`Hooked::new`], in less time.
    pub fn quickly(source: &str, cl_std: &str, races: bool) -> Hooked {
        let (_folder, path) = source_file(source);
        Hooked::of_file(&path, cl_std, races, Effort::Quick).unwrap()
    }

    /// As [`Hooked::new`], of LLVM IR.
    pub fn of_ir(text: &str, races: bool) -> Result<Hooked> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("k.ll");
        std::fs::write(&path, text).unwrap();
        Hooked::of_file(&path, "CL2.0", races, Effort::Full)
    }

    fn of_file(path: &Path, cl_std: &str, races: bool, effort: Effort) -> Result<Hooked> {
        let context = Context::create();
        let under_test = open(&context, path, Some("k"), &kernels::cl_std(cl_std))?.under_test;
        let (module, table) = under_test.hooked(under_test.module.clone(), false, races)?;
        let object = emit(&module, "k", effort)?;
        let code = Arc::new(NativeCode { object, entry: "k".to_owned(), table: table.clone() });
        Ok(Hooked { table, code })
    }

    /// Runs the kernel once with `items` work-items in groups of `group`.
    pub fn run(&self, [items, group]: [u64; 2], args: &[ArgValue]) -> Simulation {
        self.loaded().run([items, group], args)
    }

    /// Returns a simulator with the kernel, for many runs.
    pub fn loaded(&self) -> LoadedKernel {
        let mut simulator = Simulator::new(1).unwrap();
        let program = simulator.load_native(&self.code).unwrap();
        LoadedKernel { simulator, program, races: self.table.races }
    }

    /// Returns the line of an access's fault in the function of the source whose name begins so.
    pub fn line(&self, fault: &SimulatorFault, function: &str) -> u32 {
        let path = self.table.accesses[fault.site as usize].path;
        let frames = &self.table.paths[path as usize].frames;
        frames.iter().find(|frame| frame.function.starts_with(function)).map_or(0, |frame| frame.line)
    }
}

/// A kernel in a simulator.
pub struct LoadedKernel {
    simulator: Simulator,
    program: ProgramId,
    races: bool,
}

impl LoadedKernel {
    /// As [`Hooked::run`].
    pub fn run(&mut self, [items, group]: [u64; 2], args: &[ArgValue]) -> Simulation {
        let launch = Launch::new(line(items, group), args.to_vec());
        let options = SimulationOptions { races: self.races, fuel: Some(100_000), ..SimulationOptions::default() };
        self.simulator.simulate(self.program, &launch, &options, Duration::from_secs(20), &[]).unwrap()
    }
}

pub fn buffer(bytes: &[u8]) -> ArgValue {
    ArgValue::Buffer(Arc::new(bytes.to_vec()))
}
