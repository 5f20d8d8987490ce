//! A stand-in for kassay: a thread that answers requests for woven code. It adds an argument to each kernel, a probe
//! whose first word counts work-items.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;

use serde_json::{Value, json};

/// What `BRANCH(N)` in a kernel becomes: it sets bit N of word 8.
const BRANCH: &str = "#define BRANCH(bit) atomic_or(probe_ + 8, 1u << (bit))\n";

/// What it does with requests.
#[derive(Debug, Clone, PartialEq)]
pub enum Manner {
    Weave,
    /// Weaves something else: the one text in the place of the other.
    Spoil(&'static str, &'static str),
    /// Answers this, whatever is asked.
    Say(Vec<u8>),
    /// Takes connections and answers nothing.
    Silent,
    /// Closes connections.
    Close,
    /// Weaves once; then the socket is gone.
    Vanish,
}

pub struct Kassay {
    pub socket: PathBuf,
    asked: Arc<Mutex<Vec<Value>>>,
    ending: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Kassay {
    /// Begins to listen in a spool.
    pub fn start(spool: &Path, manner: Manner) -> Kassay {
        let socket = spool.join("socket");
        let listener = UnixListener::bind(&socket).unwrap();
        let (asked, ending) = (Arc::new(Mutex::default()), Arc::new(AtomicBool::new(false)));
        let (spool, path) = (spool.to_owned(), socket.clone());
        let (heard, stop) = (Arc::clone(&asked), Arc::clone(&ending));
        let thread = std::thread::spawn(move || {
            let mut silent = Vec::new();
            for stream in listener.incoming() {
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                let stream = stream.unwrap();
                match &manner {
                    Manner::Silent => silent.push(stream),
                    Manner::Close => drop(stream),
                    Manner::Say(answer) => reply(&stream, &heard, |_| answer.clone()),
                    Manner::Weave => reply(&stream, &heard, |request| answer(&spool, request, |text| text)),
                    Manner::Spoil(from, to) => {
                        reply(&stream, &heard, |request| answer(&spool, request, |text| text.replace(from, to)))
                    }
                    Manner::Vanish => {
                        reply(&stream, &heard, |request| answer(&spool, request, |text| text));
                        fs::remove_file(&path).unwrap();
                        return;
                    }
                }
            }
        });
        Kassay { socket, asked, ending, thread: Some(thread) }
    }

    /// What it was asked so far.
    pub fn asked(&self) -> Vec<Value> {
        self.asked.lock().unwrap().clone()
    }
}

impl Drop for Kassay {
    fn drop(&mut self) {
        self.ending.store(true, Ordering::SeqCst);
        let _ = UnixStream::connect(&self.socket);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn reply(stream: &UnixStream, heard: &Mutex<Vec<Value>>, answer: impl FnOnce(&Value) -> Vec<u8>) {
    let mut line = String::new();
    BufReader::new(stream).read_line(&mut line).unwrap();
    let Ok(request) = serde_json::from_str::<Value>(&line) else { return };
    heard.lock().unwrap().push(request.clone());
    let mut stream = stream;
    let mut answer = answer(&request);
    answer.push(b'\n');
    // The asker may be gone.
    let _ = stream.write_all(&answer);
}

/// A kernel in a text, as `kernel void NAME(PARAMETERS) {`.
struct Kernel {
    name: String,
    parameters: usize,
    /// Whether it uses `AT`, which stands for a pointer in the second half of its first argument.
    has_member: bool,
    /// Where the list of parameters and the body begin and end.
    list_end: usize,
    body: usize,
}

fn kernels(text: &str) -> Vec<Kernel> {
    let starts: Vec<usize> = text.match_indices("kernel void ").map(|(at, word)| at + word.len()).collect();
    let found = starts.iter().enumerate().filter_map(|(index, start)| {
        let end = starts.get(index + 1).copied().unwrap_or(text.len());
        let open = start + text[*start..].find('(')?;
        let list_end = open + text[open..].find(')')?;
        let body = list_end + text[list_end..].find('{')? + 1;
        let parameters = text[open..list_end].split(',').count();
        let has_member = text[body..end].contains("AT");
        Some(Kernel { name: text[*start..open].to_owned(), parameters, has_member, list_end, body })
    });
    found.collect()
}

fn answer(spool: &Path, request: &Value, change: impl FnOnce(String) -> String) -> Vec<u8> {
    if request["ask"] == "compare" {
        // Everything is a number here, so that no difference is rounding.
        let all =
            (0..request["memory"].as_array().unwrap().len()).map(|memory| json!({"memory": memory, "message": "no"}));
        let different: Vec<Value> = all.collect();
        return json!({"schema": "kassay.compared/1", "different": different}).to_string().into_bytes();
    }
    woven(spool, request, change)
}

/// Weaves a program from source; lines `global int NAME = VALUE;` are program-scope variables.
fn woven(spool: &Path, request: &Value, change: impl FnOnce(String) -> String) -> Vec<u8> {
    let id = request["program"].as_str().unwrap();
    let program: Value = serde_json::from_slice(&fs::read(spool.join(format!("programs/{id}.json"))).unwrap()).unwrap();
    let Some(pieces) = program["pieces"].as_array() else {
        return json!({"schema": "kassay.woven/1", "error": "no source"}).to_string().into_bytes();
    };
    let of = |piece: &Value| fs::read(spool.join("blobs").join(piece["blob"].as_str().unwrap())).unwrap();
    let text = change(String::from_utf8(pieces.iter().flat_map(of).collect()).unwrap());
    let (mut variables, mut rest) = (Vec::new(), String::new());
    for line in text.split_inclusive('\n') {
        match line.strip_prefix("global int ").and_then(|line| line.trim_end().strip_suffix(';')?.split_once(" = ")) {
            Some((name, value)) => variables.push((name.to_owned(), value.parse::<i32>().unwrap())),
            None => rest.push_str(line),
        }
    }
    let kernels = kernels(&rest);
    let mut code = rest.clone();
    for kernel in kernels.iter().rev() {
        let count = "atomic_inc(probe_); if (probe_[3] == 7) probe_[1] = 1;";
        code.insert_str(kernel.body, count);
        let member = if kernel.has_member { ", global int *at_" } else { "" };
        let of_variables: String = variables.iter().map(|(name, _)| format!(", global int *{name}_")).collect();
        code.insert_str(kernel.list_end, &format!("{member}{of_variables}, volatile global uint *probe_"));
    }
    let defines: String = variables.iter().map(|(name, _)| format!("#define {name} (*{name}_)\n")).collect();
    let options = program["options"].as_str().unwrap_or_default().to_owned();
    compile(spool, id, &format!("#define AT at_\n{BRANCH}{defines}{code}"), &options);
    let arguments = |kernel: &Kernel| {
        let mut all: Vec<Value> =
            (0..kernel.parameters).map(|index| json!({"from": "parameter", "index": index})).collect();
        if kernel.has_member {
            all.push(json!({"from": "member", "index": 0, "offset": 8}));
        }
        all.extend((0..variables.len()).map(|index| json!({"from": "variable", "variable": index})));
        all.push(json!({"from": "probe"}));
        all
    };
    let hex = |value: i32| value.to_le_bytes().iter().map(|byte| format!("{byte:02x}")).collect::<String>();
    let describe = |kernel: &Kernel| {
        json!({"name": kernel.name, "module": 0, "arguments": arguments(kernel),
            "probe": {"words": 64, "set": [[3, 7]], "sizes": 16, "bits": {"first": 8, "stride": 64, "words": 1}}})
    };
    json!({
        "schema": "kassay.woven/1",
        "modules": [{"file": format!("woven/{id}.spv"), "options": ""}],
        "variables": variables.iter().map(|(_, value)| json!({"size": 4, "initial": hex(*value)})).collect::<Vec<_>>(),
        "kernels": kernels.iter().map(describe).collect::<Vec<_>>(),
        "plain": [],
        "same": true,
    })
    .to_string()
    .into_bytes()
}

/// Compiles a text to `woven/ID.spv`.
fn compile(spool: &Path, id: &str, text: &str, options: &str) {
    let folder = spool.join("woven");
    fs::create_dir_all(&folder).unwrap();
    let (source, module) = (folder.join(format!("{id}.cl")), folder.join(format!("{id}.spv")));
    fs::write(&source, text).unwrap();
    let mut clang = Command::new("clang-22");
    clang.args(["-x", "cl", "-cl-std=CL2.0", "-target", "spirv64v1.2-unknown-unknown", "-O0", "-c"]);
    clang.args(options.split_whitespace().filter(|option| option.starts_with("-D")));
    assert!(clang.arg(&source).arg("-o").arg(&module).status().unwrap().success(), "{text}");
}
