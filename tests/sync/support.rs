//! Provides kernels, tables and observations.

use std::path::PathBuf;

use kassay_ir::llvm::Context;
use kassay_judge::coverage::build::KernelUnderTest;
use kassay_model::interface::{self, AddressSpace, Arg, ArgKind, Interface, Scalar, SubGroups, Type};
use kassay_model::native::table::{
    AccessSite, BarrierSite, CallPath, Mode, NativeTable, Object, PlainSite, SourcePlace, Space, Storage,
};
use kassay_model::options::KernelOptions;
use kassay_run::exec::simulator::observation::{Access, Conflict, Simulation};
use kassay_suite::launch::Launch;

pub use crate::common::TestResult;
use crate::common::kernels::{open, source_file};
use crate::common::launches::{ints, line};

/// Reads a kernel from its source.
pub fn under_test<'c>(
    context: &'c Context,
    source: &str,
) -> TestResult<(tempfile::TempDir, PathBuf, KernelUnderTest<'c>)> {
    let (folder, path) = source_file(source);
    let under_test = open(context, &path, None, &KernelOptions::default())?.under_test;
    Ok((folder, path, under_test))
}

pub fn place(function: &str, line: u32, column: u32) -> SourcePlace {
    SourcePlace { function: function.into(), file: "k.cl".into(), line, column }
}

/// A table that is built site by site.
#[derive(Default)]
pub struct Tables(pub NativeTable);

impl Tables {
    /// Makes a table with a global argument `x` and a local variable `tmp` of 64 words.
    pub fn new() -> Tables {
        let object = |name: &str, space, storage| Object { name: name.into(), space, storage, element: 4 };
        let objects = vec![
            object("x", Space::Global, Storage::Argument(0)),
            object("tmp", Space::Local, Storage::Local { bytes: 256, offset: 0 }),
        ];
        Tables(NativeTable { objects, arguments: 1, races: true, ..NativeTable::default() })
    }

    pub fn path(&mut self, frames: Vec<SourcePlace>) -> u32 {
        self.0.paths.push(CallPath { frames });
        self.0.paths.len() as u32 - 1
    }

    pub fn access(&mut self, mode: Mode, object: u32, frames: Vec<SourcePlace>) -> u32 {
        let path = self.path(frames);
        let space = self.0.objects[object as usize].space;
        let (object, ordering, builtin) = (Some(object), None, None);
        self.0.accesses.push(AccessSite { path, mode, space, object, bytes: 4, align: 4, lead: 0, ordering, builtin });
        self.0.accesses.len() as u32 - 1
    }

    pub fn barrier(&mut self, source: u32, frames: Vec<SourcePlace>) -> u32 {
        let path = self.path(frames);
        self.0.barriers.push(BarrierSite {
            path,
            builtin: "barrier".into(),
            sub_group: false,
            source,
            flags: None,
            grid: false,
        });
        self.0.barriers.len() as u32 - 1
    }

    pub fn division(&mut self, frames: Vec<SourcePlace>) -> u32 {
        let path = self.path(frames);
        self.0.divisions.push(PlainSite { path });
        self.0.divisions.len() as u32 - 1
    }
}

/// Returns the interface of `kernel void k(global int *x)`.
pub fn interface() -> Interface {
    let element = Some(Type::Scalar(Scalar::I32));
    let arg = Arg {
        name: Some("x".into()),
        position: 0,
        source: interface::ArgSource::Parameter,
        type_name: "int*".into(),
        kind: ArgKind::Buffer { element, space: AddressSpace::Global },
        evidence: interface::Evidence::Recorded,
        access: interface::Access::None,
        is_const: false,
        is_restrict: false,
        is_volatile: false,
    };
    Interface {
        name: "k".into(),
        args: vec![arg],
        required_local: None,
        local_hint: None,
        max_group: None,
        sub_groups: SubGroups::Unused,
        uniform_groups: true,
        local_variables: Vec::new(),
        indices: Vec::new(),
    }
}

/// Returns a launch of `global` items in groups of `local`, on one buffer of as many integers.
pub fn launch(global: u64, local: u64) -> Launch {
    Launch::new(line(global, local), vec![ints(&vec![0; global as usize])])
}

pub fn simulation() -> Simulation {
    Simulation { completed: true, ..Simulation::default() }
}

/// Returns an access by item `item`, in groups of 4.
pub fn access(site: u32, mode: Mode, item: u64, number: u64) -> Access {
    Access { site, mode, global_id: [item, 0, 0], group_id: [item / 4, 0, 0], number }
}

pub fn conflict(accesses: [Access; 2], object: u32, offset: u64) -> Conflict {
    let inter_group = accesses[0].group_id != accesses[1].group_id;
    Conflict { accesses, object, offset, inter_group, benign: false, count: 1 }
}
