//! Reads the specialisation constants of a module and sets their values in its words.
//!
//! A constant that is decorated with `SpecId` can be given a value before a program is built; what is computed of it
//! (`OpSpecConstantOp`, `OpSpecConstantComposite`, lengths of arrays) follows. The translators take what the module has
//! as a constant's default for its value, so that the default is what is changed here.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::fmt;

use half::f16;
use kassay_base::error::{Error, Place, Result};
use kassay_model::options::SpecValue;

use super::words::{self, Id, Words, op};

const DECORATION_SPEC_ID: u32 = 1;

/// The type of a specialisation constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scalar {
    /// `OpTypeBool`.
    Bool,
    /// `OpTypeInt` of at most 64 bits. In kernels integers are declared as unsigned and have no sign of their own.
    Int {
        /// In bits.
        width: u32,
        /// Whether the module declares it as signed.
        is_signed: bool,
    },
    /// `OpTypeFloat` of 16, 32 or 64 bits.
    Float {
        /// In bits.
        width: u32,
    },
}

/// A specialisation constant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SpecConstant {
    /// Its number (`SpecId`), by which OpenCL's `clSetProgramSpecializationConstant` names it.
    pub spec_id: u32,
    /// Its name (`OpName`), if the module has one.
    pub name: Option<String>,
    /// Its type.
    pub ty: Scalar,
    /// The bits of its default value; those above its width are 0.
    pub default: u64,
    /// The bits of the value that it has in the kernel: a given one, or else the default.
    pub value: u64,
    /// Its result.
    id: Id,
}

impl fmt::Display for Scalar {
    /// Writes the type's name in OpenCL C.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Scalar::Bool => f.write_str("bool"),
            Scalar::Int { width, is_signed } => {
                let name = match width {
                    8 => "char",
                    16 => "short",
                    32 => "int",
                    64 => "long",
                    _ => return write!(f, "{}_BitInt({width})", if *is_signed { "" } else { "unsigned " }),
                };
                write!(f, "{}{name}", if *is_signed { "" } else { "u" })
            }
            Scalar::Float { width: 16 } => f.write_str("half"),
            Scalar::Float { width: 32 } => f.write_str("float"),
            Scalar::Float { .. } => f.write_str("double"),
        }
    }
}

impl Scalar {
    /// Writes a value of this type as suites do.
    pub fn shown(self, bits: u64) -> String {
        match self {
            Scalar::Bool => (bits != 0).to_string(),
            Scalar::Int { width, is_signed: true } => (sign_extended(bits, width) as i64).to_string(),
            Scalar::Int { .. } => bits.to_string(),
            Scalar::Float { width: 16 } => format!("{:?}", f16::from_bits(bits as u16).to_f32()),
            Scalar::Float { width: 32 } => format!("{:?}", f32::from_bits(bits as u32)),
            Scalar::Float { .. } => format!("{:?}", f64::from_bits(bits)),
        }
    }

    /// Reads a value of this type; `Err` says which values it has.
    fn read(self, text: &str) -> std::result::Result<u64, String> {
        match self {
            Scalar::Bool => match text {
                "true" => Ok(1),
                "false" => Ok(0),
                _ => Err("it is true or false".to_owned()),
            },
            Scalar::Int { width, is_signed } => {
                let least = -(1_i128 << (width - 1));
                // Without a sign of its own, the type has the values of both.
                let most = (1_i128 << (width - u32::from(is_signed))) - 1;
                match integer(text).filter(|value| (least..=most).contains(value)) {
                    Some(value) => Ok(value as u64 & mask(width)),
                    None => Err(format!("it is a whole number from {least} to {most}")),
                }
            }
            Scalar::Float { width } => {
                let exact = integer(text).map(|value| value as f64).or_else(|| text.parse::<f64>().ok());
                let bits_and_back = |value: f64| match width {
                    16 => (f16::from_f64(value).to_bits().into(), f16::from_f64(value).is_infinite()),
                    32 => ((value as f32).to_bits().into(), (value as f32).is_infinite()),
                    _ => (value.to_bits(), value.is_infinite()),
                };
                match exact.map(|value| (value, bits_and_back(value))) {
                    Some((value, (bits, is_infinite))) if !is_infinite || value.is_infinite() => Ok(bits),
                    _ => Err(format!("it is a number in the range of {self}")),
                }
            }
        }
    }

    /// The words of a constant's literal (specification, section 2.2.1).
    fn literal(self, bits: u64) -> Vec<u32> {
        match self {
            Scalar::Bool => Vec::new(),
            Scalar::Int { width, is_signed: true } if width < 32 => vec![sign_extended(bits, width) as u32],
            Scalar::Int { width, .. } | Scalar::Float { width } if width <= 32 => vec![bits as u32],
            Scalar::Int { .. } | Scalar::Float { .. } => vec![bits as u32, (bits >> 32) as u32],
        }
    }

    /// The bits of a literal; `None` if its length is wrong.
    fn bits(self, literal: &[u32]) -> Option<u64> {
        let bits = match literal {
            [] => 0,
            [low] => u64::from(*low),
            [low, high] => u64::from(*high) << 32 | u64::from(*low),
            _ => return None,
        };
        match self {
            Scalar::Bool => literal.is_empty().then_some(0),
            Scalar::Int { width, .. } | Scalar::Float { width } => {
                (literal.len() as u32 == width.div_ceil(32)).then_some(bits & mask(width))
            }
        }
    }
}

fn mask(width: u32) -> u64 {
    u64::MAX >> (64 - width)
}

fn sign_extended(bits: u64, width: u32) -> u64 {
    ((bits << (64 - width)) as i64 >> (64 - width)) as u64
}

/// Reads a decimal integer, or one with the prefix `0x`, `0o` or `0b`.
fn integer(text: &str) -> Option<i128> {
    let (sign, digits) = match text.strip_prefix('-') {
        Some(digits) => (-1, digits),
        None => (1, text),
    };
    let (radix, digits) = match digits.get(..2) {
        Some("0x") => (16, &digits[2..]),
        Some("0o") => (8, &digits[2..]),
        Some("0b") => (2, &digits[2..]),
        _ => (10, digits),
    };
    let starts_well = digits.starts_with(|c: char| c.is_ascii_alphanumeric());
    i128::from_str_radix(digits, radix).ok().filter(|_| starts_well).map(|value| sign * value)
}

/// Returns the specialisation constants by number; their values are the defaults.
pub fn constants(module: &Words) -> Vec<SpecConstant> {
    let mut ids: HashMap<Id, u32> = HashMap::new();
    for decoration in module.decorations().filter(|decoration| decoration.kind == DECORATION_SPEC_ID) {
        if let [spec_id] = decoration.operands {
            ids.insert(decoration.target, *spec_id);
        }
    }
    if ids.is_empty() {
        return Vec::new();
    }
    let names = module.names();
    let mut types: HashMap<Id, Scalar> = HashMap::new();
    let mut constants = Vec::new();
    for instruction in module.instructions() {
        let (ty, id, literal, truth) = match (instruction.opcode, instruction.operands) {
            (op::TYPE_BOOL, [id]) => {
                types.insert(*id, Scalar::Bool);
                continue;
            }
            (op::TYPE_INT, [id, width @ 1..=64, sign]) => {
                types.insert(*id, Scalar::Int { width: *width, is_signed: *sign == 1 });
                continue;
            }
            (op::TYPE_FLOAT, [id, width @ (16 | 32 | 64)]) => {
                types.insert(*id, Scalar::Float { width: *width });
                continue;
            }
            (op::SPEC_CONSTANT_TRUE, [ty, id]) => (ty, id, &[][..], 1),
            (op::SPEC_CONSTANT_FALSE, [ty, id]) => (ty, id, &[][..], 0),
            (op::SPEC_CONSTANT, [ty, id, literal @ ..]) => (ty, id, literal, 0),
            _ => continue,
        };
        let (Some(ty), Some(spec_id)) = (types.get(ty), ids.get(id)) else { continue };
        let Some(bits) = ty.bits(literal) else { continue };
        let default = bits | truth;
        let name = names.get(id).cloned();
        constants.push(SpecConstant { spec_id: *spec_id, name, ty: *ty, default, value: default, id: *id });
    }
    constants.sort_by_key(|constant| (constant.spec_id, constant.id));
    constants
}

/// Gives constants the values that are wanted. A later value for the same constant replaces an earlier one.
///
/// # Errors
/// Caller, at the value's place: there is no such constant, or its type does not have the value.
pub fn assign(constants: &mut [SpecConstant], wanted: &[SpecValue]) -> Result<()> {
    for SpecValue { constant, value, places } in wanted {
        let at = |error: Error, of: fn(&(Place, Place)) -> &Place| match places {
            Some(places) => error.at(of(places).clone()),
            None => error,
        };
        let spec_id = find(constants, constant).map_err(|error| at(error, |(key, _)| key))?;
        for found in constants.iter_mut().filter(|found| found.spec_id == spec_id) {
            found.value = found.ty.read(value).map_err(|possible| {
                let what = format!("the specialisation constant {} cannot be {value}", found.label());
                at(Error::caller(what).help(format!("its type is {}: {possible}", found.ty)), |(_, value)| value)
            })?;
        }
    }
    Ok(())
}

/// Returns the number of the constant that a key means: a number, or a name.
fn find(constants: &[SpecConstant], key: &str) -> Result<u32> {
    let number = key.parse::<u32>().ok();
    let mut ids: Vec<u32> = constants
        .iter()
        .filter(|constant| Some(constant.spec_id) == number || constant.name.as_deref() == Some(key))
        .map(|constant| constant.spec_id)
        .collect();
    ids.dedup();
    match ids.as_slice() {
        [id] => Ok(*id),
        [] => {
            let error = Error::caller(format!("the kernel has no specialisation constant `{key}`"));
            Err(if constants.is_empty() {
                error.help("leave it out; the kernel has none")
            } else {
                let known: Vec<String> = constants.iter().map(SpecConstant::label).collect();
                error.help(format!("it has {}; they are named by number or by name", known.join(", ")))
            })
        }
        several => {
            let several: Vec<String> = several.iter().map(u32::to_string).collect();
            Err(Error::caller(format!("several specialisation constants have the name `{key}`"))
                .help(format!("name one by its number: {}", several.join(", "))))
        }
    }
}

/// Returns the module in which the constants have their values as defaults.
pub(super) fn set(module: &Words, constants: &[SpecConstant]) -> Words {
    let changed: BTreeMap<Id, &SpecConstant> =
        constants.iter().filter(|constant| constant.value != constant.default).map(|c| (c.id, c)).collect();
    module.rewritten(|instruction, into| {
        let constant = match (instruction.opcode, instruction.operands) {
            (op::SPEC_CONSTANT_TRUE | op::SPEC_CONSTANT_FALSE | op::SPEC_CONSTANT, [ty, id, ..]) => {
                changed.get(id).map(|constant| (ty, constant))
            }
            _ => None,
        };
        let Some((ty, constant)) = constant else {
            words::push(into, instruction.opcode, instruction.operands);
            return;
        };
        let opcode = match (constant.ty, constant.value) {
            (Scalar::Bool, 0) => op::SPEC_CONSTANT_FALSE,
            (Scalar::Bool, _) => op::SPEC_CONSTANT_TRUE,
            (Scalar::Int { .. } | Scalar::Float { .. }, _) => op::SPEC_CONSTANT,
        };
        words::push(into, opcode, &[&[*ty, constant.id], &constant.ty.literal(constant.value)[..]].concat());
    })
}

/// Returns the results of the constants with these numbers.
pub(super) fn ids(constants: &[SpecConstant], numbers: &BTreeSet<u32>) -> HashSet<Id> {
    constants.iter().filter(|constant| numbers.contains(&constant.spec_id)).map(|constant| constant.id).collect()
}

impl SpecConstant {
    /// Returns the number and the name, if it has one, as messages write them.
    pub fn label(&self) -> String {
        match &self.name {
            Some(name) => format!("{} (`{name}`)", self.spec_id),
            None => self.spec_id.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::words::tests::module;
    use super::*;

    const UINT: Scalar = Scalar::Int { width: 32, is_signed: false };

    fn sample() -> Words {
        let tile = u32::from_le_bytes(*b"tile");
        module(&[
            &[op::NAME, 11, tile, 0],
            &[op::DECORATE, 10, DECORATION_SPEC_ID, 3],
            &[op::DECORATE, 11, DECORATION_SPEC_ID, 0],
            &[op::DECORATE, 12, DECORATION_SPEC_ID, 7],
            &[op::TYPE_BOOL, 1],
            &[op::TYPE_INT, 2, 32, 0],
            &[op::TYPE_FLOAT, 3, 64],
            &[op::SPEC_CONSTANT_TRUE, 1, 10],
            &[op::SPEC_CONSTANT, 2, 11, 16],
            &[op::SPEC_CONSTANT, 3, 12, 0, 0x4000_0000],
            &[op::SPEC_CONSTANT, 2, 13, 5],
        ])
    }

    fn value(constant: &str, value: &str) -> SpecValue {
        SpecValue { constant: constant.into(), value: value.into(), places: None }
    }

    #[test]
    fn constants_are_found_and_set() {
        let mut constants = constants(&sample());
        let shown: Vec<String> =
            constants.iter().map(|c| format!("{} {} {}", c.label(), c.ty, c.ty.shown(c.default))).collect();
        assert_eq!(shown, ["0 (`tile`) uint 16", "3 bool true", "7 double 2.0"]);
        assign(&mut constants, &[value("tile", "1"), value("0", "64"), value("3", "false"), value("7", "0.5")])
            .unwrap();
        let set = set(&sample(), &constants);
        let shown: Vec<String> = super::constants(&set).iter().map(|c| c.ty.shown(c.default)).collect();
        assert_eq!(shown, ["64", "false", "0.5"]);
        // What has no number keeps its value, and all else is as before.
        assert!(set.instructions().any(|i| i.operands == [2, 13, 5]));
        assert_eq!(set.instructions().count(), sample().instructions().count());
    }

    #[test]
    fn unknown_constants_and_values_out_of_range_are_refused() {
        let refused =
            |constant: &str, text: &str| assign(&mut constants(&sample()), &[value(constant, text)]).unwrap_err();
        assert!(refused("tiles", "1").to_string().contains("0 (`tile`), 3, 7"));
        assert!(refused("13", "1").to_string().contains("no specialisation constant `13`"));
        assert!(refused("0", "4294967296").to_string().contains("from -2147483648 to 4294967295"));
        assert!(refused("0", "1.5").to_string().contains("its type is uint"));
        assert!(refused("3", "2").to_string().contains("true or false"));
        assert!(refused("7", "much").to_string().contains("range of double"));
    }

    #[test]
    fn values_are_read_and_written_by_type() {
        assert_eq!(UINT.read("-1"), Ok(0xffff_ffff));
        assert_eq!(UINT.read("0x10"), Ok(16));
        assert!(UINT.read("").is_err() && UINT.read("--1").is_err() && UINT.read("0x-1").is_err());
        let narrow = Scalar::Int { width: 8, is_signed: true };
        assert_eq!(
            (narrow.read("-2"), narrow.literal(0xfe), narrow.shown(0xfe)),
            (Ok(0xfe), vec![0xffff_fffe], "-2".into())
        );
        assert!(narrow.read("128").is_err());
        assert_eq!(Scalar::Float { width: 16 }.read("1"), Ok(0x3c00));
        assert!(Scalar::Float { width: 16 }.read("1e6").is_err());
        assert!(Scalar::Float { width: 32 }.read("1e300").is_err() && Scalar::Float { width: 32 }.read("inf").is_ok());
        let long = Scalar::Int { width: 64, is_signed: false };
        assert_eq!((long.read("0xffffffffffffffff"), long.literal(1 << 32)), (Ok(u64::MAX), vec![0, 1]));
        assert_eq!(long.bits(&[1]), None);
    }
}
