//! Contents by their hash: `blobs/HASH`, so that equal contents are there once, from whatever process.

use std::cell::OnceCell;
use std::fs::File;
use std::hash::Hasher as _;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::Serialize;
use siphasher::sip128::{Hasher128 as _, SipHasher13};

use super::{config, counts, files};

/// A 128-bit hash (SipHash-1-3 with zero keys) in 32 hexadecimal digits.
pub type Id = String;

/// Contents in the spool.
#[derive(Debug, Clone, Serialize)]
pub struct Piece {
    pub blob: Id,
    pub bytes: u64,
}

/// Contents up to this many bytes stay in memory until they are put in place; larger ones go to a file at once.
const IN_MEMORY: usize = 8 << 20;

/// Contents that are not in place yet. They vanish when dropped.
pub struct Draft {
    bytes: u64,
    store: Store,
    /// Found out when it is first asked for: many drafts are dropped before.
    name: OnceCell<Id>,
}

enum Store {
    Memory(Vec<u8>),
    File { path: PathBuf, file: File, hasher: SipHasher13 },
}

/// Why contents are not in the spool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Refusal {
    /// `max_bytes` would be exceeded.
    Budget,
    /// The spool cannot be written.
    Unwritable,
}

impl From<io::Error> for Refusal {
    fn from(_: io::Error) -> Refusal {
        Refusal::Unwritable
    }
}

impl Draft {
    /// Begins contents of about `size` bytes.
    pub fn new(spool: &Path, size: usize) -> io::Result<Draft> {
        let store = if size <= IN_MEMORY {
            let mut memory = Vec::new();
            memory.try_reserve_exact(size).map_err(|_| io::ErrorKind::OutOfMemory)?;
            Store::Memory(memory)
        } else {
            let path = files::temporary(spool);
            Store::File { file: files::create(&path)?, path, hasher: SipHasher13::new() }
        };
        Ok(Draft { bytes: 0, store, name: OnceCell::new() })
    }

    /// Adds bytes at the end.
    pub fn write(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.bytes += bytes.len() as u64;
        self.name.take();
        match &mut self.store {
            Store::Memory(memory) => {
                memory.try_reserve(bytes.len()).map_err(|_| io::ErrorKind::OutOfMemory)?;
                memory.extend_from_slice(bytes);
                Ok(())
            }
            Store::File { file, hasher, .. } => {
                hasher.write(bytes);
                files::quietly(|| file.write_all(bytes))
            }
        }
    }

    /// The name and size that the contents will have.
    pub fn piece(&self) -> Piece {
        let name = || match &self.store {
            Store::Memory(memory) => name_of(memory),
            Store::File { hasher, .. } => name_of_hash(hasher),
        };
        Piece { blob: self.name.get_or_init(name).clone(), bytes: self.bytes }
    }

    /// Whether the same contents are in the spool.
    pub fn is_known(&self, spool: &Path) -> bool {
        path(spool, &self.piece().blob).exists()
    }

    /// Puts the contents in place.
    pub fn keep(self, spool: &Path) -> io::Result<Piece> {
        let piece = self.piece();
        let target = path(spool, &piece.blob);
        if !target.exists() {
            match &self.store {
                Store::Memory(memory) => files::write_whole(spool, &target, memory)?,
                Store::File { path, .. } => std::fs::rename(path, &target)?,
            }
        }
        Ok(piece)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if let Store::File { path, .. } = &self.store {
            // Gone already if the contents were put in place.
            let _ = std::fs::remove_file(path);
        }
    }
}

pub fn name_of(bytes: &[u8]) -> Id {
    let mut hasher = SipHasher13::new();
    hasher.write(bytes);
    name_of_hash(&hasher)
}

fn name_of_hash(hasher: &SipHasher13) -> Id {
    format!("{:032x}", hasher.finish128().as_u128())
}

fn path(spool: &Path, blob: &Id) -> PathBuf {
    spool.join("blobs").join(blob)
}

/// Puts code in place, outside of the budget. `None` if it cannot be written; the layer then knows its hash all the
/// same.
pub fn keep_code(bytes: &[u8]) -> Piece {
    let piece = Piece { blob: name_of(bytes), bytes: bytes.len() as u64 };
    if let Some(spool) = config::folder() {
        let target = path(spool, &piece.blob);
        if !target.exists() {
            let _ = files::write_whole(spool, &target, bytes);
        }
    }
    piece
}

/// Takes `bytes` of the budget that all processes share.
pub fn take(bytes: u64) -> Result<(), Refusal> {
    let most = config().max_bytes;
    let used = USED.fetch_add(bytes, Ordering::Relaxed);
    if used.saturating_add(bytes) > most {
        USED.fetch_sub(bytes, Ordering::Relaxed);
        return Err(Refusal::Budget);
    }
    Ok(())
}

/// Gives back what was not written.
pub fn give_back(bytes: u64) {
    USED.fetch_sub(bytes, Ordering::Relaxed);
}

/// What is left of the budget, in bytes.
pub fn left() -> u64 {
    config().max_bytes.saturating_sub(USED.load(Ordering::Relaxed))
}

/// Bytes of contents in the spool: a file that all processes map. If that fails, each counts its own.
static USED: LazyLock<&'static AtomicU64> = LazyLock::new(|| {
    let shared =
        config::folder().and_then(|spool| files::quietly(|| shared_counter(&spool.join("used-bytes.bin"))).ok());
    shared.unwrap_or_else(|| Box::leak(Box::new(AtomicU64::new(0))))
});

fn shared_counter(path: &Path) -> io::Result<&'static AtomicU64> {
    use std::os::unix::fs::OpenOptionsExt as _;
    let file =
        std::fs::OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(0o600).open(path)?;
    let mapped = counts::map_shared(&file, size_of::<AtomicU64>())?;
    // SAFETY: a mapping of a page, never unmapped, used atomically by all.
    Ok(unsafe { &*mapped.cast::<AtomicU64>() })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spool() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for part in ["tmp", "blobs"] {
            files::make_folder(&folder.path().join(part)).unwrap();
        }
        folder
    }

    #[test]
    fn equal_contents_are_there_once() {
        let spool = spool();
        let draft = |size: usize, parts: &[&[u8]]| {
            let mut draft = Draft::new(spool.path(), size).unwrap();
            parts.iter().for_each(|part| draft.write(part).unwrap());
            draft
        };
        let first = draft(4, &[b"ab", b"cd"]);
        assert!(!first.is_known(spool.path()));
        let first = first.keep(spool.path()).unwrap();
        let second = draft(IN_MEMORY + 1, &[b"abcd"]);
        assert!(second.is_known(spool.path()));
        assert_eq!(second.keep(spool.path()).unwrap().blob, first.blob);
        let other = draft(IN_MEMORY + 1, &[b"abce"]).keep(spool.path()).unwrap();
        assert_eq!(std::fs::read(path(spool.path(), &other.blob)).unwrap(), b"abce");
        drop(draft(IN_MEMORY + 1, &[b"never kept"]));
        assert_eq!(std::fs::read_dir(spool.path().join("blobs")).unwrap().count(), 2);
        assert_eq!(std::fs::read_dir(spool.path().join("tmp")).unwrap().count(), 0);
    }
}
