//! What conditions ask of launches.

use kassay_model::condition::{IndexBuffer, KnownLaunch, ScalarArgument};
use kassay_model::interface::{ArgKind, Interface, Scalar};
use kassay_suite::launch::{ArgValue, Launch};
use kassay_suite::scalar_layout::{self, Number};

use crate::generate::assign::{self, Scalars};
use crate::generate::geometry::Geometry;

/// A launch that was built.
#[derive(Clone, Copy)]
pub struct Built<'a> {
    /// The kernel's interface.
    pub interface: &'a Interface,
    /// With a definite work-group size.
    pub launch: &'a Launch,
}

/// A launch of which sizes and scalars are chosen.
pub(super) struct Chosen<'a> {
    pub geometry: &'a Geometry,
    pub scalars: &'a Scalars,
}

/// Returns the type of the integers in a buffer that holds nothing else.
pub(super) fn integers_of(interface: &Interface, position: u32) -> Option<Scalar> {
    let ArgKind::Buffer { element: Some(element), .. } = &interface.args.get(position as usize)?.kind else {
        return None;
    };
    scalar_layout::dense_scalar(element).filter(|scalar| !scalar.is_float())
}

/// Decodes all integers.
pub(super) fn decoded(scalar: Scalar, bytes: &[u8]) -> Vec<i128> {
    let size = usize::try_from(scalar.size()).unwrap_or(1).max(1);
    let integer = |bytes| match scalar_layout::decode(scalar, bytes) {
        Number::Integer(n) => n,
        Number::Float(_) => 0,
    };
    bytes.chunks_exact(size).map(integer).collect()
}

/// Decodes what lies at an offset of an argument's value or buffer; `None` if nothing does.
pub(super) fn decode_at(launch: &Launch, position: u32, offset: u64, scalar: Scalar) -> Option<Number> {
    let bytes: &[u8] = match launch.args.get(position as usize)? {
        ArgValue::Value(bytes) => bytes,
        ArgValue::Buffer(bytes) => bytes,
        _ => return None,
    };
    let end = offset.checked_add(scalar.size())?;
    let at = bytes.get(usize::try_from(offset).ok()?..usize::try_from(end).ok()?)?;
    Some(scalar_layout::decode(scalar, at))
}

impl KnownLaunch for Built<'_> {
    fn global_size(&self, dimension: u8) -> Option<u64> {
        self.launch.range.global.get(usize::from(dimension)).copied()
    }

    fn local_size(&self, dimension: u8) -> Option<u64> {
        self.launch.range.decided().local.get(usize::from(dimension)).copied()
    }

    fn scalar(&self, scalar: &ScalarArgument) -> Option<i128> {
        let kind = &self.interface.args.get(scalar.position as usize)?.kind;
        let (ty, offset) = match kind {
            ArgKind::Value(ty) => (ty, scalar.offset),
            ArgKind::Buffer { element: Some(element), .. } => (element, scalar.offset.checked_rem(element.size())?),
            _ => return None,
        };
        let leaf = scalar_layout::leaves(ty).into_iter().find(|leaf| leaf.offset == offset)?;
        match decode_at(self.launch, scalar.position, scalar.offset, leaf.scalar)? {
            Number::Integer(n) => Some(n),
            Number::Float(_) => None,
        }
    }

    fn elements(&self, buffer: &IndexBuffer) -> Option<Vec<i128>> {
        let scalar = integers_of(self.interface, buffer.position)?;
        match self.launch.value(buffer.position)? {
            ArgValue::Buffer(bytes) => Some(decoded(scalar, bytes)),
            _ => None,
        }
    }
}

impl KnownLaunch for Chosen<'_> {
    fn global_size(&self, dimension: u8) -> Option<u64> {
        self.geometry.range.global.get(usize::from(dimension)).copied()
    }

    fn local_size(&self, dimension: u8) -> Option<u64> {
        self.geometry.local.get(usize::from(dimension)).copied()
    }

    fn scalar(&self, scalar: &ScalarArgument) -> Option<i128> {
        assign::integer(self.scalars, scalar.position, scalar.offset)
    }

    fn elements(&self, _: &IndexBuffer) -> Option<Vec<i128>> {
        None
    }
}
