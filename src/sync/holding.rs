//! Whether a verdict holds for every interleaving of the explored inputs (`spec.md` section 5): it does unless a value that depends on
//! the interleaving decides what is accessed.

use crate::coverage::build::Assay;
use crate::error::Result;
use crate::lower::host::table::{HostTable, Mode};
use crate::result::check::{Finding, FindingKind};

/// What may decide otherwise in another interleaving, a sentence each.
///
/// # Errors
/// `Internal` if the code cannot be analysed.
pub fn flows(_assay: &Assay<'_>, table: &HostTable, findings: &[Finding]) -> Result<Vec<String>> {
    let mut all = Vec::new();
    let atomic = table.accesses.iter().find(|a| matches!(a.mode, Mode::Atomic | Mode::AtomicRead));
    if let Some(site) = atomic {
        let place = table.paths.get(site.path as usize).and_then(|p| p.frames.first());
        let line = place.filter(|p| p.line > 0).map(|p| format!(" (line {})", p.line)).unwrap_or_default();
        all.push(format!("what atomics give depends on the interleaving{line}"));
    }
    if findings.iter().any(|f| f.kind == FindingKind::DataRace) {
        all.push("what accesses that race give depends on the interleaving".to_owned());
    }
    Ok(all)
}
