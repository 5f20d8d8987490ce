//! Where operators are sought.

use kassay_ir::cfg::indices::FunctionIndex;
use kassay_ir::cfg::sites::FunctionSites;
use kassay_ir::kernel::ast::{Ast, Function};

use super::found_operands::FoundOperands;
use super::instructions::Code;

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
