//! Names of libraries that are not there. Functions of the host have them in their parameters and results; their bodies
//! are skipped, so that any type will do. Code of the device that has one is refused (`unknown.cpp`).

use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsString;
use std::path::Path;

use super::NOTE;

/// The type that stands for those of libraries that are not there (`host_types.h`).
const UNKNOWN: &str = "kassay_unknown";

/// The macro whose text declares such names in their namespaces (`host_types.h`).
const DECLARATIONS: &str = "KASSAY_MISSING";

/// What `unknown.cpp` says of such a type in code of the device.
const ON_DEVICE: &str = "kassay: a type that is not there";

/// The namespaces of libraries that kassay's headers have in part.
const IN_PART: [&str; 4] = ["at", "c10", "thrust", "torch"];

/// Names that clang does not know: `T` of a type, `n::T` of one in a namespace, `n::T<` of a template there, and
/// `n::` of a namespace.
pub type Names = BTreeSet<String>;

/// Those names in clang's diagnostics that are not `known` to be unknown.
pub fn names(diagnostics: &str, known: &Names) -> Names {
    let mut lines = diagnostics.lines().peekable();
    let mut found = Names::new();
    while let Some(line) = lines.next() {
        let Some((_, error)) = line.split_once(" error: ") else { continue };
        let shown = lines.peek().and_then(|next| Some(next.split_once(" | ")?.1)).unwrap_or_default();
        found.extend(names_of(error, shown, known));
    }
    found.retain(|name| !known.contains(name));
    found
}

/// The names that one error is about. `shown`: the line of the source.
fn names_of(error: &str, shown: &str, known: &Names) -> Vec<String> {
    let quoted = |number: usize| error.split('\'').nth(2 * number + 1).unwrap_or_default();
    if error.starts_with("unknown type name '") {
        return vec![quoted(0).to_owned()];
    }
    if error == "expected namespace name" {
        let name = shown.split_once("using namespace ").and_then(|(_, rest)| rest.split_once(';'));
        return name.filter(|(name, _)| is_name(name)).map(|(name, _)| format!("{name}::")).into_iter().collect();
    }
    if error.starts_with("use of undeclared identifier '") && shown.trim_start().starts_with("using namespace ") {
        return qualified(shown, quoted(0)).into_iter().map(|name| name + "::").collect();
    }
    if error.starts_with("use of undeclared identifier '") {
        return qualified(shown, quoted(0));
    }
    let is_member =
        ["no type named '", "no template named '", "no member named '"].iter().any(|kind| error.starts_with(kind));
    if is_member && error.contains("' in namespace '") {
        let (name, namespace) = (quoted(0), quoted(1));
        let root = namespace.split("::").next().unwrap_or_default();
        let is_ours = IN_PART.contains(&root) || known.iter().any(|one| one.starts_with(&format!("{root}::")));
        let is_template = shown.contains(&format!("{name}<"));
        return if is_ours {
            vec![format!("{namespace}::{name}{}", if is_template { "<" } else { "" })]
        } else {
            Vec::new()
        };
    }
    Vec::new()
}

fn is_name(text: &str) -> bool {
    !text.is_empty() && text.split("::").all(is_word)
}

fn is_word(text: &str) -> bool {
    text.chars().all(|c| c.is_alphanumeric() || c == '_') && text.starts_with(|c: char| !c.is_ascii_digit())
}

/// The names in a line that begin with a namespace.
fn qualified(line: &str, namespace: &str) -> Vec<String> {
    let start = format!("{namespace}::");
    let is_start = |at: usize| !line[..at].ends_with(|c: char| c.is_alphanumeric() || c == '_' || c == ':');
    let after = line.match_indices(&start).filter(|(at, _)| is_start(*at)).map(|(at, _)| &line[at..]);
    let one = |rest: &str| {
        let end = rest.find(|c: char| !c.is_alphanumeric() && c != '_' && c != ':').unwrap_or(rest.len());
        let name = rest[..end].trim_end_matches(':');
        (is_name(name) && name.contains("::"))
            .then(|| format!("{name}{}", if rest[end..].starts_with('<') { "<" } else { "" }))
    };
    after.filter_map(one).collect()
}

/// Whether the diagnostics say that code of the device has such a type.
pub fn are_on_device(diagnostics: &str) -> bool {
    diagnostics.contains(ON_DEVICE)
}

/// Whether an error names what stands for the unknown types.
pub fn is_complained_of(diagnostics: &str) -> bool {
    diagnostics.lines().any(|line| line.contains("error: ") && line.contains(UNKNOWN))
}

/// The arguments by which clang takes the names as those of unknown types.
pub fn arguments(names: &Names) -> Vec<OsString> {
    let plain = names.iter().filter(|name| !name.contains("::"));
    let mut arguments: Vec<OsString> = plain.map(|name| format!("-D{name}={UNKNOWN}").into()).collect();
    // A name with and without arguments is a template, whose arguments may all be left out where functions are called.
    let mut declared: BTreeMap<&str, bool> = BTreeMap::new();
    for name in names.iter().filter(|name| name.contains("::")) {
        *declared.entry(name.trim_end_matches('<')).or_default() |= name.ends_with('<');
    }
    // What has members is a namespace.
    let has_members =
        |name: &str| names.iter().any(|other| other.strip_prefix(name).is_some_and(|rest| rest.starts_with("::")));
    declared.retain(|name, _| !has_members(name));
    let text: String = declared.iter().map(|(name, is_template)| declaration(name, *is_template)).collect();
    if !text.is_empty() {
        arguments.push(format!("-D{DECLARATIONS}={text}").into());
    }
    arguments
}

fn declaration(name: &str, is_template: bool) -> String {
    let mut parts: Vec<&str> = name.split("::").collect();
    let own = parts.pop().unwrap_or_default();
    let opened: String = parts.iter().map(|part| format!("namespace {part} {{ ")).collect();
    let own = match (own, is_template) {
        ("", _) => String::new(),
        (own, true) => format!("template <typename...> struct {own} : {UNKNOWN} {{ using {UNKNOWN}::{UNKNOWN}; }};"),
        (own, false) => format!("typedef ::{UNKNOWN} {own};"),
    };
    format!("{opened}{own} {}", "} ".repeat(parts.len()))
}

/// Says which types were not there.
pub fn note(source: &Path, names: &Names) -> String {
    let shown: Vec<&str> = names.iter().map(|name| name.trim_end_matches(['<', ':'])).collect();
    format!("{NOTE}{}: types that are not there: {}\n", source.display(), shown.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(diagnostics: &str, known: &[&str]) -> Vec<String> {
        names(diagnostics, &known.iter().map(|&name| name.to_owned()).collect()).into_iter().collect()
    }

    #[test]
    fn types_and_names_in_namespaces_are_found_in_diagnostics() {
        let text = "a.cu:1:2: error: unknown type name 'cudaLibXtDesc'\na.cu:3:2: error: unknown type name 'CUcontext'; did you mean 'x'?";
        assert_eq!(of(text, &["CUcontext"]), ["cudaLibXtDesc"]);
        let text = "a.cu:1:8: error: use of undeclared identifier 'lib'\n    1 | void f(lib::Grid &x, xlib::No z, const lib::in::Map<int> &y, lib::);\n      |  ^";
        assert_eq!(of(text, &[]), ["lib::Grid", "lib::in::Map<"]);
        let text = "a.cu:3:17: error: expected namespace name\n    3 | using namespace lib;\n      |";
        assert_eq!(of(text, &[]), ["lib::"]);
    }

    #[test]
    fn members_are_unknown_only_in_namespaces_that_are_not_there() {
        let text = "a.cu:1:8: error: no type named 'Cell' in namespace 'lib::in'\n    1 | void f(lib::in::Cell &x);";
        assert_eq!(of(text, &["lib::Grid"]), ["lib::in::Cell"]);
        assert_eq!(of(text, &[]), [""; 0]);
        let text =
            "a.cu:1:8: error: no template named 'map' in namespace 'thrust'\n    1 | void f(thrust::map<int> &x);";
        assert_eq!(of(text, &[]), ["thrust::map<"]);
    }

    #[test]
    fn a_macro_declares_them() {
        let names =
            ["Timer", "lib::in", "lib::Grid", "lib::in::Map", "lib::in::Map<", "own::"].map(str::to_owned).into();
        let given: Vec<String> = arguments(&names).into_iter().filter_map(|one| one.into_string().ok()).collect();
        assert_eq!(given[0], "-DTimer=kassay_unknown");
        assert!(given[1].contains("namespace lib { typedef ::kassay_unknown Grid; }"), "{}", given[1]);
        assert!(given[1].contains("namespace in { template <typename...> struct Map : kassay_unknown"), "{}", given[1]);
        assert!(given[1].contains("namespace own {  }"), "{}", given[1]);
        assert_eq!(given.len(), 2);
    }
}
