//! Compiles a kernel from its source and runs it, with the simplest possible weaving: the item's context becomes an
//! argument, placeholders become calls of hooks.

use std::ffi::{CString, c_void};
use std::path::Path;
use std::sync::Barrier;
use std::sync::atomic::{AtomicU64, Ordering};

use inkwell::module::Module;
use kassay_base::error::Result;
use kassay_ir::kernel::canonical;
use kassay_ir::kernel::parameters;
use kassay_ir::llvm::{AddressSpace, AttributeIndex, Context, Inst, Linkage, Type, Value, View};
use kassay_ir::lower::native::emit::{Effort, emit};
use kassay_ir::lower::native::prepare::prepare;
use kassay_model::native::abi::{self, Extent, GroupContext, ItemContext, hook, placeholder};
use kassay_model::native::runtime_support;
use kassay_model::options::KernelOptions;
use llvm_sys::core::LLVMCreateMemoryBufferWithMemoryRangeCopy;
use llvm_sys::error::{LLVMErrorRef, LLVMGetErrorMessage};
use llvm_sys::orc2::lljit::*;
use llvm_sys::orc2::*;

use crate::common::kernels::{self, open_bare, source_file};
pub use crate::common::launches::words;

/// Prepares a kernel of a file and passes it to `then`.
pub fn prepared<T>(
    file: &Path,
    options: &KernelOptions,
    entry: Option<&str>,
    then: impl FnOnce(&Module<'_>, &str) -> T,
) -> Result<T> {
    let context = Context::create();
    let under_test = open_bare(&context, file, entry, options)?.under_test;
    let module = prepare(under_test.module, &under_test.entry)?;
    Ok(then(&module, &under_test.entry))
}

/// Compiles the kernel `k` in `source`.
pub fn code(source: &str, cl_std: &str, effort: Effort) -> Result<Vec<u8>> {
    let (_folder, path) = source_file(source);
    prepared(&path, &kernels::cl_std(cl_std), Some("k"), |module, entry| woven(module, entry, effort))?
}

/// Compiles a prepared kernel, with the simplest weaving.
pub fn woven(module: &Module<'_>, entry: &str, effort: Effort) -> Result<Vec<u8>> {
    weave(module, entry);
    canonical::verify(module, "the test's weaving")?;
    emit(&module.clone(), entry, effort)
}

fn weave(module: &Module<'_>, entry: &str) {
    let view = View::of(module);
    let kernel = view.function(entry).unwrap();
    let extended = parameters::append(kernel, view.pointer_type(AddressSpace::Private), "item");
    let (new, item) = (extended.function, extended.parameter);
    // SAFETY: nothing calls a kernel, and the handle of the old one ends here.
    unsafe { extended.replace_old(|_| None) };
    new.set_call_conv(0);
    new.attributes(AttributeIndex::Function).retain(|_| false);
    view.strip_debug_info();
    for call in new.instructions().into_iter().filter(|inst| inst.is_call()) {
        // SAFETY: each call is visited once.
        unsafe { replace(view, call, item) };
    }
}

/// Returns the hook for a placeholder, and the widths (32 or 64 bits) of the numbers that are its first parameters
/// after the item.
fn hook_of(name: &str) -> Option<(&'static str, &'static [u32])> {
    Some(match name {
        placeholder::BARRIER => (hook::BARRIER, &[32]),
        placeholder::EXCHANGE => (hook::EXCHANGE, &[32, 64]),
        placeholder::WARP => (hook::WARP, &[32, 64]),
        placeholder::TRAP => (hook::TRAP, &[32]),
        placeholder::FENCE => (hook::FENCE, &[32]),
        placeholder::ASYNC_COPY => (hook::ASYNC_COPY, &[32, 64, 32]),
        placeholder::WAIT => (hook::WAIT, &[32, 64]),
        placeholder::IMAGE_READ => (hook::IMAGE_READ, &[32]),
        placeholder::IMAGE_WRITE => (hook::IMAGE_WRITE, &[32]),
        placeholder::IMAGE_QUERY => (hook::IMAGE_QUERY, &[]),
        "printf" => (hook::PRINT, &[32]),
        _ => return None,
    })
}

/// # Safety
/// No copy of the call's handle is used afterwards.
unsafe fn replace<'m>(view: View<'m>, call: Inst<'m>, item: Value<'m>) {
    let name = call.callee().unwrap_or_default();
    if name == abi::ITEM {
        call.replace_and_erase(item);
        return;
    }
    if name == placeholder::RETURNS {
        call.erase();
        return;
    }
    let Some((hook, numbers)) = hook_of(&name) else { return };
    let is_print = name == "printf";
    let zero = |bits: &u32| view.int_type(*bits).int(0);
    let mut arguments = vec![item];
    arguments.extend(numbers.iter().map(zero));
    if is_print {
        arguments.extend([call.operand(0), view.pointer_type(AddressSpace::Private).null()]);
    } else {
        arguments.extend(call.args());
    }
    if name == placeholder::BARRIER {
        arguments.push(zero(&64));
    }
    let types: Vec<Type<'m>> = arguments.iter().map(|a| a.ty()).collect();
    let result = if is_print { view.void_type() } else { call.ty() };
    let ty = result.function(&types, false);
    let builder = view.builder();
    builder.before(call);
    let new = builder.call_as(ty, view.function_or_declared(hook, ty), &arguments, "");
    if is_print {
        call.replace_uses(zero(&32));
    } else if call.is_used() {
        call.replace_uses(new);
    }
    call.erase();
    assert_eq!(view.function(&name).unwrap().linkage(), Linkage::LLVMExternalLinkage);
}

/// What a work-item's `host` points to: the state shared by its group.
struct GroupState {
    barrier: Barrier,
    /// Two buffers that alternate between exchanges.
    values: [Vec<AtomicU64>; 2],
    calls: Vec<AtomicU64>,
}

unsafe fn group_state(item: *const ItemContext) -> &'static GroupState {
    // SAFETY: `host` points to the group's state, which outlives its work-items' threads.
    unsafe { &*(*item).host.cast::<GroupState>() }
}

unsafe extern "C" fn barrier(item: *const ItemContext, _: i32, _: i32, _: i32, _: i64) {
    // SAFETY: see `group_state`.
    unsafe { group_state(item) }.barrier.wait();
}

unsafe extern "C" fn exchange(
    item: *const ItemContext,
    _: i32,
    _: i64,
    value: *const u8,
    bytes: i64,
    kind: i32,
) -> *const u8 {
    // SAFETY: see `group_state`; every item writes its own bytes, and reads those of others after the barrier.
    unsafe {
        let group_state = group_state(item);
        let rank = (*item).local_linear_id;
        let turn = group_state.calls[rank as usize].fetch_add(1, Ordering::Relaxed) % 2;
        let base = group_state.values[turn as usize].as_ptr().cast::<u8>().cast_mut();
        std::ptr::copy_nonoverlapping(value, base.add((rank as i64 * bytes) as usize), bytes as usize);
        group_state.barrier.wait();
        let size = (*(*item).group).sub_group;
        let first = if kind & 1 == 0 { 0 } else { rank / size * size };
        base.add((first as i64 * bytes) as usize)
    }
}

unsafe extern "C" fn fence(_: *const ItemContext, _: i32, _: i32, _: i32, _: i32) {
    std::sync::atomic::fence(Ordering::SeqCst);
}

unsafe extern "C" fn async_copy(
    item: *const ItemContext,
    _: i32,
    _: i64,
    _: i32,
    to: *mut u8,
    from: *const u8,
    count: i64,
    element: i64,
    to_stride: i64,
    from_stride: i64,
    event: *const u8,
) -> *const u8 {
    // SAFETY: the kernel passes valid pointers; one item copies while the others wait.
    unsafe {
        let group_state = group_state(item);
        if group_state.barrier.wait().is_leader() {
            for i in 0..count {
                let (to, from) =
                    (to.offset((i * element * to_stride) as isize), from.offset((i * element * from_stride) as isize));
                std::ptr::copy_nonoverlapping(from, to, element as usize);
            }
        }
        group_state.barrier.wait();
    }
    event
}

unsafe extern "C" fn wait(_: *const ItemContext, _: i32, _: i64, _: *const u8, _: i64) {}

unsafe extern "C" fn print(_: *const ItemContext, _: i32, _: *const u8, _: *const u8) {}

/// Reads an image in which every texel holds its coordinates, with the kind as the fourth component.
unsafe extern "C" fn image_read(
    _: *const ItemContext,
    _: i32,
    _: *const u8,
    sampler: *const u8,
    coordinates: *const [u32; 4],
    kind: i32,
    result: *mut u32,
) {
    // SAFETY: the kernel passes valid pointers to coordinates and result.
    unsafe {
        let seen = *coordinates;
        let values = [seen[0], seen[1], seen[2], kind as u32 + 100 * sampler as u32];
        for (i, value) in values.into_iter().enumerate() {
            let is_float_coordinate = i < 3 && kind & 8 != 0;
            let number = if is_float_coordinate { f32::from_bits(value) } else { value as i32 as f32 };
            match kind & 3 {
                0 => *result.cast::<f32>().add(i) = number,
                3 => *result.cast::<u16>().add(i) = half::f16::from_f32(number).to_bits(),
                _ => *result.add(i) = number as i32 as u32,
            }
        }
    }
}

/// Keeps the last texel written in the image's first words.
unsafe extern "C" fn image_write(
    _: *const ItemContext,
    _: i32,
    image: *mut u32,
    coordinates: *const u32,
    kind: i32,
    texel: *const u8,
) {
    // SAFETY: the test passes an image of nine words.
    unsafe {
        std::ptr::copy_nonoverlapping(coordinates, image, 4);
        std::ptr::copy_nonoverlapping(texel, image.add(4).cast(), if kind & 3 == 3 { 8 } else { 16 });
        *image.add(8) = kind as u32;
    }
}

unsafe extern "C" fn image_query(_: *const ItemContext, _: *const u8, what: i32) -> i64 {
    i64::from(what) + 1000
}

fn hooks() -> Vec<(&'static str, *const c_void)> {
    vec![
        (hook::BARRIER, barrier as *const c_void),
        (hook::EXCHANGE, exchange as *const c_void),
        (hook::FENCE, fence as *const c_void),
        (hook::ASYNC_COPY, async_copy as *const c_void),
        (hook::WAIT, wait as *const c_void),
        (hook::PRINT, print as *const c_void),
        (hook::IMAGE_READ, image_read as *const c_void),
        (hook::IMAGE_WRITE, image_write as *const c_void),
        (hook::IMAGE_QUERY, image_query as *const c_void),
    ]
}

/// A loaded object.
pub struct Loaded {
    jit: LLVMOrcLLJITRef,
    entry: unsafe extern "C" fn(*const ItemContext, *const *const c_void),
}

fn succeeded(error: LLVMErrorRef) {
    if !error.is_null() {
        // SAFETY: the error is not null, and is consumed here and not used again.
        panic!("{}", unsafe { std::ffi::CStr::from_ptr(LLVMGetErrorMessage(error)) }.to_string_lossy());
    }
}

impl Loaded {
    pub fn new(object: &[u8]) -> Loaded {
        // SAFETY: LLVM takes ownership of the builder, the symbols and the buffer, as its interface says; the entry is
        // used only while the JIT lives.
        unsafe {
            let mut jit = std::ptr::null_mut();
            succeeded(LLVMOrcCreateLLJIT(&mut jit, LLVMOrcCreateLLJITBuilder()));
            let library = LLVMOrcLLJITGetMainJITDylib(jit);
            let known = hooks().into_iter().map(|(name, at)| (name, at as u64));
            let known = known
                .chain(runtime_support::names().map(|name| (name, runtime_support::address(name).unwrap() as u64)));
            let mut symbols: Vec<LLVMOrcCSymbolMapPair> = known
                .map(|(name, address)| {
                    let name = CString::new(name).unwrap();
                    let mut pair: LLVMOrcCSymbolMapPair = std::mem::zeroed();
                    pair.Name = LLVMOrcLLJITMangleAndIntern(jit, name.as_ptr());
                    pair.Sym.Address = address;
                    pair.Sym.Flags.GenericFlags = 1;
                    pair
                })
                .collect();
            succeeded(LLVMOrcJITDylibDefine(library, LLVMOrcAbsoluteSymbols(symbols.as_mut_ptr(), symbols.len())));
            let buffer =
                LLVMCreateMemoryBufferWithMemoryRangeCopy(object.as_ptr().cast(), object.len(), c"object".as_ptr());
            succeeded(LLVMOrcLLJITAddObjectFile(jit, library, buffer));
            let name = CString::new(abi::ENTRY).unwrap();
            let mut address = 0;
            succeeded(LLVMOrcLLJITLookup(jit, &mut address, name.as_ptr()));
            type Entry = unsafe extern "C" fn(*const ItemContext, *const *const c_void);
            Loaded { jit, entry: std::mem::transmute::<usize, Entry>(address as usize) }
        }
    }
}

impl Drop for Loaded {
    fn drop(&mut self) {
        // SAFETY: the JIT is disposed of once, and no thread runs its code any more.
        succeeded(unsafe { LLVMOrcDisposeLLJIT(self.jit) });
    }
}

/// An argument.
pub enum Arg<'a> {
    Buffer(&'a mut [u8]),
    Value(&'a [u8]),
}

/// The NDRange of a run.
#[derive(Clone, Copy)]
pub struct Range {
    pub dimensions: u64,
    pub global: [u64; 3],
    pub local: [u64; 3],
    pub offset: [u64; 3],
    /// Number of work-items of a sub-group.
    pub sub_group: u64,
}

impl Range {
    pub fn linear(global: u64, local: u64) -> Range {
        Range { dimensions: 1, global: [global, 1, 1], local: [local, 1, 1], offset: [0; 3], sub_group: 16 }
    }
}

/// Runs the groups one after another, each with a thread per work-item.
pub fn run(loaded: &Loaded, range: Range, args: &mut [Arg<'_>]) {
    let words: Vec<u64> = args
        .iter_mut()
        .map(|arg| match arg {
            Arg::Buffer(bytes) => bytes.as_mut_ptr() as u64,
            Arg::Value(_) => 0,
        })
        .collect();
    let cells: Vec<usize> = args
        .iter()
        .zip(&words)
        .map(|(arg, word)| match arg {
            Arg::Buffer(_) => std::ptr::from_ref(word) as usize,
            Arg::Value(bytes) => bytes.as_ptr() as usize,
        })
        .collect();
    let groups: [u64; 3] = std::array::from_fn(|d| range.global[d].div_ceil(range.local[d]));
    let extents: [Extent; 0] = [];
    let entry = loaded.entry;
    for number in 0..groups.iter().product() {
        let group_id = [number % groups[0], number / groups[0] % groups[1], number / groups[0] / groups[1]];
        let local_size: [u64; 3] =
            std::array::from_fn(|d| range.local[d].min(range.global[d] - group_id[d] * range.local[d]));
        let group = GroupContext {
            extents: extents.as_ptr(),
            local_base: std::ptr::null_mut(),
            sink: std::ptr::null_mut(),
            dimensions: range.dimensions,
            global_size: range.global,
            local_size,
            enqueued_local_size: range.local,
            groups,
            offset: range.offset,
            group_id,
            sub_group: range.sub_group,
        };
        let items: u64 = local_size.iter().product();
        let room = || (0..items * 32).map(|_| AtomicU64::new(0)).collect();
        let group_state = GroupState {
            barrier: Barrier::new(items as usize),
            values: [room(), room()],
            calls: (0..items).map(|_| AtomicU64::new(0)).collect(),
        };
        let (group, group_state) = (std::ptr::from_ref(&group) as usize, std::ptr::from_ref(&group_state) as usize);
        let cells = &cells;
        std::thread::scope(|scope| {
            for linear in 0..items {
                scope.spawn(move || {
                    let local_id = [
                        linear % local_size[0],
                        linear / local_size[0] % local_size[1],
                        linear / local_size[0] / local_size[1],
                    ];
                    let item = ItemContext {
                        group: group as *const GroupContext,
                        fuel: i64::MAX,
                        local_id,
                        global_id: std::array::from_fn(|d| {
                            range.offset[d] + group_id[d] * range.local[d] + local_id[d]
                        }),
                        local_linear_id: linear,
                        leaves: 0,
                        returned: 0,
                        host: group_state as *mut c_void,
                        placed: std::ptr::null_mut(),
                    };
                    // SAFETY: the code was compiled for these arguments, which outlive the scoped threads.
                    unsafe { entry(&item, cells.as_ptr().cast()) };
                });
            }
        });
    }
}
