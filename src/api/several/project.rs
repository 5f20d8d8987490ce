//! Asks many questions of many suites at once: the work of `kassay ci`.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use kassay_base::error::{Error, Result};
use kassay_base::{hash, json};
use kassay_results::result::any::{OfKernel, Part};
use kassay_results::result::ci::{CiResult, Complaint};
use kassay_results::result::set::{Failed, KernelResult, SetResult};
use kassay_results::result::{Header, journal, store};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::super::observer::{Observer, Silent};
use super::super::options::{OpenOptions, options};
use super::super::{
    CheckOptions, CoverOptions, GenerateOptions, MutateOptions, RunOptions, ScheduleOptions, check, generate,
};
use super::parts::{Parts, part_of};
use super::{Assignment, Measurement, Task, answers, assemble, failure, suite_folders};

/// What is asked of a suite.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub enum Question {
    /// As [`run`](super::super::run()).
    Run(RunOptions),
    /// As [`cover`](super::super::cover()).
    Cover(CoverOptions),
    /// As [`mutate`](super::super::mutate()), whose `output` and `resume` are not looked at.
    Mutate(MutateOptions),
    /// As [`check`].
    Check(CheckOptions),
    /// As [`schedule`](super::super::schedule()).
    Schedule(ScheduleOptions),
    /// As [`generate`], beginning with the suite's launches; `resume` is not looked at. The suites are written into
    /// this folder, each into one of its own.
    Generate(#[serde(with = "kassay_base::files::paths")] PathBuf, GenerateOptions),
}

impl Question {
    /// Returns the name of the command that asks this.
    pub fn command(&self) -> &'static str {
        match self {
            Question::Run(_) => "run",
            Question::Cover(_) => "cover",
            Question::Mutate(_) => "mutate",
            Question::Check(_) => "check",
            Question::Schedule(_) => "schedule",
            Question::Generate(..) => "generate",
        }
    }
}

/// A question asked of a suite.
#[derive(Debug, Clone)]
pub struct Asked {
    /// Path of the suite.
    pub suite: PathBuf,
    /// How it is opened. The number of jobs is that of [`ProjectOptions`].
    pub open: OpenOptions,
    /// What is asked.
    pub question: Question,
}

options! {
    /// Options of [`ask_all`].
    pub struct ProjectOptions {
        /// Path of the file that asks, for the result.
        project: PathBuf = PathBuf::new(),
        /// Name of the profile, for the result.
        profile: Option<String> = None,
        /// The number of worker processes of everything together.
        jobs: u32 = 1,
        /// The result's file: what is decided is kept beside it until it is written.
        output: Option<PathBuf> = None,
        /// Whether to go on with what an interrupted run kept.
        resume: bool = false,
    }
}

/// What is kept of a question that is answered.
#[derive(Serialize, Deserialize)]
struct Entry {
    /// What the answer depends on.
    fingerprint: String,
    result: Value,
}

/// Asks everything, several questions at a time, each in a process of its own. `complain` says what is wrong with a
/// result, such as a threshold that is missed: the number of the question, and a sentence each.
///
/// # Errors
/// `Caller` if another process writes the result's file, or what was kept is of another project; `Environment` if files
/// cannot be written, or the observer says to stop. What fails for a question is part of the result.
pub fn ask_all(
    asked: &[Asked],
    options: &ProjectOptions,
    observer: &dyn Observer,
    complain: impl Fn(usize, Part<'_>) -> Vec<String>,
) -> Result<CiResult> {
    let started = Instant::now();
    let asked = &folders_apart(asked);
    let of_project = [options.project.clone()];
    let begin = |output: &PathBuf| Parts::begin("ci", output, &of_project, options.resume);
    let parts = options.output.as_ref().map(begin).transpose()?;
    let mut results: Vec<Option<Result<Value>>> = asked.iter().map(|_| None).collect();
    let mut tasks: Vec<(usize, String, Task<Assignment<Asking>>)> = Vec::new();
    for (number, one) in asked.iter().enumerate() {
        let kept =
            parts.as_ref().map(|parts| parts.named(&format!("{}-{}", one.question.command(), part_of(&one.suite))));
        let fingerprint = fingerprint(one);
        let known = kept.as_ref().filter(|_| options.resume).and_then(|path| read(path, &fingerprint));
        if let Some(result) = known {
            results[number] = Some(Ok(result));
            continue;
        }
        let (question, suite) = (one.question.clone(), one.suite.clone());
        // A mutation run keeps what it decides itself.
        let own = kept.map(|path| path.with_extension("mutants.json"));
        let name = format!("{} {}", question.command(), suite.display());
        let measurement = Asking { question, kept: own, resume: options.resume };
        let input = Assignment { file: suite, open: one.open.clone(), measurement };
        tasks.push((number, fingerprint, Task { name, input }));
    }
    let (numbers, tasks): (Vec<(usize, String)>, Vec<_>) =
        tasks.into_iter().map(|(number, fingerprint, task)| ((number, fingerprint), task)).unzip();
    let keep = |at: usize, result: &Value| {
        let (number, fingerprint) = &numbers[at];
        let one = &asked[*number];
        match &parts {
            Some(parts) => {
                let path = parts.named(&format!("{}-{}", one.question.command(), part_of(&one.suite)));
                store::write(&Entry { fingerprint: fingerprint.clone(), result: result.clone() }, &path)
            }
            None => Ok(()),
        }
    };
    for ((number, _), answer) in numbers.iter().zip(answers(tasks, options.jobs, "questions", observer, keep)?) {
        results[*number] = Some(answer);
    }
    let result = put_together(asked, results, options, started, complain)?;
    if let (Some(output), Some(parts)) = (&options.output, parts) {
        store::write(&result, output)?;
        // The result is complete: what stays must not cost it.
        if let Err(e) = parts.end() {
            observer.note(&e.to_string());
        }
    }
    Ok(result)
}

/// What a child is asked.
#[derive(Serialize, Deserialize)]
struct Asking {
    question: Question,
    /// Where a mutation run keeps what it decides.
    #[serde(with = "kassay_base::files::paths")]
    kept: Option<PathBuf>,
    resume: bool,
}

impl Measurement for Asking {
    type Result = Value;

    fn measure(self, suite: &Path, open: &OpenOptions) -> Result<Value> {
        ask(&self.question, suite, open, self.kept, self.resume)
    }
}

/// Asks one question, in the child.
fn ask(question: &Question, suite: &Path, open: &OpenOptions, kept: Option<PathBuf>, resume: bool) -> Result<Value> {
    match question {
        Question::Run(options) => tree(&options.clone().measure(suite, open)?),
        Question::Cover(options) => tree(&options.clone().measure(suite, open)?),
        Question::Mutate(options) => {
            let options = options.clone().resume(resume && kept.is_some()).output(kept);
            tree(&options.measure(suite, open)?)
        }
        Question::Check(options) => tree(&check(&open.open(suite)?, options)?),
        Question::Schedule(options) => tree(&options.clone().measure(suite, open)?),
        Question::Generate(folder, options) => {
            // A search that has ended needs no journal; its result may be that of another question.
            let resume = resume && journal::path_for(&folder.join("generate.json")).exists();
            tree(&generate(&open.open(suite)?, folder, &options.clone().resume(resume))?)
        }
    }
}

fn tree(result: &impl Serialize) -> Result<Value> {
    json::tree(result).map_err(|e| Error::internal(format!("the result has no JSON form: {e}")))
}

/// Gives each suite that is generated a folder of its own.
fn folders_apart(asked: &[Asked]) -> Vec<Asked> {
    let mut apart = asked.to_vec();
    let generated = |one: &Asked| matches!(one.question, Question::Generate(..));
    let suites: Vec<PathBuf> = asked.iter().filter(|one| generated(one)).map(|one| one.suite.clone()).collect();
    for one in &mut apart {
        if let Question::Generate(folder, _) = &mut one.question {
            let own = suites.iter().zip(suite_folders(&suites, folder)).find(|(suite, _)| **suite == one.suite);
            *folder = own.map_or_else(|| folder.join(part_of(&one.suite)), |(_, own)| own);
        }
    }
    apart
}

fn put_together(
    asked: &[Asked],
    results: Vec<Option<Result<Value>>>,
    options: &ProjectOptions,
    started: Instant,
    complain: impl Fn(usize, Part<'_>) -> Vec<String>,
) -> Result<CiResult> {
    let source = options.project.display().to_string();
    let mut gathered = Gathered { asked, source: &source, complain, complaints: Vec::new(), results };
    let mut result = CiResult {
        header: Header::new(CiResult::SCHEMA, String::new(), source.clone(), None, 0),
        elapsed_s: 0.0,
        profile: options.profile.clone(),
        run: gathered.of()?,
        cover: gathered.of()?,
        mutate: gathered.of()?,
        check: gathered.of()?,
        schedule: gathered.of()?,
        generate: gathered.of()?,
        complaints: Vec::new(),
    };
    result.complaints = gathered.complaints;
    let mut names: Vec<&str> = Vec::new();
    for name in result.sets().into_iter().flat_map(|set| set.header().kernel.split(", ")) {
        if !name.is_empty() && !names.contains(&name) {
            names.push(name);
        }
    }
    result.header.kernel = names.join(", ");
    result.elapsed_s = started.elapsed().as_secs_f64();
    Ok(result)
}

struct Gathered<'a, C> {
    asked: &'a [Asked],
    /// The project, as the header names it.
    source: &'a str,
    /// Says what is wrong with the result of a question.
    complain: C,
    results: Vec<Option<Result<Value>>>,
    complaints: Vec<Complaint>,
}

impl<C: Fn(usize, Part<'_>) -> Vec<String>> Gathered<'_, C> {
    /// Takes the results of a command together; nothing if it was not asked for.
    fn of<R: OfKernel + DeserializeOwned>(&mut self) -> Result<Option<SetResult<R, R::Total>>> {
        let command = R::COMMAND;
        let (mut kernels, mut failed): (Vec<KernelResult<R>>, Vec<Failed>) = (Vec::new(), Vec::new());
        let mut elapsed_s = 0.0;
        for (number, one) in self.asked.iter().enumerate().filter(|(_, one)| one.question.command() == command) {
            let suite = one.suite.display().to_string();
            let complaint = |text| Complaint { suite: suite.clone(), command: command.to_owned(), text };
            match self.results[number].take() {
                Some(Ok(value)) => {
                    elapsed_s += value["elapsed_s"].as_f64().unwrap_or_default();
                    let mut result: R = json::read_tree(&value)
                        .map_err(|e| Error::internal(format!("a result cannot be read back: {e}")))?;
                    let complaints = (self.complain)(number, result.part());
                    result.complain(&complaints);
                    self.complaints.extend(complaints.into_iter().map(complaint));
                    kernels.push(KernelResult::of_suite(result, Some(suite)));
                }
                Some(Err(error)) => {
                    let first = error.to_string().lines().next().unwrap_or_default().to_owned();
                    self.complaints.push(complaint(first));
                    failed.push(failure(Some(suite), &error));
                }
                None => return Err(Error::internal(format!("nothing was answered about {suite}"))),
            }
        }
        if kernels.is_empty() && failed.is_empty() {
            return Ok(None);
        }
        let set = assemble(&[PathBuf::from(self.source)], &OpenOptions::new(), kernels, failed);
        Ok(Some(SetResult { elapsed_s, ..set }))
    }
}

/// Returns what the answer to a question depends on, as far as it can be known without compiling: the options, this
/// version of kassay, and the files beside the suite.
fn fingerprint(asked: &Asked) -> String {
    let open = asked.open.clone().observer(Arc::new(Silent)).worker(None).jobs(1);
    let folder = asked.suite.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut files: Vec<String> = Vec::new();
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let Ok(data) = entry.metadata() else { continue };
        if data.is_file() {
            files.push(format!("{:?} {} {:?}", entry.file_name(), data.len(), data.modified().ok()));
        }
    }
    files.sort();
    let text = format!("{} {:?} {open:?} {files:?}", env!("CARGO_PKG_VERSION"), asked.question);
    format!("{:032x}", hash::wide(&[text.as_bytes(), &fs::read(&asked.suite).unwrap_or_default()]))
}

/// Reads what was kept of a question, if it is still the answer.
fn read(path: &Path, fingerprint: &str) -> Option<Value> {
    let entry: Entry = json::read(&fs::read(path).ok()?).ok()?;
    (entry.fingerprint == fingerprint).then_some(entry.result)
}
