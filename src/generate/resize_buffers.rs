//! A launch that another was turned into by values alone: its buffers get the sizes that the new values ask for.

use std::sync::Arc;

use super::dry_run::{self, Given, Setup};
use crate::exec::formats;
use crate::kernel::interface::{Arg, ArgKind, Interface};
use crate::program::Program;
use crate::suite::launch::{ArgValue, Launch};

/// Instructions of the dry run.
const BUDGET: u64 = 500_000;
/// No buffer grows beyond that many bytes.
const LARGEST: u64 = 1 << 24;
/// Nor memory of a work-group beyond the least that a device has (OpenCL 1.2, table 4.3: `CL_DEVICE_LOCAL_MEM_SIZE`).
const LARGEST_LOCAL: u64 = 1 << 15;

/// Lengthens buffers by zeros, and local memory, to where a dry run accesses them; the positions that changed. What is too long for
/// that stays as it is.
fn refit(program: &Program, interface: &Interface, launch: &mut Launch, end: std::time::Instant) -> Vec<usize> {
    let images: Vec<[u64; 3]> = launch.args.iter().map(sides).collect();
    let contents: Vec<_> = launch.args.iter().map(held).collect();
    let given: Vec<Given<'_>> = interface
        .args
        .iter()
        .zip(&launch.args)
        .enumerate()
        .map(|(p, (arg, value))| match (&arg.kind, value) {
            (ArgKind::Value(_), ArgValue::Value(bytes)) => Given::Value(bytes),
            (ArgKind::Buffer { .. }, _) => Given::Buffer(&contents[p]),
            (ArgKind::Local { .. }, _) => Given::Local,
            (ArgKind::Image(_), _) => Given::Image(images[p]),
            _ => Given::Other,
        })
        .collect();
    let report =
        dry_run::run(program, &Setup { range: launch.range.decided(), args: &given, budget: BUDGET, end: Some(end) });
    drop(given);
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

/// The launch refitted, and what is assumed of it then, a sentence each; `None` if nothing was too short.
pub fn refitted(
    program: &Program,
    interface: &Interface,
    launch: &Launch,
    end: std::time::Instant,
) -> Option<(Launch, Vec<String>)> {
    let mut launch = launch.clone();
    let changed = refit(program, interface, &mut launch, end);
    let said = |position: &usize| {
        let arg = &interface.args[*position];
        let bytes = match &launch.args[*position] {
            ArgValue::Buffer(bytes) => bytes.len() as u64,
            ArgValue::Local(bytes) => *bytes,
            _ => return None,
        };
        Some(format!("{} has {} elements, as many as its accesses reach", arg.said(), bytes / element(arg)))
    };
    let notes = changed.iter().filter_map(said).collect();
    (!changed.is_empty()).then_some((launch, notes))
}

/// Bytes of an element, 1 where the kernel does not tell.
fn element(arg: &Arg) -> u64 {
    super::launch_builder::LaunchBuilder::element(arg).size().max(1)
}

/// What a buffer holds from one byte to another; zeros beyond its end.
fn held(value: &ArgValue) -> impl Fn(u64, u64) -> Vec<u8> + use<> {
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
