//! Which launches of a kind are kept: the first of each shape, the first with some values of scalars, the 1st, 2nd,
//! 4th, 8th …, and, if kassay asks for it, those that cover what no earlier one has covered.
//!
//! What a launch covers is known only when it has run, and its inputs are only there before. So the memory that it may
//! write is copied before each launch that is not chosen anyway, within limits.

use std::collections::{HashSet, VecDeque};
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::path::PathBuf;

use crate::driver::signature::{Address, Parameter};
use crate::launch::{Request, Subject};
use crate::shadow::kernel::{Argument, Kernel};
use crate::shadow::{State, key};
use crate::spool::config;
use crate::spool::counts::Column;

/// So many attempts to keep a launch of a kernel may fail before they are given up.
const MOST_FAILURES: u32 = 16;
/// Values of a scalar that are new in kind: one that has more is a counter, or data.
const MOST_VALUES: usize = 4;
/// Launches of a kernel that are looked at for new coverage, at most.
const MOST_LOOKS: u64 = 1 << 17;
/// Bytes that are copied for that, at most, as a multiple of `max_bytes`. (Limits of time would make it a matter of
/// luck which launches are kept.)
const COPIES: u64 = 4;

/// Why a launch is kept, or looked at.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Chosen {
    /// All are.
    All,
    /// The first of its shape.
    Shape,
    /// The first with a value of a scalar.
    Scalar,
    /// By its number.
    Number,
    /// Perhaps, for what it covers; else this is the reason why it is not kept.
    Perhaps(Column),
}

impl Chosen {
    /// As in the launch's file, where perhaps none is kept.
    pub fn name(self) -> &'static str {
        match self {
            Chosen::All => "all",
            Chosen::Shape => "shape",
            Chosen::Scalar => "scalar",
            Chosen::Number => "number",
            Chosen::Perhaps(_) => "coverage",
        }
    }
}

/// What has been kept of a kind.
pub struct Sampling {
    selected: bool,
    kept: u64,
    shapes: HashSet<u64>,
    /// By argument: hashes of the values that a scalar had, at most [`MOST_VALUES`].
    scalars: Vec<Vec<u64>>,
    /// Launches chosen for a scalar alone.
    by_scalar: u64,
    failures: u32,
    failure: Column,
    /// The smallest launch that the budget had no room for, in bytes.
    pub too_big: Option<u64>,
    /// What was covered so far, as words of bits.
    covered: Vec<u32>,
    /// Launches that were looked at for what they cover, and the bytes that were copied for that.
    looks: u64,
    copied: u64,
    /// Launches that were looked at in vain because they did not run as replacements, or could not be read, one after
    /// the other.
    in_vain: u32,
    /// The files of launches that are kept for their number alone, and cover nothing new; they give way to those that
    /// do.
    replaceable: VecDeque<PathBuf>,
}

impl Sampling {
    pub fn new(selected: bool) -> Sampling {
        Sampling {
            selected,
            kept: 0,
            shapes: HashSet::new(),
            scalars: Vec::new(),
            by_scalar: 0,
            failures: 0,
            failure: Column::NotSampled,
            too_big: None,
            covered: Vec::new(),
            looks: 0,
            copied: 0,
            in_vain: 0,
            replaceable: VecDeque::new(),
        }
    }

    /// Notes that a launch of `bytes` was chosen and could not be kept.
    pub fn failed(&mut self, chosen: Chosen, reason: Column, bytes: u64) {
        if let Chosen::Perhaps(_) = chosen {
            self.in_vain += 1;
            return;
        }
        self.kept = self.kept.saturating_sub(1);
        self.failures += 1;
        self.failure = reason;
        if reason == Column::MaxBytes {
            self.too_big = Some(self.too_big.map_or(bytes, |least| least.min(bytes)));
        }
    }

    /// Adds what was covered when a launch began and when it had ended. Returns whether the launch has covered what was
    /// not before.
    pub fn covers(&mut self, before: &[u32], after: &[u32]) -> bool {
        self.in_vain = 0;
        self.covered.resize(self.covered.len().max(after.len()), 0);
        self.covered.iter_mut().zip(before).for_each(|(covered, word)| *covered |= word);
        let is_new = self.covered.iter().zip(after).any(|(covered, word)| word & !covered != 0);
        self.covered.iter_mut().zip(after).for_each(|(covered, word)| *covered |= word);
        is_new
    }

    /// Finds room for a launch that covers something new: `Some` file goes for it. The error is the reason why there is
    /// none.
    pub fn make_room(&mut self) -> Result<Option<PathBuf>, Column> {
        if self.kept < config().max_launches {
            self.kept += 1;
            return Ok(None);
        }
        self.replaceable.pop_front().map(Some).ok_or(Column::MaxLaunches)
    }

    /// Takes the room back for which no launch was written.
    pub fn give_room_back(&mut self, room: Option<PathBuf>) {
        match room {
            Some(path) => self.replaceable.push_front(path),
            None => self.kept = self.kept.saturating_sub(1),
        }
    }

    /// Notes a launch that was written, and that may give way to others.
    pub fn may_be_replaced(&mut self, path: PathBuf) {
        self.replaceable.push_back(path);
    }

    /// Decides whether the launch with the number `ordinal`, from 1, is to be kept. The error is the reason if it is
    /// not.
    pub fn decide(
        &mut self,
        state: &State,
        ordinal: u64,
        subject: &Subject,
        request: &Request,
    ) -> Result<Chosen, Column> {
        let config = config();
        if !self.selected {
            return Err(Column::NotSelected);
        }
        if self.failures >= MOST_FAILURES {
            return Err(self.failure);
        }
        if config.all {
            return Ok(Chosen::All);
        }
        if self.kept >= config.max_launches {
            return self.otherwise(Column::MaxLaunches);
        }
        let has_room = (self.shapes.len() as u64) < config.max_shapes;
        let kernel = state.kernels.get(&key(request.kernel));
        let shape = kernel.filter(|_| has_room).map(|kernel| shape(state, kernel, request));
        let has_new_shape = shape.is_some_and(|shape| self.shapes.insert(shape));
        let parameters = subject.signature.parameters.as_deref();
        let has_new_scalar = kernel.is_some_and(|kernel| self.has_new_scalar(kernel, parameters));
        let chosen = match () {
            () if has_new_shape => Chosen::Shape,
            () if ordinal.is_power_of_two() => Chosen::Number,
            () if has_new_scalar => {
                self.by_scalar += 1;
                Chosen::Scalar
            }
            () => return self.otherwise(Column::NotSampled),
        };
        self.kept += 1;
        Ok(chosen)
    }

    /// A launch that nothing but what it covers can get kept.
    fn otherwise(&self, reason: Column) -> Result<Chosen, Column> {
        if self.may_look() { Ok(Chosen::Perhaps(reason)) } else { Err(reason) }
    }

    fn may_look(&self) -> bool {
        let has_room = self.kept < config().max_launches || !self.replaceable.is_empty();
        config().sample_by_coverage && has_room && self.looks < MOST_LOOKS && self.in_vain < MOST_FAILURES
    }

    /// Notes that a launch is looked at, for which `bytes` are copied. Returns whether that may be.
    pub fn look(&mut self, bytes: u64) -> bool {
        let copied = self.copied.saturating_add(bytes);
        let may = copied <= config().max_bytes.saturating_mul(COPIES);
        self.looks += 1;
        if may {
            self.copied = copied;
        }
        may
    }

    /// Whether a scalar has a value that is new in kind.
    fn has_new_scalar(&mut self, kernel: &Kernel, parameters: Option<&[Parameter]>) -> bool {
        if self.by_scalar >= config().max_launches / 2 {
            return false;
        }
        self.scalars.resize(self.scalars.len().max(kernel.arguments.len()), Vec::new());
        let mut is_new = false;
        for (index, (argument, known)) in kernel.arguments.iter().zip(&mut self.scalars).enumerate() {
            let Argument::Value { bytes, memory: None } = argument else { continue };
            let is_scalar = match parameters.and_then(|all| all.get(index)) {
                Some(parameter) => parameter.address == Address::Private && parameter.type_name != "sampler_t",
                // It may be a handle or a pointer.
                None => bytes.as_handle().is_none(),
            };
            if !is_scalar || known.len() >= MOST_VALUES {
                continue;
            }
            let mut hash = DefaultHasher::new();
            bytes.as_slice().hash(&mut hash);
            let hash = hash.finish();
            if !known.contains(&hash) {
                known.push(hash);
                is_new = true;
            }
        }
        is_new
    }
}

/// A hash of what makes a launch new in shape: sizes, which arguments are null, sizes of memory.
fn shape(state: &State, kernel: &Kernel, request: &Request) -> u64 {
    let mut hash = DefaultHasher::new();
    (request.dimensions, request.offset, request.global, request.local).hash(&mut hash);
    for argument in &kernel.arguments {
        match argument {
            Argument::Unset => 0.hash(&mut hash),
            Argument::Sized(size) => (1, size).hash(&mut hash),
            Argument::Pointer(pointer) => {
                (2, state.svm_at(*pointer).map(|(base, found)| (found.size, pointer - base))).hash(&mut hash);
            }
            Argument::Value { bytes, memory: Some(_) } => {
                let memory = bytes.as_handle().and_then(|handle| state.memory.get(&handle));
                (3, memory.map(|memory| memory.size)).hash(&mut hash);
            }
            Argument::Value { bytes, memory: None } => {
                (4, bytes.as_slice().len(), bytes.as_handle() == Some(0)).hash(&mut hash);
            }
        }
    }
    hash.finish()
}
