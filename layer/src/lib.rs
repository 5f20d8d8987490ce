//! The library that `kassay` puts between an unmodified host program and its OpenCL driver.
//!
//! It wraps the calls of interest, keeps a shadow of the program's objects, and writes programs, kernels, counts of
//! launches and chosen launches with their inputs and outputs to a folder, the spool, whose format `layer/README.md`
//! describes. Everything that needs a compiler is somebody else's: no LLVM, no Z3.
//!
//! The program must not notice. So nothing here panics across the C boundary ([`boundary`]), no lock is held while the
//! driver is called, nothing is printed, and whatever fails lets the program's own call through as it was.
//!
//! | module | what it is for |
//! | --- | --- |
//! | [`entry`] | the exported functions: proxy driver and ICD layer |
//! | [`driver`] | the drivers' original tables, and which of them a handle belongs to |
//! | [`wrappers`] | one function for each wrapped call, the same for both ways in |
//! | [`shadow`] | what the program's handles stand for |
//! | [`capture`] | which launches are kept, and their contents |
//! | [`includes`] | the files that a source includes |
//! | [`spool`] | the folder |
//! | [`live`] | woven twins of kernels, which are launched in their place |
//! | [`platforms`] | their order, where a program has some besides kassay's own |

// The whole crate is a C boundary: nearly every function takes handles and pointers on trust, as OpenCL's specification
// lets the driver behind it do. An unsafe function says in its documentation what it trusts.
#![allow(unsafe_op_in_unsafe_fn)]

mod boundary;
mod capture;
mod driver;
mod entry;
mod includes;
mod lifecycle;
mod live;
mod platforms;
mod shadow;
mod spool;
mod wrappers;
