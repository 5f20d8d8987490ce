//! `kassay inspect`: shows interfaces, counts and sites of kernels, and draws their control-flow graphs.

use std::path::PathBuf;

use clap::Args;
use kassay_base::error::Result;
use kassay_model::kernel_files;
use kassay_results::report::text;
use kassay_results::result::store;

use super::options::{KernelFlags, MutationLevelFlag, OutputFlags};
use crate::api::{InspectOptions, Inspected, inspect};

/// Show the interfaces, counts and sites of a file's kernels
#[derive(Debug, Args)]
pub struct InspectArgs {
    #[arg(help = format!("A {} file", kernel_files::all_listed()))]
    pub kernel: PathBuf,
    /// Write the control-flow graph in Graphviz format
    #[arg(long, value_name = "FILE")]
    pub dot: Option<PathBuf>,
    /// Write the kernel's interface as it is known, to correct and give back with --interface
    #[arg(long, value_name = "FILE")]
    pub write_interface: Option<PathBuf>,
    /// Mutation operators to count: all, peng, liu, mutgpu, or comma-separated ids
    #[arg(long, value_name = "LIST", default_value = "all")]
    pub operators: String,
    /// The level at which mutants are counted
    #[arg(long, value_name = "LEVEL", value_enum, ignore_case = true, default_value_t)]
    pub level: MutationLevelFlag,
    #[command(flatten)]
    pub options: KernelFlags,
    #[command(flatten)]
    pub output: OutputFlags,
    #[command(flatten)]
    unused: UnusedFlags,
}

/// Flags accepted for uniformity with other commands; they have no effect because nothing is run.
#[derive(Debug, Args)]
struct UnusedFlags {
    #[arg(long, hide = true)]
    device: Option<String>,
    #[arg(long, hide = true)]
    seed: Option<u64>,
    #[arg(short = 'j', long, hide = true)]
    jobs: Option<u32>,
}

/// Inspects the kernels of a file and delivers the result. Returns the exit code.
///
/// # Errors
/// `Caller` if the kernel cannot be compiled or the flags are wrong; `Environment` if an output cannot be written.
pub fn run(args: &InspectArgs) -> Result<u8> {
    let _claim = args.output.claim()?;
    args.dot.as_deref().map_or(Ok(()), store::check_writable)?;
    args.write_interface.as_deref().map_or(Ok(()), store::check_writable)?;
    let open = args.options.open_options(args.output.terminal()).seed(args.unused.seed).level(args.level.into());
    let Inspected { result, graph, interface } = inspect(&args.kernel, &open, &args.options())?;
    if let (Some(path), Some(graph)) = (&args.dot, graph) {
        store::write_text(&graph, path)?;
    }
    if let (Some(path), Some(interface)) = (&args.write_interface, interface) {
        store::write_text(&interface, path)?;
    }
    args.output.deliver(&result, |style| text::inspect(&result, style))?;
    Ok(0)
}

impl InspectArgs {
    pub(super) fn options(&self) -> InspectOptions {
        InspectOptions::new()
            .operators(self.operators.clone())
            .draw(self.dot.is_some())
            .interface(self.write_interface.is_some())
            .explain(self.output.verbose)
    }
}
