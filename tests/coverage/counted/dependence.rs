//! Checks that the control dependence of all blocks, computed at once, equals that of each block by its definition.

use kassay_ir::cfg::indices::BlockIndex;
use kassay_ir::kernel::compile;
use kassay_ir::llvm::Context;
use kassay_judge::coverage::build::{self, KernelFile};
use kassay_model::options::KernelOptions;

use crate::common::testdata;

#[test]
fn blocks_depend_on_the_same_edges_one_by_one_and_all_at_once() {
    let mut compared = 0;
    for name in [
        "bitonic_sort",
        "switch_machine",
        "loop_shapes",
        "divergent_exit",
        "prefix_filter",
        "short_circuit",
        "nbody_step",
    ] {
        let path = testdata::kernel(name);
        let loaded = compile::load(&path, &KernelOptions::default(), true).unwrap();
        let context = Context::create();
        let file = KernelFile::parse(&context, &loaded).unwrap();
        for kernel in &file.kernels {
            let under_test = file.under_test(kernel, &loaded, &build::sources_of(&path)).unwrap();
            for f in &under_test.sites.functions {
                let all = f.dominance.control_dependences(&f.cfg);
                for (block, edges) in BlockIndex::enumerate(&all).filter(|(b, _)| f.cfg.reachable[*b]) {
                    assert_eq!(*edges, f.dominance.control_dependence(&f.cfg, block), "{kernel}: block {block}");
                    compared += edges.len();
                }
            }
        }
    }
    assert!(compared > 100, "{compared}");
}
