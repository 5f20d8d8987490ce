//! What a suite that is not trusted may name: a kernel in its folder, and options for clang that name no files outside.

use std::path::Path;

use kassay_base::error::Result;
use kassay_base::files::{self, Sandbox};

use super::document::{Source, Span};

/// Checks that the kernel's file lies in the sandbox.
///
/// # Errors
/// `Caller`, with its place, if it does not.
pub fn check_kernel(source: &Source, at: &Span, kernel: &Path, sandbox: &Sandbox) -> Result<()> {
    match sandbox.check(kernel) {
        Err(e) if files::is_escape(&e) => Err(source
            .error(at, format!("cannot read the kernel `{}`: {e}", kernel.display()))
            .help(files::escape_help(&e).unwrap_or_default())),
        _ => Ok(()),
    }
}

/// Checks the options for clang: clang has options that write files, load plug-ins and read any file, so only those
/// pass that are known to do none of that.
///
/// # Errors
/// `Caller`, with its place, if another one is given, or a folder for included files that lies outside of the sandbox.
pub fn check_options(source: &Source, at: &Span, options: &[String], sandbox: &Sandbox) -> Result<()> {
    let mut rest = options.iter();
    while let Some(option) = rest.next() {
        let refuse = |what: String| Err(source.error(at, what));
        let folder = match option.as_str() {
            // The value stands alone.
            "-D" | "-U" => {
                rest.next();
                continue;
            }
            "-I" => rest.next().map(String::as_str),
            _ => option.strip_prefix("-I"),
        };
        match folder {
            Some(folder) => {
                if let Err(e) = sandbox.check(Path::new(folder))
                    && files::is_escape(&e)
                {
                    return refuse(format!("cannot search `{folder}` for included files: {e}"))
                        .map_err(|error| error.help(files::escape_help(&e).unwrap_or_default()));
                }
            }
            None if is_harmless(option) => {}
            None => {
                return refuse(format!("--sandbox does not allow the option `{option}` of a suite")).map_err(|error| {
                    error.help("it allows -D, -U, -I, -O, -W, -w, -cl-… and those for floating-point arithmetic; or leave out --sandbox if you trust the suite")
                });
            }
        }
    }
    Ok(())
}

/// Options of clang without files: with the ends that they may have.
fn is_harmless(option: &str) -> bool {
    const WHOLE: [&str; 14] = [
        "-w",
        "-g",
        "-ffast-math",
        "-fno-fast-math",
        "-ffinite-math-only",
        "-fno-finite-math-only",
        "-funsafe-math-optimizations",
        "-fno-unsafe-math-optimizations",
        "-fsigned-zeros",
        "-fno-signed-zeros",
        "-fsigned-char",
        "-funsigned-char",
        "-fblocks",
        "-fwrapv",
    ];
    let is_word = |text: &str| text.chars().all(|c| c.is_ascii_alphanumeric() || "-+.=_".contains(c));
    // `-Wp,…`, `-Wa,…` and `-Wl,…` pass options on.
    WHOLE.contains(&option)
        || ["-D", "-U"].iter().any(|prefix| option.starts_with(prefix))
        || ["-W", "-O", "-ffp-contract="].iter().any(|prefix| option.strip_prefix(prefix).is_some_and(is_word))
        // `-cl-ext=` takes a list.
        || option.strip_prefix("-cl-").is_some_and(|rest| is_word(&rest.replace(',', "")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_pass_that_name_no_files() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("include")).unwrap();
        let sandbox = Sandbox::around(&folder.path().join("suite.toml")).unwrap();
        let source = Source::new("suite.toml", "");
        let check = |options: &[&str]| {
            let options: Vec<String> = options.iter().map(|option| (*option).to_owned()).collect();
            check_options(&source, &(0..0), &options, &sandbox)
        };
        let inside = format!("-I{}", folder.path().join("include").display());
        for good in [
            &["-DN=\"/x\"", "-UN", "-D", "A=/b", "-cl-std=CL2.0", "-cl-ext=+cl_khr_fp64,-all"][..],
            &["-Wall", "-Wno-error=int-conversion", "-Werror", "-w", "-O3", "-cl-fast-relaxed-math"],
            &[&inside, "-ffp-contract=off"],
        ] {
            assert_eq!(check(good), Ok(()), "{good:?}");
        }
        for bad in [
            &["-include", "/etc/passwd"][..],
            &["-I/etc"],
            &["-I", ".."],
            &["-Wp,-MD,/tmp/x"],
            &["-fplugin=/tmp/x.so"],
            &["-Xclang", "-load"],
            &["-MF/tmp/x"],
            &["-o", "x"],
            &["@file"],
            &["--config=x"],
            &["x.cl"],
            &["-isystem", "/usr/include"],
            &["-ivfsoverlay", "x"],
        ] {
            assert!(check(bad).is_err(), "{bad:?}");
        }
    }
}
