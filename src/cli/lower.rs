//! `kassay lower`: the code that a device would get, for a look or for another tool.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use inkwell::context::Context;

use super::options::{KernelFlags, check_writable, print};
use crate::coverage::build::{self, KernelFile};
use crate::error::{Error, Result};
use crate::exec::Target;
use crate::instrument::layout::Slots;
use crate::kernel::compile;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Stage {
    /// The canonical form, as LLVM IR
    Canonical,
    /// With coverage probes woven in, as LLVM IR
    Woven,
    /// The same after inlining and promotion
    Prepared,
    /// For the simulator: inlined, with checks of bounds (and probes, with --coverage), before it is optimised
    Host,
    /// The same, with a call at every access, for races
    HostRaces,
}

/// Lower a kernel to SPIR-V 1.2, plain or with coverage probes
#[derive(Debug, Args)]
pub struct LowerArgs {
    /// A .cl, .ll, .bc or .spv file
    pub kernel: PathBuf,
    /// The SPIR-V file to write
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Weave coverage probes in: the kernel gets one more, last argument, `global uint *`
    #[arg(long)]
    pub coverage: bool,
    /// Print LLVM IR of a stage instead
    #[arg(long, value_name = "STAGE", conflicts_with = "output")]
    pub print: Option<Stage>,
    #[command(flatten)]
    pub options: KernelFlags,
}

pub fn run(args: &LowerArgs) -> Result<u8> {
    if let Some(path) = &args.output {
        check_writable(path)?;
    }
    let loaded = compile::load(&args.kernel, &args.options.kernel_options(Vec::new()), args.coverage)?;
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
                let code = match args.coverage {
                    true => under_test.instrumented(Slots::Groups, Target::SpirV)?.0,
                    false => under_test.plain(Target::SpirV)?,
                };
                let Some(code) = code.as_spirv() else { continue };
                match &args.output {
                    Some(path) => std::fs::write(path, &*code.spirv)
                        .map_err(|e| Error::environment(format!("{} cannot be written: {e}", path.display())))?,
                    None => print(&format!("{name}: {} bytes of SPIR-V\n", code.spirv.len()))?,
                }
            }
        }
    }
    Ok(0)
}
