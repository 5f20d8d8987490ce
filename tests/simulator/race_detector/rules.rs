//! Checks programs that each show one rule.

use kassay_model::native::table::{AccessSite, Mode, NativeTable, Object, Ordering, Scope, Space, Storage};
use kassay_run::exec::simulator::observation::Conflict;
use kassay_run::exec::simulator::shadow::{Accessor, Area, Grid, Memory, Pass, Place, Shadow, Strided};

/// Numbers of the sites that the programs use.
const READ: u32 = 0;
const WRITE: u32 = 1;
const OTHER_WRITE: u32 = 2;
const ADD: u32 = 3;
const LOAD: u32 = 4;
const RELEASE: u32 = 5;
const ACQUIRE: u32 = 6;
const GROUP_RELEASE: u32 = 7;
const GROUP_ACQUIRE: u32 = 8;
const STORE: u32 = 9;
const COPY: u32 = 10;

const LOCAL_FENCE: u32 = 1;
const GLOBAL_FENCE: u32 = 2;
const WORK_GROUP: u32 = 1;
const DEVICE: u32 = 2;
const ACQ_REL: u32 = 4;

/// Numbers of the objects.
const GLOBAL: u32 = 0;
const LOCAL: u32 = 1;
const FLAG: u32 = 2;

fn table() -> NativeTable {
    let order = |acquire, release, scope| Some(Ordering { acquire, release, scope });
    let sites = [
        (Mode::Read, None, ""),
        (Mode::Write, None, ""),
        (Mode::Write, None, ""),
        (Mode::Atomic, None, "atomic_add"),
        (Mode::AtomicRead, None, "atomic_load_explicit"),
        (Mode::Atomic, order(false, true, Scope::Device), "atomic_store_explicit"),
        (Mode::AtomicRead, order(true, false, Scope::Device), "atomic_load_explicit"),
        (Mode::Atomic, order(false, true, Scope::WorkGroup), "atomic_store_explicit"),
        (Mode::AtomicRead, order(true, false, Scope::WorkGroup), "atomic_load_explicit"),
        (Mode::Atomic, order(false, false, Scope::Device), "atomic_store_explicit"),
        (Mode::Write, None, "async_work_group_copy"),
        (Mode::Read, None, "async_work_group_copy"),
    ];
    let access = |(mode, ordering, builtin): (Mode, Option<Ordering>, &str)| AccessSite {
        path: 0,
        mode,
        space: Space::Generic,
        object: None,
        bytes: 4,
        align: 4,
        lead: 0,
        ordering,
        builtin: (!builtin.is_empty()).then(|| builtin.to_owned()),
    };
    let object =
        |space, position| Object { name: String::new(), space, storage: Storage::Argument(position), element: 4 };
    NativeTable {
        objects: vec![object(Space::Global, 0), object(Space::Local, 1), object(Space::Global, 2)],
        accesses: sites.into_iter().map(access).collect(),
        granule: vec![4; 3],
        races: true,
        ..NativeTable::default()
    }
}

const GROUP_SIZE: u64 = 64;

/// The state of a program during one pass.
struct Run<'a> {
    shadow: &'a mut Shadow,
    memory: Vec<u32>,
    initialised: bool,
}

impl Run<'_> {
    fn at(&mut self, (slot, item): (u32, u32), site: u32, object: u32, index: u64) {
        let who = Accessor { slot, item, number: 7 };
        let address = (&raw mut self.memory[index as usize]).cast::<u8>();
        // SAFETY: `address` points into `memory`, which outlives the pass.
        self.initialised &= unsafe { self.shadow.access(who, site, Place { object, offset: 4 * index }, 4, address) };
    }

    /// Writes a value non-atomically.
    fn write(&mut self, who: (u32, u32), site: u32, index: u64, value: u32) {
        self.at(who, site, GLOBAL, index);
        self.memory[index as usize] = value;
    }
}

fn conflicts(program: impl Fn(&mut Run<'_>)) -> Vec<Conflict> {
    recorded(program).conflicts()
}

/// Runs two groups of `GROUP_SIZE` items in slots 0 and 1 through both passes: `program` is called once the groups
/// have begun.
fn recorded(program: impl Fn(&mut Run<'_>)) -> Shadow {
    let table = table();
    let mut shadow = Shadow::new(&table);
    let areas: Vec<Area> = (0..3).map(|object| Area::of(&table, object, 4 * 4096)).collect();
    let grid = Grid { global: [2 * GROUP_SIZE, 1, 1], local: [GROUP_SIZE, 1, 1], offset: [0; 3] };
    for pass in [Pass::Find, Pass::Record] {
        shadow.begin(grid, &areas, pass).unwrap();
        (0..2).for_each(|group| shadow.begin_group(group, u64::from(group)).unwrap());
        let mut run = Run { shadow: &mut shadow, memory: vec![0; 4096], initialised: true };
        program(&mut run);
        (0..2).for_each(|slot| shadow.end_group(slot));
    }
    shadow
}

fn pairs(conflicts: &[Conflict]) -> Vec<(u32, u32, bool)> {
    conflicts.iter().map(|c| (c.accesses[0].site, c.accesses[1].site, c.inter_group)).collect()
}

#[test]
fn a_barrier_orders_the_memory_that_it_names() {
    for (object, right, wrong) in [(GLOBAL, GLOBAL_FENCE, LOCAL_FENCE), (LOCAL, LOCAL_FENCE, GLOBAL_FENCE)] {
        let with = |flags| {
            conflicts(|run| {
                run.at((0, 0), WRITE, object, 0);
                run.shadow.barrier(0, flags, WORK_GROUP);
                run.at((0, 1), READ, object, 0);
            })
        };
        assert_eq!(pairs(&with(right)), []);
        assert_eq!(pairs(&with(right | wrong)), []);
        assert_eq!(pairs(&with(wrong)), [(READ, WRITE, false)]);
        assert_eq!(pairs(&with(0)), [(READ, WRITE, false)]);
    }
}

#[test]
fn no_barrier_orders_groups() {
    let found = conflicts(|run| {
        run.at((0, 0), WRITE, GLOBAL, 0);
        (0..2).for_each(|slot| run.shadow.barrier(slot, GLOBAL_FENCE, DEVICE));
        run.at((1, 0), READ, GLOBAL, 0);
    });
    assert_eq!(pairs(&found), [(READ, WRITE, true)]);
    assert_eq!(found[0].accesses.map(|a| a.global_id[0]), [GROUP_SIZE, 0]);
    assert_eq!((found[0].object, found[0].offset, found[0].count), (GLOBAL, 0, 1));
}

#[test]
fn groups_have_local_memory_of_their_own() {
    let found = conflicts(|run| {
        run.at((0, 0), WRITE, LOCAL, 0);
        run.at((1, 1), WRITE, LOCAL, 0);
    });
    assert_eq!(pairs(&found), []);
}

#[test]
fn atomics_race_with_plain_accesses_only() {
    let found = conflicts(|run| {
        run.at((0, 0), ADD, GLOBAL, 0);
        run.at((0, 1), ADD, GLOBAL, 0);
        run.at((1, 0), LOAD, GLOBAL, 0);
        run.at((1, 1), READ, GLOBAL, 1);
        run.at((1, 2), LOAD, GLOBAL, 1);
    });
    assert_eq!(pairs(&found), []);
    let found = conflicts(|run| {
        run.at((0, 0), ADD, GLOBAL, 0);
        run.at((0, 1), READ, GLOBAL, 0);
        run.at((0, 0), LOAD, GLOBAL, 1);
        run.at((1, 1), WRITE, GLOBAL, 1);
    });
    assert_eq!(pairs(&found), [(READ, ADD, false), (WRITE, LOAD, true)]);
}

/// Item 0 of group 0 writes and publishes that by a flag; an item of group `to` reads the flag and then what
/// was written.
fn message(release: u32, acquire: u32, to: u32) -> Vec<(u32, u32, bool)> {
    pairs(&conflicts(|run| {
        run.at((0, 0), WRITE, GLOBAL, 0);
        run.at((0, 0), release, FLAG, 0);
        run.at((to, 1), acquire, FLAG, 0);
        run.at((to, 1), READ, GLOBAL, 0);
    }))
}

#[test]
fn release_and_acquire_pass_a_message_on() {
    assert_eq!(message(RELEASE, ACQUIRE, 1), []);
    assert_eq!(message(RELEASE, ACQUIRE, 0), []);
    assert_eq!(message(STORE, ACQUIRE, 1), [(READ, WRITE, true)]);
    assert_eq!(message(RELEASE, LOAD, 1), [(READ, WRITE, true)]);
}

#[test]
fn reliance_on_atomics_is_recorded() {
    let with = |site: u32, tell: bool, to: u32| {
        let mut shadow = recorded(|run| {
            run.at((0, 0), WRITE, GLOBAL, 0);
            if tell {
                run.at((0, 0), RELEASE, FLAG, 0);
                run.at((to, 1), ACQUIRE, FLAG, 0);
            }
            run.shadow.barrier(0, GLOBAL_FENCE, WORK_GROUP);
            run.at((to, 1), site, GLOBAL, 0);
        });
        shadow.depends_on_atomics()
    };
    assert!(with(READ, true, 1));
    // Either the barrier orders the accesses, or nothing does.
    assert!(!with(READ, true, 0));
    assert!(!with(READ, false, 1));
}

#[test]
fn a_scope_without_the_reader_orders_nothing_and_races_itself() {
    assert_eq!(message(GROUP_RELEASE, GROUP_ACQUIRE, 0), []);
    assert_eq!(message(GROUP_RELEASE, GROUP_ACQUIRE, 1), [(READ, WRITE, true), (GROUP_RELEASE, GROUP_ACQUIRE, true)]);
    assert_eq!(message(RELEASE, GROUP_ACQUIRE, 1), [(READ, WRITE, true), (RELEASE, GROUP_ACQUIRE, true)]);
}

#[test]
fn a_message_goes_on_through_a_barrier_of_the_group() {
    for (flags, expected) in [(GLOBAL_FENCE, vec![]), (LOCAL_FENCE, vec![(READ, WRITE, true)])] {
        let found = conflicts(|run| {
            run.at((0, 5), WRITE, GLOBAL, 0);
            run.shadow.barrier(0, flags, WORK_GROUP);
            run.at((0, 0), RELEASE, FLAG, 0);
            run.at((1, 0), ACQUIRE, FLAG, 0);
            run.shadow.barrier(1, flags, WORK_GROUP);
            run.at((1, 9), READ, GLOBAL, 0);
        });
        assert_eq!(pairs(&found), expected);
    }
}

#[test]
fn an_atomic_orders_the_memory_that_it_lies_in() {
    let found = conflicts(|run| {
        run.at((0, 0), WRITE, GLOBAL, 0);
        run.at((0, 0), WRITE, LOCAL, 0);
        run.at((0, 0), RELEASE, LOCAL, 1);
        run.at((0, 1), ACQUIRE, LOCAL, 1);
        run.at((0, 1), READ, LOCAL, 0);
        run.at((0, 1), OTHER_WRITE, GLOBAL, 0);
    });
    assert_eq!(pairs(&found), [(WRITE, OTHER_WRITE, false)]);
}

#[test]
fn fences_need_atomics_to_order_anything() {
    let program = |flag: bool, scope: u32| {
        pairs(&conflicts(move |run| {
            let who = |slot, item| Accessor { slot, item, number: 0 };
            run.at((0, 0), WRITE, GLOBAL, 0);
            run.shadow.fence(who(0, 0), GLOBAL_FENCE, ACQ_REL, scope);
            if flag {
                run.at((0, 0), STORE, FLAG, 0);
                run.at((1, 0), LOAD, FLAG, 0);
            }
            run.shadow.fence(who(1, 0), GLOBAL_FENCE, ACQ_REL, scope);
            run.at((1, 0), READ, GLOBAL, 0);
        }))
    };
    assert_eq!(program(true, DEVICE), []);
    assert_eq!(program(false, DEVICE), [(READ, WRITE, true)]);
    // `mem_fence` has this scope.
    assert_eq!(program(true, WORK_GROUP), [(READ, WRITE, true)]);
}

#[test]
fn accesses_race_with_a_copy_until_it_is_waited_for() {
    let strided = |object| Strided { place: Place { object, offset: 0 }, count: 4, element: 4, stride: 2 };
    let copy = |run: &mut Run<'_>| run.shadow.async_copy(0, COPY, (strided(LOCAL), strided(GLOBAL)), 1);
    let found = conflicts(|run| {
        copy(run);
        run.shadow.wait(0, Some(&[1]));
        run.at((0, 0), READ, LOCAL, 2);
        run.at((0, 1), READ, LOCAL, 2);
        run.at((0, 0), WRITE, GLOBAL, 2);
    });
    assert_eq!(pairs(&found), []);
    let found = conflicts(|run| {
        copy(run);
        // These accesses lie between the elements of the copy.
        run.at((0, 0), WRITE, LOCAL, 1);
        run.at((0, 1), READ, GLOBAL, 0);
        // A barrier does not end the copy.
        run.shadow.barrier(0, LOCAL_FENCE | GLOBAL_FENCE, WORK_GROUP);
        run.at((0, 0), READ, LOCAL, 2);
        run.at((0, 1), OTHER_WRITE, GLOBAL, 6);
        run.shadow.wait(0, Some(&[1]));
    });
    assert_eq!(pairs(&found), [(READ, COPY, false), (OTHER_WRITE, COPY + 1, false)]);
    let found = conflicts(|run| {
        run.at((0, 3), WRITE, GLOBAL, 0);
        copy(run);
        run.shadow.wait(0, Some(&[1]));
    });
    assert_eq!(pairs(&found), [(WRITE, COPY + 1, false)]);
    // A wait ends the copies with its events, in whichever order they began.
    for (waited, expected) in [(1, vec![(READ, COPY, false)]), (2, vec![])] {
        let found = conflicts(|run| {
            copy(run);
            let other = |object| Strided { place: Place { object, offset: 64 }, ..strided(object) };
            run.shadow.async_copy(0, COPY, (other(LOCAL), other(GLOBAL)), 2);
            run.shadow.wait(0, Some(&[waited]));
            run.at((0, 0), READ, LOCAL, 16);
        });
        assert_eq!(pairs(&found), expected);
    }
}

#[test]
fn writes_of_equal_values_are_benign() {
    for (value, benign) in [(1, true), (2, false)] {
        let found = conflicts(|run| {
            run.write((0, 0), WRITE, 0, 1);
            run.write((0, 1), WRITE, 0, value);
        });
        assert_eq!(pairs(&found), [(WRITE, WRITE, false)]);
        assert_eq!(found[0].benign, benign);
    }
    // Each round writes a value of its own.
    let found = conflicts(|run| {
        for round in 0..3 {
            (0..4).for_each(|item| run.write((0, item), WRITE, 0, round));
            run.shadow.barrier(0, GLOBAL_FENCE, WORK_GROUP);
        }
    });
    assert!(found[0].benign);
}

#[test]
fn a_pair_that_conflicts_once_is_found_next_to_one_that_conflicts_everywhere() {
    let found = conflicts(|run| {
        for index in 0..4000 {
            run.at((0, (index % GROUP_SIZE) as u32), WRITE, GLOBAL, index);
        }
        for index in 0..4000 {
            run.at((0, ((index + 1) % GROUP_SIZE) as u32), READ, GLOBAL, index);
        }
        run.at((0, 63), OTHER_WRITE, GLOBAL, 17);
    });
    assert_eq!(pairs(&found), [(READ, WRITE, false), (READ, OTHER_WRITE, false), (WRITE, OTHER_WRITE, false)]);
    assert_eq!(found.iter().map(|c| c.count).collect::<Vec<_>>(), [4000, 1, 1]);
}

#[test]
fn local_memory_must_be_written_before_it_is_read() {
    let table = table();
    let mut shadow = Shadow::new(&table);
    let areas = [0, 4096, 0].map(|bytes| Area {
        memory: Memory::Local,
        bytes,
        granule: 4,
        uninitialised: false,
        shared: false,
    });
    let grid = Grid { global: [2, 1, 1], local: [1, 1, 1], offset: [0; 3] };
    shadow.begin(grid, &areas, Pass::Find).unwrap();
    let mut shadow = Run { shadow: &mut shadow, memory: vec![0; 64], initialised: true };
    for (group, write) in [(0, WRITE), (1, ADD)] {
        // The slot's previous group has written this memory, this group has not.
        shadow.shadow.begin_group(0, group).unwrap();
        shadow.at((0, 0), READ, LOCAL, 3);
        assert!(!std::mem::replace(&mut shadow.initialised, true));
        shadow.at((0, 0), write, LOCAL, 3);
        shadow.at((0, 0), READ, LOCAL, 3);
        assert!(shadow.initialised);
        shadow.shadow.end_group(0);
    }
}

#[test]
fn some_groups_of_a_launch_of_any_size_can_be_watched() {
    let table = table();
    let mut shadow = Shadow::new(&table);
    let areas: Vec<Area> = (0..3).map(|object| Area::of(&table, object, 4 * 64)).collect();
    let grid = Grid { global: [1 << 40, 1, 1], local: [64, 1, 1], offset: [0; 3] };
    assert_eq!(shadow.most_groups(64), (1 << 30) / 65);
    let last = (1_u64 << 34) - 1;
    for pass in [Pass::Find, Pass::Record] {
        shadow.begin(grid, &areas, pass).unwrap();
        let mut run = Run { shadow: &mut shadow, memory: vec![0; 64], initialised: true };
        for group in [0, last] {
            run.shadow.begin_group(0, group).unwrap();
            run.at((0, 63), WRITE, GLOBAL, 3);
            run.shadow.end_group(0);
        }
    }
    let conflicts = shadow.conflicts();
    let ids: Vec<u64> = conflicts.iter().flat_map(|c| c.accesses.map(|a| a.global_id[0])).collect();
    assert_eq!(ids, [63, (1 << 40) - 1]);
}
