//! Tries every kind of weaving on one kernel.

use std::mem::ManuallyDrop;
use std::path::Path;

use kassay_base::error::Result;
use kassay_ir::instrument::layout::Slots;
use kassay_ir::instrument::marks;
use kassay_ir::instrument::mutants::{Edit, Form, infection, schemata, single};
use kassay_ir::llvm::Context;
use kassay_judge::coverage::build::KernelUnderTest;
use kassay_judge::coverage::def_use;
use kassay_judge::coverage::observed::{self, PendingCode};
use kassay_judge::mutation::Mutant;
use kassay_judge::mutation::build::module_builder::{Effort, ModuleBuilder};
use kassay_judge::mutation::catalogue::enumerate::enumerate;
use kassay_judge::mutation::catalogue::higher_order;
use kassay_judge::mutation::catalogue::selection::Selection;
use kassay_judge::mutation::equivalence;
use kassay_model::code::LoweringOptions;
use kassay_model::options::KernelOptions;
use kassay_run::exec::Target;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::common::kernels::open;

/// The number of mutants of a kernel that get a module each, for every purpose that modules of one mutant have.
const SINGLE: usize = 6;

/// Returns the errors, with the seed or the file. A kernel that clang refuses is a fault of the generator.
pub fn all(file: &Path, seed: u64) -> Vec<String> {
    let context = ManuallyDrop::new(Context::create());
    let opened = open(&context, file, Some("k"), &KernelOptions::default())
        .unwrap_or_else(|e| panic!("{}: {e:?}\n{}", file.display(), std::fs::read_to_string(file).unwrap()));
    let opened = ManuallyDrop::new(opened);
    let mutants = enumerate(&opened.subject(Default::default()), &Selection::default()).mutants;
    let under_test = &opened.under_test;
    let mut check = WeaveCheck { name: file.display().to_string(), under_test, errors: Vec::new() };
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    check.together(&mutants);
    check.one_by_one(&mutants, &mut random);
    check.probes(&mutants);
    check.errors
}

struct WeaveCheck<'a, 'c> {
    name: String,
    under_test: &'a KernelUnderTest<'c>,
    errors: Vec<String>,
}

impl WeaveCheck<'_, '_> {
    /// Records an error together with what was woven.
    fn expect<T>(&mut self, what: &str, result: Result<T>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                self.errors.push(format!("{}: {what}: {error:?}", self.name));
                None
            }
        }
    }

    /// The backend must refuse nothing here, even where it may in general: these kernels are like those that people
    /// write. The exception is an event without the call that makes it: LLVM 22 has no SPIR-V for that, and such a
    /// mutant is a `compile-error`.
    fn lowered<T>(&mut self, what: &str, result: Result<std::result::Result<T, String>>) {
        if let Some(Err(refused)) = self.expect(what, result)
            && !refused.contains("constant: target(\"spirv.Event\")")
        {
            self.errors.push(format!("{}: {what}: refused: {refused}", self.name));
        }
    }

    /// Weaves all mutants into one module, in all its forms.
    fn together(&mut self, mutants: &[Mutant]) {
        let under_test = self.under_test;
        let woven: Vec<(u32, &Edit)> = (1..).zip(mutants.iter().map(|m| &m.edit).filter(|e| e.is_woven())).collect();
        for (form, pairs) in [(Form::Branch, true), (Form::Select, false), (Form::Select, true)] {
            let module = under_test.module.clone();
            let done = schemata::weave_as(&module, &under_test.sites, &woven, pairs, form);
            self.expect(&format!("schemata, {form:?}, pairs {pairs}"), done);
        }
        for (target, effort, batched) in [
            (Target::SpirV, Effort::Quick, true),
            (Target::SpirV, Effort::Full, false),
            (Target::Native, Effort::Quick, false),
        ] {
            let module_builder = ModuleBuilder::new(under_test, target);
            let what = format!("a module of all for {target:?}, {effort:?}, batched {batched}");
            self.lowered(&what, module_builder.schemata(&woven, batched, effort, batched));
            self.lowered(&format!("the original for {target:?}, {effort:?}"), module_builder.alone(&[], effort));
        }
    }

    fn one_by_one(&mut self, mutants: &[Mutant], random: &mut ChaCha8Rng) {
        let under_test = self.under_test;
        let (woven, other): (Vec<&Mutant>, Vec<&Mutant>) = mutants.iter().partition(|m| m.edit.is_woven());
        // Weaving alone is cheap, so every mutant gets a module of its own.
        for mutant in &woven {
            let module = under_test.module.clone();
            self.expect(&mutant.id, single::apply(&module, &under_test.sites, &mutant.edit));
        }
        for _ in 0..SINGLE.min(woven.len()) {
            let one = woven[random.random_range(0..woven.len())];
            let two = woven[random.random_range(0..woven.len())];
            for (target, effort) in [(Target::SpirV, Effort::Full), (Target::Native, Effort::Quick)] {
                let module_builder = ModuleBuilder::new(under_test, target);
                self.lowered(&format!("{} for {target:?}", one.id), module_builder.alone(&[&one.edit], effort));
            }
            if higher_order::conflict(&one.edit, &two.edit).is_none() {
                let module = under_test.module.clone();
                let both = single::apply_all(&module, &under_test.sites, &[&one.edit, &two.edit]);
                self.expect(&format!("{} + {}", one.id, two.id), both);
            }
        }
        for mutant in other {
            if let Edit::Privatise { variable } = &mutant.edit {
                for target in [Target::SpirV, Target::Native] {
                    let made = ModuleBuilder::new(under_test, target).private(variable, 256, Effort::Quick);
                    if let Some(Ok(made)) = self.expect(&mutant.id, made) {
                        self.lowered(&format!("{} for {target:?}", mutant.id), Ok(made));
                    }
                }
            }
        }
        let edits: Vec<&Edit> = woven.iter().step_by(5).map(|m| &m.edit).collect();
        let bitcode = under_test.module.write_bitcode_to_memory();
        let classes = equivalence::classify(bitcode.as_slice(), &under_test.sites, &under_test.entry, &edits, 1, None);
        self.expect("normal forms", classes);
    }

    /// Weaves coverage (with and without test vectors), infection, marks, the simulator's accesses, comparisons,
    /// definitions and uses.
    fn probes(&mut self, mutants: &[Mutant]) {
        let under_test = self.under_test;
        let seen: Vec<(u32, &Edit, bool)> = (1..)
            .zip(mutants.iter().filter(|m| m.edit.is_woven()))
            .map(|(n, m)| (n, &m.edit, m.is_structural))
            .collect();
        for target in [Target::SpirV, Target::Native] {
            self.expect(&format!("infection for {target:?}"), ModuleBuilder::new(under_test, target).infection(&seen));
            for slots in [Slots::Groups, Slots::Items] {
                self.expect(&format!("coverage of {slots:?} for {target:?}"), under_test.instrumented(slots, target));
            }
        }
        let sites = under_test.sites.with_vectors();
        for (slots, target) in [(Slots::Groups, Target::SpirV), (Slots::Items, Target::Native)] {
            let with_vectors = under_test.with_vectors().and_then(|kernel| kernel.instrumented(slots, target));
            self.expect(&format!("test vectors for {target:?}"), with_vectors);
        }
        self.expect("infection as marks", infection::mark(&under_test.module.clone(), &under_test.sites, &seen));
        let outcomes: Vec<(usize, usize)> =
            (0..).zip(&sites.sites).flat_map(|(s, site)| (0..site.outcomes.len()).map(move |o| (s, o))).collect();
        self.expect("marks of outcomes", marks::weave(&under_test.module.clone(), &sites, &outcomes));
        self.expect("definitions and uses", def_use::build(under_test));
        self.expect("comparisons", observed::begin(under_test, None).and_then(PendingCode::end));
        for races in [false, true] {
            let options = LoweringOptions { races, effort: Effort::Quick, ..LoweringOptions::default() };
            self.expect(&format!("the simulator's accesses, races {races}"), under_test.for_simulator(&options));
        }
    }
}
