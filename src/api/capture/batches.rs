//! Makes the suites of many kernels: in children, several at a time. Each takes some kernels and runs their suites by
//! one worker process.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use kassay_base::error::{Error, Result};
use kassay_base::forked::{self, Job, Limit};
use kassay_base::json;
use kassay_results::result::Device;
use kassay_run::host::{self, LaunchedKernel, Spool};
use serde::{Deserialize, Serialize};

use super::super::host_kernel::{FolderNames, NOT_COMPILED, cannot_write};
use super::super::observer::{Keeper, Message, run_parallel};
use super::super::options::OpenOptions;
use super::suites::{Made, Writer, left_out};

/// Kernels of a child, at most: what LLVM allocates, it frees only by ending.
const MOST: usize = 32;
/// How long a child may take for one kernel, beside its launches. Everything that it does has a limit of its own.
const LONGEST: Duration = Duration::from_secs(7200);

/// The suites of all kernels.
#[derive(Debug, Default)]
pub struct Suites {
    /// In the order of the kernels.
    pub made: Vec<Made>,
    /// The file of each program's code, by the program's id.
    pub files: BTreeMap<String, String>,
    /// The device that ran the suites.
    pub device: Option<Device>,
    /// The first reason why a suite was not written, or not with all launches.
    pub lost: Option<Error>,
}

/// What a child answers.
#[derive(Debug, Serialize, Deserialize)]
struct Answer {
    made: Vec<Made>,
    device: Option<Device>,
    told: Vec<Message>,
}

/// What a child is given.
#[derive(Serialize, Deserialize)]
struct Given {
    #[serde(with = "kassay_base::files::paths")]
    folder: PathBuf,
    #[serde(with = "kassay_base::files::paths")]
    staging: PathBuf,
    #[serde(with = "kassay_base::files::paths")]
    spool: PathBuf,
    /// How many processes of the program made OpenCL calls.
    processes: usize,
    open: OpenOptions,
    replay: bool,
    kernels: Vec<(LaunchedKernel, String)>,
}

/// A kernel, with the name of its folder.
type Named<'k> = (&'k LaunchedKernel, String);

/// Makes suites.
pub struct Maker<'a> {
    pub folder: &'a Path,
    /// Where suites are made before they are put in place; on the same file system.
    pub staging: &'a Path,
    pub spool: &'a Spool,
    pub open: &'a OpenOptions,
    /// Whether the suites are run.
    pub replay: bool,
}

/// Returns the names of the folders of kernels' suites.
pub fn folder_names(kernels: &[LaunchedKernel]) -> Vec<String> {
    let mut names = FolderNames::default();
    kernels.iter().map(|kernel| names.name(&kernel.name, &kernel.program)).collect()
}

impl Maker<'_> {
    /// Makes the suites of the launches that were kept, in folders of these names.
    ///
    /// # Errors
    /// `Environment` if files cannot be read or written. What goes wrong with a kernel is part of what becomes of it.
    pub fn make(&self, kernels: &[LaunchedKernel], folders: &[String]) -> Result<Suites> {
        fs::create_dir_all(self.staging).map_err(|error| cannot_write(self.staging, &error))?;
        let all = kernels.iter().zip(folders.iter().cloned());
        let (kept, others): (Vec<(usize, Named<'_>)>, Vec<_>) =
            all.enumerate().partition(|(_, (kernel, _))| !kernel.kept.is_empty());
        let jobs = self.open.jobs.max(1) as usize;
        let size = if jobs == 1 { MOST } else { kept.len().div_ceil(2 * jobs).clamp(1, MOST) };
        let (positions, kept): (Vec<usize>, Vec<Named<'_>>) = kept.into_iter().unzip();
        let batches: Vec<&[Named<'_>]> = kept.chunks(size).collect();
        let observer = &*self.open.observer;
        let answers = run_parallel(
            &mut vec![(); jobs.min(batches.len())],
            &batches,
            "groups of kernels",
            observer,
            |(), batch| self.batch(batch),
        )?;
        let mut suites = Suites::default();
        let mut told = BTreeSet::new();
        let mut made: Vec<(usize, Made)> = Vec::new();
        for (answer, at) in answers.into_iter().zip(positions.chunks(size)) {
            suites.device = suites.device.or(answer.device);
            told.extend(answer.told);
            made.extend(at.iter().copied().zip(answer.made));
        }
        made.extend(others.into_iter().map(|(at, (kernel, _))| (at, Made::failed(kernel.clone(), NOT_COMPILED, None))));
        made.sort_by_key(|(at, _)| *at);
        for (at, mut made) in made {
            suites.lost = suites.lost.or(made.lost.take());
            if let Some(file) = &made.file {
                suites.files.entry(kernels[at].program.clone()).or_insert_with(|| file.clone());
            }
            suites.made.push(made);
        }
        told.iter().for_each(|message: &Message| message.tell(observer));
        Ok(suites)
    }

    /// Makes the suites of some kernels in a child; if it dies, each in a child of its own.
    fn batch(&self, kernels: &[Named<'_>]) -> Result<Answer> {
        match (self.in_child(kernels), kernels) {
            (Err(error), _) if error.exit_code() == 3 => Err(error),
            (Err(error), [(kernel, name)]) => {
                self.clear(name);
                let made = Made::failed((*kernel).clone(), NOT_COMPILED, Some(error.to_string()));
                Ok(Answer { made: vec![made], device: None, told: Vec::new() })
            }
            (Err(_), several) => {
                let (mut made, mut device, mut told) = (Vec::new(), None, Vec::new());
                for alone in several.chunks(1) {
                    alone.iter().for_each(|(_, name)| self.clear(name));
                    let answer = self.batch(alone)?;
                    made.extend(answer.made);
                    device = device.or(answer.device);
                    told.extend(answer.told);
                }
                Ok(Answer { made, device, told })
            }
            (answer, _) => answer,
        }
    }

    /// Removes what a child that died has left of a kernel.
    fn clear(&self, name: &str) {
        clear([self.folder, self.staging], name);
    }

    fn in_child(&self, kernels: &[Named<'_>]) -> Result<Answer> {
        let launches: usize = kernels.iter().map(|(kernel, _)| kernel.kept.len()).sum();
        let count = |count: usize| u32::try_from(count).unwrap_or(u32::MAX);
        // Each launch is run twice.
        let longest = LONGEST.saturating_mul(count(kernels.len()));
        let longest = longest.saturating_add(self.open.timeout.saturating_mul(count(2 * launches)));
        let given = Given {
            folder: self.folder.to_owned(),
            staging: self.staging.to_owned(),
            spool: self.spool.folder().to_owned(),
            processes: self.spool.processes.len(),
            open: self.open.clone(),
            replay: self.replay,
            kernels: kernels.iter().map(|(kernel, name)| ((*kernel).clone(), name.clone())).collect(),
        };
        let job = Job::new(make, &given, &[]).with_children();
        let bytes = forked::attempt(Limit::of(longest.min(FOR_EVER)), "the suites of captured kernels", job)?;
        json::read(&bytes).map_err(|error| Error::internal(format!("suites cannot be read: {error}")))
    }
}

/// In a child: makes suites.
fn make(given: Given, _: &[u8]) -> Result<Vec<u8>> {
    let keeper = Arc::new(Keeper::default());
    let Given { folder, staging, spool, processes, open, replay, kernels } = given;
    let open = open.observer(keeper.clone()).jobs(1);
    let spool = Spool::programs_in(&spool);
    let mut writer = Writer::new(&folder, &staging, (&spool, processes), &open, replay);
    let of = |(kernel, name): &(LaunchedKernel, String)| make_one(&mut writer, kernel, name, [&folder, &staging]);
    let made: Result<Vec<Made>> = kernels.iter().map(of).collect();
    let answer = Answer { made: made?, device: writer.device(), told: keeper.take() };
    json::bytes(&answer).map_err(|error| Error::internal(format!("suites cannot be encoded: {error}")))
}

/// Removes what there is of a kernel.
fn clear(folders: [&Path; 2], name: &str) {
    for folder in folders {
        let _ = fs::remove_dir_all(folder.join(name));
    }
}

/// Makes the suite of a kernel. If it cannot be written, the first half of its launches is tried, and so on: a suite
/// takes as much room again as the spool. The others are left out.
fn make_one(writer: &mut Writer<'_>, kernel: &LaunchedKernel, name: &str, folders: [&Path; 2]) -> Result<Made> {
    let launches = kernel.kept.len();
    let (mut most, mut lost) = (launches, None);
    loop {
        let mut some = kernel.clone();
        some.kept.truncate(most);
        some.leave_out(host::UNWRITABLE, (launches - most) as u64);
        if most == 0 {
            let error = lost.as_ref().map(|error: &Error| error.report().what.clone());
            return Ok(Made { left_out: left_out(some.left_out), error, lost, ..Made::default() });
        }
        match writer.kernel(some, name) {
            Err(error) if error.exit_code() == 3 => {
                clear(folders, name);
                lost.get_or_insert(error);
                most /= 2;
            }
            made => return made.map(|made| Made { lost, ..made }),
        }
    }
}

/// The longest limit that the system's clock can have.
const FOR_EVER: Duration = Duration::from_secs(365 * 24 * 3600);
