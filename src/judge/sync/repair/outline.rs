//! The statements of a kernel's file by place, with the gaps between them where code can be put.
//!
//! Statements of headers and within macros have no places of their own: an expansion is one statement.

use kassay_ir::kernel::ast::{Ast, Function, Node, Position};
use kassay_ir::kernel::source::line_ends;
use kassay_results::result::Location;

use super::lexer;
use crate::mutation::catalogue::mutant::same_file;

/// A piece of the text, in bytes; `end` is just past its last one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Span {
    pub start: usize,
    pub end: usize,
}

impl Span {
    pub fn contains(self, at: usize) -> bool {
        (self.start..self.end).contains(&at)
    }
}

/// The functions of one file.
pub struct Outline<'a> {
    pub file: &'a str,
    pub text: &'a [u8],
    /// Where each line begins.
    starts: Vec<usize>,
    pub functions: Vec<Body<'a>>,
}

/// A function with its statements.
pub struct Body<'a> {
    pub list: List<'a>,
}

/// What a list of statements belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ListKind {
    Function,
    /// Of an `if`: executed or not.
    Branch,
    Loop,
    Switch,
    Block,
}

/// Statements that are executed one after the other; a single one if there are no braces.
pub struct List<'a> {
    pub kind: ListKind,
    /// What is between the braces, or the statement.
    pub span: Span,
    pub has_braces: bool,
    pub items: Vec<Item<'a>>,
}

/// A statement.
pub struct Item<'a> {
    /// With its semicolon, but without labels.
    pub span: Span,
    pub node: &'a Node,
    pub lists: Vec<List<'a>>,
}

/// A statement of a list.
#[derive(Clone, Copy)]
pub struct Step<'o, 'a> {
    pub list: &'o List<'a>,
    pub index: usize,
}

impl<'o, 'a> Step<'o, 'a> {
    pub fn item(&self) -> &'o Item<'a> {
        &self.list.items[self.index]
    }

    pub fn is_of(&self, list: &List<'_>) -> bool {
        std::ptr::eq(std::ptr::from_ref(self.list).cast::<u8>(), std::ptr::from_ref(list).cast::<u8>())
    }
}

/// The way to a place, from the function's list inwards.
pub type Path<'o, 'a> = Vec<Step<'o, 'a>>;

impl<'a> Outline<'a> {
    /// `file` is the kernel's, as clang names it.
    pub fn of(ast: &'a Ast, file: &'a str, text: &'a [u8]) -> Outline<'a> {
        let starts = std::iter::once(0).chain(line_ends(text).map(|(_, next)| next)).collect();
        let mut outline = Outline { file, text, starts, functions: Vec::new() };
        let bodies = ast.functions.iter().filter_map(|function| {
            let list = Reader { outline: &outline, function }.list(&function.body, ListKind::Function)?;
            list.has_braces.then_some(Body { list })
        });
        let bodies: Vec<Body<'a>> = bodies.collect();
        outline.functions = bodies;
        outline
    }

    /// The offset of a line and column, which count from 1.
    pub fn offset(&self, line: u32, column: u32) -> Option<usize> {
        let start = self.starts.get((line as usize).checked_sub(1)?)?;
        let at = start + (column as usize).checked_sub(1)?;
        (at <= self.text.len()).then_some(at)
    }

    /// The line of an offset.
    pub fn line(&self, at: usize) -> u32 {
        self.starts.partition_point(|start| *start <= at) as u32
    }

    /// The column of an offset, in bytes from 1.
    pub fn column(&self, at: usize) -> u32 {
        (at - self.line_start(at)) as u32 + 1
    }

    pub fn line_start(&self, at: usize) -> usize {
        self.starts[self.line(at) as usize - 1]
    }

    /// The end of the offset's line, before its line break.
    pub fn line_end(&self, at: usize) -> usize {
        let rest = &self.text[at..];
        at + rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(rest.len())
    }

    pub fn slice(&self, span: Span) -> String {
        String::from_utf8_lossy(self.text.get(span.start..span.end).unwrap_or_default()).into_owned()
    }

    /// Whether a place of a result is in this file.
    pub fn has(&self, location: &Location) -> bool {
        location.line > 0 && same_file(&location.file, self.file)
    }

    /// The way to a place, if it is in a function of this file.
    pub fn path(&self, location: &Location) -> Option<(&Body<'a>, Path<'_, 'a>)> {
        let at = self.offset(location.line, location.column.max(1)).filter(|_| self.has(location))?;
        let body = self.functions.iter().find(|body| body.list.span.contains(at))?;
        let mut path = Vec::new();
        let mut list = Some(&body.list);
        while let Some(here) = list {
            let Some(index) = here.items.iter().position(|item| item.span.contains(at)) else { break };
            path.push(Step { list: here, index });
            list = here.items[index].lists.iter().find(|inner| inner.span.contains(at));
        }
        (!path.is_empty()).then_some((body, path))
    }

    /// Whether a macro makes the statement at a place.
    pub fn is_of_macro(&self, location: &Location) -> bool {
        let begin = self.path(location).and_then(|(_, path)| path.last()?.item().node.range.as_ref());
        begin.is_some_and(|range| range.begin.spelling.is_some() && !range.begin.is_macro_arg)
    }

    /// Calls `visit` with every statement of a list and of those in it, each with the way there.
    pub fn walk<'o>(list: &'o List<'a>, visit: &mut dyn FnMut(&Path<'o, 'a>)) {
        fn inside<'o, 'a>(list: &'o List<'a>, path: &mut Path<'o, 'a>, visit: &mut dyn FnMut(&Path<'o, 'a>)) {
            for index in 0..list.items.len() {
                path.push(Step { list, index });
                visit(path);
                list.items[index].lists.iter().for_each(|inner| inside(inner, path, visit));
                path.pop();
            }
        }
        inside(list, &mut Vec::new(), visit);
    }
}

/// Reads the statements of a function.
struct Reader<'o, 'a> {
    outline: &'o Outline<'a>,
    function: &'a Function,
}

impl<'a> Reader<'_, 'a> {
    /// Where a token begins and ends in the file; of a macro's, where that is expanded.
    fn token(&self, position: &Position) -> Option<Span> {
        let place = self.function.place(position);
        let start = self.outline.offset(place.line, place.column).filter(|_| *place.file == *self.outline.file)?;
        Some(Span { start, end: (start + place.tok_len as usize).min(self.outline.text.len()) })
    }

    fn list(&self, node: &'a Node, kind: ListKind) -> Option<List<'a>> {
        if !node.is("CompoundStmt") {
            let item = self.item(node)?;
            return Some(List { kind, span: item.span, has_braces: false, items: vec![item] });
        }
        let range = node.range.as_ref()?;
        let (open, close) = (self.token(&range.begin)?, self.token(&range.end)?);
        let is_brace = |span: Span, brace| self.outline.text.get(span.start) == Some(&brace);
        if !is_brace(open, b'{') || !is_brace(close, b'}') || close.start < open.end {
            return None;
        }
        let mut items: Vec<Item<'a>> = Vec::new();
        for item in node.children.iter().filter_map(|child| self.item(child)) {
            match items.last_mut() {
                // Several statements of one expansion.
                Some(last) if item.span.start < last.span.end => {
                    last.span.end = last.span.end.max(item.span.end);
                    last.lists.clear();
                }
                _ => items.push(item),
            }
        }
        Some(List { kind, span: Span { start: open.end, end: close.start }, has_braces: true, items })
    }

    fn item(&self, node: &'a Node) -> Option<Item<'a>> {
        if matches!(&*node.kind, "CaseStmt" | "DefaultStmt" | "LabelStmt" | "AttributedStmt") {
            return self.item(node.children.last()?);
        }
        let range = node.range.as_ref()?;
        let (start, last) = (self.token(&range.begin)?.start, self.token(&range.end)?);
        let parts: &[(usize, ListKind)] = match &*node.kind {
            "IfStmt" => &[(1, ListKind::Branch), (2, ListKind::Branch)],
            "SwitchStmt" => &[(1, ListKind::Switch)],
            "ForStmt" => &[(4, ListKind::Loop)],
            "WhileStmt" => &[(1, ListKind::Loop)],
            "DoStmt" => &[(0, ListKind::Loop)],
            "CompoundStmt" => &[],
            _ => &[],
        };
        // What a macro makes has no text between its statements.
        let is_expanded = range.begin.spelling.is_some() && self.token(&range.begin) == self.token(&range.end);
        let mut lists: Vec<List<'a>> = match &*node.kind {
            _ if is_expanded => Vec::new(),
            "CompoundStmt" => self.list(node, ListKind::Block).into_iter().collect(),
            _ => {
                let parts = parts.iter().filter_map(|(at, kind)| Some((node.children.get(*at)?, *kind)));
                parts.filter_map(|(part, kind)| self.list(part, kind)).collect()
            }
        };
        lists.retain(|list| list.span.start >= start);
        let text = self.outline.text;
        let end = match &*node.kind {
            "CompoundStmt" if !is_expanded => last.end,
            "IfStmt" | "SwitchStmt" | "ForStmt" | "WhileStmt" if !is_expanded => {
                let ends = lists.iter().map(|list| list.span.end + usize::from(list.has_braces));
                ends.max().unwrap_or_else(|| lexer::statement_end(text, last.end))
            }
            _ => lexer::statement_end(text, last.end),
        };
        Some(Item { span: Span { start, end: end.max(last.end) }, node, lists })
    }
}
