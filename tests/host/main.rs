//! Checks commands on host programs: those of `testdata/hosts`, and some of this folder, compiled here.

mod capture;
mod check;
mod cover;
mod drivers;
mod listed;
mod mutate;
mod programs;
mod spools;
mod sudden;

type TestResult<T = ()> = Result<T, Box<dyn std::error::Error>>;
