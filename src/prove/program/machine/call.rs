//! Distinguishes calls by what an interpreter has to do for them.

use kassay_ir::kernel::builtins::{self, Operation};

use crate::program::ids::{Id, id_of};
use crate::program::{Kind, Shape};

/// A question about the NDRange or the work-item.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Query {
    /// An id or a size in the dimension that the argument says.
    Id(Id),
    /// `get_global_linear_id`.
    GlobalLinearId,
    /// `get_local_linear_id`.
    LocalLinearId,
    /// `get_work_dim`.
    Dimensions,
    /// Sub-groups consist of a single work-item.
    Constant(u8),
}

/// `vload` and `vstore`: the index counts vectors, and memory holds scalars. The half variants convert: memory holds
/// halves, values are wider floats.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct VectorAccess {
    /// Whether it is a `vload`.
    pub is_load: bool,
    /// Whether memory holds halves.
    pub is_half: bool,
    /// The variants `vloada_half` and `vstorea_half`, which align vectors.
    is_aligned: bool,
    /// Bytes of a scalar in memory.
    scalar: u32,
}

impl VectorAccess {
    /// Returns the distance of consecutive vectors in memory, in bytes, for values of this shape.
    pub fn stride(self, value: Shape) -> u64 {
        let lanes = u64::from(value.lanes.max(1));
        u64::from(self.scalar) * if lanes == 3 && self.is_aligned { 4 } else { lanes }
    }

    /// Returns the shape in memory of values of this shape.
    pub fn in_memory(self, value: Shape) -> Shape {
        if self.is_half { Shape { kind: Kind::Float(16), ..value } } else { value }
    }
}

/// An asynchronous copy between global and local memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AsyncCopy {
    /// Bytes of an element, if its type is known.
    pub element: Option<u32>,
    /// Whether it is `async_work_group_strided_copy`.
    pub is_strided: bool,
    /// Whether it is from local memory to global memory.
    pub to_global: bool,
}

impl AsyncCopy {
    /// Returns the distances of consecutive elements at the target and at the source, in elements: `stride` applies to
    /// global memory.
    pub fn strides(self, stride: u64) -> (u64, u64) {
        match (self.is_strided, self.to_global) {
            (false, _) => (1, 1),
            (true, true) => (stride, 1),
            (true, false) => (1, stride),
        }
    }
}

/// An atomic builtin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Atomic {
    /// What it does to the value in memory.
    pub operation: Operation,
    /// The kind of the variable.
    pub kind: Kind,
    /// Whether the variable is a signed integer.
    pub is_signed: bool,
}

/// What is asked about an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ImageQuery {
    /// The width, the height, or the depth or number of layers.
    Side(u8),
    /// All sides as a vector.
    Sides,
    /// The channel's order or type.
    Format,
}

/// What a call does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Call {
    /// Asks for an id or a size.
    Query(Query),
    /// Waits for the other work-items of the group.
    Barrier,
    /// Has no effect on values and memory.
    Idle,
    /// `vload` or `vstore`.
    Vector(VectorAccess),
    /// An asynchronous copy, which is as good as done at once.
    AsyncCopy(AsyncCopy),
    /// An atomic builtin.
    Atomic(Atomic),
    /// `memcpy` and `memmove`.
    Copy,
    /// `memset`.
    Fill,
    /// Asks for a property of an image.
    Image(ImageQuery),
    /// Anything else, above all functions of the operands alone.
    Other,
}

impl Call {
    /// Returns what a call of a function without a body does, given its mangled name, its base name and the type of its
    /// result.
    pub fn of(name: &str, base: &str, result: Shape) -> Call {
        if let Some(query) = query(base) {
            return Call::Query(query);
        }
        let params = builtins::demangle(name).map_or("", |(_, params)| params);
        let pointed = builtins::pointed(params);
        match base {
            "barrier" | "work_group_barrier" | "wait_group_events" => return Call::Barrier,
            // Groups run one after the other here, which is as near as it gets.
            builtins::GRID_BARRIER => return Call::Barrier,
            // A sub-group is one work-item here, see `query`.
            "mem_fence"
            | "read_mem_fence"
            | "write_mem_fence"
            | "atomic_work_item_fence"
            | "prefetch"
            | "sub_group_barrier"
            | "kassay_warp_barrier"
                if result.kind == Kind::Void =>
            {
                return Call::Idle;
            }
            "printf" => return Call::Idle,
            "get_image_width" => return Call::Image(ImageQuery::Side(0)),
            "get_image_height" => return Call::Image(ImageQuery::Side(1)),
            "get_image_depth" | "get_image_array_size" => return Call::Image(ImageQuery::Side(2)),
            "get_image_dim" => return Call::Image(ImageQuery::Sides),
            _ if base.starts_with("get_image_") => return Call::Image(ImageQuery::Format),
            _ => {}
        }
        let is_load = base.starts_with("vload");
        if is_load || base.starts_with("vstore") {
            let (is_half, is_aligned) = (base.contains("half"), base.contains("a_half"));
            let access =
                |(_, scalar)| Call::Vector(VectorAccess { is_load, is_half, is_aligned, scalar: scalar as u32 });
            return pointed.map_or(Call::Other, access);
        }
        if base.starts_with("async_work_group") {
            let element = pointed.map(|pointed| element_bytes(pointed) as u32);
            let (is_strided, to_global) = (base.contains("strided"), params.starts_with("PU3AS1"));
            return Call::AsyncCopy(AsyncCopy { element, is_strided, to_global });
        }
        if let Some(operation) = builtins::operation(base) {
            let scalar = builtins::pointee(params);
            let width = 8 * pointed.map_or(4, |(_, bytes)| bytes) as u32;
            let is_float = scalar.is_some_and(builtins::is_float);
            let kind = if is_float { Kind::Float(width) } else { Kind::Int(width) };
            return Call::Atomic(Atomic { operation, kind, is_signed: scalar.is_some_and(builtins::is_signed) });
        }
        match name.strip_prefix("llvm.") {
            Some(rest) if rest.starts_with("memcpy") || rest.starts_with("memmove") => Call::Copy,
            Some(rest) if rest.starts_with("memset") => Call::Fill,
            Some(_) if result.kind == Kind::Void => Call::Idle,
            _ => Call::Other,
        }
    }
}

fn query(base: &str) -> Option<Query> {
    Some(match base {
        "get_global_linear_id" => Query::GlobalLinearId,
        "get_local_linear_id" => Query::LocalLinearId,
        "get_work_dim" => Query::Dimensions,
        "get_sub_group_size" | "get_max_sub_group_size" | "get_num_sub_groups" => Query::Constant(1),
        "get_sub_group_id" | "get_sub_group_local_id" => Query::Constant(0),
        _ => Query::Id(id_of(base)?),
    })
}

/// Returns the bytes of an element of so many lanes with so many bytes each: vectors of three take the space of four.
fn element_bytes((lanes, scalar): (u64, u64)) -> u64 {
    scalar * if lanes == 3 { 4 } else { lanes }
}

/// Returns the bytes of the type that a mangled pointer points to, and of its scalar: `PU3AS1KDv4_f` gives `(16, 4)`.
pub fn pointee_bytes(params: &str) -> Option<(u64, u64)> {
    let pointed = builtins::pointed(params)?;
    Some((element_bytes(pointed), pointed.1))
}

/// Returns the size of the scalars that a builtin accesses through its pointer, in bytes, given its mangled name.
pub fn scalar_bytes(name: &str) -> Option<u64> {
    Some(builtins::pointed(builtins::demangle(name)?.1)?.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    const VOID: Shape = Shape { kind: Kind::Void, lanes: 0 };
    const INT: Shape = Shape { kind: Kind::Int(32), lanes: 0 };

    #[test]
    fn calls_are_distinguished_by_name() {
        let of = |name: &str, result| {
            let base = builtins::demangle(name).map_or(name, |(base, _)| base);
            Call::of(name, base, result)
        };
        assert_eq!(of("_Z13get_global_idj", INT), Call::Query(Query::Id(Id::Global)));
        assert_eq!(of("_Z18work_group_barrierj", VOID), Call::Barrier);
        assert_eq!(of("_Z9mem_fencej", VOID), Call::Idle);
        assert_eq!(of("llvm.memcpy.p0.p0.i64", VOID), Call::Copy);
        assert_eq!(of("llvm.memset.p0.i64", VOID), Call::Fill);
        assert_eq!(of("llvm.assume", VOID), Call::Idle);
        assert_eq!(of("llvm.umin.i32", INT), Call::Other);
        assert_eq!(of("_Z4sqrtf", INT), Call::Other);
        let Call::Atomic(atomic) = of("_Z10atomic_addPU3AS1Vjj", INT) else { panic!("an atomic") };
        assert_eq!(atomic, Atomic { operation: Operation::Add, kind: Kind::Int(32), is_signed: false });
    }

    #[test]
    fn accesses_of_vectors_have_strides() {
        let of = |name: &str| {
            let base = builtins::demangle(name).map_or(name, |(base, _)| base);
            let Call::Vector(access) = Call::of(name, base, VOID) else { panic!("{name}") };
            access
        };
        let three = Shape { kind: Kind::Float(32), lanes: 3 };
        assert_eq!(of("_Z6vload3mPU3AS1Kf").stride(three), 12);
        assert_eq!(of("_Z12vloada_half3mPU3AS1KDh").stride(three), 8);
        assert_eq!(of("_Z11vload_half3mPU3AS1KDh").stride(three), 6);
        assert_eq!(of("_Z11vload_half3mPU3AS1KDh").in_memory(three), Shape { kind: Kind::Float(16), lanes: 3 });
    }

    #[test]
    fn mangled_parameters_give_sizes() {
        assert_eq!(scalar_bytes("_Z6vload4jPU3AS1Kf"), Some(4));
        assert_eq!(scalar_bytes("_Z3minii"), None);
        assert_eq!(pointee_bytes("PU3AS1KDv3_f"), Some((16, 4)));
    }

    #[test]
    fn asynchronous_copies_stride_in_global_memory() {
        let copy = |to_global| AsyncCopy { element: Some(4), is_strided: true, to_global };
        assert_eq!(copy(true).strides(5), (5, 1));
        assert_eq!(copy(false).strides(5), (1, 5));
        assert_eq!(AsyncCopy { is_strided: false, ..copy(true) }.strides(5), (1, 1));
    }
}
