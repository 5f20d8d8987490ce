//! What passes between kassay and the layer in host programs: requests, answers, and the folder of what the layer saw.

use std::io::{Read as _, Write as _};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::sync::{Arc, LazyLock};

use kassay_run::host::protocol::{Answer, Ask, Compare, Different, Plain, Request, Woven};
use kassay_run::host::{Answers, Contents, Server, Spool, convert, kernels_of, unknown_launches};
use tempfile::TempDir;

use super::files;
use super::folder::folder;
use super::interfaces::interfaces;

#[path = "../../../layer/src/live/reply.rs"]
#[allow(dead_code, reason = "what the layer does with a reply needs a program's kernels")]
mod reply;

struct Echo;

impl Answers for Echo {
    fn weave(&self, ask: &Ask) -> Result<Woven, String> {
        let plain = vec![Plain { kernel: ask.program.clone(), reason: ask.process.clone() }];
        match &ask.mutant {
            Some(mutant) => Err(mutant.clone()),
            None => Ok(Woven { plain, ..Woven::default() }),
        }
    }

    fn compare(&self, ask: &Compare) -> Result<Vec<Different>, String> {
        let different = ask.memory.iter().enumerate();
        let all = different.filter(|(_, left)| left.own != left.woven);
        Ok(all.map(|(memory, left)| Different { memory, message: left.own.clone() }).collect())
    }
}

static SERVER: LazyLock<(TempDir, Server)> = LazyLock::new(|| {
    let folder = tempfile::tempdir().expect("there are temporary folders");
    let server = Server::start(folder.path(), Arc::new(Echo)).expect("sockets can be made");
    (folder, server)
});

/// A request to kassay's server over its socket, and the same bytes as kassay's answer, read by the layer.
pub fn layer(input: &[u8]) {
    let _ = reply::parse(input);
    if let Ok(woven) = serde_json::from_slice::<Woven>(input) {
        let line = serde_json::to_vec(&Answer::from(Ok(woven))).expect("answers are JSON");
        let _ = reply::parse(&line);
    }
    let _ = reply::parse_compared(input, 2);
    let mut line: Vec<u8> = input.iter().copied().filter(|byte| *byte != b'\n').take(60_000).collect();
    let request = Request::parse(&line);
    line.push(b'\n');
    let mut stream = UnixStream::connect(SERVER.1.path()).expect("the server listens");
    stream.write_all(&line).expect("the server reads");
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).expect("the server answers");
    let read = match request {
        Ok(Request::Compare(Compare { memory, .. })) => reply::parse_compared(&answer, memory.len()).map(drop),
        _ => reply::parse(&answer).map(drop),
    };
    read.map_or_else(|why| assert_ne!(why.reason, "bad-answer", "{}", why.message), drop);
}

/// Files of a folder of what the layer saw: a program, `process.json`, a launch, the kernels, notes, probes, counters.
pub fn spool(input: &[u8]) {
    const NAMES: [&str; 7] = [
        "programs/00000000000000000000000000000001.json",
        "processes/1-2-3/process.json",
        "processes/1-2-3/launches/1.json",
        "processes/1-2-3/kernels.jsonl",
        "processes/1-2-3/notes.jsonl",
        "processes/1-2-3/probes.jsonl",
        "processes/1-2-3/counts-0.bin",
    ];
    let folder = folder("spool", |folder| {
        for inner in ["programs", "processes/1-2-3/launches", "processes/1-2-3/probes", "blobs"] {
            std::fs::create_dir_all(folder.join(inner)).expect("folders can be made");
        }
        for digit in 1..4 {
            let blob = folder.join(format!("blobs/{digit:032x}"));
            std::fs::write(blob, vec![digit; 16 << digit]).expect("files can be written");
        }
    });
    let given = files(input);
    for (number, name) in NAMES.iter().enumerate() {
        std::fs::write(folder.join(name), given.get(number).unwrap_or(&&b""[..])).expect("files can be written");
    }
    let mut spool = Spool::read(&folder).expect("the folder is there");
    let _ = unknown_launches(&spool.processes);
    for program in spool.programs.values() {
        let _ = kassay_run::host::translate(program.options.as_deref().unwrap_or_default(), Path::new("/"));
        for constant in &program.constants {
            let _ = constant.bits();
        }
    }
    let mut processes = std::mem::take(&mut spool.processes);
    for kernel in kernels_of(&mut processes, Some(4)) {
        for (_, launch) in &kernel.kept {
            for interface in interfaces() {
                let _ = convert(launch, &interface, &mut Contents::new(&spool));
            }
        }
    }
}
