//! Compares operators of the syntax tree with the instructions found for them, over the kernels of `testdata`.

use kassay_judge::mutation::catalogue::operators::Preset;
use kassay_judge::mutation::catalogue::source_ops::{self, Implementation};

use super::support::{self, Known};

/// The reasons why an operator may have no instruction.
const REASONS: [&str; 9] = [
    "clang emits nothing here",
    "clang decides by it which way",
    "a whole structure is copied",
    "a difference of pointers",
    "a pointer is set",
    "a barrier's flags",
    "the operand of `sizeof`",
    "a `case` label",
    "several components of a vector",
];

#[test]
fn operators_of_testdata_have_instructions() {
    let (mut located, mut folded, mut left) = (0, 0, Vec::new());
    for (path, options) in support::testdata() {
        support::kernels(&path, &options, Known::Syntax, Preset::Full, |subject| {
            let found = source_ops::find(subject);
            assert!(!found.by_opcode);
            for operation in &found.list {
                let is_folded = matches!(operation.implementation, Implementation::Folded(_));
                folded += usize::from(is_folded);
                located += usize::from(!is_folded);
            }
            left.extend(found.unmutable.into_iter().map(|l| {
                format!(
                    "{} {}:{} `{}` {}",
                    path.display(),
                    l.range.start.line,
                    l.range.start.column,
                    l.kind.spelling(),
                    l.reason
                )
            }));
        });
    }
    let unexpected: Vec<&String> = left.iter().filter(|l| !REASONS.iter().any(|r| l.contains(r))).collect();
    println!("{located} located, {folded} folded, {} left, {} of them unexpected", left.len(), unexpected.len());
    assert!(located > 800, "only {located} operators");
    // Constants in samplers, and in vectors whose lanes differ, are not operands of an instruction.
    assert!(
        unexpected.len() * 100 <= located && unexpected.iter().all(|l| l.contains("no operand with its value")),
        "{} of {located}:\n{unexpected:#?}",
        unexpected.len()
    );
}

#[test]
fn debug_information_alone_finds_the_operators_that_have_instructions() {
    let mut differences = Vec::new();
    let mut same = 0;
    for (path, options) in support::testdata() {
        let places = |known: Known| {
            let mut all = Vec::new();
            support::kernels(&path, &options, known, Preset::Full, |subject| {
                for operation in source_ops::find(subject).list {
                    let is_instruction =
                        matches!(operation.implementation, Implementation::Computed(_) | Implementation::Offset(_));
                    if let Some(range) = operation.range.clone().filter(|_| is_instruction && !operation.in_macro) {
                        all.push((
                            range.start,
                            operation.text(),
                            subject.entry.to_owned(),
                            operation.function_name.clone(),
                        ));
                    }
                }
            });
            all.sort();
            all
        };
        let (syntax, tokens) = (places(Known::Syntax), places(Known::Tokens));
        same += syntax.iter().filter(|o| tokens.contains(o)).count();
        let name = path.display();
        differences.extend(syntax.iter().filter(|o| !tokens.contains(o)).map(|o| format!("{name} only syntax {o:?}")));
        differences.extend(tokens.iter().filter(|o| !syntax.contains(o)).map(|o| format!("{name} only tokens {o:?}")));
    }
    println!("{same} the same, {} not", differences.len());
    assert!(differences.len() * 50 <= same, "{same} the same, but not\n{differences:#?}");
}
