//! Renames headers that a program includes by absolute paths to where they lie in the kernel's folder.
//!
//! As in the layer, this is no preprocessor: the paths stand in lines that include them, or macros are defined as them.

use std::borrow::Cow;
use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

/// Where headers lie in a kernel's folder, by absolute path.
pub type Places = HashMap<PathBuf, PathBuf>;

/// Returns whether a text includes what a macro names.
pub fn includes_macro(text: &[u8]) -> bool {
    let is_macro = |rest: &[u8]| rest.first().is_some_and(|first| first.is_ascii_alphabetic() || *first == b'_');
    lines(text).any(|line| directive(line, b"include").is_some_and(is_macro))
}

/// Renames headers in the lines of a text that include them, and with `macros` in definitions of macros. Lines keep
/// their numbers.
pub fn rename_in_text<'a>(text: &'a [u8], macros: bool, places: &Places) -> Cow<'a, [u8]> {
    let renamed = |line: &[u8]| {
        let name = directive(line, b"include").or_else(|| definition(line).filter(|_| macros))?;
        let new = rename_marked(name, places)?;
        Some([&line[..line.len() - name.len()], &new].concat())
    };
    if places.is_empty() || !lines(text).any(|line| renamed(line).is_some()) {
        return Cow::Borrowed(text);
    }
    lines(text).flat_map(|line| renamed(line).unwrap_or_else(|| line.to_vec())).collect()
}

/// Renames a header that an option defines a macro as, with or without marks around it; `None` if it does nothing of
/// the kind.
pub fn rename_in_option(option: &str, places: &Places) -> Option<String> {
    let (name, value) = option.strip_prefix("-D")?.split_once('=')?;
    let marked = rename_marked(value.trim_start().as_bytes(), places).and_then(|new| String::from_utf8(new).ok());
    let value = marked.or_else(|| Some(place(value.trim(), places)?.to_owned()))?;
    Some(format!("-D{name}={value}"))
}

/// The lines of a text, with what ends them.
fn lines(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    text.split_inclusive(|byte| *byte == b'\n')
}

/// What follows a directive in its line.
fn directive<'a>(line: &'a [u8], name: &[u8]) -> Option<&'a [u8]> {
    let rest = line.trim_ascii_start().strip_prefix(b"#")?.trim_ascii_start().strip_prefix(name)?;
    rest.first().is_none_or(|next| !next.is_ascii_alphanumeric() && *next != b'_').then(|| rest.trim_ascii_start())
}

/// What a line defines a macro as.
fn definition(line: &[u8]) -> Option<&[u8]> {
    Some(directive(line, b"define")?.splitn(2, u8::is_ascii_whitespace).nth(1)?.trim_ascii_start())
}

/// Renames the header with whose name, in quotation marks or angle brackets, a text begins.
fn rename_marked(text: &[u8], places: &Places) -> Option<Vec<u8>> {
    let (mark, rest) = text.split_at_checked(1)?;
    let end = match mark {
        b"\"" => b'"',
        b"<" => b'>',
        _ => return None,
    };
    let (name, rest) = rest.split_at(rest.iter().position(|byte| *byte == end)?);
    Some([mark, place(str::from_utf8(name).ok()?, places)?.as_bytes(), rest].concat())
}

/// Where a header lies.
fn place<'a>(name: &str, places: &'a Places) -> Option<&'a str> {
    let mut path = PathBuf::new();
    for part in Path::new(name).components() {
        match part {
            Component::ParentDir => drop(path.pop()),
            part => path.push(part),
        }
    }
    places.get(&path).and_then(|place| place.to_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places() -> Places {
        [("/a/x.h", "absolute/a/x.h"), ("/b/y.h", "include/y.h")].map(|(from, to)| (from.into(), to.into())).into()
    }

    #[test]
    fn names_in_texts_are_renamed() {
        let text = "#include \"/a/./x.h\" // x\n # include </b/c/../y.h>\r\n#include \"/none.h\"\n#include \"x.h\"\n#define P \
                    \"/a/x.h\"\nkernel \"/a/x.h\"\n#include P";
        let renamed = |macros| String::from_utf8(rename_in_text(text.as_bytes(), macros, &places()).into_owned());
        let new = "#include \"absolute/a/x.h\" // x\n # include <include/y.h>\r\n#include \"/none.h\"\n#include \"x.h\"\n#define P \
                   \"/a/x.h\"\nkernel \"/a/x.h\"\n#include P";
        assert_eq!(renamed(false).unwrap(), new);
        assert_eq!(renamed(true).unwrap(), new.replace("P \"/a", "P \"absolute/a"));
        assert!(includes_macro(text.as_bytes()) && !includes_macro(b"#include \"P\"\n#includes P\n"));
        let same = rename_in_text(b"#include \"/none.h\"\n#include\n#define\n#\n\xff\n", true, &places());
        assert!(matches!(same, Cow::Borrowed(_)));
    }

    #[test]
    fn names_in_options_are_renamed() {
        let renamed = |option| rename_in_option(option, &places());
        assert_eq!(renamed("-DP=\"/a/x.h\"").as_deref(), Some("-DP=\"absolute/a/x.h\""));
        assert_eq!(renamed("-DP=</b/y.h>").as_deref(), Some("-DP=<include/y.h>"));
        assert_eq!(renamed("-DP=/a/x.h").as_deref(), Some("-DP=absolute/a/x.h"));
        for other in ["-DP=\"x.h\"", "-DP=", "-DP", "-D", "-UP=/a/x.h", "-DP=\"/a/x.h", "-DP=/a/x.hpp", "ä"] {
            assert_eq!(renamed(other), None, "{other}");
        }
    }
}
