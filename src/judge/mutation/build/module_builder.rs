//! Builds modules: mutants woven in, guarded, and lowered for the device.

use std::sync::Arc;

use inkwell::module::Module;
use kassay_base::error::{Error, Result};
use kassay_ir::instrument::access;
use kassay_ir::instrument::guard::{self, Guards};
use kassay_ir::instrument::ids;
use kassay_ir::instrument::layout::GuardLayout;
use kassay_ir::instrument::lowering;
use kassay_ir::instrument::mutants::infection::{self, InfectionLayout};
use kassay_ir::instrument::mutants::{Edit, LocalVariable, privatise, schemata, single};
use kassay_ir::kernel::{canonical, inlined};
use kassay_ir::llvm::{Opcode, Type, View};
pub use kassay_model::code::Effort;
use kassay_model::code::LoweringOptions;
use kassay_model::interface::{Arg, ArgKind};
use kassay_model::joint::Values;
use kassay_run::exec::{Capabilities, Code, NativeCode, Target, simulator};
use kassay_suite::resolve::Test;

use super::assumptions;
use crate::coverage::build::{KernelUnderTest, Level};
use crate::coverage::group_order;
use crate::mutation::catalogue::mutant::Mutant;

/// Most instructions of all variants in one module, each of which may bring the whole kernel. Measured on Intel's CPU
/// runtime: modules of 12,000 run in milliseconds, one of 28,000 in minutes.
const MAX_VARIANT_INSTRUCTIONS: u64 = 12_000;

/// A product that the backend or the device may refuse, with the reason. A refusal decides the mutant's status
/// (`compile-error`), while a module that does not verify is kassay's own fault.
pub type Refusable<T> = std::result::Result<T, String>;

/// Code of a module with mutants, ready to be loaded.
#[derive(Debug)]
pub struct Woven {
    /// What an executor loads.
    pub code: Code,
    /// The places that guards watch, for the texts of faults.
    pub guards: Guards,
    /// Whether one launch of it can hold several slots.
    pub batched: bool,
    /// What has to be known for joint launches, if it is made for these.
    pub joint: Option<JointModule>,
}

/// What joint launches of a module depend on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JointModule {
    /// Where arguments lie that are passed by value.
    pub values: Values,
    /// By position, whether the kernel may write to an argument, under some mutant.
    pub written: Vec<bool>,
}

/// How many runs a launch of a module may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunsPerLaunch {
    /// One of one test.
    One,
    /// Several of one test.
    Batch,
    /// Thousands of several tests.
    Joint,
}

/// Builds the modules of one kernel.
pub struct ModuleBuilder<'a, 'c> {
    /// The kernel in canonical form.
    pub under_test: &'a KernelUnderTest<'c>,
    /// Where words are in the probe buffer.
    pub layout: GuardLayout,
    /// The form of code that the device takes.
    target: Target,
    /// Whether some launch runs its work-groups in a given order, which the kernel implements by mapping its ids.
    is_mapped: bool,
}

impl<'a, 'c> ModuleBuilder<'a, 'c> {
    /// Creates a builder for launches without a map of work-groups.
    pub fn new(under_test: &'a KernelUnderTest<'c>, target: Target) -> ModuleBuilder<'a, 'c> {
        ModuleBuilder {
            under_test,
            layout: GuardLayout { args: under_test.interface.args.len() as u32 },
            target,
            is_mapped: false,
        }
    }

    /// Prepares the builder for these tests, some of which may have a map of work-groups, on such an executor.
    ///
    /// # Errors
    /// `Caller` if a device cannot apply the maps because work-groups are of different sizes.
    pub fn for_tests(mut self, executor: Capabilities, tests: &[Test]) -> Result<ModuleBuilder<'a, 'c>> {
        self.is_mapped = group_order::is_needed(executor, tests);
        if self.is_mapped {
            // All tests run in the same modules.
            tests.iter().try_for_each(|t| group_order::check_groups(&t.launch.range))?;
        }
        Ok(self)
    }

    /// Returns how many of these mutants a module may hold, at most `limit`.
    pub fn most_per_module(&self, mutants: &[Mutant], limit: usize) -> usize {
        if !mutants.iter().any(|m| matches!(m.edit, Edit::Variant(_))) {
            return limit;
        }
        let size = inlined::size(&self.under_test.module, &self.under_test.entry).unwrap_or(inlined::LARGE).max(1);
        ((MAX_VARIANT_INSTRUCTIONS / size) as usize).clamp(1, limit)
    }

    /// Builds a module of many mutants, each selected by its number. `pairs`: two may be in force at once. `batched`: a
    /// launch may hold several slots.
    ///
    /// # Errors
    /// `Internal` if a pass or the backend fails.
    pub fn schemata(
        &self,
        mutants: &[(u32, &Edit)],
        pairs: bool,
        effort: Effort,
        batched: bool,
    ) -> Result<Refusable<Woven>> {
        let runs = if batched { RunsPerLaunch::Batch } else { RunsPerLaunch::One };
        self.schemata_for(mutants, pairs, effort, runs)
    }

    /// Builds a module of many mutants as [`ModuleBuilder::schemata`] does, for launches that hold so many runs.
    ///
    /// # Errors
    /// As for [`ModuleBuilder::schemata`].
    pub fn schemata_for(
        &self,
        mutants: &[(u32, &Edit)],
        pairs: bool,
        effort: Effort,
        runs: RunsPerLaunch,
    ) -> Result<Refusable<Woven>> {
        let module = self.kernel();
        schemata::weave(&module, &self.under_test.sites, mutants, pairs)?;
        self.finish(module, effort, runs)
    }

    /// Returns whether the kernel can be woven for joint launches, as far as its arguments tell.
    pub fn can_join(&self) -> bool {
        let can = |arg: &Arg| matches!(arg.kind, ArgKind::Value(_) | ArgKind::Buffer { .. } | ArgKind::Local { .. });
        !self.is_mapped && self.under_test.interface.args.iter().all(can)
    }

    /// Builds a module in which these edits are in force unconditionally; without edits: the guarded original.
    ///
    /// # Errors
    /// As for [`ModuleBuilder::schemata`].
    pub fn alone(&self, edits: &[&Edit], effort: Effort) -> Result<Refusable<Woven>> {
        let module = self.kernel();
        single::apply_all(&module, &self.under_test.sites, edits)?;
        self.finish(module, effort, RunsPerLaunch::One)
    }

    /// Builds a module in which a local variable of `bytes` bytes is private. The outer [`Refusable`] refuses what the
    /// kernel does not permit, the inner one what the backend does not.
    ///
    /// # Errors
    /// As for [`ModuleBuilder::schemata`].
    pub fn private(&self, variable: &LocalVariable, bytes: u64, effort: Effort) -> Result<Refusable<Refusable<Woven>>> {
        let mut module = self.kernel();
        guard::inline_and_promote(&mut module, &self.under_test.entry, &self.under_test.machine)?;
        if let Err(reason) = privatise::privatise(&module, &self.under_test.entry, variable, bytes)? {
            return Ok(Err(reason.to_string()));
        }
        self.finish(module, effort, RunsPerLaunch::One).map(Ok)
    }

    /// Builds the original with probes that record which mutants are reached, and which would compute a
    /// different value.
    ///
    /// # Errors
    /// As for [`ModuleBuilder::schemata`].
    pub fn infection(&self, mutants: &[(u32, &Edit, bool)]) -> Result<(Code, InfectionLayout)> {
        let module = self.kernel();
        let layout = infection::weave(&module, &self.under_test.sites, mutants)?;
        // The probes read the same initial values as mutants do in their own modules.
        initialise_private_variables(&module);
        let code = self.lower(module, Effort::Quick)?.map_err(Error::internal)?;
        Ok((code, layout))
    }

    /// Builds a module of many mutants for the simulator, each selected by its number. Every access is reported to
    /// the simulator. There are no guards, as the simulator makes the same checks itself, and uninitialised memory
    /// stays so.
    ///
    /// # Errors
    /// As for [`ModuleBuilder::schemata`].
    pub fn for_simulator(&self, mutants: &[(u32, &Edit)]) -> Result<Refusable<Arc<NativeCode>>> {
        let module = self.kernel();
        schemata::weave(&module, &self.under_test.sites, mutants, false)?;
        ids::plain(&module, self.layout)?;
        self.lower_for_simulator(module)
    }

    /// Builds the module of a privatised local variable for the simulator, like [`ModuleBuilder::private`].
    ///
    /// # Errors
    /// As for [`ModuleBuilder::schemata`].
    pub fn privatised_for_simulator(
        &self,
        variable: &LocalVariable,
        bytes: u64,
    ) -> Result<Refusable<Refusable<Arc<NativeCode>>>> {
        let mut module = self.kernel();
        guard::inline_and_promote(&mut module, &self.under_test.entry, &self.under_test.machine)?;
        if let Err(reason) = privatise::privatise(&module, &self.under_test.entry, variable, bytes)? {
            return Ok(Err(reason.to_string()));
        }
        self.lower_for_simulator(module).map(Ok)
    }

    /// Returns a copy of the kernel to weave into. What holds of the original may be wrong of mutants, whose behaviour
    /// would then be undefined: what an optimiser inferred, and that nothing gets to an `unreachable`.
    fn kernel(&self) -> Module<'c> {
        let module = self.under_test.module.clone();
        canonical::return_where_unreachable(View::of(&module));
        if self.under_test.level != Level::Raw {
            assumptions::drop_inferred(View::of(&module));
        }
        module
    }

    fn lower_for_simulator(&self, module: Module<'c>) -> Result<Refusable<Arc<NativeCode>>> {
        assumptions::drop_assumptions(View::of(&module));
        initialise_private_variables(&module);
        let options = LoweringOptions { races: true, effort: Effort::Quick, ..self.under_test.lowering };
        match self.lower_to(module, simulator::CAPABILITIES.target, &options)? {
            Ok(code) => code.into_native().map(Ok),
            Err(why) => Ok(Err(why)),
        }
    }

    fn finish(&self, mut module: Module<'c>, effort: Effort, runs: RunsPerLaunch) -> Result<Refusable<Woven>> {
        let (entry, machine) = (&self.under_test.entry, &self.under_test.machine);
        assumptions::drop_assumptions(View::of(&module));
        initialise_private_variables(&module);
        lowering::keep_returns(&module, self.target);
        guard::inline_and_promote(&mut module, entry, machine)?;
        let guards = guard::weave(&mut module, entry, self.layout, effort == Effort::Quick, machine)?;
        let can_batch = ids::can_batch(&module);
        if self.is_mapped && !can_batch {
            return Ok(Err("its ids cannot be put in the order of a test's `map`".to_owned()));
        }
        let joint = match runs == RunsPerLaunch::Joint && can_batch && self.can_join() {
            true => Some(self.join(&mut module)?),
            false => None,
        };
        let batched = runs == RunsPerLaunch::Batch && can_batch;
        match (&joint, batched || self.is_mapped) {
            (Some(_), _) => {}
            (None, true) => ids::batched(&mut module, entry, self.layout, machine)?,
            (None, false) => ids::plain(&module, self.layout)?,
        }
        Ok(self.lower(module, effort)?.map(|code| Woven { code, guards, batched, joint }))
    }

    /// Prepares a guarded module for joint launches.
    fn join(&self, module: &mut Module<'c>) -> Result<JointModule> {
        let (under_test, entry) = (self.under_test, &self.under_test.entry);
        let size = |arg: &Arg| if let ArgKind::Value(ty) = &arg.kind { Some(ty.size()) } else { None };
        let values = Values::new(&under_test.interface.args.iter().map(size).collect::<Vec<_>>());
        ids::joint(module, entry, &values, &under_test.machine)?;
        let written = access::written(module, entry, &under_test.machine)?;
        Ok(JointModule { values, written })
    }

    fn lower(&self, module: Module<'c>, effort: Effort) -> Result<Refusable<Code>> {
        self.lower_to(module, self.target, &LoweringOptions { effort, ..self.under_test.lowering })
    }

    fn lower_to(&self, module: Module<'c>, target: Target, options: &LoweringOptions) -> Result<Refusable<Code>> {
        Ok(self.under_test.try_lower(module, target, options)?.map_err(|refusal| refusal.to_string()))
    }
}

/// Private arrays and structs of more bytes are not filled: filling them would take longer than the kernel itself.
const MAX_FILLED_BYTES: u64 = 1 << 16;

/// Initial value of the bytes of private arrays and structs, as for local memory: an unlikely initial value in
/// a kernel.
const FILL_BYTE: u64 = 0x6a;

/// Initialises private variables at the start of their function: numbers with 0, arrays and structs with
/// [`FILL_BYTE`]. Mutants that leave a variable without any other value (a deleted assignment) then read that,
/// whatever the strategy. Otherwise the value would be undefined, and compilers would choose any that suits them, even
/// the one that the mutant deleted.
fn initialise_private_variables(module: &Module<'_>) {
    let view = View::of(module);
    let (builder, layout) = (view.builder(), view.layout());
    for function in view.functions().into_iter().filter(|f| f.has_body()) {
        let variables = function.entry().instructions().into_iter();
        for variable in variables.filter(|i| i.is(Opcode::LLVMAlloca)) {
            let Some(ty) = variable.allocated_type().filter(|ty| is_numeric(*ty)) else { continue };
            // Directly after the variable: other variables, and code that uses this one, may come next.
            builder.after(variable);
            if !ty.is_array() && !ty.is_struct() {
                builder.store(ty.null(), variable);
                continue;
            }
            let bytes = layout.abi_size(ty);
            // LLVM 22's SPIR-V backend does not come to an end with a filling of no bytes, which an array of no
            // elements would get.
            if (1..=MAX_FILLED_BYTES).contains(&bytes) {
                let (byte, bytes) = (view.int_type(8).int(FILL_BYTE), view.int_type(64).int(bytes));
                builder.memset(variable.value(), variable.alignment().unwrap_or(0), byte, bytes);
            }
        }
    }
}

/// Returns whether a type consists of numbers only.
fn is_numeric(ty: Type<'_>) -> bool {
    match ty.elements() {
        Some((element, _)) if ty.is_array() => is_numeric(element),
        _ if ty.is_struct() => ty.fields().into_iter().all(is_numeric),
        _ => ty.is_integer() || ty.is_float() || ty.is_vector(),
    }
}
