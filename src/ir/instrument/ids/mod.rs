//! Implements virtual NDRanges: a launch executes several runs of a kernel, or its work-groups in another
//! order, and each work-item sees the ids of its own run (`runtime-cl/ids.cl` defines how they are derived from
//! the launched ones).
//!
//! All passes define what weaving leaves undefined: `__kassay_slot`, the address of the words of a work-item's slot in
//! the probe buffer ([`GuardLayout`]), and `__kassay_parameters`, that of the parameters of its run, which have the
//! layout of the header. `joint` is the pass for launches that hold runs of several launches.

mod joint;
mod rewriter;

use inkwell::module::Module;
use inkwell::targets::TargetMachine;
use kassay_base::error::{Error, Result};

use self::rewriter::Rewriter;
use super::layout::{GuardLayout, PARAMETERS_FUNCTION, SLOT_FUNCTION, SLOT_WORDS, argument};
use super::runtime;
use crate::kernel::builtins::SPIRV_BUILT_IN;
use crate::kernel::canonical;
use crate::llvm::assumptions::Holder;
use crate::llvm::{AddressSpace, AttributeIndex, Function, Global, Inst, Linkage, Type, Value, View, passes};
pub use joint::joint;

/// Work-item functions as mangled by clang, with their replacements. All others keep referring to the launch.
const FUNCTIONS: [(&str, &str); 5] = [
    ("_Z13get_global_idj", "__kassay_ids_get_global_id"),
    ("_Z15get_global_sizej", "__kassay_ids_get_global_size"),
    ("_Z12get_group_idj", "__kassay_ids_get_group_id"),
    ("_Z14get_num_groupsj", "__kassay_ids_get_num_groups"),
    ("_Z20get_global_linear_idv", "__kassay_ids_get_global_linear_id"),
];

/// Number of private words that `__kassay_ids_enter` fills.
const IDS_WORDS: u64 = 7;

/// Prepares launches with a single run: the slot is the first one. Nothing else changes.
///
/// # Errors
/// `Internal` if the module does not verify afterwards.
pub fn plain(module: &Module<'_>, layout: GuardLayout) -> Result<()> {
    let view = View::of(module);
    let places = [(SLOT_FUNCTION, layout.slot(0)), (PARAMETERS_FUNCTION, 0)];
    for (function, word) in places.into_iter().filter_map(|(name, word)| Some((view.function(name)?, word))) {
        let builder = view.builder();
        builder.at_end(function.append_block(""));
        let probe =
            function.param(0).ok_or_else(|| Error::internal(format!("{} takes no probe buffer", function.name())))?;
        let index = view.int_type(64).int(u64::from(word));
        builder.ret(Some(builder.gep(view.int_type(32), probe, &[index], "")));
        function.set_linkage(Linkage::LLVMInternalLinkage);
        function.attributes(AttributeIndex::Function).add_flag("alwaysinline");
    }
    canonical::verify(module, "the place of the slot")
}

/// Returns whether a module reads ids only through functions that [`batched`] replaces. Others return the ids of the
/// launch, which would be wrong for the runs of a batch.
pub fn can_batch(module: &Module<'_>) -> bool {
    let view = View::of(module);
    let functions = view.functions().into_iter().map(Function::name);
    !functions.chain(view.globals().into_iter().map(Global::name)).any(|name| name.contains(SPIRV_BUILT_IN))
}

/// Prepares launches with several runs (slots) or a group map: in the kernel `entry`, whose last argument is the probe
/// buffer, it rewrites the id functions, advances buffers to the slot's copies, and locates the slot's words.
/// Everything that the kernel calls is inlined. The launch multiplies its last dimension by the number of slots; one
/// with a single slot and no map behaves as the original kernel. All work-groups must have the same size, and there
/// must be fewer than 2^32.
///
/// # Errors
/// `Internal` if the kernel is unsuitable (a call cannot be inlined), or the module does not verify afterwards.
pub fn batched(module: &mut Module<'_>, entry: &str, layout: GuardLayout, machine: &TargetMachine) -> Result<()> {
    weave(module, entry, layout.args, Some(layout), machine)
}

/// Prepares launches of a single run whose work-groups may be in another order, with any probe buffer whose header
/// contains the map; only the id functions are rewritten.
///
/// # Errors
/// As [`batched`].
pub fn mapped(module: &mut Module<'_>, entry: &str, args: u32, machine: &TargetMachine) -> Result<()> {
    weave(module, entry, args, None, machine)
}

fn weave(
    module: &mut Module<'_>,
    entry: &str,
    args: u32,
    slots: Option<GuardLayout>,
    machine: &TargetMachine,
) -> Result<()> {
    inline_helpers(module, entry, machine)?;
    let view = View::of(module);
    let kernel = kernel(view, entry)?;
    let calls = Calls::of(kernel, &FUNCTIONS);
    runtime::link_ids(module)?;
    Weaver::new(view, kernel, args, slots)?.weave(calls)?;
    Holder::Function(kernel).drop_woven_effects();
    canonical::verify(module, "the ids of a batch")
}

/// Inlines everything that the kernel calls, because ids are those of the run everywhere.
fn inline_helpers(module: &mut Module<'_>, entry: &str, machine: &TargetMachine) -> Result<()> {
    for f in helpers(module, entry) {
        f.attributes(AttributeIndex::Function).add_flag("alwaysinline");
    }
    passes::run(module, Some(machine), "always-inline,globaldce")?;
    match helpers(module, entry).first() {
        Some(f) => {
            Err(Error::internal(format!("`{}` cannot be inlined, so its ids cannot be those of a slot", f.name())))
        }
        None => Ok(()),
    }
}

fn kernel<'m>(view: View<'m>, entry: &str) -> Result<Function<'m>> {
    let kernel = view.function(entry).filter(|k| k.has_body());
    kernel.ok_or_else(|| Error::internal(format!("kernel {entry} is gone")))
}

/// Returns the functions with a body except the kernel.
fn helpers<'m>(module: &'m Module<'_>, entry: &str) -> Vec<Function<'m>> {
    View::of(module).functions().into_iter().filter(|f| f.has_body() && f.name() != entry).collect()
}

/// The calls in a kernel that are to be rewritten.
#[derive(Debug, Default)]
struct Calls<'m> {
    /// Calls of id functions, with their replacements.
    ids: Vec<(Inst<'m>, &'static str)>,
    slots: Vec<Inst<'m>>,
    parameters: Vec<Inst<'m>>,
}

impl<'m> Calls<'m> {
    /// Finds them. `functions`: id functions with their replacements.
    fn of(kernel: Function<'m>, functions: &[(&str, &'static str)]) -> Calls<'m> {
        let mut all = Calls::default();
        for call in kernel.instructions() {
            let Some(callee) = call.callee() else { continue };
            if callee == SLOT_FUNCTION {
                all.slots.push(call);
            } else if callee == PARAMETERS_FUNCTION {
                all.parameters.push(call);
            } else if let Some((_, name)) = functions.iter().find(|(mangled, _)| *mangled == callee) {
                all.ids.push((call, name));
            }
        }
        all
    }
}

/// Rewrites one kernel for batches or group maps.
struct Weaver<'m> {
    rewriter: Rewriter<'m>,
    kernel: Function<'m>,
    /// `None`: launches have a single slot, and the module does not refer to it.
    slots: Option<GuardLayout>,
    word: Type<'m>,
    /// The probe buffer, and the private words that hold the ids.
    probe: Value<'m>,
    ids: Value<'m>,
}

impl<'m> Weaver<'m> {
    fn new(view: View<'m>, kernel: Function<'m>, args: u32, slots: Option<GuardLayout>) -> Result<Weaver<'m>> {
        let probe = rewriter::probe(kernel, args)?;
        let builder = view.builder();
        builder.before(kernel.entry().walk().next().expect("the entry has a terminator"));
        let word = view.int_type(32);
        let ids = builder.alloca(word.array(IDS_WORDS), "kassay_ids").value();
        Ok(Weaver { rewriter: Rewriter { view, builder }, kernel, slots, word, probe, ids })
    }

    fn constant(&self, value: u32) -> Value<'m> {
        self.word.int(u64::from(value))
    }

    fn weave(&self, calls: Calls<'m>) -> Result<()> {
        self.rewriter.call("__kassay_ids_enter", &[self.probe, self.ids])?;
        if let Some(layout) = self.slots {
            (0..layout.args).try_for_each(|position| self.advance(layout, position))?;
        }
        self.rewriter.replace_ids(calls.ids, self.ids)?;
        for call in calls.slots {
            let Some(layout) = self.slots else {
                return Err(Error::internal("a module that asks for its slot is woven for launches without slots"));
            };
            let (first, words) = (self.constant(layout.slot(0)), self.constant(SLOT_WORDS));
            self.rewriter.replace(call, "__kassay_ids_slot", &[self.probe, self.ids, first, words])?;
        }
        for call in calls.parameters {
            call.replace_and_erase(self.probe);
        }
        Ok(())
    }

    /// Advances a buffer argument to the slot's copy.
    fn advance(&self, layout: GuardLayout, position: u32) -> Result<()> {
        let is_buffer = |argument: &Value<'m>| {
            argument.ty().is_pointer()
                && matches!(argument.ty().space(), Some(AddressSpace::Global | AddressSpace::Constant))
        };
        let argument = self.kernel.param(position).filter(is_buffer).filter(|argument| argument.is_used());
        let Some(argument) = argument else { return Ok(()) };
        let stride = self.constant(layout.argument(position) + argument::STRIDE);
        let offset = self.rewriter.call("__kassay_ids_offset", &[self.probe, self.ids, stride])?;
        self.rewriter.advance(argument, offset, |moved| moved);
        Ok(())
    }
}
