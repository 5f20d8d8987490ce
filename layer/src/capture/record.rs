//! The file of a launch.

use std::ffi::c_void;

use opencl_sys::{
    CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CL_SAMPLER_ADDRESSING_MODE, CL_SAMPLER_FILTER_MODE,
    CL_SAMPLER_NORMALIZED_COORDS, cl_sampler,
};
use serde::Serialize;

use super::plan::Plan;
use crate::driver::{Driver, call};
use crate::launch::Request;
use crate::launch::contents::extent;
use crate::launch::reached::{Region, Source, Value};
use crate::spool::blobs::Id;
use crate::spool::{self, files};

/// `launches/N.json`.
#[derive(Serialize)]
pub struct Launch<'a> {
    schema: &'static str,
    kernel: usize,
    program: &'a Id,
    name: &'a str,
    launch: u64,
    sequence: u64,
    thread: i64,
    time_ms: u64,
    chosen: &'static str,
    new_coverage: Option<bool>,
    queue: Queue,
    task: bool,
    offset: Option<&'a [usize]>,
    global: &'a [usize],
    local: Option<&'a [usize]>,
    arguments: Vec<Argument>,
    memory: Vec<Memory<'a>>,
    indirect: &'a [usize],
}

#[derive(Serialize)]
struct Queue {
    out_of_order: bool,
}

#[derive(Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum Argument {
    Value { bytes: String },
    Local { size: usize },
    Null,
    Memory { memory: usize, offset: usize, size: usize, flags: u64 },
    Svm { memory: usize, offset: usize },
    Sampler { normalized: bool, addressing: u32, filter: u32 },
}

#[derive(Serialize)]
struct Memory<'a> {
    kind: &'static str,
    object: u64,
    offset: usize,
    size: usize,
    flags: u64,
    written: Option<bool>,
    may_be_written: bool,
    before: Option<&'a Id>,
    after: Option<&'a Id>,
    #[serde(skip_serializing_if = "Option::is_none")]
    address: Option<usize>,
    #[serde(skip_serializing_if = "Option::is_none")]
    image: Option<Image>,
}

#[derive(Serialize)]
struct Image {
    object: u32,
    channel_order: u32,
    channel_type: u32,
    element: usize,
    extent: [usize; 3],
}

/// Describes a launch whose contents are in place: for each region the blobs before and after.
///
/// # Safety
/// The objects of the plan must be alive.
pub unsafe fn launch<'a>(
    driver: &Driver,
    request: &'a Request,
    plan: &'a Plan,
    pieces: &'a [(Option<Id>, Option<Id>)],
) -> Launch<'a> {
    let dimensions = request.dimensions as usize;
    Launch {
        schema: "kassay.spool-launch/1",
        kernel: plan.kernel,
        program: &plan.subject.program,
        name: &plan.subject.name,
        launch: plan.ordinal,
        sequence: plan.sequence,
        thread: libc::syscall(libc::SYS_gettid),
        time_ms: spool::now_ms(),
        chosen: plan.chosen.name(),
        new_coverage: plan.new_coverage,
        queue: Queue { out_of_order: plan.queue_properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE != 0 },
        task: request.task,
        offset: request.offset.as_ref().map(|sizes| &sizes[..dimensions]),
        global: &request.global[..dimensions],
        local: request.local.as_ref().map(|sizes| &sizes[..dimensions]),
        arguments: plan.reached.arguments.iter().map(|value| argument(driver, value)).collect(),
        memory: plan
            .reached
            .regions
            .iter()
            .zip(pieces)
            .map(|(region, (before, after))| memory(region, before, after))
            .collect(),
        indirect: &plan.reached.indirect,
    }
}

unsafe fn argument(driver: &Driver, value: &Value) -> Argument {
    match value {
        Value::Bytes(bytes) => Argument::Value { bytes: files::hex(bytes) },
        Value::Local(size) => Argument::Local { size: *size },
        Value::Null => Argument::Null,
        Value::Memory { region, offset, size, flags } => {
            Argument::Memory { memory: *region, offset: *offset, size: *size, flags: *flags }
        }
        Value::Svm { region, offset } => Argument::Svm { memory: *region, offset: *offset },
        Value::Sampler(handle) => {
            let ask = |what: u32| {
                let (mut value, sampler) = (0_u32, *handle as cl_sampler);
                let to = (&raw mut value).cast::<c_void>();
                call!(driver, clGetSamplerInfo(sampler, what, size_of::<u32>(), to, std::ptr::null_mut()));
                value
            };
            Argument::Sampler {
                normalized: ask(CL_SAMPLER_NORMALIZED_COORDS) != 0,
                addressing: ask(CL_SAMPLER_ADDRESSING_MODE),
                filter: ask(CL_SAMPLER_FILTER_MODE),
            }
        }
    }
}

fn memory<'a>(region: &Region, before: &'a Option<Id>, after: &'a Option<Id>) -> Memory<'a> {
    let (kind, address, image) = match &region.source {
        Source::Buffers(_) => ("buffer", None, None),
        Source::Svm { address, .. } => ("svm", Some(*address), None),
        Source::Image(_, image) => {
            let image = Image {
                object: image.object,
                channel_order: image.channel_order,
                channel_type: image.channel_type,
                element: image.element,
                extent: extent(image),
            };
            ("image", None, Some(image))
        }
    };
    Memory {
        kind,
        object: region.root,
        offset: region.start,
        size: region.length,
        flags: region.flags,
        written: region.is_written,
        may_be_written: region.may_be_written,
        before: before.as_ref(),
        after: after.as_ref(),
        address,
        image,
    }
}
