//! Mutations that keep TOML and JSON well-formed, because most mutations of bytes end at the first brace.
//!
//! `tests/fuzzing` uses them, too.

use rand::Rng as _;
use rand::seq::{IndexedRandom as _, SliceRandom as _};
use rand_chacha::ChaCha8Rng;
use serde_json::{Number, Value};

use crate::targets::{BETWEEN, Form, files};

/// Numbers at which arithmetic tends to go wrong.
const NUMBERS: [&str; 24] = [
    "0",
    "1",
    "-1",
    "2",
    "3",
    "7",
    "64",
    "255",
    "256",
    "65535",
    "65536",
    "1048575",
    "2147483647",
    "-2147483648",
    "4294967295",
    "4294967296",
    "9007199254740993",
    "9223372036854775807",
    "-9223372036854775808",
    "18446744073709551615",
    "0.5",
    "-0.0",
    "1e308",
    "5e-324",
];

const STRINGS: [&str; 16] = [
    "",
    " ",
    "k",
    "0",
    "-1",
    "\u{0}",
    "\u{feff}ä€𝄞",
    "..",
    "/",
    "a/b",
    "%s",
    "\"'<&>\\",
    "\u{1b}[31m",
    "true",
    "18446744073709551616",
    "\n\t\r\n",
];

/// Mutates one of the texts of an input; `None` if it is none.
pub fn structured(form: Form, input: &[u8], random: &mut ChaCha8Rng) -> Option<Vec<u8>> {
    let between: &[u8] = if form == Form::JsonLines { b"\n" } else { BETWEEN };
    let mut texts: Vec<Vec<u8>> = match form {
        Form::JsonLines => input.split(|byte| *byte == b'\n').map(<[u8]>::to_vec).collect(),
        _ => files(input).into_iter().map(<[u8]>::to_vec).collect(),
    };
    let chosen = random.random_range(0..texts.len());
    if texts.len() > 1 && random.random_bool(0.1) {
        match random.random_range(0..3) {
            0 => drop(texts.remove(chosen)),
            1 => texts.insert(chosen, texts[chosen].clone()),
            _ => texts.shuffle(random),
        }
        return Some(texts.join(between));
    }
    let text = std::str::from_utf8(&texts[chosen]).ok()?;
    let mut root: Value = match form {
        Form::Toml => toml::from_str(text).ok()?,
        _ => serde_json::from_str(text).ok()?,
    };
    let parts = collected(&root);
    for _ in 0..random.random_range(1..4) {
        let at = random.random_range(0..count(&root));
        let mut left = at;
        change(&mut root, &mut left, &parts, random);
    }
    texts[chosen] = match form {
        Form::Toml => toml::to_string(&root).ok()?.into_bytes(),
        _ => serde_json::to_vec(&root).ok()?,
    };
    Some(texts.join(between))
}

/// How many values there are in a value, itself included.
fn count(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(count).sum(),
        Value::Object(entries) => entries.values().map(count).sum(),
        _ => 0,
    }
}

/// Parts of a value, of which others are made.
fn collected(value: &Value) -> Vec<Value> {
    let mut parts = vec![value.clone()];
    let mut next = 0;
    while next < parts.len() && parts.len() < 400 {
        let inner: Vec<Value> = match &parts[next] {
            Value::Array(items) => items.clone(),
            Value::Object(entries) => entries.values().cloned().collect(),
            _ => Vec::new(),
        };
        parts.extend(inner);
        next += 1;
    }
    parts.retain(|part| count(part) < 40);
    parts
}

/// Changes the value that is `left` values after this one.
fn change(value: &mut Value, left: &mut usize, parts: &[Value], random: &mut ChaCha8Rng) -> bool {
    if *left == 0 {
        alter(value, parts, random);
        return true;
    }
    *left -= 1;
    match value {
        Value::Array(items) => items.iter_mut().any(|item| change(item, left, parts, random)),
        Value::Object(entries) => entries.values_mut().any(|entry| change(entry, left, parts, random)),
        _ => false,
    }
}

fn alter(value: &mut Value, parts: &[Value], random: &mut ChaCha8Rng) {
    if random.random_bool(0.2) {
        *value = parts.choose(random).cloned().unwrap_or_default();
        return;
    }
    match value {
        Value::Null => *value = Value::from(0),
        Value::Bool(known) => *known = !*known,
        Value::Number(known) => *known = number(known, random),
        Value::String(known) => match random.random_range(0..3) {
            0 => *known = STRINGS.choose(random).map_or_else(String::new, ToString::to_string),
            1 => known.push_str(STRINGS.choose(random).unwrap_or(&"")),
            _ => {
                let strings: Vec<&str> = parts.iter().filter_map(Value::as_str).collect();
                *known = strings.choose(random).map_or_else(String::new, ToString::to_string);
            }
        },
        Value::Array(items) => match random.random_range(0..4) {
            0 => items.clear(),
            1 if !items.is_empty() => drop(items.remove(random.random_range(0..items.len()))),
            2 if !items.is_empty() => items.push(items[random.random_range(0..items.len())].clone()),
            _ => items.push(parts.choose(random).cloned().unwrap_or_default()),
        },
        Value::Object(entries) => {
            let key = entries.keys().nth(random.random_range(0..entries.len().max(1))).cloned().unwrap_or_default();
            match random.random_range(0..3) {
                0 => drop(entries.remove(&key)),
                1 => drop(entries.insert(key, parts.choose(random).cloned().unwrap_or_default())),
                _ => {
                    let objects: Vec<_> = parts.iter().filter_map(Value::as_object).collect();
                    let other = objects
                        .choose(random)
                        .and_then(|object| object.iter().nth(random.random_range(0..object.len().max(1))));
                    if let Some((key, value)) = other {
                        entries.insert(key.clone(), value.clone());
                    }
                }
            }
        }
    }
}

fn number(known: &Number, random: &mut ChaCha8Rng) -> Number {
    let near = known.as_i64().and_then(|n| n.checked_add(random.random_range(-2..=2)));
    match near.filter(|_| random.random_bool(0.4)) {
        Some(n) => n.into(),
        None => NUMBERS.choose(random).and_then(|text| serde_json::from_str(text).ok()).unwrap_or_else(|| 0.into()),
    }
}
