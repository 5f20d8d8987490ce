//! Lowers kernels to the code that a device would get, or to the LLVM IR on the way there.

use std::collections::BTreeSet;
use std::path::Path;

use kassay_base::error::{Error, Result};
use kassay_ir::instrument::layout::Slots;
use kassay_ir::kernel::compile;
use kassay_ir::llvm::Context;
use kassay_judge::coverage::build::{self, KernelFile, KernelUnderTest, OtherKernels};
use kassay_judge::mutation::catalogue::selection::Selection;
pub use kassay_model::code::CodeForm;
use kassay_model::code::Target;
use kassay_results::result::probe_map::{ProbeMap, Purpose, SlotsOf};

use super::options::{OpenOptions, options};
use super::own_host::{self, GuardedPurpose, Weaving, WovenCode};

options! {
    /// Options of [`lower`].
    pub struct LowerOptions {
        /// Whether coverage probes are inserted; the kernel gets an additional last argument, `global uint *`.
        coverage: bool = false,
        /// Whether coverage probes count work-items: each has a slot of its own in the probe buffer.
        counts: bool = false,
        /// Whether coverage probes record the test vectors of decisions, which MC/DC needs.
        mcdc: bool = false,
        /// Whether all mutants are inserted that can share a module, and guards; one more argument likewise. Only for
        /// code: no stage.
        mutants: bool = false,
        /// Whether guards are inserted, which record faults instead of letting them happen; likewise.
        guards: bool = false,
        /// The operators of mutants: their ids, separated by commas, or `all`, `peng`, `liu` or `mutgpu`.
        operators: String = "all".to_owned(),
        /// Whether the solver is asked which mutants are equivalent to the original.
        proofs: bool = true,
        /// The stage that is wanted; `None`: the code.
        stage: Option<LoweringStage> = None,
        /// The form of the code.
        target: CodeForm = CodeForm::SpirV,
        /// With coverage probes: the kernels to weave, which come to be in one module; `all`: those of the file.
        kernels: Vec<String> = Vec::new(),
        /// Whether code with probes, mutants or guards has the other kernels of the file, too, as they are.
        others: bool = false,
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
#[derive(Debug, Clone, PartialEq)]
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
    /// Code with probes, mutants or guards, for a host program of the user's own (docs/bring-your-own-host.md).
    Woven {
        /// The contents of the files that the map lists in [`ProbeMap::modules`], in their order.
        modules: Vec<Vec<u8>>,
        /// With mutants: for each of these modules that has any, the contents of its reach module's file.
        reach: Vec<Vec<u8>>,
        /// What the host supplies, and what the probe buffer means. Its modules have no file names yet.
        map: Box<ProbeMap>,
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
///
/// let probes = LowerOptions::new().coverage(true);
/// let lowered = lower("testdata/vector_add/vector_add.cl", &OpenOptions::new(), &probes)?;
/// let Ok(LoweredForm::Woven { modules, map, .. }) = &lowered[0].form else { panic!("it has probes") };
/// assert_eq!((modules.len(), map.args.last().unwrap().position), (1, 4));
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
    let purpose = options.purpose()?;
    let selection = Selection::parse(&options.operators)?;
    let kernel_options = open.options_for(path)?;
    let loaded = compile::load(path, &kernel_options, options.coverage || options.mutants)?;
    let context = Context::create();
    let mut file = KernelFile::parse(&context, &loaded)?.for_host_program();
    let sources = build::sources_of(path).within(kernel_options.sandbox.clone());
    let mut names = match (&options.kernels[..], &open.entry) {
        ([], None) if !options.single => file.kernels.clone(),
        ([], entry) => vec![file.choose(entry.as_deref())?],
        ([all], _) if all == "all" => file.kernels.clone(),
        (named, _) => named.iter().map(|name| file.choose(Some(name))).collect::<Result<_>>()?,
    };
    let mut seen = BTreeSet::new();
    names.retain(|name| seen.insert(name.clone()));
    file.declare(open.declared()?, &names)?;
    let target: Target = options.target.into();
    let is_for_device = options.stage.is_none() && !target.has_hooks();
    let for_target = |under_test| checked(under_test, is_for_device);
    if options.others {
        file.kernels.iter().try_for_each(|name| for_target(file.under_test(name, &loaded, &sources)?).map(drop))?;
    }
    let slots = if options.counts { SlotsOf::WorkItems } else { SlotsOf::WorkGroups };
    let others = |woven: &[String]| if options.others { file.others(woven) } else { Ok(OtherKernels::default()) };
    if !options.kernels.is_empty() {
        let kernels = names.iter().map(|name| for_target(file.under_test(name, &loaded, &sources)?));
        let kernels = kernels.collect::<Result<_>>()?;
        let origin = own_host::File { path, open, others: &others(&names)?, target };
        let woven = own_host::with_probes(&origin, kernels, slots, options.mcdc)?;
        return Ok(names
            .into_iter()
            .zip(woven)
            .map(|(kernel, woven)| Lowered { kernel, form: Ok(woven.into()) })
            .collect());
    }
    let form = |kernel: &str| {
        let mut under_test = for_target(file.under_test(kernel, &loaded, &sources)?)?;
        let (Some(purpose), None) = (purpose, options.stage) else { return form(&under_test, options) };
        let others = &others(&[kernel.to_owned()])?;
        let origin = own_host::File { path, open, others, target };
        let purpose = match purpose {
            Purpose::Coverage => {
                let woven = own_host::with_probes(&origin, vec![under_test], slots, options.mcdc)?.pop();
                return woven.map(LoweredForm::from).ok_or_else(|| Error::internal("nothing was woven"));
            }
            Purpose::Mutants => GuardedPurpose::Mutants,
            Purpose::Guards => GuardedPurpose::Guards,
        };
        under_test.beside.extend(others.bitcode.clone());
        let ast = loaded.ast.as_ref();
        let weaving = Weaving {
            file: origin,
            under_test: &under_test,
            ast,
            sources: &sources,
            selection: &selection,
            proofs: options.proofs,
        };
        own_host::woven(&weaving, purpose).map(LoweredForm::from)
    };
    let lowered = |kernel: String| Lowered { form: form(&kernel), kernel };
    Ok(names.into_iter().map(lowered).collect())
}

impl From<WovenCode> for LoweredForm {
    fn from(woven: WovenCode) -> LoweredForm {
        LoweredForm::Woven { modules: woven.modules, reach: woven.reach, map: Box::new(woven.map) }
    }
}

impl LowerOptions {
    /// Returns what is to be woven in, if anything.
    fn purpose(&self) -> Result<Option<Purpose>> {
        let wanted =
            [(self.coverage, Purpose::Coverage), (self.mutants, Purpose::Mutants), (self.guards, Purpose::Guards)];
        let purposes: Vec<Purpose> = wanted.into_iter().filter(|(is, _)| *is).map(|(_, purpose)| purpose).collect();
        let one = match purposes[..] {
            [] => None,
            [one] => Some(one),
            [one, other, ..] => {
                let (one, other) = (one.name(), other.name());
                return Err(Error::caller(format!("a module has either {one} or {other}"))
                    .help("lower the kernel once for each"));
            }
        };
        if self.counts && (one != Some(Purpose::Coverage) || self.stage.is_some()) {
            return Err(Error::caller("only code with coverage probes counts work-items")
                .help("ask for coverage probes, and for no stage"));
        }
        if self.mcdc && (one != Some(Purpose::Coverage) || self.stage.is_some()) {
            return Err(Error::caller("only code with coverage probes records test vectors")
                .help("ask for coverage probes, and for no stage"));
        }
        if !self.kernels.is_empty() && (one != Some(Purpose::Coverage) || self.stage.is_some()) {
            return Err(Error::caller("several kernels of one module can have coverage probes, and nothing else")
                .help("weave mutants or guards into one kernel at a time, which --entry names"));
        }
        match (one, self.stage) {
            (Some(purpose @ (Purpose::Mutants | Purpose::Guards)), Some(_)) => {
                Err(Error::caller(format!("there is no stage of lowering to show with {}", purpose.name()))
                    .help("ask for code, or for a stage with coverage probes"))
            }
            _ => Ok(one),
        }
    }
}

/// Refuses code for devices that would do something else than CUDA where lanes of a warp are apart, or groups wait for
/// each other.
fn checked(under_test: KernelUnderTest<'_>, is_for_device: bool) -> Result<KernelUnderTest<'_>> {
    if let Some(place) = under_test.grid_barrier().filter(|_| is_for_device) {
        return Err(Error::caller(format!(
            "{place}: all work-groups of `{}` wait for each other, for which OpenCL has nothing",
            under_test.entry
        ))
        .help("run it on the simulator, with `kassay run --device sim`"));
    }
    match is_for_device && under_test.takes_lanes() {
        false => Ok(under_test),
        true => Err(Error::caller(format!(
            "`{}` has functions of warps in which only some lanes may take part, for which OpenCL has nothing",
            under_test.entry
        ))
        .help("run it on the simulator, or pass masks that are known to name all lanes, such as 0xffffffff")),
    }
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
            let target = options.target.into();
            let code = under_test.plain(target)?;
            return Ok(LoweredForm::Code { format: target.name(), bytes: code.bytes().to_vec() });
        }
    };
    Ok(LoweredForm::Ir(ir))
}
