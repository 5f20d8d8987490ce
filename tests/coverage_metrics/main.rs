//! Checks what the metrics count (docs/coverage-metrics.md), on kernels whose figures are known by hand; from every
//! kind of input; and the arithmetic that turns probe data into coverage, without a device.

#[path = "../coverage_support/mod.rs"]
mod coverage_support;
mod dependence;
mod inputs;
mod kernels;
mod metrics;
mod tallies;
