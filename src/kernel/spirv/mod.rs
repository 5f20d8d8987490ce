//! Reads SPIR-V: as words (`words`), as text (`assembler`), and as LLVM IR by an external translator (`translator`).
//!
//! `check` refuses what is no kernel; `specialisation` sets specialisation constants in the words, and `opaque` keeps
//! their values out of the code.

mod assembler;
mod capabilities;
mod check;
mod opaque;
pub mod read;
mod shared_targets;
pub mod specialisation;
pub mod translator;
mod validator;
pub mod words;
