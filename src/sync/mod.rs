//! Verdicts on synchronisation.

pub mod amplification;
