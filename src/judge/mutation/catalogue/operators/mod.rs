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
mod edits;
pub mod fence;
pub mod image;
pub mod increment;
pub mod index;
pub mod ir;
pub mod launch;
pub mod local;
pub mod logical;
pub mod loop_boundary;
pub mod relational;
mod replacing;
pub mod unary;

pub use super::subject::{Operator, OperatorOutput, Preset, Subject};

/// All operators, in the order of `docs/operators.md`.
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
    barrier::SCR,
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
    ir::arithmetic::IAO,
    ir::arithmetic::IBO,
    ir::predicates::ICP,
    ir::branches::IBR,
    ir::branches::ISL,
    ir::constants::ICN,
    ir::negation::INE,
    ir::deletion::IST,
    ir::deletion::ICA,
    ir::index::IID,
    ir::order::IMO,
    ir::pointers::IGP,
    ir::conversions::ICX,
    ir::exchange::IPH,
    ir::exchange::ISO,
    ir::exchange::IVL,
];
