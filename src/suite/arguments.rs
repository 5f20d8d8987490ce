//! Resolves one argument of a test: combines its form in the suite with its kind in the kernel to a value, an
//! expectation and an output.

use std::path::Path;
use std::sync::Arc;

use kassay_base::error::{Error, Result};
use kassay_base::files::Sandbox;
use kassay_model::interface::{Access, AddressSpace, Arg, ArgKind, Evidence, ImageKind, Type};

use super::buffer_format::{BufferSpec, Expect, ToleranceSpec};
use super::compare::Tolerance;
use super::data::{Data, DataRequest, Loader, Origin};
use super::de::At;
use super::document::{Node, Source, Span};
use super::format::{AddressingName, Form, ImageSpec, SamplerSpec};
use super::image;
use super::launch::{ArgValue, View};
use super::values::{self, Encoder};
use super::views;

/// The expected contents of an argument after the launch.
#[derive(Debug, Clone, PartialEq)]
pub struct Expectation {
    /// Position of the argument.
    pub position: u32,
    /// Expected bytes, as many as the buffer or image has.
    pub bytes: Arc<Vec<u8>>,
    /// Type of an element (of a texel for images).
    pub ty: Type,
    /// Tolerance of the comparison.
    pub tolerance: Tolerance,
}

/// An argument that the kernel may write to.
#[derive(Debug, Clone, PartialEq)]
pub struct Output {
    /// Position of the argument.
    pub position: u32,
    /// The argument's name, or its position as text.
    pub label: String,
    /// Type of an element (of a texel for images).
    pub ty: Type,
    /// Shape in elements; for images outermost dimension first.
    pub shape: Vec<u64>,
    /// Tolerance for comparisons with a reference output where the test has no expectation.
    pub tolerance: Tolerance,
}

impl Output {
    /// Returns the argument's name for messages.
    pub fn name(&self) -> String {
        match self.label.starts_with(|c: char| c.is_ascii_digit()) {
            true => format!("argument {}", self.label),
            false => format!("`{}`", self.label),
        }
    }
}

/// Upper bound on the elements of a margin.
const MAX_MARGIN: u64 = 1 << 20;

/// A resolved argument.
pub struct Resolved {
    /// The value that the launch passes.
    pub value: ArgValue,
    /// Margin in bytes on either side of a buffer.
    pub margin: u64,
    /// The part of its memory that a buffer is.
    pub view: View,
    /// The expected contents; `None` if the test has none for this argument.
    pub expectation: Option<Expectation>,
    /// The argument as an output; `None` if the kernel cannot write to it.
    pub output: Option<Output>,
}

/// The argument being resolved and the test that it belongs to.
pub struct Context<'a> {
    /// The argument as the kernel declares it.
    pub arg: &'a Arg,
    /// Name of the test.
    pub test: &'a str,
    /// The key of the suite file that gives the argument.
    pub key: &'a At<String>,
    /// The tolerances of the test and of the suite.
    pub outer: [&'a ToleranceSpec; 2],
}

/// Resolves an argument from the form that a test gives for it. If the signedness of its integers is a guess, and the
/// test's numbers only fit the other, they have the other.
///
/// # Errors
/// `Caller`, with its place.
pub fn resolve(loader: &mut Loader<'_>, context: &Context<'_>, form: &Form) -> Result<Resolved> {
    let guessed = resolve_as_typed(loader, context, form);
    if guessed.is_err()
        && let Some(arg) = with_other_sign(context.arg)
        && let Ok(other) = resolve_as_typed(loader, &Context { arg: &arg, ..*context }, form)
    {
        return Ok(other);
    }
    guessed
}

/// Returns the argument with integers of the other signedness, if that which it has is a guess.
fn with_other_sign(arg: &Arg) -> Option<Arg> {
    let is_guess = matches!(arg.evidence, Evidence::Signless | Evidence::Uses);
    let other = |ty: &Type| match ty {
        Type::Scalar(scalar) if !scalar.is_float() => Some(Type::Scalar(scalar.other_sign())),
        Type::Vector(scalar, lanes) if !scalar.is_float() => Some(Type::Vector(scalar.other_sign(), *lanes)),
        Type::Scalar(_)
        | Type::Vector(..)
        | Type::Array(..)
        | Type::Struct(_)
        | Type::Pointer { .. }
        | Type::Opaque { .. } => None,
    };
    let kind = match &arg.kind {
        ArgKind::Value(ty) => ArgKind::Value(other(ty)?),
        ArgKind::Buffer { element: Some(ty), space } => ArgKind::Buffer { element: Some(other(ty)?), space: *space },
        ArgKind::Buffer { element: None, .. }
        | ArgKind::Local { .. }
        | ArgKind::Image(_)
        | ArgKind::Sampler
        | ArgKind::Unsupported(_) => return None,
    };
    is_guess.then(|| Arg { kind, ..arg.clone() })
}

fn resolve_as_typed(loader: &mut Loader<'_>, context: &Context<'_>, form: &Form) -> Result<Resolved> {
    let span = &context.key.span;
    let only = |value| Resolved { value, margin: 0, view: View::default(), expectation: None, output: None };
    match (&context.arg.kind, form) {
        (ArgKind::Value(ty), Form::Plain(node)) => by_value(loader, context, ty, node, false).map(only),
        (ArgKind::Value(ty @ Type::Struct(_)), Form::Fields(spec)) => {
            by_value(loader, context, ty, &spec.fields, spec.partial).map(only)
        }
        (ArgKind::Value(ty), Form::Bytes(spec)) => {
            let bytes = values::hexadecimal(loader.source, &spec.bytes)?;
            if bytes.len() as u64 != ty.size() {
                let (label, given, wanted) = (context.arg.label(), bytes.len(), ty.size());
                let what = format!("these are {given} bytes, but `{label}` (`{}`) has {wanted}", ty.name());
                return Err(loader.error(&spec.bytes.span, what).help(format!("give {} digits", 2 * wanted)));
            }
            Ok(only(ArgValue::Value(bytes)))
        }
        (ArgKind::Buffer { element, space }, Form::Plain(node)) if matches!(node.kind(), "a list") => {
            let spec = BufferSpec { values: Some(node.clone()), ..BufferSpec::empty() };
            buffer(loader, context, &spec, &node.span, element.as_ref(), *space)
        }
        (ArgKind::Buffer { element, space }, Form::Buffer(spec)) => {
            buffer(loader, context, spec, span, element.as_ref(), *space)
        }
        (ArgKind::Local { .. }, Form::Local(spec)) => Ok(only(ArgValue::Local(spec.local.value.get()))),
        (ArgKind::Image(kind), Form::Image(spec)) if *kind != ImageKind::Other => image(loader, context, spec, *kind),
        (ArgKind::Sampler, Form::Sampler(form)) => sampler(loader, &form.sampler).map(only),
        (ArgKind::Unsupported(name), _) => Err(unsupported_error(loader, context, name)),
        (ArgKind::Image(ImageKind::Other), _) => Err(unsupported_error(loader, context, &context.arg.type_name)),
        (kind, _) => Err(loader
            .error(
                span,
                format!(
                    "the argument `{}` is {}, but this is {}",
                    context.arg.label(),
                    describe_arg(context.arg),
                    form.name()
                ),
            )
            .help(example_form(&context.key.value, kind))),
    }
}

/// Reads the value of one argument from `node`, a node of any file in the syntax of a suite. `key` is the key of the
/// node. Paths are relative to `folder`, and lead to files of the sandbox if there is one; `seed` is used for random
/// data without a seed of its own.
///
/// # Errors
/// `Caller`, with its place.
pub fn argument_value(
    (source, folder, sandbox): (&Source, &Path, Option<&Sandbox>),
    arg: &Arg,
    key: &At<String>,
    node: &Node,
    seed: u64,
) -> Result<ArgValue> {
    let form = Form::read(source, node)?;
    let exact = ToleranceSpec::default();
    let context = Context { arg, test: "", key, outer: [&exact, &exact] };
    let mut loader = Loader::new(source, folder, seed);
    loader.sandbox = sandbox;
    Ok(resolve(&mut loader, &context, &form)?.value)
}

fn unsupported_error(loader: &Loader<'_>, context: &Context<'_>, name: &str) -> Error {
    loader
        .error(&context.key.span, format!("no suite can give the argument `{}` of type `{name}`", context.arg.label()))
        .help("test a kernel without such arguments")
}

fn describe_arg(arg: &Arg) -> String {
    match &arg.kind {
        ArgKind::Value(ty) => format!("`{}` by value", ty.name()),
        ArgKind::Buffer { .. } => format!("a buffer (`{}`)", arg.type_name),
        ArgKind::Local { .. } => format!("local memory (`{}`)", arg.type_name),
        ArgKind::Image(_) | ArgKind::Sampler | ArgKind::Unsupported(_) => format!("`{}`", arg.type_name),
    }
}

fn example_form(key: &str, kind: &ArgKind) -> String {
    let form = match kind {
        ArgKind::Value(Type::Scalar(_)) => "1".to_owned(),
        ArgKind::Value(Type::Struct(s)) => {
            let fields: Vec<String> = s.fields.iter().map(|f| format!("{} = …", f.name)).collect();
            format!("{{ fields = {{ {} }} }}", fields.join(", "))
        }
        ArgKind::Value(_) => "[…]".to_owned(),
        ArgKind::Buffer { .. } => "{ fill = 0, len = 64 }".to_owned(),
        ArgKind::Local { .. } => "{ local = 256 }".to_owned(),
        ArgKind::Image(kind) => {
            format!(
                "{{ {} = \"file.npy\", channel_order = \"RGBA\", channel_type = \"UNORM_INT8\" }}",
                image::key(*kind)
            )
        }
        ArgKind::Sampler => {
            "{ sampler = { addressing = \"CLAMP_TO_EDGE\", filter = \"NEAREST\", normalized = false } }".to_owned()
        }
        ArgKind::Unsupported(_) => "…".to_owned(),
    };
    format!("write something like `{key} = {form}`")
}

fn by_value(loader: &Loader<'_>, context: &Context<'_>, ty: &Type, node: &Node, partial: bool) -> Result<ArgValue> {
    let mut bytes = Vec::new();
    let digits = 2 * ty.size();
    let otherwise = format!(
        "give all of it by its bytes, {digits} hexadecimal digits: {} = {{ bytes = \"…\" }}",
        context.arg.label()
    );
    Encoder { source: loader.source, partial, broadcast: false, otherwise: &otherwise }.encode(node, ty, &mut bytes)?;
    Ok(ArgValue::Value(bytes))
}

fn data_request<'a>(context: &Context<'a>, ty: Option<&'a Type>, label: &'a str) -> DataRequest<'a> {
    DataRequest { ty, len: None, test: context.test, argument: label }
}

fn buffer(
    loader: &mut Loader<'_>,
    context: &Context<'_>,
    spec: &BufferSpec,
    span: &Span,
    element: Option<&Type>,
    space: AddressSpace,
) -> Result<Resolved> {
    let label = context.arg.label();
    // For pointers and other opaque elements, only the dtype of a file can give a type.
    let element = element.filter(|t| !matches!(t, Type::Opaque { .. }));
    let request = data_request(context, element, &label);
    let origin = Origin {
        span,
        npy: spec.npy.as_ref(),
        values: spec.values.as_ref(),
        fill: spec.fill.as_ref(),
        random: spec.random.as_ref(),
        arange: spec.arange.as_ref(),
        len: spec.len.as_ref(),
    };
    let set = |flag: &Option<At<bool>>| flag.as_ref().is_some_and(|flag| flag.value);
    let is_uninitialised = set(&spec.uninitialised);
    if set(&spec.null) {
        views::check_null(loader, spec)?;
    }
    let is_null = set(&spec.null) || spec.len.as_ref().is_some_and(|len| len.value == 0) && spec.npy.is_none();
    let data = match &spec.bytes {
        Some(bytes) => Data::of(bytes, element),
        None if is_null => Data::of(&Arc::new(Vec::new()), element),
        None if is_uninitialised && !spec.has_data() => loader.uninitialised(span, spec.len.as_ref(), element)?,
        None => loader.load(origin, request)?,
    };
    let view = views::View { uninitialised: is_uninitialised, ..views::of_buffer(spec) };
    views::check(loader, context.arg, &view, &views::keys_of_buffer(spec), data.bytes.len() as u64)?;
    let written = space != AddressSpace::Constant;
    let margin = match &spec.margin {
        Some(given) if given.value > MAX_MARGIN => {
            return Err(loader
                .error(&given.span, format!("a margin of {} elements is more than kassay gives", given.value))
                .help(format!("give {MAX_MARGIN} at most")));
        }
        Some(given) => given.value * data.ty.size().max(1),
        None => 0,
    };
    let (expectation, output) =
        expectation_and_output(loader, context, &data, spec.expect.as_ref(), &spec.tolerance, written)?;
    Ok(Resolved { value: ArgValue::Buffer(Arc::clone(&data.bytes)), margin, view, expectation, output })
}

fn image(loader: &mut Loader<'_>, context: &Context<'_>, spec: &ImageSpec, kind: ImageKind) -> Result<Resolved> {
    let label = context.arg.label();
    let image = image::resolve(loader, spec, kind, data_request(context, None, &label))?;
    let written = context.arg.access != Access::ReadOnly;
    let (expectation, output) =
        expectation_and_output(loader, context, &image.data, spec.expect.as_ref(), &spec.tolerance, written)?;
    let value = ArgValue::Image { shape: image.shape, format: image.format, texels: image.data.bytes };
    Ok(Resolved { value, margin: 0, view: View::default(), expectation, output })
}

/// Returns the expectation and the output entry of an argument; both are `None` if the kernel cannot write to it.
fn expectation_and_output(
    loader: &mut Loader<'_>,
    context: &Context<'_>,
    data: &Data,
    expect: Option<&Expect>,
    own: &ToleranceSpec,
    written: bool,
) -> Result<(Option<Expectation>, Option<Output>)> {
    let [test, suite] = context.outer;
    let (position, label) = (context.arg.position, context.arg.label());
    let tolerance = loader.tolerance(&[own, test, suite])?;
    let output = written.then(|| Output {
        position,
        label: label.clone(),
        ty: data.ty.clone(),
        shape: data.shape.clone(),
        tolerance,
    });
    let Some(expect) = expect else { return Ok((None, output)) };
    let span = &expect.node.span;
    if !written {
        return Err(loader
            .error(span, format!("the kernel cannot write to `{label}`, so there is nothing to expect of it"))
            .help("leave `expect` out"));
    }
    let spec = expect.spec(loader.source)?;
    let origin = Origin {
        span,
        npy: spec.npy.as_ref(),
        values: spec.values.as_ref(),
        fill: spec.fill.as_ref(),
        random: None,
        arange: spec.arange.as_ref(),
        len: spec.len.as_ref(),
    };
    let request = DataRequest { len: Some(data.len()), ..data_request(context, Some(&data.ty), &label) };
    let expected = loader.load(origin, request)?;
    if expected.bytes.len() != data.bytes.len() {
        return Err(loader
            .error(span, format!("`expect` has {} elements, but `{label}` has {}", expected.len(), data.len()))
            .help("give both the same number of elements"));
    }
    let nearest = ToleranceSpec { abs: spec.abs, rel: spec.rel };
    let tolerance = loader.tolerance(&[&nearest, own, test, suite])?;
    Ok((Some(Expectation { position, bytes: expected.bytes, ty: data.ty.clone(), tolerance }), output))
}

fn sampler(loader: &Loader<'_>, spec: &SamplerSpec) -> Result<ArgValue> {
    let addressing = spec.addressing.value;
    if matches!(addressing, AddressingName::Repeat | AddressingName::MirroredRepeat) && !spec.normalized {
        return Err(loader
            .error(&spec.addressing.span, "OpenCL defines this addressing for normalized coordinates only")
            .help("set `normalized = true`, or choose CLAMP_TO_EDGE"));
    }
    Ok(ArgValue::Sampler { addressing: addressing.into(), filter: spec.filter.into(), normalized: spec.normalized })
}
