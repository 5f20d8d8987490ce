//! Dry run: executes a launch on the IR itself, with buffers that grow as they are accessed. It shows how far each
//! buffer is accessed, and whether work-items conflict, before sizes are fixed.
//!
//! It is an estimate: unsupported builtins return unknown values, the order of work-items is one of many, and large
//! launches are cut short. What a launch actually does is for the executors to say.

mod builtins;
mod memory;

use std::collections::HashMap;
use std::time::Instant;

use kassay_ir::kernel::builtins::Operation;
use kassay_prove::program::ids::Part;
use kassay_prove::program::machine::call::{AsyncCopy, Atomic};
use kassay_prove::program::machine::evaluate::{Evaluated, evaluate, evaluate_scalar};
use kassay_prove::program::machine::ndrange::{self, MANY_ITEMS};
use kassay_prove::program::machine::{self, Cut, Domain, Limits, Machine};
use kassay_prove::program::pointer::{self, PRIVATE};
use kassay_prove::program::{Definition, Instruction, Kind, Op, Program, Region, Shape, ValueId, arithmetic};
use kassay_run::exec::simulator::shadow::Footprint;
use kassay_suite::launch::ResolvedRange;

use self::memory::{Actor, Allocation, Mode};
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
    /// Bytes for what each pointer in a buffer points to; 0 if there are no such pointers.
    pub apart: u64,
    /// Whether the kernel queries image sizes.
    pub asks_sizes: bool,
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
    /// End of the access that goes farthest into a part of [`Setup::apart`] bytes, from the start of the part.
    pub high_in_part: u64,
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
    /// By argument: one more than the greatest coordinates at which an image was written, or read without a sampler, or
    /// with one that leaves coordinates as they are in a kernel that does not ask for sizes.
    pub texels: HashMap<u32, [u64; 3]>,
}

/// What the dry run keeps of a work-item.
pub struct ItemData<'a> {
    /// By region.
    privates: HashMap<u64, Allocation<'a>>,
    /// Its number in the launch.
    number: u32,
}

type WorkItem<'a> = machine::WorkItem<u64, ItemData<'a>>;
type Value = kassay_prove::program::value::Value<u64>;

struct DryRun<'a> {
    program: &'a Program,
    setup: &'a Setup<'a>,
    allocations: Vec<Allocation<'a>>,
    /// Number of the interval between barriers that the group is in, from 1.
    interval: u32,
    group_items: u32,
    wild: u64,
    divisions: u64,
    exhausted: bool,
    coin: bool,
    /// By value; see [`Report::reached`].
    reached: Vec<Option<u64>>,
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
        alloc.part = setup.apart;
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
    let run = DryRun {
        program,
        setup,
        allocations,
        interval: 0,
        group_items: u32::try_from(setup.range.group_items()).unwrap_or(u32::MAX),
        wild: 0,
        divisions: 0,
        exhausted: false,
        coin: false,
        reached: vec![None; program.values.len()],
        texels: HashMap::new(),
    };
    let mut machine = Machine::new(program, run, Limits { steps: setup.budget, end: setup.end });
    groups(&mut machine);
    let run = machine.domain;
    let mut footprint = Footprint::default();
    run.allocations.iter().filter(|b| b.is_shared).for_each(|b| b.add_to(&mut footprint));
    let uses: Vec<RegionUse> = run
        .allocations
        .iter()
        .map(|b| RegionUse {
            high: b.high,
            high_in_part: b.high_in_part,
            low: b.low,
            read: b.read,
            written: b.written,
            conflicts: b.conflicts,
        })
        .collect();
    Report {
        args: uses[..args].to_vec(),
        variables: uses[args..].to_vec(),
        wild: run.wild,
        divisions: run.divisions,
        exhausted: run.exhausted,
        footprint,
        reached: (0..).zip(run.reached).filter_map(|(value, end)| Some((value, end?))).collect(),
        texels: run.texels,
    }
}

/// Executes the groups of a launch; of large launches, only those at the ends of each dimension.
fn groups(machine: &mut Machine<'_, DryRun<'_>>) {
    let range = machine.domain.setup.range;
    let counts = range.group_counts();
    let groups = match range.items() > MANY_ITEMS {
        true => counts.map(|count| ndrange::boundary_ids(count, 1, None)),
        false => ndrange::all_ids(counts),
    };
    let locals = ndrange::all_ids(range.local);
    for group in ndrange::combinations(&groups) {
        if machine.is_out_of_steps() {
            machine.domain.exhausted = true;
            return;
        }
        machine.domain.start_group();
        let first = (ndrange::linear(group, counts) as u32).wrapping_mul(machine.domain.group_items);
        let own = |local| ItemData {
            privates: HashMap::new(),
            number: first.wrapping_add(ndrange::linear(local, range.local) as u32),
        };
        machine.group(&mut ndrange::items(&range, group, &locals, own));
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
    /// Resets local memory for another work-group.
    fn start_group(&mut self) {
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
    }

    /// Resolves an access to the allocation that the pointer points into and the position there, and records it.
    fn touch<'s>(
        &'s mut self,
        item: &'s mut WorkItem<'a>,
        at: u64,
        size: u64,
        mode: Mode,
    ) -> Option<(&'s mut Allocation<'a>, usize)> {
        let actor = Actor { item: item.own.number, group_items: self.group_items, interval: self.interval };
        let Some((region, offset)) = pointer::decode(at) else {
            self.wild += 1;
            return None;
        };
        if (region as usize) < self.setup.args.len()
            && let Some(end) = offset.checked_add_unsigned(size).and_then(|end| u64::try_from(end).ok())
        {
            let known = &mut self.reached[item.current as usize];
            *known = Some(end).max(*known);
        }
        let alloc = match region >= PRIVATE {
            true => item.own.privates.get_mut(&region),
            false => self.allocations.get_mut(region as usize),
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

    fn read(&mut self, item: &mut WorkItem<'a>, at: &Value, shape: Shape, mode: Mode) -> Value {
        let Value::One(at) = at else {
            self.wild += 1;
            return Value::Unknown;
        };
        let size = shape.bytes();
        match self.touch(item, *at, size, mode) {
            Some((alloc, place)) if shape.kind != Kind::Other => {
                Value::from_bytes(&alloc.read(place, size as usize), shape)
            }
            _ => Value::Unknown,
        }
    }

    fn write(&mut self, item: &mut WorkItem<'a>, at: &Value, value: &Value, shape: Shape, mode: Mode) {
        let Value::One(at) = at else {
            self.wild += 1;
            return;
        };
        let size = shape.bytes();
        if let Some((alloc, place)) = self.touch(item, *at, size, mode) {
            let mut bytes = alloc.read(place, size as usize);
            value.write_bytes(shape, &mut bytes);
            alloc.write(place, &bytes);
        }
    }

    /// Executes any atomic operation as an addition: the value there grows, as most counters do.
    fn atomic(&mut self, item: &mut WorkItem<'a>, at: &Value, by: &Value, shape: Shape) -> Value {
        let old = self.read(item, at, shape, Mode::Atomic);
        if let Value::One(bits) = old {
            let new = bits.wrapping_add(by.bits().unwrap_or(1));
            self.write(item, at, &Value::One(new), shape, Mode::Atomic);
        }
        old
    }
}

impl<'a> Domain for DryRun<'a> {
    type Lane = u64;
    type Item = ItemData<'a>;

    fn param(&mut self, position: usize, shape: Shape) -> Value {
        match self.setup.args.get(position) {
            Some(DryRunArg::Value(bytes)) if self.program.by_value[position].is_none() => {
                Value::from_bytes(bytes, shape)
            }
            Some(DryRunArg::Value(_) | DryRunArg::Buffer(_) | DryRunArg::Local) => {
                Value::One(pointer::encode(position as u64, 0))
            }
            _ => Value::Unknown,
        }
    }

    fn load(&mut self, item: &mut WorkItem<'a>, pointer: &Value, shape: Shape) -> Value {
        self.read(item, pointer, shape, Mode::Read)
    }

    fn store(&mut self, item: &mut WorkItem<'a>, pointer: &Value, value: &Value, shape: Shape) {
        self.write(item, pointer, value, shape, Mode::Write);
    }

    fn allocate(&mut self, item: &mut WorkItem<'a>, region: u64, bytes: u64) {
        item.own.privates.entry(region).or_insert_with(|| Allocation::new(Vec::new(), Some(bytes)));
    }

    fn atomic_instruction(&mut self, item: &mut WorkItem<'a>, instruction: &Instruction) -> Value {
        let (Some(at), Some(new)) = (instruction.operands.first(), instruction.operands.last()) else {
            return Value::Unknown;
        };
        let [pointer, by] = [at, new].map(|o| item.values[*o as usize].clone());
        let old = self.atomic(item, &pointer, &by, self.program.shape(*new));
        match (&instruction.op, old) {
            (Op::CompareExchange, Value::One(old)) => Value::Many([old, 1].into()),
            (Op::CompareExchange, _) => Value::Unknown,
            (_, old) => old,
        }
    }

    fn atomic_call(
        &mut self,
        item: &mut WorkItem<'a>,
        instruction: &Instruction,
        atomic: Atomic,
        shape: Shape,
    ) -> Value {
        let operand = |i: usize| instruction.operands.get(i).map(|o| item.values[*o as usize].clone());
        let shape = match (shape.kind, instruction.operands.last()) {
            (Kind::Void | Kind::Int(1), Some(last)) => self.program.shape(*last),
            _ => shape,
        };
        let by = match atomic.operation {
            Operation::Inc => Value::One(1),
            Operation::Load => Value::One(0),
            _ => operand(1).unwrap_or(Value::One(1)),
        };
        let Some(pointer) = operand(0) else { return Value::Unknown };
        self.atomic(item, &pointer, &by, shape)
    }

    fn copy(&mut self, item: &mut WorkItem<'a>, operands: &[Value]) {
        if let [Value::One(to), Value::One(from), Value::One(count), ..] = operands {
            self.move_bytes(item, *to, *from, (*count).min(1 << 20));
        }
    }

    /// Not supported.
    fn fill(&mut self, _: &mut WorkItem<'a>, _: &[Value]) {}

    /// The first work-item of the group copies for all.
    fn copy_async(&mut self, item: &mut WorkItem<'a>, copy: AsyncCopy, operands: &[Value]) {
        let [Value::One(to), Value::One(from), Value::One(count), ..] = operands else {
            self.wild += 1;
            return;
        };
        if item.local_id != [0; 3] {
            return;
        }
        let element = u64::from(copy.element.unwrap_or(4));
        let stride = if let Some(Value::One(stride)) = operands.get(3) { *stride } else { 1 };
        let (to_stride, from_stride) = copy.strides(stride);
        for i in 0..(*count).min(1 << 16) {
            let source = from.wrapping_add(i.wrapping_mul(from_stride.wrapping_mul(element)));
            let target = to.wrapping_add(i.wrapping_mul(to_stride.wrapping_mul(element)));
            self.move_bytes(item, target, source, element);
        }
    }

    fn image_sides(&self, position: usize) -> Option<[u64; 3]> {
        match self.setup.args.get(position) {
            Some(DryRunArg::Image(sides)) => Some(*sides),
            _ => None,
        }
    }

    fn builtin(&mut self, item: &mut WorkItem<'a>, instruction: &Instruction, shape: Shape) -> Value {
        self.call(item, instruction, shape)
    }

    fn compute(&mut self, item: &mut WorkItem<'a>, instruction: &Instruction, _: Shape) -> Value {
        let Evaluated { value, is_undefined } = evaluate(self.program, instruction, &item.values);
        if is_undefined {
            self.divisions += 1;
            return Value::Unknown;
        }
        value
    }

    fn compute_scalar(&mut self, item: &WorkItem<'a>, instruction: &Instruction) -> Option<u64> {
        let bits = evaluate_scalar(self.program, instruction, &item.values)?;
        debug_assert_eq!(evaluate(self.program, instruction, &item.values).value, Value::One(bits), "{instruction:?}");
        Some(bits)
    }

    fn part(&mut self, item: &WorkItem<'a>, part: Part, d: usize) -> u64 {
        let range = &self.setup.range;
        match part {
            Part::LocalId => item.local_id[d],
            Part::GroupId => item.group_id[d],
            Part::GlobalSize => range.global[d],
            Part::LocalSize => range.local[d],
            Part::Groups => range.group_counts()[d],
            Part::Offset => range.offset[d],
            Part::Dimensions => range.dims.into(),
        }
    }

    fn sum(&mut self, a: u64, b: u64) -> u64 {
        a.wrapping_add(b)
    }

    fn product(&mut self, a: u64, b: u64) -> u64 {
        a.wrapping_mul(b)
    }

    fn convert_floats(&mut self, value: &Value, from: Shape, to: Shape) -> Value {
        let (before, after) = (arithmetic::width(from.kind), arithmetic::width(to.kind));
        value.map(|bits| arithmetic::float_bits(arithmetic::float(bits, before), after))
    }

    /// Conditions that are not known hold every other time.
    fn guess(&mut self) -> bool {
        self.coin = !self.coin;
        self.coin
    }

    fn cut(&mut self, _: Cut) {
        self.exhausted = true;
    }

    fn meet(&mut self, _: &[WorkItem<'a>]) -> bool {
        self.interval += 1;
        true
    }
}
