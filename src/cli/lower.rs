//! `kassay lower`: produces the code that a device would get, for inspection or for other tools.

use std::path::PathBuf;

use clap::{Args, ValueEnum};

use super::options::{KernelFlags, print};
use super::terminal::Terminal;
use crate::api::{LowerOptions, LoweredForm, LoweringStage, lower};
use crate::error::{Error, Result};
use crate::result::store;

/// Values of `--print`: a stage of lowering, whose LLVM IR is printed (docs/lower.md).
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StageFlag {
    /// The canonical form
    Canonical,
    /// The canonical form with coverage probes
    Woven,
    /// The same after inlining and promotion of memory to registers
    Prepared,
    /// Code for the simulator before optimisation: inlined, with bounds checks (and probes, with --coverage)
    Host,
    /// The same with a call at every access, for race detection
    HostRaces,
}

/// Lower a kernel to SPIR-V 1.2, plain or with coverage probes
#[derive(Debug, Args)]
pub struct LowerArgs {
    /// A .cl, .clcpp, .ll, .bc or .spv file
    pub kernel: PathBuf,
    /// Write the SPIR-V to a file
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Insert coverage probes; the kernel gets an additional last argument, `global uint *`
    #[arg(long)]
    pub coverage: bool,
    /// Print the LLVM IR of a stage instead
    #[arg(long, value_name = "STAGE", conflicts_with = "output")]
    pub print: Option<StageFlag>,
    #[command(flatten)]
    pub options: KernelFlags,
}

/// Lowers a kernel. Returns the exit code.
///
/// # Errors
/// `Caller` if the kernel cannot be compiled or the flags are wrong; `Environment` if the output cannot be written.
pub fn run(args: &LowerArgs) -> Result<u8> {
    if let Some(path) = &args.output {
        store::check_writable(path)?;
    }
    let open = args.options.open_options(Terminal::new(true, false));
    for lowered in lower(&args.kernel, &open, &args.options())? {
        match (lowered.form?, &args.output) {
            (LoweredForm::Ir(text), _) => print(&text)?,
            (LoweredForm::Code { bytes, .. }, Some(path)) => std::fs::write(path, bytes)
                .map_err(|e| Error::environment(format!("{} cannot be written: {e}", path.display())))?,
            (LoweredForm::Code { format, bytes }, None) => {
                print(&format!("{}: {} bytes of {format}\n", lowered.kernel, bytes.len()))?;
            }
        }
    }
    Ok(0)
}

impl LowerArgs {
    pub(super) fn options(&self) -> LowerOptions {
        LowerOptions::new()
            .coverage(self.coverage)
            .stage(self.print.map(Into::into))
            .single(self.output.is_some() || self.print.is_some())
    }
}

impl From<StageFlag> for LoweringStage {
    fn from(flag: StageFlag) -> LoweringStage {
        match flag {
            StageFlag::Canonical => LoweringStage::Canonical,
            StageFlag::Woven => LoweringStage::Woven,
            StageFlag::Prepared => LoweringStage::Prepared,
            StageFlag::Host => LoweringStage::Host,
            StageFlag::HostRaces => LoweringStage::HostRaces,
        }
    }
}
