//! Describes the symbolic input of a launch: names of symbols, and what the kernel reveals about its arguments.

use std::collections::BTreeMap;

use kassay_ir::instrument::marks::MARK;
use kassay_ir::kernel::builtins::GRID_BARRIER;
use kassay_model::interface::{ArgKind, Interface, Scalar, Type};
use kassay_suite::launch::{ArgValue, Launch};
use kassay_suite::scalar_layout::{self, Leaf, Number};

use crate::program::machine::call::scalar_bytes;
use crate::program::{Definition, Kind, Op, Program, Region, ValueId};

/// The user's constraints on one argument. Without a bound, any value is allowed.
#[derive(Debug, Clone, PartialEq)]
pub struct Bound {
    /// Position of the argument.
    pub position: usize,
    /// It keeps its values.
    pub fixed: bool,
    /// Inclusive bounds of all its numbers.
    pub least: Option<Number>,
    /// The greatest of all its numbers, inclusive.
    pub greatest: Option<Number>,
}

/// The user's constraints on the NDRange.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ranges {
    /// It keeps its values.
    pub fixed: bool,
    /// The only allowed work-group size.
    pub local: Option<[u64; 3]>,
    /// Largest number of work-items in a launch.
    pub max_items: u64,
    /// Largest number of work-items in a work-group.
    pub max_group: u64,
    /// Limits on launches and work-groups that are exceeded only if necessary, because larger ones take longer.
    pub usual_items: u64,
    /// Work-items of a work-group.
    pub usual_group: u64,
}

impl Default for Ranges {
    fn default() -> Ranges {
        Ranges { fixed: false, local: None, max_items: 4096, max_group: 256, usual_items: 4096, usual_group: 256 }
    }
}

/// The product of three numbers up to this limit fits into 64 bits.
const MAX_ITEMS: u64 = 1 << 21;

/// Doublings of the usual limits on launches and on work-groups with each step beyond them.
const STEP: (u32, u32) = (3, 2);
/// The step at which the full limits apply.
pub const ALL: u32 = 3;

impl Ranges {
    /// Returns whether this step beyond the usual limits allows larger launches than the step before.
    pub fn grow(&self, steps: u32) -> bool {
        steps == 0 || self.most(steps) != self.most(steps - 1)
    }

    /// Returns the largest number of work-items in a launch and in a work-group, `steps` beyond the usual limits.
    pub fn most(&self, steps: u32) -> (u64, u64) {
        let (items, group) = (self.max_items.min(MAX_ITEMS), self.max_group.min(MAX_ITEMS));
        if steps >= ALL {
            return (items, group);
        }
        let (of_items, of_group) = STEP;
        let usual = (self.usual_items.min(items), self.usual_group.min(group));
        (items.min(usual.0 << (of_items * steps)), group.min(usual.1 << (of_group * steps)))
    }
}

/// An argument.
#[derive(Debug)]
pub struct Input {
    /// Its values may be changed.
    pub is_free: bool,
    /// For a value: its scalars.
    pub leaves: Vec<Leaf>,
    /// For a buffer: bytes of a cell, which is the size of the narrowest access.
    pub granule: u64,
    /// For a buffer: bytes of an element; 1 if the kernel does not reveal it.
    pub element: u64,
    /// For a buffer: the type of all its numbers, if there is a single one.
    pub scalar: Option<Scalar>,
    pub least: Option<Number>,
    pub greatest: Option<Number>,
}

/// What is the same in all launches of a kernel.
#[derive(Debug)]
pub struct Inputs {
    pub args: Vec<Input>,
    pub ranges: Ranges,
    /// Work-items synchronise at barriers, and so may see what others did.
    pub synchronises: bool,
    /// The kernel queries something that depends on the NDRange's offset.
    pub asks_offset: bool,
    /// The kernel queries the number of dimensions.
    pub asks_dims: bool,
    /// Accesses out of bounds are skipped without further consequences.
    pub allows_faults: bool,
}

/// Symbol of a scalar of an argument passed by value.
pub fn scalar_symbol(position: usize, offset: u64) -> String {
    format!("arg{position}+{offset}")
}

/// Name of the function from byte offsets to the cells of a buffer.
pub fn buffer_function(position: usize, granule: u64) -> String {
    format!("arg{position}:{granule}")
}

/// Parses the position and the offset from a scalar's symbol.
pub fn scalar_of(symbol: &str) -> Option<(usize, u64)> {
    let (position, offset) = symbol.strip_prefix("arg")?.split_once('+')?;
    Some((position.parse().ok()?, offset.parse().ok()?))
}

/// Parses the position and the granule from the name of a buffer's function.
pub fn buffer_of(function: &str) -> Option<(usize, u64)> {
    let (position, granule) = function.strip_prefix("arg")?.split_once(':')?;
    Some((position.parse().ok()?, granule.parse().ok()?))
}

/// Width of the symbols of ids and sizes: OpenCL has no limit but `size_t`, devices have far lower ones.
pub const ID_BITS: u32 = 32;

/// Width of a symbol of the NDRange: offsets need all 64 bits, as a large offset causes no work.
pub fn range_bits(name: &str) -> u32 {
    if name == OFFSET { 64 } else { ID_BITS }
}

/// Symbol of an id or size in one dimension.
pub fn range_symbol(name: &str, dimension: usize) -> String {
    format!("{name}.{dimension}")
}

/// Number of work-groups in a dimension.
pub const GROUPS: &str = "groups";
/// Work-group size in a dimension.
pub const LOCAL_SIZE: &str = "local_size";
/// Offset of the NDRange in a dimension.
pub const OFFSET: &str = "offset";
/// Group id of the subject in a dimension.
pub const GROUP_ID: &str = "group_id";
/// Local id of the subject in a dimension.
pub const LOCAL_ID: &str = "local_id";
/// The number of dimensions; its symbol is that of dimension 0.
pub const DIMS: &str = "dims";

/// Returns the value of a symbol in a launch with work-group size `local`, for the work-item with these ids.
pub fn value_of(symbol: &str, launch: &Launch, local: [u64; 3], group_id: [u64; 3], local_id: [u64; 3]) -> u64 {
    if let Some((position, offset)) = scalar_of(symbol) {
        let Some(ArgValue::Value(bytes)) = launch.args.get(position) else { return 0 };
        return word(bytes, offset, 8);
    }
    let Some((name, d)) =
        symbol.split_once('.').and_then(|(n, d)| Some((n, d.parse::<usize>().ok().filter(|d| *d < 3)?)))
    else {
        return 0;
    };
    match name {
        GROUPS => launch.range.with_local(local).group_counts()[d],
        LOCAL_SIZE => local[d],
        OFFSET => launch.range.offset[d],
        DIMS => launch.range.dims.into(),
        GROUP_ID => group_id[d],
        _ => local_id[d],
    }
}

/// Returns the contents of a buffer at an offset; 0 beyond its end.
pub fn cell_of(function: &str, at: u64, launch: &Launch) -> u64 {
    let Some((position, granule)) = buffer_of(function) else { return 0 };
    match launch.args.get(position) {
        Some(ArgValue::Buffer(bytes)) => word(bytes, at, granule),
        _ => 0,
    }
}

fn word(bytes: &[u8], at: u64, size: u64) -> u64 {
    let byte = |i: u64| at.checked_add(i).and_then(|at| bytes.get(usize::try_from(at).ok()?)).copied().unwrap_or(0);
    (0..size.min(8)).map(|i| u64::from(byte(i)) << (8 * i)).sum()
}

impl Inputs {
    /// Rounds a number of bytes up to whole elements of a buffer.
    pub fn whole(&self, position: usize, bytes: u64) -> u64 {
        bytes.next_multiple_of(self.args.get(position).map_or(1, |input| input.element))
    }

    /// Analyses which inputs a kernel has and how it accesses them, within the user's `bounds` and `ranges`.
    pub fn new(program: &Program, interface: &Interface, bounds: &[Bound], mut ranges: Ranges) -> Inputs {
        let granules = granules(program);
        ranges.local = ranges.local.or(interface.required_local);
        let input = |(position, arg): (usize, &kassay_model::interface::Arg)| {
            let bound = bounds.iter().find(|b| b.position == position);
            let leaves = match &arg.kind {
                ArgKind::Value(ty) => scalar_layout::leaves(ty),
                _ => Vec::new(),
            };
            let scalar = match &arg.kind {
                ArgKind::Buffer { element: Some(ty), .. } => only_scalar(ty),
                _ => None,
            };
            let element = match &arg.kind {
                ArgKind::Buffer { element: Some(ty), .. } => ty.size().max(1),
                _ => 1,
            };
            Input {
                is_free: !bound.is_some_and(|b| b.fixed),
                leaves,
                granule: granules.get(&(position as u32)).copied().unwrap_or(4),
                element,
                scalar,
                least: bound.and_then(|b| b.least),
                greatest: bound.and_then(|b| b.greatest),
            }
        };
        let calls = |wanted: &[&str]| {
            program.instructions().any(|(_, i)| matches!(&i.op, Op::Call(_, base) if wanted.contains(&base.as_str())))
        };
        Inputs {
            args: interface.args.iter().enumerate().map(input).collect(),
            ranges,
            synchronises: calls(&["barrier", "work_group_barrier", "wait_group_events", GRID_BARRIER]),
            asks_offset: calls(&["get_global_offset", "get_global_id"]),
            asks_dims: calls(&["get_work_dim"]),
            allows_faults: false,
        }
    }
}

/// Returns the scalar type of all components of a type, if there is a single one.
fn only_scalar(ty: &Type) -> Option<Scalar> {
    let leaves = scalar_layout::leaves(ty);
    let first = leaves.first()?.scalar;
    leaves.iter().all(|l| l.scalar == first).then_some(first)
}

/// Returns the size of the narrowest access to each argument's buffer, in bytes.
fn granules(program: &Program) -> BTreeMap<u32, u64> {
    let mut found: BTreeMap<u32, u64> = BTreeMap::new();
    let mut note = |at: ValueId, bytes: u64| {
        let whole;
        let regions = match program.values[at as usize] {
            Definition::Param(position) => {
                whole = [Region::Argument(position)];
                &whole[..]
            }
            _ => &program.roots[at as usize][..],
        };
        for region in regions {
            if let Region::Argument(position) = region {
                let known = found.entry(*position).or_insert(bytes);
                *known = bytes.min(*known);
            }
        }
    };
    for (_, instruction) in program.instructions() {
        match &instruction.op {
            Op::Load => note(instruction.operands[0], program.shape(instruction.result).lane_bytes().clamp(1, 8)),
            Op::Store => {
                note(instruction.operands[1], program.shape(instruction.operands[0]).lane_bytes().clamp(1, 8));
            }
            Op::AtomicRmw(_) | Op::CompareExchange => {
                let by = instruction.operands[instruction.operands.len() - 1];
                note(instruction.operands[0], program.shape(by).lane_bytes().clamp(1, 8));
            }
            Op::Call(name, _) if name != MARK => {
                let Some(bytes) = scalar_bytes(name) else { continue };
                for operand in &instruction.operands {
                    if program.shape(*operand).kind == Kind::Pointer {
                        note(*operand, bytes);
                    }
                }
            }
            _ => {}
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbol_names_parse_back() {
        assert_eq!(scalar_of(&scalar_symbol(3, 12)), Some((3, 12)));
        assert_eq!(buffer_of(&buffer_function(0, 4)), Some((0, 4)));
        assert_eq!(scalar_of(&buffer_function(0, 4)), None);
        assert_eq!(buffer_of(&range_symbol(GROUPS, 1)), None);
    }
}
