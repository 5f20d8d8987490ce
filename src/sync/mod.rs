//! Verdicts on synchronisation.

pub mod amplification;
mod flow;
