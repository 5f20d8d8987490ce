//! Checks the race detector against brute force on random programs, and on programs that each show one rule.

mod oracle;
mod program;
mod rules;
mod speed;

use kassay_model::native::table::{Mode, Ordering, Scope};
use kassay_run::exec::simulator::shadow::Shadow;
use proptest::prelude::*;

use program::{CELLS, Program, Site, Step};

/// The kinds of steps that programs may contain.
#[derive(Debug, Clone, Copy)]
struct Language {
    atomics: bool,
    synchronises: bool,
    copies: bool,
    /// Whether all writes write the same value.
    equal: bool,
}

const ITEMS: [u32; 4] = [0, 1, 16, 17];

fn sites(language: Language) -> Vec<Site> {
    let mut sites = Vec::new();
    for cells in [1, 1, 2, 4] {
        for mode in [Mode::Read, Mode::Write] {
            sites.push(Site { mode, cells, ordering: None, stores: false });
        }
    }
    let mut atomic = |mode, stores, ordering| sites.push(Site { mode, cells: 1, ordering, stores });
    if language.atomics {
        atomic(Mode::Atomic, false, None);
        atomic(Mode::Atomic, true, None);
        atomic(Mode::AtomicRead, false, None);
    }
    if language.synchronises {
        for scope in [Scope::Device, Scope::WorkGroup, Scope::SubGroup] {
            let with = |acquire, release| Some(Ordering { acquire, release, scope });
            atomic(Mode::Atomic, false, with(true, true));
            atomic(Mode::Atomic, false, with(false, false));
            atomic(Mode::Atomic, true, with(false, true));
            atomic(Mode::AtomicRead, false, with(true, false));
        }
    }
    sites.push(Site { mode: Mode::Write, cells: 1, ordering: None, stores: false });
    sites.push(Site { mode: Mode::Read, cells: 1, ordering: None, stores: false });
    sites
}

fn step(language: Language, sites: &[Site], [kind, a, b, c, d, e]: [u8; 6], groups: u32) -> Step {
    let group = u32::from(a) % groups;
    let item = ITEMS[usize::from(b) % ITEMS.len()];
    let flags = u32::from(c) % 4;
    match kind % 16 {
        0 | 1 => Step::Barrier { group, flags, scope: if language.synchronises && d % 4 == 0 { 2 } else { 1 } },
        2 if language.synchronises => Step::SubGroupBarrier { group, sub_group: u32::from(b) % 2, flags },
        3 if language.synchronises => {
            let scope = [2, 2, 1, 4][usize::from(d) % 4];
            Step::Fence { group, item, flags, order: [2, 3, 4, 5][usize::from(e) % 4], scope }
        }
        4 if language.copies => {
            let cells = [1, 2][usize::from(b) % 2];
            let side = |x: u8| (u32::from(x) % 3, oracle::fits(u64::from(x / 3), cells));
            Step::Copy { group, destination: side(c), source: side(d), cells, event: 1 + u64::from(e) % 3 }
        }
        5 if language.copies => {
            let first = 1 + u64::from(b) % 3;
            Step::Wait { group, events: [first, (first + u64::from(c) % 2).min(3)] }
        }
        _ => {
            let site = u32::from(c) % (sites.len() as u32 - 2);
            let cell = oracle::fits(u64::from(e), sites[site as usize].cells);
            let value = if language.equal { 1 } else { kind / 16 % 2 };
            Step::Access { group, item, site, object: u32::from(d) % 3, cell, value }
        }
    }
}

/// Generates steps that belong together: an item writes and publishes that by an atomic; others access the atomic as
/// well; an item reads the atomic and then what was written.
fn message(sites: &[Site], [a, b, c, d, e]: [u8; 5], groups: u32) -> Vec<Step> {
    let pick = |x: u8, n: usize| usize::from(x) % n;
    let who = |x: u8| (u32::from(x) % groups, ITEMS[pick(x / 4, ITEMS.len())]);
    let (from, to, third) = (who(a), who(b), who(a ^ b));
    let of = |mode: Mode, stores: Option<bool>, nth: u8| {
        let fits = |site: &&Site| site.mode == mode && site.cells == 1 && stores.is_none_or(|s| s == site.stores);
        let found: Vec<u32> = (0..).zip(&sites[..sites.len() - 2]).filter(|(_, s)| fits(s)).map(|(n, _)| n).collect();
        found[pick(nth, found.len())]
    };
    let object = u32::from(c) % 3;
    let access = |(group, item): (u32, u32), site: u32, object: u32, cell: u64| Step::Access {
        group,
        item,
        site,
        object,
        cell,
        value: item as u8 % 2,
    };
    let fence = |(group, item): (u32, u32), x: u8| {
        let (flags, scope) = (1 + u32::from(x) % 3, [2, 2, 1, 4][pick(x / 3, 4)]);
        Step::Fence { group, item, flags, order: [4, 3, 2, 5][pick(x / 12, 4)], scope }
    };
    let mut steps = vec![access(from, of(Mode::Write, None, 0), u32::from(d) % 3, 0)];
    if c & 64 != 0 {
        steps.push(fence(from, e));
    }
    steps.push(access(from, of(Mode::Atomic, None, d / 3), object, 1));
    match c / 4 % 8 {
        0 => steps.push(access(from, of(Mode::Atomic, Some(true), e), object, 1)),
        1 => steps.push(access(third, of(Mode::Atomic, Some(false), e), object, 1)),
        2 => steps.push(access(third, of(Mode::Atomic, Some(true), e), object, 1)),
        3 => steps.push(access(third, of(Mode::Write, None, e), object, 1)),
        4 => {
            steps.push(access(third, of(Mode::Atomic, Some(false), e / 4), object, 1));
            steps.push(access(from, of(Mode::Atomic, Some(true), e), object, 1));
        }
        5 => steps.push(Step::Barrier { group: from.0, flags: 1 + u32::from(e) % 3, scope: 1 + u32::from(e) / 3 % 2 }),
        _ => {}
    }
    let reader = if e & 1 == 0 { (Mode::AtomicRead, None) } else { (Mode::Atomic, Some(false)) };
    steps.push(access(to, of(reader.0, reader.1, e / 2), object, 1));
    if c & 128 != 0 {
        steps.push(fence(to, d / 9));
    }
    if b & 128 != 0 {
        steps.push(Step::Barrier { group: to.0, flags: 1 + u32::from(d) % 3, scope: 1 + u32::from(d) / 3 % 2 });
    }
    let last = if b & 64 == 0 { to } else { (to.0, third.1) };
    steps.push(access(last, of(Mode::Read, None, 0), u32::from(d) % 3, 0));
    steps
}

fn programs(language: Language) -> impl Strategy<Value = Program> {
    let granules = prop::array::uniform3(prop_oneof![Just(1_u32), Just(2), Just(4), Just(16)]);
    let steps = prop::collection::vec(any::<[u8; 6]>(), 2..if language.synchronises { 16 } else { 40 });
    (1..=3_u32, any::<bool>(), granules, steps).prop_map(move |(groups, interleaved, granules, steps)| {
        let sites = sites(language);
        let expand = |raw: [u8; 6]| match raw {
            [kind, rest @ ..] if language.synchronises && kind % 16 >= 12 => message(&sites, rest, groups),
            raw => vec![step(language, &sites, raw, groups)],
        };
        let mut steps: Vec<Step> = steps.into_iter().flat_map(expand).collect();
        if !interleaved {
            steps.sort_by_key(Step::group);
        }
        let objects = vec![(false, granules[0]), (true, granules[1]), (false, granules[2])];
        Program { groups, interleaved, objects, sites, steps }
    })
}

/// Checks everything about a program. `exact`: whether a suspicion of the first pass has to mean a conflict.
fn check(program: &Program, shadow: &mut Shadow, exact: bool) -> Result<(), TestCaseError> {
    let outcome = program.run(shadow);
    let races = oracle::races(program);
    if exact {
        prop_assert_eq!(outcome.suspects, !races.is_empty());
    }
    prop_assert!(outcome.suspects || races.is_empty(), "missed {:?}", races);
    let found: Vec<oracle::Pair> =
        outcome.conflicts.iter().map(|c| (c.accesses[0].site, c.accesses[1].site, c.inter_group)).collect();
    let expected: Vec<oracle::Pair> = races.keys().copied().collect();
    prop_assert_eq!(found, expected);
    for (conflict, met) in outcome.conflicts.iter().zip(races.values()) {
        prop_assert_eq!(conflict.count, met.cells.len() as u64, "{:?}", conflict);
        let granule = u64::from(program.objects[conflict.object as usize].1);
        prop_assert!(met.cells.contains(&(conflict.object, conflict.offset / granule)));
        let numbers = (conflict.accesses[0].number, conflict.accesses[1].number);
        prop_assert!(met.examples.contains(&numbers), "{:?}", conflict);
        prop_assert!(!conflict.benign || !met.unequal, "{:?}", conflict);
        prop_assert_eq!(conflict.inter_group, conflict.accesses[0].group_id != conflict.accesses[1].group_id);
    }
    prop_assert_eq!(outcome.uninitialised, oracle::uninitialised(program));
    let footprint = outcome.footprint;
    prop_assert_eq!((footprint.addresses, footprint.threads, footprint.range), oracle::footprint(program));
    Ok(())
}

/// Calls [`check`] for several launches one after the other with the same detector.
fn check_all(programs: &[Program], exact: bool) -> Result<(), TestCaseError> {
    for program in programs {
        // To shadow memory this is another launch of the same code.
        let mut shadow = Shadow::new(&program.table());
        let mut other = program.clone();
        other.steps.reverse();
        if !other.interleaved {
            other.steps.sort_by_key(Step::group);
        }
        other.run(&mut shadow);
        check(program, &mut shadow, exact)?;
    }
    Ok(())
}

const PLAIN: Language = Language { atomics: false, synchronises: false, copies: false, equal: false };

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn plain_accesses_and_barriers_are_exact(program in programs(PLAIN)) {
        check_all(&[program], true)?;
    }

    #[test]
    fn relaxed_atomics_are_exact(program in programs(Language { atomics: true, ..PLAIN })) {
        check_all(&[program], true)?;
    }

    #[test]
    fn copies_are_exact(program in programs(Language { copies: true, atomics: true, ..PLAIN })) {
        check_all(&[program], false)?;
    }

    #[test]
    fn synchronising_atomics_fences_and_sub_groups_are_exact(
        program in programs(Language { atomics: true, synchronises: true, ..PLAIN }),
    ) {
        check_all(&[program], false)?;
    }

    #[test]
    fn everything_together_is_exact(
        program in programs(Language { atomics: true, synchronises: true, copies: true, equal: false }),
    ) {
        check_all(&[program], false)?;
    }

    #[test]
    fn races_of_equal_writes_are_benign(program in programs(Language { atomics: true, equal: true, ..PLAIN })) {
        let outcome = program.run(&mut Shadow::new(&program.table()));
        for conflict in &outcome.conflicts {
            let write = |a: &kassay_run::exec::simulator::observation::Access| a.mode == Mode::Write;
            prop_assert_eq!(conflict.benign, conflict.accesses.iter().all(write));
        }
    }
}

#[test]
fn cells_fit() {
    assert!((0..=255).all(|cell| [1, 2, 4].iter().all(|cells| oracle::fits(cell, *cells) + cells <= CELLS)));
}
