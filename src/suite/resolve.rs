//! Loads suites: reads and checks a suite file, then resolves its tests to launches for a kernel's interface.

use std::collections::HashMap;
use std::num::NonZeroU64;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use kassay_base::error::{Error, Result};
use kassay_base::files::Sandbox;
use kassay_model::interface::{Arg, ArgKind, ArgSource, Interface};
use kassay_model::kernel_files::{self, KernelFile};
use kassay_model::options::SpecValue;
use kassay_model::sub_groups;

pub use super::arguments::Expectation;
use super::arguments::{self, Output};
use super::compare::Tolerance;
use super::data::Loader;
use super::de::{self, At};
use super::declared::Declared;
use super::document::{Node, Source, Span, suggestion};
use super::faults::{self, AllowedFault};
use super::format::{Form, LocalSpec, SuiteFile, TestEntry, ToleranceSpec};
use super::launch::{ArgValue, Launch, NdRange, View};
use super::schedule::Schedule;
use super::{confined, implicit, range, schedule_spec, spec_values};

/// A suite file that is valid in itself; [`Suite::resolve`] checks whether it fits its kernel.
#[derive(Debug, Clone)]
pub struct Suite {
    /// The path as given to [`Suite::load`].
    pub path: PathBuf,
    /// The kernel's file: the suite's folder joined with the path in the suite.
    pub kernel: PathBuf,
    /// The kernel's name, if the suite gives it.
    pub entry: Option<String>,
    /// Compiler options; they take precedence over kassay's own.
    pub options: Vec<String>,
    /// Values of specialisation constants.
    pub spec: Vec<SpecValue>,
    /// How many work-items sub-groups have.
    pub sub_group_size: Option<u32>,
    /// The default tolerance; tests, arguments and expectations may override it.
    pub tolerance: Tolerance,
    /// The name, for human readers.
    pub name: Option<String>,
    /// The seed; `--seed` overrides it.
    pub seed: Option<u64>,
    /// What the suite declares of the kernel's interface.
    pub declared: Option<Declared>,
    /// The tests, in the order of the file.
    pub tests: Vec<TestSpec>,
    source: Source,
    default_tolerance: ToleranceSpec,
    /// The folders of which files may be read; `None`: all files may be.
    pub sandbox: Option<Sandbox>,
}

/// A test as written in the file.
#[derive(Debug, Clone)]
pub struct TestSpec {
    /// Unique within the suite.
    pub name: String,
    /// The NDRange before the kernel's requirements are applied.
    pub range: NdRange,
    /// Values of specialisation constants in addition to the suite's.
    pub spec: Vec<SpecValue>,
    entry: TestEntry,
    /// The form of CUDA's dynamic shared memory, by its key.
    shared: Option<(At<String>, Form)>,
    args: Vec<(At<String>, Form)>,
    /// Program-scope variables.
    variables: Vec<(At<String>, Form)>,
    span: Span,
}

/// A test that can be run.
#[derive(Debug, Clone, PartialEq)]
pub struct Test {
    /// Unique within the suite.
    pub name: String,
    /// The launch, with all values.
    pub launch: Launch,
    /// Faults that the test lists as allowed.
    pub faulted: Vec<AllowedFault>,
    /// Expectations, in the order of the arguments.
    pub expectations: Vec<Expectation>,
    /// Arguments that the kernel may write to, in order: every buffer except `__constant` ones, every image except
    /// `read_only` ones.
    pub outputs: Vec<Output>,
    /// The time limit for the original kernel, if it is shorter than the caller's.
    pub limit: Option<Duration>,
}

/// Removes `..` steps from a path (`a/c/../b.cl` becomes `a/b.cl`), unless symbolic links would make it another file.
fn normalised(path: PathBuf) -> PathBuf {
    let mut short = PathBuf::new();
    for part in path.components() {
        match part {
            Component::ParentDir if matches!(short.components().next_back(), Some(Component::Normal(_))) => {
                short.pop();
            }
            Component::CurDir => {}
            _ => short.push(part),
        }
    }
    let is_same = path.canonicalize().is_ok_and(|real| short.canonicalize().is_ok_and(|s| s == real));
    if is_same { short } else { path }
}

fn folder(path: &Path) -> &Path {
    path.parent().unwrap_or(Path::new(""))
}

/// Returns compiler options in which folders of `-I` that are there, relative to the suite's folder, have their place:
/// a suite can then be moved, and used from anywhere. Others are relative to the working directory.
fn beside(folder: &Path, options: Vec<String>) -> Vec<String> {
    let placed = |option: String| {
        let dir = option.strip_prefix("-I").filter(|dir| !dir.is_empty() && Path::new(dir).is_relative());
        match dir.map(|dir| folder.join(dir)).filter(|dir| dir.is_dir()) {
            Some(dir) => format!("-I{}", normalised(dir).display()),
            None => option,
        }
    };
    options.into_iter().map(placed).collect()
}

/// Checks the size that a suite gives its sub-groups.
fn sub_group_size(source: &Source, size: &At<u32>) -> Result<u32> {
    if sub_groups::is_size(size.value) {
        return Ok(size.value);
    }
    Err(source
        .error(&size.span, format!("there are no sub-groups of {} work-items", size.value))
        .help(sub_groups::SIZES))
}

impl Suite {
    /// Reads a suite: JSON if the name ends in `.json`, else TOML.
    ///
    /// # Errors
    /// `Caller`, with its place, if the file cannot be read, does not have the shape of a suite, or names a
    /// missing kernel.
    pub fn load(path: &Path) -> Result<Suite> {
        Suite::load_in(path, None)
    }

    /// Reads a suite whose files have to lie in the sandbox, if there is one.
    ///
    /// # Errors
    /// As [`Suite::load`]; `Caller`, with its place, if it names a file outside of the sandbox, or an option for clang
    /// that might name one.
    pub fn load_in(path: &Path, sandbox: Option<Sandbox>) -> Result<Suite> {
        if KernelFile::of(path).is_some() {
            return Err(Error::caller(format!("{} is a kernel, but a suite is wanted here", path.display()))
                .help("give the suite file (TOML or JSON) that says how to launch it"));
        }
        let source = Source::read(path, sandbox.as_ref())?;
        let parsed = Suite::parse(source).map_err(|error| of_unknown_kind(path, error))?;
        let suite = Suite { sandbox: sandbox.clone(), ..parsed };
        let span = |key: &str| Ok(suite.source.parse()?.get(key).map_or(0..0, |n| n.span.clone()));
        if let Some(sandbox) = &sandbox {
            confined::check_kernel(&suite.source, &span("kernel")?, &suite.kernel, sandbox)?;
            confined::check_options(&suite.source, &span("options")?, &suite.options, sandbox)?;
        }
        if !suite.kernel.exists() || suite.kernel.is_dir() {
            let at = span("kernel")?;
            return Err(suite
                .source
                .error(&at, format!("the kernel's file `{}` is not there", suite.kernel.display()))
                .help("give its path relative to the suite file"));
        }
        Ok(suite)
    }

    fn parse(source: Source) -> Result<Suite> {
        if source.text.starts_with('{') && source.text.contains("\"schema\": \"kassay.") {
            return Err(Error::caller(format!(
                "{} is a result of kassay, but a suite is wanted here",
                source.path.display()
            ))
            .help("give the suite file (TOML or JSON) that the result was made from"));
        }
        let root = source.parse()?;
        let file: SuiteFile = de::read(&source, &root)?;
        if file.test.is_empty() {
            let at = root.span.start..root.span.start;
            return Err(source
                .error(&at, "the suite has no tests")
                .help("add a [[test]] table with `global` and `args`"));
        }
        let mut tests = Vec::new();
        let mut seen: HashMap<String, u32> = HashMap::new();
        for (i, At { span, value: entry }) in file.test.into_iter().enumerate() {
            let name = entry.name.as_ref().map_or_else(|| format!("test {}", i + 1), |n| n.value.clone());
            let at = entry.name.as_ref().map_or(&span, |n| &n.span);
            let line = source.place(at).line;
            if let Some(first) = seen.insert(name.clone(), line) {
                return Err(source
                    .error(at, format!("there are two tests of the name \"{name}\" (the first in line {first})"))
                    .help("give each test its own name"));
            }
            let range = range::read(&source, &entry, &span)?;
            let is_cuda = KernelFile::of(Path::new(&file.kernel.value)) == Some(KernelFile::Cuda);
            if let Some(offset) = entry.offset.as_ref().filter(|_| is_cuda && range.offset != [0; 3]) {
                let what = "launches of CUDA have no global offset, and its kernels cannot ask for one";
                return Err(source.error(&offset.span, what).help("leave `offset` out"));
            }
            let shared = entry.shared.as_ref().and_then(|bytes| {
                let key = At { span: bytes.span.clone(), value: "shared".to_owned() };
                let local = At { span: bytes.span.clone(), value: NonZeroU64::new(bytes.value)? };
                Some((key, Form::Local(LocalSpec { local })))
            });
            let args = read_forms(&source, "args", entry.args.as_ref())?;
            let variables = read_forms(&source, "variables", entry.variables.as_ref())?;
            let spec = spec_values::read(&source, entry.spec.as_ref())?;
            tests.push(TestSpec { name, range, spec, shared, args, variables, entry, span });
        }
        let declared = Declared::new(source.clone(), None, file.structs, file.arg, file.variable)?;
        let loader = Loader::new(&source, Path::new(""), 0);
        let tolerance = loader.tolerance(&[&file.tolerance])?;
        Ok(Suite {
            path: source.path.clone(),
            kernel: normalised(folder(&source.path).join(&file.kernel.value)),
            entry: file.entry,
            options: beside(folder(&source.path), file.options),
            spec: spec_values::read(&source, file.spec.as_ref())?,
            sub_group_size: file.sub_group_size.as_ref().map(|size| sub_group_size(&source, size)).transpose()?,
            tolerance,
            name: file.name,
            seed: file.seed,
            declared: Some(declared).filter(|declared| !declared.is_empty()),
            tests,
            default_tolerance: file.tolerance,
            source,
            sandbox: None,
        })
    }

    /// Returns the suite with only these of its tests.
    #[must_use]
    pub fn with_tests(&self, tests: Vec<TestSpec>) -> Suite {
        Suite { tests, ..self.clone() }
    }

    /// Adds the place of the suite's `entry` key to an error.
    pub fn at_entry(&self, error: Error) -> Error {
        match self.source.parse() {
            Ok(root) => match root.get("entry") {
                Some(node) => error.at(self.source.place(&node.span)),
                None => error,
            },
            Err(_) => error,
        }
    }

    /// Resolves the tests to launches of a kernel. `seed` is used for random data without a seed of its own.
    ///
    /// # Errors
    /// `Caller`, with its place, if the suite does not fit the kernel or its files cannot be read.
    pub fn resolve(&self, interface: &Interface, seed: u64) -> Result<Vec<Test>> {
        let mut loader = Loader::new(&self.source, folder(&self.path), seed);
        loader.sandbox = self.sandbox.as_ref();
        self.tests.iter().map(|test| self.test(test, interface, &mut loader)).collect()
    }

    fn test(&self, test: &TestSpec, interface: &Interface, loader: &mut Loader<'_>) -> Result<Test> {
        let mut range = range::with_required_local(
            &self.source,
            &test.entry,
            &test.range,
            interface.required_local,
            interface.uniform_groups,
        )?;
        range::check_group(&self.source, &test.entry, &range, interface.max_group)?;
        let schedule = match &test.entry.schedule {
            Some(spec) => schedule_spec::resolve(&self.source, spec, &mut range)?,
            None => Schedule::default(),
        };
        let given = self.parameter_forms(test, interface)?;
        let implicit = self.implicit_forms(test, interface, &given, loader)?;
        let mut forms: Vec<(&At<String>, &Form)> = given;
        forms.extend(implicit.iter().map(|(key, form)| (key, form)));
        let mut args: Vec<ArgValue> = Vec::new();
        let (mut expectations, mut outputs) = (Vec::new(), Vec::new());
        let (mut margins, mut views) = (Vec::new(), Vec::new());
        for (arg, (key, form)) in interface.args.iter().zip(&forms) {
            let context = arguments::Context {
                arg,
                test: &test.name,
                key,
                outer: [&test.entry.tolerance, &self.default_tolerance],
            };
            let resolved = match form {
                Form::Same(spec) => implicit::resolve_same_as(loader, &context, interface, spec)?,
                _ => arguments::resolve(loader, &context, form)?,
            };
            args.push(resolved.value);
            margins.push(resolved.margin);
            views.push(resolved.view);
            expectations.extend(resolved.expectation);
            outputs.extend(resolved.output);
        }
        implicit::check_same_as_targets(loader, interface, &args, &forms)?;
        let (allows_faults, faulted) = faults::resolve(&self.source, &test.entry, interface)?;
        // What is as by default is dropped at the end, so that launches without margins and views compare equal.
        while margins.last() == Some(&0) {
            margins.pop();
        }
        while views.last() == Some(&View::default()) {
            views.pop();
        }
        let launch = Launch { range, args, schedule, allows_faults, margins, views };
        Ok(Test { name: test.name.clone(), launch, faulted, expectations, outputs, limit: None })
    }

    /// Returns the form of each implicit argument, in the order of the interface.
    fn implicit_forms(
        &self,
        test: &TestSpec,
        interface: &Interface,
        given: &[(&At<String>, &Form)],
        loader: &Loader<'_>,
    ) -> Result<Vec<(At<String>, Form)>> {
        let variables = || interface.args.iter().filter(|a| matches!(a.source, ArgSource::Variable { .. }));
        for (i, (key, _)) in test.variables.iter().enumerate() {
            if !variables().any(|v| v.label() == key.value) {
                let labels: Vec<String> = variables().map(Arg::label).collect();
                let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
                let what = format!("`{}` uses no variable `{}` of the program", interface.name, key.value);
                let error = self.source.error(&key.span, what);
                return Err(match labels.is_empty() {
                    true => error.help("leave it out; the kernel uses none in global memory that it may write"),
                    false => error.help(suggestion(&key.value, &labels, "its variables")),
                });
            }
            if test.variables[..i].iter().any(|(other, _)| other.value == key.value) {
                let what = format!("the variable `{}` is given twice", key.value);
                return Err(self.source.error(&key.span, what).help("give it once"));
            }
        }
        let mut all = Vec::new();
        for arg in &interface.args {
            match &arg.source {
                ArgSource::Parameter | ArgSource::Element => {}
                ArgSource::Member { parameter, path, .. } => {
                    let Some((key, form)) = given.get(*parameter as usize) else { continue };
                    let Form::Fields(spec) = form else {
                        return Err(self.not_by_fields(key, interface, *parameter));
                    };
                    let own = At { span: key.span.clone(), value: arg.label() };
                    all.push(match implicit::member_node(&spec.fields, path) {
                        Some(node) => (At { span: node.span.clone(), ..own }, Form::read(&self.source, node)?),
                        None if spec.partial => (own, Form::null()),
                        None => return Err(implicit::missing_pointer_error(loader, &spec.fields.span, arg)),
                    });
                }
                ArgSource::Variable { initial, .. } => {
                    let spec = test.variables.iter().find(|(key, _)| key.value == arg.label());
                    all.push(match spec {
                        Some((key, form)) => (key.clone(), form.clone().with_contents(initial)),
                        None => {
                            let own = At { span: test.span.clone(), value: arg.label() };
                            (own, Form::contents(initial))
                        }
                    });
                }
            }
        }
        Ok(all)
    }

    /// Returns the error for a struct with pointers that is not given by its fields.
    fn not_by_fields(&self, key: &At<String>, interface: &Interface, parameter: u32) -> Error {
        let label = interface.args.get(parameter as usize).map(Arg::label).unwrap_or_default();
        self.source
            .error(&key.span, format!("the argument `{label}` is a struct that holds pointers"))
            .help(format!("write it by its fields: {label} = {{ fields = {{ … }} }}"))
    }

    /// Returns the form of each parameter, in order.
    fn parameter_forms<'t>(
        &self,
        test: &'t TestSpec,
        interface: &Interface,
    ) -> Result<Vec<(&'t At<String>, &'t Form)>> {
        let parameters: Vec<&Arg> = interface.given().collect();
        let mut given: Vec<Option<(&At<String>, &Form)>> = vec![None; parameters.len()];
        for (key, form) in &test.args {
            let by_name = parameters.iter().position(|a| a.name.as_deref() == Some(key.value.as_str()));
            let index = by_name.or_else(|| key.value.parse::<usize>().ok());
            let Some((arg, slot)) = index.and_then(|i| Some((parameters.get(i)?, given.get_mut(i)?))) else {
                return Err(self.unknown_argument(key, interface));
            };
            if let Some((other, _)) = slot {
                return Err(self
                    .source
                    .error(
                        &key.span,
                        format!(
                            "the argument `{}` is given twice, as `{}` and as `{}`",
                            arg.label(),
                            other.value,
                            key.value
                        ),
                    )
                    .help("give it once"));
            }
            *slot = Some((key, form));
        }
        if let Some((key, form)) = &test.shared {
            let is_local = |arg: &Arg| matches!(arg.kind, ArgKind::Local { .. });
            let open = parameters.iter().zip(&mut given).filter(|(arg, slot)| is_local(arg) && slot.is_none());
            if open.map(|(_, slot)| *slot = Some((key, form))).count() == 0 {
                let what = match parameters.iter().find(|arg| is_local(arg)) {
                    Some(arg) => format!(
                        "[test.args] gives `{}`, which is the shared memory of `{}`",
                        arg.label(),
                        interface.name
                    ),
                    None => format!("`{}` has no shared memory whose size a launch says", interface.name),
                };
                return Err(self.source.error(&key.span, what).help("leave `shared` out"));
            }
        }
        for (arg, slot) in parameters.iter().zip(&mut given) {
            *slot = slot.or_else(|| implicit::default_form(arg));
        }
        let missing: Vec<&Arg> = parameters.iter().zip(&given).filter(|(_, g)| g.is_none()).map(|(a, _)| *a).collect();
        if missing.is_empty() {
            return Ok(given.into_iter().flatten().collect());
        }
        let list: Vec<String> = missing.iter().map(|a| format!("`{}` ({})", a.label(), a.type_name)).collect();
        let at = test.entry.args.as_ref().map_or(&test.span, |n| &n.span);
        let (what, them) = if list.len() == 1 { ("argument", "it") } else { ("arguments", "them") };
        Err(self
            .source
            .error(
                at,
                format!(
                    "the test \"{}\" does not give the {what} {} of `{}`",
                    test.name,
                    list.join(", "),
                    interface.name
                ),
            )
            .help(format!("add {them} under [test.args]; every argument has to be given")))
    }

    fn unknown_argument(&self, key: &At<String>, interface: &Interface) -> Error {
        let labels: Vec<String> = interface.given().map(Arg::label).collect();
        let labels: Vec<&str> = labels.iter().map(String::as_str).collect();
        let error = self.source.error(&key.span, format!("`{}` has no argument `{}`", interface.name, key.value));
        if labels.is_empty() {
            return error.help("leave it out; this kernel takes no arguments");
        }
        if interface.given().all(|arg| arg.name.is_none()) {
            let positions = labels.iter().map(|label| format!("`{label}`")).collect::<Vec<_>>().join(", ");
            return error.help(format!(
                "the module has no names of arguments: declare them by [[arg]], as `kassay inspect KERNEL \
                 --write-interface FILE` begins it, or write their positions: {positions}"
            ));
        }
        error.help(suggestion(&key.value, &labels, "its arguments"))
    }
}

/// Reads the table of forms under `key`: `args` or `variables`.
fn read_forms(source: &Source, key: &str, node: Option<&Node>) -> Result<Vec<(At<String>, Form)>> {
    let Some(node) = node else { return Ok(Vec::new()) };
    let Some(entries) = node.entries() else {
        return Err(source
            .error(&node.span, format!("this is {}, but `{key}` is a table", node.kind()))
            .help(format!("give them by name, as in [test.{key}] n = 1000")));
    };
    entries
        .iter()
        .map(|e| {
            let key = At { span: e.key_span.clone(), value: e.key.clone() };
            Ok((key, Form::read(source, &e.node)?))
        })
        .collect()
}
/// The error for a file that is no suite: if its name is not one of suites either, which files there are.
fn of_unknown_kind(path: &Path, error: Error) -> Error {
    let is_suite = path.extension().is_some_and(|e| e.eq_ignore_ascii_case("toml") || e.eq_ignore_ascii_case("json"));
    if is_suite || path.extension().is_none() {
        return error;
    }
    let help = format!(
        "kernels are {} files, told apart by the extension; suites are TOML or JSON",
        kernel_files::all_listed()
    );
    let what = format!("`{}` is neither a kernel, by its extension, nor a suite", path.display());
    Error::caller(what).details(error.to_string()).help(help)
}
