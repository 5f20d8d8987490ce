//! Shows interfaces, counts and sites of kernels, and draws their control-flow graphs.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Instant;

use kassay_base::error::{Error, Result};
use kassay_ir::cfg::sites::{SiteKind, Sites};
use kassay_ir::cfg::{dot, folded};
use kassay_ir::kernel::spirv::specialisation;
use kassay_ir::kernel::{compile, module};
use kassay_ir::llvm::Context;
use kassay_judge::coverage::build::{self, KernelFile, KernelUnderTest, Level};
use kassay_judge::coverage::{def_use, mcdc};
use kassay_judge::mutation::Selection;
use kassay_judge::mutation::catalogue::level::MutationLevel;
use kassay_judge::mutation::catalogue::mutant::{Excluded, Mutant, too_wide};
use kassay_judge::mutation::catalogue::operators::{Subject, launch};
use kassay_judge::mutation::catalogue::source_level;
use kassay_judge::mutation::enumerate;
use kassay_model::interface::{self, ArgKind, Evidence, Interface, Type};
use kassay_results::result::inspect::{Arg, Counts, Field, InspectResult, Kernel, LocalVariable, Site, SpecConstant};
use kassay_results::result::mcdc::Criterion;
use kassay_results::result::{Header, Location};
use kassay_suite::declared;

use super::options::{OpenOptions, options};

options! {
    /// Options of [`inspect`].
    pub struct InspectOptions {
        /// The operators whose mutants are counted: `all`, `peng`, `liu`, `mutgpu`, or ids such as `ROR,SYR`.
        operators: String = "all".to_owned(),
        /// Whether the control-flow graph is drawn, of the only kernel.
        draw: bool = false,
        /// Whether the interface is written as tables that declare it, of the only kernel.
        interface: bool = false,
        /// Whether notes name the conditions that clang folded into others and the mutants that were left out.
        explain: bool = false,
    }
}

/// What [`inspect`] found.
#[derive(Debug)]
#[non_exhaustive]
pub struct Inspected {
    /// Interfaces, counts and sites.
    pub result: InspectResult,
    /// The control-flow graph in Graphviz format, if it was asked for.
    pub graph: Option<String>,
    /// The interface as the text of an interface file, if it was asked for.
    pub interface: Option<String>,
}

/// Inspects the kernels of a `.cl`, `.ll`, `.bc`, `.spv` or `.spvasm` file, or only the one that `open` names. Nothing
/// is run.
///
/// ```
/// # fn main() -> kassay::Result<()> {
/// use kassay::{InspectOptions, OpenOptions, inspect};
///
/// let inspected = inspect("testdata/vector_add/vector_add.cl", &OpenOptions::new(), &InspectOptions::new())?;
/// assert_eq!(inspected.result.kernels[0].args.len(), 4);
/// # Ok(())
/// # }
/// ```
///
/// # Errors
/// `Caller` if the kernel cannot be compiled or an option is wrong; `Environment` if clang or LLVM's SPIR-V backend
/// fails.
pub fn inspect(kernel: impl AsRef<Path>, open: &OpenOptions, options: &InspectOptions) -> Result<Inspected> {
    let (started, path) = (Instant::now(), kernel.as_ref());
    let source = path.display().to_string();
    let (level, selection) = (open.level, Selection::parse_at(&options.operators, open.level.operators())?);
    open.check()?;
    let kernel_options = open.options_for(path)?;
    let loaded = compile::load(path, &kernel_options, true)?;
    open.observer.warnings(&loaded.warnings, &loaded.accepted_errors());
    let context = Context::create();
    let mut file = KernelFile::parse(&context, &loaded)?;
    let names = match &open.entry {
        Some(entry) => vec![file.choose(Some(entry))?],
        None => file.kernels.clone(),
    };
    if options.draw && names.len() > 1 {
        return Err(Error::caller(format!("--dot draws one kernel, and {source} has {}", names.len()))
            .help(format!("name one with --entry: {}", module::listed(&names))));
    }
    if options.interface && names.len() > 1 {
        return Err(Error::caller(format!("--write-interface writes one kernel's, and {source} has {}", names.len()))
            .help(format!("name one with --entry: {}", names.join(", "))));
    }
    file.declare(open.declared()?, &names)?;
    let sources = build::sources_of(path).within(kernel_options.sandbox.clone());
    let mut kernels = Vec::new();
    let mut notes = Vec::new();
    let mut graph = None;
    let mut tables = None;
    for name in &names {
        let under_test = file.under_test(name, &loaded, &sources)?;
        tables = options.interface.then(|| declared::write::interface_file(&under_test.interface));
        graph = options.draw.then(|| dot::draw(&under_test.sites, &sources));
        // Sites are those of the canonical form, whatever the level of the mutants.
        let optimised = match level.optimisation() {
            Level::Raw => None,
            optimisation => Some(file.under_test_at(optimisation, name, &loaded, &sources)?),
        };
        let mutated = optimised.as_ref().unwrap_or(&under_test);
        let subject = Subject::of(mutated, loaded.ast.as_ref().filter(|_| level == MutationLevel::CANONICAL), &sources);
        let (mutants, excluded) = match level {
            MutationLevel::Source => {
                let jobs = std::thread::available_parallelism().map_or(1, usize::from);
                let found = source_level::find(&under_test, &loaded, &sources, &kernel_options, &selection, jobs)?;
                (found.mutants, found.excluded)
            }
            MutationLevel::Canonical(_) | MutationLevel::Ir(_) => {
                let found = enumerate(&subject, &selection);
                notes.extend(found.malformed);
                (found.mutants, found.excluded)
            }
        };
        let pairs = match def_use::count(&under_test) {
            Ok(pairs) => Some(pairs),
            Err(Error::Caller(report)) => {
                notes.push(format!("the def-use pairs of `{name}` are not counted: {}", report.what));
                None
            }
            Err(error) => return Err(error),
        };
        let described = describe(&under_test, &mutants, &selection, &source);
        let counts = Counts {
            def_use_pairs: pairs.as_ref().map(|pairs| pairs.values().sum()),
            def_use_pairs_by_kind: pairs.unwrap_or_default(),
            ..described.counts
        };
        kernels.push(Kernel { level: level.name().to_owned(), counts, ..described });
        let folded = loaded.ast.as_ref().filter(|_| options.explain).map(|a| folded::describe(&under_test.sites, a));
        notes.extend(too_wide(&excluded));
        let excluded = excluded.iter().filter(|_| options.explain).map(Excluded::to_string);
        notes.extend(untold(&under_test.interface));
        for text in under_test.sites.notes().into_iter().chain(folded.unwrap_or_default()).chain(excluded) {
            if !notes.contains(&text) {
                notes.push(text);
            }
        }
    }
    let header = Header::new(InspectResult::SCHEMA, names.join(","), source, None, open.seed.unwrap_or(0));
    let spec_constants = loaded.spirv.iter().flat_map(|spirv| &spirv.constants).map(spec_constant).collect();
    let result = InspectResult { header, elapsed_s: started.elapsed().as_secs_f64(), kernels, spec_constants, notes };
    Ok(Inspected { result, graph, interface: tables })
}

fn spec_constant(constant: &specialisation::SpecConstant) -> SpecConstant {
    SpecConstant {
        id: constant.spec_id,
        name: constant.name.clone(),
        type_name: constant.ty.to_string(),
        default: constant.ty.shown(constant.default),
        value: constant.ty.shown(constant.value),
    }
}

fn describe(under_test: &KernelUnderTest<'_>, mutants: &[Mutant], selection: &Selection, file: &str) -> Kernel {
    let interface = &under_test.interface;
    // Launch operators need a suite and are left out.
    let operators = selection.operators().iter().filter(|operator| operator.class != launch::CLASS);
    let count = |id: &str| mutants.iter().filter(|mutant| mutant.operator == id).count() as u64;
    Kernel {
        name: interface.name.clone(),
        args: arguments(interface),
        required_local: interface.required_local,
        sub_group_size: interface.sub_groups.required(),
        local_variables: interface
            .local_variables
            .iter()
            .map(|v| LocalVariable { name: v.name.clone(), size: v.size })
            .collect(),
        functions: under_test.sites.functions.iter().map(|f| f.cfg.function.clone()).collect(),
        level: String::new(),
        counts: Counts { mutants: mutants.len() as u64, ..counts(&under_test.sites) },
        mutants_by_operator: operators.map(|operator| (operator.id.to_owned(), count(operator.id))).collect(),
        sites: under_test.sites.sites.iter().map(|s| site(s, &under_test.sites, file)).collect(),
    }
}

/// Returns a note on what the module does not tell of a kernel's arguments, if there is anything.
fn untold(interface: &Interface) -> Option<String> {
    let labels = |is_meant: &dyn Fn(&interface::Arg) -> bool| -> String {
        let labels: Vec<String> = interface.args.iter().filter(|arg| is_meant(arg)).map(|arg| arg.label()).collect();
        labels.join(", ")
    };
    let without_name = labels(&|arg| arg.name.is_none());
    let guessed = labels(&|arg| matches!(arg.evidence, Evidence::Signless | Evidence::Uses));
    let parts = [("names", without_name), ("types, which are guesses,", guessed)];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(_, labels)| !labels.is_empty())
        .map(|(what, labels)| format!("{what} of {labels}"))
        .collect();
    (!parts.is_empty()).then(|| {
        format!(
            "the module does not tell all of the interface of `{}`: {}; --write-interface FILE writes what is known, to be \
             corrected and given back with --interface FILE",
            interface.name,
            parts.join("; ")
        )
    })
}

fn arguments(interface: &Interface) -> Vec<Arg> {
    interface
        .args
        .iter()
        .map(|a| Arg {
            name: a.name.clone(),
            position: a.position,
            type_name: a.type_name.clone(),
            address_space: a.address_space().name().into(),
            access: a.access.name().into(),
            fields: match &a.kind {
                ArgKind::Value(ty) => fields(ty),
                ArgKind::Buffer { element: Some(ty), .. } | ArgKind::Local { element: Some(ty) } => fields(ty),
                _ => Vec::new(),
            },
        })
        .collect()
}

fn fields(ty: &Type) -> Vec<Field> {
    match ty {
        Type::Struct(s) => s
            .fields
            .iter()
            .map(|f| Field {
                name: f.name.clone(),
                type_name: f.ty.name(),
                offset: f.offset,
                size: f.ty.size(),
                fields: fields(&f.ty),
            })
            .collect(),
        Type::Array(element, _) => fields(element),
        _ => Vec::new(),
    }
}

fn counts(sites: &Sites) -> Counts {
    let count = |kind| sites.of_kind(kind).count() as u64;
    // With no test, the conditions that count are known.
    let decisions = mcdc::measure(&sites.with_vectors(), &[], Criterion::default(), "");
    Counts {
        decisions: decisions.decisions.len() as u64,
        mcdc_conditions: decisions.ratio().total,
        def_use_pairs: None,
        def_use_pairs_by_kind: BTreeMap::new(),
        branches: count(SiteKind::Branch),
        branch_outcomes: sites.of_kind(SiteKind::Branch).map(|s| s.outcomes.len() as u64).sum(),
        conditions: count(SiteKind::Condition),
        loops: count(SiteKind::Loop),
        barriers: count(SiteKind::Barrier),
        basic_blocks: sites.functions.iter().flat_map(|f| &f.cfg.reachable).filter(|r| **r).count() as u64,
        lines: count(SiteKind::Line),
        statements: count(SiteKind::Statement),
        mutants: 0,
    }
}

fn site(site: &kassay_ir::cfg::sites::Site, sites: &Sites, file: &str) -> Site {
    Site {
        id: site.id.clone(),
        kind: site.kind.name().into(),
        construct: site.construct.clone(),
        function: sites.functions[site.function].cfg.function.clone(),
        location: match &site.location {
            Some(l) => Location { file: l.file.clone(), line: l.line, column: l.column },
            None => Location { file: file.into(), line: 0, column: 0 },
        },
        outcomes: site.outcomes.iter().map(|o| o.label.clone()).collect(),
    }
}
