//! Keeps results of earlier runs in a folder that processes share: bitcode, syntax trees, builtins, compiled code.
//!
//! An entry is a file named by a hash of everything that determines its content. It is written to a temporary file and
//! renamed, carries a checksum, and is evicted when the folder is full and the entry has not been used lately. No
//! function here fails: without a cache, everything is computed from scratch.
//! Not for what is worth caching nor for what determines it: the callers know that.

use std::fs::{self, File};
use std::hash::Hasher;
use std::io::{Read, Write};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, OnceLock};
use std::time::{Duration, SystemTime};

use crate::hash::StableHasher;

/// Capacity in bytes, all entries together, unless [`open`] is given another one.
pub const BOUND: u64 = 512 << 20;

/// The share of its capacity to which a full cache is reduced, so that it is not full again at once.
const FILL_AFTER_EVICTION: f64 = 0.8;

/// The first bytes of every entry; to be changed with the layout.
const MAGIC: &[u8; 8] = b"kassay\x00\x01";

/// Name prefix of files that are being written. One that is older than [`ABANDONED`] belongs to a process that died.
const UNFINISHED: &str = "unfinished.";
const ABANDONED: Duration = Duration::from_secs(3600);

/// The folder of the folders that [`folder`] makes. Hidden, so that a search for a kernel's text among the user's own
/// files does not find it there.
const FOLDERS: &str = ".files";
/// The folder for drivers.
const DRIVERS: &str = ".drivers";
/// A folder that was last asked for longer ago than this is not in use.
const UNUSED: Duration = Duration::from_secs(24 * 3600);
/// How far in the past files are dated: a compiler that reads them at once must not take them for just changed.
const AGED: Duration = Duration::from_secs(10);

#[derive(Debug)]
struct Cache {
    folder: PathBuf,
    bound: u64,
}

static CACHE: OnceLock<Cache> = OnceLock::new();
/// Bytes that this process has stored since it last checked the folder's size. The initial value makes the
/// first store check.
static STORED_SINCE_CHECK: AtomicU64 = AtomicU64::new(u64::MAX / 2);

/// Uses `folder` from now on, for entries of at most `bound` bytes together; the folder is created when the first entry
/// is stored. Until this is called, nothing is stored or found. Only the first call has an effect.
pub fn open(folder: PathBuf, bound: u64) {
    let _ = CACHE.set(Cache { folder, bound });
}

/// Returns whether [`open`] has been called: whether entries can be found or stored.
pub fn is_open() -> bool {
    CACHE.get().is_some()
}

/// Returns the folder and the capacity of the cache, if there is one.
pub fn in_use() -> Option<(&'static Path, u64)> {
    CACHE.get().map(|cache| (cache.folder.as_path(), cache.bound))
}

/// A hash of everything that determines an entry's content.
#[derive(Debug, Clone)]
pub struct Key([StableHasher; 2]);

/// Identifies this build of kassay: another one may produce other output for the same input.
static BUILD_ID: LazyLock<Vec<u8>> = LazyLock::new(|| {
    let mut text = env!("CARGO_PKG_VERSION").as_bytes().to_vec();
    if let Ok(program) = std::env::current_exe() {
        text.extend_from_slice(&stamp(&program));
    }
    text
});

/// Distinguishes states of a file without reading it: its length and modification time.
pub fn stamp(path: &Path) -> Vec<u8> {
    let Ok(metadata) = fs::metadata(path) else { return b"none".to_vec() };
    let changed = metadata.modified().ok().and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
    format!("{} {:?}", metadata.len(), changed).into_bytes()
}

impl Key {
    /// A key for one kind of content, as made by this build of kassay.
    pub fn new(kind: &str) -> Key {
        let mut key = Key([StableHasher::new(), StableHasher::new()]);
        // Two 64-bit hashes of different texts are as good as one of 128 bits.
        key.0[1].write_u8(1);
        key.with(kind.as_bytes()).with(&BUILD_ID)
    }

    #[must_use]
    /// Adds a part to what the key hashes; the boundaries between parts count.
    pub fn with(mut self, part: &[u8]) -> Key {
        for hasher in &mut self.0 {
            hasher.write_usize(part.len());
            hasher.write(part);
        }
        self
    }

    /// The hash value.
    pub fn digest(&self) -> u128 {
        u128::from(self.0[0].finish()) << 64 | u128::from(self.0[1].finish())
    }
}

/// The hash of a file's content, or 0 for a folder; `None` if there is neither.
pub fn content_hash(path: &Path) -> Option<u128> {
    let key = Key([StableHasher::new(), StableHasher::new()]);
    if path.is_dir() {
        return Some(0);
    }
    fs::read(path).ok().map(|bytes| key.with(&bytes).with(&[1]).digest())
}

/// The content stored under `key`. A damaged entry counts as missing.
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
    // The modification time records the last use: the least recently used entry is evicted first.
    let _ = file.set_modified(SystemTime::now());
    bytes.drain(..MAGIC.len() + 8);
    Some(bytes)
}

/// Stores `content` under `key` if possible; entries larger than a quarter of the capacity are not stored.
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
        if STORED_SINCE_CHECK.fetch_add(size, Ordering::Relaxed).saturating_add(size) > cache.bound / 16 {
            STORED_SINCE_CHECK.store(0, Ordering::Relaxed);
            cache.evict();
        }
    }
}

/// Returns a folder that holds these files, by relative path, under the same name in every run: what is compiled in it
/// is the same compilation. `None` if there is no cache, the folder cannot be made, or it has been changed.
pub fn folder(files: &[(PathBuf, &[u8])]) -> Option<PathBuf> {
    let cache = CACHE.get()?;
    let key = Key([StableHasher::new(), StableHasher::new()]).with(&[2]);
    let key = files.iter().fold(key, |key, (path, bytes)| key.with(path.as_os_str().as_encoded_bytes()).with(bytes));
    let all = std::path::absolute(cache.folder.join(FOLDERS)).ok()?;
    let path = all.join(format!("{:032x}", key.digest()));
    if !path.is_dir() {
        // What programs give to their drivers is not for other users to read.
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&all).ok()?;
        let new = tempfile::Builder::new().prefix(UNFINISHED).tempdir_in(&all).ok()?;
        files.iter().try_for_each(|(name, bytes)| place(&new.path().join(name), bytes)).ok()?;
        // Another process may have made the same one meanwhile.
        let made = fs::rename(new.path(), &path);
        made.is_ok().then(|| new.keep());
    }
    // The modification time records the last use.
    File::open(&path).and_then(|folder| folder.set_modified(SystemTime::now())).ok()?;
    let is_whole = files.iter().all(|(name, bytes)| fs::read(path.join(name)).is_ok_and(|found| found == *bytes));
    is_whole.then_some(path)
}

/// Returns a folder in which a driver may keep code that it has compiled, within bounds of its own; `None` if there is
/// no cache, or the folder cannot be made.
pub fn driver_folder() -> Option<PathBuf> {
    let folder = std::path::absolute(CACHE.get()?.folder.join(DRIVERS)).ok()?;
    fs::DirBuilder::new().recursive(true).mode(0o700).create(&folder).ok()?;
    Some(folder)
}

/// Writes a file that a compiler is to read, and the folders that it lies in. It is dated back, because the compilation
/// of a file that may still change is not kept.
///
/// # Errors
/// If it cannot be written.
pub fn place(path: &Path, bytes: &[u8]) -> std::io::Result<()> {
    fs::create_dir_all(path.parent().unwrap_or(Path::new(".")))?;
    let mut file = File::create(path)?;
    file.write_all(bytes)?;
    file.set_modified(SystemTime::now().checked_sub(AGED).unwrap_or(SystemTime::UNIX_EPOCH))
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

    /// Evicts the least recently used entries if the cache is over its capacity, and removes what dead
    /// processes left behind.
    fn evict(&self) {
        let Ok(files) = fs::read_dir(&self.folder) else { return };
        let folders = fs::read_dir(self.folder.join(FOLDERS)).into_iter().flatten();
        let mut entries = Vec::new();
        let mut total = 0;
        for file in files.chain(folders).flatten() {
            let Ok(metadata) = file.metadata() else { continue };
            let used = metadata.modified().unwrap_or(SystemTime::UNIX_EPOCH);
            let is_older = |than: Duration| used.elapsed().is_ok_and(|age| age > than);
            let name = file.file_name();
            let name = name.to_string_lossy();
            if metadata.is_dir() {
                let longest = if name.starts_with(UNFINISHED) { ABANDONED } else { UNUSED };
                if name != FOLDERS && name != DRIVERS && is_older(longest) {
                    let _ = fs::remove_dir_all(file.path());
                }
            } else if name.starts_with(UNFINISHED) {
                if is_older(ABANDONED) {
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
        let remaining = (self.bound as f64 * FILL_AFTER_EVICTION) as u64;
        for (_, len, path) in entries {
            if total <= remaining {
                break;
            }
            let _ = fs::remove_file(path);
            total -= len;
        }
    }
}
