//! Generated launches on the simulator.

use std::sync::Arc;
use std::time::Duration;

use kassay::exec::simulator::Simulator;
use kassay::exec::simulator::observation::{Simulation, SimulationOptions};
use kassay::generate::launches::{GeneratedLaunch, Request, launches};
use kassay::generate::roles;
use kassay::suite::launch::ArgValue;

use super::support;

#[test]
fn show() {
    let only = std::env::var("ONLY").ok();
    for suite in support::fixtures() {
        if only.as_ref().is_some_and(|o| !suite.kernel.display().to_string().contains(o.as_str())) {
            continue;
        }
        support::with_file(&suite.kernel, suite.entry.as_deref(), &suite.options, |assay| {
            let entry = &assay.entry;
            let model = roles::infer(assay).unwrap();
            let all = launches(&model, &Request::default()).unwrap();
            let code = match assay.watched() {
                Ok(c) => Arc::new(c),
                Err(e) => {
                    println!("=== {entry} NOT LOWERED {e}");
                    return;
                }
            };
            let mut sim = Simulator::new(1).unwrap();
            let program = sim.load_host(&code).unwrap();
            println!("=== {entry} {:?}", model.preconditions);
            for g in &all {
                let options = SimulationOptions { races: true, fuel: Some(1 << 20), ..Default::default() };
                let r: Result<Simulation, _> = sim.simulate(program, &g.launch, &options, Duration::from_secs(20), &[]);
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
                    "  {:?}/{:?} {}: {}",
                    g.launch.range.global,
                    g.launch.range.local.unwrap(),
                    g.name,
                    args.join(" ")
                );
                match r {
                    Err(e) => println!("    ERROR {e}"),
                    Ok(s) => {
                        for f in &s.faults {
                            let place = code
                                .table
                                .accesses
                                .get(f.site as usize)
                                .map(|a| &code.table.paths[a.path as usize].frames[0]);
                            println!(
                                "    FAULT {:?} {:?} off {} count {} {:?}",
                                f.kind,
                                f.object.map(|o| &code.table.objects[o as usize].name),
                                f.offset,
                                f.count,
                                place.map(|p| (p.line, p.column))
                            );
                        }
                        for c in s.conflicts.iter().take(3) {
                            let p = |i: usize| {
                                let a = &code.table.accesses[c.accesses[i].site as usize];
                                code.table.paths[a.path as usize].frames[0].line
                            };
                            println!(
                                "    RACE {} off {} lines {} {} inter {} benign {}",
                                code.table.objects[c.object as usize].name,
                                c.offset,
                                p(0),
                                p(1),
                                c.inter_group,
                                c.benign
                            );
                        }
                        if !s.divergences.is_empty() {
                            println!("    DIVERGENCE");
                        }
                        if !s.completed {
                            println!("    INCOMPLETE");
                        }
                    }
                }
            }
        });
    }
    let _: Option<GeneratedLaunch> = None;
}
