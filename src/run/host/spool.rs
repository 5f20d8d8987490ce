//! Reads the folder in which the layer leaves what it has seen (`layer/README.md` describes the format), and puts
//! the processes together.
//!
//! A process may have ended at any moment. What is there is whole, because it is renamed into place; what cannot be
//! read is reported and left out.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};

use kassay_base::error::{Error, Result};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::records::{Launch, Piece, Program};

/// Words in a row of counters.
const COLUMNS: usize = 32;
/// Rows in a file of counters.
const ROWS: usize = 256;
/// The first word of the first file.
const MAGIC: u64 = u64::from_le_bytes(*b"kassay\0\x01");
/// The row of launches whose kernel is not known.
const UNKNOWN_ROW: usize = 1;

/// The columns before the reasons.
const LAUNCHES: usize = 0;
const REFUSED: usize = 1;
const KEPT: usize = 2;
/// The columns of launches that ran woven and as they are, after those of the reasons.
const WOVEN: usize = 21;
const PLAIN: usize = 22;

/// Why a launch is not kept, with the sentence that explains it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(into = "String")]
pub struct Reason {
    /// As in results.
    pub name: &'static str,
    /// For people.
    pub meaning: &'static str,
}

impl From<Reason> for String {
    fn from(reason: Reason) -> String {
        reason.name.to_owned()
    }
}

impl<'de> Deserialize<'de> for Reason {
    /// Finds a reason of the layer's, or for what it has left.
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> std::result::Result<Reason, D::Error> {
        let name = String::deserialize(deserializer)?;
        let mut all = REASONS.into_iter().chain([ENDED]);
        all.find(|reason| reason.name == name).ok_or_else(|| serde::de::Error::custom(format!("`{name}` is no reason")))
    }
}

/// The user asked for other kernels.
pub const NOT_SELECTED: Reason = Reason { name: "not-selected", meaning: "no --kernel names it" };

/// The disk is full, or the folder is read-only.
pub const UNWRITABLE: Reason = Reason { name: "unwritable", meaning: "the folder could not be written" };

/// The reasons in the order of their columns, from [`KEPT`] + 1.
const REASONS: [Reason; 18] = [
    Reason {
        name: "not-sampled",
        meaning: "neither the first of its shape, nor the first with a value of a scalar, nor the 1st, 2nd, 4th, 8th … of its \
                  kernel",
    },
    Reason { name: "max-launches", meaning: "as many launches of the kernel as --max-launches says were kept" },
    Reason { name: "max-bytes", meaning: "its contents would have exceeded --max-bytes" },
    Reason { name: "max-launch-bytes", meaning: "its contents are larger than those of one launch may be" },
    NOT_SELECTED,
    Reason { name: "user-event", meaning: "the program had user events, for which waiting might never end" },
    Reason { name: "disturbed", meaning: "another thread used the same memory meanwhile" },
    Reason { name: "unknown-argument", meaning: "an argument was not seen being set" },
    Reason { name: "unknown-memory", meaning: "an argument is memory that was not seen being made" },
    Reason { name: "unreadable", meaning: "the driver refused to read its memory" },
    Reason { name: "pipe", meaning: "an argument is a pipe" },
    Reason { name: "image", meaning: "an argument is an image with mip levels or samples" },
    Reason { name: "aliased-image", meaning: "an image and a buffer share memory" },
    Reason { name: "svm-atomics", meaning: "host and kernel may wait for each other through shared virtual memory" },
    UNWRITABLE,
    Reason { name: "out-of-memory", meaning: "there was no memory for its contents" },
    Reason { name: "unknown-kernel", meaning: "its kernel or its queue was not seen being made" },
    Reason { name: "layer-failed", meaning: "the layer failed" },
];

/// The process ended before the launch was written.
const ENDED: Reason = Reason { name: "process-ended", meaning: "the process ended before it was written" };

/// `process.json`: a process that made an OpenCL call.
#[derive(Debug, Clone, Deserialize)]
struct ProcessRecord {
    #[serde(default)]
    pid: u64,
    #[serde(default)]
    started_ms: u64,
    #[serde(default)]
    command: Vec<String>,
}

/// A line of `kernels.jsonl`.
#[derive(Debug, Deserialize)]
struct KernelLine {
    kernel: usize,
    program: String,
    name: String,
}

/// A line of `notes.jsonl`.
#[derive(Debug, Deserialize)]
struct NoteLine {
    #[serde(default)]
    kind: String,
    message: String,
    #[serde(flatten)]
    about: Option<NotWoven>,
}

/// Why launches of a kernel ran as they are although they were to run woven.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
pub struct NotWoven {
    /// The program's id.
    pub program: String,
    /// The kernel's name.
    pub kernel: String,
    /// A word for the reason.
    pub reason: String,
    /// For people.
    #[serde(skip)]
    pub meaning: String,
}

/// The reason of kernels that run as they are because they were seen to do something else when woven.
pub const DIFFERS: &str = "differs-when-woven";

/// A line of `probes.jsonl`.
#[derive(Debug, Deserialize)]
struct ProbeLine {
    probe: u64,
    program: String,
    kernel: String,
    words: u64,
}

/// The probe buffer of a woven kernel, as a process left it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ProbeFile {
    /// The program's id.
    pub program: String,
    /// The kernel's name.
    pub kernel: String,
    /// The file that has the buffer's contents.
    pub path: PathBuf,
    /// Its length in 32-bit words. The file is longer, up to the end of a page.
    pub words: u64,
}

/// A process that made an OpenCL call.
#[derive(Debug)]
pub struct Process {
    /// The name of its folder.
    pub name: String,
    /// Its number in Linux.
    pub pid: u64,
    /// Its arguments.
    pub command: Vec<String>,
    started_ms: u64,
    /// What it counted, with the kernels' names, in the order of their first launches.
    counts: Vec<(String, String, Row)>,
    unknown: Row,
    launches: Vec<Launch>,
    /// The probe buffers of woven kernels.
    pub probes: Vec<ProbeFile>,
    /// Why kernels ran as they are.
    pub not_woven: Vec<NotWoven>,
    /// Why launches of woven kernels were not compared with the program's own.
    pub not_verified: Vec<NotWoven>,
}

/// A row of counters.
type Row = [u64; COLUMNS];

/// What the layer has left.
#[derive(Debug)]
pub struct Spool {
    folder: PathBuf,
    /// In the order in which they began.
    pub processes: Vec<Process>,
    /// By their ids.
    pub programs: BTreeMap<String, Program>,
    /// What the layer tells, and what could not be read.
    pub notes: Vec<String>,
}

/// A kernel of a program, with its launches in all processes.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LaunchedKernel {
    /// The kernel's name.
    pub name: String,
    /// The program's id.
    pub program: String,
    /// Launches that the driver took.
    pub launches: u64,
    /// Launches that the driver refused.
    pub refused: u64,
    /// Launches that ran woven.
    pub woven: u64,
    /// Launches that ran as they are although they were to run woven.
    pub plain: u64,
    /// By reason.
    pub left_out: BTreeMap<Reason, u64>,
    /// Those that are kept: the number of the process, from 0, and the launch.
    pub kept: Vec<(usize, Launch)>,
}

impl Spool {
    /// A folder of which nothing has been read yet.
    pub(super) fn unread(folder: &Path) -> Spool {
        Spool { folder: folder.to_owned(), processes: Vec::new(), programs: BTreeMap::new(), notes: Vec::new() }
    }

    /// Reads only the programs that are there by now.
    pub fn programs_in(folder: &Path) -> Spool {
        let mut spool = Spool::unread(folder);
        spool.read_programs();
        spool
    }

    /// Reads the programs that are there and not known yet.
    pub(super) fn read_programs(&mut self) {
        for path in files_in(&self.folder.join("programs")) {
            let is_known = path.file_stem().is_some_and(|id| self.programs.contains_key(&*id.to_string_lossy()));
            match (!is_known).then(|| self.json::<Program>(&path)).flatten() {
                Some(program) if is_hash(&program.id) => {
                    self.programs.insert(program.id.clone(), program);
                }
                Some(program) => self.unreadable(&path, &format!("{:?} is no id", program.id)),
                None => {}
            }
        }
    }

    /// Reads a folder. Without a process in it, no OpenCL call was seen.
    ///
    /// # Errors
    /// `Environment` if the folder itself cannot be read.
    pub fn read(folder: &Path) -> Result<Spool> {
        let mut spool = Spool::unread(folder);
        let lost = |error: std::io::Error| {
            Error::environment(format!("cannot read {}: {error}", folder.display())).help("make the folder readable")
        };
        fs::read_dir(folder).map_err(lost)?;
        spool.read_programs();
        let mut processes = Vec::new();
        for path in files_in(&folder.join("processes")) {
            // A folder without this file was not finished.
            if let Some(record) =
                path.join("process.json").exists().then(|| spool.json(&path.join("process.json"))).flatten()
            {
                processes.push(spool.process(&path, record));
            }
        }
        processes.sort_by_key(|process| process.started_ms);
        spool.processes = processes;
        Ok(spool)
    }

    fn process(&mut self, folder: &Path, record: ProcessRecord) -> Process {
        let rows = self.rows(folder);
        let row = |number: usize| rows.get(number).copied().unwrap_or([0; COLUMNS]);
        let mut counts = Vec::new();
        for line in self.lines::<KernelLine>(&folder.join("kernels.jsonl")) {
            counts.push((line.program, line.name, row(line.kernel)));
        }
        let (mut not_woven, mut not_verified) = (Vec::new(), Vec::new());
        for NoteLine { kind, message, about } in self.lines(&folder.join("notes.jsonl")) {
            match about {
                Some(about) => {
                    let list = if kind == "not-verified" { &mut not_verified } else { &mut not_woven };
                    list.push(NotWoven { meaning: message, ..about });
                }
                None if self.notes.contains(&message) => {}
                None => self.notes.push(message),
            }
        }
        let lines = self.lines::<ProbeLine>(&folder.join("probes.jsonl")).into_iter();
        let file = |ProbeLine { probe, program, kernel, words }| {
            let path = folder.join("probes").join(format!("{probe}.bin"));
            ProbeFile { program, kernel, path, words }
        };
        let probes = lines.map(file).collect();
        let mut launches: Vec<Launch> =
            files_in(&folder.join("launches")).iter().filter_map(|path| self.json(path)).collect();
        launches.sort_by_key(|launch| launch.sequence);
        let name = folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let ProcessRecord { pid, started_ms, command } = record;
        Process {
            name,
            pid,
            command,
            started_ms,
            counts,
            unknown: row(UNKNOWN_ROW),
            launches,
            probes,
            not_woven,
            not_verified,
        }
    }

    /// Reads the counters of a process.
    fn rows(&mut self, folder: &Path) -> Vec<Row> {
        let mut rows = Vec::new();
        for number in 0.. {
            let Ok(bytes) = read(&folder.join(format!("counts-{number}.bin"))) else { break };
            let mut words = bytes.chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().unwrap_or_default()));
            for _ in 0..ROWS {
                rows.push(std::array::from_fn(|_| words.next().unwrap_or(0)));
            }
        }
        if rows.first().is_some_and(|header: &Row| header[0] != MAGIC) {
            self.notes.push(format!("the counters in {} are of another version", folder.display()));
            return Vec::new();
        }
        rows
    }

    /// Reads contents; `None` if they are not there, as on a disk that was full.
    pub fn contents(&self, blob: &str) -> Option<Vec<u8>> {
        read_contents(&self.folder, blob)
    }

    /// The folder that was read.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Reads a text that was made of pieces; `None` if one is not there.
    pub fn text(&self, pieces: &[Piece]) -> Option<Vec<u8>> {
        let pieces: Option<Vec<Vec<u8>>> = pieces.iter().map(|piece| self.contents(&piece.blob)).collect();
        Some(pieces?.concat())
    }

    /// Reads a file of JSON; tells if it cannot be read.
    fn json<T: DeserializeOwned>(&mut self, path: &Path) -> Option<T> {
        let read = read(path).map_err(|error| error.to_string());
        let parsed = read.and_then(|bytes| serde_json::from_slice(&bytes).map_err(|error| error.to_string()));
        parsed.map_err(|error| self.unreadable(path, &error)).ok()
    }

    /// Reads a file of lines of JSON, which need not be there; tells which lines cannot be read.
    fn lines<T: DeserializeOwned>(&mut self, path: &Path) -> Vec<T> {
        let text = read(path).unwrap_or_default();
        let mut all = Vec::new();
        for line in text.split(|byte| *byte == b'\n').filter(|line| !line.is_empty()) {
            match serde_json::from_slice(line) {
                Ok(value) => all.push(value),
                Err(error) => self.unreadable(path, &error.to_string()),
            }
        }
        all
    }

    fn unreadable(&mut self, path: &Path, error: &str) {
        let name = path.strip_prefix(&self.folder).unwrap_or(path);
        self.notes.push(format!("what the layer wrote cannot be read: {}: {error}", name.display()));
    }
}

/// Reads contents in the spool of this folder; `None` if they are not there.
pub(super) fn read_contents(spool: &Path, blob: &str) -> Option<Vec<u8>> {
    // What is no hash could lead out of the folder.
    is_hash(blob).then(|| read(&spool.join("blobs").join(blob)).ok()).flatten()
}

/// Returns whether a name is that of a blob or a program: 32 hexadecimal digits.
fn is_hash(name: &str) -> bool {
    name.len() == 32 && name.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Reads a file. Links and pipes are nothing that the layer makes.
fn read(path: &Path) -> std::io::Result<Vec<u8>> {
    if fs::symlink_metadata(path)?.is_file() { fs::read(path) } else { Err(std::io::ErrorKind::InvalidInput.into()) }
}

/// Lists a folder in order of names; a folder that is not there is empty.
pub(super) fn files_in(folder: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> =
        fs::read_dir(folder).map(|all| all.flatten().map(|entry| entry.path()).collect()).unwrap_or_default();
    all.sort();
    all
}

/// Counts the launches of unknown kernels, by reason.
pub fn unknown_launches(processes: &[Process]) -> BTreeMap<Reason, u64> {
    let mut all = BTreeMap::new();
    for process in processes {
        add_reasons(&mut all, &process.unknown);
    }
    all
}

fn add_reasons(all: &mut BTreeMap<Reason, u64>, row: &Row) {
    for (reason, count) in REASONS.into_iter().zip(&row[KEPT + 1..]).filter(|(_, count)| **count > 0) {
        *all.entry(reason).or_default() += count;
    }
}

/// Puts the kernels of all processes together, in the order of their first launches. At most `most` launches of a
/// kernel are kept: each process has chosen that many for itself.
pub fn kernels_of(processes: &mut [Process], most: Option<u64>) -> Vec<LaunchedKernel> {
    let mut kernels: Vec<LaunchedKernel> = Vec::new();
    let mut positions: HashMap<(String, String), usize> = HashMap::new();
    for (number, process) in processes.iter_mut().enumerate() {
        let mut own: HashMap<(String, String), Vec<Launch>> = HashMap::new();
        for launch in std::mem::take(&mut process.launches) {
            own.entry((launch.program.clone(), launch.name.clone())).or_default().push(launch);
        }
        for (program, name, row) in &process.counts {
            let key = (program.clone(), name.clone());
            let position = *positions.entry(key.clone()).or_insert_with(|| {
                let (name, program) = (name.clone(), program.clone());
                let (left_out, kept) = (BTreeMap::new(), Vec::new());
                let counts =
                    LaunchedKernel { name, program, launches: 0, refused: 0, woven: 0, plain: 0, left_out, kept };
                kernels.push(counts);
                kernels.len() - 1
            });
            let kernel = &mut kernels[position];
            let written = own.remove(&key).unwrap_or_default();
            // A launch may have been written before it was counted. Counts may be anything.
            let reasons =
                row[KEPT + 1..=KEPT + REASONS.len()].iter().fold(0, |sum: u64, count| sum.saturating_add(*count));
            let known = reasons.saturating_add(written.len() as u64);
            let launches = row[LAUNCHES].max(known);
            kernel.launches = kernel.launches.saturating_add(launches);
            kernel.refused = kernel.refused.saturating_add(row[REFUSED]);
            kernel.woven = kernel.woven.saturating_add(row[WOVEN]);
            kernel.plain = kernel.plain.saturating_add(row[PLAIN]);
            add_reasons(&mut kernel.left_out, row);
            kernel.leave_out(ENDED, launches - known);
            kernel.kept.extend(written.into_iter().map(|launch| (number, launch)));
        }
    }
    if let Some(most) = most {
        kernels.iter_mut().for_each(|kernel| kernel.limit(most));
    }
    kernels
}

impl LaunchedKernel {
    /// Drops launches of several processes, first those that other processes made, too, then later ones, and last those
    /// that were kept for what they cover.
    fn limit(&mut self, most: u64) {
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        if self.kept.len() <= most {
            return;
        }
        let before = self.kept.len();
        let mut known = BTreeSet::new();
        self.kept.sort_by_key(|(process, launch)| (!launch.is_for_coverage(), launch.launch, *process));
        self.kept.retain(|(_, launch)| {
            let Launch { global, local, offset, arguments, memory, .. } = launch;
            known.insert(kassay_base::hash::of((global, local, offset, arguments, memory)))
        });
        self.kept.truncate(most);
        self.kept.sort_by_key(|(process, launch)| (*process, launch.sequence));
        self.leave_out(REASONS[1], (before - self.kept.len()) as u64);
    }

    /// Counts launches that were kept and cannot be used.
    pub fn leave_out(&mut self, reason: Reason, count: u64) {
        if count > 0 {
            let sum = self.left_out.entry(reason).or_default();
            *sum = sum.saturating_add(count);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &Path, text: &str) {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, text).unwrap();
    }

    /// Writes a process with one kernel, `counts` by column and as many launches as `launches` has numbers.
    fn process(spool: &Path, name: &str, started: u64, counts: &[(usize, u64)], launches: &[(u64, &str)]) {
        let folder = spool.join("processes").join(name);
        write(&folder.join("process.json"), &format!(r#"{{"started_ms": {started}, "command": ["x"]}}"#));
        write(&folder.join("kernels.jsonl"), "{\"kernel\": 2, \"program\": \"p\", \"name\": \"k\"}\nhalf a li");
        let mut words = vec![0_u64; ROWS * COLUMNS];
        words[0] = MAGIC;
        for (column, count) in counts {
            words[2 * COLUMNS + column] = *count;
        }
        let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_ne_bytes()).collect();
        fs::write(folder.join("counts-0.bin"), bytes).unwrap();
        for (number, bytes) in launches {
            let text = format!(
                r#"{{"program": "p", "name": "k", "launch": {number}, "sequence": {number}, "global": [4],
                    "arguments": [{{"kind": "value", "bytes": "{bytes}"}}], "memory": []}}"#
            );
            write(&folder.join(format!("launches/{number:010}.json")), &text);
        }
    }

    #[test]
    fn processes_are_put_together_and_every_launch_is_accounted_for() {
        let folder = tempfile::tempdir().unwrap();
        // Of ten launches, three were written, six not sampled, and one was lost with the process.
        process(folder.path(), "b", 1, &[(LAUNCHES, 10), (KEPT, 3), (KEPT + 1, 6)], &[(1, "aa"), (2, "bb"), (4, "cc")]);
        process(folder.path(), "a", 2, &[(LAUNCHES, 2), (KEPT, 2), (REFUSED, 1)], &[(1, "aa"), (2, "dd")]);
        let mut spool = Spool::read(folder.path()).unwrap();
        assert_eq!(spool.notes.len(), 2, "the line that is not whole, of each process: {:?}", spool.notes);
        let kernels = kernels_of(&mut spool.processes, Some(4));
        let [kernel] = &kernels[..] else { panic!() };
        assert_eq!((kernel.launches, kernel.refused), (12, 1));
        let kept: Vec<_> = kernel.kept.iter().map(|(process, launch)| (*process, launch.launch)).collect();
        assert_eq!(kept, [(0, 1), (0, 2), (0, 4), (1, 2)], "the first launches are the same");
        let left_out: Vec<_> = kernel.left_out.iter().map(|(reason, count)| (reason.name, *count)).collect();
        assert_eq!(left_out, [("max-launches", 1), ("not-sampled", 6), ("process-ended", 1)]);
    }

    /// The layer's own columns are held against the same table.
    #[test]
    fn columns_are_where_the_layers_readme_says() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../layer/README.md");
        let readme = fs::read_to_string(path).unwrap();
        let at = |column: usize, name: &str| {
            assert!(
                readme.lines().any(|line| line.starts_with(&format!("| {column} | `{name}` |"))),
                "{column} {name}"
            );
        };
        for (column, name) in
            [(LAUNCHES, "launches"), (REFUSED, "refused"), (KEPT, "kept"), (WOVEN, "woven"), (PLAIN, "plain")]
        {
            at(column, name);
        }
        // The last one is kassay's own.
        let of_layer = &REASONS[..REASONS.len() - 1];
        of_layer.iter().enumerate().for_each(|(index, reason)| at(KEPT + 1 + index, reason.name));
        assert_eq!(KEPT + 1 + REASONS.len(), WOVEN);
    }

    #[test]
    fn what_was_woven_is_read() {
        let folder = tempfile::tempdir().unwrap();
        process(folder.path(), "a", 1, &[(LAUNCHES, 5), (WOVEN, 3), (PLAIN, 2)], &[]);
        let of_process = folder.path().join("processes/a");
        let notes = r#"{"time_ms": 1, "kind": "not-woven", "message": "no IL", "program": "p", "kernel": "k", "reason": "not-built"}
{"time_ms": 2, "kind": "other", "message": "something"}
"#;
        write(&of_process.join("notes.jsonl"), notes);
        let probe = r#"{"probe": 1, "program": "p", "kernel": "k", "words": 20, "mutant": null}"#;
        write(&of_process.join("probes.jsonl"), &format!("{probe}\n"));
        let mut spool = Spool::read(folder.path()).unwrap();
        assert!(spool.notes.contains(&"something".to_owned()) && !spool.notes.contains(&"no IL".to_owned()));
        let [process] = &spool.processes[..] else { panic!() };
        assert_eq!(process.probes[0].path, of_process.join("probes/1.bin"));
        let not = &process.not_woven[0];
        assert_eq!((not.kernel.as_str(), not.reason.as_str(), not.meaning.as_str()), ("k", "not-built", "no IL"));
        let kernels = kernels_of(&mut spool.processes, None);
        assert_eq!((kernels[0].woven, kernels[0].plain), (3, 2));
    }

    #[test]
    fn a_folder_without_a_process_is_no_error() {
        let folder = tempfile::tempdir().unwrap();
        assert!(Spool::read(folder.path()).unwrap().processes.is_empty());
        assert_eq!(Spool::read(&folder.path().join("none")).unwrap_err().exit_code(), 3);
    }
}
