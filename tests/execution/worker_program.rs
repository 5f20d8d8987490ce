//! `kassay-worker`, the program whose processes are workers.

use std::process::{Command, Stdio};

use object::read::elf::{Dyn as _, ElfFile64, FileHeader as _};
use object::{Endianness, elf};

const WORKER: &str = env!("CARGO_BIN_EXE_kassay-worker");
const KASSAY: &str = env!("CARGO_BIN_EXE_kassay");

/// Runs it without a parent; returns its exit code and what it says.
fn run(arguments: &[&str]) -> (Option<i32>, String) {
    let output = Command::new(WORKER).args(arguments).stdin(Stdio::null()).output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

/// Returns the libraries that a program needs.
fn needed(program: &str) -> Vec<String> {
    let bytes = std::fs::read(program).unwrap();
    let file = ElfFile64::<Endianness>::parse(&*bytes).unwrap();
    let (header, endian) = (file.elf_header(), file.endian());
    let sections = header.sections(endian, &*bytes).unwrap();
    let (entries, link) = sections.dynamic(endian, &*bytes).unwrap().unwrap();
    let strings = sections.strings(endian, &*bytes, link).unwrap();
    let names = entries.iter().filter(|entry| entry.tag(endian) == elf::DT_NEEDED);
    names.map(|entry| String::from_utf8(entry.string(endian, strings).unwrap().to_vec()).unwrap()).collect()
}

#[test]
fn it_links_neither_llvm_nor_z3() {
    let links = |program| needed(program).iter().any(|name| name.starts_with("libLLVM") || name.starts_with("libz3"));
    assert!(!links(WORKER), "{:?}", needed(WORKER));
    assert!(links(KASSAY), "{:?}", needed(KASSAY));
}

#[test]
fn of_another_build_it_becomes_its_parents_program() {
    let (code, message) = run(&["worker", "another", KASSAY]);
    assert_eq!((code, message.starts_with("kassay: ")), (Some(4), true), "{message}");
    assert!(message.contains("`kassay worker` is started by kassay itself"), "{message}");
}

#[test]
fn by_hand_it_says_who_starts_it() {
    for arguments in [&[][..], &["--help"], &["worker"], &["worker", "another", ""], &["worker", "another", "/no/such"]]
    {
        let (code, message) = run(arguments);
        assert_eq!((code, message.lines().count()), (Some(4), 1), "{message}");
        assert!(message.starts_with("kassay-worker: "), "{message}");
    }
}
