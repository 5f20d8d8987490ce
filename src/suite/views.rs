//! Checks which part of a memory a buffer argument is: sub-buffers, pointers into SVM allocations, null pointers.

use std::num::NonZeroU64;

use kassay_base::error::Result;
use kassay_model::interface::{Arg, ArgKind, POINTER_BYTES, Struct, Type};

use super::buffer_format::{BufferSpec, SameSpec};
use super::data::Loader;
use super::de::At;
pub use super::launch::{BufferAccess, View};

/// The keys that say where an argument lies in its memory.
#[derive(Debug, Clone, Copy)]
pub struct ViewKeys<'a> {
    /// In bytes.
    pub offset: Option<&'a At<u64>>,
    /// In bytes.
    pub size: Option<&'a At<NonZeroU64>>,
    /// Whether it is an SVM pointer.
    pub svm: Option<&'a At<bool>>,
    /// What kernels may do with it.
    pub access: Option<&'a At<BufferAccess>>,
}

impl ViewKeys<'_> {
    fn view(&self) -> View {
        View {
            offset: self.offset.map_or(0, |at| at.value),
            size: self.size.map(|at| at.value.get()),
            svm: self.svm.is_some_and(|at| at.value),
            uninitialised: false,
            access: self.access.map_or_else(BufferAccess::default, |at| at.value),
        }
    }
}

/// Returns the part that the keys of a buffer name.
pub fn of_buffer(spec: &BufferSpec) -> View {
    keys_of_buffer(spec).view()
}

/// Returns the keys that say where a buffer lies in its memory.
pub fn keys_of_buffer(spec: &BufferSpec) -> ViewKeys<'_> {
    let BufferSpec { offset, size, svm, access, .. } = spec;
    ViewKeys { offset: offset.as_ref(), size: size.as_ref(), svm: svm.as_ref(), access: access.as_ref() }
}

/// Returns the part of another argument's memory that the keys name; [`check_same`] checks it.
pub fn of_same(spec: &SameSpec) -> View {
    keys_of_same(spec).view()
}

fn keys_of_same(spec: &SameSpec) -> ViewKeys<'_> {
    let SameSpec { offset, size, svm, access, .. } = spec;
    ViewKeys { offset: offset.as_ref(), size: size.as_ref(), svm: svm.as_ref(), access: access.as_ref() }
}

/// Checks the part that `arg` is of the memory of another argument, of `len` bytes.
///
/// # Errors
/// `Caller`, with its place.
pub fn check_same(loader: &Loader<'_>, arg: &Arg, spec: &SameSpec, len: u64) -> Result<()> {
    let keys = keys_of_same(spec);
    check(loader, arg, &keys.view(), &keys, len)
}

/// Checks the part that an argument is of a memory of `len` bytes.
///
/// # Errors
/// `Caller`, with its place, if it does not lie in the memory, is not aligned for its type, or cannot be replayed.
pub fn check(loader: &Loader<'_>, arg: &Arg, view: &View, keys: &ViewKeys<'_>, len: u64) -> Result<()> {
    let label = arg.label();
    let element = match &arg.kind {
        ArgKind::Buffer { element: Some(element), .. } => Some(element),
        _ => None,
    };
    if let (Some(at), true) = (keys.svm, view.svm) {
        if let Some(size) = keys.size {
            return Err(loader
                .error(&size.span, "an SVM pointer reaches its whole allocation, so it has no size of its own")
                .help("leave `size` out, or `svm`"));
        }
        if element.is_some_and(has_pointers) {
            let what = format!("the SVM allocation of `{label}` holds pointers, which cannot be replayed");
            return Err(loader.error(&at.span, what).help(
                "addresses differ from run to run, and memory that only they lead to is not part of the launch; if \
                 the kernel follows none of them, leave `svm` out",
            ));
        }
    }
    let Some(at) = keys.offset.map(|at| &at.span).or(keys.size.map(|at| &at.span)) else { return Ok(()) };
    if len == 0 {
        let what = format!("`{label}` is a null pointer, which has no parts");
        return Err(loader.error(at, what).help("leave `offset` and `size` out"));
    }
    if view.window(len).is_none() {
        let what = match view.size {
            Some(size) => format!("{size} bytes from byte {} on do not lie in the {len} bytes", view.offset),
            None => format!("byte {} does not lie in the {len} bytes", view.offset),
        };
        return Err(loader.error(at, format!("{what} of the buffer")).help("both count bytes, not elements"));
    }
    let align = element.map_or(1, Type::alignment).max(1);
    if !view.offset.is_multiple_of(align) {
        let ty = element.map(Type::name).unwrap_or_default();
        let what = format!("byte {} is no place for `{ty}`, which is aligned to {align} bytes", view.offset);
        return Err(loader.error(at, what).help("`offset` counts bytes"));
    }
    Ok(())
}

/// Checks that a null pointer has no contents.
///
/// # Errors
/// `Caller`, with its place.
pub fn check_null(loader: &Loader<'_>, spec: &BufferSpec) -> Result<()> {
    let given = spec.has_data()
        || spec.expect.is_some()
        || spec.offset.is_some()
        || spec.size.is_some()
        || spec.uninitialised.is_some()
        || spec.access.is_some()
        || spec.margin.is_some()
        || spec.len.as_ref().is_some_and(|len| len.value > 0);
    match (&spec.null, given) {
        (Some(null), true) => Err(loader
            .error(&null.span, "a null pointer has no contents, but other keys here say something of them")
            .help("leave `null` out, or all the rest")),
        _ => Ok(()),
    }
}

/// Returns whether values of the type hold pointers.
fn has_pointers(ty: &Type) -> bool {
    match ty {
        Type::Pointer { .. } => true,
        Type::Array(element, _) => has_pointers(element),
        Type::Struct(Struct { fields, .. }) => fields.iter().any(|field| has_pointers(&field.ty)),
        // As the readers of debug information and of IR name pointers in buffers.
        Type::Opaque { name, size } => *size == POINTER_BYTES && (name.ends_with('*') || name == "pointer"),
        Type::Scalar(_) | Type::Vector(..) => false,
    }
}
