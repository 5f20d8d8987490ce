//! Groups a coverage result by source file: the hits of its lines, and its sites with their outcomes.

use std::collections::BTreeMap;

use crate::result::cover::{CoverResult, SiteOutcome};

/// A site as the list of its outcomes, at least one, in the order of the result.
pub(super) struct Site<'a> {
    pub(super) outcomes: Vec<&'a SiteOutcome>,
}

impl<'a> Site<'a> {
    /// Returns the properties that all outcomes share: id, kind, construct, function, location.
    pub(super) fn shared(&self) -> &'a SiteOutcome {
        self.outcomes[0]
    }

    /// Returns whether the site has this kind.
    pub(super) fn is(&self, kind: &str) -> bool {
        self.shared().kind == kind
    }

    /// Returns the outcomes that no test covers.
    pub(super) fn missing(&self) -> Vec<&'a str> {
        self.outcomes.iter().filter(|o| !o.covered).map(|o| o.outcome.as_str()).collect()
    }

    /// Returns the number of work-groups that diverged here; every outcome of a site has the same number.
    pub(super) fn divergent_groups(&self) -> u64 {
        self.outcomes.iter().filter_map(|o| o.divergent_groups).max().unwrap_or(0)
    }
}

/// A line with code.
#[derive(Default)]
pub(super) struct Line<'a> {
    pub(super) covered: bool,
    /// Hits by test: 0 or 1, or the number of work-items.
    pub(super) hits: BTreeMap<&'a str, u64>,
}

/// A function with sites.
pub(super) struct Function<'a> {
    /// First line with a site; results do not contain where the function itself starts.
    pub(super) first_line: u32,
    pub(super) outcomes: Vec<&'a SiteOutcome>,
}

/// A source file of a result.
pub(super) struct File<'a> {
    pub(super) name: &'a str,
    /// Lines with code, by number from 1.
    pub(super) lines: BTreeMap<u32, Line<'a>>,
    /// All sites except those of kind `line`, sorted by line and column; line 0: unknown location.
    pub(super) sites: Vec<Site<'a>>,
    /// Functions by name. A function with sites in several files (macros, included bodies) is listed in the file with
    /// most of its outcomes.
    pub(super) functions: BTreeMap<&'a str, Function<'a>>,
}

impl File<'_> {
    /// Returns the number of covered lines.
    pub(super) fn lines_covered(&self) -> usize {
        self.lines.values().filter(|l| l.covered).count()
    }

    /// Returns whether something has a line in it.
    pub(super) fn has_lines(&self) -> bool {
        !self.lines.is_empty() || self.sites.iter().any(|site| site.shared().location.line > 0)
    }
}

/// Returns the files of `result`, in the order in which its sites name them.
pub(super) fn files(result: &CoverResult) -> Vec<File<'_>> {
    let mut files: Vec<File<'_>> = Vec::new();
    for site in sites(result) {
        let what = site.shared();
        let at = files.iter().position(|f| f.name == what.location.file).unwrap_or_else(|| {
            files.push(File {
                name: &what.location.file,
                lines: BTreeMap::new(),
                sites: Vec::new(),
                functions: BTreeMap::new(),
            });
            files.len() - 1
        });
        let file = &mut files[at];
        if what.location.line > 0 {
            let function = file
                .functions
                .entry(&what.function)
                .or_insert_with(|| Function { first_line: u32::MAX, outcomes: Vec::new() });
            function.first_line = function.first_line.min(what.location.line);
            function.outcomes.extend(&site.outcomes);
        }
        if site.is("line") && what.location.line > 0 {
            // Two functions on one line (say, in a macro) have a line site each; the line is hit if either is.
            let line = file.lines.entry(what.location.line).or_default();
            for outcome in &site.outcomes {
                line.covered |= outcome.covered;
                for (test, &hits) in &outcome.hits_by_test {
                    let entry = line.hits.entry(test).or_default();
                    *entry = hits.max(*entry);
                }
            }
        } else {
            file.sites.push(site);
        }
    }
    let mut homes: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    for (at, file) in files.iter().enumerate() {
        for (name, function) in &file.functions {
            let home = homes.entry(name).or_insert((at, 0));
            if function.outcomes.len() > home.1 {
                *home = (at, function.outcomes.len());
            }
        }
    }
    for (at, file) in files.iter_mut().enumerate() {
        file.sites.sort_by_key(|s| (s.shared().location.line, s.shared().location.column));
        file.functions.retain(|name, _| homes.get(name).is_some_and(|home| home.0 == at));
    }
    files
}

/// Returns the sites of `result`, in the order of their first outcomes.
pub(super) fn sites(result: &CoverResult) -> Vec<Site<'_>> {
    let mut index: BTreeMap<&str, usize> = BTreeMap::new();
    let mut sites: Vec<Site<'_>> = Vec::new();
    for outcome in &result.sites {
        match index.get(outcome.id.as_str()) {
            Some(&at) => sites[at].outcomes.push(outcome),
            None => {
                index.insert(&outcome.id, sites.len());
                sites.push(Site { outcomes: vec![outcome] });
            }
        }
    }
    sites
}
