//! Flags: those that pages show exist, and those that exist are on a page.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use kassay_results::result::any::KERNEL_COMMANDS;
use regex::Regex;

use crate::common::program::{commands, run};
use crate::common::testdata::repository;
use crate::pages::page::{self, Block};

/// The commands, and the pages that describe their flags.
const COMMANDS: &[(&str, &str)] = &[
    ("devices", "devices"),
    ("inspect", "inspect"),
    ("run", "run"),
    ("cover", "cover"),
    ("mutate", "mutate"),
    ("generate", "generate"),
    ("schedule", "schedule"),
    ("check", "check"),
    ("report", "report"),
    ("merge", "merge"),
    ("compare", "compare"),
    ("capture", "hosts"),
    ("tally", "bring-your-own-host"),
    ("ci", "ci"),
    ("lower", "lower"),
];

static FLAG: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"--[a-z][a-z-]*").unwrap());

fn flags(text: &str) -> BTreeSet<&str> {
    FLAG.find_iter(text).map(|flag| flag.as_str()).collect()
}

fn text_of(page: &str) -> String {
    std::fs::read_to_string(repository(page)).unwrap()
}

/// The help of a command.
fn help(command: &str) -> String {
    run(&[command, "--help"]).unwrap().0
}

/// The flags that the help of a command declares.
fn declared(help: &str) -> BTreeSet<String> {
    let lines = help.lines().map(str::trim_start).filter(|line| line.starts_with('-'));
    lines.filter_map(|line| FLAG.find(line)).map(|flag| flag.as_str().to_owned()).collect()
}

#[test]
fn every_command_has_a_page() {
    let overview = text_of("docs/commands.md");
    for name in commands().unwrap() {
        let is_listed = COMMANDS.iter().any(|(command, _)| *command == name);
        assert!(is_listed || ["completions", "man"].contains(&name.as_str()), "no page describes `kassay {name}`");
        assert!(overview.contains(&format!("`kassay {name}")), "docs/commands.md has no `kassay {name}`");
    }
}

#[test]
fn every_command_about_kernels_is_on_the_pages_about_all_of_them() {
    for name in ["ci", "library", "report", "results"] {
        let text = text_of(&format!("docs/{name}.md"));
        for command in KERNEL_COMMANDS {
            let is_named = [format!("`{command}`"), format!("`kassay {command}`"), format!("`{command}(")];
            assert!(is_named.iter().any(|word| text.contains(word)), "docs/{name}.md does not name `{command}`");
        }
    }
}

#[test]
fn every_flag_is_on_the_page_of_its_command() {
    let mut missing = Vec::new();
    for (command, path) in COMMANDS {
        let text = std::fs::read_to_string(crate::common::testdata::repository(format!("docs/{path}.md"))).unwrap();
        let shown = flags(&text);
        let (declared, obvious) =
            (declared(&help(command)), ["--help", "--output", "--verbose", "--jobs", "--sandbox"]);
        let lacks = declared.iter().filter(|flag| !shown.contains(flag.as_str()) && !obvious.contains(&flag.as_str()));
        missing.extend(lacks.map(|flag| format!("docs/{path}.md does not mention {flag} of `kassay {command}`")));
    }
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

#[test]
fn every_flag_that_is_shown_exists() {
    let known: Vec<(&str, BTreeSet<String>)> =
        COMMANDS.iter().map(|(name, _)| (*name, declared(&help(name)))).collect();
    let mut wrong = Vec::new();
    let mut check = |path: &str, line: usize, call: &str| {
        let mut words = call.split_whitespace();
        let (Some(_), Some(name)) = (words.next(), words.next()) else { return };
        let Some((_, known)) = known.iter().find(|(command, _)| *command == name) else {
            // A word in capitals or a flag stands for something else than a command.
            if name.chars().all(|c| c.is_ascii_lowercase()) && !["completions", "man", "help"].contains(&name) {
                wrong.push(format!("{path}:{line}: there is no `kassay {name}`"));
            }
            return;
        };
        // What stands after `--` belongs to the program.
        let own = call.split(" -- ").next().unwrap();
        let unknown = flags(own).into_iter().filter(|flag| !known.contains(*flag));
        wrong.extend(unknown.map(|flag| format!("{path}:{line}: `kassay {name}` has no {flag}")));
    };
    for page in page::all() {
        for (line, quoted) in page.quoted.iter().filter(|(_, quoted)| quoted.starts_with("kassay ")) {
            check(&page.path, *line, quoted);
        }
        for block in page.blocks.iter().filter(|block| ["console", "text", "yaml"].contains(&block.language.as_str())) {
            calls(block).iter().for_each(|call| check(&page.path, block.line, call));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The calls of kassay in a block, each with the lines that continue it.
fn calls(block: &Block) -> Vec<String> {
    let mut calls: Vec<String> = Vec::new();
    for line in block.text.lines() {
        let is_synopsis = block.language == "text";
        let is_continued = is_synopsis && line.starts_with(' ') && !calls.is_empty();
        let is_shown = match block.language.as_str() {
            "console" => line.starts_with("$ "),
            "text" => line.starts_with("kassay "),
            _ => true,
        };
        if is_continued {
            calls.last_mut().unwrap().push_str(line);
        } else if is_shown {
            // In a pipe or a list of commands, each is a call of its own.
            let pieces = line.trim_start_matches(['$', '-', ' ']).split(['|', ';', '#']);
            let pieces: Vec<&str> = if is_synopsis { vec![line] } else { pieces.flat_map(|p| p.split("&&")).collect() };
            calls.extend(pieces.into_iter().map(str::trim).filter(|p| p.starts_with("kassay ")).map(str::to_owned));
        }
    }
    calls
}
