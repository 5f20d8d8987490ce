//! Finds the places of an earlier text of a source in the text of now, by mutants that both have.

use std::collections::{BTreeMap, HashMap};

use kassay_results::result::mutate::Location;

use super::mutant::Mutant;

/// Line and column.
type Spot = (u32, u32);

/// Where things were, and where they are now.
#[derive(Debug, Default)]
pub struct MovedPlaces {
    /// By the name of a file then: its name now, and by a spot then the spot now.
    files: HashMap<String, (String, BTreeMap<Spot, Spot>)>,
    any: bool,
}

impl MovedPlaces {
    /// Compares the places of mutants then with those of the same mutants now.
    pub fn between<'a>(pairs: impl Iterator<Item = (&'a Location, &'a Mutant)>) -> MovedPlaces {
        let mut all = MovedPlaces::default();
        for (then, now) in pairs {
            let Some(now) = &now.range else { continue };
            let (old, new) = ((then.start.line, then.start.column), (now.start.line, now.start.column));
            all.any |= old != new || then.file != now.file;
            let (_, spots) = all.files.entry(then.file.clone()).or_insert_with(|| (now.file.clone(), BTreeMap::new()));
            spots.insert(old, new);
        }
        all
    }

    /// Returns a text with its places (`k.cl:7:3`) as they are now. A place where no mutant was moves with the nearest
    /// one.
    pub fn moved(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (then, (now, spots)) in self.files.iter().filter(|_| self.any) {
            let mut done = String::new();
            let mut rest = text.as_str();
            while let Some(at) = rest.find(&format!("{then}:")) {
                let after = &rest[at + then.len()..];
                match spot(after).and_then(|(spot, length)| Some((nearest(spots, spot)?, length))) {
                    Some(((line, column), length)) => {
                        done.push_str(&format!("{}{now}:{line}:{column}", &rest[..at]));
                        rest = &after[length..];
                    }
                    None => {
                        done.push_str(&rest[..at + then.len()]);
                        rest = after;
                    }
                }
            }
            done.push_str(rest);
            text = done;
        }
        text
    }
}

/// Reads `:7:3` at the start of a text. Returns line and column, and the length.
fn spot(text: &str) -> Option<(Spot, usize)> {
    let digits = |text: &str| text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
    let after = text.strip_prefix(':')?;
    let line = digits(after);
    let column = after[line..].strip_prefix(':')?;
    let end = digits(column);
    let numbers = (after[..line].parse().ok()?, column[..end].parse().ok()?);
    Some((numbers, line + end + 2))
}

/// Returns where a spot is now.
fn nearest(spots: &BTreeMap<Spot, Spot>, (line, column): Spot) -> Option<Spot> {
    let before = spots.range(..=(line, column)).next_back();
    let after = spots.range((line, column)..).next();
    // One on the same line tells of columns, too.
    let on_line = after.filter(|(then, _)| then.0 == line && before.is_none_or(|(then, _)| then.0 != line));
    let (then, now) = on_line.or(before).or(after)?;
    let moved = |by: (u32, u32), value: u32| value.saturating_add(by.1).saturating_sub(by.0).max(1);
    let column = if then.0 == line { moved((then.1, now.1), column) } else { column };
    Some((moved((then.0, now.0), line), column))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_in_texts_move_with_the_mutants() {
        let spots = BTreeMap::from([((3, 5), (4, 9)), ((10, 1), (8, 1))]);
        let places =
            MovedPlaces { files: HashMap::from([("a/k.cl".to_owned(), ("b/k.cl".to_owned(), spots))]), any: true };
        assert_eq!(
            places.moved("test \"t\": out of bounds at a/k.cl:3:7, at a/k.cl:6:2"),
            "test \"t\": out of bounds at b/k.cl:4:11, at b/k.cl:7:2"
        );
        assert_eq!(places.moved("a/k.cl:10:4 and a/k.cl:1:1"), "b/k.cl:8:4 and b/k.cl:2:1");
        assert_eq!(places.moved("at a/k.cl:3:2"), "at b/k.cl:4:6");
        assert_eq!(places.moved("a/k.cl: x[3] is 4 at 5"), "a/k.cl: x[3] is 4 at 5");
        assert_eq!(MovedPlaces::default().moved("k.cl:1:1"), "k.cl:1:1");
    }
}
