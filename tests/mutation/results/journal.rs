//! Checks the journal: its entries survive a kill, a torn end and a second run.

use std::fs;
use std::path::Path;

use kassay::result::journal::{Header, Journal, path_for};
use kassay_base::error::{Error, Result};
use proptest::prelude::*;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
enum Entry {
    Mutant { id: String, ids: Vec<u32> },
    Test(String),
}

fn entries() -> impl Strategy<Value = Vec<Entry>> {
    let entry = prop_oneof![
        (".{0,12}", prop::collection::vec(any::<u32>(), 0..4)).prop_map(|(id, ids)| Entry::Mutant { id, ids }),
        "[a-z\n\"é]{0,12}".prop_map(Entry::Test),
    ];
    prop::collection::vec(entry, 0..12)
}

fn header() -> Header {
    Header::new("mutate", "f", "00ff")
}

fn resume(path: &Path) -> Result<(Journal, Vec<Entry>)> {
    Journal::resume(path, &header())
}

#[test]
fn the_journal_is_next_to_the_result() {
    assert_eq!(path_for(Path::new("out/m.json")), Path::new("out/m.json.journal.jsonl"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(6))]

    #[test]
    fn a_journal_cut_anywhere_gives_a_prefix_and_continues(all in entries()) {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("j.jsonl");
        let journal = Journal::create(&path, &header()).unwrap();
        all.iter().for_each(|e| journal.append(e).unwrap());
        drop(journal);
        let bytes = fs::read(&path).unwrap();
        let first = bytes.iter().position(|b| *b == b'\n').unwrap() + 1;
        let mut before = 0;
        for cut in 0..=bytes.len() {
            fs::write(&path, &bytes[..cut]).unwrap();
            let resumed = resume(&path);
            if cut < first {
                prop_assert!(matches!(resumed, Err(Error::Caller(_))));
                continue;
            }
            let (journal, found) = resumed.unwrap();
            prop_assert_eq!(&found[..], &all[..found.len()]);
            prop_assert!(found.len() >= before);
            before = found.len();
            if cut % 31 == 0 {
                // The torn part is gone, and the rest can be appended.
                all[found.len()..].iter().for_each(|e| journal.append(e).unwrap());
                drop(journal);
                prop_assert_eq!(&fs::read(&path).unwrap(), &bytes);
            }
        }
        prop_assert_eq!(before, all.len());
    }
}

#[test]
fn a_damaged_end_is_cut_off() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("j.jsonl");
    let journal = Journal::create(&path, &header()).unwrap();
    journal.append(&Entry::Test("a".into())).unwrap();
    drop(journal);
    let good = fs::read(&path).unwrap();
    // As file systems leave it when the power fails: a block of zeros, and lines after it.
    fs::write(&path, [&good[..], &[0; 64], b"\n{\"Test\":\"b\"}\n"].concat()).unwrap();
    let (journal, found) = resume(&path).unwrap();
    assert_eq!(found, [Entry::Test("a".into())]);
    drop(journal);
    assert_eq!(fs::read(&path).unwrap(), good);
}

#[test]
fn another_run_s_journal_is_refused_and_left_as_it_is() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("j.jsonl");
    drop(Journal::create(&path, &header()).unwrap());
    let before = fs::read(&path).unwrap();
    for (other, what) in [
        (Header::new("mutate", "f", "beef"), "it has the configuration `00ff`, this run's is `beef`"),
        (Header::new("mutate", "g", "00ff"), "kernel `f`"),
        (Header::new("generate", "f", "00ff"), "command `mutate`"),
    ] {
        let error = Journal::resume::<Entry>(&path, &other).unwrap_err();
        assert!(matches!(error, Error::Caller(_)) && error.to_string().contains(what), "{error}");
        assert!(error.report().help.is_some());
    }
    assert_eq!(fs::read(&path).unwrap(), before);
}

#[test]
fn without_a_journal_a_resumed_run_begins_one() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("j.jsonl");
    let (journal, found) = resume(&path).unwrap();
    assert!(found.is_empty() && path.exists());
    journal.append(&Entry::Test("a".into())).unwrap();
    journal.remove().unwrap();
    assert!(!path.exists());
    let missing = Journal::create(&dir.path().join("no/j.jsonl"), &header()).unwrap_err();
    assert!(missing.to_string().contains("mkdir -p"), "{missing}");
}

#[test]
fn a_new_run_replaces_the_journal_of_an_old_one() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("j.jsonl");
    let journal = Journal::create(&path, &header()).unwrap();
    journal.append(&Entry::Test("old".into())).unwrap();
    drop(journal);
    drop(Journal::create(&path, &header()).unwrap());
    assert_eq!(resume(&path).unwrap().1, []);
}

#[test]
fn threads_append_complete_lines() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("j.jsonl");
    let journal = Journal::create(&path, &header()).unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let journal = &journal;
            scope.spawn(move || {
                for n in 0..100 {
                    journal.append(&Entry::Mutant { id: "x".repeat(200), ids: vec![thread, n] }).unwrap();
                }
            });
        }
    });
    drop(journal);
    let found = resume(&path).unwrap().1;
    assert_eq!(found.len(), 400);
    let of = |thread: u32| found.iter().filter(move |e| matches!(e, Entry::Mutant { ids, .. } if ids[0] == thread));
    assert!((0..4).all(|thread| of(thread).count() == 100));
}

#[test]
fn an_entry_is_in_the_file_when_append_returns() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("j.jsonl");
    let journal = Journal::create(&path, &header()).unwrap();
    journal.append(&Entry::Test("now".into())).unwrap();
    assert!(fs::read_to_string(&path).unwrap().ends_with("{\"Test\":\"now\"}\n"));
    drop(journal);
}

#[test]
fn two_runs_cannot_write_one_journal() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("j.jsonl");
    let journal = Journal::create(&path, &header()).unwrap();
    let error = resume(&path).unwrap_err();
    assert!(matches!(error, Error::Caller(_)) && error.to_string().contains("another kassay"), "{error}");
    drop(journal);
    assert!(resume(&path).is_ok());
}
