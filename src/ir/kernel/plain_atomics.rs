//! Undoes what translators of SPIR-V do to atomics, barriers and fences.
//!
//! They write the builtins of OpenCL C 2.0 with all arguments, and cast each pointer so that it has no address space.
//! Here a builtin accesses the address space that the pointer comes from, and where one of OpenCL C 1.2 has just the
//! given order and scope, that one takes its place: the source will have had it, and analyses see its memory. Scopes
//! and orders that a module computes are computed without branches, because the source has none.

use super::builtins::{demangle, mangle};
use crate::llvm::{AddressSpace, AttributeIndex, Function, Inst, Linkage, Opcode, Type, Value, View};

/// Numbers of `memory_order` (OpenCL C 3.0, 6.15.12.4).
const RELAXED: u64 = 0;
const ACQUIRE: u64 = 2;
const RELEASE: u64 = 3;
const ACQ_REL: u64 = 4;
/// Numbers of `memory_scope` (OpenCL C 3.0, 6.15.12.5).
const WORK_GROUP: u64 = 1;
const DEVICE: u64 = 2;
const ALL_DEVICES: u64 = 3;

/// How the mangled parameters of an atomic begin for a pointer without an address space, and what follows that pointer.
const GENERIC: &str = "PU3AS4";
const ATOMIC: &str = "VU7_Atomic";

/// Rewrites all of these in a module.
pub fn simplify(view: View<'_>) {
    for what in ["scope", "order", "fence"] {
        let translation = view.function(&format!("__translate_spirv_memory_{what}"));
        if let Some(translation) = translation.filter(|f| f.has_body()) {
            compute(view, translation, what);
        }
    }
    let calls = view.instructions().into_iter().filter(|inst| inst.is_call());
    for call in calls.collect::<Vec<_>>() {
        let Some(builtin) = call.called_function().filter(|f| !f.has_body()) else { continue };
        let name = builtin.name();
        let Some((base, params)) = demangle(&name) else { continue };
        if let Some(exchange) = PlainExchange::of(call, base, params) {
            exchange.rewrite(view, builtin);
        } else if let Some((name, args)) = plainer(call, base, params) {
            replace(view, call, builtin, &name, &args);
        }
    }
    for function in view.functions() {
        if !function.has_body() && !function.is_used() && demangle(&function.name()).is_some() {
            // SAFETY: nothing uses it, and the loop goes on with the next function.
            unsafe { function.delete() };
        }
    }
}

/// Returns the name and the arguments of a plainer builtin that means the same as a call.
fn plainer<'m>(call: Inst<'m>, base: &str, params: &str) -> Option<(String, Vec<Value<'m>>)> {
    let args = call.args();
    let number = |at: usize| args.get(at).and_then(|value| value.as_u64());
    match base {
        // The translators name it after the type that is pointed to; there is one for all.
        "get_fence" if !matches!(params, "PU3AS4Kv" | "PU3AS4v") => Some((mangle(base, "PU3AS4Kv"), args)),
        "work_group_barrier" if number(1) == Some(WORK_GROUP) => Some((mangle("barrier", "j"), vec![args[0]])),
        "atomic_work_item_fence" if number(2) == Some(WORK_GROUP) => {
            let name = match number(1)? {
                ACQUIRE => "read_mem_fence",
                RELEASE => "write_mem_fence",
                ACQ_REL => "mem_fence",
                _ => return None,
            };
            Some((mangle(name, "j"), vec![args[0]]))
        }
        _ => {
            let (pointer, space) = origin(*args.first()?)?;
            let rest = params.strip_prefix(GENERIC).filter(|rest| rest.starts_with(ATOMIC))?;
            let mut args = args;
            args[0] = pointer;
            if let Some(name) = first_version(base, rest, space, args.len(), |at| args[at].as_u64()) {
                args.truncate(2);
                return Some((name, args));
            }
            Some((mangle(base, &format!("PU3AS{}{rest}", space.number())), args))
        }
    }
}

/// Returns the pointer that is cast, and its address space, if atomics exist for that one.
fn origin(pointer: Value<'_>) -> Option<(Value<'_>, AddressSpace)> {
    let cast = (pointer.opcode() == Some(Opcode::LLVMAddrSpaceCast)).then(|| pointer.operand(0)).flatten()?;
    let space = cast.ty().space().filter(|space| matches!(space, AddressSpace::Global | AddressSpace::Local))?;
    Some((cast, space))
}

/// Returns the mangled name of the builtin of OpenCL C 1.2 that means the same as one with an operand, an order and a
/// scope; `rest` are the latter's parameters, after the address space.
fn first_version(
    base: &str,
    rest: &str,
    space: AddressSpace,
    count: usize,
    number: impl Fn(usize) -> Option<u64>,
) -> Option<String> {
    let word = match base.strip_suffix("_explicit")? {
        "atomic_exchange" => "xchg",
        base => base.strip_prefix("atomic_fetch_")?,
    };
    let types = rest.strip_prefix(ATOMIC)?.strip_suffix("12memory_order12memory_scope")?;
    let prefix = match types {
        "ii" | "jj" => "atomic_",
        "ll" | "mm" => "atom_",
        "ff" if word == "xchg" => "atomic_",
        _ => return None,
    };
    let is_plain = count == 4 && number(2) == Some(RELAXED) && is_for_all(space, number(3)?);
    is_plain.then(|| mangle(&format!("{prefix}{word}"), &format!("PU3AS{}V{types}", space.number())))
}

/// Returns whether a scope is that of the atomics of OpenCL C 1.2: all work-items of the device that see the memory.
fn is_for_all(space: AddressSpace, scope: u64) -> bool {
    match space {
        AddressSpace::Local => matches!(scope, WORK_GROUP | DEVICE | ALL_DEVICES),
        _ => scope == DEVICE,
    }
}

/// A compare-exchange that keeps what it compares with in a variable, only because OpenCL C 2.0 wants a pointer to it.
struct PlainExchange<'m> {
    call: Inst<'m>,
    pointer: Value<'m>,
    name: String,
    expected: Inst<'m>,
    cast: Option<Inst<'m>>,
    stored: Inst<'m>,
    loaded: Inst<'m>,
}

impl<'m> PlainExchange<'m> {
    /// Returns the exchange if OpenCL C 1.2 has it.
    fn of(call: Inst<'m>, base: &str, params: &str) -> Option<PlainExchange<'m>> {
        if base != "atomic_compare_exchange_strong_explicit" || call.is_used() {
            return None;
        }
        let args = call.args();
        let (pointer, space) = origin(*args.first()?)?;
        let prefix = match params.strip_prefix(GENERIC)?.strip_prefix(ATOMIC)?.chars().next()? {
            'i' => ("atomic_", "i"),
            'j' => ("atomic_", "j"),
            'l' => ("atom_", "l"),
            'm' => ("atom_", "m"),
            _ => return None,
        };
        let number = |at: usize| args.get(at).and_then(|value| value.as_u64());
        let is_plain = number(3) == Some(RELAXED) && number(4) == Some(RELAXED) && is_for_all(space, number(5)?);
        let name = mangle(&format!("{}cmpxchg", prefix.0), &format!("PU3AS{}V{}", space.number(), prefix.1.repeat(3)));
        let cast = args[1].as_opcode(Opcode::LLVMAddrSpaceCast);
        let variable = cast.map_or(args[1], |cast| cast.operand(0));
        let expected = variable.as_opcode(Opcode::LLVMAlloca)?;
        let is_only = |value: Value<'m>, user: Inst<'m>| value.user_instructions() == [user];
        let users = variable.user_instructions();
        let stored = users.iter().find(|user| user.is(Opcode::LLVMStore) && user.operand(1) == variable)?;
        let loaded = users.iter().find(|user| user.is(Opcode::LLVMLoad))?;
        let passed = cast.unwrap_or(call);
        let is_all = users.len() == 3 && users.contains(&passed) && cast.is_none_or(|cast| is_only(cast.value(), call));
        let in_order = || {
            let precedes = |first: Inst<'m>, then: Inst<'m>| first.following().any(|inst| inst == then);
            precedes(*stored, call) && precedes(call, *loaded)
        };
        let (stored, loaded) = (*stored, *loaded);
        (is_plain && is_all && in_order()).then_some(PlainExchange {
            call,
            pointer,
            name,
            expected,
            cast,
            stored,
            loaded,
        })
    }

    fn rewrite(self, view: View<'m>, builtin: Function<'m>) {
        let PlainExchange { call, pointer, name, expected, cast, stored, loaded } = self;
        let (compared, value) = (stored.operand(0), call.args()[2]);
        let new = call_of(view, call, builtin, &name, loaded.ty(), &[pointer, compared, value]);
        let access = call.args()[0].as_opcode(Opcode::LLVMAddrSpaceCast);
        loaded.replace_and_erase(new.value());
        call.erase();
        if let Some(cast) = cast {
            cast.erase();
        }
        stored.erase();
        expected.erase();
        if let Some(unused) = access.filter(|cast| !cast.is_used()) {
            unused.erase();
        }
    }
}

/// Calls another builtin instead.
fn replace<'m>(view: View<'m>, call: Inst<'m>, builtin: Function<'m>, name: &str, args: &[Value<'m>]) {
    let cast = call.args()[0].as_opcode(Opcode::LLVMAddrSpaceCast);
    let new = call_of(view, call, builtin, name, call.ty(), args);
    match call.ty().is_void() {
        true => call.erase(),
        false => call.replace_and_erase(new.value()),
    }
    if let Some(unused) = cast.filter(|cast| !cast.is_used()) {
        unused.erase();
    }
}

/// Puts a call of a builtin that is declared like `like` before a call.
fn call_of<'m>(
    view: View<'m>,
    call: Inst<'m>,
    like: Function<'m>,
    name: &str,
    result: Type<'m>,
    args: &[Value<'m>],
) -> Inst<'m> {
    let types: Vec<_> = args.iter().map(|arg| arg.ty()).collect();
    let is_new = view.function(name).is_none();
    let builtin = view.function_or_declared(name, result.function(&types, false));
    if is_new {
        builtin.set_call_conv(like.call_conv());
        let attributes = builtin.attributes(AttributeIndex::Function);
        like.attributes(AttributeIndex::Function).all().into_iter().for_each(|attribute| attributes.add(attribute));
    }
    let builder = view.builder();
    builder.before(call);
    let new = builder.call(builtin, args, if result.is_void() { "" } else { "atomic" });
    new.set_call_conv(builtin.call_conv());
    let attributes = new.attributes(AttributeIndex::Function);
    call.attributes(AttributeIndex::Function).all().into_iter().for_each(|attribute| attributes.add(attribute));
    new
}

/// Puts a function without branches in place of one that translates a number of SPIR-V (3.25, 3.27) to OpenCL C's.
fn compute<'m>(view: View<'m>, translation: Function<'m>, what: &str) {
    let int = view.types().int(32);
    if translation.value_type() != int.function(&[int], false) {
        return;
    }
    let computed = view.add_function(&format!("spirv.memory_{what}"), translation.value_type());
    computed.set_call_conv(translation.call_conv());
    computed.set_linkage(Linkage::LLVMInternalLinkage);
    let builder = view.builder();
    builder.at_end(computed.append_block("entry"));
    let given = computed.params()[0];
    // A digit of four bits of a number.
    let digit = |digits: u64, index: Value<'m>| {
        let long = view.types().int(64);
        let shift = builder.shl(builder.int_cast(index, long, false, ""), long.int(2), "");
        let digit = builder.and(builder.lshr(long.int(digits), shift, ""), long.int(7), "");
        builder.int_cast(digit, int, false, "")
    };
    let result = match what {
        "scope" => digit(0x0_4123, builder.and(given, int.int(7), "")),
        "order" => digit(0x5_0004_0320, builder.and(builder.lshr(given, int.int(1), ""), int.int(0xf), "")),
        _ => {
            let shared = builder.and(builder.lshr(given, int.int(8), ""), int.int(3), "");
            let images = builder.and(builder.lshr(given, int.int(9), ""), int.int(4), "");
            builder.or(shared, images, "")
        }
    };
    builder.ret(Some(result));
    drop(builder);
    for call in view.instructions().into_iter().filter(|inst| inst.called_function() == Some(translation)) {
        let builder = view.builder();
        builder.before(call);
        let new = builder.call(computed, &call.args(), "");
        new.set_call_conv(computed.call_conv());
        drop(builder);
        call.replace_and_erase(new.value());
    }
    if !translation.is_used() {
        // SAFETY: nothing uses it, and the caller goes on with another one.
        unsafe { translation.delete() };
    }
}
