//! Parses `--operators`: selects the operators that are used, and how many replacements they make.

use std::fmt;

use kassay_base::error::{Error, Result};

use super::level::OperatorLevel;
use super::operators::{OPERATORS, Operator, Preset};

/// The names of the presets.
const PRESETS: [(&str, Preset); 4] =
    [("all", Preset::Full), ("peng", Preset::Peng), ("liu", Preset::Liu), ("mutgpu", Preset::MutGpu)];

/// The operators of MutGPU (ZHU; LIU, table 6.2, has their definitions).
const OF_MUTGPU: [&str; 9] = ["AS", "AI", "AD", "SHR", "GIR", "GII", "GID", "SYR", "AR"];

/// The operators that a run uses.
#[derive(Clone)]
pub struct Selection {
    preset: Preset,
    level: OperatorLevel,
    /// Ascending in the order of [`OPERATORS`].
    operators: Vec<&'static Operator>,
    /// Whether these are all operators of the preset.
    is_complete_preset: bool,
}

impl Default for Selection {
    fn default() -> Self {
        Selection::of_preset(Preset::Full)
    }
}

impl Selection {
    /// Parses a selection of operators of the source.
    ///
    /// # Errors
    /// As [`Selection::parse_at`].
    pub fn parse(text: &str) -> Result<Selection> {
        Selection::parse_at(text, OperatorLevel::Source)
    }

    /// Parses `all`, a preset (`peng`, `liu`, `mutgpu`; of operators of the source), or comma-separated operator ids;
    /// case is ignored.
    ///
    /// # Errors
    /// `Caller` if a name is unknown or is no operator of the level; the message lists the ids.
    pub fn parse_at(text: &str, level: OperatorLevel) -> Result<Selection> {
        match PRESETS.iter().find(|(name, _)| text.trim().eq_ignore_ascii_case(name)) {
            Some((_, Preset::Full)) => return Ok(Selection::all(level)),
            Some((name, _)) if level == OperatorLevel::Ir => {
                let what = format!("the preset `{name}` is of operators of the source, not of the IR");
                return Err(Error::caller(what).help(choices(level)));
            }
            Some((_, preset)) => return Ok(Selection::of_preset(*preset)),
            None => {}
        }
        let mut chosen = Vec::new();
        for name in text.split(',').map(str::trim).filter(|name| !name.is_empty()) {
            let found =
                OPERATORS.iter().position(|o| o.id.eq_ignore_ascii_case(name)).ok_or_else(|| unknown(name, level))?;
            if !OPERATORS[found].levels.contains(&level) {
                return Err(of_other_level(&OPERATORS[found], level));
            }
            chosen.push(found);
        }
        if chosen.is_empty() {
            return Err(Error::caller("--operators names none").help(choices(level)));
        }
        chosen.sort_unstable();
        chosen.dedup();
        Ok(Selection {
            preset: Preset::Full,
            level,
            is_complete_preset: chosen.len() == of_level(level).count(),
            operators: chosen.into_iter().map(|i| &OPERATORS[i]).collect(),
        })
    }

    /// Selects all operators of a level.
    pub fn all(level: OperatorLevel) -> Selection {
        let operators = of_level(level).collect();
        Selection { preset: Preset::Full, level, operators, is_complete_preset: true }
    }

    /// Selects all operators of a preset.
    pub fn of_preset(preset: Preset) -> Selection {
        let belongs = |operator: &&'static Operator| match preset {
            Preset::Full => true,
            Preset::Peng => operator.peng,
            Preset::Liu => operator.liu,
            Preset::MutGpu => OF_MUTGPU.contains(&operator.id),
        };
        let level = OperatorLevel::Source;
        let operators = of_level(level).filter(belongs).collect();
        Selection { preset, level, operators, is_complete_preset: true }
    }

    /// Returns the preset; a list of ids has [`Preset::Full`].
    pub fn preset(&self) -> Preset {
        self.preset
    }

    /// Returns what the operators look at.
    pub fn level(&self) -> OperatorLevel {
        self.level
    }

    /// Returns the operators in the order of [`OPERATORS`].
    pub fn operators(&self) -> &[&'static Operator] {
        &self.operators
    }

    /// Returns whether the operator with that id is selected.
    pub fn has(&self, id: &str) -> bool {
        self.operators.iter().any(|operator| operator.id == id)
    }
}

/// Formats it as results name it and [`Selection::parse`] reads it: the preset's name, or the ids in the
/// registry's order.
impl fmt::Display for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match PRESETS.iter().find(|(_, preset)| self.is_complete_preset && *preset == self.preset) {
            Some((name, _)) => f.write_str(name),
            None => {
                let ids: Vec<&str> = self.operators.iter().map(|operator| operator.id).collect();
                f.write_str(&ids.join(","))
            }
        }
    }
}

impl fmt::Debug for Selection {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Selection({self})")
    }
}

fn of_level(level: OperatorLevel) -> impl Iterator<Item = &'static Operator> {
    OPERATORS.iter().filter(move |operator| operator.levels.contains(&level))
}

fn choices(level: OperatorLevel) -> String {
    let ids: Vec<&str> = of_level(level).map(|operator| operator.id).collect();
    let sets = match level {
        OperatorLevel::Source => PRESETS.map(|(name, _)| name).join(", "),
        OperatorLevel::Ir => "all".to_owned(),
    };
    format!("give {sets}, or some of {}, with commas between", ids.join(", "))
}

fn of_other_level(operator: &Operator, level: OperatorLevel) -> Error {
    let (own, wanted, levels) = match level {
        OperatorLevel::Source => ("IR", "the source", "--level ir:raw, ir:O1, ir:O2 or ir:O3"),
        OperatorLevel::Ir => ("source", "the IR", "--level canonical"),
    };
    let alike: Vec<&str> = of_level(level).filter(|o| o.concept == operator.concept).map(|o| o.id).collect();
    let instead = if alike.is_empty() { String::new() } else { format!("; of {wanted} there is {}", alike.join(", ")) };
    Error::caller(format!("`{}` is an operator of the {own}, and mutants of {wanted} are wanted", operator.id))
        .help(format!("give it with {levels}{instead}"))
}

fn unknown(name: &str, level: OperatorLevel) -> Error {
    let upper = name.to_ascii_uppercase();
    if PRESETS.iter().any(|(preset, _)| preset.eq_ignore_ascii_case(name)) {
        return Error::caller(format!("`{name}` stands for a set of operators and cannot be one of a list"))
            .help(format!("give --operators {name} alone, or some of the ids"));
    }
    let names = OPERATORS.iter().map(|operator| operator.id).chain(PRESETS.map(|(name, _)| name));
    let nearest = names.map(|known| (distance(&upper, &known.to_ascii_uppercase()), known)).min();
    let help = match nearest {
        Some((far, known)) if far < known.len() && far <= 2 => {
            format!("did you mean `{known}`? Else {}", choices(level))
        }
        _ => choices(level),
    };
    Error::caller(format!("there is no mutation operator `{name}`")).help(help)
}

/// Returns the edit distance between two words: insertions, deletions, substitutions and transpositions of adjacent
/// letters (optimal string alignment).
fn distance(a: &str, b: &str) -> usize {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut rows: Vec<Vec<usize>> = vec![(0..=b.len()).collect()];
    for i in 1..=a.len() {
        let mut row = vec![i];
        for j in 1..=b.len() {
            let (above, left, corner) = (rows[i - 1][j], row[j - 1], rows[i - 1][j - 1]);
            let mut best = (above + 1).min(left + 1).min(corner + usize::from(a[i - 1] != b[j - 1]));
            if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                best = best.min(rows[i - 2][j - 2] + 1);
            }
            row.push(best);
        }
        rows.push(row);
    }
    rows[a.len()][b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        Selection::parse(text).unwrap_err().to_string()
    }

    #[test]
    fn presets_and_lists_round_trip() {
        for text in ["all", "peng", "liu", "mutgpu"] {
            assert_eq!(Selection::parse(&text.to_uppercase()).unwrap().to_string(), text);
        }
        let list = Selection::parse(" syr, icr,SYR ,").unwrap();
        assert_eq!(list.to_string(), "SYR,ICR");
        assert_eq!(list.preset(), Preset::Full);
        assert!(list.has("ICR") && !list.has("AR"));
        assert_eq!(Selection::parse(&list.to_string()).unwrap().to_string(), "SYR,ICR");
    }

    #[test]
    fn presets_take_their_own_operators() {
        let peng = Selection::of_preset(Preset::Peng);
        assert!(peng.has("SYR") && peng.has("ICR") && !peng.has("AS") && !peng.has("BFR"));
        let liu = Selection::of_preset(Preset::Liu);
        assert!(liu.has("SYR") && liu.has("AS") && !liu.has("BFR") && !liu.has("ICR"));
        let mutgpu = Selection::of_preset(Preset::MutGpu);
        assert!(mutgpu.operators().len() == OF_MUTGPU.len() && !mutgpu.has("FR") && !mutgpu.has("ROR"));
    }

    #[test]
    fn operators_belong_to_levels() {
        let ir = Selection::parse_at("all", OperatorLevel::Ir).unwrap();
        assert!(ir.has("IAO") && ir.has("SYR") && !ir.has("AOR") && ir.level() == OperatorLevel::Ir);
        assert_eq!(ir.to_string(), "all");
        assert!(!Selection::default().has("IAO") && Selection::default().has("SYR"));
        let other = Selection::parse("ICP").unwrap_err().to_string();
        assert!(other.contains("operator of the IR") && other.contains("CBR, ROR, NCR"), "{other}");
        let other = Selection::parse_at("ROR", OperatorLevel::Ir).unwrap_err().to_string();
        assert!(other.contains("operator of the source") && other.contains("there is ICP"), "{other}");
        let preset = Selection::parse_at("liu", OperatorLevel::Ir).unwrap_err();
        assert!(preset.to_string().contains("`liu` is of operators of the source") && preset.exit_code() == 2);
    }

    #[test]
    fn misspelt_names_get_a_suggestion() {
        assert!(message("SRY").contains("did you mean `SYR`?"), "{}", message("SRY"));
        assert!(message("SRY").contains("ICR"), "{}", message("SRY"));
        assert!(message("pneg").contains("did you mean `peng`?"), "{}", message("pneg"));
        assert!(!message("everything").contains("did you mean"), "{}", message("everything"));
        assert!(message("SYR,liu").contains("alone"), "{}", message("SYR,liu"));
        assert!(message(" , ").contains("names none"));
        assert_eq!(Selection::parse("x").unwrap_err().exit_code(), 2);
    }

    #[test]
    fn transposed_letters_count_once() {
        assert_eq!(distance("SRY", "SYR"), 1);
        assert_eq!(distance("", "AB"), 2);
        assert_eq!(distance("GIR", "GID"), 1);
    }
}
