//! LBR: skips loops and moves their boundary by one (PENG 4.2.2).
//!
//! The boundary is the operand of the condition's comparison that the loop does not change; if that is unclear, the
//! right one. A condition that is no comparison is a test against 0, which then is its boundary. A boundary that is an
//! address moves by one element, if the syntax tree gives its size.

use kassay_ir::cfg::loops::Loop;
use kassay_ir::instrument::mutants::{Binary, EdgeChange, Edit, Expr, Float};
use kassay_ir::kernel::ast::Node;
use kassay_ir::kernel::ast_cpp::is_range_for;
use kassay_ir::kernel::folding;
use kassay_ir::llvm::{DebugLocation, Opcode, TypeKind};

use super::super::control::boundary::{self, Boundary};
use super::super::control::conditions;
use super::super::control::effects::{Body, bodies};
use super::super::control::precedence::{binds_tightly, needs_parentheses};
use super::super::control::text::{self, Piece};
use super::super::level::{self, Concept};
use super::super::mutant::{Excluded, Mutant};
use super::super::operators::Preset;
use super::super::subject::{Operator, OperatorOutput, Subject};
use super::edits::{forced_loop, with_effects_left_out};

/// Skips loops and moves their boundary.
pub const LBR: Operator = Operator {
    id: "LBR",
    name: "loop boundary replacement",
    class: "loop",
    description: "the loop skipped; the boundary of its condition -1; +1",
    origin: "PENG",
    peng: true,
    liu: false,
    concept: Concept::SourceAlone,
    levels: level::SOURCE,
    enumerate,
};

fn enumerate(subject: &Subject<'_>, found: &mut OperatorOutput) {
    for body in bodies(subject) {
        let written = conditions::loops(subject, &body);
        for (i, l) in body.sites.loops.iter().enumerate() {
            let site = LoopSite { subject, body: &body, l, written: written[i] };
            if subject.preset == Preset::Peng && site.is_in_macro() {
                site.exclude("a loop inside a macro", found);
                continue;
            }
            site.skip(found);
            site.boundary(found);
        }
    }
}

/// A loop to be mutated.
struct LoopSite<'a, 's> {
    subject: &'a Subject<'s>,
    body: &'a Body<'s>,
    l: &'a Loop,
    written: Option<&'a Node>,
}

impl LoopSite<'_, '_> {
    fn piece(&self, node: Option<&Node>) -> Option<Piece> {
        text::piece(self.subject.sources, self.body.written?, node?.range.as_ref()?)
    }

    /// Returns whether the entire loop stems from one macro expansion.
    fn is_in_macro(&self) -> bool {
        self.written.and_then(|node| node.range.as_ref()).is_some_and(|range| {
            let is_of_macro = range.begin.spelling.is_some() && range.end.spelling.is_some();
            is_of_macro && range.begin.expansion == range.end.expansion
        })
    }

    fn condition(&self) -> Option<&Node> {
        self.written.and_then(folding::condition)
    }

    /// Returns whether it is a range-`for`, whose condition the source does not spell.
    fn is_range_for(&self) -> bool {
        self.written.is_some_and(is_range_for)
    }

    fn at(&self) -> Option<&DebugLocation> {
        let cfg = &self.body.sites.cfg;
        cfg.blocks[self.l.condition.unwrap_or(self.l.header)].condition_location.as_ref()
    }

    /// Adds the mutant that skips the loop.
    fn skip(&self, found: &mut OperatorOutput) {
        let condition = self.condition().filter(|_| self.l.condition.is_some());
        let (edit, piece) = match forced_loop(self.body, self.l, false) {
            Some(edit) => {
                let range = condition.and_then(|c| c.range.as_ref());
                let effects = range.map(|range| self.body.effects_in(range)).unwrap_or_default();
                let piece = if self.is_range_for() { self.keyword() } else { self.piece(condition) };
                (Some(with_effects_left_out(edit, effects)), piece)
            }
            None => (self.bypass(), self.keyword()),
        };
        let Some(edit) = edit else { return self.exclude("a loop without a condition and without a way out", found) };
        let original = match &piece {
            Some(piece) => piece.text.clone(),
            None if self.l.condition.is_some() => "condition".to_owned(),
            None => self.l.construct.to_owned(),
        };
        self.add(piece, original, "false".to_owned(), edit, found);
    }

    /// Returns the keyword `for`, `while` or `do`, which stands for a loop without a condition.
    fn keyword(&self) -> Option<Piece> {
        let whole = self.piece(self.written)?;
        let keyword: String = whole.text.chars().take_while(|c| c.is_ascii_alphabetic()).collect();
        let mut range = whole.range;
        if whole.spelling.is_none() {
            range.end = range.start;
            range.end.column += keyword.len() as u32;
        }
        Some(Piece { text: keyword, range, spelling: whole.spelling })
    }

    /// Returns the edit that redirects the entries of a loop without a condition to its exit.
    fn bypass(&self) -> Option<Edit> {
        let cfg = &self.body.sites.cfg;
        let exits = self.l.exits(cfg);
        let ends = ["for.end", "while.end", "do.end"];
        let named = exits.iter().find(|e| ends.iter().any(|end| cfg.is_labelled(cfg.target(**e), end)));
        let to = cfg.target(*named.or(exits.first())?);
        let has_phi = self.body.blocks[to].first().is_some_and(|i| i.opcode() == Opcode::LLVMPHI);
        let edge = |e: &kassay_ir::cfg::graph::Edge| EdgeChange {
            function: self.body.function,
            block: e.block,
            successor: e.successor,
            to,
            phi: None,
        };
        let edges: Vec<EdgeChange> = self.l.entries(cfg).iter().map(edge).collect();
        (!has_phi && !edges.is_empty()).then_some(Edit::Redirect { edges })
    }

    /// Adds the mutants that move the boundary.
    fn boundary(&self, found: &mut OperatorOutput) {
        if self.is_range_for() {
            return self.exclude("a range-`for` runs to the end of its range, which is no number", found);
        }
        let Some(Boundary { slot, kind, leaf }) = boundary::find(self.subject, self.body, self.l, self.condition())
        else {
            return self.exclude("the condition has no boundary value", found);
        };
        let side = leaf.and_then(|leaf| boundary::side(leaf, slot));
        let moved = |by: i8| {
            let (original, plain) = (Box::new(Expr::Original), i128::from(by));
            Ok(match kind {
                TypeKind::LLVMIntegerTypeKind => Expr::Binary(Binary::Add, original, Box::new(Expr::Integer(plain))),
                TypeKind::LLVMFloatTypeKind | TypeKind::LLVMDoubleTypeKind | TypeKind::LLVMHalfTypeKind => {
                    Expr::Binary(Binary::FAdd, original, Box::new(Expr::Float(Float(f64::from(by)))))
                }
                TypeKind::LLVMPointerTypeKind => {
                    let Some(side) = side else { return Err("the boundary is the null pointer, or no number") };
                    let element = side.canonical_type().and_then(folding::pointee_size);
                    let bytes = element.ok_or("the boundary is an address whose elements have a size unknown here")?;
                    Expr::Offset(original, Box::new(Expr::Integer(plain * bytes)))
                }
                _ => return Err("the boundary is no number"),
            })
        };
        let piece = self.piece(side.or(leaf)).or_else(|| self.piece(self.condition()));
        for (by, sign) in [(-1_i8, '-'), (1, '+')] {
            let (original, replacement) = match (&piece, leaf, side) {
                (Some(piece), _, Some(side)) => {
                    let inner = if needs_parentheses(side) { format!("({})", piece.text) } else { piece.text.clone() };
                    (piece.text.clone(), format!("{inner} {sign} 1"))
                }
                (Some(piece), Some(leaf), None) => {
                    let tested = if binds_tightly(leaf) { piece.text.clone() } else { format!("({})", piece.text) };
                    (piece.text.clone(), format!("{tested} != {by}"))
                }
                _ => ("boundary".to_owned(), format!("boundary {sign} 1")),
            };
            match moved(by) {
                Ok(by) => self.add(piece.clone(), original, replacement, Edit::Value { at: vec![slot], by }, found),
                Err(reason) => return self.exclude(reason, found),
            }
        }
    }

    fn add(&self, piece: Option<Piece>, original: String, replacement: String, edit: Edit, found: &mut OperatorOutput) {
        let (range, spelling) = match piece {
            Some(piece) => (Some(piece.range), piece.spelling),
            None => (text::spot(self.at(), 0), None),
        };
        found.mutants.push(Mutant {
            id: String::new(),
            operator: "LBR",
            function: self.body.name().to_owned(),
            original,
            replacement,
            range,
            spelling,
            edit,
            is_structural: true,
        });
    }

    fn exclude(&self, reason: &str, found: &mut OperatorOutput) {
        found.excluded.push(Excluded {
            operator: "LBR",
            function: self.body.name().to_owned(),
            range: self.keyword().map(|p| p.range).or_else(|| text::spot(self.at(), 0)),
            reason: reason.to_owned(),
        });
    }
}
