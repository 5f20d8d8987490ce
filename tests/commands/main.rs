//! Checks the program as a user or a pipeline sees it: results, reports, exit codes, messages, the cache.

mod against_source;
mod allowed_faults;
mod baseline;
mod cache;
mod changes;
mod ci;
#[path = "../common/mod.rs"]
mod common;
mod compare;
mod contract;
mod declared_interfaces;
mod entry_points;
mod gpu_faults;
mod implicit_arguments;
mod library;
mod long_lines;
mod no_forks;
mod overloadable;
mod own_host;
mod reports;
mod sandbox;
mod several;
mod shared_memory;
mod spec_variants;
mod specialisation;
mod sub_groups;
mod sudden;
mod wrong_inputs;
