//! Compiles and runs host programs, and reads spools as `README.md` describes them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use serde_json::Value;
use tempfile::TempDir;

/// How the library gets into a program.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Way {
    Proxy,
    Layer,
    Both,
}

pub const WAYS: [Way; 2] = [Way::Proxy, Way::Layer];

/// The columns of the counters, in the order of the file.
const COLUMNS: [&str; 23] = [
    "launches",
    "refused",
    "kept",
    "not-sampled",
    "max-launches",
    "max-bytes",
    "max-launch-bytes",
    "not-selected",
    "user-event",
    "disturbed",
    "unknown-argument",
    "unknown-memory",
    "unreadable",
    "pipe",
    "image",
    "aliased-image",
    "svm-atomics",
    "unwritable",
    "out-of-memory",
    "unknown-kernel",
    "",
    "woven",
    "plain",
];

/// The library, which cargo builds beside the tests.
pub fn library() -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let folders = [tests.parent().unwrap(), tests.parent().unwrap().parent().unwrap()];
    folders
        .iter()
        .map(|folder| folder.join("libkassay_layer.so"))
        .find(|path| path.exists())
        .expect("libkassay_layer.so")
}

/// The folder of `.icd` files that `scripts/setup` makes, or the user's.
fn vendors() -> PathBuf {
    let data = || std::env::var_os("XDG_DATA_HOME").map(PathBuf::from);
    let home = || Some(PathBuf::from(std::env::var_os("HOME")?).join(".local/share"));
    std::env::var_os("OCL_ICD_VENDORS")
        .map(PathBuf::from)
        .unwrap_or_else(|| data().or_else(home).unwrap().join("kassay/opencl/vendors"))
}

/// The real drivers.
fn drivers() -> Vec<String> {
    let files = fs::read_dir(vendors()).expect("a folder of OpenCL drivers (scripts/setup makes one)");
    files.map(|file| fs::read_to_string(file.unwrap().path()).unwrap().trim().to_owned()).collect()
}

/// A compiled host program.
pub struct Program {
    folder: TempDir,
}

impl Program {
    /// Compiles `hosts/NAME.c`.
    pub fn new(name: &str) -> Program {
        let folder = tempfile::tempdir().unwrap();
        let source = Program::source(name);
        let mut compiler = Command::new("cc");
        compiler.args(["-Wall", "-Wextra", "-Werror", "-o"]).arg(folder.path().join("program")).arg(source);
        assert!(compiler.args(["-lOpenCL", "-lpthread"]).status().unwrap().success());
        Program { folder }
    }

    /// The path of `hosts/NAME.c`.
    pub fn source(name: &str) -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/host_programs/hosts/{name}.c"))
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(self.folder.path().join("program"));
        command.args(arguments).env_remove("OPENCL_LAYERS").env("OCL_ICD_VENDORS", vendors());
        command
    }

    pub fn native(&self, arguments: &[&str]) -> Output {
        self.command(arguments).output().unwrap()
    }

    /// Runs the program under the library with these settings.
    pub fn under(&self, way: Way, config: &str, arguments: &[&str]) -> (Output, Spool) {
        let spool = Spool::new(config);
        let mut command = self.command(arguments);
        spool.enter(way, &mut command);
        (command.output().unwrap(), spool)
    }

    /// Runs the program natively and by both ways with the same settings, and wants the same end and the same output.
    pub fn same(&self, config: &str, arguments: &[&str]) -> Vec<Spool> {
        let native = self.native(arguments);
        let run = |way: &Way| {
            let (output, spool) = self.under(*way, config, arguments);
            assert_same(&native, &output);
            spool
        };
        WAYS.iter().map(run).collect()
    }
}

pub fn assert_same(native: &Output, output: &Output) {
    assert_eq!(String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&native.stdout));
    assert_eq!(String::from_utf8_lossy(&output.stderr), String::from_utf8_lossy(&native.stderr));
    assert_eq!(output.status, native.status);
}

/// A spool.
pub struct Spool {
    pub folder: TempDir,
}

/// What a process has left.
#[derive(Debug)]
pub struct Process {
    pub record: Value,
    pub kernels: Vec<Value>,
    pub launches: Vec<Value>,
    pub notes: Vec<Value>,
    /// Lines of `probes.jsonl`, with the words of their files.
    pub probes: Vec<(Value, Vec<u32>)>,
    words: Vec<u64>,
}

impl Spool {
    pub fn new(config: &str) -> Spool {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("config.json"), config).unwrap();
        fs::create_dir(folder.path().join("vendors")).unwrap();
        fs::write(folder.path().join("vendors/kassay.icd"), library().to_str().unwrap()).unwrap();
        Spool { folder }
    }

    /// Sets the environment that leads a command into the library.
    pub fn enter(&self, way: Way, command: &mut Command) {
        command.env("KASSAY_SPOOL", self.folder.path());
        if way != Way::Layer {
            command
                .env("OCL_ICD_VENDORS", self.folder.path().join("vendors"))
                .env("KASSAY_DRIVERS", drivers().join(":"));
        }
        if way != Way::Proxy {
            command.env("OPENCL_LAYERS", library());
        }
    }

    pub fn processes(&self) -> Vec<Process> {
        let Ok(folders) = fs::read_dir(self.folder.path().join("processes")) else { return Vec::new() };
        let mut all: Vec<Process> = folders.map(|folder| Process::read(&folder.unwrap().path())).collect();
        all.sort_by_key(|process| process.record["started_ms"].as_u64());
        all
    }

    /// The only process.
    pub fn process(&self) -> Process {
        let mut all = self.processes();
        assert_eq!(all.len(), 1);
        all.remove(0)
    }

    pub fn programs(&self) -> BTreeMap<String, Value> {
        let files = fs::read_dir(self.folder.path().join("programs")).unwrap();
        let read = |path: PathBuf| (path.file_stem().unwrap().to_str().unwrap().to_owned(), json(&path));
        files.map(|file| read(file.unwrap().path())).collect()
    }

    /// The contents that a value names.
    pub fn blob(&self, name: &Value) -> Vec<u8> {
        fs::read(self.folder.path().join("blobs").join(name.as_str().unwrap())).unwrap()
    }

    /// The contents that a value names, as integers.
    pub fn integers(&self, name: &Value) -> Vec<i32> {
        self.blob(name).chunks_exact(4).map(|bytes| i32::from_le_bytes(bytes.try_into().unwrap())).collect()
    }

    /// The text of a program from source.
    pub fn text(&self, pieces: &Value) -> String {
        let bytes = pieces.as_array().unwrap().iter().flat_map(|piece| self.blob(&piece["blob"])).collect();
        String::from_utf8(bytes).unwrap()
    }
}

impl Process {
    fn read(folder: &Path) -> Process {
        let mut files: Vec<PathBuf> =
            fs::read_dir(folder.join("launches")).unwrap().map(|file| file.unwrap().path()).collect();
        files.sort();
        let counts = fs::read(folder.join("counts-0.bin")).unwrap_or_default();
        let probe = |line: Value| {
            let bytes = fs::read(folder.join(format!("probes/{}.bin", line["probe"]))).unwrap();
            let words = bytes.chunks_exact(4).map(|word| u32::from_ne_bytes(word.try_into().unwrap()));
            let words = words.take(usize::try_from(line["words"].as_u64().unwrap()).unwrap()).collect();
            (line, words)
        };
        Process {
            record: json(&folder.join("process.json")),
            kernels: lines(&folder.join("kernels.jsonl")),
            launches: files.iter().map(|path| json(path)).collect(),
            notes: lines(&folder.join("notes.jsonl")),
            probes: lines(&folder.join("probes.jsonl")).into_iter().map(probe).collect(),
            words: counts.chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().unwrap())).collect(),
        }
    }

    /// A counter of the kernels with a name, added up; of launches without a known kernel for an empty name.
    pub fn count(&self, kernel: &str, column: &str) -> u64 {
        let column = COLUMNS.iter().position(|name| *name == column).unwrap();
        self.rows(kernel).iter().map(|row| self.words[row * 32 + column]).sum()
    }

    fn rows(&self, kernel: &str) -> Vec<usize> {
        if kernel.is_empty() {
            return vec![1];
        }
        let of_name = self.kernels.iter().filter(|line| line["name"] == kernel);
        of_name.map(|line| usize::try_from(line["kernel"].as_u64().unwrap()).unwrap()).collect()
    }

    /// Every launch is counted once, kept or not, and the kept ones are there.
    pub fn check_counts(&self) {
        assert_eq!(&self.words[0].to_le_bytes(), b"kassay\0\x01");
        let mut kept = 0;
        for row in self.words.chunks_exact(32).skip(1) {
            assert_eq!(row[0], row[2..20].iter().sum::<u64>());
            kept += row[2];
        }
        assert_eq!(kept, self.launches.len() as u64);
    }

    /// Where kassay is asked for replacements, every launch is counted as one or as none.
    pub fn check_replacements(&self) {
        for row in self.words.chunks_exact(32).skip(1) {
            assert_eq!(row[0], row[21] + row[22]);
        }
    }

    /// The probe buffers of a kernel.
    pub fn probes_of(&self, kernel: &str) -> Vec<&Vec<u32>> {
        self.probes.iter().filter(|(line, _)| line["kernel"] == kernel).map(|(_, words)| words).collect()
    }

    /// The only probe buffer of a kernel.
    pub fn probe(&self, kernel: &str) -> &Vec<u32> {
        let [probe] = self.probes_of(kernel)[..] else { panic!("{:?}", self.probes) };
        probe
    }

    /// The first words of a kernel's probe buffers, added up.
    pub fn total(&self, kernel: &str) -> u32 {
        self.probes_of(kernel).iter().map(|probe| probe[0]).sum()
    }

    pub fn has_ended(&self) -> bool {
        self.words[1] == 1
    }

    /// The kept launches of a kernel.
    pub fn launches_of(&self, kernel: &str) -> Vec<&Value> {
        self.launches.iter().filter(|launch| launch["name"] == kernel).collect()
    }
}

fn json(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

fn lines(path: &Path) -> Vec<Value> {
    fs::read_to_string(path).unwrap_or_default().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}
