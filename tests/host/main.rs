//! Checks commands on host programs: those of `testdata/hosts`, compiled here.

mod capture;
mod cover;
mod mutate;
mod programs;

type TestResult<T = ()> = Result<T, Box<dyn std::error::Error>>;
