//! Joint sweeps: many runs of one program for several launches, with as few launches of the device as possible
//! ([`kassay_model::joint`]), whose outputs the device itself compares.

use std::time::Duration;

use kassay_model::joint::{SLOT_WORDS, Values, parameters};
use kassay_suite::launch::{ArgValue, Launch, NdRange};
use kassay_suite::scalar_layout;

use super::{Fault, Reference, difference};

/// Runs of one program, each on pristine inputs of one of several launches, that differ in the first words of their
/// slots.
#[derive(Debug, Clone)]
pub struct JointSweep<'a> {
    /// Where the program's arguments lie that are passed by value.
    pub values: &'a Values,
    /// By position, whether the program may write to an argument.
    pub written: &'a [bool],
    /// The launches. All have work-groups of the same size, and none is one of which [`cannot_join`] says why not.
    pub launches: &'a [JointLaunch<'a>],
    /// The runs; those of a launch that lie side by side share a copy of what they do not write.
    pub runs: &'a [JointRun],
    /// How often each run is made.
    pub repeats: u32,
    /// The most runs in one launch of the device.
    pub most_runs: u32,
    /// Whether to return what the last run of each leaves in the buffers that it may write.
    pub outputs: bool,
    /// Wall-clock limit of one launch of the device.
    pub timeout: Duration,
}

/// A launch of which there are runs.
#[derive(Debug, Clone)]
pub struct JointLaunch<'a> {
    /// Its arguments and NDRange.
    pub launch: &'a Launch,
    /// Its block of parameters, which [`complete`] and the code that instruments the program fill in.
    pub block: Vec<u32>,
    /// What its outputs must agree with. All are buffers of whole elements, as long as their expected contents.
    pub references: &'a [Reference],
}

/// One run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JointRun {
    /// Position of its launch in the sweep.
    pub launch: u32,
    /// The first two words of its slot; the others are 0 in the beginning.
    pub words: [u32; 2],
}

/// Words of a result; the first three are those of the slot after [`JointRun::words`].
pub const RESULT_WORDS: usize = 8;

/// What one run left behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JointResult(pub [u32; RESULT_WORDS]);

/// The first scalar of the outputs that is not as expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct JointDifference {
    /// Position among the launch's references.
    pub reference: usize,
    /// Index of the element; of a type that consists of nothing but scalars, that of the scalar.
    pub element: u64,
    /// Number of the scalar within the element ([`scalar_layout::leaves_through_unions`]).
    pub leaf: usize,
    /// The bytes that are there, filled up with zeros.
    pub actual: [u8; 8],
}

/// How a joint sweep ended.
#[derive(Debug, Clone, PartialEq)]
pub enum JointOutcome {
    /// All runs were made.
    Ran {
        /// For each repeat, one result per run.
        results: Vec<Vec<JointResult>>,
        /// For each run, its outputs by argument, if they were asked for.
        outputs: Vec<Vec<(u32, Vec<u8>)>>,
        /// Launches of the device.
        launches: u64,
        /// Their time on the device, in total.
        kernel_time: Duration,
    },
    /// Some run, it is not known which, ended the worker, or the device refused a launch: nothing is known.
    Lost(Fault),
}

impl JointResult {
    /// The words of the slot after the first two.
    pub fn words(&self) -> [u32; 3] {
        [self.0[0], self.0[1], self.0[2]]
    }

    /// Returns whether all outputs are as expected.
    pub fn agrees(&self) -> bool {
        self.0[3] == 0
    }

    /// The first difference; `None` if all outputs are as expected.
    pub fn difference(&self) -> Option<JointDifference> {
        let [_, _, _, at, element_low, element_high, bits @ ..] = self.0;
        let at = at.checked_sub(1)?;
        let mut actual = [0; 8];
        actual[..4].copy_from_slice(&bits[0].to_le_bytes());
        actual[4..].copy_from_slice(&bits[1].to_le_bytes());
        Some(JointDifference {
            reference: (at >> LEAF_BITS) as usize,
            element: u64::from(element_low) | u64::from(element_high) << 32,
            leaf: (at & ((1 << LEAF_BITS) - 1)) as usize,
            actual,
        })
    }
}

/// Bits for the number of a scalar within its element, in the word that says where a difference is; the number of the
/// reference is above it.
pub const LEAF_BITS: u32 = 16;

impl JointDifference {
    /// Describes it as [`difference::first`] does.
    pub fn text(&self, references: &[Reference]) -> String {
        let Some(reference) = references.get(self.reference) else { return "an output differs".to_owned() };
        let ty = reference.ty.as_ref();
        let place = match ty.and_then(|ty| Some((ty.size(), scalar_layout::dense_scalar(ty)?.size()))) {
            // The device counts scalars where there is nothing else.
            Some((size, scalar)) => {
                let scalars = (size / scalar.max(1)).max(1);
                (self.element / scalars, (self.element % scalars) as usize)
            }
            None => (self.element, self.leaf),
        };
        difference::at(&reference.label, ty, &reference.bytes, place, &self.actual)
    }
}

/// Returns why no joint sweep can hold this launch, whose outputs are compared with `references`; `None` if one can.
pub fn cannot_join(launch: &Launch, references: &[Reference]) -> Option<String> {
    let range = &launch.range;
    let Some(local) = range.local else { return Some("its work-group size is left to the driver".to_owned()) };
    if (0..3).any(|d| local[d] == 0 || range.global[d] == 0 || !range.global[d].is_multiple_of(local[d])) {
        return Some("its work-groups are not all of one size".to_owned());
    }
    if range.items() / local.iter().product::<u64>() > MOST_GROUPS || range.offset.iter().any(|at| *at > MOST_OFFSET) {
        return Some("it has too many work-groups, or too large an offset".to_owned());
    }
    if !launch.schedule.map.is_empty() {
        return Some("its work-groups have an order of their own".to_owned());
    }
    let argument = |(position, value): (u32, &ArgValue)| match value {
        ArgValue::Image { .. } | ArgValue::Sampler { .. } => {
            Some(format!("argument {position} is an image or a sampler"))
        }
        ArgValue::Buffer(_) | ArgValue::Same(_) if !launch.view(position).is_whole() || launch.view(position).svm => {
            Some(format!("argument {position} is a part of a buffer, or shared virtual memory"))
        }
        ArgValue::Buffer(_) if launch.margin(position as usize) > 0 => {
            Some(format!("argument {position} has a margin"))
        }
        _ => None,
    };
    (0..).zip(&launch.args).find_map(argument).or_else(|| references.iter().find_map(|r| cannot_compare(launch, r)))
}

/// Most work-groups of a launch.
const MOST_GROUPS: u64 = 1 << 24;

/// Largest global offset.
const MOST_OFFSET: u64 = u32::MAX as u64;

/// Most scalars of an element that the device compares one by one.
const MOST_LEAVES: usize = 1024;

fn cannot_compare(launch: &Launch, reference: &Reference) -> Option<String> {
    let position = reference.position;
    let Some(ArgValue::Buffer(bytes)) = launch.args.get(position as usize) else {
        return Some(format!("argument {position}, an output, is no buffer of its own"));
    };
    let size = reference.ty.as_ref().map_or(1, kassay_model::interface::Type::size).max(1);
    if bytes.len() != reference.bytes.len() || !(bytes.len() as u64).is_multiple_of(size) {
        return Some(format!("output {position} is not of whole elements, or not as long as expected"));
    }
    let ty = reference.ty.as_ref().filter(|ty| scalar_layout::dense_scalar(ty).is_none())?;
    let leaves = scalar_layout::leaves_through_unions(ty);
    let is_packed =
        || leaves.iter().any(|leaf| [leaf.offset, size].iter().any(|at| !at.is_multiple_of(leaf.scalar.size())));
    (leaves.len() > MOST_LEAVES || is_packed())
        .then(|| format!("an element of output {position} has too many parts, or parts that are not aligned"))
}

/// Completes the beginning of the probe buffer of a launch, ordinary or joint, that [`cannot_join`] says nothing
/// against: it is a block of parameters, with sizes, offset, and arguments that are passed by value.
pub fn complete(head: &mut Vec<u32>, values: &Values, launch: &Launch) {
    head.resize(head.len().max(values.words as usize), 0);
    let NdRange { dims, offset, .. } = launch.range;
    for (d, groups) in launch.range.group_counts().into_iter().enumerate() {
        head[parameters::GROUPS as usize + d] = groups as u32;
        head[parameters::OFFSET as usize + d] = offset[d] as u32;
    }
    head[parameters::DIMENSIONS as usize] = dims;
    for (value, place) in launch.args.iter().zip(&values.places) {
        let (ArgValue::Value(bytes), Some(place)) = (value, place) else { continue };
        for (word, bytes) in head[*place as usize..].iter_mut().zip(bytes.chunks(4)) {
            let mut whole = [0; 4];
            whole[..bytes.len()].copy_from_slice(bytes);
            *word = u32::from_le_bytes(whole);
        }
    }
}

// A result takes as much as a slot.
const _: () = assert!(RESULT_WORDS == SLOT_WORDS as usize);
