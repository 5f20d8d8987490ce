//! Checks the cache: a hit gives what a miss would compute, and the cache never gets in the way.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::thread;
use std::time::{Duration, SystemTime};

use crate::common::bench::Bench;

const KERNEL: &str = "#include \"factor.h\"
kernel void k(global const int *in, global int *out, int n) {
    size_t i = get_global_id(0);
    if (i < n) out[i] = in[i] * FACTOR;
}
";

const HEADER: &str = "#ifndef FACTOR
#define FACTOR 2
#endif
";

/// A folder with a kernel, its header and room for a cache.
struct CacheBench(Bench);

impl CacheBench {
    fn new() -> CacheBench {
        let bench = CacheBench(Bench::new().unwrap());
        bench.put("k.cl", KERNEL);
        bench.put("factor.h", HEADER);
        bench
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path(name)
    }

    /// Writes a file with a modification time a minute ago: a file that changes while clang reads it is not cached.
    fn put(&self, name: &str, text: &str) {
        fs::write(self.path(name), text).unwrap();
        let file = fs::File::options().append(true).open(self.path(name)).unwrap();
        file.set_modified(SystemTime::now() - Duration::from_secs(60)).unwrap();
    }

    fn command(&self, args: &[&str]) -> Command {
        let mut command = self.0.command(args);
        command.env_remove("KASSAY_CACHE").env("XDG_CACHE_HOME", self.path("user"));
        command
    }

    fn run(&self, args: &[&str]) -> Output {
        self.command(args).output().unwrap()
    }

    /// Returns the text that the kernel is lowered to, with the cache in `cache`.
    fn lowered(&self) -> String {
        let output = self.run(&["lower", "k.cl", "--print", "prepared", "--cache", "cache"]);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        text(&output)
    }

    fn entries(&self) -> Vec<PathBuf> {
        let files = fs::read_dir(self.path("cache")).map(|files| files.map(|file| file.unwrap().path()).collect());
        files.unwrap_or_default()
    }
}

fn text(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// Returns the result without the parts that differ from run to run.
fn steady(result: &Path) -> serde_json::Value {
    let mut result: serde_json::Value = serde_json::from_slice(&fs::read(result).unwrap()).unwrap();
    for proof in result["proofs"].as_array_mut().into_iter().flatten() {
        proof["milliseconds"] = serde_json::Value::Null;
    }
    let object = result.as_object_mut().unwrap();
    for key in ["elapsed_s", "timing"] {
        object.remove(key);
    }
    result
}

#[test]
fn a_hit_gives_what_a_miss_gives() {
    let bench = CacheBench::new();
    for (name, args) in [
        ("inspect", &["inspect", "k.cl"][..]),
        ("check", &["check", "k.cl", "--seed", "1", "--global", "16", "--local", "4"]),
    ] {
        let with = |more: &[&str], file: &str| {
            let output = bench.run(&[args, more, &["-o", file]].concat());
            assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
            (steady(&bench.path(file)), output.stderr)
        };
        let without = with(&["--no-cache"], "without.json");
        assert!(name != "inspect" || bench.entries().is_empty());
        let miss = with(&["--cache", "cache"], "miss.json");
        let entries = bench.entries().len();
        assert!(entries > 0);
        let hit = with(&["--cache", "cache"], "hit.json");
        assert_eq!(bench.entries().len(), entries, "{name}");
        assert!(without == miss && miss == hit, "{name}");
    }
}

#[test]
fn changes_of_included_files_and_of_options_are_detected() {
    let bench = CacheBench::new();
    let two = bench.lowered();
    bench.put("factor.h", "#define FACTOR 3\n");
    let three = bench.lowered();
    assert!(two != three);
    bench.put("factor.h", HEADER);
    assert!(bench.lowered() == two);
    let option = bench.run(&["lower", "k.cl", "--print", "prepared", "--cache", "cache", "-DFACTOR=4"]);
    assert!(option.status.success() && text(&option) != two);
    // A header that is now first on the include path.
    bench.put("k.cl", &KERNEL.replace("\"factor.h\"", "<factor.h>"));
    fs::create_dir(bench.path("first")).unwrap();
    let searched = ["lower", "k.cl", "--print", "prepared", "--cache", "cache", "-I", "first", "-I", "."];
    let before = bench.run(&searched);
    assert!(before.status.success());
    bench.put("first/factor.h", "#define FACTOR 5\n");
    assert!(text(&bench.run(&searched)) != text(&before));
}

#[test]
fn line_directives_do_not_hide_a_change() {
    let bench = CacheBench::new();
    bench.put("factor.h", "#line 9 \"elsewhere.h\"\n#define FACTOR 2\n");
    let two = bench.lowered();
    let entries = bench.entries().len();
    assert!(bench.lowered() == two && bench.entries().len() == entries);
    bench.put("factor.h", "#line 9 \"elsewhere.h\"\n#define FACTOR 3\n");
    assert!(bench.lowered() != two);
}

#[test]
fn a_damaged_entry_is_a_miss() {
    let bench = CacheBench::new();
    let whole = bench.lowered();
    let damages: [fn(&mut Vec<u8>); 4] = [
        |bytes| bytes.truncate(bytes.len() / 2),
        |bytes| bytes.clear(),
        |bytes| {
            let last = bytes.len() - 1;
            bytes[last] ^= 1;
        },
        |bytes| bytes[20] ^= 0x80,
    ];
    for damage in damages {
        for entry in bench.entries() {
            let mut bytes = fs::read(&entry).unwrap();
            damage(&mut bytes);
            fs::write(&entry, bytes).unwrap();
        }
        assert!(bench.lowered() == whole);
    }
}

#[test]
fn processes_share_a_cache() {
    let bench = CacheBench::new();
    let alone = text(&bench.run(&["lower", "k.cl", "--print", "prepared", "--no-cache"]));
    thread::scope(|scope| {
        let runs: Vec<_> = (0..4).map(|_| scope.spawn(|| bench.lowered())).collect();
        for run in runs {
            assert!(run.join().unwrap() == alone);
        }
    });
    let names = bench.entries().into_iter().map(|path| path.file_name().unwrap().to_string_lossy().into_owned());
    assert!(names.clone().count() > 0 && names.into_iter().all(|name| name.len() == 32));
}

#[test]
fn the_bound_is_kept_and_recently_used_entries_stay() {
    let bench = CacheBench::new();
    let compile = |i: usize| {
        let define = format!("-DUNUSED={i}");
        let args = ["inspect", "k.cl", "--cache", "cache", "--quiet", &define];
        assert!(bench.command(&args).env("KASSAY_CACHE_MIB", "1").status().unwrap().success());
    };
    compile(0);
    let [first] = &bench.entries()[..] else { panic!("{:?}", bench.entries()) };
    let filler = vec![7; 200_000];
    for i in 0..8 {
        let path = bench.path("cache").join(format!("{i:032x}"));
        fs::write(&path, &filler).unwrap();
        let used = SystemTime::now() - Duration::from_secs(100 + i);
        fs::File::options().append(true).open(&path).unwrap().set_modified(used).unwrap();
    }
    let abandoned = bench.path("cache").join("unfinished.abc");
    fs::write(&abandoned, "x").unwrap();
    let long_ago = SystemTime::now() - Duration::from_secs(100_000);
    fs::File::options().append(true).open(&abandoned).unwrap().set_modified(long_ago).unwrap();
    compile(1);
    let total: u64 = bench.entries().iter().map(|path| path.metadata().unwrap().len()).sum();
    assert!(total <= 1 << 20, "{total}");
    assert!(first.exists() && !abandoned.exists());
    assert!(bench.path("cache").join(format!("{:032x}", 0)).exists(), "the filler that was used last");
    assert!(!bench.path("cache").join(format!("{:032x}", 7)).exists(), "the one that was used first");
}

#[test]
fn an_unwritable_folder_is_not_an_error() {
    let bench = CacheBench::new();
    bench.put("file", "not a folder");
    for folder in ["file", "file/below", "/proc/nowhere", "/dev/null"] {
        let output = bench.run(&["inspect", "k.cl", "--cache", folder]);
        assert_eq!(output.status.code(), Some(0), "{folder}: {}", String::from_utf8_lossy(&output.stderr));
        assert!(output.stderr.is_empty(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn the_users_folder_is_used_unless_another_or_none_is_named() {
    let bench = CacheBench::new();
    assert!(bench.run(&["inspect", "k.cl", "--no-cache"]).status.success());
    let off = bench.command(&["inspect", "k.cl"]).env("KASSAY_CACHE", "off").status().unwrap();
    assert!(off.success() && !bench.path("user").exists());
    assert!(bench.run(&["inspect", "k.cl"]).status.success());
    assert_eq!(fs::read_dir(bench.path("user/kassay")).unwrap().count(), 1);
    let both = bench.run(&["inspect", "k.cl", "--no-cache", "--cache", "cache"]);
    assert_eq!(both.status.code(), Some(2));
}
