//! Reads SPIR-V files: checks them, sets specialisation constants, and has them translated to LLVM bitcode.

use std::fs;
use std::path::Path;
use std::time::Instant;

use kassay_base::error::{Error, Result};
use kassay_base::external_tools::How;
use kassay_base::files::private::PrivateFolder;
use kassay_model::options::KernelOptions;

use super::super::module;
use super::assembler;
use super::check::{self, Refusal};
use super::line_scopes;
use super::opaque;
use super::specialisation::{self, SpecConstant};
use super::synchronisation;
use super::translator;
use super::unscoped_values;
use super::validator::{self, Verdict};
use super::words::Words;

/// A module that has been translated.
#[derive(Debug)]
pub struct Spirv {
    /// The module, with the values of its specialisation constants.
    pub words: Words,
    /// The specialisation constants, by number.
    pub constants: Vec<SpecConstant>,
    /// What the module became.
    pub bitcode: Vec<u8>,
    /// What spirv-val says about the module, if the options ask for it; otherwise empty.
    pub validation: String,
}

/// Reads a module.
///
/// # Errors
/// Caller: it is malformed, is no kernel, or has no specialisation constant that the options name. Environment: no
/// translator. Internal: the translator crashes on what seems to be a valid module.
pub fn read(source: &Path, bytes: &[u8], options: &KernelOptions) -> Result<Spirv> {
    let Prepared { words, constants, input: prepared } = prepare(source, bytes, options)?;
    let failed = |error: std::io::Error| Error::environment(format!("no temporary files for llvm-spirv: {error}"));
    let folder = PrivateFolder::temporary().map_err(failed)?;
    let (module, input) = (folder.path().join("module.spv"), folder.path().join("kernel.spv"));
    fs::write(&module, words.bytes()).map_err(failed)?;
    fs::write(&input, prepared.bytes()).map_err(failed)?;
    let validate = || validator::ask(&module, words.version());
    let validation = match options.validate.then(validate) {
        Some(verdict) => validation_note(source, verdict),
        None => String::new(),
    };
    let bitcode = translate(source, &input, &folder.path().join("kernel.bc"), validate, options.deadline)?;
    Ok(Spirv { words, constants, bitcode, validation })
}

/// A module that has been checked.
#[derive(Debug)]
pub struct Prepared {
    /// The module, with the values of its specialisation constants.
    pub words: Words,
    /// The specialisation constants, by number.
    pub constants: Vec<SpecConstant>,
    /// What translators are given.
    pub input: Words,
}

/// Checks a module, sets its specialisation constants and rewrites it for translators.
///
/// # Errors
/// Caller: it is malformed, is no kernel, or has no specialisation constant that the options name.
pub fn prepare(source: &Path, bytes: &[u8], options: &KernelOptions) -> Result<Prepared> {
    let refused = |refusal: Refusal| {
        Error::caller(format!("{} is no SPIR-V module that kassay can take: {refusal}", source.display()))
            .help("give a SPIR-V module for OpenCL with 64-bit addresses, whole and as its compiler wrote it")
    };
    let given = Words::parse(bytes).map_err(|malformed| refused(malformed.into()))?;
    check::check(&given).map_err(refused)?;
    let mut constants = specialisation::constants(&given);
    specialisation::assign(&mut constants, &options.spec)?;
    let words = specialisation::set(&given, &constants);
    let hidden = opaque::hide(&words, &specialisation::ids(&constants, &options.varying_spec));
    let sayable = synchronisation::prepare(&hidden).map_err(|unsayable| refused(unsayable.into()))?;
    let input = line_scopes::add(&unscoped_values::remove(&check::normalise(&sayable)));
    Ok(Prepared { words, constants, input })
}

/// Assembles SPIR-V text and reads the module.
///
/// # Errors
/// As [`read`]; Caller, with its place, if the text is wrong; Environment if spirv-as is missing.
pub fn read_text(source: &Path, text: &[u8], options: &KernelOptions) -> Result<Spirv> {
    read(source, &assembler::assemble(source, text, options.deadline)?, options)
}

/// Translates with the first translator that does not crash.
fn translate(
    source: &Path,
    input: &Path,
    output: &Path,
    validate: impl Fn() -> Verdict,
    deadline: Option<Instant>,
) -> Result<Vec<u8>> {
    let mut crashes = String::new();
    for translator in translator::find()? {
        let ended = translator.translate(input, output, deadline)?;
        let said = ended.output.trim_end();
        match ended.how {
            How::Succeeded => {
                let failed = |error| Error::environment(format!("the output of llvm-spirv cannot be read: {error}"));
                let bitcode = fs::read(output).map_err(failed)?;
                match module::read_apart(source, bitcode, deadline)? {
                    Ok(bitcode) => return Ok(bitcode),
                    Err(how) => crashes += &format!("LLVM {how} on what {} made\n", translator.path.display()),
                }
            }
            // Whether an older one would refuse what a newer one crashed on says nothing about the module.
            How::Refused if !crashes.is_empty() => crashes += &format!("{}: {said}\n", translator.path.display()),
            How::Refused => {
                return Err(Error::caller(format!("{} cannot be translated to LLVM IR", source.display()))
                    .details(with_verdict(said, validate()))
                    .help("give the .ll, .bc or .cl it was made from"));
            }
            How::Crashed(how) => crashes += &format!("{} {how}: {said}\n", translator.path.display()),
        }
    }
    let what = format!("{} cannot be translated to LLVM IR", source.display());
    // A module that is invalid has no claim to more.
    match validate() {
        Verdict::Invalid(why) => {
            Err(Error::caller(format!("{what}: spirv-val rejects it")).details(why).help("correct the module"))
        }
        Verdict::Valid | Verdict::None => Err(Error::internal(format!("{what}: llvm-spirv or LLVM crashed"))
            .details(crashes)
            .help("this is a bug of these tools; give the .ll, .bc or .cl the module was made from")),
    }
}

fn with_verdict(said: &str, verdict: Verdict) -> String {
    match verdict {
        Verdict::Invalid(why) => format!("{said}\nspirv-val: {why}"),
        Verdict::Valid | Verdict::None => said.to_owned(),
    }
}

/// Writes the validator's verdict for a reader.
fn validation_note(source: &Path, verdict: Verdict) -> String {
    match verdict {
        Verdict::Valid => format!("note: spirv-val finds {} valid\n", source.display()),
        Verdict::Invalid(why) => format!("note: spirv-val rejects {}: {why}\n", source.display()),
        Verdict::None => "note: there is no spirv-val that could check the module\n".to_owned(),
    }
}
