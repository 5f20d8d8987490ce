//! Dry run: executes a launch on the IR itself, with buffers that grow as they are accessed. It shows how far each
//! buffer is accessed, and whether work-items conflict, before sizes are fixed.
//!
//! It is an estimate: unsupported builtins return unknown values, the order of work-items is one of many, and large
//! launches are cut short. What a launch actually does is for the executors to say.

mod builtins;
mod memory;
mod value;

use std::cell::Cell;
use std::collections::HashMap;
use std::time::Instant;

use llvm_sys::LLVMOpcode;

use self::memory::{Actor, Allocation, Mode};
use self::value::Value;
use crate::exec::simulator::observation::Footprint;
use crate::program::{Definition, End, Instruction, Kind, Op, Program, Region, Shape, ValueId, arithmetic, signed};
use crate::suite::launch::ResolvedRange;

pub use builtins::pointee;
pub use memory::ContentsFn;

/// An argument of a dry run.
pub enum DryRunArg<'a> {
    Value(&'a [u8]),
    Buffer(&'a ContentsFn<'a>),
    Local,
    /// Width, height, depth or layers.
    Image([u64; 3]),
    Other,
}

/// The launch to execute, with its arguments by position, and the limits on it.
pub struct Setup<'a> {
    pub range: ResolvedRange,
    pub args: &'a [DryRunArg<'a>],
    /// Instructions in total; a single work-item gets an eighth of them.
    pub budget: u64,
    /// When to stop in any case.
    pub end: Option<Instant>,
}

/// Accesses to a region.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct RegionUse {
    /// End of the farthest access, in bytes from the start of the region.
    pub high: u64,
    /// The lowest offset in bytes, if it is negative.
    pub low: i64,
    pub read: bool,
    pub written: bool,
    pub conflicts: u64,
}

/// Observations of a dry run. `args` is by position of the argument, `variables` by program-scope variable.
#[derive(Debug, Clone, Default)]
pub struct Report {
    pub args: Vec<RegionUse>,
    pub variables: Vec<RegionUse>,
    /// Accesses through addresses that are unknown or outside of all regions.
    pub wild: u64,
    /// Divisions without a defined result.
    pub divisions: u64,
    /// Some work-item did not complete within the budget.
    pub exhausted: bool,
    pub footprint: Footprint,
    /// By instruction: end of its farthest access to an argument, in bytes.
    pub reached: HashMap<ValueId, u64>,
    /// By argument: one more than the greatest coordinates at which an image was written, or read without a sampler.
    pub texels: HashMap<u32, [u64; 3]>,
}

/// Numbers of private regions start here.
const PRIVATE: u64 = 1 << 12;
const OFFSET_BITS: u32 = 40;
const OFFSET_MIDDLE: u64 = 1 << (OFFSET_BITS - 1);

/// Instructions between two checks of the clock.
const CLOCK: u64 = 1 << 12;

/// Values of work-items that are kept at a time; work-items that do not fit are left out.
const MOST_VALUES: usize = 1 << 22;

/// In larger launches, only the first two and the last group of each dimension are executed.
const MANY_ITEMS: u64 = 4096;

fn encode_pointer(region: u64, offset: i64) -> u64 {
    ((region + 1) << OFFSET_BITS).wrapping_add(OFFSET_MIDDLE).wrapping_add(offset.cast_unsigned())
}

/// Decodes a pointer into region and offset; `None` if it is none.
fn decode_pointer(bits: u64) -> Option<(u64, i64)> {
    let region = (bits >> OFFSET_BITS).checked_sub(1)?;
    Some((region, ((bits & ((1 << OFFSET_BITS) - 1)).cast_signed()).wrapping_sub(OFFSET_MIDDLE.cast_signed())))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    Running,
    Waiting,
    Done,
}

struct WorkItem<'a> {
    /// By value; empty before it starts and after it has ended.
    values: Vec<Value>,
    block: usize,
    previous: usize,
    index: usize,
    privates: HashMap<ValueId, Allocation<'a>>,
    state: State,
    local_id: [u64; 3],
    group_id: [u64; 3],
    number: u32,
    steps: u64,
}

pub struct DryRun<'a> {
    program: &'a Program,
    setup: &'a Setup<'a>,
    allocations: Vec<Allocation<'a>>,
    constants: Vec<Value>,
    /// Value tables of work-items that have ended, for reuse: a work-item writes each value before it reads it.
    spare: Vec<Vec<Value>>,
    interval: u32,
    group_items: u32,
    steps: u64,
    /// Of instructions; 0 once the time is up.
    budget: u64,
    wild: u64,
    divisions: Cell<u64>,
    exhausted: bool,
    coin: bool,
    current: ValueId,
    reached: HashMap<ValueId, u64>,
    texels: HashMap<u32, [u64; 3]>,
}

/// Executes a launch.
pub fn run(program: &Program, setup: &Setup<'_>) -> Report {
    let args = setup.args.len();
    let mut allocations: Vec<Allocation<'_>> = Vec::new();
    for arg in setup.args {
        let mut alloc = match arg {
            DryRunArg::Value(bytes) => Allocation::new(bytes.to_vec(), Some(bytes.len() as u64)),
            _ => Allocation::new(Vec::new(), None),
        };
        if let DryRunArg::Buffer(contents) = arg {
            alloc.contents = Some(*contents);
        }
        alloc.is_shared = matches!(arg, DryRunArg::Buffer(_) | DryRunArg::Local);
        allocations.push(alloc);
    }
    for variable in &program.variables {
        let mut alloc = Allocation::new(variable.initial.clone(), Some(variable.bytes));
        alloc.is_shared = variable.is_local;
        allocations.push(alloc);
    }
    for (region, granule) in granules(program) {
        allocations[region].granule = granule;
    }
    let mut run = DryRun {
        program,
        setup,
        allocations,
        constants: Vec::new(),
        spare: Vec::new(),
        interval: 0,
        group_items: u32::try_from(setup.range.group_items()).unwrap_or(u32::MAX),
        steps: 0,
        budget: setup.budget,
        wild: 0,
        divisions: Cell::new(0),
        exhausted: false,
        coin: false,
        current: 0,
        reached: HashMap::new(),
        texels: HashMap::new(),
    };
    run.constants = run.constants();
    run.groups();
    let mut footprint = Footprint::default();
    run.allocations.iter().filter(|b| b.is_shared).for_each(|b| b.add_to(&mut footprint));
    let uses: Vec<RegionUse> = run
        .allocations
        .iter()
        .map(|b| RegionUse { high: b.high, low: b.low, read: b.read, written: b.written, conflicts: b.conflicts })
        .collect();
    Report {
        args: uses[..args].to_vec(),
        variables: uses[args..].to_vec(),
        wild: run.wild,
        divisions: run.divisions.get(),
        exhausted: run.exhausted,
        footprint,
        reached: run.reached,
        texels: run.texels,
    }
}

/// Returns the width of the narrowest access to each argument and variable, in bytes.
fn granules(program: &Program) -> HashMap<usize, u64> {
    let mut found: HashMap<usize, u64> = HashMap::new();
    for (_, instruction) in program.instructions() {
        let (at, shape) = match instruction.op {
            Op::Load => (instruction.operands[0], program.shape(instruction.result)),
            Op::Store => (instruction.operands[1], program.shape(instruction.operands[0])),
            _ => continue,
        };
        let regions = match program.values[at as usize] {
            Definition::Variable(index, _) => vec![Region::Variable(index)],
            _ => program.roots[at as usize].clone(),
        };
        for region in regions {
            let index = match region {
                Region::Argument(position) => position as usize,
                Region::Variable(index) => program.params.len() + index,
                _ => continue,
            };
            let entry = found.entry(index).or_insert(shape.lane_bytes().max(1));
            *entry = (*entry).min(shape.lane_bytes().max(1));
        }
    }
    found
}

impl<'a> DryRun<'a> {
    fn constants(&self) -> Vec<Value> {
        let params = self.program.params.len() as u64;
        let of = |(id, definition): (usize, &Definition)| match definition {
            Definition::Constant(lanes) => Value::from_lanes(lanes.clone(), self.program.shapes[id]),
            Definition::Variable(index, offset) => Value::Bits(encode_pointer(params + *index as u64, *offset)),
            Definition::Param(position) => match self.setup.args.get(*position as usize) {
                Some(DryRunArg::Value(bytes)) if self.program.by_value[*position as usize].is_none() => {
                    value::from_bytes(bytes, self.program.shapes[id])
                }
                Some(DryRunArg::Value(_) | DryRunArg::Buffer(_) | DryRunArg::Local) => {
                    Value::Bits(encode_pointer((*position).into(), 0))
                }
                _ => Value::Unknown,
            },
            Definition::Inst { .. } => Value::Unknown,
        };
        self.program.values.iter().enumerate().map(of).collect()
    }

    fn groups(&mut self) {
        let count = self.setup.range.group_counts();
        let is_large = self.setup.range.items() > MANY_ITEMS;
        let at_edge = |id: u64, n: u64| id <= 1 || id + 1 >= n;
        let mut number = 0;
        for z in 0..count[2] {
            for y in 0..count[1] {
                for x in 0..count[0] {
                    number += 1;
                    if is_large && !(at_edge(x, count[0]) && at_edge(y, count[1]) && at_edge(z, count[2])) {
                        continue;
                    }
                    if self.steps > self.budget {
                        self.exhausted = true;
                        return;
                    }
                    self.group([x, y, z], number - 1);
                }
            }
        }
    }

    fn group(&mut self, group_id: [u64; 3], number: u32) {
        let local = self.setup.range.local;
        for (i, variable) in self.program.variables.iter().enumerate() {
            if variable.is_local {
                self.allocations[self.program.params.len() + i].reset();
            }
        }
        for (i, arg) in self.setup.args.iter().enumerate() {
            if matches!(arg, DryRunArg::Local) {
                self.allocations[i].reset();
            }
        }
        self.interval = 1;
        let mut items = Vec::new();
        let mut linear = 0;
        for z in 0..local[2] {
            for y in 0..local[1] {
                for x in 0..local[0] {
                    let local_id = [x, y, z];
                    let within = |d: usize| group_id[d] * local[d] + local_id[d] < self.setup.range.global[d];
                    if (0..3).all(within) {
                        items.push(WorkItem {
                            values: Vec::new(),
                            block: 0,
                            previous: 0,
                            index: 0,
                            privates: HashMap::new(),
                            state: State::Running,
                            local_id,
                            group_id,
                            number: number * self.group_items + linear,
                            steps: 0,
                        });
                    }
                    linear += 1;
                }
            }
        }
        let room = (MOST_VALUES / self.constants.len().max(1)).max(1);
        let mut begun = 0;
        loop {
            for item in items.iter_mut().filter(|i| i.state == State::Running) {
                if item.values.is_empty() {
                    if begun >= room {
                        (item.state, self.exhausted) = (State::Done, true);
                        continue;
                    }
                    begun += 1;
                    item.values = self.spare.pop().unwrap_or_else(|| self.constants.clone());
                }
                self.advance(item);
                if item.state == State::Done {
                    self.spare.push(std::mem::take(&mut item.values));
                    begun -= 1;
                }
            }
            let waiting = items.iter().filter(|i| i.state == State::Waiting).count();
            if waiting == 0 || self.steps > self.budget {
                return;
            }
            items.iter_mut().filter(|i| i.state == State::Waiting).for_each(|i| i.state = State::Running);
            self.interval += 1;
        }
    }

    fn actor(&self, item: &WorkItem<'_>) -> Actor {
        Actor { item: item.number, group_items: self.group_items, interval: self.interval }
    }

    /// Executes a work-item up to the next barrier or its end.
    fn advance(&mut self, item: &mut WorkItem<'a>) {
        let program = self.program;
        loop {
            let code = &program.blocks[item.block];
            if item.index == 0 {
                self.phis(item, &code.instructions);
            }
            while let Some(instruction) = code.instructions.get(item.index) {
                item.index += 1;
                item.steps += 1;
                self.steps += 1;
                if self.steps.is_multiple_of(CLOCK) && self.setup.end.is_some_and(|end| Instant::now() >= end) {
                    self.budget = 0;
                }
                if item.steps > self.budget / 8 || self.steps > self.budget {
                    self.exhausted = true;
                    item.state = State::Done;
                    return;
                }
                if matches!(instruction.op, Op::Phi(_)) {
                    continue;
                }
                let result = self.instruction(item, instruction);
                item.values[instruction.result as usize] = result;
                if item.state == State::Waiting {
                    return;
                }
            }
            let next = match &code.end {
                End::Goto(to) => *to,
                End::Branch { condition, then, other } => {
                    let is_true = match item.values[*condition as usize].bits() {
                        Some(bits) => bits & 1 != 0,
                        None => {
                            self.coin = !self.coin;
                            self.coin
                        }
                    };
                    if is_true { *then } else { *other }
                }
                End::Switch { value, default, cases } => {
                    let bits = item.values[*value as usize].bits();
                    cases.iter().find(|(case, _)| Some(*case) == bits).map_or(*default, |(_, to)| *to)
                }
                End::Return | End::Unreachable => {
                    item.state = State::Done;
                    return;
                }
            };
            item.previous = item.block;
            item.block = next;
            item.index = 0;
        }
    }

    fn phis(&self, item: &mut WorkItem<'_>, instructions: &[Instruction]) {
        let mut found = Vec::new();
        for instruction in instructions {
            let Op::Phi(from) = &instruction.op else { break };
            let incoming = from.iter().position(|b| *b == item.previous);
            let value = incoming.map_or(Value::Unknown, |i| item.values[instruction.operands[i] as usize].clone());
            found.push((instruction.result, value));
        }
        for (result, value) in found {
            item.values[result as usize] = value;
        }
    }

    fn instruction(&mut self, item: &mut WorkItem<'a>, instruction: &Instruction) -> Value {
        let shape = self.program.shape(instruction.result);
        self.current = instruction.result;
        let operand = |i: usize| &item.values[instruction.operands[i] as usize];
        let kind_of = |i: usize| self.program.shape(instruction.operands[i]).kind;
        match &instruction.op {
            Op::Binary(opcode) => value::zip(operand(0), operand(1), |a, b| {
                let result = arithmetic::binary(*opcode, shape.kind, a, b);
                if result.is_none() {
                    self.divisions.set(self.divisions.get() + 1);
                }
                result
            }),
            Op::FNeg => {
                let width = arithmetic::width(shape.kind);
                operand(0).map(|x| x ^ (1 << (width - 1)))
            }
            Op::Compare(predicate) => {
                let width = arithmetic::width(kind_of(0));
                value::zip(operand(0), operand(1), |a, b| Some(arithmetic::compare(*predicate, width, a, b).into()))
            }
            Op::FCompare(predicate) => {
                let width = arithmetic::width(kind_of(0));
                value::zip(operand(0), operand(1), |a, b| {
                    Some(arithmetic::compare_floats(*predicate, width, a, b).into())
                })
            }
            Op::Cast(LLVMOpcode::LLVMBitCast) => {
                let from = self.program.shape(instruction.operands[0]);
                match operand(0) {
                    Value::Unknown => Value::Unknown,
                    known if from.bytes() == shape.bytes() => value::from_bytes(&value::to_bytes(known, from), shape),
                    _ => Value::Unknown,
                }
            }
            Op::Cast(opcode) => operand(0).map(|x| arithmetic::cast(*opcode, kind_of(0), shape.kind, x)),
            Op::Address { steps, offset } => {
                let Value::Bits(mut at) = *operand(0) else { return Value::Unknown };
                at = at.wrapping_add(offset.cast_unsigned());
                for step in steps {
                    let Some(index) = operand(step.operand).bits() else { return Value::Unknown };
                    let index = signed(index, arithmetic::width(kind_of(step.operand)));
                    at = at.wrapping_add(index.wrapping_mul(step.scale).cast_unsigned());
                }
                Value::Bits(at)
            }
            Op::Load => {
                let at = operand(0).clone();
                self.load(item, &at, shape, Mode::Read)
            }
            Op::Store => {
                let from = self.program.shape(instruction.operands[0]);
                let (value, at) = (operand(0).clone(), operand(1).clone());
                self.store(item, &at, &value, from);
                Value::Unknown
            }
            Op::Select => match operand(0) {
                Value::Bits(bits) => operand(if bits & 1 != 0 { 1 } else { 2 }).clone(),
                Value::Lanes(choice) => {
                    let (a, b) = (operand(1).lanes(), operand(2).lanes());
                    let lane = |(i, c): (usize, &u64)| *if c & 1 != 0 { a.get(i) } else { b.get(i) }.unwrap_or(&0);
                    Value::Lanes(choice.iter().enumerate().map(lane).collect())
                }
                Value::Unknown => Value::Unknown,
            },
            Op::Copy => operand(0).clone(),
            Op::Extract => {
                let index = operand(1).bits().and_then(|i| usize::try_from(i).ok());
                index.and_then(|i| operand(0).lanes().get(i).copied()).map_or(Value::Unknown, Value::Bits)
            }
            Op::Insert => {
                let mut lanes = operand(0).lanes().to_vec();
                lanes.resize(shape.lanes.max(1) as usize, 0);
                let index = operand(2).bits().and_then(|i| usize::try_from(i).ok());
                if let (Some(to), Some(bits)) = (index.and_then(|i| lanes.get_mut(i)), operand(1).bits()) {
                    *to = bits;
                }
                Value::Lanes(lanes.into())
            }
            Op::Shuffle(mask) => {
                let (a, b) = (operand(0), operand(1));
                let width = self.program.shape(instruction.operands[0]).lanes as usize;
                let lane = |m: &i32| match usize::try_from(*m) {
                    Ok(m) if m < width => a.lanes().get(m).copied().unwrap_or(0),
                    Ok(m) => b.lanes().get(m - width).copied().unwrap_or(0),
                    Err(_) => 0,
                };
                Value::Lanes(mask.iter().map(lane).collect())
            }
            Op::Alloca(bytes) => {
                item.privates.entry(instruction.result).or_insert_with(|| Allocation::new(Vec::new(), Some(*bytes)));
                Value::Bits(encode_pointer(PRIVATE + u64::from(instruction.result), 0))
            }
            Op::AtomicRmw(_) | Op::CompareExchange => {
                let (at, new) = (operand(0).clone(), operand(instruction.operands.len() - 1).clone());
                let of = self.program.shape(*instruction.operands.last().unwrap_or(&0));
                let old = self.atomic(item, &at, &new, of);
                match instruction.op {
                    Op::CompareExchange => match old {
                        Value::Bits(old) => Value::Lanes([old, 1].into()),
                        _ => Value::Unknown,
                    },
                    _ => old,
                }
            }
            Op::Member(i) => operand(0).lanes().get(*i).copied().map_or(Value::Unknown, Value::Bits),
            Op::Call(name, base) => self.call(item, instruction, name, base, shape),
            Op::Phi(_) | Op::Other => Value::Unknown,
        }
    }

    /// Resolves an access to the allocation that the pointer points into and the position there, and records it.
    fn touch<'s>(
        &'s mut self,
        item: &'s mut WorkItem<'a>,
        at: u64,
        size: u64,
        mode: Mode,
    ) -> Option<(&'s mut Allocation<'a>, usize)> {
        let actor = self.actor(item);
        let Some((region, offset)) = decode_pointer(at) else {
            self.wild += 1;
            return None;
        };
        if (region as usize) < self.setup.args.len()
            && let Some(end) = offset.checked_add_unsigned(size).and_then(|end| u64::try_from(end).ok())
        {
            let known = self.reached.entry(self.current).or_insert(0);
            *known = end.max(*known);
        }
        let alloc = match region.checked_sub(PRIVATE) {
            Some(id) => u32::try_from(id).ok().and_then(|id| item.privates.get_mut(&id)),
            None => self.allocations.get_mut(region as usize),
        };
        let Some(alloc) = alloc else {
            self.wild += 1;
            return None;
        };
        match alloc.access(offset, size, mode, actor) {
            Some(place) => Some((alloc, place)),
            None => {
                self.wild += u64::from(offset > 1 << 24);
                None
            }
        }
    }

    fn load(&mut self, item: &mut WorkItem<'a>, at: &Value, shape: Shape, mode: Mode) -> Value {
        let Value::Bits(at) = at else {
            self.wild += 1;
            return Value::Unknown;
        };
        let size = shape.bytes();
        match self.touch(item, *at, size, mode) {
            Some((alloc, place)) if shape.kind != Kind::Other => match alloc.bytes.get(place..place + size as usize) {
                Some(bytes) => value::from_bytes(bytes, shape),
                None => Value::from_lanes(vec![0; shape.lanes.max(1) as usize], shape),
            },
            _ => Value::Unknown,
        }
    }

    fn store(&mut self, item: &mut WorkItem<'a>, at: &Value, value: &Value, shape: Shape) {
        let Value::Bits(at) = at else {
            self.wild += 1;
            return;
        };
        let bytes = value::to_bytes(value, shape);
        if let Some((alloc, place)) = self.touch(item, *at, bytes.len() as u64, Mode::Write)
            && let Some(to) = alloc.bytes.get_mut(place..place + bytes.len())
        {
            to.copy_from_slice(&bytes);
        }
    }

    /// Executes any atomic operation as an addition: the value there grows, as most counters do.
    fn atomic(&mut self, item: &mut WorkItem<'a>, at: &Value, by: &Value, shape: Shape) -> Value {
        let old = self.load(item, at, shape, Mode::Atomic);
        let (Value::Bits(place_of), Value::Bits(bits)) = (at, &old) else { return old };
        let new = bits.wrapping_add(by.bits().unwrap_or(1));
        let bytes = value::to_bytes(&Value::Bits(new), shape);
        if let Some((alloc, place)) = self.touch(item, *place_of, bytes.len() as u64, Mode::Atomic)
            && let Some(to) = alloc.bytes.get_mut(place..place + bytes.len())
        {
            to.copy_from_slice(&bytes);
        }
        old
    }
}
