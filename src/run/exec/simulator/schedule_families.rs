//! Generates schedules by family (PENG 4.2.3 and 4.3): the orders of work-groups and work-items that are tried.
//!
//! The same launch, seed and number give the same schedules on every machine.

use kassay_base::hash::Fnv1a;
use kassay_suite::launch::NdRange;
use kassay_suite::schedule::{Preemption, Schedule};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

use crate::exec::simulator::observation::{Access, Conflict};

/// The origin of a schedule.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Family {
    /// Work-groups, and the work-items of each, one after the other in ascending order.
    Natural,
    /// The test's own.
    Suite,
    /// One work-group runs first, the others in ascending order.
    OneGroupFirst,
    /// Work-groups in random order.
    Permutation,
    /// The work-items of each group in another order.
    ItemOrder,
    /// Work-items are interrupted at random accesses.
    Preemption,
    /// Built so that two racing accesses come in a certain order.
    Directed,
    /// From a result that is replayed.
    Recorded,
}

impl Family {
    /// The name in results.
    pub fn name(self) -> &'static str {
        match self {
            Family::Natural => "natural",
            Family::Suite => "suite",
            Family::OneGroupFirst => "one-group-first",
            Family::Permutation => "permutation",
            Family::ItemOrder => "item-order",
            Family::Preemption => "preemption",
            Family::Directed => "directed",
            Family::Recorded => "recorded",
        }
    }
}

/// A schedule to be tried.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planned {
    /// Where it comes from.
    pub family: Family,
    /// The orders themselves.
    pub schedule: Schedule,
    /// The seed from which it was drawn, if it was.
    pub seed: Option<u64>,
}

/// PENG 4.3 draws one work-group to run first from each chunk of ten.
const CHUNK: u64 = 10;

/// The maximum number of interruptions in a schedule of [`Family::Preemption`].
const INTERRUPTIONS: u64 = 8;

/// Random interruptions are drawn among this many accesses: work-items rarely make more before an interruption matters.
const ACCESSES: u64 = 64;

/// The parameters from which schedules are generated.
pub struct Plan<'a> {
    /// The NDRange, with a definite work-group size.
    pub range: &'a NdRange,
    /// The maximum number of schedules; fewer if there are no more.
    pub count: usize,
    /// What random schedules follow from.
    pub seed: u64,
    /// The test's name: tests with the same launch get different schedules.
    pub test: &'a str,
    /// The test's own schedule.
    pub own: Option<&'a Schedule>,
    /// Whether the executor honours orders of work-items and interruptions.
    pub exact: bool,
    /// The racing accesses, if there are any.
    pub races: &'a [Conflict],
}

impl Plan<'_> {
    /// Generates distinct schedules. The first is the one to compare with: the test's own, or the natural one.
    pub fn schedules(&self) -> Vec<Planned> {
        let mut all: Vec<Planned> = Vec::new();
        let mut add = |mut planned: Planned| {
            // A list in ascending order means the same as no list.
            for list in [&mut planned.schedule.map, &mut planned.schedule.item_order] {
                if list.is_sorted() {
                    list.clear();
                }
            }
            if all.len() < self.count && all.iter().all(|p| p.schedule != planned.schedule) {
                all.push(planned);
            }
            all.len() < self.count
        };
        let plain = |family, schedule| Planned { family, schedule, seed: None };
        if let Some(own) = self.own {
            add(plain(Family::Suite, own.clone()));
        }
        add(plain(Family::Natural, Schedule::default()));
        if self.exact {
            for schedule in self.races.iter().flat_map(|race| directed(self.range, race)) {
                add(plain(Family::Directed, schedule));
            }
            if self.range.group_items() > 1 {
                let item_order = (0..u32::try_from(self.range.group_items()).unwrap_or(0)).rev().collect();
                add(plain(Family::ItemOrder, Schedule { item_order, ..Schedule::default() }));
            }
        }
        // Small launches have few orders; this limit ends the search for more.
        for n in 0..8 * self.count as u64 {
            let seed = derive_seed(self.seed, self.test, n);
            let Some((family, schedule)) = self.draw(n, seed) else { break };
            if !add(Planned { family, schedule, seed: Some(seed) }) {
                break;
            }
        }
        all
    }

    /// The `n`-th random schedule; `None` if there is only one order.
    fn draw(&self, n: u64, seed: u64) -> Option<(Family, Schedule)> {
        let (groups, items) = (self.range.groups(), self.range.group_items());
        let mut families = Vec::new();
        if groups > 1 && u32::try_from(groups).is_ok() {
            families.extend([Family::OneGroupFirst, Family::Permutation]);
        }
        if self.exact && items > 1 {
            families.extend([Family::Preemption, Family::ItemOrder]);
        }
        if families.is_empty() {
            return None;
        }
        let family = families[(n % families.len() as u64) as usize];
        let turn = n / families.len() as u64;
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let schedule = match family {
            Family::OneGroupFirst => {
                // One chunk after the other, so that they spread over the whole range.
                let chunk = turn % groups.div_ceil(CHUNK) * CHUNK;
                // Group 0 first is the natural order; there are others, or this family would not be drawn.
                let least = u64::from(chunk == 0);
                group_first(groups, chunk + least + random_below(&mut random, CHUNK.min(groups - chunk) - least))
            }
            Family::Permutation => Schedule { map: permutation(&mut random, groups), ..Schedule::default() },
            Family::ItemOrder => Schedule { item_order: permutation(&mut random, items), ..Schedule::default() },
            _ => {
                let count = 1 + random_below(&mut random, INTERRUPTIONS);
                let one = |random: &mut ChaCha8Rng| Preemption {
                    group: random_below(random, groups),
                    item: random_below(random, items),
                    access: random_below(random, ACCESSES),
                    to: Some(random_below(random, items)),
                };
                let mut preemptions: Vec<Preemption> = (0..count).map(|_| one(&mut random)).collect();
                preemptions.sort_unstable();
                preemptions.dedup_by_key(|p| (p.group, p.item, p.access));
                Schedule { preemptions, ..Schedule::default() }
            }
        };
        Some((family, schedule))
    }
}

/// One work-group runs first, the others in ascending order.
pub fn group_first(groups: u64, first: u64) -> Schedule {
    let number = |n: u64| u32::try_from(n).unwrap_or(u32::MAX);
    let others = (0..groups).filter(|g| *g != first).map(number);
    Schedule { map: std::iter::once(number(first)).chain(others).collect(), ..Schedule::default() }
}

/// Schedules under which two racing accesses come in one order or the other, most promising first.
pub fn directed(range: &NdRange, race: &Conflict) -> Vec<Schedule> {
    let [a, b] = race.accesses;
    if race.inter_group {
        let groups = range.groups();
        if u32::try_from(groups).is_err() {
            return Vec::new();
        }
        return [b, a].map(|access| group_first(groups, group(range, &access))).to_vec();
    }
    let interrupted = |at: Access, by: Access| Schedule {
        preemptions: vec![Preemption {
            group: group(range, &at),
            item: item(range, &at),
            access: at.number,
            to: Some(item(range, &by)),
        }],
        ..Schedule::default()
    };
    let first = |access: Access| {
        let items = u32::try_from(range.group_items()).unwrap_or(0);
        let first = u32::try_from(item(range, &access)).unwrap_or(0);
        let item_order = std::iter::once(first).chain((0..items).filter(|i| *i != first)).collect();
        Schedule { item_order, ..Schedule::default() }
    };
    vec![interrupted(a, b), interrupted(b, a), first(b), first(a)]
}

/// The linear number of an access's work-group.
fn group(range: &NdRange, access: &Access) -> u64 {
    let [x, y, _] = range.group_counts();
    let g = access.group_id;
    (g[2] * y + g[1]) * x + g[0]
}

/// The local linear id of an access's work-item.
fn item(range: &NdRange, access: &Access) -> u64 {
    let local = range.decided().local;
    let id = [0, 1, 2].map(|d| {
        let begin = range.offset[d].saturating_add(access.group_id[d].saturating_mul(local[d]));
        access.global_id[d].saturating_sub(begin)
    });
    (id[2] * local[1] + id[1]) * local[0] + id[0]
}

/// Derives a separate seed for each schedule of each test.
fn derive_seed(seed: u64, test: &str, n: u64) -> u64 {
    let mut hash = Fnv1a::default();
    for part in [&seed.to_le_bytes(), &n.to_le_bytes(), test.as_bytes()] {
        hash.add(part);
    }
    // JSON readers represent integers up to 2^53 exactly.
    hash.value() >> 11
}

fn random_below(random: &mut ChaCha8Rng, bound: u64) -> u64 {
    // The modulo bias is far too small to show in a handful of draws.
    random.next_u64() % bound.max(1)
}

fn permutation(random: &mut ChaCha8Rng, count: u64) -> Vec<u32> {
    let mut all: Vec<u32> = (0..u32::try_from(count).unwrap_or(0)).collect();
    for i in (1..all.len()).rev() {
        let with = random_below(random, i as u64 + 1);
        all.swap(i, usize::try_from(with).unwrap_or(0));
    }
    all
}

#[cfg(test)]
mod tests {
    use kassay_model::native::table::Mode;

    use super::*;

    fn range(global: u64, local: u64) -> NdRange {
        NdRange { dims: 1, global: [global, 1, 1], local: Some([local, 1, 1]), offset: [0; 3] }
    }

    fn plan(range: &NdRange, count: usize, exact: bool) -> Vec<Planned> {
        Plan { range, count, seed: 1, test: "t", own: None, exact, races: &[] }.schedules()
    }

    #[test]
    fn schedules_differ_fit_and_are_reproducible() {
        let range = range(256, 4);
        for exact in [false, true] {
            let all = plan(&range, 10, exact);
            assert_eq!(all.len(), 10);
            assert_eq!(all[0].family, Family::Natural);
            assert!(all.iter().all(|p| p.schedule.check(&range) == Ok(())));
            assert_eq!(all, plan(&range, 10, exact));
            assert!(exact || all.iter().all(|p| p.schedule.item_order.is_empty() && p.schedule.preemptions.is_empty()));
        }
        let firsts: Vec<u32> = plan(&range, 10, false)
            .iter()
            .filter(|p| p.family == Family::OneGroupFirst)
            .map(|p| p.schedule.map[0] / 10)
            .collect();
        assert_eq!(firsts, [0, 1, 2, 3, 4]);
    }

    #[test]
    fn where_there_is_one_order_there_is_one_schedule() {
        assert_eq!(plan(&range(64, 64), 10, false).len(), 1);
        assert_eq!(plan(&range(128, 64), 10, false).len(), 2);
        assert_eq!(plan(&range(1, 1), 10, true).len(), 1);
    }

    #[test]
    fn directed_schedules_interrupt_the_items_that_race() {
        let range = NdRange { dims: 2, global: [8, 4, 1], local: Some([4, 2, 1]), offset: [1, 0, 0] };
        let access = |global_id, group_id, number| Access { site: 0, mode: Mode::Write, global_id, group_id, number };
        let (a, b) = (access([6, 3, 0], [1, 1, 0], 7), access([7, 2, 0], [1, 1, 0], 2));
        let race = Conflict { accesses: [a, b], object: 0, offset: 0, inter_group: false, benign: false, count: 1 };
        let all = directed(&range, &race);
        assert_eq!(all[0].preemptions, [Preemption { group: 3, item: 5, access: 7, to: Some(2) }]);
        assert_eq!(all[1].preemptions, [Preemption { group: 3, item: 2, access: 2, to: Some(5) }]);
        assert_eq!(all[2].item_order[..3], [2, 0, 1]);
        let apart = Conflict { accesses: [a, access([1, 0, 0], [0, 0, 0], 0)], inter_group: true, ..race };
        assert_eq!(directed(&range, &apart)[0].map, [0, 1, 2, 3]);
        assert_eq!(directed(&range, &apart)[1].map, [3, 0, 1, 2]);
    }
}
