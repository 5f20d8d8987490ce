//! Results, merged and in every format; journals; maps with what a host program read back.

use std::path::PathBuf;

use kassay::result::any::AnyResult;
use kassay::result::journal::{Header, Journal};
use kassay::result::outcomes;
use kassay::result::probe_map;
use kassay::result::store;
use kassay_judge::generate::journal as generate;
use kassay_judge::mutation::campaign::records;
use kassay_results::report::Format;

use super::folder::{file, folder};
use super::{blames_input, files};

/// One or more results, in every format.
pub fn report(input: &[u8]) {
    let mut results = Vec::new();
    for (number, text) in files(input).into_iter().enumerate() {
        let Ok(text) = std::str::from_utf8(text) else { return };
        let path = PathBuf::from(format!("result-{number}.json"));
        let Some(result) = blames_input(store::parse(text, &path)) else { return };
        results.push((path, result));
    }
    for name in Format::names() {
        let format = blames_input(Format::named(name)).expect("it is one");
        let _ = blames_input(format.render_read(results.clone()));
    }
}

/// Results of shards, or of coverage by different tests. One alone is merged with itself.
pub fn merge(input: &[u8]) {
    let folder = folder("merge", |_| ());
    let paths: Vec<PathBuf> = files(input)
        .into_iter()
        .enumerate()
        .map(|(number, text)| file(&folder, &format!("result-{number}.json"), text))
        .collect();
    let paths = match &paths[..] {
        [only] => vec![only.clone(), file(&folder, "result-1.json", input)],
        _ => paths,
    };
    match paths.first().map(|path| store::read(path)) {
        Some(Ok(AnyResult::Compare(_))) => drop(blames_input(kassay::merge_comparisons(&paths))),
        Some(Ok(AnyResult::Cover(result))) if !result.is_set() => drop(blames_input(kassay::merge_coverage(&paths))),
        Some(first) => {
            let _ = blames_input(first);
            let _ = blames_input(kassay::merge(&paths));
        }
        None => {}
    }
}

/// A journal, continued as that of each command that writes one.
pub fn journal(input: &[u8]) {
    let header = Header { version: "0".into(), ..Header::new("c", "k", "0") };
    let folder = folder("journal", |_| ());
    let path = file(&folder, "journal.jsonl", input);
    if let Some((journal, entries)) = blames_input(Journal::resume::<records::Entry>(&path, &header)) {
        drop(journal);
        let read = std::fs::read(&path).expect("it was written");
        assert!(input.starts_with(&read), "more was cut off than a torn end");
        for entry in &entries {
            let _ = serde_json::to_string(entry);
        }
    }
    let path = file(&folder, "journal.jsonl", input);
    if let Some((_, entries)) = blames_input(Journal::resume::<generate::Entry>(&path, &header)) {
        for entry in &entries {
            if let generate::Entry::Test(test) | generate::Entry::Killer(test) = entry {
                let _ = blames_input(test.launch());
            }
        }
    }
}

/// A map, with a file of outcomes and with a probe buffer.
pub fn tally(input: &[u8]) {
    let files = files(input);
    let [map, read_back @ ..] = &files[..] else { return };
    let folder = folder("tally", |_| ());
    let map = file(&folder, "map.json", map);
    for read_back in read_back {
        let read_back = file(&folder, "read-back", read_back);
        let _ = blames_input(kassay::tally(&map, &[&read_back]));
        let _ = blames_input(kassay::tally_mutants(&map, &[&read_back]));
    }
    if let Some(map) = blames_input(probe_map::read(&map)) {
        let _ = blames_input(outcomes::parse("kassay-outcomes 1\nmodule 0\n", &PathBuf::from("outcomes"), &map));
    }
}
