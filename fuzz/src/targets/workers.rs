//! What passes between kassay and the processes in which devices are.

use std::os::unix::fs::PermissionsExt as _;
use std::sync::Arc;
use std::time::Duration;

use kassay::exec::{
    Code, DeviceCode, DeviceSelector, Executor, OpenClExecutor, Standby, Sweep, Target, Variation, WorkerOptions,
    fuzzing,
};
use kassay::test::{ArgValue, Launch, NdRange};

use super::folder::{file, folder};
use super::{BETWEEN, files};

/// A worker that answers each request with a line of the script, and writes the rest of the input over the shared memory.
const BROKEN: &str = include_str!("broken-worker.pl");

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
    let folder = folder("broken-worker", |folder| {
        let program = folder.join("worker");
        std::fs::write(&program, BROKEN).expect("files can be written");
        let mode = std::fs::Permissions::from_mode(0o700);
        std::fs::set_permissions(&program, mode).expect("files can be made executable");
    });
    let parts: Vec<&[u8]> = files(input);
    let [script, memory @ ..] = &parts[..] else { return };
    file(&folder, "worker.script", script);
    file(&folder, "worker.memory", &memory.join(BETWEEN));
    let options = WorkerOptions {
        exe: Some(folder.join("worker")),
        vendors: Some(folder),
        start_timeout: Duration::from_secs(5),
        load_timeout: Duration::from_secs(5),
        standby: Standby::Never,
    };
    // Errors are what is to be expected; a worker's faults are kassay's.
    let Ok(mut executor) = OpenClExecutor::start(DeviceSelector::Any, options).map_err(|error| error.to_string())
    else {
        return;
    };
    let code = Code::Device(DeviceCode {
        target: Target::SpirV,
        bytes: Arc::new(vec![3, 2, 35, 7]),
        entry: "k".into(),
        build_options: String::new(),
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
        timeout: Duration::from_millis(200),
        words: 0..4,
        decisive: None,
        batch: None,
    };
    let _ = executor.sweep(program, &sweep).map_err(|error| error.to_string());
}
