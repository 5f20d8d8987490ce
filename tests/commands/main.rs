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
mod cuda;
mod cuda_warps;
mod declared_interfaces;
mod gpu_faults;
mod library;
mod no_forks;
mod own_host;
mod reports;
mod several;
mod shared_memory;
mod spec_variants;
mod sub_groups;
mod sudden;
