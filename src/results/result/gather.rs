//! Gathers results of one command into the result of a set, whatever their number: first it reads what each is of, then
//! one kernel after the other is read, merged if it has shards, and written.
//!
//! Not for shards of one kernel ([`merge`](super::merge)), of which all are in memory.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use kassay_base::error::{Error, Result};
use serde::de::DeserializeOwned;
use serde::ser::Serializer;
use serde::{Deserialize, Serialize};

use super::set::{Failed, Fault, InSet, KernelResult, LeftOut};
use super::store;
use super::{Device, Header};

/// Writes the set of what an index has, none of it sharded, whatever the command.
macro_rules! write_any {
    ($($(#[$about:meta])* $variant:ident $field:ident $result:ident,)*) => {
        $(use super::$field::$result;)*

        impl Index {
            /// Writes the result of the set, as [`Index::write`] does, of a command whose results are not sharded.
            /// `None` if the command has no result for each kernel.
            pub fn write_whole(&self, given: &str, output: &Path) -> Option<Result<Vec<Failed>>> {
                match self.schema.as_str() {
                    $($result::SCHEMA => Some(self.write(given, output, whole::<$result>)),)*
                    _ => None,
                }
            }
        }
    };
}
kernel_commands!(write_any);

/// What is read of each result beforehand.
#[derive(Deserialize)]
struct Head {
    schema: String,
    #[serde(default)]
    kernel: String,
    #[serde(default)]
    source: String,
    #[serde(default)]
    device: Option<Device>,
    #[serde(default)]
    seed: u64,
    #[serde(default)]
    elapsed_s: f64,
    /// Results of `mutate` have one, which all shards of a run share.
    #[serde(default)]
    configuration: Option<String>,
    #[serde(default)]
    shard: Option<String>,
}

/// What there is to gather.
#[derive(Debug)]
pub struct Index {
    /// The schema of all results.
    pub schema: String,
    kernels: Vec<Entry>,
    /// The device, if all have the same.
    device: Option<Device>,
    seeds: BTreeSet<u64>,
    elapsed_s: f64,
}

/// A kernel, and the files with its result: several if they are shards.
#[derive(Debug)]
struct Entry {
    kernel: String,
    is_sharded: bool,
    results: Vec<PathBuf>,
}

impl Index {
    /// Reads of what the results are.
    ///
    /// # Errors
    /// `Caller` if there is none, a file is no result of a single kernel, results are of different commands, or two are
    /// of the same run and no shards of it; `Environment` if a file cannot be read.
    pub fn of(results: &[PathBuf]) -> Result<Index> {
        let Some(first) = results.first() else {
            return Err(Error::caller("there is no result to gather").help("name results, or folders with results"));
        };
        let (mut index, mut devices) = (None, Vec::new());
        let mut runs: HashMap<[String; 3], usize> = HashMap::new();
        for path in results {
            let head: Head = store::read_as(path)?;
            let index = index.get_or_insert_with(|| Index {
                schema: head.schema.clone(),
                kernels: Vec::new(),
                device: None,
                seeds: BTreeSet::new(),
                elapsed_s: 0.0,
            });
            if head.schema != index.schema {
                let (a, b) = (first.display(), path.display());
                let what = format!("{a} is a `{}` result, and {b} a `{}` result", index.schema, head.schema);
                return Err(Error::caller(what).help("gather results of one command"));
            }
            index.elapsed_s += head.elapsed_s;
            index.seeds.insert(head.seed);
            if !devices.contains(&head.device) {
                devices.push(head.device.clone());
            }
            let is_sharded = head.shard.is_some();
            let entry = Entry { kernel: head.kernel.clone(), is_sharded, results: vec![path.clone()] };
            let Some(configuration) = head.configuration else {
                index.kernels.push(entry);
                continue;
            };
            match runs.get(&[head.kernel.clone(), head.source.clone(), configuration.clone()]) {
                None => {
                    runs.insert([head.kernel, head.source, configuration], index.kernels.len());
                    index.kernels.push(entry);
                }
                Some(known) => index.kernels[*known].join(entry)?,
            }
        }
        let mut index = index.ok_or_else(|| Error::internal("no result was read"))?;
        index.device = if devices.len() == 1 { devices.remove(0) } else { None };
        Ok(index)
    }

    /// Writes the result of the set. `given` is what the caller named; `load` returns the result of one kernel, given
    /// its files. Returns what has none: a kernel
    /// whose shards are not all there, or whose files are no results, takes no other with it.
    ///
    /// # Errors
    /// As [`store::write_in_pieces`].
    pub fn write<R: InSet + Serialize>(
        &self,
        given: &str,
        output: &Path,
        load: impl Fn(&[PathBuf]) -> Result<R>,
    ) -> Result<Vec<Failed>>
    where
        R::Total: Serialize,
    {
        let names: Vec<&str> = self.kernels.iter().map(|entry| entry.kernel.as_str()).collect();
        let seed = self.seeds.first().copied().unwrap_or_default();
        let notes = match self.seeds.len() {
            0 | 1 => Vec::new(),
            n => vec![format!("the results have {n} different seeds: `seed` is the smallest")],
        };
        let header = Header::new(R::SET_SCHEMA, names.join(", "), given.to_owned(), self.device.clone(), seed);
        let (sum, failed) = (RefCell::new(R::Sum::default()), RefCell::new(Vec::new()));
        let kernels = || {
            self.kernels.iter().filter_map(|entry| match load(&entry.results) {
                Ok(result) => {
                    result.add_to(&mut sum.borrow_mut());
                    Some(KernelResult::of_suite(result, None))
                }
                Err(error) => {
                    failed.borrow_mut().push(entry.failure(&error));
                    None
                }
            })
        };
        let total = || {
            let mut total = R::total_of(&sum.borrow());
            if !failed.borrow().is_empty() {
                R::count_missing(&mut total);
            }
            total
        };
        let set = Set {
            header,
            elapsed_s: self.elapsed_s,
            kernels: Sequence(kernels),
            total: Later(total),
            failed: Later(|| failed.borrow().clone()),
            left_out: Vec::new(),
            notes,
        };
        store::write_in_pieces(&set, output)?;
        Ok(failed.into_inner())
    }
}

impl Entry {
    /// Takes up another result of the same run.
    fn join(&mut self, other: Entry) -> Result<()> {
        if !self.is_sharded || !other.is_sharded {
            let shown =
                |entry: &Entry| entry.results.first().map(|path| path.display().to_string()).unwrap_or_default();
            let what = format!("{} and {} are results of the same run", shown(self), shown(&other));
            return Err(Error::caller(what).help("name all its shards, or the whole, once"));
        }
        self.results.extend(other.results);
        Ok(())
    }

    fn failure(&self, error: &Error) -> Failed {
        let kernel = Some(self.kernel.clone());
        Failed { kernel, suite: None, program: None, error: error.to_string(), fault: Some(Fault::of(error)) }
    }
}

/// Reads the result of a kernel that has no shards.
///
/// # Errors
/// As [`store::read`].
pub fn whole<R: DeserializeOwned>(results: &[PathBuf]) -> Result<R> {
    match results {
        [path] => store::read_as(path),
        _ => Err(Error::internal("several results of a command without shards")),
    }
}

/// The keys of [`SetResult`](super::set::SetResult), with values that are made when they are written, in this order.
#[derive(Serialize)]
struct Set<K: Serialize, T: Serialize, F: Serialize> {
    #[serde(flatten)]
    header: Header,
    elapsed_s: f64,
    kernels: K,
    total: T,
    failed: F,
    left_out: Vec<LeftOut>,
    notes: Vec<String>,
}

/// A list whose items are made when they are written.
struct Sequence<F>(F);

impl<I: Iterator<Item: Serialize>, F: Fn() -> I> Serialize for Sequence<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        serializer.collect_seq((self.0)())
    }
}

/// A value that is made when it is written.
struct Later<F>(F);

impl<T: Serialize, F: Fn() -> T> Serialize for Later<F> {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        (self.0)().serialize(serializer)
    }
}
