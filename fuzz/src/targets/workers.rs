//! What passes between kassay and the processes in which devices are.

use std::fs::File;
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::FileExt as _;
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::time::Duration;

use kassay::test::{ArgValue, Launch, NdRange};
use kassay_run::exec::{Code, DeviceCode, Executor, Sweep, Target, Variation, WorkerOptions, fuzzing};

use super::{BETWEEN, files};

/// How long what a worker leaves undone is waited for.
const PATIENCE: Duration = Duration::from_millis(20);

/// Messages, as a worker and as its parent read them; what follows is the memory that a sweep left.
pub fn messages(input: &[u8]) {
    let mut framed = Vec::new();
    let parts = files(input);
    let (messages, memory) = match &parts[..] {
        [messages @ .., memory] if !messages.is_empty() => (messages, *memory),
        _ => (&parts[..], input),
    };
    for message in messages {
        framed.extend((message.len() as u32).to_le_bytes());
        framed.extend(*message);
    }
    for bytes in [&framed[..], input] {
        fuzzing::requests(bytes).expect("sockets can be made");
        fuzzing::replies(bytes).expect("sockets can be made");
    }
    let mut memory = memory.to_vec();
    let number = |at: usize| memory.get(at).copied().map_or(1, u32::from);
    let (repeats, words) = (number(0), number(1));
    fuzzing::records(&mut memory, repeats, words, 3);
}

/// What a worker answers that does what it likes: lines are its messages; what follows them is written over the memory.
pub fn broken(input: &[u8]) {
    let parts: Vec<&[u8]> = files(input);
    let [script, over @ ..] = &parts[..] else { return };
    let (script, over) = (script.to_vec(), over.join(BETWEEN));
    let worker = move |socket, memory| {
        // kassay hangs up when it has had enough.
        let _ = answer(socket, &memory, &script, &over);
    };
    let options = WorkerOptions { start_timeout: PATIENCE, load_timeout: PATIENCE, ..WorkerOptions::default() };
    // Errors are what is to be expected; a worker's faults are kassay's.
    let Ok(mut executor) = fuzzing::executor(worker, options).map_err(|error| error.to_string()) else { return };
    let code = Code::Device(DeviceCode {
        target: Target::SpirV,
        bytes: Arc::new(vec![3, 2, 35, 7]),
        entry: "k".into(),
        build_options: String::new(),
        image_buffers: false,
        read_only: Vec::new(),
    });
    let Ok(program) = executor.load(&code).map_err(|error| error.to_string()) else { return };
    let range = NdRange { dims: 1, global: [4, 1, 1], local: Some([2, 1, 1]), offset: [0; 3] };
    let launch = Launch::new(range, vec![ArgValue::Value(vec![0; 4])]);
    let variations = vec![Variation { words: vec![(0, 1)] }, Variation { words: vec![(1, 2)] }];
    let sweep = Sweep {
        launch: &launch,
        probe: &[1, 2],
        probe_words: 16,
        variations: &variations,
        references: &[],
        repeats: 1,
        timeout: PATIENCE,
        words: 0..4,
        decisive: None,
        batch: None,
    };
    let _ = executor.sweep(program, &sweep).map_err(|error| error.to_string());
}

/// Answers each request with the next line of the script, and once there is shared memory, writes `over` over it. A
/// line that begins with a bang is sent as it is, others as the body of a message.
fn answer(socket: UnixStream, memory: &File, script: &[u8], over: &[u8]) -> io::Result<()> {
    let request = || {
        let mut head = [0; 4];
        (&socket).read_exact(&mut head)?;
        io::copy(&mut (&socket).take(u32::from_le_bytes(head).into()), &mut io::sink())
    };
    let script = script.strip_suffix(b"\n").unwrap_or(script);
    for line in script.split(|byte| *byte == b'\n') {
        request()?;
        let fits = usize::try_from(memory.metadata()?.len()).unwrap_or(usize::MAX).min(over.len());
        memory.write_all_at(&over[..fits], 0)?;
        match line.strip_prefix(b"!") {
            Some(raw) => (&socket).write_all(raw)?,
            None => (&socket).write_all(&[&(line.len() as u32).to_le_bytes()[..], line].concat())?,
        }
    }
    // It dies of the next request.
    request().map(drop)
}
