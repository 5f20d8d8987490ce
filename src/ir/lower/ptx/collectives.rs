//! Local memory for builtins that exchange values between work-items (`runtime-cl/ptx_sync.cl`).

use inkwell::module::Module;
use kassay_base::error::{Error, Result};

use crate::llvm::{AddressSpace, AttributeIndex, View};

/// The function of the runtime that returns this memory, and that which is called with the size of a value.
pub const SCRATCH: &str = "__kassay_ptx_scratch";
const EXCHANGE: &str = "__kassay_at_exchange";

/// Local memory that every device has for a work-group, in bytes.
const LOCAL_MEMORY: u64 = 48 << 10;

/// Provides as much local memory as the largest exchange takes in a work-group of `items`, if there is one.
///
/// # Errors
/// `Internal` if an exchange takes more than devices have.
pub fn provide_scratch(module: &Module<'_>, items: u32) -> Result<()> {
    let view = View::of(module);
    let Some(scratch) = view.function(SCRATCH).filter(|f| !f.has_body()) else { return Ok(()) };
    let exchanges = view.instructions().into_iter().filter(|call| call.callee().as_deref() == Some(EXCHANGE));
    let sizes: Option<Vec<u64>> = exchanges.map(|call| call.args().get(1)?.as_u64()).collect();
    let largest = sizes.and_then(|sizes| sizes.into_iter().max());
    let largest = largest.ok_or_else(|| Error::internal("an exchange of values within a work-group has no size"))?;
    let bytes = largest * u64::from(items);
    if bytes > LOCAL_MEMORY {
        return Err(Error::internal(format!(
            "the kernel exchanges values of {largest} bytes within its work-groups, for which NVIDIA GPUs have no room"
        )));
    }
    let memory = view.add_global("kassay_scratch", view.int_type(8).array(bytes), AddressSpace::Local);
    memory.set_alignment(16);
    memory.make_internal();
    memory.set_initializer(memory.value_type().undef());
    let builder = view.builder();
    builder.at_end(scratch.append_block(""));
    builder.ret(Some(memory.value()));
    scratch.attributes(AttributeIndex::Function).add_flag("alwaysinline");
    Ok(())
}
