//! Tidy tables of a comparison, for R and pandas: one observation a row, one variable a column.

use kassay_base::error::{Error, Result};
use kassay_results::result::compare::{CompareResult, Interval};

/// A table: its name, its columns with what they mean, and its rows.
pub struct Table {
    /// The file's name without `.csv`.
    pub name: &'static str,
    /// Name and description.
    pub columns: &'static [(&'static str, &'static str)],
    rows: Vec<Vec<String>>,
}

const KERNEL: (&str, &str) = ("kernel", "name of the kernel function");
const SUITE: (&str, &str) = ("suite", "path of the suite; with `kernel` it names a kernel of the study");
const LEVEL: (&str, &str) = ("level", "level at which the mutant was made");

impl Table {
    /// Returns the table as CSV (RFC 4180) with a line of column names.
    ///
    /// # Errors
    /// `Internal` if a row has another number of cells than there are columns.
    pub fn text(&self) -> Result<String> {
        let mut writer = csv::Writer::from_writer(Vec::new());
        let failed = |e: &dyn std::fmt::Display| Error::internal(format!("cannot write the table {}: {e}", self.name));
        writer.write_record(self.columns.iter().map(|(name, _)| name)).map_err(|e| failed(&e))?;
        self.rows.iter().try_for_each(|row| writer.write_record(row)).map_err(|e| failed(&e))?;
        let bytes = writer.into_inner().map_err(|e| failed(&e))?;
        String::from_utf8(bytes).map_err(|e| failed(&e))
    }
}

/// Returns all tables of a result. The last, `columns`, describes the columns of the others.
pub fn tables(result: &CompareResult) -> Vec<Table> {
    let mut tables = vec![
        tests(result),
        mutants(result),
        kills(result),
        levels(result),
        twins(result),
        cross(result),
        correlation(result),
        correlation_within_sizes(result),
        faults(result),
        against_faults(result),
        against_faults_within_sizes(result),
    ];
    let described = tables.iter().flat_map(|table| {
        table.columns.iter().map(|(column, meaning)| vec![table.name.into(), (*column).into(), (*meaning).into()])
    });
    let rows = described.collect();
    let columns = &[
        ("table", "name of the file, without .csv"),
        ("column", "name of the column"),
        ("meaning", "what its values are; an empty cell is a missing value"),
    ];
    tables.push(Table { name: "columns", columns, rows });
    tables
}

fn tests(result: &CompareResult) -> Table {
    let columns = &[
        KERNEL,
        SUITE,
        ("test", "name of the test"),
        ("origin", "suite or generated"),
        ("used", "1 if it judges mutants at every level, otherwise 0"),
        ("reason", "why it is not used"),
    ];
    let rows = result.kernels.iter().flat_map(|kernel| {
        kernel.tests.iter().map(|test| {
            vec![
                kernel.kernel.clone(),
                kernel.suite.clone(),
                test.name.clone(),
                word(&test.origin),
                flag(test.status == kassay_results::result::mutate::TestStatus::Used),
                test.reason.clone().unwrap_or_default(),
            ]
        })
    });
    Table { name: "tests", columns, rows: rows.collect() }
}

fn mutants(result: &CompareResult) -> Table {
    let columns = &[
        KERNEL,
        SUITE,
        LEVEL,
        ("mutant", "id of the mutant at its level"),
        ("operator", "id of the operator"),
        ("concept", "concept of the operator, the same at each level"),
        ("file", "path of the source file; empty if unknown"),
        ("line", "line; 0 if unknown"),
        ("status", "status, as `kassay mutate` writes it"),
        ("duplicate_of", "id of the mutant that it equals; empty if none"),
        ("kills", "number of tests that detect it"),
        ("minimal", "1 if it is one of the level's minimal mutants, otherwise 0"),
        ("hard", "1 if at most 2.5 % of the tests detect it, but some does, otherwise 0"),
    ];
    let rows = result.kernels.iter().flat_map(|kernel| {
        kernel.mutants.iter().map(|mutant| {
            vec![
                kernel.kernel.clone(),
                kernel.suite.clone(),
                mutant.level.clone(),
                mutant.id.clone(),
                mutant.operator.clone(),
                mutant.concept.clone(),
                mutant.file.clone(),
                mutant.line.to_string(),
                word(&mutant.status),
                mutant.duplicate_of.clone().unwrap_or_default(),
                mutant.killed_by.len().to_string(),
                flag(mutant.is_minimal),
                flag(mutant.is_hard),
            ]
        })
    });
    Table { name: "mutants", columns, rows: rows.collect() }
}

fn kills(result: &CompareResult) -> Table {
    let columns = &[
        KERNEL,
        SUITE,
        LEVEL,
        ("mutant", "id of the mutant at its level"),
        ("test", "name of a test that detects it; pairs that are not listed do not"),
    ];
    let rows = result.kernels.iter().flat_map(|kernel| {
        kernel.mutants.iter().flat_map(move |mutant| {
            mutant.killed_by.iter().filter_map(move |test| {
                let test = kernel.tests.get(*test as usize)?.name.clone();
                Some(vec![kernel.kernel.clone(), kernel.suite.clone(), mutant.level.clone(), mutant.id.clone(), test])
            })
        })
    });
    Table { name: "kills", columns, rows: rows.collect() }
}

fn levels(result: &CompareResult) -> Table {
    let columns = &[
        KERNEL,
        SUITE,
        LEVEL,
        ("concept", "concept of the operators, or all"),
        ("generated", "mutants"),
        ("compile_error", "mutants that do not compile"),
        ("ignored", "mutants that were not run on purpose"),
        ("equivalent", "mutants that are proved to behave like the original"),
        ("equivalent_for_launches", "mutants that are proved to do so in launches of the tests' sizes"),
        ("duplicate", "mutants that equal another one of the level"),
        ("killed", "mutants for which some test's output differs"),
        ("timeout", "mutants that ran out of fuel or time"),
        ("runtime_error", "mutants that fault"),
        ("survived", "mutants that tests reach and none detects"),
        ("undecided", "mutants whose output differed in some repeats only"),
        ("no_coverage", "mutants that no test reaches"),
        ("score", "percent of the mutants that count"),
        ("distinguished", "classes of mutants that the same tests detect"),
        ("minimal", "minimal mutants"),
        ("disjoint", "disjoint mutants"),
        ("surface", "surface mutants"),
        ("hard", "hard mutants"),
        ("lines", "lines with code; only for all concepts"),
        ("instructions", "instructions of LLVM IR; only for all concepts"),
        ("build_s", "seconds for weaving and building; only for all concepts"),
        ("run_s", "seconds for runs; only for all concepts"),
        ("equivalence_s", "seconds for the search for equivalents; only for all concepts"),
        ("elapsed_s", "wall-clock seconds; only for all concepts"),
    ];
    let rows = result.kernels.iter().flat_map(|kernel| {
        kernel.levels.iter().map(|row| {
            let counts = [
                row.generated,
                row.compile_error,
                row.ignored,
                row.equivalent,
                row.equivalent_for_launches,
                row.duplicate,
                row.killed,
                row.timeout,
                row.runtime_error,
                row.survived,
                row.undecided,
                row.no_coverage,
            ];
            let sets = [row.distinguished, row.minimal, row.disjoint, row.surface, row.hard];
            let seconds = row
                .cost
                .map_or([None; 4], |cost| [cost.build_s, cost.run_s, cost.equivalence_s, cost.elapsed_s].map(Some));
            let mut cells = vec![kernel.kernel.clone(), kernel.suite.clone(), row.level.clone(), row.concept.clone()];
            cells.extend(counts.map(|count| count.to_string()));
            cells.push(number(row.score));
            cells.extend(sets.map(|count| count.to_string()));
            let code = row.code.map_or([None; 2], |code| [code.lines, code.instructions].map(Some));
            cells.extend(code.map(|size| size.map(|size| size.to_string()).unwrap_or_default()));
            cells.extend(seconds.map(number));
            cells
        })
    });
    Table { name: "levels", columns, rows: rows.collect() }
}

fn twins(result: &CompareResult) -> Table {
    let columns = &[
        KERNEL,
        SUITE,
        LEVEL,
        ("mutant", "id of the mutant there"),
        ("other_level", "another level"),
        ("other_mutant", "id of the mutant there that is the same program"),
    ];
    let rows = result.kernels.iter().flat_map(|kernel| {
        kernel.twins.iter().map(|twins| {
            let (one, other) = ([&twins.level, &twins.mutant], [&twins.other_level, &twins.other_mutant]);
            [[&kernel.kernel, &kernel.suite], one, other].concat().into_iter().cloned().collect()
        })
    });
    Table { name: "twins", columns, rows: rows.collect() }
}

fn cross(result: &CompareResult) -> Table {
    let columns = &[
        KERNEL,
        SUITE,
        ("adequate_on", "level whose detectable mutants each random minimal suite detects"),
        ("scored_on", "level by whose detectable mutants the suites are judged"),
        ("mean", "mean percentage that they detect"),
        ("low", "lower end of its 95 % interval"),
        ("high", "upper end"),
        ("suite_size", "mean number of tests in a suite"),
        ("suite_size_low", "lower end of its 95 % interval"),
        ("suite_size_high", "upper end"),
        (
            "minimal_subsumed",
            "percent of the minimal mutants of scored_on that a minimal mutant of adequate_on subsumes",
        ),
    ];
    let rows = result.kernels.iter().flat_map(|kernel| {
        kernel.cross.iter().map(|row| {
            let mut cells = vec![kernel.kernel.clone(), kernel.suite.clone()];
            cells.extend([row.adequate_on.clone(), row.scored_on.clone()]);
            cells.extend([row.mean, row.low, row.high].map(number));
            cells.extend(ends(Some(row.suite_size)));
            cells.push(number(row.minimal_subsumed));
            cells
        })
    });
    Table { name: "cross", columns, rows: rows.collect() }
}

fn correlation(result: &CompareResult) -> Table {
    let columns = &[
        KERNEL,
        SUITE,
        LEVEL,
        ("other_level", "another level"),
        ("tests", "tests in each random sub-suite"),
        ("suites", "sub-suites drawn"),
        ("pearson", "Pearson's correlation of the two levels' scores"),
        ("pearson_low", "lower end of its 95 % interval"),
        ("pearson_high", "upper end"),
        ("kendall", "Kendall's tau-b of the two levels' scores"),
        ("kendall_low", "lower end of its 95 % interval"),
        ("kendall_high", "upper end"),
    ];
    let rows = result.kernels.iter().flat_map(|kernel| {
        kernel.correlation.iter().map(|row| {
            let mut cells = vec![kernel.kernel.clone(), kernel.suite.clone()];
            cells.extend([row.level.clone(), row.other_level.clone()]);
            cells.extend([row.tests.to_string(), row.suites.to_string()]);
            cells.extend(ends(row.pearson));
            cells.extend(ends(row.kendall));
            cells
        })
    });
    Table { name: "correlation", columns, rows: rows.collect() }
}

type Column = (&'static str, &'static str);

/// Joins the columns of a table.
const fn joined<const A: usize, const B: usize, const ALL: usize>(
    first: [Column; A],
    last: [Column; B],
) -> [Column; ALL] {
    assert!(A + B == ALL);
    let mut all = [("", ""); ALL];
    let mut at = 0;
    while at < ALL {
        all[at] = if at < A { first[at] } else { last[at - A] };
        at += 1;
    }
    all
}

/// The columns of both tables of correlations within sizes, after those that name a row.
const WITHIN: [(&str, &str); 9] = [
    ("sizes", "sizes of random sub-suites, each of which is compared with those of its size only"),
    ("defined", "sizes at which both sides vary"),
    ("suites", "sub-suites drawn, of all sizes"),
    ("pearson", "Pearson's partial correlation given the size"),
    ("pearson_low", "lower end of its 95 % interval"),
    ("pearson_high", "upper end"),
    ("kendall", "Kendall's tau-b with the size as a blocking variable"),
    ("kendall_low", "lower end of its 95 % interval"),
    ("kendall_high", "upper end"),
];

fn correlation_within_sizes(result: &CompareResult) -> Table {
    const COLUMNS: [(&str, &str); 13] = joined([KERNEL, SUITE, LEVEL, ("other_level", "another level")], WITHIN);
    let rows = result.kernels.iter().flat_map(|kernel| {
        kernel.correlation_within_sizes.iter().map(|row| {
            let mut cells = vec![kernel.kernel.clone(), kernel.suite.clone()];
            cells.extend([row.level.clone(), row.other_level.clone()]);
            cells.extend([row.sizes, row.defined, row.suites].map(|count| count.to_string()));
            cells.extend(ends(row.pearson));
            cells.extend(ends(row.kendall));
            cells
        })
    });
    Table { name: "correlation_within_sizes", columns: &COLUMNS, rows: rows.collect() }
}

fn faults(result: &CompareResult) -> Table {
    let columns = &[
        KERNEL,
        SUITE,
        ("fault", "name of the faulty variant"),
        ("test", "name of a test that finds it; empty if none does"),
    ];
    let rows = result.kernels.iter().flat_map(|kernel| {
        kernel.faults.iter().flat_map(move |fault| {
            let found = fault.found_by.iter().filter_map(|test| Some(kernel.tests.get(*test as usize)?.name.clone()));
            let tests: Vec<String> = if fault.found_by.is_empty() { vec![String::new()] } else { found.collect() };
            let row = |test| vec![kernel.kernel.clone(), kernel.suite.clone(), fault.fault.clone(), test];
            tests.into_iter().map(row)
        })
    });
    Table { name: "faults", columns, rows: rows.collect() }
}

fn against_faults(result: &CompareResult) -> Table {
    let columns = &[
        KERNEL,
        SUITE,
        ("measure", "level, for its score, or coverage metric"),
        ("tests", "tests in each random sub-suite"),
        ("suites", "sub-suites drawn"),
        ("found", "mean percentage of the faults that they find"),
        ("pearson", "Pearson's correlation of the measure and the share of faults found"),
        ("pearson_low", "lower end of its 95 % interval"),
        ("pearson_high", "upper end"),
        ("kendall", "Kendall's tau-b of the two"),
        ("kendall_low", "lower end of its 95 % interval"),
        ("kendall_high", "upper end"),
    ];
    let rows = result.kernels.iter().flat_map(|kernel| {
        kernel.against_faults.iter().map(|row| {
            let mut cells = vec![kernel.kernel.clone(), kernel.suite.clone(), row.measure.clone()];
            cells.extend([row.tests.to_string(), row.suites.to_string(), row.found.to_string()]);
            cells.extend(ends(row.pearson));
            cells.extend(ends(row.kendall));
            cells
        })
    });
    Table { name: "against_faults", columns, rows: rows.collect() }
}

fn against_faults_within_sizes(result: &CompareResult) -> Table {
    const COLUMNS: [(&str, &str); 12] =
        joined([KERNEL, SUITE, ("measure", "level, for its score, or coverage metric")], WITHIN);
    let rows = result.kernels.iter().flat_map(|kernel| {
        kernel.against_faults_within_sizes.iter().map(|row| {
            let mut cells = vec![kernel.kernel.clone(), kernel.suite.clone(), row.measure.clone()];
            cells.extend([row.sizes, row.defined, row.suites].map(|count| count.to_string()));
            cells.extend(ends(row.pearson));
            cells.extend(ends(row.kendall));
            cells
        })
    });
    Table { name: "against_faults_within_sizes", columns: &COLUMNS, rows: rows.collect() }
}

/// The estimate and the ends of its interval.
fn ends(interval: Option<Interval>) -> [String; 3] {
    let value = interval.map(|interval| interval.mean);
    [value, interval.and_then(|i| i.low), interval.and_then(|i| i.high)].map(number)
}

fn number(value: Option<f64>) -> String {
    value.map(|value| value.to_string()).unwrap_or_default()
}

fn flag(is_so: bool) -> String {
    u8::from(is_so).to_string()
}

/// The word that results have for a value.
fn word(value: &impl serde::Serialize) -> String {
    match serde_json::to_value(value) {
        Ok(serde_json::Value::String(word)) => word,
        _ => String::new(),
    }
}
