//! Checks one example of each operator that a suite kills and one that survives (`testdata/operators/examples.toml`):
//! their verdicts on the device, and what they change in the canonical form.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use inkwell::module::Module;
use inkwell::values::{AnyValue, FunctionValue};
use kassay::result::mutate::{MutateResult, Status};
use kassay_ir::instrument::mutants::{Edit, privatise, single};
use kassay_ir::kernel::canonical;
use kassay_ir::llvm::Context;
use kassay_judge::mutation::catalogue::operators::OPERATORS;
use kassay_judge::mutation::enumerate;
use kassay_judge::mutation::{Mutant, OperatorLevel, Selection};
use kassay_model::options::KernelOptions;
use serde::Deserialize;

use crate::common::kernels::{cl_std, open};
use crate::common::program::kassay;
use crate::common::testdata::testdata;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Example {
    /// The level of the mutants.
    #[serde(default = "canonical")]
    level: String,
    killed: Option<Name>,
    survived: Name,
    /// Why no mutant is reliably killed.
    unseen: Option<String>,
    /// Whether a run may leave the mutant that should be killed undecided.
    #[serde(default)]
    races: bool,
}

fn canonical() -> String {
    "canonical".to_owned()
}

#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
enum Name {
    /// The kernel's name is the first part.
    Id(String),
    /// Ids of launch mutants do not contain the kernel's name.
    OfLaunch { kernel: String, id: String },
}

impl Name {
    fn kernel(&self) -> &str {
        match self {
            Name::Id(id) => id.split('.').next().unwrap_or_default(),
            Name::OfLaunch { kernel, .. } => kernel,
        }
    }

    fn id(&self) -> &str {
        match self {
            Name::Id(id) | Name::OfLaunch { id, .. } => id,
        }
    }
}

fn folder() -> PathBuf {
    testdata("operators")
}

fn examples() -> BTreeMap<String, Example> {
    toml::from_str(&std::fs::read_to_string(folder().join("examples.toml")).unwrap()).unwrap()
}

/// Returns the kernels of the examples, each with a level.
fn kernels(examples: &BTreeMap<String, Example>) -> BTreeSet<(String, String)> {
    let names = |e: &Example| -> Vec<(String, String)> {
        e.killed.iter().chain([&e.survived]).map(|name| (name.kernel().to_owned(), e.level.clone())).collect()
    };
    examples.values().flat_map(names).collect()
}

#[test]
fn every_operator_has_its_examples() {
    let examples = examples();
    for operator in OPERATORS {
        let example = examples.get(operator.id).unwrap_or_else(|| panic!("{} has no example", operator.id));
        assert!(example.killed.is_some() != example.unseen.is_some(), "{}", operator.id);
    }
    assert_eq!(examples.len(), OPERATORS.len());
}

#[test]
fn one_example_is_killed_and_one_survives() {
    let examples = examples();
    let mut statuses: BTreeMap<(String, String), BTreeMap<String, Status>> = BTreeMap::new();
    for (kernel, level) in kernels(&examples) {
        let here =
            |e: &Example| e.level == level && e.killed.iter().chain([&e.survived]).any(|name| name.kernel() == kernel);
        let operators: Vec<&str> = examples.iter().filter(|(_, e)| here(e)).map(|(id, _)| id.as_str()).collect();
        let found = run(&kernel, &level, &operators);
        statuses.insert((kernel, level), found);
    }
    for (operator, example) in &examples {
        let wanted = [(example.killed.as_ref(), Status::Killed), (Some(&example.survived), Status::Survived)];
        for (name, status) in wanted.into_iter().filter_map(|(name, status)| Some((name?, status))) {
            let key = (name.kernel().to_owned(), example.level.clone());
            let mut actual = statuses[&key].get(name.id()).copied();
            for _ in 1..TRIES {
                if example.races && status == Status::Killed && actual == Some(Status::Undecided) {
                    actual = run(name.kernel(), &example.level, &[operator]).get(name.id()).copied();
                }
            }
            assert_eq!(actual, Some(status), "{operator}: {}", name.id());
        }
    }
}

/// How often an example that races is run.
const TRIES: u32 = 4;

/// Returns the statuses of the mutants of a kernel at a level, by id.
fn run(kernel: &str, level: &str, operators: &[&str]) -> BTreeMap<String, Status> {
    let output = tempfile::tempdir().unwrap();
    let file = output.path().join("result.json");
    let mut command = kassay();
    command
        .args(["mutate", "--quiet", "--no-launch-facts", "--level", level, "--operators", &operators.join(","), "-o"])
        .arg(&file)
        .arg(folder().join(format!("suite_{kernel}.toml")));
    let ran = command.output().unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let result: MutateResult = serde_json::from_str(&std::fs::read_to_string(&file).unwrap()).unwrap();
    result.mutants.into_iter().map(|m| (m.id, m.status)).collect()
}

#[test]
fn the_canonical_form_changes_in_the_mutants_function_alone() {
    let examples = examples();
    let mut changed = 0;
    for (kernel, level) in kernels(&examples) {
        let of_level = examples.values().filter(|e| e.level == level);
        let names: Vec<&Name> = (of_level.flat_map(|e| e.killed.iter().chain([&e.survived])))
            .filter(|name| matches!(name, Name::Id(_)) && name.kernel() == kernel)
            .collect();
        let path = folder().join(format!("{kernel}.cl"));
        let context = Context::create();
        // The forms of both levels are the canonical one.
        let operators = if level == "canonical" { OperatorLevel::Source } else { OperatorLevel::Ir };
        let options = if ["orders", "lanes"].contains(&&*kernel) { cl_std("CL2.0") } else { KernelOptions::default() };
        let opened = open(&context, &path, Some(&kernel), &options).unwrap();
        let under_test = &opened.under_test;
        let selection = Selection::all(operators);
        let mutants = enumerate(&opened.subject(selection.preset()), &selection).mutants;
        for name in names {
            let mutant =
                mutants.iter().find(|m| m.id == name.id()).unwrap_or_else(|| panic!("no mutant {}", name.id()));
            let module = under_test.module.clone();
            match &mutant.edit {
                Edit::Privatise { variable } => {
                    privatise::privatise(&module, &kernel, variable, 0).unwrap().unwrap();
                }
                edit => single::apply(&module, &under_test.sites, edit).unwrap(),
            }
            canonical::verify(&module, name.id()).unwrap();
            compare(&under_test.module, &module, mutant);
            changed += 1;
        }
    }
    assert!(changed >= 50, "only {changed} mutants");
}

/// Compares the bodies of functions: only that of the mutant's function differs.
fn compare(original: &Module<'_>, mutated: &Module<'_>, mutant: &Mutant) {
    for before in original.get_functions().filter(|f| f.count_basic_blocks() > 0) {
        let name = before.get_name().to_str().unwrap();
        let after = mutated.get_function(name).unwrap_or_else(|| panic!("{}: {name} is gone", mutant.id));
        let (before, after) = (instructions(before), instructions(after));
        if name != mutant.function {
            assert_eq!(before, after, "{}: {name}", mutant.id);
            continue;
        }
        assert_ne!(before, after, "{}", mutant.id);
        println!("{}", mutant.id);
        before.iter().filter(|line| !after.contains(line)).for_each(|line| println!("  - {line}"));
        after.iter().filter(|line| !before.contains(line)).for_each(|line| println!("  + {line}"));
    }
}

/// Returns the instructions as text without the numbers of metadata, which differ from module to module.
fn instructions(function: FunctionValue<'_>) -> Vec<String> {
    let text = function.print_to_string().to_string();
    let line = |line: &str| line.split(", !").next().unwrap_or_default().trim().to_owned();
    text.lines().filter(|l| !l.trim_start().starts_with('#')).map(line).collect()
}
