//! The mutation operators (`docs/operators.md`): one file per family, one line per operator in [`OPERATORS`].

pub mod arithmetic;
pub mod assignment;
pub mod atomic;
pub mod barrier;
pub mod bitwise;
pub mod calls;
pub mod condition;
pub mod constants;
pub mod deletion;
pub mod fence;
pub mod image;
pub mod increment;
pub mod index;
pub mod launch;
pub mod local;
pub mod logical;
pub mod loop_boundary;
pub mod relational;
mod replacing;
pub mod unary;

use super::mutant::{Excluded, Mutant};
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
pub struct Subject<'a> {
    pub module: &'a inkwell::module::Module<'a>,
    pub entry: &'a str,
    pub interface: &'a Interface,
    pub sites: &'a Sites,
    /// Of the source, where there is one.
    pub ast: Option<&'a Ast>,
    pub sources: &'a Sources,
    pub preset: Preset,
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
    pub what: &'static str,
    /// `PENG`, `LIU`, `ours`.
    pub from: &'static str,
    pub peng: bool,
    pub liu: bool,
    /// Finds its mutants (ids are given by the registry afterwards; leave them empty).
    pub enumerate: fn(&Subject<'_>, &mut Found),
}

/// What operators found.
#[derive(Debug, Default)]
pub struct Found {
    pub mutants: Vec<Mutant>,
    pub excluded: Vec<Excluded>,
}

/// All operators, in the order of the specification's table.
#[rustfmt::skip]
pub const OPERATORS: &[Operator] = &[
    relational::CBR,
    relational::ROR,
    relational::NCR,
    arithmetic::AOR,
    arithmetic::MR,
    bitwise::BOR,
    increment::ARS,
    assignment::ASR,
    unary::AIU,
    unary::AOD,
    unary::COD,
    logical::COR,
    logical::LCR,
    condition::CSD,
    deletion::SDL,
    constants::LVR,
    loop_boundary::LBR,
    barrier::SYR,
    fence::FR,
    barrier::BFR,
    atomic::AR,
    atomic::AOP,
    index::GIR,
    index::GII,
    index::GID,
    local::SHR,
    image::ICR,
    launch::AS,
    launch::AI,
    launch::AD,
];
