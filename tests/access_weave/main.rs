//! Kernels with the simulator's hooks: they verify, and their tables say what the sources do.

mod support;

use support::{each_kernel, inlined};

use inkwell::context::Context;
use kassay::coverage::build::{File, sources_of};
use kassay::instrument::accesses::{AccessOptions, weave};
use kassay::kernel::compile::load;
use kassay::kernel::options::KernelOptions;

#[test]
fn all_kernels_verify() {
    each_kernel(|path, options| {
        let loaded = load(path, &options, false).unwrap();
        let context = Context::create();
        let file = File::parse(&context, &loaded).unwrap();
        for entry in &file.kernels {
            let assay = file.assay(entry, &loaded, &sources_of(path)).unwrap();
            for races in [false, true] {
                let module = assay.module.clone();
                inlined(&module, entry, &assay.machine);
                let options = AccessOptions { races, interface: &assay.interface, probe: false };
                let table =
                    weave(&module, entry, &options).unwrap_or_else(|e| panic!("{}: {entry}: {e}", path.display()));
                if std::env::var("DUMP").is_ok_and(|name| name == *entry) {
                    println!("{}\n{table:#?}", module.print_to_string().to_string());
                }
            }
        }
    });
}
