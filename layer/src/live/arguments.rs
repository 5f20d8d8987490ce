//! What a woven kernel has to be given before a launch, from the shadow of the program's kernel.

use super::replacement::{Change, Changes, Ready, Value};
use super::reply::{self, POINTER, Why};
use crate::driver::signature::{Address, Parameter};
use crate::shadow::State;
use crate::shadow::kernel::{self, Kernel};
use crate::shadow::memory;

/// Compares what a woven kernel has with what the program's kernel has now. `Ok(None)` if the program has not set all
/// arguments: the driver will refuse that.
pub fn changes(
    state: &State,
    kernel: &Kernel,
    (recipe, variables): (&reply::Kernel, &[reply::Variable]),
    parameters: Option<&[Parameter]>,
    ready: &Ready,
) -> Result<Option<Changes>, Why> {
    let mut arguments = Vec::new();
    if kernel.arguments.contains(&kernel::Argument::Unset)
        || parameters.is_some_and(|all| kernel.arguments.len() < all.len())
    {
        return Ok(None);
    }
    for (position, from) in (0..).zip(&recipe.arguments) {
        let (index, offset) = match *from {
            reply::Argument::Parameter { index } => (index, None),
            reply::Argument::Member { index, offset } => (index, Some(offset)),
            reply::Argument::Variable { .. } | reply::Argument::Probe => continue,
        };
        let (Some(argument), Some(stamp)) = (kernel.arguments.get(index), kernel.stamps.get(index).copied()) else {
            return Err(Why::new("bad-answer", format!("the kernel has no argument {index}")));
        };
        if ready.stamps.get(position as usize) == Some(&stamp) {
            continue;
        }
        let value = match (argument, offset) {
            (kernel::Argument::Value { bytes, .. }, None) => Value::Bytes(bytes.clone()),
            (kernel::Argument::Sized(size), None) => Value::Sized(*size),
            (kernel::Argument::Pointer(address), None) => pointer(state, *address),
            (argument, Some(offset)) => pointer(state, member(argument, offset)?),
            (kernel::Argument::Unset, None) => return Ok(None),
        };
        arguments.push(Change { position, stamp, value });
    }
    let settings = (kernel.settings_stamp != ready.settings).then(|| (kernel.settings_stamp, kernel.settings.clone()));
    let has_sizes = recipe.probe.as_ref().is_some_and(|probe| probe.sizes.is_some());
    let sizes = if has_sizes { sizes(state, kernel, (recipe, variables), parameters)? } else { Vec::new() };
    Ok(Some(Changes { arguments, settings, sizes }))
}

fn pointer(state: &State, address: usize) -> Value {
    let unified = state.svm_at(address).is_some_and(|(_, allocation)| allocation.unified);
    Value::Pointer { address, unified }
}

/// Reads a pointer in a value.
pub fn member(argument: &kernel::Argument, offset: usize) -> Result<usize, Why> {
    let kernel::Argument::Value { bytes, .. } = argument else {
        return Err(Why::new("bad-answer", "a member of an argument that is no value"));
    };
    let part = offset.checked_add(POINTER).and_then(|end| bytes.as_slice().get(offset..end));
    match part.and_then(|part| part.try_into().ok()) {
        Some(part) => Ok(usize::from_ne_bytes(part)),
        None => Err(Why::new("bad-answer", format!("an argument has no pointer at byte {offset}"))),
    }
}

/// The sizes of memory that arguments point to, in bytes. What is not known counts as endless, so that a guard never
/// changes what the program does; a null pointer has none.
fn sizes(
    state: &State,
    kernel: &Kernel,
    (recipe, variables): (&reply::Kernel, &[reply::Variable]),
    parameters: Option<&[Parameter]>,
) -> Result<Vec<u64>, Why> {
    let of_pointer = |address: usize| match state.svm_at(address) {
        Some((base, allocation)) => (allocation.size - (address - base).min(allocation.size)) as u64,
        None if address == 0 => 0,
        None => u64::MAX,
    };
    let of = |index: usize| {
        let address = parameters.and_then(|all| all.get(index)).map(|parameter| parameter.address);
        match kernel.arguments.get(index) {
            Some(kernel::Argument::Sized(size)) => match address {
                Some(Address::Local) | None => *size as u64,
                Some(_) => 0,
            },
            Some(kernel::Argument::Pointer(pointer)) => of_pointer(*pointer),
            Some(kernel::Argument::Value { bytes, memory: Some(serial) }) if address != Some(Address::Private) => {
                let memory = bytes.as_handle().and_then(|handle| state.memory.get(&handle));
                match memory.filter(|memory| memory.serial == *serial) {
                    Some(memory) if memory.kind == memory::Kind::Buffer => memory.size as u64,
                    Some(_) => 0,
                    None => u64::MAX,
                }
            }
            Some(kernel::Argument::Value { bytes, .. })
                if matches!(address, Some(Address::Global | Address::Constant)) && bytes.as_handle() != Some(0) =>
            {
                u64::MAX
            }
            _ => 0,
        }
    };
    let size = |argument: &reply::Argument| {
        Ok(match *argument {
            reply::Argument::Parameter { index } => of(index),
            reply::Argument::Member { index, offset } => match kernel.arguments.get(index) {
                Some(argument) => of_pointer(member(argument, offset)?),
                None => 0,
            },
            reply::Argument::Variable { variable } => {
                variables.get(variable).map_or(0, |variable| variable.size as u64)
            }
            reply::Argument::Probe => 0,
        })
    };
    recipe.arguments.iter().map(size).collect()
}
