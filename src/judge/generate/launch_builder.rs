//! Builds launches from sizes and scalars: chooses contents, finds out by a dry run how far buffers are accessed, and
//! sizes them accordingly.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;
use std::time::Instant;

use kassay_base::error::{Error, Result};
use kassay_ir::kernel::builtins::{self, Builtin, Family};
use kassay_model::interface::{Arg, ArgKind, ArgSource, ImageKind, Scalar, Type};
use kassay_prove::program::{Instruction, Kind, Op, Program, Region};
use kassay_suite::launch::{Addressing, ArgValue, Filter, ImageFormat, ImageShape, Launch};
use serde::{Deserialize, Serialize};

use super::access_summary::AccessSummary;
use super::assign::{self, Scalars};
use super::buffer_growth::Guess;
use super::dry_run::{self, DryRunArg, Report, Setup};
use super::fill::{Fill, Filling, mix};
use super::geometry::Geometry;
use super::held_indices;
use super::model::{Contents, KernelModel, List};
use super::per_item;
use super::pitches::FEWEST_PLACES;
use super::polynomial::{EVERY, Each};
use super::scalars_in_buffers;

/// Size limit of generated buffers, in bytes.
const LARGEST: u64 = 1 << 26;

/// Limits on building one launch.
#[derive(Debug, Clone, Copy)]
pub struct BuildLimits {
    /// Instructions of one dry run.
    pub instructions: u64,
    /// Bytes of one buffer; launches that need more are [too large](FittedPlan::too_large).
    pub bytes: u64,
    /// When dry runs are cut short.
    pub end: Option<Instant>,
}

impl Default for BuildLimits {
    fn default() -> BuildLimits {
        BuildLimits { instructions: 2_000_000, bytes: LARGEST, end: None }
    }
}

/// Size of images.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ImageSides {
    /// One texel per work-item, or more where more is accessed.
    #[default]
    Launch,
    /// Slightly smaller, if the kernel queries image sizes and so can handle it.
    Small,
    /// Exactly this size, under the same condition.
    Given([u64; 3]),
}

/// Parameters of a launch to be built.
#[derive(Debug, Clone)]
pub struct LaunchPlan<'g> {
    pub geometry: &'g Geometry,
    pub scalars: Scalars,
    /// For buffers whose contents are plain data.
    pub fill: Fill,
    pub seed: u64,
    pub images: ImageSides,
}

/// The sizes that a plan needs, as its dry run shows them.
pub struct FittedPlan {
    pub report: Report,
    /// Bytes of buffers and local memory, by position.
    sizes: Vec<u64>,
    images: ImageSides,
    /// Bytes for what each pointer in a buffer points to.
    apart: u64,
    /// A buffer would have to exceed [`BuildLimits::bytes`]; its size is capped there, so accesses overrun it.
    pub too_large: bool,
    /// Assumptions about sizes, as sentences.
    pub notes: Vec<String>,
    /// Arguments whose length is only known from the dry run.
    pub guesses: Vec<Guess>,
}

impl FittedPlan {
    /// Sets the size of a buffer or local memory, in bytes; capped at [`LARGEST`].
    pub fn resize(&mut self, position: usize, bytes: u64) {
        self.sizes[position] = bytes.clamp(1, LARGEST);
    }
}

/// Builds launches of one kernel from its model and the summary of its accesses.
pub struct LaunchBuilder<'m> {
    pub model: &'m KernelModel,
    pub summary: Rc<AccessSummary<'m>>,
    dictionary: Arc<[i128]>,
    limits: BuildLimits,
    /// Whether the kernel queries image sizes.
    asks_sizes: bool,
    /// Cache of [`LaunchBuilder::is_data_dependent`], by argument.
    is_data_dependent: RefCell<HashMap<u32, bool>>,
}

impl<'m> LaunchBuilder<'m> {
    /// Summarises the model's program; `limits` apply to each launch.
    pub fn new(model: &'m KernelModel, limits: BuildLimits) -> LaunchBuilder<'m> {
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
                Op::Call(_, base) => asks_sizes |= builtins::family(base) == Some(Family::ImageQuery),
                _ => {}
            }
        }
        dictionary.sort_unstable();
        dictionary.dedup();
        LaunchBuilder {
            model,
            summary: Rc::new(per_item::summarise(program, &model.interface)),
            dictionary: dictionary.into(),
            limits,
            asks_sizes,
            is_data_dependent: RefCell::default(),
        }
    }

    /// Returns a builder for another model of the same program.
    pub fn with_model<'o>(&'o self, model: &'o KernelModel) -> LaunchBuilder<'o>
    where
        'm: 'o,
    {
        LaunchBuilder {
            model,
            summary: self.summary.clone(),
            dictionary: self.dictionary.clone(),
            limits: self.limits,
            asks_sizes: self.asks_sizes,
            is_data_dependent: RefCell::default(),
        }
    }

    /// Returns whether the kernel queries image sizes.
    pub fn asks_sizes(&self) -> bool {
        self.asks_sizes
    }

    /// Returns integers that the kernel compares with, and their neighbours, in ascending order.
    pub fn dictionary(&self) -> &[i128] {
        &self.dictionary
    }

    /// Returns the element type of a buffer or local memory; `uchar` if the kernel does not say.
    pub fn element(arg: &Arg) -> Type {
        match &arg.kind {
            ArgKind::Buffer { element: Some(ty), .. } | ArgKind::Local { element: Some(ty) } if ty.size() > 0 => {
                ty.clone()
            }
            _ => Type::Scalar(Scalar::U8),
        }
    }

    /// Returns the largest of the lengths that the kernel's checks imply for a buffer, in elements.
    pub(super) fn length(&self, position: usize, plan: &LaunchPlan<'_>) -> Option<u64> {
        let scalars = |arg, offset| assign::integer(&plan.scalars, arg, offset);
        let intervals = assign::intervals(&self.summary, plan.geometry, &scalars);
        let most = self.model.args[position].lengths.iter().map(|l| intervals.of(l).1).max()?;
        u64::try_from(most.max(0)).ok()
    }

    /// Chooses how an argument is filled, by the role of its contents; `apart`: see [`FittedPlan`].
    fn filling(&self, position: usize, plan: &LaunchPlan<'_>, apart: u64) -> Filling {
        let arg = &self.model.interface.args[position];
        let ty = Self::element(arg);
        let items = plan.geometry.range.items();
        let fill = match self.model.args[position].contents {
            Contents::Data if self.model.args[position].is_counter && plan.fill != Fill::Zero => Fill::Below(8),
            Contents::Data => plan.fill,
            Contents::Offsets => Fill::Offsets(4),
            Contents::Lengths { .. } => Fill::Differences(4),
            Contents::PerItem(each) => {
                let number = assign::integer(&plan.scalars, arg.position, EVERY).unwrap_or(1);
                let number = u64::try_from(number).unwrap_or(1);
                if each == Each::Start { Fill::Multiples(number) } else { Fill::Each(number) }
            }
            Contents::List(List::Sizes) => Fill::Sizes(items),
            Contents::List(List::Strides) => Fill::Strides,
            Contents::List(List::Order) => Fill::Order,
            Contents::TripCounts => Fill::Below(plan.geometry.local[0].clamp(2, 8)),
            Contents::Indices { target, scale, distinct, room } => {
                let room = match target {
                    _ if room.is_some() => room.unwrap_or(1),
                    Region::Argument(to) => self.length(to as usize, plan).unwrap_or(items.clamp(FEWEST_PLACES, 4096)),
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
        let seed_of = match self.model.args[position].contents {
            Contents::Lengths { of } => u64::from(of),
            _ => position as u64,
        };
        let fixed = match &arg.source {
            // What the host writes to a variable before the launch is as what it writes to a buffer.
            ArgSource::Variable { .. }
                if self.model.args[position].contents != Contents::Data
                    && self.summary.symbols.is_kept(arg.position)
                    && !scalars_in_buffers::is_given(arg, 0, u64::MAX) =>
            {
                None
            }
            ArgSource::Variable { initial, .. } => Some(Arc::clone(initial)),
            ArgSource::Parameter | ArgSource::Member { .. } | ArgSource::Element => None,
        };
        let held = held_indices::of(&self.model.interface, &self.model.program, position, apart);
        let placed = assign::placed(self.model, arg.position, &plan.scalars).into();
        Filling { ty, fill, seed: mix(plan.seed, seed_of), dictionary: self.dictionary.clone(), fixed, placed, held }
    }

    /// Returns the bytes of the narrowest access to a region.
    fn width(&self, region: Region) -> u64 {
        self.summary.accesses.iter().filter(|a| a.region == region).map(|a| a.bytes).min().unwrap_or(1)
    }

    /// Returns the size of an image; `reached`: extent of the accesses to it.
    fn sides(
        &self,
        kind: ImageKind,
        plan: &LaunchPlan<'_>,
        images: ImageSides,
        reached: Option<&[u64; 3]>,
    ) -> [u64; 3] {
        let global = plan.geometry.range.global;
        let of = |d: usize| match images {
            ImageSides::Small if global[d] > 3 => global[d] - 3,
            ImageSides::Given(sides) => sides[d].max(1),
            _ => global[d].max(2),
        };
        let mut sides: [u64; 3] = std::array::from_fn(of);
        if let (Some(reached), false) = (reached, images != ImageSides::Launch) {
            sides = std::array::from_fn(|d| sides[d].max(reached[d].min(1 << 10)));
        }
        match kind {
            ImageKind::D1 | ImageKind::D1Buffer => [sides[0], 1, 1],
            ImageKind::D1Array | ImageKind::D2 => [sides[0], sides[1], 1],
            _ => sides,
        }
    }

    /// Runs a plan dry and sizes its arguments. Falls back to images of the launch's size if the requested ones are
    /// accessed out of bounds.
    pub fn fit(&self, plan: &LaunchPlan<'_>) -> FittedPlan {
        if self.asks_sizes && plan.images != ImageSides::Launch {
            let fitted = self.fit_with_images(plan, plan.images);
            let fits =
                |(position, reached): (&u32, &[u64; 3])| match &self.model.interface.args[*position as usize].kind {
                    ArgKind::Image(kind) => {
                        let sides = self.sides(*kind, plan, plan.images, None);
                        (0..3).all(|d| reached[d] <= sides[d])
                    }
                    _ => true,
                };
            if fitted.report.texels.iter().all(fits) {
                return fitted;
            }
        }
        self.fit_with_images(plan, ImageSides::Launch)
    }

    fn fit_with_images(&self, plan: &LaunchPlan<'_>, images: ImageSides) -> FittedPlan {
        let interface = &self.model.interface;
        let mut run = self.dry_run(plan, images, 0);
        for apart in held_indices::sizes(interface) {
            run = self.dry_run(plan, images, apart);
            if run.2.wild == 0 {
                break;
            }
        }
        if run.0 > 0 {
            run = self.dry_run(plan, images, held_indices::needed(interface, &run.2));
        }
        let (apart, fillings, report) = run;
        let (mut sizes, mut notes, mut guesses, mut too_large) = (Vec::new(), Vec::new(), Vec::new(), false);
        for (p, arg) in interface.args.iter().enumerate() {
            let (size, note) = self.size(p, arg, plan, &report);
            too_large |= size > self.limits.bytes;
            let element = Self::element(arg).size().max(1);
            let size = size.min(self.limits.bytes / element * element);
            sizes.push(size);
            notes.extend(note);
            let Some(guess) = self.guess(p, arg, &fillings[p], &report) else { continue };
            notes.extend((report.args[p].high > 0 || !guess.is_exact).then(|| guess.note(size)));
            guesses.push(guess);
        }
        FittedPlan { report, sizes, images, apart, too_large, notes, guesses }
    }

    /// Runs a plan dry with `apart` bytes for what each pointer in a buffer points to, and returns these, too.
    fn dry_run(&self, plan: &LaunchPlan<'_>, images: ImageSides, apart: u64) -> (u64, Vec<Filling>, Report) {
        let interface = &self.model.interface;
        let fillings: Vec<Filling> = (0..interface.args.len()).map(|p| self.filling(p, plan, apart)).collect();
        let contents: Vec<_> = fillings.iter().map(|f| |from, to| f.bytes(from, to)).collect();
        let values: Vec<Vec<u8>> =
            interface.args.iter().map(|a| assign::bytes(self.model, a.position, &plan.scalars)).collect();
        let dry_run_args: Vec<DryRunArg<'_>> = interface
            .args
            .iter()
            .enumerate()
            .map(|(p, arg)| match &arg.kind {
                ArgKind::Value(_) => DryRunArg::Value(&values[p]),
                ArgKind::Buffer { .. } => DryRunArg::Buffer(&contents[p]),
                ArgKind::Local { .. } => DryRunArg::Local,
                ArgKind::Image(kind) => DryRunArg::Image(self.sides(*kind, plan, images, None)),
                ArgKind::Sampler | ArgKind::Unsupported(_) => DryRunArg::Other,
            })
            .collect();
        let setup = Setup {
            range: plan.geometry.resolved(),
            args: &dry_run_args,
            apart,
            asks_sizes: self.asks_sizes,
            budget: self.limits.instructions,
            end: self.limits.end,
        };
        let report = dry_run::run(&self.model.program, &setup);
        drop(dry_run_args);
        drop(contents);
        (apart, fillings, report)
    }

    /// Returns a guess, if only the dry run determines how large the argument has to be.
    fn guess(&self, position: usize, arg: &Arg, filling: &Filling, report: &Report) -> Option<Guess> {
        let has_size = matches!(arg.kind, ArgKind::Buffer { .. } | ArgKind::Local { .. })
            && !matches!(arg.source, ArgSource::Variable { .. });
        (has_size && self.model.args[position].lengths.is_empty()).then(|| Guess {
            position: arg.position,
            label: arg.display_name(),
            filling: filling.clone(),
            is_exact: !report.exhausted && report.wild == 0 && !self.is_data_dependent(arg.position),
        })
    }

    /// Returns the bytes of a buffer, and the assumption that this implies, if any.
    fn size(&self, position: usize, arg: &Arg, plan: &LaunchPlan<'_>, report: &Report) -> (u64, Option<String>) {
        if !matches!(arg.kind, ArgKind::Buffer { .. } | ArgKind::Local { .. }) {
            return (0, None);
        }
        if let ArgSource::Variable { initial, .. } = &arg.source {
            return (initial.len() as u64, None);
        }
        let model = &self.model.args[position];
        let element = Self::element(arg).size();
        let mut high = report.args[position].high;
        let mut note = None;
        if report.exhausted || report.wild > 0 {
            // Some accesses were not observed.
            high = high.max(plan.geometry.range.items().clamp(64, 1 << 16) * 4 * element);
        }
        let size = match self.length(position, plan) {
            Some(elements) => {
                let declared = elements.saturating_mul(element);
                let region = Region::Argument(arg.position);
                let unchecked = |id: &u32| !model.checked.contains(id);
                let mine = self.summary.accesses.iter().filter(|a| a.region == region || a.region == Region::Unknown);
                let reached = mine.map(|a| a.id).filter(unchecked).filter_map(|id| report.reached.get(&id)).copied();
                let mut most = reached.max().unwrap_or(0).min(report.args[position].high);
                // An offsets array has one more element than there are segments.
                if model.contents != Contents::Data && report.args[position].high == declared.saturating_add(element) {
                    most = declared.saturating_add(element);
                    note = Some(format!("{} has one element more than checks say", arg.display_name()));
                }
                declared.max(most)
            }
            None => high,
        };
        let mut size = size.div_ceil(element).max(1).saturating_mul(element);
        if model.lengths.is_empty() && self.is_data_dependent(arg.position) {
            // Other schedules of the work-items may reach further.
            size = size.saturating_add((size / 4 / element + 16) * element);
        }
        (size, note)
    }

    /// Returns whether the address of an access to the argument's buffer depends on loaded data, atomics or
    /// calls. Cached.
    fn is_data_dependent(&self, position: u32) -> bool {
        if let Some(known) = self.is_data_dependent.borrow().get(&position) {
            return *known;
        }
        let follows = self.compute_data_dependence(position);
        self.is_data_dependent.borrow_mut().insert(position, follows);
        follows
    }

    fn compute_data_dependence(&self, position: u32) -> bool {
        let program = self.summary.program;
        let is_data = |v: &u32| {
            program.instruction(*v).is_some_and(|i| {
                matches!(i.op, Op::Load | Op::AtomicRmw(_) | Op::CompareExchange)
                    || matches!(&i.op, Op::Call(_, base) if super::polynomial::id_of(base).is_none())
            })
        };
        let mine = self.summary.accesses.iter().filter(|a| a.region == Region::Argument(position));
        mine.flat_map(|a| [Some(a.pointer), a.number]).flatten().any(|v| self.summary.sources(v).iter().any(is_data))
    }

    /// Returns whether the kernel loads pointers from a buffer into which it stores none itself.
    fn loads_pointers_from(&self, arg: &Arg) -> bool {
        let ArgKind::Buffer { element: Some(element), .. } = &arg.kind else { return false };
        if !holds_pointers(element) {
            return false;
        }
        let program = self.summary.program;
        let is_mine = |v: u32| program.roots[v as usize].contains(&Region::Argument(arg.position));
        let is_pointer = |v: u32| program.shape(v).kind == Kind::Pointer;
        let reads = |i: &Instruction| matches!(i.op, Op::Load) && is_pointer(i.result) && is_mine(i.operands[0]);
        let writes = |i: &Instruction| matches!(i.op, Op::Store) && is_pointer(i.operands[0]) && is_mine(i.operands[1]);
        program.instructions().any(|(_, i)| reads(i)) && !program.instructions().any(|(_, i)| writes(i))
    }

    /// Builds the launch.
    ///
    /// # Errors
    /// `Caller` if an argument has a type that cannot be generated.
    pub fn launch(&self, plan: &LaunchPlan<'_>, fitted: &FittedPlan) -> Result<Launch> {
        let interface = &self.model.interface;
        let mut args = Vec::new();
        for (p, arg) in interface.args.iter().enumerate() {
            if self.loads_pointers_from(arg) {
                return Err(Error::caller(format!(
                    "the kernel reads pointers out of the buffer `{}` of `{}`, whose contents no launch of kassay's can give",
                    arg.label(),
                    interface.name
                ))
                .help("pass the pointers in a struct by value, or put indices in their place"));
            }
            let value = match &arg.kind {
                ArgKind::Value(_) => ArgValue::Value(assign::bytes(self.model, arg.position, &plan.scalars)),
                ArgKind::Buffer { .. } => {
                    ArgValue::Buffer(Arc::new(self.filling(p, plan, fitted.apart).bytes(0, fitted.sizes[p])))
                }
                ArgKind::Local { .. } => ArgValue::Local(fitted.sizes[p]),
                ArgKind::Image(kind) if *kind != ImageKind::Other => self.image(arg, *kind, plan, fitted),
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

    fn image(&self, arg: &Arg, kind: ImageKind, plan: &LaunchPlan<'_>, fitted: &FittedPlan) -> ArgValue {
        let reached = fitted.report.texels.get(&arg.position);
        let [width, height, depth] = self.sides(kind, plan, fitted.images, reached);
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
            held: Vec::new(),
            placed: Arc::default(),
        };
        let texels = filling.bytes(0, width * height * depth * 16);
        let format = ImageFormat { channel_order: "RGBA".to_owned(), channel_type: channel_type.to_owned() };
        ArgValue::Image { shape, format, texels: Arc::new(texels) }
    }

    /// Returns the channel type that matches the builtins which access an image.
    fn channel(&self, position: u32) -> (&'static str, Scalar) {
        let program = &self.model.program;
        let mine =
            |i: &&kassay_prove::program::Instruction| i.operands.first() == Some(&program.params[position as usize]);
        let mut accesses: HashMap<char, usize> = HashMap::new();
        for (_, instruction) in program.instructions() {
            if let (Op::Call(_, base), true) = (&instruction.op, mine(&instruction))
                && let Some(texel) = Builtin::of(base).and_then(Builtin::texel)
            {
                *accesses.entry(texel.chars().next().unwrap_or('f')).or_default() += 1;
            }
        }
        match accesses.into_iter().max_by_key(|(_, n)| *n).map(|(c, _)| c) {
            Some('u') => ("UNSIGNED_INT32", Scalar::U32),
            Some('i') => ("SIGNED_INT32", Scalar::I32),
            _ => ("FLOAT", Scalar::F32),
        }
    }
}

/// Returns whether values of the type contain pointers.
fn holds_pointers(ty: &Type) -> bool {
    match ty {
        Type::Opaque { name, .. } => name.ends_with('*'),
        Type::Array(element, _) => holds_pointers(element),
        Type::Struct(s) => s.fields.iter().any(|f| holds_pointers(&f.ty)),
        Type::Scalar(_) | Type::Vector(..) | Type::Pointer { .. } => false,
    }
}
