//! Runs small host programs natively and under the library, by either way in, and looks at what it leaves in the spool.
//!
//! They need a C compiler, OpenCL's headers and a driver (`scripts/setup`).

mod ends;
mod features;
mod harness;
mod kassay;
mod limits;
mod platforms;
mod replacements;
