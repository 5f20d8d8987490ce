//! Caches compilations: clang's output for a source file, valid as long as every file that clang looked
//! for is unchanged.

use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use kassay_base::cache::{self, Key};
use kassay_base::external_tools::CLANG;

use super::bytes::{Reader, Writer};
use super::clang::{Outcome, Run};

/// The cache entry of one compilation.
pub(super) struct CacheEntry {
    key: Key,
    started: SystemTime,
}

impl CacheEntry {
    /// The entry for a source file with that content, compiled with clang's `arguments`, which must not name temporary
    /// files (the overlay is left out of them). `None` if there is no cache.
    pub fn new(source: &Path, content: &[u8], arguments: &[std::ffi::OsString]) -> Option<CacheEntry> {
        if !cache::is_open() {
            return None;
        }
        let folder = std::env::current_dir().ok()?;
        let program = CLANG.find().ok()?;
        let mut key = Key::new("compiled").with(source.as_os_str().as_encoded_bytes()).with(content);
        key = key.with(folder.as_os_str().as_encoded_bytes());
        key = key.with(program.as_os_str().as_encoded_bytes()).with(&cache::stamp(&program));
        for argument in arguments {
            key = key.with(argument.as_encoded_bytes());
        }
        // Variables that clang's driver reads.
        for variable in ["CPATH", "C_INCLUDE_PATH", "OPENCL_INCLUDE_PATH", "CCC_OVERRIDE_OPTIONS", "SOURCE_DATE_EPOCH"]
        {
            let value = std::env::var_os(variable).unwrap_or_default();
            key = key.with(value.as_encoded_bytes());
        }
        Some(CacheEntry { key, started: SystemTime::now().checked_sub(MAX_MTIME_LAG)? })
    }

    /// The cached compilation, if nothing has changed since.
    pub fn find(&self) -> Option<Run> {
        let bytes = cache::find(&self.key)?;
        let mut reader = Reader::new(&bytes);
        let mut file_lookups = Vec::new();
        for _ in 0..reader.count()? {
            let path = PathBuf::from(std::ffi::OsStr::new(std::str::from_utf8(reader.block()?).ok()?));
            let expected: u128 = u128::from_le_bytes(*reader.block()?.first_chunk()?);
            let found = expected != ABSENT;
            if cache::content_hash(&path).unwrap_or(ABSENT) != expected {
                return None;
            }
            file_lookups.push((path, found));
        }
        let diagnostics = String::from_utf8(reader.block()?.to_vec()).ok()?;
        let (bitcode, records) = (reader.block()?.to_vec(), reader.block()?.to_vec());
        reader.is_done().then_some(Run {
            outcome: Outcome::Compiled,
            diagnostics,
            bitcode,
            records,
            file_lookups,
            escapes: Vec::new(),
        })
    }

    /// Stores `run`, unless one of its files was modified while clang ran. `originals` are the files of which clang
    /// read temporary copies under `copies`.
    pub fn store(&self, run: &Run, copies: &[&Path], originals: &[PathBuf]) {
        let file_lookups =
            run.file_lookups.iter().filter(|(path, _)| !copies.iter().any(|folder| path.starts_with(folder)));
        let file_lookups: Vec<&PathBuf> = file_lookups.map(|(path, _)| path).chain(originals).collect();
        let mut writer = Writer::default();
        writer.number(file_lookups.len() as u64);
        for path in file_lookups {
            let changed = path.metadata().and_then(|metadata| metadata.modified());
            if path.is_file() && changed.is_ok_and(|changed| changed >= self.started) {
                return;
            }
            let Some(text) = path.to_str() else { return };
            writer.block(text.as_bytes());
            writer.block(&cache::content_hash(path).unwrap_or(ABSENT).to_le_bytes());
        }
        writer.block(run.diagnostics.as_bytes());
        writer.block(&run.bitcode);
        writer.block(&run.records);
        cache::keep(&self.key, &writer.bytes);
    }
}

/// How far a file's modification time may lag behind the clock.
const MAX_MTIME_LAG: Duration = Duration::from_millis(10);

/// Stored in place of a content hash: there is no such file.
const ABSENT: u128 = u128::MAX;
