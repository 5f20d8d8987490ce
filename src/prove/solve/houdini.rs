//! Finds the largest set of candidates that are all invariants, as Flanagan and Leino's Houdini does ("Houdini, an
//! Annotation Assistant for ESC/Java", FME 2001): each may be assumed where the others are checked, and those that a
//! check does not confirm leave the set, until all that remain are confirmed under each other.

use std::collections::BTreeSet;

/// Drops candidates until none is violated. `violated` returns the positions of some candidates that are not confirmed
/// under the assumption of those that it is given; none if all are confirmed.
pub fn keep_confirmed<C>(candidates: &mut Vec<C>, mut violated: impl FnMut(&[C]) -> BTreeSet<usize>) {
    loop {
        let dropped = violated(candidates);
        if dropped.is_empty() {
            return;
        }
        let mut position = 0..;
        candidates.retain(|_| position.next().is_none_or(|position| !dropped.contains(&position)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_rests_on_a_candidate_that_is_dropped_is_dropped_too() {
        // Each holds if the one that it names does, or is the one that it names.
        let mut candidates = vec![("a", "b"), ("b", "missing"), ("c", "c"), ("d", "c"), ("e", "a")];
        keep_confirmed(&mut candidates, |known| {
            let holds = |name: &str| known.iter().any(|(other, _)| *other == name);
            known.iter().position(|(_, needs)| !holds(needs)).into_iter().collect()
        });
        assert_eq!(candidates, [("c", "c"), ("d", "c")]);
    }
}
