//! Reads launches from a spool while the program still runs.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::records::Launch;
use super::spool::{Spool, files_in};

/// A spool that grows.
#[derive(Debug)]
pub struct Watch {
    spool: Spool,
    seen: HashSet<PathBuf>,
}

/// A launch that was found.
#[derive(Debug)]
pub struct Arrival {
    /// The name of its process's folder.
    pub process: String,
    /// What its record says.
    pub launch: Launch,
}

impl Arrival {
    /// Names the launch: its process's folder, and its number in the process.
    pub fn id(&self) -> (String, u64) {
        (self.process.clone(), self.launch.sequence)
    }
}

impl Watch {
    /// Watches a folder from now on; it may still be empty.
    pub fn new(folder: &Path) -> Watch {
        Watch { spool: Spool::unread(folder), seen: HashSet::new() }
    }

    /// The programs that were seen so far.
    pub fn spool(&self) -> &Spool {
        &self.spool
    }

    /// Returns the launches that have come since the last call, in the order of each process. The programs that they
    /// name are in [`Watch::spool`]. A file that is gone again was of a launch that the driver refused.
    pub fn poll(&mut self) -> Vec<Arrival> {
        let mut arrivals = Vec::new();
        for process in files_in(&self.spool.folder().join("processes")) {
            let name = process.file_name().unwrap_or_default().to_string_lossy().into_owned();
            for path in files_in(&process.join("launches")) {
                if self.seen.contains(&path) {
                    continue;
                }
                let read = fs::read(&path).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok());
                arrivals.extend(read.map(|launch| Arrival { process: name.clone(), launch }));
                self.seen.insert(path);
            }
        }
        // A launch's file comes after everything that it names.
        self.spool.read_programs();
        arrivals
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn launches_come_once_and_with_their_programs() {
        let folder = tempfile::tempdir().unwrap();
        let mut watch = Watch::new(folder.path());
        assert!(watch.poll().is_empty());
        let launches = folder.path().join("processes/7-1-a/launches");
        fs::create_dir_all(&launches).unwrap();
        fs::create_dir_all(folder.path().join("programs")).unwrap();
        let launch = r#"{"program": "00000000000000000000000000000000", "name": "k", "launch": 3, "sequence": 9, "thread": 12, "global": [4],
                         "arguments": [], "memory": []}"#;
        let program = r#"{"id": "00000000000000000000000000000000", "origin": "built-in", "kernels": "k", "status": "success", "device": {"name": "d"}}"#;
        fs::write(launches.join("0000000009.json"), launch).unwrap();
        fs::write(folder.path().join("programs/00000000000000000000000000000000.json"), program).unwrap();
        let arrived = watch.poll();
        let [Arrival { process, launch }] = &arrived[..] else { panic!("{arrived:?}") };
        assert_eq!((process.as_str(), launch.launch, launch.thread), ("7-1-a", 3, 12));
        assert!(watch.spool().programs.contains_key(&"0".repeat(32)));
        assert!(watch.poll().is_empty());
    }
}
