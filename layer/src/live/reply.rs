//! What kassay answers: woven modules, and how the arguments of their kernels come from those of the program's.
//!
//! Everything that is used as an index, a size or a path is checked here, so that the rest need not.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use serde::Deserialize;

/// Bytes of a program-scope variable, and of a probe buffer, at most.
const MOST_BYTES: u64 = 1 << 30;
/// More arguments than a kernel can have.
const MOST_ARGUMENTS: usize = 65_536;
/// The bytes of a pointer.
pub const POINTER: usize = 8;

/// Why launches run as they are. `reason` is short and the same for the same cause; `message` is for people.
#[derive(Debug, Clone, PartialEq)]
pub struct Why {
    pub reason: String,
    pub message: String,
}

/// The reason of a launch that did not wait longer for another thread; later ones may have a replacement.
pub const BUSY: &str = "busy";

impl Why {
    pub fn new(reason: &str, message: impl Into<String>) -> Why {
        Why { reason: reason.to_owned(), message: message.into() }
    }
}

/// A woven program.
#[derive(Debug, Default)]
pub struct Woven {
    pub modules: Vec<Module>,
    pub variables: Vec<Variable>,
    /// The woven kernels by name.
    pub kernels: HashMap<String, Kernel>,
    /// Kernels that run as they are, with kassay's reasons.
    pub plain: HashMap<String, String>,
    /// Whether the woven kernels are to compute what the program's own do.
    pub same: bool,
}

/// A SPIR-V module.
#[derive(Debug)]
pub struct Module {
    /// Relative to the spool, and below it.
    pub file: PathBuf,
    /// For `clBuildProgram`.
    pub options: std::ffi::CString,
}

/// A program-scope variable: a buffer that all kernels of the program share.
#[derive(Debug)]
pub struct Variable {
    /// Bytes.
    pub size: usize,
    /// The first of the bytes; the others are zeros.
    pub initial: Vec<u8>,
}

/// A woven kernel.
#[derive(Debug)]
pub struct Kernel {
    /// An index of `Woven::modules`.
    pub module: usize,
    pub arguments: Vec<Argument>,
    pub probe: Option<Probe>,
    /// Why a launch cannot be repeated on copies of its memory, if it cannot.
    pub unrepeatable: Option<String>,
}

/// Where an argument of a woven kernel comes from.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
#[serde(tag = "from", rename_all = "kebab-case")]
pub enum Argument {
    /// The program's own argument `index`.
    Parameter {
        index: usize,
    },
    /// A pointer at `offset`, in bytes, of the value of the program's argument `index`.
    Member {
        index: usize,
        offset: usize,
    },
    /// The buffer of a variable, by its index.
    Variable {
        variable: usize,
    },
    Probe,
}

/// A probe buffer.
#[derive(Debug, PartialEq, Deserialize)]
pub struct Probe {
    /// Its length in words of 32 bits.
    pub words: usize,
    /// Words that are not zero at first: position and value.
    #[serde(default)]
    pub set: Vec<(usize, u32)>,
    /// The word at which two words for each argument begin: its size in bytes, low word first.
    #[serde(default)]
    pub sizes: Option<usize>,
    /// Which words tell what was covered.
    #[serde(default)]
    pub bits: Option<Bits>,
}

/// The words of a probe buffer whose bits are outcomes: once set, they stay. Slots of `stride` words each begin at
/// `first`; the first `words` words of all of them, united, are what was covered.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub struct Bits {
    pub first: usize,
    pub stride: usize,
    pub words: usize,
}

#[derive(Deserialize)]
struct Reply {
    schema: String,
    error: Option<String>,
    #[serde(default)]
    modules: Vec<ModuleLine>,
    #[serde(default)]
    variables: Vec<VariableLine>,
    #[serde(default)]
    kernels: Vec<KernelLine>,
    #[serde(default)]
    plain: Vec<PlainLine>,
    #[serde(default)]
    same: bool,
}

#[derive(Deserialize)]
struct ModuleLine {
    file: PathBuf,
    #[serde(default)]
    options: String,
}

#[derive(Deserialize)]
struct VariableLine {
    size: u64,
    #[serde(default)]
    initial: String,
}

#[derive(Deserialize)]
struct KernelLine {
    name: String,
    module: usize,
    arguments: Vec<Argument>,
    probe: Option<Probe>,
    #[serde(default)]
    unrepeatable: Option<String>,
}

#[derive(Deserialize)]
struct PlainLine {
    kernel: String,
    reason: String,
}

/// Reads a reply.
pub fn parse(line: &[u8]) -> Result<Woven, Why> {
    let bad = |message: String| Why::new("bad-answer", message);
    let reply: Reply = serde_json::from_slice(line).map_err(|error| bad(format!("kassay's answer: {error}")))?;
    if reply.schema != "kassay.woven/1" {
        return Err(bad(format!("kassay's answer has the schema {:?}", reply.schema)));
    }
    if let Some(error) = reply.error {
        return Err(Why { message: error.clone(), reason: error });
    }
    check(reply).map_err(|message| bad(format!("kassay's answer: {message}")))
}

#[derive(Deserialize)]
struct Compared {
    schema: String,
    error: Option<String>,
    #[serde(default)]
    different: Vec<Different>,
}

#[derive(Deserialize)]
struct Different {
    memory: usize,
    message: String,
}

/// Reads the reply to a question of what two kernels have left in `count` pieces of memory.
pub fn parse_compared(line: &[u8], count: usize) -> Result<Vec<(usize, String)>, Why> {
    let bad = |message: String| Why::new("bad-answer", format!("kassay's answer: {message}"));
    let reply: Compared = serde_json::from_slice(line).map_err(|error| bad(error.to_string()))?;
    match reply.error {
        _ if reply.schema != "kassay.compared/1" => Err(bad(format!("the schema {:?}", reply.schema))),
        Some(error) => Err(Why::new("not-compared", error)),
        None if reply.different.iter().any(|different| different.memory >= count) => {
            Err(bad("there is no such piece of memory".to_owned()))
        }
        None => Ok(reply.different.into_iter().map(|different| (different.memory, different.message)).collect()),
    }
}

fn check(reply: Reply) -> Result<Woven, String> {
    let modules = reply.modules.into_iter().map(module).collect::<Result<Vec<_>, _>>()?;
    let variables = reply.variables.into_iter().map(variable).collect::<Result<Vec<_>, _>>()?;
    let mut kernels = HashMap::new();
    for line in reply.kernels {
        let KernelLine { name, module, arguments, probe, unrepeatable } = line;
        let kernel = Kernel { module, arguments, probe, unrepeatable };
        check_kernel(&kernel, modules.len(), variables.len()).map_err(|error| format!("kernel {name:?}: {error}"))?;
        kernels.insert(name, kernel);
    }
    let plain = reply.plain.into_iter().map(|line| (line.kernel, line.reason)).collect();
    Ok(Woven { modules, variables, kernels, plain, same: reply.same })
}

fn module(line: ModuleLine) -> Result<Module, String> {
    let is_below = |path: &Path| {
        path.components().all(|part| matches!(part, Component::Normal(_))) && path.components().next().is_some()
    };
    if !is_below(&line.file) {
        return Err(format!("{:?} is no file below the spool", line.file));
    }
    let options = std::ffi::CString::new(line.options).map_err(|_| "options with a zero byte".to_owned())?;
    Ok(Module { file: line.file, options })
}

fn variable(line: VariableLine) -> Result<Variable, String> {
    let initial = bytes(&line.initial).ok_or("a variable's bytes are not hexadecimal")?;
    if line.size == 0 || line.size > MOST_BYTES || initial.len() as u64 > line.size {
        return Err(format!("a variable of {} bytes, {} of them given", line.size, initial.len()));
    }
    Ok(Variable { size: line.size as usize, initial })
}

/// Reads bytes in hexadecimal.
fn bytes(text: &str) -> Option<Vec<u8>> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).map(|digit| digit as u8);
    let pairs = text.as_bytes().chunks(2);
    pairs.map(|pair| Some(digit(pair.first()?)? << 4 | digit(pair.get(1)?)?)).collect()
}

fn check_kernel(kernel: &Kernel, modules: usize, variables: usize) -> Result<(), String> {
    if kernel.module >= modules {
        return Err(format!("there is no module {}", kernel.module));
    }
    if kernel.arguments.len() > MOST_ARGUMENTS {
        return Err(format!("{} arguments", kernel.arguments.len()));
    }
    for argument in &kernel.arguments {
        match *argument {
            Argument::Parameter { index } | Argument::Member { index, .. } if index >= MOST_ARGUMENTS => {
                return Err(format!("there is no argument {index}"));
            }
            Argument::Variable { variable } if variable >= variables => {
                return Err(format!("there is no variable {variable}"));
            }
            Argument::Probe if kernel.probe.is_none() => return Err("there is no probe".to_owned()),
            _ => {}
        }
    }
    let Some(probe) = &kernel.probe else { return Ok(()) };
    if probe.words == 0 || probe.words as u64 > MOST_BYTES / 4 {
        return Err(format!("a probe of {} words", probe.words));
    }
    if let Some((position, _)) = probe.set.iter().find(|(position, _)| *position >= probe.words) {
        return Err(format!("the probe has no word {position}"));
    }
    if let Some(bits) = &probe.bits
        && (bits.words == 0 || bits.stride < bits.words || bits.stride > probe.words || bits.first > probe.words)
    {
        return Err(format!("the probe has no such bits: {bits:?}"));
    }
    for (position, argument) in kernel.arguments.iter().enumerate() {
        let last = probe.sizes.map(|first| first.saturating_add(4 * position + 1));
        if *argument != Argument::Probe && last.is_some_and(|last| last >= probe.words) {
            return Err(format!("the probe has no room for the size of argument {position}"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"{"schema":"kassay.woven/1","modules":[{"file":"woven/a.spv","options":"-w"}],
        "variables":[{"size":4,"initial":"0a0B"},{"size":8,"initial":""}],
        "kernels":[{"name":"k","module":0,"arguments":[{"from":"parameter","index":0},
          {"from":"member","index":1,"offset":8},{"from":"variable","variable":1},{"from":"probe"}],
          "probe":{"words":32,"set":[[3,7],[31,4294967295]],"sizes":16,
            "bits":{"first":4,"stride":3,"words":2}}}],
        "plain":[{"kernel":"l","reason":"inline assembly"}]}"#;

    #[test]
    fn a_good_reply_is_read() {
        let woven = parse(GOOD.as_bytes()).unwrap();
        assert_eq!(woven.modules[0].file, PathBuf::from("woven/a.spv"));
        assert_eq!(woven.variables[0].initial, [10, 11]);
        let kernel = &woven.kernels["k"];
        assert_eq!(kernel.arguments[1], Argument::Member { index: 1, offset: 8 });
        let probe = kernel.probe.as_ref().unwrap();
        assert_eq!((probe.words, probe.sizes, probe.set[1]), (32, Some(16), (31, u32::MAX)));
        assert_eq!(woven.plain["l"], "inline assembly");
        let error = parse(br#"{"schema":"kassay.woven/1","error":"no code"}"#).unwrap_err();
        assert_eq!(error, Why::new("no code", "no code"));
    }

    #[test]
    fn what_is_wrong_in_a_reply_is_refused() {
        for (from, to) in [
            ("kassay.woven/1", "kassay.woven/2"),
            ("woven/a.spv", "../a.spv"),
            ("woven/a.spv", "/etc/passwd"),
            ("woven/a.spv", ""),
            ("-w", "\\u0000"),
            ("0a0B", "0a0"),
            ("0a0B", "xx"),
            ("0a0B", "0102030405"),
            (r#""size":4"#, r#""size":0"#),
            (r#""size":4"#, r#""size":1e30"#),
            (r#""module":0"#, r#""module":1"#),
            (r#""variable":1"#, r#""variable":2"#),
            (r#""index":0"#, r#""index":65536"#),
            (r#""index":0"#, r#""index":-1"#),
            (r#""words":32"#, r#""words":0"#),
            (r#""words":32"#, r#""words":18446744073709551615"#),
            (r#""words":32"#, r#""words":31"#),
            (r#""sizes":16"#, r#""sizes":23"#),
            (r#""sizes":16"#, r#""sizes":18446744073709551615"#),
            (r#""first":4"#, r#""first":33"#),
            (r#""stride":3"#, r#""stride":1"#),
            (r#""stride":3"#, r#""stride":18446744073709551615"#),
            (r#""words":2}"#, r#""words":0}"#),
            (r#""from":"probe""#, r#""from":"elsewhere""#),
            (r#""plain""#, r#""plain":1,"plain""#),
        ] {
            let text = GOOD.replace(from, to);
            assert_ne!(text, GOOD);
            assert_eq!(parse(text.as_bytes()).map(|_| ()).unwrap_err().reason, "bad-answer", "{from} to {to}");
        }
    }

    #[test]
    fn nothing_that_comes_makes_it_panic() {
        // xorshift with a fixed seed: the same bytes in every run.
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let mut random = |below: usize| {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            (state % below.max(1) as u64) as usize
        };
        let words = ["18446744073709551615", "-1", "null", "[]", "{}", "\"\"", "1e400", "[[1,2]]", "\u{1F600}"];
        let mut accepted = 0;
        for round in 0..60_000 {
            let mut bytes: Vec<u8> = match round % 4 {
                0 => (0..random(64)).map(|_| random(256) as u8).collect(),
                _ => GOOD.as_bytes().to_vec(),
            };
            for _ in 0..random(4) {
                let at = random(bytes.len());
                match random(5) {
                    0 if at < bytes.len() => bytes[at] = random(256) as u8,
                    1 if at < bytes.len() => drop(bytes.remove(at)),
                    2 => bytes.truncate(at),
                    3 => drop(bytes.splice(at..at, words[random(words.len())].bytes())),
                    _ => {
                        let digits: Vec<usize> =
                            (0..bytes.len()).filter(|index| bytes[*index].is_ascii_digit()).collect();
                        if let Some(index) = digits.get(random(digits.len())).copied() {
                            bytes.splice(index..=index, words[random(words.len())].bytes());
                        }
                    }
                }
            }
            accepted += usize::from(parse(&bytes).is_ok());
        }
        // Some of the changes leave a valid reply, most do not.
        assert!((1..60_000).contains(&accepted));
        assert!(parse(&b"[".repeat(100_000)).is_err());
    }
}
