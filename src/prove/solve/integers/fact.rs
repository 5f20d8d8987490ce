//! Conditions on integers, as Z3 has them, but with the constants known.

use z3::ast::Bool;

/// A condition.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Fact {
    /// Holds never.
    False,
    /// Holds always.
    True,
    /// Depends on symbols.
    Open(Bool),
}

impl Fact {
    /// The constant.
    pub fn of(holds: bool) -> Fact {
        if holds { Fact::True } else { Fact::False }
    }

    /// All of these hold.
    pub fn all(facts: impl IntoIterator<Item = Fact>) -> Fact {
        Fact::joined(facts, &Fact::False, Bool::and)
    }

    /// One of these holds, or several.
    pub fn any(facts: impl IntoIterator<Item = Fact>) -> Fact {
        Fact::joined(facts, &Fact::True, Bool::or)
    }

    /// Joins facts of which one that is `decisive` decides, and the opposite adds nothing.
    fn joined(facts: impl IntoIterator<Item = Fact>, decisive: &Fact, join: fn(&[Bool]) -> Bool) -> Fact {
        let mut open = Vec::new();
        for fact in facts {
            match fact {
                Fact::Open(bit) => open.push(bit),
                constant if constant == *decisive => return constant,
                _ => {}
            }
        }
        match &open[..] {
            [] => decisive.negated(),
            [only] => Fact::Open(only.clone()),
            _ => Fact::Open(join(&open)),
        }
    }

    /// Both hold.
    #[must_use]
    pub fn and(&self, other: &Fact) -> Fact {
        Fact::all([self.clone(), other.clone()])
    }

    /// One of both holds, or both.
    #[must_use]
    pub fn or(&self, other: &Fact) -> Fact {
        Fact::any([self.clone(), other.clone()])
    }

    /// It does not hold.
    #[must_use]
    pub fn negated(&self) -> Fact {
        match self {
            Fact::False => Fact::True,
            Fact::True => Fact::False,
            Fact::Open(bit) => Fact::Open(!bit),
        }
    }

    /// Both hold, or neither.
    #[must_use]
    pub fn same(&self, other: &Fact) -> Fact {
        match (self, other) {
            (Fact::True, known) | (known, Fact::True) => known.clone(),
            (Fact::False, known) | (known, Fact::False) => known.negated(),
            (Fact::Open(a), Fact::Open(b)) => Fact::Open(a.iff(b)),
        }
    }

    /// The other one holds, or this one does not.
    #[must_use]
    pub fn implies(&self, other: &Fact) -> Fact {
        self.negated().or(other)
    }

    /// It as Z3 has it.
    pub fn bit(&self) -> Bool {
        match self {
            Fact::False => Bool::from_bool(false),
            Fact::True => Bool::from_bool(true),
            Fact::Open(bit) => bit.clone(),
        }
    }

    /// Whether it never holds.
    pub fn is_false(&self) -> bool {
        matches!(self, Fact::False)
    }
}
