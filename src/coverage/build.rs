//! From a kernel's module to its interface, its sites and its code, plain and with coverage probes.

use std::path::{Path, PathBuf};
use std::time::Instant;

use inkwell::context::Context;
use inkwell::module::Module;
use inkwell::passes::PassBuilderOptions;
use inkwell::targets::TargetMachine;

use crate::cfg::sites::Sites;
use crate::error::{Error, Result};
use crate::exec::{Code, Target};
use crate::instrument::accesses::AccessOptions;
use crate::instrument::comparisons::Comparisons;
use crate::instrument::coverage::CoveragePlan;
use crate::instrument::host::{self, Effort, HostOptions, PendingCode};
use crate::instrument::layout::Slots;
use crate::kernel::compile::{Format, Loaded};
use crate::kernel::interface::Interface;
use crate::kernel::precision::Precision;
use crate::kernel::source::Sources;
use crate::kernel::{canonical, implicit, module, signature};
use crate::lower::host::prepare;
use crate::lower::host::table::HostTable;
use crate::lower::spirv;

/// One kernel of a loaded file, in canonical form.
pub struct KernelUnderTest<'c> {
    /// The canonical form. Passes work on clones.
    pub module: Module<'c>,
    pub machine: TargetMachine,
    pub entry: String,
    pub interface: Interface,
    pub sites: Sites,
    /// How code for the simulator is made.
    pub host: HostOptions,
}

/// Parses a loaded file once; kernels are taken from clones.
pub struct KernelFile<'c> {
    module: Module<'c>,
    machine: TargetMachine,
    pub kernels: Vec<String>,
    /// As the caller gave it.
    source: PathBuf,
}

/// The form of the IR that sites are read from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Level {
    /// As clang gives it, before any pass.
    #[default]
    Raw,
    O1,
    O2,
}

impl Level {
    fn passes(self) -> Option<&'static str> {
        match self {
            Level::Raw => None,
            Level::O1 => Some("default<O1>"),
            Level::O2 => Some("default<O2>"),
        }
    }
}

impl<'c> KernelFile<'c> {
    /// # Errors
    /// `Caller` if the file holds no usable module or no kernel; `Environment` if LLVM lacks its SPIR-V backend.
    pub fn parse(context: &'c Context, loaded: &Loaded) -> Result<KernelFile<'c>> {
        let machine = spirv::machine()?;
        let module = module::parse(context, &loaded.bitcode, &loaded.source)?;
        let kernels = module::kernels(&module);
        Ok(KernelFile { module, machine, kernels, source: loaded.source.clone() })
    }

    /// The kernel to work on: the one named, or the only one.
    ///
    /// # Errors
    /// `Caller` if there is no such kernel, or several and none was named.
    pub fn choose(&self, entry: Option<&str>) -> Result<String> {
        let source = self.source.display();
        match (entry, &self.kernels[..]) {
            (Some(name), all) if all.iter().any(|k| k == name) => Ok(name.to_owned()),
            (Some(name), []) => Err(Error::caller(format!("{source} has no kernel `{name}`, nor any other"))
                .help("a kernel is a function with a body that is declared __kernel (spir_kernel in LLVM IR)")),
            (Some(name), all) => Err(Error::caller(format!("{source} has no kernel `{name}`"))
                .help(format!("its kernels: {}", all.join(", ")))),
            (None, [only]) => Ok(only.clone()),
            (None, all) => Err(Error::caller(format!("{source} has {} kernels", all.len()))
                .help(format!("name one with --entry: {}", all.join(", ")))),
        }
    }

    /// Brings a kernel into canonical form and reads its interface and sites.
    ///
    /// # Errors
    /// As of the canonical form and the interface.
    pub fn under_test(&self, entry: &str, loaded: &Loaded, sources: &Sources) -> Result<KernelUnderTest<'c>> {
        self.assay_at(Level::Raw, entry, loaded, sources)
    }

    /// The same, with the module optimised first. The sites of optimised forms are others: opcodes alone tell them.
    ///
    /// # Errors
    /// As of [`File::assay`]; `Internal` if a pass fails.
    pub fn assay_at(
        &self,
        level: Level,
        entry: &str,
        loaded: &Loaded,
        sources: &Sources,
    ) -> Result<KernelUnderTest<'c>> {
        let module = self.module.clone();
        canonical::keep_only(&module, entry, &self.machine)?;
        let mut interface = signature::interface(&module, entry)?;
        canonical::canonicalise(&module, entry, &self.machine)?;
        implicit::append(&module, &mut interface)?;
        if let Some(passes) = level.passes() {
            module
                .run_passes(passes, &self.machine, PassBuilderOptions::create())
                .map_err(|e| Error::internal(format!("optimising the kernel failed: {e}")))?;
            canonical::verify(&module, "optimisation")?;
        }
        let from_spirv = loaded.format == Format::SpirV || level != Level::Raw;
        let ast = loaded.ast.as_ref().filter(|_| level == Level::Raw);
        let sites = Sites::read(&module, entry, from_spirv, ast, sources);
        Ok(KernelUnderTest {
            module,
            machine: spirv::machine()?,
            entry: entry.to_owned(),
            interface,
            sites,
            host: HostOptions::default(),
        })
    }
}

/// Code for the simulator that is about to be made, with coverage probes and calls that tell what is compared.
#[derive(Debug)]
pub struct Observing {
    making: PendingCode,
    plan: CoveragePlan,
    comparisons: u32,
}

impl Observing {
    /// Waits for it: the code, what the probes are, how many comparisons there are.
    ///
    /// # Errors
    /// `Internal` if it cannot be lowered; [`Error::late`] at the deadline.
    pub fn end(self) -> Result<(Code, CoveragePlan, u32)> {
        Ok((self.making.end()?, self.plan, self.comparisons))
    }
}

impl<'c> KernelUnderTest<'c> {
    /// A (woven) clone of the kernel as code for a device or the simulator.
    fn code(&self, module: Module<'c>, target: Target) -> Result<Code> {
        match target {
            Target::SpirV => {
                spirv::prepare(&module, &self.entry, &self.machine)?;
                let spirv = spirv::emit(&module, &self.machine)?;
                let build_options = spirv::build_options(&module);
                Ok(Code::spirv(spirv, &self.entry, build_options))
            }
            Target::Host => host::code(module, &self.entry, &self.interface, &self.host),
        }
    }

    /// The kernel as it is.
    ///
    /// # Errors
    /// `Internal` if it cannot be lowered.
    pub fn plain(&self, target: Target) -> Result<Code> {
        self.code(self.module.clone(), target)
    }

    /// The kernel with coverage probes.
    ///
    /// # Errors
    /// `Internal` if it cannot be woven or lowered.
    pub fn instrumented(&self, slots: Slots, target: Target) -> Result<(Code, CoveragePlan)> {
        let module = self.module.clone();
        let plan = CoveragePlan::new(&self.sites, slots);
        plan.weave(&module, &self.sites, target)?;
        Ok((self.code(module, target)?, plan))
    }

    /// The same for the simulator, with calls that tell what is compared, for many small launches; how many comparisons there are.
    ///
    /// # Errors
    /// As [`KernelUnderTest::instrumented`]; [`Error::late`] at the deadline.
    pub fn observed(&self, slots: Slots, deadline: Option<Instant>) -> Result<(Code, CoveragePlan, u32)> {
        self.begin_observed(slots, deadline)?.end()
    }

    /// The same, while the caller does something else.
    ///
    /// # Errors
    /// As [`KernelUnderTest::instrumented`].
    pub fn begin_observed(&self, slots: Slots, deadline: Option<Instant>) -> Result<Observing> {
        let module = self.module.clone();
        let comparisons = Comparisons::find(&module);
        let plan = CoveragePlan::new(&self.sites, slots);
        plan.weave(&module, &self.sites, Target::Host)?;
        comparisons.weave(&module)?;
        let options = HostOptions { effort: Effort::Quick, deadline, ..self.host };
        let making = host::begin(module, &self.entry, &self.interface, &options)?;
        Ok(Observing { making, plan, comparisons: comparisons.count() })
    }

    /// The text of the module with coverage probes, before (`prepared`: after) inlining and promotion.
    ///
    /// # Errors
    /// As [`KernelUnderTest::instrumented`].
    pub fn woven_text(&self, slots: Slots, prepared: bool) -> Result<String> {
        let module = self.module.clone();
        CoveragePlan::new(&self.sites, slots).weave(&module, &self.sites, Target::SpirV)?;
        if prepared {
            spirv::prepare(&module, &self.entry, &self.machine)?;
        }
        Ok(module.print_to_string().to_string())
    }

    /// Whether the simulator could run the kernel at all, before anything is done for that.
    ///
    /// # Errors
    /// `Caller` if it is too large.
    pub fn fits_the_simulator(&self) -> Result<()> {
        prepare::refuse_large(&self.module, &self.entry)
    }

    /// The kernel as code for the simulator, for more than running tests.
    ///
    /// # Errors
    /// As of [`host::code`].
    pub fn for_host(&self, options: &HostOptions) -> Result<Code> {
        host::code(self.module.clone(), &self.entry, &self.interface, options)
    }

    /// A (woven) clone of the kernel for the simulator: everything inlined, with hooks; not yet code. `probe`: whether the probe
    /// buffer is its last argument.
    ///
    /// # Errors
    /// As of [`host::hooked`].
    pub fn hooked(&self, module: Module<'c>, probe: bool, races: bool) -> Result<(Module<'c>, HostTable)> {
        host::hooked(module, &self.entry, &AccessOptions { races, interface: &self.interface, probe })
    }

    /// The text of the kernel with the simulator's hooks, with coverage probes if `slots` are given.
    ///
    /// # Errors
    /// As of [`KernelUnderTest::hooked`] and [`KernelUnderTest::instrumented`].
    pub fn hooked_text(&self, slots: Option<Slots>, races: bool) -> Result<String> {
        let module = self.module.clone();
        if let Some(slots) = slots {
            CoveragePlan::new(&self.sites, slots).weave(&module, &self.sites, Target::Host)?;
        }
        Ok(self.hooked(module, slots.is_some(), races)?.0.print_to_string().to_string())
    }

    /// What the kernel computes with a precision that is the device's choice.
    pub fn precision(&self) -> Precision {
        Precision::of(&self.canonical_text())
    }

    /// The canonical form, to be read.
    pub fn module<'a>(&'a self) -> &'a Module<'a> {
        // SAFETY: `Module` cannot shorten the lifetime of its context by itself, because it may be given an execution
        // engine, which kassay has none of; the context outlives this borrow.
        unsafe { &*std::ptr::from_ref(&self.module).cast::<Module<'a>>() }
    }

    /// The text of the canonical form without debug information and without where it came from: what the code does.
    pub fn code_text(&self) -> String {
        let code = self.module.clone();
        // SAFETY: the module is alive and our own copy.
        unsafe { llvm_sys::debuginfo::LLVMStripModuleDebugInfo(code.as_mut_ptr()) };
        let text = code.print_to_string().to_string();
        let of_file = |line: &&str| line.starts_with("; ModuleID") || line.starts_with("source_filename");
        text.lines().filter(|line| !of_file(line)).collect()
    }

    /// The text of the canonical form.
    pub fn canonical_text(&self) -> String {
        self.module.print_to_string().to_string()
    }
}

/// Where the sources of a kernel file are looked up.
pub fn sources_of(file: &Path) -> Sources {
    Sources::beside(file)
}
