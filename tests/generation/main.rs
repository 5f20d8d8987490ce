//! Launches for kernels without a suite.

mod simulated;
mod support;

use kassay::generate::launches::{Request, launches};
use kassay::generate::roles;
use kassay::suite::launch::ArgValue;
use kassay::sync::amplification::amplify;

#[test]
fn show() {
    let _ = support::with_source("kernel void k(){}", |a| amplify(a).unwrap());
    for suite in support::fixtures() {
        support::with_file(&suite.kernel, suite.entry.as_deref(), &suite.options, |assay| {
            let entry = &assay.entry;
            let start = std::time::Instant::now();
            let model = roles::infer(assay).unwrap();
            let t1 = start.elapsed();
            println!("=== {entry} dims {} {:?}", model.dims, model.groups);
            for (arg, m) in model.interface.args.iter().zip(&model.args) {
                println!("  {} {}: {:?} {:?} {:?}", arg.type_name, arg.label(), m.role, m.contents, m.length);
            }
            for s in model.scalars.iter() {
                println!("  {} {:?} {:?}", s.name, s.role, s.dictionary);
            }
            let start = std::time::Instant::now();
            let all = launches(&model, &Request::default()).unwrap();
            println!("  {:?}", amplify(assay).unwrap());
            println!("  {t1:?} {:?} {:?}", start.elapsed(), model.preconditions);
            for g in &all {
                let args: Vec<String> = g
                    .launch
                    .args
                    .iter()
                    .zip(&model.interface.args)
                    .map(|(v, a)| match v {
                        ArgValue::Value(b) => format!(
                            "{}={:?}",
                            a.label(),
                            b.chunks(4)
                                .map(|c| {
                                    let mut w = [0u8; 4];
                                    w[..c.len()].copy_from_slice(c);
                                    i32::from_le_bytes(w)
                                })
                                .collect::<Vec<_>>()
                        ),
                        ArgValue::Buffer(b) => format!("{}[{}B]", a.label(), b.len()),
                        ArgValue::Local(n) => format!("{}<{n}B>", a.label()),
                        ArgValue::Image { shape, .. } => format!("{} {shape:?}", a.label()),
                        ArgValue::Sampler { .. } => "smp".into(),
                    })
                    .collect();
                println!(
                    "    {:?}/{:?} {}: {}",
                    g.launch.range.global,
                    g.launch.range.local.unwrap(),
                    g.name,
                    args.join(" ")
                );
            }
        });
    }
}
