//! Resizes the buffers of a launch whose values were changed: they get the sizes that the new values require.

use std::sync::Arc;

use kassay_model::interface::{Arg, ArgKind, Interface};
use kassay_prove::program::Program;
use kassay_run::exec::formats;
use kassay_suite::launch::{ArgValue, Launch};

use super::dry_run::{self, DryRunArg, Setup};

/// Instructions of the dry run.
const BUDGET: u64 = 500_000;
/// Size limit of buffers, in bytes.
const LARGEST: u64 = 1 << 24;
/// Size limit of local memory: the least that a device must have (OpenCL 1.2, table 4.3: `CL_DEVICE_LOCAL_MEM_SIZE`).
const LARGEST_LOCAL: u64 = 1 << 15;

/// Extends buffers, with zeros, and local memory to what a dry run accesses; returns the positions that changed. What
/// would exceed the limits stays as it is.
fn resize(program: &Program, interface: &Interface, launch: &mut Launch, end: std::time::Instant) -> Vec<usize> {
    let images: Vec<[u64; 3]> = launch.args.iter().map(sides).collect();
    let contents: Vec<_> = launch.args.iter().map(byte_source).collect();
    let dry_run_args: Vec<DryRunArg<'_>> = interface
        .args
        .iter()
        .zip(&launch.args)
        .enumerate()
        .map(|(p, (arg, value))| match (&arg.kind, value) {
            (ArgKind::Value(_), ArgValue::Value(bytes)) => DryRunArg::Value(bytes),
            (ArgKind::Buffer { .. }, _) => DryRunArg::Buffer(&contents[p]),
            (ArgKind::Local { .. }, _) => DryRunArg::Local,
            (ArgKind::Image(_), _) => DryRunArg::Image(images[p]),
            _ => DryRunArg::Other,
        })
        .collect();
    let report = dry_run::run(
        program,
        &Setup {
            range: launch.range.decided(),
            args: &dry_run_args,
            apart: 0,
            asks_sizes: true,
            budget: BUDGET,
            end: Some(end),
        },
    );
    drop(dry_run_args);
    drop(contents);
    let mut changed = Vec::new();
    for (p, (needed, arg)) in report.args.iter().zip(&interface.args).enumerate() {
        let needed = needed.high.div_ceil(element(arg)) * element(arg);
        match &mut launch.args[p] {
            ArgValue::Buffer(bytes) if needed > bytes.len() as u64 && needed <= LARGEST => {
                Arc::make_mut(bytes).resize(needed as usize, 0);
                changed.push(p);
            }
            ArgValue::Local(bytes) if needed > *bytes && needed <= LARGEST_LOCAL => {
                *bytes = needed;
                changed.push(p);
            }
            _ => {}
        }
    }
    changed
}

/// Returns the resized launch and its assumptions, a sentence each; `None` if nothing was too short.
pub fn resized(
    program: &Program,
    interface: &Interface,
    launch: &Launch,
    end: std::time::Instant,
) -> Option<(Launch, Vec<String>)> {
    let mut launch = launch.clone();
    let changed = resize(program, interface, &mut launch, end);
    let note = |position: &usize| {
        let arg = &interface.args[*position];
        let bytes = match &launch.args[*position] {
            ArgValue::Buffer(bytes) => bytes.len() as u64,
            ArgValue::Local(bytes) => *bytes,
            _ => return None,
        };
        Some(format!("{} has {} elements, as many as its accesses reach", arg.display_name(), bytes / element(arg)))
    };
    let notes = changed.iter().filter_map(note).collect();
    (!changed.is_empty()).then_some((launch, notes))
}

/// Returns the bytes of an element, 1 if the kernel does not say.
fn element(arg: &Arg) -> u64 {
    super::launch_builder::LaunchBuilder::element(arg).size().max(1)
}

/// Returns the contents of a buffer by range of bytes; zeros beyond its end.
fn byte_source(value: &ArgValue) -> impl Fn(u64, u64) -> Vec<u8> + use<> {
    let bytes = match value {
        ArgValue::Buffer(bytes) => Arc::clone(bytes),
        _ => Arc::default(),
    };
    move |from, to| {
        let length = bytes.len() as u64;
        let mut found = bytes[from.min(length) as usize..to.min(length) as usize].to_vec();
        found.resize(to.saturating_sub(from) as usize, 0);
        found
    }
}

fn sides(value: &ArgValue) -> [u64; 3] {
    match value {
        ArgValue::Image { shape, .. } => formats::region(shape),
        _ => [0; 3],
    }
}
