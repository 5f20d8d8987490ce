//! The input and output of mutation operators: a kernel with everything known about it, the operators' self-description
//! and the mutants that they find.

use std::cell::OnceCell;
use std::rc::Rc;

use kassay_ir::cfg::sites::Sites;
use kassay_ir::kernel::ast::Ast;
use kassay_ir::kernel::source::Sources;
use kassay_ir::llvm::View;
use kassay_model::interface::Interface;

use super::level::{Concept, OperatorLevel};
use super::mutant::{Excluded, Mutant};
use super::source_ops::Operations;
use super::source_ops::tokens::TokenCache;
use crate::coverage::build::KernelUnderTest;

/// The presets of operators, which differ in the operators chosen and in how many replacements each makes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Preset {
    /// All replacements of each operator.
    #[default]
    Full,
    /// PENG's table 4.2, with the numbers of replacements implied by the published counts.
    Peng,
    /// LIU's tables 6.1 and 6.2.
    Liu,
    /// ZHU's nine operators, with LIU's replacements.
    MutGpu,
}

/// A kernel in canonical form with everything known about it: the input of operators.
#[derive(Clone)]
pub struct Subject<'a> {
    /// The canonical form.
    pub module: View<'a>,
    /// The kernel's name.
    pub entry: &'a str,
    /// Its arguments, types and attributes.
    pub interface: &'a Interface,
    /// Its functions with what can be mutated in them.
    pub sites: &'a Sites,
    /// Syntax tree of the source, if there is source.
    pub ast: Option<&'a Ast>,
    /// The texts of its files.
    pub sources: &'a Sources,
    /// The set of operators that was asked for.
    pub preset: Preset,
    /// What the operators look at: at [`OperatorLevel::Ir`] neither syntax tree nor source text.
    pub level: OperatorLevel,
    /// Shared by all operators; empty at first.
    pub cache: Rc<SubjectCache<'a>>,
}

impl<'a> Subject<'a> {
    /// Returns a kernel for all operators of the source; [`enumerate`](super::enumerate::enumerate) narrows it to those
    /// of a selection.
    pub fn of(under_test: &'a KernelUnderTest<'_>, ast: Option<&'a Ast>, sources: &'a Sources) -> Subject<'a> {
        Subject {
            module: View::of(&under_test.module),
            entry: &under_test.entry,
            interface: &under_test.interface,
            sites: &under_test.sites,
            ast,
            sources,
            preset: Preset::default(),
            level: OperatorLevel::default(),
            cache: Rc::default(),
        }
    }
}

/// Facts about a kernel that the first operator to need them computes for all.
#[derive(Default)]
pub struct SubjectCache<'a> {
    /// The operators of the source with their instructions.
    pub operations: OnceCell<Operations<'a>>,
    /// The tokens of the source's files.
    pub tokens: TokenCache,
}

/// A mutation operator.
pub struct Operator {
    /// The id by which users select it: `ROR`.
    pub id: &'static str,
    /// What it is called in tables: `relational operator replacement`.
    pub name: &'static str,
    /// `condition`, `arithmetic`, `statement`, `loop`, `barrier`, `index`, `memory`, `image`, `launch` …: the class by
    /// which scores are broken down. PENG's classes: `branch`, `barrier` and `loop` mutants.
    pub class: &'static str,
    /// What it does; a cell of the table in `docs/operators.md`.
    pub description: &'static str,
    /// Its origin: `PENG`, `LIU`, `ours`.
    pub origin: &'static str,
    /// Whether PENG defines it.
    pub peng: bool,
    /// Whether LIU defines it.
    pub liu: bool,
    /// What it changes, to be compared with operators of other levels.
    pub concept: Concept,
    /// The levels at which it makes mutants.
    pub levels: &'static [OperatorLevel],
    /// Finds its mutants. Ids are left empty; `enumerate` assigns them.
    pub enumerate: fn(&Subject<'_>, &mut OperatorOutput),
}

/// The mutants that operators found, and the places that they excluded.
#[derive(Debug, Default)]
pub struct OperatorOutput {
    /// In the order in which they are to be numbered.
    pub mutants: Vec<Mutant>,
    /// Likewise.
    pub excluded: Vec<Excluded>,
}
