//! Names for devices. Kernels of CUDA have the names of C++, such as `ns::reduce<float, 64>`: PTX has no such names,
//! and Intel's compiler crashes on one with a comma.

use inkwell::module::Module;

use crate::llvm::View;

/// Leaves letters, digits and what else every device takes in the names of functions and variables. Returns that of
/// the entry.
pub fn make_plain(module: &Module<'_>, entry: &str) -> String {
    let view = View::of(module);
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "_$.".contains(c);
    let plain = |name: &str| name.replace(|c| !is_plain(c), "_");
    let mut renamed = entry.to_owned();
    for f in view.functions().into_iter().filter(|f| f.has_body() && !f.name().chars().all(is_plain)) {
        let is_entry = f.name() == entry;
        f.set_name(&plain(&f.name()));
        if is_entry {
            renamed = f.name();
        }
    }
    for global in view.globals().into_iter().filter(|global| !global.name().chars().all(is_plain)) {
        global.set_name(&plain(&global.name()));
    }
    renamed
}
