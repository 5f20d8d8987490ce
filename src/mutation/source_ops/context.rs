//! Where operators are sought.

use super::found_operands::FoundOperands;
use super::instructions::Code;
use crate::cfg::indices::FunctionIndex;
use crate::cfg::sites::FunctionSites;
use crate::kernel::ast::{Ast, Function};

/// A function, in the source and in the IR.
pub struct Context<'a, 'c> {
    pub ast: &'a Ast,
    pub function: &'a Function,
    pub code: &'c Code,
    pub sites: &'c FunctionSites,
    /// Position in `Sites::functions`.
    pub index: FunctionIndex,
    /// Operands that were found.
    pub operands: FoundOperands,
}
