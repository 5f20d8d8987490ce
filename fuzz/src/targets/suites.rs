//! Suites with the arrays that they name, interface files, and diffs.

use std::path::{Path, PathBuf};

use kassay::interface::{Field, Scalar, Struct, Type};
use kassay_judge::generate::interface_file;
use kassay_judge::mutation::catalogue::changed_lines::ChangedLines;
use kassay_suite::declared::Declared;
use kassay_suite::document::{Node, Source, Value};
use kassay_suite::npy::{self, encode};
use kassay_suite::resolve::Suite;

use super::blames_input;
use super::folder::{file, folder};
use super::interfaces::interfaces;

/// Numbers from which on an input is not resolved: an input that asks for as many elements gets them.
const MANY: i128 = 1 << 20;

/// A suite in TOML, for two kernels.
pub fn toml(input: &[u8]) {
    suite("suite.toml", input);
}

/// A suite in JSON, for two kernels.
pub fn json(input: &[u8]) {
    suite("suite.json", input);
}

fn suite(name: &str, input: &[u8]) {
    let path = file(&prepared(), name, input);
    let Some(suite) = blames_input(Suite::load(&path)) else { return };
    if asks_for_much(&path) {
        return;
    }
    for mut interface in interfaces() {
        if let Some(declared) = &suite.declared {
            if blames_input(declared.apply(&mut interface)).is_none() {
                continue;
            }
            if blames_input(declared.apply_implicit(&mut interface)).is_none() {
                continue;
            }
        }
        for test in blames_input(suite.resolve(&interface, 0)).into_iter().flatten() {
            let _ = (test.launch.range.items(), test.launch.range.groups(), test.launch.sharing());
        }
    }
}

/// An interface file, read for a kernel's types and for the search for inputs.
pub fn interface(input: &[u8]) {
    let path = file(&prepared(), "interface.toml", input);
    if asks_for_much(&path) {
        return;
    }
    let declared = blames_input(Declared::read(&path));
    for mut interface in interfaces() {
        if let Some(declared) = &declared {
            let _ = blames_input(declared.check_kernels(&["k".into(), "l".into()]));
            if blames_input(declared.apply(&mut interface)).is_some() {
                let _ = blames_input(declared.apply_implicit(&mut interface));
            }
        }
        let _ = blames_input(interface_file::read(&path, &interface, 2, 0, None));
    }
}

/// An array, taken as the contents of buffers of several types.
pub fn npy(input: &[u8]) {
    if let Ok(array) = npy::parse(input.to_vec()) {
        for ty in types() {
            let _ = npy::convert(&array, &ty);
        }
    }
    let path = file(&prepared(), "fuzzed.npy", input);
    let _ = blames_input(npy::read(&path, 1 << 30, None));
}

/// A unified diff.
pub fn diff(input: &[u8]) {
    let Ok(text) = std::str::from_utf8(input) else { return };
    let _ = blames_input(ChangedLines::of_diff(text, "a diff", &[prepared()]));
}

fn types() -> [Type; 5] {
    let field = |name: &str, offset, ty| Field { name: name.into(), offset, ty };
    let fields = vec![
        field("x", 0, Type::Scalar(Scalar::F32)),
        field("y", 4, Type::Array(Box::new(Type::Scalar(Scalar::I16)), 4)),
    ];
    [
        Type::Scalar(Scalar::F32),
        Type::Scalar(Scalar::U8),
        Type::Vector(Scalar::I32, 3),
        Type::Array(Box::new(Type::Vector(Scalar::F64, 2)), 3),
        Type::Struct(Struct { name: "s".into(), size: 12, align: 4, fields, is_union: false }),
    ]
}

/// The folder, with the files that inputs name.
fn prepared() -> PathBuf {
    folder("suites", |folder| {
        let write = |name: &str, bytes: &[u8]| std::fs::write(folder.join(name), bytes).expect("files can be written");
        write("k.cl", b"kernel void k(int n) {}\n");
        let floats: Vec<u8> = (0..4).flat_map(|n| (n as f32).to_le_bytes()).collect();
        write("x.npy", &encode(&Type::Scalar(Scalar::F32), &[4], &floats));
        write("img.npy", &encode(&Type::Scalar(Scalar::U8), &[2, 2, 4], &[7; 16]));
        write("bad.npy", b"\x93NUMPY\x01\x00\x10\x00{'descr': '<f4',");
    })
}

/// Whether a file asks for so much memory that whether it is there is all that could be found out.
fn asks_for_much(path: &Path) -> bool {
    fn is_large(node: &Node) -> bool {
        match &node.value {
            Value::Integer(n) => *n >= MANY,
            Value::List(items) => items.iter().any(is_large),
            Value::Table(entries) => entries.iter().any(|entry| is_large(&entry.node)),
            Value::Bool(_) | Value::Float(_) | Value::Text(_) => false,
        }
    }
    /// Whether an amount of elements or bytes is large.
    fn asks(node: &Node) -> bool {
        const AMOUNTS: [&str; 8] = ["len", "local", "margin", "length", "size", "shape", "elements", "count"];
        match &node.value {
            Value::List(items) => items.iter().any(asks),
            Value::Table(entries) => entries
                .iter()
                .any(|entry| AMOUNTS.contains(&entry.key.as_str()) && is_large(&entry.node) || asks(&entry.node)),
            _ => false,
        }
    }
    Source::read(path, None).and_then(|source| source.parse()).is_ok_and(|root| asks(&root))
}
