//! Weaves coverage probes into the kernels of a host program's programs, when the layer asks for them.

use std::collections::{BTreeMap, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;

use kassay_base::error::{Error, Result};
use kassay_ir::kernel::compile::Loaded;
use kassay_ir::kernel::source::Sources;
use kassay_ir::llvm::Context;
use kassay_judge::coverage::build::{self, KernelFile, KernelUnderTest, OtherKernels};
use kassay_judge::coverage::own_host::Reader;
use kassay_model::code::Target;
use kassay_results::result::probe_map::{Arg, CoverageMap, Origin, ProbeMap, SlotsOf};
use kassay_run::host::protocol::{
    Argument, Ask, Bits, Compare, Different, Kernel, Module, Plain, Probe, Variable, Woven,
};
use kassay_run::host::{self, Answers, Code, SourceFiles, Variant};
use serde::{Deserialize, Serialize};

use super::super::host_kernel::cannot_write;
use super::super::options::OpenOptions;
use super::super::own_host::{self, File};
use super::compiled::{self, Compiled, Weaves, working};
use super::texts::Texts;
use super::verified::{self, Comparable};

/// Slots of a probe buffer, at most: with more, fewer work-groups share one, and more barriers are seen to be reached
/// by whole groups.
const MOST_SLOTS: u64 = 256;
/// Words of all slots together, at most, if one slot fits.
const MOST_WORDS: u64 = 1 << 16;

/// How long a program may take: a little less than the layer waits.
const LONGEST: Duration = Duration::from_secs(110);

/// Weaves programs, each once.
pub struct CoverageWeaver {
    wanted: Wanted,
    /// The files in which texts of programs are looked for, listed when they are first needed, and encoded.
    files: OnceLock<Vec<u8>>,
    programs: Mutex<HashMap<String, Arc<OnceLock<Weaving>>>>,
}

/// What is woven, and how.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct Wanted {
    #[serde(with = "kassay_base::files::paths")]
    spool: PathBuf,
    open: OpenOptions,
    /// Whether test vectors of decisions are recorded.
    mcdc: bool,
    /// Shell patterns of which one must match a kernel's name; none: all kernels.
    kernels: Vec<String>,
    /// Slots of a probe buffer, at most.
    slots: u64,
}

/// A program that was woven, or why it was not.
type Weaving = std::result::Result<Arc<Program>, String>;

/// A woven program.
#[derive(Debug, Serialize, Deserialize)]
pub struct Program {
    answer: Woven,
    /// By name.
    kernels: BTreeMap<String, WovenKernel>,
    comparable: BTreeMap<String, Comparable>,
    pub texts: Texts,
    /// What it is a variant of, if it has a source.
    pub variant: Option<Variant>,
}

/// A kernel with probes.
#[derive(Debug, Serialize, Deserialize)]
pub struct WovenKernel {
    pub coverage: CoverageMap,
    /// Remarks about its sites.
    pub notes: Vec<String>,
}

impl Program {
    /// Returns a woven kernel; or why it was not woven.
    pub fn kernel(&self, name: &str) -> std::result::Result<&WovenKernel, String> {
        let plain = || self.answer.plain.iter().find(|plain| plain.kernel == name);
        let reason = || plain().map_or("kassay finds no such kernel in its program".to_owned(), |p| p.reason.clone());
        self.kernels.get(name).ok_or_else(reason)
    }
}

impl Answers for CoverageWeaver {
    fn weave(&self, ask: &Ask) -> std::result::Result<Woven, String> {
        let program = Arc::clone(
            self.programs.lock().unwrap_or_else(PoisonError::into_inner).entry(ask.program.clone()).or_default(),
        );
        program
            .get_or_init(|| self.program(&ask.program))
            .as_ref()
            .map(|woven| woven.answer.clone())
            .map_err(Clone::clone)
    }

    fn compare(&self, ask: &Compare) -> std::result::Result<Vec<Different>, String> {
        let program = self.woven(&ask.program).ok_or("the program was not asked for")??;
        let kernel = program.comparable.get(&ask.kernel).ok_or("kassay finds no such kernel in its program")?;
        kernel.differences(ask)
    }
}

impl CoverageWeaver {
    /// Weaves programs that the layer describes in a spool. `open` says how kernels are compiled.
    pub fn new(spool: &Path, open: &OpenOptions, mcdc: bool, kernels: Vec<String>) -> CoverageWeaver {
        let wanted = Wanted { spool: spool.to_owned(), open: open.clone(), mcdc, kernels, slots: MOST_SLOTS };
        CoverageWeaver { wanted, files: OnceLock::new(), programs: Mutex::default() }
    }

    /// The same with one slot for all work-groups: enough to see whether a launch covers anything new.
    pub fn with_one_slot(self) -> CoverageWeaver {
        CoverageWeaver { wanted: Wanted { slots: 1, ..self.wanted }, ..self }
    }

    /// Returns a program that was asked for; the inner error says why it was not woven.
    pub fn woven(&self, program: &str) -> Option<Weaving> {
        let programs = self.programs.lock().unwrap_or_else(PoisonError::into_inner);
        programs.get(program)?.get().cloned()
    }

    fn program(&self, id: &str) -> Weaving {
        let files = self.files.get_or_init(|| SourceFiles::below(&working(), &self.wanted.spool).to_bytes());
        compiled::first_form(&self.wanted, id, LONGEST, files).map(Arc::new)
    }
}

impl Weaves for Wanted {
    type Woven = Program;

    fn spool(&self) -> &Path {
        &self.spool
    }

    fn form(&self, name: &str, code: &Code, files: &SourceFiles) -> Result<Program> {
        let folder = self.spool.join("code").join(name);
        let Compiled { path, open, loaded, texts } = Compiled::new(&self.open, &folder, code, files)?;
        let context = Context::create();
        let file = KernelFile::parse(&context, &loaded)?.for_host_program();
        let sources = build::sources_of(&path);
        let parts =
            Parts { file: &file, loaded: &loaded, sources: &sources, path: &path, open: &open, mcdc: self.mcdc };
        let mut comparable = BTreeMap::new();
        let (modules, plain) = parts.weave(&self.kernels, &mut comparable);
        let shared = |map: &ProbeMap| map.args.iter().any(|arg| matches!(arg.origin, Origin::Variable { .. }));
        if let Some(first) = plain.first()
            && modules.iter().flat_map(|module| &module.maps).any(shared)
        {
            return Err(Error::caller(format!(
                "kernels of the program share variables, and `{}` cannot be woven: {}",
                first.kernel, first.reason
            )));
        }
        let (mut answer, kernels) = self.answer(name, modules, plain)?;
        verified::tell(&mut answer, &comparable);
        Ok(Program { answer, kernels, comparable, texts, variant: Variant::of(code) })
    }
}

impl Wanted {
    /// Writes modules, and says how their kernels are launched.
    fn answer(
        &self,
        name: &str,
        modules: Vec<WovenModule>,
        plain: Vec<Plain>,
    ) -> Result<(Woven, BTreeMap<String, WovenKernel>)> {
        let mut answer = Woven { plain, ..Woven::default() };
        let (mut kernels, mut variables) = (BTreeMap::new(), HashMap::new());
        for (number, WovenModule { code, options, maps }) in modules.into_iter().enumerate() {
            let file = format!("woven/{name}-{number}.spv");
            let path = self.spool.join(&file);
            write(&path, &code).map_err(|error| cannot_write(&path, &error))?;
            answer.modules.push(Module { file, options });
            for map in maps {
                let arguments = arguments(&map.args, &mut answer.variables, &mut variables);
                let Some(coverage) = map.coverage else { continue };
                let words = words(&coverage, self.slots);
                let (first, stride) = (u64::from(coverage.header_words), u64::from(coverage.slot_words));
                let bits = Some(Bits { first, stride, words: u64::from(coverage.bit_words) });
                let bits = bits.filter(|bits| bits.words > 0);
                let probe = Probe { words, set: Reader::first_words(&coverage, words).collect(), sizes: None, bits };
                let kernel = map.header.kernel;
                answer.kernels.push(Kernel {
                    name: kernel.clone(),
                    module: number,
                    arguments,
                    probe,
                    unrepeatable: None,
                });
                kernels.insert(kernel, WovenKernel { coverage, notes: map.notes });
            }
        }
        Ok((answer, kernels))
    }
}

/// Returns what the arguments of a woven kernel are given. `known`: positions in `variables`, which all kernels of a
/// program share, by name.
pub(super) fn arguments(
    args: &[Arg],
    variables: &mut Vec<Variable>,
    known: &mut HashMap<Option<String>, usize>,
) -> Vec<Argument> {
    let mut argument = |arg: &Arg| match &arg.origin {
        Origin::Parameter => Argument::Parameter { index: arg.position },
        Origin::Member { parameter, offset } => Argument::Member { index: *parameter, offset: *offset },
        Origin::Variable { size, initial } => {
            let new = variables.len();
            let known = *known.entry(arg.name.clone()).or_insert(new);
            if known == new {
                variables.push(Variable { size: *size, initial: initial.clone() });
            }
            Argument::Variable { variable: known }
        }
        Origin::Probe => Argument::Probe,
    };
    args.iter().map(&mut argument).collect()
}

/// Returns the length of a kernel's probe buffer with this many slots at most.
fn words(coverage: &CoverageMap, slots: u64) -> u64 {
    let slot = u64::from(coverage.slot_words).max(1);
    u64::from(coverage.header_words) + slot * (MOST_WORDS / slot).clamp(1, slots)
}

/// Writes a file by rename, so that it is whole if it is there.
pub(super) fn write(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder)?;
    let mut file = tempfile::Builder::new().prefix(".new-").tempfile_in(folder)?;
    std::io::Write::write_all(&mut file, bytes)?;
    file.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// A compiled program.
struct Parts<'a, 'c> {
    file: &'a KernelFile<'c>,
    loaded: &'a Loaded,
    sources: &'a Sources,
    path: &'a Path,
    open: &'a OpenOptions,
    mcdc: bool,
}

/// A module with woven kernels.
struct WovenModule {
    code: Vec<u8>,
    /// For the driver that builds it.
    options: String,
    /// By kernel.
    maps: Vec<ProbeMap>,
}

impl<'c> Parts<'_, 'c> {
    /// Weaves the kernels that match a pattern into as few modules as possible, and says of the others why they are not
    /// woven. What is known of the former for comparisons goes to `comparable`.
    fn weave(
        &self,
        patterns: &[String],
        comparable: &mut BTreeMap<String, Comparable>,
    ) -> (Vec<WovenModule>, Vec<Plain>) {
        let (mut names, mut plain) = (Vec::new(), Vec::new());
        for name in &self.file.kernels {
            if !patterns.is_empty() && !host::matches_one(name, patterns) {
                plain.push(Plain { kernel: name.clone(), reason: host::NOT_SELECTED.meaning.to_owned() });
                continue;
            }
            match self.under_test(name) {
                Ok(kernel) => {
                    comparable.insert(name.clone(), Comparable::new(&kernel));
                    names.push(name.clone());
                }
                Err(error) => plain.push(Plain { kernel: name.clone(), reason: error.to_string() }),
            }
        }
        if names.is_empty() {
            return (Vec::new(), plain);
        }
        if let Ok(all) = self.together(&names) {
            return (vec![all], plain);
        }
        // One of them is the culprit.
        let mut modules = Vec::new();
        for name in names {
            match self.together(std::slice::from_ref(&name)) {
                Ok(module) => modules.push(module),
                Err(error) => plain.push(Plain { kernel: name, reason: error.to_string() }),
            }
        }
        (modules, plain)
    }

    fn under_test(&self, name: &str) -> Result<KernelUnderTest<'c>> {
        self.file.under_test(name, self.loaded, self.sources)
    }

    fn together(&self, names: &[String]) -> Result<WovenModule> {
        let kernels = names.iter().map(|name| self.under_test(name)).collect::<Result<_>>()?;
        let file =
            File { path: self.path, open: self.open, others: &OtherKernels::default(), target: Target::default() };
        let woven = own_host::with_probes(&file, kernels, SlotsOf::WorkGroups, self.mcdc)?;
        let nothing = || Error::internal("nothing was woven");
        let code = woven.first().and_then(|first| first.modules.first()).cloned().ok_or_else(nothing)?;
        let maps: Vec<ProbeMap> = woven.into_iter().map(|woven| woven.map).collect();
        let module = maps.first().and_then(|map| map.modules.first()).ok_or_else(nothing)?;
        Ok(WovenModule { code, options: module.build_options.clone(), maps })
    }
}
