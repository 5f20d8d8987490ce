//! Reads kernels in canonical form, weaves, lowers and runs them.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use inkwell::module::Module;
use kassay_ir::cfg::sites::Sites;
use kassay_ir::instrument::ids;
use kassay_ir::instrument::layout::{GuardLayout, slot};
use kassay_ir::llvm::Context;
use kassay_ir::lower::spirv;
use kassay_judge::coverage::build::KernelUnderTest;
use kassay_model::code::Effort;
use kassay_model::interface::Interface;
use kassay_model::options::KernelOptions;
use kassay_run::exec::{Code, Executor, Observation, OpenClExecutor, ProgramId, RunOptions};
use kassay_suite::launch::Launch;

use crate::common::devices::opencl;
use crate::common::kernels::open;

/// One kernel in canonical form.
pub struct Kernel<'c> {
    pub module: Module<'c>,
    pub entry: String,
    pub sites: Sites,
    pub interface: Interface,
}

impl<'c> Kernel<'c> {
    pub fn read(context: &'c Context, file: &Path, options: &KernelOptions, entry: Option<&str>) -> Kernel<'c> {
        let KernelUnderTest { module, entry, interface, sites, .. } =
            open(context, file, entry, options).unwrap().under_test;
        Kernel { module, entry, sites, interface }
    }

    /// Returns the code of a (woven) clone of the module.
    pub fn code(&self, module: &Module<'_>) -> Code {
        self.lower(module, Effort::Full)
    }

    /// As [`Kernel::code`], built in a fraction of the time.
    pub fn quick_code(&self, module: &Module<'_>) -> Code {
        self.lower(module, Effort::Quick)
    }

    fn lower(&self, module: &Module<'_>, effort: Effort) -> Code {
        ids::plain(module, self.layout()).unwrap();
        spirv::lower(&mut module.clone(), &self.entry, effort).unwrap().unwrap()
    }

    pub fn layout(&self) -> GuardLayout {
        GuardLayout { args: self.interface.args.len() as u32 }
    }
}

pub fn start() -> OpenClExecutor {
    opencl().unwrap()
}

pub fn options(probe_words: Option<u64>) -> RunOptions {
    RunOptions { timeout: Duration::from_secs(3), repeats: 1, probe_words, outputs: true }
}

/// For mutants without guards, some of which never end; the others take milliseconds.
pub fn brief() -> RunOptions {
    RunOptions { timeout: Duration::from_secs(1), ..options(None) }
}

/// Runs a woven program with one or two mutants selected; `None` if it faults.
pub fn run_mutant(
    executor: &mut OpenClExecutor,
    program: ProgramId,
    launch: &Launch,
    layout: GuardLayout,
    (first, second): (u32, u32),
) -> Option<Observation> {
    let mut probe = vec![0; layout.words(1, 0) as usize];
    probe[(layout.slot(0) + slot::MUTANT) as usize] = first;
    probe[(layout.slot(0) + slot::SECOND) as usize] = second;
    let bytes = probe.iter().flat_map(|w| w.to_le_bytes()).collect();
    // The probe buffer is passed as an ordinary buffer, so that its initial contents are those of the test.
    let mut launch = launch.clone();
    launch.args.push(kassay_suite::launch::ArgValue::Buffer(Arc::new(bytes)));
    let position = layout.args;
    let mut seen = executor.run(program, &launch, &options(None)).unwrap().ok()?;
    seen.outputs.retain(|(p, _)| *p != position);
    Some(seen)
}
