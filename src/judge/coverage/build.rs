//! Turns a kernel's module into its interface, its sites and its code, plain and with coverage probes.

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use inkwell::targets::TargetMachine;
use kassay_base::error::{Error, Result};
use kassay_base::files::Sandbox;
use kassay_ir::cfg::sites::Sites;
use kassay_ir::cfg::stored_floats;
use kassay_ir::instrument::accesses::AccessOptions;
use kassay_ir::instrument::coverage::CoveragePlan;
use kassay_ir::instrument::layout::Slots;
use kassay_ir::instrument::{lowering, marks, native};
use kassay_ir::kernel::builtins::Builtin;
use kassay_ir::kernel::compile::{Format, Loaded};
use kassay_ir::kernel::implicit::HeldPointers;
use kassay_ir::kernel::precision::Precision;
use kassay_ir::kernel::source::Sources;
use kassay_ir::kernel::{
    canonical, cpp_names, id_vectors, implicit, logical_operators, module, plain_atomics, signature, sub_groups,
};
use kassay_ir::llvm::{self, Context, Function, Global, View, passes};
use kassay_ir::lower::native::prepare;
use kassay_ir::lower::{spirv, traps};
use kassay_model::code::{Effort, Lowered, LoweringOptions, Target};
use kassay_model::interface::{Arg, ArgKind, Interface, Type};
use kassay_model::native::table::NativeTable;
use kassay_model::sub_groups::SubGroups;
use kassay_run::exec::{Code, NativeCode, simulator};
use kassay_suite::declared::Declared;

/// A kernel of a loaded file in canonical form, with its interface and sites.
pub struct KernelUnderTest<'c> {
    /// The canonical form. Passes work on clones of it.
    pub module: Module<'c>,
    /// The target machine of LLVM's SPIR-V backend.
    pub machine: TargetMachine,
    /// The kernel's name.
    pub entry: String,
    /// How `module` was optimised.
    pub level: Level,
    /// Its arguments, types and attributes.
    pub interface: Interface,
    /// The places whose coverage is measured, and where mutants are.
    pub sites: Sites,
    /// How it is lowered to run tests.
    pub lowering: LoweringOptions,
    /// Bitcode with further kernels that code for devices has beside this one.
    pub beside: Vec<Vec<u8>>,
    /// The folders of which files may be read; `None`: all files may be.
    pub sandbox: Option<Sandbox>,
}

impl<'c> KernelUnderTest<'c> {
    /// Returns the kernel, then its helpers.
    pub fn functions(&self) -> Vec<Function<'_>> {
        let all = View::of(&self.module).functions().into_iter().filter(|function| function.has_body());
        let (kernel, helpers): (Vec<_>, Vec<_>) = all.partition(|function| function.name() == self.entry);
        [kernel, helpers].concat()
    }

    /// Returns by position of the argument what type its memory has, for comparisons: where the argument's
    /// own says nothing (`void *`, `uchar *`), that of the floats that the kernel stores there, if it stores nothing
    /// else.
    pub fn memory_types(&self) -> Vec<Option<Type>> {
        let stored = stored_floats::by_argument(&self.functions());
        let ty = |arg: &Arg| {
            let ArgKind::Buffer { element, .. } = &arg.kind else { return None };
            let is_told = element.as_ref().is_some_and(|element| element.size() > 1);
            let stored = stored.get(arg.position as usize).copied().flatten().filter(|_| !is_told);
            stored.map(Type::Scalar).or_else(|| element.clone())
        };
        self.interface.args.iter().map(ty).collect()
    }
}

/// Kernels of a file that are kept as they are.
#[derive(Debug, Default)]
pub struct OtherKernels {
    /// Their names.
    pub names: Vec<String>,
    /// Their bitcode, if there are any.
    pub bitcode: Option<Vec<u8>>,
    /// Those that cannot be lowered, each with the reason.
    pub refused: Vec<(String, String)>,
}

/// A loaded file, parsed once; kernels are extracted from clones.
pub struct KernelFile<'c> {
    module: Module<'c>,
    machine: TargetMachine,
    /// The names of the kernels, in the file's order.
    pub kernels: Vec<String>,
    /// The path as the caller gave it.
    source: PathBuf,
    /// For files with many kernels: the number of the part that was used last, and its module.
    part: RefCell<Option<(usize, Module<'c>)>>,
    /// What the user declares of a kernel's interface.
    declared: Option<Declared>,
    /// What pointers in buffers are.
    held: HeldPointers,
}

/// Kernels in one part of a file: a kernel is extracted from a clone of its part, as clones of files with more than a
/// thousand kernels are large.
const PART: usize = 32;

/// The optimisation level of the IR that sites are read from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Level {
    /// As clang emits it, before any pass.
    #[default]
    Raw,
    /// After LLVM's `default<O1>` pipeline.
    O1,
    /// After LLVM's `default<O2>` pipeline.
    O2,
    /// After LLVM's `default<O3>` pipeline.
    O3,
}

impl Level {
    /// Returns the level's name, as clang's flags have it.
    pub fn name(self) -> &'static str {
        match self {
            Level::Raw => "O0",
            Level::O1 => "O1",
            Level::O2 => "O2",
            Level::O3 => "O3",
        }
    }

    fn passes(self) -> Option<&'static str> {
        match self {
            Level::Raw => None,
            Level::O1 => Some("default<O1>"),
            Level::O2 => Some("default<O2>"),
            Level::O3 => Some("default<O3>"),
        }
    }
}

impl<'c> KernelFile<'c> {
    /// Parses a loaded file.
    ///
    /// # Errors
    /// `Caller` if the file holds no usable module or no kernel; `Environment` if LLVM lacks its SPIR-V backend.
    pub fn parse(context: &'c Context, loaded: &Loaded) -> Result<KernelFile<'c>> {
        let machine = spirv::machine()?;
        let module = loaded.parse(context, &loaded.bitcode)?;
        let kernels = module::kernels(&module);
        Ok(KernelFile {
            module,
            machine,
            kernels,
            source: loaded.source.clone(),
            part: RefCell::default(),
            declared: None,
            held: HeldPointers::Indices,
        })
    }

    /// The same for the user's own host program, which puts addresses into buffers.
    #[must_use]
    pub fn for_host_program(self) -> KernelFile<'c> {
        KernelFile { held: HeldPointers::Addresses, ..self }
    }

    /// Returns a clone of the module, or of the part of it that has this kernel.
    fn part_with(&self, entry: &str) -> Result<Module<'c>> {
        let position = self.kernels.iter().position(|kernel| kernel == entry);
        let Some(number) = position.filter(|_| self.kernels.len() > 2 * PART).map(|position| position / PART) else {
            return Ok(self.module.clone());
        };
        let mut part = self.part.borrow_mut();
        if let Some((_, module)) = part.as_ref().filter(|(known, _)| *known == number) {
            return Ok(module.clone());
        }
        let mut module = self.module.clone();
        let kernels = &self.kernels[number * PART..self.kernels.len().min((number + 1) * PART)];
        canonical::keep_kernels(&mut module, kernels, &self.machine)?;
        *part = Some((number, module.clone()));
        Ok(module)
    }

    /// Declares the interface of one of these kernels, which are those to work on.
    ///
    /// # Errors
    /// `Caller`, with its place, if it is not clear which, or it is for another kernel.
    pub fn declare(&mut self, declared: Option<Declared>, kernels: &[String]) -> Result<()> {
        declared.as_ref().map_or(Ok(()), |declared| declared.check_kernels(kernels))?;
        self.declared = declared;
        Ok(())
    }

    /// The kernel to work on: the named one, or the only one.
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
                .help(format!("its kernels: {}", module::listed(all)))),
            (None, [only]) => Ok(only.clone()),
            (None, all) => Err(Error::caller(format!("{source} has {} kernels", all.len()))
                .help(format!("name one with --entry: {}", module::listed(all)))),
        }
    }

    /// Brings a kernel into canonical form and reads its interface. `original`: see [`implicit::append`].
    ///
    /// # Errors
    /// Errors of the canonical form and of the interface; `Caller`, with its place, if what is declared contradicts it.
    pub fn canonical(&self, entry: &str, format: Format, original: &[Arg]) -> Result<(Module<'c>, Interface)> {
        let mut module = self.part_with(entry)?;
        canonical::keep_only(&mut module, entry, &self.machine)?;
        if format == Format::SpirV {
            plain_atomics::simplify(View::of(&module));
        }
        let mut interface = signature::interface(&module, entry)?;
        let declared = self.declared.as_ref().filter(|declared| declared.is_for(entry));
        declared.map_or(Ok(()), |declared| declared.apply(&mut interface))?;
        canonical::canonicalise(&mut module, entry, &self.machine)?;
        if format == Format::SpirV {
            id_vectors::dissolve(View::of(&module));
            logical_operators::unfold(View::of(&module));
            canonical::verify(&module, "undoing what producers of SPIR-V did")?;
        }
        implicit::append(&module, &mut interface, original, self.held)?;
        declared.map_or(Ok(()), |declared| declared.apply_implicit(&mut interface))?;
        Ok((module, interface))
    }

    /// Brings a kernel into canonical form and reads its interface and sites.
    ///
    /// # Errors
    /// Errors of the canonical form and of the interface; `Caller`, with its place, if what is declared contradicts it.
    pub fn under_test(&self, entry: &str, loaded: &Loaded, sources: &Sources) -> Result<KernelUnderTest<'c>> {
        self.under_test_at(Level::Raw, entry, loaded, sources)
    }

    /// Like [`KernelFile::under_test`], but optimises the module first. Optimised forms have other sites, which are
    /// derived from opcodes alone.
    ///
    /// # Errors
    /// As [`KernelFile::under_test`]; `Internal` if a pass fails.
    pub fn under_test_at(
        &self,
        level: Level,
        entry: &str,
        loaded: &Loaded,
        sources: &Sources,
    ) -> Result<KernelUnderTest<'c>> {
        let (mut module, interface) = self.canonical(entry, loaded.format, &[])?;
        if let Some(pipeline) = level.passes() {
            let given = canonical::float_flags(View::of(&module));
            passes::run(&mut module, Some(&self.machine), pipeline)?;
            canonical::keep_float_flags(View::of(&module), given);
            canonical::return_where_unreachable(View::of(&module));
            canonical::verify(&module, "optimisation")?;
        }
        let from_spirv = loaded.format == Format::SpirV || level != Level::Raw;
        let ast = loaded.ast.as_ref().filter(|_| level == Level::Raw);
        let sites = Sites::read(&module, entry, from_spirv, ast, sources);
        Ok(KernelUnderTest {
            module,
            machine: spirv::machine()?,
            entry: entry.to_owned(),
            level,
            interface,
            sites,
            lowering: LoweringOptions::default(),
            beside: Vec::new(),
            sandbox: None,
        })
    }

    /// Returns the kernels of the file but for `woven`, as they are.
    ///
    /// # Errors
    /// `Internal` if a pass fails; `Environment`.
    pub fn others(&self, woven: &[String]) -> Result<OtherKernels> {
        let names = self.kernels.iter().filter(|kernel| !woven.contains(kernel)).cloned().collect();
        let mut others = OtherKernels { names, ..OtherKernels::default() };
        if others.names.is_empty() {
            return Ok(others);
        }
        match self.as_they_are(&others.names)? {
            Ok(bitcode) => others.bitcode = Some(bitcode),
            Err(_) => {
                let mut kept = Vec::new();
                for name in std::mem::take(&mut others.names) {
                    match self.as_they_are(std::slice::from_ref(&name))? {
                        Ok(_) => kept.push(name),
                        Err(why) => others.refused.push((name, why)),
                    }
                }
                if !kept.is_empty() {
                    others.bitcode = Some(self.as_they_are(&kept)?.map_err(Error::internal)?);
                }
                others.names = kept;
            }
        }
        Ok(others)
    }

    /// Returns the bitcode of these kernels; or, if they cannot be lowered, the reason.
    fn as_they_are(&self, kernels: &[String]) -> Result<std::result::Result<Vec<u8>, String>> {
        let mut module = self.module.clone();
        canonical::keep_as_they_are(&mut module, kernels, &self.machine)?;
        let bitcode = module.write_bitcode_to_memory().as_slice().to_vec();
        match spirv::lower(&mut module, &kernels[0], Effort::Full) {
            Ok(Ok(_)) => Ok(Ok(bitcode)),
            Ok(Err(refusal)) => Ok(Err(refusal.report().what.clone())),
            Err(Error::Caller(report)) => Ok(Err(report.what.clone())),
            Err(e) => Err(e),
        }
    }
}

impl<'c> KernelUnderTest<'c> {
    /// Lowers a (woven) clone of the kernel.
    ///
    /// # Errors
    /// As [`lowering::code`].
    pub fn lower(&self, module: Module<'c>, target: Target, options: &LoweringOptions) -> Result<Code> {
        self.try_lower(module, target, options)?
    }

    /// Like [`KernelUnderTest::lower`], for callers to which a refusal by the target's backend is a result.
    ///
    /// # Errors
    /// As [`lowering::attempt`].
    pub fn try_lower(&self, module: Module<'c>, target: Target, options: &LoweringOptions) -> Lowered {
        let module = if target.has_hooks() { module } else { self.with_those_beside(module)? };
        lowering::attempt(module, &self.entry, &self.interface, target, options)
    }

    /// Links the further kernels to a (woven) clone of this one.
    fn with_those_beside(&self, mut module: Module<'c>) -> Result<Module<'c>> {
        let broken = |e: String| Error::internal(format!("the kernels of the file cannot be linked: {e}"));
        for bitcode in &self.beside {
            let buffer = MemoryBuffer::create_from_memory_range_copy(bitcode, "others");
            let others = Module::parse_bitcode_from_buffer(&buffer, module.get_context());
            let others = others.map_err(|e| broken(e.to_string()))?;
            // Variables that both have are two: those of woven kernels are their arguments, or constant.
            View::of(&others).globals().into_iter().filter(|v| !v.is_declaration()).for_each(Global::make_internal);
            others.set_triple(&module.get_triple());
            others.set_data_layout(&module.get_data_layout());
            llvm::link(&mut module, others).map_err(broken)?;
        }
        Ok(module)
    }

    /// Code of the kernel without probes.
    ///
    /// # Errors
    /// `Internal` if it cannot be lowered.
    pub fn plain(&self, target: Target) -> Result<Code> {
        self.lower(self.module.clone(), target, &self.lowering)
    }

    /// Code of the kernel with coverage probes, and the plan of the probes.
    ///
    /// # Errors
    /// `Internal` if it cannot be woven or lowered.
    pub fn instrumented(&self, slots: Slots, target: Target) -> Result<(Code, CoveragePlan)> {
        let (module, plan) = self.with_probes(slots, target)?;
        Ok((self.lower(module, target, &self.lowering)?, plan))
    }

    /// The kernel with coverage probes, and their plan.
    ///
    /// # Errors
    /// `Internal` if it cannot be woven.
    pub fn with_probes(&self, slots: Slots, target: Target) -> Result<(Module<'c>, CoveragePlan)> {
        let module = self.module.clone();
        let plan = CoveragePlan::new(&self.sites, slots);
        plan.weave(&module, &self.sites, target)?;
        Ok((module, plan))
    }

    /// Returns the kernel with the test vectors of its decisions among its sites, so that they are recorded, too.
    ///
    /// # Errors
    /// `Environment` if LLVM lacks its SPIR-V backend.
    pub fn with_vectors(&self) -> Result<KernelUnderTest<'c>> {
        Ok(KernelUnderTest {
            module: self.module.clone(),
            machine: spirv::machine()?,
            entry: self.entry.clone(),
            level: self.level,
            beside: self.beside.clone(),
            sandbox: self.sandbox.clone(),
            interface: self.interface.clone(),
            sites: self.sites.with_vectors(),
            lowering: self.lowering,
        })
    }

    /// Returns the canonical form with a mark for each of these outcomes (of a site), numbered like them.
    ///
    /// # Errors
    /// `Internal` if the woven module does not verify.
    pub fn marked(&self, outcomes: &[(usize, usize)]) -> Result<Module<'c>> {
        let module = self.module.clone();
        marks::weave(&module, &self.sites, outcomes)?;
        Ok(module)
    }

    /// The text of the module with coverage probes, before or (`prepared`) after inlining and promotion.
    ///
    /// # Errors
    /// As [`KernelUnderTest::instrumented`].
    pub fn woven_text(&self, slots: Slots, prepared: bool) -> Result<String> {
        let mut module = self.module.clone();
        CoveragePlan::new(&self.sites, slots).weave(&module, &self.sites, Target::default())?;
        if prepared {
            spirv::prepare(&mut module, &self.entry, &self.machine)?;
        }
        Ok(module.print_to_string().to_string())
    }

    /// Checks that the kernel is not too large for the simulator, before any work is done for it.
    ///
    /// # Errors
    /// `Caller` if it is too large.
    pub fn fits_the_simulator(&self) -> Result<()> {
        prepare::refuse_large(&self.module, &self.entry)
    }

    /// Returns whether work-items may return while others go on to synchronise, as CUDA allows.
    pub fn may_go_without(&self) -> bool {
        let view = View::of(&self.module);
        let returns = view.metadata_kind(prepare::RETURNS);
        let synchronises = self.interface.sub_groups != SubGroups::Unused
            || self.sites.functions.iter().any(|f| !f.barriers.is_empty());
        synchronises && view.instructions().into_iter().any(|inst| inst.metadata(returns).is_some())
    }

    /// Returns whether the kernel has functions of CUDA's warps, whose lanes need not come to them together.
    pub fn has_warps(&self) -> bool {
        self.interface.sub_groups != SubGroups::Unused && cpp_names::is_of_cuda(&self.module)
    }

    /// Returns whether only a run knows which lanes take part in some functions of CUDA's warps. Devices then do what
    /// the simulator does only where all lanes of a warp come to them together.
    pub fn takes_lanes(&self) -> bool {
        sub_groups::take_lanes(View::of(&self.module))
    }

    /// Returns where the kernel has a barrier of all work-groups, `file:line:column`; `None` if it has none.
    pub fn grid_barrier(&self) -> Option<String> {
        let is_of_grid = |inst: &llvm::Inst<'_>| {
            inst.callee().is_some_and(|name| Builtin::of(&name).is_some_and(Builtin::is_of_grid))
        };
        let barrier = View::of(&self.module).instructions().into_iter().find(is_of_grid)?;
        Some(barrier.location().map_or_else(|| self.entry.clone(), |place| place.to_string()))
    }

    /// Returns whether the kernel has assertions or other traps.
    pub fn may_trap(&self) -> bool {
        traps::may_trap(View::of(&self.module))
    }

    /// Simulator code of the kernel with the given options, for purposes other than running tests.
    ///
    /// # Errors
    /// As [`lowering::code`].
    pub fn for_simulator(&self, options: &LoweringOptions) -> Result<Arc<NativeCode>> {
        self.lower(self.module.clone(), simulator::CAPABILITIES.target, options)?.into_native()
    }

    /// Prepares a (woven) clone of the kernel for the simulator: inlines everything and inserts hooks, but does not
    /// generate code. `probe` says whether the probe buffer is its last argument.
    ///
    /// # Errors
    /// As [`native::hooked`].
    pub fn hooked(&self, module: Module<'c>, probe: bool, races: bool) -> Result<(Module<'c>, NativeTable)> {
        native::hooked(module, &self.entry, &AccessOptions { races, interface: &self.interface, probe })
    }

    /// The text of the kernel with the simulator's hooks, and with coverage probes if `slots` are given.
    ///
    /// # Errors
    /// As [`KernelUnderTest::hooked`] and [`KernelUnderTest::instrumented`].
    pub fn hooked_text(&self, slots: Option<Slots>, races: bool) -> Result<String> {
        let module = self.module.clone();
        if let Some(slots) = slots {
            let target = simulator::CAPABILITIES.target;
            CoveragePlan::new(&self.sites, slots).weave(&module, &self.sites, target)?;
        }
        Ok(self.hooked(module, slots.is_some(), races)?.0.print_to_string().to_string())
    }

    /// Returns the canonical form with private variables in registers. Its blocks are still those of the sites.
    ///
    /// # Errors
    /// `Internal` if the pass fails.
    pub fn promoted(&self) -> Result<Module<'c>> {
        let mut promoted = self.module.clone();
        passes::run(&mut promoted, Some(&self.machine), "function(sroa<preserve-cfg>)")?;
        Ok(promoted)
    }

    /// The operations of the kernel whose precision is up to the device.
    pub fn precision(&self) -> Precision {
        Precision::of(&self.canonical_text())
    }

    /// The text of the canonical form without debug information and file names: the code alone.
    pub fn code_text(&self) -> String {
        let code = self.module.clone();
        View::of(&code).strip_debug_info();
        let text = code.print_to_string().to_string();
        let of_file = |line: &&str| line.starts_with("; ModuleID") || line.starts_with("source_filename");
        text.lines().filter(|line| !of_file(line)).collect()
    }

    /// The text of the canonical form.
    pub fn canonical_text(&self) -> String {
        self.module.print_to_string().to_string()
    }
}

/// A lookup of the sources of a kernel file.
pub fn sources_of(file: &Path) -> Sources {
    Sources::beside(file)
}
