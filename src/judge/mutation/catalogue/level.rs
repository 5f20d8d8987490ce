//! The levels at which mutants are made, and the concepts by which operators of different levels are compared.

use crate::coverage::build::Level;

/// What an operator looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum OperatorLevel {
    /// Constructs of the source, which are changed in the canonical form.
    #[default]
    Source,
    /// Instructions of the IR, each by itself, whatever source they come from.
    Ir,
}

/// The levels of an operator of the source.
pub const SOURCE: &[OperatorLevel] = &[OperatorLevel::Source];

/// The levels of an operator of the IR.
pub const IR: &[OperatorLevel] = &[OperatorLevel::Ir];

/// The levels of an operator that changes calls, which are what they are in source and IR.
pub const BOTH: &[OperatorLevel] = &[OperatorLevel::Source, OperatorLevel::Ir];

/// What an operator changes, whatever the level: mutants of different levels are compared by concept.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Concept {
    /// Operators such as `+`.
    Arithmetic,
    /// Bitwise operators and shifts.
    Bits,
    /// Comparisons.
    Relations,
    /// Conditions, and what combines them.
    Logic,
    /// Numbers in the code.
    Constants,
    /// Operators with one operand.
    Unary,
    /// Statements and instructions that are left out.
    Deletion,
    /// Ids of work-items, and what is addressed by them.
    Index,
    /// Barriers, fences, atomics and their orders.
    Synchronisation,
    /// What only the source can say.
    SourceAlone,
    /// What only the IR can say.
    IrAlone,
}

impl Concept {
    /// All concepts, in the order of `docs/operators.md`.
    pub const ALL: [Concept; 11] = [
        Concept::Arithmetic,
        Concept::Bits,
        Concept::Relations,
        Concept::Logic,
        Concept::Constants,
        Concept::Unary,
        Concept::Deletion,
        Concept::Index,
        Concept::Synchronisation,
        Concept::SourceAlone,
        Concept::IrAlone,
    ];

    /// Returns the concept's name.
    pub fn name(self) -> &'static str {
        match self {
            Concept::Arithmetic => "arithmetic",
            Concept::Bits => "bits",
            Concept::Relations => "relations",
            Concept::Logic => "logic",
            Concept::Constants => "constants",
            Concept::Unary => "unary",
            Concept::Deletion => "deletion",
            Concept::Index => "index",
            Concept::Synchronisation => "synchronisation",
            Concept::SourceAlone => "source alone",
            Concept::IrAlone => "ir alone",
        }
    }
}

/// A level of mutation: what operators look at, and the IR in which they make their changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum MutationLevel {
    /// Operators of the source on its text, which clang compiles for each mutant.
    Source,
    /// Operators of the source on the canonical form after these optimisations.
    Canonical(Level),
    /// Operators of the IR on the kernel after these optimisations.
    Ir(Level),
}

impl Default for MutationLevel {
    fn default() -> Self {
        MutationLevel::CANONICAL
    }
}

impl MutationLevel {
    /// Operators of the source on the canonical form as it is: the default.
    pub const CANONICAL: MutationLevel = MutationLevel::Canonical(Level::Raw);

    /// The levels that are compared if none are named.
    pub const COMPARED: [MutationLevel; 6] = [
        MutationLevel::Source,
        MutationLevel::CANONICAL,
        MutationLevel::Ir(Level::Raw),
        MutationLevel::Ir(Level::O1),
        MutationLevel::Ir(Level::O2),
        MutationLevel::Ir(Level::O3),
    ];

    /// Returns the name, as `--level` takes it.
    pub fn name(self) -> &'static str {
        match self {
            MutationLevel::Source => "source",
            MutationLevel::Canonical(Level::Raw) => "canonical",
            MutationLevel::Canonical(Level::O1) => "canonical:O1",
            MutationLevel::Canonical(Level::O2) => "canonical:O2",
            MutationLevel::Canonical(Level::O3) => "canonical:O3",
            MutationLevel::Ir(Level::Raw) => "ir:raw",
            MutationLevel::Ir(Level::O1) => "ir:O1",
            MutationLevel::Ir(Level::O2) => "ir:O2",
            MutationLevel::Ir(Level::O3) => "ir:O3",
        }
    }

    /// Returns the name in the options of results, which name the optimisation apart (`ir_level`).
    pub fn name_in_options(self) -> &'static str {
        match self {
            MutationLevel::Canonical(_) => MutationLevel::CANONICAL.name(),
            MutationLevel::Source | MutationLevel::Ir(_) => self.name(),
        }
    }

    /// Returns what its operators look at.
    pub fn operators(self) -> OperatorLevel {
        match self {
            MutationLevel::Source | MutationLevel::Canonical(_) => OperatorLevel::Source,
            MutationLevel::Ir(_) => OperatorLevel::Ir,
        }
    }

    /// Returns how the IR is optimised before mutants are made in it.
    pub fn optimisation(self) -> Level {
        match self {
            MutationLevel::Source => Level::Raw,
            MutationLevel::Canonical(level) | MutationLevel::Ir(level) => level,
        }
    }
}
