//! What the launches of a suite have in common, whatever buffers and images contain: sizes and offsets of the NDRange,
//! arguments by value, sizes of images, which buffers are null or the same.

use kassay_prove::solve::launch_query::{KnownLaunch, QueryRange};
use kassay_suite::launch::{ArgValue, ImageShape, Launch, NdRange};
use kassay_suite::resolve::Test;

/// Most launches that differ in what is known here and are told apart; what more of them have in common is one fact.
const MOST_LAUNCHES: usize = 24;

/// Numbers from the first to the second, both included.
pub type Span = (u64, u64);

/// What is known of an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ArgFact {
    /// It has this value.
    Value(Vec<u8>),
    /// A value of this many bytes that is, as an unsigned little-endian number, in the span.
    Span(usize, Span),
    /// A null pointer.
    Null,
    /// The pointer that the argument at this position is.
    Same(u32),
    /// An image of this shape.
    Image(ImageShape),
    Unknown,
}

/// What is known of a launch, or of several.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LaunchFacts {
    /// What builtins that ask for ids and sizes return, by dimension; those without one have the same in each.
    queries: Vec<(&'static str, [Span; 3])>,
    /// By position.
    args: Vec<ArgFact>,
    /// The NDRange, if it is one.
    range: Option<NdRange>,
}

impl LaunchFacts {
    /// What the launches of these tests have in common: one for each that differs, or one for all if these are many.
    pub fn of(tests: &[Test]) -> Vec<LaunchFacts> {
        let mut all: Vec<LaunchFacts> = Vec::new();
        for test in tests {
            let facts = LaunchFacts::of_launch(&test.launch);
            if !all.contains(&facts) {
                all.push(facts);
            }
        }
        if all.len() <= MOST_LAUNCHES {
            return all;
        }
        all.into_iter().reduce(|all, one| all.joined(&one)).into_iter().collect()
    }

    fn of_launch(launch: &Launch) -> LaunchFacts {
        let range = &launch.range;
        let by = |of: &dyn Fn(usize) -> Span| [0, 1, 2].map(of);
        // The last groups may be smaller. Without a size of groups, any that fits is possible.
        let group = |d: usize| range.local.map(|local| local[d].clamp(1, range.global[d].max(1)));
        let rest = |d: usize| {
            group(d).map_or(1, |size| match range.global[d] % size {
                0 => size,
                rest => rest,
            })
        };
        let size = |d: usize| group(d).unwrap_or(range.global[d]);
        let groups = |d: usize| range.local.map_or(range.global[d], |local| range.global[d].div_ceil(local[d].max(1)));
        let fewest = |d: usize| if range.local.is_some() { groups(d) } else { 1 };
        let all = |n: [u64; 3]| n.into_iter().fold(1u64, u64::saturating_mul).max(1);
        let exact = |n: u64| (n, n);
        let enqueued = |d: usize| match range.local {
            Some(local) => exact(local[d]),
            None => (1, range.global[d]),
        };
        let queries = vec![
            ("get_work_dim", by(&|_| exact(u64::from(range.dims)))),
            ("get_global_size", by(&|d| exact(range.global[d]))),
            ("get_global_offset", by(&|d| exact(range.offset[d]))),
            ("get_global_id", by(&|d| (range.offset[d], range.offset[d].saturating_add(range.global[d].max(1) - 1)))),
            ("get_global_linear_id", by(&|_| (0, all(range.global) - 1))),
            ("get_local_size", by(&|d| (rest(d), size(d)))),
            ("get_enqueued_local_size", by(&enqueued)),
            ("get_local_id", by(&|d| (0, size(d).max(1) - 1))),
            ("get_local_linear_id", by(&|_| (0, all([0, 1, 2].map(size)) - 1))),
            ("get_num_groups", by(&|d| (fewest(d), groups(d)))),
            ("get_group_id", by(&|d| (0, groups(d).max(1) - 1))),
        ];
        let pointer = |position: u32| launch.view(position).offset;
        let arg = |(position, value): (u32, &ArgValue)| match value {
            ArgValue::Value(bytes) => ArgFact::Value(bytes.clone()),
            ArgValue::Buffer(bytes) if bytes.is_empty() => ArgFact::Null,
            ArgValue::Same(other) if pointer(*other) == pointer(position) => ArgFact::Same(*other),
            ArgValue::Image { shape, .. } => ArgFact::Image(shape.clone()),
            ArgValue::Buffer(_) | ArgValue::Same(_) | ArgValue::Local(_) | ArgValue::Sampler { .. } => ArgFact::Unknown,
        };
        LaunchFacts { queries, args: (0..).zip(&launch.args).map(arg).collect(), range: Some(range.clone()) }
    }

    /// What two have in common.
    fn joined(self, other: &LaunchFacts) -> LaunchFacts {
        let hull = |a: Span, b: Span| (a.0.min(b.0), a.1.max(b.1));
        let queries = self.queries.into_iter().zip(&other.queries);
        let args = self.args.into_iter().zip(&other.args);
        LaunchFacts {
            queries: queries.map(|((name, a), (_, b))| (name, [0, 1, 2].map(|d| hull(a[d], b[d])))).collect(),
            args: args.map(|(a, b)| a.joined(b)).collect(),
            range: self.range.filter(|range| other.range.as_ref() == Some(range)),
        }
    }

    /// Returns what a builtin returns for a dimension; `None`: it does not ask for ids or sizes.
    pub fn query(&self, builtin: &str, dimension: u64) -> Option<Span> {
        let (name, spans) = self.queries.iter().find(|(name, _)| *name == builtin)?;
        match usize::try_from(dimension).ok().and_then(|d| spans.get(d)) {
            Some(span) => Some(*span),
            // Beyond the dimensions, sizes are 1 and ids are 0 (OpenCL C, 6.12.1).
            None if ["get_global_size", "get_local_size", "get_enqueued_local_size", "get_num_groups"]
                .contains(name) =>
            {
                Some((1, 1))
            }
            None => Some((0, 0)),
        }
    }

    /// The same for the solver; sizes that are known are constants already.
    pub fn known(&self) -> KnownLaunch {
        let of = |(name, spans): &(&'static str, [Span; 3])| {
            let name = *name;
            let open = spans.iter().zip(0..).filter(|(span, _)| span.0 < span.1);
            let range =
                move |((low, high), dimension): (&Span, u64)| QueryRange { name, dimension, low: *low, high: *high };
            open.map(range).collect::<Vec<_>>()
        };
        let groups = self.range.iter().flat_map(|range| {
            let of = |d: usize| Some((d as u64, range.local?[d], range.offset[d]));
            (0..3).filter(|d| range.global[*d] > 1).filter_map(of)
        });
        KnownLaunch { ranges: self.queries.iter().flat_map(of).collect(), groups: groups.collect() }
    }

    /// Returns whether every work-group is one work-item.
    pub fn has_single_items(&self) -> bool {
        (0..3).all(|d| self.query("get_local_size", d) == Some((1, 1)))
    }

    /// Returns whether local and global ids are the same in a dimension.
    pub fn has_single_group(&self, dimension: u64) -> bool {
        self.query("get_num_groups", dimension) == Some((1, 1))
            && self.query("get_global_offset", dimension) == Some((0, 0))
    }

    /// The NDRange, if it is one.
    pub fn range(&self) -> Option<&NdRange> {
        self.range.as_ref()
    }

    /// Forgets what other builtins than these return.
    pub fn keep(&mut self, builtins: &[&str]) {
        self.queries.retain(|(name, _)| builtins.contains(name));
    }

    /// Sets what a builtin returns for a dimension.
    pub fn set(&mut self, builtin: &str, dimension: usize, span: Span) {
        for (_, spans) in self.queries.iter_mut().filter(|(name, _)| *name == builtin) {
            spans[dimension] = span;
        }
    }

    /// By position.
    pub fn args(&self) -> &[ArgFact] {
        &self.args
    }
}

impl ArgFact {
    fn joined(self, other: &ArgFact) -> ArgFact {
        if self == *other {
            return self;
        }
        match (self.span(), other.span()) {
            (Some((bytes, a)), Some((others, b))) if bytes == others => {
                ArgFact::Span(bytes, (a.0.min(b.0), a.1.max(b.1)))
            }
            _ => ArgFact::Unknown,
        }
    }

    /// Returns the size in bytes and the span of a value of 1, 2, 4 or 8 bytes.
    fn span(&self) -> Option<(usize, Span)> {
        match self {
            ArgFact::Value(bytes) if [1, 2, 4, 8].contains(&bytes.len()) => {
                let number = bytes.iter().rev().fold(0, |all, byte| all << 8 | u64::from(*byte));
                Some((bytes.len(), (number, number)))
            }
            ArgFact::Span(bytes, span) => Some((*bytes, *span)),
            _ => None,
        }
    }
}
