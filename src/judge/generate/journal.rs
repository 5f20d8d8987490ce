//! The journal that a search writes, so that another can resume from it: inputs that are kept, and goals that
//! are decided.

use std::fmt::Write as _;
use std::sync::Arc;

use kassay_base::error::{Error, Result};
use kassay_base::hash;
use kassay_results::result::generate::{By, Goal};
use kassay_suite::launch::{Addressing, ArgValue, Filter, ImageFormat, ImageShape, Launch, NdRange, View};
use kassay_suite::schedule::Schedule;
use serde::{Deserialize, Serialize};

use super::genotype::Genotype;
use super::search::{SearchStatistics, TestInput};
use crate::coverage::build::KernelUnderTest;

/// A line of the journal of `kassay generate`.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Entry {
    /// An input that was kept.
    Test(Box<TestEntry>),
    /// The final state of an outcome that was sought.
    Goal(Box<Goal>),
    /// Goal `mutants`: an input that kills mutants.
    Killer(Box<TestEntry>),
    /// Goal `mutants`: the result of the search for equivalent mutants.
    Classified(Box<crate::mutation::campaign::Entry>),
}

impl Entry {
    /// Returns whether it belongs to the search for inputs that kill mutants, as opposed to the search for covering
    /// inputs before it.
    pub fn is_of_mutants(&self) -> bool {
        matches!(self, Entry::Killer(_) | Entry::Classified(_))
    }
}

/// An input that was kept.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct TestEntry {
    /// The test's name in the suite.
    pub name: String,
    /// What found it.
    pub by: By,
    /// Seconds from the start until it was found.
    pub time_s: f64,
    /// What the search had tried by then.
    pub tried: SearchStatistics,
    pub(super) genotype: Option<Genotype>,
    launch: StoredLaunch,
    /// Assumptions under which it was made.
    pub preconditions: Vec<String>,
}

impl TestEntry {
    /// Returns the entry of an input that was found after `time_s` seconds.
    pub fn new(kept: &TestInput, tried: SearchStatistics, time_s: f64) -> TestEntry {
        TestEntry {
            name: kept.name.clone(),
            by: kept.by,
            time_s,
            tried,
            genotype: kept.genotype.clone(),
            launch: StoredLaunch::of(&kept.launch),
            preconditions: kept.preconditions.clone(),
        }
    }

    /// Returns the launch.
    ///
    /// # Errors
    /// `Caller` if the entry was altered and is no valid launch any more.
    pub fn launch(&self) -> Result<Launch> {
        self.launch.launch().ok_or_else(|| {
            Error::caller(format!("the journal's test `{}` has bytes that are no hexadecimal digits", self.name))
                .help("leave out --resume: the search then begins anew")
        })
    }
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct StoredLaunch {
    range: NdRange,
    args: Vec<StoredArg>,
    #[serde(default, skip_serializing_if = "Schedule::is_natural")]
    schedule: Schedule,
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    allows_faults: bool,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    margins: Vec<u64>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    views: Vec<View>,
}

/// An argument; bytes are hexadecimal.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum StoredArg {
    Value(String),
    Buffer(String),
    Same(u32),
    Local(u64),
    Image { shape: ImageShape, format: ImageFormat, texels: String },
    Sampler { addressing: Addressing, filter: Filter, normalized: bool },
}

impl StoredLaunch {
    fn of(launch: &Launch) -> StoredLaunch {
        let arg = |value: &ArgValue| match value {
            ArgValue::Value(bytes) => StoredArg::Value(digits(bytes)),
            ArgValue::Buffer(bytes) => StoredArg::Buffer(digits(bytes)),
            ArgValue::Same(other) => StoredArg::Same(*other),
            ArgValue::Local(bytes) => StoredArg::Local(*bytes),
            ArgValue::Image { shape, format, texels } => {
                StoredArg::Image { shape: shape.clone(), format: format.clone(), texels: digits(texels) }
            }
            ArgValue::Sampler { addressing, filter, normalized } => {
                StoredArg::Sampler { addressing: *addressing, filter: *filter, normalized: *normalized }
            }
        };
        StoredLaunch {
            range: launch.range.clone(),
            args: launch.args.iter().map(arg).collect(),
            schedule: launch.schedule.clone(),
            allows_faults: launch.allows_faults,
            margins: launch.margins.clone(),
            views: launch.views.clone(),
        }
    }

    fn launch(&self) -> Option<Launch> {
        let arg = |stored: &StoredArg| {
            Some(match stored {
                StoredArg::Value(digits) => ArgValue::Value(bytes(digits)?),
                StoredArg::Buffer(digits) => ArgValue::Buffer(Arc::new(bytes(digits)?)),
                StoredArg::Same(other) => ArgValue::Same(*other),
                StoredArg::Local(bytes) => ArgValue::Local(*bytes),
                StoredArg::Image { shape, format, texels } => {
                    ArgValue::Image { shape: shape.clone(), format: format.clone(), texels: Arc::new(bytes(texels)?) }
                }
                StoredArg::Sampler { addressing, filter, normalized } => {
                    ArgValue::Sampler { addressing: *addressing, filter: *filter, normalized: *normalized }
                }
            })
        };
        let args = self.args.iter().map(arg).collect::<Option<_>>()?;
        let (range, schedule) = (self.range.clone(), self.schedule.clone());
        let (margins, views) = (self.margins.clone(), self.views.clone());
        Some(Launch { range, args, schedule, allows_faults: self.allows_faults, margins, views })
    }
}

fn digits(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        let _ = write!(out, "{byte:02x}");
    }
    out
}

fn bytes(digits: &str) -> Option<Vec<u8>> {
    let digit = |c: u8| char::from(c).to_digit(16).and_then(|d| u8::try_from(d).ok());
    let pairs = digits.as_bytes().chunks(2);
    pairs.map(|pair| Some(digit(*pair.first()?)? << 4 | digit(*pair.get(1)?)?)).collect()
}

/// Returns a hash, in hexadecimal, of everything that goals and tests depend on: the code without debug information,
/// the ids and locations of the sites (so that line numbers count where they are visible), the interface file's text,
/// and `options`, which stands for all other options. Limits of the search are not included.
pub fn configuration(under_test: &KernelUnderTest<'_>, interface_file: &str, options: &str) -> String {
    let ids: Vec<&str> = under_test.sites.sites.iter().map(|s| s.id.as_str()).collect();
    let places = under_test.sites.sites.iter().map(|s| format!("{:?}", s.location));
    let parts = [
        env!("CARGO_PKG_VERSION").to_owned(),
        under_test.code_text(),
        ids.join("\n"),
        places.collect(),
        interface_file.to_owned(),
        options.to_owned(),
    ];
    hash::hex_digest(parts.join("\0").as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launches_survive_serialisation() {
        let range = NdRange { dims: 2, global: [8, 4, 1], local: Some([4, 2, 1]), offset: [1, 0, 0] };
        let format = ImageFormat { channel_order: "RGBA".into(), channel_type: "FLOAT".into() };
        let args = vec![
            ArgValue::Value(vec![0, 255, 16]),
            ArgValue::Buffer(Arc::new((0..=255).collect())),
            ArgValue::Local(64),
            ArgValue::Image { shape: ImageShape::D1 { width: 1 }, format, texels: Arc::new(vec![7; 16]) },
            ArgValue::Sampler { addressing: Addressing::Repeat, filter: Filter::Linear, normalized: true },
        ];
        let launch = Launch::new(range, args);
        let text = serde_json::to_string(&StoredLaunch::of(&launch)).unwrap();
        let back: StoredLaunch = serde_json::from_str(&text).unwrap();
        assert_eq!(back.launch(), Some(launch));
        assert_eq!(bytes("0"), None);
        assert_eq!(bytes("0g"), None);
    }

    #[test]
    fn numbers_of_genotypes_survive_serialisation() {
        use crate::generate::assign::Number;
        for number in [Number::Integer(i128::from(u64::MAX)), Number::Integer(-5), Number::Float(f64::INFINITY)] {
            let text = serde_json::to_string(&number).unwrap();
            assert_eq!(serde_json::from_str::<Number>(&text).unwrap(), number);
        }
    }
}
