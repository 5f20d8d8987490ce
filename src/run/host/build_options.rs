//! Build options of host programs, as arguments for clang.
//!
//! Section 5.8.6 of the OpenCL specification says which options there are; what vendors add concerns their own
//! compilers and means nothing to another one.

use std::path::{Path, PathBuf};

/// Build options, sorted out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct BuildOptions {
    /// What clang takes, without folders.
    pub arguments: Vec<String>,
    /// Folders for `#include`, absolute, in order.
    pub include_dirs: Vec<PathBuf>,
    /// What is dropped.
    pub dropped: Vec<String>,
}

/// Options that clang has under the same names (section 5.8.6 of the OpenCL specification).
const KNOWN: &[&str] = &[
    "-cl-single-precision-constant",
    "-cl-denorms-are-zero",
    "-cl-fp32-correctly-rounded-divide-sqrt",
    "-cl-opt-disable",
    "-cl-strict-aliasing",
    "-cl-uniform-work-group-size",
    "-cl-mad-enable",
    "-cl-no-signed-zeros",
    "-cl-unsafe-math-optimizations",
    "-cl-finite-math-only",
    "-cl-fast-relaxed-math",
];

/// Options that change nothing here: names of arguments and lines are always kept, warnings are no errors, and every
/// optimisation is the device's.
const WITHOUT_EFFECT: &[&str] = &["-cl-kernel-arg-info", "-g", "-w", "-Werror"];

/// Sorts out the options of a build in `directory`.
pub fn translate(options: &str, directory: &Path) -> BuildOptions {
    let mut all = BuildOptions::default();
    let mut words = words(options).into_iter();
    while let Some(word) = words.next() {
        let mut value = |rest: &str| if rest.is_empty() { words.next() } else { Some(rest.to_owned()) };
        match word.as_str() {
            "-x" | "-s" => {
                let value = words.next().unwrap_or_default();
                all.dropped.push(format!("{word} {value}"));
            }
            "-include" => {
                let file = words.next().map(|file| directory.join(file).display().to_string());
                all.arguments.extend(file.map(|file| [word.clone(), file]).into_iter().flatten());
            }
            known if KNOWN.contains(&known) || known.starts_with("-cl-std=") || known.starts_with("-cl-ext=") => {
                all.arguments.push(word);
            }
            none if WITHOUT_EFFECT.contains(&none) || none.starts_with("-W") || none.starts_with("-O") => {}
            other => match other.get(..2) {
                Some(option @ ("-D" | "-U")) => {
                    all.arguments.extend(value(&other[2..]).map(|value| format!("{option}{value}")));
                }
                Some("-I") => all.include_dirs.extend(value(&other[2..]).map(|dir| absolute(&directory.join(dir)))),
                _ => all.dropped.push(word),
            },
        }
    }
    all
}

/// Returns a path without `.` and without a slash at its end; links are left alone.
pub(super) fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).map_or_else(|_| path.to_owned(), |path| path.components().collect())
}

/// Splits options at white space outside of quotation marks; a backslash before a mark, a backslash or white space
/// takes its meaning.
fn words(options: &str) -> Vec<String> {
    let mut all = Vec::new();
    let mut word: Option<String> = None;
    let mut quote = None;
    let mut characters = options.chars().peekable();
    while let Some(c) = characters.next() {
        match (c, quote) {
            ('\\', _) if characters.peek().is_some_and(|next| matches!(next, '"' | '\'' | '\\' | ' ')) => {
                word.get_or_insert_default().extend(characters.next());
            }
            (mark, Some(open)) if mark == open => quote = None,
            ('"' | '\'', None) => {
                quote = Some(c);
                word.get_or_insert_default();
            }
            (space, None) if space.is_whitespace() => all.extend(word.take()),
            _ => word.get_or_insert_default().push(c),
        }
    }
    all.extend(word);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_sorted_out() {
        let options = r#"  -DN=4 -D M="a b" -I . -Iinc/../inc -cl-std=CL2.0 -cl-nv-verbose -w -Werror -cl-mad-enable -x clc -save-temps -DS=\"t\" "#;
        let sorted = translate(options, Path::new("/work"));
        assert_eq!(sorted.arguments, ["-DN=4", "-DM=a b", "-cl-std=CL2.0", "-cl-mad-enable", "-DS=\"t\""]);
        assert_eq!(sorted.include_dirs, [Path::new("/work"), Path::new("/work/inc/../inc")]);
        assert_eq!(sorted.dropped, ["-cl-nv-verbose", "-x clc", "-save-temps"]);
        assert_eq!(translate("", Path::new("/")), BuildOptions::default());
        assert_eq!(translate("-D", Path::new("/")), BuildOptions::default());
        // The second byte of an option may be in the midst of a character.
        assert_eq!(translate("-ä ä", Path::new("/")).dropped, ["-ä", "ä"]);
    }
}
