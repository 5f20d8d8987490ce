//! What the layer asks for while the program runs, and what it is answered (`layer/README.md`).

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The schema of requests.
const ASK: &str = "kassay.ask/1";
/// The schema of answers to questions of results.
const COMPARED: &str = "kassay.compared/1";
/// The schema of answers to requests for woven kernels.
const WOVEN: &str = "kassay.woven/1";

/// A request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Request {
    /// To weave a program's kernels.
    Weave(Ask),
    /// To compare what two kernels have left.
    Compare(Compare),
}

impl Request {
    /// Reads a line.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(line: &[u8]) -> Result<Request, String> {
        let broken = |error: serde_json::Error| format!("this is no request: {error}");
        let kind: Kind = serde_json::from_slice(line).map_err(broken)?;
        match (kind.schema.as_str(), kind.ask.as_str()) {
            (ASK, "weave") => serde_json::from_slice(line).map(Request::Weave).map_err(broken),
            (ASK, "compare") => serde_json::from_slice(line).map(Request::Compare).map_err(broken),
            (schema, ask) => Err(format!("unknown request `{ask}` of schema `{schema}`")),
        }
    }
}

/// What kind of request it is.
#[derive(Deserialize)]
struct Kind {
    schema: String,
    ask: String,
}

/// A request for the woven kernels of a program.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Ask {
    /// The program's id: `programs/ID.json` in the spool.
    pub program: String,
    /// The process, as its folder in the spool is named.
    pub process: String,
    /// The value of `KASSAY_MUTANT` in the process.
    #[serde(default)]
    pub mutant: Option<String>,
}

/// Asks whether what a woven kernel has left is what the program's own has left, but for the rounding of floats.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Compare {
    /// The spool that has the contents.
    pub spool: PathBuf,
    /// The program's id.
    pub program: String,
    /// The kernel's name.
    pub kernel: String,
    /// Pieces of memory in which they are not the same, bit for bit.
    pub memory: Vec<Left>,
}

/// What two kernels have left in a piece of memory: names of contents in the spool's `blobs/`.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Left {
    /// By the program's own kernel.
    pub own: String,
    /// By the woven kernel.
    pub woven: String,
    /// The arguments that begin in it.
    pub arguments: Vec<Reaches>,
    /// If it is an image.
    pub image: Option<Format>,
}

/// An argument of the woven kernel, by position, and where in the memory it begins, in bytes; `size` is null if it is
/// not known.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Reaches {
    /// Position of the argument.
    pub argument: usize,
    /// Where it begins, in bytes.
    pub offset: usize,
    /// Its size in bytes, if it is known.
    pub size: Option<usize>,
}

/// The format of an image, in constants of OpenCL.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub struct Format {
    /// `cl_channel_order`.
    pub channel_order: u32,
    /// `cl_channel_type`.
    pub channel_type: u32,
}

/// Whether two kernels have left the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Compared {
    schema: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    different: Vec<Different>,
}

/// A piece of memory in which more than the rounding of floats is different.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Different {
    /// Its position in [`Compare::memory`].
    pub memory: usize,
    /// What is different, as a sentence.
    pub message: String,
}

impl From<Result<Vec<Different>, String>> for Compared {
    fn from(different: Result<Vec<Different>, String>) -> Compared {
        let (different, error) = match different {
            Ok(different) => (different, None),
            Err(error) => (Vec::new(), Some(error)),
        };
        Compared { schema: COMPARED, error, different }
    }
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Answer {
    schema: &'static str,
    /// Why all kernels of the program run as they are.
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<String>,
    #[serde(flatten)]
    woven: Option<Woven>,
}

impl From<Result<Woven, String>> for Answer {
    fn from(woven: Result<Woven, String>) -> Answer {
        let (woven, error) = match woven {
            Ok(woven) => (Some(woven), None),
            Err(error) => (None, Some(error)),
        };
        Answer { schema: WOVEN, error, woven }
    }
}

/// The woven kernels of a program.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Woven {
    /// What is built in place of the program.
    pub modules: Vec<Module>,
    /// Variables of the program, each a buffer that all of its kernels share.
    pub variables: Vec<Variable>,
    /// The kernels that run woven.
    pub kernels: Vec<Kernel>,
    /// Kernels that run as they are.
    pub plain: Vec<Plain>,
    /// Whether the woven kernels are to compute what the program's own do; mutants are not.
    #[serde(default)]
    pub same: bool,
}

/// Code for the driver.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Module {
    /// A SPIR-V file, relative to the spool.
    pub file: String,
    /// For `clBuildProgram`.
    pub options: String,
}

/// A program-scope variable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Variable {
    /// In bytes.
    pub size: u64,
    /// Its bytes in hexadecimal; empty: zeros.
    pub initial: String,
}

/// A woven kernel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kernel {
    /// Its name in the program.
    pub name: String,
    /// Its position in [`Woven::modules`].
    pub module: usize,
    /// By position.
    pub arguments: Vec<Argument>,
    /// What its probe buffer needs.
    pub probe: Probe,
    /// Why a launch cannot be repeated on copies of its memory, if it cannot.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unrepeatable: Option<String>,
}

/// What an argument of a woven kernel is given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "from", rename_all = "kebab-case")]
pub enum Argument {
    /// What the program gives its own kernel.
    Parameter {
        /// Position among the arguments of the program's own kernel.
        index: u32,
    },
    /// A pointer in a struct that the program gives its own kernel by value; `offset` in bytes.
    Member {
        /// Position among the arguments of the program's own kernel.
        index: u32,
        /// In bytes within the struct.
        offset: u64,
    },
    /// A variable of the program, by its position in [`Woven::variables`].
    Variable {
        /// Position in [`Woven::variables`].
        variable: usize,
    },
    /// The probe buffer.
    Probe,
}

/// A kernel's probe buffer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Probe {
    /// Its length in 32-bit words.
    pub words: u64,
    /// Positions of words, with the values that they have before the first launch; the others are zero.
    pub set: Vec<(u64, u32)>,
    /// The position of the first of two words for each argument, which get the size of what it points to in bytes.
    pub sizes: Option<u64>,
    /// The words whose bits are what was covered, if they are.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bits: Option<Bits>,
}

/// Words of a probe buffer whose bits, once set, stay: slots of `stride` words begin at `first`; the first `words`
/// words of all of them, united, are what was covered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bits {
    /// Where the first slot begins, in words.
    pub first: u64,
    /// Words from the start of a slot to that of the next.
    pub stride: u64,
    /// Words of a slot that are united.
    pub words: u64,
}

/// A kernel that runs as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plain {
    /// The kernel's name.
    pub kernel: String,
    /// Why it is not woven, as the end of a sentence.
    pub reason: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_read() {
        let line = br#"{"schema":"kassay.ask/1","ask":"weave","program":"00","process":"1-2-3","mutant":null}"#;
        let Request::Weave(ask) = Request::parse(line).unwrap() else { panic!() };
        assert_eq!((ask.program.as_str(), ask.process.as_str(), ask.mutant), ("00", "1-2-3", None));
        let line =
            br#"{"schema":"kassay.ask/1","ask":"compare","spool":"/s","program":"00","kernel":"k","memory":[{"own":"a",
            "woven":"b","arguments":[{"argument":1,"offset":8,"size":null}],"image":null}]}"#;
        let Request::Compare(ask) = Request::parse(line).unwrap() else { panic!() };
        assert_eq!((ask.memory[0].own.as_str(), ask.memory[0].arguments[0].offset), ("a", 8));
        let other = br#"{"schema":"kassay.ask/2","ask":"weave","program":"00","process":"1"}"#;
        assert!(Request::parse(other).unwrap_err().contains("kassay.ask/2"));
        for wrong in [&b"{}"[..], b"", b"\xff", b"[1]", br#"{"schema":"kassay.ask/1"}"#] {
            assert!(Request::parse(wrong).is_err(), "{wrong:?}");
        }
    }

    #[test]
    fn answers_are_what_the_layer_reads() {
        let kernel = Kernel {
            name: "k".to_owned(),
            module: 0,
            arguments: vec![
                Argument::Parameter { index: 0 },
                Argument::Member { index: 1, offset: 8 },
                Argument::Variable { variable: 0 },
                Argument::Probe,
            ],
            probe: Probe {
                words: 20,
                set: vec![(7, 20)],
                sizes: None,
                bits: Some(Bits { first: 16, stride: 2, words: 1 }),
            },
            unrepeatable: Some("it prints".to_owned()),
        };
        let woven = Woven {
            modules: vec![Module { file: "woven/a.spv".to_owned(), options: String::new() }],
            variables: vec![Variable { size: 4, initial: String::new() }],
            kernels: vec![kernel],
            plain: vec![Plain { kernel: "l".to_owned(), reason: "why".to_owned() }],
            same: true,
        };
        let wanted = serde_json::json!({
            "schema": "kassay.woven/1",
            "modules": [{"file": "woven/a.spv", "options": ""}],
            "variables": [{"size": 4, "initial": ""}],
            "kernels": [{"name": "k", "module": 0,
                "arguments": [{"from": "parameter", "index": 0}, {"from": "member", "index": 1, "offset": 8},
                              {"from": "variable", "variable": 0}, {"from": "probe"}],
                "probe": {"words": 20, "set": [[7, 20]], "sizes": null, "bits": {"first": 16, "stride": 2, "words": 1}},
                "unrepeatable": "it prints"}],
            "plain": [{"kernel": "l", "reason": "why"}],
            "same": true,
        });
        assert_eq!(serde_json::to_value(Answer::from(Ok(woven))).unwrap(), wanted);
        let error = serde_json::to_value(Answer::from(Err("why".to_owned()))).unwrap();
        assert_eq!(error, serde_json::json!({"schema": "kassay.woven/1", "error": "why"}));
    }
}
