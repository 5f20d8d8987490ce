//! COR and LCR: mutate `&&` and `||`.
//!
//! Short-circuits on scalars are control flow in the canonical form, so a mutant is a set of redirected edges
//! (`control::short_circuits`); on vectors they are instructions. An operand that a mutant drops is not evaluated,
//! except for the first operand of a decision, which is in the block before it: its value is ignored and its effects
//! are removed.

use kassay_ir::instrument::mutants::{Binary, Edit, Expr, Place, Slot, Unary};
use kassay_ir::kernel::ast::{Ast, Node};
use kassay_ir::kernel::folding;
use kassay_ir::llvm::Opcode;

use super::super::control::effects::{Body, bodies};
use super::super::control::formula::{Change, Formula};
use super::super::control::precedence::binds_tightly;
use super::super::control::short_circuit_decisions::{self, Decision};
use super::super::control::short_circuits::{Circuit, UnmatchedCircuits};
use super::super::control::text::{self, Piece};
use super::super::level::{self, Concept};
use super::super::mutant::{Excluded, Mutant, SourceRange, TOO_WIDE};
use super::super::operators::Preset;
use super::super::subject::{Operator, OperatorOutput, Subject};
use super::edits::with_effects_left_out;

/// Exchanges `&&` and `||` (LIU, PENG).
pub const COR: Operator = Operator {
    id: "COR",
    name: "conditional operator replacement",
    class: "condition",
    description: "`&&` with `||` and back",
    origin: "LIU, PENG",
    peng: true,
    liu: true,
    concept: Concept::Logic,
    levels: level::SOURCE,
    enumerate: |subject, found| enumerate(subject, "COR", &[Change::Exchange], found),
};

/// Replaces an operation by an operand or by its negation.
pub const LCR: Operator = Operator {
    id: "LCR",
    name: "logical connector replacement",
    class: "condition",
    description: "`a && b` and `a || b` by `a`, by `b`, by its negation",
    origin: "ours",
    peng: false,
    liu: false,
    concept: Concept::Logic,
    levels: level::SOURCE,
    enumerate: |subject, found| enumerate(subject, "LCR", &[Change::Left, Change::Right, Change::Negate], found),
};

fn enumerate(subject: &Subject<'_>, id: &'static str, changes: &[Change], found: &mut OperatorOutput) {
    for body in bodies(subject) {
        match subject.ast.filter(|_| body.written.is_some()) {
            Some(ast) => {
                let operator = SourceMutator { subject, body: &body, id, changes };
                for decision in short_circuit_decisions::find(&body, ast, subject.sources) {
                    operator.decision(&decision, found);
                }
                operator.vectors(ast, found);
            }
            None => mutate_cfg(subject, &body, id, changes, found),
        }
    }
}

/// Mutates the operators that the syntax tree has.
struct SourceMutator<'a, 's> {
    subject: &'a Subject<'s>,
    body: &'a Body<'a>,
    id: &'static str,
    changes: &'a [Change],
}

impl SourceMutator<'_, '_> {
    fn decision(&self, decision: &Decision<'_>, found: &mut OperatorOutput) {
        for (i, node) in decision.written.operators.iter().enumerate() {
            let token = &decision.tokens[i];
            if self.is_excluded_macro(token) {
                self.exclude(token, "an operator inside a macro", found);
                continue;
            }
            let Some(circuit) = &decision.circuit else {
                let is_folded = self.subject.ast.is_some_and(|ast| folding::constant(ast, node).is_some());
                let reason = match token.range.is_too_wide() && !is_folded {
                    true => TOO_WIDE,
                    false => "clang folds this short-circuit away",
                };
                self.exclude(token, reason, found);
                continue;
            };
            let is_value = circuit.phi.is_some();
            for change in self.changes {
                match self.edit(decision, circuit, i, *change) {
                    Ok(edit) => found.mutants.extend(self.mutant(node, token, *change, is_value, edit)),
                    Err(reason) => self.exclude(token, reason, found),
                }
            }
        }
    }

    fn edit(
        &self,
        decision: &Decision<'_>,
        circuit: &Circuit,
        operator: usize,
        change: Change,
    ) -> Result<Edit, &'static str> {
        let mutated = circuit.formula().changed(operator, change);
        // The effects of operands that the mutant drops.
        let used = mutated.leaves();
        let dropped = circuit.formula().leaves().into_iter().filter(|leaf| !used.contains(leaf));
        let effects: Vec<Place> = dropped
            .filter_map(|leaf| decision.written.leaves.get(leaf)?.range.as_ref())
            .flat_map(|range| self.body.effects_in(range))
            .collect();
        if effects.is_empty() && self.changes_nothing(decision.written.operators[operator], change) {
            return Err(NO_CHANGE);
        }
        Ok(with_effects_left_out(rewire(self.body, circuit, &mutated)?, effects))
    }

    /// Returns whether an operation with a constant operand already has the value of its replacement: `a && 1` that of
    /// `a`, `a && 0` that of `0`.
    fn changes_nothing(&self, node: &Node, change: Change) -> bool {
        let is_and = node.opcode.as_deref() == Some("&&");
        let constant =
            |i: usize| Some(kassay_ir::kernel::folding::constant(self.subject.ast?, node.children.get(i)?)? != 0);
        match change {
            Change::Left => constant(1) == Some(is_and) || constant(0) == Some(!is_and),
            Change::Right => constant(0) == Some(is_and) || constant(1) == Some(!is_and),
            _ => false,
        }
    }

    /// Mutates `&&` and `||` on vectors, which are `and` and `or` instructions.
    fn vectors(&self, ast: &Ast, found: &mut OperatorOutput) {
        let Some(function) = self.body.written else { return };
        let mut used: Vec<Place> = Vec::new();
        function.body.walk(&mut |node: &Node| {
            let opcode = match node.opcode.as_deref() {
                Some("&&") => Opcode::LLVMAnd,
                Some("||") => Opcode::LLVMOr,
                _ => return,
            };
            if !node.is("BinaryOperator") || !node.is_vector() {
                return;
            }
            let token = node.opcode.as_deref().unwrap_or_default();
            let Some(token) = text::operator(self.subject.sources, function, node, token) else { return };
            if self.is_excluded_macro(&token) {
                return self.exclude(&token, "an operator inside a macro", found);
            }
            let here = self.body.instructions().find(|(place, inst)| {
                inst.opcode() == opcode
                    && !used.contains(place)
                    && self.body.location(*place).is_some_and(|at| text::begins_at(&token, at))
            });
            let Some((place, _)) = here else {
                let reason = match folding::constant(ast, node) {
                    Some(_) => "clang folds this operator away",
                    None if token.range.is_too_wide() => TOO_WIDE,
                    None => "no instruction of this operator is left",
                };
                return self.exclude(&token, reason, found);
            };
            used.push(place);
            for change in self.changes {
                let (a, b) = (Box::new(Expr::Operand(0)), Box::new(Expr::Operand(1)));
                let by = match change {
                    Change::Exchange if opcode == Opcode::LLVMAnd => Expr::Binary(Binary::Or, a, b),
                    Change::Exchange => Expr::Binary(Binary::And, a, b),
                    Change::Left => *a,
                    Change::Right => *b,
                    Change::Negate => Expr::Unary(Unary::Not, Box::new(Expr::Original)),
                };
                let edit = Edit::Value { at: vec![Slot::Result(place)], by };
                found.mutants.extend(self.mutant(node, &token, *change, true, edit));
            }
        });
    }

    /// Creates a mutant. `is_value`: an operand that replaces the operation has to be converted to 0 or 1.
    fn mutant(&self, node: &Node, token: &Piece, change: Change, is_value: bool, edit: Edit) -> Option<Mutant> {
        let function = self.body.written?;
        let piece = |node: &Node| text::piece(self.subject.sources, function, node.range.as_ref()?);
        let (whole, original, replacement) = match change {
            Change::Exchange => (token.clone(), token.text.clone(), exchanged(&token.text).to_owned()),
            _ => {
                let whole = piece(node)?;
                let truth = |operand: &Node| {
                    let text = piece(operand)?.text;
                    Some(match (is_value && !is_boolean(operand), binds_tightly(operand)) {
                        (false, _) => text,
                        (true, true) => format!("{text} != 0"),
                        (true, false) => format!("({text}) != 0"),
                    })
                };
                let replacement = match change {
                    Change::Left => truth(node.children.first()?)?,
                    Change::Right => truth(node.children.get(1)?)?,
                    _ => format!("!({})", whole.text),
                };
                let original = whole.text.clone();
                (whole, original, replacement)
            }
        };
        Some(Mutant {
            id: String::new(),
            operator: self.id,
            function: self.body.name().to_owned(),
            original,
            replacement,
            range: Some(whole.range),
            spelling: whole.spelling,
            edit,
            is_structural: false,
        })
    }

    fn is_excluded_macro(&self, token: &Piece) -> bool {
        self.subject.preset == Preset::Peng && token.is_of_macro()
    }

    fn exclude(&self, token: &Piece, reason: &str, found: &mut OperatorOutput) {
        exclude(self.body, self.id, Some(token.range.clone()), reason, found);
    }
}

/// Returns whether an expression's value is 0 or 1 (for vectors, 0 or -1) by itself.
pub(super) fn is_boolean(node: &Node) -> bool {
    let inner = node.without_parentheses();
    let is_relation =
        matches!(inner.opcode.as_deref(), Some("<" | ">" | "<=" | ">=" | "==" | "!=" | "&&" | "||" | "!"));
    (is_relation && (inner.is("BinaryOperator") || inner.is("UnaryOperator"))) || inner.canonical_type() == Some("bool")
}

fn exchanged(token: &str) -> &'static str {
    if token == "&&" { "||" } else { "&&" }
}

fn exclude(
    body: &Body<'_>,
    operator: &'static str,
    range: Option<SourceRange>,
    reason: &str,
    found: &mut OperatorOutput,
) {
    let function = body.name().to_owned();
    found.excluded.push(Excluded { operator, function, range, reason: reason.to_owned() });
}

const NO_CHANGE: &str = "nothing changes: the value of an operand is constant";

/// Returns the edit that makes a circuit compute another formula, or why there is none.
fn rewire(body: &Body<'_>, circuit: &Circuit, formula: &Formula) -> Result<Edit, &'static str> {
    // The negation of a value is the negation of the `phi` that holds it.
    if let (Formula::Not(inner), Some((block, instruction))) = (formula, circuit.phi)
        && **inner == *circuit.formula()
    {
        let phi = Place { function: body.function, block, instruction };
        let by = Expr::Unary(Unary::Not, Box::new(Expr::Original));
        return Ok(Edit::Value { at: vec![Slot::Result(phi)], by });
    }
    let edges = circuit.rewired(&body.sites.cfg, body.function, formula);
    let edges = edges.ok_or("the edges of this short-circuit do not show its operands")?;
    if edges.is_empty() { Err(NO_CHANGE) } else { Ok(Edit::Redirect { edges }) }
}

/// Without a syntax tree: mutates the formulas derived from the edges, with operators at debug locations.
fn mutate_cfg(
    subject: &Subject<'_>,
    body: &Body<'_>,
    id: &'static str,
    changes: &[Change],
    found: &mut OperatorOutput,
) {
    for circuit in UnmatchedCircuits::of(&body.sites.cfg, &body.sites.dominance).rest() {
        for (operator, is_and, last) in operators(circuit.formula()) {
            let at = circuit.leaves[last].last().and_then(|b| body.location(body.terminator(*b)));
            // A negated operation appears in the CFG as the other operator with negated operands: the token decides.
            let here = at.and_then(|at| subject.sources.at(&at.file, at.line, at.column)).unwrap_or_default();
            let token = match (here.get(..2), is_and) {
                (Some("&&"), _) => "&&",
                (Some("||"), _) => "||",
                (_, true) => "&&",
                (_, false) => "||",
            };
            let range = text::spot(at, token.len());
            for change in changes {
                let formula = circuit.formula().changed(operator, *change);
                let edit = match rewire(body, &circuit, &formula) {
                    Ok(edit) => edit,
                    Err(reason) => {
                        exclude(body, id, range.clone(), reason, found);
                        continue;
                    }
                };
                let (original, replacement) = match change {
                    Change::Exchange => (token.to_owned(), exchanged(token).to_owned()),
                    Change::Left => (format!("left {token} right"), "left".to_owned()),
                    Change::Right => (format!("left {token} right"), "right".to_owned()),
                    Change::Negate => (format!("left {token} right"), format!("!(left {token} right)")),
                };
                found.mutants.push(Mutant {
                    id: String::new(),
                    operator: id,
                    function: body.name().to_owned(),
                    original,
                    replacement,
                    range: range.clone(),
                    spelling: None,
                    edit,
                    is_structural: false,
                });
            }
        }
    }
}

/// Returns the operators of a formula: position, whether it is `&&`, and the last leaf of the left operand.
fn operators(formula: &Formula) -> Vec<(usize, bool, usize)> {
    match formula {
        Formula::Not(inner) => operators(inner),
        Formula::Pair { operator, is_and, left, right } => {
            let last = left.leaves().last().copied().unwrap_or(0);
            [vec![(*operator, *is_and, last)], operators(left), operators(right)].concat()
        }
        _ => Vec::new(),
    }
}
