//! Narrows accesses to the bytes that the source names. Clang reads and writes vectors as a whole where only some of
//! their components are meant (`p[i].w`, `p[i].xy = v`), and vectors of three components as ones of four. Each of them
//! is a memory location of its own (OpenCL 3.0, "memory location" in 3.3.4): what is not named neither conflicts with
//! others nor has to be initialised.
//!
//! The kernel is in raw form: what is read into a variable as a whole (`float4 v = p[i]`) is named as a whole, whatever
//! is done with the variable. Copies of structs are of their members: nothing names the padding between them.

mod copies;
mod parts;
mod reads;
mod writes;

pub use self::copies::{members, separate as separate_copies};
pub use self::parts::Within;
use crate::llvm::{Function, View};

/// Makes accesses to vectors go to the bytes only that the source names.
pub fn separate<'m>(view: View<'m>, function: Function<'m>) {
    writes::separate(view, function);
    reads::separate(view, function);
}
