//! The file of a project.

use std::path::Path;

use kassay_suite::document::{Node, Source, Value};

use super::blames_input;
use super::folder::{file, folder};

/// `kassay.toml`, with and without a profile.
pub fn project(input: &[u8]) {
    let folder = folder("project", |folder| {
        let inner = folder.join("a/b");
        std::fs::create_dir_all(&inner).expect("folders can be made");
        for suite in ["one.toml", "a/two.toml", "a/b/suite.toml"] {
            let text = "kernel = \"k.cl\"\n[[test]]\nglobal = [1]\n[test.args]\n";
            std::fs::write(folder.join(suite), text).expect("files can be written");
        }
    });
    let Ok(text) = String::from_utf8(input.to_vec()) else { return };
    let source = Source::new("kassay.toml", text);
    if source.parse().is_ok_and(|root| leaves(&root)) {
        return;
    }
    file(&folder, "kassay.toml", input);
    std::env::set_current_dir(&folder).expect("the folder is there");
    for profile in [None, Some("full")] {
        let _ = blames_input(kassay::check_project(Path::new("kassay.toml"), profile));
    }
}

/// Whether a pattern leads out of the folder: there may be any number of files.
fn leaves(node: &Node) -> bool {
    match &node.value {
        Value::Text(text) => text.starts_with('/') || text.contains(".."),
        Value::List(items) => items.iter().any(leaves),
        Value::Table(entries) => entries.iter().any(|entry| leaves(&entry.node)),
        Value::Bool(_) | Value::Integer(_) | Value::Float(_) => false,
    }
}
