//! Checks the search for launches in which work-items access the same addresses.

use kassay_judge::generate::evolve::{EvolutionParameters, estimated, evolve};
use kassay_judge::generate::launches::Request;
use kassay_judge::generate::roles;
use kassay_run::exec::simulator::shadow::Footprint;
use kassay_suite::launch::Launch;

use super::support::with_source;

#[test]
fn evolution_finds_scalars_and_sizes_at_which_work_items_share_addresses() {
    with_source(
        "kernel void k(global int *a, int spread) {
            int i = get_global_id(0);
            a[i * spread % 4096] += 1;
        }",
        |under_test| {
            let model = roles::infer(under_test).unwrap();
            let request = Request { seed: 5, ..Request::default() };
            let found = evolve(&model, &request, &EvolutionParameters::default(), &mut estimated).unwrap();
            assert!(found[0].score() < 0.3, "{:?}", found[0].footprint);
            assert!(found.windows(2).all(|w| w[0].score() <= w[1].score()));
            assert!(found.len() <= 10);
            let again = evolve(&model, &request, &EvolutionParameters::default(), &mut estimated).unwrap();
            assert!(found == again, "equal seeds give equal populations");
        },
    );
}

#[test]
fn evolution_ends_without_shared_addresses_and_sorts_the_nearest_first() {
    with_source("kernel void k(global int *a) { a[get_global_id(0)] = 1; }", |under_test| {
        let model = roles::infer(under_test).unwrap();
        let search = EvolutionParameters { population: 4, generations: 3, ..EvolutionParameters::default() };
        let mut measured = 0;
        let mut fitness = |launch: &Launch, _| {
            measured += 1;
            let items = launch.range.items();
            Ok((items > 1).then_some(Footprint { addresses: items, threads: items, range: 4 * items }))
        };
        let found = evolve(&model, &Request::default(), &search, &mut fitness).unwrap();
        assert!(found.iter().all(|s| s.score() == 1.0));
        assert!(found.windows(2).all(|w| w[0].footprint.range <= w[1].footprint.range));
        assert!(measured >= 4 + 2, "{measured}");
    });
}
