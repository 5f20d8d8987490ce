//! Tells which of a kernel's arguments it writes to, by what LLVM infers of its woven module.

use inkwell::module::Module;
use inkwell::targets::TargetMachine;
use kassay_base::error::{Error, Result};

use crate::kernel::inlined;
use crate::llvm::{AttributeIndex, View, passes};

/// Returns, by position, whether the kernel may write to what an argument points to, or let something else write there.
/// Nothing changes in the module.
///
/// # Errors
/// `Internal` if the kernel is not there, or a pass fails.
pub fn written(module: &Module<'_>, entry: &str, machine: &TargetMachine) -> Result<Vec<bool>> {
    let mut module = module.clone();
    let pipeline =
        format!("{},function(sroa,mem2reg,simplifycfg),cgscc(function-attrs)", inlined::passes(&module, entry));
    passes::run(&mut module, Some(machine), &pipeline)?;
    let kernel = View::of(&module).function(entry);
    let kernel = kernel.ok_or_else(|| Error::internal(format!("the kernel {entry} is gone")))?;
    let is_written = |position| {
        let attributes = kernel.attributes(AttributeIndex::Parameter(position));
        !(attributes.has("readonly") || attributes.has("readnone"))
    };
    Ok((0..kernel.param_count()).map(is_written).collect())
}
