//! Turns a captured launch into a launch of a suite, with what it left as expectations.

use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::{Arc, Weak};

use kassay_model::interface::{Access, AddressSpace, Arg, ArgKind, ArgSource, Interface, Scalar, Type};
use kassay_suite::compare::Tolerance;
use kassay_suite::image::texel_type;
use kassay_suite::launch::{ArgValue, BufferAccess, Launch, NdRange, View};
use kassay_suite::resolve::Expectation;

use super::hexadecimal::hexadecimal;
use super::images;
use super::records::{self, Argument};
use super::spool::{self, Reason, Spool};

/// A launch as suites have it.
#[derive(Debug, Clone)]
pub struct Converted {
    /// Its arguments and NDRange.
    pub launch: Launch,
    /// What the launch left, of every memory that it may have written, to be equalled bit for bit.
    pub expectations: Vec<Expectation>,
}

/// Contents of a spool; equal ones are in memory once, as long as they are used.
#[derive(Debug)]
pub struct Contents {
    spool: PathBuf,
    known: HashMap<String, Weak<Vec<u8>>>,
}

impl Contents {
    /// Contents of a spool, read when they are asked for.
    pub fn new(spool: &Spool) -> Contents {
        Contents { spool: spool.folder().to_owned(), known: HashMap::new() }
    }

    fn get(&mut self, blob: &str) -> Option<Arc<Vec<u8>>> {
        if let Some(known) = self.known.get(blob).and_then(Weak::upgrade) {
            return Some(known);
        }
        let bytes = Arc::new(spool::read_contents(&self.spool, blob)?);
        self.known.insert(blob.to_owned(), Arc::downgrade(&bytes));
        Some(bytes)
    }
}

const OTHER_INTERFACE: Reason =
    Reason { name: "other-interface", meaning: "its arguments are not those of the kernel as kassay reads it" };
const DAMAGED: Reason = Reason { name: "damaged", meaning: "what the layer wrote of it is not consistent" };
const UNSUPPORTED: Reason =
    Reason { name: "unsupported-argument", meaning: "an argument is of a type that suites cannot have" };
const INDIRECT: Reason = Reason { name: "svm-indirect", meaning: "it reaches memory through pointers in other memory" };
const EMPTY: Reason = Reason { name: "empty-range", meaning: "it has no work-items" };
const IMAGE: Reason =
    Reason { name: "image", meaning: "an argument is an image of a kind or format that suites do not have" };
const ALIASED_IMAGE: Reason = Reason { name: "aliased-image", meaning: "an image that it writes is two arguments" };
const ALIASED_CONSTANT: Reason =
    Reason { name: "aliased-constant", meaning: "the same memory is __constant and __global" };

/// Turns a launch of a kernel with this interface into one of a suite.
///
/// # Errors
/// Why suites cannot have it.
pub fn convert(launch: &records::Launch, interface: &Interface, contents: &mut Contents) -> Step<Converted> {
    Conversion { launch, interface, contents, owners: BTreeMap::new(), images: Vec::new(), views: Vec::new() }.run()
}

type Step<T> = std::result::Result<T, Reason>;

struct Conversion<'a> {
    launch: &'a records::Launch,
    interface: &'a Interface,
    contents: &'a mut Contents,
    /// The position of the argument that holds a region.
    owners: BTreeMap<usize, u32>,
    /// Regions that are images of arguments before.
    images: Vec<usize>,
    views: Vec<View>,
}

impl Conversion<'_> {
    fn run(&mut self) -> Step<Converted> {
        if !self.launch.indirect.is_empty() || !self.interface.indices.is_empty() {
            return Err(INDIRECT);
        }
        let range = range(self.launch)?;
        let parameters = self.interface.parameters().count();
        if parameters != self.launch.arguments.len() {
            return Err(OTHER_INTERFACE);
        }
        let (interface, launch) = (self.interface, self.launch);
        let mut args = Vec::new();
        let mut arguments = launch.arguments.iter();
        for arg in &interface.args {
            let value = match &arg.source {
                ArgSource::Parameter => match arguments.next() {
                    Some(argument) => self.value(arg, argument)?,
                    None => return Err(OTHER_INTERFACE),
                },
                // What it held before is not known; mostly it is what its initialiser says.
                ArgSource::Variable { initial, .. } => ArgValue::Buffer(Arc::clone(initial)),
                ArgSource::Member { .. } | ArgSource::Element => return Err(INDIRECT),
            };
            args.push(value);
        }
        let expectations = self.expectations()?;
        while self.views.last() == Some(&View::default()) {
            self.views.pop();
        }
        let views = std::mem::take(&mut self.views);
        Ok(Converted { launch: Launch { views, ..Launch::new(range, args) }, expectations })
    }

    fn value(&mut self, arg: &Arg, argument: &Argument) -> Step<ArgValue> {
        Ok(match (&arg.kind, argument) {
            (ArgKind::Value(ty), Argument::Value { bytes }) => match hexadecimal(bytes) {
                Some(bytes) if bytes.len() as u64 == ty.size() => ArgValue::Value(bytes),
                _ => return Err(OTHER_INTERFACE),
            },
            (ArgKind::Local { .. }, Argument::Local { size }) => ArgValue::Local(*size),
            (ArgKind::Sampler, Argument::Sampler { normalized, addressing, filter }) => {
                images::sampler(*normalized, *addressing, *filter).ok_or(UNSUPPORTED)?
            }
            // Where the driver does not tell the kernel's arguments, a null pointer looks like these.
            (ArgKind::Buffer { .. }, Argument::Null | Argument::Local { .. }) => ArgValue::Buffer(Arc::default()),
            (ArgKind::Buffer { .. }, Argument::Value { bytes }) if bytes.bytes().all(|digit| digit == b'0') => {
                ArgValue::Buffer(Arc::default())
            }
            (ArgKind::Buffer { .. }, Argument::Memory { memory, offset, size, flags }) => {
                let whole = self.region(*memory)?.size;
                let end = offset.checked_add(*size).filter(|end| *end <= whole).ok_or(DAMAGED)?;
                let size = (end < whole).then_some(*size);
                self.buffer(arg, *memory, View { offset: *offset, size, access: access(*flags), ..View::default() })?
            }
            (ArgKind::Buffer { .. }, Argument::Svm { memory, offset }) => {
                if *offset > self.region(*memory)?.size {
                    return Err(DAMAGED);
                }
                self.buffer(arg, *memory, View { offset: *offset, svm: true, ..View::default() })?
            }
            (ArgKind::Image(_), Argument::Memory { memory, .. }) => self.image(arg, *memory)?,
            (ArgKind::Unsupported(_), _) => return Err(UNSUPPORTED),
            _ => return Err(OTHER_INTERFACE),
        })
    }

    fn region(&self, number: usize) -> Step<&records::Memory> {
        self.launch.memory.get(number).ok_or(OTHER_INTERFACE)
    }

    fn set_view(&mut self, position: u32, view: View) {
        let at = position as usize;
        if self.views.len() <= at {
            self.views.resize(at + 1, View::default());
        }
        self.views[at] = view;
    }

    fn before(&mut self, number: usize) -> Step<Arc<Vec<u8>>> {
        let Some(blob) = self.region(number)?.before.clone() else { return Err(OTHER_INTERFACE) };
        self.contents_of(number, &blob)
    }

    /// Contents of a region, which must have its size.
    fn contents_of(&mut self, number: usize, blob: &str) -> Step<Arc<Vec<u8>>> {
        let size = self.region(number)?.size;
        let bytes = self.contents.get(blob).ok_or(DAMAGED)?;
        if bytes.len() as u64 == size { Ok(bytes) } else { Err(DAMAGED) }
    }

    fn buffer(&mut self, arg: &Arg, number: usize, view: View) -> Step<ArgValue> {
        if let Some(owner) = self.owners.get(&number).copied() {
            let space = self.interface.args.get(owner as usize).map(Arg::address_space);
            if space != Some(arg.address_space()) {
                return Err(ALIASED_CONSTANT);
            }
            self.set_view(arg.position, view);
            return Ok(ArgValue::Same(owner));
        }
        let bytes = self.before(number)?;
        let uninitialised = self.region(number)?.written == Some(false);
        self.set_view(arg.position, View { uninitialised, ..view });
        self.owners.insert(number, arg.position);
        Ok(ArgValue::Buffer(bytes))
    }

    fn image(&mut self, arg: &Arg, number: usize) -> Step<ArgValue> {
        let region = self.region(number)?;
        // The driver does not tell of every program which images its kernels may write, such as of binaries.
        let may_write = |arg: &Arg| arg.access != Access::ReadOnly;
        let owner = self.owners.get(&number).and_then(|position| self.interface.args.get(*position as usize));
        let is_written =
            (region.may_be_written || region.after.is_some()) && (may_write(arg) || owner.is_some_and(may_write));
        let about = region.image.as_ref().ok_or(OTHER_INTERFACE)?;
        let (shape, format) = images::image(about).ok_or(IMAGE)?;
        if texel_type(&format).is_none_or(|ty| ty.size() != about.element) {
            return Err(IMAGE);
        }
        if images::bytes(&shape, about.element) != Some(region.size) {
            return Err(DAMAGED);
        }
        if self.images.contains(&number) && is_written {
            return Err(ALIASED_IMAGE);
        }
        let texels = self.before(number)?;
        self.images.push(number);
        self.owners.entry(number).or_insert(arg.position);
        Ok(ArgValue::Image { shape, format, texels })
    }

    fn expectations(&mut self) -> Step<Vec<Expectation>> {
        let mut all = Vec::new();
        for (number, position) in self.owners.clone() {
            let region = self.region(number)?;
            let Some(after) = region.after.clone() else { continue };
            let arg = self.interface.args.get(position as usize).ok_or(OTHER_INTERFACE)?;
            let ty = match (&arg.kind, &region.image) {
                // For a binary, the driver does not report that a buffer is in constant memory.
                (ArgKind::Buffer { .. }, _) if arg.address_space() == AddressSpace::Constant => continue,
                (ArgKind::Buffer { element, .. }, _) => element_type(element.as_ref()),
                (_, Some(_)) if arg.access == Access::ReadOnly => continue,
                (_, Some(image)) => images::image(image).and_then(|(_, format)| texel_type(&format)).ok_or(IMAGE)?,
                _ => continue,
            };
            let bytes = self.contents_of(number, &after)?;
            all.push(Expectation { position, bytes, ty, tolerance: Tolerance::default() });
        }
        all.sort_by_key(|expectation| expectation.position);
        Ok(all)
    }
}

/// What kernels may do with a buffer that was made with these flags (`CL_MEM_READ_ONLY`, `CL_MEM_WRITE_ONLY`).
fn access(flags: u64) -> BufferAccess {
    match flags & 0b111 {
        0b010 => BufferAccess::WriteOnly,
        0b100 => BufferAccess::ReadOnly,
        _ => BufferAccess::ReadWrite,
    }
}

/// The type as which elements are compared: bytes, if a kernel does not tell.
fn element_type(element: Option<&Type>) -> Type {
    let known = element.filter(|ty| !matches!(ty, Type::Opaque { .. }) && ty.size() > 0);
    known.cloned().unwrap_or(Type::Scalar(Scalar::U8))
}

fn range(launch: &records::Launch) -> Step<NdRange> {
    let dims = launch.global.len();
    if !(1..=3).contains(&dims) || launch.global.contains(&0) {
        return Err(EMPTY);
    }
    let sizes = |given: &[u64], otherwise: u64| std::array::from_fn(|at| given.get(at).copied().unwrap_or(otherwise));
    Ok(NdRange {
        dims: u32::try_from(dims).unwrap_or(3),
        global: sizes(&launch.global, 1),
        local: launch.local.as_ref().map(|local| sizes(local, 1)),
        offset: launch.offset.as_ref().map_or([0; 3], |offset| sizes(offset, 0)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_have_three_sizes() {
        let launch = |global: &str, local: &str| {
            let text = format!(
                r#"{{"program": "p", "name": "k", "launch": 1, "sequence": 0, "global": {global}, "local": {local},
                    "arguments": [], "memory": []}}"#
            );
            range(&serde_json::from_str(&text).unwrap()).ok()
        };
        let two = launch("[8, 4]", "[2, 4]").unwrap();
        assert_eq!((two.dims, two.global, two.local, two.offset), (2, [8, 4, 1], Some([2, 4, 1]), [0; 3]));
        assert!(
            launch("[0]", "null").is_none() && launch("[]", "null").is_none() && launch("[1,1,1,1]", "null").is_none()
        );
    }
}
