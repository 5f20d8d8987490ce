//! Splits OpenCL C into spans by kind of token, for colours. It knows no grammar: what it takes for a type or a
//! function follows from spelling alone.

use logos::Logos;

/// Kinds of tokens that are coloured.
#[derive(Logos, Debug, Clone, Copy, PartialEq, Eq)]
enum Token {
    #[regex(r"//([^\n\\]|\\\n|\\[^\n])*", allow_greedy = true)]
    #[token("/*", block_comment)]
    Comment,
    #[regex(r#""([^"\\\n]|\\.)*"?"#)]
    #[regex(r"'([^'\\\n]|\\.)*'?")]
    Text,
    #[regex(r"[0-9]([0-9a-zA-Z_.]|[eEpP][+-])*")]
    #[regex(r"\.[0-9]([0-9a-zA-Z_.]|[eEpP][+-])*")]
    Number,
    #[regex(r"#[ \t]*[a-z]+")]
    Directive,
    #[regex(
        r"(__)?(kernel|global|local|constant|private|generic|read_only|write_only|read_write)|if|else|for|while|do|switch|case|default|break|continue|return|goto|sizeof|typedef|struct|union|enum|static|inline|extern|const|volatile|restrict|attribute|__attribute__|template|typename|class|namespace|using|auto|constexpr|operator|public|private|true|false",
        priority = 20
    )]
    Keyword,
    #[regex(
        r"(bool|void|size_t|ptrdiff_t|intptr_t|uintptr_t|event_t|sampler_t|image[123]d(_array|_buffer)?_t|atomic_[a-z_]+|unsigned|signed|(uchar|char|ushort|short|uint|int|ulong|long|float|double|half)(2|3|4|8|16)?)",
        priority = 15
    )]
    Type,
    #[regex(r"[A-Za-z_][A-Za-z0-9_]*", priority = 3)]
    Name,
}

/// Reads to the end of a block comment, or of the text.
fn block_comment(lexer: &mut logos::Lexer<'_, Token>) {
    let rest = lexer.remainder();
    lexer.bump(rest.find("*/").map_or(rest.len(), |end| end + 2));
}

/// A piece of a line with the class of its colour; empty: none.
pub(super) type Span<'t> = (&'static str, &'t str);

/// Returns the lines of a text as spans, without line breaks. As many as `str::lines` returns.
pub(super) fn lines(text: &str) -> Vec<Vec<Span<'_>>> {
    let mut lines: Vec<Vec<Span<'_>>> = vec![Vec::new()];
    let mut plain_from = 0;
    let mut add = |class: &'static str, piece: &'_ std::ops::Range<usize>| {
        for (n, part) in text[piece.clone()].split('\n').enumerate() {
            if n > 0 {
                lines.push(Vec::new());
            }
            let part = part.strip_suffix('\r').unwrap_or(part);
            if let (false, Some(line)) = (part.is_empty(), lines.last_mut()) {
                line.push((class, part));
            }
        }
    };
    for (token, range) in Token::lexer(text).spanned() {
        let class = match token {
            Ok(Token::Comment) => "hc",
            Ok(Token::Text) => "hs",
            Ok(Token::Number) => "hn",
            Ok(Token::Directive) => "hp",
            Ok(Token::Keyword) => "hk",
            Ok(Token::Type) => "ht",
            Ok(Token::Name) if text[range.end..].trim_start_matches([' ', '\t']).starts_with('(') => "hf",
            Ok(Token::Name) | Err(()) => continue,
        };
        add("", &(plain_from..range.start));
        add(class, &range);
        plain_from = range.end;
    }
    add("", &(plain_from..text.len()));
    if text.ends_with('\n') || text.is_empty() {
        lines.pop();
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_get_their_classes() {
        let found = lines("__kernel void f(global int4 *x) { x[0] = 1.5e-3f; /* a\n b */ }\n");
        assert_eq!(found[0][..4], [("hk", "__kernel"), ("", " "), ("ht", "void"), ("", " ")]);
        assert!(found[0].contains(&("hf", "f")) && found[0].contains(&("ht", "int4")));
        assert!(found[0].contains(&("hn", "1.5e-3f")) && found[0].contains(&("hc", "/* a")));
        assert_eq!(found[1][0], ("hc", " b */"));
        assert_eq!(found.len(), 2);
    }

    #[test]
    fn every_character_is_kept_and_lines_are_those_of_the_text() {
        for text in [
            "",
            "\n",
            "a",
            "a\r\nb\r\n",
            "\"unclosed\n'x\n/* open",
            "// é \\\n still\n#define X 1\n\u{0}@$`",
            "intx kernels",
        ] {
            let joined: Vec<String> =
                lines(text).iter().map(|line| line.iter().map(|(_, part)| *part).collect()).collect();
            assert_eq!(joined, text.lines().collect::<Vec<_>>(), "{text:?}");
        }
    }

    #[test]
    fn names_that_begin_like_keywords_are_names() {
        assert_eq!(lines("intx kernels"), [[("", "intx kernels")]]);
    }
}
