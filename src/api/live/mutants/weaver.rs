//! Weaves the mutants of a host program's kernels before its runs, and hands the layer what a run asks for.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use kassay_base::error::{Error, Result};
use kassay_base::json::{self, Layout};
use kassay_ir::kernel::source::Sources;
use kassay_ir::llvm::Context;
use kassay_judge::coverage::build::{self, KernelFile, OtherKernels};
use kassay_judge::mutation::catalogue::selection::Selection;
use kassay_model::code::Target;
use kassay_results::result::probe_map::{GuardMap, Origin, ProbeMap, Purpose};
use kassay_run::host::protocol::{Ask, Compare, Different, Kernel, Module, Probe, Woven};
use kassay_run::host::{Answers, Code, SourceFiles};
use serde::{Deserialize, Serialize};

use super::super::super::host_kernel::cannot_write;
use super::super::super::options::OpenOptions;
use super::super::super::own_host::{self, File, GuardedPurpose, Weaving, WovenCode};
use super::super::compiled::{Compiled, Weaves, first_form, working};
use super::super::texts::Texts;
use super::super::verified::{self, Comparable};
use super::super::weaver::{arguments, write};

/// How long the mutants of a program may take to be made, proofs of equivalence among it.
const LONGEST: Duration = Duration::from_secs(3600);

/// Loop iterations that a work-item of the original may make.
const ENDLESS: u32 = i32::MAX as u32;

/// A kernel of a program of the host program.
pub type KernelKey = (String, String);

/// A program whose kernels were woven.
#[derive(Debug, Serialize, Deserialize)]
pub struct Program {
    /// By name: what was woven, in files of the spool, or why it was not.
    pub kernels: BTreeMap<String, std::result::Result<ProbeMap, String>>,
    /// By kernel: how long it took to be woven, proofs of equivalence included.
    seconds: BTreeMap<String, f64>,
    comparable: BTreeMap<String, Comparable>,
    pub texts: Texts,
}

impl Program {
    /// Whether its kernels share variables, so that all of them have to run woven.
    fn shares(&self) -> bool {
        let is_variable = |map: &ProbeMap| map.args.iter().any(|arg| matches!(arg.origin, Origin::Variable { .. }));
        self.kernels.values().flatten().any(is_variable)
    }
}

/// What a run of the host program is for: the value of `KASSAY_MUTANT`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "run", rename_all = "kebab-case")]
pub enum RunOf {
    /// Which mutants of the modules of this number are reached, of all kernels.
    Reach { module: usize },
    /// The original in the place of all kernels, or of one.
    Original { only: Option<KernelKey> },
    /// A mutant of one kernel; the others run as they are.
    Mutant { kernel: KernelKey, module: usize, number: u32, fuel: u32 },
}

impl RunOf {
    /// Returns the value of `KASSAY_MUTANT`.
    ///
    /// # Errors
    /// `Internal` if it cannot be written, which does not happen.
    pub fn text(&self) -> Result<String> {
        json::text(self, Layout::Compact)
            .map_err(|error| Error::internal(format!("a run cannot be described: {error}")))
    }
}

/// What mutants are made of which kernels.
pub struct Wanted<'a> {
    pub spool: &'a Path,
    pub open: &'a OpenOptions,
    pub selection: &'a Selection,
}

impl Wanted<'_> {
    /// Weaves kernels of a program; `names` are those that are to have mutants.
    ///
    /// # Errors
    /// Why the program cannot be woven, for people.
    pub fn program(&self, id: &str, names: &BTreeSet<&str>) -> std::result::Result<Program, String> {
        let files = SourceFiles::below(&working(), self.spool).to_bytes();
        let kernels = Kernels {
            spool: self.spool.to_owned(),
            open: self.open.clone(),
            selection: self.selection.to_string(),
            names: names.iter().map(|name| (*name).to_owned()).collect(),
        };
        first_form(&kernels, id, LONGEST, &files)
    }
}

/// Kernels of a program that are to have mutants.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Kernels {
    #[serde(with = "kassay_base::files::paths")]
    spool: PathBuf,
    open: OpenOptions,
    /// As [`Selection`] is written.
    selection: String,
    names: BTreeSet<String>,
}

impl Weaves for Kernels {
    type Woven = Program;

    fn spool(&self) -> &Path {
        &self.spool
    }

    fn form(&self, name: &str, code: &Code, files: &SourceFiles) -> Result<Program> {
        let (selection, names) = (&Selection::parse(&self.selection)?, &self.names);
        let folder = self.spool.join("code").join(name);
        let compiled = Compiled::new(&self.open, &folder, code, files)?;
        let context = Context::create();
        let file = KernelFile::parse(&context, &compiled.loaded)?.for_host_program();
        let sources = build::sources_of(&compiled.path);
        let form = Form { spool: &self.spool, selection, name, compiled: &compiled, file, sources };
        let (mut seconds, mut comparable) = (BTreeMap::new(), BTreeMap::new());
        let woven = |kernel: &String| {
            let started = Instant::now();
            let woven =
                form.kernel(kernel, GuardedPurpose::Mutants, &mut comparable).map_err(|error| error.to_string());
            seconds.insert(kernel.clone(), started.elapsed().as_secs_f64());
            (kernel.clone(), woven)
        };
        let kernels = form.file.kernels.iter().filter(|kernel| names.contains(kernel.as_str())).map(woven).collect();
        let mut program = Program { kernels, seconds, comparable: BTreeMap::new(), texts: compiled.texts.clone() };
        if program.shares() {
            for kernel in form.file.kernels.iter().filter(|kernel| !names.contains(kernel.as_str())) {
                program
                    .kernels
                    .insert(kernel.clone(), Ok(form.kernel(kernel, GuardedPurpose::Guards, &mut comparable)?));
            }
            if let Some((kernel, Err(why))) = program.kernels.iter().find(|(_, woven)| woven.is_err()) {
                let what = format!("kernels of the program share variables, and `{kernel}` cannot be woven: {why}");
                return Err(Error::caller(what));
            }
        }
        program.comparable = comparable;
        Ok(program)
    }
}

/// A compiled program of which kernels are woven.
struct Form<'a, 'c> {
    spool: &'a Path,
    selection: &'a Selection,
    name: &'a str,
    compiled: &'a Compiled,
    file: KernelFile<'c>,
    sources: Sources,
}

impl Form<'_, '_> {
    /// Weaves a kernel into files of the spool, which its map names. What is known of it for comparisons goes to
    /// `comparable`.
    fn kernel(
        &self,
        kernel: &str,
        purpose: GuardedPurpose,
        comparable: &mut BTreeMap<String, Comparable>,
    ) -> Result<ProbeMap> {
        let Compiled { path, open, loaded, .. } = self.compiled;
        let under_test = self.file.under_test(kernel, loaded, &self.sources)?;
        comparable.insert(kernel.to_owned(), Comparable::new(&under_test));
        let weaving = Weaving {
            file: File { path, open, others: &OtherKernels::default(), target: Target::default() },
            under_test: &under_test,
            ast: loaded.ast.as_ref(),
            sources: &self.sources,
            selection: self.selection,
            proofs: true,
        };
        let WovenCode { modules, reach, mut map } = own_host::woven(&weaving, purpose)?;
        // A name in OpenCL C may be long, but not one of a file.
        let kernel = kassay_base::hash::hex_digest(kernel.as_bytes());
        let mut reach = reach.iter();
        for (number, (module, code)) in map.modules.iter_mut().zip(&modules).enumerate() {
            let base = format!("woven/{}-{kernel}-{number}", self.name);
            let write = |file: String, code: &[u8]| {
                let path = self.spool.join(&file);
                write(&path, code).map_err(|error| cannot_write(&path, &error)).map(|()| Some(file))
            };
            module.file = write(format!("{base}.spv"), code)?;
            if let Some(about) = &mut module.reach {
                let code = reach.next().ok_or_else(|| Error::internal("a reach module is missing"))?;
                about.file = write(format!("{base}-reach.spv"), code)?;
            }
        }
        Ok(map)
    }
}

/// Hands out what was woven.
pub struct MutantWeaver {
    programs: BTreeMap<String, Program>,
    /// Kernels that run as they are, whatever a run is of.
    excluded: Mutex<BTreeSet<KernelKey>>,
}

impl MutantWeaver {
    /// `programs`: by id.
    pub fn new(programs: BTreeMap<String, Program>) -> MutantWeaver {
        MutantWeaver { programs, excluded: Mutex::default() }
    }

    /// The programs, by id.
    pub fn programs(&self) -> &BTreeMap<String, Program> {
        &self.programs
    }

    /// Lets a kernel run as it is from now on, with those that share variables with it.
    pub fn exclude(&self, kernel: &KernelKey) {
        let mut excluded = self.excluded.lock().unwrap_or_else(PoisonError::into_inner);
        excluded.insert(kernel.clone());
        if let Some(program) = self.programs.get(&kernel.0).filter(|program| program.shares()) {
            excluded.extend(program.kernels.keys().map(|name| (kernel.0.clone(), name.clone())));
        }
    }

    /// Whether a kernel runs as it is.
    pub fn is_excluded(&self, kernel: &KernelKey) -> bool {
        self.excluded.lock().unwrap_or_else(PoisonError::into_inner).contains(kernel)
    }

    /// Returns how long a kernel took to be woven, in seconds.
    pub fn seconds(&self, (program, kernel): &KernelKey) -> f64 {
        self.programs.get(program).and_then(|program| program.seconds.get(kernel)).copied().unwrap_or(0.0)
    }

    /// Returns the kernels that have mutants.
    pub fn kernels(&self) -> impl Iterator<Item = (KernelKey, &ProbeMap)> {
        let with_ids =
            self.programs.iter().flat_map(|(id, program)| program.kernels.iter().map(move |kernel| (id, kernel)));
        let woven = with_ids.filter_map(|(id, (name, map))| Some(((id.clone(), name.clone()), map.as_ref().ok()?)));
        woven.filter(|(_, map)| map.purpose == Purpose::Mutants)
    }
}

impl Answers for MutantWeaver {
    fn weave(&self, ask: &Ask) -> std::result::Result<Woven, String> {
        let unknown = || "the program did not build it in its first run".to_owned();
        let program = self.programs.get(&ask.program).ok_or_else(unknown)?;
        let text = ask.mutant.as_deref().unwrap_or_default();
        let run: RunOf = json::read(text.as_bytes()).map_err(|error| format!("no run of kassay's: {error}"))?;
        let shares = program.shares();
        let excluded = self.excluded.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let (mut woven, mut variables) = (Woven::default(), HashMap::new());
        for (name, map) in &program.kernels {
            let Ok(map) = map else { continue };
            let key = (ask.program.clone(), name.clone());
            if excluded.contains(&key) {
                continue;
            }
            let Some(Launched { file, options, probe }) = launched(map, &run, &key, shares) else { continue };
            let arguments = arguments(&map.args, &mut woven.variables, &mut variables);
            let (name, module) = (name.clone(), woven.modules.len());
            woven.kernels.push(Kernel { name, module, arguments, probe, unrepeatable: None });
            woven.modules.push(Module { file: file.display().to_string(), options });
        }
        if woven.kernels.is_empty() {
            return Err("none of its kernels has the mutant".to_owned());
        }
        if let RunOf::Original { .. } = run {
            verified::tell(&mut woven, &program.comparable);
        }
        Ok(woven)
    }

    fn compare(&self, ask: &Compare) -> std::result::Result<Vec<Different>, String> {
        let kernel = self.programs.get(&ask.program).and_then(|program| program.comparable.get(&ask.kernel));
        kernel.ok_or("kassay finds no such kernel in its program")?.differences(ask)
    }
}

/// A woven kernel in a run.
struct Launched {
    file: PathBuf,
    options: String,
    probe: Probe,
}

/// Returns what runs in the place of a kernel; `None`: itself. `shares`: whether it shares variables with a kernel that
/// is woven.
fn launched(map: &ProbeMap, run: &RunOf, key: &KernelKey, shares: bool) -> Option<Launched> {
    let guarded = |number: usize, mutant: u32, fuel: u32| {
        let (module, guards) = (map.modules.get(number)?, map.guards.as_ref()?);
        let file = module.file.as_ref()?.into();
        Some(Launched { file, options: module.build_options.clone(), probe: guard_probe(guards, mutant, fuel) })
    };
    match run {
        RunOf::Reach { module } => {
            let Some(reach) = map.modules.get(*module).and_then(|module| module.reach.as_ref()) else {
                return shares.then(|| guarded(0, 0, ENDLESS)).flatten();
            };
            let probe = Probe { words: u64::from(reach.length), set: Vec::new(), sizes: None, bits: None };
            Some(Launched { file: reach.file.as_ref()?.into(), options: reach.build_options.clone(), probe })
        }
        RunOf::Mutant { kernel, module, number, fuel } if kernel == key => guarded(*module, *number, *fuel),
        RunOf::Original { only: None } => guarded(0, 0, ENDLESS),
        RunOf::Original { only: Some(kernel) } | RunOf::Mutant { kernel, .. } => {
            (kernel == key || shares && kernel.0 == key.0).then(|| guarded(0, 0, ENDLESS)).flatten()
        }
    }
}

fn guard_probe(guards: &GuardMap, mutant: u32, fuel: u32) -> Probe {
    let set = vec![(u64::from(guards.fuel), fuel), (u64::from(guards.mutant), mutant)];
    Probe { words: u64::from(guards.length), set, sizes: Some(u64::from(guards.sizes)), bits: None }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_read_back() {
        let kernel = ("p".to_owned(), "k".to_owned());
        for run in [
            RunOf::Reach { module: 2 },
            RunOf::Original { only: None },
            RunOf::Original { only: Some(kernel.clone()) },
            RunOf::Mutant { kernel, module: 0, number: 7, fuel: 1000 },
        ] {
            assert_eq!(serde_json::from_str::<RunOf>(&run.text().unwrap()).unwrap(), run);
        }
    }
}
