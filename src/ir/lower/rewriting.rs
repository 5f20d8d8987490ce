//! What tests of this room's rewritings share.

use crate::llvm::Context;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;

/// Returns the text of a module after a rewriting, which has to leave it valid.
pub fn rewritten(rewrite: impl FnOnce(&Module<'_>), text: &str) -> String {
    let context = Context::create();
    let buffer = MemoryBuffer::create_from_memory_range_copy(format!("{text}\0").as_bytes(), "test");
    let module = context.create_module_from_ir(buffer).expect("valid IR");
    rewrite(&module);
    module.verify().expect("valid IR");
    module.print_to_string().to_string()
}
