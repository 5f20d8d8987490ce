//! Resolves declared types: finds structs by name and lays out their fields.

use kassay_base::error::{Error, Result};
use kassay_model::interface::{Field, ImageKind, POINTER_BYTES, Scalar, Struct, Type};

use super::spelling::{Spelling, is_word};
use super::table::{FieldEntry, StructEntry};
use crate::de::At;
use crate::document::{Source, suggestion};

/// Limit on structs in structs; a deeper one contains itself.
const MAX_DEPTH: u32 = 32;

/// Upper bound on the bytes of a type.
const LARGEST: u64 = 1 << 32;

/// Upper bound on the fields of a struct, with those of its fields: structs in structs can double them at each level.
const MOST_FIELDS: u64 = 1 << 16;

/// The structs of a file.
#[derive(Clone, Copy)]
pub struct Types<'a> {
    /// The file.
    pub source: &'a Source,
    /// Its structs.
    pub structs: &'a [At<StructEntry>],
}

/// The type of an argument.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArgType {
    pub spelling: Spelling,
    /// The spelling in OpenCL C, without qualifiers: `uint*`.
    pub name: String,
    pub form: Form,
}

/// What kind of type it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Form {
    Value(Type),
    /// `None` for `void*`.
    Pointer(Option<Type>),
    Image(ImageKind),
    Sampler,
    /// None that is declared or that OpenCL C has; the module may have it.
    Unknown,
}

impl Types<'_> {
    /// Checks all structs, whether arguments use them or not.
    ///
    /// # Errors
    /// `Caller`, with its place.
    pub fn check(&self) -> Result<()> {
        for (i, At { value: entry, .. }) in self.structs.iter().enumerate() {
            let name = &entry.name;
            if !is_word(&name.value) || name.value == "void" || arithmetic(&name.value).is_some() {
                let what = format!("`{}` cannot be the name of a struct", name.value);
                return Err(self.source.error(&name.span, what).help("give it a name of C, without `struct`"));
            }
            if self.structs[..i].iter().any(|other| other.value.name.value == name.value) {
                let what = format!("the struct `{}` is declared twice", name.value);
                return Err(self.source.error(&name.span, what).help("leave one of them"));
            }
            self.record(entry, true, MAX_DEPTH)?;
        }
        Ok(())
    }

    /// Resolves the type of an argument. What is not spelt like a type may be a name that only the module knows.
    ///
    /// # Errors
    /// `Caller`, with its place, if a struct is wrong.
    pub fn of_argument(&self, at: &At<String>) -> Result<ArgType> {
        let spelling = Spelling::of(&at.value).unwrap_or_else(|| Spelling::plain_name(&at.value));
        let base = |is_value| self.base(&spelling, is_value, MAX_DEPTH);
        let form = match (spelling.pointers, ImageKind::of_name(&spelling.base)) {
            (0, Some(kind)) => Form::Image(kind),
            (0, None) if spelling.base == "sampler_t" => Form::Sampler,
            (0, None) => match base(true)? {
                Some(ty) => Form::Value(self.array(at, ty, &spelling.dimensions)?),
                None => Form::Unknown,
            },
            (1, _) if spelling.base == "void" => Form::Pointer(None),
            (1, _) => base(false)?.map_or(Form::Unknown, |ty| Form::Pointer(Some(ty))),
            (pointers, _) => {
                let name = format!("{}{}", spelling.base, "*".repeat(pointers - 1));
                Form::Pointer(Some(Type::Opaque { name, size: POINTER_BYTES }))
            }
        };
        let name = match &form {
            Form::Value(ty @ (Type::Scalar(_) | Type::Vector(..))) => ty.name(),
            Form::Pointer(Some(ty @ (Type::Scalar(_) | Type::Vector(..)))) => format!("{}*", ty.name()),
            Form::Value(_) | Form::Pointer(_) | Form::Image(_) | Form::Sampler | Form::Unknown => spelling.plain(),
        };
        Ok(ArgType { spelling, name, form })
    }

    /// Resolves the type of a variable's elements.
    ///
    /// # Errors
    /// `Caller`, with its place, if it is not one.
    pub fn of_elements(&self, at: &At<String>) -> Result<Type> {
        self.in_memory(at, false, MAX_DEPTH)
    }

    /// Returns the error for a type that nothing declares.
    pub fn unknown(&self, at: &At<String>) -> Error {
        if let Err(error) = self.spelling(at) {
            return error;
        }
        let names: Vec<&str> = self.structs.iter().map(|entry| entry.value.name.value.as_str()).collect();
        let help = match names.is_empty() {
            true => "give a type of OpenCL C, such as uint or float4*; a struct is declared by [[struct]]".to_owned(),
            false => suggestion(&at.value, &names, "the structs that are declared"),
        };
        self.source.error(&at.span, format!("there is no type `{}`", at.value)).help(help)
    }

    fn spelling(&self, at: &At<String>) -> Result<Spelling> {
        Spelling::of(&at.value).ok_or_else(|| {
            let what = format!("`{}` is not spelt like a type", at.value);
            self.source.error(&at.span, what).help("write it as in OpenCL C: uint, const float4*, int[4], struct P")
        })
    }

    /// The type in a struct or in a buffer. Pointers are arguments of their own in structs that are passed by value.
    fn in_memory(&self, at: &At<String>, is_value: bool, depth: u32) -> Result<Type> {
        let spelling = self.spelling(at)?;
        let base = match spelling.base.as_str() {
            "void" if spelling.pointers > 0 => None,
            _ => {
                Some(self.base(&spelling, is_value && spelling.pointers == 0, depth)?.ok_or_else(|| self.unknown(at))?)
            }
        };
        let name = format!("{}{}", spelling.base, "*".repeat(spelling.pointers));
        let ty = match (spelling.pointers, base) {
            (0, Some(base)) => base,
            (1, pointee) if is_value => Type::Pointer { name, pointee: pointee.map(Box::new) },
            (_, _) if is_value => {
                let pointee = Type::Opaque { name: name[..name.len() - 1].to_owned(), size: POINTER_BYTES };
                Type::Pointer { name, pointee: Some(Box::new(pointee)) }
            }
            (_, _) => Type::Opaque { name, size: POINTER_BYTES },
        };
        self.array(at, ty, &spelling.dimensions)
    }

    /// An array of arrays, or the type itself if there are no dimensions.
    fn array(&self, at: &At<String>, element: Type, dimensions: &[u64]) -> Result<Type> {
        let ty = dimensions.iter().rev().fold(element, |element, count| Type::Array(Box::new(element), *count));
        if ty.size() > LARGEST {
            let what = format!("`{}` would have more than {LARGEST} bytes", at.value);
            return Err(self.source.error(&at.span, what).help("correct the lengths of the array"));
        }
        Ok(ty)
    }

    /// The type that the base of a spelling names, if there is one.
    fn base(&self, spelling: &Spelling, is_value: bool, depth: u32) -> Result<Option<Type>> {
        if let Some(ty) = arithmetic(&spelling.base) {
            return Ok(Some(ty));
        }
        let found = self.structs.iter().find(|entry| entry.value.name.value == spelling.struct_name());
        // What a pointer leads to is not laid out here if it is the struct that contains the pointer.
        found.map(|entry| self.record(&entry.value, is_value, depth)).transpose()
    }

    fn record(&self, entry: &StructEntry, is_value: bool, depth: u32) -> Result<Type> {
        let Some(depth) = depth.checked_sub(1) else {
            let what = format!("the struct `{}` contains itself", entry.name.value);
            return Err(self.source.error(&entry.name.span, what).help("a struct may hold pointers to itself only"));
        };
        let is_union = entry.union;
        let mut fields: Vec<Field> = Vec::new();
        let mut end = 0;
        for At { value: given, span } in &entry.fields {
            let field = self.field(given, is_value && !is_union, if is_union { 0 } else { end }, depth)?;
            if fields.iter().any(|other| other.name == field.name) {
                let what = format!("the struct `{}` has two fields `{}`", entry.name.value, field.name);
                return Err(self.source.error(&given.name.span, what).help("give each its own name"));
            }
            // Bit-fields share bytes.
            if !is_union && field.offset < end && given.size.is_none() {
                let at = given.offset.as_ref().map_or(span, |offset| &offset.span);
                let what = format!("the field `{}` begins before the end of the field in front of it", field.name);
                return Err(self.source.error(at, what).help(format!("the next free offset is {end}")));
            }
            end = end.max(field.offset.saturating_add(field.ty.size()));
            if end > LARGEST {
                let what = format!("the struct `{}` would have more than {LARGEST} bytes", entry.name.value);
                return Err(self.source.error(span, what).help("correct the field's type or its offset"));
            }
            fields.push(field);
        }
        if fields.iter().map(|field| parts(&field.ty)).sum::<u64>() > MOST_FIELDS {
            let what =
                format!("the struct `{}` has more than {MOST_FIELDS} fields, with those in them", entry.name.value);
            return Err(self.source.error(&entry.name.span, what).help("declare arrays instead of fields"));
        }
        if fields.is_empty() {
            let what = format!("the struct `{}` has no fields", entry.name.value);
            return Err(self.source.error(&entry.name.span, what).help("give at least one"));
        }
        let natural = fields.iter().map(|field| field.ty.alignment()).max().unwrap_or(1);
        let declared_size = entry.size.as_ref().map(|size| size.value);
        let misplaced = |field: &Field| !field.offset.is_multiple_of(field.ty.alignment());
        let is_packed = declared_size.is_some_and(|size| !size.is_multiple_of(natural)) || fields.iter().any(misplaced);
        let natural = if is_packed { 1 } else { natural };
        if let Some(at) = entry.size.iter().chain(&entry.align).find(|at| at.value > LARGEST) {
            let what = format!("{} bytes are more than the {LARGEST} that a struct may have", at.value);
            return Err(self.source.error(&at.span, what).help("correct the number"));
        }
        let align = entry.align.as_ref().map_or(natural, |align| align.value.max(1));
        let size = declared_size.unwrap_or_else(|| end.next_multiple_of(align));
        if let Some(at) = entry.size.as_ref().filter(|at| at.value < end) {
            let what = format!("the fields of `{}` need {end} bytes, not {size}", entry.name.value);
            return Err(self.source.error(&at.span, what).help("correct the size, or types and offsets of the fields"));
        }
        Ok(Type::Struct(Struct { name: entry.name.value.clone(), size, align, fields, is_union }))
    }

    /// A field; `free` is the end of the field in front of it.
    fn field(&self, given: &FieldEntry, is_value: bool, free: u64, depth: u32) -> Result<Field> {
        if !is_word(&given.name.value) {
            let what = format!("`{}` cannot be the name of a field", given.name.value);
            return Err(self.source.error(&given.name.span, what).help("give it a name of C, or its number"));
        }
        let ty = match &given.size {
            Some(size) => Type::Opaque { name: given.type_name.value.clone(), size: size.value },
            None => self.field_type(given, is_value, depth)?,
        };
        let offset = given.offset.as_ref().map_or_else(|| free.next_multiple_of(ty.alignment()), |at| at.value);
        Ok(Field { name: given.name.value.clone(), offset, ty })
    }

    /// The type of a field. Pointers to a struct that is being laid out end at their name.
    fn field_type(&self, given: &FieldEntry, is_value: bool, depth: u32) -> Result<Type> {
        let at = &given.type_name;
        let spelling = self.spelling(at)?;
        if spelling.pointers > 0 && !is_value {
            let is_struct = self.structs.iter().any(|entry| entry.value.name.value == spelling.struct_name());
            if !is_struct && spelling.base != "void" && arithmetic(&spelling.base).is_none() {
                return Err(self.unknown(at));
            }
            let name = format!("{}{}", spelling.base, "*".repeat(spelling.pointers));
            return self.array(at, Type::Opaque { name, size: POINTER_BYTES }, &spelling.dimensions);
        }
        self.in_memory(at, is_value, depth)
    }
}

/// The number of fields that a type has, itself included.
fn parts(ty: &Type) -> u64 {
    match ty {
        Type::Struct(record) => 1 + record.fields.iter().map(|field| parts(&field.ty)).sum::<u64>(),
        Type::Array(element, _) => parts(element),
        Type::Pointer { pointee, .. } => 1 + pointee.as_deref().map_or(0, parts),
        Type::Scalar(_) | Type::Vector(..) | Type::Opaque { .. } => 1,
    }
}

/// The scalar or vector type of that name.
pub fn arithmetic(name: &str) -> Option<Type> {
    let atomic = || match name {
        "atomic_int" => Some(Scalar::I32),
        "atomic_uint" => Some(Scalar::U32),
        "atomic_long" => Some(Scalar::I64),
        "atomic_ulong" => Some(Scalar::U64),
        "atomic_half" => Some(Scalar::F16),
        "atomic_float" => Some(Scalar::F32),
        "atomic_double" => Some(Scalar::F64),
        _ => None,
    };
    if let Some(scalar) = Scalar::of_name(name).or_else(atomic) {
        return Some(Type::Scalar(scalar));
    }
    let digits = name.len() - name.trim_end_matches(|c: char| c.is_ascii_digit()).len();
    let (base, lanes) = name.split_at(name.len() - digits);
    match (Scalar::of_name(base), lanes.parse()) {
        (Some(scalar), Ok(lanes @ (2 | 3 | 4 | 8 | 16))) => Some(Type::Vector(scalar, lanes)),
        _ => None,
    }
}
