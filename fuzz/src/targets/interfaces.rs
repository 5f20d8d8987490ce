//! Interfaces of kernels that suites and interface files are read for.

use std::sync::Arc;

use kassay::interface::{
    Access, AddressSpace, Arg, ArgKind, ArgSource, Field, ImageKind, Interface, Scalar, Struct, Type,
};
use kassay_model::interface::{Evidence, Step, SubGroups};

/// Two interfaces: one with an argument of each kind, and one of which little is known.
pub fn interfaces() -> [Interface; 2] {
    let mut implicit = arg(11, "p.next", "float*", buffer(Some(Type::Scalar(Scalar::F32)), AddressSpace::Global));
    implicit.source = ArgSource::Member { parameter: 4, offset: 16, path: vec![Step::Field("next".into())] };
    let mut variable = arg(12, "total", "int*", buffer(Some(Type::Scalar(Scalar::I32)), AddressSpace::Global));
    variable.source = ArgSource::Variable { initial: Arc::new(vec![0; 8]), has_addresses: false };
    let mut image = arg(7, "img", "image2d_t", ArgKind::Image(ImageKind::D2));
    image.access = Access::ReadOnly;
    let mut written = arg(8, "out", "image3d_t", ArgKind::Image(ImageKind::D3));
    written.access = Access::WriteOnly;
    let known = Interface {
        name: "k".into(),
        args: vec![
            arg(0, "n", "int", ArgKind::Value(Type::Scalar(Scalar::I32))),
            arg(1, "a", "float", ArgKind::Value(Type::Scalar(Scalar::F32))),
            arg(2, "x", "float*", buffer(Some(Type::Scalar(Scalar::F32)), AddressSpace::Global)),
            arg(3, "v", "int3", ArgKind::Value(Type::Vector(Scalar::I32, 3))),
            arg(4, "p", "struct params", ArgKind::Value(params())),
            arg(5, "y", "struct params*", buffer(Some(params()), AddressSpace::Constant)),
            arg(6, "tmp", "ulong*", ArgKind::Local { element: Some(Type::Scalar(Scalar::U64)) }),
            image,
            written,
            arg(9, "smp", "sampler_t", ArgKind::Sampler),
            arg(10, "h", "half4*", buffer(Some(Type::Vector(Scalar::F16, 4)), AddressSpace::Global)),
            implicit,
            variable,
        ],
        required_local: None,
        local_hint: Some([8, 1, 1]),
        max_group: Some(256),
        sub_groups: SubGroups::Unused,
        uniform_groups: false,
        local_variables: Vec::new(),
        indices: Vec::new(),
    };
    let mut guessed = arg(1, "", "int*", buffer(Some(Type::Scalar(Scalar::I32)), AddressSpace::Global));
    (guessed.name, guessed.evidence) = (None, Evidence::Uses);
    let mut unknown = arg(2, "", "void*", buffer(None, AddressSpace::Global));
    (unknown.name, unknown.evidence) = (None, Evidence::Nothing);
    let mut number = arg(0, "", "long", ArgKind::Value(Type::Scalar(Scalar::I64)));
    (number.name, number.evidence) = (None, Evidence::Signless);
    let unnamed = Interface {
        name: "k".into(),
        args: vec![number, guessed, unknown],
        required_local: Some([4, 2, 1]),
        local_hint: None,
        max_group: None,
        sub_groups: SubGroups::Unused,
        uniform_groups: true,
        local_variables: Vec::new(),
        indices: Vec::new(),
    };
    [known, unnamed]
}

fn params() -> Type {
    let field = |name: &str, offset, ty| Field { name: name.into(), offset, ty };
    Type::Struct(Struct {
        name: "params".into(),
        size: 32,
        align: 8,
        fields: vec![
            field("x", 0, Type::Scalar(Scalar::F32)),
            field("y", 4, Type::Array(Box::new(Type::Scalar(Scalar::I16)), 4)),
            field(
                "next",
                16,
                Type::Pointer { name: "float*".into(), pointee: Some(Box::new(Type::Scalar(Scalar::F32))) },
            ),
            field("rest", 24, Type::Opaque { name: "event_t".into(), size: 8 }),
        ],
        is_union: false,
    })
}

fn buffer(element: Option<Type>, space: AddressSpace) -> ArgKind {
    ArgKind::Buffer { element, space }
}

fn arg(position: u32, name: &str, type_name: &str, kind: ArgKind) -> Arg {
    Arg {
        name: Some(name.into()),
        position,
        source: ArgSource::Parameter,
        type_name: type_name.into(),
        kind,
        evidence: Evidence::Recorded,
        access: Access::None,
        is_const: false,
        is_restrict: false,
        is_volatile: false,
    }
}
