//! What is fuzzed: a function for each parser, which takes any bytes. A panic, an abort, more than 10 s or more than 2
//! GB are defects, and so is an error that blames kassay for what a file says.
//!
//! `tests/fuzzing` runs the same functions on the corpora, without libFuzzer.

mod folder;
mod host;
mod interfaces;
mod kernels;
mod project;
mod results;
mod suites;
mod workers;

use kassay::Error;

/// A parser.
pub struct Target {
    pub name: &'static str,
    pub run: fn(&[u8]),
    /// How inputs are written, for mutations that keep them well-formed.
    pub form: Form,
    /// Whether each input takes a process of its own.
    pub is_slow: bool,
}

/// How inputs of a target are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    Bytes,
    Toml,
    /// One or more texts of JSON, separated by [`BETWEEN`].
    Json,
    /// Lines of JSON.
    JsonLines,
}

/// Separates the files of inputs that are several files.
pub const BETWEEN: &[u8] = b"\n%%\n";

/// All targets, by name.
pub const TARGETS: &[Target] = &[
    target("bitcode", kernels::bitcode, Form::Bytes).slow(),
    target("broken-worker", workers::broken, Form::JsonLines),
    target("diff", suites::diff, Form::Bytes),
    target("interface", suites::interface, Form::Toml),
    target("journal", results::journal, Form::JsonLines),
    target("layer", host::layer, Form::Json),
    target("merge", results::merge, Form::Json),
    target("npy", suites::npy, Form::Bytes),
    target("project", project::project, Form::Toml),
    target("report", results::report, Form::Json),
    target("spirv", kernels::spirv, Form::Bytes).slow(),
    target("spirv-words", kernels::spirv_words, Form::Bytes),
    target("spool", host::spool, Form::Json),
    target("suite-json", suites::json, Form::Json),
    target("suite-toml", suites::toml, Form::Toml),
    target("tally", results::tally, Form::Json),
    target("worker", workers::messages, Form::Json),
];

const fn target(name: &'static str, run: fn(&[u8]), form: Form) -> Target {
    Target { name, run, form, is_slow: false }
}

impl Target {
    const fn slow(self) -> Target {
        Target { is_slow: true, ..self }
    }
}

/// Returns the target of a name.
pub fn named(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}

/// The files of an input.
pub fn files(input: &[u8]) -> Vec<&[u8]> {
    let (mut files, mut from, mut at) = (Vec::new(), 0, 0);
    while at < input.len() {
        match input[at..].starts_with(BETWEEN) {
            true => {
                files.push(&input[from..at]);
                at += BETWEEN.len();
                from = at;
            }
            false => at += 1,
        }
    }
    files.push(&input[from..]);
    files
}

/// Takes an outcome that only the input decides: the message can be written, and blames only the input.
fn blames_input<T>(outcome: Result<T, Error>) -> Option<T> {
    match outcome {
        Ok(value) => Some(value),
        Err(error) => {
            let message = error.to_string();
            assert_eq!(error.exit_code(), 2, "the input is wrong, but the message does not say so: {message}");
            None
        }
    }
}
