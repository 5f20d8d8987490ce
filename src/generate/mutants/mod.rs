//! Goal `mutants`: launches that tell mutants from the kernel, where the suite that covers its branches does not.
//!
//! `campaign` runs mutation testing on that suite, has the mutants that are left searched for, and runs it again on the suite with
//! what was found. `kill_search` is the search: an `mutant_pool` says of a launch which mutants it reaches, whose values it makes differ, and which
//! it kills; inputs that come one of these steps further are changed again. A `proposer` finds inputs by other means than chance.

pub mod campaign;
mod goals;
mod kill_search;
mod mutant_pool;
pub mod proposer;
