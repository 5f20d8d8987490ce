//! SDL: deletes statements.
//!
//! Deletes a statement that is an assignment, an increment or a call, with all its stores and all its calls that have
//! effects. Instructions that only compute values stay, as their removal would be unobservable. The first and the last
//! part of a `for` are such statements too, and so is each operand of a comma operator.
//!
//! Excluded: barriers and fences, which have operators of their own (SYR, SCR, FR); initialisers, which belong to their
//! declarations; `printf`, which changes no output; stores and calls in conditions and in `return`.

use kassay_ir::instrument::mutants::{Action, Edit, Place};
use kassay_ir::kernel::ast::{Ast, Function, HEAD, Node};
use kassay_ir::kernel::builtins::{self, Family};
use kassay_ir::kernel::constant_switch;
use kassay_ir::kernel::folding;
use kassay_ir::kernel::source::Sources;
use kassay_ir::llvm::{Inst, Opcode};

use super::super::control::effects::{Body, bodies, has_effects, synchronises};
use super::super::control::text::{self, Piece};
use super::super::level::{self, Concept};
use super::super::mutant::{Excluded, Mutant, SourceRange, TOO_WIDE};
use super::super::subject::{Operator, OperatorOutput, Subject};

/// Deletes statements.
pub const SDL: Operator = Operator {
    id: "SDL",
    name: "statement deletion",
    class: "statement",
    description: "an assignment, an increment or a call deleted, as a statement or in the head of a `for`; not initialisers, conditions, `printf`, barriers",
    origin: "ours",
    peng: false,
    liu: false,
    concept: Concept::Deletion,
    levels: level::SOURCE,
    enumerate,
};

fn enumerate(subject: &Subject<'_>, found: &mut OperatorOutput) {
    for body in bodies(subject) {
        match (subject.ast, body.written) {
            (Some(ast), Some(function)) => delete_in_source(subject, &body, ast, function, found),
            _ => delete_in_ir(subject, &body, found),
        }
    }
}

/// A statement that may be deleted.
struct Statement<'a> {
    node: &'a Node,
    piece: Piece,
    effects: Vec<Place>,
    /// The text that replaces it: an operand of a comma operator cannot be empty.
    replacement: &'static str,
}

/// Mutates the statements that the syntax tree has.
fn delete_in_source(
    subject: &Subject<'_>,
    body: &Body<'_>,
    ast: &Ast,
    function: &Function,
    found: &mut OperatorOutput,
) {
    let dropped = constant_switch::dropped(ast, &function.body);
    let mut walk = Walk { ast, sources: subject.sources, body, function, dropped, statements: Vec::new(), found };
    walk.statement(&function.body, false);
    let statements = walk.statements;
    for (i, statement) in statements.iter().enumerate() {
        let same = |other: &&Statement<'_>| other.piece.range.start == statement.piece.range.start;
        let here: Vec<&Statement<'_>> = statements.iter().filter(same).collect();
        let effects = match here.len() {
            1 => statement.effects.clone(),
            // All statements of a macro's body have one location; where each has one effect, their order tells
            // them apart.
            n => {
                let position = statements[..i].iter().filter(same).count();
                match statement.effects.len() == n {
                    true => vec![statement.effects[position]],
                    false => {
                        let reason = "one of several statements of a macro, which lie at one place";
                        exclude(body, Some(statement.piece.range.clone()), reason, found);
                        continue;
                    }
                }
            }
        };
        // What it does there may be missing among its effects, or be of another statement.
        let has_column = |place: &Place| body.location(*place).is_none_or(|at| at.line == 0 || at.column > 0);
        if statement.piece.range.is_too_wide() || !effects.iter().all(has_column) {
            exclude(body, Some(statement.piece.range.clone()), TOO_WIDE, found);
            continue;
        }
        if effects.is_empty() {
            let begins_with_argument = statement.node.range.as_ref().is_some_and(|range| {
                // Debug information locates the argument where it is spelled, but the body's stores at the expansion.
                range.begin.is_macro_arg && function.place(&range.begin) != &range.begin.expansion
            });
            let reason = match is_call(statement.node) {
                _ if begins_with_argument => {
                    "a statement of a macro's body that begins with an argument: it has no place of its own"
                }
                true => "the call has no effects",
                false => "no store of this statement is left",
            };
            exclude(body, Some(statement.piece.range.clone()), reason, found);
            continue;
        }
        add(body, statement.piece.clone(), statement.replacement, effects, found);
    }
}

fn add(body: &Body<'_>, piece: Piece, replacement: &str, at: Vec<Place>, found: &mut OperatorOutput) {
    let Piece { text, range, spelling } = piece;
    found.mutants.push(mutant(body, text, replacement, Some(range), spelling, at));
}

fn mutant(
    body: &Body<'_>,
    original: String,
    replacement: &str,
    range: Option<SourceRange>,
    spelling: Option<SourceRange>,
    at: Vec<Place>,
) -> Mutant {
    Mutant {
        id: String::new(),
        operator: "SDL",
        function: body.name().to_owned(),
        original,
        replacement: replacement.to_owned(),
        range,
        spelling,
        edit: Edit::Instead { at, by: Action::Nothing },
        is_structural: true,
    }
}

fn exclude(body: &Body<'_>, range: Option<SourceRange>, reason: &str, found: &mut OperatorOutput) {
    let function = body.name().to_owned();
    found.excluded.push(Excluded { operator: "SDL", function, range, reason: reason.to_owned() });
}

/// Walks the statements of a function and collects those that may be deleted.
struct Walk<'a, 'f> {
    ast: &'a Ast,
    sources: &'a Sources,
    body: &'a Body<'a>,
    function: &'a Function,
    dropped: constant_switch::Nodes,
    statements: Vec<Statement<'a>>,
    found: &'f mut OperatorOutput,
}

impl<'a> Walk<'a, '_> {
    /// Visits a statement; `dead`: clang emits no code for it.
    fn statement(&mut self, node: &'a Node, dead: bool) {
        let dead = dead || self.dropped.contains(&std::ptr::from_ref(node));
        match &*node.kind {
            "" | "NullStmt" | "ReturnStmt" | "BreakStmt" | "ContinueStmt" | "GotoStmt" => {}
            "DeclStmt" | "CXXCtorInitializer" => {
                if let Some(range) = node.range.as_ref().filter(|_| !dead && declares_value(node)) {
                    let range = text::piece(self.sources, self.function, range).map(|piece| piece.range);
                    exclude(self.body, range, "an initialiser belongs to its declaration", self.found);
                }
            }
            HEAD => node.children.iter().for_each(|part| self.statement(part, dead)),
            "CompoundStmt" => {
                let mut dead = dead;
                for child in &node.children {
                    dead &= !folding::contains_label(child);
                    self.statement(child, dead);
                    dead |= folding::ends_flow(child);
                }
            }
            "AttributedStmt" | "LabelStmt" | "CaseStmt" | "DefaultStmt" => {
                let dead = dead && node.is("AttributedStmt");
                node.children.last().into_iter().for_each(|inner| self.statement(inner, dead));
            }
            "IfStmt" => (1..node.children.len()).for_each(|i| self.arm(node, i, dead)),
            "SwitchStmt" | "WhileStmt" => self.arm(node, 1, dead),
            "ForStmt" => {
                // Children: initial part, variable of the condition, condition, increment, body.
                self.part(node, 0, dead);
                self.part(node, 3, dead);
                self.arm(node, 4, dead);
            }
            "DoStmt" => self.arm(node, 0, dead),
            _ if dead => {}
            _ => self.expression(node, ""),
        }
    }

    /// Visits a part of the head of a `for`.
    fn part(&mut self, node: &'a Node, child: usize, dead: bool) {
        if let Some(part) = node.children.get(child) {
            self.statement(part, dead);
        }
    }

    fn arm(&mut self, node: &'a Node, child: usize, dead: bool) {
        let ruled_out = folding::is_ruled_out(self.ast, node, child);
        if let Some(arm) = node.children.get(child) {
            self.statement(arm, (dead || ruled_out) && !folding::contains_label(arm));
        }
    }

    fn expression(&mut self, node: &'a Node, replacement: &'static str) {
        if unwrapped(node).is("BinaryOperator") && unwrapped(node).opcode.as_deref() == Some(",") {
            return unwrapped(node).children.iter().for_each(|operand| self.expression(operand, "0"));
        }
        let Some((range, piece)) =
            node.range.as_ref().and_then(|range| Some((range, text::piece(self.sources, self.function, range)?)))
        else {
            return;
        };
        let inner = unwrapped(node);
        let callee = inner.name.as_deref().filter(|_| is_call(inner));
        let reason = match callee {
            Some(name) if synchronises(name) => "barriers and fences are SYR's, SCR's and FR's",
            Some(name) if builtins::family(name) == Some(Family::Printf) => {
                "it only prints: no output is another without it"
            }
            _ => {
                if !self.body.synchronises_in(range) {
                    let effects = self.body.effects_in(range);
                    return self.statements.push(Statement { node: inner, piece, effects, replacement });
                }
                "barriers and fences are SYR's, SCR's and FR's"
            }
        };
        exclude(self.body, Some(piece.range), reason, self.found);
    }
}

/// Strips parentheses and casts.
fn unwrapped(mut node: &Node) -> &Node {
    while let ("ParenExpr" | "ImplicitCastExpr" | "CStyleCastExpr", Some(inner)) = (&*node.kind, node.children.first())
    {
        node = inner;
    }
    node
}

fn is_call(node: &Node) -> bool {
    node.is("CallExpr") || node.is("AtomicExpr")
}

/// Returns whether a declaration initialises a variable, or a constructor a member.
fn declares_value(node: &Node) -> bool {
    node.is("CXXCtorInitializer")
        || node
            .children
            .iter()
            .any(|variable| variable.is("VarDecl") && variable.children.iter().any(|c| !c.kind.is_empty()))
}

/// Without a syntax tree: deletes stores whose location holds an assignment token, and calls whose result is unused.
fn delete_in_ir(subject: &Subject<'_>, body: &Body<'_>, found: &mut OperatorOutput) {
    for (place, inst) in body.instructions().filter(|(_, inst)| has_effects(*inst)) {
        let at = body.location(place).filter(|at| at.line > 0);
        let here = at.and_then(|at| subject.sources.at(&at.file, at.line, at.column));
        let (original, range) = match inst.callee() {
            Some(callee) if synchronises(&callee) => continue,
            Some(callee) if builtins::family(&callee) == Some(Family::Printf) => continue,
            Some(_) if inst.is_used() => continue,
            Some(callee) => {
                let len = here.as_deref().map_or(0, |text| text.find(|c: char| !is_name(c)).unwrap_or(text.len()));
                let name = here.as_deref().and_then(|text| text.get(..len)).filter(|name| !name.is_empty());
                (name.map_or(callee, str::to_owned), text::spot(at, len))
            }
            None if inst.opcode() == Opcode::LLVMStore => {
                let token = here.as_deref().and_then(assignment);
                // An initialiser is located at its variable's name; the copy of an argument is at no assignment either.
                if (here.is_some() && token.is_none()) || is_argument_spill(inst) {
                    continue;
                }
                (token.unwrap_or("store").to_owned(), text::spot(at, token.map_or(0, str::len)))
            }
            None => ("atomic".to_owned(), text::spot(at, 0)),
        };
        found.mutants.push(mutant(body, original, "", range, None, vec![place]));
    }
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Returns the assignment token with which the text begins, if any.
fn assignment(text: &str) -> Option<&'static str> {
    const TOKENS: [&str; 13] = ["<<=", ">>=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "++", "--", "="];
    TOKENS.into_iter().find(|token| text.starts_with(token) && !text.starts_with("=="))
}

/// Returns whether a store copies an argument of the function into its variable.
fn is_argument_spill(store: Inst<'_>) -> bool {
    store.operand(0).is_parameter() && store.operand(1).as_opcode(Opcode::LLVMAlloca).is_some()
}
