//! What earlier runs made, kept in a folder that processes share: bitcode, syntax trees, builtins, code.
//!
//! An entry is a file named by a hash of all that decides its content. It is written beside and renamed, carries a checksum, and goes
//! when the folder is full and nothing asked for it lately. Nothing here ever fails: without a cache all is made anew.
//! Not for what is worth keeping, nor for what decides it: who keeps says that.

use std::fs::{self, File};
use std::hash::Hasher;
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, OnceLock};
use std::time::{Duration, SystemTime};

use crate::hash::StableHasher;

/// Bytes that the entries may have together, unless [`open`] is told otherwise.
pub const BOUND: u64 = 512 << 20;

/// A folder that is full is emptied to this share, so that it is not full again at once.
const KEPT: f64 = 0.8;

/// Entries begin with this; another layout gets another one.
const MAGIC: &[u8; 8] = b"kassay\x00\x01";

/// Files that are being written begin with this; one that is older than [`ABANDONED`] belongs to a process that died.
const UNFINISHED: &str = "unfinished.";
const ABANDONED: Duration = Duration::from_secs(3600);

#[derive(Debug)]
struct Cache {
    folder: PathBuf,
    bound: u64,
}

static CACHE: OnceLock<Cache> = OnceLock::new();
/// What this process kept since it last looked whether the folder is full; at first it always looks.
static WRITTEN: AtomicU64 = AtomicU64::new(u64::MAX / 2);

/// Uses `folder` from now on, for entries of `bound` bytes together; it is made when the first entry is kept. Until then, nothing
/// is kept or found. Only the first call counts.
pub fn open(folder: PathBuf, bound: u64) {
    let _ = CACHE.set(Cache { folder, bound });
}

/// Whether anything can be found or kept.
pub fn is_open() -> bool {
    CACHE.get().is_some()
}

/// All that decides an entry's content, hashed.
#[derive(Debug, Clone)]
pub struct Key([StableHasher; 2]);

/// Which kassay this is: another build may make something else of the same.
static SELF: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut text = env!("CARGO_PKG_VERSION").as_bytes().to_vec();
    if let Ok(program) = std::env::current_exe() {
        text.extend_from_slice(&stamp(&program));
    }
    text
});

/// What tells one state of a file from another without reading it: its length and when it changed.
pub fn stamp(path: &Path) -> Vec<u8> {
    let Ok(metadata) = fs::metadata(path) else { return b"none".to_vec() };
    let changed = metadata.modified().ok().and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
    format!("{} {:?}", metadata.len(), changed).into_bytes()
}

impl Key {
    /// For one kind of content, of this kassay.
    pub fn new(kind: &str) -> Key {
        let mut key = Key([StableHasher::new(), StableHasher::new()]);
        // Two hashes of 64 bits over different texts are as good as one of 128.
        key.0[1].write_u8(1);
        key.with(kind.as_bytes()).with(&SELF)
    }

    #[must_use]
    pub fn with(mut self, part: &[u8]) -> Key {
        for hasher in &mut self.0 {
            hasher.write_usize(part.len());
            hasher.write(part);
        }
        self
    }

    /// The hash itself.
    pub fn digest(&self) -> u128 {
        u128::from(self.0[0].finish()) << 64 | u128::from(self.0[1].finish())
    }
}

/// The hash of a file's content, of a folder's name; `None` if there is neither.
pub fn content(path: &Path) -> Option<u128> {
    let key = Key([StableHasher::new(), StableHasher::new()]);
    if path.is_dir() {
        return Some(0);
    }
    fs::read(path).ok().map(|bytes| key.with(&bytes).with(&[1]).digest())
}

/// What was kept under `key`; what is damaged is as good as not there.
pub fn find(key: &Key) -> Option<Vec<u8>> {
    let cache = CACHE.get()?;
    let mut file = File::open(cache.path(key)).ok()?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes).ok()?;
    let (head, rest) = bytes.split_first_chunk::<{ MAGIC.len() }>()?;
    let (sum, content) = rest.split_first_chunk::<8>()?;
    if head != MAGIC || u64::from_le_bytes(*sum) != checksum(content) {
        return None;
    }
    // The time of change is that of the last use: what was used longest ago goes first.
    let _ = file.set_modified(SystemTime::now());
    bytes.drain(..MAGIC.len() + 8);
    Some(bytes)
}

/// Keeps `content` for later, if that can be done.
pub fn keep(key: &Key, content: &[u8]) {
    let Some(cache) = CACHE.get() else { return };
    if content.len() as u64 > cache.bound / 4 {
        return;
    }
    let write = || -> std::io::Result<()> {
        fs::create_dir_all(&cache.folder)?;
        let mut file = tempfile::Builder::new().prefix(UNFINISHED).tempfile_in(&cache.folder)?;
        file.write_all(MAGIC)?;
        file.write_all(&checksum(content).to_le_bytes())?;
        file.write_all(content)?;
        file.persist(cache.path(key)).map_err(|error| error.error)?;
        Ok(())
    };
    if write().is_ok() {
        let size = content.len() as u64;
        if WRITTEN.fetch_add(size, Ordering::Relaxed).saturating_add(size) > cache.bound / 16 {
            WRITTEN.store(0, Ordering::Relaxed);
            cache.make_room();
        }
    }
}

fn checksum(content: &[u8]) -> u64 {
    let mut hasher = StableHasher::new();
    hasher.write(content);
    hasher.finish()
}

impl Cache {
    fn path(&self, key: &Key) -> PathBuf {
        self.folder.join(format!("{:032x}", key.digest()))
    }

    /// Removes what was used longest ago if there is too much, and what dead processes left.
    fn make_room(&self) {
        let Ok(files) = fs::read_dir(&self.folder) else { return };
        let mut entries = Vec::new();
        let mut total = 0;
        for file in files.flatten() {
            let Ok(metadata) = file.metadata() else { continue };
            let used = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            let name = file.file_name();
            let name = name.to_string_lossy();
            if name.starts_with(UNFINISHED) {
                if used.elapsed().is_ok_and(|age| age > ABANDONED) {
                    let _ = fs::remove_file(file.path());
                }
            } else if name.len() == 32 && name.bytes().all(|byte| byte.is_ascii_hexdigit()) {
                total += metadata.len();
                entries.push((used, metadata.len(), file.path()));
            }
        }
        if total <= self.bound {
            return;
        }
        entries.sort();
        let kept = (self.bound as f64 * KEPT) as u64;
        for (_, len, path) in entries {
            if total <= kept {
                break;
            }
            let _ = fs::remove_file(path);
            total -= len;
        }
    }
}
