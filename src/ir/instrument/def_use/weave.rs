//! Inserts what reports definitions and uses to the simulator.
//!
//! Beside each private variable that is only accessed as a whole stands another one that has the number of its last
//! definition; a use reports the pair. All other accesses report their addresses.

use std::collections::HashMap;

use kassay_model::native::abi::{flow, placeholder};

use super::accesses::{Access, Condition, Extent, Role, Success};
use super::variables::{Names, Variable};
use crate::llvm::IntPredicate::LLVMIntEQ;
use crate::llvm::{Builder, Function, Inst, Opcode, Type, Value, View};

/// A private variable whose pairs are numbered.
pub struct Tracked<'a, 'm> {
    pub variable: &'a Variable<'m>,
    /// By use: the number of the pair with the first definition; the number before stands for no definition.
    pub first_pair: HashMap<usize, u32>,
}

/// What is inserted at an access.
enum Report<'m> {
    /// Notes the definition with this number, from 1.
    Define { last: Inst<'m>, number: u32 },
    /// Reports the pair of the last definition and this use.
    Use { last: Inst<'m>, base: u32 },
    /// Reports the address of the access with this number.
    Address(usize),
}

pub struct Weaver<'m> {
    builder: Builder<'m>,
    int: Type<'m>,
    long: Type<'m>,
    pair: Function<'m>,
    flow: Function<'m>,
}

impl<'m> Weaver<'m> {
    pub fn new(view: View<'m>) -> Weaver<'m> {
        let (int, long) = (view.int_type(32), view.int_type(64));
        let pair = view.add_function(placeholder::PAIR, view.void_type().function(&[int], false));
        let ty = view.void_type().function(&[int, int, long, long, long, long], false);
        let flow = view.add_function(placeholder::FLOW, ty);
        Weaver { builder: view.builder(), int, long, pair, flow }
    }

    /// Weaves `tracked` variables, and reports for the accesses that `is_followed` selects.
    pub fn weave(
        &self,
        functions: &[Function<'m>],
        accesses: &[Access<'m>],
        tracked: &[Tracked<'_, 'm>],
        names: &Names<'m>,
        is_followed: impl Fn(usize) -> bool,
    ) {
        let mut reports: HashMap<usize, Report<'m>> = HashMap::new();
        for tracked in tracked {
            let variable = tracked.variable;
            let last = self.last_definition(variable.alloca);
            for (number, definition) in (1..).zip(&variable.definitions) {
                reports.insert(*definition, Report::Define { last, number });
            }
            for (usage, first) in &tracked.first_pair {
                reports.insert(*usage, Report::Use { last, base: first - 1 });
            }
        }
        for access in (0..accesses.len()).filter(|access| is_followed(*access)) {
            reports.insert(access, Report::Address(access));
        }
        // The accesses of an instruction are neighbours.
        let mut at = 0;
        while at < accesses.len() {
            let access = &accesses[at];
            let end = (at..accesses.len())
                .find(|n| accesses[*n].inst != access.inst || accesses[*n].is_entry != access.is_entry);
            let end = end.unwrap_or(accesses.len());
            if (at..end).any(|n| reports.contains_key(&n)) {
                self.stand_at(access);
                for n in at..end {
                    if let Some(report) = reports.get(&n) {
                        self.report(report, accesses);
                    }
                }
            }
            at = end;
        }
        for function in functions {
            self.forget(*function, names, |alloca| tracked.iter().any(|t| t.variable.alloca == alloca));
        }
    }

    /// Stands where the accesses of an instruction have been made.
    fn stand_at(&self, access: &Access<'m>) {
        let inst = access.inst;
        if access.is_entry {
            self.builder.after_variables(inst.function());
        } else if inst.called_function().is_some_and(Function::has_body) {
            self.builder.before(inst);
        } else {
            self.builder.after(inst);
        }
        self.builder.set_location(inst.debug_location().or_else(|| inst.function().line_zero()));
    }

    /// Makes the variable that has the number of the last definition; 0 at first.
    fn last_definition(&self, variable: Inst<'m>) -> Inst<'m> {
        let function = variable.function();
        self.builder.after_variables(function);
        self.builder.set_location(function.line_zero());
        let last = self.builder.alloca(self.int, "kassay.last");
        self.builder.store(self.int.int(0), last);
        last
    }

    fn report(&self, report: &Report<'m>, accesses: &[Access<'m>]) {
        let builder = &self.builder;
        match *report {
            Report::Define { last, number } => _ = builder.store(self.int.int(number.into()), last),
            Report::Use { last, base } => {
                let definition = builder.load(self.int, last, "");
                // Without a definition, the number is that before the first pair.
                let number = builder.add(definition, self.int.int(base.into()), "");
                builder.call(self.pair, &[number], "");
            }
            Report::Address(number) => self.address(number, &accesses[number]),
        }
    }

    fn address(&self, number: usize, access: &Access<'m>) {
        let builder = &self.builder;
        let long = |value: Value<'m>| builder.int_cast(value, self.long, false, "");
        let constant = |n: u64| self.long.int(n);
        let mut address = builder.ptr_to_int(access.pointer, self.long, "");
        let (mut count, mut stride) = (constant(1), None);
        let mut bytes = match access.extent {
            Extent::Fixed(bytes) => constant(bytes),
            Extent::Bytes(value) => long(value),
            Extent::Indexed { index, step, bytes } => {
                let offset = builder.mul(long(index), constant(step), "");
                address = builder.add(address, offset, "");
                constant(bytes)
            }
            Extent::Elements { count: elements, bytes, stride: apart } => {
                count = long(elements);
                stride = apart.map(|apart| builder.mul(long(apart), constant(bytes), ""));
                constant(bytes)
            }
        };
        if let Condition::Exchange { succeeds, by } = access.condition {
            let success = self.success(access.inst, by);
            let none = constant(0);
            bytes = if succeeds {
                builder.select(success, bytes, none, "")
            } else {
                builder.select(success, none, bytes, "")
            };
        }
        let mut flags = 0;
        if access.role == Role::Definition {
            flags |= flow::DEFINES;
        }
        if access.is_collective {
            flags |= flow::COLLECTIVE;
        }
        let (number, flags) = (self.int.int(number as u64), self.int.int(flags.into()));
        builder.call(self.flow, &[number, flags, address, bytes, count, stride.unwrap_or(bytes)], "");
    }

    /// Whether a compare-exchange has succeeded: an `i1`.
    fn success(&self, inst: Inst<'m>, by: Success) -> Value<'m> {
        let builder = &self.builder;
        match by {
            Success::Field => builder.extract_field(inst, 1, ""),
            Success::Result if inst.ty().is_bool() => inst.value(),
            Success::Result => {
                let failed = builder.icmp(LLVMIntEQ, inst, inst.ty().null(), "");
                builder.not(failed, "")
            }
            Success::Equals(position) => builder.icmp(LLVMIntEQ, inst, inst.operand(position), ""),
        }
    }

    /// Reports, where a function begins, that its private variables have no definitions yet, except for those that
    /// `is_tracked` selects and the compiler's own.
    fn forget(&self, function: Function<'m>, names: &Names<'m>, is_tracked: impl Fn(Inst<'m>) -> bool) {
        let layout = function.view().layout();
        for alloca in function.entry().instructions().into_iter().filter(|inst| inst.is(Opcode::LLVMAlloca)) {
            let (Some(ty), Some(count)) = (alloca.allocated_type(), alloca.operand(0).as_u64()) else { continue };
            let is_used = alloca.users().into_iter().any(|user| user.as_opcode(Opcode::LLVMLoad).is_none());
            if names.name(alloca.value()).is_none() || is_tracked(alloca) || !is_used || !ty.is_sized() {
                continue;
            }
            self.builder.after_variables(function);
            self.builder.set_location(function.line_zero());
            let address = self.builder.ptr_to_int(alloca, self.long, "");
            let bytes = self.long.int(layout.abi_size(ty).saturating_mul(count));
            let flags = self.int.int((flow::DEFINES | flow::FORGETS).into());
            let arguments = [self.int.int(0), flags, address, bytes, self.long.int(1), bytes];
            self.builder.call(self.flow, &arguments, "");
        }
    }
}
