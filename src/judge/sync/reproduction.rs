//! Writes findings as suites that reproduce them.

use std::path::Path;

use kassay_base::error::Result;
use kassay_model::interface::Interface;
use kassay_model::options::SpecValue;
use kassay_suite::launch::Launch;
use kassay_suite::write::{self, NewSuite, NewTest};

use super::checking::Case;
use super::findings::Found;

/// The kernel of the suites, and how to compile it.
#[derive(Debug, Clone, Copy)]
pub struct Kernel<'a> {
    /// Path of its file.
    pub path: &'a Path,
    /// The kernel's name.
    pub entry: &'a str,
    /// The kernel's arguments.
    pub interface: &'a Interface,
    /// All options, as arguments to clang.
    pub options: &'a [String],
    /// Values of its specialisation constants.
    pub spec: &'a [SpecValue],
}

/// Writes `folder/<n>/suite.toml` for the n-th finding (from 1) that an input shows: that input under its
/// schedule, and, if outputs were seen to differ, the two schedules between which they do. Findings receive the
/// path as their reproduction.
///
/// # Errors
/// As of [`write::write`].
pub fn write(folder: &Path, kernel: Kernel<'_>, found: &mut [Found], cases: &[Case]) -> Result<()> {
    for (number, found) in (1..).zip(found) {
        let Some(case) = cases.get(found.input).filter(|_| found.finding.input.is_some()) else { continue };
        let folder = folder.join(number.to_string());
        let launches: Vec<(String, String, Launch)> = launches(found, case);
        // The relative path of the kernel can only be determined once the folder exists.
        std::fs::create_dir_all(&folder).map_err(|e| write::no_folder(&folder, &e))?;
        let suite = NewSuite {
            kernel: write::relative(&folder, kernel.path),
            entry: kernel.entry,
            options: kernel.options,
            spec: kernel.spec,
            sub_group_size: kernel.interface.sub_groups.simulated(),
            name: Some(found.finding.kind.name()),
            description: Some(&found.finding.message),
            tests: launches
                .iter()
                .map(|(name, description, launch)| NewTest {
                    name: name.clone(),
                    description: Some(description.clone()),
                    launch,
                    faulted: &[],
                    expectations: &[],
                })
                .collect(),
        };
        let path = write::write(&folder, &suite, kernel.interface)?;
        found.finding.reproduction = Some(path.display().to_string());
    }
    Ok(())
}

/// Returns the tests: name, description, launch.
fn launches(found: &Found, case: &Case) -> Vec<(String, String, Launch)> {
    let shown = format!("shows the {}", found.finding.kind.name());
    let mut all = vec![(case.name.clone(), shown, case.launch.clone())];
    if let Some(witness) = &found.finding.witness {
        let field = witness.field.as_deref().map(|f| format!(".{f}")).unwrap_or_default();
        for (order, (schedule, value)) in (1..).zip(witness.schedules.iter().zip(&witness.values)) {
            let leaves = format!("leaves {}[{}]{field} = {value}", witness.argument, witness.index);
            if *schedule == case.launch.schedule {
                all[0].1 = format!("{}; {leaves}", all[0].1);
            } else {
                let launch = Launch { schedule: schedule.clone(), ..case.launch.clone() };
                all.push((format!("{}, order {order}", case.name), leaves, launch));
            }
        }
    }
    all
}
