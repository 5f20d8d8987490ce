//! Assembles SPIR-V text with spirv-as.

use std::fs;
use std::path::Path;

use kassay_base::error::{Error, Place, Report, Result};
use kassay_base::external_tools::{How, SPIRV_AS, run};
use kassay_base::files::private::PrivateFolder;

/// Assembles a file of SPIR-V text with this content to a module.
///
/// # Errors
/// Caller, with its place, if the text is wrong; Environment if spirv-as or temporary files are missing; Internal if it
/// crashes.
pub(super) fn assemble(source: &Path, text: &[u8], deadline: Option<std::time::Instant>) -> Result<Vec<u8>> {
    let program = SPIRV_AS.find()?;
    let failed = |error: std::io::Error| Error::environment(format!("no temporary files for spirv-as: {error}"));
    let folder = PrivateFolder::temporary().map_err(failed)?;
    let (input, output) = (folder.path().join("kernel.spvasm"), folder.path().join("kernel.spv"));
    fs::write(&input, text).map_err(failed)?;
    let environment = format!("spv{}", version(text));
    let arguments = ["--target-env".into(), environment.into(), "-o".into(), output.clone().into(), input.into()];
    let ended = run(&program, &arguments, deadline)?;
    match ended.how {
        How::Succeeded => fs::read(&output).map_err(failed),
        How::Refused => Err(refusal(source, text, &ended.output)),
        How::Crashed(how) => Err(Error::internal(format!("spirv-as {how} on {}", source.display()))
            .details(ended.output)
            .help("this is a bug of that tool; give the module as .spv")),
    }
}

/// The version that the text gives in its heading, as spirv-dis writes it ("; Version: 1.2"), or else the newest.
fn version(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let heading = text.lines().take_while(|line| line.trim().is_empty() || line.trim_start().starts_with(';'));
    let versions = heading.filter_map(|line| line.trim_start_matches([';', ' ']).strip_prefix("Version: "));
    let known = |version: &&str| ["1.0", "1.1", "1.2", "1.3", "1.4", "1.5", "1.6"].contains(version);
    versions.map(str::trim).find(known).unwrap_or("1.6").to_owned()
}

/// The error for what spirv-as writes: `error: LINE: COLUMN: what`.
fn refusal(source: &Path, text: &[u8], output: &str) -> Error {
    let mut report = Report::new(format!("{} cannot be assembled", source.display()));
    report.help = Some("correct the text; `spirv-dis` shows how a module is written".to_owned());
    let message = output.lines().find_map(|line| line.strip_prefix("error: "));
    let located = message.and_then(|message| {
        let (line, rest) = message.split_once(": ")?;
        let (column, what) = rest.split_once(": ")?;
        Some((line.parse::<u32>().ok()?, column.parse::<u32>().ok()?, what))
    });
    match located {
        Some((line, column, what)) => {
            let shown = text.split(|&byte| byte == b'\n').nth(line.saturating_sub(1) as usize);
            let shown = shown.map(|shown| String::from_utf8_lossy(shown).trim_end().to_owned());
            report.place = Some(Place { file: source.to_owned(), line, column, text: shown });
            report.what = format!("{}: {}", report.what, what.trim_end_matches('.'));
        }
        None => report.details = Some(output.to_owned()),
    }
    Error::Caller(Box::new(report))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_heading_decides_the_version() {
        assert_eq!(version(b"; SPIR-V\n; Version: 1.2\n; Bound: 3\nOpCapability Kernel\n"), "1.2");
        assert_eq!(version(b"OpCapability Kernel\n; Version: 1.2\n"), "1.6");
        assert_eq!(version(b"; Version: 9.9\n"), "1.6");
    }

    #[test]
    fn errors_have_a_place() {
        let error = refusal(Path::new("k.spvasm"), b"OpA\n  OpB x\n", "error: 2: 7: Invalid thing 'x'.\n");
        let place = error.report().place.clone().unwrap();
        assert_eq!((place.line, place.column, place.text.as_deref()), (2, 7, Some("  OpB x")));
        assert_eq!(error.report().what, "k.spvasm cannot be assembled: Invalid thing 'x'");
        let other = refusal(Path::new("k.spvasm"), b"", "error: something else\n");
        assert_eq!(other.report().details.as_deref(), Some("error: something else\n"));
    }
}
