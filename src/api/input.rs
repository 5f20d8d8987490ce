//! Reads what is opened: a suite with its kernel, or a kernel alone.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use kassay_base::error::{Error, Result};
use kassay_ir::kernel::compile::{self, Loaded};
use kassay_ir::kernel::implicit;
use kassay_ir::kernel::source::Sources;
use kassay_ir::kernel::spirv::specialisation;
use kassay_ir::llvm::{Context, View};
use kassay_judge::coverage::build::{self, KernelFile, KernelUnderTest};
use kassay_model::options::KernelOptions;
use kassay_suite::resolve::{Suite, Test, TestSpec};

use super::options::OpenOptions;

/// A suite's file or a kernel's, not compiled yet.
pub(super) struct Input {
    pub suite: Option<Suite>,
    /// Path of the kernel's file.
    pub kernel: PathBuf,
    pub options: OpenOptions,
    /// With the arguments that a suite adds.
    pub kernel_options: KernelOptions,
    /// Tests beside the suite's.
    pub more_tests: Vec<Test>,
    /// Positions of arguments that share memory in launches to come, beside those that do in the tests.
    pub shared: BTreeSet<u32>,
}

/// Whether clang's syntax tree is needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SyntaxTree {
    Needed,
    NotNeeded,
}

/// A compiled kernel in its canonical form, and the tests that fit its interface.
#[doc(hidden)]
pub struct Parsed<'c> {
    pub under_test: KernelUnderTest<'c>,
    pub loaded: Loaded,
    /// Work-group sizes that the suite leaves open are still unset.
    pub tests: Vec<Test>,
}

impl Input {
    pub fn suite(path: &Path, options: &OpenOptions) -> Result<Input> {
        options.check()?;
        let suite = Suite::load_in(path, options.sandbox_around(path)?)?;
        let mut kernel_options = options.kernel_options(suite.options.clone());
        kernel_options.sandbox = suite.sandbox.clone();
        kernel_options.sub_group_size = kernel_options.sub_group_size.or(suite.sub_group_size);
        // The first test's values; for other tests, see `specialisations`. Those of the options come last and take
        // precedence.
        let first = suite.tests.first().map_or(&[][..], |test| &test.spec);
        kernel_options.spec = [&suite.spec, first, &kernel_options.spec].concat();
        let kernel = suite.kernel.clone();
        Ok(Input {
            suite: Some(suite),
            kernel,
            options: options.clone(),
            kernel_options,
            more_tests: Vec::new(),
            shared: BTreeSet::new(),
        })
    }

    pub fn kernel(path: &Path, options: &OpenOptions) -> Result<Input> {
        options.check()?;
        let kernel_options = options.options_for(path)?;
        let (kernel, options) = (path.to_owned(), options.clone());
        Ok(Input { suite: None, kernel, options, kernel_options, more_tests: Vec::new(), shared: BTreeSet::new() })
    }

    /// Compiles the kernel.
    pub fn load(&self, tree: SyntaxTree) -> Result<Loaded> {
        let deadline = self.options.kernel_options(Vec::new()).deadline;
        let options = KernelOptions { deadline, ..self.kernel_options.clone() };
        compile::load(&self.kernel, &options, tree == SyntaxTree::Needed)
    }

    /// Reads the compiled kernel and resolves the tests.
    pub fn parse<'c>(&self, context: &'c Context, loaded: Loaded) -> Result<Parsed<'c>> {
        let mut file = KernelFile::parse(context, &loaded)?;
        let named = self.suite.as_ref().and_then(|suite| Some((suite, suite.entry.as_ref()?)));
        let entry = match (&self.options.entry, named) {
            (None, Some((suite, name))) => file.choose(Some(name)).map_err(|e| suite.at_entry(e))?,
            (name, _) => file.choose(name.as_deref())?,
        };
        let of_suite = || self.suite.as_ref().and_then(|suite| suite.declared.clone());
        file.declare(self.options.declared()?.or_else(of_suite), std::slice::from_ref(&entry))?;
        let mut under_test = file.under_test_at(self.options.level.optimisation(), &entry, &loaded, &self.sources())?;
        under_test.sandbox = self.kernel_options.sandbox.clone();
        let mut tests = match &self.suite {
            Some(suite) => suite.resolve(&under_test.interface, self.seed())?,
            None => Vec::new(),
        };
        tests.extend(self.more_tests.iter().cloned());
        let shared = tests.iter().flat_map(|test| test.launch.sharing());
        let shared: BTreeSet<u32> = shared.chain(self.shared.iter().copied()).collect();
        if let (Some(kernel), false) = (View::of(&under_test.module).function(&entry), shared.is_empty()) {
            implicit::note_sharing(kernel, &shared);
        }
        // Preemptions need code that reports every access.
        under_test.lowering.races = tests.iter().any(|t| !t.launch.schedule.preemptions.is_empty());
        Ok(Parsed { under_test, loaded, tests })
    }

    /// Returns the suite's tests by the values that they have of the specialisation constants, as suites of their own
    /// in the order of their first tests; nothing if all have the same values.
    ///
    /// # Errors
    /// `Caller`, at the value's place, if a test gives a constant that the kernel does not have, or a value that its
    /// type does not have.
    pub fn specialisations(&self, loaded: &Loaded) -> Result<Vec<Input>> {
        let (Some(suite), Some(spirv)) = (&self.suite, &loaded.spirv) else { return Ok(Vec::new()) };
        let command_line = self.options.kernel_options(Vec::new()).spec;
        let mut classes: Vec<(Vec<u64>, Vec<TestSpec>)> = Vec::new();
        for test in &suite.tests {
            let mut constants = spirv.constants.clone();
            constants.iter_mut().for_each(|constant| constant.value = constant.default);
            specialisation::assign(&mut constants, &[&suite.spec[..], &test.spec, &command_line].concat())?;
            let values: Vec<u64> = constants.iter().map(|constant| constant.value).collect();
            match classes.iter_mut().find(|(known, _)| *known == values) {
                Some((_, tests)) => tests.push(test.clone()),
                None => classes.push((values, vec![test.clone()])),
            }
        }
        let [(first, _), others @ ..] = &classes[..] else { return Ok(Vec::new()) };
        let varies = |at: &usize| others.iter().any(|(values, _)| values[*at] != first[*at]);
        let varying: BTreeSet<u32> = (0..first.len()).filter(varies).map(|at| spirv.constants[at].spec_id).collect();
        if varying.is_empty() {
            return Ok(Vec::new());
        }
        let specialisation = |(_, tests): (_, Vec<TestSpec>)| {
            let own = tests.first().map_or(&[][..], |test| &test.spec);
            let mut kernel_options = self.kernel_options.clone();
            kernel_options.spec = [&suite.spec, own, &command_line].concat();
            kernel_options.varying_spec = varying.clone();
            let suite = Some(suite.with_tests(tests));
            let (kernel, options) = (self.kernel.clone(), self.options.clone());
            Input { suite, kernel, options, kernel_options, more_tests: Vec::new(), shared: BTreeSet::new() }
        };
        Ok(classes.into_iter().map(specialisation).collect())
    }

    /// Returns the error that the tests' values of the specialisation constants make `what` different from what those
    /// of the first tests make it.
    pub fn values_differ(&self, what: &str) -> Error {
        let tests = self.suite.iter().flat_map(|suite| &suite.tests);
        let name = tests.clone().next().map_or("", |test| &test.name);
        let error = Error::caller(format!(
            "the specialisation constants of the test \"{name}\" give the kernel other {what} than those of the first test"
        ))
        .help("write a suite for each set of values");
        let place = tests.flat_map(|test| &test.spec).filter_map(|value| value.places.as_ref()).next();
        place.into_iter().fold(error, |error, (constant, _)| error.at(constant.clone()))
    }

    /// Returns the seed of the options, otherwise the suite's, otherwise 0.
    pub fn seed(&self) -> u64 {
        self.options.seed.or(self.suite.as_ref().and_then(|suite| suite.seed)).unwrap_or(0)
    }

    /// Returns the source text of the kernel's file and of those that it includes.
    pub fn sources(&self) -> Sources {
        build::sources_of(&self.kernel).within(self.kernel_options.sandbox.clone())
    }

    /// Returns whether the options ask for the syntax tree.
    pub fn preferred_tree(&self) -> SyntaxTree {
        if self.options.syntax_tree { SyntaxTree::Needed } else { SyntaxTree::NotNeeded }
    }
}

/// For tests and benchmarks of the rooms below: what is opened, in a context of the caller's.
impl OpenOptions {
    /// Reads a suite and its kernel as [`OpenOptions::open`] does.
    ///
    /// # Errors
    /// As [`OpenOptions::open`]; `Caller` if tests have different values of specialisation constants.
    #[doc(hidden)]
    pub fn parse_suite<'c>(&self, context: &'c Context, suite: &Path) -> Result<Parsed<'c>> {
        let input = Input::suite(suite, self)?;
        let loaded = input.load(input.preferred_tree())?;
        match &input.specialisations(&loaded)?[..] {
            [] => input.parse(context, loaded),
            [_, others @ ..] => Err(others.first().unwrap_or(&input).values_differ("code")),
        }
    }

    /// Reads a kernel as [`OpenOptions::open_kernel`] does.
    ///
    /// # Errors
    /// As [`OpenOptions::open_kernel`].
    #[doc(hidden)]
    pub fn parse_kernel<'c>(&self, context: &'c Context, kernel: &Path) -> Result<Parsed<'c>> {
        let input = Input::kernel(kernel, self)?;
        input.parse(context, input.load(input.preferred_tree())?)
    }
}
