//! Checks code for NVIDIA GPUs, without one: every kernel of `testdata` gives PTX that NVIDIA's assembler takes.

mod assembler;
mod builtins;
mod testdata;
