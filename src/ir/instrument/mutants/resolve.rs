//! Resolves the positions in edits to LLVM handles, and groups the edits by instruction and edge, before
//! anything is inserted.

use std::collections::BTreeMap;

use kassay_base::error::{Error, Result};

use super::edit::{Action, EdgeChange, Edit, Expr, Place, Slot};
use crate::cfg::indices::{BlockIndex, FunctionIndex};
use crate::cfg::sites::Sites;
use crate::llvm::{Block, Function, Inst, Opcode, View};

/// The part of an edit that applies at one place; `owner` is the edit's index in the caller's list.
pub(super) struct Change<'e, T> {
    pub owner: usize,
    pub edit: &'e T,
}

/// All changes at one instruction, in the order of the edits.
pub(super) struct InstructionChanges<'e, 'm> {
    pub inst: Inst<'m>,
    pub operands: BTreeMap<u32, Vec<Change<'e, Expr>>>,
    pub result: Vec<Change<'e, Expr>>,
    pub instead: Vec<Change<'e, Action>>,
}

/// All changes of one edge.
pub(super) struct EdgeChanges<'e, 'm> {
    /// The terminator of the source block.
    pub terminator: Inst<'m>,
    pub successor: u32,
    /// Each with the block that the edge leads to instead.
    pub changes: Vec<(Change<'e, EdgeChange>, Block<'m>)>,
}

/// Edits by function and place.
pub(super) struct Resolved<'e, 'm> {
    pub functions: Vec<Function<'m>>,
    /// By function, then in the order of the code.
    pub changes: BTreeMap<Place, InstructionChanges<'e, 'm>>,
    /// By function, block and successor.
    pub edges: BTreeMap<(FunctionIndex, BlockIndex, usize), EdgeChanges<'e, 'm>>,
}

struct Resolver<'e, 'm> {
    blocks: Vec<Vec<Block<'m>>>,
    /// Instructions of the blocks requested so far.
    instructions: BTreeMap<(FunctionIndex, BlockIndex), Vec<Inst<'m>>>,
    changes: BTreeMap<Place, InstructionChanges<'e, 'm>>,
    edges: BTreeMap<(FunctionIndex, BlockIndex, usize), EdgeChanges<'e, 'm>>,
}

fn missing_place(place: &Place) -> Error {
    Error::internal(format!("an edit's place is not in the module: {place:?}"))
}

/// Resolves `edits` against the functions of `sites`.
///
/// # Errors
/// `Internal` if a place or block is not in the module, or an edit cannot be woven.
pub(super) fn resolve<'e, 'm>(
    view: View<'m>,
    sites: &Sites,
    edits: impl Iterator<Item = &'e Edit>,
) -> Result<Resolved<'e, 'm>> {
    let functions: Vec<Function<'m>> = sites
        .functions
        .iter()
        .map(|f| {
            view.function(&f.cfg.function)
                .ok_or_else(|| Error::internal(format!("function {} is gone", f.cfg.function)))
        })
        .collect::<Result<_>>()?;
    let mut resolver = Resolver {
        blocks: functions.iter().map(|f| f.blocks()).collect(),
        instructions: BTreeMap::new(),
        changes: BTreeMap::new(),
        edges: BTreeMap::new(),
    };
    for (owner, edit) in edits.enumerate() {
        resolver.edit(owner, edit)?;
    }
    Ok(Resolved { functions, changes: resolver.changes, edges: resolver.edges })
}

impl<'e, 'm> Resolver<'e, 'm> {
    fn edit(&mut self, owner: usize, edit: &'e Edit) -> Result<()> {
        match edit {
            Edit::Value { at, by } => {
                for slot in at {
                    let changes = self.at(&slot.place())?;
                    match slot {
                        Slot::Result(_) => changes.result.push(Change { owner, edit: by }),
                        Slot::Operand(place, i) => {
                            if changes.inst.is(Opcode::LLVMPHI) || *i >= changes.inst.operand_count() {
                                return Err(missing_place(place));
                            }
                            changes.operands.entry(*i).or_default().push(Change { owner, edit: by });
                        }
                    }
                }
            }
            Edit::Instead { at, by } => {
                for place in at {
                    let changes = self.at(place)?;
                    let inst = changes.inst;
                    if !matches!(inst.opcode(), Opcode::LLVMCall | Opcode::LLVMStore) && !inst.is_atomic() {
                        let what = format!("only calls, stores and what is atomic can be replaced: {place:?}");
                        return Err(Error::internal(what));
                    }
                    changes.instead.push(Change { owner, edit: by });
                }
            }
            Edit::Redirect { edges } => {
                for edge in edges {
                    self.edge(owner, edge)?;
                }
            }
            Edit::All(edits) => {
                for edit in edits {
                    self.edit(owner, edit)?;
                }
            }
            Edit::Launch(_) => {}
            Edit::Privatise { .. } => {
                return Err(Error::internal("a private copy of a local variable needs a pass of its own"));
            }
            Edit::Variant(_) => return Err(Error::internal("a variant is no edit of instructions")),
            Edit::Uncompilable { .. } => return Err(Error::internal("a mutant that does not compile has no code")),
        }
        Ok(())
    }

    fn at(&mut self, place: &Place) -> Result<&mut InstructionChanges<'e, 'm>> {
        let block =
            self.blocks.get(place.function.0).and_then(|f| f.get(place.block.0)).ok_or_else(|| missing_place(place))?;
        let all = self.instructions.entry((place.function, place.block)).or_insert_with(|| block.instructions());
        let inst = *all.get(place.instruction).ok_or_else(|| missing_place(place))?;
        Ok(self.changes.entry(*place).or_insert_with(|| InstructionChanges {
            inst,
            operands: BTreeMap::new(),
            result: Vec::new(),
            instead: Vec::new(),
        }))
    }

    fn edge(&mut self, owner: usize, edge: &'e EdgeChange) -> Result<()> {
        let missing = || Error::internal(format!("an edge is not in the module: {edge:?}"));
        let blocks = self.blocks.get(edge.function.0).ok_or_else(missing)?;
        let terminator = blocks.get(edge.block.0).ok_or_else(missing)?.terminator();
        let to = *blocks.get(edge.to.0).ok_or_else(missing)?;
        if edge.successor >= terminator.successors().len() {
            return Err(missing());
        }
        let key = (edge.function, edge.block, edge.successor);
        let successor = edge.successor as u32;
        let changes =
            self.edges.entry(key).or_insert_with(|| EdgeChanges { terminator, successor, changes: Vec::new() });
        changes.changes.push((Change { owner, edit: edge }, to));
        Ok(())
    }
}
