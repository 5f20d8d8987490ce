//! From edited source texts to variants of the canonical form: the functions that differ from the original's.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicUsize, Ordering};

use inkwell::module::Module;
use inkwell::targets::TargetMachine;
use kassay_base::error::{Error, Result};
use kassay_base::files;
use kassay_ir::instrument::mutants::Variant;
use kassay_ir::kernel::compile::Loaded;
use kassay_ir::kernel::variants::{self, EditedFile};
use kassay_ir::kernel::{canonical, implicit};
use kassay_ir::llvm::{Context, Linkage, View, passes};
use kassay_ir::lower::spirv;
use kassay_model::interface::{Arg, ArgKind, ArgSource};
use kassay_model::options::{KernelOptions, Language};

use super::text_edit::TextEdit;
use crate::coverage::build::{KernelFile, KernelUnderTest};

/// The variant that an edit makes, or why there is none.
pub type Made = std::result::Result<Variant, String>;

/// Compiles edited texts and compares their canonical forms with that of `original`.
///
/// # Errors
/// Errors of clang's runs and passes; an edit that does not compile is no error.
pub fn make(
    original: &KernelUnderTest<'_>,
    loaded: &Loaded,
    options: &KernelOptions,
    edits: &[&TextEdit],
    jobs: usize,
) -> Result<Vec<Made>> {
    let mut edited = Vec::with_capacity(edits.len());
    for edit in edits {
        let text = files::read(edit.file.as_ref(), options.sandbox.as_ref()).ok().and_then(|text| edit.apply(&text));
        let text = text.ok_or_else(|| Error::caller(format!("{} changed while it was read", edit.file)))?;
        edited.push(EditedFile { path: edit.file.clone(), text });
    }
    let args = &original.interface.args;
    let sources = || args.iter().map(|arg| &arg.source);
    // Types are read only where pointers in structs and buffers become parameters or indices.
    let has_indices = !original.interface.indices.is_empty();
    let lines_only = !has_indices && !sources().any(|source| matches!(source, ArgSource::Member { .. }));
    let compiled = variants::compile(loaded, options, &edited, lines_only, jobs)?;
    let parts = Parts::of(&original.module);
    // No parameter of CUDA is in shared memory: that is dynamic memory.
    let is_local = |arg: &Arg| matches!(arg.kind, ArgKind::Local { .. });
    let has_dynamic = options.language(&loaded.source) == Language::Cuda && args.iter().any(is_local);
    let has_implicit = has_dynamic || has_indices || sources().any(|source| *source != ArgSource::Parameter);
    let reader = Reader { args, loaded, entry: &original.entry, has_implicit, original: &parts };
    let next = AtomicUsize::new(0);
    let worker = || -> Result<Vec<(usize, Made)>> {
        let machine = spirv::machine()?;
        let mut made = Vec::new();
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let Some(code) = compiled.get(at) else { return Ok(made) };
            made.push((
                at,
                match code {
                    Ok(bitcode) => reader.variant(&machine, bitcode)?,
                    Err(diagnostics) => Err(first_error(diagnostics)),
                },
            ));
        }
    };
    let threads = jobs.clamp(1, compiled.len().max(1));
    let found: Vec<Result<Vec<(usize, Made)>>> = std::thread::scope(|scope| {
        let handles: Vec<_> = (0..threads).map(|_| scope.spawn(worker)).collect();
        let lost = || Err(Error::internal("a thread that read variants ended early"));
        handles.into_iter().map(|h| h.join().unwrap_or_else(|_| lost())).collect()
    });
    let mut all = found.into_iter().collect::<Result<Vec<_>>>()?.concat();
    all.sort_by_key(|(at, _)| *at);
    Ok(all.into_iter().map(|(_, made)| made).collect())
}

/// The first error among clang's diagnostics, with its place.
fn first_error(diagnostics: &str) -> String {
    let first = diagnostics.lines().find(|line| line.contains(" error: "));
    first.or(diagnostics.lines().next()).unwrap_or("clang does not say why").to_owned()
}

/// Reads variants of one kernel.
struct Reader<'a> {
    loaded: &'a Loaded,
    entry: &'a str,
    /// Whether the original has implicit arguments.
    has_implicit: bool,
    /// What the original takes.
    args: &'a [Arg],
    original: &'a Parts,
}

impl Reader<'_> {
    /// Brings a variant into canonical form.
    fn canonical<'c>(&self, context: &'c Context, machine: &TargetMachine, bitcode: &[u8]) -> Result<Module<'c>> {
        if !self.has_implicit {
            let mut module = self.loaded.parse(context, bitcode)?;
            canonical::keep_only(&mut module, self.entry, machine)?;
            canonical::canonicalise(&mut module, self.entry, machine)?;
            // Otherwise the edit brought in code that needs implicit arguments.
            if !implicit::has_variables(&module) {
                return Ok(module);
            }
        }
        let compiled = Loaded {
            bitcode: bitcode.to_vec(),
            format: self.loaded.format,
            source: self.loaded.source.clone(),
            warnings: String::new(),
            spirv: None,
            ast: None,
            file_lookups: Vec::new(),
            sub_group_size: self.loaded.sub_group_size,
            launched: Vec::new(),
        };
        Ok(KernelFile::parse(context, &compiled)?.canonical(self.entry, self.loaded.format, self.args)?.0)
    }

    /// Reads one variant.
    fn variant(&self, machine: &TargetMachine, bitcode: &[u8]) -> Result<Made> {
        let context = Context::create();
        let Reader { entry, original, .. } = *self;
        let mut module = match self.canonical(&context, machine, bitcode) {
            Ok(module) => module,
            // Such as a variable that code would have to initialise.
            Err(error @ Error::Caller(_)) => return Ok(Err(error.to_string())),
            Err(error) => return Err(error),
        };
        let parts = Parts::of(&module);
        let changes = parts.changes(original);
        let Some(root) = changes.root(&parts, original, entry) else {
            return Ok(Ok(Variant {
                code: String::new(),
                root: None,
                bitcode: Vec::new(),
                variables: BTreeSet::new(),
                reached: None,
            }));
        };
        let signature = |parts: &Parts| parts.functions.get(&root).map(|text| signature(text).to_owned());
        if signature(&parts) != signature(original) {
            return Ok(Err(format!("`{root}` gets parameters of other types")));
        }
        let bundle = parts.bundle(&changes, &root);
        for f in View::of(&module).functions().into_iter().filter(|f| f.has_body()) {
            let name = f.name();
            if !bundle.contains(&name) {
                // SAFETY: nothing of it has been handed out.
                unsafe { f.delete_body() };
                // A declaration must not have the place of a definition.
                f.clear_metadata();
            }
            if name == root || !bundle.contains(&name) {
                f.set_linkage(Linkage::LLVMExternalLinkage);
            }
        }
        passes::run(&mut module, None, "globaldce")?;
        let texts = |of: &BTreeMap<String, String>, names: &BTreeSet<String>| -> String {
            names.iter().filter_map(|name| of.get(name)).map(String::as_str).collect()
        };
        Ok(Ok(Variant {
            code: texts(&parts.functions, &changes.functions) + &texts(&parts.variables, &changes.variables),
            root: Some(root),
            bitcode: module.write_bitcode_to_memory().as_slice().to_vec(),
            variables: changes.variables,
            reached: None,
        }))
    }
}

/// The functions and variables that differ from the original's.
struct Changes {
    functions: BTreeSet<String>,
    variables: BTreeSet<String>,
}

impl Changes {
    /// Returns the function that takes the place of the original's: the only one that is changed, or else the kernel.
    fn root(&self, parts: &Parts, original: &Parts, entry: &str) -> Option<String> {
        let mut known = self.functions.iter().filter(|name| original.functions.contains_key(*name));
        match (known.next(), known.next()) {
            (None, _) => None,
            (Some(only), None) if parts.functions.contains_key(only) => Some(only.clone()),
            _ => Some(entry.to_owned()),
        }
    }
}

/// The text of each function and variable that a module defines, without debug information and metadata. Attributes
/// stand where their group's number would.
struct Parts {
    functions: BTreeMap<String, String>,
    variables: BTreeMap<String, String>,
}

impl Parts {
    fn of(module: &Module<'_>) -> Parts {
        let plain = module.clone();
        let view = View::of(&plain);
        view.strip_debug_info();
        for f in view.functions() {
            f.clear_metadata();
            f.instructions().into_iter().for_each(|inst| inst.drop_metadata());
        }
        let text = plain.print_to_string().to_string();
        let groups: BTreeMap<&str, &str> =
            text.lines().filter_map(|line| line.strip_prefix("attributes ")?.split_once(" = ")).collect();
        let mut parts = Parts { functions: BTreeMap::new(), variables: BTreeMap::new() };
        let mut function: Option<(String, String)> = None;
        for line in text.lines() {
            if line.starts_with("define ") {
                function = name_in(line).map(|name| (name, String::new()));
            } else if let Some(name) = name_in(line).filter(|_| line.starts_with('@')) {
                parts.variables.insert(name, line.to_owned());
            }
            if let Some((_, body)) = &mut function {
                append(body, line, &groups);
            }
            if line == "}" {
                parts.functions.extend(function.take());
            }
        }
        parts
    }

    /// Returns what differs from the original, or refers to a variable that does.
    fn changes(&self, original: &Parts) -> Changes {
        let differing = |own: &BTreeMap<String, String>, other: &BTreeMap<String, String>| -> BTreeSet<String> {
            own.iter().filter(|(name, text)| other.get(*name) != Some(text)).map(|(name, _)| name.clone()).collect()
        };
        let mut variables = differing(&self.variables, &original.variables);
        loop {
            let mut more: Vec<String> = Vec::new();
            for (name, text) in self.variables.iter().filter(|(name, _)| !variables.contains(*name)) {
                if names(text).any(|name| variables.contains(name)) {
                    more.push(name.clone());
                }
            }
            if more.is_empty() {
                break;
            }
            variables.extend(more);
        }
        let mut functions = differing(&self.functions, &original.functions);
        for (name, text) in &self.functions {
            if names(text).any(|name| variables.contains(name)) {
                functions.insert(name.clone());
            }
        }
        Changes { functions, variables }
    }

    /// Returns the functions that a variant with this root brings: those that are changed and those that call one.
    fn bundle(&self, changes: &Changes, root: &str) -> BTreeSet<String> {
        let mut bundle = changes.functions.clone();
        bundle.insert(root.to_owned());
        if changes.functions.len() == 1 {
            return bundle;
        }
        loop {
            let calls = |text: &str| names(text).any(|name| bundle.contains(name));
            let outside = self.functions.iter().filter(|(name, _)| !bundle.contains(*name));
            let more: Vec<String> = outside.filter(|(_, text)| calls(text)).map(|(name, _)| name.clone()).collect();
            if more.is_empty() {
                return bundle;
            }
            bundle.extend(more);
        }
    }
}

/// Returns the part of a function's first line from its result to its parameters.
fn signature(text: &str) -> &str {
    let line = text.lines().next().unwrap_or_default();
    let from = line.find('@').unwrap_or(0);
    let end = line.rfind(") ").unwrap_or(line.len());
    line.get(from..end).unwrap_or(line)
}

/// Appends a line, with attributes instead of the numbers of their groups.
fn append(to: &mut String, line: &str, groups: &BTreeMap<&str, &str>) {
    let mut rest = line;
    while let Some(at) = rest.find(" #") {
        let (before, tail) = rest.split_at(at + 1);
        let digits = tail[1..].bytes().take_while(u8::is_ascii_digit).count();
        let (group, after) = tail.split_at(digits + 1);
        to.push_str(before);
        to.push_str(groups.get(group).copied().unwrap_or(group));
        rest = after;
    }
    to.push_str(rest);
    to.push('\n');
}

/// Returns the first name of a function or variable in a line.
fn name_in(line: &str) -> Option<String> {
    names(line).next().map(str::to_owned)
}

/// Returns the names of functions and variables in a text, as LLVM writes them: `@name` or `@"any name"`.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.match_indices('@').filter_map(|(at, _)| {
        let rest = &text[at + 1..];
        match rest.strip_prefix('"') {
            Some(quoted) => quoted.split_once('"').map(|(name, _)| name),
            None => {
                let is_part = |c: char| c.is_ascii_alphanumeric() || "-$._".contains(c);
                let end = rest.find(|c: char| !is_part(c)).unwrap_or(rest.len());
                Some(&rest[..end]).filter(|name| !name.is_empty())
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use inkwell::memory_buffer::MemoryBuffer;

    use super::*;

    fn parts(text: &str) -> Parts {
        let context = Context::create();
        let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "test");
        Parts::of(&context.create_module_from_ir(buffer).expect("valid IR"))
    }

    const ORIGINAL: &str = "
        @table = internal constant [2 x i32] [i32 1, i32 2]
        define internal i32 @low(i32 %n) #0 { ret i32 %n }
        define internal i32 @mid(i32 %n) #1 { %v = call i32 @low(i32 %n) #1 ret i32 %v }
        define void @k(ptr %p) #1 {
          %v = call i32 @mid(i32 3)
          %t = load i32, ptr @table
          ret void
        }
        attributes #0 = { nounwind }
        attributes #1 = { convergent nounwind }";

    fn changes(from: &str, to: &str) -> (Vec<String>, Option<String>, Vec<String>) {
        let (original, changed) = (parts(ORIGINAL), parts(&ORIGINAL.replace(from, to)));
        let changes = changed.changes(&original);
        let root = changes.root(&changed, &original, "k");
        let bundle = root.as_ref().map(|root| changed.bundle(&changes, root)).unwrap_or_default();
        (changes.functions.into_iter().collect(), root, bundle.into_iter().collect())
    }

    #[test]
    fn the_only_changed_function_is_the_root() {
        let (functions, root, bundle) = changes("ret i32 %n", "ret i32 7");
        assert_eq!(
            (&functions[..], root.as_deref(), &bundle[..]),
            (&["low".to_owned()][..], Some("low"), &["low".to_owned()][..])
        );
        assert_eq!(changes("%v = call i32 @mid(i32 3)", "%v = call i32 @mid(i32 3)").1, None);
    }

    #[test]
    fn two_changed_functions_come_with_all_their_callers() {
        let (functions, root, bundle) = changes("(i32 %n)", "(i32 signext %n)");
        assert_eq!(functions, ["low", "mid"]);
        assert_eq!((root.as_deref(), bundle), (Some("k"), vec!["k".to_owned(), "low".to_owned(), "mid".to_owned()]));
    }

    #[test]
    fn a_changed_variable_changes_the_functions_that_use_it() {
        let (functions, root, bundle) = changes("i32 1, i32 2", "i32 1, i32 3");
        assert_eq!((functions, root.as_deref(), bundle), (vec!["k".to_owned()], Some("k"), vec!["k".to_owned()]));
    }

    #[test]
    fn numbers_of_attribute_groups_change_nothing() {
        let swapped = ORIGINAL.replace("#0", "#9").replace("#1", "#0").replace("#9", "#1");
        let changes = parts(&swapped).changes(&parts(ORIGINAL));
        assert!(changes.functions.is_empty(), "{:?}", changes.functions);
    }
}
