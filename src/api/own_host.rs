//! Weaves probes, mutants and guards for host programs of users' own, and writes down what these have to know.

use std::path::Path;

use super::options::OpenOptions;
use crate::coverage::build::KernelUnderTest;
use crate::coverage::own_host;
use crate::error::{Error, Result};
use crate::exec::{Code, DeviceCode};
use crate::hash;
use crate::instrument::guard::Guards;
use crate::instrument::layout::{FaultKind, GuardLayout, argument, header, slot};
use crate::instrument::mutants::Edit;
use crate::kernel::ast::Ast;
use crate::kernel::interface::{ArgSource, Interface};
use crate::kernel::source::Sources;
use crate::llvm::{DebugLocation, View};
use crate::lower::code::{Effort, Target};
use crate::mutation::enumerate::enumerate;
use crate::mutation::module_builder::{ModuleBuilder, Woven};
use crate::mutation::mutant::Mutant;
use crate::mutation::operators::Subject;
use crate::mutation::selection::Selection;
use crate::result::probe_map::{
    self as map, Arg, CompileOptions, GuardMap, GuardedPlace, LeftOut, Module, Origin, ProbeMap, Purpose,
};
use crate::result::{Header, Location};

/// Mutants in a module. With many more, drivers take minutes to build it.
const MAX_PER_MODULE: usize = 1500;

/// A kernel that is to be woven.
pub(super) struct Weaving<'a, 'c> {
    pub under_test: &'a KernelUnderTest<'c>,
    /// The syntax tree of the source, if there is source.
    pub ast: Option<&'a Ast>,
    pub sources: &'a Sources,
    /// The kernel's file.
    pub path: &'a Path,
    pub open: &'a OpenOptions,
    /// The operators of mutants.
    pub selection: &'a Selection,
}

/// Weaves a kernel and returns its modules with their map.
///
/// # Errors
/// `Internal` if it cannot be woven or lowered.
pub(super) fn woven(weaving: &Weaving<'_, '_>, purpose: Purpose) -> Result<(Vec<Vec<u8>>, ProbeMap)> {
    let mut map = weaving.empty_map(purpose);
    let mut modules = Vec::new();
    match purpose {
        Purpose::Coverage => {
            let (code, coverage) = own_host::instrumented(weaving.under_test, &map.header.source)?;
            map.coverage = Some(coverage);
            map.notes = weaving.under_test.sites.notes();
            modules.push(weaving.add_module(&mut map, device_code(&code)?, None));
        }
        Purpose::Guards => {
            let builder = ModuleBuilder::new(weaving.under_test, Target::default());
            let Woven { code, guards, .. } = builder.alone(&[], Effort::Full)?.map_err(Error::internal)?;
            map.guards = Some(guard_map(builder.layout));
            modules.push(weaving.add_module(&mut map, device_code(&code)?, Some(&guards)));
        }
        Purpose::Mutants => modules = weaving.mutants(&mut map)?,
    }
    Ok((modules, map))
}

fn device_code(code: &Code) -> Result<DeviceCode> {
    code.as_device().cloned().ok_or_else(|| Error::internal("a device's code was asked for"))
}

impl Weaving<'_, '_> {
    fn empty_map(&self, purpose: Purpose) -> ProbeMap {
        let under_test = self.under_test;
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
            modules: Vec::new(),
            args: arguments(&under_test.interface),
            required_local: under_test.interface.required_local,
            coverage: None,
            guards: None,
            mutants: Vec::new(),
            left_out: Vec::new(),
            notes: Vec::new(),
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

    /// Weaves all mutants that can share a module, in as few modules as they fit.
    fn mutants(&self, map: &mut ProbeMap) -> Result<Vec<Vec<u8>>> {
        let under_test = self.under_test;
        let subject = Subject {
            module: View::of(&under_test.module),
            entry: &under_test.entry,
            interface: &under_test.interface,
            sites: &under_test.sites,
            ast: self.ast,
            sources: self.sources,
            preset: self.selection.preset(),
            level: self.selection.level(),
            cache: Default::default(),
        };
        let found = enumerate(&subject, self.selection);
        let duplicate_of = found.duplicate_of.values().map(|of| of.map(|m| found.mutants[m.0].id.clone()));
        let all: Vec<(&Mutant, Option<String>)> = found.mutants.iter().zip(duplicate_of).collect();
        let (shared, alone): (Vec<_>, Vec<_>) = all.into_iter().partition(|(mutant, _)| mutant.edit.is_woven());
        map.left_out.extend(alone.into_iter().map(|(mutant, _)| left_out(mutant, "it needs a module of its own")));
        map.notes = under_test.sites.notes();
        map.notes.push(
            "mutants of launches are not listed: a host makes them by launching otherwise; `kassay mutate` has them"
                .to_owned(),
        );
        let builder = ModuleBuilder::new(under_test, Target::default());
        map.guards = Some(guard_map(builder.layout));
        let mut modules = Vec::new();
        for part in shared.chunks(MAX_PER_MODULE) {
            self.add_mutants(map, &builder, part, &mut modules)?;
        }
        if modules.is_empty() {
            self.add_mutants(map, &builder, &[], &mut modules)?;
        }
        Ok(modules)
    }

    /// Adds a module of these mutants; if the backend refuses it, modules of each half.
    fn add_mutants(
        &self,
        map: &mut ProbeMap,
        builder: &ModuleBuilder<'_, '_>,
        mutants: &[(&Mutant, Option<String>)],
        modules: &mut Vec<Vec<u8>>,
    ) -> Result<()> {
        let edits: Vec<(u32, &Edit)> = (1..).zip(mutants).map(|(n, (mutant, _))| (n, &mutant.edit)).collect();
        match builder.schemata(&edits, false, Effort::Full, false)? {
            Ok(Woven { code, guards, .. }) => {
                let module = modules.len() as u32;
                modules.push(self.add_module(map, unoptimised(device_code(&code)?), Some(&guards)));
                let listed = (1..).zip(mutants).map(|(number, (mutant, duplicate_of))| map::Mutant {
                    module,
                    number,
                    id: mutant.id.clone(),
                    operator: mutant.operator.to_owned(),
                    function: mutant.function.clone(),
                    location: match &mutant.range {
                        Some(r) => Location { file: r.file.clone(), line: r.start.line, column: r.start.column },
                        None => self.location(None),
                    },
                    original: mutant.original.clone(),
                    replacement: mutant.replacement.clone(),
                    duplicate_of: duplicate_of.clone(),
                });
                map.mutants.extend(listed);
                Ok(())
            }
            Err(why) => match mutants {
                [] => Err(Error::internal(why)),
                [(mutant, _)] => {
                    map.left_out.push(left_out(mutant, &format!("LLVM's SPIR-V backend refuses it: {why}")));
                    Ok(())
                }
                _ => {
                    let (a, b) = mutants.split_at(mutants.len() / 2);
                    self.add_mutants(map, builder, a, modules)?;
                    self.add_mutants(map, builder, b, modules)
                }
            },
        }
    }
}

/// Recommends that the driver does not optimise a module of many mutants, which would take it long.
fn unoptimised(code: DeviceCode) -> DeviceCode {
    let build_options = format!("{} -cl-opt-disable", code.build_options).trim_start().to_owned();
    DeviceCode { build_options, ..code }
}

fn left_out(mutant: &Mutant, reason: &str) -> LeftOut {
    LeftOut { id: mutant.id.clone(), operator: mutant.operator.to_owned(), reason: reason.to_owned() }
}

/// Returns the kernel's arguments and the probe buffer.
fn arguments(interface: &Interface) -> Vec<Arg> {
    let origin = |source: &ArgSource| match source {
        ArgSource::Parameter => Origin::Parameter,
        ArgSource::Member { parameter, offset, .. } => Origin::Member { parameter: *parameter, offset: *offset },
        ArgSource::Variable { initial } => Origin::Variable {
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
    let kinds = [FaultKind::Fuel, FaultKind::OutOfBounds, FaultKind::Division];
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
