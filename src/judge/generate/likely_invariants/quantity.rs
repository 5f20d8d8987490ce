//! The numbers of a launch that likely invariants relate: scalars, lengths, sizes of images and of the NDRange.

use std::sync::Arc;

use kassay_model::interface::{ArgKind, ArgSource, Interface, Scalar};
use kassay_suite::launch::{ArgValue, ImageShape, Launch};
use kassay_suite::scalar_layout::{self, Number};

use super::super::launch_builder::LaunchBuilder;
use super::super::model::{KernelModel, Role};

/// Size limit of a buffer that is resized, in bytes.
const LARGEST: i128 = 1 << 26;

/// By-value arguments may be structs with hundreds of numbers; relations are sought among the first ones only.
const MOST_SCALARS: usize = 48;

/// A number of a launch.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Quantity {
    /// An integer passed by value, at a byte offset within its argument.
    Scalar {
        /// Position of the argument.
        arg: u32,
        /// In bytes within it.
        offset: u64,
        /// Its type.
        scalar: Scalar,
    },
    /// Elements of a buffer, or of local memory; `element`: bytes of one.
    Length {
        /// Position of the argument.
        arg: u32,
        /// Bytes of an element.
        element: u64,
    },
    /// Width (0), height or layers (1), or depth or layers (2) of an image, in texels.
    Side {
        /// Position of the argument.
        arg: u32,
        /// Which side: 0, 1 or 2.
        d: usize,
    },
    /// The work-group size in a dimension.
    Local(usize),
    /// The global size in a dimension.
    Global(usize),
    /// The number of work-groups in a dimension; it follows from the two above.
    Groups(usize),
}

impl Quantity {
    /// Returns the quantities of a kernel's launches of `dims` dimensions, those first by which later ones are to be
    /// expressed.
    pub fn all(model: &KernelModel, dims: u32) -> Vec<Quantity> {
        let args = &model.interface.args;
        let is_image = |position: u32| matches!(args[position as usize].kind, ArgKind::Image(_));
        let positions = 0..args.len() as u32;
        let sides =
            positions.clone().filter(|p| is_image(*p)).flat_map(|arg| (0..3).map(move |d| Quantity::Side { arg, d }));
        let is_integer = |s: &Scalar| scalar_layout::range(*s).is_some();
        let scalars = model
            .scalars
            .iter()
            .filter(|s| s.role != Role::Unused && !s.in_buffer && is_integer(&s.scalar))
            .map(|s| Quantity::Scalar { arg: s.arg, offset: s.offset, scalar: s.scalar })
            .take(MOST_SCALARS);
        let of_range = |make: fn(usize) -> Quantity| (0..dims as usize).map(make);
        let has_length = |p: &u32| {
            let arg = &args[*p as usize];
            let is_variable = matches!(arg.source, ArgSource::Variable { .. });
            matches!(arg.kind, ArgKind::Buffer { .. } | ArgKind::Local { .. }) && !is_variable
        };
        let lengths = positions
            .filter(has_length)
            .map(|arg| Quantity::Length { arg, element: LaunchBuilder::element(&args[arg as usize]).size().max(1) });
        sides
            .chain(scalars)
            .chain(of_range(Quantity::Local))
            .chain(of_range(Quantity::Global))
            .chain(of_range(Quantity::Groups))
            .chain(lengths)
            .collect()
    }

    /// Returns its value in a launch; `None` where the launch leaves it open: a null pointer, a work-group size that
    /// the driver chooses.
    pub fn get(&self, launch: &Launch) -> Option<i128> {
        match *self {
            Quantity::Scalar { arg, offset, scalar } => {
                let ArgValue::Value(bytes) = launch.args.get(arg as usize)? else { return None };
                match scalar_layout::decode(scalar, bytes.get(offset as usize..)?) {
                    Number::Integer(n) => Some(n),
                    Number::Float(_) => None,
                }
            }
            Quantity::Length { arg, element } => {
                let bytes = match launch.value(arg)? {
                    ArgValue::Local(bytes) => *bytes,
                    _ => launch.reach(arg)?,
                };
                (bytes > 0).then_some(i128::from(bytes / element))
            }
            Quantity::Side { arg, d } => {
                let ArgValue::Image { shape, .. } = launch.args.get(arg as usize)? else { return None };
                sides(shape)[d].map(i128::from)
            }
            Quantity::Local(d) => launch.range.local.map(|local| local[d].into()),
            Quantity::Global(d) => Some(launch.range.global[d].into()),
            Quantity::Groups(d) => {
                let local = launch.range.local?;
                Some(launch.range.global[d].div_ceil(local[d].max(1)).into())
            }
        }
    }

    /// Gives it another value: writes a scalar, resizes a buffer (whose contents repeat where it grows), the NDRange or
    /// a work-group. Returns `false`, with the launch as it was, if it cannot have this value.
    pub fn set(&self, launch: &mut Launch, value: i128) -> bool {
        if self.get(launch) == Some(value) {
            return true;
        }
        match *self {
            Quantity::Scalar { arg, offset, scalar } => {
                let fits = scalar_layout::range(scalar).is_some_and(|(least, most)| (least..=most).contains(&value));
                let Some(ArgValue::Value(bytes)) = launch.args.get_mut(arg as usize) else { return false };
                let mut out = Vec::new();
                scalar_layout::push_integer(scalar, value, &mut out);
                let Some(at) = bytes.get_mut(offset as usize..).and_then(|rest| rest.get_mut(..out.len())) else {
                    return false;
                };
                if fits {
                    at.copy_from_slice(&out);
                }
                fits
            }
            Quantity::Length { arg, element } => {
                let bytes = value.saturating_mul(element.into());
                let is_whole = launch.view(arg).is_whole();
                match launch.args.get_mut(arg as usize) {
                    _ if !(1..=LARGEST).contains(&bytes) || !is_whole => false,
                    Some(ArgValue::Buffer(contents)) if !contents.is_empty() => {
                        resize(Arc::make_mut(contents), bytes as usize, element as usize);
                        true
                    }
                    Some(ArgValue::Local(size)) => {
                        *size = bytes as u64;
                        true
                    }
                    _ => false,
                }
            }
            Quantity::Local(d) => match (&mut launch.range.local, u64::try_from(value)) {
                (Some(local), Ok(n)) if n > 0 => {
                    local[d] = n;
                    true
                }
                _ => false,
            },
            Quantity::Global(d) => match u64::try_from(value) {
                Ok(n) if n > 0 && n <= u64::from(u32::MAX) && d < launch.range.dims as usize => {
                    launch.range.global[d] = n;
                    true
                }
                _ => false,
            },
            Quantity::Side { .. } | Quantity::Groups(_) => false,
        }
    }

    /// Returns how formulas name it, such as `n`, `len(x)` or `get_global_size(0)`.
    pub fn text(&self, model: &KernelModel) -> String {
        match *self {
            Quantity::Scalar { arg, offset, .. } => scalar_name(model, arg, offset),
            Quantity::Length { arg, .. } => format!("len({})", arg_name(&model.interface, arg)),
            Quantity::Side { arg, d } => {
                let side = ["get_image_width", "get_image_height", "get_image_depth"][d.min(2)];
                format!("{side}({})", arg_name(&model.interface, arg))
            }
            Quantity::Local(d) => format!("get_local_size({d})"),
            Quantity::Global(d) => format!("get_global_size({d})"),
            Quantity::Groups(d) => format!("get_num_groups({d})"),
        }
    }
}

/// Returns the name of an argument, for messages.
pub fn arg_name(interface: &Interface, arg: u32) -> String {
    interface.args.get(arg as usize).map_or_else(|| arg.to_string(), |a| a.display_name())
}

/// Returns the name of a number passed by value, for messages.
pub fn scalar_name(model: &KernelModel, arg: u32, offset: u64) -> String {
    let known = model.scalars.iter().find(|s| s.arg == arg && s.offset == offset);
    known.map_or_else(|| arg_name(&model.interface, arg), |s| s.name.clone())
}

fn sides(shape: &ImageShape) -> [Option<u64>; 3] {
    match *shape {
        ImageShape::D1 { width } | ImageShape::D1Buffer { width } => [Some(width), None, None],
        ImageShape::D1Array { width, layers } => [Some(width), Some(layers), None],
        ImageShape::D2 { width, height } => [Some(width), Some(height), None],
        ImageShape::D2Array { width, height, layers } => [Some(width), Some(height), Some(layers)],
        ImageShape::D3 { width, height, depth } => [Some(width), Some(height), Some(depth)],
    }
}

/// Cuts contents, or repeats them from their start, element by element.
fn resize(contents: &mut Vec<u8>, bytes: usize, element: usize) {
    let whole = contents.len() / element * element;
    if whole == 0 {
        contents.resize(bytes, 0);
        return;
    }
    contents.truncate(bytes.min(whole));
    while contents.len() < bytes {
        let part = whole.min(bytes - contents.len());
        contents.extend_from_within(..part);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn contents_repeat_where_a_buffer_grows() {
        let mut contents = vec![1, 2, 3, 4, 5, 6];
        resize(&mut contents, 16, 2);
        assert_eq!(contents, [1, 2, 3, 4, 5, 6, 1, 2, 3, 4, 5, 6, 1, 2, 3, 4]);
        resize(&mut contents, 4, 2);
        assert_eq!(contents, [1, 2, 3, 4]);
        let mut odd = vec![1, 2, 3];
        resize(&mut odd, 4, 2);
        assert_eq!(odd, [1, 2, 1, 2]);
    }
}
