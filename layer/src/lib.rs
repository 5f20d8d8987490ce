//! The library that `kassay` puts between an unmodified host program and its OpenCL driver.
//!
//! It wraps the calls of interest, keeps a shadow of the program's objects, and writes programs, kernels, counts of
//! launches and chosen launches with their inputs and outputs to a folder, the spool, whose format `layer/README.md`
//! describes. Everything that needs a compiler is done elsewhere: no LLVM, no Z3.
//!
//! The program must not notice. So nothing here panics across the C boundary ([`boundary`]), no lock is held while the
//! driver is called, nothing is printed, and whatever fails lets the program's own call through as it was.
//!
//! A module uses only those further down (`ARCHITECTURE.md` has their levels):
//!
//! | module | what it is for |
//! | --- | --- |
//! | [`entry`] | the exported functions: proxy driver and ICD layer |
//! | [`wrappers`] | one function for each wrapped call, the same for both ways in |
//! | [`lifecycle`] | forks, and the end of the process |
//! | [`capture`] | which launches are kept, and their files |
//! | [`live`] | woven replacements of kernels, which are launched in their place |
//! | [`launch`] | a launch, the memory that it reaches, and the contents of that |
//! | [`shadow`] | what the program's handles stand for |
//! | [`platforms`] | their order, where a program has some besides kassay's own |
//! | [`program`] | where a program's code comes from, the files that it includes, and its own file in the spool |
//! | [`boundary`] | keeps failures of the layer away from the program |
//! | [`spool`] | the folder |
//! | [`driver`] | the drivers' original functions, which driver a handle belongs to, and what drivers tell of objects |
//! | [`lock`], [`generation`] | locks that outlive failures; which process this is after forks |

#![warn(missing_docs)]
// The whole crate is a C boundary: nearly every function takes handles and pointers on trust, as OpenCL's specification
// lets the driver below it do. An unsafe function says in its documentation what it trusts.
#![allow(unsafe_op_in_unsafe_fn)]

mod boundary;
mod capture;
mod driver;
mod entry;
mod generation;
mod launch;
mod lifecycle;
mod live;
mod lock;
mod platforms;
mod program;
mod shadow;
mod spool;
mod wrappers;
