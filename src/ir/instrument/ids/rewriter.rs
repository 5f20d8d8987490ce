//! Rewrites calls and arguments of a kernel: what batches and joint launches have in common.

use kassay_base::error::{Error, Result};

use crate::instrument::runtime;
use crate::llvm::{Builder, Function, Inst, Value, View};

/// Rewrites a module, and builds code in it.
pub struct Rewriter<'m> {
    pub view: View<'m>,
    pub builder: Builder<'m>,
}

impl<'m> Rewriter<'m> {
    /// Builds a call of a runtime function at the builder's position.
    ///
    /// # Errors
    /// `Internal` if the module lacks it.
    pub fn call(&self, name: &str, arguments: &[Value<'m>]) -> Result<Value<'m>> {
        Ok(self.builder.call(runtime::find(self.view, name)?, arguments, "").value())
    }

    /// Replaces a call by one of a runtime function. The builder stands at the end of the block afterwards.
    ///
    /// # Errors
    /// As [`Rewriter::call`].
    pub fn replace(&self, call: Inst<'m>, name: &str, arguments: &[Value<'m>]) -> Result<()> {
        self.builder.before(call);
        let new = self.call(name, arguments)?;
        self.builder.at_end(call.block());
        call.replace_and_erase(new);
        Ok(())
    }

    /// Replaces calls of id functions by functions of the private words `ids`.
    ///
    /// # Errors
    /// As [`Rewriter::call`].
    pub fn replace_ids(&self, calls: Vec<(Inst<'m>, &str)>, ids: Value<'m>) -> Result<()> {
        for (call, name) in calls {
            // A dimension is the call's only argument, if it has one.
            let arguments: Vec<Value> = std::iter::once(ids).chain(call.args().first().copied()).collect();
            self.replace(call, name, &arguments)?;
        }
        Ok(())
    }

    /// Moves a pointer by so many bytes: all uses get what `of` makes of the moved one, at the builder's position.
    pub fn advance(&self, argument: Value<'m>, bytes: Value<'m>, of: impl FnOnce(Value<'m>) -> Value<'m>) {
        let moved = self.builder.byte_offset(argument, bytes, "");
        argument.replace_uses(of(moved));
        // The entry computes it, before any of the uses, and from the argument itself.
        moved.as_instruction().expect("what depends on an argument is no constant").set_operand(0, argument);
    }
}

/// Returns the probe buffer: the last argument of a kernel, after its own `args`.
///
/// # Errors
/// `Internal` if it has another number of arguments.
pub fn probe<'m>(kernel: Function<'m>, args: u32) -> Result<Value<'m>> {
    let count = kernel.param_count();
    kernel.last_param().filter(|_| count == args + 1).ok_or_else(|| {
        let name = kernel.name();
        Error::internal(format!("kernel {name} has {count} arguments, not {args} and the probe buffer"))
    })
}
