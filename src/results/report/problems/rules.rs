//! The kinds of problems, with the words that explain them to a reader who has only the report.

/// How grave a problem is, gravest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Level {
    /// The kernel is wrong, or a test fails.
    Error,
    /// The tests leave something open.
    Warning,
    /// Something worth knowing.
    Note,
}

impl Level {
    /// Returns the name in SARIF.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Level::Error => "error",
            Level::Warning => "warning",
            Level::Note => "note",
        }
    }
}

/// A kind of problem.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Rule {
    /// Stable id, in kebab-case.
    pub(crate) id: &'static str,
    /// What is wrong, in a few words.
    pub(crate) title: &'static str,
    /// What it means, and what helps; plain sentences.
    pub(crate) help: &'static str,
    /// The page of the documentation that explains it, under `docs/`.
    pub(crate) page: &'static str,
    /// How grave it is, unless a problem says otherwise.
    pub(crate) level: Level,
    /// Words to search and filter by; weaknesses by their number in the CWE.
    pub(crate) tags: &'static [&'static str],
}

/// Returns the address of the project: that of its repository, or else of the published crate.
pub(crate) fn home() -> &'static str {
    match env!("CARGO_PKG_REPOSITORY") {
        "" => "https://docs.rs/kassay",
        repository => repository,
    }
}

impl Rule {
    /// Returns the address of its page: in the repository, or else among the sources of the published crate.
    pub(crate) fn uri(&self) -> String {
        let version = env!("CARGO_PKG_VERSION");
        match env!("CARGO_PKG_REPOSITORY").trim_end_matches('/') {
            "" => format!("https://docs.rs/crate/kassay/{version}/source/docs/{}", self.page),
            repository => format!("{repository}/blob/v{version}/docs/{}", self.page),
        }
    }

    /// Returns the id in the form `DataRace`, as names of rules are written in SARIF.
    pub(crate) fn name(&self) -> String {
        let capital = |word: &str| word[..1].to_uppercase() + &word[1..];
        self.id.split('-').map(capital).collect()
    }
}

macro_rules! rules {
    ($($name:ident = $id:literal, $level:ident, $page:literal, $tags:expr, $title:literal, $help:literal;)*) => {
        $(pub(super) static $name: Rule = Rule {
            id: $id, title: $title, help: $help, page: $page, level: Level::$level, tags: &$tags,
        };)*
        /// All rules.
        #[cfg(test)]
        static ALL: &[&Rule] = &[$(&$name),*];
    };
}

rules! {
    DATA_RACE = "data-race", Error, "check.md", ["concurrency", "external/cwe/cwe-362"],
        "Data race",
        "Two work-items access the same memory, at least one of them writes, and nothing orders the accesses. The result may depend on the device and on chance. Put a barrier between the accesses, make them atomic, or give each work-item its own element. The related locations are the two accesses.";
    BARRIER_DIVERGENCE = "barrier-divergence", Error, "check.md", ["concurrency", "external/cwe/cwe-667"],
        "Barrier divergence",
        "Work-items of a group wait at a barrier that others of the group do not reach. On many devices this never ends. Move the barrier out of the branch or loop that only some of the work-items take.";
    OUT_OF_BOUNDS = "out-of-bounds", Error, "check.md", ["memory", "external/cwe/cwe-119"],
        "Access out of bounds",
        "An access lies outside its buffer, image, variable or array. Guard it by the size, or launch no more work-items than there are elements.";
    NULL_ACCESS = "null-access", Error, "check.md", ["memory", "external/cwe/cwe-476"],
        "Access through a null pointer",
        "An access goes through a null pointer. Test the pointer first, or pass a buffer.";
    READ_ONLY_WRITE = "read-only-write", Error, "check.md", ["memory", "external/cwe/cwe-123"],
        "Write to read-only memory",
        "A write goes to constant memory, or to a buffer that the host has made with CL_MEM_READ_ONLY. What it does differs between devices. Write to other memory, or make the buffer with CL_MEM_READ_WRITE.";
    WRITE_ONLY_READ = "write-only-read", Error, "check.md", ["memory", "external/cwe/cwe-908"],
        "Read of write-only memory",
        "A kernel reads a buffer that the host has made with CL_MEM_WRITE_ONLY. What it reads differs between devices. Make the buffer with CL_MEM_READ_WRITE.";
    MISALIGNED = "misaligned", Error, "check.md", ["memory", "external/cwe/cwe-188"],
        "Misaligned access",
        "An access is at an address that is not aligned for its type, which OpenCL leaves undefined. Use vload and vstore, or align the address.";
    DIVISION = "division", Error, "check.md", ["arithmetic", "external/cwe/cwe-369"],
        "Division by zero or overflow",
        "An integer is divided by zero, or the least integer by -1. Guard the divisor.";
    NON_TERMINATION = "non-termination", Error, "check.md", ["external/cwe/cwe-835"],
        "Loop that does not end",
        "A loop does not end within the limit of a launch. Look at what its condition waits for: other work-items need not make progress.";
    ASSERTION = "assertion", Error, "check.md", ["external/cwe/cwe-617"],
        "Failed assertion",
        "An assertion fails, or a work-item comes to a trap. Either the kernel or what it is given is not as the assertion says.";
    UNAWAITED_COPY = "unawaited-copy", Error, "check.md", ["concurrency", "memory", "external/cwe/cwe-362"],
        "Asynchronous copy that nothing waits for",
        "An asynchronous copy may still be under way when its work-group ends: nothing waits for its event, and OpenCL leaves open what happens then. Pass the event to wait_group_events, which the whole work-group has to call.";
    UNINITIALISED = "uninitialised", Warning, "check.md", ["memory", "external/cwe/cwe-457"],
        "Read of uninitialised memory",
        "Memory is read that nothing has written. Its contents differ between devices and runs. Write it first.";
    REDUNDANT_BARRIER = "redundant-barrier", Note, "check.md", ["performance"],
        "Redundant barrier",
        "Without this barrier no explored input shows a conflict. It may be unnecessary, or the inputs do not show what it is for. Remove it, or add a test that needs it.";
    SURVIVED_MUTANT = "survived-mutant", Warning, "mutate.md", ["test"],
        "Mutant survived",
        "The kernel was changed here, tests executed the change, and none noticed. Either no test tells the two apart, which a new test or a stricter expectation mends, or the change makes no difference, and the code can be simplified.";
    UNREACHED_MUTANT = "unreached-mutant", Warning, "mutate.md", ["test"],
        "Mutant not reached",
        "The kernel was changed here, and no test executes the change. Add a test that does.";
    UNDECIDED_MUTANT = "undecided-mutant", Warning, "mutate.md", ["test"],
        "Mutant undecided",
        "The kernel was changed here, and the outputs differed in some repeats only. Its outcome depends on chance, as that of a race does.";
    DROPPED_TEST = "dropped-test", Warning, "mutate.md", ["test"],
        "Test cannot judge mutants",
        "The unchanged kernel fails this test, or its outputs are not the same in every run. The test was left out of mutation testing.";
    UNEXECUTED_LINES = "unexecuted-lines", Warning, "coverage-metrics.md", ["test"],
        "Lines not executed",
        "No work-item of any test executes these lines. Add a test that reaches them.";
    UNEXECUTED_STATEMENT = "unexecuted-statement", Warning, "coverage-metrics.md", ["test"],
        "Statement not executed",
        "No work-item of any test executes this statement, although others of its line are executed.";
    UNCOVERED_BRANCH = "uncovered-branch", Warning, "coverage-metrics.md", ["test"],
        "Branch not covered",
        "No work-item of any test takes an outcome of this decision. Add a test in which some work-item does.";
    UNCOVERED_CONDITION = "uncovered-condition", Warning, "coverage-metrics.md", ["test"],
        "Condition not covered",
        "In no test does this operand of a decision have each of its values. Add a test in which it does.";
    UNCOVERED_LOOP = "uncovered-loop", Warning, "coverage-metrics.md", ["test"],
        "Loop not covered",
        "Tests should make a loop's body run not at all, once, and several times, and let its condition end it. Some of these do not happen in any test.";
    UNCOVERED_BARRIER = "uncovered-barrier", Warning, "coverage-metrics.md", ["test"],
        "Barrier not covered",
        "In no work-group of any test does every work-item arrive at this barrier.";
    UNSHOWN_CONDITION = "unshown-condition", Note, "coverage-metrics.md", ["test"],
        "Independent effect not shown (MC/DC)",
        "No two evaluations of the decision show that this condition alone can change its result. Add tests with the missing combinations of values.";
    UNUSED_DEFINITION = "unused-definition", Note, "coverage-metrics.md", ["test"],
        "Definition and use not exercised",
        "In no test is the value that is written at the one place read at the other. Add a test in which it is.";
    INFEASIBLE_OUTCOME = "infeasible-outcome", Note, "generate.md", ["maintainability", "external/cwe/cwe-561"],
        "Outcome is impossible",
        "It is proved that no launch can have this outcome. The code that depends on it never runs: remove it, or look for the mistake that makes it impossible.";
    OPEN_GOAL = "open-goal", Note, "generate.md", ["test"],
        "Nothing found that covers it",
        "The search found no launch that covers this, and no proof that there is none. A longer search, or a test by hand, may decide it.";
    FAULTING_GOAL = "faulting-goal", Warning, "generate.md", ["test"],
        "Only reached with a fault",
        "Only launches that fault reach this. Look at the fault in the test that was generated for it.";
    FAILED_TEST = "failed-test", Error, "run.md", ["test"],
        "Test failed",
        "An output is not what the test expects, or a check of the simulator failed.";
    BROKEN_TEST = "broken-test", Error, "run.md", ["test"],
        "Test did not end as it should",
        "The launch exceeded its time limit, took its process down, or was refused by the device.";
    UNSTABLE_TEST = "unstable-test", Error, "schedule.md", ["test", "concurrency"],
        "Outputs depend on the schedule",
        "The kernel's outputs differ between orders of execution that OpenCL allows, or between runs of the same order. Look for a race: kassay check shows both accesses.";
    UNASSAYED_KERNEL = "unassayed-kernel", Warning, "hosts.md", [],
        "Kernel without a result",
        "This kernel could not be assayed. What the report says of the others does not include it.";
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_differ_and_explain_themselves() {
        let mut ids: Vec<&str> = ALL.iter().map(|rule| rule.id).collect();
        ids.sort_unstable();
        ids.dedup();
        assert_eq!(ids.len(), ALL.len());
        for rule in ALL {
            assert!(rule.help.ends_with('.') && !rule.title.ends_with('.'), "{}", rule.id);
            let page = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs").join(rule.page);
            assert!(page.exists(), "{}", page.display());
        }
        assert_eq!(DATA_RACE.name(), "DataRace");
        assert!(DATA_RACE.uri().starts_with("https://") && DATA_RACE.uri().ends_with("/docs/check.md"));
    }
}
