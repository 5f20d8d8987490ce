//! Differences of two texts as a unified diff, as `patch` and `git apply` read them.

/// Lines around a change.
const CONTEXT: usize = 3;

/// A line that both have, or one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Edit<'t> {
    Same(&'t [u8]),
    Old(&'t [u8]),
    New(&'t [u8]),
}

/// The unified diff of two texts of one file; empty if they are the same.
pub fn unified(file: &str, old: &[u8], new: &[u8]) -> String {
    let edits = edits(old, new);
    let mut out = Vec::new();
    let is_change = |edit: &Edit<'_>| !matches!(edit, Edit::Same(_));
    let mut at = 0;
    while let Some(first) = edits[at..].iter().position(is_change).map(|n| at + n) {
        let mut last = first;
        // Changes with few lines between them share a hunk.
        while let Some(next) = edits[last + 1..].iter().position(is_change).filter(|n| *n <= 2 * CONTEXT) {
            last += 1 + next;
        }
        let from = first.saturating_sub(CONTEXT).max(at);
        let to = (last + 1 + CONTEXT).min(edits.len());
        hunk(&edits, from, to, &mut out);
        at = to;
    }
    if out.is_empty() {
        return String::new();
    }
    let mut diff = format!("--- {file}\n+++ {file}\n").into_bytes();
    diff.extend(out);
    String::from_utf8_lossy(&diff).into_owned()
}

fn hunk(edits: &[Edit<'_>], from: usize, to: usize, out: &mut Vec<u8>) {
    let count = |edits: &[Edit<'_>], is_of: fn(&Edit<'_>) -> bool| edits.iter().filter(|edit| is_of(edit)).count();
    let in_old: fn(&Edit<'_>) -> bool = |edit| !matches!(edit, Edit::New(_));
    let in_new: fn(&Edit<'_>) -> bool = |edit| !matches!(edit, Edit::Old(_));
    let range = |is_of: fn(&Edit<'_>) -> bool| {
        let (before, lines) = (count(&edits[..from], is_of), count(&edits[from..to], is_of));
        format!("{},{lines}", if lines == 0 { before } else { before + 1 })
    };
    out.extend(format!("@@ -{} +{} @@\n", range(in_old), range(in_new)).bytes());
    for edit in &edits[from..to] {
        let (sign, line) = match edit {
            Edit::Same(line) => (b' ', line),
            Edit::Old(line) => (b'-', line),
            Edit::New(line) => (b'+', line),
        };
        out.push(sign);
        out.extend_from_slice(line);
        if !line.ends_with(b"\n") {
            out.extend_from_slice(b"\n\\ No newline at end of file\n");
        }
    }
}

/// The lines of both texts: a longest common subsequence is kept.
fn edits<'t>(old: &'t [u8], new: &'t [u8]) -> Vec<Edit<'t>> {
    let (a, b): (Vec<&[u8]>, Vec<&[u8]>) = (lines(old), lines(new));
    let before = a.iter().zip(&b).take_while(|(x, y)| x == y).count();
    let rest = a.len().min(b.len()) - before;
    let after = a.iter().rev().zip(b.iter().rev()).take(rest).take_while(|(x, y)| x == y).count();
    let (middle_a, middle_b) = (&a[before..a.len() - after], &b[before..b.len() - after]);
    let mut out: Vec<Edit<'t>> = a[..before].iter().map(|line| Edit::Same(line)).collect();
    out.extend(changed(middle_a, middle_b));
    out.extend(a[a.len() - after..].iter().map(|line| Edit::Same(line)));
    out
}

fn changed<'t>(a: &[&'t [u8]], b: &[&'t [u8]]) -> Vec<Edit<'t>> {
    let width = b.len() + 1;
    // By position: how many lines the rests have in common. What is changed is short.
    let mut common = vec![0_u32; (a.len() + 1) * width];
    for i in (0..a.len()).rev() {
        for j in (0..b.len()).rev() {
            common[i * width + j] = match a[i] == b[j] {
                true => common[(i + 1) * width + j + 1] + 1,
                false => common[(i + 1) * width + j].max(common[i * width + j + 1]),
            };
        }
    }
    let (mut i, mut j, mut out) = (0, 0, Vec::new());
    while i < a.len() || j < b.len() {
        if i < a.len() && j < b.len() && a[i] == b[j] {
            out.push(Edit::Same(a[i]));
            (i, j) = (i + 1, j + 1);
        } else if j == b.len() || (i < a.len() && common[(i + 1) * width + j] >= common[i * width + j + 1]) {
            out.push(Edit::Old(a[i]));
            i += 1;
        } else {
            out.push(Edit::New(b[j]));
            j += 1;
        }
    }
    out
}

/// The lines of a text, each with its line feed.
fn lines(text: &[u8]) -> Vec<&[u8]> {
    text.split_inclusive(|byte| *byte == b'\n').collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_changed_line_has_three_lines_around_it() {
        let old = "a\nb\nc\nd\ne\nf\ng\nh\n";
        let new = old.replace("e\n", "e\nnew\n").replace("a\n", "A\n");
        let diff = unified("k.cl", old.as_bytes(), new.as_bytes());
        let expected = "--- k.cl\n+++ k.cl\n@@ -1,8 +1,9 @@\n-a\n+A\n b\n c\n d\n e\n+new\n f\n g\n h\n";
        assert_eq!(diff, expected);
    }

    #[test]
    fn changes_far_from_each_other_have_hunks_of_their_own() {
        let old: String = (0..30).map(|n| format!("{n}\n")).collect();
        let new = old.replace("\n3\n", "\n3\nthree\n").replace("\n25\n", "\n");
        let diff = unified("k.cl", old.as_bytes(), new.as_bytes());
        assert!(diff.contains("@@ -2,6 +2,7 @@\n 1\n"), "{diff}");
        assert!(diff.contains("@@ -23,7 +24,6 @@\n 22\n"), "{diff}");
    }

    #[test]
    fn the_end_of_a_file_without_a_line_feed_is_said() {
        assert_eq!(
            unified("k", b"a", b"b"),
            "--- k\n+++ k\n@@ -1,1 +1,1 @@\n-a\n\\ No newline at end of file\n+b\n\\ No newline at end of file\n"
        );
        assert_eq!(unified("k", b"a", b"a"), "");
    }
}
