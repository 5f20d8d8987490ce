//! Executes a promoted kernel: the work-items of a group in turn, each up to its next barrier or its end.
//!
//! What a lane is, where memory is and what is observed is decided by a [`Domain`]: the dry run and concolic execution
//! are domains of this one machine.

pub mod call;
mod call_execution;
pub mod evaluate;
pub mod ndrange;

use std::time::Instant;

use kassay_ir::cfg::indices::BlockIndex;

use self::call::{AsyncCopy, Atomic, Call};
use super::ids::Part;
use super::pointer::{self, PRIVATE};
use super::value::{Lane, Value};
use super::{Code, Definition, End, Instruction, Op, Program, Shape, ValueId};

/// Instructions between two looks at the clock.
const CLOCK: u64 = 1 << 12;

/// Largest number of values, over all work-items of a group, that are kept at a time. Work-items beyond that are left
/// out.
const MAX_VALUES: usize = 1 << 22;

/// Progress of a work-item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum State {
    /// It has instructions to execute.
    Running,
    /// At a barrier.
    Waiting,
    /// It has returned, or cannot go on.
    Done,
}

/// A work-item: its values, its place in the program, and what the domain keeps of it.
pub struct WorkItem<L, T> {
    /// By value; empty before it starts and after it has ended.
    pub values: Vec<Value<L>>,
    /// The block that it is in.
    pub block: BlockIndex,
    /// The block before this one.
    pub previous: BlockIndex,
    /// Position of the next instruction in its block.
    pub index: usize,
    /// The result of the instruction that is executed.
    pub current: ValueId,
    /// Whether it can go on.
    pub state: State,
    /// `get_local_id`.
    pub local_id: [u64; 3],
    /// `get_group_id`.
    pub group_id: [u64; 3],
    /// Instructions that were executed.
    pub steps: u64,
    /// What the domain keeps of it.
    pub own: T,
}

impl<L, T> WorkItem<L, T> {
    /// Creates a work-item at the begin of the kernel.
    pub fn new(group_id: [u64; 3], local_id: [u64; 3], own: T) -> WorkItem<L, T> {
        WorkItem {
            values: Vec::new(),
            block: BlockIndex::ENTRY,
            previous: BlockIndex::ENTRY,
            index: 0,
            current: 0,
            state: State::Running,
            local_id,
            group_id,
            steps: 0,
            own,
        }
    }
}

/// A work-item of a domain.
pub type ItemOf<D> = WorkItem<<D as Domain>::Lane, <D as Domain>::Item>;

/// A value of a domain.
pub type ValueOf<D> = Value<<D as Domain>::Lane>;

/// Why a work-item did not run to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cut {
    /// A limit on time or instructions, or one of the domain's.
    Limit,
    /// There was no room for its values.
    Room,
}

/// What a machine leaves to its user: what values consist of, memory, and what is observed.
pub trait Domain: Sized {
    /// What a scalar, or a lane of a vector, is.
    type Lane: Lane;
    /// What is kept of a work-item besides its values.
    type Item;

    /// Returns the value of a parameter.
    fn param(&mut self, position: usize, shape: Shape) -> ValueOf<Self>;

    /// Loads a value of this shape.
    fn load(&mut self, item: &mut ItemOf<Self>, pointer: &ValueOf<Self>, shape: Shape) -> ValueOf<Self>;

    /// Stores a value of this shape.
    fn store(&mut self, item: &mut ItemOf<Self>, pointer: &ValueOf<Self>, value: &ValueOf<Self>, shape: Shape);

    /// Creates the memory of a private variable, unless the work-item has it already.
    fn allocate(&mut self, item: &mut ItemOf<Self>, region: u64, bytes: u64);

    /// Executes `atomicrmw` or `cmpxchg`.
    fn atomic_instruction(&mut self, item: &mut ItemOf<Self>, instruction: &Instruction) -> ValueOf<Self>;

    /// Executes an atomic builtin, whose result has this shape.
    fn atomic_call(
        &mut self,
        item: &mut ItemOf<Self>,
        instruction: &Instruction,
        atomic: Atomic,
        shape: Shape,
    ) -> ValueOf<Self>;

    /// Copies as many bytes as the third operand says to the first from the second.
    fn copy(&mut self, item: &mut ItemOf<Self>, operands: &[ValueOf<Self>]);

    /// Fills as many bytes as the third operand says at the first with the second.
    fn fill(&mut self, item: &mut ItemOf<Self>, operands: &[ValueOf<Self>]);

    /// Executes one work-item's call of an asynchronous copy, to the first operand from the second.
    fn copy_async(&mut self, item: &mut ItemOf<Self>, copy: AsyncCopy, operands: &[ValueOf<Self>]);

    /// Returns width, height, and depth or number of layers of the image that an argument holds.
    fn image_sides(&self, position: usize) -> Option<[u64; 3]>;

    /// Executes a call of a builtin that the machine does not execute itself.
    fn builtin(&mut self, item: &mut ItemOf<Self>, instruction: &Instruction, shape: Shape) -> ValueOf<Self>;

    /// Executes an instruction that neither accesses memory nor calls.
    fn compute(&mut self, item: &mut ItemOf<Self>, instruction: &Instruction, shape: Shape) -> ValueOf<Self>;

    /// Executes an instruction like [`Domain::compute`], if its result is a scalar that the domain can tell from its
    /// operands' bits alone. It is asked first: a lane is cheaper to return than a value.
    fn compute_scalar(&mut self, _item: &ItemOf<Self>, _instruction: &Instruction) -> Option<Self::Lane> {
        None
    }

    /// Returns an id or a size in one of the three dimensions.
    fn part(&mut self, item: &ItemOf<Self>, part: Part, dimension: usize) -> Self::Lane;

    /// Adds two lanes of 64 bits.
    fn sum(&mut self, a: Self::Lane, b: Self::Lane) -> Self::Lane;

    /// Multiplies two lanes of 64 bits.
    fn product(&mut self, a: Self::Lane, b: Self::Lane) -> Self::Lane;

    /// Returns floats in another width.
    fn convert_floats(&mut self, value: &ValueOf<Self>, from: Shape, to: Shape) -> ValueOf<Self>;

    /// Decides an unknown condition.
    fn guess(&mut self) -> bool;

    /// Returns whether the domain has no room left for what it observes of a work-item.
    fn is_full(&self, _item: &ItemOf<Self>) -> bool {
        false
    }

    /// Notes that a work-item does not run to its end.
    fn cut(&mut self, why: Cut);

    /// Notes that a work-item is at the end of its block.
    fn at_end(&mut self, _item: &mut ItemOf<Self>) {}

    /// Notes which way a branch goes.
    fn branched(&mut self, _item: &mut ItemOf<Self>, _condition: ValueId, _taken: bool) {}

    /// Notes to which successor a switch goes.
    fn switched(&mut self, _item: &mut ItemOf<Self>, _value: ValueId, _successor: u32) {}

    /// Notes that a work-item leaves its block to this successor.
    fn leaves(&mut self, _item: &mut ItemOf<Self>, _end: &End, _successor: u32) {}

    /// Notes that the work-items that have not ended are at barriers; returns whether to go on.
    fn meet(&mut self, items: &[ItemOf<Self>]) -> bool;
}

/// Limits on an execution.
#[derive(Debug, Clone, Copy)]
pub struct Limits {
    /// Instructions in total; a single work-item gets an eighth of them.
    pub steps: u64,
    /// When to stop in any case.
    pub end: Option<Instant>,
}

/// Executes work-groups in a domain.
pub struct Machine<'p, D: Domain> {
    /// What is executed.
    pub program: &'p Program,
    /// What values mean.
    pub domain: D,
    limits: Limits,
    /// Instructions that all work-items executed.
    steps: u64,
    /// Values of constants, variables and parameters.
    initial: Vec<ValueOf<D>>,
    /// Value tables of work-items that have ended, for reuse: a work-item writes each value before it reads it.
    spare: Vec<Vec<ValueOf<D>>>,
    /// By value: what the call that defines it does, once it has been executed.
    calls: Vec<Option<Call>>,
    /// Scratch space for the values of phis.
    phis: Vec<(ValueId, ValueOf<D>)>,
}

/// Returns the number of work-items whose values can be kept at a time.
pub fn capacity(program: &Program) -> usize {
    (MAX_VALUES / program.values.len().max(1)).max(1)
}

impl<'p, D: Domain> Machine<'p, D> {
    /// Creates a machine that has executed nothing yet.
    pub fn new(program: &'p Program, domain: D, limits: Limits) -> Machine<'p, D> {
        let mut machine = Machine {
            program,
            domain,
            limits,
            steps: 0,
            initial: Vec::new(),
            spare: Vec::new(),
            calls: vec![None; program.values.len()],
            phis: Vec::new(),
        };
        machine.initial = machine.constants();
        machine
    }

    /// Returns whether all work-items together have used up their instructions, or their time.
    pub fn is_out_of_steps(&self) -> bool {
        self.steps > self.limits.steps
    }

    fn constants(&mut self) -> Vec<ValueOf<D>> {
        let program = self.program;
        let params = program.params.len() as u64;
        let mut values = Vec::with_capacity(program.values.len());
        for (definition, shape) in program.values.iter().zip(&program.shapes) {
            values.push(match definition {
                Definition::Constant(lanes) if lanes.is_empty() => D::Lane::undetermined(*shape),
                Definition::Constant(lanes) => Value::of_bits(lanes.iter().copied(), *shape),
                Definition::Variable(index, offset) => Value::known(pointer::encode(params + *index as u64, *offset)),
                Definition::Param(position) => self.domain.param(*position as usize, *shape),
                Definition::Inst { .. } => D::Lane::undetermined(*shape),
            });
        }
        values
    }

    /// Executes the work-items of a group to their ends, as far as limits allow.
    pub fn group(&mut self, items: &mut [ItemOf<D>]) {
        let capacity = capacity(self.program);
        let mut started = 0;
        loop {
            for item in items.iter_mut().filter(|i| i.state == State::Running) {
                if item.values.is_empty() {
                    if started >= capacity {
                        item.state = State::Done;
                        self.domain.cut(Cut::Room);
                        continue;
                    }
                    started += 1;
                    item.values = self.spare.pop().unwrap_or_else(|| self.initial.clone());
                }
                self.advance(item);
                if item.state == State::Done {
                    self.spare.push(std::mem::take(&mut item.values));
                    started -= 1;
                }
            }
            let is_waiting = |item: &ItemOf<D>| item.state == State::Waiting;
            if !items.iter().any(is_waiting) || !self.domain.meet(items) || self.is_out_of_steps() {
                return;
            }
            items.iter_mut().filter(|i| is_waiting(i)).for_each(|i| i.state = State::Running);
        }
    }

    /// Returns whether a limit is exceeded.
    fn exceeds_limits(&mut self, item: &ItemOf<D>) -> bool {
        if self.steps.is_multiple_of(CLOCK) && self.limits.end.is_some_and(|end| Instant::now() >= end) {
            self.limits.steps = 0;
        }
        item.steps > self.limits.steps / 8 || self.is_out_of_steps() || self.domain.is_full(item)
    }

    /// Executes a work-item up to the next barrier or its end.
    fn advance(&mut self, item: &mut ItemOf<D>) {
        let program = self.program;
        loop {
            let code = &program.blocks[item.block];
            if item.index == 0 {
                self.enter(item, code);
            }
            while let Some(instruction) = code.instructions.get(item.index) {
                item.index += 1;
                item.steps += 1;
                self.steps += 1;
                if self.exceeds_limits(item) {
                    self.domain.cut(Cut::Limit);
                    item.state = State::Done;
                    return;
                }
                if matches!(instruction.op, Op::Phi(_)) {
                    continue;
                }
                item.current = instruction.result;
                if let Some(lane) = self.domain.compute_scalar(item, instruction) {
                    item.values[instruction.result as usize] = Value::One(lane);
                    continue;
                }
                let result = self.instruction(item, instruction);
                item.values[instruction.result as usize] = result;
                if item.state != State::Running {
                    return;
                }
            }
            self.domain.at_end(item);
            let Some((successor, next)) = self.decide(item, &code.end) else {
                item.state = State::Done;
                return;
            };
            self.domain.leaves(item, &code.end, successor);
            item.previous = item.block;
            item.block = next;
            item.index = 0;
        }
    }

    /// Gives the phis of a block their values.
    fn enter(&mut self, item: &mut ItemOf<D>, code: &Code) {
        for instruction in &code.instructions {
            let Op::Phi(from) = &instruction.op else { break };
            if let Some(i) = from.iter().position(|b| *b == item.previous) {
                self.phis.push((instruction.result, item.values[instruction.operands[i] as usize].clone()));
            }
        }
        for (result, value) in self.phis.drain(..) {
            item.values[result as usize] = value;
        }
    }

    /// Decides which successor a block is left to; returns its number and the block.
    fn decide(&mut self, item: &mut ItemOf<D>, end: &End) -> Option<(u32, BlockIndex)> {
        match end {
            End::Goto(to) => Some((0, *to)),
            End::Branch { condition, then, other } => {
                let taken = match item.values[*condition as usize].bits() {
                    Some(bits) => bits & 1 != 0,
                    None => self.domain.guess(),
                };
                self.domain.branched(item, *condition, taken);
                Some(if taken { (0, *then) } else { (1, *other) })
            }
            End::Switch { value, default, cases } => {
                let bits = item.values[*value as usize].bits();
                let found = cases.iter().position(|(case, _)| Some(*case) == bits);
                let successor = found.map_or(0, |i| i as u32 + 1);
                self.domain.switched(item, *value, successor);
                Some((successor, found.map_or(*default, |i| cases[i].1)))
            }
            End::Return | End::Unreachable => None,
        }
    }

    fn instruction(&mut self, item: &mut ItemOf<D>, instruction: &Instruction) -> ValueOf<D> {
        let program = self.program;
        let shape = program.shape(instruction.result);
        let operand = |i: usize| &item.values[instruction.operands[i] as usize];
        match &instruction.op {
            Op::Load => {
                let pointer = operand(0).clone();
                self.domain.load(item, &pointer, shape)
            }
            Op::Store => {
                let (value, pointer) = (operand(0).clone(), operand(1).clone());
                self.domain.store(item, &pointer, &value, program.shape(instruction.operands[0]));
                D::Lane::undetermined(shape)
            }
            Op::Alloca(bytes) => {
                let region = PRIVATE + u64::from(instruction.result);
                self.domain.allocate(item, region, *bytes);
                Value::known(pointer::encode(region, 0))
            }
            Op::AtomicRmw(_) | Op::CompareExchange => self.domain.atomic_instruction(item, instruction),
            Op::Call(name, base) => {
                let known = &mut self.calls[instruction.result as usize];
                let call = *known.get_or_insert_with(|| Call::of(name, base, shape));
                self.call(item, instruction, call, shape)
            }
            _ => self.domain.compute(item, instruction, shape),
        }
    }
}
