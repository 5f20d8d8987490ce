//! Checks that woven modules verify and that the backend accepts them, for all kernels of `testdata`.

use std::time::Instant;

use kassay_ir::instrument::mutants::{Edit, Form, infection, schemata, single};
use kassay_ir::llvm::Context;
use kassay_suite::resolve::Suite;

use super::edits;
use super::support::Kernel;
use crate::common::kernels::options_of;
use crate::common::testdata::main_suites;

#[test]
fn edits_of_every_shape_are_woven_into_all_kernels_and_lowered() {
    let (mut count, mut slowest) = (0, 0.0f64);
    for path in main_suites() {
        let suite = Suite::load(&path).unwrap();
        let name = path.display();
        let context = Context::create();
        let kernel = Kernel::read(&context, &suite.kernel, &options_of(&suite), suite.entry.as_deref());
        let all = edits::all(&kernel, &|_| true);
        count += all.len();
        let numbered: Vec<(u32, &Edit)> = (1..).zip(&all).collect();
        for (i, part) in numbered.chunks(200).enumerate() {
            let start = Instant::now();
            let module = kernel.module.clone();
            let form = if i % 2 == 0 { Form::Branch } else { Form::Select };
            schemata::weave_as(&module, &kernel.sites, part, i % 3 == 1, form)
                .unwrap_or_else(|e| panic!("{name}: {e:?}"));
            slowest = slowest.max(start.elapsed().as_secs_f64());
            if i < 2 {
                kernel.code(&module);
            }
            let module = kernel.module.clone();
            let seen: Vec<(u32, &Edit, bool)> = part.iter().map(|(n, e)| (*n, *e, false)).collect();
            let layout = infection::weave(&module, &kernel.sites, &seen).unwrap_or_else(|e| panic!("{name}: {e:?}"));
            assert_eq!(layout.words(), 16 + (part.len() as u64).div_ceil(16));
            if i < 2 {
                kernel.code(&module);
            }
        }
        for edit in all.iter().step_by(7) {
            let module = kernel.module.clone();
            single::apply(&module, &kernel.sites, edit).unwrap_or_else(|e| panic!("{name}: {edit:?}: {e:?}"));
        }
        let module = kernel.module.clone();
        single::apply_all(&module, &kernel.sites, &all.iter().collect::<Vec<_>>()).unwrap();
        kernel.code(&module);
    }
    println!("{count} edits; slowest module of 200: {:.1} ms", slowest * 1000.0);
}
