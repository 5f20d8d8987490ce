//! Checks findings and verdicts from observations made by hand.

use kassay::result::Location;
use kassay::result::check::{self, Branch, Finding, FindingKind, Memory, Scope, Verdict};
use kassay_judge::sync::findings::{Findings, ObservedLaunch, Reader, verdict};
use kassay_model::native::table::{Mode, NativeTable};
use kassay_run::exec::simulator::observation::{Conflict, Divergence, FaultKind, Simulation, SimulatorFault, Waiting};

use super::support::{Tables, access, conflict, interface, launch, place, simulation};

fn read(table: &NativeTable, simulations: &[Simulation]) -> Vec<Finding> {
    let interface = interface();
    let split = |_: &Divergence| {
        let location = Location { file: "k.cl".into(), line: 3, column: 5 };
        Some(Branch { location, construct: "if".into() })
    };
    let reader = Reader { table, interface: &interface, source: "k.cl", diverging_branch: &split };
    let natural = launch(16, 4);
    let mut findings = Findings::default();
    for (input, simulation) in simulations.iter().enumerate() {
        let name = ["first", "second"][input.min(1)];
        findings.add(&reader, ObservedLaunch { input, name, launch: &natural, simulation });
    }
    findings.finish().into_iter().map(|f| f.finding).collect()
}

#[test]
fn races_of_different_call_paths_with_the_same_places_are_one() {
    let mut table = Tables::new();
    let from = |line| vec![place("helper", 2, 9), place("k", line, 5)];
    let (a, b) = (table.access(Mode::Write, 1, from(7)), table.access(Mode::Write, 1, from(8)));
    let read_site = table.access(Mode::Read, 1, vec![place("k", 9, 12)]);
    let write = |site, item| access(site, Mode::Write, item, 0);
    let reads = |item| access(read_site, Mode::Read, item, 1);
    let first = Simulation {
        conflicts: vec![
            Conflict { count: 3, ..conflict([write(a, 1), reads(2)], 1, 8) },
            Conflict { count: 4, ..conflict([reads(3), write(b, 0)], 1, 12) },
            Conflict { benign: true, ..conflict([write(a, 0), write(b, 5)], 1, 0) },
        ],
        ..simulation()
    };
    let again = Simulation { conflicts: vec![conflict([write(b, 1), reads(0)], 1, 4)], ..simulation() };
    let found = read(&table.0, &[first, again]);
    assert_eq!(found.len(), 2);
    let [apart, within] = [&found[0], &found[1]];
    assert_eq!((apart.scope, apart.benign, apart.count), (Some(Scope::InterGroup), true, 1));
    assert_eq!((within.scope, within.benign, within.count, within.inputs), (Some(Scope::IntraGroup), false, 8, 2));
    assert_eq!((within.memory, within.variable.as_deref(), within.index), (Some(Memory::Local), Some("tmp"), Some(2)));
    let lines: Vec<u32> = within.accesses.iter().map(|a| a.location.line).collect();
    assert_eq!(lines, [2, 9]);
    assert_eq!(within.accesses[0].mode, Some(check::Mode::Write));
    assert_eq!(within.accesses[0].called_from[0].line, 7);
    assert_eq!(within.accesses[1].global_id, Some([2, 0, 0]));
    assert_eq!(within.input.as_deref(), Some("first"));
    assert_eq!(
        within.message,
        "work-item 1 writes `tmp[2]` in line 2, which work-item 2 of its group reads in line 9; \
         no barrier that orders this memory stands between"
    );
}

#[test]
fn without_places_sites_distinguish_findings() {
    let mut table = Tables::new();
    let sites = [0, 1, 2].map(|_| table.access(Mode::Write, 0, vec![place("k", 0, 0)]));
    let race = |a: u32, b: u32| conflict([access(a, Mode::Write, 0, 0), access(b, Mode::Write, 1, 0)], 0, 0);
    let seen = Simulation { conflicts: vec![race(sites[0], sites[1]), race(sites[0], sites[2])], ..simulation() };
    let found = read(&table.0, &[seen.clone(), seen]);
    assert_eq!(found.iter().map(|f| (f.count, f.inputs)).collect::<Vec<_>>(), [(2, 2), (2, 2)]);
}

#[test]
fn a_divergence_names_the_waiting_items_the_barrier_and_the_branch() {
    let mut table = Tables::new();
    let barrier = table.barrier(0, vec![place("k", 4, 9)]);
    let waiting = |items| Waiting { barrier, iteration: 0, mask: None, item: [2, 0, 0], items };
    let divergence = |group| Divergence {
        is_of_grid: false,
        group_id: [group, 0, 0],
        waiting: vec![waiting(3)],
        finished: 1,
        finished_item: Some([1, 0, 0]),
    };
    let seen = Simulation { divergences: vec![divergence(0), divergence(1)], completed: false, ..simulation() };
    let found = read(&table.0, &[seen]);
    assert_eq!(found.len(), 1);
    let one = &found[0];
    assert_eq!((one.kind, one.count), (FindingKind::BarrierDivergence, 2));
    assert_eq!(one.accesses.len(), 1);
    assert_eq!((one.accesses[0].location.line, one.accesses[0].waiting, one.accesses[0].mode), (4, Some(3), None));
    assert_eq!(one.finished.as_ref().map(|f| f.items), Some(1));
    assert_eq!(
        one.message,
        "3 work-items wait at the `barrier` in line 4, 1 work-item has ended; the `if` in line 3 sent them different ways"
    );
}

#[test]
fn faults_are_reported_with_the_object_they_hit() {
    let mut table = Tables::new();
    let beyond = table.access(Mode::Write, 1, vec![place("k", 5, 3)]);
    let wild = table.access(Mode::Read, 0, vec![place("k", 6, 3)]);
    let division = table.division(vec![place("k", 7, 3)]);
    let fault = |kind, site, object, offset| SimulatorFault {
        kind,
        site,
        global_id: [9, 0, 0],
        group_id: [2, 0, 0],
        object,
        offset,
        bytes: 0,
        texel: None,
        span: None,
        inner: None,
        count: 2,
    };
    let seen = Simulation {
        faults: vec![
            fault(FaultKind::OutOfBounds, beyond, Some(1), 256),
            fault(FaultKind::OutOfBounds, wild, Some(0), -8),
            fault(FaultKind::Null, wild, None, 0),
            fault(FaultKind::Division, division, None, 0),
        ],
        ..simulation()
    };
    let found = read(&table.0, &[seen]);
    let told: Vec<(&str, Option<i64>, u32)> =
        found.iter().map(|f| (f.kind.name(), f.index, f.accesses[0].location.line)).collect();
    let expected = [
        ("out-of-bounds", Some(64), 5),
        ("out-of-bounds", Some(-2), 6),
        ("null-access", None, 6),
        ("division", None, 7),
    ];
    assert_eq!(told, expected);
    assert_eq!(found[0].message, "work-item 9 writes `tmp[64]`, but it has 64 elements");
    assert_eq!(found[1].message, "work-item 9 reads `x[-2]`, but it has 16 elements");
    // The pointer's own address space is known even where it points to no object.
    assert_eq!((found[2].variable.as_deref(), found[2].memory), (None, Some(Memory::Global)));
}

#[test]
fn verdicts_follow_the_contract() {
    let of = |kinds: &[FindingKind], completed| {
        let mut table = Tables::new();
        let site = table.access(Mode::Read, 0, vec![place("k", 1, 1)]);
        let race = conflict([access(site, Mode::Write, 0, 0), access(site, Mode::Read, 1, 0)], 0, 0);
        let template = read(&table.0, &[Simulation { conflicts: vec![race], ..simulation() }]).remove(0);
        let all: Vec<Finding> = kinds.iter().map(|kind| Finding { kind: *kind, ..template.clone() }).collect();
        verdict(&all, completed)
    };
    assert_eq!(of(&[], true), Verdict::Clean);
    assert_eq!(of(&[], false), Verdict::Unknown);
    assert_eq!(of(&[FindingKind::RedundantBarrier, FindingKind::Uninitialised], true), Verdict::Clean);
    assert_eq!(of(&[FindingKind::Uninitialised], false), Verdict::Unknown);
    assert_eq!(
        of(&[FindingKind::Division, FindingKind::DataRace, FindingKind::BarrierDivergence], true),
        Verdict::Racy
    );
    assert_eq!(of(&[FindingKind::OutOfBounds, FindingKind::BarrierDivergence], false), Verdict::Divergent);
    assert_eq!(of(&[FindingKind::NonTermination], false), Verdict::MemoryFault);
}
