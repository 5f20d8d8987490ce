//! Names what a race comes from, from its two accesses and a few facts of the launch that shows it.
//!
//! Pure: `docs/causes.md` explains each name.

use kassay_ir::kernel::builtins::{self, Family};
use kassay_results::result::causes::Cause;
use kassay_results::result::check::{Access, Mode, Scope};

/// What is known of a race besides its accesses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Facts {
    /// Both write, and wrote equal values whenever they conflicted.
    pub equal_values: bool,
    /// They are the two halves of an update of one element, or the second halves of two.
    pub updates: bool,
    /// Which barrier stands between them in the source.
    pub between: Option<Between>,
    /// The race is gone if the work-items of a warp make each step together, although the group has more than two.
    pub gone_in_lockstep: bool,
}

/// A barrier between the places of two accesses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Between {
    /// It does not order the memory that both access.
    OtherMemory,
    /// It orders that memory, and the access behind it came first: that before it is of a later iteration.
    NextIteration,
}

/// A race.
struct Pair<'a> {
    accesses: &'a [Access; 2],
    scope: Scope,
    facts: Facts,
}

impl Pair<'_> {
    fn count(&self, is_such: impl Fn(&Access) -> bool) -> usize {
        self.accesses.iter().filter(|access| is_such(access)).count()
    }

    fn atomics(&self) -> usize {
        self.count(|access| access.mode == Some(Mode::Atomic))
    }

    fn copies(&self) -> bool {
        let is_copy = |name: &str| builtins::family(name) == Some(Family::AsyncCopy);
        self.count(|access| access.builtin.as_deref().is_some_and(is_copy)) > 0
    }
}

type Test = fn(&Pair<'_>) -> bool;

/// Each cause with its test: the first that applies names the race.
const CAUSES: [(Cause, Test); 11] = [
    (Cause::CopyInFlight, |race| race.copies() && race.scope == Scope::IntraGroup),
    (Cause::NarrowScope, |race| race.atomics() == 2),
    (Cause::MixedAtomic, |race| race.atomics() == 1),
    (Cause::EqualValues, |race| race.facts.equal_values),
    (Cause::UnprotectedUpdate, |race| race.facts.updates),
    (Cause::BetweenGroups, |race| race.scope == Scope::InterGroup),
    (Cause::OtherFence, |race| race.facts.between == Some(Between::OtherMemory)),
    (Cause::AssumedLockstep, |race| race.facts.gone_in_lockstep),
    (Cause::NextIteration, |race| race.facts.between == Some(Between::NextIteration)),
    (Cause::SharedElement, |race| race.count(|access| access.mode == Some(Mode::Write)) == 2),
    (Cause::MissingBarrier, |_| true),
];

/// Returns the cause of a race.
pub fn cause(accesses: &[Access], scope: Option<Scope>, facts: Facts) -> Option<Cause> {
    let pair = Pair { accesses: accesses.try_into().ok()?, scope: scope?, facts };
    CAUSES.iter().find(|(_, test)| test(&pair)).map(|(cause, _)| *cause)
}

/// Returns whether it matters to the name of a race what becomes of it in lockstep.
pub fn may_be_lockstep(accesses: &[Access], scope: Option<Scope>, facts: Facts) -> bool {
    let in_lockstep = Facts { gone_in_lockstep: true, ..facts };
    cause(accesses, scope, in_lockstep) == Some(Cause::AssumedLockstep)
}

#[cfg(test)]
mod tests {
    use kassay_results::result::Location;

    use super::*;

    fn access(mode: Mode) -> Access {
        Access {
            location: Location { file: "k.cl".to_owned(), line: 1, column: 1 },
            function: "k".to_owned(),
            called_from: Vec::new(),
            mode: Some(mode),
            global_id: None,
            group_id: None,
            builtin: None,
            bytes: None,
            element: None,
            waiting: None,
        }
    }

    fn of(modes: [Mode; 2], scope: Scope, facts: Facts) -> Cause {
        cause(&modes.map(access), Some(scope), facts).unwrap()
    }

    #[test]
    fn every_cause_is_in_the_table_once() {
        let mut all = CAUSES.map(|(cause, _)| cause);
        all.sort();
        assert_eq!(all, Cause::ALL);
    }

    #[test]
    fn the_most_telling_cause_names_a_race() {
        use Mode::{Atomic, Read, Write};
        use Scope::{InterGroup, IntraGroup};
        let none = Facts::default();
        assert_eq!(of([Read, Write], IntraGroup, none), Cause::MissingBarrier);
        assert_eq!(of([Write, Write], IntraGroup, none), Cause::SharedElement);
        assert_eq!(of([Read, Write], InterGroup, none), Cause::BetweenGroups);
        assert_eq!(of([Read, Atomic], InterGroup, none), Cause::MixedAtomic);
        assert_eq!(of([Atomic, Atomic], InterGroup, none), Cause::NarrowScope);
        let update = Facts { updates: true, ..none };
        assert_eq!(of([Read, Write], InterGroup, update), Cause::UnprotectedUpdate);
        let equal = Facts { equal_values: true, ..update };
        assert_eq!(of([Write, Write], InterGroup, equal), Cause::EqualValues);
        for (between, cause) in
            [(Between::OtherMemory, Cause::OtherFence), (Between::NextIteration, Cause::NextIteration)]
        {
            assert_eq!(of([Read, Write], IntraGroup, Facts { between: Some(between), ..none }), cause);
        }
        let steps = Facts { gone_in_lockstep: true, ..none };
        assert_eq!(of([Read, Write], IntraGroup, steps), Cause::AssumedLockstep);
        assert!(may_be_lockstep(&[Read, Write].map(access), Some(IntraGroup), none));
        assert!(!may_be_lockstep(&[Read, Atomic].map(access), Some(IntraGroup), none));
        assert!(!may_be_lockstep(&[Read, Write].map(access), Some(InterGroup), none));
    }
}
