//! The interface of a kernel: what a launch has to supply, argument by argument.
//!
//! Plain data, read from the module's argument metadata, IR types and debug information by `kernel::signature`.

use std::sync::Arc;

pub use crate::address_space::AddressSpace;
pub use crate::sub_groups::SubGroups;

/// A scalar type of OpenCL C (OpenCL C specification 6.1.1); `bool` cannot be a kernel argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Scalar {
    /// `char`.
    I8,
    /// `uchar`.
    U8,
    /// `short`.
    I16,
    /// `ushort`.
    U16,
    /// `int`.
    I32,
    /// `uint`.
    U32,
    /// `long`.
    I64,
    /// `ulong`.
    U64,
    /// `half`.
    F16,
    /// `float`.
    F32,
    /// `double`.
    F64,
}

impl Scalar {
    /// Size and alignment in bytes.
    pub fn size(self) -> u64 {
        match self {
            Scalar::I8 | Scalar::U8 => 1,
            Scalar::I16 | Scalar::U16 | Scalar::F16 => 2,
            Scalar::I32 | Scalar::U32 | Scalar::F32 => 4,
            Scalar::I64 | Scalar::U64 | Scalar::F64 => 8,
        }
    }

    /// The type of that name; also C's own names, such as `unsigned int`.
    pub fn of_name(name: &str) -> Option<Scalar> {
        Some(match name {
            "char" | "signed char" => Scalar::I8,
            "uchar" | "unsigned char" | "bool" => Scalar::U8,
            "short" => Scalar::I16,
            "ushort" | "unsigned short" => Scalar::U16,
            "int" => Scalar::I32,
            "uint" | "unsigned int" => Scalar::U32,
            "long" | "long long" => Scalar::I64,
            "ulong" | "unsigned long" | "unsigned long long" => Scalar::U64,
            "half" | "_Float16" => Scalar::F16,
            "float" => Scalar::F32,
            "double" => Scalar::F64,
            _ => return None,
        })
    }

    /// The integer type of the same size that is unsigned; others are unchanged.
    pub fn unsigned(self) -> Scalar {
        match self {
            Scalar::I8 => Scalar::U8,
            Scalar::I16 => Scalar::U16,
            Scalar::I32 => Scalar::U32,
            Scalar::I64 => Scalar::U64,
            Scalar::U8 | Scalar::U16 | Scalar::U32 | Scalar::U64 | Scalar::F16 | Scalar::F32 | Scalar::F64 => self,
        }
    }

    /// The integer type of the same size and the other signedness; floating-point types are unchanged.
    pub fn other_sign(self) -> Scalar {
        match self {
            Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64 => self.unsigned(),
            Scalar::U8 => Scalar::I8,
            Scalar::U16 => Scalar::I16,
            Scalar::U32 => Scalar::I32,
            Scalar::U64 => Scalar::I64,
            Scalar::F16 | Scalar::F32 | Scalar::F64 => self,
        }
    }

    /// Returns whether this is a floating-point type.
    pub fn is_float(self) -> bool {
        matches!(self, Scalar::F16 | Scalar::F32 | Scalar::F64)
    }

    /// Returns whether values can be negative; floating-point types count as signed.
    pub fn is_signed(self) -> bool {
        matches!(self, Scalar::I8 | Scalar::I16 | Scalar::I32 | Scalar::I64) || self.is_float()
    }

    /// The name in OpenCL C.
    pub fn name(self) -> &'static str {
        match self {
            Scalar::I8 => "char",
            Scalar::U8 => "uchar",
            Scalar::I16 => "short",
            Scalar::U16 => "ushort",
            Scalar::I32 => "int",
            Scalar::U32 => "uint",
            Scalar::I64 => "long",
            Scalar::U64 => "ulong",
            Scalar::F16 => "half",
            Scalar::F32 => "float",
            Scalar::F64 => "double",
        }
    }
}

/// The type of a value in memory.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Type {
    /// One scalar.
    Scalar(Scalar),
    /// 2, 3, 4, 8 or 16 lanes; three lanes occupy the space of four (OpenCL C specification 6.1.5).
    Vector(Scalar, u32),
    /// So many elements of one type.
    Array(Box<Type>, u64),
    /// A struct or union whose members are known.
    Struct(Struct),
    /// A pointer in a struct that is passed by value; an argument of its own belongs to it ([`ArgSource::Member`]).
    Pointer {
        /// As the source writes it: `float*`.
        name: String,
        /// The type that it points to, if the module records it.
        pointee: Option<Box<Type>>,
    },
    /// A pointer inside any other struct, or anything else that no test can supply; `size` in bytes.
    Opaque {
        /// The type's name in messages.
        name: String,
        /// In bytes.
        size: u64,
    },
}

/// A struct or union with its layout.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Struct {
    /// Empty for an anonymous struct.
    pub name: String,
    /// In bytes, including padding.
    pub size: u64,
    /// Alignment in bytes.
    pub align: u64,
    /// The fields; those of a union overlap.
    pub fields: Vec<Field>,
    /// Whether it is a union.
    pub is_union: bool,
}

/// A field of a struct or union.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Field {
    /// The name, or the index as text if the IR has no names.
    pub name: String,
    /// In bytes from the start of the struct.
    pub offset: u64,
    /// Type of the field.
    pub ty: Type,
}

/// Size of a pointer, in bytes, on the targets that kassay compiles for.
pub const POINTER_BYTES: u64 = 8;

impl Type {
    /// Size in bytes, as `sizeof` gives it.
    pub fn size(&self) -> u64 {
        match self {
            Type::Scalar(s) => s.size(),
            Type::Vector(s, 3) => s.size() * 4,
            Type::Vector(s, lanes) => s.size() * u64::from(*lanes),
            Type::Array(element, len) => element.size().saturating_mul(*len),
            Type::Struct(s) => s.size,
            Type::Pointer { .. } => POINTER_BYTES,
            Type::Opaque { size, .. } => *size,
        }
    }

    /// Natural alignment in bytes (OpenCL C specification 6.1.5).
    pub fn alignment(&self) -> u64 {
        match self {
            Type::Scalar(_) | Type::Vector(..) => self.size(),
            Type::Array(element, _) => element.alignment(),
            Type::Struct(record) => record.align,
            Type::Pointer { .. } | Type::Opaque { size: 8, .. } => 8,
            Type::Opaque { .. } => 1,
        }
    }

    /// The spelling in OpenCL C.
    pub fn name(&self) -> String {
        match self {
            Type::Scalar(s) => s.name().to_owned(),
            Type::Vector(s, lanes) => format!("{}{lanes}", s.name()),
            Type::Array(..) => {
                // As in C, the outermost dimension comes first.
                let (mut element, mut dimensions) = (self, String::new());
                while let Type::Array(inner, len) = element {
                    dimensions += &format!("[{len}]");
                    element = inner;
                }
                element.name() + &dimensions
            }
            Type::Struct(s) => {
                format!("{} {}", if s.is_union { "union" } else { "struct" }, s.name).trim_end().to_owned()
            }
            Type::Pointer { name, .. } | Type::Opaque { name, .. } => name.clone(),
        }
    }
}

/// Access qualifier of an image (or pipe) argument.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Access {
    /// It is no image or pipe.
    None,
    /// `read_only`.
    ReadOnly,
    /// `write_only`.
    WriteOnly,
    /// `read_write`.
    ReadWrite,
}

impl Access {
    /// The spelling in results.
    pub fn name(self) -> &'static str {
        match self {
            Access::None => "none",
            Access::ReadOnly => "read_only",
            Access::WriteOnly => "write_only",
            Access::ReadWrite => "read_write",
        }
    }
}

/// An image type of OpenCL C (OpenCL C specification 6.1.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum ImageKind {
    /// `image1d_t`.
    D1,
    /// `image1d_array_t`.
    D1Array,
    /// `image1d_buffer_t`.
    D1Buffer,
    /// `image2d_t`.
    D2,
    /// `image2d_array_t`.
    D2Array,
    /// `image3d_t`.
    D3,
    /// Depth images and multi-sample images: recognised, but no test can supply them yet.
    Other,
}

impl ImageKind {
    /// The kind of a type such as `image2d_t`, with or without an access qualifier (`image2d_ro_t`).
    pub fn of_name(name: &str) -> Option<ImageKind> {
        let kind = name.strip_prefix("image")?.strip_suffix("_t")?;
        let kind = ["_ro", "_wo", "_rw"].iter().find_map(|access| kind.strip_suffix(access)).unwrap_or(kind);
        Some(match kind {
            "1d" => ImageKind::D1,
            "1d_array" => ImageKind::D1Array,
            "1d_buffer" => ImageKind::D1Buffer,
            "2d" => ImageKind::D2,
            "2d_array" => ImageKind::D2Array,
            "3d" => ImageKind::D3,
            _ => ImageKind::Other,
        })
    }

    /// The name in OpenCL C; `image` for kinds that no test can supply.
    pub fn name(self) -> &'static str {
        match self {
            ImageKind::D1 => "image1d_t",
            ImageKind::D1Array => "image1d_array_t",
            ImageKind::D1Buffer => "image1d_buffer_t",
            ImageKind::D2 => "image2d_t",
            ImageKind::D2Array => "image2d_array_t",
            ImageKind::D3 => "image3d_t",
            ImageKind::Other => "image",
        }
    }
}

/// The kind of an argument.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum ArgKind {
    /// Passed by value.
    Value(Type),
    /// A pointer to `__global` or `__constant` memory, with the element type if the module records it.
    Buffer {
        /// Type of an element, if the module records it.
        element: Option<Type>,
        /// The pointer's address space.
        space: AddressSpace,
    },
    /// A pointer to `__local` memory.
    Local {
        /// Type of an element, if the module records it.
        element: Option<Type>,
    },
    /// An image.
    Image(ImageKind),
    /// A `sampler_t`.
    Sampler,
    /// A type that no launch can supply (a queue, a pipe …), by name.
    Unsupported(String),
}

/// The origin of an argument. Arguments that are not parameters in the source become parameters in the canonical form
/// (`kernel::implicit`), after the kernel's own.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum ArgSource {
    /// A parameter of the kernel.
    Parameter,
    /// A pointer in the struct that the kernel takes by value at position `parameter`.
    Member {
        /// Position of the struct among the kernel's own parameters.
        parameter: u32,
        /// In bytes from the start of the struct.
        offset: u64,
        /// The path from the struct to the pointer.
        path: Vec<Step>,
    },
    /// What the pointers at one place of a buffer's elements point to ([`Interface::indices`]).
    Element,
    /// A program-scope variable in global memory (OpenCL C 2.0, 6.5.1), with its contents when the program is loaded.
    Variable {
        /// The contents when the program is loaded, with zeros in the place of addresses.
        initial: Arc<Vec<u8>>,
        /// Whether it begins with addresses of other variables, which the kernel stores when it begins.
        #[serde(default)]
        has_addresses: bool,
    },
}

/// A step from a type to a part of it.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Step {
    /// The member with this name.
    Field(String),
    /// The element with this index.
    Index(u64),
}

/// Where the type of an argument is known from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Evidence {
    /// The user declares it.
    Declared,
    /// The module records the source's type: in debug information or argument metadata, or because no other is
    /// possible.
    Recorded,
    /// The module's own types, which have sizes but no signedness: that of integers is a guess from their uses.
    Signless,
    /// The uses of the argument in the code: a guess.
    Uses,
    /// Nothing: the element type is not known.
    Nothing,
}

/// One argument of a kernel.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Arg {
    /// `None` if the IR has no names; tests then use the position.
    pub name: Option<String>,
    /// From 0; implicit arguments follow the kernel's own.
    pub position: u32,
    /// Whether it is a parameter in the source, and if not, where it comes from.
    pub source: ArgSource,
    /// The type as the source writes it, with typedefs resolved: `float*`, `struct params`, `image2d_t`.
    pub type_name: String,
    /// What a launch has to pass.
    pub kind: ArgKind,
    /// Where the type is known from.
    pub evidence: Evidence,
    /// Access qualifier of an image.
    pub access: Access,
    /// Whether it points to `const` data.
    pub is_const: bool,
    /// Whether the pointer is `restrict`.
    pub is_restrict: bool,
    /// Whether it points to `volatile` data.
    pub is_volatile: bool,
}

impl Arg {
    /// Returns whether this is a parameter of the kernel in its source.
    pub fn is_parameter(&self) -> bool {
        self.source == ArgSource::Parameter
    }

    /// Returns whether tests give this by its own name among the kernel's arguments.
    pub fn is_given(&self) -> bool {
        matches!(self.source, ArgSource::Parameter | ArgSource::Element)
    }

    /// Returns whether this is the buffer of a pointer in a struct.
    pub fn is_member(&self) -> bool {
        matches!(self.source, ArgSource::Member { .. })
    }

    /// The address space of the argument's memory; `Private` for values.
    pub fn address_space(&self) -> AddressSpace {
        match &self.kind {
            ArgKind::Buffer { space, .. } => *space,
            ArgKind::Local { .. } => AddressSpace::Local,
            ArgKind::Image(_) => AddressSpace::Global,
            _ => AddressSpace::Private,
        }
    }

    /// The name, or the position as text.
    pub fn label(&self) -> String {
        self.name.clone().unwrap_or_else(|| self.position.to_string())
    }

    /// The name in messages: the argument's own, or `argument 0`.
    pub fn display_name(&self) -> String {
        self.name.clone().unwrap_or_else(|| format!("argument {}", self.position))
    }
}

/// A `__local` variable declared in the kernel (or in a function that it calls).
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct LocalVariable {
    /// Name of the variable in the source.
    pub name: String,
    /// In bytes.
    pub size: u64,
}

/// What a launch of the kernel has to supply, and the work-group sizes that it accepts.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Interface {
    /// The name of the kernel function.
    pub name: String,
    /// The kernel's parameters, then its implicit arguments, each at its position.
    pub args: Vec<Arg>,
    /// The attribute `reqd_work_group_size`.
    pub required_local: Option<[u64; 3]>,
    /// The attribute `work_group_size_hint`.
    pub local_hint: Option<[u64; 3]>,
    /// The most work-items that a work-group may have (`__launch_bounds__`).
    pub max_group: Option<u64>,
    /// Whether all work-groups of a launch must have the same size: before OpenCL C 2.0,
    /// and with `-cl-uniform-work-group-size`.
    pub uniform_groups: bool,
    /// What it says of sub-groups.
    pub sub_groups: SubGroups,
    /// Static `__local` variables of the kernel and of the functions that it calls.
    pub local_variables: Vec<LocalVariable>,
    /// What stands in buffers for the pointers of the source.
    pub indices: Vec<HeldIndex>,
}

/// Where a launch puts indices into a buffer for pointers, whose addresses it does not know: an integer of 64 bits in
/// each element. -1 is a null pointer where pointers lead back into the same buffer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct HeldIndex {
    /// Position of the buffer that holds them.
    pub parameter: u32,
    /// Where in an element of that buffer, in bytes.
    pub offset: u64,
    /// Position of the buffer that they lead into; it may be the same one.
    pub into: u32,
    /// By how many bytes an index steps: the size of what the pointer points to, or 1.
    pub unit: u64,
}

impl HeldIndex {
    /// Whether they lead to other elements of the buffer that holds them, as the links of a list do.
    pub fn leads_back(&self) -> bool {
        self.into == self.parameter
    }
}

impl Interface {
    /// The kernel's parameters.
    pub fn parameters(&self) -> impl Iterator<Item = &Arg> {
        self.args.iter().filter(|a| a.is_parameter())
    }

    /// The arguments that tests give by their own names: the parameters, and what pointers in buffers point to.
    pub fn given(&self) -> impl Iterator<Item = &Arg> {
        self.args.iter().filter(|a| a.is_given())
    }

    /// Returns whether the user declares the type of an argument.
    pub fn is_declared(&self) -> bool {
        self.args.iter().any(|arg| arg.evidence == Evidence::Declared)
    }

    /// The argument for the pointer at offset `at` of the struct that the kernel takes by value at `position`.
    pub fn member(&self, position: u32, at: u64) -> Option<&Arg> {
        let is_it = |a: &&Arg| matches!(a.source, ArgSource::Member { parameter, offset, .. } if (parameter, offset) == (position, at));
        self.args.iter().find(is_it)
    }
}
