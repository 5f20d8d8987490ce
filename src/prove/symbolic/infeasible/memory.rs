//! Tracks the contents of private memory: scalars and vectors at constant offsets of variables that only plain loads
//! and stores access.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use kassay_ir::cfg::indices::BlockIndex;
use kassay_ir::kernel::builtins::{self, Family};
use kassay_ir::llvm::Opcode;

use crate::program::{Definition, Op, Program, Region, ValueId};
use crate::solve::expression::{Node, Operation, Sort, Term, Terms};

/// A value in memory: its lanes, and the bytes that they take together.
#[derive(Debug, Clone, PartialEq)]
pub struct Cell {
    pub lanes: Vec<Term>,
    pub bytes: u64,
}

/// Cells by variable (its `alloca`) and offset in bytes; they do not overlap.
#[derive(Debug, Clone, Default)]
pub struct Cells(BTreeMap<(ValueId, u64), Cell>);

impl Cells {
    /// The cell that starts at this offset.
    pub fn at(&self, variable: ValueId, offset: u64) -> Option<&Cell> {
        self.0.get(&(variable, offset))
    }

    /// Inserts a cell, and removes those that it overlaps.
    pub fn put(&mut self, variable: ValueId, offset: u64, cell: Cell) {
        let end = offset + cell.bytes;
        self.0.retain(|(v, at), old| *v != variable || *at >= end || *at + old.bytes <= offset);
        self.0.insert((variable, offset), cell);
    }

    /// Removes all cells of a variable.
    pub fn forget(&mut self, variable: ValueId) {
        self.0.retain(|(v, _), _| *v != variable);
    }

    /// Returns the cells of `self` where the bit is 1, and those of `other` elsewhere; a cell that only one of them has
    /// is dropped.
    pub fn merged(&self, terms: &mut Terms, bit: Term, other: &Cells) -> Cells {
        let mut both = BTreeMap::new();
        for (place, cell) in &self.0 {
            let Some(second) = other.0.get(place) else { continue };
            let sorts = |terms: &Terms, c: &Cell| c.lanes.iter().map(|l| terms.sort(*l)).collect::<Vec<Sort>>();
            if sorts(terms, cell) != sorts(terms, second) {
                continue;
            }
            let lanes = cell.lanes.iter().zip(&second.lanes).map(|(a, b)| terms.select(bit, *a, *b)).collect();
            both.insert(*place, Cell { lanes, bytes: cell.bytes });
        }
        Cells(both)
    }
}

/// Summary of the kernel's memory accesses.
pub struct Memory {
    /// Variables accessed only by loads and stores through pointers of known roots.
    tracked: BTreeSet<ValueId>,
    /// By block: variables that it stores to.
    written: HashMap<BlockIndex, BTreeSet<ValueId>>,
    /// Arguments whose memory the kernel may write; `None` if it may write all.
    arguments: Option<BTreeSet<u32>>,
    /// The kernel may write memory that other work-items can see.
    pub writes_shared: bool,
}

fn regions(program: &Program, pointer: ValueId) -> Vec<Region> {
    match program.values[pointer as usize] {
        Definition::Variable(index, _) => vec![Region::Variable(index)],
        _ => {
            let found = program.roots[pointer as usize].clone();
            if found.is_empty() { vec![Region::Unknown] } else { found }
        }
    }
}

/// Returns the region of a pointer if it can point into only one.
pub fn region(program: &Program, pointer: ValueId) -> Option<Region> {
    match regions(program, pointer)[..] {
        [only] => Some(only),
        _ => None,
    }
}

/// Returns whether a call neither writes memory nor keeps a pointer.
fn has_no_memory_effect(name: &str) -> bool {
    builtins::family(name) == Some(Family::VectorLoad)
        || name.starts_with("llvm.lifetime")
        || name.starts_with("llvm.dbg")
        || name.starts_with("llvm.assume")
}

impl Memory {
    /// Summarises the accesses of a kernel.
    pub fn of(program: &Program) -> Memory {
        let mut escaped: BTreeSet<Region> = BTreeSet::new();
        let mut memory = Memory {
            tracked: BTreeSet::new(),
            written: HashMap::new(),
            arguments: Some(BTreeSet::new()),
            writes_shared: false,
        };
        let mut unknown = false;
        for (block, instruction) in program.instructions() {
            if let Op::Alloca(_) = instruction.op {
                memory.tracked.insert(instruction.result);
            }
            for (i, operand) in instruction.operands.iter().enumerate() {
                let is_pointer = matches!(program.shape(*operand).kind, crate::program::Kind::Pointer);
                if !is_pointer {
                    continue;
                }
                let all = regions(program, *operand);
                match (&instruction.op, i) {
                    (Op::Load, _) | (Op::Compare(_), _) => {}
                    // The result of an operation on a pointer has the same roots.
                    (Op::Address { .. } | Op::Select | Op::Phi(_) | Op::Copy, _) => {}
                    (Op::Cast(Opcode::LLVMAddrSpaceCast | Opcode::LLVMBitCast), _) => {}
                    (Op::Store, 1) => {
                        unknown |= all.contains(&Region::Unknown);
                        for region in all {
                            memory.write(block, region);
                        }
                    }
                    (Op::Call(name, _), _) if has_no_memory_effect(name) => {}
                    // A pointer that is stored or passed to a call or an atomic escapes.
                    _ => {
                        unknown |= all.contains(&Region::Unknown);
                        for region in &all {
                            memory.write(block, *region);
                        }
                        escaped.extend(all);
                    }
                }
            }
        }
        if unknown {
            memory.tracked.clear();
            memory.arguments = None;
        }
        memory.tracked.retain(|v| !escaped.contains(&Region::Private(*v)));
        memory
    }

    fn write(&mut self, block: BlockIndex, region: Region) {
        match region {
            Region::Private(variable) => {
                self.written.entry(block).or_default().insert(variable);
            }
            Region::Argument(position) => {
                if let Some(arguments) = &mut self.arguments {
                    arguments.insert(position);
                }
                self.writes_shared = true;
            }
            Region::Variable(_) | Region::Unknown => self.writes_shared = true,
        }
    }

    /// Returns whether the contents of a private variable are tracked.
    pub fn is_tracked(&self, variable: ValueId) -> bool {
        self.tracked.contains(&variable)
    }

    /// Returns whether the kernel may write the memory of an argument, judging by the roots of its pointers.
    pub fn writes(&self, argument: u32) -> bool {
        self.arguments.as_ref().is_none_or(|all| all.contains(&argument))
    }

    /// Drops the cells that blocks may write.
    pub fn drop_written<'b>(&self, cells: &mut Cells, blocks: impl Iterator<Item = &'b BlockIndex>) {
        for variable in blocks.filter_map(|b| self.written.get(b)).flatten() {
            cells.forget(*variable);
        }
    }

    /// Drops the cells that a store may change: one to an unknown offset, or through a pointer to one of
    /// several variables.
    pub fn clobber(&self, program: &Program, pointer: ValueId, cells: &mut Cells) {
        for region in regions(program, pointer) {
            if let Region::Private(variable) = region {
                cells.forget(variable);
            }
        }
    }
}

/// Returns the offset of `address` from `base` if the address is a sum that contains `base`.
pub fn offset_from(terms: &mut Terms, address: Term, base: Term) -> Option<Term> {
    if address == base {
        return Some(terms.constant(0, Sort::Bits(64)));
    }
    let Node::Apply(Operation::Add, args) = terms.node(address) else { return None };
    let (left, right) = (args[0], args[1]);
    for (inner, rest) in [(left, right), (right, left)] {
        if let Some(offset) = offset_from(terms, inner, base) {
            return Some(terms.apply(Operation::Add, vec![offset, rest], Sort::Bits(64)));
        }
    }
    None
}
