//! Tells which ids a kernel reads. Where it reads only the group's id in a dimension, or only the local id, hosts
//! launch groups of one work-item there, or one group: several would do the same again.

use std::collections::{BTreeSet, HashMap, HashSet};

use kassay_ir::llvm::Opcode;
use kassay_prove::program::{End, Instruction, Op, Program, ValueId};

use super::access_summary::AccessSummary;
use super::path_conditions::Fact;
use super::polynomial::{Atom, Id, id_of};

/// The ids and sizes on which memory or control flow depends.
#[derive(Debug, Default)]
pub(super) struct IdUses {
    read: BTreeSet<(Id, u8)>,
    /// Sizes that the code compares, as kernels do that are made for several of them.
    compared: BTreeSet<(Id, u8)>,
    /// An id is read in a dimension that is not constant.
    is_open: bool,
    has_sub_group_place: bool,
    /// The number of a sub-group, or of how many there are.
    has_sub_group_number: bool,
}

impl IdUses {
    pub(super) fn of(summary: &AccessSummary<'_>) -> IdUses {
        let program = summary.program;
        let needed = needed(program);
        let ranks = Ranks::of(program);
        let mut found = IdUses::default();
        for (_, instruction) in program.instructions().filter(|(_, i)| needed.contains(&i.result)) {
            let Op::Call(_, base) = &instruction.op else { continue };
            found.has_sub_group_place |= base == "get_sub_group_local_id";
            found.has_sub_group_number |= base == "get_sub_group_id" || base == "get_num_sub_groups";
            if id_of(base).is_some() {
                match asked(program, instruction.result) {
                    Some((Id::Group, d @ 1..)) if ranks.has_only(instruction.result, d) => {}
                    Some(id) => found.read.extend([id]),
                    None => found.is_open = true,
                }
            }
        }
        found.compared = summary.facts.all().flat_map(|(_, fact)| compared_sizes(summary, fact)).collect();
        found
    }

    /// What is read, with its dimension.
    pub(super) fn read(&self) -> &BTreeSet<(Id, u8)> {
        &self.read
    }

    fn reads(&self, ids: &[Id], dimension: u8) -> bool {
        self.is_open || ids.iter().any(|id| self.read.contains(&(*id, dimension)))
    }

    fn compares(&self, sizes: &[Id], dimension: u8) -> bool {
        sizes.iter().any(|size| self.compared.contains(&(*size, dimension)))
    }

    /// Whether nothing tells the work-items of a group apart in a later dimension.
    pub(super) fn has_one_item(&self, dimension: u8) -> bool {
        dimension > 0
            && !self.reads(&[Id::Global, Id::Local], dimension)
            && !self.compares(&[Id::LocalSize, Id::GlobalSize], dimension)
            && (self.reads(&[Id::Group], dimension) || !self.compares(&[Id::Groups], dimension))
    }

    /// Whether nothing tells work-groups apart in a later dimension.
    pub(super) fn has_one_group(&self, dimension: u8) -> bool {
        dimension > 0
            && !self.reads(&[Id::Global, Id::Group], dimension)
            && !self.compares(&[Id::Groups, Id::GlobalSize], dimension)
            && (self.reads(&[Id::Local], dimension) || !self.compares(&[Id::LocalSize], dimension))
    }

    /// Whether a row of a group is one sub-group: the code tells rows apart, or groups, but not the sub-groups of a
    /// row.
    pub(super) fn has_one_sub_group(&self) -> bool {
        self.has_sub_group_place
            && !self.has_sub_group_number
            && !self.reads(&[Id::Local], 0)
            && (self.reads(&[Id::Local], 1) || !self.reads(&[Id::Global], 0))
    }
}

/// Numbers of groups among all of the launch, dimension 0 fastest, as CUDA's grids have them:
/// `(z * ny + y) * nx + x`. They tell groups apart however many dimensions there are, so that they need only one.
struct Ranks<'p> {
    program: &'p Program,
    users: HashMap<ValueId, Vec<&'p Instruction>>,
}

impl<'p> Ranks<'p> {
    fn of(program: &'p Program) -> Ranks<'p> {
        let mut users: HashMap<ValueId, Vec<&Instruction>> = HashMap::new();
        for (_, instruction) in program.instructions() {
            program.read_by(instruction).for_each(|value| users.entry(value).or_default().push(instruction));
        }
        Ranks { program, users }
    }

    /// Whether a value, which numbers groups of the dimensions from `d` on, is only used in such a number.
    fn has_only(&self, value: ValueId, d: u8) -> bool {
        let lower = d - 1;
        let users = self.users(value);
        let is_of_number = |sum: &&Instruction| {
            let is_sum =
                matches!(sum.op, Op::Binary(Opcode::LLVMAdd)) && self.has(sum, |v| self.asks(v, Id::Group, lower));
            is_sum && (lower == 0 || self.has_only(sum.result, lower))
        };
        !users.is_empty()
            && users.iter().all(|user| match user.op {
                Op::Binary(Opcode::LLVMMul) => {
                    let sums = self.users(user.result);
                    self.has(user, |v| self.asks(v, Id::Groups, lower)) && sums.iter().all(is_of_number)
                }
                Op::Binary(Opcode::LLVMAdd) => self.has(user, |v| self.counts(v, d)) && self.has_only(user.result, d),
                _ => false,
            })
    }

    /// Whether a value is a multiple of the number of groups in a dimension.
    fn counts(&self, value: ValueId, d: u8) -> bool {
        let found = self.program.instruction(self.source(value));
        let is_product = |i: &&Instruction| matches!(i.op, Op::Binary(Opcode::LLVMMul));
        found.filter(is_product).is_some_and(|i| self.has(i, |v| self.asks(v, Id::Groups, d)))
    }

    fn has(&self, instruction: &Instruction, of: impl Fn(ValueId) -> bool) -> bool {
        instruction.operands.iter().any(|operand| of(*operand))
    }

    fn asks(&self, value: ValueId, id: Id, d: u8) -> bool {
        asked(self.program, self.source(value)) == Some((id, d))
    }

    /// What a value is a cast of.
    fn source(&self, mut value: ValueId) -> ValueId {
        while let Some(Instruction { op: Op::Cast(_) | Op::Copy, operands, .. }) = self.program.instruction(value) {
            let [of, ..] = operands[..] else { break };
            value = of;
        }
        value
    }

    /// Who uses a value, or a cast of it.
    fn users(&self, value: ValueId) -> Vec<&'p Instruction> {
        let mut found = Vec::new();
        for user in self.users.get(&value).into_iter().flatten() {
            match user.op {
                Op::Cast(_) | Op::Copy => found.extend(self.users(user.result)),
                _ => found.push(*user),
            }
        }
        found
    }
}

/// Returns the id or size that a call asks for; `None` if the dimension is not constant.
fn asked(program: &Program, call: ValueId) -> Option<(Id, u8)> {
    let instruction = program.instruction(call)?;
    let Op::Call(_, base) = &instruction.op else { return None };
    let dimension = instruction.operands.first().and_then(|d| program.constant(*d))?;
    Some((id_of(base)?, u8::try_from(dimension).ok()?))
}

/// Returns the sizes that a check compares which is the same for all work-items, and does not only count a loop's
/// turns.
fn compared_sizes(summary: &AccessSummary<'_>, fact: &Fact) -> Vec<(Id, u8)> {
    let mut sizes = Vec::new();
    let mut note = |(id, d): (Id, u8)| match id {
        Id::Global | Id::Local | Id::Group => false,
        Id::GlobalSize | Id::LocalSize | Id::Groups | Id::Offset => {
            sizes.push((id, d));
            true
        }
    };
    let is_uniform = fact.lhs.atoms().chain(fact.rhs.atoms()).all(|atom| match atom {
        Atom::Arg(..) => true,
        Atom::Id(id, d) => note((id, d)),
        Atom::Value(value) if summary.program.is_counter(value) => false,
        Atom::Value(value) => {
            summary.sources(value).into_iter().filter_map(|v| asked(summary.program, v)).all(&mut note)
        }
    });
    if is_uniform { sizes } else { Vec::new() }
}

/// Returns values that affect control flow or memory. Excludes unused lanes of id vectors, which SPIR-V produces.
pub(super) fn needed(program: &Program) -> HashSet<ValueId> {
    let ends = program.blocks.iter().filter_map(|code| match &code.end {
        End::Branch { condition, .. } => Some(*condition),
        End::Switch { value, .. } => Some(*value),
        _ => None,
    });
    let has_effect = |op: &Op| match op {
        Op::Call(_, base) => id_of(base).is_none(),
        _ => matches!(op, Op::Load | Op::Store | Op::AtomicRmw(_) | Op::CompareExchange | Op::Other),
    };
    let effects = program.instructions().filter(|(_, i)| has_effect(&i.op)).map(|(_, i)| i.result);
    let mut todo: Vec<ValueId> = ends.chain(effects).collect();
    let mut found = HashSet::new();
    while let Some(value) = todo.pop() {
        if found.insert(value)
            && let Some(instruction) = program.instruction(value)
        {
            todo.extend(program.read_by(instruction));
        }
    }
    found
}
