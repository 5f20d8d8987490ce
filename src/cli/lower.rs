//! `kassay lower`: produces the code that a device would get, for inspection or for other tools.

use std::path::PathBuf;
use std::time::Instant;

use clap::{Args, ValueEnum};
use inkwell::context::Context;

use super::options::{KernelFlags, check_writable, print};
use super::terminal::Terminal;
use crate::coverage::build::{self, KernelFile};
use crate::error::{Error, Result};
use crate::instrument::layout::Slots;
use crate::kernel::compile;
use crate::lower::code::Target;

/// A stage of lowering whose LLVM IR can be printed (docs/lower.md).
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Stage {
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
    /// A .cl, .ll, .bc or .spv file
    pub kernel: PathBuf,
    /// Write the SPIR-V to a file
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Insert coverage probes; the kernel gets an additional last argument, `global uint *`
    #[arg(long)]
    pub coverage: bool,
    /// Print the LLVM IR of a stage instead
    #[arg(long, value_name = "STAGE", conflicts_with = "output")]
    pub print: Option<Stage>,
    #[command(flatten)]
    pub options: KernelFlags,
}

/// Lowers a kernel. Returns the exit code.
///
/// # Errors
/// `Caller` if the kernel cannot be compiled or the flags are wrong; `Environment` if the output cannot be written.
pub fn run(args: &LowerArgs) -> Result<u8> {
    if let Some(path) = &args.output {
        check_writable(path)?;
    }
    let open = args.options.open_options(Terminal::new(true, false));
    let loaded = compile::load(&args.kernel, &open.kernel_options(Vec::new(), Instant::now()), args.coverage)?;
    let context = Context::create();
    let file = KernelFile::parse(&context, &loaded)?;
    let sources = build::sources_of(&args.kernel);
    let names = match (&args.options.entry, &args.output) {
        (None, None) if args.print.is_none() => file.kernels.clone(),
        (entry, _) => vec![file.choose(entry.as_deref())?],
    };
    for name in names {
        let under_test = file.under_test(&name, &loaded, &sources)?;
        match args.print {
            Some(Stage::Canonical) => print(&under_test.canonical_text())?,
            Some(stage @ (Stage::Host | Stage::HostRaces)) => {
                let slots = args.coverage.then_some(Slots::Groups);
                print(&under_test.hooked_text(slots, stage == Stage::HostRaces)?)?;
            }
            Some(stage) => print(&under_test.woven_text(Slots::Groups, stage == Stage::Prepared)?)?,
            None => {
                let target = Target::default();
                let code = match args.coverage {
                    true => under_test.instrumented(Slots::Groups, target)?.0,
                    false => under_test.plain(target)?,
                };
                match &args.output {
                    Some(path) => std::fs::write(path, code.bytes())
                        .map_err(|e| Error::environment(format!("{} cannot be written: {e}", path.display())))?,
                    None => print(&format!("{name}: {} bytes of {}\n", code.bytes().len(), target.name()))?,
                }
            }
        }
    }
    Ok(0)
}
