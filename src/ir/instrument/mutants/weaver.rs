//! Applies edits to the code, each active always or selected by its number. Shared by `schemata` and `single`.

use kassay_base::error::{Error, Result};

use super::edit::{Action, EdgeChange, Expr};
use super::emitter::{Emitter, width};
use super::expr::{ExprContext, Hazard};
use super::resolve::{Change, EdgeChanges, InstructionChanges};
use crate::llvm::{Block, Inst, IntPredicate, Opcode, Type, Value};

/// When an edit is active.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Activation {
    Always,
    /// When this number is active.
    Number(u32),
}

/// The code that chooses a value from the original and its alternatives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    /// The alternatives are guarded by a branch that is taken when a number at this place is active.
    Branch,
    /// The alternatives are always computed.
    Select,
}

/// The active numbers, as values of the current function.
#[derive(Debug, Clone, Copy)]
pub(super) struct Numbers<'m> {
    pub first: Value<'m>,
    /// In modules woven for pairs.
    pub second: Option<Value<'m>>,
}

/// The state for weaving one function.
pub(super) struct Weaver<'t, 'm> {
    pub emitter: &'t Emitter<'m>,
    /// By owner.
    pub activations: &'t [Activation],
    /// `None` if everything is always active.
    pub numbers: Option<Numbers<'m>>,
    pub form: Form,
}

impl<'m> Weaver<'_, 'm> {
    fn activation<T>(&self, change: &Change<'_, T>) -> Activation {
        self.activations[change.owner]
    }

    /// Builds the test whether a number from `low` to `high` is active, at the builder's position.
    fn is_number_within(&self, low: u32, high: u32) -> Value<'m> {
        let b = &self.emitter.builder;
        let one = |number: Value<'m>| {
            if low == high {
                return b.icmp(IntPredicate::LLVMIntEQ, number, self.emitter.number(low), "");
            }
            let distance = b.sub(number, self.emitter.number(low), "");
            b.icmp(IntPredicate::LLVMIntULE, distance, self.emitter.number(high - low), "")
        };
        match self.numbers {
            None => self.emitter.bool().int(1),
            Some(Numbers { first, second: None }) => one(first),
            Some(Numbers { first, second: Some(second) }) => {
                let (first, second) = (one(first), one(second));
                b.or(first, second, "")
            }
        }
    }

    /// Builds the test whether an edit is active, at the builder's position.
    fn is_active(&self, activation: Activation) -> Value<'m> {
        match activation {
            Activation::Always => self.emitter.bool().int(1),
            Activation::Number(n) => self.is_number_within(n, n),
        }
    }

    /// Applies all changes at one instruction. The instructions of a block must be woven in their order.
    ///
    /// # Errors
    /// `Internal` if an edit does not fit its place.
    pub fn instruction(&self, changes: &InstructionChanges<'_, 'm>) -> Result<()> {
        let inst = changes.inst;
        let before = inst.operands();
        for (i, list) in &changes.operands {
            let original = before[*i as usize];
            let place = ReplacedValue { inst, operands: &before, original, ty: original.ty() };
            let mut new = self.replaced(inst, &place, original, list)?;
            if *i == 1 && matches!(inst.opcode(), Opcode::LLVMShl | Opcode::LLVMLShr | Opcode::LLVMAShr) {
                // clang masked the original amount where necessary; a replaced one is not masked.
                self.emitter.builder.before(inst);
                let last = new.ty().int(u64::from(width(new.ty()) - 1));
                new = self.emitter.builder.and(new, last, "");
            }
            inst.set_operand(*i, new);
        }
        if !changes.operands.is_empty() {
            drop_flags(inst);
        }
        if changes.result.is_empty() && changes.instead.is_empty() {
            return Ok(());
        }
        let after = inst.operands();
        let users = inst.users();
        // What follows the instruction is read before anything is put there.
        let next = inst.next();
        let mut value = inst.value();
        if !changes.instead.is_empty() {
            let operands = |owner: usize| {
                let own = changes.operands.values().flatten().any(|change| change.owner == owner);
                if own { &before } else { &after }
            };
            value = self.instead(inst, &operands, &changes.instead)?;
        }
        let has_value = !value.ty().is_void();
        if !changes.result.is_empty() {
            let anchor = next
                .filter(|_| has_value)
                .and_then(|next| std::iter::once(next).chain(next.following()).find(|i| !i.is(Opcode::LLVMPHI)));
            let Some(anchor) = anchor else {
                return Err(Error::internal("an edit replaces the result of an instruction that has none"));
            };
            // For an edit that changes operands here too, the operands are those before its changes; another mutant's
            // changes of them are visible.
            let touched =
                |change: &Change<'_, Expr>| changes.operands.values().flatten().any(|o| o.owner == change.owner);
            let operands = if changes.result.iter().any(touched) { &before } else { &after };
            let place = ReplacedValue { inst, operands, original: value, ty: value.ty() };
            value = self.replaced(anchor, &place, value, &changes.result)?;
        }
        if inst != value && has_value {
            inst.value().replace_in(&users, value);
        }
        // An instruction that something else is always executed for is gone already.
        if changes.instead.iter().any(|change| self.activation(change) == Activation::Always) {
            if has_value {
                inst.replace_uses(value);
            }
            self.emitter.builder.after(inst);
            inst.erase();
        }
        Ok(())
    }

    /// Returns the value that replaces `base`, computed before `anchor`.
    fn replaced(
        &self,
        anchor: Inst<'m>,
        place: &ReplacedValue<'_, 'm>,
        base: Value<'m>,
        list: &[Change<'_, Expr>],
    ) -> Result<Value<'m>> {
        // Loads must not execute when another number is active, so each gets a branch of its own.
        let (alone, together): (Vec<_>, Vec<_>) = list.iter().partition(|change| change.edit.reads_current());
        let mut value = base;
        if self.form == Form::Branch || together.iter().any(|change| self.activation(change) == Activation::Always) {
            value = self.guarded(anchor, place, value, &together)?;
        } else {
            self.emitter.builder.before(anchor);
            value = self.select_chain(place, value, &together)?;
        }
        for change in alone {
            value = self.guarded(anchor, place, value, &[change])?;
        }
        Ok(value)
    }

    /// Guards all of `list` by one branch in front of `anchor`.
    fn guarded(
        &self,
        anchor: Inst<'m>,
        place: &ReplacedValue<'_, 'm>,
        base: Value<'m>,
        list: &[&Change<'_, Expr>],
    ) -> Result<Value<'m>> {
        let numbers = list.iter().filter_map(|change| match self.activation(change) {
            Activation::Number(n) => Some(n),
            Activation::Always => None,
        });
        let (Some(low), Some(high)) = (numbers.clone().min(), numbers.clone().max()) else {
            self.emitter.builder.before(anchor);
            return match list.last() {
                Some(change) => self.context(place, Hazard::Unguarded).replacement(change.edit),
                None => Ok(base),
            };
        };
        let head = self.emitter.split(anchor);
        let join = anchor.block();
        let (guarded, end) = self.emitter.passing(join, join, "kassay.mutants");
        self.emitter.builder.before(end);
        let value = match list {
            [only] => self.context(place, Hazard::Unguarded).replacement(only.edit)?,
            several => self.select_chain(place, base, several)?,
        };
        self.emitter.at_end(head);
        let condition = self.is_number_within(low, high);
        self.emitter.branch(head, condition, guarded, join);
        Ok(self.emitter.phi(join, place.ty, &[(value, guarded), (base, head)]))
    }

    /// Builds a chain of selects at the builder's position: for each edit its value if it is active, else
    /// the previous value.
    fn select_chain(
        &self,
        place: &ReplacedValue<'_, 'm>,
        base: Value<'m>,
        list: &[&Change<'_, Expr>],
    ) -> Result<Value<'m>> {
        let mut value = base;
        for change in list {
            let active = self.is_active(self.activation(change));
            let alternative = self.context(place, Hazard::MaskedUnless(active)).replacement(change.edit)?;
            value = self.emitter.select(active, alternative, value);
        }
        Ok(value)
    }

    fn context<'a>(&'a self, place: &'a ReplacedValue<'_, 'm>, hazards: Hazard<'m>) -> ExprContext<'a, 'm> {
        ExprContext {
            emitter: self.emitter,
            inst: place.inst,
            operands: place.operands,
            original: Some(place.original),
            ty: place.ty,
            current: None,
            hazards,
            hazard: Default::default(),
        }
    }

    /// Builds other actions instead of `inst` and returns the result. If one is always active, the caller is to erase
    /// `inst`; else `inst` stays, in a block of its own.
    fn instead<'o>(
        &self,
        inst: Inst<'m>,
        operands: &dyn Fn(usize) -> &'o Vec<Value<'m>>,
        list: &[Change<'_, Action>],
    ) -> Result<Value<'m>> {
        if let Some(change) = list.iter().rev().find(|change| self.activation(change) == Activation::Always) {
            return self.action(inst, inst, operands(change.owner), change.edit);
        }
        let Some(next) = inst.next() else { return Err(Error::internal("a terminator is to be replaced")) };
        let mut head = self.emitter.split(inst);
        let original = self.emitter.split(next);
        let join = next.block();
        self.emitter.at_end(original);
        self.emitter.builder.br(join);
        let mut results = vec![(inst.value(), original)];
        if let [first, _, ..] = list {
            let numbers = || list.iter().map(|change| self.number(change));
            let tests = original.insert_before("kassay.mutants");
            self.emitter.at_end(head);
            let low = numbers().min().unwrap_or(self.number(first));
            let condition = self.is_number_within(low, numbers().max().unwrap_or(low));
            self.emitter.branch(head, condition, tests, original);
            head = tests;
        }
        for (i, change) in list.iter().enumerate() {
            let (active, end) = self.emitter.passing(join, join, "kassay.instead");
            let result = self.action(end, inst, operands(change.owner), change.edit)?;
            let otherwise = if i + 1 < list.len() { original.insert_before("kassay.mutants") } else { original };
            self.emitter.at_end(head);
            let condition = self.is_active(self.activation(change));
            self.emitter.branch(head, condition, self.emitter.head(active), otherwise);
            head = otherwise;
            results.push((result, active));
        }
        if inst.ty().is_void() {
            return Ok(inst.value());
        }
        Ok(self.joined(join, inst.ty(), &results))
    }

    /// Builds a `phi` at the start of `join`; of a struct, one for each field, because LLVM 22's SPIR-V backend emits
    /// no valid one of a struct.
    fn joined(&self, join: Block<'m>, ty: Type<'m>, results: &[(Value<'m>, Block<'m>)]) -> Value<'m> {
        if !ty.is_struct() {
            return self.emitter.phi(join, ty, results);
        }
        let b = &self.emitter.builder;
        let field = |(at, ty): (usize, Type<'m>)| {
            let one = |(value, from): &(Value<'m>, Block<'m>)| {
                b.before(from.terminator());
                (b.extract_field(*value, at as u32, ""), *from)
            };
            let values: Vec<_> = results.iter().map(one).collect();
            self.emitter.phi(join, ty, &values)
        };
        let fields: Vec<Value<'m>> = ty.fields().into_iter().enumerate().map(field).collect();
        b.before(join.walk().find(|inst| !inst.is(Opcode::LLVMPHI)).unwrap_or_else(|| join.terminator()));
        (0..).zip(fields).fold(ty.null(), |all, (at, field)| b.insert_field(all, at, field, ""))
    }

    fn number<T>(&self, change: &Change<'_, T>) -> u32 {
        match self.activation(change) {
            Activation::Number(n) => n,
            Activation::Always => 0,
        }
    }

    /// Builds one action in front of `anchor` and returns its result, of `inst`'s type.
    fn action(&self, anchor: Inst<'m>, inst: Inst<'m>, operands: &[Value<'m>], action: &Action) -> Result<Value<'m>> {
        let b = &self.emitter.builder;
        b.before(anchor);
        // What stands for an instruction is at its place: findings are told apart by their places.
        b.set_location(inst.debug_location());
        let ty = inst.ty();
        let void = ty.is_void();
        let mut at = ExprContext {
            emitter: self.emitter,
            inst,
            operands,
            original: None,
            ty,
            current: None,
            hazards: Hazard::Unguarded,
            hazard: Default::default(),
        };
        let pointer = |at: &ExprContext<'_, 'm>, e: &Expr| {
            let p = at.value(e, ty)?;
            if p.ty().is_pointer() { Ok(p) } else { Err(Error::internal("an address that is no pointer")) }
        };
        match action {
            Action::Nothing if void => Ok(inst.value()),
            Action::Nothing => Ok(ty.null()),
            Action::Call { callee, args } => Ok(at.call(callee, args, ty, true)?.value()),
            Action::Plain { pointer: address, new } => {
                if void {
                    return Err(Error::internal("a plain access instead of an instruction without a result"));
                }
                let address = pointer(&at, address)?;
                let exchanged = inst.is(Opcode::LLVMAtomicCmpXchg).then(|| operands[1]);
                at.ty = exchanged.map_or(ty, Value::ty);
                let old = b.load(at.ty, address, "").value();
                at.current = Some(old);
                let new = at.replacement(new)?;
                b.store(new, address);
                let Some(expected) = exchanged else { return Ok(old) };
                let equal = b.icmp(IntPredicate::LLVMIntEQ, old, expected, "");
                let result = b.insert_field(ty.null(), 0, old, "");
                Ok(b.insert_field(result, 1, equal, ""))
            }
            Action::Atomic(change) => {
                if !inst.is_atomic() {
                    return Err(Error::internal("an atomic change of what is not atomic"));
                }
                Ok(self.emitter.changed_atomic(inst, operands, change).value())
            }
            Action::PlainCompareExchange { pointer: address, expected, desired } => {
                let (address, expected) = (pointer(&at, address)?, pointer(&at, expected)?);
                let desired_type = at.own_type(desired).unwrap_or(self.emitter.int());
                let desired = at.value(desired, desired_type)?;
                let held = desired.ty();
                let old = b.load(held, address, "").value();
                let wanted = b.load(held, expected, "").value();
                let bits = |v: Value<'m>| {
                    if held.scalar().is_float() {
                        let same = self.emitter.view.int_type(width(held));
                        b.bit_cast(v, same.shaped_like(held), "")
                    } else {
                        v
                    }
                };
                let equal = b.icmp(IntPredicate::LLVMIntEQ, bits(old), bits(wanted), "");
                let result = if void { inst.value() } else { b.int_cast(equal, ty, false, "") };
                let head = self.emitter.split(anchor);
                let join = anchor.block();
                let (same, end) = self.emitter.passing(join, join, "kassay.equal");
                b.before(end);
                b.store(desired, address);
                let (different, end) = self.emitter.passing(join, join, "kassay.different");
                b.before(end);
                b.store(old, expected);
                self.emitter.branch(head, equal, same, different);
                Ok(result)
            }
        }
    }

    /// Applies all changes of edges of one function, after all changes at its instructions.
    ///
    /// # Errors
    /// `Internal` if a `phi` of a new target is left without a value.
    pub fn edges(&self, edges: &[&EdgeChanges<'_, 'm>]) -> Result<()> {
        // The phi values for the new targets must be read before any edge is moved away from its source.
        let redirect_blocks: Vec<Vec<Block<'m>>> =
            edges.iter().map(|edge| self.redirect_blocks(edge)).collect::<Result<_>>()?;
        for (edge, redirect_blocks) in edges.iter().zip(&redirect_blocks) {
            self.edge(edge, redirect_blocks);
        }
        Ok(())
    }

    /// Inserts a block for each change of an edge, which jumps to the change's target (several edges may lead from one
    /// block to another, with different values for `phi`s).
    fn redirect_blocks(&self, edge: &EdgeChanges<'_, 'm>) -> Result<Vec<Block<'m>>> {
        let source = edge.terminator.block();
        let redirect = |(change, to): &(Change<'_, EdgeChange>, Block<'m>)| {
            let to = self.emitter.head(*to);
            let (redirect, _) = self.emitter.passing(to, to, "kassay.redirected");
            for phi in to.phis() {
                let value = match change.edit.phi.filter(|_| phi.ty().is_bool()) {
                    Some(value) => self.emitter.bool().int(value.into()),
                    None => phi.incoming_from(source).ok_or_else(|| {
                        Error::internal("a redirected edge leads to a `phi` that has no value for it")
                    })?,
                };
                phi.add_incoming(&[(value, redirect)]);
            }
            Ok(redirect)
        };
        edge.changes.iter().map(redirect).collect()
    }

    /// Inserts the tests on an edge: one for each change, whether its edit is active.
    fn edge(&self, edge: &EdgeChanges<'_, 'm>, redirect_blocks: &[Block<'m>]) {
        let terminator = edge.terminator;
        let source = terminator.block();
        let old = terminator.successors()[edge.successor as usize];
        let entered = old.insert_before("kassay.edge");
        terminator.set_successor(edge.successor, entered);
        // The block from which the old target is entered.
        let mut leaving = entered;
        let mut current = entered;
        if redirect_blocks.len() > 1 {
            leaving = self.emitter.passing(old, old, "kassay.kept").0;
            current = leaving.insert_before("kassay.mutants");
            let numbers = || edge.changes.iter().map(|(change, _)| self.number(change));
            let (low, high) = (numbers().min().unwrap_or(0), numbers().max().unwrap_or(0));
            self.test(entered, &|| self.is_number_within(low, high), current, leaving);
        }
        for (i, ((change, _), redirect)) in edge.changes.iter().zip(redirect_blocks).enumerate() {
            let otherwise = match redirect_blocks.len() {
                1 => old,
                n if i + 1 == n => leaving,
                _ => leaving.insert_before("kassay.mutants"),
            };
            self.test(current, &|| self.is_active(self.activation(change)), *redirect, otherwise);
            current = otherwise;
        }
        old.redirect_phis(source, leaving);
    }

    /// Ends `block` by a branch on a condition that is computed there.
    fn test(&self, block: Block<'m>, condition: &dyn Fn() -> Value<'m>, yes: Block<'m>, no: Block<'m>) {
        self.emitter.at_end(block);
        let condition = condition();
        self.emitter.branch(block, condition, yes, no);
    }
}

/// A value to replace at an instruction.
struct ReplacedValue<'a, 'm> {
    inst: Inst<'m>,
    operands: &'a [Value<'m>],
    original: Value<'m>,
    ty: Type<'m>,
}

/// Drops flags that clang inferred for the original operands and that may not hold for others.
fn drop_flags(inst: Inst<'_>) {
    use Opcode::*;
    if matches!(
        inst.opcode(),
        LLVMAdd
            | LLVMSub
            | LLVMMul
            | LLVMShl
            | LLVMSDiv
            | LLVMUDiv
            | LLVMLShr
            | LLVMAShr
            | LLVMFAdd
            | LLVMFSub
            | LLVMFMul
            | LLVMFDiv
            | LLVMFRem
            | LLVMFNeg
            | LLVMFCmp
            | LLVMICmp
            | LLVMOr
            | LLVMTrunc
            | LLVMZExt
            | LLVMUIToFP
            | LLVMGetElementPtr
    ) {
        inst.drop_poison_flags();
    }
}
