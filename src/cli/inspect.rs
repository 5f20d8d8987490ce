//! `kassay inspect`: shows interfaces, counts and sites of kernels, and draws their control-flow graphs.

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use inkwell::context::Context;

use super::options::{KernelFlags, OutputFlags, check_writable, shown, warn};
use crate::cfg::sites::{SiteKind, Sites};
use crate::cfg::{dot, folded};
use crate::coverage::build::{self, KernelFile, KernelUnderTest};
use crate::error::{Error, Result};
use crate::kernel::compile;
use crate::kernel::interface::{ArgKind, Interface, Type};
use crate::llvm::View;
use crate::mutation::mutant::Excluded;
use crate::mutation::operators::{Subject, launch};
use crate::mutation::{Enumeration, Selection, enumerate};
use crate::report::text;
use crate::result::inspect::{Arg, Counts, Field, InspectResult, Kernel, LocalVariable, Site};
use crate::result::{Header, Location, store};

/// Show the interfaces, counts and sites of a file's kernels
#[derive(Debug, Args)]
pub struct InspectArgs {
    /// A .cl, .ll, .bc or .spv file
    pub kernel: PathBuf,
    /// Write the control-flow graph in Graphviz format
    #[arg(long, value_name = "FILE")]
    pub dot: Option<PathBuf>,
    /// Mutation operators to count: all, peng, liu, or comma-separated ids
    #[arg(long, value_name = "LIST", default_value = "all")]
    pub operators: String,
    #[command(flatten)]
    pub options: KernelFlags,
    #[command(flatten)]
    pub output: OutputFlags,
    #[command(flatten)]
    unused: UnusedFlags,
}

/// Flags accepted for uniformity with other commands; they have no effect because nothing is run.
#[derive(Debug, Args)]
struct UnusedFlags {
    #[arg(long, hide = true)]
    device: Option<String>,
    #[arg(long, hide = true)]
    seed: Option<u64>,
    #[arg(short = 'j', long, hide = true)]
    jobs: Option<u32>,
}

/// Inspects the kernels of a file and delivers the result. Returns the exit code.
///
/// # Errors
/// `Caller` if the kernel cannot be compiled or the flags are wrong; `Environment` if an output cannot be written.
pub fn run(args: &InspectArgs) -> Result<u8> {
    let begun = Instant::now();
    args.output.check()?;
    args.dot.as_deref().map_or(Ok(()), check_writable)?;
    let selection = Selection::parse(&args.operators)?;
    let loaded = compile::load(&args.kernel, &args.options.kernel_options(Vec::new()), true)?;
    warn(&loaded, args.output.verbose, args.output.quiet);
    let context = Context::create();
    let file = KernelFile::parse(&context, &loaded)?;
    let names = match &args.options.entry {
        Some(entry) => vec![file.choose(Some(entry))?],
        None => file.kernels.clone(),
    };
    if args.dot.is_some() && names.len() > 1 {
        return Err(Error::caller(format!(
            "--dot draws one kernel, and {} has {}",
            args.kernel.display(),
            names.len()
        ))
        .help(format!("name one with --entry: {}", names.join(", "))));
    }
    let sources = build::sources_of(&args.kernel);
    let mut kernels = Vec::new();
    let mut notes = Vec::new();
    for name in &names {
        let under_test = file.under_test(name, &loaded, &sources)?;
        if let Some(path) = &args.dot {
            store::write_text(&dot::draw(&under_test.sites, &sources), path)?;
        }
        let subject = Subject {
            module: View::of(&under_test.module),
            entry: &under_test.entry,
            interface: &under_test.interface,
            sites: &under_test.sites,
            ast: loaded.ast.as_ref(),
            sources: &sources,
            preset: selection.preset(),
            cache: Default::default(),
        };
        let mutants = enumerate(&subject, &selection);
        kernels.push(describe(&under_test, &mutants, &selection, &shown(&args.kernel)));
        let folded =
            loaded.ast.as_ref().filter(|_| args.output.verbose).map(|a| folded::describe(&under_test.sites, a));
        let excluded = mutants.excluded.iter().filter(|_| args.output.verbose).map(Excluded::to_string);
        for text in under_test.sites.notes().into_iter().chain(folded.unwrap_or_default()).chain(excluded) {
            if !notes.contains(&text) {
                notes.push(text);
            }
        }
    }
    let result = InspectResult {
        header: Header::new(
            InspectResult::SCHEMA,
            names.join(","),
            shown(&args.kernel),
            None,
            args.unused.seed.unwrap_or(0),
        ),
        elapsed_s: begun.elapsed().as_secs_f64(),
        kernels,
        notes,
    };
    args.output.deliver(&result, |style| text::inspect(&result, style))?;
    Ok(0)
}

fn describe(under_test: &KernelUnderTest<'_>, mutants: &Enumeration, selection: &Selection, file: &str) -> Kernel {
    let interface = &under_test.interface;
    // Launch operators need a suite and are left out.
    let operators = selection.operators().iter().filter(|operator| operator.class != launch::CLASS);
    let count = |id: &str| mutants.mutants.iter().filter(|mutant| mutant.operator == id).count() as u64;
    Kernel {
        name: interface.name.clone(),
        args: arguments(interface),
        required_local: interface.required_local,
        local_variables: interface
            .local_variables
            .iter()
            .map(|v| LocalVariable { name: v.name.clone(), size: v.size })
            .collect(),
        functions: under_test.sites.functions.iter().map(|f| f.cfg.function.clone()).collect(),
        counts: Counts { mutants: mutants.mutants.len() as u64, ..counts(&under_test.sites) },
        mutants_by_operator: operators.map(|operator| (operator.id.to_owned(), count(operator.id))).collect(),
        sites: under_test.sites.sites.iter().map(|s| site(s, &under_test.sites, file)).collect(),
    }
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
    Counts {
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

fn site(site: &crate::cfg::sites::Site, sites: &Sites, file: &str) -> Site {
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
