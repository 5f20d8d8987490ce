//! Interval analysis of polynomials, for a launch's sizes and given scalars.

use std::cell::RefCell;
use std::collections::HashMap;

use kassay_ir::cfg::indices::BlockIndex;
use kassay_ir::kernel::builtins::{self, Family};
use kassay_ir::llvm::Opcode;
use kassay_prove::program::{Kind, Op};
use kassay_suite::launch::ResolvedRange;

use super::polynomial::{Atom, Id, Poly, Symbols};

/// Least and greatest value.
pub type Interval = (i128, i128);

/// Assumed where nothing is known.
const DEFAULT: Interval = (0, 15);
const DEPTH: u32 = 12;
/// Values evaluated for one launch; any others count as unknown.
const MAX_EVALUATIONS: usize = 20_000;
const FAR: i128 = 1 << 62;

/// Upper bounds that branches impose on values: `atom < bound`.
pub type Bounds = HashMap<Atom, Vec<Poly>>;

/// Evaluates polynomials to intervals.
pub struct IntervalAnalysis<'s, 'p> {
    pub symbols: &'s Symbols<'p>,
    pub bounds: &'s Bounds,
    pub range: ResolvedRange,
    /// Values of by-value arguments, by position and byte offset; `None` if unknown.
    pub scalars: &'s dyn Fn(u32, u64) -> Option<i128>,
    /// Interval of values loaded from buffers; `None`: the range of their type.
    pub contents: Option<Interval>,
    /// Intervals of values, by value and the remaining depth.
    pub cache: RefCell<HashMap<(u32, u32), Interval>>,
}

impl IntervalAnalysis<'_, '_> {
    /// Returns the interval of a polynomial.
    pub fn of(&self, poly: &Poly) -> Interval {
        self.poly(poly, DEPTH)
    }

    fn poly(&self, poly: &Poly, depth: u32) -> Interval {
        let mut sum = (0i128, 0i128);
        for (product, n) in &poly.0 {
            let mut range = (*n, *n);
            for atom in product {
                range = product_of(range, self.atom(*atom, depth));
            }
            sum = (clip(sum.0 + range.0), clip(sum.1 + range.1));
        }
        sum
    }

    fn atom(&self, atom: Atom, depth: u32) -> Interval {
        let of = |n: u64| (i128::from(n), i128::from(n));
        let below = |n: u64| (0, i128::from(n.max(1)) - 1);
        match atom {
            Atom::Arg(arg, offset) => (self.scalars)(arg, offset).map_or(DEFAULT, |n| (n, n)),
            Atom::Id(id, d) => {
                let d = usize::from(d);
                let groups = self.range.group_counts()[d];
                match id {
                    Id::Global => {
                        let (first, last) = below(self.range.global[d]);
                        let by = i128::from(self.range.offset[d]);
                        (first + by, last + by)
                    }
                    Id::Local => below(self.range.local[d]),
                    Id::Group => below(groups),
                    Id::GlobalSize => of(self.range.global[d]),
                    Id::LocalSize => of(self.range.local[d]),
                    Id::Groups => of(groups),
                    Id::Offset => of(self.range.offset[d]),
                }
            }
            Atom::Value(_) if depth == 0 => DEFAULT,
            Atom::Value(value) => {
                let cache = self.cache.borrow();
                if let Some(range) =
                    cache.get(&(value, depth)).copied().or((cache.len() >= MAX_EVALUATIONS).then_some(DEFAULT))
                {
                    return range;
                }
                drop(cache);
                let range = self.value(value, depth - 1);
                self.cache.borrow_mut().insert((value, depth), range);
                range
            }
        }
    }

    /// What is in memory, or in each component of a vector there.
    fn loaded(&self, value: u32) -> Interval {
        match (self.contents, self.symbols.program.shape(value).kind) {
            (Some(contents), _) => contents,
            (None, Kind::Int(width)) if width <= 16 => (0, (1 << width) - 1),
            _ => (-FAR, FAR),
        }
    }

    fn value(&self, value: u32, depth: u32) -> Interval {
        let program = self.symbols.program;
        let bounded = |range: Interval| {
            let bounds = self.bounds.get(&Atom::Value(value)).into_iter().flatten();
            let least = bounds.map(|b| self.poly(b, depth).1 - 1).min();
            least.map_or(range, |most| (range.0, range.1.min(most).max(range.0)))
        };
        let Some(instruction) = program.instruction(value) else { return DEFAULT };
        let operand = |i: usize| self.poly(&self.symbols.poly(instruction.operands[i]), depth);
        let constant = |i: usize| program.constant(instruction.operands[i]).map(i128::from);
        match &instruction.op {
            Op::Phi(from) => {
                let here = program.block_of(value).unwrap_or(BlockIndex::ENTRY);
                let is_back = |b: BlockIndex| program.dominates(here, b);
                let outside: Vec<Interval> = (0..from.len()).filter(|i| !is_back(from[*i])).map(operand).collect();
                let start = outside.into_iter().reduce(union).unwrap_or(DEFAULT);
                if !from.iter().any(|b| is_back(*b)) {
                    return start;
                }
                let is_bounded = self.bounds.contains_key(&Atom::Value(value));
                bounded((start.0.min(start.1), if is_bounded { FAR } else { clip(start.1 + DEFAULT.1) }))
            }
            Op::Load => bounded(self.loaded(value)),
            Op::Extract => match program.instruction(instruction.operands[0]) {
                Some(vector) if is_loaded(&vector.op) => bounded(self.loaded(instruction.operands[0])),
                _ => DEFAULT,
            },
            Op::Select => union(operand(1), operand(2)),
            Op::Cast(Opcode::LLVMZExt) => {
                let inner = program.shape(instruction.operands[0]).kind;
                let widest = if let Kind::Int(width) = inner { (1i128 << width.min(63)) - 1 } else { FAR };
                let (low, high) = operand(0);
                if low < 0 { (0, widest) } else { (low, high.min(widest)) }
            }
            Op::Cast(_) | Op::Copy => operand(0),
            Op::Compare(_) | Op::FCompare(_) => (0, 1),
            Op::Binary(opcode) => match opcode {
                Opcode::LLVMAnd => match (constant(1), constant(0)) {
                    (Some(mask), _) | (_, Some(mask)) if mask >= 0 => (0, mask),
                    _ => (0, operand(0).1.max(operand(1).1)),
                },
                Opcode::LLVMURem => {
                    let ((low, high), most) = (operand(0), (operand(1).1 - 1).max(0));
                    // No remainder exceeds what is divided.
                    (0, if low >= 0 { most.min(high) } else { most })
                }
                Opcode::LLVMSRem => {
                    let ((low, high), most) = (operand(0), (operand(1).1 - 1).max(0));
                    if low < 0 { (-most, most) } else { (0, most.min(high)) }
                }
                Opcode::LLVMUDiv | Opcode::LLVMSDiv => {
                    let by = operand(1).0.max(1);
                    let (low, high) = unsigned(operand(0), *opcode == Opcode::LLVMUDiv);
                    (low / by, high / by)
                }
                Opcode::LLVMLShr | Opcode::LLVMAShr => {
                    let by = u32::try_from(operand(1).0.clamp(0, 62)).unwrap_or(0);
                    let (low, high) = unsigned(operand(0), *opcode == Opcode::LLVMLShr);
                    (low >> by, high >> by)
                }
                Opcode::LLVMShl => {
                    let by = u32::try_from(operand(1).1.clamp(0, 40)).unwrap_or(0);
                    let (low, high) = operand(0);
                    (clip(low << by), clip(high << by))
                }
                Opcode::LLVMOr | Opcode::LLVMXor => {
                    let most = operand(0).1.max(operand(1).1).max(0);
                    (0, (most + 1).cast_unsigned().next_power_of_two().cast_signed() - 1)
                }
                _ => DEFAULT,
            },
            Op::Call(name, base) => match (base.as_str(), instruction.operands.len()) {
                ("min", 2) => {
                    let is_unsigned = ["minjj", "minmm", "mintt", "minhh"].iter().any(|n| name.ends_with(n));
                    let (a, b) = (unsigned(operand(0), is_unsigned), unsigned(operand(1), is_unsigned));
                    (a.0.min(b.0), a.1.min(b.1))
                }
                ("max", 2) => {
                    let (a, b) = (operand(0), operand(1));
                    (a.0.max(b.0), a.1.max(b.1))
                }
                ("clamp", 3) => (operand(1).0, operand(2).1),
                _ => DEFAULT,
            },
            _ => DEFAULT,
        }
    }
}

fn is_loaded(op: &Op) -> bool {
    match op {
        Op::Load => true,
        Op::Call(_, base) => builtins::family(base) == Some(Family::VectorLoad),
        _ => false,
    }
}

/// Returns the interval as unsigned: what may be negative is large.
fn unsigned(range: Interval, is_unsigned: bool) -> Interval {
    if is_unsigned && range.0 < 0 { (0, FAR) } else { range }
}

fn clip(n: i128) -> i128 {
    n.clamp(-FAR, FAR)
}

fn union(a: Interval, b: Interval) -> Interval {
    (a.0.min(b.0), a.1.max(b.1))
}

fn product_of(a: Interval, b: Interval) -> Interval {
    let all = [a.0 * b.0, a.0 * b.1, a.1 * b.0, a.1 * b.1].map(clip);
    (all.into_iter().min().unwrap_or(0), all.into_iter().max().unwrap_or(0))
}
