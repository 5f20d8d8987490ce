//! What comparisons have shown of replacements, and so which launches are compared next.

use std::collections::HashMap;

use super::reply::Why;
use crate::spool::config::Verify;

/// Launches of a kernel that are compared at most, unless all are; and those that are tried until one has been
/// compared.
const MOST: u32 = 8;

/// What is to be done with a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    Woven,
    Compare,
    Plain,
}

/// What was found out about the replacements of a program's kernels on a device.
#[derive(Default)]
pub struct Verified {
    kernels: HashMap<String, Known>,
    /// Whether a woven kernel ran without the program's own: if they have variables, the two now hold different values.
    is_out_of_step: bool,
    /// Whether no kernel is woven any more.
    is_given_up: bool,
}

/// What was found out about a replacement.
#[derive(Default)]
struct Known {
    launches: u64,
    tried: u32,
    same: bool,
    differs: bool,
}

impl Verified {
    /// Says what to do with the next launch of a kernel. `can_be_compared`: whether it can be repeated at all.
    pub fn next(&mut self, how: Verify, name: &str, has_variables: bool, can_be_compared: bool) -> Next {
        if self.is_refuted(name) {
            return Next::Plain;
        }
        let known = self.kernels.entry(name.to_owned()).or_default();
        known.launches += 1;
        let can_be_compared = can_be_compared && !(has_variables && self.is_out_of_step);
        let is_due =
            known.launches.is_power_of_two() && known.launches < 1 << MOST || !known.same && known.tried < MOST;
        let next = match how {
            Verify::All if can_be_compared => Next::Compare,
            Verify::All => Next::Plain,
            Verify::First if can_be_compared && is_due => Next::Compare,
            Verify::First | Verify::None => Next::Woven,
        };
        known.tried += u32::from(next == Next::Compare);
        self.is_out_of_step |= next != Next::Compare;
        next
    }

    /// Notes that only one of the two kernels has run, or will, in a launch that was to be compared.
    pub fn parted(&mut self) {
        self.is_out_of_step = true;
    }

    /// Lets all kernels run as they are from now on.
    pub fn give_up(&mut self) {
        self.is_given_up = true;
    }

    /// Whether a kernel's replacement does not run any more.
    pub fn is_refuted(&self, name: &str) -> bool {
        self.is_given_up || self.kernels.get(name).is_some_and(|known| known.differs)
    }

    /// Remembers what a comparison has shown.
    pub fn found(&mut self, name: &str, has_variables: bool, verdict: &Verdict) {
        let known = self.kernels.entry(name.to_owned()).or_default();
        match verdict {
            Verdict::Same => known.same = true,
            Verdict::Differs(_) => {
                known.differs = true;
                // The others would go on with the variables of the woven one.
                self.is_given_up |= has_variables;
            }
            Verdict::Open(_) => {}
        }
    }
}

/// What a comparison has shown.
pub enum Verdict {
    Same,
    /// It has shown nothing.
    Open(Why),
    Differs(Why),
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nexts(verified: &mut Verified, how: Verify, has_variables: bool, count: usize) -> Vec<Next> {
        (0..count).map(|_| verified.next(how, "k", has_variables, true)).collect()
    }

    #[test]
    fn powers_of_two_are_compared_and_no_more_than_eight() {
        let mut verified = Verified::default();
        assert_eq!(nexts(&mut verified, Verify::First, false, 1), [Next::Compare]);
        verified.found("k", false, &Verdict::Same);
        let compared: Vec<usize> = (2..1000)
            .zip(nexts(&mut verified, Verify::First, false, 998))
            .filter(|(_, next)| *next == Next::Compare)
            .map(|(launch, _)| launch)
            .collect();
        assert_eq!(compared, [2, 4, 8, 16, 32, 64, 128]);
    }

    #[test]
    fn until_one_was_compared_it_is_tried_again() {
        let mut verified = Verified::default();
        let tried = nexts(&mut verified, Verify::First, false, 12);
        assert_eq!(tried.iter().filter(|next| **next == Next::Compare).count(), 8);
        assert_eq!(nexts(&mut Verified::default(), Verify::None, false, 2), [Next::Woven; 2]);
        assert_eq!(nexts(&mut Verified::default(), Verify::All, false, 3), [Next::Compare; 3]);
        assert_eq!(Verified::default().next(Verify::All, "k", false, false), Next::Plain);
    }

    #[test]
    fn one_that_differs_never_runs_again_nor_do_those_that_share_variables_with_it() {
        let why = || Verdict::Differs(Why::new("differs-when-woven", ""));
        let mut verified = Verified::default();
        verified.found("k", false, &why());
        assert_eq!(verified.next(Verify::First, "k", false, true), Next::Plain);
        assert_eq!(verified.next(Verify::First, "l", false, true), Next::Compare);
        verified.found("l", true, &why());
        assert_eq!(verified.next(Verify::None, "m", true, true), Next::Plain);
    }

    #[test]
    fn variables_that_are_out_of_step_are_not_compared() {
        let mut verified = Verified::default();
        assert_eq!(nexts(&mut verified, Verify::First, true, 1), [Next::Compare]);
        verified.found("k", true, &Verdict::Same);
        assert_eq!(nexts(&mut verified, Verify::First, true, 3), [Next::Compare, Next::Woven, Next::Woven]);
    }
}
