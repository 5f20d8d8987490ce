//! Reads files of outcomes: the lines in which a host program of a user's own says what its tests showed of mutants
//! (docs/bring-your-own-host.md).

use std::path::{Path, PathBuf};

use kassay_base::error::{Error, Place, Result};

use super::probe_map::{Module, ProbeMap};
use super::store;

/// The first line of a file of outcomes.
pub const FIRST_LINE: &str = "kassay-outcomes 1";

/// How a run of a test ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RunEnd {
    /// Its outputs were the reference.
    Same,
    /// Its outputs were not the reference.
    Different,
    /// It did not end, and the host ended it.
    Timeout,
    /// It took the process down, or the driver.
    Crash,
    /// The device refused the launch.
    Refused,
}

impl RunEnd {
    const WORDS: [(&'static str, RunEnd); 5] = [
        ("same", RunEnd::Same),
        ("different", RunEnd::Different),
        ("timeout", RunEnd::Timeout),
        ("crash", RunEnd::Crash),
        ("refused", RunEnd::Refused),
    ];
}

/// What a line says of a test.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Said {
    /// The outcome of a run under a mutant.
    Run {
        /// The mutant's number in its module; 0: the original.
        number: u32,
        /// How the run ended.
        end: RunEnd,
        /// The word `fault` of the probe buffer; 0 if it was not read back.
        fault: u32,
    },
    /// The words after the header of the buffer that the module's reach module left.
    Reach(Vec<u32>),
}

/// A line with an outcome.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The line's place.
    pub at: Place,
    /// Index of the module in the map.
    pub module: usize,
    /// The test's name.
    pub test: String,
    /// What it says.
    pub said: Said,
}

/// Reads a file of outcomes of the modules of `map`.
///
/// # Errors
/// `Caller`, with the place, if the file does not exist or has not this format, or is of other modules; `Environment`
/// if it cannot be read.
pub fn read(path: &Path, map: &ProbeMap) -> Result<Vec<Outcome>> {
    parse(&store::read_text(path, "name a file of outcomes that your host program wrote")?, path, map)
}

/// Parses the text of a file of outcomes; `path` is used in messages.
///
/// # Errors
/// As [`read`].
pub fn parse(text: &str, path: &Path, map: &ProbeMap) -> Result<Vec<Outcome>> {
    let mut reader = Reader { file: path.to_owned(), line: 1, text: "", map, current: None };
    let mut lines = text.split_inclusive('\n');
    reader.text = lines.next().unwrap_or_default().trim_end();
    if reader.text != FIRST_LINE {
        let help = format!("a file of outcomes begins with the line `{FIRST_LINE}`");
        return Err(reader.wrong(0, "this is not a file of outcomes that this kassay reads", &help));
    }
    let mut outcomes = Vec::new();
    for (number, line) in (2..).zip(lines) {
        (reader.line, reader.text) = (number, line.trim_end());
        if !line.ends_with('\n') {
            let help = "write a line break after each line; if the host was ended while it wrote, drop this line";
            return Err(reader.wrong(reader.text.len(), "the file ends within a line", help));
        }
        outcomes.extend(reader.outcome()?);
    }
    Ok(outcomes)
}

/// A word of a line, with its first byte's position in it.
#[derive(Clone, Copy)]
struct Word<'t> {
    at: usize,
    text: &'t str,
}

/// Which code of a module the following lines are about.
#[derive(Clone, Copy)]
enum Current {
    Mutants(usize),
    Reach(usize),
}

struct Reader<'t> {
    file: PathBuf,
    line: u32,
    text: &'t str,
    map: &'t ProbeMap,
    current: Option<Current>,
}

impl<'t> Reader<'t> {
    fn place(&self, at: usize) -> Place {
        Place { file: self.file.clone(), line: self.line, column: at as u32 + 1, text: Some(self.text.to_owned()) }
    }

    fn wrong(&self, at: usize, what: impl Into<String>, help: &str) -> Error {
        Error::caller(what).at(self.place(at)).help(help)
    }

    /// Returns the next word from byte `from` on, and the position after it.
    fn word(&self, from: usize) -> Option<(Word<'t>, usize)> {
        let rest = &self.text[from..];
        let at = from + rest.find(|c: char| !c.is_whitespace())?;
        let length = self.text[at..].find(char::is_whitespace).unwrap_or(self.text.len() - at);
        Some((Word { at, text: &self.text[at..at + length] }, at + length))
    }

    fn needed(&self, from: usize, what: &str) -> Result<(Word<'t>, usize)> {
        let help = "lines are `module HASH`, `NUMBER RESULT FAULT TEST` and `reach BITS TEST`";
        self.word(from).ok_or_else(|| self.wrong(self.text.len(), format!("{what} is missing"), help))
    }

    /// Reads the current line. `None` if it is empty, a comment, or names a module.
    fn outcome(&mut self) -> Result<Option<Outcome>> {
        let Some((first, next)) = self.word(0).filter(|(word, _)| !word.text.starts_with('#')) else {
            return Ok(None);
        };
        if first.text == "module" {
            let (hash, end) = self.needed(next, "the hash of the module")?;
            if let Some((more, _)) = self.word(end) {
                return Err(self.wrong(
                    more.at,
                    "nothing follows the hash of a module",
                    "write it on a line of its own",
                ));
            }
            self.current = Some(self.module(hash)?);
            return Ok(None);
        }
        let Some(current) = self.current else {
            let help = "before the first outcome, name the module that was launched: `module` and the hash in the map";
            return Err(self.wrong(first.at, "no line says which module this is about", help));
        };
        let (module, said, next) = match (current, first.text) {
            (Current::Reach(module), "reach") => {
                let (bits, next) = self.needed(next, "the words of the buffer")?;
                (module, Said::Reach(self.bits(bits, module)?), next)
            }
            (Current::Mutants(_), "reach") => {
                let help = "name the reach module's own hash before: `module` and `reach.hash` in the map";
                return Err(self.wrong(first.at, "a module with mutants does not tell which are reached", help));
            }
            (Current::Reach(_), _) => {
                let help =
                    "name the hash of the module with mutants before; of this one there are lines `reach BITS TEST`";
                return Err(self.wrong(first.at, "the module named last has no mutants to select", help));
            }
            (Current::Mutants(module), _) => {
                let (result, next) = self.needed(next, "the result of the run")?;
                let (fault, next) = self.needed(next, "the fault")?;
                let number = self.number(first, module)?;
                (module, Said::Run { number, end: self.end(result)?, fault: self.fault(fault)? }, next)
            }
        };
        let (name, _) = self.needed(next, "the name of the test")?;
        let test = self.text[name.at..].to_owned();
        Ok(Some(Outcome { at: self.place(first.at), module, test, said }))
    }

    fn module(&self, hash: Word<'_>) -> Result<Current> {
        let modules = || self.map.modules.iter().enumerate();
        let reach = |module: &Module| module.reach.as_ref().is_some_and(|reach| reach.hash == hash.text);
        if let Some((module, _)) = modules().find(|(_, module)| module.hash == hash.text) {
            return Ok(Current::Mutants(module));
        }
        if let Some((module, _)) = modules().find(|(_, module)| reach(module)) {
            return Ok(Current::Reach(module));
        }
        let known: Vec<&str> = self.map.modules.iter().map(|module| module.hash.as_str()).collect();
        let help = format!(
            "use the modules and the map that one run of `kassay lower` wrote; the modules with mutants are {}",
            known.join(", ")
        );
        Err(self.wrong(hash.at, format!("the map has no module with the hash `{}`", hash.text), &help))
    }

    fn number(&self, word: Word<'_>, module: usize) -> Result<u32> {
        let last = self.map.modules[module].mutants.unwrap_or(0);
        match word.text.parse::<u32>() {
            Ok(number) if number <= last => Ok(number),
            Ok(number) => {
                let help = format!("the module has the mutants 1 to {last}; 0 is the original");
                Err(self.wrong(word.at, format!("there is no mutant {number}"), &help))
            }
            Err(_) => {
                let what = format!("`{}` is no number of a mutant", word.text);
                Err(self.wrong(word.at, what, "lines begin with `module`, `reach` or a number; comments with #"))
            }
        }
    }

    fn end(&self, word: Word<'_>) -> Result<RunEnd> {
        let found = RunEnd::WORDS.iter().find(|(name, _)| *name == word.text);
        found.map(|(_, end)| *end).ok_or_else(|| {
            let names = RunEnd::WORDS.map(|(name, _)| name).join(", ");
            self.wrong(word.at, format!("`{}` is no result of a run", word.text), &format!("results are {names}"))
        })
    }

    fn fault(&self, word: Word<'_>) -> Result<u32> {
        let known = self.map.guards.iter().flat_map(|guards| &guards.fault_kinds);
        let value = if word.text == "-" { Some(0) } else { word.text.parse::<u32>().ok() };
        value.filter(|fault| *fault == 0 || known.clone().any(|kind| kind.kind == fault & 0xff)).ok_or_else(|| {
            let help = "write the word `fault` of the probe buffer as a decimal number, or - if it was not read back";
            self.wrong(word.at, format!("`{}` is no fault", word.text), help)
        })
    }

    fn bits(&self, word: Word<'_>, module: usize) -> Result<Vec<u32>> {
        let wanted = self.map.modules[module].mutants.unwrap_or(0).div_ceil(16) as usize;
        let help =
            format!("write the {wanted} words after the header, from the first on, with 8 hexadecimal digits each");
        if let Some(at) = word.text.find(|c: char| !c.is_ascii_hexdigit()) {
            return Err(self.wrong(word.at + at, "this is no hexadecimal digit", &help));
        }
        if word.text.len() != 8 * wanted {
            let what = format!("{} digits are not those of {wanted} words", word.text.len());
            return Err(self.wrong(word.at, what, &help));
        }
        let digits = word.text.as_bytes().chunks_exact(8);
        let value = |eight: &[u8]| eight.iter().fold(0, |all, c| all << 4 | (*c as char).to_digit(16).unwrap_or(0));
        Ok(digits.map(value).collect())
    }
}
