//! Refuses kernels that call a function that is neither a builtin nor defined, or a builtin that takes a block to
//! enqueue; a device or LLVM would refuse them with a less helpful message, or crash.

use inkwell::module::Module;
use kassay_base::error::{Error, Result};

use crate::kernel::{builtins, cuda, signature};
use crate::llvm::{Block, Function, Global, View};

/// Refuses shared memory whose size a launch says where no parameter stands for it: that of kernels beside the entry.
fn refuse_dynamic_memory(view: View<'_>) -> Result<()> {
    let is_dynamic = |variable: &Global<'_>| signature::is_dynamic(*variable) && variable.is_used();
    match view.globals().into_iter().find(is_dynamic) {
        None => Ok(()),
        Some(variable) => {
            let what = format!("`{}` is dynamic shared memory of a kernel that is lowered as it is", variable.name());
            Err(Error::caller(what).help("lower the kernels one by one, with --entry"))
        }
    }
}

/// Refuses a module that calls an undefined function.
///
/// # Errors
/// `Caller`, naming the function and, if debug information has it, the location of the call; `Internal` if it enqueues
/// a block.
pub fn refuse(module: &Module<'_>) -> Result<()> {
    refuse_dynamic_memory(View::of(module))?;
    let functions = View::of(module).functions().into_iter();
    for call in functions.flat_map(Function::blocks).flat_map(Block::walk) {
        let Some(called) = call.called_function().filter(|f| !f.has_body()) else { continue };
        let callee = called.name();
        let place = || match call.location().filter(|at| at.line > 0) {
            Some(at) => at.to_string(),
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
        if let Some((what, help)) = cuda::absent(&callee) {
            return Err(Error::caller(format!("the kernel calls {what} ({})", place())).help(help));
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
