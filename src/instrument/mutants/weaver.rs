//! Putting edits into the code, each in force always or behind its number. `schemata` and `alone` share it.

use llvm_sys::core::*;
use llvm_sys::prelude::*;
use llvm_sys::{LLVMIntPredicate, LLVMTypeKind};

use super::edit::{Action, EdgeChange, Expr};
use super::expr::{At, Hazard};
use super::ir_tools::{self, Tools, type_of};
use super::resolve::{Changes, EdgeChanges, Of};
use crate::error::{Error, Result};
use crate::kernel::ir::{self, Block, Inst, is_bool};

/// When an edit acts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Force {
    Always,
    /// When the number in force is this one.
    Number(u32),
}

/// How a replaced value is chosen among the original and its alternatives.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Form {
    /// A branch that is taken when the number is one of those at this place guards the alternatives.
    Branch,
    /// The alternatives are always computed.
    Select,
}

/// The numbers in force, as values of the function at hand.
#[derive(Debug, Clone, Copy)]
pub(super) struct Numbers {
    pub first: LLVMValueRef,
    /// In modules woven for pairs.
    pub second: Option<LLVMValueRef>,
}

/// What weaving one function needs.
pub(super) struct Weaver<'t> {
    pub tools: &'t Tools,
    /// By owner.
    pub forces: &'t [Force],
    /// `None` where everything acts always.
    pub numbers: Option<Numbers>,
    pub form: Form,
}

impl Weaver<'_> {
    fn force<T>(&self, of: &Of<'_, T>) -> Force {
        self.forces[of.owner]
    }

    /// Whether a number from `low` to `high` is in force, at the builder's place.
    fn within(&self, low: u32, high: u32) -> LLVMValueRef {
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

    /// Whether an edit is in force, at the builder's place.
    fn in_force(&self, force: Force) -> LLVMValueRef {
        match force {
            // SAFETY: alive.
            Force::Always => unsafe { LLVMConstInt(self.tools.bool(), 1, 0) },
            Force::Number(n) => self.within(n, n),
        }
    }

    /// All changes at one instruction. Instructions of a block must be woven in their order.
    ///
    /// # Errors
    /// `Internal` if an edit does not fit its place.
    pub fn instruction(&self, changes: &Changes<'_>) -> Result<()> {
        let inst = changes.inst;
        let before = Inst(inst).operands();
        let site = |operands, original, ty| Here { inst, operands, original, ty };
        for (i, list) in &changes.operands {
            let original = before[*i as usize];
            let here = site(&before, original, type_of(original));
            let mut new = self.replaced(inst, &here, original, list)?;
            use llvm_sys::LLVMOpcode::{LLVMAShr, LLVMLShr, LLVMShl};
            if *i == 1 && matches!(Inst(inst).opcode(), LLVMShl | LLVMLShr | LLVMAShr) {
                // The original amount was masked by clang, if it needed that; another one is not.
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
                let own = changes.operands.values().flatten().any(|of| of.owner == owner);
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
            // An edit that changes operands here too means those from before it; another mutant's change of them shows.
            let touched = |of: &Of<'_, Expr>| changes.operands.values().flatten().any(|o| o.owner == of.owner);
            let operands = if changes.result.iter().any(touched) { &before } else { &after };
            let here = site(operands, value, type_of(value));
            value = self.replaced(anchor, &here, value, &changes.result)?;
        }
        if value != inst && has_value {
            ir_tools::replace_in(&users, inst, value);
        }
        // SAFETY: alive; replaced everywhere. An instruction that something else is always executed for is gone already.
        unsafe {
            if changes.instead.iter().any(|of| self.force(of) == Force::Always) {
                if has_value {
                    LLVMReplaceAllUsesWith(inst, value);
                }
                LLVMInstructionEraseFromParent(inst);
            }
        }
        Ok(())
    }

    /// The value in place of `base`, computed before `anchor`.
    fn replaced(
        &self,
        anchor: LLVMValueRef,
        here: &Here<'_>,
        base: LLVMValueRef,
        list: &[Of<'_, Expr>],
    ) -> Result<LLVMValueRef> {
        // Loads must not happen under another's number, so they stand behind a branch of their own.
        let (alone, together): (Vec<_>, Vec<_>) = list.iter().partition(|of| reads_memory(of.what));
        let mut value = base;
        if self.form == Form::Branch || together.iter().any(|of| self.force(of) == Force::Always) {
            value = self.group(anchor, here, value, &together)?;
        } else {
            self.tools.before(anchor);
            value = self.chain(here, value, &together)?;
        }
        for of in alone {
            value = self.group(anchor, here, value, &[of])?;
        }
        Ok(value)
    }

    /// One branch in front of `anchor` that guards all of `list`.
    fn group(
        &self,
        anchor: LLVMValueRef,
        here: &Here<'_>,
        base: LLVMValueRef,
        list: &[&Of<'_, Expr>],
    ) -> Result<LLVMValueRef> {
        let numbers = list.iter().filter_map(|of| match self.force(of) {
            Force::Number(n) => Some(n),
            Force::Always => None,
        });
        let (Some(low), Some(high)) = (numbers.clone().min(), numbers.clone().max()) else {
            self.tools.before(anchor);
            return match list.last() {
                Some(of) => self.at(here, Hazard::InForce).replacement(of.what),
                None => Ok(base),
            };
        };
        let head = self.tools.split(anchor);
        let join = Inst(anchor).block();
        let (guarded, end) = self.tools.passing(join, join, c"kassay.mutants");
        self.tools.before(end);
        let value = match list {
            [only] => self.at(here, Hazard::InForce).replacement(only.what)?,
            several => self.chain(here, base, several)?,
        };
        self.tools.at_end(head);
        let condition = self.within(low, high);
        self.tools.branch(head, condition, guarded, join);
        Ok(self.tools.phi(join, here.ty, &[(value, guarded), (base, head)]))
    }

    /// Selects at the builder's place: of each edit's value if it is in force, else the value before.
    fn chain(&self, here: &Here<'_>, base: LLVMValueRef, list: &[&Of<'_, Expr>]) -> Result<LLVMValueRef> {
        let mut value = base;
        for of in list {
            let mine = self.in_force(self.force(of));
            let alternative = self.at(here, Hazard::Unless(mine)).replacement(of.what)?;
            value = self.tools.select(mine, alternative, value);
        }
        Ok(value)
    }

    fn at<'a>(&'a self, here: &'a Here<'_>, hazards: Hazard) -> At<'a> {
        At {
            tools: self.tools,
            inst: here.inst,
            operands: here.operands,
            original: Some(here.original),
            ty: here.ty,
            current: None,
            hazards,
            hazard: Default::default(),
        }
    }

    /// Other actions instead of `inst`: returns the result. If one is always in force, `inst` is left for the caller to
    /// erase; else it stands in a block of its own.
    fn instead<'o>(
        &self,
        inst: LLVMValueRef,
        operands: &dyn Fn(usize) -> &'o Vec<LLVMValueRef>,
        list: &[Of<'_, Action>],
    ) -> Result<LLVMValueRef> {
        let ty = type_of(inst);
        if let Some(of) = list.iter().rev().find(|of| self.force(of) == Force::Always) {
            return self.action(inst, inst, operands(of.owner), of.what);
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
            let numbers = || list.iter().map(|of| self.number(of));
            let tests = self.tools.block(original, c"kassay.mutants");
            self.tools.at_end(head);
            let low = numbers().min().unwrap_or(self.number(first));
            let condition = self.within(low, numbers().max().unwrap_or(low));
            self.tools.branch(head, condition, tests, original);
            head = tests;
        }
        for (i, of) in list.iter().enumerate() {
            let (mine, end) = self.tools.passing(join, join, c"kassay.instead");
            let result = self.action(end, inst, operands(of.owner), of.what)?;
            let otherwise = if i + 1 < list.len() { self.tools.block(original, c"kassay.mutants") } else { original };
            self.tools.at_end(head);
            let condition = self.in_force(self.force(of));
            self.tools.branch(head, condition, self.tools.head(mine), otherwise);
            head = otherwise;
            results.push((result, mine));
        }
        if kind_of(inst) == LLVMTypeKind::LLVMVoidTypeKind {
            return Ok(inst);
        }
        Ok(self.tools.phi(join, ty, &results))
    }

    fn number<T>(&self, of: &Of<'_, T>) -> u32 {
        match self.force(of) {
            Force::Number(n) => n,
            Force::Always => 0,
        }
    }

    /// One action in front of `anchor`; the result, of `inst`'s type.
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
        let mut at = At {
            tools: self.tools,
            inst,
            operands,
            original: None,
            ty,
            current: None,
            hazards: Hazard::InForce,
            hazard: Default::default(),
        };
        let pointer = |at: &At<'_>, e: &Expr| {
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

    /// All changes of edges of one function, after all changes at its instructions.
    ///
    /// # Errors
    /// `Internal` if a `phi` of a new target is left without a value.
    pub fn edges(&self, edges: &[&EdgeChanges<'_>]) -> Result<()> {
        // What new targets take has to be known before any edge is moved away from its source.
        let ways: Vec<Vec<Block>> = edges.iter().map(|edge| self.ways(edge)).collect::<Result<_>>()?;
        for (edge, ways) in edges.iter().zip(&ways) {
            self.edge(edge, ways);
        }
        Ok(())
    }

    /// A block for each change of an edge that leads to its target (from one block to another there may be several ways,
    /// with different values for `phi`s).
    fn ways(&self, edge: &EdgeChanges<'_>) -> Result<Vec<Block>> {
        let source = Inst(edge.terminator).block();
        let way = |(of, to): &(Of<'_, EdgeChange>, Block)| {
            let to = self.tools.head(*to);
            let (way, _) = self.tools.passing(to, to, c"kassay.redirected");
            for phi in ir_tools::phis(to) {
                let mut value = match of.what.phi.filter(|_| is_bool(phi)) {
                    // SAFETY: alive.
                    Some(value) => unsafe { LLVMConstInt(self.tools.bool(), value.into(), 0) },
                    None => ir_tools::incoming(phi, source).ok_or_else(|| {
                        Error::internal("a redirected edge leads to a `phi` that has no value for it")
                    })?,
                };
                let mut from = way.0;
                // SAFETY: alive; the value dominates the edge's source.
                unsafe { LLVMAddIncoming(phi, &mut value, &mut from, 1) };
            }
            Ok(way)
        };
        edge.changes.iter().map(way).collect()
    }

    /// Puts tests on an edge: for each change whether its edit is in force.
    fn edge(&self, edge: &EdgeChanges<'_>, ways: &[Block]) {
        let terminator = Inst(edge.terminator);
        let source = terminator.block();
        let old = terminator.successors()[edge.successor as usize];
        let entered = self.tools.block(old, c"kassay.edge");
        // SAFETY: alive; the edge is one of the terminator's.
        unsafe { LLVMSetSuccessor(edge.terminator, edge.successor, entered.0) };
        // The block from which the old target is entered.
        let mut leaving = entered;
        let mut here = entered;
        if ways.len() > 1 {
            leaving = self.tools.passing(old, old, c"kassay.kept").0;
            here = self.tools.block(leaving, c"kassay.mutants");
            let numbers = || edge.changes.iter().map(|(of, _)| self.number(of));
            let (low, high) = (numbers().min().unwrap_or(0), numbers().max().unwrap_or(0));
            self.test(entered, &|| self.within(low, high), here, leaving);
        }
        for (i, ((of, _), way)) in edge.changes.iter().zip(ways).enumerate() {
            let otherwise = match ways.len() {
                1 => old,
                n if i + 1 == n => leaving,
                _ => self.tools.block(leaving, c"kassay.mutants"),
            };
            self.test(here, &|| self.in_force(self.force(of)), *way, otherwise);
            here = otherwise;
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

/// An instruction at which a value is replaced.
struct Here<'a> {
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

/// What clang proved of an operation does not hold for other operands.
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
