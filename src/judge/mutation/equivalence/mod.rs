//! Finds equivalent and duplicate mutants.
//!
//! Each mutant's module (for large kernels: the changed function, see `parts`) is brought into a normal form
//! (`normal`): mutants with the normal form of the original, or of an earlier mutant, behave alike
//! ([`classify_by_normal_form`], before anything runs). Mutants that only replace values and have a normal form of
//! their own are submitted to the solver ([`prove`]), unless a test detects them: such a mutant is not equivalent. A
//! claim holds for launches in bounds that read nothing uninitialised, with wrapping integer arithmetic
//! (`src/judge/README.md`).

pub mod across_levels;
pub mod assumptions;
mod canonical_order;
mod data;
mod exact_builtins;
mod global_ids;
mod launch_facts;
mod launch_mutants;
pub mod normal;
pub mod opaque_calls;
mod parts;
pub mod race_freedom;
mod specialise;

use std::collections::HashMap;
use std::rc::Rc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Instant;

use inkwell::module::Module;
use kassay_base::error::{Error, Result};
use kassay_ir::cfg::sites::Sites;
use kassay_ir::instrument::mutants::{Edit, single};
use kassay_ir::llvm::{Context, View};
use kassay_prove::solve::{lockstep, proof};

pub use launch_facts::LaunchFacts;
use normal::{Classes, NormalForm};
use opaque_calls::OpaqueCalls;
use parts::{CanonicalForm, Part};
pub use parts::{Kernel, instructions_to_normalise};

/// What is known about a mutant without running it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing was proved: it has to be run.
    Distinct,
    /// No test can tell it from the original, within the bounds stated at the head of this module.
    Equivalent {
        /// Why, as a sentence without its full stop.
        reason: String,
    },
    /// It behaves like the mutant at this position of the list.
    DuplicateOf(usize),
}

/// The reason that results give for mutants with the normal form of the original.
const SAME_NORMAL_FORM: &str = "the same optimised IR, for launches in bounds";

/// The reason that results give for mutants that the solver proved equivalent.
pub const PROVED: &str = "proved by Z3: wherever the changed value is used, nothing can differ";

/// The reason that results give for mutants with the refined normal form of the original.
pub const SAME_REFINED_FORM: &str = "the same optimised IR, with what branches say of values, for launches in bounds";

/// The reason that results give for mutants that equal the original in the launches of the tests.
pub const SAME_FOR_LAUNCHES: &str =
    "the same optimised IR in launches of these sizes with these arguments by value, whatever is in buffers and images";

/// What a thread found out about a mutant.
#[derive(Debug, Clone)]
enum Finding {
    /// It has the normal form of the original.
    Original,
    /// The class of its normal form, if it has one.
    Class(Option<usize>),
    /// The solver proved it equivalent, with the reason that results give.
    Proved(String),
}

/// Classifies each edit of the canonical form `bitcode` of `entry` by normal forms and by proofs, on `jobs`
/// threads. Launch and privatising edits are always distinct, and so is anything unfinished at `end`.
///
/// # Errors
/// `Caller` if the bitcode does not parse; `Internal` if an edit cannot be applied or a pass leaves a module that does
/// not verify.
pub fn classify(
    bitcode: &[u8],
    sites: &Sites,
    entry: &str,
    mutants: &[&Edit],
    jobs: usize,
    end: Option<Instant>,
) -> Result<Vec<Verdict>> {
    Ok(verdicts(find(Kernel { bitcode, sites, entry }, mutants, true, jobs, end)?))
}

/// Like [`classify`], by normal forms alone.
///
/// # Errors
/// As for [`classify`].
pub fn classify_by_normal_form(
    kernel: Kernel<'_>,
    mutants: &[&Edit],
    jobs: usize,
    end: Option<Instant>,
) -> Result<Vec<Verdict>> {
    Ok(verdicts(find(kernel, mutants, false, jobs, end)?))
}

/// Returns for each of the edits the reason why it changes nothing: the solver proves it ([`PROVED`]), or it leaves the
/// refined normal form as it is ([`SAME_REFINED_FORM`]). `Some(None)`: no proof was found; `None`: none was sought
/// before `end`.
///
/// # Errors
/// As for [`classify`].
pub fn prove(
    kernel: Kernel<'_>,
    mutants: &[&Edit],
    jobs: usize,
    end: Option<Instant>,
) -> Result<Vec<Option<Option<String>>>> {
    let findings = find(kernel, mutants, true, jobs, end)?;
    let reason = |finding| if let Finding::Proved(reason) = finding { Some(reason) } else { None };
    Ok(findings.into_iter().map(|f| f.map(reason)).collect())
}

/// Returns whether each of the edits is proved to change nothing in launches to which some of `launches` applies,
/// whatever buffers and images contain. `None`: no proof was sought before `end`. `ran`: all of these launches were
/// run, and showed no difference.
///
/// # Errors
/// As for [`classify`].
pub fn prove_for_launches(
    kernel: Kernel<'_>,
    launches: &[LaunchFacts],
    ran: bool,
    mutants: &[&Edit],
    jobs: usize,
    end: Option<Instant>,
) -> Result<Vec<Option<bool>>> {
    let classes = Classes::default();
    on_threads(kernel, mutants, jobs, end, |canonical, edit| {
        // Facts about arguments of the kernel say nothing of those of its functions.
        if canonical.is_large() || launches.is_empty() {
            return Ok(false);
        }
        if let Edit::Launch(change) = edit {
            return launches
                .iter()
                .try_fold(true, |same, facts| Ok(same && launch_mutants::is_same(canonical, *change, facts)?));
        }
        let Some((part, mutant)) = promoted(canonical, edit, &classes)? else { return Ok(false) };
        for (at, facts) in launches.iter().enumerate() {
            let options = SameIn { values: replaces_values(edit), ran: ran && facts.range().is_some() };
            if !is_same_in(&part, &mutant, (at, facts), options)? {
                return Ok(false);
            }
        }
        Ok(true)
    })
}

/// Examines each edit; `None`: it was not reached before `end`.
fn find(
    kernel: Kernel<'_>,
    mutants: &[&Edit],
    proofs: bool,
    jobs: usize,
    end: Option<Instant>,
) -> Result<Vec<Option<Finding>>> {
    let classes = Classes::default();
    on_threads(kernel, mutants, jobs, end, |canonical, edit| judge(canonical, edit, &classes, proofs))
}

/// Calls `work` for each edit, on threads with a copy of the kernel each; `None`: it was not called before `end`.
fn on_threads<T: Clone + Send>(
    kernel: Kernel<'_>,
    mutants: &[&Edit],
    jobs: usize,
    end: Option<Instant>,
    work: impl Fn(&CanonicalForm<'_, '_>, &Edit) -> Result<T> + Sync,
) -> Result<Vec<Option<T>>> {
    let next = AtomicUsize::new(0);
    let failed = AtomicBool::new(false);
    let worker = || -> Result<Vec<(usize, T)>> {
        let context = Context::create();
        let canonical = CanonicalForm::parse(&context, kernel)?;
        let mut found = Vec::new();
        while !failed.load(Ordering::Relaxed) && end.is_none_or(|end| Instant::now() < end) {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(edit) = mutants.get(at) else { break };
            let finding = work(&canonical, edit).inspect_err(|_| {
                failed.store(true, Ordering::Relaxed);
            })?;
            found.push((at, finding));
        }
        Ok(found)
    };
    let threads = jobs.clamp(1, mutants.len().max(1));
    let parts: Vec<Result<Vec<(usize, T)>>> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        let lost = || Err(Error::internal("a thread that looked for equivalent mutants ended early"));
        handles.into_iter().map(|h| h.join().unwrap_or_else(|_| lost())).collect()
    });
    let mut findings = vec![None; mutants.len()];
    for (at, finding) in parts.into_iter().collect::<Result<Vec<_>>>()?.into_iter().flatten() {
        findings[at] = Some(finding);
    }
    Ok(findings)
}

/// Turns findings into verdicts in the mutants' order, so that the result does not depend on the threads.
fn verdicts(findings: Vec<Option<Finding>>) -> Vec<Verdict> {
    let mut first: HashMap<usize, usize> = HashMap::new();
    let judge = |(at, finding): (usize, Finding)| match finding {
        Finding::Proved(reason) => Verdict::Equivalent { reason },
        Finding::Class(None) => Verdict::Distinct,
        Finding::Original => Verdict::Equivalent { reason: SAME_NORMAL_FORM.to_owned() },
        Finding::Class(Some(class)) => match *first.entry(class).or_insert(at) {
            earlier if earlier < at => Verdict::DuplicateOf(earlier),
            _ => Verdict::Distinct,
        },
    };
    findings.into_iter().map(|f| f.unwrap_or(Finding::Class(None))).enumerate().map(judge).collect()
}

/// Examines one edit.
fn judge(canonical: &CanonicalForm<'_, '_>, edit: &Edit, classes: &Classes, proofs: bool) -> Result<Finding> {
    let Some((part, mutant)) = promoted(canonical, edit, classes)? else { return Ok(Finding::Class(None)) };
    let lockstep =
        if proofs && replaces_values(edit) { lockstep::compare(&part.promoted, &mutant, None) } else { None };
    let refined = if proofs { Some(mutant.clone()) } else { None };
    let class = match classes.of(normal::of_promoted(mutant)?) {
        Some(class) if Some(class) == part.original => return Ok(Finding::Original),
        class => class,
    };
    if class.is_some() && lockstep.is_some_and(|mut comparison| proof::all_equal(&mut comparison)) {
        return Ok(Finding::Proved(PROVED.to_owned()));
    }
    if let Some(mutant) = refined.filter(|_| class.is_some())
        && is_same_form(&part, mutant)?
    {
        return Ok(Finding::Proved(SAME_REFINED_FORM.to_owned()));
    }
    Ok(Finding::Class(class))
}

/// Returns the part in which an edit is compared, and that with the edit, inlined and promoted; `None`: nothing can be
/// claimed.
fn promoted<'c>(
    canonical: &CanonicalForm<'_, 'c>,
    edit: &Edit,
    classes: &Classes,
) -> Result<Option<(Rc<Part<'c>>, Module<'c>)>> {
    if !edit.is_woven() {
        return Ok(None);
    }
    let Some(part) = canonical.part(edit, classes)? else { return Ok(None) };
    // Without a normal form of the original there is nothing to compare with.
    if part.original.is_none() {
        return Ok(None);
    }
    let mut mutant = part.module.clone();
    single::apply(&mutant, canonical.kernel.sites, edit)?;
    Ok(normal::promote(&mut mutant, &part.entry)?.then_some((part, mutant)))
}

/// What else is known of a mutant whose behaviour in a launch is compared.
#[derive(Debug, Clone, Copy)]
struct SameIn {
    /// It only replaces values.
    values: bool,
    /// The launch was run, and showed no difference.
    ran: bool,
}

/// Returns whether a promoted mutant is the same as the original in the launch at a position.
fn is_same_in<'c>(
    part: &Part<'c>,
    mutant: &Module<'c>,
    (at, facts): (usize, &LaunchFacts),
    known: SameIn,
) -> Result<bool> {
    let original = part.refined(Some((at, facts)))?;
    let mut refined = mutant.clone();
    normal::refine(&mut refined, &part.entry, Some(facts))?;
    if known.ran && original.ignores_data && data::is_ignored(View::of(&refined)) {
        return Ok(true);
    }
    if original.form != NormalForm::Indeterminate && original.form == normal::of_refined(refined)? {
        return Ok(true);
    }
    if !known.values {
        return Ok(false);
    }
    let (original, mutant) = (part.promoted.clone(), mutant.clone());
    for module in [&original, &mutant] {
        specialise::specialise(View::of(module), &part.entry, facts);
        OpaqueCalls::new(View::of(module)).restore_all();
    }
    let compared = lockstep::compare(&original, &mutant, Some(&facts.known()));
    Ok(compared.is_some_and(|mut comparison| proof::all_equal(&mut comparison)))
}

/// Returns whether a promoted mutant has the refined normal form of the original.
fn is_same_form(part: &Part<'_>, mut mutant: Module<'_>) -> Result<bool> {
    let original = part.refined(None)?;
    if original.form == NormalForm::Indeterminate {
        return Ok(false);
    }
    normal::refine(&mut mutant, &part.entry, None)?;
    Ok(original.form == normal::of_refined(mutant)?)
}

/// Returns whether the mutant has the effects of the original in the same order, perhaps with other values.
fn replaces_values(edit: &Edit) -> bool {
    match edit {
        Edit::Value { .. } => true,
        Edit::All(edits) => edits.iter().all(replaces_values),
        Edit::Instead { .. } | Edit::Redirect { .. } | Edit::Privatise { .. } | Edit::Launch(_) => false,
        Edit::Variant(_) | Edit::Uncompilable { .. } => false,
    }
}
