//! Local memory: `SHR` gives each work-item its own copy of a `__local` variable.

use kassay_ir::instrument::mutants::edit::{Edit, LocalVariable};
use kassay_ir::kernel::ast::{Function, Loc};
use kassay_ir::kernel::source::Sources;
use kassay_ir::llvm::{AddressSpace, DebugLocation};
use kassay_model::interface::ArgKind;

use super::super::level::{self, Concept};
use super::super::mutant::{Mutant, SourceRange, Spot};
use super::super::subject::{Operator, OperatorOutput, Subject};

/// Makes a `__local` variable private to each work-item (LIU, table 6.2).
pub const SHR: Operator = Operator {
    id: "SHR",
    name: "local removal",
    class: "memory",
    description: "a `__local` variable, or the memory of a `__local` argument, becomes private to each work-item",
    origin: "LIU",
    peng: false,
    liu: true,
    concept: Concept::SourceAlone,
    levels: level::SOURCE,
    enumerate: shr,
};

/// The texts and range of a mutant.
struct MutantText {
    original: String,
    replacement: String,
    range: Option<SourceRange>,
}

fn shr(subject: &Subject<'_>, found: &mut OperatorOutput) {
    let mut add = |function: String, text: MutantText, variable| {
        found.mutants.push(Mutant {
            id: String::new(),
            operator: SHR.id,
            function,
            original: text.original,
            replacement: text.replacement,
            range: text.range,
            spelling: None,
            edit: Edit::Privatise { variable },
            is_structural: true,
        });
    };
    let functions: Vec<&str> = subject.sites.functions.iter().map(|f| f.cfg.function.as_str()).collect();
    for (name, location) in local_globals(subject) {
        // clang names a local variable of a function `function.variable`.
        let scopes = functions.iter().filter_map(|f| Some((*f, name.strip_prefix(f)?.strip_prefix('.')?)));
        let (function, short) = scopes.min_by_key(|(_, short)| short.len()).unwrap_or((subject.entry, &name));
        let text = variable_text(subject, function, short, location.as_ref());
        add(function.to_owned(), text, LocalVariable::Global(name.clone()));
    }
    for arg in subject.interface.args.iter().filter(|arg| matches!(arg.kind, ArgKind::Local { .. })) {
        let text = argument_text(subject, arg.position, &arg.label());
        add(subject.entry.to_owned(), text, LocalVariable::Argument(arg.position));
    }
}

/// Returns the module's `__local` variables with their locations; in the canonical form these are the ones that the
/// kernel reaches.
fn local_globals(subject: &Subject<'_>) -> Vec<(String, Option<DebugLocation>)> {
    let variables = subject.module.globals().into_iter().filter(|variable| {
        let is_local = variable.ty().space() == Some(AddressSpace::Local);
        is_local && variable.value_type().is_sized() && variable.is_used()
    });
    variables.map(|variable| (variable.name(), variable.location())).collect()
}

/// Describes the mutant of a `__local` variable.
fn variable_text(subject: &Subject<'_>, function: &str, name: &str, at: Option<&DebugLocation>) -> MutantText {
    let written = subject.ast.and_then(|ast| ast.function(function));
    let declared = written.zip(at).and_then(|(written, at)| declaration(subject.sources, written, name, at));
    declared
        .and_then(|(text, range)| {
            let replacement = without_local(&text)?;
            Some(MutantText { original: text, replacement, range: Some(range) })
        })
        .unwrap_or_else(|| MutantText {
            original: format!("__local {name}"),
            replacement: format!("__private {name}"),
            range: at.and_then(|at| {
                let line = subject.sources.lines(&at.file)?.get((at.line as usize).checked_sub(1)?)?.clone();
                let column = find_word(&line, name)? as u32 + 1;
                Some(range(&at.file, (at.line, column), (at.line, column + name.len() as u32)))
            }),
        })
}

/// Returns the text of a variable's declaration, if it declares nothing else.
fn declaration(sources: &Sources, written: &Function, name: &str, at: &DebugLocation) -> Option<(String, SourceRange)> {
    let mut found: Option<(&Loc, &Loc)> = None;
    let mut begins = Vec::new();
    written.body.walk(&mut |node| {
        let Some(place) = node.range.as_ref().filter(|_| node.is("VarDecl")) else { return };
        let (begin, end) = (written.place(&place.begin), written.place(&place.end));
        begins.push((begin.line, begin.column));
        if node.name.as_deref() == Some(name) && (begin.line..=end.line).contains(&at.line) {
            found = Some((begin, end));
        }
    });
    let (begin, end) = found?;
    let is_alone = begins.iter().filter(|b| **b == (begin.line, begin.column)).count() == 1;
    if !is_alone || begin.file != end.file {
        return None;
    }
    let range = range(&begin.file, (begin.line, begin.column), (end.line, end.column + end.tok_len));
    Some((super::calls::between(sources, &range)?, range))
}

/// Removes the address space from a declaration; `None` if it does not contain one literally.
fn without_local(text: &str) -> Option<String> {
    ["__local", "local", "__shared__"].iter().find_map(|word| {
        let at = find_word(text, word)?;
        Some(format!("{}{}", &text[..at], text[at + word.len()..].trim_start()))
    })
}

/// Describes the mutant of a `__local` argument.
fn argument_text(subject: &Subject<'_>, position: u32, name: &str) -> MutantText {
    let written = subject.ast.and_then(|ast| ast.function(subject.entry));
    let at = written.map(|written| &written.location.expansion);
    let parameter = at.and_then(|at| parameter(subject.sources, at, position, name));
    let private = |text: &str| Some(format!("__private {}", without_local(text)?));
    match parameter.and_then(|(text, range)| Some((private(&text)?, text, range))) {
        Some((replacement, original, range)) => MutantText { original, replacement, range: Some(range) },
        None => {
            MutantText { original: format!("__local *{name}"), replacement: format!("__private *{name}"), range: None }
        }
    }
}

/// Returns the text of a function's parameter; `at`: the function's name. `None` if the text does not contain the
/// parameter's name.
fn parameter(sources: &Sources, at: &Loc, position: u32, name: &str) -> Option<(String, SourceRange)> {
    let lines = sources.lines(&at.file)?;
    let (mut depth, mut index) = (0, 0);
    // First character of the parameter and the end of its last one: line and column from 1.
    let mut span: Option<((u32, u32), (u32, u32))> = None;
    'lines: for (number, line) in lines.iter().enumerate().skip((at.line as usize).checked_sub(1)?) {
        let number = number as u32 + 1;
        let from = if number == at.line { at.column as usize - 1 } else { 0 };
        for (i, c) in line.char_indices().filter(|(i, _)| *i >= from) {
            let here = (number, i as u32 + 1);
            match c {
                '(' => depth += 1,
                ')' if depth == 1 => break 'lines,
                ')' => depth -= 1,
                ',' if depth == 1 && index == position => break 'lines,
                ',' if depth == 1 => index += 1,
                c if depth > 0 && index == position && !c.is_whitespace() => {
                    span = Some((span.map_or(here, |span| span.0), (number, here.1 + c.len_utf8() as u32)));
                }
                _ => {}
            }
        }
    }
    let (start, end) = span?;
    let range = range(&at.file, start, end);
    let text = super::calls::between(sources, &range)?;
    find_word(&text, name).is_some().then_some((text, range))
}

/// Returns the position of a word in a text, in bytes from its start.
fn find_word(text: &str, word: &str) -> Option<usize> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
    text.match_indices(word).map(|(at, _)| at).find(|at| {
        !text[..*at].chars().next_back().is_some_and(is_part) && !text[at + word.len()..].starts_with(is_part)
    })
}

fn range(file: &str, start: (u32, u32), end: (u32, u32)) -> SourceRange {
    SourceRange {
        file: file.to_owned(),
        start: Spot { line: start.0, column: start.1 },
        end: Spot { line: end.0, column: end.1 },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn declarations_lose_their_address_space() {
        assert_eq!(without_local("__local float a[4]").as_deref(), Some("float a[4]"));
        assert_eq!(without_local("volatile local int x").as_deref(), Some("volatile int x"));
        assert_eq!(without_local("SHARED float local_a[4]"), None);
    }

    #[test]
    fn only_whole_words_are_found() {
        assert_eq!(find_word("tile_a, tile", "tile"), Some(8));
        assert_eq!(find_word("xtile", "tile"), None);
    }
}
