//! Reads spools that are damaged in any way: nothing panics, nothing outside of the folder is read, and what is read is
//! consistent.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use kassay::OpenOptions;
use kassay_model::interface::Interface;
use kassay_run::host::{self, Code, Contents, Spool};
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError};

/// What lies beside the spool and must never be read.
const SECRET: &str = "SECRET-SECRET-SECRET";

const KERNEL: &str =
    "kernel void k(global int *a, const global int *b, int n, local int *l, write_only image2d_t im, sampler_t s) {
    a[get_global_id(0)] = b[n]; }
";

/// The interface of the kernel.
static INTERFACE: LazyLock<Interface> = LazyLock::new(|| {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("k.cl");
    fs::write(&path, KERNEL).unwrap();
    OpenOptions::default().open_kernel(&path).unwrap().interface().clone()
});

fn hash(number: u32) -> String {
    format!("{number:032x}")
}

/// The files of a spool with two programs, a process and two launches.
fn files() -> Vec<(PathBuf, Vec<u8>)> {
    let [text, header, before, after, texels] = [1, 2, 3, 4, 5].map(hash);
    let device = r#""device": {"name": "d", "vendor": "v", "version": "1", "driver": "1"}, "status": "success""#;
    let source = format!(
        r#"{{"schema": "kassay.spool-program/1", "id": "{}", "origin": "source", "pieces": [{{"blob": "{text}", "bytes": 20}}],
            "stage": "compile", "options": "-DN=1 -I inc", "headers": [{{"name": "h.h", "pieces": [{{"blob": "{header}", "bytes": 8}}]}}],
            "includes": [{{"folder": "/w/inc", "name": "i.h", "blob": "{header}", "bytes": 8}}],
            "constants": [], {device}, "directory": "/w"}}"#,
        hash(10)
    );
    let linked = format!(
        r#"{{"schema": "kassay.spool-program/1", "id": "{}", "origin": "linked", "inputs": ["{}"], "stage": "link",
            "built": {{"blob": "{before}", "bytes": 64}}, {device}}}"#,
        hash(11),
        hash(10)
    );
    let launch = |number: u32, program: u32| {
        format!(
            r#"{{"schema": "kassay.spool-launch/1", "kernel": 2, "program": "{}", "name": "k", "launch": {number}, "sequence": {number},
                "global": [16, 1], "local": [4, 1], "offset": null, "arguments": [
                {{"kind": "memory", "memory": 0, "offset": 16, "size": 16}}, {{"kind": "svm", "memory": 0, "offset": 4}},
                {{"kind": "value", "bytes": "01000000"}}, {{"kind": "local", "size": 16}}, {{"kind": "memory", "memory": 1, "offset": 0, "size": 64}},
                {{"kind": "sampler", "normalized": true, "addressing": 4400, "filter": 4416}}],
                "memory": [{{"size": 64, "written": true, "before": "{before}", "after": "{after}"}},
                {{"size": 64, "before": "{texels}", "after": "{texels}", "image":
                {{"object": 4337, "channel_order": 4277, "channel_type": 4306, "element": 4, "extent": [4, 4, 1]}}}}], "indirect": []}}"#,
            hash(program)
        )
    };
    let mut counts = vec![0_u64; 256 * 32];
    counts[0] = u64::from_le_bytes(*b"kassay\0\x01");
    counts[2 * 32..2 * 32 + 4].copy_from_slice(&[9, 1, 2, 7]);
    let process = Path::new("processes/1-2-3");
    let mut all = vec![
        (format!("programs/{}.json", hash(10)).into(), source.into_bytes()),
        (format!("programs/{}.json", hash(11)).into(), linked.into_bytes()),
        (process.join("process.json"), br#"{"schema": "kassay.spool/1", "started_ms": 5, "command": ["x"]}"#.to_vec()),
        (
            process.join("kernels.jsonl"),
            format!(
                "{{\"kernel\": 2, \"program\": \"{}\", \"name\": \"k\"}}\n{{\"kernel\": 3, \"program\": \"{}\", \"name\": \"k\"}}\n",
                hash(10),
                hash(11)
            )
            .into_bytes(),
        ),
        (process.join("notes.jsonl"), b"{\"message\": \"n\"}\n".to_vec()),
        (process.join("counts-0.bin"), counts.iter().flat_map(|word| word.to_ne_bytes()).collect()),
        (process.join("launches/0000000000.json"), launch(1, 10).into_bytes()),
        (process.join("launches/0000000001.json"), launch(2, 11).into_bytes()),
    ];
    for (number, size) in [(1, 20), (2, 8), (3, 64), (4, 64), (5, 64)] {
        all.push((Path::new("blobs").join(hash(number)), vec![b'x'; size]));
    }
    all
}

/// A damage of one file.
#[derive(Debug, Clone)]
enum Damage {
    Truncated(usize),
    Byte(usize, u8),
    /// The n-th number of a text, replaced.
    Number(usize, &'static str),
    /// The n-th string of a text, replaced.
    Text(usize, &'static str),
    Gone,
    Folder,
    Link,
}

const NUMBERS: [&str; 9] =
    ["0", "-1", "18446744073709551615", "9223372036854775807", "4294967296", "1e400", "1.5", "null", "[[]]"];
const TEXTS: [&str; 9] = [
    "../secret",
    "../../secret",
    "/etc/passwd",
    "",
    "..",
    "a\\u0000b",
    "00000000000000000000000000000003",
    "0000000000000000000000000000000a",
    "ä/../../../secret",
];

fn damage() -> impl Strategy<Value = Damage> {
    prop_oneof![
        any::<usize>().prop_map(Damage::Truncated),
        (any::<usize>(), any::<u8>()).prop_map(|(at, byte)| Damage::Byte(at, byte)),
        (any::<usize>(), prop::sample::select(&NUMBERS[..])).prop_map(|(at, text)| Damage::Number(at, text)),
        (any::<usize>(), prop::sample::select(&TEXTS[..])).prop_map(|(at, text)| Damage::Text(at, text)),
        Just(Damage::Gone),
        Just(Damage::Folder),
        Just(Damage::Link),
    ]
}

/// Replaces the n-th match, counted round, of what begins and ends so; the text between two matches stays.
fn replace(bytes: &[u8], nth: usize, is_part: impl Fn(u8) -> bool, by: &str) -> Vec<u8> {
    let mut spans = Vec::new();
    let mut start = None;
    for (at, byte) in bytes.iter().chain([&b'\n']).enumerate() {
        match (is_part(*byte), start) {
            (true, None) => start = Some(at),
            (false, Some(from)) => {
                spans.push(from..at);
                start = None;
            }
            _ => {}
        }
    }
    let Some(span) = (!spans.is_empty()).then(|| spans[nth % spans.len()].clone()) else { return bytes.to_vec() };
    [&bytes[..span.start], by.as_bytes(), &bytes[span.end..]].concat()
}

fn write(spool: &Path, damages: &[(usize, Damage)]) {
    let mut files = files();
    let mut last = Vec::new();
    for (file, damage) in damages {
        let number = file % files.len();
        let (path, bytes) = &mut files[number];
        match damage {
            Damage::Truncated(at) => bytes.truncate(at % (bytes.len() + 1)),
            Damage::Byte(at, byte) => {
                let at = at % bytes.len().max(1);
                bytes.iter_mut().skip(at).take(1).for_each(|there| *there = *byte);
            }
            Damage::Number(nth, by) => *bytes = replace(bytes, *nth, |byte| byte.is_ascii_digit(), by),
            // What stands between quotation marks and is a word, a path or a hash.
            Damage::Text(nth, by) => {
                let is_part = |byte: u8| byte.is_ascii_alphanumeric() || b"/.=- ".contains(&byte);
                *bytes = replace(bytes, *nth, is_part, by);
            }
            other => last.push((path.clone(), other.clone())),
        }
    }
    for (path, bytes) in files {
        let path = spool.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, bytes).unwrap();
    }
    for (path, damage) in last {
        let path = spool.join(path);
        let _ = fs::remove_file(&path);
        match damage {
            Damage::Folder => fs::create_dir_all(&path).unwrap(),
            Damage::Link if !path.exists() => {
                std::os::unix::fs::symlink(spool.parent().unwrap().join("secret"), &path).unwrap();
            }
            _ => {}
        }
    }
}

/// Reads all of a spool as a capture does.
fn read(folder: &Path) -> Result<(), TestCaseError> {
    let is_secret = |bytes: &[u8]| bytes.windows(SECRET.len()).any(|part| part == SECRET.as_bytes());
    let mut spool = Spool::read(folder).unwrap();
    let _ = host::unknown_launches(&spool.processes);
    let kernels = host::kernels_of(&mut spool.processes, Some(8));
    for program in spool.programs.values() {
        for code in host::code_of(&spool, program) {
            match code {
                Code::Source { text, files, includes, options, directory, .. } => {
                    prop_assert!(!is_secret(&text) && files.iter().all(|(_, bytes)| !is_secret(bytes)));
                    let dirs = host::translate(&options, &directory).include_dirs;
                    // A file may be in the place of a folder; nothing may be elsewhere.
                    for (path, _) in host::place_headers(&dirs, &includes).files {
                        let leaves = path.components().any(|part| part.as_os_str() == "..");
                        prop_assert!(!leaves && path.is_relative(), "{}", path.display());
                    }
                    for name in files.iter().map(|(name, _)| name).chain(includes.iter().map(|file| &file.name)) {
                        let leaves = Path::new(name).components().any(|part| part.as_os_str() == "..");
                        prop_assert!(!leaves && Path::new(name).is_relative(), "{}", name);
                    }
                }
                Code::Module { bytes, .. } => prop_assert!(!is_secret(&bytes)),
            }
        }
    }
    let mut contents = Contents::new(&spool);
    for kernel in &kernels {
        let left_out = kernel.left_out.values().fold(kernel.kept.len() as u64, |sum, count| sum.saturating_add(*count));
        prop_assert!(kernel.launches <= left_out, "{} launches, {} accounted for", kernel.launches, left_out);
        for (_, launch) in &kernel.kept {
            if let Ok(converted) = host::convert(launch, &INTERFACE, &mut contents) {
                prop_assert!(converted.expectations.iter().all(|expected| !is_secret(&expected.bytes)));
            }
        }
    }
    Ok(())
}

#[test]
fn a_spool_in_order_is_read_whole() {
    let root = tempfile::tempdir().unwrap();
    let folder = root.path().join("spool");
    write(&folder, &[]);
    let mut spool = Spool::read(&folder).unwrap();
    assert!(spool.notes == ["n"] && spool.programs.len() == 2, "{spool:?}");
    let kernels = host::kernels_of(&mut spool.processes, None);
    assert_eq!(kernels.len(), 2);
    let mut contents = Contents::new(&spool);
    for kernel in &kernels {
        let converted = host::convert(&kernel.kept[0].1, &INTERFACE, &mut contents);
        assert_eq!(converted.map(|converted| converted.expectations.len()), Ok(2));
    }
    let sources = spool.programs.values().map(|program| host::code_of(&spool, program).len());
    assert_eq!(sources.collect::<Vec<_>>(), [1, 1]);
}

#[test]
fn damaged_spools_are_read_as_far_as_they_go() {
    let config = Config { cases: 400, failure_persistence: None, ..Config::default() };
    let damages = prop::collection::vec((any::<usize>(), damage()), 1..6);
    proptest!(config, |(damages in damages)| {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("secret"), SECRET).unwrap();
        let folder = root.path().join("spool");
        write(&folder, &damages);
        read(&folder)?;
        let beside: Vec<_> = fs::read_dir(root.path()).unwrap().map(|entry| entry.unwrap().file_name()).collect();
        prop_assert!(beside.iter().all(|name| name == "secret" || name == "spool" || name == "out"), "{:?}", beside);
    });
}
