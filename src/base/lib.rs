#![doc = include_str!("README.md")]

pub mod cache;
pub mod error;
pub mod external_tools;
pub mod files;
pub mod forked;
pub mod hash;
pub mod json;
