//! Test amplification by information flow (LEUNG sections 3 and 4): a run without findings stands for all values of the
//! inputs that flow neither to an address, nor to a branch that guards accesses, nor to a barrier.
//!
//! The contents of buffers and images are data, values are configuration. LEUNG separates them by hand; here each input
//! is tried alone, which yields the minimal set of property-integrity inputs (LEUNG 5.2). Kernels with atomics are not
//! amplified (LEUNG 4.2).

use std::collections::BTreeSet;
use std::time::Instant;

use kassay_base::error::{Error, Result};
use kassay_ir::kernel::builtins;
use kassay_ir::llvm::DebugLocation;
use kassay_model::interface::{ArgKind, Interface};
use kassay_prove::program::{Op, Program, Region};
use kassay_prove::program::{promoted, reader};

use super::information_flow::{Flow, Input, Propagation, Sink};
use crate::coverage::build::KernelUnderTest;

/// Largest number of reasons reported for one input.
const REASONS: usize = 4;

/// Selects the branches that count as sinks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Branches {
    /// Those that decide whether an access to memory or a barrier is executed.
    #[default]
    Guarding,
    /// All branches, as in LEUNG 4.1: simpler, and a superset.
    All,
}

/// The inputs for all values of which a run without races stands.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Amplification {
    /// No contents of a buffer or image flow to an address, to a branch that guards accesses, or to a barrier.
    pub access_invariant: bool,
    /// Inputs that flow to none of these (`n`: a value; `x[]`: the contents of a buffer or image).
    pub holds_for_all_values_of: Vec<String>,
    /// Inputs that flow to one of these.
    pub property_integrity_inputs: Vec<String>,
    /// The sinks that each of those inputs flows to, with their places.
    pub why_not: Vec<String>,
}

/// Tries each input of the kernel alone.
///
/// # Errors
/// `Internal` if a pass fails.
pub fn amplify(under_test: &KernelUnderTest<'_>) -> Result<Amplification> {
    amplify_by(under_test, Branches::Guarding)
}

/// Same as [`amplify`], until `deadline`.
///
/// # Errors
/// As [`amplify`]; [`Error::late`] at the deadline.
pub fn amplify_until(under_test: &KernelUnderTest<'_>, deadline: Option<Instant>) -> Result<Amplification> {
    amplified(under_test, Branches::Guarding, deadline)
}

/// Same as [`amplify`], with a choice of branches.
///
/// # Errors
/// As [`amplify`].
pub fn amplify_by(under_test: &KernelUnderTest<'_>, branches: Branches) -> Result<Amplification> {
    amplified(under_test, branches, None)
}

fn amplified(under_test: &KernelUnderTest<'_>, branches: Branches, deadline: Option<Instant>) -> Result<Amplification> {
    let mut module = promoted::promote_until(&under_test.module, &under_test.entry, &under_test.machine, deadline)?;
    // In LCSSA form, a value that is used after its loop goes through a `phi` there, which depends on when the loop
    // is left.
    promoted::run(&mut module, "function(lcssa)", &under_test.machine)?;
    let program = reader::read(&module, &under_test.entry)?;
    judge(&program, &under_test.interface, branches, deadline)
}

/// Returns the kernel's inputs with their labels; the flag is `true` for contents.
fn inputs(interface: &Interface) -> Vec<(Input, String, bool)> {
    let of = |arg: &kassay_model::interface::Arg| match &arg.kind {
        ArgKind::Value(_) | ArgKind::Sampler => Some((Input::Value(arg.position), arg.display_name(), false)),
        ArgKind::Buffer { .. } | ArgKind::Image(_) => {
            Some((Input::Contents(arg.position), format!("{}[]", arg.display_name()), true))
        }
        ArgKind::Local { .. } | ArgKind::Unsupported(_) => None,
    };
    interface.args.iter().filter_map(of).collect()
}

fn judge(
    program: &Program,
    interface: &Interface,
    branches: Branches,
    deadline: Option<Instant>,
) -> Result<Amplification> {
    let mut found = Amplification { access_invariant: true, ..Amplification::default() };
    let propagation = Propagation::new(program);
    for (input, label, is_data) in inputs(interface) {
        if deadline.is_some_and(|deadline| Instant::now() >= deadline) {
            return Err(Error::late("the flow of inputs"));
        }
        let sinks = Flow::of(&propagation, input).sinks(branches == Branches::All);
        if sinks.is_empty() {
            found.holds_for_all_values_of.push(label);
            continue;
        }
        found.access_invariant &= !is_data;
        let reasons: BTreeSet<String> = sinks.iter().map(|s| reason(&label, s, program, interface)).collect();
        found.why_not.extend(reasons.into_iter().take(REASONS));
        found.property_integrity_inputs.push(label);
    }
    let atomics = atomics(program);
    if !atomics.is_empty() {
        found.access_invariant = false;
        found.holds_for_all_values_of.clear();
        let at = atomics.iter().take(REASONS).map(String::as_str).collect::<Vec<_>>().join(", ");
        found.why_not.push(format!("{at}: kernels with atomics are not amplified"));
    }
    Ok(found)
}

/// Returns the kernel's atomic operations, each with its place.
fn atomics(program: &Program) -> BTreeSet<String> {
    let name = |op: &Op| match op {
        Op::Call(_, base) => builtins::operation(base).is_some().then(|| base.clone()),
        Op::AtomicRmw(_) | Op::CompareExchange => Some("an atomic".to_owned()),
        _ => None,
    };
    program.instructions().filter_map(|(_, i)| Some(format!("{}{}", name(&i.op)?, at(i.location.as_ref())))).collect()
}

fn at(location: Option<&DebugLocation>) -> String {
    location.map_or_else(String::new, |l| format!(" at {}:{}:{}", l.file, l.line, l.column))
}

/// Names the accessed memory, for messages.
fn target(regions: &[Region], program: &Program, interface: &Interface) -> String {
    let name = |region: &Region| match region {
        Region::Argument(position) => {
            interface.args.get(*position as usize).map_or_else(|| position.to_string(), |a| a.display_name())
        }
        Region::Variable(index) => {
            let name = &program.variables[*index].name;
            name.rsplit('.').next().unwrap_or(name).to_owned()
        }
        Region::Private(_) => "a private variable".to_owned(),
        Region::Unknown => "memory".to_owned(),
    };
    let names: Vec<String> = regions.iter().map(name).collect();
    if names.is_empty() { "memory".to_owned() } else { names.join(" or ") }
}

fn reason(label: &str, sink: &Sink, program: &Program, interface: &Interface) -> String {
    match sink {
        Sink::Address { of, location } => {
            format!("{label} flows into the address of {}{}", target(of, program, interface), at(location.as_ref()))
        }
        Sink::Branch { location, guards: Some((of, access)) } => format!(
            "{label} flows into the branch{} that guards the access to {}{}",
            at(location.as_ref()),
            target(of, program, interface),
            at(access.as_ref())
        ),
        Sink::Branch { location, guards: None } => format!("{label} flows into the branch{}", at(location.as_ref())),
        Sink::Barrier { location, barrier } => format!(
            "{label} flows into the branch{} that decides who reaches the barrier{}",
            at(location.as_ref()),
            at(barrier.as_ref())
        ),
    }
}
