//! Enumerates all mutants of a kernel in source order, assigns their ids and finds those with equal edits.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use kassay_ir::cfg::indices::{BlockIndex, FunctionIndex};
use kassay_ir::cfg::sites::Sites;
use kassay_ir::instrument::mutants::edit::{Edit, LocalVariable, Place};
use kassay_ir::instrument::mutants::schemata;
use kassay_ir::llvm::View;

use super::indices::{self, ByMutant, MutantIndex};
use super::mutant::{Excluded, Mutant, SourceRange};
use super::operators::{OPERATORS, OperatorOutput, Subject};
use super::redirect_legality::RedirectLegality;
use super::selection::Selection;

/// The mutants of a kernel.
#[derive(Debug, Default)]
pub struct Enumeration {
    /// In source order, with ids. No two have the same operator, place and edit.
    pub mutants: Vec<Mutant>,
    /// By mutant: the first one with an equal edit, unless that is the mutant itself.
    pub duplicate_of: ByMutant<Option<MutantIndex>>,
    /// In source order.
    pub excluded: Vec<Excluded>,
    /// Says how many mutants were left out because their edits cannot be woven, and why, if there are any.
    pub malformed: Option<String>,
}

/// Runs the operators of `selection`, with its preset and level, on the kernel. Launch mutants are left
/// to [`launch::mutants`](super::operators::launch::mutants).
pub fn enumerate(subject: &Subject<'_>, selection: &Selection) -> Enumeration {
    let subject = Subject { preset: selection.preset(), level: selection.level(), ..subject.clone() };
    let mut found = OperatorOutput::default();
    for operator in selection.operators() {
        (operator.enumerate)(&subject, &mut found);
    }
    found.mutants.retain(|m| !is_of_library(&m.edit, subject.sites));
    let legality = RedirectLegality::of(subject.module, subject.sites);
    let (possible, impossible) = found.mutants.into_iter().partition(|m| legality.allows(&m.edit));
    found.mutants = possible;
    found.excluded.extend(impossible.into_iter().map(|m: Mutant| Excluded {
        operator: m.operator,
        function: m.function,
        range: m.range,
        reason: "in optimised IR, something that is used later would not be computed".to_owned(),
    }));
    let mut all = arrange(found, subject.sites);
    leave_out_malformed(&mut all, subject.module, subject.sites);
    all
}

/// Leaves out mutants whose edit cannot be woven, with the reason. There are none, unless an operator takes an
/// instruction for another one; that must cost these mutants, not the run.
pub fn leave_out_malformed(all: &mut Enumeration, module: View<'_>, sites: &Sites) {
    let weave = |edits: &[(u32, &Edit)]| schemata::weave(&module.copied(), sites, edits, false);
    let is_plain = |mutant: &&Mutant| mutant.edit.is_woven() && !matches!(mutant.edit, Edit::Variant(_));
    let plain: Vec<&Edit> = all.mutants.iter().filter(is_plain).map(|mutant| &mutant.edit).collect();
    let together: Vec<(u32, &Edit)> = (1..).zip(plain.iter().copied()).collect();
    if weave(&together).is_ok() {
        return;
    }
    let malformed: HashMap<Edit, String> = plain
        .into_iter()
        .filter_map(|edit| Some((edit.clone(), weave(&[(1, edit)]).err()?.report().what.clone())))
        .collect();
    let (kept, left): (Vec<Mutant>, Vec<Mutant>) =
        std::mem::take(&mut all.mutants).into_iter().partition(|m| !malformed.contains_key(&m.edit));
    all.mutants = kept;
    let left = left.into_iter().map(|m| Excluded {
        reason: malformed.get(&m.edit).cloned().unwrap_or_default(),
        operator: m.operator,
        function: m.function,
        range: m.range,
    });
    let left: Vec<Excluded> = left.collect();
    all.malformed = match &left[..] {
        [] => None,
        [only] => Some(format!("1 mutant is left out, because kassay cannot weave it: {only}")),
        [first, ..] => {
            let count = left.len();
            Some(format!("{count} mutants are left out, because kassay cannot weave them; the first: {first}"))
        }
    };
    all.excluded.extend(left);
    all.duplicate_of = duplicates(&all.mutants);
}

fn duplicates(mutants: &[Mutant]) -> ByMutant<Option<MutantIndex>> {
    let first = first_with_equal_edit(mutants);
    first.positions().map(|m| Some(first[m]).filter(|first| *first != m)).collect()
}

/// Sorts the mutants, drops repetitions, assigns ids and finds duplicates.
fn arrange(found: OperatorOutput, sites: &Sites) -> Enumeration {
    let order = |id: &str| OPERATORS.iter().position(|o| o.id == id).unwrap_or(OPERATORS.len());
    let mut keyed: Vec<(SortKey, String, Mutant)> = found
        .mutants
        .into_iter()
        .map(|mutant| {
            let key = SortKey {
                at: position(mutant.range.as_ref()),
                place: first_place(&mutant.edit, sites),
                operator: order(mutant.operator),
                replacement: one_line(&mutant.replacement),
            };
            (key, order_text(&mutant.edit), mutant)
        })
        .collect();
    keyed.sort_by(|a, b| (&a.0, &a.1).cmp(&(&b.0, &b.1)));

    let mut out = Enumeration::default();
    let mut seen = HashSet::new();
    let mut ids: HashMap<String, u32> = HashMap::new();
    for (key, _, mut mutant) in keyed {
        let at = place_text(&mutant, key.place);
        if !seen.insert((mutant.operator, mutant.function.clone(), at.clone(), mutant.edit.clone())) {
            continue;
        }
        mutant.id = numbered(format!("{}.{}@{at}:{}", mutant.function, mutant.operator, key.replacement), &mut ids);
        out.mutants.push(mutant);
    }
    out.duplicate_of = duplicates(&out.mutants);
    out.excluded = found.excluded;
    out.excluded.sort_by(|a, b| {
        let key = |e: &Excluded| (position(e.range.as_ref()), order(e.operator), e.function.clone(), e.reason.clone());
        key(a).cmp(&key(b))
    });
    out.excluded.dedup();
    out
}

/// Returns the sort key of mutants with the same place, operator and replacement. The numbers in ids (`#2`) depend on
/// this order, so the text of an edit must not change: neither the names nor the order of the parts of [`Edit`].
fn order_text(edit: &Edit) -> String {
    format!("{edit:?}")
}

/// Returns the first mutant with an equal edit, for each mutant; it may be the mutant itself.
pub fn first_with_equal_edit(mutants: &[Mutant]) -> ByMutant<MutantIndex> {
    let mut first: HashMap<&Edit, MutantIndex> = HashMap::new();
    let all = indices::positions(mutants.len());
    all.map(|m: MutantIndex| *first.entry(&mutants[m].edit).or_insert(m)).collect()
}

/// The sort key of mutants.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct SortKey {
    /// Mutants without a place in the source come last.
    at: (bool, String, u32, u32),
    place: Option<Place>,
    operator: usize,
    replacement: String,
}

fn position(range: Option<&SourceRange>) -> (bool, String, u32, u32) {
    match range {
        Some(range) => (false, range.file.clone(), range.start.line, range.start.column),
        None => (true, String::new(), 0, 0),
    }
}

fn first_place(edit: &Edit, sites: &Sites) -> Option<Place> {
    let terminator = |function: FunctionIndex, block: BlockIndex| {
        sites.functions[function].cfg.blocks[block].instructions.len().saturating_sub(1)
    };
    edit.places(&terminator).into_iter().min()
}

/// Returns whether an edit begins in a library's code, which the source only calls.
fn is_of_library(edit: &Edit, sites: &Sites) -> bool {
    first_place(edit, sites).is_some_and(|at| {
        let block = &sites.functions[at.function].cfg.blocks[at.block];
        block.instructions.get(at.instruction).is_some_and(|instruction| instruction.is_of_library)
    })
}

/// Returns the part of an id that names the place: `file:line:column`, else the place in the IR, else the variable.
fn place_text(mutant: &Mutant, place: Option<Place>) -> String {
    match (&mutant.range, place, &mutant.edit) {
        (Some(range), _, _) => format!("{}:{}:{}", base_name(&range.file), range.start.line, range.start.column),
        (None, Some(place), _) => format!("block {} instruction {}", place.block, place.instruction),
        (None, None, Edit::Privatise { variable: LocalVariable::Global(name) }) => name.clone(),
        (None, None, Edit::Privatise { variable: LocalVariable::Argument(position) }) => format!("argument {position}"),
        (None, None, _) => "launch".to_owned(),
    }
}

/// Returns `id`, or `id#2` and so on if it was used before.
fn numbered(id: String, ids: &mut HashMap<String, u32>) -> String {
    let count = ids.entry(id.clone()).or_insert(0);
    *count += 1;
    if *count > 1 { format!("{id}#{count}") } else { id }
}

/// Replaces each run of white space by one blank.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

fn base_name(file: &str) -> &str {
    Path::new(file).file_name().and_then(|name| name.to_str()).unwrap_or(file)
}

#[cfg(test)]
mod tests {
    use kassay_ir::instrument::mutants::edit::{Action, Expr, Slot};

    use super::super::mutant::Spot;
    use super::*;

    fn mutant(operator: &'static str, at: Option<(u32, u32)>, replacement: &str, edit: Edit) -> Mutant {
        let range = at.map(|(line, column)| SourceRange {
            file: "folder/k.cl".into(),
            start: Spot { line, column },
            end: Spot { line, column: column + 1 },
        });
        Mutant {
            id: String::new(),
            operator,
            function: "f".into(),
            original: "x".into(),
            replacement: replacement.into(),
            range,
            spelling: None,
            edit,
            is_structural: false,
        }
    }

    fn place(instruction: usize) -> Place {
        Place { function: FunctionIndex::KERNEL, block: BlockIndex(2), instruction }
    }

    fn value(instruction: usize, by: i128) -> Edit {
        Edit::Value { at: vec![Slot::Result(place(instruction))], by: Expr::Integer(by) }
    }

    fn ids(mutants: Vec<Mutant>) -> (Vec<String>, Vec<Option<usize>>) {
        let sites = Sites::default();
        let all = arrange(OperatorOutput { mutants, excluded: Vec::new() }, &sites);
        let duplicates = all.duplicate_of.values().map(|of| of.map(|m| m.0)).collect();
        (all.mutants.into_iter().map(|m| m.id).collect(), duplicates)
    }

    #[test]
    fn ids_are_ordered_by_place_then_operator_then_replacement() {
        let nothing = Edit::Instead { at: vec![place(9)], by: Action::Nothing };
        let (ids, duplicates) = ids(vec![
            mutant("ICR", Some((3, 7)), "b", value(1, 1)),
            mutant("SYR", Some((3, 7)), "z", value(1, 2)),
            mutant("ICR", Some((3, 7)), "a\n  +  1", value(1, 3)),
            mutant("ICR", Some((2, 40)), "b", value(1, 4)),
            mutant("SYR", None, "", nothing),
            mutant("SHR", None, "private", Edit::Privatise { variable: LocalVariable::Argument(2) }),
        ]);
        let expected = [
            "f.ICR@k.cl:2:40:b",
            "f.SYR@k.cl:3:7:z",
            "f.ICR@k.cl:3:7:a + 1",
            "f.ICR@k.cl:3:7:b",
            "f.SHR@argument 2:private",
            "f.SYR@block 2 instruction 9:",
        ];
        assert_eq!(ids, expected);
        assert_eq!(duplicates, [None; 6]);
    }

    #[test]
    fn equal_ids_are_numbered_and_equal_edits_are_dropped_or_duplicates() {
        let (ids, duplicates) = ids(vec![
            mutant("ICR", Some((3, 7)), "b", value(1, 1)),
            mutant("ICR", Some((3, 7)), "b", value(4, 1)),
            // The edit of the first one again, at the same place: dropped, whatever its replacement text.
            mutant("ICR", Some((3, 7)), "c", value(1, 1)),
            // The same edit by another operator, and at another place.
            mutant("SYR", Some((3, 7)), "b", value(4, 1)),
            mutant("ICR", Some((9, 9)), "b", value(1, 1)),
        ]);
        assert_eq!(ids, ["f.ICR@k.cl:3:7:b", "f.SYR@k.cl:3:7:b", "f.ICR@k.cl:3:7:b#2", "f.ICR@k.cl:9:9:b"]);
        assert_eq!(duplicates, [None, None, Some(1), Some(0)]);
    }
}
