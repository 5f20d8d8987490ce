//! Blocks that are no commands: TOML and JSON can be read, suites by kassay itself.

use std::path::Path;

use kassay_suite::declared::Declared;
use kassay_suite::resolve::Suite;

use crate::common::program::kassay;
use crate::pages::page::{self, Block};

/// What a block may be. `text` is for synopses, layouts of files and messages.
const LANGUAGES: &[&str] = &["console", "setup", "text", "toml", "json", "yaml", "c", "rust"];

#[test]
fn every_block_says_what_it_is() {
    let mut wrong = Vec::new();
    for page in page::all() {
        for block in &page.blocks {
            let place = format!("{}:{}", page.path, block.line);
            if !LANGUAGES.contains(&block.language.as_str()) {
                wrong.push(format!("{place}: a block of the language `{}`", block.language));
            }
            let has_commands = block.text.lines().any(|line| line.starts_with("$ "));
            if has_commands && block.language != "console" {
                wrong.push(format!("{place}: commands are shown in a block `console`"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn toml_and_json_can_be_read() {
    let mut wrong = Vec::new();
    for page in page::all() {
        for block in &page.blocks {
            let result = match block.language.as_str() {
                "toml" => read_toml(block),
                "json" => serde_json::from_str::<serde_json::Value>(&block.text).map_err(|e| e.to_string()).and_then(
                    |value| {
                        if value.get("test").is_some() { load(&block.text, "suite.json") } else { Ok(()) }
                    },
                ),
                _ => Ok(()),
            };
            wrong.extend(result.err().map(|error| format!("{}:{}: {error}", page.path, block.line)));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Reads a block by what it says it is: `project` (a `kassay.toml`), `args` (a value a line), `test` (keys of a test),
/// `interface`, `suite` (a suite without its tests), or else any TOML, which is a suite if it has tests.
fn read_toml(block: &Block) -> Result<(), String> {
    let test = |keys: &str| load(&format!("kernel = \"k.cl\"\n[[test]]\nglobal = [1]\n{keys}"), "suite.toml");
    if block.attribute("args").is_some() {
        let mut lines = block.text.lines().filter(|line| !line.trim().is_empty());
        return lines.try_for_each(|line| test(&format!("[test.args]\n{line}")));
    }
    if block.attribute("test").is_some() {
        return test(&block.text);
    }
    if block.attribute("append").is_some_and(|file| file != "kassay.toml") {
        return load(&format!("kernel = \"k.cl\"\n{}", block.text), "suite.toml");
    }
    if block.attribute("suite").is_some() {
        return load(&format!("{}\n[[test]]\nglobal = [1]\n", block.text), "suite.toml");
    }
    if block.attribute("interface").is_some() {
        return in_folder(&block.text, "interface.toml", |path| Declared::read(path).map(drop));
    }
    if block.attribute("project").is_some() {
        return read_project(&block.text);
    }
    let table: toml::Table = toml::from_str(&block.text).map_err(|e| e.to_string())?;
    // Projects that are files of a page are read when the page is run.
    let is_project = block.attribute("file").is_some_and(|name| name.ends_with("kassay.toml"));
    if !is_project && (table.contains_key("kernel") || table.contains_key("test")) {
        load(&block.text, "suite.toml")
    } else {
        Ok(())
    }
}

/// Reads a project and each of its profiles. Its one suite has an empty kernel: it fails, but only after the project
/// was read.
fn read_project(text: &str) -> Result<(), String> {
    let table: toml::Table = toml::from_str(text).map_err(|e| e.to_string())?;
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let suite = folder.path().join("kernels/fft");
    std::fs::create_dir_all(&suite).map_err(|e| e.to_string())?;
    let files = [
        (folder.path().join("kassay.toml"), text),
        (suite.join("suite.toml"), "kernel = \"k.cl\"\n[[test]]\nglobal = [1]\n"),
        (suite.join("k.cl"), ""),
    ];
    files.into_iter().try_for_each(|(path, text)| std::fs::write(path, text)).map_err(|e| e.to_string())?;
    let profiles =
        table.get("profile").and_then(toml::Value::as_table).into_iter().flat_map(|profiles| profiles.keys());
    for profile in profiles.map(Some).chain([None]) {
        let mut kassay = kassay();
        kassay.arg("ci").current_dir(folder.path());
        if let Some(profile) = profile {
            kassay.args(["--profile", profile]);
        }
        let output = kassay.output().map_err(|e| e.to_string())?;
        if !String::from_utf8_lossy(&output.stdout).contains("k.cl cannot be read: it is empty") {
            return Err(String::from_utf8_lossy(&output.stderr).into_owned());
        }
    }
    Ok(())
}

/// Reads a suite; that its kernel is there is not part of the question.
fn load(text: &str, name: &str) -> Result<(), String> {
    in_folder(text, name, |path| Suite::load(path).map(drop))
}

fn in_folder(text: &str, name: &str, read: impl Fn(&Path) -> kassay::Result<()>) -> Result<(), String> {
    let folder = tempfile::tempdir().map_err(|e| e.to_string())?;
    let kernel = kernel_of(text, name).unwrap_or_default();
    if !kernel.is_empty() {
        std::fs::write(folder.path().join(kernel), "").map_err(|e| e.to_string())?;
    }
    let path = folder.path().join(name);
    std::fs::write(&path, text).map_err(|e| e.to_string())?;
    read(&path).map_err(|e| e.to_string())
}

/// The kernel's file that a suite names.
fn kernel_of(text: &str, name: &str) -> Option<String> {
    if name.ends_with(".json") {
        let value: serde_json::Value = serde_json::from_str(text).ok()?;
        return value.get("kernel")?.as_str().map(str::to_owned);
    }
    toml::from_str::<toml::Table>(text).ok()?.get("kernel")?.as_str().map(str::to_owned)
}
