//! Checks that the sites which `cfg` reads from the IR agree one by one with the constructs of clang's syntax tree:
//! over the kernels of `testdata`, over tricky ones, and over any folder of kernels that a user names.

mod compare;
mod tricky;

use std::path::Path;

use kassay_model::options::KernelOptions;

use crate::common::kernels::{self, source_file};
use crate::common::testdata::{files_below, kernel_files};
use crate::common::threads::spread;
use compare::Agreement;

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

#[test]
fn kernels_of_testdata_agree() {
    let files = kernel_files();
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
        let (_folder, path) = source_file(&head(source));
        let all = match compare::file(&path, &kernels::cl_std(cl_std)) {
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
    let files = files_below(Path::new(&folder), "cl");
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
