//! Variants of a kernel: programs whose texts differ in nothing but the macros that are defined in front.

use kassay_base::hash;
use serde::{Deserialize, Serialize};

use super::build_options::translate;
use super::origin::Code;

/// A program as a variant of others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variant {
    /// Equal for all variants of a text: a hash of what follows the definitions in front, and of the headers.
    pub text: String,
    /// Lines in front of the common text.
    pub front_lines: u32,
    /// Macros that are defined in front of the common text and by options, in the form `NAME=VALUE`.
    pub defines: Vec<String>,
    /// Build options, as the program gave them.
    pub options: String,
}

impl Variant {
    /// Returns what a program is a variant of; `None` if there is no source.
    pub fn of(code: &Code) -> Option<Variant> {
        let Code::Source { text, files, includes, options, directory, .. } = code else { return None };
        let front = Front::of(text);
        let beside = files.iter().map(|(name, bytes)| (name, bytes));
        let headers = beside.chain(includes.iter().map(|included| (&included.name, &included.bytes)));
        let parts = std::iter::once(&text[front.bytes..]).chain(headers.flat_map(|(a, b)| [a.as_bytes(), b]));
        // Lengths keep what belongs to one part from counting as another's.
        let parts: Vec<Vec<u8>> = parts.map(|part| [&(part.len() as u64).to_le_bytes(), part].concat()).collect();
        let parts: Vec<&[u8]> = parts.iter().map(Vec::as_slice).collect();
        let arguments = translate(options, directory).arguments;
        let given = arguments.iter().filter_map(|argument| argument.strip_prefix("-D"));
        let given = given.map(|macro_| if macro_.contains('=') { macro_.to_owned() } else { format!("{macro_}=1") });
        Some(Variant {
            text: format!("{:032x}", hash::wide(&parts)),
            front_lines: u32::try_from(front.lines).unwrap_or(u32::MAX),
            defines: front.defines.into_iter().chain(given).collect(),
            options: options.clone(),
        })
    }
}

/// The lines with which a text begins that only define macros. Tuners put them in front of a kernel's own text, with a
/// `#line` as the last of them, so that the compiler counts the lines of that text.
#[derive(Debug, Default)]
struct Front {
    bytes: usize,
    lines: usize,
    defines: Vec<String>,
}

impl Front {
    /// Returns what a text has in front.
    fn of(text: &[u8]) -> Front {
        let mut front = Front::default();
        while let Some((bytes, lines, define)) = definition(&text[front.bytes..]) {
            (front.bytes, front.lines) = (front.bytes + bytes, front.lines + lines);
            front.defines.extend(define);
        }
        front
    }
}

/// Returns the lengths of what may stand in front of a text, in bytes and lines, the shortest first: nothing, a
/// definition, two …; others may be the text's own.
pub fn lengths_of_fronts(text: &[u8]) -> impl Iterator<Item = (usize, usize)> {
    std::iter::successors(Some((0, 0)), |(bytes, lines)| {
        let (more, more_lines, _) = definition(text.get(*bytes..)?)?;
        Some((bytes + more, lines + more_lines))
    })
}

/// Reads a `#define`, a `#line` without a file's name, or an empty line. Returns its length, the number of its lines,
/// and the macro.
fn definition(text: &[u8]) -> Option<(usize, usize, Option<String>)> {
    let (mut bytes, mut lines, mut joined) = (0, 0, String::new());
    loop {
        // A line without an end is no line in front of something.
        let end = text.get(bytes..)?.iter().position(|byte| *byte == b'\n')?;
        let line = String::from_utf8_lossy(&text[bytes..bytes + end]);
        (bytes, lines) = (bytes + end + 1, lines + 1);
        match line.trim_end().strip_suffix('\\') {
            Some(continued) => joined.extend([continued.trim_end(), " "]),
            None => {
                joined += &line;
                break;
            }
        }
    }
    let line = joined.trim();
    if line.is_empty() {
        return Some((bytes, lines, None));
    }
    // A comment may go on in lines of the kernel's own.
    let directive = line.strip_prefix('#').filter(|_| !line.contains("/*"))?.trim_start();
    let (name, rest) = directive.split_at(directive.find(char::is_whitespace)?);
    let rest = rest.trim();
    match name {
        "define" => Some((bytes, lines, Some(in_form_of_an_option(rest)))),
        "line" if rest.bytes().all(|byte| byte.is_ascii_digit()) => Some((bytes, lines, None)),
        _ => None,
    }
}

/// Returns `NAME=VALUE` for `NAME VALUE`; `NAME` may have parameters.
fn in_form_of_an_option(macro_: &str) -> String {
    let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$' || !c.is_ascii();
    let name = macro_.find(|c| !is_part(c)).unwrap_or(macro_.len());
    let parameters = macro_[name..].starts_with('(').then(|| macro_[name..].find(')')).flatten();
    let (name, value) = macro_.split_at(name + parameters.map_or(0, |end| end + 1));
    format!("{name}={}", value.trim())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str, options: &str) -> Code {
        let (pieces, files, includes) = (Vec::new(), Vec::new(), Vec::new());
        let text = text.as_bytes().to_vec();
        Code::Source { text, pieces, files, includes, options: options.to_owned(), directory: "/".into() }
    }

    #[test]
    fn what_stands_in_front_is_told_from_the_common_text() {
        let of = |text: &str| {
            let front = Front::of(text.as_bytes());
            (text[front.bytes..].to_owned(), front.lines, front.defines.join(";"))
        };
        let is = |text: &str, lines: usize, defines: &str| (text.to_owned(), lines, defines.to_owned());
        assert_eq!(of("#define N 4\n # define M\n\n#line 1\nkernel\n"), is("kernel\n", 4, "N=4;M="));
        assert_eq!(of("#define ADD(a, b) a \\\r\n  + b\r\nkernel"), is("kernel", 2, "ADD(a, b)=a   + b"));
        assert_eq!(of("#define P (1)\nk"), is("k", 1, "P=(1)"));
        // None of these only defines macros in lines of its own.
        for text in [
            "#define N 4",
            "#undef N\n",
            "#line 7 \"x.cl\"\n",
            "#define N /* 4\n*/\n",
            "kernel\n#define N 4\n",
            "#\n",
            "",
        ] {
            assert_eq!(of(text), is(text, 0, ""), "{text}");
        }
    }

    #[test]
    fn variants_have_the_same_text_whatever_is_defined() {
        let of = |text: &str, options: &str| Variant::of(&code(text, options)).unwrap();
        let plain = of("kernel\n", "-DN=4 -cl-mad-enable -D M");
        assert_eq!((plain.front_lines, &plain.defines[..]), (0, &["N=4".to_owned(), "M=1".to_owned()][..]));
        let tuned = of("#define N 4\n#line 1\nkernel\n", "");
        assert_eq!((tuned.front_lines, &tuned.defines[..], &tuned.text), (2, &["N=4".to_owned()][..], &plain.text));
        assert_ne!(of("kernel \n", "").text, plain.text);
        let with_header = Code::Source {
            text: b"kernel\n".to_vec(),
            pieces: Vec::new(),
            files: vec![("a.h".to_owned(), b"int a;".to_vec())],
            includes: Vec::new(),
            options: String::new(),
            directory: "/".into(),
        };
        assert_ne!(Variant::of(&with_header).unwrap().text, plain.text);
        assert_eq!(Variant::of(&Code::Module { bytes: Vec::new(), extension: "spv", constants: Vec::new() }), None);
    }
}
