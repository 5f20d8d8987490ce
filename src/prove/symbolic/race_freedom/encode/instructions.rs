//! The results of instructions.

use super::*;
use crate::program::ids::id_of;
use crate::program::math::names::Function;
use crate::program::{Kind, Program, Shape};
use crate::solve::integers::Bitwise;
use kassay_ir::kernel::builtins::{self, Family};
use kassay_ir::llvm::Opcode;

impl<'p> Encoder<'_, '_, 'p> {
    /// The result of an instruction that is no `phi`.
    pub(super) fn result(
        &mut self,
        instruction: &'p Instruction,
        args: Vec<Value>,
        copy: Copy,
        is_before: bool,
    ) -> Result<Value, Unsupported> {
        let shape = self.context.kernel.program.shape(instruction.result);
        let known = match &instruction.op {
            Op::Load => Some(self.load(instruction, &args, shape, copy, is_before)),
            Op::Alloca(_) => Some(Value::at(Base::Object(Region::Private(instruction.result)), 0)),
            _ => self.pure(instruction, &args, shape),
        };
        let value = match known {
            Some(value) => value,
            None => {
                let name = self.name(instruction.result, copy);
                Value::unknown(self.integers, shape, &name)
            }
        };
        if let Kind::Int(bits) = shape.kind {
            let lanes = match &value {
                Value::Lanes(lanes) => lanes.as_slice(),
                scalar => std::slice::from_ref(scalar),
            };
            lanes.iter().filter_map(Value::number).for_each(|number| self.must_fit(instruction, number, bits));
        }
        self.operands_must_fit(instruction, &args);
        Ok(value)
    }

    /// Products of 24 bits are defined for operands of 24 bits only (OpenCL C 1.2, 6.12.3).
    fn operands_must_fit(&mut self, instruction: &'p Instruction, args: &[Value]) {
        let Op::Call(name, base) = &instruction.op else { return };
        let Some(function) = Function::of(name, base).filter(|f| matches!(f.base, "mul24" | "mad24")) else { return };
        let range = if function.is_signed { Range::signed(24) } else { Range::new(0, (1 << 24) - 1) };
        for arg in args.iter().take(2) {
            match arg {
                Value::Number(number) => self.must_be_in(instruction, number, range),
                Value::Lanes(lanes) => {
                    lanes.iter().filter_map(Value::number).for_each(|n| self.must_be_in(instruction, n, range));
                }
                _ => {}
            }
        }
    }

    /// Notes that a result has to fit its type.
    fn must_fit(&mut self, instruction: &'p Instruction, value: &Polynomial, bits: u32) {
        let can_wrap = matches!(
            &instruction.op,
            Op::Binary(Opcode::LLVMAdd | Opcode::LLVMSub | Opcode::LLVMMul | Opcode::LLVMShl)
                | Op::Cast(Opcode::LLVMTrunc)
                | Op::Call(..)
        );
        if can_wrap {
            self.must_be_in(instruction, value, Range::signed(bits));
        }
    }

    /// Notes that a value that is extended as an unsigned number has to be natural.
    pub(super) fn must_be_natural(&mut self, instruction: &'p Instruction, value: &Polynomial) {
        self.must_be_in(instruction, value, Range::from(0));
    }

    fn must_be_in(&mut self, instruction: &'p Instruction, value: &Polynomial, range: Range) {
        if !self.integers.range(value).is_within(range) {
            self.obligations.push(Obligation { instruction, value: value.clone(), range, reach: self.here.clone() });
        }
    }

    /// The result of an operation on its operands alone; `None` if it is not known.
    pub(super) fn pure(&mut self, instruction: &Instruction, args: &[Value], shape: Shape) -> Option<Value> {
        let program = self.context.kernel.program;
        if shape.lanes > 0 {
            return self.vector(instruction, args, shape);
        }
        match &instruction.op {
            Op::Extract => {
                let lane = usize::try_from(program.constant(*instruction.operands.get(1)?)?).ok()?;
                match args.first()? {
                    Value::Lanes(lanes) => lanes.get(lane).cloned(),
                    _ => None,
                }
            }
            Op::Address { .. } => Some(self.address(instruction, args)),
            Op::Copy => args.first().cloned(),
            Op::Call(name, base) => self.call(instruction, name, base, args, shape),
            _ => {
                let kind = program.shape(*instruction.operands.first()?).kind;
                self.scalar(instruction, args, kind, shape.kind)
            }
        }
    }

    /// An operation on vectors, lane by lane.
    fn vector(&mut self, instruction: &Instruction, args: &[Value], shape: Shape) -> Option<Value> {
        let program = self.context.kernel.program;
        let lanes = shape.lanes as usize;
        match &instruction.op {
            Op::Insert => {
                let at = usize::try_from(program.constant(*instruction.operands.get(2)?)?).ok()?;
                let mut all: Vec<Value> = (0..lanes).map(|i| args[0].lane(i)).collect();
                *all.get_mut(at)? = args[1].clone();
                Some(Value::Lanes(all))
            }
            Op::Shuffle(mask) => {
                let count = program.shape(*instruction.operands.first()?).lanes as usize;
                let pick = |lane: &i32| match usize::try_from(*lane) {
                    Ok(lane) if lane < count => args[0].lane(lane),
                    Ok(lane) => args[1].lane(lane - count),
                    Err(_) => Value::Opaque,
                };
                Some(Value::Lanes(mask.iter().map(pick).collect()))
            }
            Op::Binary(_) | Op::Compare(_) | Op::Cast(_) | Op::Select if !instruction.op.is_bit_cast() => {
                let kind = program.shape(*instruction.operands.first()?).kind;
                let lane = |i: usize, all: &mut Self| {
                    let args: Vec<Value> = args.iter().map(|a| a.lane(i)).collect();
                    all.scalar(instruction, &args, kind, shape.kind).unwrap_or(Value::Opaque)
                };
                Some(Value::Lanes((0..lanes).map(|i| lane(i, self)).collect()))
            }
            Op::Copy => args.first().cloned(),
            _ => None,
        }
    }

    /// An operation on scalars; `from` is the kind of its first operand.
    fn scalar(&mut self, instruction: &Instruction, args: &[Value], from: Kind, to: Kind) -> Option<Value> {
        match (&instruction.op, from) {
            (Op::Binary(opcode), Kind::Int(1)) => bits(*opcode, args[0].bit()?, args[1].bit()?),
            (Op::Binary(opcode), Kind::Int(width)) => {
                let (left, right) = (args[0].number()?.clone(), args[1].number()?.clone());
                let value = self.binary(*opcode, &left, &right, width)?;
                self.relate_to_powers(instruction, *opcode, (&left, &right), &value);
                Some(Value::Number(value))
            }
            (Op::Compare(predicate), Kind::Int(1)) => match predicate {
                IntPredicate::LLVMIntEQ => Some(Value::Bit(args[0].bit()?.same(args[1].bit()?))),
                IntPredicate::LLVMIntNE => Some(Value::Bit(args[0].bit()?.same(args[1].bit()?).negated())),
                _ => None,
            },
            (Op::Compare(predicate), Kind::Int(_)) => {
                let (left, right) = (args[0].number()?.clone(), args[1].number()?.clone());
                Some(Value::Bit(self.integers.compare(*predicate, &left, &right)))
            }
            (Op::Compare(predicate), Kind::Pointer) => self.compare_pointers(*predicate, &args[0], &args[1]),
            (Op::Select, _) => {
                let condition = args[0].bit()?.clone();
                match (&args[1], &args[2]) {
                    (Value::Number(yes), Value::Number(no)) => {
                        Some(Value::Number(self.integers.choose(&condition, yes, no)))
                    }
                    (Value::Bit(yes), Value::Bit(no)) => {
                        Some(Value::Bit(condition.and(yes).or(&condition.negated().and(no))))
                    }
                    (Value::Pointer(yes), Value::Pointer(no)) => {
                        let under = |places: &[Place], when: &Fact| {
                            let place = |p: &Place| Place { when: when.and(&p.when), ..p.clone() };
                            places.iter().map(place).collect::<Vec<Place>>()
                        };
                        let mut all = under(yes, &condition);
                        all.extend(under(no, &condition.negated()));
                        Some(Value::Pointer(all))
                    }
                    _ => None,
                }
            }
            (Op::Cast(opcode), _) => self.cast(*opcode, &args[0], from, to),
            _ => None,
        }
    }

    fn binary(&mut self, opcode: Opcode, left: &Polynomial, right: &Polynomial, width: u32) -> Option<Polynomial> {
        use Opcode::*;
        let all = &mut *self.integers;
        Some(match opcode {
            LLVMAdd => all.add(left, right),
            LLVMSub => all.subtract(left, right),
            LLVMMul => all.multiply(left, right),
            LLVMShl => {
                let factor = all.power_of_two(right);
                all.multiply(left, &factor)
            }
            LLVMLShr => all.shift_right(left, right, width, false),
            LLVMAShr => all.shift_right(left, right, width, true),
            LLVMUDiv => all.truncated("udiv", left, right, width),
            LLVMSDiv => all.truncated("sdiv", left, right, width),
            LLVMURem => all.truncated("urem", left, right, width),
            LLVMSRem => all.truncated("srem", left, right, width),
            LLVMAnd => all.bitwise(Bitwise::And, left, right, width),
            LLVMOr => all.bitwise(Bitwise::Or, left, right, width),
            LLVMXor => all.bitwise(Bitwise::Xor, left, right, width),
            _ => return None,
        })
    }

    /// States what an operation on bits gives if one operand is a power of two `p`, or one less, and the other, `x`, is
    /// natural: `x & (p - 1)` is the remainder of `x` by `p`, and `x & p` is `p` where the remainder by `2 * p` is at
    /// least `p`, else 0. `x | p` is `x + p` less that, and `x ^ p` less twice that.
    fn relate_to_powers(
        &mut self,
        instruction: &Instruction,
        opcode: Opcode,
        (left, right): (&Polynomial, &Polynomial),
        value: &Polynomial,
    ) {
        if !matches!(opcode, Opcode::LLVMAnd | Opcode::LLVMOr | Opcode::LLVMXor) || value.as_symbol().is_none() {
            return;
        }
        let (program, powers) = (self.context.kernel.program, &self.context.kernel.powers);
        let one = Polynomial::constant(1);
        let operands = &instruction.operands;
        for (operand, power, other) in [(operands[0], left, right), (operands[1], right, left)] {
            if other.as_constant().is_some() {
                continue;
            }
            let (power, result) = match opcode {
                Opcode::LLVMAnd if less_one(program, operand).is_some_and(|p| powers.contains(program, p)) => {
                    let power = self.integers.add(power, &one);
                    let rest = self.integers.divide(other, &power).1;
                    (power, rest)
                }
                _ if powers.contains(program, operand) => {
                    let power = power.clone();
                    let twice = self.integers.add(&power, &power);
                    let rest = self.integers.divide(other, &twice).1;
                    let is_set = self.integers.at_most(&power, &rest);
                    let bit = self.integers.choose(&is_set, &power, &Polynomial::default());
                    let sum = self.integers.add(other, &power);
                    let result = match opcode {
                        Opcode::LLVMAnd => bit,
                        Opcode::LLVMOr => self.integers.subtract(&sum, &bit),
                        _ => {
                            let all = self.integers.subtract(&sum, &bit);
                            self.integers.subtract(&all, &bit)
                        }
                    };
                    (power, result)
                }
                _ => continue,
            };
            let natural = self.integers.at_most(&Polynomial::default(), other);
            let positive = self.integers.at_most(&one, &power);
            let same = self.integers.equal(value, &result);
            self.integers.assert(&natural.and(&positive).implies(&same));
            return;
        }
    }

    fn compare_pointers(&mut self, predicate: IntPredicate, left: &Value, right: &Value) -> Option<Value> {
        let (Value::Pointer(left), Value::Pointer(right)) = (left, right) else { return None };
        let ([a], [b]) = (&left[..], &right[..]) else { return None };
        if a.base != b.base || a.base == Base::UNKNOWN {
            return None;
        }
        let same = self.integers.equal(&a.offset, &b.offset);
        match predicate {
            IntPredicate::LLVMIntEQ => Some(Value::Bit(same)),
            IntPredicate::LLVMIntNE => Some(Value::Bit(same.negated())),
            _ => None,
        }
    }

    fn cast(&mut self, opcode: Opcode, value: &Value, from: Kind, to: Kind) -> Option<Value> {
        use Opcode::*;
        let (zero, one) = (Polynomial::default(), Polynomial::constant(1));
        match (opcode, from, to) {
            (LLVMZExt, Kind::Int(1), Kind::Int(_)) => {
                Some(Value::Number(self.integers.choose(value.bit()?, &one, &zero)))
            }
            (LLVMSExt, Kind::Int(1), Kind::Int(_)) => {
                let all_ones = Polynomial::constant(-1);
                Some(Value::Number(self.integers.choose(value.bit()?, &all_ones, &zero)))
            }
            (LLVMZExt, Kind::Int(bits), Kind::Int(_)) => {
                Some(Value::Number(self.integers.unsigned_value(value.number()?, bits)))
            }
            (LLVMSExt, ..) => Some(Value::Number(value.number()?.clone())),
            (LLVMTrunc, _, Kind::Int(1)) => {
                let (_, low) = self.integers.divide(value.number()?, &Polynomial::constant(2));
                Some(Value::Bit(self.integers.equal(&low, &one)))
            }
            // Ids and sizes are converted to `int`; that they fit is an obligation.
            (LLVMTrunc, _, Kind::Int(32..)) => Some(Value::Number(value.number()?.clone())),
            (LLVMTrunc, _, Kind::Int(bits)) => Some(Value::Number(self.integers.low(value.number()?, bits))),
            (LLVMBitCast | LLVMAddrSpaceCast, Kind::Pointer, Kind::Pointer) => Some(value.clone()),
            (LLVMIntToPtr, ..) => Some(Value::anywhere()),
            _ => None,
        }
    }

    /// The address that an instruction computes.
    pub(super) fn address(&mut self, instruction: &Instruction, args: &[Value]) -> Value {
        let (Op::Address { steps, offset }, Some(Value::Pointer(places))) = (&instruction.op, args.first()) else {
            return Value::anywhere();
        };
        let mut sum = Polynomial::constant(i128::from(*offset));
        for step in steps {
            let index = match args.get(step.operand).and_then(Value::number) {
                Some(index) => index.clone(),
                None => self.integers.fresh("index", Range::signed(64)),
            };
            let bytes = self.integers.multiply(&index, &Polynomial::constant(i128::from(step.scale)));
            sum = self.integers.add(&sum, &bytes);
        }
        let moved = |place: &Place, integers: &mut Integers| Place {
            offset: integers.add(&place.offset, &sum),
            ..place.clone()
        };
        Value::Pointer(places.iter().map(|place| moved(place, self.integers)).collect())
    }

    /// The result of a call that is a function of its operands, an id or a size.
    fn call(
        &mut self,
        instruction: &Instruction,
        name: &str,
        base: &str,
        args: &[Value],
        shape: Shape,
    ) -> Option<Value> {
        let launch = &self.context.launch;
        if let Some(id) = id_of(base) {
            let d = self.context.kernel.program.constant(*instruction.operands.first()?)?;
            return Some(Value::Number(match usize::try_from(d) {
                Ok(d @ 0..3) => launch.id(id, d, self.item, self.integers),
                _ => Polynomial::constant(i128::from(id.beyond())),
            }));
        }
        if let "get_global_linear_id" | "get_local_linear_id" = base {
            return Some(Value::Number(launch.linear(base == "get_global_linear_id", self.item, self.integers)));
        }
        let Kind::Int(bits @ 2..=64) = shape.kind else { return None };
        if let Some(id) = launch.of_sub_group(base, self.item, self.integers) {
            return Some(Value::Number(id));
        }
        let of_image = || match self.context.kernel.program.values[*instruction.operands.first()? as usize] {
            Definition::Param(position) if builtins::family(base) == Some(Family::ImageQuery) => Some(position),
            _ => None,
        };
        if let Some(position) = of_image() {
            let name = format!("{base} of argument {position}");
            return Some(Value::Number(self.integers.symbol(&name, Range::signed(bits))));
        }
        let function = Function::of(name, base)?;
        let numbers: Option<Vec<Polynomial>> = args.iter().map(|a| a.number().cloned()).collect();
        let all = &mut *self.integers;
        let less = if function.is_signed { IntPredicate::LLVMIntSLT } else { IntPredicate::LLVMIntULT };
        Some(Value::Number(match (function.base, &numbers?[..]) {
            ("min", [a, b]) => {
                let first = all.compare(less, a, b);
                all.choose(&first, a, b)
            }
            ("max", [a, b]) => {
                let second = all.compare(less, a, b);
                all.choose(&second, b, a)
            }
            ("clamp", [x, low, high]) => {
                let below = all.compare(less, x, low);
                let raised = all.choose(&below, low, x);
                let above = all.compare(less, high, &raised);
                all.choose(&above, high, &raised)
            }
            ("mul24", [a, b]) => all.multiply(a, b),
            ("mad24", [a, b, c]) => {
                let product = all.multiply(a, b);
                all.add(&product, c)
            }
            ("abs", [a, ..]) if function.is_signed => {
                let zero = Polynomial::default();
                let negative = all.below(a, &zero);
                let opposite = all.subtract(&zero, a);
                all.choose(&negative, &opposite, a)
            }
            ("popcount" | "clz" | "ctz", [a, ..]) => {
                let name = if function.base == "popcount" { "popcount" } else { "zeros" };
                let other = Polynomial::constant(if function.base == "clz" { 0 } else { 1 });
                all.opaque(name, a, &other, Range::new(0, i128::from(bits)))
            }
            _ => return None,
        }))
    }

    /// What a load returns: a function of the address where nobody writes meanwhile.
    fn load(&mut self, instruction: &Instruction, args: &[Value], shape: Shape, copy: Copy, is_before: bool) -> Value {
        let name = self.name(instruction.result, copy);
        let (Some(Value::Pointer(places)), Kind::Int(bits @ 2..=64)) = (args.first(), shape.kind) else {
            return Value::unknown(self.integers, shape, &name);
        };
        let [place] = &places[..] else { return Value::unknown(self.integers, shape, &name) };
        let (Base::Object(region), kernel) = (place.base, self.context.kernel) else {
            return Value::unknown(self.integers, shape, &name);
        };
        let never = kernel.is_only_read(place.base, &kernel.written);
        let not_here = !is_before
            && self.context.scope == Scope::IntraGroup
            && kernel.is_only_read(place.base, &self.context.written);
        if !(never || not_here) || kernel.program.volatile.contains(&instruction.result) {
            return Value::unknown(self.integers, shape, &name);
        }
        let bytes = i128::from(shape.lane_bytes());
        let mut lanes = Vec::new();
        for lane in 0..i128::from(shape.lanes.max(1)) {
            let offset = self.integers.add(&place.offset, &Polynomial::constant(lane * bytes));
            let member = match (region, offset.as_constant()) {
                (Region::Argument(position), Some(at)) if kernel.is_by_value(position) => {
                    u64::try_from(at).ok().map(|at| super::super::scalars::scalar_name(position, at, bits))
                }
                _ => None,
            };
            lanes.push(Value::Number(match member {
                Some(name) if never => self.integers.symbol(&name, Range::signed(bits)),
                _ => {
                    let when = if never { "" } else { " meanwhile" };
                    let name = format!("contents of {region:?}, {bits} bits{when}");
                    self.integers.apply(&name, &offset, Range::signed(bits))
                }
            }));
        }
        if shape.lanes == 0 { lanes.swap_remove(0) } else { Value::Lanes(lanes) }
    }
}

/// The value that an instruction computes less one of.
fn less_one(program: &Program, value: ValueId) -> Option<ValueId> {
    let instruction = program.instruction(value)?;
    let by = program.constant(*instruction.operands.get(1)?)?;
    match (&instruction.op, by) {
        (Op::Binary(Opcode::LLVMAdd), -1) | (Op::Binary(Opcode::LLVMSub), 1) => instruction.operands.first().copied(),
        _ => None,
    }
}

fn bits(opcode: Opcode, left: &Fact, right: &Fact) -> Option<Value> {
    Some(Value::Bit(match opcode {
        Opcode::LLVMAnd => left.and(right),
        Opcode::LLVMOr => left.or(right),
        Opcode::LLVMXor => left.same(right).negated(),
        _ => return None,
    }))
}
