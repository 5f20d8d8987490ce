//! `kassay lower`: produces the code that a device would get, for inspection or for other tools.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use kassay_base::error::{Error, Result};
use kassay_model::kernel_files;
use kassay_results::result::store;

use super::options::{KernelFlags, print};
use super::terminal::Terminal;
use crate::api::{CodeForm, LowerOptions, LoweredForm, LoweringStage, lower};

/// Values of `--print`: a stage of lowering, whose LLVM IR is printed (docs/lower.md).
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum StageFlag {
    /// The canonical form
    Canonical,
    /// The canonical form with coverage probes
    Woven,
    /// The same after inlining and promotion of memory to registers
    Prepared,
    /// Code for the simulator before optimisation: inlined, with bounds checks (and probes, with --coverage)
    Host,
    /// The same with a call at every access, for race detection
    HostRaces,
}

/// Values of `--target`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum TargetFlag {
    /// SPIR-V 1.2
    Spirv,
    /// PTX, for NVIDIA's OpenCL driver
    Ptx,
}

/// Lower a kernel to SPIR-V 1.2 or PTX, plain or with probes, mutants or guards for a host program of your own
#[derive(Debug, Args)]
pub struct LowerArgs {
    #[arg(help = format!("A {} file", kernel_files::all_listed()))]
    pub kernel: PathBuf,
    /// Write the code to a file
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// The form of the code
    #[arg(long, value_name = "FORM", default_value = "spirv", conflicts_with = "print")]
    pub target: TargetFlag,
    /// Insert coverage probes; the kernel gets an additional last argument, `global uint *`
    #[arg(long, conflicts_with_all = ["mutants", "guards"])]
    pub coverage: bool,
    /// Let coverage probes count work-items, which need a buffer with a slot for each
    #[arg(long, requires = "coverage", conflicts_with = "print")]
    pub counts: bool,
    /// Let coverage probes record the test vectors of decisions, for MC/DC
    #[arg(long, requires = "coverage", conflicts_with = "print")]
    pub mcdc: bool,
    /// Insert mutants, selected by a number in an additional last argument, and guards; of more than 1500 mutants, the
    /// others follow in files with the numbers -2, -3 ...
    #[arg(long, conflicts_with_all = ["guards", "print"])]
    pub mutants: bool,
    /// Insert guards, which record accesses out of bounds, divisions by zero and endless loops
    #[arg(long, conflicts_with = "print")]
    pub guards: bool,
    /// Write what a host program has to know of the additional argument
    #[arg(long, value_name = "FILE", requires = "output")]
    pub map: Option<PathBuf>,
    /// Operators of mutants: all, peng, liu, mutgpu, or a list such as ROR,AOR
    #[arg(long, value_name = "LIST", default_value = "all", requires = "mutants")]
    pub operators: String,
    /// Do not ask the solver which mutants are equivalent to the original
    #[arg(long, requires = "mutants")]
    pub no_proofs: bool,
    /// Print the LLVM IR of a stage instead
    #[arg(long, value_name = "STAGE", conflicts_with = "output")]
    pub print: Option<StageFlag>,
    /// Weave coverage probes into this kernel, too, or into all: the module has several; each has a map of its own
    #[arg(long = "kernel", value_name = "NAME|all", requires = "coverage", conflicts_with_all = ["print", "entry"])]
    pub kernels: Vec<String>,
    #[command(flatten)]
    pub options: KernelFlags,
}

/// Lowers a kernel. Returns the exit code.
///
/// # Errors
/// `Caller` if the kernel cannot be compiled or the flags are wrong; `Environment` if the output cannot be written.
pub fn run(args: &LowerArgs) -> Result<u8> {
    for path in [&args.output, &args.map].into_iter().flatten() {
        store::check_writable(path)?;
    }
    if args.map.is_some() && !(args.coverage || args.mutants || args.guards) {
        return Err(Error::caller("--map describes what is woven into the kernel, and nothing is")
            .help("add --coverage, --mutants or --guards"));
    }
    let open = args.options.open_options(Terminal::new(true, false));
    for lowered in lower(&args.kernel, &open, &args.options())? {
        match (lowered.form?, &args.output) {
            (LoweredForm::Ir(text), _) => print(&text)?,
            (LoweredForm::Code { bytes, .. }, Some(path)) => write(&bytes, path)?,
            (LoweredForm::Woven { modules, reach, mut map }, Some(path)) => {
                for (number, (bytes, module)) in (1..).zip(modules.iter().zip(&mut map.modules)) {
                    let path = numbered(path, number);
                    write(bytes, &path)?;
                    module.file = Some(path.display().to_string());
                }
                let with_reach =
                    (1..).zip(&mut map.modules).filter_map(|(number, m)| Some((number, m.reach.as_mut()?)));
                for (bytes, (number, module)) in reach.iter().zip(with_reach) {
                    let path = reach_path(&numbered(path, number));
                    write(bytes, &path)?;
                    module.file = Some(path.display().to_string());
                }
                let map_path = args.map.as_ref().map(|path| args.map_path(path, &lowered.kernel));
                map_path.map_or(Ok(()), |path| store::write(&*map, &path))?;
            }
            (LoweredForm::Woven { modules, map, .. }, None) => {
                for (bytes, module) in modules.iter().zip(&map.modules) {
                    print(&format!("{}: {} bytes of {}\n", lowered.kernel, bytes.len(), module.format))?;
                }
            }
            (LoweredForm::Code { format, bytes }, None) => {
                print(&format!("{}: {} bytes of {format}\n", lowered.kernel, bytes.len()))?;
            }
        }
    }
    Ok(0)
}

fn write(bytes: &[u8], path: &Path) -> Result<()> {
    std::fs::write(path, bytes).map_err(|e| Error::environment(format!("{} cannot be written: {e}", path.display())))
}

/// Returns the path of a module by its number, from 1: `k.spv`, `k-2.spv`, `k-3.spv`.
fn numbered(path: &Path, number: u32) -> PathBuf {
    let part = |part: Option<&OsStr>| part.map(|part| part.to_string_lossy().into_owned());
    match (number, part(path.file_stem()), part(path.extension())) {
        (1, ..) | (_, None, _) => path.to_owned(),
        (_, Some(stem), Some(extension)) => path.with_file_name(format!("{stem}-{number}.{extension}")),
        (_, Some(stem), None) => path.with_file_name(format!("{stem}-{number}")),
    }
}

/// Returns the path of a module's reach module: `k.reach.spv` beside `k.spv`.
fn reach_path(path: &Path) -> PathBuf {
    let part = |part: Option<&OsStr>| part.map(|part| part.to_string_lossy().into_owned());
    match (part(path.file_stem()), part(path.extension())) {
        (Some(stem), Some(extension)) => path.with_file_name(format!("{stem}.reach.{extension}")),
        (stem, _) => path.with_file_name(format!("{}.reach", stem.unwrap_or_default())),
    }
}

impl LowerArgs {
    /// Returns the path of a kernel's map: with `--kernel`, `k.NAME.map.json` beside `k.map.json`.
    fn map_path(&self, path: &Path, kernel: &str) -> PathBuf {
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        match name.split_once('.') {
            _ if self.kernels.is_empty() => path.to_owned(),
            Some((stem, extension)) => path.with_file_name(format!("{stem}.{kernel}.{extension}")),
            None => path.with_file_name(format!("{name}.{kernel}")),
        }
    }

    pub(super) fn options(&self) -> LowerOptions {
        LowerOptions::new()
            .coverage(self.coverage)
            .counts(self.counts)
            .mcdc(self.mcdc)
            .kernels(self.kernels.clone())
            .others(self.output.is_some())
            .proofs(!self.no_proofs)
            .mutants(self.mutants)
            .guards(self.guards)
            .operators(self.operators.clone())
            .stage(self.print.map(Into::into))
            .target(match self.target {
                TargetFlag::Spirv => CodeForm::SpirV,
                TargetFlag::Ptx => CodeForm::Ptx,
            })
            .single(self.output.is_some() || self.print.is_some())
    }
}

impl From<StageFlag> for LoweringStage {
    fn from(flag: StageFlag) -> LoweringStage {
        match flag {
            StageFlag::Canonical => LoweringStage::Canonical,
            StageFlag::Woven => LoweringStage::Woven,
            StageFlag::Prepared => LoweringStage::Prepared,
            StageFlag::Host => LoweringStage::Host,
            StageFlag::HostRaces => LoweringStage::HostRaces,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn further_modules_are_numbered() {
        let name = |path: &str, number| numbered(Path::new(path), number).display().to_string();
        assert_eq!(name("out/k.spv", 1), "out/k.spv");
        assert_eq!(name("out/k.spv", 2), "out/k-2.spv");
        assert_eq!(name("k", 10), "k-10");
        let reach = |path: &str, number| reach_path(&numbered(Path::new(path), number)).display().to_string();
        assert_eq!(reach("out/k.spv", 1), "out/k.reach.spv");
        assert_eq!(reach("k", 2), "k-2.reach");
    }
}
