//! CSD: forces conditions to true or false.
//!
//! A condition of one operand is replaced where the branch (or `select`) uses it. For a short-circuit in an `if` or
//! `?:`, the branch of the first operand leads directly to the outcome; the other operands are not evaluated.
//! Short-circuits in loop conditions are values, replaced where the loop's branch uses them. In either case, the stores
//! and calls of the condition's evaluation are removed: `while (n--)` as `while (true)` does not change `n`.

use kassay_ir::cfg::decisions::{Decision, Event};
use kassay_ir::cfg::indices::BlockIndex;
use kassay_ir::cfg::short_circuits::past_constants;
use kassay_ir::instrument::mutants::{EdgeChange, Edit, Place};
use kassay_ir::kernel::ast_cpp::is_range_for;
use kassay_ir::llvm::DebugLocation;

use super::super::control::conditions::{self, Condition};
use super::super::control::effects::{Body, bodies};
use super::super::control::text::{self, Piece};
use super::super::level::{self, Concept};
use super::super::mutant::{Excluded, Mutant};
use super::super::subject::{Operator, OperatorOutput, Subject};
use super::edits::{constant_condition, forced_loop, with_effects_left_out};

/// Forces a condition to true or false (LIU).
pub const CSD: Operator = Operator {
    id: "CSD",
    name: "conditional statement forced",
    class: "condition",
    description: "the condition of an `if`, `?:` or loop by `true`; by `false`",
    origin: "LIU",
    peng: false,
    liu: true,
    concept: Concept::SourceAlone,
    levels: level::SOURCE,
    enumerate,
};

fn enumerate(subject: &Subject<'_>, found: &mut OperatorOutput) {
    for body in bodies(subject) {
        let written = conditions::find(subject, &body);
        for (i, decision) in body.sites.decisions.iter().enumerate() {
            if decision.construct == "switch" {
                continue;
            }
            let condition = written.iter().find(|c| c.controls == conditions::Controls::Decision(i));
            let force = |value| forced_decision(&body, decision, value);
            add(subject, &body, condition, decision.location.as_ref(), &force, found);
        }
        let loops = conditions::loops(subject, &body);
        for (i, l) in body.sites.loops.iter().enumerate() {
            // LBR skips a range-`for`; the source spells no condition of it.
            let Some(block) = l.condition.filter(|_| !loops[i].is_some_and(is_range_for)) else { continue };
            let condition = written.iter().find(|c| c.controls == conditions::Controls::Loop(i));
            let at = body.sites.cfg.blocks[block].condition_location.as_ref();
            add(subject, &body, condition, at, &|value| forced_loop(&body, l, value), found);
        }
        for (node, reason) in conditions::folded_conditions(subject, &body) {
            let range = body
                .written
                .and_then(|f| text::piece(subject.sources, f, node.range.as_ref()?))
                .map(|piece| piece.range);
            let function = body.name().to_owned();
            found.excluded.push(Excluded { operator: "CSD", function, range, reason: reason.to_owned() });
        }
    }
}

fn add(
    subject: &Subject<'_>,
    body: &Body<'_>,
    condition: Option<&Condition<'_>>,
    at: Option<&DebugLocation>,
    force: &dyn Fn(bool) -> Option<Edit>,
    found: &mut OperatorOutput,
) {
    let range = condition.and_then(|c| c.node.range.as_ref());
    let piece: Option<Piece> = range.zip(body.written).and_then(|(range, f)| text::piece(subject.sources, f, range));
    let effects = range.map(|range| body.effects_in(range)).unwrap_or_default();
    for value in [true, false] {
        let Some(edit) = force(value) else {
            found.excluded.push(Excluded {
                operator: "CSD",
                function: body.name().to_owned(),
                range: piece.as_ref().map(|p| p.range.clone()).or_else(|| text::spot(at, 0)),
                reason: "the edges of this decision do not show its outcomes".to_owned(),
            });
            return;
        };
        found.mutants.push(Mutant {
            id: String::new(),
            operator: "CSD",
            function: body.name().to_owned(),
            original: piece.as_ref().map_or_else(|| "condition".to_owned(), |p| p.text.clone()),
            replacement: value.to_string(),
            range: piece.as_ref().map(|p| p.range.clone()).or_else(|| text::spot(at, 0)),
            spelling: piece.as_ref().and_then(|p| p.spelling.clone()),
            edit: with_effects_left_out(edit, effects.clone()),
            is_structural: false,
        });
    }
}

/// Returns the edit that forces the condition of an `if` or `?:`.
fn forced_decision(body: &Body<'_>, decision: &Decision, value: bool) -> Option<Edit> {
    let [yes, no] = &decision.outcomes[..] else { return None };
    if let Some(Event::Select { block, instruction, .. }) = yes.events.first() {
        let place = Place { function: body.function, block: *block, instruction: *instruction };
        return Some(constant_condition(place, value));
    }
    let target = |events: &[Event]| {
        events.iter().find_map(|e| match e {
            Event::Edge(edge) => Some(past_constants(&body.sites.cfg, body.sites.cfg.target(*edge))),
            _ => None,
        })
    };
    let (yes, no) = (target(&yes.events)?, target(&no.events)?);
    let first = decision.place.0;
    let targets: Vec<BlockIndex> = body.sites.cfg.successors(first);
    let to = if value { yes } else { no };
    let plain = |block: BlockIndex| past_constants(&body.sites.cfg, block);
    match targets[..] {
        [a, b] if (plain(a), plain(b)) == (yes, no) => Some(constant_condition(body.terminator(first), value)),
        [a, b] if (plain(a), plain(b)) == (no, yes) => Some(constant_condition(body.terminator(first), !value)),
        [a, b] => {
            let edges = [(0, a), (1, b)].into_iter().filter(|(_, target)| *target != to);
            let edge = |(successor, _)| EdgeChange { function: body.function, block: first, successor, to, phi: None };
            Some(Edit::Redirect { edges: edges.map(edge).collect() })
        }
        _ => None,
    }
}
