//! Checks that the sites which `cfg` reads from the IR agree one by one with the constructs of clang's syntax tree:
//! over the kernels of `testdata`, over tricky ones, and over any folder of kernels that a user names.

mod compare;
mod tricky;

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use compare::Agreement;
use kassay::kernel::options::KernelOptions;
use kassay::suite::resolve::Suite;

/// Describes the disagreements, with both lists.
fn report(path: &Path, name: &str, found: &Agreement) -> String {
    let lines =
        |title: &str, all: &[compare::Entry]| all.iter().map(|e| format!("    {title} {e}\n")).collect::<String>();
    format!(
        "{} {name}:\n{}{}",
        path.display(),
        lines("only IR    ", &found.only_ir),
        lines("only syntax", &found.only_syntax)
    )
}

/// Calls `work` for all items on two threads; the results are in any order.
fn spread<T: Sync, R: Send>(items: &[T], work: impl Fn(&T) -> R + Sync) -> Vec<R> {
    let (next, done) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(item) = items.get(next.fetch_add(1, Ordering::Relaxed)) {
                    let result = work(item);
                    done.lock().unwrap().push(result);
                }
            });
        }
    });
    done.into_inner().unwrap()
}

/// Returns the kernel files of `testdata` with the options of their suites.
fn suites() -> Vec<(PathBuf, KernelOptions)> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("testdata");
    let mut files: Vec<(PathBuf, KernelOptions)> = Vec::new();
    for folder in std::fs::read_dir(root).unwrap().map(|entry| entry.unwrap().path()).filter(|path| path.is_dir()) {
        for path in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            let name = path.file_name().unwrap().to_string_lossy().into_owned();
            if name.starts_with("suite") && name.ends_with(".toml") {
                let suite = Suite::load(&path).unwrap();
                let options = KernelOptions { suite_options: suite.options.clone(), ..KernelOptions::default() };
                if !files.iter().any(|file| *file == (suite.kernel.clone(), options.clone())) {
                    files.push((suite.kernel, options));
                }
            }
        }
    }
    files
}

#[test]
fn kernels_of_testdata_agree() {
    let files = suites();
    assert!(files.len() >= 10, "only {} kernel files in testdata", files.len());
    let results = spread(&files, |(path, options)| {
        let all = compare::file(path, options).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let text: String = all.iter().filter(|(_, a)| !a.is_full()).map(|(name, a)| report(path, name, a)).collect();
        (text, all.iter().map(|(_, a)| a.equal).sum::<usize>())
    });
    let wrong: String = results.iter().map(|(text, _)| text.as_str()).collect();
    assert!(wrong.is_empty(), "\n{wrong}");
    let sites: usize = results.iter().map(|(_, sites)| sites).sum();
    assert!(sites > 300, "only {sites} sites compared");
}

#[test]
fn tricky_kernels_agree() {
    let head = |source: &str| {
        source
            .replace(
                "K20 {",
                "__kernel void k(__global int *o, volatile __global atomic_int *p, int a, int b, int c) {",
            )
            .replace("K {", "__kernel void k(__global int *o, int a, int b, int c) {")
    };
    let old = tricky::KERNELS.iter().map(|k| ("CL1.2", k));
    let all: Vec<_> = old.chain(tricky::KERNELS_20.iter().map(|k| ("CL2.0", k))).collect();
    assert!(all.len() >= 40);
    let wrong = spread(&all, |(cl_std, (name, sites, source))| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("k.cl");
        std::fs::write(&path, head(source)).unwrap();
        let options = KernelOptions { cl_std: Some((*cl_std).to_owned()), ..KernelOptions::default() };
        let all = match compare::file(&path, &options) {
            Ok(all) => all,
            Err(error) => return format!("{name}: {error}\n"),
        };
        let own: Vec<_> = all.iter().filter(|(function, _)| function.starts_with("k/")).collect();
        let count: usize = own.iter().map(|(_, a)| a.equal + a.only_syntax.len()).sum();
        let mut text: String =
            own.iter().filter(|(_, a)| !a.is_full()).map(|(f, a)| report(Path::new(name), f, a)).collect();
        if count != *sites {
            text += &format!("{name}: {count} sites in the syntax tree, {sites} by hand\n");
        }
        text
    });
    let wrong = wrong.concat();
    assert!(wrong.is_empty(), "\n{wrong}");
}

/// Checks agreement over a folder of other kernels: `KASSAY_KERNELS` names it, `KASSAY_CLANG_ARGS` may give clang's
/// arguments, separated by blanks.
#[test]
#[ignore = "needs KASSAY_KERNELS"]
fn kernels_of_a_folder() {
    let folder = std::env::var("KASSAY_KERNELS").expect("KASSAY_KERNELS names a folder");
    let clang_args: Vec<String> =
        std::env::var("KASSAY_CLANG_ARGS").unwrap_or_default().split_whitespace().map(str::to_owned).collect();
    let mut files = Vec::new();
    kernel_files(Path::new(&folder), &mut files);
    let results = spread(&files, |path| {
        let options = KernelOptions { clang_args: clang_args.clone(), ..KernelOptions::default() };
        (path.clone(), compare::file(path, &options))
    });
    let (mut equal, mut exact, mut ir, mut syntax, mut refused, mut kernels) = (0, 0, 0, 0, 0, 0);
    for (path, result) in results {
        match result {
            Ok(all) => {
                for (name, found) in all {
                    kernels += 1;
                    equal += found.equal;
                    exact += found.exact;
                    ir += found.only_ir.len();
                    syntax += found.only_syntax.len();
                    if !found.is_full() {
                        print!("{}", report(&path, &name, &found));
                    }
                }
            }
            Err(error) => {
                refused += 1;
                println!("{}: refused: {error}", path.display());
            }
        }
    }
    println!(
        "{} files ({refused} refused), {kernels} functions: {equal} sites agree ({exact} to the column), {ir} only in IR, {syntax} only in the syntax tree",
        files.len()
    );
    assert_eq!(ir + syntax, 0);
}

fn kernel_files(folder: &Path, files: &mut Vec<PathBuf>) {
    let mut entries: Vec<PathBuf> = std::fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()).collect();
    entries.sort();
    for path in entries {
        if path.is_dir() {
            kernel_files(&path, files);
        } else if path.extension().is_some_and(|e| e == "cl") {
            files.push(path);
        }
    }
}
