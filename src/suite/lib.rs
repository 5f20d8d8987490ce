#![doc = include_str!("README.md")]
#![forbid(unsafe_code)]

mod arguments;
mod buffer_format;
pub mod compare;
pub mod confined;
mod data;
pub mod de;
pub mod declared;
pub mod document;
mod dtype;
pub mod faults;
pub mod format;
pub mod image;
mod implicit;
mod json;
pub mod launch;
mod nd_range;
pub mod npy;
mod random;
mod range;
pub mod resolve;
pub mod scalar_layout;
pub mod schedule;
mod schedule_spec;
mod spec_values;
mod syntax;
mod values;
mod views;
pub mod write;

pub use arguments::{Output, argument_value};
