//! States the facts that hold in every launch within OpenCL's limits (OpenCL 1.2, 3.2 and 5.8; OpenCL C 1.2, 6.12.1).

use std::collections::{BTreeMap, BTreeSet};

use kassay_model::interface::Interface;

use crate::solve::expression::{Operation, Sort, Term, Terms};

/// A fact that holds in every launch.
pub struct Fact {
    pub holds: Term,
    /// As a clause: `a local id is below its local size`.
    pub text: String,
    /// Not implied by OpenCL, but a limit that all devices have.
    pub is_assumed: bool,
    /// The fact is useless unless the kernel makes all of these queries.
    needs: Vec<String>,
}

/// Limits on launches that OpenCL leaves to devices and users.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LaunchLimits {
    /// Largest number of work-items in a launch.
    pub items: u64,
    /// Largest number of work-items in a work-group.
    pub group: u64,
}

impl LaunchLimits {
    fn items_text(self) -> String {
        format!("a launch has at most {} work-items", self.items)
    }

    fn group_text(self) -> String {
        format!("a work-group has at most {} work-items", self.group)
    }

    /// Returns whether a precondition states one of these limits.
    pub fn is_stated_by(self, text: &str) -> bool {
        text == self.items_text() || text == self.group_text()
    }
}

/// No device comes near this limit. Below it, local sizes and local ids are non-negative `int`s, which is how kernels
/// use them.
const GROUP_LIMIT: &str = "a work-group has less than 2^31 work-items";

const WIDE: Sort = Sort::Bits(64);

/// The work-item queries that a kernel makes, by the names of their symbols.
#[derive(Default)]
pub struct LaunchQueries {
    queried: BTreeMap<String, Term>,
    images: BTreeSet<Term>,
}

fn query_name(function: &str, dimension: usize) -> String {
    format!("{function}({dimension})")
}

impl LaunchQueries {
    /// Returns the symbol of a query for one dimension (0 to 2).
    pub fn query(&mut self, terms: &mut Terms, function: &str, dimension: usize) -> Term {
        let name = query_name(function, dimension);
        let term = terms.symbol(name.clone(), WIDE);
        self.queried.insert(name, term);
        term
    }

    /// Returns the symbol of `get_work_dim()`, which has 32 bits.
    pub fn work_dim(&mut self, terms: &mut Terms) -> Term {
        let term = terms.symbol("get_work_dim", Sort::Bits(32));
        self.queried.insert("get_work_dim".to_owned(), term);
        term
    }

    /// Returns the symbol of one side of an image argument.
    pub fn image_side(&mut self, terms: &mut Terms, function: &str, argument: u32, lane: u32, sort: Sort) -> Term {
        let term = terms.symbol(format!("{function}(arg{argument}).{lane}"), sort);
        self.images.insert(term);
        term
    }

    /// Returns the facts that are relevant to the queries made. `uniform`: all work-groups have the same size (as
    /// before OpenCL 2.0). `limits`: limits besides those of OpenCL.
    pub fn facts(
        &self,
        terms: &mut Terms,
        interface: &Interface,
        uniform: bool,
        limits: Option<LaunchLimits>,
    ) -> Vec<Fact> {
        let mut builder = FactBuilder { terms, facts: Vec::new() };
        for d in 0..3 {
            builder.dimension(d, interface.required_local.map(|sizes| sizes[d]), uniform);
        }
        builder.products(1 << 31, Operation::Ult, GROUP_LIMIT);
        if let Some(limits) = limits {
            builder.limits(limits);
        }
        builder.work_dim();
        for side in &self.images {
            let sort = builder.terms.sort(*side);
            let zero = builder.terms.constant(0, sort);
            let holds = builder.terms.compare(Operation::Slt, zero, *side);
            builder.add(holds, "an image has at least one texel in each direction", vec![]);
        }
        let queried = |fact: &Fact| fact.needs.iter().all(|name| self.queried.contains_key(name));
        builder.facts.into_iter().filter(queried).collect()
    }
}

struct FactBuilder<'t> {
    terms: &'t mut Terms,
    facts: Vec<Fact>,
}

impl FactBuilder<'_> {
    fn add(&mut self, holds: Term, text: &str, needs: Vec<String>) {
        self.facts.push(Fact { holds, text: text.to_owned(), is_assumed: false, needs });
    }

    fn assume(&mut self, holds: Term, text: &str, needs: Vec<String>) {
        self.facts.push(Fact { holds, text: text.to_owned(), is_assumed: true, needs });
    }

    fn query(&mut self, function: &str, d: usize) -> Term {
        self.terms.symbol(query_name(function, d), WIDE)
    }

    fn number(&mut self, n: u64) -> Term {
        self.terms.constant(n, WIDE)
    }

    fn apply(&mut self, operation: Operation, l: Term, r: Term) -> Term {
        self.terms.apply(operation, vec![l, r], WIDE)
    }

    fn less(&mut self, l: Term, r: Term) -> Term {
        self.terms.compare(Operation::Ult, l, r)
    }

    fn dimension(&mut self, d: usize, required: Option<u64>, uniform: bool) {
        let name = |function: &str| query_name(function, d);
        let (local, size) = (self.query("get_local_id", d), self.query("get_local_size", d));
        let (group, groups) = (self.query("get_group_id", d), self.query("get_num_groups", d));
        let (global, all) = (self.query("get_global_id", d), self.query("get_global_size", d));
        let (offset, enqueued) = (self.query("get_global_offset", d), self.query("get_enqueued_local_size", d));
        let (zero, many) = (self.number(0), self.number(1 << 31));

        let positive = "sizes of a launch are at least 1";
        for (function, n) in [
            ("get_local_size", size),
            ("get_num_groups", groups),
            ("get_global_size", all),
            ("get_enqueued_local_size", enqueued),
        ] {
            let holds = self.less(zero, n);
            self.add(holds, positive, vec![name(function)]);
        }
        for (function, n) in [("get_local_size", size), ("get_enqueued_local_size", enqueued)] {
            let holds = self.less(n, many);
            self.assume(holds, GROUP_LIMIT, vec![name(function)]);
            let mut required_is = |n: u64, operation| {
                let required = self.number(n);
                let holds =
                    self.terms.compare(operation, if function == "get_local_size" { size } else { enqueued }, required);
                self.add(holds, "the kernel requires its work-group size", vec![name(function)]);
            };
            match required {
                Some(n) if uniform || function != "get_local_size" => required_is(n, Operation::Eq),
                Some(n) => required_is(n, Operation::Ule),
                None => {}
            }
        }
        let holds = self.terms.compare(Operation::Ule, size, enqueued);
        self.add(
            holds,
            "no work-group is larger than what was enqueued",
            vec![name("get_local_size"), name("get_enqueued_local_size")],
        );
        let holds = self.less(local, size);
        self.add(holds, "a local id is below its local size", vec![name("get_local_id"), name("get_local_size")]);
        let limit = self.number(required.unwrap_or(1 << 31));
        let holds = self.less(local, limit);
        match required {
            Some(_) => self.add(holds, "the kernel requires its work-group size", vec![name("get_local_id")]),
            None => self.assume(holds, GROUP_LIMIT, vec![name("get_local_id")]),
        }
        let holds = self.less(group, groups);
        self.add(holds, "a group id is below the number of groups", vec![name("get_group_id"), name("get_num_groups")]);
        let last = self.number(u64::MAX);
        let holds = self.less(group, last);
        self.add(holds, "a group id is below the number of groups", vec![name("get_group_id")]);

        // Offset plus global size fits into `size_t`, so the differences do not wrap.
        let room = self.apply(Operation::Sub, last, all);
        let fits = self.terms.compare(Operation::Ule, offset, room);
        let text = "offset and global size together fit `size_t`";
        self.add(fits, text, vec![name("get_global_offset"), name("get_global_size")]);
        let after = self.terms.compare(Operation::Ule, offset, global);
        let place = self.apply(Operation::Sub, global, offset);
        let within = self.less(place, all);
        let both = self.terms.and(after, within);
        let text = "a global id lies within offset and global size";
        self.add(both, text, vec![name("get_global_id"), name("get_global_size")]);
        self.add(after, text, vec![name("get_global_id"), name("get_global_offset")]);
        let holds = self.less(global, last);
        self.add(holds, text, vec![name("get_global_id")]);
        let holds = self.terms.compare(Operation::Ule, groups, all);
        self.add(holds, "no work-group is empty", vec![name("get_num_groups"), name("get_global_size")]);

        let stride = if uniform { size } else { enqueued };
        let begin = self.apply(Operation::Mul, group, stride);
        let inside = self.apply(Operation::Add, begin, local);
        let sum = self.apply(Operation::Add, inside, offset);
        let holds = self.terms.compare(Operation::Eq, global, sum);
        let text = "a global id is group id times size plus local id plus offset";
        self.add(holds, text, vec![name("get_global_id"), name("get_group_id"), name("get_local_id")]);
        let holds = self.less(inside, all);
        let text = "no work-item lies beyond the global size";
        let needs = vec![name("get_group_id"), name("get_local_id"), name("get_global_size")];
        let of_size = name(if uniform { "get_local_size" } else { "get_enqueued_local_size" });
        self.add(holds, text, needs.into_iter().chain([of_size]).collect());
        if uniform {
            let total = self.apply(Operation::Mul, groups, size);
            let exact = self.terms.compare(Operation::Eq, total, all);
            // The product does not wrap, because neither factor exceeds it.
            let fits = self.terms.compare(Operation::Ule, size, all);
            let quotient = self.apply(Operation::UDiv, all, size);
            let same = self.terms.compare(Operation::Eq, quotient, groups);
            let holds = self.terms.and(exact, fits);
            let text = "the global size is a whole number of work-groups";
            let needs = || vec![name("get_global_size"), name("get_local_size"), name("get_num_groups")];
            self.add(holds, text, needs());
            self.add(same, text, needs());
            let rest = self.apply(Operation::URem, all, size);
            let none = self.terms.compare(Operation::Eq, rest, zero);
            let holds = self.terms.and(none, fits);
            self.add(holds, text, vec![name("get_global_size"), name("get_local_size")]);
        }
    }

    /// Bounds the product of the local sizes for each pair of dimensions.
    fn products(&mut self, most: u64, less: Operation, text: &str) {
        let sizes: Vec<Term> = (0..3).map(|d| self.query("get_local_size", d)).collect();
        let many = self.number(most);
        for (a, b) in [(0, 1), (0, 2), (1, 2)] {
            let product = self.apply(Operation::Mul, sizes[a], sizes[b]);
            let holds = self.terms.compare(less, product, many);
            let needs = vec![query_name("get_local_size", a), query_name("get_local_size", b)];
            self.assume(holds, text, needs);
        }
    }

    /// Adds limits that are not OpenCL's.
    fn limits(&mut self, limits: LaunchLimits) {
        let (group, launch) = (limits.group_text(), limits.items_text());
        for d in 0..3 {
            for (function, limit, is_id, text) in [
                ("get_local_size", limits.group, false, &group),
                ("get_enqueued_local_size", limits.group, false, &group),
                ("get_local_id", limits.group, true, &group),
                ("get_global_size", limits.items, false, &launch),
                ("get_num_groups", limits.items, false, &launch),
                ("get_group_id", limits.items, true, &launch),
            ] {
                let (term, limit) = (self.query(function, d), self.number(limit));
                let less = if is_id { Operation::Ult } else { Operation::Ule };
                let holds = self.terms.compare(less, term, limit);
                self.assume(holds, text, vec![query_name(function, d)]);
            }
        }
        self.products(limits.group, Operation::Ule, &group);
    }

    /// In dimensions beyond `get_work_dim()`, ids are 0 and sizes are 1.
    fn work_dim(&mut self) {
        let sort = Sort::Bits(32);
        let dims = self.terms.symbol("get_work_dim", sort);
        let (one, three) = (self.terms.constant(1, sort), self.terms.constant(3, sort));
        let (low, high) =
            (self.terms.compare(Operation::Ule, one, dims), self.terms.compare(Operation::Ule, dims, three));
        let holds = self.terms.and(low, high);
        self.add(holds, "a launch has one to three dimensions", vec!["get_work_dim".to_owned()]);
        for d in 1..3usize {
            let number = self.terms.constant(d as u64, sort);
            let has_it = self.terms.compare(Operation::Ult, number, dims);
            let ids = ["get_local_id", "get_group_id", "get_global_id", "get_global_offset"].map(|f| (f, 0));
            let sizes =
                ["get_local_size", "get_num_groups", "get_global_size", "get_enqueued_local_size"].map(|f| (f, 1));
            for (function, value) in ids.into_iter().chain(sizes) {
                let (term, value) = (self.query(function, d), self.number(value));
                let is = self.terms.compare(Operation::Eq, term, value);
                let holds = self.terms.or(has_it, is);
                let needs = vec!["get_work_dim".to_owned(), query_name(function, d)];
                self.add(holds, "a launch has nothing in dimensions that it lacks", needs);
            }
        }
    }
}
