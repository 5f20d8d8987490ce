//! Checks that what is known about OpenCL's builtins has one home: no other file recognises them by parts of their
//! names.

use crate::sources::sources;

const TABLE: &str = "src/ir/kernel/builtins/";

/// How names of builtins begin that are recognised by a part.
const BEGINNINGS: &[&str] = &[
    "atom_",
    "atomic_",
    "async",
    "barrier",
    "convert_",
    "get_image",
    "intel_sub_group",
    "mem_fence",
    "prefetch",
    "printf",
    "read_image",
    "sub_group_",
    "vload",
    "vstore",
    "wait_group",
    "work_group_",
    "write_image",
    "__spirv_",
    "_Z",
];

/// Names that no other list holds. (`barrier` is a word of messages, too.)
const NAMES: &[&str] = &["atomic_work_item_fence", "read_mem_fence", "work_group_barrier"];

/// What computes builtins, and so goes by their names.
const COMPUTE: &[&str] = &[
    "src/judge/generate/dry_run/",
    "src/ir/kernel/plain_atomics.rs",
    "src/ir/lower/builtins/",
    "src/ir/instrument/guard/builtin_accesses.rs",
    "src/model/demangle.rs",
    "src/prove/program/",
    "src/prove/symbolic/concolic/",
    "src/prove/symbolic/implementation_defined.rs",
    "src/prove/symbolic/transfer/",
];

/// Returns the first name of a builtin by which a line recognises one.
fn recognises(line: &str) -> Option<&str> {
    let literals = || line.split('"').enumerate();
    let asks = |before: &str| {
        ["starts_with(", "ends_with(", "contains(", "strip_prefix("].iter().any(|method| before.ends_with(method))
    };
    literals().filter(|(i, _)| i % 2 == 1).find_map(|(i, literal)| {
        let before = line.split('"').nth(i - 1).unwrap_or_default();
        let by_part = asks(before) && BEGINNINGS.iter().any(|beginning| literal.starts_with(beginning));
        (by_part || NAMES.contains(&literal)).then_some(literal)
    })
}

#[test]
fn builtins_are_recognised_by_their_table_only() {
    let mut complaints = Vec::new();
    for (path, text) in sources() {
        let file = path.display().to_string();
        if file.starts_with(TABLE) || COMPUTE.iter().any(|place| file.starts_with(place)) {
            continue;
        }
        let code = text.lines().take_while(|line| !line.starts_with("#[cfg(test)]")).enumerate();
        let lines = code.filter(|(_, line)| !line.trim_start().starts_with("//"));
        complaints.extend(
            lines.filter_map(|(n, line)| Some(format!("  {file}:{}: recognises `{}`", n + 1, recognises(line)?))),
        );
    }
    assert!(complaints.is_empty(), "ask the table in {TABLE} instead:\n{}", complaints.join("\n"));
}

#[test]
fn the_checker_tells_lists_from_messages() {
    assert_eq!(recognises(r#"    name.starts_with("vload") || name.starts_with("x")"#), Some("vload"));
    assert_eq!(recognises(r#"    matches!(name, "barrier" | "work_group_barrier")"#), Some("work_group_barrier"));
    assert_eq!(recognises(r#"    barrier.map_or("barrier", |b| b.name)"#), None);
    assert_eq!(recognises(r#"    text.contains("; barrier")"#), None);
}
