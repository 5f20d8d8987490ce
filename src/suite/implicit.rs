//! Resolves implicit arguments, for which the kernel's source has no parameter: buffers of pointers in structs,
//! program-scope variables, and the samplers of CUDA's textures.

use std::sync::LazyLock;

use kassay_base::error::{Error, Result};
use kassay_model::interface::{AddressSpace, Arg, ArgKind, Interface, Step};

use super::arguments::{Context, Resolved};
use super::buffer_format::SameSpec;
use super::data::Loader;
use super::de::At;
use super::document::{Node, Value, suggestion};
use super::format::{AddressingName, FilterName, Form, SamplerForm, SamplerSpec};
use super::launch::ArgValue;
use super::views;

/// Finds the node that a struct's `fields` give for one of its pointers; `None` if they give none.
pub fn member_node<'n>(fields: &'n Node, path: &[Step]) -> Option<&'n Node> {
    let mut at = fields;
    for step in path {
        at = match (step, &at.value) {
            (Step::Field(name), _) => {
                // A nested struct may also be written like a top-level one: `{ fields = { … } }`.
                let inner = match at.entries() {
                    Some([only]) if only.key == "fields" && name != "fields" => &only.node,
                    _ => at,
                };
                inner.get(name)?
            }
            (Step::Index(i), Value::List(items)) => items.get(usize::try_from(*i).ok()?)?,
            (Step::Index(_), _) => return None,
        };
    }
    Some(at)
}

/// The sampler of a texture of which a test says nothing: how CUDA's hosts sample what they do not describe otherwise.
static TEXTURE_SAMPLER: LazyLock<(At<String>, Form)> = LazyLock::new(|| {
    let addressing = At { span: 0..0, value: AddressingName::ClampToEdge };
    let sampler = SamplerSpec { addressing, filter: FilterName::Nearest, normalized: false };
    (At { span: 0..0, value: String::new() }, Form::Sampler(SamplerForm { sampler }))
});

/// Returns what an argument is that a test does not give; `None` if it has to. `x.sampler` belongs to the texture `x`:
/// no parameter of a source has such a name.
pub fn default_form(arg: &Arg) -> Option<(&'static At<String>, &'static Form)> {
    let is_of_texture = arg.kind == ArgKind::Sampler && arg.name.as_ref()?.ends_with(".sampler");
    is_of_texture.then(|| (&TEXTURE_SAMPLER.0, &TEXTURE_SAMPLER.1))
}

/// Resolves `same_as`: an argument that shares the memory of another one.
///
/// # Errors
/// `Caller`, with its place, if the argument is no buffer, or if the kernel has no other buffer of that name in the
/// same address space.
pub fn resolve_same_as(
    loader: &Loader<'_>,
    context: &Context<'_>,
    interface: &Interface,
    spec: &SameSpec,
) -> Result<Resolved> {
    let At { span, value: name } = &spec.same_as;
    if !matches!(context.arg.kind, ArgKind::Buffer { .. }) {
        return Err(loader
            .error(&context.key.span, format!("`{}` ({}) is no buffer", context.arg.label(), context.arg.type_name))
            .help("`same_as` is for pointers to global and constant memory; give the argument a value of its own"));
    }
    let buffers: Vec<&Arg> = interface.args.iter().filter(|a| matches!(a.kind, ArgKind::Buffer { .. })).collect();
    let other = |a: &&&Arg| a.label() == *name || (a.name.is_none() && a.position.to_string() == *name);
    let Some(target) = buffers.iter().find(other).filter(|t| t.position != context.arg.position) else {
        let labels: Vec<String> =
            buffers.iter().filter(|b| b.position != context.arg.position).map(|b| b.label()).collect();
        let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
        let error = loader.error(span, format!("`{}` has no other buffer `{name}`", interface.name));
        return Err(match labels.is_empty() {
            true => error.help("give the pointer a buffer of its own"),
            false => error.help(suggestion(name, &labels, "its buffers")),
        });
    };
    let is_constant = |a: &Arg| a.address_space() == AddressSpace::Constant;
    if is_constant(target) != is_constant(context.arg) {
        return Err(loader
            .error(
                span,
                format!("`{}` is {} memory, `{name}` is not", context.arg.label(), context.arg.address_space().name()),
            )
            .help("name a buffer of the same address space, or give the pointer one of its own"));
    }
    let (value, view) = (ArgValue::Same(target.position), views::of_same(spec));
    Ok(Resolved { value, view, margin: 0, expectation: None, output: None })
}

/// Checks that every `same_as` names a buffer with contents of its own, not another `same_as`, and a part of it.
///
/// # Errors
/// `Caller`, with its place.
pub fn check_same_as_targets(
    loader: &Loader<'_>,
    interface: &Interface,
    args: &[ArgValue],
    given: &[(&At<String>, &Form)],
) -> Result<()> {
    for ((value, (_, form)), arg) in args.iter().zip(given).zip(&interface.args) {
        let (ArgValue::Same(target), Form::Same(spec)) = (value, form) else { continue };
        if let Some(ArgValue::Same(last)) = args.get(*target as usize) {
            let label = |p: u32| interface.args.get(p as usize).map(Arg::label).unwrap_or_default();
            return Err(loader
                .error(&spec.same_as.span, format!("`{}` has no buffer of its own", label(*target)))
                .help(format!("write same_as = \"{}\"", label(*last))));
        }
        if let Some(ArgValue::Buffer(contents)) = args.get(*target as usize) {
            views::check_same(loader, arg, spec, contents.len() as u64)?;
        }
    }
    Ok(())
}

/// Returns the error for a struct that does not give one of its pointers: `Caller`, with its place.
pub fn missing_pointer_error(loader: &Loader<'_>, span: &super::document::Span, arg: &Arg) -> Error {
    loader.error(span, format!("the pointer `{}` ({}) is not given", arg.label(), arg.type_name)).help(
        "give it a buffer, such as { fill = 0, len = 64 } or { same_as = \"x\" }; with `partial = true` it is null",
    )
}
