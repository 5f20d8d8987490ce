//! Applies edits to the code, each active always or selected by its number. Shared by `schemata` and `single`.

use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMIntPredicate, LLVMTypeKind};

use super::edit::{Action, EdgeChange, Expr};
use super::expr::{ExprContext, Hazard};
use super::ir_tools::{self, Tools, type_of};
use super::resolve::{Change, EdgeChanges, InstructionChanges};
use crate::error::{Error, Result};
use crate::kernel::ir::{self, Block, Inst, is_bool};

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
pub(super) struct Numbers {
    pub first: LLVMValueRef,
    /// In modules woven for pairs.
    pub second: Option<LLVMValueRef>,
}

/// The state for weaving one function.
pub(super) struct Weaver<'t> {
    pub tools: &'t Tools,
    /// By owner.
    pub activations: &'t [Activation],
    /// `None` if everything is always active.
    pub numbers: Option<Numbers>,
    pub form: Form,
}

impl Weaver<'_> {
    fn activation<T>(&self, change: &Change<'_, T>) -> Activation {
        self.activations[change.owner]
    }

    /// Builds the test whether a number from `low` to `high` is active, at the builder's position.
    fn is_number_within(&self, low: u32, high: u32) -> LLVMValueRef {
        let b = self.tools.builder;
        // SAFETY: alive; all are 32-bit integers.
        let one = |number: LLVMValueRef| unsafe {
            if low == high {
                let low = self.tools.number(low);
                return LLVMBuildICmp(b, LLVMIntPredicate::LLVMIntEQ, number, low, c"".as_ptr());
            }
            let distance = LLVMBuildSub(b, number, self.tools.number(low), c"".as_ptr());
            LLVMBuildICmp(b, LLVMIntPredicate::LLVMIntULE, distance, self.tools.number(high - low), c"".as_ptr())
        };
        match self.numbers {
            // SAFETY: alive.
            None => unsafe { LLVMConstInt(self.tools.bool(), 1, 0) },
            Some(Numbers { first, second: None }) => one(first),
            Some(Numbers { first, second: Some(second) }) => {
                let (first, second) = (one(first), one(second));
                // SAFETY: alive; booleans.
                unsafe { LLVMBuildOr(b, first, second, c"".as_ptr()) }
            }
        }
    }

    /// Builds the test whether an edit is active, at the builder's position.
    fn is_active(&self, activation: Activation) -> LLVMValueRef {
        match activation {
            // SAFETY: alive.
            Activation::Always => unsafe { LLVMConstInt(self.tools.bool(), 1, 0) },
            Activation::Number(n) => self.is_number_within(n, n),
        }
    }

    /// Applies all changes at one instruction. The instructions of a block must be woven in their order.
    ///
    /// # Errors
    /// `Internal` if an edit does not fit its place.
    pub fn instruction(&self, changes: &InstructionChanges<'_>) -> Result<()> {
        let inst = changes.inst;
        let before = Inst(inst).operands();
        let site = |operands, original, ty| ReplacedValue { inst, operands, original, ty };
        for (i, list) in &changes.operands {
            let original = before[*i as usize];
            let place = site(&before, original, type_of(original));
            let mut new = self.replaced(inst, &place, original, list)?;
            use llvm_sys::LLVMOpcode::{LLVMAShr, LLVMLShr, LLVMShl};
            if *i == 1 && matches!(Inst(inst).opcode(), LLVMShl | LLVMLShr | LLVMAShr) {
                // clang masked the original amount where necessary; a replaced one is not masked.
                self.tools.before(inst);
                let last = ir_tools::width(type_of(new)) - 1;
                // SAFETY: alive; integers of one type.
                new = unsafe {
                    let last = LLVMConstInt(ir_tools::element(type_of(new)), last.into(), 0);
                    let mask = self.tools.splat(last, type_of(new));
                    LLVMBuildAnd(self.tools.builder, new, mask, c"".as_ptr())
                };
            }
            // SAFETY: alive; the new value has the operand's type.
            unsafe { LLVMSetOperand(inst, *i, new) };
        }
        if !changes.operands.is_empty() {
            drop_flags(inst);
        }
        if changes.result.is_empty() && changes.instead.is_empty() {
            return Ok(());
        }
        let after = Inst(inst).operands();
        let users = ir::users(inst);
        // SAFETY: alive; what stands behind the instruction is asked before anything is put there.
        let next = unsafe { LLVMGetNextInstruction(inst) };
        let mut value = inst;
        if !changes.instead.is_empty() {
            let operands = |owner: usize| {
                let own = changes.operands.values().flatten().any(|change| change.owner == owner);
                if own { &before } else { &after }
            };
            value = self.instead(inst, &operands, &changes.instead)?;
        }
        let has_value = kind_of(value) != LLVMTypeKind::LLVMVoidTypeKind;
        if !changes.result.is_empty() {
            if next.is_null() || !has_value {
                return Err(Error::internal("an edit replaces the result of an instruction that has none"));
            }
            let mut anchor = next;
            while Inst(anchor).opcode() == llvm_sys::LLVMOpcode::LLVMPHI {
                // SAFETY: alive; a block ends with a terminator.
                anchor = unsafe { LLVMGetNextInstruction(anchor) };
            }
            // For an edit that changes operands here too, the operands are those before its changes; another mutant's
            // changes of them are visible.
            let touched =
                |change: &Change<'_, Expr>| changes.operands.values().flatten().any(|o| o.owner == change.owner);
            let operands = if changes.result.iter().any(touched) { &before } else { &after };
            let place = site(operands, value, type_of(value));
            value = self.replaced(anchor, &place, value, &changes.result)?;
        }
        if value != inst && has_value {
            ir_tools::replace_in(&users, inst, value);
        }
        // SAFETY: alive; replaced everywhere. An instruction that something else is always executed for is gone already.
        unsafe {
            if changes.instead.iter().any(|change| self.activation(change) == Activation::Always) {
                if has_value {
                    LLVMReplaceAllUsesWith(inst, value);
                }
                LLVMInstructionEraseFromParent(inst);
            }
        }
        Ok(())
    }

    /// Returns the value that replaces `base`, computed before `anchor`.
    fn replaced(
        &self,
        anchor: LLVMValueRef,
        place: &ReplacedValue<'_>,
        base: LLVMValueRef,
        list: &[Change<'_, Expr>],
    ) -> Result<LLVMValueRef> {
        // Loads must not execute when another number is active, so each gets a branch of its own.
        let (alone, together): (Vec<_>, Vec<_>) = list.iter().partition(|change| reads_memory(change.edit));
        let mut value = base;
        if self.form == Form::Branch || together.iter().any(|change| self.activation(change) == Activation::Always) {
            value = self.guarded(anchor, place, value, &together)?;
        } else {
            self.tools.before(anchor);
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
        anchor: LLVMValueRef,
        place: &ReplacedValue<'_>,
        base: LLVMValueRef,
        list: &[&Change<'_, Expr>],
    ) -> Result<LLVMValueRef> {
        let numbers = list.iter().filter_map(|change| match self.activation(change) {
            Activation::Number(n) => Some(n),
            Activation::Always => None,
        });
        let (Some(low), Some(high)) = (numbers.clone().min(), numbers.clone().max()) else {
            self.tools.before(anchor);
            return match list.last() {
                Some(change) => self.context(place, Hazard::Unguarded).replacement(change.edit),
                None => Ok(base),
            };
        };
        let head = self.tools.split(anchor);
        let join = Inst(anchor).block();
        let (guarded, end) = self.tools.passing(join, join, c"kassay.mutants");
        self.tools.before(end);
        let value = match list {
            [only] => self.context(place, Hazard::Unguarded).replacement(only.edit)?,
            several => self.select_chain(place, base, several)?,
        };
        self.tools.at_end(head);
        let condition = self.is_number_within(low, high);
        self.tools.branch(head, condition, guarded, join);
        Ok(self.tools.phi(join, place.ty, &[(value, guarded), (base, head)]))
    }

    /// Builds a chain of selects at the builder's position: for each edit its value if it is active, else
    /// the previous value.
    fn select_chain(
        &self,
        place: &ReplacedValue<'_>,
        base: LLVMValueRef,
        list: &[&Change<'_, Expr>],
    ) -> Result<LLVMValueRef> {
        let mut value = base;
        for change in list {
            let active = self.is_active(self.activation(change));
            let alternative = self.context(place, Hazard::MaskedUnless(active)).replacement(change.edit)?;
            value = self.tools.select(active, alternative, value);
        }
        Ok(value)
    }

    fn context<'a>(&'a self, place: &'a ReplacedValue<'_>, hazards: Hazard) -> ExprContext<'a> {
        ExprContext {
            tools: self.tools,
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
        inst: LLVMValueRef,
        operands: &dyn Fn(usize) -> &'o Vec<LLVMValueRef>,
        list: &[Change<'_, Action>],
    ) -> Result<LLVMValueRef> {
        let ty = type_of(inst);
        if let Some(change) = list.iter().rev().find(|change| self.activation(change) == Activation::Always) {
            return self.action(inst, inst, operands(change.owner), change.edit);
        }
        // SAFETY: alive; calls and stores are no terminators.
        let next = unsafe { LLVMGetNextInstruction(inst) };
        let mut head = self.tools.split(inst);
        let original = self.tools.split(next);
        let join = Inst(next).block();
        self.tools.at_end(original);
        // SAFETY: alive; the block had no terminator.
        unsafe { LLVMBuildBr(self.tools.builder, join.0) };
        let mut results = vec![(inst, original)];
        if let [first, _, ..] = list {
            let numbers = || list.iter().map(|change| self.number(change));
            let tests = self.tools.block(original, c"kassay.mutants");
            self.tools.at_end(head);
            let low = numbers().min().unwrap_or(self.number(first));
            let condition = self.is_number_within(low, numbers().max().unwrap_or(low));
            self.tools.branch(head, condition, tests, original);
            head = tests;
        }
        for (i, change) in list.iter().enumerate() {
            let (active, end) = self.tools.passing(join, join, c"kassay.instead");
            let result = self.action(end, inst, operands(change.owner), change.edit)?;
            let otherwise = if i + 1 < list.len() { self.tools.block(original, c"kassay.mutants") } else { original };
            self.tools.at_end(head);
            let condition = self.is_active(self.activation(change));
            self.tools.branch(head, condition, self.tools.head(active), otherwise);
            head = otherwise;
            results.push((result, active));
        }
        if kind_of(inst) == LLVMTypeKind::LLVMVoidTypeKind {
            return Ok(inst);
        }
        Ok(self.tools.phi(join, ty, &results))
    }

    fn number<T>(&self, change: &Change<'_, T>) -> u32 {
        match self.activation(change) {
            Activation::Number(n) => n,
            Activation::Always => 0,
        }
    }

    /// Builds one action in front of `anchor` and returns its result, of `inst`'s type.
    fn action(
        &self,
        anchor: LLVMValueRef,
        inst: LLVMValueRef,
        operands: &[LLVMValueRef],
        action: &Action,
    ) -> Result<LLVMValueRef> {
        let b = self.tools.builder;
        self.tools.before(anchor);
        let ty = type_of(inst);
        let void = kind_of(inst) == LLVMTypeKind::LLVMVoidTypeKind;
        let mut at = ExprContext {
            tools: self.tools,
            inst,
            operands,
            original: None,
            ty,
            current: None,
            hazards: Hazard::Unguarded,
            hazard: Default::default(),
        };
        let pointer = |at: &ExprContext<'_>, e: &Expr| {
            let p = at.value(e, ty)?;
            if ir_tools::is_pointer(type_of(p)) { Ok(p) } else { Err(Error::internal("an address that is no pointer")) }
        };
        // SAFETY: alive; addresses are pointers, and what is stored has the type of what is loaded.
        unsafe {
            match action {
                Action::Nothing if void => Ok(inst),
                Action::Nothing => Ok(LLVMConstNull(ty)),
                Action::Call { callee, args } => at.call(callee, args, ty, true),
                Action::Plain { pointer: address, new } => {
                    if void {
                        return Err(Error::internal("a plain access instead of an instruction without a result"));
                    }
                    let address = pointer(&at, address)?;
                    let old = LLVMBuildLoad2(b, ty, address, c"".as_ptr());
                    at.current = Some(old);
                    let new = at.replacement(new)?;
                    LLVMBuildStore(b, new, address);
                    Ok(old)
                }
                Action::PlainCompareExchange { pointer: address, expected, desired } => {
                    let (address, expected) = (pointer(&at, address)?, pointer(&at, expected)?);
                    let desired_type = at.own_type(desired).unwrap_or(self.tools.int());
                    let desired = at.value(desired, desired_type)?;
                    let held = type_of(desired);
                    let old = LLVMBuildLoad2(b, held, address, c"".as_ptr());
                    let wanted = LLVMBuildLoad2(b, held, expected, c"".as_ptr());
                    let bits = |v| {
                        if ir_tools::is_float(held) {
                            let same = LLVMIntTypeInContext(self.tools.context, ir_tools::width(held));
                            LLVMBuildBitCast(b, v, ir_tools::shaped(same, held), c"".as_ptr())
                        } else {
                            v
                        }
                    };
                    let equal = LLVMBuildICmp(b, LLVMIntPredicate::LLVMIntEQ, bits(old), bits(wanted), c"".as_ptr());
                    let result = if void { inst } else { LLVMBuildIntCast2(b, equal, ty, 0, c"".as_ptr()) };
                    let head = self.tools.split(anchor);
                    let join = Inst(anchor).block();
                    let (same, end) = self.tools.passing(join, join, c"kassay.equal");
                    self.tools.before(end);
                    LLVMBuildStore(b, desired, address);
                    let (different, end) = self.tools.passing(join, join, c"kassay.different");
                    self.tools.before(end);
                    LLVMBuildStore(b, old, expected);
                    self.tools.branch(head, equal, same, different);
                    Ok(result)
                }
            }
        }
    }

    /// Applies all changes of edges of one function, after all changes at its instructions.
    ///
    /// # Errors
    /// `Internal` if a `phi` of a new target is left without a value.
    pub fn edges(&self, edges: &[&EdgeChanges<'_>]) -> Result<()> {
        // The phi values for the new targets must be read before any edge is moved away from its source.
        let redirect_blocks: Vec<Vec<Block>> =
            edges.iter().map(|edge| self.redirect_blocks(edge)).collect::<Result<_>>()?;
        for (edge, redirect_blocks) in edges.iter().zip(&redirect_blocks) {
            self.edge(edge, redirect_blocks);
        }
        Ok(())
    }

    /// Inserts a block for each change of an edge, which jumps to the change's target (several edges may lead from one
    /// block to another, with different values for `phi`s).
    fn redirect_blocks(&self, edge: &EdgeChanges<'_>) -> Result<Vec<Block>> {
        let source = Inst(edge.terminator).block();
        let redirect = |(change, to): &(Change<'_, EdgeChange>, Block)| {
            let to = self.tools.head(*to);
            let (redirect, _) = self.tools.passing(to, to, c"kassay.redirected");
            for phi in ir_tools::phis(to) {
                let mut value = match change.edit.phi.filter(|_| is_bool(phi)) {
                    // SAFETY: alive.
                    Some(value) => unsafe { LLVMConstInt(self.tools.bool(), value.into(), 0) },
                    None => ir_tools::incoming(phi, source).ok_or_else(|| {
                        Error::internal("a redirected edge leads to a `phi` that has no value for it")
                    })?,
                };
                let mut from = redirect.0;
                // SAFETY: alive; the value dominates the edge's source.
                unsafe { LLVMAddIncoming(phi, &mut value, &mut from, 1) };
            }
            Ok(redirect)
        };
        edge.changes.iter().map(redirect).collect()
    }

    /// Inserts the tests on an edge: one for each change, whether its edit is active.
    fn edge(&self, edge: &EdgeChanges<'_>, redirect_blocks: &[Block]) {
        let terminator = Inst(edge.terminator);
        let source = terminator.block();
        let old = terminator.successors()[edge.successor as usize];
        let entered = self.tools.block(old, c"kassay.edge");
        // SAFETY: alive; the edge is one of the terminator's.
        unsafe { LLVMSetSuccessor(edge.terminator, edge.successor, entered.0) };
        // The block from which the old target is entered.
        let mut leaving = entered;
        let mut current = entered;
        if redirect_blocks.len() > 1 {
            leaving = self.tools.passing(old, old, c"kassay.kept").0;
            current = self.tools.block(leaving, c"kassay.mutants");
            let numbers = || edge.changes.iter().map(|(change, _)| self.number(change));
            let (low, high) = (numbers().min().unwrap_or(0), numbers().max().unwrap_or(0));
            self.test(entered, &|| self.is_number_within(low, high), current, leaving);
        }
        for (i, ((change, _), redirect)) in edge.changes.iter().zip(redirect_blocks).enumerate() {
            let otherwise = match redirect_blocks.len() {
                1 => old,
                n if i + 1 == n => leaving,
                _ => self.tools.block(leaving, c"kassay.mutants"),
            };
            self.test(current, &|| self.is_active(self.activation(change)), *redirect, otherwise);
            current = otherwise;
        }
        self.tools.redirect_phis(old, source, leaving);
    }

    /// Ends `block` by a branch on a condition that is computed there.
    fn test(&self, block: Block, condition: &dyn Fn() -> LLVMValueRef, yes: Block, no: Block) {
        self.tools.at_end(block);
        let condition = condition();
        self.tools.branch(block, condition, yes, no);
    }
}

/// A value to replace at an instruction.
struct ReplacedValue<'a> {
    inst: LLVMValueRef,
    operands: &'a [LLVMValueRef],
    original: LLVMValueRef,
    ty: LLVMTypeRef,
}

fn kind_of(value: LLVMValueRef) -> LLVMTypeKind {
    ir_tools::kind(type_of(value))
}

fn reads_memory(expr: &Expr) -> bool {
    match expr {
        Expr::Current => true,
        Expr::Original | Expr::Operand(_) | Expr::Integer(_) | Expr::Float(_) => false,
        Expr::Unary(_, e) | Expr::Convert(_, e) | Expr::Lane(e, _) => reads_memory(e),
        Expr::Binary(_, a, b) | Expr::Compare(_, a, b) | Expr::Offset(a, b) | Expr::WithLane(a, _, b) => {
            reads_memory(a) || reads_memory(b)
        }
        Expr::Select(c, a, b) => reads_memory(c) || reads_memory(a) || reads_memory(b),
        Expr::Call { args, .. } => args.iter().any(reads_memory),
    }
}

/// Drops flags that clang inferred for the original operands and that may not hold for others.
fn drop_flags(inst: LLVMValueRef) {
    use llvm_sys::LLVMOpcode::*;
    // SAFETY: alive; asked of the operations that have these flags.
    unsafe {
        match Inst(inst).opcode() {
            LLVMAdd | LLVMSub | LLVMMul | LLVMShl => {
                LLVMSetNSW(inst, 0);
                LLVMSetNUW(inst, 0);
            }
            LLVMSDiv | LLVMUDiv | LLVMLShr | LLVMAShr => LLVMSetExact(inst, 0),
            LLVMFAdd | LLVMFSub | LLVMFMul | LLVMFDiv | LLVMFRem | LLVMFNeg | LLVMFCmp => {
                LLVMSetFastMathFlags(inst, 0);
            }
            _ => {}
        }
    }
}
