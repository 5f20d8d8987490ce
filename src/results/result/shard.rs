//! Splits the mutants of a run into shards.

use std::fmt;
use std::str::FromStr;

use kassay_base::hash::fnv1a;

use super::mutate::Mutant;

/// Shard `number` of `count`, written `number/count`; numbers count from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize, serde::Deserialize)]
pub struct Shard {
    count: u32,
    number: u32,
}

impl Shard {
    /// Returns shard `number` of `count`; `None` unless 1 ≤ `number` ≤ `count`.
    pub fn new(number: u32, count: u32) -> Option<Shard> {
        (1..=count).contains(&number).then_some(Shard { count, number })
    }

    /// Returns the number of this shard, from 1.
    pub fn number(self) -> u32 {
        self.number
    }

    /// Returns the number of shards of the run.
    pub fn count(self) -> u32 {
        self.count
    }

    /// Returns whether this shard owns the mutant with this id. A duplicate belongs to the shard of its original.
    pub fn owns(self, id: &str, duplicate_of: Option<&str>) -> bool {
        shard_of(duplicate_of.unwrap_or(id), self.count) == self.number
    }

    /// Like [`Shard::owns`], for a mutant of a result.
    pub fn owns_mutant(self, mutant: &Mutant) -> bool {
        self.owns(&mutant.id, mutant.duplicate_of.as_deref())
    }
}

impl fmt::Display for Shard {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.number, self.count)
    }
}

impl FromStr for Shard {
    type Err = String;

    fn from_str(text: &str) -> Result<Shard, String> {
        text.split_once('/')
            .and_then(|(number, count)| Shard::new(number.parse().ok()?, count.parse().ok()?))
            .ok_or_else(|| "not a shard: k/n, where k goes from 1 to n".to_owned())
    }
}

/// Returns the number, from 1 to `n`, of the shard that owns the mutant with this id; 1 if `n` is 0. It depends only on
/// the id's bytes and `n`: FNV-1a (64 bits) with its upper half folded into the lower, modulo `n`. The lower bits of
/// FNV alone depend little on the first bytes.
pub fn shard_of(id: &str, n: u32) -> u32 {
    let hash = fnv1a(id.as_bytes());
    let folded = (hash ^ (hash >> 32)) & u64::from(u32::MAX);
    (folded % u64::from(n.max(1))) as u32 + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shards_are_written_k_of_n() {
        assert_eq!("2/3".parse(), Ok(Shard { count: 3, number: 2 }));
        assert_eq!(Shard::new(3, 3).unwrap().to_string(), "3/3");
        for wrong in ["0/3", "4/3", "1/0", "3", "1/2/3", "-1/2", "a/b", ""] {
            assert!(wrong.parse::<Shard>().is_err(), "{wrong}");
        }
    }

    /// These numbers are part of the result format: shards run by two versions must be the same parts.
    #[test]
    fn shard_assignment_never_changes() {
        let ids = ["", "f.ROR@a.cl:3:9:<=", "f.ROR@a.cl:3:9:>", "AS@launch:32"];
        assert_eq!(ids.map(|id| shard_of(id, 7)), [4, 3, 4, 6]);
    }

    #[test]
    fn shards_have_about_the_same_size() {
        for n in [2, 3, 8, 50] {
            let mut sizes = vec![0_u32; n as usize];
            for id in 0..10_000 {
                sizes[shard_of(&format!("kernel.AOR@k.cl:{}:{}:+", id / 10, id % 10), n) as usize - 1] += 1;
            }
            let mean = 10_000 / n;
            assert!(sizes.iter().all(|s| s.abs_diff(mean) < mean / 3), "{n}: {sizes:?}");
        }
    }
}
