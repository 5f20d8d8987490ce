//! LIU's statements and regions (5.2), located in the CFG.

use super::graph::{BlockIndex, Cfg};
use crate::kernel::ast::Ast;
use crate::kernel::ir::DebugLocation;

/// A counted statement.
#[derive(Debug, Clone)]
pub struct Statement {
    pub location: DebugLocation,
    pub construct: String,
    /// The block in which it begins.
    pub block: BlockIndex,
    /// Whether a region of code between branch points begins with it.
    pub starts_region: bool,
}

pub fn find(_cfg: &Cfg, _ast: &Ast) -> Vec<Statement> {
    Vec::new()
}
