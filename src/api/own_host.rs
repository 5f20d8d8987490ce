//! Weaves probes, mutants and guards for host programs of users' own, and writes down what these have to know.

use std::collections::BTreeMap;
use std::path::Path;

use kassay_base::error::{Error, Result};
use kassay_base::hash;
use kassay_ir::instrument::guard::Guards;
use kassay_ir::instrument::layout::{FaultKind, GuardLayout, argument, header, slot};
use kassay_ir::instrument::mutants::Edit;
use kassay_ir::kernel::ast::Ast;
use kassay_ir::kernel::source::Sources;
use kassay_ir::llvm::DebugLocation;
use kassay_judge::coverage::build::{KernelUnderTest, OtherKernels};
use kassay_judge::coverage::own_host;
use kassay_judge::mutation::build::module_builder::{ModuleBuilder, Woven};
use kassay_judge::mutation::campaign;
use kassay_judge::mutation::campaign::equivalence_classes::{self, Class};
use kassay_judge::mutation::campaign::rows;
use kassay_judge::mutation::catalogue::enumerate::enumerate;
use kassay_judge::mutation::catalogue::mutant::{Mutant, too_wide};
use kassay_judge::mutation::catalogue::operators::Subject;
use kassay_judge::mutation::catalogue::prunable;
use kassay_judge::mutation::catalogue::selection::Selection;
use kassay_model::code::{Effort, Target};
use kassay_model::interface::{ArgSource, Interface};
use kassay_results::result::probe_map::{
    self as map, Arg, Change, CompileOptions, CoverageMap, GuardMap, GuardedPlace, LeftOut, Module, Origin, ProbeMap,
    Purpose, ReachModule, SlotsOf,
};
use kassay_results::result::{Header, Location};
use kassay_run::exec::{Code, DeviceCode};

use super::options::OpenOptions;

/// Mutants in a module. With many more, drivers take minutes to build it.
const MAX_PER_MODULE: usize = 1500;

/// The file that kernels to be woven are of.
pub(super) struct File<'a> {
    pub path: &'a Path,
    pub open: &'a OpenOptions,
    /// Its kernels that come along as they are.
    pub others: &'a OtherKernels,
    /// The form of the code.
    pub target: Target,
}

/// A kernel that is to be woven with mutants or guards.
pub(super) struct Weaving<'a, 'c> {
    pub file: File<'a>,
    pub under_test: &'a KernelUnderTest<'c>,
    /// The syntax tree of the source, if there is source.
    pub ast: Option<&'a Ast>,
    pub sources: &'a Sources,
    /// The operators of mutants.
    pub selection: &'a Selection,
    /// Whether the solver is asked which mutants are equivalent to the original.
    pub proofs: bool,
}

/// What guards are woven for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum GuardedPurpose {
    Mutants,
    Guards,
}

impl From<GuardedPurpose> for Purpose {
    fn from(purpose: GuardedPurpose) -> Purpose {
        match purpose {
            GuardedPurpose::Mutants => Purpose::Mutants,
            GuardedPurpose::Guards => Purpose::Guards,
        }
    }
}

/// The contents of a file of code.
type Contents = Vec<u8>;

/// The code that a map describes.
pub(super) struct WovenCode {
    /// By module of the map.
    pub modules: Vec<Contents>,
    /// By module of the map with mutants: its reach module.
    pub reach: Vec<Contents>,
    pub map: ProbeMap,
}

/// Weaves coverage probes into kernels, which come to be in one module, and returns that with a map, for each kernel.
///
/// # Errors
/// `Internal` if one cannot be woven or lowered.
pub(super) fn with_probes(
    file: &File<'_>,
    mut kernels: Vec<KernelUnderTest<'_>>,
    slots: SlotsOf,
    mcdc: bool,
) -> Result<Vec<WovenCode>> {
    kernels.iter().try_for_each(|kernel| refuse_addresses(&kernel.interface))?;
    if mcdc {
        kernels = kernels.iter().map(KernelUnderTest::with_vectors).collect::<Result<_>>()?;
    }
    if let Some(first) = kernels.first_mut() {
        first.beside.extend(file.others.bitcode.clone());
    }
    let (code, maps) =
        own_host::instrumented(&mut kernels, &file.path.display().to_string(), (slots, mcdc), file.target)?;
    let code = device_code(&code)?;
    let woven = |(kernel, coverage): (&KernelUnderTest<'_>, CoverageMap)| {
        let mut map = file.empty_map(kernel, Purpose::Coverage);
        if coverage.slots == SlotsOf::WorkItems {
            map.layout = ProbeMap::LAYOUT_OF_COUNTS;
        }
        map.coverage = Some(coverage);
        map.notes.extend(kernel.sites.notes());
        let modules = vec![file.add_module(&mut map, code.clone(), None)];
        WovenCode { modules, reach: Vec::new(), map }
    };
    Ok(kernels.iter().zip(maps).map(woven).collect())
}

/// Refuses kernels that store addresses in variables when they begin: in a host program others may have stored there
/// before, and what is there would be lost.
fn refuse_addresses(interface: &Interface) -> Result<()> {
    let has_addresses =
        |arg: &&kassay_model::interface::Arg| matches!(arg.source, ArgSource::Variable { has_addresses: true, .. });
    match interface.args.iter().find(has_addresses) {
        Some(arg) => Err(Error::caller(format!(
            "the program-scope variable `{}` begins with an address, which only the program itself can keep from launch to launch",
            arg.label()
        ))
        .help("store the address in a kernel, or test the kernel with a suite")),
        None => Ok(()),
    }
}

/// Weaves mutants or guards into a kernel and returns its modules with their map.
///
/// # Errors
/// `Internal` if it cannot be woven or lowered.
pub(super) fn woven(weaving: &Weaving<'_, '_>, purpose: GuardedPurpose) -> Result<WovenCode> {
    refuse_addresses(&weaving.under_test.interface)?;
    let mut map = weaving.file.empty_map(weaving.under_test, purpose.into());
    let (mut modules, mut reach) = (Vec::new(), Vec::new());
    match purpose {
        GuardedPurpose::Guards => {
            let builder = ModuleBuilder::new(weaving.under_test, weaving.file.target);
            let Woven { code, guards, .. } = builder.alone(&[], Effort::Full)?.map_err(Error::internal)?;
            map.guards = Some(guard_map(builder.layout));
            modules.push(weaving.file.add_module(&mut map, device_code(&code)?, Some(&guards)));
        }
        GuardedPurpose::Mutants => (modules, reach) = weaving.mutants(&mut map)?,
    }
    Ok(WovenCode { modules, reach, map })
}

fn device_code(code: &Code) -> Result<DeviceCode> {
    code.as_device().cloned().ok_or_else(|| Error::internal("a device's code was asked for"))
}

impl File<'_> {
    fn empty_map(&self, under_test: &KernelUnderTest<'_>, purpose: Purpose) -> ProbeMap {
        let refused = |(kernel, why): &(String, String)| format!("the module lacks the kernel `{kernel}`: {why}");
        let source = self.path.display().to_string();
        ProbeMap {
            header: Header::new(ProbeMap::SCHEMA, under_test.entry.clone(), source, None, self.open.seed.unwrap_or(0)),
            layout: ProbeMap::LAYOUT,
            purpose,
            options: CompileOptions {
                defines: self.open.defines.clone(),
                include_dirs: self.open.include_dirs.iter().map(|folder| folder.display().to_string()).collect(),
                cl_std: self.open.cl_std.clone(),
                clang_args: self.open.clang_args.clone(),
            },
            operators: None,
            texts: BTreeMap::new(),
            modules: Vec::new(),
            other_kernels: self.others.names.clone(),
            args: arguments(&under_test.interface),
            required_local: under_test.interface.required_local,
            coverage: None,
            guards: None,
            mutants: Vec::new(),
            left_out: Vec::new(),
            notes: self.others.refused.iter().map(refused).collect(),
        }
    }

    /// Adds a module to the map and returns its bytes.
    fn add_module(&self, map: &mut ProbeMap, code: DeviceCode, guards: Option<&Guards>) -> Vec<u8> {
        let places = guards.map_or(&[][..], |guards| &guards.places);
        map.modules.push(Module {
            file: None,
            format: code.target.name().to_owned(),
            hash: hash::hex_digest(&code.bytes),
            build_options: code.build_options.clone(),
            mutants: None,
            reach: None,
            guarded: (0..)
                .zip(places)
                .skip(1)
                .map(|(number, at)| GuardedPlace { number, location: self.location(at.as_ref()) })
                .collect(),
        });
        code.bytes.to_vec()
    }

    fn location(&self, at: Option<&DebugLocation>) -> Location {
        match at {
            Some(at) => Location { file: at.file.clone(), line: at.line, column: at.column },
            None => Location { file: self.path.display().to_string(), line: 0, column: 0 },
        }
    }
}

impl Weaving<'_, '_> {
    /// Weaves all mutants that can share a module, in as few modules as they fit. Returns these and their reach
    /// modules.
    fn mutants(&self, map: &mut ProbeMap) -> Result<(Vec<Contents>, Vec<Contents>)> {
        let under_test = self.under_test;
        let subject = Subject::of(under_test, self.ast, self.sources);
        let found = enumerate(&subject, self.selection);
        let most = campaign::MOST_BEFORE;
        let (classes, by_edit) = equivalence_classes::classify(under_test, &found.mutants, self.proofs, most)?;
        if by_edit {
            map.notes.push(
                "the kernel is large: mutants that equal the original are not looked for, and of those that equal others \
                 only those with the same change of the IR are found"
                    .to_owned(),
            );
        }
        map.notes.extend(too_wide(&found.excluded));
        let prunable = prunable::prunable(under_test, &found.mutants);
        let all: Vec<Listed<'_>> = (found.mutants.iter().zip(classes.into_values()).zip(prunable.into_values()))
            .map(|((mutant, class), prunable)| Listed {
                mutant,
                class,
                runs_where_reached: !prunable || mutant.is_structural,
            })
            .collect();
        let (shared, alone): (Vec<_>, Vec<_>) = all.into_iter().partition(|listed| listed.mutant.edit.is_woven());
        map.left_out.extend(alone.iter().map(|listed| self.left_out(listed, "it needs a module of its own")));
        map.operators = Some(self.selection.to_string());
        map.texts = campaign::texts_of(
            found.mutants.iter().flat_map(|m| [&m.range, &m.spelling]).flatten().map(|range| range.file.as_str()),
            self.sources,
        );
        map.notes.extend(under_test.sites.notes());
        map.notes.extend(found.malformed.clone());
        map.notes.push(
            "mutants of launches are not listed: a host makes them by launching otherwise; `kassay mutate` has them"
                .to_owned(),
        );
        let builder = ModuleBuilder::new(under_test, self.file.target);
        map.guards = Some(guard_map(builder.layout));
        let (mut modules, mut reach) = (Vec::new(), Vec::new());
        for part in shared.chunks(MAX_PER_MODULE) {
            self.add_mutants(map, &builder, part, (&mut modules, &mut reach))?;
        }
        if modules.is_empty() {
            self.add_mutants(map, &builder, &[], (&mut modules, &mut reach))?;
        }
        Ok((modules, reach))
    }

    /// Adds a module of these mutants, with its reach module; if the backend refuses it, modules of each half.
    fn add_mutants(
        &self,
        map: &mut ProbeMap,
        builder: &ModuleBuilder<'_, '_>,
        mutants: &[Listed<'_>],
        (modules, reach): (&mut Vec<Contents>, &mut Vec<Contents>),
    ) -> Result<()> {
        let edits: Vec<(u32, &Edit)> = (1..).zip(mutants).map(|(n, listed)| (n, &listed.mutant.edit)).collect();
        match builder.schemata(&edits, false, Effort::Full, false)? {
            Ok(Woven { code, guards, .. }) => {
                let module = modules.len() as u32;
                modules.push(self.file.add_module(map, unoptimised(device_code(&code)?), Some(&guards)));
                if !mutants.is_empty() {
                    let (code, module) = self.reach_module(builder, mutants)?;
                    reach.push(code);
                    map.modules.last_mut().into_iter().for_each(|m| m.reach = Some(module.clone()));
                }
                map.modules.last_mut().into_iter().for_each(|m| m.mutants = Some(mutants.len() as u32));
                let listed = (1..).zip(mutants).map(|(number, listed)| map::Mutant {
                    module,
                    number,
                    id: listed.mutant.id.clone(),
                    operator: listed.mutant.operator.to_owned(),
                    function: listed.mutant.function.clone(),
                    change: self.change(listed.mutant),
                    duplicate_of: listed.duplicate_of(),
                    equivalent: listed.equivalent(),
                });
                map.mutants.extend(listed);
                Ok(())
            }
            Err(why) => match mutants {
                [] => Err(Error::internal(why)),
                [listed] => {
                    map.left_out.push(self.left_out(listed, &format!("LLVM's SPIR-V backend refuses it: {why}")));
                    Ok(())
                }
                _ => {
                    let (a, b) = mutants.split_at(mutants.len() / 2);
                    self.add_mutants(map, builder, a, (modules, reach))?;
                    self.add_mutants(map, builder, b, (modules, reach))
                }
            },
        }
    }

    /// Returns the module that tells which of these mutants a launch reaches.
    fn reach_module(&self, builder: &ModuleBuilder<'_, '_>, mutants: &[Listed<'_>]) -> Result<(Vec<u8>, ReachModule)> {
        let edits: Vec<(u32, &Edit, bool)> =
            (1..).zip(mutants).map(|(n, listed)| (n, &listed.mutant.edit, listed.runs_where_reached)).collect();
        let (code, layout) = builder.infection(&edits)?;
        let code = device_code(&code)?;
        let module = ReachModule {
            file: None,
            hash: hash::hex_digest(&code.bytes),
            build_options: code.build_options.clone(),
            length: layout.words() as u32,
        };
        Ok((code.bytes.to_vec(), module))
    }

    fn change(&self, mutant: &Mutant) -> Change {
        let range = mutant.range.as_ref();
        let end = range.map(|r| r.end);
        Change {
            location: match range {
                Some(r) => Location { file: r.file.clone(), line: r.start.line, column: r.start.column },
                None => self.file.location(None),
            },
            end_line: end.map_or(0, |end| end.line),
            end_column: end.map_or(0, |end| end.column),
            spelling: mutant.spelling.as_ref().map(rows::location),
            original: mutant.original.clone(),
            replacement: mutant.replacement.clone(),
        }
    }

    fn left_out(&self, listed: &Listed<'_>, reason: &str) -> LeftOut {
        LeftOut {
            id: listed.mutant.id.clone(),
            operator: listed.mutant.operator.to_owned(),
            reason: reason.to_owned(),
            function: listed.mutant.function.clone(),
            change: Some(self.change(listed.mutant)),
            duplicate_of: listed.duplicate_of(),
        }
    }
}

/// A mutant, and what is known of it before it runs.
struct Listed<'a> {
    mutant: &'a Mutant,
    /// What it equals.
    class: Option<Class>,
    /// Whether it has to run wherever it is reached: the values that it changes do not tell whether it can be killed.
    runs_where_reached: bool,
}

impl Listed<'_> {
    fn duplicate_of(&self) -> Option<String> {
        match &self.class {
            Some(Class::Duplicate(of)) => Some(of.clone()),
            _ => None,
        }
    }

    fn equivalent(&self) -> Option<String> {
        match &self.class {
            Some(Class::Equivalent(reason)) => Some(reason.clone()),
            _ => None,
        }
    }
}

/// Recommends that the driver does not optimise a module of many mutants, which would take it long.
fn unoptimised(code: DeviceCode) -> DeviceCode {
    let build_options = format!("{} -cl-opt-disable", code.build_options).trim_start().to_owned();
    DeviceCode { build_options, ..code }
}

/// Returns the kernel's arguments and the probe buffer.
fn arguments(interface: &Interface) -> Vec<Arg> {
    let origin = |source: &ArgSource| match source {
        // A host program's pointers are addresses (`KernelFile::for_host_program`), so nothing is of the second kind.
        ArgSource::Parameter | ArgSource::Element => Origin::Parameter,
        ArgSource::Member { parameter, offset, .. } => Origin::Member { parameter: *parameter, offset: *offset },
        ArgSource::Variable { initial, .. } => Origin::Variable {
            size: initial.len() as u64,
            initial: match initial.iter().all(|byte| *byte == 0) {
                true => String::new(),
                false => initial.iter().map(|byte| format!("{byte:02x}")).collect(),
            },
        },
    };
    let given = interface.args.iter().map(|arg| Arg {
        position: arg.position,
        name: arg.name.clone(),
        type_name: arg.type_name.clone(),
        address_space: arg.address_space().name().to_owned(),
        origin: origin(&arg.source),
    });
    let probe = Arg {
        position: interface.args.len() as u32,
        name: Some("kassay_probe".to_owned()),
        type_name: "uint*".to_owned(),
        address_space: "global".to_owned(),
        origin: Origin::Probe,
    };
    given.chain([probe]).collect()
}

fn guard_map(layout: GuardLayout) -> GuardMap {
    let of_slot = |word: u32| layout.slot(0) + word;
    let kinds = [FaultKind::Fuel, FaultKind::OutOfBounds, FaultKind::Division, FaultKind::Trap];
    let kind = |kind: FaultKind| map::FaultKind { kind: kind as u32, meaning: kind.words().to_owned() };
    GuardMap {
        length: layout.slot(1),
        fuel: header::FUEL,
        sizes: layout.argument(0) + argument::EXTENT,
        mutant: of_slot(slot::MUTANT),
        fault: of_slot(slot::FAULT),
        fault_item: of_slot(slot::FAULT_ITEM),
        fuel_used: of_slot(slot::FUEL_USED),
        fault_kinds: kinds.into_iter().map(kind).collect(),
    }
}
