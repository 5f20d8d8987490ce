//! Refuses kernels that call a function which is neither a builtin nor defined: devices would refuse the module with
//! less to say.

use inkwell::module::Module;

use crate::error::{Error, Result};
use crate::kernel::ir::{self, Block, Function};

/// # Errors
/// `Caller`, naming the function and where it is called, as far as debug information tells.
pub fn refuse(module: &Module<'_>) -> Result<()> {
    let instructions = ir::functions(module).into_iter().flat_map(Function::blocks).flat_map(Block::instructions);
    for call in instructions {
        let Some(callee) = call.callee().filter(|name| !is_builtin(name)) else { continue };
        if ir::function(module, &callee).is_some_and(|f| !f.has_body()) {
            let place = call.location().map(|l| format!(" ({}:{}:{})", l.file, l.line, l.column)).unwrap_or_default();
            return Err(Error::caller(format!("the kernel calls `{callee}`, which has no body here{place}"))
                .help("give its definition in the same file, or include it"));
        }
    }
    Ok(())
}

/// Builtins are mangled (`_Z`), or reserved names of clang and LLVM; `printf` alone is plain.
fn is_builtin(name: &str) -> bool {
    name.starts_with('_') || name.starts_with("llvm.") || name == "printf"
}
