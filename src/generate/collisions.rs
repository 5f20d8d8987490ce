//! Values of scalars for which two work-items meet at an address: `p[x]` by one and `p[0]` by another do for x = 0 alone, which no usual launch
//! need have, and which launches that look like mistakes are repaired away from. Addresses and what guards them are taken as polynomials, and Z3
//! is asked for values with which two of them overlap. What it gives is a launch to be run: only that shows whether work-items do meet.
//!
//! Most scalars are no such values: a host that passes a row that is too short, or one place under two names, makes any kernel race.
//! [`Candidates::new`] has the rules for which scalars and which pairs of accesses are asked about.

use std::collections::BTreeSet;

use super::access_summary::{Access, Reading, Way};
use super::assign::{self, Number, Scalars};
use super::geometry::Geometry;
use super::launch_builder::LaunchBuilder;
use super::launches::{self, GeneratedLaunch, Planned};
use super::model::{KernelModel, Role, ScalarModel};
use super::polynomial::{Atom, Id, Poly};
use crate::error::Result;
use crate::kernel::interface::ArgKind;
use crate::program::Region;
use crate::solve::expression::{Operation, Sort, Term, Terms};
use crate::solve::query::{Answer, Limits, Model, Session};
use crate::suite::scalar_layout;

/// Pairs of accesses that are asked about, and launches that come of them, at most.
const PAIRS: usize = 64;
const LAUNCHES: usize = 6;

/// So many accesses of a kernel are looked at.
const ACCESSES: usize = 4096;

/// Scalars do not go beyond this in amount: buffers grow with them.
const MOST: i128 = 1 << 12;

/// Bits of a number up to [`MOST`], and its sign.
const NARROW: u32 = 14;

/// Z3's measure of work for one question: some tens of milliseconds.
const RLIMIT: u32 = 400_000;

const WORD: Sort = Sort::Bits(64);

/// By argument and offset in it, as in [`Scalars`].
type Key = (u32, u64);

/// A launch in which two work-items may meet.
#[derive(Debug, Clone)]
pub struct Suspect {
    pub launch: GeneratedLaunch,
    /// The argument in whose memory; `None`: a local variable.
    pub argument: Option<u32>,
}

/// What was found.
#[derive(Debug, Default)]
pub(super) struct Suspects {
    pub found: Vec<Suspect>,
    /// Whether time was over before all was asked.
    pub cut_short: bool,
}

/// Launches as `bases` but for scalars with which accesses of two work-items overlap; no more once `over` says so.
///
/// # Errors
/// As of [`super::launches::launches`].
pub(super) fn suspects(
    launch_builder: &LaunchBuilder<'_>,
    bases: &[Planned],
    over: impl Fn() -> bool,
) -> Result<Suspects> {
    let candidates = Candidates::new(launch_builder);
    let mut asked = BTreeSet::new();
    // Unrolled loops and inlined helpers repeat the same question.
    let mut is_new = |pair: &[&Access; 2]| asked.insert(pair.map(|a| (a.block, a.region, a.offset.clone(), a.bytes)));
    let pairs: Vec<[&Access; 2]> = candidates.pairs().filter(|pair| is_new(pair)).take(PAIRS).collect();
    if pairs.is_empty() {
        return Ok(Suspects::default());
    }
    let mut found: Vec<Suspect> = Vec::new();
    let mut terms = Terms::default();
    let mut questions: Vec<(Region, Vec<(&Planned, Question)>)> = Vec::new();
    for pair in pairs {
        let ask = |base| Some((base, Asking::new(&candidates, base, &mut terms).about(pair)?));
        questions.push((pair[0].region, bases.iter().filter_map(ask).collect()));
    }
    // One session for all, for a solver's first steps take longer than most answers.
    let mut session = Session::new(&terms);
    let limits = Limits { rlimit: RLIMIT, end: None };
    for (region, questions) in questions {
        if found.len() >= LAUNCHES {
            break;
        }
        for (base, question) in questions {
            if over() {
                return Ok(Suspects { found, cut_short: true });
            }
            let Answer::Sat(model) = session.ask(&question.conditions, &limits) else { continue };
            // Where they meet in the base too, that run tells what there is to tell: most such accesses have a barrier between them.
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

/// The launch with these values, unless it is known.
fn suspect(
    launch_builder: &LaunchBuilder<'_>,
    base: &Planned,
    values: &[(Key, i128)],
    region: Region,
    known: &[Suspect],
) -> Result<Option<Suspect>> {
    let model = launch_builder.model;
    let mut plan = base.plan();
    plan.scalars.extend(values.iter().map(|(key, n)| (*key, Number::Integer(*n))));
    let outcome = launch_builder.try_out(&plan);
    let launch = launch_builder.launch(&plan, &outcome)?;
    if known.iter().any(|s| s.launch.launch == launch) {
        return Ok(None);
    }
    let name = |key: &Key| scalar(model, *key).map_or("a scalar", |s| s.name.as_str());
    let said: Vec<String> = values.iter().map(|(key, n)| format!("{} = {n}", name(key))).collect();
    let name = format!("{}, {}", base.geometry.name, said.join(", "));
    let name = launches::unique(name, known.iter().map(|s| s.launch.name.as_str()));
    let mut preconditions = model.preconditions.clone();
    preconditions.extend(outcome.notes);
    let argument = match region {
        Region::Argument(position) => Some(position),
        _ => None,
    };
    let launch = GeneratedLaunch { launch, name, preconditions, guesses: outcome.guesses };
    Ok(Some(Suspect { launch, argument }))
}

fn scalar(model: &KernelModel, key: Key) -> Option<&ScalarModel> {
    model.scalars.iter().find(|s| (s.arg, s.offset) == key)
}

/// Which accesses may meet because of which scalars.
struct Candidates<'w, 'm> {
    launch_builder: &'w LaunchBuilder<'m>,
    /// Scalars that may have any value.
    free: BTreeSet<Key>,
    /// Accesses to memory that work-items share, at addresses that are known.
    places: Vec<Place<'w>>,
}

/// An access, and what is asked of it for each pair.
struct Place<'w> {
    access: &'w Access,
    /// Whether its address is the same for all work-items.
    stays: bool,
    /// Whether a free scalar has a say in where it is or whether it is made.
    depends: bool,
    /// The free scalars in its address.
    scalars: BTreeSet<Key>,
}

impl<'w, 'm> Candidates<'w, 'm> {
    /// A scalar is free unless something says that it is a length, a row, a count, a divisor or a shift. Memory in which addresses go on from a free
    /// scalar, by ids or loops, is laid out by the host, who keeps its parts apart: it is left out.
    fn new(launch_builder: &'w LaunchBuilder<'m>) -> Candidates<'w, 'm> {
        let (model, reading) = (launch_builder.model, &launch_builder.reading);
        let may_be = |s: &&ScalarModel| {
            matches!(s.role, Role::Index | Role::Flag | Role::Data)
                && !s.divides
                && s.demands.is_empty()
                && s.caps.is_empty()
                && scalar_layout::range(s.scalar).is_some()
        };
        let scalars = model.scalars.iter().filter(may_be).map(|s| (s.arg, s.offset));
        let free: BTreeSet<Key> = scalars.filter(|key| !is_length(reading, *key)).collect();
        let mut candidates = Candidates { launch_builder, free, places: Vec::new() };
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
        for access in reading.accesses.iter().filter(is_shared).take(ACCESSES) {
            let scalars = candidates.scalars_of(&access.offset);
            let stays = !access.offset.atoms().any(follows);
            let is_known = !access.offset.atoms().any(is_unknown);
            let goes_on = !stays || !is_known;
            if goes_on && !scalars.is_empty() {
                laid_out.insert(access.region);
            } else if is_known {
                let depends = !scalars.is_empty() || candidates.is_guarded(access);
                candidates.places.push(Place { access, stays, depends, scalars });
            }
        }
        candidates.places.retain(|p| !laid_out.contains(&p.access.region));
        candidates
    }

    /// The free scalars of a polynomial.
    fn scalars_of(&self, poly: &Poly) -> BTreeSet<Key> {
        let key = |atom| match atom {
            Atom::Arg(arg, offset) => Some((arg, offset)).filter(|key| self.free.contains(key)),
            _ => None,
        };
        poly.atoms().filter_map(key).collect()
    }

    /// Whether a free scalar decides whether an access is made.
    fn is_guarded(&self, access: &Access) -> bool {
        let facts = &self.launch_builder.reading.facts.blocks[access.block];
        facts.iter().any(|f| [&f.less, &f.than].iter().any(|side| !self.scalars_of(side).is_empty()))
    }

    /// Pairs of accesses to the same memory that would conflict. One at least stays where it is, whatever the work-item: where both
    /// follow it, most scalars are steps and lengths of rows. Where two scalars name two places, they are taken to be different ones.
    fn pairs(&self) -> impl Iterator<Item = [&'w Access; 2]> + '_ {
        let staying = self.places.iter().enumerate().filter(|(_, a)| a.stays);
        staying.flat_map(move |(n, a)| {
            let others = self.places.iter().enumerate().filter(move |(m, b)| {
                let harmless = a.access.way == b.access.way && a.access.way != Way::Write;
                let names_two = !a.scalars.is_empty() && !b.scalars.is_empty() && a.scalars != b.scalars;
                // A pair of two that stay comes once.
                (a.depends || b.depends)
                    && a.access.region == b.access.region
                    && (*m >= n || !b.stays)
                    && !harmless
                    && !names_two
            });
            others.map(|(_, b)| [a.access, b.access])
        })
    }
}

/// Whether it differs between work-items.
fn follows(atom: Atom) -> bool {
    matches!(atom, Atom::Id(Id::Global | Id::Local | Id::Group, _))
}

/// Whether a scalar says how much there is of something: work-items are told apart by lying below it, or by their distance from it, or an
/// address counts from it downwards.
fn is_length(reading: &Reading<'_>, (arg, offset): Key) -> bool {
    let scalar = Atom::Arg(arg, offset);
    let counts_down = |a: &Access| a.offset.rest() < 0 && a.offset.linear_in(scalar).is_some_and(|(n, _)| n > 0);
    let mut facts = reading.facts.all().filter(|(_, fact)| fact.less.has(scalar) || fact.than.has(scalar));
    let bounds = facts.any(|(_, fact)| {
        let apart = fact.than.sub(&fact.less);
        // `id == x` picks a work-item.
        let picks = fact.is_equal && apart.rest() == 1;
        !picks && apart.linear_in(scalar).is_some_and(|(n, rest)| n > 0 && rest.atoms().any(follows))
    });
    bounds || reading.accesses.iter().any(counts_down)
}

/// What holds if two work-items meet.
struct Question {
    conditions: Vec<Term>,
    /// And if scalars are what they are in the base.
    as_base: Vec<Term>,
    /// Free scalars that the conditions name.
    named: BTreeSet<Key>,
}

impl Question {
    fn values(&self, model: &Model) -> Vec<(Key, i128)> {
        let unused = 64 - NARROW;
        let signed = |bits: u64| i128::from((bits << unused).cast_signed() >> unused);
        let value = |key: &Key| Some((*key, signed(model.symbol(&named(*key))?)));
        self.named.iter().filter_map(value).collect()
    }
}

/// Makes a question, for launches of one size.
struct Asking<'q, 'w, 'm> {
    candidates: &'q Candidates<'w, 'm>,
    geometry: &'q Geometry,
    /// The base's.
    scalars: &'q Scalars,
    terms: &'q mut Terms,
    named: BTreeSet<Key>,
}

impl<'q, 'w, 'm> Asking<'q, 'w, 'm> {
    fn new(candidates: &'q Candidates<'w, 'm>, base: &'q Planned, terms: &'q mut Terms) -> Asking<'q, 'w, 'm> {
        let Planned { geometry, scalars, .. } = base;
        Asking { candidates, geometry, scalars, terms, named: BTreeSet::new() }
    }

    /// Whether these accesses of two work-items overlap.
    fn about(mut self, pair: [&Access; 2]) -> Option<Question> {
        let (mut conditions, mut as_base) = (Vec::new(), Vec::new());
        let mut offsets = Vec::new();
        for (who, access) in pair.iter().enumerate() {
            for d in 0..3 {
                for part in [Part::Local, Part::Group] {
                    let id = self.id(who, part, d);
                    let size = self.terms.constant(self.size(part, d), WORD);
                    conditions.push(self.terms.compare(Operation::Ult, id, size));
                }
            }
            for fact in &self.candidates.launch_builder.reading.facts.blocks[access.block] {
                // What is not known does not bind: the run will tell.
                if let (Some(less), Some(than)) = (self.poly(&fact.less, who), self.poly(&fact.than, who)) {
                    conditions.push(self.terms.compare(Operation::Slt, less, than));
                }
            }
            offsets.push(self.poly(&access.offset, who)?);
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
        conditions.push(self.are_two(self.is_of_group(region)));
        for key in self.named.clone() {
            let symbol = self.symbol(key);
            let [least, most] = self.range(key).map(|n| self.terms.constant(n.cast_unsigned(), WORD));
            conditions.push(self.terms.compare(Operation::Sle, least, symbol));
            conditions.push(self.terms.compare(Operation::Sle, symbol, most));
            let is_same = match self.given(key) {
                Some(n) => {
                    let n = self.terms.constant(n.cast_unsigned(), WORD);
                    self.terms.compare(Operation::Eq, symbol, n)
                }
                None => self.terms.truth(false),
            };
            as_base.push(is_same);
        }
        Some(Question { conditions, as_base, named: self.named })
    }

    /// Whether each group has such memory of its own.
    fn is_of_group(&self, region: Region) -> bool {
        let args = &self.candidates.launch_builder.model.interface.args;
        match region {
            Region::Argument(position) => matches!(args[position as usize].kind, ArgKind::Local { .. }),
            _ => true,
        }
    }

    /// What ids within a group, or numbers of groups, stay below.
    fn size(&self, part: Part, d: usize) -> u64 {
        match part {
            Part::Local => self.geometry.local[d].max(1),
            Part::Group => self.geometry.resolved().group_counts()[d],
        }
    }

    /// Where the work-item numbered `who` is. Of no more bits than it needs, for a solver takes longer over each.
    fn id(&mut self, who: usize, part: Part, d: usize) -> Term {
        let most = self.size(part, d).saturating_sub(1);
        if most == 0 {
            return self.terms.constant(0, WORD);
        }
        let bits = most.ilog2() + 1;
        let id = self.terms.symbol(format!("{part:?} {d} of {who}, {bits} bits"), Sort::Bits(bits));
        self.terms.apply(Operation::ZExt, vec![id], WORD)
    }

    fn symbol(&mut self, key: Key) -> Term {
        let symbol = self.terms.symbol(named(key), Sort::Bits(NARROW));
        self.terms.apply(Operation::SExt, vec![symbol], WORD)
    }

    /// What a scalar is in the base.
    fn given(&self, (arg, offset): Key) -> Option<i64> {
        i64::try_from(assign::integer(self.scalars, arg, offset)?).ok()
    }

    /// The least and the greatest value of a free scalar.
    fn range(&self, key: Key) -> [i64; 2] {
        let scalar = scalar(self.candidates.launch_builder.model, key);
        let (least, greatest) = scalar.and_then(|s| scalar_layout::range(s.scalar)).unwrap_or((0, MOST));
        let is_index = scalar.is_some_and(|s| s.role == Role::Index);
        let least = least.max(if is_index { 0 } else { -MOST });
        let within = |n: i128| i64::try_from(n.clamp(-MOST, MOST)).unwrap_or(0);
        [within(least), within(greatest)]
    }

    /// They are two work-items; of one group, if the memory is the group's.
    fn are_two(&mut self, same_group: bool) -> Term {
        let mut differ = self.terms.truth(false);
        let mut same = self.terms.truth(true);
        for d in 0..3 {
            for part in [Part::Local, Part::Group] {
                let [a, b] = [0, 1].map(|who| self.id(who, part, d));
                let equal = self.terms.compare(Operation::Eq, a, b);
                let unequal = self.terms.not(equal);
                differ = self.terms.or(differ, unequal);
                if part == Part::Group {
                    same = self.terms.and(same, equal);
                }
            }
        }
        if same_group { self.terms.and(differ, same) } else { differ }
    }

    /// As the work-item numbered `who` computes it; `None` if there is no telling.
    fn poly(&mut self, poly: &Poly, who: usize) -> Option<Term> {
        let mut sum = self.terms.constant(0, WORD);
        for (product, factor) in &poly.0 {
            let factor = i64::try_from(*factor).ok()?;
            let mut term = self.terms.constant(factor.cast_unsigned(), WORD);
            for atom in product {
                let atom = self.atom(*atom, who)?;
                term = self.terms.apply(Operation::Mul, vec![term, atom], WORD);
            }
            sum = self.terms.apply(Operation::Add, vec![sum, term], WORD);
        }
        Some(sum)
    }

    fn atom(&mut self, atom: Atom, who: usize) -> Option<Term> {
        let (id, d) = match atom {
            Atom::Value(_) => return None,
            Atom::Arg(arg, offset) if self.candidates.free.contains(&(arg, offset)) => {
                self.named.insert((arg, offset));
                return Some(self.symbol((arg, offset)));
            }
            Atom::Arg(arg, offset) => {
                let n = self.given((arg, offset))?;
                return Some(self.terms.constant(n.cast_unsigned(), WORD));
            }
            Atom::Id(id, d) => (id, usize::from(d.min(2))),
        };
        let [local, groups] = [Part::Local, Part::Group].map(|part| self.size(part, d));
        let Geometry { range, .. } = self.geometry;
        let (global, offset) = (range.global[d], range.offset[d]);
        Some(match id {
            Id::GlobalSize => self.terms.constant(global, WORD),
            Id::LocalSize => self.terms.constant(local, WORD),
            Id::Groups => self.terms.constant(groups, WORD),
            Id::Offset => self.terms.constant(offset, WORD),
            Id::Local => self.id(who, Part::Local, d),
            Id::Group => self.id(who, Part::Group, d),
            Id::Global => {
                let (inner, group) = (self.id(who, Part::Local, d), self.id(who, Part::Group, d));
                let [size, offset] = [local, offset].map(|n| self.terms.constant(n, WORD));
                let start = self.terms.apply(Operation::Mul, vec![group, size], WORD);
                let first = self.terms.apply(Operation::Add, vec![start, offset], WORD);
                self.terms.apply(Operation::Add, vec![first, inner], WORD)
            }
        })
    }
}

/// Ids consist of a place in a group and the group's number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Local,
    Group,
}

/// The name of a scalar's symbol.
fn named((arg, offset): Key) -> String {
    format!("scalar {arg} {offset}")
}
