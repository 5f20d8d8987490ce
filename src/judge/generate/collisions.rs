//! Solves for scalars with which two work-items access the same address: `p[x]` by one and `p[0]` by another collide
//! for x = 0 alone, which no usual launch need have, and which the repair of suspicious launches avoids. Addresses and
//! the conditions that guard them are taken as polynomials, and Z3 is asked for values with which two of them overlap.
//! The result is a launch to be run: only that shows whether work-items do conflict.
//!
//! Most scalars are not candidates: a host that passes a row length that is too short, or one place under two
//! names, makes any kernel race. `Candidates::new` has the rules for which scalars and which pairs of accesses
//! are asked about.

use std::collections::BTreeSet;

use kassay_base::error::Result;
use kassay_model::interface::ArgKind;
use kassay_prove::program::Region;
use kassay_prove::solve::expression::{Operation, Sort, Term, Terms};
use kassay_prove::solve::query::{Answer, Limits, Model, Session};
use kassay_suite::scalar_layout;

use super::access_summary::{Access, AccessKind, AccessSummary};
use super::assign::{self, Number, Scalars};
use super::geometry::Geometry;
use super::launch_builder::LaunchBuilder;
use super::model::{KernelModel, Role, ScalarModel};
use super::planned_launch::{self, GeneratedLaunch, PlannedLaunch};
use super::polynomial::{Atom, Id, Poly};

/// Limits on pairs of accesses that are asked about, and on launches that result.
const MAX_PAIRS: usize = 64;
const MAX_LAUNCHES: usize = 6;

/// Accesses of a kernel that are considered.
const MAX_ACCESSES: usize = 4096;

/// Limit of scalars, in absolute value: buffers grow with them.
const MAX_SCALAR: i128 = 1 << 12;

/// Bits of a number up to [`MAX_SCALAR`], with its sign.
const SCALAR_BITS: u32 = 14;

/// Z3's resource limit for one question: some tens of milliseconds.
const RLIMIT: u32 = 400_000;

const WORD: Sort = Sort::Bits(64);

/// Position of the argument and byte offset within it, as in [`Scalars`].
type ScalarKey = (u32, u64);

/// A launch in which two work-items may conflict.
#[derive(Debug, Clone)]
pub struct Suspect {
    /// The launch, as it would be run.
    pub launch: GeneratedLaunch,
    /// The argument in whose memory they do; `None`: a local variable.
    pub argument: Option<u32>,
}

/// The launches found.
#[derive(Debug, Default)]
pub(super) struct Suspects {
    pub found: Vec<Suspect>,
    /// Whether time ran out before everything was asked.
    pub cut_short: bool,
}

/// Finds launches that differ from `bases` only in scalars, and in which accesses of two work-items overlap. Ends once
/// `is_over` returns true.
///
/// # Errors
/// As [`super::launches::launches`].
pub(super) fn suspects(
    launch_builder: &LaunchBuilder<'_>,
    bases: &[PlannedLaunch],
    is_over: impl Fn() -> bool,
) -> Result<Suspects> {
    let candidates = Candidates::new(launch_builder);
    let mut asked = BTreeSet::new();
    // Unrolled loops and inlined helpers repeat the same question.
    let mut is_new = |pair: &[&Access; 2]| asked.insert(pair.map(|a| (a.block, a.region, a.offset.clone(), a.bytes)));
    let pairs: Vec<[&Access; 2]> = candidates.pairs().filter(|pair| is_new(pair)).take(MAX_PAIRS).collect();
    if pairs.is_empty() {
        return Ok(Suspects::default());
    }
    let mut found: Vec<Suspect> = Vec::new();
    let mut terms = Terms::default();
    let mut questions: Vec<(Region, Vec<(&PlannedLaunch, Question)>)> = Vec::new();
    for pair in pairs {
        let ask = |base| Some((base, QuestionBuilder::new(&candidates, base, &mut terms).build(pair)?));
        questions.push((pair[0].region, bases.iter().filter_map(ask).collect()));
    }
    // One session for all, because a solver's first steps take longer than most answers.
    let mut session = Session::new(&terms);
    let limits = Limits { rlimit: RLIMIT, end: None };
    for (region, questions) in questions {
        if found.len() >= MAX_LAUNCHES {
            break;
        }
        for (base, question) in questions {
            if is_over() {
                return Ok(Suspects { found, cut_short: true });
            }
            let Answer::Sat(model) = session.ask(&question.conditions, &limits) else { continue };
            // If they overlap in the base, too, its run reports whatever there is: most such accesses have a barrier
            // between them.
            let in_base = [&question.conditions[..], &question.as_base[..]].concat();
            if !matches!(session.ask(&in_base, &limits), Answer::Sat(_)) {
                let values = question.values(&model);
                found.extend(suspect(launch_builder, base, &values, region, &found)?);
            }
            break;
        }
    }
    Ok(Suspects { found, cut_short: false })
}

/// Returns the launch with these values, unless it is known already.
fn suspect(
    launch_builder: &LaunchBuilder<'_>,
    base: &PlannedLaunch,
    values: &[(ScalarKey, i128)],
    region: Region,
    known: &[Suspect],
) -> Result<Option<Suspect>> {
    let model = launch_builder.model;
    let mut plan = base.plan();
    plan.scalars.extend(values.iter().map(|(key, n)| (*key, Number::Integer(*n))));
    let fitted = launch_builder.fit(&plan);
    let launch = launch_builder.launch(&plan, &fitted)?;
    if known.iter().any(|s| s.launch.launch == launch) {
        return Ok(None);
    }
    let name = |key: &ScalarKey| scalar(model, *key).map_or("a scalar", |s| s.name.as_str());
    let settings: Vec<String> = values.iter().map(|(key, n)| format!("{} = {n}", name(key))).collect();
    let name = format!("{}, {}", base.geometry.name, settings.join(", "));
    let name = planned_launch::unique(name, known.iter().map(|s| s.launch.name.as_str()));
    let mut preconditions = model.preconditions.clone();
    preconditions.extend(fitted.notes);
    let argument = match region {
        Region::Argument(position) => Some(position),
        _ => None,
    };
    let launch = GeneratedLaunch { launch, name, preconditions, guesses: fitted.guesses };
    Ok(Some(Suspect { launch, argument }))
}

fn scalar(model: &KernelModel, key: ScalarKey) -> Option<&ScalarModel> {
    model.scalars.iter().find(|s| (s.arg, s.offset) == key)
}

/// Accesses that may conflict, and the scalars that decide whether they do.
struct Candidates<'w, 'm> {
    launch_builder: &'w LaunchBuilder<'m>,
    /// Scalars that may have any value.
    free: BTreeSet<ScalarKey>,
    /// Accesses to memory that work-items share, at addresses that are known.
    accesses: Vec<CandidateAccess<'w>>,
}

/// An access, with the properties that pairs are selected by.
struct CandidateAccess<'w> {
    access: &'w Access,
    /// Whether its address is the same for all work-items.
    is_uniform: bool,
    /// Whether a free scalar influences its address or whether it executes.
    depends_on_free: bool,
    /// The free scalars in its address.
    scalars: BTreeSet<ScalarKey>,
}

impl<'w, 'm> Candidates<'w, 'm> {
    /// Finds the candidates. A scalar is free unless something shows that it is a length, a row length, a count, a
    /// divisor or a shift. Memory in which ids or loops advance addresses from a free scalar is laid out by the host,
    /// which keeps its parts apart: it is left out.
    fn new(launch_builder: &'w LaunchBuilder<'m>) -> Candidates<'w, 'm> {
        let (model, summary) = (launch_builder.model, &launch_builder.summary);
        let may_be = |s: &&ScalarModel| {
            matches!(s.role, Role::Index | Role::Flag | Role::Data)
                && !s.divides
                && s.lower_bounds.is_empty()
                && s.upper_bounds.is_empty()
                && scalar_layout::range(s.scalar).is_some()
        };
        let scalars = model.scalars.iter().filter(may_be).map(|s| (s.arg, s.offset));
        let free: BTreeSet<ScalarKey> = scalars.filter(|key| !is_length(summary, *key)).collect();
        let mut candidates = Candidates { launch_builder, free, accesses: Vec::new() };
        if candidates.free.is_empty() {
            return candidates;
        }
        let is_shared = |a: &&Access| match a.region {
            Region::Argument(position) => model.program.by_value[position as usize].is_none(),
            Region::Variable(index) => model.program.variables[index].is_local,
            Region::Private(_) | Region::Unknown => false,
        };
        let is_unknown = |atom| matches!(atom, Atom::Value(_));
        let mut laid_out = BTreeSet::new();
        for access in summary.accesses.iter().filter(is_shared).take(MAX_ACCESSES) {
            let scalars = candidates.scalars_of(&access.offset);
            let is_uniform = !access.offset.atoms().any(is_item_dependent);
            let is_known = !access.offset.atoms().any(is_unknown);
            let goes_on = !is_uniform || !is_known;
            if goes_on && !scalars.is_empty() {
                laid_out.insert(access.region);
            } else if is_known {
                let depends_on_free = !scalars.is_empty() || candidates.is_guarded(access);
                candidates.accesses.push(CandidateAccess { access, is_uniform, depends_on_free, scalars });
            }
        }
        candidates.accesses.retain(|p| !laid_out.contains(&p.access.region));
        candidates
    }

    /// Returns the free scalars of a polynomial.
    fn scalars_of(&self, poly: &Poly) -> BTreeSet<ScalarKey> {
        let key = |atom| match atom {
            Atom::Arg(arg, offset) => Some((arg, offset)).filter(|key| self.free.contains(key)),
            _ => None,
        };
        poly.atoms().filter_map(key).collect()
    }

    /// Returns whether a free scalar decides whether an access executes.
    fn is_guarded(&self, access: &Access) -> bool {
        let facts = &self.launch_builder.summary.facts.blocks[access.block];
        facts.iter().any(|f| [&f.lhs, &f.rhs].iter().any(|side| !self.scalars_of(side).is_empty()))
    }

    /// Returns pairs of accesses to the same memory that would conflict. The address of at least one is the same for
    /// all work-items: where both depend on the work-item, most scalars are steps and row lengths. Two scalars that
    /// name two places are taken to name different ones.
    fn pairs(&self) -> impl Iterator<Item = [&'w Access; 2]> + '_ {
        let uniform = self.accesses.iter().enumerate().filter(|(_, a)| a.is_uniform);
        uniform.flat_map(move |(n, a)| {
            let others = self.accesses.iter().enumerate().filter(move |(m, b)| {
                let harmless = a.access.kind == b.access.kind && a.access.kind != AccessKind::Write;
                let names_two = !a.scalars.is_empty() && !b.scalars.is_empty() && a.scalars != b.scalars;
                // A pair of two uniform accesses is listed once.
                (a.depends_on_free || b.depends_on_free)
                    && a.access.region == b.access.region
                    && (*m >= n || !b.is_uniform)
                    && !harmless
                    && !names_two
            });
            others.map(|(_, b)| [a.access, b.access])
        })
    }
}

/// Returns whether a variable differs between work-items.
fn is_item_dependent(atom: Atom) -> bool {
    matches!(atom, Atom::Id(Id::Global | Id::Local | Id::Group, _))
}

/// Returns whether a scalar is the size of something: work-items are distinguished by lying below it, or by their
/// distance from it, or an address counts downwards from it.
fn is_length(summary: &AccessSummary<'_>, (arg, offset): ScalarKey) -> bool {
    let scalar = Atom::Arg(arg, offset);
    let counts_down =
        |a: &Access| a.offset.constant_term() < 0 && a.offset.linear_in(scalar).is_some_and(|(n, _)| n > 0);
    let mut facts = summary.facts.all().filter(|(_, fact)| fact.lhs.has(scalar) || fact.rhs.has(scalar));
    let bounds = facts.any(|(_, fact)| {
        let apart = fact.rhs.sub(&fact.lhs);
        // `id == x` selects a work-item.
        let picks = fact.is_equal && apart.constant_term() == 1;
        !picks && apart.linear_in(scalar).is_some_and(|(n, rest)| n > 0 && rest.atoms().any(is_item_dependent))
    });
    bounds || summary.accesses.iter().any(counts_down)
}

/// The conditions under which two work-items collide.
struct Question {
    conditions: Vec<Term>,
    /// The additional conditions that scalars have their values of the base.
    as_base: Vec<Term>,
    /// Free scalars that occur in the conditions.
    free_scalars: BTreeSet<ScalarKey>,
}

impl Question {
    fn values(&self, model: &Model) -> Vec<(ScalarKey, i128)> {
        let unused = 64 - SCALAR_BITS;
        let signed = |bits: u64| i128::from((bits << unused).cast_signed() >> unused);
        let value = |key: &ScalarKey| Some((*key, signed(model.symbol(&symbol_name(*key))?)));
        self.free_scalars.iter().filter_map(value).collect()
    }
}

/// Builds a question, for launches of one geometry.
struct QuestionBuilder<'q, 'w, 'm> {
    candidates: &'q Candidates<'w, 'm>,
    geometry: &'q Geometry,
    /// Those of the base.
    scalars: &'q Scalars,
    terms: &'q mut Terms,
    free_scalars: BTreeSet<ScalarKey>,
}

impl<'q, 'w, 'm> QuestionBuilder<'q, 'w, 'm> {
    fn new(
        candidates: &'q Candidates<'w, 'm>,
        base: &'q PlannedLaunch,
        terms: &'q mut Terms,
    ) -> QuestionBuilder<'q, 'w, 'm> {
        let PlannedLaunch { geometry, scalars, .. } = base;
        QuestionBuilder { candidates, geometry, scalars, terms, free_scalars: BTreeSet::new() }
    }

    /// Returns the question whether these accesses, by two work-items, overlap; `None` if an address cannot
    /// be expressed.
    fn build(mut self, pair: [&Access; 2]) -> Option<Question> {
        let (mut conditions, mut as_base) = (Vec::new(), Vec::new());
        let mut offsets = Vec::new();
        for (item, access) in pair.iter().enumerate() {
            for d in 0..3 {
                for part in [IdPart::Local, IdPart::Group] {
                    let id = self.id(item, part, d);
                    let size = self.terms.constant(self.size(part, d), WORD);
                    conditions.push(self.terms.compare(Operation::Ult, id, size));
                }
            }
            for fact in &self.candidates.launch_builder.summary.facts.blocks[access.block] {
                // Conditions on unknown values are left out: the run decides.
                if let (Some(lhs), Some(rhs)) = (self.poly(&fact.lhs, item), self.poly(&fact.rhs, item)) {
                    conditions.push(self.terms.compare(Operation::Slt, lhs, rhs));
                }
            }
            offsets.push(self.poly(&access.offset, item)?);
        }
        for [low, high] in [[0, 1], [1, 0]] {
            let bytes = self.terms.constant(pair[low].bytes, WORD);
            let end = self.terms.apply(Operation::Add, vec![offsets[low], bytes], WORD);
            conditions.push(self.terms.compare(Operation::Slt, offsets[high], end));
        }
        let region = pair[0].region;
        if let Region::Variable(index) = region {
            let bytes = self.candidates.launch_builder.model.program.variables[index].bytes;
            for offset in offsets {
                let bytes = self.terms.constant(bytes, WORD);
                conditions.push(self.terms.compare(Operation::Ult, offset, bytes));
            }
        }
        conditions.push(self.are_distinct(self.is_of_group(region)));
        for key in self.free_scalars.clone() {
            let symbol = self.symbol(key);
            let [least, most] = self.range(key).map(|n| self.terms.constant(n.cast_unsigned(), WORD));
            conditions.push(self.terms.compare(Operation::Sle, least, symbol));
            conditions.push(self.terms.compare(Operation::Sle, symbol, most));
            let is_same = match self.base_value(key) {
                Some(n) => {
                    let n = self.terms.constant(n.cast_unsigned(), WORD);
                    self.terms.compare(Operation::Eq, symbol, n)
                }
                None => self.terms.truth(false),
            };
            as_base.push(is_same);
        }
        Some(Question { conditions, as_base, free_scalars: self.free_scalars })
    }

    /// Returns whether each work-group has its own instance of such memory.
    fn is_of_group(&self, region: Region) -> bool {
        let args = &self.candidates.launch_builder.model.interface.args;
        match region {
            Region::Argument(position) => matches!(args[position as usize].kind, ArgKind::Local { .. }),
            _ => true,
        }
    }

    /// Returns the upper bound of local ids or group ids, exclusive.
    fn size(&self, part: IdPart, d: usize) -> u64 {
        match part {
            IdPart::Local => self.geometry.local[d].max(1),
            IdPart::Group => self.geometry.resolved().group_counts()[d],
        }
    }

    /// Returns a component of the ids of work-item `item` (0 or 1), with no more bits than it needs, because a solver
    /// takes longer with more.
    fn id(&mut self, item: usize, part: IdPart, d: usize) -> Term {
        let most = self.size(part, d).saturating_sub(1);
        if most == 0 {
            return self.terms.constant(0, WORD);
        }
        let bits = most.ilog2() + 1;
        let id = self.terms.symbol(format!("{part:?} {d} of {item}, {bits} bits"), Sort::Bits(bits));
        self.terms.apply(Operation::ZExt, vec![id], WORD)
    }

    fn symbol(&mut self, key: ScalarKey) -> Term {
        let symbol = self.terms.symbol(symbol_name(key), Sort::Bits(SCALAR_BITS));
        self.terms.apply(Operation::SExt, vec![symbol], WORD)
    }

    /// Returns the value of a scalar in the base.
    fn base_value(&self, (arg, offset): ScalarKey) -> Option<i64> {
        i64::try_from(assign::integer(self.scalars, arg, offset)?).ok()
    }

    /// Returns the least and the greatest value of a free scalar.
    fn range(&self, key: ScalarKey) -> [i64; 2] {
        let scalar = scalar(self.candidates.launch_builder.model, key);
        let (least, greatest) = scalar.and_then(|s| scalar_layout::range(s.scalar)).unwrap_or((0, MAX_SCALAR));
        let is_index = scalar.is_some_and(|s| s.role == Role::Index);
        let least = least.max(if is_index { 0 } else { -MAX_SCALAR });
        let within = |n: i128| i64::try_from(n.clamp(-MAX_SCALAR, MAX_SCALAR)).unwrap_or(0);
        [within(least), within(greatest)]
    }

    /// Returns the condition that the two work-items are distinct, and of the same group if memory belongs to
    /// the group.
    fn are_distinct(&mut self, same_group: bool) -> Term {
        let mut differ = self.terms.truth(false);
        let mut same = self.terms.truth(true);
        for d in 0..3 {
            for part in [IdPart::Local, IdPart::Group] {
                let [a, b] = [0, 1].map(|item| self.id(item, part, d));
                let equal = self.terms.compare(Operation::Eq, a, b);
                let unequal = self.terms.not(equal);
                differ = self.terms.or(differ, unequal);
                if part == IdPart::Group {
                    same = self.terms.and(same, equal);
                }
            }
        }
        if same_group { self.terms.and(differ, same) } else { differ }
    }

    /// Returns the polynomial as work-item `item` computes it; `None` if it contains unknown values.
    fn poly(&mut self, poly: &Poly, item: usize) -> Option<Term> {
        let mut sum = self.terms.constant(0, WORD);
        for (product, factor) in &poly.0 {
            let factor = i64::try_from(*factor).ok()?;
            let mut term = self.terms.constant(factor.cast_unsigned(), WORD);
            for atom in product {
                let atom = self.atom(*atom, item)?;
                term = self.terms.apply(Operation::Mul, vec![term, atom], WORD);
            }
            sum = self.terms.apply(Operation::Add, vec![sum, term], WORD);
        }
        Some(sum)
    }

    fn atom(&mut self, atom: Atom, item: usize) -> Option<Term> {
        let (id, d) = match atom {
            Atom::Value(_) => return None,
            Atom::Arg(arg, offset) if self.candidates.free.contains(&(arg, offset)) => {
                self.free_scalars.insert((arg, offset));
                return Some(self.symbol((arg, offset)));
            }
            Atom::Arg(arg, offset) => {
                let n = self.base_value((arg, offset))?;
                return Some(self.terms.constant(n.cast_unsigned(), WORD));
            }
            Atom::Id(id, d) => (id, usize::from(d.min(2))),
        };
        let [local, groups] = [IdPart::Local, IdPart::Group].map(|part| self.size(part, d));
        let Geometry { range, .. } = self.geometry;
        let (global, offset) = (range.global[d], range.offset[d]);
        Some(match id {
            Id::GlobalSize => self.terms.constant(global, WORD),
            Id::LocalSize => self.terms.constant(local, WORD),
            Id::Groups => self.terms.constant(groups, WORD),
            Id::Offset => self.terms.constant(offset, WORD),
            Id::Local => self.id(item, IdPart::Local, d),
            Id::Group => self.id(item, IdPart::Group, d),
            Id::Global => {
                let (inner, group) = (self.id(item, IdPart::Local, d), self.id(item, IdPart::Group, d));
                let [size, offset] = [local, offset].map(|n| self.terms.constant(n, WORD));
                let start = self.terms.apply(Operation::Mul, vec![group, size], WORD);
                let first = self.terms.apply(Operation::Add, vec![start, offset], WORD);
                self.terms.apply(Operation::Add, vec![first, inner], WORD)
            }
        })
    }
}

/// The components of a global id: local id and group id.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum IdPart {
    Local,
    Group,
}

/// Returns the name of a scalar's symbol.
fn symbol_name((arg, offset): ScalarKey) -> String {
    format!("scalar {arg} {offset}")
}
