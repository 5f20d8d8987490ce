//! Defines how a kernel is opened: [`OpenOptions`], and the macro that defines the options of all functions.

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use kassay_base::cache;
use kassay_base::error::{Error, Result};
use kassay_base::files::Sandbox;
use kassay_judge::coverage::build::Level;
use kassay_judge::mutation::catalogue::level::MutationLevel;
use kassay_model::options::{KernelOptions, SpecValue};
use kassay_model::sub_groups;
use kassay_run::exec::{DeviceRequest, SpareWorker, WorkerOptions};
use kassay_suite::declared::Declared;
use serde::{Deserialize, Serialize};

use super::observer::{Observer, Silent};

/// Defines a struct of options: public fields with defaults, and for each field a method that sets it. Those that
/// children are given say so by `derive`, and how a field travels by `serde`.
macro_rules! options {
    (
        $(#[$about:meta])*
        pub struct $name:ident {
            $($(#[doc = $doc:expr])* $(#[serde($($serde:tt)*)])? $field:ident: $type:ty = $default:expr,)*
        }
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone)]
        #[non_exhaustive]
        pub struct $name {
            $($(#[doc = $doc])* $(#[serde($($serde)*)])? pub $field: $type,)*
        }

        impl Default for $name {
            fn default() -> Self {
                $name { $($field: $default,)* }
            }
        }

        impl $name {
            /// Returns the defaults.
            #[must_use]
            pub fn new() -> Self {
                Self::default()
            }

            $(
                $(#[doc = $doc])*
                #[must_use]
                pub fn $field(mut self, $field: $type) -> Self {
                    self.$field = $field;
                    self
                }
            )*
        }
    };
}
pub(super) use options;

options! {
    /// How a suite or a kernel is opened: the options for clang, which kernel of the file is meant, and on which device
    /// its tests run.
    ///
    /// ```
    /// # fn main() -> kassay::Result<()> {
    /// use kassay::OpenOptions;
    ///
    /// let opened = OpenOptions::new()
    ///     .device("sim".into())
    ///     .defines(vec!["SCALE=2".to_owned()])
    ///     .open("testdata/vector_add/suite.toml")?;
    /// assert_eq!(opened.entry(), "vector_add");
    /// # Ok(())
    /// # }
    /// ```
    #[derive(Serialize, Deserialize)]
    pub struct OpenOptions {
        /// The kernel function; `None`: the one that the suite names, or the only one of the file.
        entry: Option<String> = None,
        /// A file that declares the kernel's interface, for modules that do not tell it; it takes the place of what a
        /// suite declares.
        #[serde(with = "kassay_base::files::paths")]
        interface: Option<PathBuf> = None,
        /// Macros, as `NAME` or `NAME=VALUE`.
        defines: Vec<String> = Vec::new(),
        /// Folders in which clang looks for included files.
        #[serde(with = "kassay_base::files::paths")]
        include_dirs: Vec<PathBuf> = Vec::new(),
        /// The version of OpenCL C, such as `CL2.0`, as clang spells it; `None`: `CL1.2`.
        cl_std: Option<String> = None,
        /// Arguments that clang gets unchanged.
        clang_args: Vec<String> = Vec::new(),
        /// Values of SPIR-V's specialisation constants, as `CONSTANT=VALUE`: the constant's number or name, and `true`,
        /// `false` or a number. They take precedence over a suite's.
        spec: Vec<String> = Vec::new(),
        /// Whether suites are not trusted: files are then read only in a suite's folder (or a kernel's, without a
        /// suite) and in the folders of `include_dirs`, and a suite may give clang only options that name no files.
        sandbox: bool = false,
        /// How many work-items the sub-groups of kernels have that use them and do not require a size: 1, 2, 4 … 64.
        /// `None`: the suite says it, or the device chooses; the simulator has 16.
        sub_group_size: Option<u32> = None,
        /// Whether to ask spirv-val about a SPIR-V kernel and to tell the observer, as a warning, what it says.
        validate: bool = false,
        /// The level of mutants: what is changed, and in which IR. Only mutants are made in optimised IR.
        level: MutationLevel = MutationLevel::CANONICAL,
        /// Whether to read clang's syntax tree when the kernel is opened. Functions that need it read it later
        /// otherwise, which takes another run of clang.
        syntax_tree: bool = true,
        /// The folder of the compilation cache. It is the process's: the first folder that is given stays, and
        /// everything that is opened from then on uses it.
        #[serde(with = "kassay_base::files::paths")]
        cache: Option<PathBuf> = None,
        /// The device that runs the tests, such as `"sim".into()`: what `--device` takes. With the default, the
        /// simulator replaces a device that is missing: the result's header and a note to the observer say so.
        device: DeviceRequest = DeviceRequest::Auto,
        /// The number of worker processes, each with an executor of its own.
        jobs: u32 = 1,
        /// When workers start.
        start: StartWorkers = StartWorkers::OnDemand,
        /// The program that runs as the worker process of an OpenCL device: `kassay`, of the same version. `None`: the
        /// first in `PATH`.
        #[serde(with = "kassay_base::files::paths")]
        worker: Option<PathBuf> = None,
        /// The seed of generated values and of samples; `None`: the suite's, otherwise 0.
        seed: Option<u64> = None,
        /// The time limit of a launch. Mutants have limits of their own ([`MutateOptions::timeout_factor`]).
        ///
        /// [`MutateOptions::timeout_factor`]: super::MutateOptions::timeout_factor
        timeout: Duration = Duration::from_secs(30),
        /// The time within which each compilation must end; `None`: no limit.
        budget: Option<Duration> = None,
        /// Receives what happens meanwhile.
        #[serde(skip, default = "silent")]
        observer: Arc<dyn Observer> = Arc::new(Silent),
    }
}

/// The observer of options that another process was given, which sets its own.
fn silent() -> Arc<dyn Observer> {
    Arc::new(Silent)
}

/// When the worker processes of an OpenCL device start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum StartWorkers {
    /// When a function first needs them.
    #[default]
    OnDemand,
    /// While a suite's kernel is compiled, as many as `jobs` and the suite's tests ask for. They end with the first
    /// function or with [`Opened`](super::Opened); the program should not wait for minutes before that.
    PerTest,
    /// While a suite's kernel is compiled, as many as `jobs` asks for: mutants keep them all busy. They end as with
    /// [`StartWorkers::PerTest`].
    Jobs,
}

impl OpenOptions {
    /// Returns the options of a compilation that begins now. Opens the cache that it may use.
    pub(super) fn kernel_options(&self, suite_options: Vec<String>) -> KernelOptions {
        if let Some(folder) = &self.cache {
            cache::open(folder.clone(), cache::BOUND);
        }
        KernelOptions {
            defines: self.defines.clone(),
            include_dirs: self.include_dirs.clone(),
            cl_std: self.cl_std.clone(),
            clang_args: self.clang_args.clone(),
            suite_options,
            spec: self.spec.iter().filter_map(|text| SpecValue::parse(text)).collect(),
            varying_spec: BTreeSet::new(),
            sub_group_size: self.sub_group_size,
            validate: self.validate,
            sandbox: None,
            deadline: self.budget.and_then(|budget| Instant::now().checked_add(budget)),
        }
    }

    /// Returns the sandbox of what is in a suite's file or a kernel's, if it is not trusted.
    ///
    /// # Errors
    /// `Caller` if a folder is not there.
    pub(super) fn sandbox_around(&self, file: &Path) -> Result<Option<Sandbox>> {
        if !self.sandbox {
            return Ok(None);
        }
        let around = Sandbox::around(file)?;
        self.include_dirs.iter().try_fold(around, |sandbox, dir| sandbox.and(dir)).map(Some)
    }

    /// Returns the options for compiling a kernel's file without a suite.
    ///
    /// # Errors
    /// As [`OpenOptions::sandbox_around`].
    pub(super) fn options_for(&self, kernel: &Path) -> Result<KernelOptions> {
        Ok(KernelOptions { sandbox: self.sandbox_around(kernel)?, ..self.kernel_options(Vec::new()) })
    }

    /// Reads the file that declares the interface, if there is one.
    ///
    /// # Errors
    /// `Caller`, with its place, if it cannot be read or is wrong.
    pub(super) fn declared(&self) -> Result<Option<Declared>> {
        self.interface.as_deref().map(Declared::read).transpose()
    }

    /// Checks the options.
    ///
    /// # Errors
    /// `Caller` if one is wrong.
    pub(super) fn check(&self) -> Result<()> {
        check_range("jobs", self.jobs, 1..=256)?;
        if let Some(text) = self.spec.iter().find(|text| SpecValue::parse(text).is_none()) {
            return Err(Error::caller(format!("the specialisation constant `{text}` has no value"))
                .help("give it as CONSTANT=VALUE, with the constant's number or name: `0=64`"));
        }
        if let Some(size) = self.sub_group_size.filter(|size| !sub_groups::is_size(*size)) {
            return Err(Error::caller(format!("there are no sub-groups of {size} work-items")).help(sub_groups::SIZES));
        }
        check_range("timeout", self.timeout, Duration::from_nanos(1)..=Duration::from_secs(86_400))?;
        self.budget.map_or(Ok(()), |budget| check_range("budget", budget, Duration::from_nanos(1)..=MAX_BUDGET))
    }

    /// Checks that the IR is to be as clang emits it: only mutants are made in optimised IR.
    ///
    /// # Errors
    /// `Caller` if it is not.
    pub(super) fn check_raw(&self) -> Result<()> {
        match self.level.optimisation() {
            Level::Raw => Ok(()),
            level => Err(Error::caller(format!("only mutants are made in IR of level {}", level.name()))
                .help("open it with a level that is not optimised, such as `MutationLevel::CANONICAL`")),
        }
    }

    /// Returns how worker processes are started.
    pub(super) fn workers(&self) -> WorkerOptions {
        // Never the running program, which would start itself without end if it is not kassay.
        let exe = self.worker.clone().unwrap_or_else(kassay_in_path);
        // Of what starts workers so, mutants alone run in joint launches.
        let joint = self.start == StartWorkers::Jobs;
        WorkerOptions {
            exe: Some(exe),
            spare_worker: SpareWorker::from_environment(),
            joint,
            ..WorkerOptions::default()
        }
    }
}

/// Finds the `kassay` in `PATH`; only its name if there is none.
fn kassay_in_path() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let folders = std::env::split_paths(&path).filter(|folder| !folder.as_os_str().is_empty());
    let mut programs = folders.map(|folder| folder.join("kassay"));
    programs.find(|program| program.is_file()).unwrap_or_else(|| PathBuf::from("kassay"))
}

/// Checks that an option is within its limits. `name` is that of the option.
///
/// # Errors
/// `Caller` if it is not.
pub(super) fn check_range<T: PartialOrd + std::fmt::Debug>(
    name: &str,
    value: T,
    range: RangeInclusive<T>,
) -> Result<()> {
    if range.contains(&value) {
        return Ok(());
    }
    Err(Error::caller(format!("the option `{name}` is {value:?}")).help(format!(
        "give it a value from {:?} to {:?}",
        range.start(),
        range.end()
    )))
}

/// The longest time limit of a whole function.
pub(super) const MAX_BUDGET: Duration = Duration::from_secs(1_000_000);
