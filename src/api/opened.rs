//! Opens suites and kernels: compiles the kernel, resolves the tests, starts executors.

use std::cell::{Cell, OnceCell, RefCell};
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use kassay_base::error::{Error, Result};
use kassay_ir::kernel::compile::Loaded;
use kassay_ir::kernel::source::Sources;
use kassay_ir::llvm::Context;
use kassay_judge::coverage::build::KernelUnderTest;
use kassay_judge::mutation::catalogue::level::MutationLevel;
use kassay_model::interface::Interface;
use kassay_model::options::KernelOptions;
use kassay_run::exec::StartingExecutors;
use kassay_suite::resolve::Test;
use self_cell::self_cell;

use super::input::{Input, Parsed, SyntaxTree};
use super::observer::{Observer, OfSpecialisations, Silent};
use super::options::{OpenOptions, StartWorkers};

/// A kernel and its tests, open: what [`open`](super::open) and [`OpenOptions`] give and all functions take.
///
/// One can be passed to several functions, one after the other. LLVM's modules belong to one thread, and so does it.
pub struct Opened {
    input: Input,
    /// How long opening took, until a function counts it as its time.
    opening: Cell<Duration>,
    starting: RefCell<Option<StartingExecutors>>,
    without_tree: OnceCell<Compiled>,
    with_tree: OnceCell<Compiled>,
    /// The tests by their values of specialisation constants, each with the kernel for these; empty if all tests have
    /// the same ones. What is compiled here has those of the first test, and is for questions alone.
    specialisations: Vec<Opened>,
}

self_cell! {
    /// A compiled kernel with the LLVM context that its module lives in.
    struct Compiled {
        owner: Context,
        #[not_covariant]
        dependent: Parsed,
    }
}

impl OpenOptions {
    /// Opens a suite (TOML or JSON) and the kernel that it names.
    ///
    /// # Errors
    /// `Caller` if the suite is wrong, the kernel does not compile, or the values of a test do not fit it;
    /// `Environment` if clang, LLVM's SPIR-V backend or the system's processes fail.
    pub fn open(&self, suite: impl AsRef<Path>) -> Result<Opened> {
        Opened::suite(suite.as_ref(), self)
    }

    /// Opens a suite for another kernel than the one that it names: another version of it, whose arguments the suite's
    /// values have to fit.
    ///
    /// # Errors
    /// As [`OpenOptions::open`].
    pub fn open_for(&self, suite: impl AsRef<Path>, kernel: impl AsRef<Path>) -> Result<Opened> {
        let input = Input { kernel: kernel.as_ref().to_owned(), ..Input::suite(suite.as_ref(), self)? };
        Opened::of_input(input)
    }

    /// Opens a suite with more tests than its own, which come after these.
    pub(super) fn open_with_more(&self, suite: &Path, more_tests: Vec<Test>) -> Result<Opened> {
        let input = Input { more_tests, ..Input::suite(suite, self)? };
        Opened::of_input(input)
    }

    /// Opens a kernel for launches to come in which these arguments share memory.
    pub(super) fn open_kernel_sharing(&self, kernel: &Path, shared: BTreeSet<u32>) -> Result<Opened> {
        Opened::of_input(Input { shared, ..Input::kernel(kernel, self)? })
    }

    /// Opens a kernel without a suite: a `.cl`, `.ll`, `.bc`, `.spv` or `.spvasm` file.
    ///
    /// # Errors
    /// `Caller` if the kernel does not compile or `entry` must name one of several; `Environment` if clang or LLVM's
    /// SPIR-V backend fails.
    pub fn open_kernel(&self, kernel: impl AsRef<Path>) -> Result<Opened> {
        Opened::kernel(kernel.as_ref(), self)
    }
}

impl Opened {
    fn suite(path: &Path, options: &OpenOptions) -> Result<Opened> {
        let started = Instant::now();
        let input = Input::suite(path, options)?;
        let tests = input.suite.as_ref().map_or(0, |suite| suite.tests.len());
        let workers = match options.start {
            StartWorkers::OnDemand => None,
            StartWorkers::PerTest => Some((options.jobs as usize).min(tests).max(1)),
            StartWorkers::Jobs => Some(options.jobs as usize),
        };
        let start = |count| StartingExecutors::start(&options.device, &options.workers(), count);
        let starting = workers.map(start).transpose()?;
        Opened::compile_first(started, input, starting)
    }

    fn kernel(path: &Path, options: &OpenOptions) -> Result<Opened> {
        Opened::compile_first(Instant::now(), Input::kernel(path, options)?, None)
    }

    /// Compiles what was read.
    pub(super) fn of_input(input: Input) -> Result<Opened> {
        Opened::compile_first(Instant::now(), input, None)
    }

    fn compile_first(started: Instant, input: Input, starting: Option<StartingExecutors>) -> Result<Opened> {
        let mut opened = Opened::uncompiled(input, starting);
        let compiled = opened.compiled(opened.input.preferred_tree())?;
        let specialisations = compiled.with_dependent(|_, parsed| opened.input.specialisations(&parsed.loaded))?;
        let observer: Arc<dyn Observer> = Arc::new(OfSpecialisations::new(Arc::clone(&opened.input.options.observer)));
        for mut input in specialisations {
            input.options.observer = Arc::clone(&observer);
            // The first one to be run takes the workers that are starting.
            let specialisation = Opened::uncompiled(input, opened.starting.take());
            specialisation.compiled(specialisation.input.preferred_tree())?;
            opened.specialisations.push(specialisation);
        }
        opened.opening.set(started.elapsed());
        Ok(opened)
    }

    fn uncompiled(input: Input, starting: Option<StartingExecutors>) -> Opened {
        Opened {
            input,
            opening: Cell::default(),
            starting: RefCell::new(starting),
            without_tree: OnceCell::new(),
            with_tree: OnceCell::new(),
            specialisations: Vec::new(),
        }
    }

    /// Returns the kernel's name.
    pub fn entry(&self) -> &str {
        self.any().with_dependent(|_, parsed| parsed.under_test.entry.as_str())
    }

    /// Returns the kernel's interface: its arguments with their types, and what it requires of launches.
    pub fn interface(&self) -> &Interface {
        self.any().with_dependent(|_, parsed| &parsed.under_test.interface)
    }

    /// Returns the suite's tests with their launches, in the suite's order; none if a kernel was opened. Work-group
    /// sizes that the suite leaves open are decided when a test runs, because they depend on the device.
    pub fn tests(&self) -> &[Test] {
        self.any().with_dependent(|_, parsed| &parsed.tests[..])
    }

    /// Returns the path of the kernel's file, by which results name it.
    pub fn kernel_file(&self) -> &Path {
        &self.input.kernel
    }

    /// Returns the seed of generated values and of samples: that of the options, otherwise the suite's, otherwise 0.
    pub fn seed(&self) -> u64 {
        self.input.seed()
    }

    /// Returns the suites to run one after the other: the tests by their values of specialisation constants, each with
    /// the kernel for these. Only this one if all tests have the same values, or there are none.
    pub(super) fn specialisations(&self) -> Vec<&Opened> {
        match &self.specialisations[..] {
            [] => vec![self],
            specialisations => specialisations.iter().collect(),
        }
    }

    /// Checks what must be the same for all values of specialisation constants.
    ///
    /// # Errors
    /// `Caller`, at the place of a value of this specialisation's, if `what` is not.
    pub(super) fn check_same(&self, what: &str, is_same: bool) -> Result<()> {
        if is_same { Ok(()) } else { Err(self.input.values_differ(what)) }
    }

    /// Sorts what belongs to tests in the order of the suite.
    pub(super) fn sort_by_test<T>(&self, of_tests: &mut [T], name: impl Fn(&T) -> &str) {
        let positions: HashMap<&str, usize> =
            self.tests().iter().enumerate().map(|(at, test)| (test.name.as_str(), at)).collect();
        of_tests.sort_by_key(|one| positions.get(name(one)).copied());
    }

    /// Calls `work` with the kernel under test, for what the functions of this crate do not offer.
    #[doc(hidden)]
    pub fn with_kernel<R>(&self, work: impl FnOnce(&KernelUnderTest<'_>, &Loaded) -> R) -> Result<R> {
        let compiled = self.compiled(SyntaxTree::Needed)?;
        Ok(compiled.with_dependent(|_, parsed| work(&parsed.under_test, &parsed.loaded)))
    }

    /// Calls `work` with the compiled kernel and the tests.
    ///
    /// # Errors
    /// `Caller` if the IR was optimised.
    pub(super) fn with<R>(&self, tree: SyntaxTree, work: impl FnOnce(&Parsed<'_>) -> Result<R>) -> Result<R> {
        self.input.options.check_raw()?;
        self.with_any_level(tree, work)
    }

    /// Like [`Opened::with`], for what takes optimised IR, too.
    pub(super) fn with_any_level<R>(&self, tree: SyntaxTree, work: impl FnOnce(&Parsed<'_>) -> Result<R>) -> Result<R> {
        if !self.specialisations.is_empty() {
            return Err(Error::internal("tests with different values of specialisation constants were taken for one"));
        }
        self.compiled(tree)?.with_dependent(|_, parsed| work(parsed))
    }

    /// Like [`Opened::with`], for what needs a suite.
    ///
    /// # Errors
    /// `Caller` if a kernel was opened.
    pub(super) fn with_suite<R>(&self, tree: SyntaxTree, work: impl FnOnce(&Parsed<'_>) -> Result<R>) -> Result<R> {
        self.check_suite()?;
        self.with(tree, work)
    }

    /// Checks that a suite was opened.
    ///
    /// # Errors
    /// `Caller` if it was a kernel.
    pub(super) fn check_suite(&self) -> Result<()> {
        if self.input.suite.is_none() {
            return Err(Error::caller(format!("{} is a kernel, which has no tests", self.input.kernel.display()))
                .help("open a suite; `generate` writes one for a kernel"));
        }
        Ok(())
    }

    pub(super) fn is_suite(&self) -> bool {
        self.input.suite.is_some()
    }

    /// Returns the path of the suite's file; `None` if a kernel was opened.
    pub(super) fn suite_file(&self) -> Option<&Path> {
        self.input.suite.as_ref().map(|suite| suite.path.as_path())
    }

    pub(super) fn options(&self) -> &OpenOptions {
        &self.input.options
    }

    pub(super) fn kernel_options(&self) -> &KernelOptions {
        &self.input.kernel_options
    }

    pub(super) fn observer(&self) -> &dyn Observer {
        &*self.input.options.observer
    }

    /// Opens some of the suite's tests for the simulator, which may take so long for each.
    ///
    /// # Errors
    /// As [`OpenOptions::open`].
    pub(super) fn on_simulator(&self, names: &[String], timeout: Duration) -> Result<Opened> {
        let Input { suite, kernel, options, kernel_options, .. } = &self.input;
        let suite = suite.as_ref().map(|suite| {
            let tests = suite.tests.iter().filter(|test| names.contains(&test.name)).cloned();
            suite.with_tests(tests.collect())
        });
        let options = options.clone().device("sim".into()).timeout(timeout.min(options.timeout));
        let options = options.observer(Arc::new(Silent));
        Opened::of_input(Input {
            suite,
            kernel: kernel.clone(),
            options,
            kernel_options: kernel_options.clone(),
            more_tests: Vec::new(),
            shared: BTreeSet::new(),
        })
    }

    pub(super) fn kernel_path(&self) -> &Path {
        &self.input.kernel
    }

    /// Returns the path of the kernel's file as results show it.
    pub(super) fn source(&self) -> String {
        self.input.kernel.display().to_string()
    }

    /// Returns the source text of the kernel's file and of those that it includes.
    pub(crate) fn sources(&self) -> Sources {
        self.input.sources()
    }

    /// Returns when the work of a function began. The time that opening took counts as the first function's.
    pub(super) fn begin(&self) -> Instant {
        let now = Instant::now();
        now.checked_sub(self.opening.take()).unwrap_or(now)
    }

    /// Returns at least `count` executors that are starting: those that started while the kernel was compiled, or new
    /// ones.
    pub(super) fn start(&self, count: usize) -> Result<StartingExecutors> {
        let started = self.starting.take().filter(|starting| starting.count() >= count);
        started.map_or_else(
            || StartingExecutors::start(&self.input.options.device, &self.input.options.workers(), count),
            Ok,
        )
    }

    /// Returns the number of workers that tests keep busy: at most one each.
    pub(super) fn workers(&self) -> usize {
        (self.input.options.jobs as usize).min(self.tests().len()).max(1)
    }

    /// Returns what was compiled first.
    fn any(&self) -> &Compiled {
        let first = self.with_tree.get().or(self.without_tree.get());
        first.unwrap_or_else(|| unreachable!("opening compiles the kernel"))
    }

    fn compiled(&self, tree: SyntaxTree) -> Result<&Compiled> {
        let known = match tree {
            SyntaxTree::Needed => self.with_tree.get(),
            SyntaxTree::NotNeeded => self.with_tree.get().or(self.without_tree.get()),
        };
        match (known, tree) {
            (Some(known), _) => Ok(known),
            (None, SyntaxTree::Needed) => {
                let compiled = self.compile(tree)?;
                Ok(self.with_tree.get_or_init(|| compiled))
            }
            (None, SyntaxTree::NotNeeded) => {
                let compiled = self.compile(tree)?;
                Ok(self.without_tree.get_or_init(|| compiled))
            }
        }
    }

    fn compile(&self, tree: SyntaxTree) -> Result<Compiled> {
        let loaded = self.input.load(tree)?;
        if self.with_tree.get().is_none() && self.without_tree.get().is_none() {
            self.observer().warnings(&loaded.warnings, &loaded.accepted_errors());
        }
        Compiled::try_new(Context::create(), |context| self.input.parse(context, loaded))
    }

    /// Returns the level of mutants.
    pub(super) fn level(&self) -> MutationLevel {
        self.input.options.level
    }
}

impl fmt::Debug for Opened {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Opened")
            .field("kernel", &self.input.kernel)
            .field("entry", &self.entry())
            .field("tests", &self.tests().len())
            .finish_non_exhaustive()
    }
}
