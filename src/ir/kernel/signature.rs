//! Reads a kernel's interface from its module: argument metadata, debug information, IR types.
//!
//! They complement each other: metadata has signedness, access and qualifiers (OpenCL's SPIR specification 2.8); debug
//! information has the fields of structs; IR types are always present. Not for values or launches.

use inkwell::module::Module;
use kassay_base::error::{Error, Result};
use kassay_model::interface::{
    Access, AddressSpace, Arg, ArgKind, ArgSource, Evidence, ImageKind, Interface, LocalVariable, Type,
};

use super::canonical;
use super::debug_types::{DebugTypes, Param};
use super::ir_types::{self, from_c, from_ir, value_from_ir};
use super::module::{is_kernel, kernels, listed};
use super::uses;
use crate::llvm::{self, AttributeIndex, Function, Global, Operand, TypeKind, Value, View};

/// The interface of the kernel of that name. Prints the complete module to text, for the types in
/// its debug information.
///
/// # Errors
/// Caller: the module has no such kernel; the message lists those it has.
pub fn interface(module: &Module, kernel: &str) -> Result<Interface> {
    let debug = DebugTypes::read(&module.print_to_string().to_string_lossy());
    interface_with(module, kernel, &debug)
}

/// The interfaces of all kernels, in the module's order.
///
/// # Errors
/// None of its own.
pub fn interfaces(module: &Module) -> Result<Vec<Interface>> {
    let debug = DebugTypes::read(&module.print_to_string().to_string_lossy());
    kernels(module).iter().map(|kernel| interface_with(module, kernel, &debug)).collect()
}

fn interface_with(module: &Module, kernel: &str, debug: &DebugTypes) -> Result<Interface> {
    let view = View::of(module);
    let function = view.function(kernel).filter(|f| is_kernel(*f)).ok_or_else(|| {
        Error::caller(format!("there is no kernel `{kernel}`"))
            .help(format!("name one of: {}", listed(&kernels(module))))
    })?;
    let body = canonical::body_of(view, function);
    let reader = Reader { module, view, debug, function, body };
    Ok(Interface {
        name: kernel.to_owned(),
        args: reader.args(kernel),
        required_local: reader.size("reqd_work_group_size"),
        local_hint: reader.size("work_group_size_hint"),
        max_group: function.metadata(view.metadata_kind(LAUNCH_BOUNDS)).and_then(|node| node.operand(0).number()),
        uniform_groups: reader.has_uniform_groups(),
        sub_groups: super::sub_groups::of(view, function),
        local_variables: local_variables(view, function),
        indices: Vec::new(),
    })
}

/// The kind of metadata in which CUDA's front end leaves `__launch_bounds__`.
const LAUNCH_BOUNDS: &str = "kassay.launch_bounds";

struct Reader<'m, 'c> {
    module: &'m Module<'c>,
    view: View<'m>,
    debug: &'m DebugTypes,
    function: Function<'m>,
    /// clang's function with the kernel's body, which may hold metadata that the kernel lacks.
    body: Option<Function<'m>>,
}

/// The metadata of one argument.
#[derive(Default)]
struct ArgMetadata {
    space: Option<u64>,
    access: Option<String>,
    ty: Option<String>,
    base: Option<String>,
    qualifiers: Option<String>,
    name: Option<String>,
}

impl<'m> Reader<'m, '_> {
    fn metadata(&self, kind: &str) -> Vec<Operand<'m>> {
        let kind = self.view.metadata_kind(kind);
        let found = self.function.metadata(kind).or_else(|| self.body?.metadata(kind));
        found.map(llvm::Node::operands).unwrap_or_default()
    }

    /// clang's attribute if there is one; for modules from other producers, whether the OpenCL C version is 1.x.
    fn has_uniform_groups(&self) -> bool {
        match self.function.attributes(AttributeIndex::Function).text("uniform-work-group-size") {
            Some(text) => text != "false",
            None => {
                let version = self.module.get_global_metadata("opencl.ocl.version");
                let major = version.first().and_then(|node| node.get_node_values()?.first().copied());
                major.is_some_and(|m| m.is_int_value() && m.into_int_value().get_zero_extended_constant() == Some(1))
            }
        }
    }

    fn size(&self, kind: &str) -> Option<[u64; 3]> {
        let numbers: Vec<u64> = self.metadata(kind).iter().filter_map(Operand::number).collect();
        numbers.try_into().ok()
    }

    fn args(&self, kernel: &str) -> Vec<Arg> {
        let texts = |kind: &str| self.texts(kind);
        let spaces = self.metadata("kernel_arg_addr_space");
        let (access, types) = (texts("kernel_arg_access_qual"), texts("kernel_arg_type"));
        let (bases, qualifiers) = (texts("kernel_arg_base_type"), texts("kernel_arg_type_qual"));
        let names = texts("kernel_arg_name");
        let params = self.function.params();
        // Only if both lists have the same length: optimisers may drop parameters.
        let declared = self.debug.params(kernel).filter(|declared| declared.len() == params.len());
        let at = |list: &[Option<String>], i: usize| list.get(i).cloned().flatten();
        let described = |i: usize| ArgMetadata {
            space: spaces.get(i).and_then(Operand::number),
            access: at(&access, i),
            ty: at(&types, i).map(|ty| ir_types::normal_spelling(&ty)),
            // Translators of SPIR-V make it up from the module's types.
            base: at(&bases, i).filter(|_| !self.is_from_spirv()).map(|ty| ir_types::normal_spelling(&ty)),
            qualifiers: at(&qualifiers, i),
            name: at(&names, i).filter(|name| !name.is_empty()),
        };
        let declared = |i: usize| declared.as_ref().map(|declared| &declared[i]);
        params.iter().enumerate().map(|(i, param)| self.arg(i as u32, *param, described(i), declared(i))).collect()
    }

    fn arg(&self, position: u32, param: Value<'m>, described: ArgMetadata, declared: Option<&Param>) -> Arg {
        let ir_name = || Some(param.name()).filter(|name| !name.is_empty());
        let declared_name = || declared.and_then(|declared| declared.name.clone());
        let name = described.name.clone().or_else(declared_name).or_else(ir_name);
        let debug_type = declared.map(|declared| declared.ty);
        let (kind, evidence, ir_access) = self.kind(position, param, &described, debug_type);
        let access = match described.access.as_deref() {
            Some("read_only") => Access::ReadOnly,
            Some("write_only") => Access::WriteOnly,
            Some("read_write") => Access::ReadWrite,
            _ => ir_access,
        };
        let qualified = |word: &str| {
            let qualifiers = described.qualifiers.as_deref();
            qualifiers.map(|qualifiers| qualifiers.split_whitespace().any(|qualifier| qualifier == word))
        };
        let is_constant = matches!(&kind, ArgKind::Buffer { space: AddressSpace::Constant, .. });
        let has = |attribute: &str| self.parameter_attributes(position).has(attribute);
        // `NoWrite` in SPIR-V. In LLVM IR it may be an optimiser's finding.
        let is_unwritten = || self.is_from_spirv() && has("readonly");
        let declared_const =
            || is_constant || debug_type.is_some_and(|ty| self.debug.points_to_const(ty)) || is_unwritten();
        // Translators of SPIR-V write no qualifiers if they have none.
        let from_source = |is: &bool| *is || !self.is_from_spirv() || self.has_types_of_source();
        let written = match (&described.base, &described.ty) {
            // Anonymous structs have an empty spelling.
            (Some(base), _) if !base.trim_end_matches('*').is_empty() => Some(base.clone()),
            (_, ty) => ty.clone(),
        };
        let written = written.filter(|_| self.has_types_of_source() || !is_typed(&kind));
        // For a pipe, the recorded type is that of its packets.
        let is_pipe = matches!(&kind, ArgKind::Unsupported(name) if name == "pipe");
        let written = written.map(|ty| if is_pipe { format!("pipe {ty}") } else { ty });
        Arg {
            name,
            position,
            source: ArgSource::Parameter,
            type_name: written.unwrap_or_else(|| spelling(&kind)),
            kind,
            evidence,
            access,
            is_const: qualified("const").filter(from_source).unwrap_or_else(declared_const),
            is_restrict: qualified("restrict").filter(from_source).unwrap_or_else(|| has("noalias")),
            is_volatile: qualified("volatile").unwrap_or(false),
        }
    }

    fn parameter_attributes(&self, position: u32) -> llvm::Attributes<'m> {
        self.function.attributes(AttributeIndex::Parameter(position))
    }

    fn is_from_spirv(&self) -> bool {
        self.module.get_global_metadata_size("spirv.Source") > 0
            || self.module.get_global_metadata_size("spirv.Generator") > 0
    }

    fn texts(&self, kind: &str) -> Vec<Option<String>> {
        self.metadata(kind).iter().map(|operand| operand.text().map(str::to_owned)).collect()
    }

    /// Returns whether the types in the argument metadata are the source's. Translators of SPIR-V derive both lists
    /// from the module's types, in which integers have no signedness and the backend's pointers no element type
    /// (`char*`), unless the module has the source's types as strings (`kernel_arg_type.NAME.…`).
    fn has_types_of_source(&self) -> bool {
        !self.is_from_spirv() || self.texts("kernel_arg_type") != self.texts("kernel_arg_base_type")
    }

    fn kind(
        &self,
        position: u32,
        param: Value<'m>,
        described: &ArgMetadata,
        debug_type: Option<u32>,
    ) -> (ArgKind, Evidence, Access) {
        let ty = param.ty();
        let layout = self.view.layout();
        let written = described.base.as_deref().or(described.ty.as_deref()).unwrap_or_default();
        let plain = |kind: ArgKind| (kind, Evidence::Recorded, Access::None);
        let image = |kind: ImageKind| (ArgKind::Image(kind), Evidence::Recorded, image_access(ty));
        let unsupported = |name: &str| plain(ArgKind::Unsupported(name.to_owned()));
        if described.qualifiers.as_deref().is_some_and(|qualifiers| qualifiers.split(' ').any(|word| word == "pipe")) {
            return unsupported("pipe");
        }
        if let Some(kind) = ir_types::image_kind(written) {
            return image(kind);
        }
        match written {
            "sampler_t" => return plain(ArgKind::Sampler),
            "queue_t" | "event_t" | "clk_event_t" | "reserve_id_t" | "ndrange_t" => return unsupported(written),
            _ => {}
        }
        match ty.kind() {
            TypeKind::LLVMTargetExtTypeKind => {
                let (name, params) = ty.target_extension().unwrap_or_default();
                match name.as_str() {
                    "spirv.Image" => image(ir_types::spirv_image_kind(&params)),
                    "spirv.Sampler" => plain(ArgKind::Sampler),
                    _ => unsupported(&name),
                }
            }
            TypeKind::LLVMPointerTypeKind => {
                let (kind, evidence) = self.pointer(position, param, described, debug_type);
                (kind, evidence, Access::None)
            }
            _ => {
                let size = if ty.is_sized() { layout.abi_size(ty) } else { 0 };
                let fits = |found: &Type| found.size() == size;
                let value = debug_type.and_then(|id| self.debug.resolve(id)).filter(fits);
                let is_recorded = value.is_some() || (!written.is_empty() && self.has_types_of_source());
                let value = value.or_else(|| from_c(written, self.view).filter(fits));
                match value.or_else(|| from_ir(ty, layout)) {
                    Some(value) if is_recorded => plain(ArgKind::Value(value)),
                    Some(value) => {
                        let value = uses::with_sign_of(value, param);
                        (ArgKind::Value(value.clone()), signless(&value), Access::None)
                    }
                    None => unsupported(if written.is_empty() { "value of an unknown type" } else { written }),
                }
            }
        }
    }

    fn pointer(
        &self,
        position: u32,
        param: Value<'m>,
        described: &ArgMetadata,
        debug_type: Option<u32>,
    ) -> (ArgKind, Evidence) {
        let layout = self.view.layout();
        let written = described.base.as_deref().or(described.ty.as_deref()).unwrap_or_default();
        if let Some(by_value) = self.function.by_value_type(position) {
            let size = layout.abi_size(by_value);
            let recorded = debug_type.and_then(|id| self.debug.resolve_value(id)).filter(|value| value.size() == size);
            let evidence = if recorded.is_some() { Evidence::Recorded } else { Evidence::Signless };
            return match recorded.or_else(|| value_from_ir(by_value, layout)) {
                Some(value) => (ArgKind::Value(value), evidence),
                None => (ArgKind::Unsupported(written.to_owned()), Evidence::Recorded),
            };
        }
        let (element, evidence) = self.element(param, written, debug_type);
        let element = || element.clone();
        // The metadata's address space applies if a translator lost it in the IR.
        let kind = match (param.ty().address_space().unwrap_or_default(), described.space) {
            (1, _) => ArgKind::Buffer { element: element(), space: AddressSpace::Global },
            (2, _) => ArgKind::Buffer { element: element(), space: AddressSpace::Constant },
            (3, _) => ArgKind::Local { element: element() },
            (4, Some(1)) => ArgKind::Buffer { element: element(), space: AddressSpace::Global },
            (4, Some(2)) => ArgKind::Buffer { element: element(), space: AddressSpace::Constant },
            (4, Some(3)) => ArgKind::Local { element: element() },
            (space, _) => ArgKind::Unsupported(if written.is_empty() {
                format!("pointer to address space {space}")
            } else {
                written.to_owned()
            }),
        };
        (kind, evidence)
    }

    /// The element type of a pointer, if anything tells it, and what does.
    fn element(&self, param: Value<'m>, written: &str, debug_type: Option<u32>) -> (Option<Type>, Evidence) {
        let layout = self.view.layout();
        let known = |element: Option<Type>, evidence| match element {
            Some(element) => (Some(element), evidence),
            None => (None, Evidence::Nothing),
        };
        if let Some(pointer) = debug_type {
            let pointee = self.debug.pointee(pointer).and_then(|pointee| self.debug.resolve_value(pointee));
            return known(pointee, Evidence::Recorded);
        }
        match written.strip_suffix('*').map(str::trim) {
            Some("void") => (None, Evidence::Nothing),
            Some(declared) if self.has_types_of_source() => known(from_c(declared, self.view), Evidence::Recorded),
            // What every pointer of untyped front ends looks like, too.
            Some("char") | None => known(uses::element(param, layout), Evidence::Uses),
            Some(declared) => match from_c(declared, self.view) {
                Some(element) => {
                    let element = uses::with_sign_of_elements(element, param, layout);
                    let evidence = signless(&element);
                    (Some(element), evidence)
                }
                None => known(uses::element(param, layout), Evidence::Uses),
            },
        }
    }
}

/// Returns whether an argument of this kind has a type of the source that SPIR-V does not record in full.
fn is_typed(kind: &ArgKind) -> bool {
    matches!(kind, ArgKind::Buffer { .. } | ArgKind::Local { .. } | ArgKind::Value(_))
}

/// The evidence for a type of the module's: complete unless it holds integers or fields without names.
pub(super) fn signless(ty: &Type) -> Evidence {
    match ty {
        Type::Scalar(scalar) | Type::Vector(scalar, _) if scalar.is_float() => Evidence::Recorded,
        Type::Array(element, _) => signless(element),
        Type::Scalar(_) | Type::Vector(..) | Type::Struct(_) | Type::Pointer { .. } | Type::Opaque { .. } => {
            Evidence::Signless
        }
    }
}

/// The access of a `spirv.Image` type, which is its last parameter.
fn image_access(ty: llvm::Type<'_>) -> Access {
    match ty.target_extension().and_then(|(_, params)| params.get(6).copied()) {
        Some(0) => Access::ReadOnly,
        Some(1) => Access::WriteOnly,
        Some(2) => Access::ReadWrite,
        _ => Access::None,
    }
}

/// A type's name if only the argument's kind is known.
fn spelling(kind: &ArgKind) -> String {
    match kind {
        ArgKind::Value(ty) => ty.name(),
        ArgKind::Buffer { element, .. } | ArgKind::Local { element } => {
            element.as_ref().map_or("void*".to_owned(), |element| format!("{}*", element.name()))
        }
        ArgKind::Image(kind) => kind.name().to_owned(),
        ArgKind::Sampler => "sampler_t".to_owned(),
        ArgKind::Unsupported(name) => name.clone(),
    }
}

/// The variables in local memory that the kernel or its callees use, without the function name that clang
/// puts in front.
fn local_variables<'m>(view: View<'m>, kernel: Function<'m>) -> Vec<LocalVariable> {
    let layout = view.layout();
    let names: Vec<String> = view.functions().into_iter().map(Function::name).collect();
    let mut variables = Vec::new();
    for global in view.globals() {
        let ty = global.value_type();
        let is_local = global.ty().space() == Some(AddressSpace::Local);
        if !is_local || is_dynamic(global) || !ty.is_sized() || !is_used_by(global.value(), kernel) {
            continue;
        }
        let name = unscoped(&names, &global.name()).to_owned();
        variables.push(LocalVariable { name, size: layout.abi_size(ty) });
    }
    variables
}

/// Whether a variable is CUDA's dynamic shared memory, whose size launches say.
pub fn is_dynamic(variable: Global<'_>) -> bool {
    variable.ty().space() == Some(AddressSpace::Local) && variable.initializer().is_none()
}

/// Returns the name of a variable without that of the function in front which it belongs to. `functions` are the names
/// of all functions.
pub(super) fn unscoped<'n>(functions: &[String], full_name: &'n str) -> &'n str {
    let scopes = functions.iter().filter_map(|name| full_name.strip_prefix(name.as_str())?.strip_prefix('.'));
    // The longest scope leaves the shortest name.
    scopes.min_by_key(|name| name.len()).unwrap_or(full_name)
}

/// Returns whether `value` is used in `function` or its callees, directly or through constants.
fn is_used_by<'m>(value: Value<'m>, function: Function<'m>) -> bool {
    let mut seen = std::collections::HashSet::new();
    let mut worklist = vec![value];
    while let Some(value) = worklist.pop() {
        for user in value.uses() {
            let user = user.function().map_or(user, Function::value);
            if user == function {
                return true;
            }
            if seen.insert(user) {
                worklist.push(user);
            }
        }
    }
    false
}
