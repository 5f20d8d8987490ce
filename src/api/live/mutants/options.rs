//! Options of mutation testing of a host program.

use std::path::PathBuf;

use kassay_base::error::{Error, Result};
use kassay_judge::mutation::catalogue::selection::Selection;
use kassay_results::result::store;
use kassay_run::host::Verify;

use super::super::super::options::{check_range, options};
use super::oracle::Oracle;

options! {
    /// Options of [`mutate_program`](super::mutate_program).
    pub struct MutateProgramOptions {
        /// What tells a mutant from the original.
        oracle: Oracle = Oracle::Exit,
        /// Whether requests for a GPU get the CPU device where there is no GPU.
        shown_as_gpu: bool = false,
        /// Which launches of a woven kernel without a mutant are compared with the program's own.
        verify: Verify = Verify::First,
        /// Shell patterns of kernels' names (`fnmatch`); empty: all kernels.
        kernels: Vec<String> = Vec::new(),
        /// Operators: `all`, `peng`, `liu`, `mutgpu`, or ids such as `ROR,SYR`.
        operators: String = "all".to_owned(),
        /// How many mutants of all kernels together are drawn, with [`Oracle::Outputs`] of each kernel; `None`: all.
        sample: Option<u64> = None,
        /// The limit on a mutant's loop iterations and on the program's time, as a multiple of the original's.
        timeout_factor: f64 = 10.0,
        /// The least score of all kernels together; a lower one is a complaint of the result.
        fail_under: Option<f64> = None,
        /// Whether mutants that leave what the original leaves in all launches of the program survive without a run of
        /// it.
        replay: bool = true,
        /// Bytes of the copy of the working directory that each run gets with [`Oracle::Files`], and of contents of
        /// launches that are captured.
        max_bytes: u64 = 1 << 30,
        /// The folder for texts of programs that are in no file below the working directory; it is made if there are
        /// any. `None`: they are not kept.
        texts: Option<PathBuf> = None,
        /// With [`Oracle::Outputs`]: the folder for what is captured; empty, or of an earlier capture. `None`: that of
        /// `texts`, if given.
        captured: Option<PathBuf> = None,
        /// The file for the result. While mutants run, a journal lies beside it.
        output: Option<PathBuf> = None,
        /// Whether to resume an interrupted run from the journal of `output`.
        resume: bool = false,
    }
}

impl MutateProgramOptions {
    /// Checks the options.
    ///
    /// # Errors
    /// `Caller` if one is wrong.
    pub fn check(&self) -> Result<Selection> {
        let selection = Selection::parse(&self.operators)?;
        check_range("timeout_factor", self.timeout_factor, 1.0..=1e6)?;
        self.output.as_deref().map_or(Ok(()), store::check_writable)?;
        if self.resume && self.output.is_none() {
            return Err(Error::caller("--resume needs the result file whose journal it goes on with")
                .help("name it with -o, as in the run that was ended"));
        }
        if self.oracle == Oracle::Outputs && self.resume {
            return Err(Error::caller("a run that captured outputs judge cannot be resumed")
                .help("capture once (`kassay capture --all`), and run `kassay mutate` on the suites, each with -o"));
        }
        Ok(selection)
    }
}
