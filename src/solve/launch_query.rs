//! Represents what a kernel can ask of its launch, with what OpenCL guarantees of the answers.

use super::expression::{Term, Terms};
use super::operation::{Operation, Sort};

/// What is known of a query's answer in one dimension: it is at least `low` and at most `high`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueryRange {
    /// The builtin, such as `get_global_id`.
    pub name: &'static str,
    pub dimension: u64,
    pub low: u64,
    pub high: u64,
}

impl Terms {
    /// Adds what is known of queries with answers of 64 bits.
    pub fn assume_ranges(&mut self, ranges: &[QueryRange]) {
        let sort = Sort::Bits(64);
        for QueryRange { name, dimension, low, high } in ranges {
            let answer = self.launch_value(name, *dimension, sort);
            let (low, high) = (self.constant(*low, sort), self.constant(*high, sort));
            for (less, more) in [(low, answer), (answer, high)] {
                let fact = self.compare(Operation::Ule, less, more);
                self.add_fact(fact);
            }
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
