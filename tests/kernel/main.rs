//! Checks what is read from kernels: the front end, syntax trees and sites, and the analyses of the IR.

#[path = "../common/mod.rs"]
mod common;
mod constructs;
mod cpp;
mod cuda;
mod cuda_calls;
mod cuda_libraries;
mod front;
mod golden;
mod held_pointers;
mod interleaving;
mod site_agreement;
mod spirv;
mod spirv_debug;
mod synchronisation;
mod syntax_tree;
mod taint;
