//! Variants: functions of the kernel in another form, compiled from an edited source text, that take the place of the
//! original's, always or selected by their number.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use kassay_base::error::{Error, Result};

use super::edit::Variant;
use super::emitter::Emitter;
use super::thread_arguments;
use super::weaver::Numbers;
use crate::cfg::indices::FunctionIndex;
use crate::cfg::sites::Sites;
use crate::kernel::canonical;
use crate::llvm::assumptions::drop_woven_effects;
use crate::llvm::{self, AttributeIndex, Block, Function, IntPredicate, MetadataKind, SPIR_FUNC, Value, View};

/// Prefix of the names of what variants bring, which the variant's number follows.
const PREFIX: &str = "kassay.variant.";

/// Prefix of the names of the helpers that variants call where the original's helpers have variants themselves.
const UNCHANGED: &str = "kassay.unchanged.";

/// Puts the body of a variant in the place of the original's.
///
/// # Errors
/// `Internal` if the variant does not fit the module.
pub(super) fn replace(module: &Module<'_>, variant: &Variant) -> Result<()> {
    let Some(root) = &variant.root else { return Ok(()) };
    let view = View::of(module);
    let target = function(view, root)?;
    let same = |name: &str| view.function(name);
    import(module, &variant.bitcode, PREFIX, &variant.variables, target.subprogram().is_some(), &same)?;
    let body = function(view, &format!("{PREFIX}{root}"))?;
    check_type(target, body)?;
    // The old body goes with the function that it moves to.
    let old = view.add_function("", target.value_type());
    for block in target.blocks() {
        old.take_block(block);
    }
    for (parameter, of_old) in target.params().into_iter().zip(old.params()) {
        parameter.replace_uses(of_old);
    }
    // SAFETY: nothing calls it, and its blocks and instructions are not looked at again.
    unsafe { old.delete() };
    let debug = body.all_metadata().into_iter().find(|(kind, _)| *kind == MetadataKind::DEBUG);
    if let Some((kind, node)) = debug.filter(|_| target.subprogram().is_some()) {
        target.set_metadata(kind, node);
    }
    for block in body.blocks() {
        target.take_block(block);
    }
    for (of_body, parameter) in body.params().into_iter().zip(target.params()) {
        of_body.replace_uses(parameter);
    }
    // SAFETY: its body has moved; the root calls no function that calls the root.
    unsafe { body.delete() };
    Ok(())
}

/// Weaves variants, each with its number, as [`schemata::weave`](super::schemata::weave) does.
///
/// # Errors
/// `Internal` if a variant does not fit the module, or the woven module does not verify.
pub(super) fn weave(module: &Module<'_>, sites: &Sites, variants: &[(u32, &Variant)]) -> Result<()> {
    let view = View::of(module);
    let entry = sites.functions.first().map(|f| f.cfg.function.clone()).unwrap_or_default();
    // Variants of the kernel must not call helpers that choose among variants of their own: everything that is inlined
    // into everything would not end.
    let choosing: BTreeSet<&String> = variants.iter().filter_map(|(_, variant)| variant.root.as_ref()).collect();
    if choosing.iter().any(|root| **root != entry) {
        let original = module.write_bitcode_to_memory();
        import(module, original.as_slice(), UNCHANGED, &BTreeSet::new(), true, &|name| view.function(name))?;
    }
    let unchanged = |name: &str| view.function(&format!("{UNCHANGED}{name}")).or_else(|| view.function(name));
    let mut roots: BTreeMap<&String, Vec<(u32, Function<'_>)>> = BTreeMap::new();
    for (number, variant) in variants {
        let Some(root) = &variant.root else { continue };
        let prefix = format!("{PREFIX}{number}.");
        import(module, &variant.bitcode, &prefix, &variant.variables, true, &unchanged)?;
        let body = function(view, &format!("{prefix}{root}"))?;
        check_type(function(view, root)?, body)?;
        roots.entry(root).or_default().push((*number, body));
    }
    let mut functions: Vec<Function<'_>> =
        sites.functions.iter().map(|f| function(view, &f.cfg.function)).collect::<Result<_>>()?;
    let emitter = Emitter::new(view);
    let mut stand_ins = Vec::new();
    for (f, function) in FunctionIndex::enumerate(functions.clone()) {
        let bodies = roots.get(&sites.functions[f].cfg.function);
        stand_ins.push(bodies.map(|bodies| {
            let (stand_in, original) = choose(&emitter, function, bodies);
            // The original's body passes the number on to the helpers that choose.
            functions.push(original);
            stand_in
        }));
    }
    let own = |f: FunctionIndex| stand_ins.get(f.0).is_some_and(Option::is_some);
    let needs = thread_arguments::needs(&functions, sites, &own)?;
    let numbers = thread_arguments::numbers(&emitter, &mut functions, &needs, false);
    for (stand_in, numbers) in stand_ins.into_iter().zip(numbers) {
        stand_in.into_iter().for_each(|stand_in| thread_arguments::settle(stand_in, numbers));
    }
    drop_woven_effects(View::of(module));
    canonical::verify(module, "weaving variants")
}

/// Turns a function into one that calls the body with the active number, or else its own, which moves into a function
/// of its own. Returns the stand-in for the active number, and that function.
fn choose<'m>(
    emitter: &Emitter<'m>,
    function: Function<'m>,
    bodies: &[(u32, Function<'m>)],
) -> (Numbers<'m>, Function<'m>) {
    let view = emitter.view;
    let original = view.add_function(&format!("kassay.original.{}", function.name()), function.value_type());
    original.make_internal();
    original.set_call_conv(SPIR_FUNC);
    for index in indices(function) {
        function.attributes(index).all().into_iter().for_each(|attribute| original.attributes(index).add(attribute));
    }
    let metadata = function.all_metadata();
    function.clear_metadata();
    for (kind, node) in metadata {
        if kind == MetadataKind::DEBUG { original.set_metadata(kind, node) } else { function.set_metadata(kind, node) }
    }
    for block in function.blocks() {
        original.take_block(block);
    }
    for (parameter, own) in function.params().into_iter().zip(original.params()) {
        parameter.replace_uses(own);
    }
    let entry = function.append_block("entry");
    emitter.at_end(entry);
    let number = emitter.builder.freeze(emitter.int().poison(), "");
    let otherwise = calling(emitter, function, original);
    let mut cases: Vec<(u32, Block<'m>)> =
        bodies.iter().map(|(number, body)| (*number, calling(emitter, function, *body))).collect();
    cases.sort_by_key(|(number, _)| *number);
    search(emitter, entry, number, &cases, otherwise);
    (Numbers { first: number, second: None }, original)
}

/// Returns a block of `function` that returns what `body` returns for the same arguments.
fn calling<'m>(emitter: &Emitter<'m>, function: Function<'m>, body: Function<'m>) -> Block<'m> {
    let block = function.append_block("kassay.variant");
    emitter.at_end(block);
    let call = emitter.builder.call(body, &function.params(), "");
    call.set_call_conv(body.call_conv());
    for index in indices(body).filter(|index| *index != AttributeIndex::Function) {
        body.attributes(index).all().into_iter().for_each(|attribute| call.attributes(index).add(attribute));
    }
    emitter.builder.ret((!body.return_type().is_void()).then(|| call.value()));
    block
}

/// Ends `block` by a binary search for the number among the cases, which ascend.
fn search<'m>(
    emitter: &Emitter<'m>,
    block: Block<'m>,
    number: Value<'m>,
    cases: &[(u32, Block<'m>)],
    otherwise: Block<'m>,
) {
    emitter.at_end(block);
    let b = &emitter.builder;
    match cases {
        [] => {
            b.br(otherwise);
        }
        [(only, to)] => {
            let is_it = b.icmp(IntPredicate::LLVMIntEQ, number, emitter.number(*only), "");
            b.cond_br(is_it, *to, otherwise);
        }
        _ => {
            let (low, high) = cases.split_at(cases.len() / 2);
            let is_low = b.icmp(IntPredicate::LLVMIntULT, number, emitter.number(high[0].0), "");
            let function = block.function();
            let (below, above) = (function.append_block("kassay.search"), function.append_block("kassay.search"));
            b.cond_br(is_low, below, above);
            search(emitter, below, number, low, otherwise);
            search(emitter, above, number, high, otherwise);
        }
    }
}

/// Links what `bitcode` defines into the module, with `prefix` in front of its names. Functions that only the module
/// defines are called as `bind` says; variables other than `own` are the module's. Without `keep_places`, debug
/// information is left out.
fn import<'m>(
    module: &'m Module<'_>,
    bitcode: &[u8],
    prefix: &str,
    own: &BTreeSet<String>,
    keep_places: bool,
    bind: &dyn Fn(&str) -> Option<Function<'m>>,
) -> Result<()> {
    let broken = |e: &dyn fmt::Display| Error::internal(format!("a variant cannot be linked: {e}"));
    let buffer = MemoryBuffer::create_from_memory_range_copy(bitcode, "variant");
    let other = Module::parse_bitcode_from_buffer(&buffer, module.get_context()).map_err(|e| broken(&e))?;
    other.set_triple(&module.get_triple());
    other.set_data_layout(&module.get_data_layout());
    let (view, added) = (View::of(module), View::of(&other));
    if !keep_places {
        added.strip_debug_info();
        added.functions().into_iter().for_each(Function::clear_metadata);
    }
    let is_helper = |name: &str| view.function(name).is_some_and(Function::has_body);
    let mut functions = Vec::new();
    for f in added.functions().into_iter().filter(|f| f.has_body() || is_helper(&f.name())) {
        let name = f.name();
        f.set_name(&format!("{prefix}{name}"));
        functions.push((name, f.has_body()));
    }
    let mut variables = Vec::new();
    for variable in added.globals() {
        let name = variable.name();
        variable.set_name(&format!("{prefix}{name}"));
        variables.push(name);
    }
    llvm::link_beside(view, other).map_err(|e| broken(&e))?;
    for (name, is_defined) in functions {
        // What nothing calls is not linked.
        let Some(f) = view.function(&format!("{prefix}{name}")) else { continue };
        if is_defined {
            f.make_internal();
            f.set_call_conv(SPIR_FUNC);
            continue;
        }
        let target = bind(&name).ok_or_else(|| broken(&format!("`{name}` is missing")))?;
        check_type(target, f)?;
        // SAFETY: nothing keeps handles of what was just linked.
        unsafe {
            f.value().replace_constant(target);
            f.delete();
        }
    }
    for name in variables {
        let Some(variable) = view.global(&format!("{prefix}{name}")) else { continue };
        if own.contains(&name) {
            variable.make_internal();
            continue;
        }
        let target = view.global(&name).ok_or_else(|| broken(&format!("the variable `{name}` is missing")))?;
        // SAFETY: as above.
        unsafe {
            variable.value().replace_constant(target);
            variable.delete();
        }
    }
    Ok(())
}

fn function<'m>(view: View<'m>, name: &str) -> Result<Function<'m>> {
    view.function(name).ok_or_else(|| Error::internal(format!("function {name} is gone")))
}

fn check_type(original: Function<'_>, variant: Function<'_>) -> Result<()> {
    match original.value_type() == variant.value_type() {
        true => Ok(()),
        false => Err(Error::internal(format!("a variant of `{}` has another type", original.name()))),
    }
}

/// Returns where a function may have attributes.
fn indices(function: Function<'_>) -> impl Iterator<Item = AttributeIndex> {
    let parameters = (0..function.param_count()).map(AttributeIndex::Parameter);
    [AttributeIndex::Function, AttributeIndex::Result].into_iter().chain(parameters)
}
