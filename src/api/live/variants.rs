//! Unites the variants of a kernel: by their places in the text that they have in common.

use std::path::Path;
use std::sync::Arc;

use kassay_judge::coverage::unite;
use kassay_results::result::Location;
use kassay_results::result::cover::CoverResult;
use kassay_results::result::set::KernelVariant;
use kassay_run::host::Variant;

use super::weaver::Program;

/// A kernel's coverage, with locations in the file that was compiled.
pub struct Tallied {
    pub result: CoverResult,
    /// The id of the program object.
    pub id: String,
    pub launches: u64,
    pub program: Arc<Program>,
}

/// Coverage of all variants of a kernel, with locations in the first one's file.
pub struct United {
    pub result: CoverResult,
    /// The first variant's.
    pub id: String,
    pub launches: u64,
    pub program: Arc<Program>,
    /// None where there is only one.
    pub variants: Vec<KernelVariant>,
}

/// Puts the variants of each kernel together, in the order of the first ones. Without `unite`, each is alone.
pub fn united(all: Vec<Tallied>, is_wanted: bool) -> Vec<United> {
    let mut groups: Vec<Vec<Tallied>> = Vec::new();
    for tallied in all {
        match groups
            .iter_mut()
            .find(|group| is_wanted && group.first().is_some_and(|first| are_variants(first, &tallied)))
        {
            Some(group) => group.push(tallied),
            None => groups.push(vec![tallied]),
        }
    }
    groups.into_iter().filter_map(of_group).collect()
}

fn are_variants(one: &Tallied, other: &Tallied) -> bool {
    let text = |tallied: &Tallied| tallied.program.variant.as_ref().map(|variant| variant.text.clone());
    one.result.header.kernel == other.result.header.kernel && text(one).is_some() && text(one) == text(other)
}

fn of_group(group: Vec<Tallied>) -> Option<United> {
    let first = group.first()?;
    let (id, program) = (first.id.clone(), Arc::clone(&first.program));
    let launches = group.iter().map(|tallied| tallied.launches).fold(0, u64::saturating_add);
    if group.len() == 1 {
        let result = group.into_iter().next()?.result;
        return Some(United { result, id, launches, program, variants: Vec::new() });
    }
    let (mut results, mut variants) = (Vec::new(), Vec::new());
    for tallied in group {
        let Tallied { mut result, id, launches, program: own } = tallied;
        if let (Some(from), Some(to)) = (&own.variant, &program.variant) {
            shift(&mut result, &Shift { from, to, own: &own.texts.path, first: &program.texts.path });
            let (defines, options) = (from.defines.clone(), from.options.clone());
            variants.push((
                KernelVariant { program: id, launches, defines, options, tests: Vec::new() },
                result.tests.len(),
            ));
        }
        results.push(result);
    }
    let result = unite::unite(results)?;
    let mut tests = result.tests.iter().map(|test| test.name.clone());
    let named = |(variant, count): (KernelVariant, usize)| KernelVariant {
        tests: tests.by_ref().take(count).collect(),
        ..variant
    };
    let variants = variants.into_iter().map(named).collect();
    Some(United { result, id, launches, program, variants })
}

/// From places of a variant to the same places in the first one's files.
struct Shift<'a> {
    from: &'a Variant,
    to: &'a Variant,
    own: &'a Path,
    first: &'a Path,
}

impl Shift<'_> {
    fn line(&self, line: u32) -> u32 {
        // What is unknown has the line 0.
        let Some(common) = line.checked_sub(self.from.front_lines).filter(|line| *line > 0) else { return line };
        common.saturating_add(self.to.front_lines)
    }

    /// Moves a place and its id.
    fn place(&self, location: &mut Location, id: &mut String) {
        let path = Path::new(&location.file);
        if path == self.own {
            location.file = self.first.display().to_string();
            location.line = self.line(location.line);
            *id = self.id(id);
        } else if let Some(below) = self.own.parent().and_then(|folder| path.strip_prefix(folder).ok())
            && let Some(folder) = self.first.parent()
        {
            location.file = folder.join(below).display().to_string();
        }
    }

    /// Returns the id of a place in the program's own file: after its `@` come the file's name and the line.
    fn id(&self, id: &str) -> String {
        let name = |path: &Path| path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let moved = || {
            let (what, at) = id.rsplit_once('@')?;
            let at = at.strip_prefix(&name(self.own))?.strip_prefix(':')?;
            let (line, rest) = at.split_at(at.find(|c: char| !c.is_ascii_digit()).unwrap_or(at.len()));
            Some(format!("{what}@{}:{}{rest}", name(self.first), self.line(line.parse().ok()?)))
        };
        moved().unwrap_or_else(|| id.to_owned())
    }
}

fn shift(result: &mut CoverResult, shift: &Shift<'_>) {
    for site in &mut result.sites {
        shift.place(&mut site.location, &mut site.id);
    }
    for decision in result.mcdc.iter_mut().flat_map(|mcdc| &mut mcdc.decisions) {
        shift.place(&mut decision.location, &mut decision.id);
        for condition in &mut decision.conditions {
            shift.place(&mut condition.location, &mut condition.site);
        }
    }
}
