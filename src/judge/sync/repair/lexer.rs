//! Small steps through a text of C: blanks, comments, ends of statements.

/// The place behind white space, spliced lines and comments.
pub fn skip_blank(text: &[u8], mut at: usize) -> usize {
    while let Some(rest) = text.get(at..).filter(|rest| !rest.is_empty()) {
        if rest[0].is_ascii_whitespace() || rest.starts_with(b"\\\n") || rest.starts_with(b"\\\r") {
            at += 1;
        } else if rest.starts_with(b"//") {
            at += rest.iter().position(|byte| *byte == b'\n').unwrap_or(rest.len());
        } else if rest.starts_with(b"/*") {
            at += rest.windows(2).skip(2).position(|two| two == b"*/").map_or(rest.len(), |end| end + 4);
        } else {
            break;
        }
    }
    at
}

/// The end of the statement whose last token ends at `at`: behind the arguments of a macro, the parentheses that clang
/// leaves out, and the semicolon.
pub fn statement_end(text: &[u8], at: usize) -> usize {
    if at > 0 && text.get(at - 1) == Some(&b';') {
        return at;
    }
    let (mut depth, mut here, mut end) = (0_u32, at, at);
    loop {
        let next = if depth == 0 { skip_blank(text, here) } else { here };
        match text.get(next) {
            Some(b';') if depth == 0 => return next + 1,
            Some(b'(' | b'[') => depth += 1,
            Some(b')' | b']') => depth = depth.saturating_sub(1),
            Some(_) if depth > 0 => {}
            _ => return end,
        }
        here = next + 1;
        if depth == 0 {
            end = here;
        }
    }
}

/// Whether the rest of a line has no code: white space, and comments that end in it.
pub fn is_without_code(rest: &[u8]) -> bool {
    let rest = rest.trim_ascii_end();
    !rest.ends_with(b"\\") && skip_blank(rest, 0) >= rest.len() && is_closed(rest)
}

/// Whether each comment that begins in a line ends in it.
fn is_closed(line: &[u8]) -> bool {
    let count = |two: &[u8]| line.windows(2).filter(|found| *found == two).count();
    let begins_line_comment = line.trim_ascii_start().starts_with(b"//");
    begins_line_comment || count(b"/*") == count(b"*/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_statement_ends_behind_its_semicolon() {
        let end = |text: &str, at| statement_end(text.as_bytes(), at);
        assert_eq!(end("a = b;", 5), 6);
        assert_eq!(end("a = (int4)(b) /* ; */ ;", 12), 23);
        assert_eq!(end("LOAD(a, f(b;)); x", 4), 15);
        // A macro that brings its own.
        assert_eq!(end("SYNC(a) b = 1;", 4), 7);
        assert_eq!(end("int a;", 6), 6);
    }

    #[test]
    fn comments_are_no_code() {
        assert!(is_without_code(b"  // <- A"));
        assert!(is_without_code(b" /* a */ /* b */"));
        assert!(!is_without_code(b" /* goes on"));
        assert!(!is_without_code(b" } else"));
        assert!(!is_without_code(b" \\"));
    }
}
