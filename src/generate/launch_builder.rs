//! From sizes and scalars to a launch: contents are chosen, a dry run says how far buffers are accessed, and sizes follow.

use std::cell::RefCell;
use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::access_summary::Reading;
use super::assign::{self, Scalars};
use super::buffer_growth::Guess;
use super::dry_run::{self, Given, Report, Setup};
use super::fill::{Fill, Filling, mix};
use super::geometry::Geometry;
use super::model::{Contents, KernelModel};
use crate::error::{Error, Result};
use crate::kernel::interface::{Arg, ArgKind, ArgSource, ImageKind, Scalar, Type};
use crate::program::{Instruction, Kind, Op, Program, Region};
use crate::suite::launch::{Addressing, ArgValue, Filter, ImageFormat, ImageShape, Launch};

/// No buffer of kassay's own is larger, in bytes.
const LARGEST: u64 = 1 << 26;

/// What making a launch may cost.
#[derive(Debug, Clone, Copy)]
pub struct Cost {
    /// Instructions of one dry run.
    pub instructions: u64,
    /// Of one buffer; launches that need a larger one are [too large](Outcome::too_large).
    pub bytes: u64,
    /// When dry runs are cut short.
    pub end: Option<Instant>,
}

impl Default for Cost {
    fn default() -> Cost {
        Cost { instructions: 2_000_000, bytes: LARGEST, end: None }
    }
}

/// How large images are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Sides {
    /// As the launch has work-items, or larger where more is accessed.
    #[default]
    Launch,
    /// A little smaller, if the kernel asks for their size and so can do with less.
    Small,
    /// Just so; under the same condition.
    Given([u64; 3]),
}

/// A launch to be made.
#[derive(Debug, Clone)]
pub struct Plan<'g> {
    pub geometry: &'g Geometry,
    pub scalars: Scalars,
    /// For buffers that hold data.
    pub fill: Fill,
    pub seed: u64,
    pub images: Sides,
}

/// What a plan comes to.
pub struct Outcome {
    pub report: Report,
    /// Bytes, by position, of buffers and local memory.
    sizes: Vec<u64>,
    images: Sides,
    /// A buffer would have to be larger than [`Cost::bytes`]; here it is not, so that accesses go beyond it.
    pub too_large: bool,
    /// What is assumed of sizes.
    pub notes: Vec<String>,
    pub guesses: Vec<Guess>,
}

impl Outcome {
    /// Gives a buffer or local memory another size, in bytes, at most [`LARGEST`].
    pub fn resize(&mut self, position: usize, bytes: u64) {
        self.sizes[position] = bytes.clamp(1, LARGEST);
    }
}

/// A kernel's model with what is read off its code, for making launches.
pub struct LaunchBuilder<'m> {
    pub model: &'m KernelModel,
    pub reading: Reading<'m>,
    dictionary: Arc<[i128]>,
    cost: Cost,
    /// Whether the kernel asks images for their size.
    asks_sizes: bool,
    /// By argument: see [`LaunchBuilder::follows_data`].
    follows_data: RefCell<HashMap<u32, bool>>,
}

impl<'m> LaunchBuilder<'m> {
    pub fn new(model: &'m KernelModel, cost: Cost) -> LaunchBuilder<'m> {
        let program: &Program = &model.program;
        let mut dictionary: Vec<i128> = Vec::new();
        let mut asks_sizes = false;
        for (_, instruction) in program.instructions() {
            match &instruction.op {
                Op::Compare(_) => {
                    let constants = instruction.operands.iter().filter_map(|o| program.constant(*o));
                    for n in constants.map(i128::from) {
                        dictionary.extend([n - 1, n, n + 1]);
                    }
                }
                Op::Call(_, base) => asks_sizes |= base.starts_with("get_image"),
                _ => {}
            }
        }
        dictionary.sort_unstable();
        dictionary.dedup();
        LaunchBuilder {
            model,
            reading: Reading::new(program),
            dictionary: dictionary.into(),
            cost,
            asks_sizes,
            follows_data: RefCell::default(),
        }
    }

    /// Whether the kernel asks images for their size.
    pub fn asks_sizes(&self) -> bool {
        self.asks_sizes
    }

    /// Integers that the kernel compares with, and their neighbours, ascending.
    pub fn dictionary(&self) -> &[i128] {
        &self.dictionary
    }

    /// What a buffer or local memory consists of: bytes where the kernel does not tell.
    pub fn element(arg: &Arg) -> Type {
        match &arg.kind {
            ArgKind::Buffer { element: Some(ty), .. } | ArgKind::Local { element: Some(ty) } if ty.size() > 0 => {
                ty.clone()
            }
            _ => Type::Scalar(Scalar::U8),
        }
    }

    /// The largest of the lengths that checks give a buffer, in elements.
    fn length(&self, position: usize, plan: &Plan<'_>) -> Option<u64> {
        let scalars = |arg, offset| assign::integer(&plan.scalars, arg, offset);
        let ranges = assign::ranges(&self.reading, plan.geometry, &scalars);
        let most = self.model.args[position].lengths.iter().map(|l| ranges.of(l).1).max()?;
        u64::try_from(most.max(0)).ok()
    }

    fn filling(&self, position: usize, plan: &Plan<'_>) -> Filling {
        let arg = &self.model.interface.args[position];
        let ty = Self::element(arg);
        let items = plan.geometry.range.items();
        let fill = match self.model.args[position].contents {
            Contents::Data if self.model.args[position].is_counter && plan.fill != Fill::Zero => Fill::Below(8),
            Contents::Data => plan.fill,
            Contents::Offsets => Fill::Offsets(4),
            Contents::Counts => Fill::Below(plan.geometry.local[0].clamp(2, 8)),
            Contents::Places { target, scale, distinct, room } => {
                let room = match target {
                    _ if room.is_some() => room.unwrap_or(1),
                    Region::Argument(to) => self.length(to as usize, plan).unwrap_or(items.clamp(16, 4096)),
                    Region::Variable(index) => {
                        let bytes = self.model.program.variables[index].bytes;
                        bytes / self.width(target).max(1)
                    }
                    Region::Private(alloca) => match self.model.program.instruction(alloca).map(|i| &i.op) {
                        Some(Op::Alloca(bytes)) => bytes / self.width(target).max(1),
                        _ => 1,
                    },
                    Region::Unknown => items.clamp(2, 16),
                };
                let room = (room / scale.max(1)).max(1);
                if distinct { Fill::Distinct(room.max(items)) } else { Fill::Below(room) }
            }
        };
        let fixed = match &arg.source {
            ArgSource::Variable { initial } => Some(Arc::clone(initial)),
            ArgSource::Parameter | ArgSource::Member { .. } => None,
        };
        Filling { ty, fill, seed: mix(plan.seed, position as u64), dictionary: self.dictionary.clone(), fixed }
    }

    /// Bytes of the narrowest access to a region.
    fn width(&self, region: Region) -> u64 {
        self.reading.accesses.iter().filter(|a| a.region == region).map(|a| a.bytes).min().unwrap_or(1)
    }

    /// Sides of an image; `reached`: what is accessed of it.
    fn sides(&self, kind: ImageKind, plan: &Plan<'_>, images: Sides, reached: Option<&[u64; 3]>) -> [u64; 3] {
        let global = plan.geometry.range.global;
        let of = |d: usize| match images {
            Sides::Small if global[d] > 3 => global[d] - 3,
            Sides::Given(sides) => sides[d].max(1),
            _ => global[d].max(2),
        };
        let mut sides: [u64; 3] = std::array::from_fn(of);
        if let (Some(reached), false) = (reached, images != Sides::Launch) {
            sides = std::array::from_fn(|d| sides[d].max(reached[d].min(1 << 10)));
        }
        match kind {
            ImageKind::D1 | ImageKind::D1Buffer => [sides[0], 1, 1],
            ImageKind::D1Array | ImageKind::D2 => [sides[0], sides[1], 1],
            _ => sides,
        }
    }

    /// Runs a plan dry and finds the sizes.
    pub fn try_out(&self, plan: &Plan<'_>) -> Outcome {
        if self.asks_sizes && plan.images != Sides::Launch {
            let outcome = self.attempt(plan, plan.images);
            let fits =
                |(position, reached): (&u32, &[u64; 3])| match &self.model.interface.args[*position as usize].kind {
                    ArgKind::Image(kind) => {
                        let sides = self.sides(*kind, plan, plan.images, None);
                        (0..3).all(|d| reached[d] <= sides[d])
                    }
                    _ => true,
                };
            if outcome.report.texels.iter().all(fits) {
                return outcome;
            }
        }
        self.attempt(plan, Sides::Launch)
    }

    fn attempt(&self, plan: &Plan<'_>, images: Sides) -> Outcome {
        let interface = &self.model.interface;
        let fillings: Vec<Filling> = (0..interface.args.len()).map(|p| self.filling(p, plan)).collect();
        let contents: Vec<_> = fillings.iter().map(|f| |from, to| f.bytes(from, to)).collect();
        let values: Vec<Vec<u8>> =
            interface.args.iter().map(|a| assign::bytes(self.model, a.position, &plan.scalars)).collect();
        let given: Vec<Given<'_>> = interface
            .args
            .iter()
            .enumerate()
            .map(|(p, arg)| match &arg.kind {
                ArgKind::Value(_) => Given::Value(&values[p]),
                ArgKind::Buffer { .. } => Given::Buffer(&contents[p]),
                ArgKind::Local { .. } => Given::Local,
                ArgKind::Image(kind) => Given::Image(self.sides(*kind, plan, images, None)),
                ArgKind::Sampler | ArgKind::Unsupported(_) => Given::Other,
            })
            .collect();
        let setup =
            Setup { range: plan.geometry.resolved(), args: &given, budget: self.cost.instructions, end: self.cost.end };
        let report = dry_run::run(&self.model.program, &setup);
        let (mut sizes, mut notes, mut guesses, mut too_large) = (Vec::new(), Vec::new(), Vec::new(), false);
        for (p, arg) in interface.args.iter().enumerate() {
            let (size, note) = self.size(p, arg, plan, &report);
            too_large |= size > self.cost.bytes;
            let element = Self::element(arg).size().max(1);
            let size = size.min(self.cost.bytes / element * element);
            sizes.push(size);
            notes.extend(note);
            let Some(guess) = self.guess(p, arg, &fillings[p], &report) else { continue };
            notes.extend((report.args[p].high > 0 || !guess.is_exact).then(|| guess.note(size)));
            guesses.push(guess);
        }
        Outcome { report, sizes, images, too_large, notes, guesses }
    }

    /// If nothing but the dry run says how large an argument has to be.
    fn guess(&self, position: usize, arg: &Arg, filling: &Filling, report: &Report) -> Option<Guess> {
        let has_size = matches!(arg.kind, ArgKind::Buffer { .. } | ArgKind::Local { .. }) && filling.fixed.is_none();
        (has_size && self.model.args[position].lengths.is_empty()).then(|| Guess {
            position: arg.position,
            label: arg.said(),
            filling: filling.clone(),
            is_exact: !report.exhausted && report.wild == 0 && !self.follows_data(arg.position),
        })
    }

    /// The bytes that a buffer has, and what that assumes.
    fn size(&self, position: usize, arg: &Arg, plan: &Plan<'_>, report: &Report) -> (u64, Option<String>) {
        if !matches!(arg.kind, ArgKind::Buffer { .. } | ArgKind::Local { .. }) {
            return (0, None);
        }
        if let ArgSource::Variable { initial } = &arg.source {
            return (initial.len() as u64, None);
        }
        let model = &self.model.args[position];
        let element = Self::element(arg).size();
        let mut high = report.args[position].high;
        let mut note = None;
        if report.exhausted || report.wild > 0 {
            // Some accesses were not seen.
            high = high.max(plan.geometry.range.items().clamp(64, 1 << 16) * 4 * element);
        }
        let size = match self.length(position, plan) {
            Some(elements) => {
                let declared = elements.saturating_mul(element);
                let region = Region::Argument(arg.position);
                let unchecked = |id: &u32| !model.checked.contains(id);
                let mine = self.reading.accesses.iter().filter(|a| a.region == region || a.region == Region::Unknown);
                let reached = mine.map(|a| a.id).filter(unchecked).filter_map(|id| report.reached.get(&id)).copied();
                let mut most = reached.max().unwrap_or(0).min(report.args[position].high);
                // Offsets have one more than the parts that they part.
                if model.contents != Contents::Data && report.args[position].high == declared.saturating_add(element) {
                    most = declared.saturating_add(element);
                    note = Some(format!("{} has one element more than checks say", arg.said()));
                }
                declared.max(most)
            }
            None => high,
        };
        let mut size = size.div_ceil(element).max(1).saturating_mul(element);
        if model.lengths.is_empty() && self.follows_data(arg.position) {
            // Another order of work-items may go farther.
            size = size.saturating_add((size / 4 / element + 16) * element);
        }
        (size, note)
    }

    /// Whether an access to the argument's buffer goes where data, atomics or local memory say.
    fn follows_data(&self, position: u32) -> bool {
        if let Some(known) = self.follows_data.borrow().get(&position) {
            return *known;
        }
        let follows = self.goes_where_data_say(position);
        self.follows_data.borrow_mut().insert(position, follows);
        follows
    }

    fn goes_where_data_say(&self, position: u32) -> bool {
        let program = self.reading.program;
        let is_data = |v: &u32| {
            program.instruction(*v).is_some_and(|i| {
                matches!(i.op, Op::Load | Op::AtomicRmw(_) | Op::CompareExchange)
                    || matches!(&i.op, Op::Call(_, base) if super::polynomial::id_of(base).is_none())
            })
        };
        let mine = self.reading.accesses.iter().filter(|a| a.region == Region::Argument(position));
        mine.flat_map(|a| [Some(a.pointer), a.number]).flatten().any(|v| self.reading.sources(v).iter().any(is_data))
    }

    /// Whether the kernel takes pointers out of a buffer into which it puts none itself.
    fn reads_pointers_of(&self, arg: &Arg) -> bool {
        let ArgKind::Buffer { element: Some(element), .. } = &arg.kind else { return false };
        if !holds_pointers(element) {
            return false;
        }
        let program = self.reading.program;
        let is_mine = |v: u32| program.roots[v as usize].contains(&Region::Argument(arg.position));
        let is_pointer = |v: u32| program.shape(v).kind == Kind::Pointer;
        let reads = |i: &Instruction| matches!(i.op, Op::Load) && is_pointer(i.result) && is_mine(i.operands[0]);
        let writes = |i: &Instruction| matches!(i.op, Op::Store) && is_pointer(i.operands[0]) && is_mine(i.operands[1]);
        program.instructions().any(|(_, i)| reads(i)) && !program.instructions().any(|(_, i)| writes(i))
    }

    /// The launch.
    ///
    /// # Errors
    /// `Caller` if an argument is of a type that no launch can give.
    pub fn launch(&self, plan: &Plan<'_>, outcome: &Outcome) -> Result<Launch> {
        let interface = &self.model.interface;
        let mut args = Vec::new();
        for (p, arg) in interface.args.iter().enumerate() {
            if self.reads_pointers_of(arg) {
                return Err(Error::caller(format!(
                    "the kernel reads pointers out of the buffer `{}` of `{}`, whose contents no launch of kassay's can give",
                    arg.label(),
                    interface.name
                ))
                .help("pass the pointers in a struct by value, or put indices in their place"));
            }
            let value = match &arg.kind {
                ArgKind::Value(_) => ArgValue::Value(assign::bytes(self.model, arg.position, &plan.scalars)),
                ArgKind::Buffer { .. } => ArgValue::Buffer(Arc::new(self.filling(p, plan).bytes(0, outcome.sizes[p]))),
                ArgKind::Local { .. } => ArgValue::Local(outcome.sizes[p]),
                ArgKind::Image(kind) if *kind != ImageKind::Other => self.image(arg, *kind, plan, outcome),
                ArgKind::Sampler => ArgValue::Sampler {
                    addressing: Addressing::ClampToEdge,
                    filter: Filter::Nearest,
                    normalized: false,
                },
                ArgKind::Image(_) | ArgKind::Unsupported(_) => {
                    return Err(Error::caller(format!(
                        "the argument `{}` of `{}` is of type `{}`, which kassay cannot generate",
                        arg.label(),
                        interface.name,
                        arg.type_name
                    ))
                    .help("check a kernel without such arguments"));
                }
            };
            args.push(value);
        }
        Ok(Launch::new(plan.geometry.range.clone(), args))
    }

    fn image(&self, arg: &Arg, kind: ImageKind, plan: &Plan<'_>, outcome: &Outcome) -> ArgValue {
        let reached = outcome.report.texels.get(&arg.position);
        let [width, height, depth] = self.sides(kind, plan, outcome.images, reached);
        let shape = match kind {
            ImageKind::D1 => ImageShape::D1 { width },
            ImageKind::D1Buffer => ImageShape::D1Buffer { width },
            ImageKind::D1Array => ImageShape::D1Array { width, layers: height },
            ImageKind::D2Array => ImageShape::D2Array { width, height, layers: depth },
            ImageKind::D3 => ImageShape::D3 { width, height, depth },
            ImageKind::D2 | ImageKind::Other => ImageShape::D2 { width, height },
        };
        let (channel_type, scalar) = self.channel(arg.position);
        let filling = Filling {
            ty: Type::Vector(scalar, 4),
            fill: if scalar == Scalar::F32 { plan.fill } else { Fill::Below(256) },
            seed: mix(plan.seed, arg.position.into()),
            dictionary: self.dictionary.clone(),
            fixed: None,
        };
        let texels = filling.bytes(0, width * height * depth * 16);
        let format = ImageFormat { channel_order: "RGBA".to_owned(), channel_type: channel_type.to_owned() };
        ArgValue::Image { shape, format, texels: Arc::new(texels) }
    }

    /// The channel type that goes with the builtins that read or write an image.
    fn channel(&self, position: u32) -> (&'static str, Scalar) {
        let program = &self.model.program;
        let mine = |i: &&crate::program::Instruction| i.operands.first() == Some(&program.params[position as usize]);
        let mut builtins: HashMap<char, usize> = HashMap::new();
        for (_, instruction) in program.instructions() {
            if let (Op::Call(_, base), true) = (&instruction.op, mine(&instruction))
                && let Some(rest) = base.strip_prefix("read_image").or_else(|| base.strip_prefix("write_image"))
            {
                *builtins.entry(rest.chars().next().unwrap_or('f')).or_default() += 1;
            }
        }
        match builtins.into_iter().max_by_key(|(_, n)| *n).map(|(c, _)| c) {
            Some('u') => ("UNSIGNED_INT32", Scalar::U32),
            Some('i') => ("SIGNED_INT32", Scalar::I32),
            _ => ("FLOAT", Scalar::F32),
        }
    }
}

/// Whether a value of the type has pointers in it.
fn holds_pointers(ty: &Type) -> bool {
    match ty {
        Type::Opaque { name, .. } => name.ends_with('*'),
        Type::Array(element, _) => holds_pointers(element),
        Type::Struct(s) => s.fields.iter().any(|f| holds_pointers(&f.ty)),
        Type::Scalar(_) | Type::Vector(..) | Type::Pointer { .. } => false,
    }
}
