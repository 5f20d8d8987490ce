//! Kernels, their mutants, and a device to run both on.

use std::mem::ManuallyDrop;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use inkwell::context::Context;
use kassay::cfg::sites::Sites;
use kassay::exec::{Code, DeviceRequest, Executor, OpenClExecutor, RunOptions, WorkerOptions};
use kassay::instrument::mutants::{Edit, alone};
use kassay::kernel::compile::{self, Format};
use kassay::kernel::options::KernelOptions;
use kassay::kernel::source::Sources;
use kassay::kernel::{canonical, module, signature};
use kassay::lower::spirv;
use kassay::mutation::Mutant;
use kassay::mutation::mutant::Excluded;
use kassay::mutation::operators::{Found, OPERATORS, Preset, Subject};
use kassay::suite::launch::{ArgValue, Launch, NdRange};

/// Lowering forks, and no other thread may use LLVM then.
static ONE: Mutex<()> = Mutex::new(());

pub fn alone_here() -> MutexGuard<'static, ()> {
    ONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// What operators found in a kernel.
pub struct Seen {
    pub mutants: Vec<Mutant>,
    pub excluded: Vec<Excluded>,
}

impl Seen {
    /// `line:column original -> replacement` of each mutant of an operator.
    pub fn of(&self, operator: &str) -> Vec<String> {
        let mutants = self.mutants.iter().filter(|m| m.operator == operator);
        mutants
            .map(|m| {
                let at = m.range.as_ref().map_or(String::new(), |r| format!("{}:{} ", r.start.line, r.start.column));
                format!("{at}{} -> {}", m.original, m.replacement)
            })
            .collect()
    }

    pub fn reasons(&self, operator: &str) -> Vec<String> {
        let excluded = self.excluded.iter().filter(|e| e.operator == operator);
        let at =
            |e: &Excluded| e.range.as_ref().map_or(String::new(), |r| format!("{}:{}", r.start.line, r.start.column));
        excluded.map(|e| format!("{} {}", at(e), e.reason)).collect()
    }
}

/// A kernel's source in a file of its own.
pub struct Kernel {
    folder: tempfile::TempDir,
    pub path: PathBuf,
    pub source: String,
    pub with_ast: bool,
}

impl Kernel {
    pub fn new(source: &str) -> Kernel {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("k.cl");
        std::fs::write(&path, source).unwrap();
        Kernel { folder, path, source: source.to_owned(), with_ast: true }
    }

    /// The same kernel read without its syntax tree.
    pub fn without_ast(source: &str) -> Kernel {
        Kernel { with_ast: false, ..Kernel::new(source) }
    }

    /// The mutants of these operators.
    pub fn find(&self, operators: &[&str], preset: Preset) -> Seen {
        self.with(operators, preset, |_, _, found| Seen { mutants: found.mutants, excluded: found.excluded })
    }

    fn with<R>(
        &self,
        operators: &[&str],
        preset: Preset,
        then: impl FnOnce(&inkwell::module::Module<'_>, &Sites, Found) -> R,
    ) -> R {
        let loaded = compile::load(&self.path, &KernelOptions::default(), true).unwrap();
        assert_eq!(loaded.format, Format::OpenClC);
        let ast = loaded.ast.as_ref().filter(|_| self.with_ast);
        let context = Context::create();
        let machine = spirv::machine().unwrap();
        let parsed = ManuallyDrop::new(module::parse(&context, &loaded.bitcode, &loaded.source).unwrap());
        let interface = signature::interface(&parsed, "k").unwrap();
        canonical::canonicalise(&parsed, "k", &machine).unwrap();
        let sources = Sources::beside(&self.path);
        let sites = Sites::read(&parsed, "k", false, ast, &sources);
        let mut found = Found::default();
        {
            let subject = Subject {
                module: &parsed,
                entry: "k",
                interface: &interface,
                sites: &sites,
                ast,
                sources: &sources,
                preset,
            };
            for operator in OPERATORS.iter().filter(|o| operators.contains(&o.id)) {
                (operator.enumerate)(&subject, &mut found);
            }
        }
        then(&parsed, &sites, found)
    }

    /// Code of the kernel, plain, and of each of these mutants.
    pub fn code(&self, operators: &[&str], keep: &dyn Fn(&Mutant) -> bool) -> (Code, Vec<(Mutant, Code)>) {
        self.with(operators, Preset::Full, |module, sites, found| {
            let lowered = |edit: Option<&Edit>| {
                let module = module.clone();
                if let Some(edit) = edit {
                    alone::apply(&module, sites, edit).unwrap();
                }
                let machine = spirv::machine().unwrap();
                spirv::prepare(&module, "k", &machine).unwrap();
                let spirv = Arc::new(spirv::emit(&module, &machine).unwrap());
                Code { spirv, entry: "k".into(), build_options: spirv::build_options(&module) }
            };
            let mutants = found.mutants.into_iter().filter(|m| keep(m));
            let codes = mutants.map(|m| {
                let code = lowered(Some(&m.edit));
                (m, code)
            });
            let codes = codes.collect();
            (lowered(None), codes)
        })
    }

    /// The source with a mutant's replacement in the place of its original.
    pub fn mutated(&self, mutant: &Mutant) -> String {
        let range = mutant.range.as_ref().unwrap();
        let offset = |line: u32, column: u32| {
            let before: usize = self.source.split_inclusive('\n').take(line as usize - 1).map(str::len).sum();
            before + column as usize - 1
        };
        let (start, end) = (offset(range.start.line, range.start.column), offset(range.end.line, range.end.column));
        assert_eq!(&self.source[start..end], mutant.original, "the original stands in its range");
        format!("{}{}{}", &self.source[..start], mutant.replacement, &self.source[end..])
    }
}

/// A device worker.
pub fn executor() -> OpenClExecutor {
    let options = WorkerOptions { exe: Some(env!("CARGO_BIN_EXE_kassay").into()), ..WorkerOptions::default() };
    OpenClExecutor::start(DeviceRequest::Any, options).unwrap()
}

/// What the kernel leaves in its only buffer, `words` integers that are 0 before.
pub fn outputs(executor: &mut dyn Executor, code: &Code, items: u64, words: usize) -> Result<Vec<i32>, String> {
    let program = executor.load(code).unwrap();
    let range = NdRange { dims: 1, global: [items, 1, 1], local: Some([1, 1, 1]), offset: [0; 3] };
    let launch = Launch { range, args: vec![ArgValue::Buffer(Arc::new(vec![0; words * 4]))] };
    let options = RunOptions { timeout: Duration::from_secs(10), repeats: 1, probe_words: None, outputs: true };
    let seen = executor.run(program, &launch, &options).unwrap().map_err(|fault| format!("{fault:?}"));
    executor.unload(program);
    let bytes = seen?.outputs.first().cloned().ok_or("no output")?;
    Ok(bytes.1.chunks_exact(4).map(|b| i32::from_le_bytes([b[0], b[1], b[2], b[3]])).collect())
}
