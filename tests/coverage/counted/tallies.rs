//! Tallies probe data made by hand, without a device.

use kassay_ir::cfg::sites::{SiteKind, Sites};
use kassay_ir::instrument::coverage::CoveragePlan;
use kassay_ir::instrument::layout::{HEADER_WORDS, Slots};
use kassay_ir::llvm::Context;
use kassay_judge::coverage::summary::{self, TestTally};
use kassay_judge::coverage::tally::{Probe, SiteTally, tally};
use kassay_model::options::KernelOptions;
use kassay_suite::launch::NdRange;

use crate::common::kernels::{open, source_file};

const SOURCE: &str = "__kernel void k(__global int *o, int a) {
    int i = get_global_id(0);
    if (i > a)
        o[i] = 1;
    else
        o[i] = 2;
    for (int j = 0; j < a; j++)
        o[i] += j;
    if (o[i] > 3)
        barrier(CLK_GLOBAL_MEM_FENCE);
}
";

struct Kernel {
    sites: Sites,
    plan: CoveragePlan,
}

fn kernel(slots: Slots) -> Kernel {
    let (_folder, path) = source_file(SOURCE);
    let context = Context::create();
    let under_test = open(&context, &path, Some("k"), &KernelOptions::default()).unwrap().under_test;
    let plan = CoveragePlan::new(&under_test.sites, slots);
    Kernel { sites: under_test.sites, plan }
}

impl Kernel {
    /// The `nth` site of a kind.
    fn site(&self, kind: SiteKind, nth: usize) -> usize {
        let of_kind = |(_, site): &(usize, &kassay_ir::cfg::sites::Site)| site.kind == kind;
        self.sites.sites.iter().enumerate().filter(of_kind).nth(nth).unwrap().0
    }

    /// Returns the bits, any one of which shows the outcome.
    fn bits(&self, site: usize, outcome: usize) -> Vec<u32> {
        let facts = &self.sites.sites[site].outcomes[outcome].facts;
        facts.iter().flat_map(|(f, fact)| self.plan.evidence(&self.sites, *f, *fact).bits).collect()
    }

    fn stride(&self) -> usize {
        self.plan.layout.stride() as usize
    }

    /// Returns a buffer of `slots` slots in which nothing is recorded.
    fn empty(&self, slots: usize) -> Vec<u32> {
        vec![0; HEADER_WORDS as usize + slots * self.stride()]
    }

    fn set(&self, words: &mut [u32], slot: usize, bit: u32) {
        words[HEADER_WORDS as usize + slot * self.stride() + (bit / 32) as usize] |= 1 << (bit % 32);
    }

    fn tally(&self, words: &[u32], groups: u64, group_size: u64) -> Vec<SiteTally> {
        let global = [groups * group_size, 1, 1];
        let range = NdRange { dims: 1, global, local: Some([group_size, 1, 1]), offset: [0; 3] };
        tally(&self.sites, &self.plan, Probe { words, range: &range })
    }
}

#[test]
fn a_branch_diverges_in_the_groups_that_show_both_outcomes() {
    let k = kernel(Slots::Groups);
    let site = k.site(SiteKind::Branch, 0);
    let (yes, no) = (k.bits(site, 0)[0], k.bits(site, 1)[0]);
    assert_ne!(yes, no);
    let mut words = k.empty(4);
    k.set(&mut words, 0, yes);
    k.set(&mut words, 1, no);
    assert_eq!(k.tally(&words, 4, 64)[site], SiteTally { hits: vec![1, 1], divergent_groups: 0 });
    k.set(&mut words, 2, yes);
    k.set(&mut words, 2, no);
    assert_eq!(k.tally(&words, 4, 64)[site], SiteTally { hits: vec![1, 1], divergent_groups: 1 });
    k.set(&mut words, 0, no);
    assert_eq!(k.tally(&words, 4, 64)[site].divergent_groups, 2);
}

#[test]
fn nothing_seen_covers_nothing() {
    for slots in [Slots::Groups, Slots::Items] {
        let k = kernel(slots);
        let words = k.empty(8);
        for nth in 0..2 {
            let site = k.site(SiteKind::Branch, nth);
            assert_eq!(k.tally(&words, 2, 4)[site], SiteTally { hits: vec![0, 0], divergent_groups: 0 });
        }
        let barrier = k.site(SiteKind::Barrier, 0);
        assert_eq!(k.tally(&words, 2, 4)[barrier], SiteTally { hits: vec![0], divergent_groups: 0 });
    }
}

#[test]
fn a_barrier_is_covered_only_by_a_complete_group() {
    let k = kernel(Slots::Groups);
    let site = k.site(SiteKind::Barrier, 0);
    let bit = k.bits(site, 0)[0];
    assert!(bit < k.plan.layout.barrier_bits, "barrier bits come first");
    let missed = k.plan.layout.words * 32 + bit;
    let mut words = k.empty(3);
    k.set(&mut words, 0, bit);
    k.set(&mut words, 0, missed);
    assert_eq!(k.tally(&words, 3, 4)[site], SiteTally { hits: vec![0], divergent_groups: 1 });
    // A group in which no work-item arrived does not diverge.
    k.set(&mut words, 1, missed);
    assert_eq!(k.tally(&words, 3, 4)[site], SiteTally { hits: vec![0], divergent_groups: 1 });
    k.set(&mut words, 2, bit);
    assert_eq!(k.tally(&words, 3, 4)[site], SiteTally { hits: vec![1], divergent_groups: 1 });
}

#[test]
fn work_items_are_counted_one_by_one() {
    let k = kernel(Slots::Items);
    let (branch, barrier) = (k.site(SiteKind::Branch, 0), k.site(SiteKind::Barrier, 0));
    let (yes, no, arrived) = (k.bits(branch, 0)[0], k.bits(branch, 1)[0], k.bits(barrier, 0)[0]);
    let mut words = k.empty(8);
    // Items 0 to 2 take one outcome, items 3 and 4 the other; the group's size is 4.
    for slot in 0..3 {
        k.set(&mut words, slot, yes);
    }
    for slot in 3..5 {
        k.set(&mut words, slot, no);
    }
    // All work-items of the first group arrive, three of the second.
    for slot in 0..7 {
        k.set(&mut words, slot, arrived);
    }
    let tallied = k.tally(&words, 2, 4);
    assert_eq!(tallied[branch], SiteTally { hits: vec![3, 2], divergent_groups: 1 });
    assert_eq!(tallied[barrier], SiteTally { hits: vec![4], divergent_groups: 1 });
    // The same slots as groups of eight: one group, whose last item never arrived.
    let tallied = k.tally(&words, 1, 8);
    assert_eq!(tallied[branch], SiteTally { hits: vec![3, 2], divergent_groups: 1 });
    assert_eq!(tallied[barrier], SiteTally { hits: vec![0], divergent_groups: 1 });
}

#[test]
fn each_class_of_a_loop_has_its_own_evidence() {
    let k = kernel(Slots::Groups);
    let site = k.site(SiteKind::Loop, 0);
    let labels: Vec<&str> = k.sites.sites[site].outcomes.iter().map(|outcome| outcome.label.as_str()).collect();
    assert_eq!(labels, ["zero", "one", "many", "boundary"]);
    for class in 0..3 {
        let mut words = k.empty(1);
        k.set(&mut words, 0, k.bits(site, class)[0]);
        let hits = k.tally(&words, 1, 1)[site].hits.clone();
        let wanted: Vec<u64> = (0..3).map(|other| u64::from(other == class)).collect();
        assert_eq!(hits[..3], wanted);
    }
}

#[test]
fn totals_join_the_tests() {
    let k = kernel(Slots::Items);
    let (first, second) = (k.site(SiteKind::Branch, 0), k.site(SiteKind::Branch, 1));
    let statements = k.sites.of_kind(SiteKind::Statement).count() as u64;
    assert_eq!(statements, 7, "two ifs, two assignments, a loop with one more, a barrier");
    let test = |name: &str, items: u64| TestTally {
        name: name.into(),
        sites: (k.sites.sites.iter())
            .map(|site| SiteTally { hits: vec![0; site.outcomes.len()], divergent_groups: 0 })
            .collect(),
        items,
    };
    let (mut a, mut b) = (test("a", 30), test("b", 10));
    a.sites[first] = SiteTally { hits: vec![30, 0], divergent_groups: 0 };
    b.sites[first] = SiteTally { hits: vec![4, 6], divergent_groups: 1 };
    b.sites[second] = SiteTally { hits: vec![0, 10], divergent_groups: 2 };
    let head = k.site(SiteKind::Statement, 0);
    a.sites[head].hits = vec![30];
    b.sites[head].hits = vec![10];
    let arm = k.site(SiteKind::Statement, 1);
    b.sites[arm].hits = vec![4];
    let tests = [a, b];
    let coverage = summary::coverage(&k.sites, &tests, true);
    assert_eq!((coverage.branch.covered, coverage.branch.total), (3, 4));
    assert_eq!((coverage.statement.covered, coverage.statement.total), (2, 7));
    // One statement is executed by 40 of 40 work-items, one by 4: (40 + 4) / 40 / 7.
    let average = coverage.average_statement.unwrap();
    assert!((average - 100.0 * 1.1 / 7.0).abs() < 1e-9, "{average}");
    assert_eq!(summary::coverage(&k.sites, &tests, false).average_statement, None);
    let rows = summary::outcomes(&k.sites, &tests, "k.cl");
    let find = |site: usize, outcome: &str| {
        let id = &k.sites.sites[site].id;
        rows.iter().find(|row| row.id == *id && row.outcome == outcome).unwrap()
    };
    assert_eq!(find(first, "true").hits_by_test.values().copied().collect::<Vec<_>>(), [30, 4]);
    assert!(find(first, "false").covered && !find(second, "true").covered);
    assert_eq!((find(first, "true").divergent_groups, find(second, "true").divergent_groups), (Some(1), Some(2)));
}
