//! Provides kernels, their mutants, and a device to run both on.

use std::mem::ManuallyDrop;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use kassay_ir::instrument::layout::{FaultKind, GuardLayout, header, slot};
use kassay_ir::instrument::mutants::Edit;
use kassay_ir::kernel::compile::Format;
use kassay_ir::llvm::Context;
use kassay_judge::coverage::build::KernelUnderTest;
use kassay_judge::mutation::Mutant;
use kassay_judge::mutation::build::module_builder::{Effort, ModuleBuilder};
use kassay_judge::mutation::catalogue::mutant::Excluded;
use kassay_judge::mutation::catalogue::operators::{OPERATORS, OperatorOutput, Preset};
use kassay_model::options::KernelOptions;
use kassay_run::exec::{Code, Executor, OpenClExecutor, ProgramId, RunOptions, Target};
use kassay_suite::launch::{ArgValue, Launch};

use crate::common::devices::opencl;
use crate::common::kernels::{self, source_file};
use crate::common::launches::{self, line};

/// The iterations that a work-item may make: an endless mutant is stopped in the source's form as in the IR's.
const FUEL: u32 = 1000;

/// The mutants that operators found in a kernel.
pub struct FoundMutants {
    pub mutants: Vec<Mutant>,
    pub excluded: Vec<Excluded>,
}

impl FoundMutants {
    /// Formats each mutant of an operator as `line:column original -> replacement`.
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
    _folder: tempfile::TempDir,
    pub path: PathBuf,
    pub source: String,
    pub with_ast: bool,
}

impl Kernel {
    pub fn new(source: &str) -> Kernel {
        let (folder, path) = source_file(source);
        Kernel { _folder: folder, path, source: source.to_owned(), with_ast: true }
    }

    /// Reads the same kernel without its syntax tree.
    pub fn without_ast(source: &str) -> Kernel {
        Kernel { with_ast: false, ..Kernel::new(source) }
    }

    /// Returns the mutants of these operators.
    pub fn find(&self, operators: &[&str], preset: Preset) -> FoundMutants {
        self.with(operators, preset, |_, found| FoundMutants { mutants: found.mutants, excluded: found.excluded })
    }

    pub fn with<R>(
        &self,
        operators: &[&str],
        preset: Preset,
        then: impl FnOnce(&KernelUnderTest<'_>, OperatorOutput) -> R,
    ) -> R {
        let context = ManuallyDrop::new(Context::create());
        let open = if self.with_ast { kernels::open } else { kernels::open_bare };
        let opened = ManuallyDrop::new(open(&context, &self.path, Some("k"), &KernelOptions::default()).unwrap());
        assert_eq!((opened.loaded.format, opened.loaded.ast.is_some()), (Format::OpenClC, self.with_ast));
        let mut found = OperatorOutput::default();
        let subject = opened.subject(preset);
        for operator in OPERATORS.iter().filter(|o| operators.contains(&o.id)) {
            (operator.enumerate)(&subject, &mut found);
        }
        then(&opened.under_test, found)
    }

    /// Returns the mutants of these operators, and one program that holds them all: the nth has the number n + 1.
    pub fn woven(&self, operators: &[&str], keep: &dyn Fn(&Mutant) -> bool) -> (Vec<Mutant>, Program) {
        self.with(operators, Preset::Full, |under_test, found| {
            let mutants: Vec<Mutant> = found.mutants.into_iter().filter(|m| keep(m)).collect();
            let edits: Vec<(u32, &Edit)> = (1..).zip(mutants.iter().map(|m| &m.edit)).collect();
            let module_builder = ModuleBuilder::new(under_test, Target::SpirV);
            let woven = module_builder.schemata(&edits, false, Effort::Quick, false).unwrap().unwrap();
            (mutants, Program { code: woven.code, layout: module_builder.layout, is_woven: true })
        })
    }

    /// Returns one program with the source as number 0, and the source with the replacement of each of these mutants.
    pub fn replaced(&self, mutants: &[Mutant]) -> Program {
        let sources: Vec<String> =
            std::iter::once(self.source.clone()).chain(mutants.iter().map(|m| self.mutated(m))).collect();
        let named = |(n, source): (usize, &String)| source.replace("kernel void k(", &format!("static void k{n}("));
        let functions: String = sources.iter().enumerate().map(named).collect();
        let cases: String = (0..sources.len()).map(|n| format!("case {n}: k{n}(o); break;\n")).collect();
        let text = format!("{functions}kernel void k(global int *o, uint n) {{\nswitch (n) {{\n{cases}}}\n}}\n");
        Kernel { with_ast: false, ..Kernel::new(&text) }.with(&[], Preset::Full, |under_test, _| {
            let module_builder = ModuleBuilder::new(under_test, Target::SpirV);
            let woven = module_builder.alone(&[], Effort::Quick).unwrap().unwrap();
            Program { code: woven.code, layout: module_builder.layout, is_woven: false }
        })
    }

    /// Returns the source with a mutant's replacement in place of its original, in a macro's body if the original is
    /// spelt there.
    pub fn mutated(&self, mutant: &Mutant) -> String {
        let range = mutant.spelling.as_ref().or(mutant.range.as_ref()).unwrap();
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
    opencl().unwrap()
}

/// A guarded program of numbered variants of a kernel that writes to one buffer; number 0 is the original.
pub struct Program {
    code: Code,
    layout: GuardLayout,
    /// Whether the probe buffer's mutant number selects the variant; otherwise an argument does.
    is_woven: bool,
}

/// The effect of a variant: the contents of the buffer, integers that are 0 before, and the fault that a guard stopped.
#[derive(Debug, PartialEq)]
pub struct Effect {
    pub words: Vec<i32>,
    pub fault: Option<FaultKind>,
}

impl Program {
    /// Runs each of the variants from 0 to `last` with `items` work-items on a buffer of `words` words.
    pub fn run(&self, executor: &mut dyn Executor, last: u32, items: u64, words: usize) -> Vec<Effect> {
        let program = executor.load(&self.code).unwrap();
        let seen = (0..=last).map(|number| self.run_one(executor, program, number, items, words)).collect();
        executor.unload(program);
        seen
    }

    fn run_one(&self, executor: &mut dyn Executor, id: ProgramId, number: u32, items: u64, words: usize) -> Effect {
        let mut args = vec![ArgValue::Buffer(Arc::new(vec![0; words * 4]))];
        let mut head = vec![0; self.layout.words(1, 0) as usize];
        head[header::FUEL as usize] = FUEL;
        head[header::SLOTS as usize] = 1;
        head[self.layout.argument(0) as usize] = words as u32 * 4;
        let slot = self.layout.slot(0) as usize;
        match self.is_woven {
            true => head[slot + slot::MUTANT as usize] = number,
            false => args.push(ArgValue::Value(number.to_le_bytes().to_vec())),
        }
        let options = RunOptions {
            timeout: Duration::from_secs(20),
            repeats: 1,
            probe_words: Some(head.len() as u64),
            outputs: true,
        };
        let seen = executor.run_with_probe(id, &Launch::new(line(items, 1), args), &options, &head).unwrap();
        let seen = seen.unwrap_or_else(|fault| panic!("variant {number}: {fault:?}"));
        let fault = FaultKind::read(seen.probe[slot + slot::FAULT as usize]).map(|(kind, _)| kind);
        Effect { words: launches::words(&seen.outputs[0].1), fault }
    }
}
