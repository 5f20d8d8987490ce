//! Makes coverage results of the probe buffers that a host program of the user's own read back.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::Path;
use std::time::Instant;

use crate::coverage::own_host::Reader;
use crate::coverage::summary::{self, TestTally};
use crate::error::{Error, Result};
use crate::result::Header;
use crate::result::cover::{CoverResult, TestOutcome, TestStatus};
use crate::result::probe_map::{self, ProbeMap};

/// Tallies probe buffers, each a file, by the map of the module that wrote them (docs/bring-your-own-host.md). In the
/// result, a test is a file, and its name is the file's as given.
///
/// ```
/// # fn main() -> kassay::Result<()> {
/// use kassay::{LowerOptions, LoweredForm, OpenOptions, lower, tally};
///
/// let kernel = "testdata/vector_add/vector_add.cl";
/// let lowered = lower(kernel, &OpenOptions::new(), &LowerOptions::new().coverage(true))?;
/// let Ok(LoweredForm::Woven { map, .. }) = &lowered[0].form else { panic!("it has probes") };
/// let coverage = map.coverage.as_ref().unwrap();
/// // As the kernel leaves a buffer with room for one slot if one work-item set no bit.
/// let mut words = vec![0u32; (coverage.header_words + coverage.slot_words) as usize];
/// words[7] = words.len() as u32;
/// for size in [3, 4, 5, 8, 9, 10, 11, 12, 13] {
///     words[size] = 1;
/// }
/// (words[14], words[15]) = (0x5953_414b, coverage.id);
///
/// let folder = tempfile::tempdir().unwrap();
/// let (map_file, probe) = (folder.path().join("map.json"), folder.path().join("probe.bin"));
/// std::fs::write(&map_file, serde_json::to_string(map).unwrap()).unwrap();
/// std::fs::write(&probe, words.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>()).unwrap();
/// let result = tally(&map_file, &[&probe])?;
/// assert_eq!(result.coverage.branch.covered, 0);
/// assert_eq!(result.tests[0].work_items, 1);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// `Caller` if a file is missing, is no map of a module with coverage probes, or is not a buffer that this module wrote;
/// `Environment` if a file cannot be read.
pub fn tally(map: impl AsRef<Path>, probes: &[impl AsRef<Path>]) -> Result<CoverResult> {
    let (begun, map_file) = (Instant::now(), map.as_ref());
    let ProbeMap { header, purpose, coverage, mut notes, .. } = probe_map::read(map_file)?;
    let Some(coverage) = coverage else {
        let what =
            format!("{} is the map of a module with {}, which records no coverage", map_file.display(), purpose.name());
        return Err(Error::caller(what).help("lower the kernel with --coverage"));
    };
    let reader = Reader::new(&coverage, map_file)?;
    let (mut tests, mut tallies, mut names) = (Vec::new(), Vec::new(), BTreeSet::new());
    for path in probes.iter().map(AsRef::as_ref) {
        let name = path.display().to_string();
        if !names.insert(name.clone()) {
            return Err(Error::caller(format!("{name} is named twice")).help("name each probe file once"));
        }
        let launch = reader.tally(&bytes(path)?, path)?;
        let items = launch.range.items();
        tests.push(TestOutcome {
            name: name.clone(),
            status: TestStatus::Completed,
            reason: None,
            work_items: items,
            work_groups: launch.range.groups(),
            original_s: None,
            instrumented_s: None,
            printf: String::new(),
        });
        if let Some(slots) = launch.too_few_slots {
            let groups = launch.range.groups();
            notes.push(format!(
                "{name} has {slots} slot{} for {groups} work-groups: where work-groups shared one, divergence is not \
                 counted, and a barrier only if all of their work-items arrived",
                if slots == 1 { "" } else { "s" }
            ));
        }
        tallies.push(TestTally { name, sites: launch.sites, items });
    }
    Ok(CoverResult {
        header: Header::new(CoverResult::SCHEMA, header.kernel, header.source, None, header.seed),
        elapsed_s: begun.elapsed().as_secs_f64(),
        coverage: summary::coverage_of(reader.rows(), &tallies, false),
        def_use: None,
        sites: summary::outcomes_of(reader.rows(), &tallies),
        tests,
        overhead: None,
        notes,
    })
}

fn bytes(path: &Path) -> Result<Vec<u8>> {
    std::fs::read(path).map_err(|e| {
        let what = format!("cannot read {}: {e}", path.display());
        match e.kind() {
            ErrorKind::NotFound | ErrorKind::IsADirectory | ErrorKind::NotADirectory => {
                Error::caller(what).help("name a file with the contents of a probe buffer")
            }
            _ => Error::environment(what).help("make the file readable"),
        }
    })
}
