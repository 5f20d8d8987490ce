//! What operators work on and with: a kernel with all that is known of it, and what an operator says of itself.

use std::cell::OnceCell;
use std::rc::Rc;

use super::mutant::{Excluded, Mutant};
use super::source_ops::Operations;
use super::source_ops::tokens::TokenCache;
use crate::cfg::sites::Sites;
use crate::kernel::ast::Ast;
use crate::kernel::interface::Interface;
use crate::kernel::source::Sources;

/// What a set of operators has in common beyond their choice: how many replacements each makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Preset {
    /// All replacements of the operator.
    #[default]
    Full,
    /// PENG's table 4.2, with the numbers of replacements that the published counts imply.
    Peng,
    /// LIU's tables 6.1 and 6.2.
    Liu,
}

/// A kernel in canonical form with all that is known of it.
#[derive(Clone)]
pub struct Subject<'a> {
    pub module: &'a inkwell::module::Module<'a>,
    pub entry: &'a str,
    pub interface: &'a Interface,
    pub sites: &'a Sites,
    /// Of the source, where there is one.
    pub ast: Option<&'a Ast>,
    pub sources: &'a Sources,
    pub preset: Preset,
    /// Empty at first.
    pub cache: Rc<SubjectCache<'a>>,
}

/// What the first operator that asks has read of a kernel.
#[derive(Default)]
pub struct SubjectCache<'a> {
    pub operations: OnceCell<Operations<'a>>,
    pub tokens: TokenCache,
}

/// An operator.
pub struct Operator {
    /// As the user names it: `ROR`.
    pub id: &'static str,
    pub name: &'static str,
    /// `condition`, `arithmetic`, `statement`, `loop`, `barrier`, `index`, `memory`, `image`, `launch` …: the class that
    /// scores are broken down by. PENG's classes: `branch`, `barrier` and `loop` mutants.
    pub class: &'static str,
    /// What it does, a line of the table in `docs/operators.md`.
    pub description: &'static str,
    /// `PENG`, `LIU`, `ours`.
    pub origin: &'static str,
    pub peng: bool,
    pub liu: bool,
    /// Finds its mutants (ids are given by the registry afterwards; leave them empty).
    pub enumerate: fn(&Subject<'_>, &mut OperatorOutput),
}

/// What operators found.
#[derive(Debug, Default)]
pub struct OperatorOutput {
    pub mutants: Vec<Mutant>,
    pub excluded: Vec<Excluded>,
}
