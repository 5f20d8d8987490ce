//! Refuses kernels that call a function that is neither a builtin nor defined, or a builtin that takes a block to enqueue; a device or
//! LLVM would refuse them with a less helpful message, or crash.

use inkwell::module::Module;

use crate::error::{Error, Result};
use crate::kernel::builtins;
use crate::llvm::{Block, Function, View};

/// Refuses a module that calls an undefined function.
///
/// # Errors
/// `Caller`, naming the function and, if debug information has it, the location of the call; `Internal` if it enqueues a block.
pub fn refuse(module: &Module<'_>) -> Result<()> {
    let functions = View::of(module).functions().into_iter();
    for call in functions.flat_map(Function::blocks).flat_map(Block::walk) {
        let Some(called) = call.called_function().filter(|f| !f.has_body()) else { continue };
        let callee = called.name();
        let place = || match call.location().filter(|at| at.line > 0) {
            Some(at) => format!("{}:{}:{}", at.file, at.line, at.column),
            None => format!("in `{}`", call.function().name()),
        };
        if let Some(builtin) = builtins::taking_a_block(&callee) {
            let place = place();
            let what =
                format!("the kernel calls `{builtin}` ({place}), and kassay has no device-side enqueue of blocks");
            return Err(Error::internal(what).help(
                "leave that out of what is tested, with a macro (-D) for instance; blocks that the kernel calls itself are no obstacle",
            ));
        }
        if !builtins::may_be_builtin(&callee) {
            let place = place();
            return Err(Error::caller(format!("the kernel calls `{callee}`, which has no body here ({place})")).help(
                "give its definition in the same file, or include it; SPIR-V and LLVM IR without it have to be linked \
                 with a module that has it. Compilers leave out a plain `inline` function: make it `static inline`",
            ));
        }
    }
    Ok(())
}
