//! Lowers kernels to the code that a device would get, or to the LLVM IR on the way there.

use std::path::Path;

use inkwell::context::Context;

use super::options::{OpenOptions, options};
use crate::coverage::build::{self, KernelFile, KernelUnderTest};
use crate::error::Result;
use crate::instrument::layout::Slots;
use crate::kernel::compile;
use crate::lower::code::Target;

options! {
    /// Options of [`lower`].
    pub struct LowerOptions {
        /// Whether coverage probes are inserted; the kernel gets an additional last argument, `global uint *`.
        coverage: bool = false,
        /// The stage that is wanted; `None`: the code, SPIR-V 1.2.
        stage: Option<LoweringStage> = None,
        /// Whether a file of several kernels is refused unless one of them is named.
        single: bool = false,
    }
}

/// A stage of lowering, which has LLVM IR (docs/lower.md).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoweringStage {
    /// The canonical form.
    Canonical,
    /// The canonical form with coverage probes.
    Woven,
    /// The same after inlining and promotion of memory to registers.
    Prepared,
    /// Code for the simulator before optimisation: inlined, with bounds checks (and probes, if they are asked for).
    Host,
    /// The same with a call at every access, for race detection.
    HostRaces,
}

/// A kernel that [`lower`] was asked for.
#[derive(Debug)]
#[non_exhaustive]
pub struct Lowered {
    /// The kernel's name.
    pub kernel: String,
    /// What became of it.
    pub form: Result<LoweredForm>,
}

/// What a kernel was lowered to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LoweredForm {
    /// The LLVM IR of a stage.
    Ir(String),
    /// Code for devices.
    Code {
        /// Its format, such as `SPIR-V`.
        format: &'static str,
        /// The contents of a file in that format.
        bytes: Vec<u8>,
    },
}

/// Lowers the kernels of a `.cl`, `.ll`, `.bc` or `.spv` file, in their order, or only the one that `open` names. A
/// kernel that cannot be lowered does not keep others from it.
///
/// ```
/// # fn main() -> kassay::Result<()> {
/// use kassay::{LowerOptions, LoweredForm, OpenOptions, lower};
///
/// let lowered = lower("testdata/vector_add/vector_add.cl", &OpenOptions::new(), &LowerOptions::new())?;
/// assert_eq!(lowered[0].kernel, "vector_add");
/// assert!(matches!(&lowered[0].form, Ok(LoweredForm::Code { bytes, .. }) if bytes.starts_with(&[3, 2, 0x23, 7])));
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// `Caller` if the file cannot be compiled or an option is wrong.
pub fn lower(kernel: impl AsRef<Path>, open: &OpenOptions, options: &LowerOptions) -> Result<Vec<Lowered>> {
    let path = kernel.as_ref();
    open.check()?;
    open.check_raw()?;
    let loaded = compile::load(path, &open.kernel_options(Vec::new()), options.coverage)?;
    let context = Context::create();
    let mut file = KernelFile::parse(&context, &loaded)?;
    let sources = build::sources_of(path);
    let names = match &open.entry {
        None if !options.single => file.kernels.clone(),
        entry => vec![file.choose(entry.as_deref())?],
    };
    file.declare(open.declared()?, &names)?;
    let lowered = |kernel: String| {
        let under_test = file.under_test(&kernel, &loaded, &sources);
        Lowered { form: under_test.and_then(|under_test| form(&under_test, options)), kernel }
    };
    Ok(names.into_iter().map(lowered).collect())
}

fn form(under_test: &KernelUnderTest<'_>, options: &LowerOptions) -> Result<LoweredForm> {
    let ir = match options.stage {
        Some(LoweringStage::Canonical) => under_test.canonical_text(),
        Some(stage @ (LoweringStage::Host | LoweringStage::HostRaces)) => {
            let slots = options.coverage.then_some(Slots::Groups);
            under_test.hooked_text(slots, stage == LoweringStage::HostRaces)?
        }
        Some(stage) => under_test.woven_text(Slots::Groups, stage == LoweringStage::Prepared)?,
        None => {
            let target = Target::default();
            let code = match options.coverage {
                true => under_test.instrumented(Slots::Groups, target)?.0,
                false => under_test.plain(target)?,
            };
            return Ok(LoweredForm::Code { format: target.name(), bytes: code.bytes().to_vec() });
        }
    };
    Ok(LoweredForm::Ir(ir))
}
