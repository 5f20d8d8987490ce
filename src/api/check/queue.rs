//! Shares out the launches of a program among its kernels: which launch is checked next.

use std::collections::{BTreeSet, HashSet};

use kassay_base::hash;
use kassay_run::host::{Arrival, Reason};

/// Names a launch: its process's folder, and its number in the process.
pub(super) type LaunchId = (String, u64);

pub(super) const SAME_INPUTS: Reason =
    Reason { name: "same-inputs", meaning: "a launch with the same inputs was checked" };
pub(super) const ENOUGH: Reason =
    Reason { name: "max-launches", meaning: "as many launches of the kernel as --max-launches says were checked" };

/// The launches of one kernel that wait.
#[derive(Debug, Default)]
pub(super) struct Waiting {
    launches: Vec<Arrival>,
    /// Hashes of the shapes that were taken.
    shapes: HashSet<u64>,
    /// Hashes of the inputs that came.
    inputs: BTreeSet<u64>,
    /// Launches that were taken.
    pub taken: usize,
}

impl Waiting {
    /// Adds a launch, unless one with the same inputs came before, or `most` launches came. The reason says why not.
    pub fn add(&mut self, arrival: Arrival, most: u64) -> Result<(), (LaunchId, Reason)> {
        let launch = &arrival.launch;
        let inputs = hash::of((&launch.global, &launch.local, &launch.offset, &launch.arguments, &launch.memory));
        let id = arrival.id();
        if self.inputs.contains(&inputs) {
            return Err((id, SAME_INPUTS));
        }
        if self.inputs.len() as u64 >= most {
            return Err((id, ENOUGH));
        }
        self.inputs.insert(inputs);
        self.launches.push(arrival);
        Ok(())
    }

    /// Puts a launch back that was taken.
    pub fn put_back(&mut self, arrival: Arrival) {
        self.launches.insert(0, arrival);
    }

    /// Takes the next launch: the first of a new shape, otherwise the first.
    pub fn take(&mut self) -> Option<Arrival> {
        let new = self.launches.iter().position(|arrival| !self.shapes.contains(&shape(arrival)));
        if self.launches.is_empty() {
            return None;
        }
        let arrival = self.launches.remove(new.unwrap_or(0));
        self.shapes.insert(shape(&arrival));
        self.taken += 1;
        Some(arrival)
    }

    /// How many wait.
    pub fn len(&self) -> usize {
        self.launches.len()
    }

    /// Removes all that wait.
    pub fn drain(&mut self) -> Vec<Arrival> {
        std::mem::take(&mut self.launches)
    }
}

/// A hash of a launch's sizes, and of the kinds and sizes of its arguments.
fn shape(arrival: &Arrival) -> u64 {
    let launch = &arrival.launch;
    let kinds: Vec<_> = launch.arguments.iter().map(std::mem::discriminant).collect();
    let sizes: Vec<u64> = launch.memory.iter().map(|memory| memory.size).collect();
    hash::of((&launch.global, &launch.local, &launch.offset, kinds, sizes))
}

/// Returns the positions of the kernels whose launches come next, up to `count`: kernels of which fewer launches were
/// taken come first, and among these the earlier ones.
pub(super) fn next(waiting: &[(usize, usize)], count: usize) -> Vec<usize> {
    let mut left: Vec<(usize, usize, usize)> =
        waiting.iter().enumerate().map(|(at, (taken, waits))| (*taken, at, *waits)).collect();
    let mut chosen = Vec::new();
    while chosen.len() < count {
        let Some(next) = left.iter_mut().filter(|(_, _, waits)| *waits > 0).min() else { break };
        next.0 += 1;
        next.2 -= 1;
        chosen.push(next.1);
    }
    chosen
}

#[cfg(test)]
mod tests {
    use kassay_run::host::Launch;

    use super::*;

    fn arrival(sequence: u64, global: u64, bytes: &str) -> Arrival {
        let text = format!(
            r#"{{"program": "p", "name": "k", "launch": {sequence}, "sequence": {sequence}, "global": [{global}],
                "arguments": [{{"kind": "value", "bytes": "{bytes}"}}], "memory": []}}"#
        );
        let launch: Launch = serde_json::from_str(&text).unwrap();
        Arrival { process: "1".to_owned(), launch }
    }

    #[test]
    fn new_shapes_come_first_and_equal_inputs_once() {
        let mut waiting = Waiting::default();
        for (sequence, global, bytes) in [(0, 8, "00"), (1, 8, "01"), (2, 16, "00")] {
            waiting.add(arrival(sequence, global, bytes), 4).unwrap();
        }
        assert_eq!(waiting.add(arrival(3, 8, "01"), 4).unwrap_err(), (("1".to_owned(), 3), SAME_INPUTS));
        waiting.add(arrival(4, 8, "02"), 4).unwrap();
        assert_eq!(waiting.add(arrival(5, 8, "03"), 4).unwrap_err().1, ENOUGH);
        let order: Vec<u64> = std::iter::from_fn(|| waiting.take()).map(|arrival| arrival.launch.sequence).collect();
        assert_eq!((order, waiting.taken), (vec![0, 2, 1, 4], 4));
    }

    #[test]
    fn kernels_take_turns() {
        // Of the first kernel two launches were taken and three wait, ...
        assert_eq!(next(&[(2, 3), (0, 1), (1, 9)], 4), [1, 2, 0, 2]);
        assert_eq!(next(&[(0, 2), (0, 0)], 4), [0, 0]);
        assert!(next(&[], 4).is_empty());
    }
}
