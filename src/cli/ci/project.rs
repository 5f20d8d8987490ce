//! Reads `kassay.toml`: which suites a project has, and what is asked of each.

use std::any::TypeId;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use clap::{ArgAction, Command};
use glob::{MatchOptions, Pattern};
use kassay_base::error::{Error, Result};
use kassay_base::files::{self, Sandbox};
use kassay_results::result::any::KERNEL_COMMANDS as COMMANDS;
use kassay_suite::confined;
use kassay_suite::document::{Entry, Node, Source, Value, suggestion};

use crate::api::{Wanted, expand, matching};

/// Name of the file.
pub const NAME: &str = "kassay.toml";

/// Flags that say where results go and how the command itself runs, which `kassay ci` decides.
const OF_CI: &[&str] = &[
    "output",
    "from",
    "in-diff",
    "format",
    "quiet",
    "verbose",
    "resume",
    "jobs",
    "help",
    "shard",
    "replay",
    "save-outputs",
    "as-gpu",
    "kernel",
    "keep",
    "max-bytes",
    "max-launches",
    "oracle",
    "global",
    "local",
    "cache",
    "no-cache",
];

/// A project's file.
pub struct Project {
    source: Source,
    root: Node,
    profile: Option<String>,
}

/// A question: a suite, and the command's arguments after its name.
#[derive(Debug, PartialEq)]
pub struct Request {
    /// Path of the suite, from the project's folder.
    pub suite: PathBuf,
    /// The command.
    pub command: &'static str,
    /// Its flags, as on a command line.
    pub flags: Vec<Flag>,
}

/// A flag of a command.
#[derive(Debug, Clone, PartialEq)]
pub struct Flag {
    /// As on a command line, such as `--sample=20`.
    pub text: String,
    /// The bytes of its key.
    span: std::ops::Range<usize>,
}

impl Flag {
    /// Returns the name and the value; of a flag without one, nothing.
    fn parts(&self) -> (&str, &str) {
        match self.text.strip_prefix("--") {
            Some(long) => long.split_once('=').unwrap_or((long, "")),
            None => self.text.trim_start_matches('-').split_at_checked(1).unwrap_or_default(),
        }
    }
}

/// Returns the nearest project file, in a folder or one above it.
///
/// # Errors
/// `Caller` if there is none.
pub fn find(folder: &Path) -> Result<PathBuf> {
    let found = folder.ancestors().map(|folder| folder.join(NAME)).find(|file| file.is_file());
    found.ok_or_else(|| {
        Error::caller(format!("there is no {NAME} in {} or a folder above it", folder.display()))
            .help("write one that says what is asked of which suites, or name another file with --project; docs/ci.md describes it")
    })
}

impl Project {
    /// Reads a project's file.
    ///
    /// # Errors
    /// `Caller`, with its place, if it cannot be read or is wrong, or has no such profile.
    pub fn read(path: &Path, profile: Option<&str>) -> Result<Project> {
        let text = files::read_text(path, None)
            .map_err(|e| Error::caller(format!("cannot read the project {}: {e}", path.display())))?;
        let source = Source::new(path, text);
        let root = source.parse()?;
        let project = Project { source, root, profile: profile.map(str::to_owned) };
        project.check()?;
        Ok(project)
    }

    /// Returns whether the project says that its suites are not trusted.
    ///
    /// # Errors
    /// `Caller`, with its place, if it says neither.
    pub fn confines_suites(&self) -> Result<bool> {
        match self.root.get("sandbox") {
            None => Ok(false),
            Some(Node { value: Value::Bool(wanted), .. }) => Ok(*wanted),
            Some(other) => Err(self.source.error(&other.span, format!("this is {}, not true or false", other.kind()))),
        }
    }

    /// Checks what is asked of a project that is not trusted: it may name suites and files in its own folder alone, and
    /// give clang only options that name no others.
    ///
    /// # Errors
    /// `Caller`, with its place, if it does more.
    pub fn check_confined(&self, cli: &Command, requests: &[Request]) -> Result<()> {
        let sandbox = Sandbox::around(&self.source.path)?;
        for request in requests {
            let escape = |path: &Path| sandbox.check(path).err().filter(files::is_escape);
            let refuse = |error: Error, e: &std::io::Error| Err(error.help(files::escape_help(e).unwrap_or_default()));
            if let Some(e) = escape(&request.suite) {
                let what = format!("cannot read the suite `{}`: {e}", request.suite.display());
                return refuse(self.source.error(&(0..0), what), &e);
            }
            for flag in &request.flags {
                let (name, value) = flag.parts();
                match name {
                    "clang-arg" => {
                        confined::check_options(&self.source, &flag.span, &[value.to_owned()], &sandbox)?;
                    }
                    // git does what the repository's configuration says.
                    "since" => {
                        let error = self.source.error(&flag.span, "--sandbox does not allow `since` in a project");
                        return Err(error.help("kassay mutate --since REV asks it of one suite"));
                    }
                    _ if takes_path(cli, request.command, name) => {
                        if let Some(e) = escape(Path::new(value)) {
                            let what = format!("cannot use `{value}`: {e}");
                            return refuse(self.source.error(&flag.span, what), &e);
                        }
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// Returns what is asked, suite by suite. `cli` is the command line of kassay, whose commands have the flags;
    /// `only` are files and folders to which the suites are limited, if there are any.
    ///
    /// # Errors
    /// `Caller`, with its place, if a flag is unknown or no suite is found.
    pub fn requests(&self, cli: &Command, only: &[PathBuf]) -> Result<Vec<Request>> {
        let mut suites = self.suites()?;
        if !only.is_empty() {
            let canonical = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
            let of_project: BTreeSet<PathBuf> = suites.iter().map(canonical).collect();
            let mut wanted = BTreeSet::new();
            for given in only {
                let found: Vec<PathBuf> =
                    expand(std::slice::from_ref(given), Wanted::Suites)?.iter().map(canonical).collect();
                if !found.iter().any(|suite| of_project.contains(suite)) {
                    let what = format!("{} is no suite of {}", given.display(), self.source.path.display());
                    return Err(Error::caller(what).help("name suites of the project, or folders with some in them"));
                }
                wanted.extend(found);
            }
            suites.retain(|suite| wanted.contains(&canonical(suite)));
        }
        let layers = self.layers()?;
        let mut requests = Vec::new();
        for suite in suites {
            for command in COMMANDS.iter().copied() {
                if let Some(flags) = self.flags_of(cli, &layers, &suite, command)? {
                    requests.push(Request { suite: suite.clone(), command, flags });
                }
            }
        }
        match requests.is_empty() {
            true => Err(self.source.error(&(0..0), "nothing is asked").help(format!(
                "add a table for each command that is to be done, even if it is empty: {}",
                COMMANDS.iter().map(|command| format!("[{command}]")).collect::<Vec<_>>().join(", ")
            ))),
            false => Ok(requests),
        }
    }

    /// Returns an error at a flag's place.
    pub fn error(&self, flag: Option<&Flag>, what: impl Into<String>) -> Error {
        self.source.error(&flag.map_or(0..0, |flag| flag.span.clone()), what)
    }

    /// Returns the suites in the order of the patterns, each once.
    fn suites(&self) -> Result<Vec<PathBuf>> {
        let excluded = self.root.get("exclude").map_or(Ok(Vec::new()), |node| self.patterns(node))?;
        let Some(node) = self.root.get("suites") else {
            let all = expand(&[PathBuf::from(".")], Wanted::Suites)?;
            let plain = |path: PathBuf| path.strip_prefix(".").map(Path::to_owned).unwrap_or(path);
            return Ok(all.into_iter().map(plain).filter(|suite| !matches(&excluded, suite)).collect());
        };
        let (mut found, mut known) = (Vec::new(), BTreeSet::new());
        for (text, span) in self.texts(node)? {
            let files = match Path::new(text).is_dir() {
                true => expand(&[PathBuf::from(text)], Wanted::Suites),
                false => matching(text),
            };
            let at = |e: Error| if e.report().place.is_some() { e } else { e.at(self.source.place(&span)) };
            let files = files.map_err(at)?;
            if files.is_empty() {
                return Err(self.source.error(&span, format!("`{text}` matches no file")).help(
                    "a path from the folder of this file: `*` stands for a part of a name, `**` for any folders",
                ));
            }
            found.extend(files.into_iter().filter(|file| !matches(&excluded, file) && known.insert(file.clone())));
        }
        Ok(found)
    }

    /// Checks the keys of the file.
    fn check(&self) -> Result<()> {
        let known: Vec<&str> =
            ["suites", "exclude", "sandbox", "options", "kernel", "profile"].iter().chain(COMMANDS).copied().collect();
        self.check_keys(&self.root, &known)?;
        for layer in self.list("kernel")? {
            let known: Vec<&str> = ["suites", "options"].iter().chain(COMMANDS).copied().collect();
            self.check_keys(layer, &known)?;
            let Some(patterns) = layer.get("suites") else {
                return Err(self
                    .source
                    .error(&layer.span, "it does not say which suites it is for")
                    .help("add suites = [\"…\"]"));
            };
            self.patterns(patterns)?;
        }
        let profiles = self.root.get("profile").and_then(Node::entries).unwrap_or_default();
        for Entry { node, .. } in profiles {
            let known: Vec<&str> = ["options"].iter().chain(COMMANDS).copied().collect();
            self.check_keys(node, &known)?;
        }
        match &self.profile {
            Some(name) if !profiles.iter().any(|entry| entry.key == *name) => {
                let names: Vec<&str> = profiles.iter().map(|entry| entry.key.as_str()).collect();
                let help = match names.is_empty() {
                    true => format!("add a table [profile.{name}]"),
                    false => suggestion(name, &names, "the profiles are"),
                };
                Err(self.source.error(&(0..0), format!("there is no profile `{name}`")).help(help))
            }
            _ => Ok(()),
        }
    }

    fn check_keys(&self, table: &Node, known: &[&str]) -> Result<()> {
        let Some(entries) = table.entries() else {
            return Err(self.source.error(&table.span, format!("this is {}, not a table", table.kind())));
        };
        match entries.iter().find(|entry| !known.contains(&entry.key.as_str())) {
            Some(entry) => Err(self
                .source
                .error(&entry.key_span, format!("`{}` is no key here", entry.key))
                .help(suggestion(&entry.key, known, "the keys are"))),
            None => Ok(()),
        }
    }

    /// Returns the tables that say what is asked, the later ones of which win, each with the patterns of the suites
    /// that it is for; without patterns it is for all.
    fn layers(&self) -> Result<Vec<Layer<'_>>> {
        let mut layers = vec![(None, &self.root)];
        let profile = self.profile.as_ref().and_then(|name| self.root.get("profile")?.get(name));
        layers.extend(profile.map(|profile| (None, profile)));
        for kernel in self.list("kernel")? {
            let patterns = kernel.get("suites").map_or(Ok(Vec::new()), |node| self.patterns(node))?;
            layers.push((Some(patterns), kernel));
        }
        Ok(layers)
    }

    /// Returns the flags of a command for a suite; `None` if it is not asked for.
    fn flags_of(&self, cli: &Command, layers: &[Layer<'_>], suite: &Path, command: &str) -> Result<Option<Vec<Flag>>> {
        let (mut is_asked, mut given): (bool, Vec<&Entry>) = (false, Vec::new());
        for (patterns, layer) in layers {
            if patterns.as_ref().is_some_and(|patterns| !matches(patterns, suite)) {
                continue;
            }
            let tables = [("options", layer.get("options")), (command, layer.get(command))];
            for (name, table) in tables.iter().filter_map(|(name, table)| Some((*name, (*table)?))) {
                let entries = match &table.value {
                    Value::Bool(wanted) if name != "options" => {
                        is_asked = *wanted;
                        continue;
                    }
                    Value::Table(entries) => entries,
                    _ => {
                        let what = format!("this is {}, not a table of flags", table.kind());
                        return Err(self.source.error(&table.span, what).help("or true, or false"));
                    }
                };
                is_asked |= name != "options";
                for entry in entries {
                    // Options of all commands need not be those of each.
                    if name == "options"
                        && COMMANDS.iter().any(|one| flag(cli, one, &entry.key).is_some())
                        && flag(cli, command, &entry.key).is_none()
                    {
                        continue;
                    }
                    given.retain(|other| other.key != entry.key);
                    given.push(entry);
                }
            }
        }
        if !is_asked {
            return Ok(None);
        }
        let mut flags = Vec::new();
        for entry in given {
            let Some(action) = flag(cli, command, &entry.key) else {
                let known = names(cli, command);
                let known: Vec<&str> = known.iter().map(String::as_str).collect();
                return Err(self
                    .source
                    .error(
                        &entry.key_span,
                        format!("`{}` is no flag of kassay {command} that a project can set", entry.key),
                    )
                    .help(suggestion(&entry.key, &known, "there are")));
            };
            let texts = self.values(&entry.node)?;
            let texts = match (texts, action) {
                (Values::Flag(true), _) => vec![format!("--{}", entry.key)],
                (Values::Flag(false), _) => Vec::new(),
                (Values::Texts(texts), ArgAction::Append) => {
                    texts.iter().map(|text| with_value(&entry.key, text)).collect()
                }
                (Values::Texts(texts), _) => vec![with_value(&entry.key, &texts.join(","))],
            };
            flags.extend(texts.into_iter().map(|text| Flag { text, span: entry.key_span.clone() }));
        }
        Ok(Some(flags))
    }

    fn values(&self, node: &Node) -> Result<Values> {
        let text = |node: &Node| match &node.value {
            Value::Integer(n) => Ok(n.to_string()),
            Value::Float(n) => Ok(n.to_string()),
            Value::Text(text) => Ok(text.clone()),
            Value::Bool(_) | Value::List(_) | Value::Table(_) => {
                Err(self.source.error(&node.span, format!("this is {}, not a value of a flag", node.kind())))
            }
        };
        Ok(match &node.value {
            Value::Bool(on) => Values::Flag(*on),
            Value::List(list) => Values::Texts(list.iter().map(text).collect::<Result<_>>()?),
            // Such as thresholds: { branch = 90 }.
            Value::Table(entries) => Values::Texts(
                entries
                    .iter()
                    .map(|entry| Ok(format!("{}={}", entry.key, text(&entry.node)?)))
                    .collect::<Result<_>>()?,
            ),
            _ => Values::Texts(vec![text(node)?]),
        })
    }

    fn list(&self, key: &str) -> Result<&[Node]> {
        match self.root.get(key) {
            None => Ok(&[]),
            Some(Node { value: Value::List(list), .. }) => Ok(list),
            Some(other) => Err(self
                .source
                .error(&other.span, format!("this is {}, not a list of tables", other.kind()))
                .help(format!("begin each with [[{key}]]"))),
        }
    }

    /// Returns the strings of a list, or of a string alone, with their spans.
    fn texts<'a>(&self, node: &'a Node) -> Result<Vec<(&'a str, std::ops::Range<usize>)>> {
        let of = |node: &'a Node| match &node.value {
            Value::Text(text) => Ok((text.as_str(), node.span.clone())),
            _ => Err(self.source.error(&node.span, format!("this is {}, not a string", node.kind()))),
        };
        match &node.value {
            Value::List(list) => list.iter().map(of).collect(),
            _ => Ok(vec![of(node)?]),
        }
    }

    fn patterns(&self, node: &Node) -> Result<Vec<Pattern>> {
        let of = |(text, span): (&str, std::ops::Range<usize>)| {
            Pattern::new(text).map_err(|e| self.source.error(&span, format!("`{text}` is no pattern of files: {e}")))
        };
        self.texts(node)?.into_iter().map(of).collect()
    }
}

/// A table, and the suites that it is for; all if there are no patterns.
type Layer<'a> = (Option<Vec<Pattern>>, &'a Node);

enum Values {
    Flag(bool),
    Texts(Vec<String>),
}

/// Whether a suite is one of those that patterns are for: of its file, or of a folder that it is in.
fn matches(patterns: &[Pattern], suite: &Path) -> bool {
    let options = MatchOptions { require_literal_separator: true, ..MatchOptions::new() };
    let is_meant = |path: &Path| patterns.iter().any(|pattern| pattern.matches_path_with(path, options));
    suite.ancestors().filter(|path| !path.as_os_str().is_empty()).any(is_meant)
}

/// Returns a flag with its value, as on a command line: `-D` has no other name.
fn with_value(name: &str, value: &str) -> String {
    if name.len() == 1 { format!("-{name}{value}") } else { format!("--{name}={value}") }
}

/// Returns what a command does with a flag that a project may set.
fn flag(cli: &Command, command: &str, name: &str) -> Option<ArgAction> {
    let mut arguments = cli.find_subcommand(command)?.get_arguments();
    arguments.find(|arg| name_of(command, arg).as_deref() == Some(name)).map(|arg| arg.get_action().clone())
}

/// Returns whether the value of a flag is a path.
fn takes_path(cli: &Command, command: &str, name: &str) -> bool {
    let is_path = |arg: &clap::Arg| arg.get_value_parser().type_id() == TypeId::of::<PathBuf>();
    let mut arguments = cli.find_subcommand(command).into_iter().flat_map(Command::get_arguments);
    arguments.any(|arg| name_of(command, arg).as_deref() == Some(name) && is_path(arg))
}

/// Returns the flags of a command that a project may set.
fn names(cli: &Command, command: &str) -> Vec<String> {
    let arguments = cli.find_subcommand(command).into_iter().flat_map(Command::get_arguments);
    arguments.filter(|arg| !arg.is_hide_set()).filter_map(|arg| name_of(command, arg)).collect()
}

/// Returns by what name a project sets a flag; `None` if it may not, or it is none.
fn name_of(command: &str, arg: &clap::Arg) -> Option<String> {
    let name = arg.get_long().map(str::to_owned).or_else(|| arg.get_short().map(String::from))?;
    // What `generate` writes is more than a result: the project says where.
    let is_its_own = command == "generate" && name == "output";
    (is_its_own || !OF_CI.contains(&name.as_str())).then_some(name)
}
