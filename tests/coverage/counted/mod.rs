//! Checks what the metrics count (docs/coverage-metrics.md), on kernels whose figures are known by hand; from every
//! kind of input; and the arithmetic that turns probe data into coverage, without a device.

mod dependence;
mod inputs;
mod kernels;
mod metrics;
mod tallies;
