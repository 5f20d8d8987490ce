//! Every way of weaving, tried on one kernel.

use std::mem::ManuallyDrop;
use std::path::Path;

use inkwell::context::Context;
use kassay::coverage::build::{Assay, File};
use kassay::error::Result;
use kassay::exec::Target;
use kassay::instrument::host::{Effort as HostEffort, HostOptions};
use kassay::instrument::layout::Slots;
use kassay::instrument::marks;
use kassay::instrument::mutants::{Edit, Form, single, infection, schemata};
use kassay::kernel::compile;
use kassay::kernel::options::KernelOptions;
use kassay::kernel::source::Sources;
use kassay::mutation::Mutant;
use kassay::mutation::enumerate::enumerate;
use kassay::mutation::equivalence;
use kassay::mutation::module_builder::{Effort, Forge};
use kassay::mutation::operators::Subject;
use kassay::mutation::higher_order;
use kassay::mutation::selection::Selection;
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

/// Mutants of a kernel that get a module each, for every purpose that modules of one mutant have.
const SINGLE: usize = 6;

/// What went wrong, with the seed or the file. A kernel that clang refuses is a fault of the generator.
pub fn all(file: &Path, seed: u64) -> Vec<String> {
    let loaded = compile::load(file, &KernelOptions::default(), true)
        .unwrap_or_else(|e| panic!("{}: {e:?}\n{}", file.display(), std::fs::read_to_string(file).unwrap()));
    let context = ManuallyDrop::new(Context::create());
    let sources = Sources::beside(file);
    let assay = ManuallyDrop::new(File::parse(&context, &loaded).unwrap().assay("k", &loaded, &sources).unwrap());
    let subject = Subject {
        module: assay.module(),
        entry: "k",
        interface: &assay.interface,
        sites: &assay.sites,
        ast: loaded.ast.as_ref(),
        sources: &sources,
        preset: Default::default(),
        read: Default::default(),
    };
    let mutants = enumerate(&subject, &Selection::default()).mutants;
    let mut trying = Trying { name: file.display().to_string(), assay: &assay, errors: Vec::new() };
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    trying.together(&mutants);
    trying.one_by_one(&mutants, &mut random);
    trying.probes(&mutants);
    trying.errors
}

struct Trying<'a, 'c> {
    name: String,
    assay: &'a Assay<'c>,
    errors: Vec<String>,
}

impl Trying<'_, '_> {
    /// Notes an error: with what was woven.
    fn expect<T>(&mut self, what: &str, result: Result<T>) -> Option<T> {
        match result {
            Ok(value) => Some(value),
            Err(error) => {
                self.errors.push(format!("{}: {what}: {error:?}", self.name));
                None
            }
        }
    }

    /// What the backend may refuse, it may not refuse here: these kernels are what people write. But for an event without the call that
    /// makes it: LLVM 22 has no SPIR-V for that, and such a mutant is a `compile-error`.
    fn lowered<T>(&mut self, what: &str, result: Result<std::result::Result<T, String>>) {
        if let Some(Err(refused)) = self.expect(what, result)
            && !refused.contains("constant: target(\"spirv.Event\")")
        {
            self.errors.push(format!("{}: {what}: refused: {refused}", self.name));
        }
    }

    /// All mutants in one module, in all its forms.
    fn together(&mut self, mutants: &[Mutant]) {
        let assay = self.assay;
        let woven: Vec<(u32, &Edit)> = (1..).zip(mutants.iter().map(|m| &m.edit).filter(|e| e.is_woven())).collect();
        for (form, pairs) in [(Form::Branch, true), (Form::Select, false), (Form::Select, true)] {
            let module = assay.module.clone();
            let done = schemata::weave_as(&module, &assay.sites, &woven, pairs, form);
            self.expect(&format!("schemata, {form:?}, pairs {pairs}"), done);
        }
        for (target, effort, batched) in [
            (Target::SpirV, Effort::Quick, true),
            (Target::SpirV, Effort::Optimised, false),
            (Target::Host, Effort::Quick, false),
        ] {
            let forge = Forge::new(assay, target);
            let what = format!("a module of all for {target:?}, {effort:?}, batched {batched}");
            self.lowered(&what, forge.schemata(&woven, batched, effort, batched));
            self.lowered(&format!("the original for {target:?}, {effort:?}"), forge.alone(&[], effort));
        }
    }

    fn one_by_one(&mut self, mutants: &[Mutant], random: &mut ChaCha8Rng) {
        let assay = self.assay;
        let (woven, other): (Vec<&Mutant>, Vec<&Mutant>) = mutants.iter().partition(|m| m.edit.is_woven());
        // Each operator at least once in a module of its own, and all of them while that is cheap.
        for mutant in &woven {
            let module = assay.module.clone();
            self.expect(&mutant.id, single::apply(&module, &assay.sites, &mutant.edit));
        }
        for _ in 0..SINGLE.min(woven.len()) {
            let one = woven[random.random_range(0..woven.len())];
            let two = woven[random.random_range(0..woven.len())];
            for (target, effort) in [(Target::SpirV, Effort::Optimised), (Target::Host, Effort::Quick)] {
                let forge = Forge::new(assay, target);
                self.lowered(&format!("{} for {target:?}", one.id), forge.alone(&[&one.edit], effort));
            }
            if higher_order::conflict(&one.edit, &two.edit).is_none() {
                let module = assay.module.clone();
                let both = single::apply_all(&module, &assay.sites, &[&one.edit, &two.edit]);
                self.expect(&format!("{} + {}", one.id, two.id), both);
            }
        }
        for mutant in other {
            if let Edit::Privatise { variable } = &mutant.edit {
                for target in [Target::SpirV, Target::Host] {
                    let made = Forge::new(assay, target).private(variable, 256, Effort::Quick);
                    if let Some(Ok(made)) = self.expect(&mutant.id, made) {
                        self.lowered(&format!("{} for {target:?}", mutant.id), Ok(made));
                    }
                }
            }
        }
        let edits: Vec<&Edit> = woven.iter().step_by(5).map(|m| &m.edit).collect();
        let bitcode = assay.module.write_bitcode_to_memory();
        let classes = equivalence::classify(bitcode.as_slice(), &assay.sites, &assay.entry, &edits, 1, None);
        self.expect("normal forms", classes);
    }

    /// Coverage, infection, marks, the simulator's accesses and comparisons.
    fn probes(&mut self, mutants: &[Mutant]) {
        let assay = self.assay;
        let seen: Vec<(u32, &Edit, bool)> = (1..)
            .zip(mutants.iter().filter(|m| m.edit.is_woven()))
            .map(|(n, m)| (n, &m.edit, m.is_structural))
            .collect();
        for target in [Target::SpirV, Target::Host] {
            self.expect(&format!("infection for {target:?}"), Forge::new(assay, target).infection(&seen));
            for slots in [Slots::Groups, Slots::Items] {
                self.expect(&format!("coverage of {slots:?} for {target:?}"), assay.instrumented(slots, target));
            }
        }
        self.expect("infection as marks", infection::mark(&assay.module.clone(), &assay.sites, &seen));
        let outcomes: Vec<(usize, usize)> =
            (0..).zip(&assay.sites.sites).flat_map(|(s, site)| (0..site.outcomes.len()).map(move |o| (s, o))).collect();
        self.expect("marks of outcomes", marks::weave(&assay.module.clone(), &assay.sites, &outcomes));
        self.expect("comparisons", assay.observed(Slots::Groups, None));
        for races in [false, true] {
            let options = HostOptions { races, effort: HostEffort::Quick, deadline: None };
            self.expect(&format!("the simulator's accesses, races {races}"), assay.for_host(&options));
        }
    }
}
