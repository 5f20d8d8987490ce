//! Which platforms come first, where a loader has some besides those that the proxy hands on.

use std::process::Command;

use crate::harness::{Process, Program, Spool, Way};

/// Runs a program that takes what comes first, with a loader that has the proxy and another driver. Returns what it
/// prints.
fn with_other_driver(way: Way, config: &str, variables: &[(&str, &str)]) -> (Vec<String>, Process) {
    let program = Program::new("order");
    let spool = Spool::new(config);
    let (vendors, source) = (spool.folder.path().join("vendors"), Program::source("other_driver"));
    let driver = vendors.join("libother.so");
    assert!(Command::new("cc").args(["-shared", "-fPIC", "-o"]).arg(&driver).arg(source).status().unwrap().success());
    std::fs::write(vendors.join("other.icd"), driver.to_str().unwrap()).unwrap();
    let mut command = program.command(&[]);
    spool.enter(way, &mut command);
    let output = command.envs(variables.iter().copied()).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    (String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect(), spool.process())
}

#[test]
fn drivers_that_stand_in_come_last() {
    let (lines, process) = with_other_driver(Way::Both, r#"{"stand_in": true}"#, &[]);
    assert_eq!((lines.len(), lines[0].as_str()), (4, "platform: other"), "{lines:?}");
    assert_eq!(lines[2..], ["default: other device", "context: other device"]);
    assert!(process.notes.is_empty(), "{:?}", process.notes);
    // The user's number is one in the list.
    let (lines, _) = with_other_driver(Way::Both, r#"{"stand_in": true}"#, &[("OCL_ICD_DEFAULT_PLATFORM", "1")]);
    assert_eq!(lines[0], "platform: other");
    assert!(!lines[2].contains("other device") && !lines[3].contains("other device"), "{lines:?}");
}

#[test]
fn drivers_that_the_user_has_stay_where_they_are() {
    let (lines, process) = with_other_driver(Way::Both, "{}", &[]);
    assert_eq!(lines[1], "platform: other", "{lines:?}");
    assert!(!lines[2].contains("other device"), "{lines:?}");
    assert!(process.notes.is_empty(), "{:?}", process.notes);
}

#[test]
fn without_layers_there_is_a_note() {
    let (lines, process) = with_other_driver(Way::Proxy, r#"{"stand_in": true}"#, &[]);
    assert_eq!(lines[1], "platform: other", "{lines:?}");
    let notes: Vec<&str> = process.notes.iter().filter_map(|note| note["message"].as_str()).collect();
    let [note] = notes[..] else { panic!("{notes:?}") };
    assert!(note.contains("may come before the program's") && note.contains("libother.so"), "{note}");
    // A driver that stands in alone is nothing to tell.
    let (_, spool) = Program::new("order").under(Way::Proxy, r#"{"stand_in": true}"#, &[]);
    assert!(spool.process().notes.is_empty());
}
