//! What pages show and no test runs. A block of commands says why by `not-run=REASON`.

use std::collections::BTreeMap;

use crate::pages::page;

/// The reasons, what each means, and how many blocks have it.
const REASONS: &[(&str, &str, usize)] = &[
    ("installs", "it installs software, or builds kassay and runs its tests", 8),
    ("cluster", "it needs Snakemake or Slurm: scripts/test-workflow and scripts/test-slurm run it", 3),
    ("downloads", "it works on programs that have to be downloaded; the text names the script that measures them", 5),
    ("driver", "how it ends depends on the driver's own compiler: tests/host/cover.rs runs it", 1),
    ("gpu", "it needs an NVIDIA GPU", 1),
    ("long", "it takes minutes; the text names the script or says what is measured", 2),
];

#[test]
fn what_is_not_run_has_a_known_reason() {
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for page in page::all() {
        for block in &page.blocks {
            if let Some(reason) = block.attribute("not-run") {
                assert_eq!(block.language, "console", "{}:{}: only commands can be not run", page.path, block.line);
                found.entry(reason.to_owned()).or_default().push(format!("{}:{}", page.path, block.line));
            }
        }
    }
    for (reason, places) in &found {
        let known = REASONS.iter().any(|(known, _, _)| known == reason);
        assert!(known, "{places:?}: tests/book/not_run.rs knows no reason `{reason}`");
    }
    for (reason, meaning, expected) in REASONS {
        let places = found.get(*reason).cloned().unwrap_or_default();
        assert_eq!(places.len(), *expected, "`{reason}` ({meaning}): {places:?}");
    }
}
