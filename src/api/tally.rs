//! Makes results of what a host program of the user's own read back or wrote down: coverage of probe buffers, mutants
//! of outcomes.

use std::collections::BTreeSet;
use std::io::ErrorKind;
use std::path::Path;
use std::time::Instant;

use kassay_base::error::{Error, Result};
use kassay_judge::coverage::own_host::Reader;
use kassay_judge::coverage::summary::{self, TestTally};
use kassay_judge::mutation::campaign::own_host;
use kassay_results::result::Header;
use kassay_results::result::cover::{CoverResult, Coverage, TestOutcome, TestStatus};
use kassay_results::result::mcdc::{Criterion, Mcdc};
use kassay_results::result::mutate::MutateResult;
use kassay_results::result::outcomes;
use kassay_results::result::probe_map::{self, ProbeMap, Purpose};

/// Tallies probe buffers, each a file, by the map of the module that wrote them (docs/bring-your-own-host.md). In the
/// result, a test is a file, and its name is the file's as given. If they hold test vectors, there is MC/DC, by
/// masking.
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
/// `Caller` if a file is missing, is no map of a module with coverage probes, or is not a buffer that this module
/// wrote; `Environment` if a file cannot be read.
pub fn tally(map: impl AsRef<Path>, probes: &[impl AsRef<Path>]) -> Result<CoverResult> {
    tally_by(map, probes, Criterion::Masking)
}

/// As [`tally`], with MC/DC by this criterion.
///
/// # Errors
/// As [`tally`].
pub fn tally_by(map: impl AsRef<Path>, probes: &[impl AsRef<Path>], criterion: Criterion) -> Result<CoverResult> {
    let (started, map_file) = (Instant::now(), map.as_ref());
    let ProbeMap { header, purpose, coverage, mut notes, .. } = probe_map::read(map_file)?;
    let Some(coverage) = coverage else {
        let what =
            format!("{} is the map of a module with {}, which records no coverage", map_file.display(), purpose.name());
        let help = match purpose {
            Purpose::Mutants => "--outcomes names files with outcomes of mutants; for coverage, lower with --coverage",
            Purpose::Coverage | Purpose::Guards => "lower the kernel with --coverage",
        };
        return Err(Error::caller(what).help(help));
    };
    let reader = Reader::new(&coverage, map_file)?;
    let (mut tests, mut tallies, mut names, mut others) = (Vec::new(), Vec::new(), BTreeSet::new(), 0);
    for path in probes.iter().map(AsRef::as_ref) {
        let name = path.display().to_string();
        if !names.insert(name.clone()) {
            return Err(Error::caller(format!("{name} is named twice")).help("name each probe file once"));
        }
        let Some(launch) = reader.tally(&bytes(path)?, path)? else {
            others += 1;
            continue;
        };
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
    if others > 0 {
        let beside: Vec<&str> = coverage.beside.iter().map(|kernel| kernel.kernel.as_str()).collect();
        let what = format!("{others} of {} probe buffers are of other kernels of the module", probes.len());
        if tests.is_empty() {
            let what = format!("{what}: none is of `{}`", header.kernel);
            return Err(Error::caller(what).help(format!("name buffers of it, or the map of {}", beside.join(" or "))));
        }
        notes.push(format!("{what} ({})", beside.join(", ")));
    }
    let mcdc = reader.mcdc(&tallies, criterion);
    let coverage = summary::coverage_of(reader.rows(), &tallies, reader.counts());
    Ok(CoverResult {
        header: Header::new(CoverResult::SCHEMA, header.kernel, header.source, None, header.seed),
        elapsed_s: started.elapsed().as_secs_f64(),
        coverage: Coverage { mcdc: mcdc.as_ref().map(Mcdc::ratio), ..coverage },
        def_use: None,
        sites: summary::outcomes_of(reader.rows(), &tallies),
        mcdc,
        tests,
        overhead: None,
        complaints: Vec::new(),
        notes,
    })
}

/// Makes a mutation result of files of outcomes, in which a host program of the user's own wrote what its tests showed
/// of the mutants in the modules of a map (docs/bring-your-own-host.md). Several files count as one.
///
/// ```
/// # fn main() -> kassay::Result<()> {
/// use kassay::{LowerOptions, LoweredForm, OpenOptions, lower, tally_mutants};
///
/// let kernel = "testdata/vector_add/vector_add.cl";
/// let options = LowerOptions::new().mutants(true).operators("AOR".to_owned());
/// let lowered = lower(kernel, &OpenOptions::new(), &options)?;
/// let Ok(LoweredForm::Woven { map, .. }) = &lowered[0].form else { panic!("it has mutants") };
///
/// let folder = tempfile::tempdir().unwrap();
/// let (map_file, outcomes) = (folder.path().join("map.json"), folder.path().join("outcomes.txt"));
/// std::fs::write(&map_file, serde_json::to_string(map).unwrap()).unwrap();
/// let module = &map.modules[0].hash;
/// let lines = format!("kassay-outcomes 1\nmodule {module}\n0 same 0 my test\n1 different 0 my test\n");
/// std::fs::write(&outcomes, lines).unwrap();
/// let result = tally_mutants(&map_file, &[&outcomes])?;
/// assert_eq!(result.summary.killed, 1);
/// assert!(result.summary.pending > 0);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// `Caller` if a file is missing, is no map of modules with mutants, or is no file of outcomes of these modules;
/// `Environment` if a file cannot be read.
pub fn tally_mutants(map: impl AsRef<Path>, files: &[impl AsRef<Path>]) -> Result<MutateResult> {
    let (started, map_file) = (Instant::now(), map.as_ref());
    let map = probe_map::read(map_file)?;
    if map.purpose != Purpose::Mutants {
        let what =
            format!("{} is the map of a module with {}, which has no mutants", map_file.display(), map.purpose.name());
        return Err(Error::caller(what).help("lower the kernel with --mutants"));
    }
    check_mutants(&map, map_file)?;
    let (mut all, mut names) = (Vec::new(), BTreeSet::new());
    for path in files.iter().map(AsRef::as_ref) {
        if !names.insert(path) {
            return Err(Error::caller(format!("{} is named twice", path.display())).help("name each file once"));
        }
        all.extend(outcomes::read(path, &map)?);
    }
    let result = own_host::result(&map, all)?;
    Ok(MutateResult { elapsed_s: started.elapsed().as_secs_f64(), ..result })
}

/// Checks that the mutants of a map are those of its modules.
fn check_mutants(map: &ProbeMap, path: &Path) -> Result<()> {
    let wrong = |what: String| {
        Error::caller(format!("{} contradicts itself: {what}", path.display()))
            .help("take the map as `kassay lower --map` wrote it, or lower the kernel again")
    };
    if let Some((module, _)) = map.modules.iter().enumerate().find(|(_, module)| module.mutants.is_none()) {
        return Err(wrong(format!("it does not say how many mutants module {module} has")));
    }
    for mutant in &map.mutants {
        let count = map.modules.get(mutant.module as usize).and_then(|module| module.mutants).unwrap_or(0);
        if mutant.number == 0 || mutant.number > count {
            return Err(wrong(format!("mutant {} of module {} is in no module", mutant.number, mutant.module)));
        }
    }
    Ok(())
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
