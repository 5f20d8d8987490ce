//! Finds an instruction's source location together with the chain of inlined calls that leads to it.

use super::canonical::BODY_PREFIX;
use crate::llvm::{DebugLocation, Inst, Location, MetadataClass, MetadataKind, Node};

/// A source location and the function that contains it.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Frame {
    /// The function's name.
    pub function: String,
    /// Where in it.
    pub location: DebugLocation,
}

/// The frames of an instruction, innermost first; empty without debug information.
pub fn frames(inst: Inst<'_>) -> Vec<Frame> {
    unwind(inst.debug_location())
}

/// The frames of the loop that a terminator closes: those of the first location in its `llvm.loop` metadata (whose
/// kind is `kind`), which is the position of the loop's keyword, or else those of the terminator.
pub fn loop_frames(terminator: Inst<'_>, kind: MetadataKind) -> Vec<Frame> {
    unwind(terminator.metadata_debug_location(kind).or_else(|| terminator.debug_location()))
}

fn unwind(location: Option<Location<'_>>) -> Vec<Frame> {
    let chain = std::iter::successors(location, |location| location.inlined_at());
    chain.map(|location| Frame { function: function_of(location.scope()), location: location.place() }).collect()
}

/// Returns the name of the function that contains a scope.
fn function_of(mut scope: Option<Node<'_>>) -> String {
    // LLVM's C interface does not tell scopes of scopes; as nodes, blocks have theirs as operand 1, and subprograms
    // their name as operand 2 (LLVM 22, DebugInfoMetadata.h).
    while let Some(node) = scope {
        if node.is(MetadataClass::LLVMDISubprogramMetadataKind) {
            let name = node.operand(2).text().unwrap_or_default().to_owned();
            return name.strip_prefix(BODY_PREFIX).map(str::to_owned).unwrap_or(name);
        }
        scope = node.operand(1).node();
    }
    String::new()
}
