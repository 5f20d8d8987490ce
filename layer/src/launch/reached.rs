//! What a launch's arguments stand for at its time, and which memory has to be read.

use opencl_sys::cl_mem;

use super::{Request, Subject};
use crate::driver::signature::{Address, Parameter};
use crate::shadow::kernel::{Argument, Kernel};
use crate::shadow::memory::{Image, Kind, Memory};
use crate::shadow::{Handle, Pinned, State, key};
use crate::spool::counts::Column;

/// `CL_MEM_SVM_ATOMICS`: host and kernel may wait for each other.
const SVM_ATOMICS: u64 = 1 << 11;

/// What a launch's arguments stand for, and the memory that they reach.
pub struct Reached {
    pub arguments: Vec<Value>,
    pub regions: Vec<Region>,
    /// The regions that only other memory points to.
    pub indirect: Vec<usize>,
}

/// An argument at the time of the launch.
pub enum Value {
    Bytes(Vec<u8>),
    Local(usize),
    Null,
    /// With the flags of the argument's own object, a sub-buffer perhaps.
    Memory {
        region: usize,
        offset: usize,
        size: usize,
        flags: u64,
    },
    Svm {
        region: usize,
        offset: usize,
    },
    Sampler(Handle),
}

/// A piece of memory that no other region overlaps.
#[derive(Clone)]
pub struct Region {
    /// The serial of the object that has the memory.
    pub root: u64,
    /// Where it begins in that object, in bytes.
    pub start: usize,
    pub length: usize,
    pub flags: u64,
    pub may_be_written: bool,
    /// Whether anything may have written to it before; `None` for shared virtual memory, which the host writes unseen.
    pub is_written: Option<bool>,
    pub source: Source,
}

/// How a region is read.
#[derive(Clone)]
pub enum Source {
    /// Parts of buffers that make up the region, in order.
    Buffers(Vec<Segment>),
    Image(cl_mem, Image),
    /// The address of the allocation, and whether it is unified shared memory.
    Svm {
        address: usize,
        unified: bool,
    },
}

/// A part of a buffer, in bytes of that buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Segment {
    pub buffer: cl_mem,
    pub offset: usize,
    pub length: usize,
}

/// A use of memory by an argument.
struct Use {
    handle: Handle,
    memory: Memory,
    may_be_written: bool,
    argument: usize,
}

impl Reached {
    /// Finds out what the arguments of a launch stand for. The error is the reason why its memory cannot be read.
    pub fn by(state: &State, subject: &Subject, request: &Request) -> Result<Reached, Column> {
        let context = state.queues.get(&key(request.queue)).ok_or(Column::UnknownKernel)?.context;
        if !state.user_events.is_empty() {
            return Err(Column::UserEvent);
        }
        if state.svm.values().any(|allocation| allocation.context == context && allocation.flags & SVM_ATOMICS != 0) {
            return Err(Column::SvmAtomics);
        }
        let kernel = state.kernels.get(&key(request.kernel)).ok_or(Column::UnknownKernel)?;
        let parameters = subject.signature.parameters.as_deref();
        let count = parameters.map_or(kernel.arguments.len(), <[Parameter]>::len);
        let mut arguments = Vec::with_capacity(count);
        let mut uses = Vec::new();
        let mut regions: Vec<Region> = Vec::new();
        for index in 0..count {
            let argument = kernel.arguments.get(index).unwrap_or(&Argument::Unset);
            let parameter = parameters.and_then(|all| all.get(index));
            arguments.push(value(state, argument, parameter, index, &mut uses, &mut regions)?);
        }
        let mut indirect = Vec::new();
        for pointer in &kernel.indirect {
            indirect.push(svm_region(state, *pointer, true, &mut regions).ok_or(Column::UnknownMemory)?.0);
        }
        merge(state, uses, &mut arguments, &mut regions)?;
        Ok(Reached { arguments, regions, indirect })
    }

    /// Adds the allocation that a pointer points into; returns its region and the offset in it.
    pub fn add(&mut self, state: &State, pointer: usize) -> Result<(usize, usize), Column> {
        svm_region(state, pointer, true, &mut self.regions).ok_or(Column::UnknownMemory)
    }

    /// Keeps the other queues of the context from being released, and watches the memory.
    pub fn pin(&self, state: &mut State, request: &Request) -> Result<Pinned, Column> {
        let context = state.queues.get(&key(request.queue)).ok_or(Column::UnknownKernel)?.context;
        let roots = self.regions.iter().map(|region| region.root).collect();
        Ok(state.pin(context, key(request.queue), roots))
    }
}

fn value(
    state: &State,
    argument: &Argument,
    parameter: Option<&Parameter>,
    index: usize,
    uses: &mut Vec<Use>,
    regions: &mut Vec<Region>,
) -> Result<Value, Column> {
    let may_be_written = parameter.is_none_or(Parameter::may_be_written);
    let is_pointer = parameter.map(|parameter| matches!(parameter.address, Address::Global | Address::Constant));
    if parameter.is_some_and(|parameter| parameter.is_pipe) {
        return Err(Column::Pipe);
    }
    match argument {
        Argument::Unset => Err(Column::UnknownArgument),
        Argument::Sized(_) if is_pointer == Some(true) => Ok(Value::Null),
        Argument::Sized(size) => Ok(Value::Local(*size)),
        Argument::Pointer(0) => Ok(Value::Null),
        Argument::Pointer(pointer) => {
            let (region, offset) = svm_region(state, *pointer, may_be_written, regions).ok_or(Column::UnknownMemory)?;
            Ok(Value::Svm { region, offset })
        }
        Argument::Value { bytes, memory } => {
            let handle = bytes.as_handle();
            let is_sampler = match parameter {
                Some(parameter) => parameter.type_name == "sampler_t",
                None => handle.is_some_and(|handle| state.samplers.contains_key(&handle)),
            };
            if is_pointer == Some(true) && handle == Some(0) {
                return Ok(Value::Null);
            }
            if let (true, Some(handle)) = (is_sampler, handle) {
                return if state.samplers.contains_key(&handle) {
                    Ok(Value::Sampler(handle))
                } else {
                    Err(Column::UnknownArgument)
                };
            }
            // Set before it was released, a handle may stand for another object by now.
            let found = handle.and_then(|handle| Some((handle, state.memory.get(&handle)?)));
            let found = found.filter(|(_, found)| Some(found.serial) == *memory);
            match found {
                Some((handle, memory)) if is_pointer != Some(false) => {
                    uses.push(Use { handle, memory: memory.clone(), may_be_written, argument: index });
                    Ok(Value::Null)
                }
                None if is_pointer == Some(true) => Err(Column::UnknownMemory),
                _ => Ok(Value::Bytes(bytes.as_slice().to_vec())),
            }
        }
    }
}

/// Adds the allocation that a pointer points into, or finds it among the regions; returns its index and the offset in
/// it.
fn svm_region(
    state: &State,
    pointer: usize,
    may_be_written: bool,
    regions: &mut Vec<Region>,
) -> Option<(usize, usize)> {
    let (address, allocation) = state.svm_at(pointer)?;
    let offset = pointer - address;
    if let Some(index) = regions.iter().position(|region| region.root == allocation.serial) {
        regions[index].may_be_written |= may_be_written;
        return Some((index, offset));
    }
    regions.push(Region {
        root: allocation.serial,
        start: 0,
        length: allocation.size,
        flags: allocation.flags,
        may_be_written,
        is_written: None,
        source: Source::Svm { address, unified: allocation.unified },
    });
    Some((regions.len() - 1, offset))
}

/// Makes regions of the memory objects: those that overlap become one.
fn merge(state: &State, mut uses: Vec<Use>, arguments: &mut [Value], regions: &mut Vec<Region>) -> Result<(), Column> {
    uses.sort_by_key(|used| (used.memory.root, used.memory.origin, std::cmp::Reverse(used.memory.size)));
    let roots: Vec<u64> = uses.iter().map(|used| used.memory.root).collect();
    for used in uses {
        let Use { handle, memory, may_be_written, argument } = used;
        let buffer = handle as cl_mem;
        let source = match &memory.kind {
            Kind::Pipe => return Err(Column::Pipe),
            Kind::Image(image) if image.mip_levels > 1 || image.samples > 1 => return Err(Column::Image),
            Kind::Image(image) if image.buffer.is_some_and(|root| roots.contains(&root)) => {
                return Err(Column::AliasedImage);
            }
            Kind::Image(image) => Source::Image(buffer, image.clone()),
            Kind::Buffer => Source::Buffers(vec![Segment { buffer, offset: 0, length: memory.size }]),
        };
        let end = memory.origin + memory.size;
        let last =
            regions.last_mut().filter(|last| last.root == memory.root && memory.origin < last.start + last.length);
        match last {
            Some(last) => {
                last.may_be_written |= may_be_written;
                last.flags |= memory.flags;
                let covered = last.start + last.length;
                if let (Source::Buffers(segments), true) = (&mut last.source, end > covered) {
                    segments.push(Segment { buffer, offset: covered - memory.origin, length: end - covered });
                    last.length = end - last.start;
                }
            }
            None => regions.push(Region {
                root: memory.root,
                start: memory.origin,
                length: memory.size,
                flags: memory.flags,
                may_be_written,
                is_written: Some(state.is_written(&memory)),
                source,
            }),
        }
        let region = regions.len() - 1;
        arguments[argument] = Value::Memory {
            region,
            offset: memory.origin - regions[region].start,
            size: memory.size,
            flags: memory.flags,
        };
    }
    Ok(())
}

/// Lists the memory that a kernel's arguments reach.
pub fn roots(state: &State, kernel: &Kernel) -> Vec<u64> {
    let of = |argument: &Argument| match argument {
        Argument::Value { bytes, memory: Some(_) } => Some(state.memory.get(&bytes.as_handle()?)?.root),
        Argument::Pointer(pointer) => Some(state.svm_at(*pointer)?.1.serial),
        _ => None,
    };
    let indirect = kernel.indirect.iter().filter_map(|pointer| Some(state.svm_at(*pointer)?.1.serial));
    kernel.arguments.iter().filter_map(of).chain(indirect).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(serial: u64, origin: usize, size: usize, argument: usize, may_be_written: bool) -> Use {
        let kind = Kind::Buffer;
        let memory = Memory { references: 1, serial, kind, flags: 0, size, root: 1, origin, written: false };
        Use { handle: 1000 * serial as usize, memory, may_be_written, argument }
    }

    #[test]
    fn overlapping_parts_are_read_once() {
        let mut arguments: Vec<Value> = (0..4).map(|_| Value::Null).collect();
        let mut regions = Vec::new();
        let uses = vec![
            part(2, 100, 50, 0, false),
            part(3, 0, 60, 1, false),
            part(4, 40, 60, 2, true),
            part(5, 45, 10, 3, false),
        ];
        merge(&State::default(), uses, &mut arguments, &mut regions).unwrap();
        // [0, 60) and [40, 100) overlap; [100, 150) only touches them.
        assert_eq!(
            regions.iter().map(|r| (r.start, r.length, r.may_be_written)).collect::<Vec<_>>(),
            [(0, 100, true), (100, 50, false)]
        );
        let Source::Buffers(segments) = &regions[0].source else { panic!() };
        let segment = |handle: usize, offset, length| Segment { buffer: handle as cl_mem, offset, length };
        assert_eq!(segments, &[segment(3000, 0, 60), segment(4000, 20, 40)]);
        let place = |value: &Value| match value {
            Value::Memory { region, offset, size, .. } => (*region, *offset, *size),
            _ => panic!(),
        };
        assert_eq!(arguments.iter().map(place).collect::<Vec<_>>(), [(1, 0, 50), (0, 0, 60), (0, 40, 60), (0, 45, 10)]);
    }
}
