//! Checks commands on host programs: those of `testdata/hosts`, compiled here.

mod capture;
mod listed;
mod programs;
mod spools;
mod sudden;

type TestResult<T = ()> = Result<T, Box<dyn std::error::Error>>;
