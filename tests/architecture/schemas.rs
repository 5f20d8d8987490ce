//! `docs/schema/README.md` lists every schema: those that the results' types declare, and every published file.

use std::fs;
use std::path::Path;

use crate::sources::sources;

/// The schemas that constants of `src/results/result/` name, such as `kassay.cover/1`.
fn declared() -> Vec<String> {
    let mut found = Vec::new();
    for (_, text) in sources().iter().filter(|(path, _)| path.starts_with("src/results/result/")) {
        for line in text.lines().filter(|line| line.trim_start().contains("const ") && line.contains("SCHEMA")) {
            found.extend(line.split('"').nth(1).filter(|name| name.starts_with("kassay.")).map(str::to_owned));
        }
    }
    found
}

#[test]
fn the_table_of_schemas_has_every_schema_and_every_file() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/schema");
    let table = fs::read_to_string(folder.join("README.md")).unwrap();
    let declared = declared();
    assert!(declared.len() > 15, "{declared:?}");
    for name in &declared {
        assert!(table.lines().any(|line| line.starts_with(&format!("| `{name}` |"))), "the table lacks {name}");
    }
    for line in table.lines().filter(|line| line.starts_with("| `kassay.")) {
        let name = line.split('`').nth(1).unwrap();
        assert!(declared.iter().any(|one| one == name), "no result has the schema {name}");
    }
    for file in fs::read_dir(&folder).unwrap() {
        let name = file.unwrap().file_name().into_string().unwrap();
        assert!(!name.ends_with(".json") || table.contains(&format!("({name})")), "the table lacks {name}");
    }
}
