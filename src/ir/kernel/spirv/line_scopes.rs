//! Gives lines that stand alone (`OpLine`) the scopes without which the translators drop them.
//!
//! In LLVM IR a line belongs to a function that debug information describes. Here instructions of
//! `OpenCL.DebugInfo.100` describe just that: the files, and each function by name and line. Types and variables are
//! not made up.

use std::collections::{HashMap, HashSet};

use kassay_model::demangle;

use super::words::{self, Id, Instruction, Words, debug, op, set};

/// The longest name that is written, in bytes.
const LONGEST_NAME: usize = 10_000;

/// A line of the source. Line 0 stands for none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Line {
    file: Id,
    line: u32,
    column: u32,
}

/// A function with lines and without scopes.
#[derive(Debug)]
struct Described {
    id: Id,
    name: String,
    /// Where it begins: the line in front of it, or else its first one.
    begin: Line,
    /// The files of its lines, that of `begin` first.
    files: Vec<Id>,
}

/// Returns the module with a scope for each instruction that has a line and whose function has no scopes, unless it
/// describes its functions in another way.
pub(super) fn add(module: &Words) -> Words {
    let sets = module.debug_sets();
    let others = sets.iter().any(|(_, name)| name != set::OPENCL_DEBUG_INFO);
    let functions = described(module, &sets.iter().map(|(id, _)| *id).collect());
    // A malformed module may have its texts anywhere; that it is malformed, the translator says.
    let first = module.instructions().find(|at| matches!(at.opcode, op::STRING | op::FUNCTION));
    let has_texts = first.is_some_and(|at| at.opcode == op::STRING);
    let is_wanted = has_texts && !others && !functions.is_empty();
    let Some(void) = void(module).filter(|_| is_wanted) else { return module.clone() };
    let unit = sets.iter().find_map(|(set, _)| {
        let mut all = module.instructions();
        all.find_map(|at| at.of_set(*set).filter(|(number, ..)| *number == debug::COMPILATION_UNIT))
            .map(|(_, id, _)| id)
    });
    let mut writer = Writer {
        void,
        set: sets.first().map(|(set, _)| *set),
        unit,
        next: module.bound(),
        names: HashMap::new(),
        scopes: HashMap::new(),
    };
    writer.rewrite(module, &functions).unwrap_or_else(|| module.clone())
}

/// Returns the functions with bodies that have lines and no scopes, in order.
fn described(module: &Words, sets: &HashSet<Id>) -> Vec<Described> {
    let files = module.strings();
    let names = function_names(module);
    // Functions that are described, though they have no scopes.
    let known: HashSet<Id> = (module.instructions())
        .filter_map(|at| sets.iter().find_map(|set| at.of_set(*set)))
        .filter_map(|(number, _, operands)| operands.get(9).copied().filter(|_| number == debug::FUNCTION))
        .collect();
    let (mut found, mut current, mut has_scopes) = (Vec::new(), None::<Described>, false);
    let mut in_front = None;
    for at in module.instructions() {
        match (at.opcode, at.operands) {
            (op::LINE, &[file, line, column]) if files.contains_key(&file) => {
                let line = Line { file, line, column };
                match &mut current {
                    None => in_front = Some(line),
                    Some(function) => {
                        if function.begin.line == 0 {
                            function.begin = line;
                        }
                        function.files.extend((!function.files.contains(&file)).then_some(file));
                    }
                }
            }
            (op::FUNCTION, [_, id, ..]) => {
                let name = names.get(id).cloned().unwrap_or_default();
                // The source's, as debug information has it, unless it is too long for an instruction.
                let readable = demangle::function(&name).map(|found| found.name);
                let name = readable.filter(|readable| readable.len() < LONGEST_NAME).unwrap_or(name);
                let begin = in_front.take().unwrap_or(Line { file: 0, line: 0, column: 0 });
                current = Some(Described { id: *id, name, begin, files: Vec::new() });
                has_scopes = known.contains(id);
            }
            (op::FUNCTION_END, _) => {
                found.extend(current.take().filter(|function| !has_scopes && !function.files.is_empty()));
            }
            (op::NO_LINE, _) => in_front = None,
            (op::EXT_INST, [_, _, set, ..]) => has_scopes |= sets.contains(set),
            _ => {}
        }
    }
    for function in &mut found {
        // A line in front of the function alone may be of another file.
        let begin = function.begin.file;
        if let Some(at) = function.files.iter().position(|file| *file == begin) {
            function.files.swap(0, at);
        } else {
            function.files.insert(0, begin);
        }
    }
    found
}

/// The names of functions: those of entry points, those for other modules, or those of `OpName`.
fn function_names(module: &Words) -> HashMap<Id, String> {
    const LINKAGE_ATTRIBUTES: u32 = 41;
    let mut names = module.names();
    for decoration in module.decorations().filter(|decoration| decoration.kind == LINKAGE_ATTRIBUTES) {
        if let Some((name, _)) = words::text(decoration.operands) {
            names.insert(decoration.target, name);
        }
    }
    names.extend(module.entry_points().map(|entry| (entry.function, entry.name)));
    names
}

fn void(module: &Words) -> Option<Id> {
    module.instructions().find(|at| at.opcode == op::TYPE_VOID).and_then(|at| at.operands.first().copied())
}

/// What lines and scopes hold at a place of the module that is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// At the begin of a block.
    Unknown,
    NoScope,
    At(Line),
}

struct Writer {
    void: Id,
    /// The instruction set and the compilation unit that the module has already.
    set: Option<Id>,
    unit: Option<Id>,
    next: Id,
    /// The texts of functions' names, by function; that of function 0, which there is none, is empty.
    names: HashMap<Id, Id>,
    /// The scope of a function's lines in a file.
    scopes: HashMap<(Id, Id), Id>,
}

impl Writer {
    fn id(&mut self) -> Id {
        self.next = self.next.wrapping_add(1);
        self.next.wrapping_sub(1)
    }

    /// Returns the module with scopes; `None` if there are not enough ids.
    fn rewrite(&mut self, module: &Words, functions: &[Described]) -> Option<Words> {
        let by_id: HashMap<Id, &Described> = functions.iter().map(|function| (function.id, function)).collect();
        // Texts stand in front of names, and there is one at least: that of a file.
        let (mut has_texts, mut has_declarations) = (false, false);
        let mut body: Option<Body<'_>> = None;
        let mut rewritten = module.rewritten(|at, into| {
            match (at.opcode, at.operands) {
                (op::MEMORY_MODEL, _) if self.set.is_none() => self.import(into),
                (op::STRING, _) if !has_texts => {
                    has_texts = true;
                    self.add_names(functions, into);
                }
                (op::FUNCTION, [_, id, ..]) => {
                    if !has_declarations {
                        has_declarations = true;
                        self.declare(functions, into);
                    }
                    body = by_id.get(id).map(|function| Body { function, given: None, written: State::Unknown });
                }
                _ => {}
            }
            match &mut body {
                Some(body) if at.opcode != op::FUNCTION => self.within(body, at, into),
                _ => words::push(into, at.opcode, at.operands),
            }
            if at.opcode == op::FUNCTION_END {
                body = None;
            }
        });
        // Each new id is greater than the last one, unless they started again from 0.
        (self.next >= module.bound()).then(|| {
            rewritten.set_bound(self.next);
            rewritten
        })
    }

    fn import(&mut self, into: &mut Vec<u32>) {
        let set = self.id();
        self.set = Some(set);
        words::push(into, op::EXT_INST_IMPORT, &[&[set], &words::literal(set::OPENCL_DEBUG_INFO)[..]].concat());
    }

    fn add_names(&mut self, functions: &[Described], into: &mut Vec<u32>) {
        let names = functions.iter().map(|function| (function.id, function.name.as_str()));
        for (function, name) in names.chain([(0, "")]) {
            let id = self.id();
            self.names.insert(function, id);
            words::push(into, op::STRING, &[&[id], &words::literal(name)[..]].concat());
        }
    }

    /// Appends an instruction of debug information, and returns its id.
    fn debug(&mut self, number: u32, operands: &[u32], into: &mut Vec<u32>) -> Id {
        let (id, set) = (self.id(), self.set.unwrap_or_default());
        words::push(into, op::EXT_INST, &[&[self.void, id, set, number], operands].concat());
        id
    }

    /// Describes the files and the functions.
    fn declare(&mut self, functions: &[Described], into: &mut Vec<u32>) {
        let none = self.debug(debug::INFO_NONE, &[], into);
        let mut sources: HashMap<Id, Id> = HashMap::new();
        for file in functions.iter().flat_map(|function| &function.files) {
            if !sources.contains_key(file) {
                // An older translator requires a text.
                let operands = [*file, self.names[&0]];
                sources.insert(*file, self.debug(debug::SOURCE, &operands, into));
            }
        }
        let unit = match self.unit {
            Some(unit) => unit,
            None => {
                let main = sources[&functions[0].files[0]];
                let operands = [debug::VERSION, debug::DWARF_VERSION, main, debug::LANGUAGE_OPENCL_C];
                self.debug(debug::COMPILATION_UNIT, &operands, into)
            }
        };
        let ty = self.debug(debug::TYPE_FUNCTION, &[0, none], into);
        for function in functions {
            let (name, Line { line, column, .. }) = (self.names[&function.id], function.begin);
            let (source, no_name) = (sources[&function.files[0]], self.names[&0]);
            let operands =
                [name, ty, source, line, column, unit, no_name, debug::FLAG_IS_DEFINITION, line, function.id];
            let own = self.debug(debug::FUNCTION, &operands, into);
            self.scopes.insert((function.id, function.files[0]), own);
            for file in &function.files[1..] {
                let operands = [sources[file], 0, own];
                let scope = self.debug(debug::LEXICAL_BLOCK_DISCRIMINATOR, &operands, into);
                self.scopes.insert((function.id, *file), scope);
            }
        }
    }

    /// Writes an instruction of a function with lines, with its line and scope in front of it.
    fn within(&mut self, body: &mut Body<'_>, at: Instruction<'_>, into: &mut Vec<u32>) {
        match (at.opcode, at.operands) {
            (op::LINE, &[file, line, column]) => {
                let known = self.scopes.contains_key(&(body.function.id, file));
                body.given = known.then_some(Line { file, line, column });
                return;
            }
            (op::NO_LINE, _) => {
                body.given = None;
                return;
            }
            // Lines end with their block.
            (op::LABEL, _) => (body.given, body.written) = (None, State::Unknown),
            // Nothing may stand among these.
            (op::FUNCTION_PARAMETER | op::FUNCTION_END | op::VARIABLE | op::PHI, _) => {}
            _ => {
                // LLVM requires that a call in a function with debug information has a location.
                let nowhere = Line { file: body.function.files[0], line: 0, column: 0 };
                let line = body.given.or((at.opcode == op::FUNCTION_CALL).then_some(nowhere));
                let wanted = line.map_or(State::NoScope, State::At);
                if wanted != body.written {
                    self.place(body.function.id, wanted, into);
                    body.written = wanted;
                }
            }
        }
        words::push(into, at.opcode, at.operands);
    }

    /// Writes the scope and the line of what follows.
    fn place(&mut self, function: Id, wanted: State, into: &mut Vec<u32>) {
        match wanted {
            State::At(Line { file, line, column }) => {
                let scope = self.scopes[&(function, file)];
                self.debug(debug::SCOPE, &[scope], into);
                words::push(into, op::LINE, &[file, line, column]);
            }
            State::NoScope | State::Unknown => {
                self.debug(debug::NO_SCOPE, &[], into);
            }
        }
    }
}

/// The place in a function that is written.
struct Body<'d> {
    function: &'d Described,
    /// The line that holds here in the given module.
    given: Option<Line>,
    written: State,
}

#[cfg(test)]
mod tests {
    use super::super::words::tests::module;
    use super::*;

    const K: u32 = u32::from_le_bytes(*b"k\0\0\0");

    /// A module with two files (20 and 21) and these instructions in the only block of a function.
    fn with(block: &[&[u32]]) -> Words {
        let before: [&[u32]; 7] = [
            &[op::MEMORY_MODEL, 2, 2],
            &[op::STRING, 20, u32::from_le_bytes(*b"a.cl"), 0],
            &[op::STRING, 21, u32::from_le_bytes(*b"b.h\0")],
            &[op::NAME, 3, K],
            &[op::TYPE_VOID, 1],
            &[op::FUNCTION, 1, 3, 0, 2],
            &[op::LABEL, 4],
        ];
        module(&[&before[..], block, &[&[op::FUNCTION_END]]].concat())
    }

    /// The instructions of the block with the file, line and column at which the translator will see them.
    fn placed(words: &Words) -> Vec<(u32, Option<[u32; 3]>)> {
        let sets = words.debug_sets();
        let (mut line, mut in_scope, mut placed) = (None, false, Vec::new());
        for at in words.instructions().skip_while(|at| at.opcode != op::LABEL).skip(1) {
            match (at.opcode, at.operands) {
                (op::LINE, &[file, number, column]) => line = Some([file, number, column]),
                (op::LABEL, _) => (line, in_scope) = (None, false),
                (op::EXT_INST, [_, _, set, number, ..]) if *set == sets[0].0 => in_scope = *number == debug::SCOPE,
                _ => placed.push((at.opcode, line.filter(|_| in_scope))),
            }
        }
        placed
    }

    #[test]
    fn lines_end_with_their_block_and_calls_always_have_a_place() {
        const STORE: u32 = 62;
        const RETURN: u32 = 253;
        let given = with(&[
            &[op::VARIABLE, 9, 10, 7],
            &[STORE, 10, 11],
            &[op::FUNCTION_CALL, 1, 12, 13],
            &[op::LINE, 20, 5, 3],
            &[STORE, 10, 11],
            &[op::FUNCTION_CALL, 1, 14, 13],
            &[op::LINE, 21, 1, 0],
            &[STORE, 10, 11],
            &[op::NO_LINE],
            &[STORE, 10, 11],
            &[op::LINE, 20, 6, 1],
            &[op::BRANCH, 5],
            &[op::LABEL, 5],
            &[STORE, 10, 11],
            &[RETURN],
        ]);
        let added = add(&given);
        let expected = [
            (op::VARIABLE, None),
            (STORE, None),
            (op::FUNCTION_CALL, Some([20, 0, 0])),
            (STORE, Some([20, 5, 3])),
            (op::FUNCTION_CALL, Some([20, 5, 3])),
            (STORE, Some([21, 1, 0])),
            (STORE, None),
            (op::BRANCH, Some([20, 6, 1])),
            (STORE, None),
            (RETURN, None),
            (op::FUNCTION_END, None),
        ];
        assert_eq!(placed(&added), expected);
        // Every new id is below the bound.
        let of_debug = added.instructions().filter(|at| at.opcode == op::EXT_INST);
        let results: Vec<Id> = of_debug.map(|at| at.operands[1]).collect();
        assert!(results.iter().all(|id| (given.bound()..added.bound()).contains(id)), "{results:?}");
        assert_eq!(results.iter().collect::<HashSet<_>>().len(), results.len());
    }

    #[test]
    fn modules_without_lines_or_with_scopes_stay_as_they_are() {
        let plain = with(&[&[253]]);
        assert_eq!(add(&plain), plain);
        let unknown_file = with(&[&[op::LINE, 99, 5, 3], &[253]]);
        assert_eq!(add(&unknown_file), unknown_file);
        let scoped = add(&with(&[&[op::LINE, 20, 5, 3], &[253]]));
        assert_eq!(add(&scoped), scoped);
        // Texts after functions.
        let late = module(&[
            &[op::TYPE_VOID, 1],
            &[op::FUNCTION, 1, 3, 0, 2],
            &[op::LABEL, 4],
            &[op::LINE, 20, 5, 3],
            &[253],
            &[op::FUNCTION_END],
            &[op::STRING, 20, 0],
        ]);
        assert_eq!(add(&late), late);
        // All ids are taken.
        let mut full = with(&[&[op::LINE, 20, 5, 3], &[253]]);
        full.set_bound(u32::MAX - 2);
        assert_eq!(add(&full), full);
    }
}
