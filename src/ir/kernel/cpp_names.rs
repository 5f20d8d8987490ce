//! Gives the functions and variables of a module made of C++ for OpenCL, and overloadable functions of OpenCL C, the
//! names that the source has for them.
//!
//! They are mangled (Itanium C++ ABI, chapter 5.1). Debug information has them as they are written, with the classes
//! and namespaces around them: `Window<int, 3>::push`. Without it they are read from the mangled ones (`demangle`). A
//! function whose name others share is called with its parameters' types, and with their address spaces where only
//! these differ. Not for kernels, which hosts ask for by the names that modules have (SYCL's are mangled), and not for
//! builtins, which are recognised by their mangled names (`builtins`).

use std::collections::{BTreeMap, HashMap};

use inkwell::module::Module;
use kassay_model::demangle::is_mangled;
use kassay_model::demangle::{self, Demangled};

use super::builtins::Builtin;
use super::debug_types::DebugTypes;
use super::ir_types;
use crate::llvm::{Function, Global, SPIR_KERNEL, View};

/// Metadata that clang writes for C++ for OpenCL alone.
const LANGUAGE: &str = "opencl.cxx.version";

/// Metadata of modules that were CUDA (`cuda/module.cpp`).
const CUDA: &str = "kassay.cuda";

/// Metadata that clang writes for OpenCL C, too.
const OPENCL_C: &str = "opencl.ocl.version";

/// Metadata that translators from SPIR-V write. What they say of the language is not always right.
const SPIRV: [&str; 2] = ["spirv.Source", "spirv.Generator"];

/// Returns whether a module was CUDA.
pub fn is_of_cuda(module: &Module<'_>) -> bool {
    module.get_global_metadata_size(CUDA) > 0
}

/// The readable names of a module's functions and variables, by mangled name; empty for LLVM IR of other languages than
/// OpenCL C and C++ for OpenCL.
pub fn of(module: &Module<'_>) -> BTreeMap<String, String> {
    let mut names = BTreeMap::new();
    let has = |metadata: &str| module.get_global_metadata_size(metadata) > 0;
    let is_cpp = has(LANGUAGE);
    if !is_cpp && !has(OPENCL_C) && !SPIRV.into_iter().any(has) {
        return names;
    }
    let view = View::of(module);
    let helpers = view.functions().into_iter().filter(|f| f.has_body() && f.call_conv() != SPIR_KERNEL);
    let functions = helpers.map(Function::name);
    // A module of SPIR-V or OpenCL C may have bodies of builtins.
    let functions: Vec<String> =
        functions.filter(|name| is_mangled(name) && (is_cpp || Builtin::of(name).is_none())).collect();
    let variables: Vec<String> = view.globals().into_iter().map(Global::name).filter(|name| is_mangled(name)).collect();
    if functions.is_empty() && variables.is_empty() {
        return names;
    }
    let text = module.print_to_string().to_string_lossy().into_owned();
    let debug = DebugTypes::read(&text);
    let subprograms = debug.subprograms();
    let described: Vec<(String, Demangled)> = functions
        .into_iter()
        .filter_map(|mangled| {
            let found = match subprograms.get(mangled.as_str()) {
                Some(id) => debug.function(*id),
                None => demangle::function(&mangled)?,
            };
            Some((mangled, found))
        })
        .collect();
    let plain: Vec<String> = described.iter().map(|(_, found)| found.name.clone()).collect();
    let full: Vec<String> = described.iter().map(|(_, found)| found.overload.clone()).collect();
    // Debug information does not tell address spaces of pointers.
    let with_spaces = |mangled: &str| demangle::function(mangled).map(|found| short_spelling(&found.overload));
    let spaced: Vec<String> =
        described.iter().map(|(mangled, _)| with_spaces(mangled).unwrap_or_else(|| mangled.clone())).collect();
    let (often, ambiguous, still_ambiguous) = (counts(&plain), counts(&full), counts(&spaced));
    // One of several overloadable functions of C need not be marked so, and has its plain name.
    let is_free = |name: &str| view.function(name).is_none();
    for (i, (mangled, _)) in described.iter().enumerate() {
        // An overload of a builtin's name is no builtin.
        if often[plain[i].as_str()] == 1 && Builtin::of(&plain[i]).is_none() && is_free(&plain[i]) {
            names.insert(mangled.clone(), plain[i].clone());
        } else if ambiguous[full[i].as_str()] == 1 {
            names.insert(mangled.clone(), full[i].clone());
        } else if still_ambiguous[spaced[i].as_str()] == 1 {
            names.insert(mangled.clone(), spaced[i].clone());
        }
    }
    let declared = debug.global_variables(&text);
    for mangled in variables {
        // clang appends to the names of copies: `_ZL5table.const`.
        let base = mangled.split('.').next().unwrap_or_default();
        let found = declared.get(mangled.as_str()).or_else(|| declared.get(base));
        let name = match found {
            Some(id) => Some(debug.variable_name(*id, &names)),
            None => demangle::variable(base),
        };
        names.extend(name.map(|name| (mangled.clone(), name)));
    }
    names
}

/// Gives the functions with bodies and the variables of `module` their readable names.
pub fn apply(module: &Module<'_>) {
    let names = of(module);
    let view = View::of(module);
    for (mangled, name) in &names {
        if let Some(function) = view.function(mangled) {
            function.set_name(name);
        }
    }
    for variable in view.globals() {
        if let Some(name) = names.get(&variable.name()) {
            variable.set_name(name);
        }
    }
}

/// Writes types as `type_name` does, with their address spaces: `over(const global int*)`.
fn short_spelling(overload: &str) -> String {
    let spaces = ["global", "constant", "local"];
    let short = spaces
        .iter()
        .fold(overload.to_owned(), |text, space| text.replace(&format!("__{space} "), &format!("{space} ")));
    short.replace(" *", "*").replace(" &", "&")
}

fn counts(names: &[String]) -> HashMap<&str, usize> {
    let mut counts = HashMap::new();
    for name in names {
        *counts.entry(name.as_str()).or_insert(0) += 1;
    }
    counts
}

/// Shortens clang's names of lambdas, which hold the path of a file: `(lambda at k.clcpp:18:13)` to `{lambda:18}`.
fn without_paths(name: &str) -> String {
    const LAMBDA: &str = "(lambda at ";
    let Some((before, rest)) = name.split_once(LAMBDA) else { return name.to_owned() };
    let Some((place, after)) = rest.split_once(')') else { return name.to_owned() };
    let line = place.rsplit(':').nth(1).unwrap_or_default();
    format!("{before}{}{}", lambda(line), without_paths(after))
}

/// Leaves out the address space that is the default, and writes vectors as OpenCL does.
fn tidied(name: &str) -> String {
    let name = name.replace(" __private", "").replace("__private ", "").replace("> >", ">>");
    ir_types::normal_spelling(&name)
}

fn lambda(line: &str) -> String {
    format!("{{lambda:{line}}}")
}

impl DebugTypes {
    /// The definitions of functions, by mangled name.
    fn subprograms(&self) -> HashMap<&str, u32> {
        let of_class = self.of_class("DISubprogram");
        let definitions = of_class.filter(|id| self.key(*id, "unit").is_some());
        definitions.filter_map(|id| Some((self.key(id, "linkageName")?, id))).collect()
    }

    fn function(&self, id: u32) -> Demangled {
        let name = self.qualified_name(id);
        Demangled { name: tidied(&name), overload: format!("{name}({})", self.parameter_types(id)) }
    }

    /// The variables at program scope and in local memory, by name in the module: the text says which node describes
    /// which, because the latter have no mangled name in debug information.
    fn global_variables<'t>(&self, text: &'t str) -> HashMap<&'t str, u32> {
        let globals = text.lines().filter_map(|line| {
            let (name, rest) = line.strip_prefix('@')?.split_once(" = ")?;
            let expression = rest.rsplit_once("!dbg !")?.1.split(',').next()?.parse().ok()?;
            Some((name.trim_matches('"'), self.reference(expression, "var")?))
        });
        globals.collect()
    }

    /// A function's name with the classes, functions and namespaces around it.
    fn qualified_name(&self, id: u32) -> String {
        let mut parts = Vec::new();
        let mut at = Some(id);
        // Debug information of this depth does not occur; malformed one may have circles.
        for _ in 0..64 {
            let Some(id) = at else { break };
            let name = self.key(id, "name").map(without_paths);
            match self.class(id) {
                "DISubprogram" | "DINamespace" => parts.extend(name),
                "DICompositeType" => {
                    parts.push(name.unwrap_or_else(|| lambda(self.key(id, "line").unwrap_or_default())));
                }
                _ => {}
            }
            at = self.reference(id, "scope");
        }
        parts.reverse();
        parts.join("::")
    }

    /// A variable's name; in front of one that belongs to a function, as clang does for OpenCL C, that function's and a
    /// dot.
    fn variable_name(&self, id: u32, names: &BTreeMap<String, String>) -> String {
        let own = self.key(id, "name").unwrap_or_default();
        let Some(scope) = self.reference(id, "scope") else { return own.to_owned() };
        match self.class(scope) {
            "DISubprogram" => {
                let function = self.key(scope, "linkageName").and_then(|mangled| names.get(mangled)).cloned();
                format!("{}.{own}", function.unwrap_or_else(|| self.qualified_name(scope)))
            }
            "DINamespace" | "DICompositeType" => format!("{}::{own}", self.qualified_name(scope)),
            _ => own.to_owned(),
        }
    }

    fn parameter_types(&self, id: u32) -> String {
        let types = self.list(self.reference(id, "type").and_then(|ty| self.reference(ty, "types")));
        let parameters = types.iter().skip(1).flatten();
        let written =
            parameters.filter(|ty| self.key(**ty, "flags").is_none_or(|flags| !flags.contains("DIFlagArtificial")));
        written.map(|ty| self.type_name(*ty, 16)).collect::<Vec<_>>().join(", ")
    }

    fn type_name(&self, id: u32, depth: u32) -> String {
        let base = || match self.reference(id, "baseType") {
            Some(base) if depth > 0 => self.type_name(base, depth - 1),
            _ => "void".to_owned(),
        };
        match (self.key(id, "tag"), self.key(id, "name")) {
            (_, Some(name)) => without_paths(name),
            (Some("DW_TAG_pointer_type"), None) => format!("{}*", base()),
            (Some("DW_TAG_reference_type"), None) => format!("{}&", base()),
            (Some("DW_TAG_rvalue_reference_type"), None) => format!("{}&&", base()),
            (Some("DW_TAG_const_type"), None) => format!("const {}", base()),
            (Some("DW_TAG_class_type"), None) => lambda(self.key(id, "line").unwrap_or_default()),
            _ => base(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn functions_are_named_with_what_is_around_them() {
        let text = "!1 = !DIFile(filename: \"k.clcpp\")\n\
                    !2 = !DINamespace(name: \"ns\", scope: null)\n\
                    !3 = !DICompositeType(tag: DW_TAG_class_type, name: \"Box<int>\", scope: !2)\n\
                    !4 = distinct !DISubprogram(name: \"each<(lambda at /a/k.clcpp:18:13)>\", linkageName: \"_Zx\", scope: !3, type: !5, unit: !9)\n\
                    !5 = !DISubroutineType(types: !6)\n\
                    !6 = !{null, !7, !8}\n\
                    !7 = !DIDerivedType(tag: DW_TAG_pointer_type, baseType: !3, flags: DIFlagArtificial)\n\
                    !8 = !DIBasicType(name: \"float\")";
        let debug = DebugTypes::read(text);
        let id = debug.subprograms()["_Zx"];
        assert_eq!(debug.qualified_name(id), "ns::Box<int>::each<{lambda:18}>");
        assert_eq!(debug.parameter_types(id), "float");
    }

    #[test]
    fn what_goes_without_saying_is_left_out() {
        let name = "vm::apply<int __private __attribute__((ext_vector_type(2))), __private Span<__local int *> >";
        assert_eq!(tidied(name), "vm::apply<int2, Span<__local int *>>");
    }

    #[test]
    fn variables_in_local_memory_are_named_after_their_function() {
        let text = "@_ZZ1kE4tile = internal addrspace(3) global [16 x i32] undef, align 4, !dbg !8\n\
                    !8 = !DIGlobalVariableExpression(var: !9, expr: !DIExpression())\n\
                    !9 = distinct !DIGlobalVariable(name: \"tile\", scope: !10)\n\
                    !10 = distinct !DISubprogram(name: \"k\", linkageName: \"__clang_ocl_kern_imp_k\", scope: !3)";
        let debug = DebugTypes::read(text);
        let id = debug.global_variables(text)["_ZZ1kE4tile"];
        assert_eq!(debug.variable_name(id, &BTreeMap::new()), "k.tile");
    }
}
