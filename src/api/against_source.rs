//! What the driver's own compiler makes of a kernel's text, for a comparison with what it makes of kassay's code.

use std::path::Path;

use kassay_model::interface::Type;
use kassay_model::kernel_files::KernelFile;
use kassay_model::options::{KernelOptions, Language};
use kassay_results::result::run::{AgainstSource, Comparison};
use kassay_run::exec::{Code, Fault, Observation};
use kassay_suite::compare;
use kassay_suite::resolve::Test;

use super::opened::Opened;

/// How often the source runs again to see whether it leaves the same each time.
pub const REPETITIONS: u32 = 3;

/// Options of clang that drivers do not have, and without which a kernel means the same.
const WITHOUT_MEANING: [&str; 4] = ["-g", "-W", "-O", "-fno-discard-value-names"];

/// Returns the kernel's text for the driver, with its options.
///
/// # Errors
/// Why the driver cannot be given it, for people.
pub fn code(opened: &Opened) -> Result<Code, String> {
    let path = opened.kernel_path();
    if KernelFile::of(path) != Some(KernelFile::OpenClC) {
        return Err(format!("{} is no OpenCL C, which a driver compiles", path.display()));
    }
    if opened.kernel_options().sandbox.is_some() {
        // It includes whatever file the text names, and quotes it in its messages.
        return Err("a driver's compiler knows no sandbox".to_owned());
    }
    if let Some(arg) = opened.interface().args.iter().find(|arg| !arg.is_parameter()) {
        return Err(format!(
            "the kernel reaches {}, which tests give it as an argument of its own",
            arg.display_name()
        ));
    }
    let text = std::fs::read(path).map_err(|error| format!("{} cannot be read: {error}", path.display()))?;
    Ok(Code::source(text, opened.entry(), driver_options(path, opened.kernel_options())?))
}

/// Returns options of a kernel as a driver takes them.
fn driver_options(path: &Path, options: &KernelOptions) -> Result<String, String> {
    let language = options.language(path);
    if language != Language::OpenClC {
        return Err(format!("drivers do not compile {}", language.name()));
    }
    let mut all = vec![format!("-cl-std={}", options.effective_cl_std(language))];
    let given = options.as_arguments();
    let mut words = given.iter();
    while let Some(word) = words.next() {
        if word.starts_with("-cl-std=") || WITHOUT_MEANING.iter().any(|start| word.starts_with(start)) {
            continue;
        }
        match word.as_str() {
            "-D" | "-I" => all.push(format!("{word}{}", words.next().map_or("", String::as_str))),
            _ if ["-D", "-I", "-cl-", "-w"].iter().any(|start| word.starts_with(start)) => all.push(word.clone()),
            _ => return Err(format!("drivers have no option `{word}`")),
        }
    }
    // Where clang looks for what the file includes.
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let folder = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
    all.push(format!("-I{}", folder.display()));
    Ok(all.iter().map(|word| quoted(word)).collect::<Vec<_>>().join(" "))
}

fn quoted(word: &str) -> String {
    if word.contains([' ', '\t']) { format!("\"{word}\"") } else { word.to_owned() }
}

/// Compares what a test's launches have left: kassay's code, and the source. `types`: of the arguments' memory,
/// by position; `again` runs the source once more.
pub fn compared<E>(
    test: &Test,
    types: &[Option<Type>],
    own: &Result<Observation, Fault>,
    source: &Result<Observation, Fault>,
    mut again: impl FnMut() -> Result<Result<Observation, Fault>, E>,
) -> Result<AgainstSource, E> {
    let said = |comparison: Comparison, message: String| AgainstSource { comparison, message: Some(message) };
    let (own, source) = match (own, source) {
        (Ok(own), Ok(source)) => (own, source),
        (Err(fault), Ok(_)) => {
            let message = format!("kassay's code {fault}, what the driver compiles does not");
            return Ok(said(Comparison::Differs, message));
        }
        (_, Err(fault)) => {
            return Ok(said(Comparison::NotCompared, format!("what the driver compiles {fault}")));
        }
    };
    let Some((message, position)) = difference(test, types, own, source) else {
        let comparison = if own.outputs == source.outputs { Comparison::Same } else { Comparison::Rounding };
        return Ok(AgainstSource { comparison, message: None });
    };
    for _ in 0..REPETITIONS {
        let repeated = again()?;
        if repeated.is_err() || repeated.is_ok_and(|repeated| left(&repeated, position) != left(source, position)) {
            let message = format!("what the driver compiles leaves something else each time ({message})");
            return Ok(said(Comparison::NotReproduced, message));
        }
    }
    Ok(said(Comparison::Differs, message))
}

fn left(observation: &Observation, position: u32) -> &[u8] {
    observation.outputs.iter().find(|(of, _)| *of == position).map_or(&[], |(_, bytes)| bytes)
}

/// Returns the first difference that is more than rounding, and the position of its argument.
fn difference(test: &Test, types: &[Option<Type>], own: &Observation, source: &Observation) -> Option<(String, u32)> {
    test.outputs.iter().find_map(|output| {
        // An image has the type of its texels.
        let ty = types.get(output.position as usize).and_then(Option::as_ref).unwrap_or(&output.ty);
        let (own, source) = (left(own, output.position), left(source, output.position));
        let compared = compare::beyond_rounding(source, own, Some(ty))?;
        let message = compared.message("what the driver compiles", "kassay's code")?;
        Some((format!("{}: {message}", output.label), output.position))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_are_those_that_drivers_have() {
        let path = Path::new("/k/a.cl");
        let given = |words: &[&str]| KernelOptions {
            clang_args: words.iter().map(|word| (*word).to_owned()).collect(),
            defines: vec!["N=4".to_owned(), "T=unsigned int".to_owned()],
            ..KernelOptions::default()
        };
        assert_eq!(
            driver_options(path, &given(&["-cl-std=CL2.0", "-O2", "-Wall", "-D", "X", "-cl-fast-relaxed-math"]))
                .unwrap(),
            "-cl-std=CL2.0 -DN=4 \"-DT=unsigned int\" -DX -cl-fast-relaxed-math -I/k"
        );
        assert_eq!(
            driver_options(path, &given(&["-include", "x.h"])).unwrap_err(),
            "drivers have no option `-include`"
        );
    }
}
