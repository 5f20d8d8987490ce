//! Files of the spool: private, whole or absent, and written so that no signal reaches the program.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{SystemTime, UNIX_EPOCH};

use serde::Serialize;

/// Keeps `SIGXFSZ`, which a write beyond `ulimit -f` raises and which ends a process, from this thread until dropped.
struct Quiet {
    before: libc::sigset_t,
}

impl Quiet {
    fn new() -> Quiet {
        // SAFETY: the sets are initialised before they are used; the calls concern this thread alone.
        unsafe {
            let (mut set, mut before) = (std::mem::zeroed(), std::mem::zeroed());
            libc::sigemptyset(&mut set);
            libc::sigaddset(&mut set, libc::SIGXFSZ);
            libc::pthread_sigmask(libc::SIG_BLOCK, &set, &mut before);
            Quiet { before }
        }
    }
}

impl Drop for Quiet {
    fn drop(&mut self) {
        // SAFETY: as above. A signal that was pending before is the program's own doing and stays.
        unsafe {
            if libc::sigismember(&self.before, libc::SIGXFSZ) == 0 {
                let mut set = std::mem::zeroed();
                libc::sigemptyset(&mut set);
                libc::sigaddset(&mut set, libc::SIGXFSZ);
                let now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
                while libc::sigtimedwait(&set, std::ptr::null_mut(), &now) > 0 {}
            }
            libc::pthread_sigmask(libc::SIG_SETMASK, &self.before, std::ptr::null_mut());
        }
    }
}

/// Runs something that writes files.
pub fn quietly<R>(work: impl FnOnce() -> R) -> R {
    let _quiet = Quiet::new();
    work()
}

/// Makes a folder that only its owner can use, and those above it.
pub fn make_folder(path: &Path) -> io::Result<()> {
    DirBuilder::new().recursive(true).mode(0o700).create(path)
}

/// Creates a new file that only its owner can read.
pub fn create(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create_new(true).mode(0o600).open(path)
}

/// Returns a name in `tmp/` that is not in use.
pub fn temporary(spool: &Path) -> std::path::PathBuf {
    static NUMBER: AtomicU64 = AtomicU64::new(0);
    let number = NUMBER.fetch_add(1, Ordering::Relaxed);
    let (process, random) = (std::process::id(), random());
    spool.join("tmp").join(format!("{process}-{number}-{random:016x}"))
}

/// Writes a file whole, by rename.
pub fn write_whole(spool: &Path, path: &Path, bytes: &[u8]) -> io::Result<()> {
    quietly(|| {
        let temporary = temporary(spool);
        let result = create(&temporary)
            .and_then(|mut file| file.write_all(bytes))
            .and_then(|()| std::fs::rename(&temporary, path));
        if result.is_err() {
            let _ = std::fs::remove_file(&temporary);
        }
        result
    })
}

/// Writes a value as a JSON file, whole, by rename.
pub fn write_json(spool: &Path, path: &Path, value: &impl Serialize) -> io::Result<()> {
    let mut text = serde_json::to_vec(value)?;
    text.push(b'\n');
    write_whole(spool, path, &text)
}

/// Appends a value as a line of JSON, with one write.
pub fn append_line(path: &Path, value: &impl Serialize) -> io::Result<()> {
    let mut text = serde_json::to_vec(value)?;
    text.push(b'\n');
    quietly(|| OpenOptions::new().append(true).create(true).mode(0o600).open(path)?.write_all(&text))
}

/// Milliseconds since 1970.
pub fn now_ms() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(0))
}

/// A random number, also in a process that has just been forked.
pub fn random() -> u64 {
    let mut bytes = [0; 8];
    // SAFETY: the buffer has that many bytes.
    let got = unsafe { libc::getrandom(bytes.as_mut_ptr().cast(), bytes.len(), 0) };
    if got == 8 { u64::from_ne_bytes(bytes) } else { now_ms() ^ u64::from(std::process::id()).rotate_left(32) }
}

/// Bytes in hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    use std::fmt::Write as _;
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}
