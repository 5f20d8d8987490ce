//! `kassay ci`: does everything that a project's file asks for.

mod command;
mod judge;
mod project;

use std::path::{Path, PathBuf};

use clap::error::ContextKind;
use clap::{Args, CommandFactory, Parser};
use kassay_base::error::{Error, Result};
use kassay_results::report::text;
use kassay_results::result::any::Part;
use kassay_results::result::ci::Complaint;
use kassay_results::result::set::{AnySet, Failed};

use self::command::{Command, Line};
use self::project::{Flag, Project, Request};
use super::interrupt::interruptible;
use super::options::OutputFlags;
use super::sandbox;
use super::several;
use super::terminal::complain;
use crate::api::{ProjectOptions, ask_all};

/// Do everything that kassay.toml asks for: run, cover, mutate, check and schedule suites, and generate more tests
#[derive(Debug, Args)]
pub struct CiArgs {
    /// Limit it to these suites of the project, or those in these folders
    #[arg(value_name = "SUITE")]
    pub suites: Vec<PathBuf>,
    /// The project's file, instead of the nearest kassay.toml in this folder or one above it
    #[arg(long, value_name = "FILE")]
    pub project: Option<PathBuf>,
    /// Also apply the table [profile.NAME]
    #[arg(long, value_name = "NAME")]
    pub profile: Option<String>,
    /// A result of an earlier `kassay ci`, with which mutants are compared where the project names no other baseline
    #[arg(long, value_name = "RESULT")]
    pub baseline: Option<PathBuf>,
    /// Number of worker processes of everything together; that of processors if left out
    #[arg(short = 'j', long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=256))]
    pub jobs: Option<u32>,
    /// Go on with what an interrupted run with the same -o has decided
    #[arg(long, requires = "output")]
    pub resume: bool,
    /// Folder of the compilation cache, instead of $XDG_CACHE_HOME/kassay or ~/.cache/kassay
    #[arg(long, value_name = "DIR", conflicts_with = "no_cache")]
    pub cache: Option<PathBuf>,
    /// Compile everything from scratch, without the cache
    #[arg(long)]
    pub no_cache: bool,
    #[command(flatten)]
    pub output: OutputFlags,
}

/// Does everything, and delivers the result. Returns the exit code: that of the worst failure; if nothing failed, 1 if
/// the project has something to complain of.
///
/// # Errors
/// `Caller` if the project's file is wrong or names no suite; `Environment` if the result cannot be written.
pub fn run(args: &CiArgs) -> Result<u8> {
    let _claim = args.output.claim()?;
    let here =
        std::env::current_dir().map_err(|e| Error::environment(format!("there is no working directory: {e}")))?;
    let file = match &args.project {
        Some(file) => here.join(file),
        None => project::find(&here)?,
    };
    // Paths of the command line are meant from where it was given, those of the project from its folder.
    let only: Vec<PathBuf> = args.suites.iter().map(|suite| here.join(suite)).collect();
    let output = args.output.output.as_ref().map(|output| here.join(output));
    let cache = args.cache.as_ref().map(|cache| here.join(cache));
    let baseline = args.baseline.as_ref().map(|baseline| here.join(baseline));
    let more = More { cache: cache.as_deref(), no_cache: args.no_cache, baseline: baseline.as_deref() };
    let folder = file.parent().unwrap_or(Path::new("/"));
    let name = file.file_name().map(PathBuf::from).unwrap_or_default();
    std::env::set_current_dir(folder)
        .map_err(|e| Error::caller(format!("cannot go to the folder {}: {e}", folder.display())))?;
    let (mut asked, mut commands) = (Vec::new(), Vec::new());
    for (suite, command) in requested(&name, args.profile.as_deref(), &only, &more)? {
        asked.push(command.asked(&suite)?);
        commands.push(command);
    }
    let processors =
        || std::thread::available_parallelism().map_or(1, |n| u32::try_from(n.get()).unwrap_or(1).min(256));
    let options = ProjectOptions::new()
        .project(name)
        .profile(args.profile.clone())
        .jobs(args.jobs.unwrap_or_else(processors))
        .output(output.clone())
        .resume(args.resume);
    let help = output.map(|_| "what is decided is kept: the same command with --resume goes on");
    let terminal = args.output.terminal();
    let judge = |number: usize, result: Part<'_>| judge::complaints(&commands[number], result);
    let result = interruptible(help, || ask_all(&asked, &options, &terminal, judge))?;
    args.output.show(&result, |style| text::ci(&result, args.output.verbose, &several::source, style))?;
    if args.output.quiet {
        let of = |one: &Complaint| complain(&format!("{}: {} (kassay {})", one.suite, one.text, one.command));
        result.complaints.iter().for_each(of);
    }
    let failed: Vec<Failed> = result.sets().into_iter().flat_map(AnySet::failed).cloned().collect();
    Ok(several::exit_code(&args.output, &failed, !result.complaints.is_empty()))
}

/// What the command line of `kassay ci` adds to each request.
struct More<'a> {
    cache: Option<&'a Path>,
    no_cache: bool,
    baseline: Option<&'a Path>,
}

/// Reads a project's file, whose folder is the current one, and returns how many commands it asks for.
///
/// # Errors
/// `Caller`, with its place, if the file is wrong or names no suite.
pub fn check_project(file: &Path, profile: Option<&str>) -> Result<usize> {
    Ok(requested(file, profile, &[], &More { cache: None, no_cache: true, baseline: None })?.len())
}

/// Reads a project's file, whose folder is the current one, and returns what it asks of which suites.
///
/// # Errors
/// `Caller`, with its place, if the file is wrong or names no suite.
fn requested(file: &Path, profile: Option<&str>, only: &[PathBuf], more: &More<'_>) -> Result<Vec<(PathBuf, Command)>> {
    let project = Project::read(file, profile)?;
    let requests = project.requests(&Line::command(), only)?;
    if sandbox::is_on() {
        project.check_confined(&Line::command(), &requests)?;
    }
    if project.confines_suites()? {
        sandbox::turn_on();
    }
    requests.into_iter().map(|request| Ok((request.suite.clone(), parse(&project, &request, more)?))).collect()
}

/// Reads a request as the command line that it stands for.
fn parse(project: &Project, request: &Request, more: &More<'_>) -> Result<Command> {
    let suite = match request.suite.to_string_lossy().starts_with('-') {
        true => Path::new(".").join(&request.suite),
        false => request.suite.clone(),
    };
    let mut line = vec!["kassay".into(), request.command.into()];
    if request.command == "generate" {
        // The kernel is that of the suite.
        line.push("--from".into());
        if !request.flags.iter().any(|flag| flag.text.starts_with("--output=")) {
            return Err(project
                .error(None, "kassay generate is asked for, but not where its suites go")
                .help("name a folder, in which each suite gets one of its own: generate = { output = \"DIR\" }"));
        }
    }
    line.push(suite.into_os_string());
    line.extend(request.flags.iter().map(|flag| flag.text.clone().into()));
    let names_baseline = || request.flags.iter().any(|flag| flag.text.starts_with("--baseline="));
    if let Some(baseline) = more.baseline.filter(|_| request.command == "mutate" && !names_baseline()) {
        line.extend(["--baseline".into(), baseline.as_os_str().to_owned()]);
    } else if let Some(flag) = request.flags.iter().find(|flag| flag.text == "--fail-on-new-survivors")
        && !names_baseline()
    {
        return Err(project
            .error(Some(flag), "which survivors are new is known with a baseline only")
            .help("give `kassay ci --baseline RESULT`, or name one here: baseline = \"FILE\""));
    }
    match more.cache {
        Some(cache) => line.extend(["--cache".into(), cache.as_os_str().to_owned()]),
        None if more.no_cache => line.push("--no-cache".into()),
        None => {}
    }
    Line::try_parse_from(line).map(|line| line.command).map_err(|e| {
        let about = e.get(ContextKind::InvalidArg).map(ToString::to_string).unwrap_or_default();
        let name = |text: &str| text.split(['=', ' ']).next().unwrap_or_default().to_owned();
        let flag: Option<&Flag> = request.flags.iter().find(|flag| name(&flag.text) == name(&about));
        let text = e.to_string();
        let what = text.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
        let error = project.error(flag, what);
        match text.lines().find_map(|line| line.trim().strip_prefix("[possible values: ")) {
            Some(values) => error.help(format!("possible values: {}", values.trim_end_matches(']'))),
            None => error.help(format!("see kassay {} --help", request.command)),
        }
    })
}
