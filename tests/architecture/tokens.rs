//! Splits Rust source into tokens, without comments and literals.

/// A token and its line. Literals and comments are left out; `::` is one token, any other punctuation one
/// per character.
pub type Token<'a> = (usize, &'a str);

pub fn tokens(text: &str) -> Vec<Token<'_>> {
    let mut found = Vec::new();
    let (mut at, mut line) = (0, 1);
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let len = if rest.starts_with("//") {
            rest.find('\n').unwrap_or(rest.len())
        } else if rest.starts_with("/*") {
            block_comment(rest)
        } else if let Some(len) = literal(rest) {
            len
        } else if first.is_alphanumeric() || first == '_' {
            let len = rest.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(rest.len());
            found.push((line, &rest[..len]));
            len
        } else if rest.starts_with("::") {
            found.push((line, "::"));
            2
        } else {
            if !first.is_whitespace() {
                found.push((line, &rest[..first.len_utf8()]));
            }
            first.len_utf8()
        };
        line += rest[..len].matches('\n').count();
        at += len;
    }
    found
}

/// Returns the tokens without `#[cfg(test)] mod … { … }`.
pub fn without_tests<'a>(tokens: &[Token<'a>]) -> Vec<Token<'a>> {
    let text = |i: usize| tokens.get(i).map_or("", |t| t.1);
    let mut kept = Vec::new();
    let mut i = 0;
    while i < tokens.len() {
        let is_test =
            ["#", "[", "cfg", "(", "test", ")", "]", "mod"].iter().enumerate().all(|(k, t)| text(i + k) == *t);
        if is_test && text(i + 9) == "{" {
            let mut depth = 0;
            i += 9;
            loop {
                depth += match text(i) {
                    "{" => 1,
                    "}" => -1,
                    _ => 0,
                };
                i += 1;
                if depth == 0 || i >= tokens.len() {
                    break;
                }
            }
            continue;
        }
        kept.push(tokens[i]);
        i += 1;
    }
    kept
}

/// Returns the length of the block comment that `rest` begins with, including nested ones.
fn block_comment(rest: &str) -> usize {
    let (mut at, mut depth) = (0, 0);
    while at < rest.len() {
        let (step, change) = match &rest.as_bytes()[at..] {
            [b'/', b'*', ..] => (2, 1),
            [b'*', b'/', ..] => (2, -1),
            _ => (1, 0),
        };
        at += step;
        depth += change;
        if depth == 0 {
            break;
        }
    }
    at
}

/// Returns the length of the string, character or lifetime that `rest` begins with.
fn literal(rest: &str) -> Option<usize> {
    let escaped = |open: usize, quote: char| {
        let mut skip = false;
        let end = rest[open..].char_indices().find(|&(_, c)| {
            let ends = c == quote && !skip;
            skip = c == '\\' && !skip;
            ends
        });
        end.map_or(rest.len(), |(at, _)| open + at + 1)
    };
    let prefix = ["br", "cr", "b", "c", "r"].into_iter().find(|p| rest.starts_with(p)).map_or(0, str::len);
    let after = &rest[prefix..];
    if rest[..prefix].ends_with('r') {
        let hashes = after.len() - after.trim_start_matches('#').len();
        let body = after[hashes..].strip_prefix('"')?;
        let close = format!("\"{}", "#".repeat(hashes));
        return Some(body.find(&close).map_or(rest.len(), |at| prefix + hashes + 1 + at + close.len()));
    }
    if after.starts_with('"') {
        return Some(escaped(prefix + 1, '"'));
    }
    let inside = after.strip_prefix('\'')?;
    let mut chars = inside.chars();
    match (chars.next(), chars.next()) {
        (Some('\\'), _) | (Some(_), Some('\'')) => Some(escaped(prefix + 1, '\'')),
        _ if prefix == 0 => Some(1),
        _ => None,
    }
}
