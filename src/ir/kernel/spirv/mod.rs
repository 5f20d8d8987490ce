//! Reads SPIR-V: as words (`words`), as text (`assembler`), and as LLVM IR by an external translator (`translator`).
//!
//! `check` refuses what is no kernel; `specialisation` sets specialisation constants in the words, and `opaque` keeps
//! their values out of the code; `line_scopes` has the translators keep lines, and `synchronisation` the scopes and
//! orders of barriers, fences and atomics.

mod assembler;
mod capabilities;
mod check;
mod line_scopes;
mod opaque;
pub mod read;
mod shared_targets;
pub mod specialisation;
mod synchronisation;
pub mod translator;
mod unscoped_values;
mod validator;
pub mod words;
