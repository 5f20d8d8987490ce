//! What the layer asks for while the program runs, and what it is answered (`layer/README.md`).

use serde::{Deserialize, Serialize};

/// The schema of requests.
const ASK: &str = "kassay.ask/1";
/// The schema of answers.
const WOVEN: &str = "kassay.woven/1";

/// A request for the woven kernels of a program.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Ask {
    schema: String,
    ask: String,
    /// The program's id: `programs/ID.json` in the spool.
    pub program: String,
    /// The process, as its folder in the spool is named.
    pub process: String,
    /// The value of `KASSAY_MUTANT` in the process.
    #[serde(default)]
    pub mutant: Option<String>,
}

impl Ask {
    /// Reads a line.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(line: &[u8]) -> Result<Ask, String> {
        let ask: Ask = serde_json::from_slice(line).map_err(|error| format!("this is no request: {error}"))?;
        if ask.schema != ASK || ask.ask != "weave" {
            return Err(format!("unknown request `{}` of schema `{}`", ask.ask, ask.schema));
        }
        Ok(ask)
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
    pub modules: Vec<Module>,
    /// Variables of the program, each a buffer that all of its kernels share.
    pub variables: Vec<Variable>,
    pub kernels: Vec<Kernel>,
    /// Kernels that run as they are.
    pub plain: Vec<Plain>,
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
    pub name: String,
    /// Its position in [`Woven::modules`].
    pub module: usize,
    /// By position.
    pub arguments: Vec<Argument>,
    pub probe: Probe,
}

/// What an argument of a woven kernel is given.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "from", rename_all = "kebab-case")]
pub enum Argument {
    /// What the program gives its own kernel.
    Parameter { index: u32 },
    /// A pointer in a struct that the program gives its own kernel by value; `offset` in bytes.
    Member { index: u32, offset: u64 },
    /// A variable of the program, by its position in [`Woven::variables`].
    Variable { variable: usize },
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

/// Words of a probe buffer whose bits, once set, stay: slots of `stride` words begin at `first`; the first `words` words of all
/// of them, united, are what was covered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Bits {
    pub first: u64,
    pub stride: u64,
    pub words: u64,
}

/// A kernel that runs as it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Plain {
    pub kernel: String,
    pub reason: String,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_are_read() {
        let line = br#"{"schema":"kassay.ask/1","ask":"weave","program":"00","process":"1-2-3","mutant":null}"#;
        let ask = Ask::parse(line).unwrap();
        assert_eq!((ask.program.as_str(), ask.process.as_str(), ask.mutant), ("00", "1-2-3", None));
        let other = br#"{"schema":"kassay.ask/2","ask":"weave","program":"00","process":"1"}"#;
        assert!(Ask::parse(other).unwrap_err().contains("kassay.ask/2"));
        for wrong in [&b"{}"[..], b"", b"\xff", b"[1]", br#"{"schema":"kassay.ask/1"}"#] {
            assert!(Ask::parse(wrong).is_err(), "{wrong:?}");
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
        };
        let woven = Woven {
            modules: vec![Module { file: "woven/a.spv".to_owned(), options: String::new() }],
            variables: vec![Variable { size: 4, initial: String::new() }],
            kernels: vec![kernel],
            plain: vec![Plain { kernel: "l".to_owned(), reason: "why".to_owned() }],
        };
        let wanted = serde_json::json!({
            "schema": "kassay.woven/1",
            "modules": [{"file": "woven/a.spv", "options": ""}],
            "variables": [{"size": 4, "initial": ""}],
            "kernels": [{"name": "k", "module": 0,
                "arguments": [{"from": "parameter", "index": 0}, {"from": "member", "index": 1, "offset": 8},
                              {"from": "variable", "variable": 0}, {"from": "probe"}],
                "probe": {"words": 20, "set": [[7, 20]], "sizes": null, "bits": {"first": 16, "stride": 2, "words": 1}}}],
            "plain": [{"kernel": "l", "reason": "why"}],
        });
        assert_eq!(serde_json::to_value(Answer::from(Ok(woven))).unwrap(), wanted);
        let error = serde_json::to_value(Answer::from(Err("why".to_owned()))).unwrap();
        assert_eq!(error, serde_json::json!({"schema": "kassay.woven/1", "error": "why"}));
    }
}
