//! Decides whether a mark's conditions contradict each other, finds those that do, and explains the contradiction.

use std::collections::BTreeSet;
use std::time::Instant;

use kassay_ir::cfg::indices::BlockIndex;
use kassay_ir::instrument::marks::MARK;
use kassay_ir::kernel::source::Sources;
use kassay_ir::llvm::{DebugLocation, Opcode};

use super::background::Background;
use super::encode::{EdgeLabel, Encoded, Guard, Occurrence};
use super::float_abstraction::FloatAbstraction;
use super::invariants::Invariant;
use crate::program::{End, Op, Program};
use crate::solve::concrete::Valuation;
use crate::solve::expression::{Node, Term, Terms};
use crate::solve::query::{Answer, Limits, Model, contradiction, solve};

/// Outcome of the proof for a mark.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ProofOutcome {
    /// No execution reaches it, whatever the arguments, the buffer contents and the other work-items.
    Infeasible {
        /// Which conditions contradict each other: a sentence without its full stop.
        reason: String,
        /// Facts besides OpenCL itself that the proof depends on: sentences.
        preconditions: Vec<String>,
    },
    /// Nothing was proved.
    Unknown {
        /// Why, as a sentence without its full stop.
        reason: String,
        /// The limit that ended the search, if one did.
        bound: Option<String>,
    },
}

/// Number of recent models that are tried before the solver is called.
const MAX_MODELS: usize = 32;

/// Largest number of copies of a mark in unrolled loops for which a proof is attempted.
const MAX_OCCURRENCES: usize = 300;

/// Abstracts floats from all terms that marks depend on.
pub fn abstract_marks(encoded: &mut Encoded<'_>, abstraction: &mut FloatAbstraction) {
    let of = |o: &Occurrence| o.guards.iter().map(|g| g.holds).chain([o.reach, o.holds]).collect::<Vec<Term>>();
    let needed: Vec<Term> = encoded.marks.values().flatten().flat_map(of).collect();
    for term in needed {
        abstraction.abstracted(&mut encoded.terms, term);
    }
}

/// The origin of a condition for reaching a mark.
enum Literal<'a> {
    Path,
    Invariant(&'a Invariant),
    Background(&'a Background),
    Guard(&'a Guard),
    Holds,
}

/// Solves the conditions of marks. Keeps the models that the solver found: often they also reach other marks, and the
/// solver need not be called.
pub struct MarkSolver<'t> {
    terms: &'t Terms,
    abstraction: &'t FloatAbstraction,
    trials: Vec<Valuation<'t>>,
}

impl<'t> MarkSolver<'t> {
    /// Creates a solver that knows no models yet.
    pub fn new(terms: &'t Terms, abstraction: &'t FloatAbstraction) -> MarkSolver<'t> {
        MarkSolver { terms, abstraction, trials: Vec::new() }
    }

    /// Returns the literals if they contradict each other: first without floats, then with the floats of the mark's own
    /// branches. `Err` is the solver's other answer.
    fn contradicting<'a>(
        &mut self,
        literals: Vec<(Term, Literal<'a>)>,
        limits: &Limits,
    ) -> Result<Vec<(Term, Literal<'a>)>, Answer> {
        let abstraction: Vec<Term> = literals.iter().map(|(t, _)| self.abstraction.get(*t)).collect();
        let is_exact = literals.iter().zip(&abstraction).all(|((t, _), r)| t == r);
        let first = self.solved(&abstraction, limits);
        if first == Answer::Unsat {
            return Ok(literals.into_iter().zip(abstraction).map(|((_, l), r)| (r, l)).collect());
        }
        if is_exact {
            return Err(first);
        }
        let exact: Vec<(Term, Literal<'a>)> = literals
            .into_iter()
            .zip(abstraction)
            .map(|((t, l), r)| if matches!(l, Literal::Guard(_) | Literal::Holds) { (t, l) } else { (r, l) })
            .collect();
        let terms: Vec<Term> = exact.iter().map(|(t, _)| *t).collect();
        match self.solved(&terms, limits) {
            Answer::Unsat => Ok(exact),
            other => Err(other),
        }
    }

    fn solved(&mut self, conditions: &[Term], limits: &Limits) -> Answer {
        if limits.end.is_some_and(|end| Instant::now() >= end) {
            return Answer::Unknown("no time was left".to_owned());
        }
        if self.is_satisfied_by_known_model(conditions) {
            return Answer::Sat(Model::default());
        }
        let answer = solve(self.terms, conditions, limits);
        if let Answer::Sat(model) = &answer {
            if self.trials.len() >= MAX_MODELS {
                self.trials.remove(0);
            }
            self.trials.push(Valuation::of(self.terms, model.clone()));
        }
        answer
    }

    fn is_satisfied_by_known_model(&mut self, conditions: &[Term]) -> bool {
        self.trials.iter_mut().rev().any(|trial| conditions.iter().all(|c| trial.value(*c) == 1))
    }
}

/// Tries to prove that a mark is infeasible. `Err` is the solver's answer if it finds no contradiction.
pub fn prove_mark(
    encoded: &Encoded<'_>,
    mark: u32,
    background: &[Background],
    invariants: &[Invariant],
    solver: &mut MarkSolver<'_>,
    sources: &Sources,
    limits: &Limits,
) -> Result<ProofOutcome, Answer> {
    let Some(occurrences) = encoded.marks.get(&mark) else {
        return Ok(without_occurrence(encoded.program, mark));
    };
    if occurrences.len() > MAX_OCCURRENCES {
        let reason = "it stands in too many copies of loops".to_owned();
        return Ok(ProofOutcome::Unknown { reason, bound: None });
    }
    let mut preconditions = BTreeSet::new();
    let mut reason = String::new();
    for occurrence in occurrences {
        let literals = contradicting(encoded, occurrence, (background, invariants), solver, limits)?;
        // A copy in an iteration that never happens explains nothing.
        if encoded.terms.as_constant(occurrence.reach) == Some(0) && occurrences.len() > 1 {
            continue;
        }
        let core = small_core(encoded, &literals, limits);
        collect_preconditions(encoded, &core, background, &mut preconditions);
        let explanation = sentence(encoded, occurrence, &core, sources);
        // Prefer the first copy whose conditions say more than that its iteration does not exist.
        if reason.is_empty() || core.len() > 1 && !explanation.contains("no path") && reason.contains("no path") {
            reason = explanation;
        }
    }
    if !reason.contains("line ")
        && let Some(occurrence) = occurrences.first()
    {
        reason = with_line(encoded, occurrence, &reason, sources);
    }
    Ok(ProofOutcome::Infeasible { reason, preconditions: preconditions.into_iter().collect() })
}

/// Returns literals that contradict each other. Tries the facts of the launch that are easy for a solver first, then
/// adds one hard fact at a time, then all.
fn contradicting<'a>(
    encoded: &Encoded<'_>,
    occurrence: &'a Occurrence,
    (background, invariants): (&'a [Background], &'a [Invariant]),
    solver: &mut MarkSolver<'_>,
    limits: &Limits,
) -> Result<Vec<(Term, Literal<'a>)>, Answer> {
    let literals = |is_wanted: &dyn Fn(&Background) -> bool| {
        let mut literals: Vec<(Term, Literal<'a>)> = vec![(occurrence.reach, Literal::Path)];
        // Literals that are to be dropped from the core if possible come first.
        let before = invariants.iter().filter(|i| i.number < occurrence.loops);
        literals.extend(before.map(|i| (i.holds, Literal::Invariant(i))));
        let facts = background.iter().filter(|b| is_wanted(b));
        literals.extend(facts.map(|b| (b.holds, Literal::Background(b))));
        literals.extend(occurrence.guards.iter().map(|g| (g.holds, Literal::Guard(g))));
        literals.push((occurrence.holds, Literal::Holds));
        literals
    };
    let own: Vec<Term> =
        occurrence.guards.iter().map(|g| g.holds).chain([occurrence.reach, occurrence.holds]).collect();
    let own = encoded.terms.parts(&own);
    // Products that the conditions contain anyway add no difficulty.
    let is_light = |b: &Background| b.products.iter().all(|t| own.contains(t));
    let heavy: Vec<Term> = background.iter().filter(|b| !is_light(b)).map(|b| b.holds).collect();
    if !heavy.is_empty() {
        let some = Limits { rlimit: limits.rlimit / 8, ..*limits };
        for more in [None].into_iter().chain(heavy.iter().map(Some)) {
            let chosen = literals(&|b| is_light(b) || more == Some(&b.holds));
            if let Ok(all) = solver.contradicting(chosen, &some) {
                return Ok(all);
            }
        }
    }
    solver.contradicting(literals(&|_| true), limits)
}

/// Gives a line to a reason that names none because constants decide the conditions: returns the condition that is
/// constant, or the reason with the nearest line.
fn with_line(encoded: &Encoded<'_>, occurrence: &Occurrence, reason: &str, sources: &Sources) -> String {
    let program = encoded.program;
    let decided = occurrence.guards.iter().rev().find(|g| encoded.terms.as_constant(g.holds) == Some(0));
    if let Some(guard) = decided.filter(|g| decided_at(program, g.block).is_some()) {
        return format!("{} never holds", condition(program, guard, sources));
    }
    let around = std::iter::successors(Some(occurrence.block), |b| program.immediate_dominator(*b));
    let line = around.filter_map(|b| line_of(program, b).or_else(|| decided_at(program, b).map(|l| l.line))).next();
    let reason = if reason.is_empty() { "no path leads there" } else { reason };
    match line {
        Some(line) => format!("{reason} (line {line})"),
        None => reason.to_owned(),
    }
}

/// Returns literals that suffice for the contradiction: only the branches common to all paths if these suffice, then
/// also facts of the launch, then loop invariants, and the condition of all paths only as a last resort.
fn small_core<'l, 'a>(
    encoded: &Encoded<'_>,
    literals: &'l [(Term, Literal<'a>)],
    limits: &Limits,
) -> Vec<&'l (Term, Literal<'a>)> {
    let rank = |literal: &Literal<'_>| match literal {
        Literal::Guard(_) | Literal::Holds => 0,
        Literal::Background(_) => 1,
        Literal::Invariant(_) => 2,
        Literal::Path => 3,
    };
    for most in 0..=3 {
        let some: Vec<&(Term, Literal<'a>)> = literals.iter().filter(|(_, l)| rank(l) <= most).collect();
        let terms: Vec<Term> = some.iter().map(|(t, _)| *t).collect();
        if let Some(core) = contradiction(&encoded.terms, &terms, limits) {
            return core.into_iter().map(|i| some[i]).collect();
        }
    }
    literals.iter().collect()
}

fn without_occurrence(program: &Program, mark: u32) -> ProofOutcome {
    let goal = |o: &u32| program.constant(*o) == Some(i64::from(mark));
    let stands = program
        .instructions()
        .any(|(_, i)| matches!(&i.op, Op::Call(name, _) if name == MARK) && i.operands.first().is_some_and(goal));
    if stands {
        return ProofOutcome::Infeasible {
            reason: "no path of the kernel leads there".to_owned(),
            preconditions: Vec::new(),
        };
    }
    ProofOutcome::Unknown { reason: "it is not in the kernel once its functions are inlined".to_owned(), bound: None }
}

/// Collects the preconditions of a contradiction.
fn collect_preconditions(
    encoded: &Encoded<'_>,
    core: &[&(Term, Literal<'_>)],
    background: &[Background],
    preconditions: &mut BTreeSet<String>,
) {
    let mut of: Vec<Term> = core.iter().map(|(term, _)| *term).collect();
    for (_, literal) in core {
        match literal {
            Literal::Background(b) if b.is_assumed => {
                preconditions.insert(b.text.clone());
            }
            // Invariants were checked under all assumptions. A limit on launches only matters if the invariant is
            // related to the ids and sizes that it bounds.
            Literal::Invariant(invariant) => {
                let about = related(encoded, invariant, background);
                let matters = |b: &&Background| {
                    b.is_assumed && (!b.is_of_launch || !about.is_disjoint(&symbols(encoded, [&b.holds])))
                };
                preconditions.extend(background.iter().filter(matters).map(|b| b.text.clone()));
                of.extend(&invariant.edge_conditions);
            }
            _ => {}
        }
    }
    let mut loads = 0;
    let mut buffers = BTreeSet::new();
    for term in encoded.terms.parts(&of) {
        if let Node::Unknown(name, _) = encoded.terms.node(term) {
            loads += encoded.loads.get(&term).copied().unwrap_or(0);
            if let Some(position) = name.strip_prefix("memory of arg").and_then(|n| n.split(' ').next()) {
                buffers.insert(position.to_owned());
            }
        }
    }
    if loads > 1 {
        for position in buffers {
            preconditions.insert(format!("nothing writes the buffer of argument {position} during the launch"));
        }
    }
}

/// Returns the symbols in an invariant, and those that facts of the launch relate to them.
fn related(encoded: &Encoded<'_>, invariant: &Invariant, background: &[Background]) -> BTreeSet<Term> {
    let mut about =
        symbols(encoded, invariant.edge_conditions.iter().chain(&invariant.initial_values).chain([&invariant.holds]));
    let mut facts: Vec<BTreeSet<Term>> =
        background.iter().filter(|b| b.is_of_launch).map(|b| symbols(encoded, [&b.holds])).collect();
    loop {
        let before = facts.len();
        facts.retain(|fact| {
            let is_apart = fact.is_disjoint(&about);
            if !is_apart {
                about.extend(fact);
            }
            is_apart
        });
        if facts.len() == before {
            return about;
        }
    }
}

fn symbols<'t>(encoded: &Encoded<'_>, of: impl IntoIterator<Item = &'t Term>) -> BTreeSet<Term> {
    let of: Vec<Term> = of.into_iter().copied().collect();
    let is_symbol = |t: &Term| matches!(encoded.terms.node(*t), Node::Symbol(_));
    encoded.terms.parts(&of).into_iter().filter(is_symbol).collect()
}

/// Returns the first known source line of a block.
fn line_of(program: &Program, block: BlockIndex) -> Option<u32> {
    let code = &program.blocks[block];
    let own = code.instructions.iter().filter_map(|i| i.location.as_ref()).find(|l| l.line > 0);
    own.or(code.end_location.as_ref()).map(|l| l.line).filter(|l| *l > 0)
}

fn sentence(
    encoded: &Encoded<'_>,
    occurrence: &Occurrence,
    core: &[&(Term, Literal<'_>)],
    sources: &Sources,
) -> String {
    let program = encoded.program;
    let mut texts: Vec<String> = Vec::new();
    // The innermost condition comes first, as it is the first that a reader looks at.
    for (_, literal) in core.iter().rev() {
        let text = match literal {
            Literal::Holds => marked_condition(program, occurrence, sources),
            Literal::Guard(guard) => condition(program, guard, sources),
            Literal::Background(b) => format!("that {}", b.text.trim_end_matches('.')),
            Literal::Invariant(invariant) => match line_of_header(program, encoded.loops[invariant.number].header) {
                Some(line) => format!("what holds in every iteration of the loop at line {line}"),
                None => "what holds in every iteration of a loop".to_owned(),
            },
            Literal::Path => match line_of(program, occurrence.block) {
                Some(line) => format!("the conditions of every path to line {line}"),
                None => "the conditions of every path there".to_owned(),
            },
        };
        if !texts.contains(&text) {
            texts.push(text);
        }
    }
    match &texts[..] {
        [] => "no path leads there".to_owned(),
        [only] if matches!(core, [(_, Literal::Path)]) => format!("no path leads there: {only} contradict each other"),
        [only] => format!("{only} never holds"),
        [first, others @ ..] => format!("{first} contradicts {}", listed(others)),
    }
}

fn listed(texts: &[String]) -> String {
    match texts {
        [] => String::new(),
        [only] => only.clone(),
        [all @ .., last] => format!("{} and {last}", all.join(", ")),
    }
}

fn line_of_header(program: &Program, header: BlockIndex) -> Option<u32> {
    let at = decided_at(program, header).map(|l| l.line).filter(|l| *l > 0);
    at.or_else(|| line_of(program, header))
}

fn with_location(text: &str, location: Option<&DebugLocation>) -> String {
    match location.filter(|l| l.line > 0) {
        Some(l) => format!("{text} (line {})", l.line),
        None => text.to_owned(),
    }
}

/// Returns the location of a branch's condition, which is that of its operator.
fn decided_at(program: &Program, block: BlockIndex) -> Option<&DebugLocation> {
    let value = match &program.blocks[block].end {
        End::Branch { condition, .. } => Some(*condition),
        End::Switch { value, .. } => Some(*value),
        _ => None,
    };
    let own = value.and_then(|v| program.instruction(v)).and_then(|i| i.location.as_ref()).filter(|l| l.line > 0);
    own.or(program.cfg.blocks[block].condition_location.as_ref())
}

fn condition(program: &Program, guard: &Guard, sources: &Sources) -> String {
    let location = decided_at(program, guard.block);
    let clause = location.and_then(|l| clause_at(sources, l));
    let quoted = clause.map(|c| format!("`{c}`"));
    let text = match (&guard.label, quoted) {
        (EdgeLabel::Condition(true), Some(c)) => c,
        (EdgeLabel::Condition(false), Some(c)) => format!("not {c}"),
        (EdgeLabel::Condition(true), None) => "a condition".to_owned(),
        (EdgeLabel::Condition(false), None) => "a condition that fails".to_owned(),
        (EdgeLabel::Case(cases), c) => {
            let of = c.unwrap_or_else(|| "the switch".to_owned());
            let width = switch_width(program, guard.block);
            let cases: Vec<String> = cases.iter().map(|c| crate::program::signed(*c, width).to_string()).collect();
            format!("{of} being {}", cases.join(" or "))
        }
        (EdgeLabel::Default, c) => format!("{} being none of the cases", c.unwrap_or_else(|| "the switch".to_owned())),
    };
    with_location(&text, location)
}

fn switch_width(program: &Program, block: BlockIndex) -> u32 {
    match &program.blocks[block].end {
        End::Switch { value, .. } => crate::program::arithmetic::width(program.shape(*value).kind),
        _ => 64,
    }
}

/// Describes the marked value.
fn marked_condition(program: &Program, occurrence: &Occurrence, sources: &Sources) -> String {
    let mut value = occurrence.value;
    let mut is_negated = false;
    // `x ^ true` negates a condition.
    while let Some(instruction) = program.instruction(value) {
        match (&instruction.op, &instruction.operands[..]) {
            (Op::Binary(Opcode::LLVMXor), [inner, one]) if program.constant(*one) == Some(-1) => {
                is_negated = !is_negated;
                value = *inner;
            }
            _ => break,
        }
    }
    let own = match &program.blocks[occurrence.block].end {
        End::Branch { condition, .. } if *condition == value => decided_at(program, occurrence.block),
        _ => None,
    };
    let location = own.or_else(|| program.instruction(value).and_then(|i| i.location.as_ref()));
    let text = location.and_then(|l| clause_at(sources, l)).map(|c| format!("`{c}`"));
    match (text, is_negated) {
        (Some(text), false) => with_location(&text, location),
        (Some(text), true) => with_location(&format!("not {text}"), location),
        (None, false) => with_location("a condition", location),
        (None, true) => with_location("a condition that fails", location),
    }
}

/// Returns the expression around a source location; debug information points to its operator.
fn clause_at(sources: &Sources, at: &DebugLocation) -> Option<String> {
    let lines = sources.lines(&at.file)?;
    let line = lines.get((at.line as usize).checked_sub(1)?)?;
    let place = (at.column as usize).saturating_sub(1);
    clause(line.get(clause_start(line.get(..place)?)..)?)
}

/// Returns where the expression begins that `text` ends in the middle of.
fn clause_start(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut depth = 0usize;
    let mut at = bytes.len();
    while at > 0 {
        let before = bytes[at - 1];
        match before {
            b')' | b']' => depth += 1,
            b'(' | b'[' if depth == 0 => break,
            b'(' | b'[' => depth -= 1,
            b';' | b'{' | b'}' | b',' | b'?' | b':' if depth == 0 => break,
            b'&' | b'|' if depth == 0 && at > 1 && bytes[at - 2] == before => break,
            // Stop at an assignment, but not at a comparison.
            b'=' if depth == 0 && at > 1 && !b"=!<>".contains(&bytes[at - 2]) && bytes.get(at) != Some(&b'=') => break,
            _ => {}
        }
        at -= 1;
    }
    let rest = text[at..].trim_start();
    let rest = rest.strip_prefix("return ").unwrap_or(rest);
    text.len() - rest.len()
}

/// Returns the expression that `text` begins with.
fn clause(text: &str) -> Option<String> {
    let mut depth = 0usize;
    let mut end = text.len();
    let bytes = text.as_bytes();
    for (i, c) in text.char_indices() {
        match c {
            '(' | '[' => depth += 1,
            ')' | ']' if depth == 0 => {
                end = i;
                break;
            }
            ')' | ']' => depth -= 1,
            ';' | '{' | '?' | ',' | ':' if depth == 0 => {
                end = i;
                break;
            }
            '&' | '|' if depth == 0 && bytes.get(i + 1) == Some(&bytes[i]) => {
                end = i;
                break;
            }
            '/' if bytes.get(i + 1).is_some_and(|next| matches!(next, b'/' | b'*')) => {
                end = i;
                break;
            }
            _ => {}
        }
    }
    let clause = text[..end].trim();
    (!clause.is_empty() && clause.len() <= 80 && depth == 0).then(|| clause.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clause_ends_where_the_condition_does() {
        assert_eq!(clause("x < 5) y = 1;").as_deref(), Some("x < 5"));
        assert_eq!(clause("f(x, 1) == a[i] && z)").as_deref(), Some("f(x, 1) == a[i]"));
        assert_eq!(clause("x & 3 ? 1 : 2;").as_deref(), Some("x & 3"));
        assert_eq!(clause("i < n; i++) {").as_deref(), Some("i < n"));
        assert_eq!(clause("f(x,"), None);
        assert_eq!(clause(") x"), None);
    }

    #[test]
    fn a_clause_starts_after_the_enclosing_token() {
        let of = |text: &str| text[clause_start(text)..].to_owned();
        assert_eq!(of("    if (n % 4 "), "n % 4 ");
        assert_eq!(of("for (int i = 0; i "), "i ");
        assert_eq!(of("x = a[i] "), "a[i] ");
        assert_eq!(of("if (f(a, b) && g(c) "), "g(c) ");
        assert_eq!(of("  return n "), "n ");
        assert_eq!(of("if (a == b "), "a == b ");
    }
}
