//! Represents what a kernel can ask of its launch, with what OpenCL guarantees of the answers.

use super::expression::{Term, Terms};
use super::operation::{Operation, Sort};

/// What is known of a query's answer in one dimension: it is at least `low` and at most `high`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryRange {
    /// The builtin, such as `get_global_id`.
    pub name: &'static str,
    /// The dimension that it is asked for.
    pub dimension: u64,
    /// The least answer.
    pub low: u64,
    /// The greatest answer.
    pub high: u64,
}

/// What is known of a launch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KnownLaunch {
    /// What is known of queries.
    pub ranges: Vec<QueryRange>,
    /// Dimensions in which the size of all work-groups (but the last, perhaps) and the offset are known, with both.
    pub groups: Vec<(u64, u64, u64)>,
}

impl Terms {
    /// Adds what is known of queries with answers of 64 bits.
    pub fn assume(&mut self, launch: &KnownLaunch) {
        let sort = Sort::Bits(64);
        for QueryRange { name, dimension, low, high } in &launch.ranges {
            let answer = self.launch_value(name, *dimension, sort);
            let (low, high) = (self.constant(*low, sort), self.constant(*high, sort));
            for (less, more) in [(low, answer), (answer, high)] {
                let fact = self.compare(Operation::Ule, less, more);
                self.add_fact(fact);
            }
        }
        for (dimension, size, offset) in &launch.groups {
            let [id, group, local] =
                ["get_global_id", "get_group_id", "get_local_id"].map(|name| self.launch_value(name, *dimension, sort));
            let (size, offset) = (self.constant(*size, sort), self.constant(*offset, sort));
            let first = self.apply(Operation::Mul, vec![group, size], sort);
            let first = self.apply(Operation::Add, vec![first, offset], sort);
            let sum = self.apply(Operation::Add, vec![first, local], sort);
            let fact = self.compare(Operation::Eq, id, sum);
            self.add_fact(fact);
        }
    }

    /// A query of the launch (`get_local_id`, ...) in one dimension. Adds facts from OpenCL's limits: sizes are at
    /// least 1, work-groups have fewer than 2^31 work-items, ids are below their sizes.
    pub fn launch_query(&mut self, name: &str, dimension: u64, sort: Sort) -> Term {
        let term = self.launch_value(name, dimension, sort);
        if sort != Sort::Bits(64) {
            return term;
        }
        let (id, size) = match name {
            "get_local_id" | "get_local_size" => ("get_local_id", "get_local_size"),
            "get_group_id" | "get_num_groups" => ("get_group_id", "get_num_groups"),
            _ => return term,
        };
        let (id, size) = (self.launch_value(id, dimension, sort), self.launch_value(size, dimension, sort));
        let zero = self.constant(0, sort);
        let mut facts = vec![self.compare(Operation::Ult, id, size), self.compare(Operation::Ult, zero, size)];
        if name.starts_with("get_local") {
            let most = self.constant(1 << 31, sort);
            facts.push(self.compare(Operation::Ult, size, most));
        }
        for fact in facts {
            self.add_fact(fact);
        }
        term
    }

    fn launch_value(&mut self, name: &str, dimension: u64, sort: Sort) -> Term {
        self.symbol(format!("{name}({dimension})"), sort)
    }
}
