//! The values of loops' `phi`s.

use super::*;
use crate::program::Kind;
use crate::program::ids::id_of;
use crate::solve::integers::Bitwise;
use kassay_ir::llvm::Opcode;

/// Most operations between a `phi` and what it becomes in the next iteration.
const MAX_STEPS: usize = 6;

/// How a header's `phi`s are encoded in a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    /// As they come in: nothing is abstracted.
    Exact,
    /// After any number of iterations.
    Any,
    /// In the iteration in which the start was passed.
    OfStart,
    /// In a later one than that.
    Later,
}

/// A summand of what a `phi` gains in an iteration.
enum Step {
    Plus(ValueId),
    Minus(ValueId),
    /// Of an address computation: the bytes that it adds.
    Bytes(ValueId),
}

impl<'p> Encoder<'_, '_, 'p> {
    /// Sets the `phi`s of a header.
    pub(super) fn header(&mut self, copy: Copy, l: usize, is_before: bool) {
        let kernel = self.context.kernel;
        let segment = &self.context.segment;
        let free = self.context.free[l];
        let form = match (segment.phase_of(l), copy.1) {
            (Some(_), _) if is_before => Form::OfStart,
            (None, _) if is_before => Form::Any,
            (Some(own), phase) if own == phase => {
                if free {
                    Form::Later
                } else {
                    Form::Exact
                }
            }
            _ if free => Form::Any,
            _ => Form::Exact,
        };
        let block = kernel.graph.nodes[copy.0].block;
        let mut values = HeaderValues { l, copy, phis: Vec::new() };
        let mut all: Vec<(&'p Instruction, Option<Value>)> = Vec::new();
        for phi in &kernel.program.blocks[block].instructions {
            let Op::Phi(from) = &phi.op else { break };
            if !kernel.is_relevant(phi.result) {
                continue;
            }
            if form == Form::Exact {
                let value = self.joined(phi, from, copy);
                self.values.insert((phi.result, copy.1), value);
                continue;
            }
            let entered = match form {
                Form::Later => self.entered.get(&phi.result).cloned(),
                _ => {
                    let incoming = self.incoming(phi, from, copy);
                    let name = format!("{} entered", self.name_of_header(phi.result, copy, form));
                    (!incoming.is_empty()).then(|| self.merged(phi, incoming, &name))
                }
            };
            if let (Form::OfStart, Some(entered)) = (form, &entered) {
                self.entered.insert(phi.result, entered.clone());
            }
            all.push((phi, entered));
        }
        let entered_of = |phi: ValueId| {
            let found = all.iter().find(|(other, _)| other.result == phi);
            found.and_then(|(_, entered)| entered.clone())
        };
        let turned: Vec<Option<Value>> =
            all.iter().map(|(phi, _)| self.turned(phi, l, copy, form, &entered_of)).collect();
        for ((phi, entered), turned) in all.into_iter().zip(turned) {
            let value = entered.as_ref().and_then(|entered| self.closed_form(phi, entered, l, copy, form)).or(turned);
            let value = value.unwrap_or_else(|| {
                let name = self.name_of_header(phi.result, copy, form);
                self.any_of(phi, &name)
            });
            values.phis.push((phi.result, value.clone(), entered.unwrap_or(Value::Opaque)));
            self.values.insert((phi.result, copy.1), value);
        }
        if form != Form::Exact {
            self.assume_invariants(&values);
            self.headers.push(values);
        }
    }

    fn name_of_header(&self, value: ValueId, copy: Copy, form: Form) -> String {
        let together = form == Form::OfStart
            && !self.context.kernel.uniformity.is_divergent(value)
            && self.context.is_together(copy);
        let suffix = if together { "" } else { self.item.suffix() };
        format!("%{value}@{} any{suffix}", copy.1)
    }

    /// Any value of a `phi`; a pointer to one of its objects.
    fn any_of(&mut self, phi: &Instruction, name: &str) -> Value {
        let shape = self.context.kernel.program.shape(phi.result);
        if shape.kind != Kind::Pointer {
            return Value::unknown(self.integers, shape, name);
        }
        let mut places: Vec<Place> = Vec::new();
        let regions = self.context.kernel.regions(phi.result);
        for (i, region) in regions.iter().enumerate() {
            let when = if regions.len() == 1 { Fact::True } else { self.integers.bit(&format!("{name} object {i}")) };
            let offset = self.integers.symbol(&format!("{name} offset {i}"), Range::ALL);
            // It is in one object.
            for Place { when: other, .. } in &places {
                self.integers.assert(&when.and(other).negated());
            }
            places.push(Place { when, base: Base::Object(*region), offset });
        }
        Value::Pointer(places)
    }

    /// `entered + k * step` for a `phi` that gains the same in each iteration.
    fn closed_form(
        &mut self,
        phi: &'p Instruction,
        entered: &Value,
        l: usize,
        copy: Copy,
        form: Form,
    ) -> Option<Value> {
        let steps = self.steps(phi, l)?;
        match entered {
            Value::Number(entered) => {
                let step = self.step(&steps, copy)?;
                let k = self.iterations(l, copy, form);
                let gained = self.integers.multiply(&k, &step);
                let value = self.integers.add(entered, &gained);
                if self.is_extended(phi, l) {
                    self.must_be_natural(phi, &value);
                }
                Some(Value::Number(value))
            }
            Value::Pointer(places) => {
                let step = self.step(&steps, copy)?;
                let k = self.iterations(l, copy, form);
                let gained = self.integers.multiply(&k, &step);
                let moved = |place: &Place, integers: &mut Integers| Place {
                    offset: integers.add(&place.offset, &gained),
                    ..place.clone()
                };
                Some(Value::Pointer(places.iter().map(|place| moved(place, self.integers)).collect()))
            }
            _ => None,
        }
    }

    /// The value of a `phi` that every second iteration gives the same: it swaps with another one (`from`, `to`), or is
    /// taken from a value that the loop does not change (`1 - turn`, `turn ^ 1`).
    fn turned(
        &mut self,
        phi: &'p Instruction,
        l: usize,
        copy: Copy,
        form: Form,
        entered_of: &dyn Fn(ValueId) -> Option<Value>,
    ) -> Option<Value> {
        let program = self.context.kernel.program;
        let next = self.next_of(phi, l)?;
        let entered = entered_of(phi.result)?;
        let mut odd = None;
        let other = match program.instruction(next) {
            Some(step) if matches!(step.op, Op::Phi(_)) => {
                let (other, always) = self.partner(phi, next, l)?;
                if !always {
                    odd = Some(self.is_swapped((phi.result, other), l, copy, form));
                }
                entered_of(other)?
            }
            Some(step) => {
                let (a, b) = (*step.operands.first()?, *step.operands.get(1)?);
                match &step.op {
                    Op::Binary(Opcode::LLVMSub) if b == phi.result && self.is_fixed(a, l) => {
                        let from = self.fixed(a, copy)?;
                        Value::Number(self.integers.subtract(&from, entered.number()?))
                    }
                    Op::Binary(Opcode::LLVMXor) if a == phi.result || b == phi.result => {
                        let mask = program.constant(if a == phi.result { b } else { a })?;
                        match (&entered, program.shape(phi.result).kind) {
                            (Value::Number(entered), Kind::Int(bits @ 2..=64)) => {
                                let mask = Polynomial::constant(i128::from(mask));
                                let entered = entered.clone();
                                Value::Number(self.integers.bitwise(Bitwise::Xor, &entered, &mask, bits))
                            }
                            (Value::Bit(entered), _) if mask & 1 == 1 => Value::Bit(entered.negated()),
                            _ => return None,
                        }
                    }
                    _ => return None,
                }
            }
            None => return None,
        };
        let odd = odd.unwrap_or_else(|| self.is_odd(l, copy, form));
        Some(match (entered, other) {
            (Value::Number(even), Value::Number(other)) => Value::Number(self.integers.choose(&odd, &other, &even)),
            (Value::Bit(even), Value::Bit(other)) => Value::Bit(odd.and(&other).or(&odd.negated().and(&even))),
            (Value::Pointer(even), Value::Pointer(other)) => {
                let under = |places: Vec<Place>, when: &Fact| {
                    places.into_iter().map(|p| Place { when: when.and(&p.when), ..p }).collect::<Vec<Place>>()
                };
                let mut all = under(even, &odd.negated());
                all.extend(under(other, &odd));
                Value::Pointer(all)
            }
            _ => return None,
        })
    }

    /// The `phi` of the header with which another one swaps, and whether it does so in each iteration. In any other
    /// both stay as they are.
    fn partner(&self, phi: &Instruction, next: ValueId, l: usize) -> Option<(ValueId, bool)> {
        let program = self.context.kernel.program;
        let graph = &self.context.kernel.graph;
        let block = graph.nodes[graph.loops[l].header].block;
        let others = program.blocks[block].instructions.iter().take_while(|i| matches!(i.op, Op::Phi(_)));
        for other in others.filter(|other| other.result != phi.result) {
            let Some(of_other) = self.next_of(other, l) else { continue };
            let mut swaps = Vec::new();
            if self.follow((next, of_other), (phi.result, other.result), MAX_STEPS, &mut swaps) && swaps.contains(&true)
            {
                return Some((other.result, !swaps.contains(&false)));
            }
        }
        None
    }

    /// Notes for each way through the loop whether it swaps two `phi`s. Returns whether all swap or keep them.
    fn follow(
        &self,
        (a, b): (ValueId, ValueId),
        (one, other): (ValueId, ValueId),
        depth: usize,
        swaps: &mut Vec<bool>,
    ) -> bool {
        if (a, b) == (one, other) || (a, b) == (other, one) {
            swaps.push(a == other);
            return true;
        }
        let program = self.context.kernel.program;
        let (Some(x), Some(y)) = (program.instruction(a), program.instruction(b)) else { return false };
        let (Op::Phi(of_x), Op::Phi(of_y)) = (&x.op, &y.op) else { return false };
        let place = |value: ValueId| match program.values[value as usize] {
            Definition::Inst { block, .. } => Some(block),
            _ => None,
        };
        // They choose by the same edges.
        let is_alike = depth > 0 && place(a) == place(b) && of_x == of_y;
        is_alike
            && x.operands.iter().zip(&y.operands).all(|(p, q)| self.follow((*p, *q), (one, other), depth - 1, swaps))
    }

    /// Whether two `phi`s that swap in some iterations are swapped.
    fn is_swapped(&mut self, (one, other): (ValueId, ValueId), l: usize, copy: Copy, form: Form) -> Fact {
        let uniformity = &self.context.kernel.uniformity;
        // Work-items swap them together only if nothing that parts them decides it.
        let differ = uniformity.is_divergent(one) || uniformity.is_divergent(other);
        let suffix = if differ { self.item.suffix() } else { self.suffix_of_iteration(l, form) };
        let name = format!("swapped {} {} {}@{}{suffix}", one.min(other), one.max(other), copy.0, copy.1);
        self.integers.bit(&name)
    }

    /// What a `phi` of a loop's header becomes in the next iteration, but for `phi`s that only pass it on.
    fn next_of(&self, phi: &Instruction, l: usize) -> Option<ValueId> {
        let (program, graph) = (self.context.kernel.program, &self.context.kernel.graph);
        let Op::Phi(from) = &phi.op else { return None };
        let body = &graph.loops[l].body;
        let latches: Vec<usize> = (0..from.len()).filter(|i| body.contains(&graph.last[from[*i].0])).collect();
        let [latch] = latches[..] else { return None };
        let mut next = phi.operands[latch];
        for _ in 0..MAX_STEPS {
            match program.instruction(next) {
                Some(passed) if matches!(passed.op, Op::Phi(_)) && !self.is_phi_of(passed, l) => {
                    if !passed.operands.windows(2).all(|pair| pair[0] == pair[1]) {
                        return Some(next);
                    }
                    next = *passed.operands.first()?;
                }
                _ => return Some(next),
            }
        }
        None
    }

    /// Whether an instruction is a `phi` of a loop's header.
    fn is_phi_of(&self, instruction: &Instruction, l: usize) -> bool {
        let Definition::Inst { block, .. } = self.context.kernel.program.values[instruction.result as usize] else {
            return false;
        };
        let graph = &self.context.kernel.graph;
        matches!(instruction.op, Op::Phi(_)) && graph.nodes[graph.loops[l].header].block == block
    }

    /// Whether the number of iterations that came before is odd.
    fn is_odd(&mut self, l: usize, copy: Copy, form: Form) -> Fact {
        let suffix = self.suffix_of_iteration(l, form);
        self.integers.bit(&format!("odd {l} {}@{}{suffix}", copy.0, copy.1))
    }

    /// What names of what belongs to an iteration end with.
    fn suffix_of_iteration(&self, l: usize, form: Form) -> &'static str {
        let graph = &self.context.kernel.graph;
        let around = &graph.nodes[graph.loops[l].header].loops;
        let together = form == Form::OfStart
            && self.context.scope == Scope::IntraGroup
            && around.iter().all(|l| self.context.starts_in_one_iteration(*l));
        if together { "" } else { self.item.suffix() }
    }

    /// Whether the loop extends a `phi` as an unsigned number.
    fn is_extended(&self, phi: &Instruction, l: usize) -> bool {
        let body = &self.context.kernel.graph.loops[l].body;
        body.iter().flat_map(|node| self.context.kernel.instructions(*node)).any(|(instruction, _)| {
            matches!(instruction.op, Op::Cast(Opcode::LLVMZExt)) && instruction.operands[0] == phi.result
        })
    }

    /// The number of iterations that came before.
    fn iterations(&mut self, l: usize, copy: Copy, form: Form) -> Polynomial {
        let suffix = self.suffix_of_iteration(l, form);
        let name = format!("iterations {l} {}@{}{suffix}", copy.0, copy.1);
        let is_new = !self.integers.knows(&name);
        let k = self.integers.symbol(&name, Range::from(0));
        if form == Form::OfStart {
            self.iterations.insert(l, k.clone());
        } else if let (Form::Later, true, Some(before)) = (form, is_new, self.iterations.get(&l).cloned()) {
            let later = self.integers.below(&before, &k);
            self.integers.assert(&later);
        }
        k
    }

    /// What a `phi` gains in an iteration, if that is a sum of values that the loop does not change.
    fn steps(&self, phi: &Instruction, l: usize) -> Option<Vec<Step>> {
        let (program, graph) = (self.context.kernel.program, &self.context.kernel.graph);
        let Op::Phi(from) = &phi.op else { return None };
        let body = &graph.loops[l].body;
        let latches: Vec<usize> = (0..from.len()).filter(|i| body.contains(&graph.last[from[*i].0])).collect();
        let [latch] = latches[..] else { return None };
        let mut value = phi.operands[latch];
        let mut steps = Vec::new();
        for _ in 0..MAX_STEPS {
            if value == phi.result {
                return Some(steps);
            }
            let instruction = program.instruction(value)?;
            let operands = &instruction.operands;
            let fixed = |i: usize| self.is_fixed(operands[i], l);
            match &instruction.op {
                Op::Binary(Opcode::LLVMAdd) if fixed(1) => {
                    steps.push(Step::Plus(operands[1]));
                    value = operands[0];
                }
                Op::Binary(Opcode::LLVMAdd) if fixed(0) => {
                    steps.push(Step::Plus(operands[0]));
                    value = operands[1];
                }
                Op::Binary(Opcode::LLVMSub) if fixed(1) => {
                    steps.push(Step::Minus(operands[1]));
                    value = operands[0];
                }
                Op::Address { .. } if (1..operands.len()).all(fixed) => {
                    steps.push(Step::Bytes(value));
                    value = operands[0];
                }
                Op::Copy if program.shape(value).is_int() => value = operands[0],
                Op::Cast(cast) if program.shape(value).is_int() && self.keeps_value(*cast, value, operands[0], phi) => {
                    value = operands[0];
                }
                Op::Phi(_) if operands.windows(2).all(|pair| pair[0] == pair[1]) => value = operands[0],
                _ => return None,
            }
        }
        None
    }

    /// Whether a conversion keeps the value, given that the results of operations fit their types: that of a
    /// conversion to fewer bits is an obligation for 32 bits and more, and an unsigned conversion is one of the `phi`
    /// itself, which then has to be natural.
    fn keeps_value(&self, cast: Opcode, to: ValueId, from: ValueId, phi: &Instruction) -> bool {
        let bits = |value: ValueId| match self.context.kernel.program.shape(value).kind {
            Kind::Int(bits) => bits,
            _ => 0,
        };
        match cast {
            Opcode::LLVMSExt => bits(from) > 1,
            Opcode::LLVMTrunc => bits(to) >= 32,
            Opcode::LLVMZExt => bits(from) > 1 && from == phi.result,
            _ => false,
        }
    }

    /// Whether a value is the same in all iterations of a loop: defined outside, or computed from sizes and such values
    /// alone.
    fn is_fixed(&self, value: ValueId, l: usize) -> bool {
        let program = self.context.kernel.program;
        let Definition::Inst { block, index } = program.values[value as usize] else {
            return !program.undefined.contains(&value);
        };
        if !self.context.kernel.graph.loops[l].body.contains(&self.node_of(block, index)) {
            return true;
        }
        let instruction = &program.blocks[block].instructions[index];
        match &instruction.op {
            Op::Call(_, base) => id_of(base).is_some(),
            Op::Cast(Opcode::LLVMTrunc | Opcode::LLVMSExt | Opcode::LLVMZExt)
            | Op::Binary(Opcode::LLVMAdd | Opcode::LLVMSub | Opcode::LLVMMul | Opcode::LLVMShl) => {
                instruction.operands.iter().all(|o| self.is_fixed(*o, l))
            }
            _ => false,
        }
    }

    /// The sum of steps.
    fn step(&mut self, steps: &[Step], copy: Copy) -> Option<Polynomial> {
        let mut sum = Polynomial::default();
        for step in steps {
            sum = match step {
                Step::Plus(value) => {
                    let value = self.fixed(*value, copy)?;
                    self.integers.add(&sum, &value)
                }
                Step::Minus(value) => {
                    let value = self.fixed(*value, copy)?;
                    self.integers.subtract(&sum, &value)
                }
                Step::Bytes(address) => {
                    let instruction = self.context.kernel.program.instruction(*address)?;
                    let mut args = vec![Value::at(Base::Null, 0)];
                    for operand in &instruction.operands[1..] {
                        args.push(Value::Number(self.fixed(*operand, copy)?));
                    }
                    match self.address(instruction, &args) {
                        Value::Pointer(places) => self.integers.add(&sum, &places.first()?.offset),
                        _ => return None,
                    }
                }
            };
        }
        Some(sum)
    }

    /// A value that no iteration changes, also where it is computed later in the loop.
    fn fixed(&mut self, value: ValueId, copy: Copy) -> Option<Polynomial> {
        let program = self.context.kernel.program;
        let computed = program.instruction(value).filter(|i| {
            matches!(&i.op, Op::Call(..) | Op::Cast(_) | Op::Binary(_))
                && !self.values.contains_key(&(value, copy.1))
                && !self.values.contains_key(&(value, 0))
        });
        let Some(instruction) = computed else {
            return self.value(value, copy).number().cloned();
        };
        let mut args = Vec::new();
        for operand in &instruction.operands {
            args.push(match program.constant(*operand) {
                Some(_) => self.value(*operand, copy),
                None => Value::Number(self.fixed(*operand, copy)?),
            });
        }
        let shape = program.shape(value);
        self.pure(instruction, &args, shape).and_then(|value| value.number().cloned())
    }
}
