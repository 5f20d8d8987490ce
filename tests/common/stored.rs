//! Compares texts with committed files.

use super::testdata::repository;

/// Compares `actual` with a committed file, or rewrites the file if `BLESS=1`.
pub fn expect_file(path: &str, actual: &str) {
    let path = repository(path);
    if std::env::var_os("BLESS").is_some() {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, actual).unwrap();
        return;
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    if expected != actual {
        panic!("{} is stale (BLESS=1 accepts the new text):\n{}", path.display(), difference(&expected, actual));
    }
}

/// Lists the lines that only one text has, by a longest common subsequence; of the others those next to them.
fn difference(old: &str, new: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) = (old.lines().collect(), new.lines().collect());
    // By the lines left of each text: the length of their longest common subsequence.
    let mut common = vec![vec![0u32; new.len() + 1]; old.len() + 1];
    for i in (0..old.len()).rev() {
        for j in (0..new.len()).rev() {
            let longer = common[i + 1][j].max(common[i][j + 1]);
            common[i][j] = if old[i] == new[j] { common[i + 1][j + 1] + 1 } else { longer };
        }
    }
    let (mut i, mut j) = (0, 0);
    let mut lines: Vec<(char, &str)> = Vec::new();
    while i < old.len() || j < new.len() {
        if i < old.len() && j < new.len() && old[i] == new[j] {
            lines.push((' ', old[i]));
            (i, j) = (i + 1, j + 1);
        } else if j == new.len() || i < old.len() && common[i + 1][j] >= common[i][j + 1] {
            lines.push(('-', old[i]));
            i += 1;
        } else {
            lines.push(('+', new[j]));
            j += 1;
        }
    }
    const AROUND: usize = 3;
    let is_near =
        |n: usize| lines[n.saturating_sub(AROUND)..lines.len().min(n + AROUND + 1)].iter().any(|l| l.0 != ' ');
    let mut text = String::new();
    for n in (0..lines.len()).filter(|n| is_near(*n)) {
        if n > 0 && !is_near(n - 1) {
            text += "  ...\n";
        }
        text += &format!("{} {}\n", lines[n].0, lines[n].1);
    }
    text
}
