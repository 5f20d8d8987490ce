//! Goal `mutants`: launches that distinguish mutants from the kernel, where the suite that covers its branches
//! does not.
//!
//! `campaign` runs mutation testing on that suite, has the remaining mutants searched for, and runs it again on the
//! suite with what was found. `kill_search` is the search: a pool of mutants (`mutation::mutant_pool`) determines of a
//! launch which mutants it reaches, infects and kills; inputs that get further with some mutant are mutated again. A
//! `proposer` finds inputs by other means than random mutation.

pub mod campaign;
mod goals;
mod kill_search;
pub mod proposer;
