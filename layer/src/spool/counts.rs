//! Counters in a file that is mapped into memory: what was counted is in the file however the process ends.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use super::files;
use crate::lock::lock;

/// Counters of a row.
pub const COLUMNS: usize = 32;
/// Rows of a file.
const ROWS: usize = 256;

/// The counters of a kernel, as columns of its row. The order is that of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(usize)]
pub enum Column {
    /// Launches that the driver took.
    Launches = 0,
    /// Launches that the driver refused; in no other column.
    Refused,
    /// Launches written to the spool.
    Kept,
    // The launches that were not kept, by the reason.
    NotSampled,
    MaxLaunches,
    MaxBytes,
    MaxLaunchBytes,
    NotSelected,
    UserEvent,
    Disturbed,
    UnknownArgument,
    UnknownMemory,
    Unreadable,
    Pipe,
    Image,
    AliasedImage,
    SvmAtomics,
    Unwritable,
    OutOfMemory,
    UnknownKernel,
    // Of all launches, whether kept or not, where kassay is asked for replacements.
    /// Launches that ran as replacements. (Readers have a reason for column 20, which the layer does not count.)
    Woven = 21,
    /// Launches that ran as they are.
    Plain,
}

impl Column {
    /// Its name, as readers know it: `max-launches`.
    pub fn word(self) -> String {
        format!("{self:?}").chars().fold(String::new(), |mut word, c| {
            word.extend((c.is_uppercase() && !word.is_empty()).then_some('-'));
            word.extend(c.to_lowercase());
            word
        })
    }
}

/// Columns of row 0, the process's own.
#[derive(Debug, Clone, Copy)]
#[repr(usize)]
pub enum Header {
    /// [`MAGIC`].
    Magic = 0,
    /// 1 once exit handlers have run.
    Ended,
    Contexts,
    Programs,
    Kernels,
}

/// The first eight bytes of the first file.
pub const MAGIC: u64 = u64::from_le_bytes(*b"kassay\0\x01");

/// A kernel's counters.
pub type Row = [AtomicU64; COLUMNS];

/// Adds one.
pub fn count(row: &Row, column: Column) {
    row[column as usize].fetch_add(1, Ordering::Relaxed);
}

/// Takes one away, of a launch that is counted in another column from now on.
pub fn uncount(row: &Row, column: Column) {
    row[column as usize].fetch_sub(1, Ordering::Relaxed);
}

/// Files of counters, mapped as they are needed.
pub struct Counts {
    folder: Option<PathBuf>,
    rows: Mutex<Rows>,
}

#[derive(Default)]
struct Rows {
    files: Vec<&'static [Row; ROWS]>,
    used: usize,
}

impl Counts {
    /// Counters in files of `folder`; without one (or where a file cannot be made) nothing reads them.
    pub fn new(folder: Option<&Path>) -> Counts {
        Counts { folder: folder.map(Path::to_owned), rows: Mutex::default() }
    }

    /// Returns the next row and its number, beginning with 0.
    pub fn next_row(&self) -> (usize, &'static Row) {
        let mut rows = lock(&self.rows);
        let number = rows.used;
        if number / ROWS == rows.files.len() {
            let path = self.folder.as_ref().map(|folder| folder.join(format!("counts-{}.bin", number / ROWS)));
            let mapped = path.and_then(|path| files::quietly(|| map(&path)).ok());
            rows.files.push(
                mapped.unwrap_or_else(|| Box::leak(Box::new([const { [const { AtomicU64::new(0) }; COLUMNS] }; ROWS]))),
            );
        }
        rows.used += 1;
        (number, &rows.files[number / ROWS][number % ROWS])
    }
}

/// Maps a new file of zeros. It is never unmapped: other threads may be counting.
fn map(path: &Path) -> io::Result<&'static [Row; ROWS]> {
    let file = files::create(path)?;
    let mapped = map_shared(&file, size_of::<[Row; ROWS]>()).inspect_err(|_| {
        let _ = std::fs::remove_file(path);
    })?;
    // SAFETY: the mapping has this size and alignment, is never unmapped, and its words are only used atomically.
    Ok(unsafe { &*mapped.cast() })
}

/// Reserves `length` bytes of a file and maps them. Without the reservation a full disk would be a `SIGBUS`.
pub fn map_shared(file: &std::fs::File, length: usize) -> io::Result<*mut libc::c_void> {
    use std::os::fd::AsRawFd as _;
    let fd = file.as_raw_fd();
    let size = libc::off_t::try_from(length).map_err(io::Error::other)?;
    // SAFETY: the descriptor is open; the kernel chooses the address.
    unsafe {
        match libc::posix_fallocate(fd, 0, size) {
            0 => {}
            error => return Err(io::Error::from_raw_os_error(error)),
        }
        let protection = libc::PROT_READ | libc::PROT_WRITE;
        match libc::mmap(std::ptr::null_mut(), length, protection, libc::MAP_SHARED, fd, 0) {
            libc::MAP_FAILED => Err(io::Error::last_os_error()),
            address => Ok(address),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_counted_is_in_the_files() {
        let folder = tempfile::tempdir().unwrap();
        let counts = Counts::new(Some(folder.path()));
        let rows: Vec<_> = (0..ROWS + 2).map(|_| counts.next_row()).collect();
        count(rows[3].1, Column::Kept);
        count(rows[ROWS + 1].1, Column::Launches);
        count(rows[ROWS + 1].1, Column::Launches);
        let word = |file: &str, at: usize| {
            let bytes = std::fs::read(folder.path().join(file)).unwrap();
            u64::from_ne_bytes(bytes[at * 8..][..8].try_into().unwrap())
        };
        assert_eq!(word("counts-0.bin", 3 * COLUMNS + Column::Kept as usize), 1);
        assert_eq!(word("counts-1.bin", COLUMNS), 2);
        assert_eq!(rows[ROWS + 1].0, ROWS + 1);
    }

    /// kassay's reader is held against the same table.
    #[test]
    fn columns_are_where_the_readme_says() {
        use Column::*;
        let all = [
            Launches,
            Refused,
            Kept,
            NotSampled,
            MaxLaunches,
            MaxBytes,
            MaxLaunchBytes,
            NotSelected,
            UserEvent,
            Disturbed,
            UnknownArgument,
            UnknownMemory,
            Unreadable,
            Pipe,
            Image,
            AliasedImage,
            SvmAtomics,
            Unwritable,
            OutOfMemory,
            UnknownKernel,
            Woven,
            Plain,
        ];
        let name = |column: &Column| format!("| {} | `{}` |", *column as usize, column.word());
        let readme = include_str!("../../README.md");
        assert!(all.iter().all(|column| readme.lines().any(|line| line.starts_with(&name(column)))));
        let table = readme.lines().skip_while(|line| !line.starts_with("| column | counts |")).skip(2);
        let rows = table.take_while(|line| line.starts_with('|')).filter(|line| {
            let mut cells = line.split('|').skip(1).map(str::trim);
            cells.next().is_some_and(|cell| cell.parse::<usize>().is_ok())
        });
        assert_eq!(rows.count(), all.len());
    }

    #[test]
    fn without_a_folder_counting_does_no_harm() {
        for counts in [Counts::new(None), Counts::new(Some(Path::new("/nonexistent")))] {
            count(counts.next_row().1, Column::Launches);
        }
    }
}
