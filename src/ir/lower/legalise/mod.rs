//! Rewrites what SPIR-V has no types and instructions for: integers of odd widths, vectors of odd lengths, structs as
//! values, and intrinsics without an exact form. Optimisers make all of these.
//!
//! Afterwards, every integer of a module has 1, 8, 16, 32 or 64 bits and every vector 2, 3, 4, 8 or 16 lanes. What
//! LLVM's backend does with others is not right: it takes the next width and forgets what is beyond the old one.

mod bits;
mod casts;
mod division;
mod extensions;
mod globals;
mod int;
mod intrinsics;
mod memory;
mod types;
mod values;

use std::collections::{HashMap, HashSet};

use inkwell::module::Module;
use kassay_base::error::{Error, Result};

use crate::llvm::{Block, Function, Inst, Opcode, Type, Value, View};
use int::Int;
use types::{is_legal, is_legal_in_memory};
use values::{Part, Rewriting};

/// Returns whether callers and a function agree on values that SPIR-V has no type for, so that it has to be inlined.
pub fn must_be_inlined(function: Function<'_>) -> bool {
    let is_odd = |ty: Type<'_>| !ty.is_void() && !is_legal(ty) && !ty.is_struct();
    is_odd(function.return_type()) || function.params().iter().any(|param| is_odd(param.ty()))
}

/// Rewrites a module.
///
/// # Errors
/// `Caller` if a kernel uses what cannot be rewritten, such as an atomic access to an odd integer.
pub fn module(module: &Module<'_>) -> Result<()> {
    let view = View::of(module);
    globals::rewrite(view)?;
    for function in view.functions().into_iter().filter(|f| f.has_body()) {
        if is_odd(function) {
            rewrite(view, function)?;
        }
    }
    extensions::rewrite(view);
    for inst in view.instructions() {
        let mut types = inst.operands().into_iter().filter(|o| !o.is_block() && !o.is_metadata()).map(Value::ty);
        let is_rest = |ty: Type<'_>| !ty.is_void() && !ty.is_struct() && !ty.is_array() && !is_legal(ty);
        if is_rest(inst.ty()) || types.any(is_rest) {
            return Err(refusal(&inst.text()));
        }
    }
    Ok(())
}

fn refusal(what: &str) -> Error {
    Error::caller("the kernel computes with a type that no device has, in a way that kassay cannot lower")
        .details(what.trim())
        .help("use integers of 8, 16, 32 or 64 bits, and vectors of 2, 3, 4, 8 or 16 of them, there")
}

/// Returns whether anything in a function has to be rewritten.
fn is_odd(function: Function<'_>) -> bool {
    function.instructions().into_iter().any(concerns)
}

/// Returns whether an instruction has to be rewritten whatever its operands have become.
fn concerns(inst: Inst<'_>) -> bool {
    let is_odd = |ty: Type<'_>| !ty.is_void() && !is_legal(ty);
    let operands = inst.operands();
    let values = operands.iter().filter(|o| !o.is_block() && !o.is_metadata());
    let is_bool = || operands.first().is_some_and(|o| o.ty().scalar().is_bool());
    match inst.opcode() {
        Opcode::LLVMAlloca => inst.allocated_type().is_some_and(|ty| !is_legal_in_memory(ty)),
        Opcode::LLVMGetElementPtr => {
            inst.value().gep_source().is_some_and(|ty| !is_legal_in_memory(ty))
                || values.into_iter().any(|value| is_odd(value.ty()))
        }
        Opcode::LLVMLoad => !is_legal(inst.ty()) || inst.ty().scalar().is_bool(),
        Opcode::LLVMStore => is_odd(operands[0].ty()) || is_bool(),
        Opcode::LLVMCall if intrinsics::is_expanded(inst) => true,
        // SPIR-V only has logical operations on booleans.
        Opcode::LLVMICmp => is_odd(operands[0].ty()) || is_bool(),
        opcode if is_arithmetic(opcode) => is_odd(inst.ty()) || is_bool(),
        // Structs of what SPIR-V has may be passed on.
        Opcode::LLVMCall | Opcode::LLVMRet | Opcode::LLVMAtomicCmpXchg => {
            let is_rest = |ty: Type<'_>| is_odd(ty) && !ty.is_struct() && !ty.is_array();
            is_rest(inst.ty()) || values.into_iter().any(|value| is_rest(value.ty()))
        }
        _ => is_odd(inst.ty()) || values.into_iter().any(|value| is_odd(value.ty())),
    }
}

/// Returns whether an opcode is an operation on integers but for the logical ones, which SPIR-V has on booleans, too.
fn is_arithmetic(opcode: Opcode) -> bool {
    use Opcode::*;
    matches!(
        opcode,
        LLVMAdd | LLVMSub | LLVMMul | LLVMUDiv | LLVMSDiv | LLVMURem | LLVMSRem | LLVMShl | LLVMLShr | LLVMAShr
    )
}

/// Rewrites a function.
fn rewrite<'m>(view: View<'m>, function: Function<'m>) -> Result<()> {
    let builder = view.builder();
    let mut rewriting =
        Rewriting { builder: &builder, layout: view.layout(), parts: HashMap::new(), dead: Vec::new(), refused: None };
    let blocks = in_order(function);
    let mut phis = Vec::new();
    for phi in blocks.iter().flat_map(|block| block.phis()).filter(|phi| !is_legal(phi.ty())) {
        builder.before(phi);
        phis.push((phi, rewriting.phi(phi)));
    }
    for block in blocks {
        for inst in block.instructions() {
            if inst.is(Opcode::LLVMPHI) {
                continue;
            }
            let uses_parts = || inst.operands().iter().any(|operand| rewriting.parts.contains_key(operand));
            if concerns(inst) || uses_parts() {
                builder.before(inst);
                rewriting.instruction(view, inst);
            }
        }
    }
    for (phi, parts) in phis {
        for (value, from) in phi.incoming() {
            builder.before(from.terminator());
            let held: Vec<Value<'m>> = rewriting.parts(value).iter().flat_map(Part::held).collect();
            for (part, value) in parts.iter().zip(held) {
                part.add_incoming(&[(value, from)]);
            }
        }
        rewriting.dead.push(phi);
    }
    let Rewriting { dead, refused, .. } = rewriting;
    drop(builder);
    if let Some(what) = refused {
        return Err(refusal(&what));
    }
    let mut seen = HashSet::new();
    let dead: Vec<Inst<'m>> = dead.into_iter().filter(|inst| seen.insert(*inst)).collect();
    for inst in dead.iter().filter(|inst| inst.is_used()) {
        inst.replace_uses(inst.ty().poison());
    }
    for inst in dead {
        inst.erase();
    }
    Ok(())
}

/// Returns the blocks of a function so that definitions come before their uses, phis apart; unreachable ones last.
fn in_order(function: Function<'_>) -> Vec<Block<'_>> {
    let mut seen = HashSet::from([function.entry()]);
    let mut open = vec![(function.entry(), function.entry().terminator().successors())];
    let mut order = Vec::new();
    while let Some((block, left)) = open.last_mut() {
        match left.pop() {
            Some(next) if seen.insert(next) => open.push((next, next.terminator().successors())),
            Some(_) => {}
            None => {
                order.push(*block);
                open.pop();
            }
        }
    }
    order.reverse();
    order.extend(function.blocks().into_iter().filter(|block| !seen.contains(block)));
    order
}

impl<'m> Rewriting<'_, 'm> {
    /// Makes the phis that stand for the parts of one, in front of it.
    fn phi(&mut self, phi: Inst<'m>) -> Vec<Inst<'m>> {
        let mut all = Vec::new();
        let mut parts = Vec::new();
        for leaf in self.leaves(phi.ty()) {
            let mut join = |ty: Type<'m>| {
                let own = self.builder.phi(ty, &[], "");
                all.push(own);
                own.value()
            };
            parts.push(match leaf.ty.int_width() {
                Some(bits) => {
                    let ty = leaf.ty.types().int(int::held_in(bits));
                    Part::Int(Int { bits, words: (0..int::words(bits)).map(|_| join(ty)).collect() })
                }
                None => Part::Other(join(leaf.ty)),
            });
        }
        self.parts.insert(phi.value(), parts);
        all
    }

    /// Rewrites an instruction, in front of which the builder stands.
    fn instruction(&mut self, view: View<'m>, inst: Inst<'m>) {
        use Opcode::*;
        let opcode = inst.opcode();
        match opcode {
            LLVMAlloca => match inst.allocated_type() {
                Some(ty) => self.variable(inst, ty),
                None => self.refuse(inst.text()),
            },
            LLVMGetElementPtr => self.step(inst),
            LLVMLoad if self.is_odd_access(inst.ty()) => self.load(inst),
            LLVMStore if self.is_odd_access(inst.operand(0).ty()) => self.store(inst),
            LLVMUDiv | LLVMSDiv | LLVMURem | LLVMSRem => self.divide(inst),
            LLVMFAdd | LLVMFSub | LLVMFMul | LLVMFDiv | LLVMFRem | LLVMFNeg => self.floats(inst),
            _ if is_arithmetic(opcode) || matches!(opcode, LLVMAnd | LLVMOr | LLVMXor) => {
                self.integers(inst, |ints, x, y| match opcode {
                    LLVMAdd => ints.add(x, y),
                    LLVMSub => ints.sub(x, y),
                    LLVMMul => ints.mul(x, y),
                    LLVMShl => ints.shl(x, y),
                    LLVMLShr => ints.lshr(x, y),
                    LLVMAShr => ints.ashr(x, y),
                    LLVMAnd => ints.and(x, y),
                    LLVMOr => ints.or(x, y),
                    _ => ints.xor(x, y),
                });
            }
            LLVMICmp | LLVMFCmp => self.compare(inst),
            LLVMSelect => self.select(inst),
            LLVMFreeze => {
                let parts = self.parts(inst.operand(0));
                let frozen = parts.into_iter().map(|part| self.frozen(part)).collect();
                self.set(inst, frozen);
            }
            LLVMExtractElement | LLVMInsertElement | LLVMShuffleVector => self.lanes(inst),
            LLVMExtractValue | LLVMInsertValue => self.fields(inst),
            LLVMSwitch => self.switch(inst),
            LLVMCall if intrinsics::is_intrinsic(inst) => self.intrinsic(view, inst),
            LLVMCall | LLVMRet | LLVMStore | LLVMAtomicCmpXchg | LLVMAtomicRMW => self.pass_on(inst),
            LLVMBr => {}
            _ if casts::is_cast(opcode) => self.cast(inst),
            _ => self.refuse(inst.text()),
        }
    }

    /// Gives an instruction operands that are whole values again.
    fn pass_on(&mut self, inst: Inst<'m>) {
        for at in 0..inst.operand_count() {
            let operand = inst.operand(at);
            let Some(parts) = self.parts.get(&operand).cloned() else { continue };
            if operand.ty().is_struct() {
                let whole = self.joined(&parts, operand.ty());
                inst.set_operand(at, whole);
            }
        }
    }

    /// Computes an operation of two integers in each lane.
    pub fn integers(&mut self, inst: Inst<'m>, compute: impl Fn(int::Ints<'_, 'm>, &Int<'m>, &Int<'m>) -> Int<'m>) {
        let (x, y) = (self.parts(inst.operand(0)), self.parts(inst.operand(1)));
        let mut parts = Vec::new();
        for pair in x.into_iter().zip(y) {
            let (Part::Int(x), Part::Int(y)) = pair else { return self.refuse(inst.text()) };
            parts.push(Part::Int(compute(self.ints(), &x, &y)));
        }
        self.set(inst, parts);
    }

    fn floats(&mut self, inst: Inst<'m>) {
        let operands: Vec<Vec<Part<'m>>> = inst.operands().into_iter().map(|operand| self.parts(operand)).collect();
        let mut parts = Vec::new();
        for lane in 0..operands[0].len() {
            let held: Vec<Value<'m>> =
                operands.iter().filter_map(|parts| parts.get(lane)).flat_map(Part::held).collect();
            parts.push(Part::Other(match held[..] {
                [x, y] => self.builder.binary(inst.opcode(), x, y, ""),
                [x] => self.builder.fneg(x, ""),
                _ => return self.refuse(inst.text()),
            }));
        }
        self.set(inst, parts);
    }

    fn compare(&mut self, inst: Inst<'m>) {
        let (x, y) = (self.parts(inst.operand(0)), self.parts(inst.operand(1)));
        let mut parts = Vec::new();
        for pair in x.into_iter().zip(y) {
            let bit = match (pair, inst.int_predicate(), inst.real_predicate()) {
                ((Part::Int(x), Part::Int(y)), Some(how), _) => self.ints().compare(how, &x, &y),
                ((Part::Other(x), Part::Other(y)), Some(how), _) => self.builder.icmp(how, x, y, ""),
                ((Part::Other(x), Part::Other(y)), _, Some(how)) => self.builder.fcmp(how, x, y, ""),
                _ => return self.refuse(inst.text()),
            };
            parts.push(Part::Int(Int { bits: 1, words: vec![bit] }));
        }
        self.set(inst, parts);
    }

    fn select(&mut self, inst: Inst<'m>) {
        let conditions = self.parts(inst.operand(0));
        let (x, y) = (self.parts(inst.operand(1)), self.parts(inst.operand(2)));
        let mut parts = Vec::new();
        for (lane, pair) in x.into_iter().zip(y).enumerate() {
            let condition = conditions.get(if conditions.len() == 1 { 0 } else { lane }).map(Part::held);
            let Some([condition]) = condition.as_deref() else { return self.refuse(inst.text()) };
            parts.push(match pair {
                (Part::Int(x), Part::Int(y)) => Part::Int(self.ints().select(*condition, &x, &y)),
                (Part::Other(x), Part::Other(y)) => Part::Other(self.builder.select(*condition, x, y, "")),
                _ => return self.refuse(inst.text()),
            });
        }
        self.set(inst, parts);
    }

    fn frozen(&self, part: Part<'m>) -> Part<'m> {
        let freeze = |value: Value<'m>| self.builder.freeze(value, "");
        match part {
            Part::Int(Int { bits, words }) => Part::Int(Int { bits, words: words.into_iter().map(freeze).collect() }),
            Part::Other(value) => Part::Other(freeze(value)),
        }
    }

    /// Takes lanes out of vectors, puts them in, rearranges them.
    fn lanes(&mut self, inst: Inst<'m>) {
        let first = self.parts(inst.operand(0));
        if let Some(mask) = inst.shuffle_mask() {
            let all: Vec<Part<'m>> = first.into_iter().chain(self.parts(inst.operand(1))).collect();
            let any = all.first().cloned();
            let lane = |lane: Option<u32>| lane.map_or(any.clone(), |lane| all.get(lane as usize).cloned());
            let Some(parts) = mask.into_iter().map(lane).collect() else { return self.refuse(inst.text()) };
            return self.set(inst, parts);
        }
        let is_insertion = inst.is(Opcode::LLVMInsertElement);
        let index = self.int(inst.operand(if is_insertion { 2 } else { 1 }));
        let known = index.words[0].as_u64();
        let new = is_insertion.then(|| self.part(inst.operand(1)));
        let mut parts = Vec::new();
        let mut found: Option<Part<'m>> = None;
        for (lane, part) in first.iter().enumerate() {
            let is_here = match known {
                Some(known) => Err(known == lane as u64),
                None => Ok(self.ints().is_equal(&index, &self.ints().constant(index.bits, lane as u128))),
            };
            let choose = |x: &Part<'m>, y: &Part<'m>| match is_here {
                Err(is) => Some(if is { x.clone() } else { y.clone() }),
                Ok(bit) => self.chosen(bit, x, y),
            };
            let chosen = match (&new, &found) {
                (Some(new), _) => choose(new, part),
                (None, None) => Some(part.clone()),
                (None, Some(found)) => choose(part, found),
            };
            let Some(chosen) = chosen else { return self.refuse(inst.text()) };
            match is_insertion {
                true => parts.push(chosen),
                false => found = Some(chosen),
            }
        }
        parts.extend(found);
        self.set(inst, parts);
    }

    fn chosen(&self, bit: Value<'m>, x: &Part<'m>, y: &Part<'m>) -> Option<Part<'m>> {
        match (x, y) {
            (Part::Int(x), Part::Int(y)) => Some(Part::Int(self.ints().select(bit, x, y))),
            (Part::Other(x), Part::Other(y)) => Some(Part::Other(self.builder.select(bit, *x, *y, ""))),
            _ => None,
        }
    }

    /// Takes fields out of structs and arrays, and puts them in.
    fn fields(&mut self, inst: Inst<'m>) {
        let whole = inst.operand(0);
        let mut ty = whole.ty();
        let mut from = 0;
        for index in inst.aggregate_indices().unwrap_or_default() {
            if ty.is_struct() {
                let fields = ty.fields();
                from += fields[..index as usize].iter().map(|field| self.leaves(*field).len()).sum::<usize>();
                ty = fields[index as usize];
            } else if let Some((element, _)) = ty.elements() {
                from += index as usize * self.leaves(element).len();
                ty = element;
            }
        }
        let to = from + self.leaves(ty).len();
        let mut parts = self.parts(whole);
        if to > parts.len() {
            return self.refuse(inst.text());
        }
        if inst.is(Opcode::LLVMExtractValue) {
            let own = parts[from..to].to_vec();
            return self.set(inst, own);
        }
        let new = self.parts(inst.operand(1));
        parts.splice(from..to, new);
        self.set(inst, parts);
    }

    fn switch(&mut self, inst: Inst<'m>) {
        let value = self.int(inst.operand(0));
        let cases: Vec<Int<'m>> = inst.switch_cases().into_iter().map(|(case, _)| self.int(case)).collect();
        match value.words[..] {
            [word] if word.ty() != inst.operand(0).ty() => {
                let cases: Vec<Value<'m>> = cases.into_iter().map(|case| case.words[0]).collect();
                inst.set_switch(word, &cases);
            }
            [_] => {}
            _ => {
                // The position of the case that it is; no case has the last one.
                let ty = self.types().int(32);
                let number = cases.iter().enumerate().rev().fold(ty.int(cases.len() as u64), |rest, (n, case)| {
                    let is = self.ints().is_equal(&value, case);
                    self.builder.select(is, ty.int(n as u64), rest, "")
                });
                let numbers: Vec<Value<'m>> = (0..cases.len() as u64).map(|n| ty.int(n)).collect();
                inst.set_switch(number, &numbers);
            }
        }
    }
}
