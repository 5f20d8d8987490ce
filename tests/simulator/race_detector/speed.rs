//! Measures the cost of an access, in processor time. Run with `--release -- --ignored --nocapture speed`.

use std::hint::black_box;

use kassay_model::native::table::{AccessSite, Mode, NativeTable, Object, Space, Storage};
use kassay_run::exec::simulator::shadow::{Accessor, Area, Grid, Pass, Place, Shadow};

const ITEMS: u64 = 256;

fn table(atomics: bool) -> NativeTable {
    let access = |mode| AccessSite {
        path: 0,
        mode,
        space: Space::Global,
        object: None,
        bytes: 4,
        align: 4,
        lead: 0,
        ordering: None,
        builtin: None,
    };
    let modes = [Mode::Read, Mode::Write, Mode::Atomic];
    let object = |space| Object { name: String::new(), space, storage: Storage::Argument(0), element: 4 };
    NativeTable {
        objects: [Space::Global, Space::Global, Space::Global, Space::Local].map(object).to_vec(),
        accesses: modes.into_iter().take(if atomics { 3 } else { 2 }).map(access).collect(),
        granule: vec![4; 4],
        races: true,
        ..NativeTable::default()
    }
}

/// Makes an access by an item of the group to an element of an object.
fn at(shadow: &mut Shadow, item: u64, site: u32, object: u32, index: u64) {
    let who = Accessor { slot: 0, item: item as u32, number: index };
    let address = std::ptr::dangling();
    // SAFETY: only the second pass dereferences the address, and this benchmark runs the first pass only.
    black_box(unsafe { shadow.access(who, site, Place { object, offset: 4 * index }, 4, address) });
}

/// c[i] = a[i] + b[i].
fn add(shadow: &mut Shadow, groups: u64) -> u64 {
    for group in 0..groups {
        shadow.begin_group(0, group).unwrap();
        for item in 0..ITEMS {
            let index = group * ITEMS + item;
            at(shadow, item, 0, 0, index);
            at(shadow, item, 0, 1, index);
            at(shadow, item, 1, 2, index);
        }
        shadow.end_group(0);
    }
    3 * groups * ITEMS
}

/// Every item reads everything that the items of its group have written to local memory.
fn tile(shadow: &mut Shadow, groups: u64) -> u64 {
    for group in 0..groups {
        shadow.begin_group(0, group).unwrap();
        for item in 0..ITEMS {
            at(shadow, item, 0, 0, group * ITEMS + item);
            at(shadow, item, 1, 3, item);
        }
        shadow.barrier(0, 1, 1);
        for item in 0..ITEMS {
            (0..ITEMS).for_each(|index| at(shadow, item, 0, 3, index));
        }
        shadow.end_group(0);
    }
    groups * ITEMS * (ITEMS + 2)
}

/// Every item repeatedly reads and writes an element of its own.
fn own(shadow: &mut Shadow, groups: u64) -> u64 {
    for group in 0..groups {
        shadow.begin_group(0, group).unwrap();
        for item in 0..ITEMS {
            for _ in 0..64 {
                at(shadow, item, 0, 2, group * ITEMS + item);
                at(shadow, item, 1, 2, group * ITEMS + item);
            }
        }
        shadow.end_group(0);
    }
    128 * groups * ITEMS
}

/// All items of all groups read the same small table.
fn lookup(shadow: &mut Shadow, groups: u64) -> u64 {
    for group in 0..groups {
        shadow.begin_group(0, group).unwrap();
        for item in 0..ITEMS {
            (0..64).for_each(|index| at(shadow, item, 0, 0, index));
        }
        shadow.end_group(0);
    }
    64 * groups * ITEMS
}

/// Returns the processor time of this thread, in nanoseconds.
fn processor_time() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the call writes only to `raw`, which outlives it.
    assert_eq!(unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) }, 0);
    time.tv_sec as f64 * 1e9 + time.tv_nsec as f64
}

/// Runs that many groups; returns the number of accesses.
type Kernel = fn(&mut Shadow, u64) -> u64;

#[test]
#[ignore = "a measurement"]
fn speed() {
    for atomics in [false, true] {
        let mut shadow = Shadow::new(&table(atomics));
        let programs: [(&str, Kernel, u64); 4] =
            [("add", add, 4096), ("tile", tile, 128), ("own", own, 256), ("lookup", lookup, 512)];
        for (name, program, groups) in programs {
            let areas = [4 << 20, 4 << 20, 4 << 20, 1024]
                .into_iter()
                .zip(0..)
                .map(|(bytes, object)| Area::of(&table(atomics), object, bytes))
                .collect::<Vec<_>>();
            let grid = Grid { global: [groups * ITEMS, 1, 1], local: [ITEMS, 1, 1], offset: [0; 3] };
            for launch in 0..3 {
                let start = processor_time();
                shadow.begin(grid, &areas, Pass::Find).unwrap();
                let accesses = program(&mut shadow, groups);
                let time = (processor_time() - start) / accesses as f64;
                assert!(!shadow.suspects());
                println!("atomics {atomics}, {name}, launch {launch}: {time:.2} ns an access");
            }
        }
    }
}
