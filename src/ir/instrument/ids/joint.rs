//! Implements joint launches ([`kassay_model::joint`]): each work-item finds out which run it belongs to, and takes
//! ids, arguments and the places of buffers from that run's parameters in the probe buffer. A launch of the same code
//! whose probe buffer has no segments is an ordinary one, of the only run.

use inkwell::module::Module;
use inkwell::targets::TargetMachine;
use kassay_base::error::{Error, Result};
use kassay_model::joint::{self, SLOT_WORDS, Values, parameters};

use super::rewriter::{self, Rewriter};
use super::{Calls, inline_helpers, kernel};
use crate::instrument::runtime;
use crate::kernel::canonical;
use crate::llvm::assumptions::Holder;
use crate::llvm::{AddressSpace, Function, Inst, IntPredicate, Opcode, Type, TypeKind, Value, View};

/// Work-item functions as mangled by clang, with their replacements. All others are the same in all runs of a launch.
const FUNCTIONS: [(&str, &str); 7] = [
    ("_Z13get_global_idj", "__kassay_joint_get_global_id"),
    ("_Z15get_global_sizej", "__kassay_joint_get_global_size"),
    ("_Z12get_group_idj", "__kassay_joint_get_group_id"),
    ("_Z14get_num_groupsj", "__kassay_joint_get_num_groups"),
    ("_Z17get_global_offsetj", "__kassay_joint_get_global_offset"),
    ("_Z12get_work_dimv", "__kassay_joint_get_work_dim"),
    ("_Z20get_global_linear_idv", "__kassay_joint_get_global_linear_id"),
];

/// Number of private words that `__kassay_joint_enter` fills.
const RUN_WORDS: u64 = 14;

// Guards find fuel and extents in a run's parameters where a header has them.
const _: () = assert!(SLOT_WORDS == crate::instrument::layout::SLOT_WORDS);
const _: () = assert!(parameters::GROUPS == crate::instrument::layout::header::GROUPS);
const _: () = assert!(joint::HEADER_WORDS as u64 == crate::instrument::layout::HEADER_WORDS);
const _: () = assert!(parameters::ADDRESS == crate::instrument::layout::argument::STRIDE);

/// Prepares the kernel `entry`, whose last argument is the probe buffer, for joint launches. Everything that it calls
/// is inlined. `values` says where its arguments lie that are passed by value.
///
/// # Errors
/// `Internal` if the kernel is unsuitable (a call cannot be inlined, it takes images), or the module does not verify
/// afterwards.
pub fn joint(module: &mut Module<'_>, entry: &str, values: &Values, machine: &TargetMachine) -> Result<()> {
    inline_helpers(module, entry, machine)?;
    let view = View::of(module);
    let kernel = kernel(view, entry)?;
    let args = values.places.len() as u32;
    let calls = Calls::of(kernel, &FUNCTIONS);
    runtime::link_joint(module)?;
    Weaver::new(view, kernel, args)?.weave(calls, values)?;
    Holder::Function(kernel).drop_woven_effects();
    canonical::verify(module, "the runs of joint launches")
}

/// Moves the kernel's variables to its beginning: what finds out the run has branches, and LLVM promotes only variables
/// of the entry block.
fn hoist_variables(kernel: Function<'_>) {
    let entry = kernel.entry();
    let of_constant_size = |i: &Inst<'_>| i.is(Opcode::LLVMAlloca) && i.operand_instructions().is_empty();
    let Some(first) = entry.walk().find(|i| !of_constant_size(i)) else { return };
    let late: Vec<Inst<'_>> = first.following().filter(of_constant_size).collect();
    late.into_iter().for_each(|variable| variable.move_before(first));
}

/// Rewrites one kernel.
struct Weaver<'m> {
    rewriter: Rewriter<'m>,
    kernel: Function<'m>,
    word: Type<'m>,
    /// The probe buffer, the private words of the run, and its parameters.
    probe: Value<'m>,
    run: Value<'m>,
    parameters: Value<'m>,
}

impl<'m> Weaver<'m> {
    fn new(view: View<'m>, kernel: Function<'m>, args: u32) -> Result<Weaver<'m>> {
        let probe = rewriter::probe(kernel, args)?;
        let builder = view.builder();
        hoist_variables(kernel);
        builder.after_variables(kernel);
        let word = view.int_type(32);
        let run = builder.alloca(word.array(RUN_WORDS), "kassay_run").value();
        let slot = word.int(u64::from(joint::argument(args)));
        let rewriter = Rewriter { view, builder };
        rewriter.call("__kassay_joint_enter", &[probe, run, slot])?;
        let parameters = rewriter.call("__kassay_joint_parameters", &[probe, run])?;
        Ok(Weaver { rewriter, kernel, word, probe, run, parameters })
    }

    fn weave(&self, calls: Calls<'m>, values: &Values) -> Result<()> {
        for (position, place) in (0..).zip(&values.places) {
            self.argument(position, *place)?;
        }
        self.rewriter.replace_ids(calls.ids, self.run)?;
        for call in calls.slots {
            self.rewriter.replace(call, "__kassay_joint_slot", &[self.probe, self.run])?;
        }
        for call in calls.parameters {
            self.rewriter.replace(call, "__kassay_joint_parameters", &[self.probe, self.run])?;
        }
        Ok(())
    }

    /// Gives the kernel its argument from the run's parameters.
    fn argument(&self, position: u32, place: Option<u32>) -> Result<()> {
        let Some(argument) = self.kernel.param(position).filter(|argument| argument.is_used()) else { return Ok(()) };
        let (ty, builder) = (argument.ty(), &self.rewriter.builder);
        let refused = |what: &str| Err(Error::internal(format!("argument {position} of a joint launch {what}")));
        if let Some(copied) = self.kernel.by_value_type(position) {
            let Some(place) = place else { return refused("has no place") };
            let copy = builder.alloca(copied, "");
            let view = self.rewriter.view;
            let size = view.int_type(64).int(view.layout().abi_size(copied));
            builder.memcpy((copy.value(), copy.alignment().unwrap_or(0)), (self.value_at(place), 4), size);
            argument.replace_uses(copy.value());
            return Ok(());
        }
        match (ty.kind(), ty.space()) {
            (TypeKind::LLVMPointerTypeKind, Some(AddressSpace::Global | AddressSpace::Constant)) => {
                self.buffer(position, argument)
            }
            // All runs of a launch have as much local memory.
            (TypeKind::LLVMPointerTypeKind, Some(AddressSpace::Local)) => Ok(()),
            (TypeKind::LLVMPointerTypeKind | TypeKind::LLVMTargetExtTypeKind, _) => refused("is no buffer"),
            _ => {
                let Some(place) = place else { return refused("has no place") };
                let value = builder.load(ty, self.value_at(place), "").value();
                value.set_alignment(4);
                argument.replace_uses(value);
                Ok(())
            }
        }
    }

    fn value_at(&self, place: u32) -> Value<'m> {
        self.rewriter.builder.gep(self.word, self.parameters, &[self.word.int(u64::from(place))], "")
    }

    /// Lets a pointer lead to the run's buffer.
    fn buffer(&self, position: u32, argument: Value<'m>) -> Result<()> {
        let word = self.word.int(u64::from(joint::argument(position) + parameters::ADDRESS));
        let distance = self.rewriter.call("__kassay_joint_distance", &[self.probe, self.run, word])?;
        let null = self.rewriter.call("__kassay_joint_null", &[self.probe, self.run, word])?;
        let builder = &self.rewriter.builder;
        let is_null = builder.icmp(IntPredicate::LLVMIntNE, null, self.word.int(0), "");
        self.rewriter.advance(argument, distance, |at| builder.select(is_null, argument.ty().null(), at, ""));
        Ok(())
    }
}
