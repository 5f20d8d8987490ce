//! Defines how a kernel is opened: [`OpenOptions`], and the macro that defines the options of all functions.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::observer::{Observer, Silent};
use crate::coverage::build::Level;
use crate::exec::{DeviceRequest, WorkerOptions};
use crate::kernel::cache;
use crate::kernel::options::KernelOptions;

/// Defines a struct of options: public fields with defaults, and for each field a method that sets it.
macro_rules! options {
    (
        $(#[$about:meta])*
        pub struct $name:ident {
            $($(#[$doc:meta])* $field:ident: $type:ty = $default:expr,)*
        }
    ) => {
        $(#[$about])*
        #[derive(Debug, Clone)]
        #[non_exhaustive]
        pub struct $name {
            $($(#[$doc])* pub $field: $type,)*
        }

        impl Default for $name {
            fn default() -> Self {
                $name { $($field: $default,)* }
            }
        }

        impl $name {
            /// Returns the defaults, which are those of the command line.
            #[must_use]
            pub fn new() -> Self {
                Self::default()
            }

            $(
                $(#[$doc])*
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
    /// How a suite or a kernel is opened: what clang is told, which kernel of the file is meant, and on which device
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
    pub struct OpenOptions {
        /// The kernel function; `None`: the one that the suite names, or the only one of the file.
        entry: Option<String> = None,
        /// Macros, as `NAME` or `NAME=VALUE`.
        defines: Vec<String> = Vec::new(),
        /// Folders in which clang looks for included files.
        include_dirs: Vec<PathBuf> = Vec::new(),
        /// The version of OpenCL C, such as `CL2.0`, as clang spells it; `None`: `CL1.2`.
        cl_std: Option<String> = None,
        /// Arguments that clang gets unchanged.
        clang_args: Vec<String> = Vec::new(),
        /// The optimisation level of the IR that is assayed.
        level: Level = Level::Raw,
        /// Whether to read clang's syntax tree when the kernel is opened. Functions that need it read it later
        /// otherwise, which takes another run of clang.
        syntax_tree: bool = true,
        /// The folder of the compilation cache; `None`: everything is compiled anew. A process has one cache: the first
        /// folder stays.
        cache: Option<PathBuf> = None,
        /// The device that runs the tests, such as `"sim".into()`: what `--device` takes.
        device: DeviceRequest = DeviceRequest::Auto,
        /// The number of worker processes, each with an executor of its own.
        jobs: u32 = 1,
        /// When workers start.
        start: StartWorkers = StartWorkers::OnDemand,
        /// The program that runs as the worker process of an OpenCL device: `kassay`. `None`: the running program if
        /// it is kassay, otherwise the `kassay` in `PATH`.
        worker: Option<PathBuf> = None,
        /// The seed of generated values and of samples; `None`: the suite's, otherwise 0.
        seed: Option<u64> = None,
        /// The time limit of a launch.
        timeout: Duration = Duration::from_secs(30),
        /// The time within which compilation must end, counted from the call that opens; `None`: no limit.
        budget: Option<Duration> = None,
        /// Who is told what happens meanwhile.
        observer: Arc<dyn Observer> = Arc::new(Silent),
    }
}

/// When the worker processes of an OpenCL device start.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum StartWorkers {
    /// When a function first needs them.
    #[default]
    OnDemand,
    /// While the kernel is compiled, as many as `jobs` and the suite's tests ask for.
    PerTest,
    /// While the kernel is compiled, as many as `jobs` asks for: mutants keep them all busy.
    Jobs,
}

impl OpenOptions {
    /// Returns the options of a compilation that began at `begun`. Opens the cache that it may use.
    pub(crate) fn kernel_options(&self, suite_options: Vec<String>, begun: Instant) -> KernelOptions {
        if let Some(folder) = &self.cache {
            cache::open(folder.clone(), cache::BOUND);
        }
        KernelOptions {
            defines: self.defines.clone(),
            include_dirs: self.include_dirs.clone(),
            cl_std: self.cl_std.clone(),
            clang_args: self.clang_args.clone(),
            suite_options,
            deadline: self.budget.and_then(|budget| begun.checked_add(budget)),
        }
    }

    /// Returns how worker processes are started.
    pub(super) fn workers(&self) -> WorkerOptions {
        let exe = self.worker.clone().or_else(kassay_in_path);
        WorkerOptions { exe, ..WorkerOptions::default() }
    }
}

/// Finds the `kassay` in `PATH`, unless the running program is kassay itself.
fn kassay_in_path() -> Option<PathBuf> {
    let is_kassay = |path: &Path| path.file_stem().is_some_and(|name| name == "kassay");
    if std::env::current_exe().is_ok_and(|exe| is_kassay(&exe)) {
        return None;
    }
    let path = std::env::var_os("PATH")?;
    let candidates = std::env::split_paths(&path).map(|folder| folder.join("kassay"));
    // A program that is not kassay must not be started as a worker, so the name stays even if nothing has it.
    Some(candidates.into_iter().find(|exe| exe.is_file()).unwrap_or_else(|| PathBuf::from("kassay")))
}
