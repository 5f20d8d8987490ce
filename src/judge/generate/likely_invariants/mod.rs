//! Likely invariants: what the launches of a suite have in common, so that new launches can keep to it. `learn` finds
//! them, `restore` makes a launch keep them.
//!
//! Equations are triangular: each defines a quantity by quantities that no equation defines, or one before it, so that
//! one pass over them, in order, restores all.

mod learn;
mod quantity;
mod restore;

use kassay_model::interface::Scalar;
use kassay_results::result::generate::{CouplingKind, CouplingRow};
use kassay_suite::launch::{ArgValue, Launch};
use kassay_suite::scalar_layout::{self, Number};

use super::model::KernelModel;
pub use learn::learn;
pub use quantity::{Quantity, arg_name, scalar_name};

/// How a quantity follows from others.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Formula {
    /// It is always this number.
    Number(i128),
    /// `of + plus`.
    Plus {
        /// The quantity that it differs from.
        of: Quantity,
        /// By how much.
        plus: i128,
    },
    /// The product of the factors and `by`.
    Times {
        /// The factors that are quantities.
        factors: Vec<Quantity>,
        /// The factor that is a number.
        by: i128,
    },
    /// `of / by`, rounded up.
    Part {
        /// What is divided.
        of: Quantity,
        /// The divisor.
        by: i128,
    },
    /// The least multiple of a quantity that is not less than `of`.
    RoundedUp {
        /// The least that it may be.
        of: Quantity,
        /// The quantity that it is a multiple of.
        to: Quantity,
    },
    /// The same for a number.
    RoundedUpTo {
        /// The least that it may be.
        of: Quantity,
        /// The number that it is a multiple of.
        to: i128,
    },
}

impl Formula {
    /// Returns its value in a launch; `None` where the launch leaves a quantity open, and where it overflows.
    pub fn value(&self, launch: &Launch) -> Option<i128> {
        let rounded_up = |n: i128, to: i128| (to > 0).then(|| n.div_euclid(to) + i128::from(n.rem_euclid(to) > 0));
        match self {
            Formula::Number(n) => Some(*n),
            Formula::Plus { of, plus } => of.get(launch)?.checked_add(*plus),
            Formula::Times { factors, by } => factors.iter().try_fold(*by, |n, f| n.checked_mul(f.get(launch)?)),
            Formula::Part { of, by } => rounded_up(of.get(launch)?, *by),
            Formula::RoundedUp { of, to } => {
                let to = to.get(launch)?;
                rounded_up(of.get(launch)?, to)?.checked_mul(to)
            }
            Formula::RoundedUpTo { of, to } => rounded_up(of.get(launch)?, *to)?.checked_mul(*to),
        }
    }

    /// Returns the quantities that it reads.
    pub fn reads(&self) -> Vec<Quantity> {
        match self {
            Formula::Number(_) => Vec::new(),
            Formula::Plus { of, .. } | Formula::Part { of, .. } | Formula::RoundedUpTo { of, .. } => vec![*of],
            Formula::Times { factors, .. } => factors.clone(),
            Formula::RoundedUp { of, to } => vec![*of, *to],
        }
    }

    fn text(&self, model: &KernelModel) -> String {
        match self {
            Formula::Number(n) => n.to_string(),
            Formula::Plus { of, plus: 0 } => of.text(model),
            Formula::Plus { of, plus } if *plus < 0 => format!("{} - {}", of.text(model), -plus),
            Formula::Plus { of, plus } => format!("{} + {plus}", of.text(model)),
            Formula::Times { factors, by } => {
                let mut names: Vec<String> = factors.iter().map(|f| f.text(model)).collect();
                if *by != 1 {
                    names.insert(0, by.to_string());
                }
                names.join(" * ")
            }
            Formula::Part { of, by } => format!("ceil({} / {by})", of.text(model)),
            Formula::RoundedUp { of, to } => {
                format!("{}, rounded up to a multiple of {}", of.text(model), to.text(model))
            }
            Formula::RoundedUpTo { of, to } => format!("{}, rounded up to a multiple of {to}", of.text(model)),
        }
    }
}

/// Something that holds in launches.
#[derive(Debug, Clone, PartialEq)]
pub enum Rule {
    /// `target` follows from other quantities.
    Equation {
        /// What follows.
        target: Quantity,
        /// How.
        formula: Formula,
    },
    /// A number passed by value is always the same; `bytes` as in memory.
    Fixed {
        /// Position of the argument.
        arg: u32,
        /// In bytes within it.
        offset: u64,
        /// Its type.
        scalar: Scalar,
        /// As in memory.
        bytes: Vec<u8>,
    },
    /// A number passed by value is one of few.
    OneOf {
        /// The number.
        of: Quantity,
        /// All that occurred.
        values: Vec<i128>,
    },
    /// All work-groups of a launch have the same size.
    WholeGroups,
    /// The integers in a buffer are not negative, and less than a quantity, or equal to it if `inclusive`.
    Within {
        /// Position of the argument.
        arg: u32,
        /// The type of its elements.
        scalar: Scalar,
        /// What they are less than.
        below: Quantity,
        /// Whether they may be equal to that.
        inclusive: bool,
    },
    /// The integers in a buffer do not decrease.
    Rising {
        /// Position of the argument.
        arg: u32,
        /// The type of its elements.
        scalar: Scalar,
    },
    /// The first integer in a buffer is 0.
    FromZero {
        /// Position of the argument.
        arg: u32,
        /// The type of its elements.
        scalar: Scalar,
    },
    /// The last integer in a buffer is a quantity.
    UpTo {
        /// Position of the argument.
        arg: u32,
        /// The type of its elements.
        scalar: Scalar,
        /// What the last one is.
        last: Quantity,
    },
}

/// A rule with the evidence for it.
#[derive(Debug, Clone, PartialEq)]
pub struct LikelyInvariant {
    /// What seems to hold.
    pub rule: Rule,
    /// Nothing that it relates varies among the seeds, so that it may be an accident.
    pub is_guess: bool,
    /// Seeds that show it; others leave open what it is about.
    pub launches: u64,
}

/// What the launches of a suite have in common.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct LikelyInvariants {
    /// Equations first, each after those that define what it reads.
    pub all: Vec<LikelyInvariant>,
    /// Work-items that a launch made with them may have.
    pub max_items: u64,
    /// Whether all work-groups must have the same size because the kernel requires it.
    needs_whole_groups: bool,
}

impl LikelyInvariants {
    /// Returns the likely invariants that a launch breaks.
    pub fn broken(&self, launch: &Launch) -> Vec<&LikelyInvariant> {
        self.all.iter().filter(|invariant| !invariant.rule.holds(launch)).collect()
    }

    /// Returns whether a launch keeps all of them.
    pub fn hold(&self, launch: &Launch) -> bool {
        self.all.iter().all(|invariant| invariant.rule.holds(launch))
    }

    /// Returns those for which this holds, in the same order.
    pub fn only(&self, is_kept: impl Fn(&LikelyInvariant) -> bool) -> LikelyInvariants {
        let all = self.all.iter().filter(|invariant| is_kept(invariant)).cloned().collect();
        LikelyInvariants { all, ..*self }
    }

    /// Returns whether a number passed by value follows from others or never changes.
    pub fn settle(&self, position: u32, at: u64) -> bool {
        self.all.iter().any(|invariant| match &invariant.rule {
            Rule::Equation { target: Quantity::Scalar { arg, offset, .. }, .. } | Rule::Fixed { arg, offset, .. } => {
                (*arg, *offset) == (position, at)
            }
            _ => false,
        })
    }

    /// Returns them as rows of the result.
    pub fn rows(&self, model: &KernelModel) -> Vec<CouplingRow> {
        let row = |invariant: &LikelyInvariant| CouplingRow {
            kind: invariant.rule.kind(),
            sentence: invariant.rule.text(model),
            guess: invariant.is_guess,
            launches: invariant.launches,
        };
        self.all.iter().map(row).collect()
    }
}

impl Rule {
    /// Returns whether a launch keeps it. It does where it leaves open what the rule is about.
    pub fn holds(&self, launch: &Launch) -> bool {
        match self {
            Rule::Equation { target, formula } => {
                let is_open = formula.reads().iter().any(|q| q.get(launch).is_none());
                target.get(launch).is_none_or(|value| is_open || formula.value(launch) == Some(value))
            }
            Rule::Fixed { arg, offset, bytes, .. } => match launch.args.get(*arg as usize) {
                Some(ArgValue::Value(value)) => value.get(*offset as usize..).is_some_and(|at| at.starts_with(bytes)),
                _ => true,
            },
            Rule::OneOf { of, values } => of.get(launch).is_none_or(|value| values.contains(&value)),
            Rule::WholeGroups => launch.range.local.is_none() || launch.range.has_uniform_groups(),
            Rule::Within { arg, scalar, below, inclusive } => {
                let Some(below) = below.get(launch) else { return true };
                let most = below - i128::from(!inclusive);
                integers(launch, *arg, *scalar).all(|n| (0..=most).contains(&n))
            }
            Rule::Rising { arg, scalar } => integers(launch, *arg, *scalar).is_sorted(),
            Rule::FromZero { arg, scalar } => integers(launch, *arg, *scalar).next().is_none_or(|n| n == 0),
            Rule::UpTo { arg, scalar, last } => {
                let (Some(is), Some(wanted)) = (integers(launch, *arg, *scalar).last(), last.get(launch)) else {
                    return true;
                };
                is == wanted
            }
        }
    }

    fn kind(&self) -> CouplingKind {
        match self {
            Rule::Equation { formula: Formula::Number(_), .. } | Rule::Fixed { .. } => CouplingKind::Constant,
            Rule::Equation { .. } => CouplingKind::Size,
            Rule::OneOf { .. } => CouplingKind::Values,
            Rule::WholeGroups => CouplingKind::WholeGroups,
            Rule::Within { .. } | Rule::Rising { .. } | Rule::FromZero { .. } | Rule::UpTo { .. } => {
                CouplingKind::Contents
            }
        }
    }

    /// Returns it as a sentence without its full stop.
    pub fn text(&self, model: &KernelModel) -> String {
        let name = |arg: &u32| arg_name(&model.interface, *arg);
        match self {
            Rule::Equation { target: Quantity::Length { arg, .. }, formula } => {
                let (name, one) = (name(arg), matches!(formula, Formula::Number(1)));
                format!("{name} has {} element{}", formula.text(model), if one { "" } else { "s" })
            }
            Rule::Equation { target, formula } => format!("{} is {}", target.text(model), formula.text(model)),
            Rule::Fixed { arg, offset, scalar, bytes } => {
                format!("{} is {}", scalar_name(model, *arg, *offset), scalar_layout::text(*scalar, bytes))
            }
            Rule::OneOf { of, values } => {
                let values: Vec<String> = values.iter().map(i128::to_string).collect();
                format!("{} is one of {}", of.text(model), values.join(", "))
            }
            Rule::WholeGroups => "all work-groups have the same size".to_owned(),
            Rule::Within { arg, below, inclusive, .. } => {
                let than = if *inclusive { "at most" } else { "less than" };
                format!("the numbers in {} are at least 0 and {than} {}", name(arg), below.text(model))
            }
            Rule::Rising { arg, .. } => format!("the numbers in {} do not fall", name(arg)),
            Rule::FromZero { arg, .. } => format!("the first number in {} is 0", name(arg)),
            Rule::UpTo { arg, last, .. } => format!("the last number in {} is {}", name(arg), last.text(model)),
        }
    }
}

/// Returns the integers in a buffer that consists of nothing else; none of a null pointer.
pub(super) fn integers(launch: &Launch, arg: u32, scalar: Scalar) -> impl Iterator<Item = i128> + '_ {
    let size = scalar.size().max(1) as usize;
    let window = match launch.value(arg) {
        Some(ArgValue::Buffer(bytes)) => {
            let view = launch.view(arg);
            let from = usize::try_from(view.offset).unwrap_or(usize::MAX).min(bytes.len());
            let reach = usize::try_from(view.reach(bytes.len() as u64)).unwrap_or(0);
            bytes.get(from..from + reach).unwrap_or_default()
        }
        _ => &[],
    };
    window.chunks_exact(size).map(move |at| match scalar_layout::decode(scalar, at) {
        Number::Integer(n) => n,
        Number::Float(_) => 0,
    })
}
