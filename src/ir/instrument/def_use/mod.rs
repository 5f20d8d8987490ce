//! Def-use pairs: which definitions can reach which uses (all-uses, RAPPS-WEYUKER), and code that reports to the
//! simulator which do.
//!
//! An access is a definition or a use: of a private variable that is only loaded and stored as a whole (`variables`;
//! reaching definitions over the control-flow graph of its function), or of memory (`memory`; definitions and uses that
//! may be of the same object, with a path between them, `paths`, as their relation asks for).

mod accesses;
mod memory;
mod paths;
mod variables;
mod weave;

use std::collections::{BTreeMap, BTreeSet, HashMap};

use inkwell::module::Module;
use kassay_base::error::{Error, Result};
use kassay_model::native::table::Relation;

use self::accesses::Role;
use self::memory::MemoryPairs;
use self::variables::{Names, Variable};
use self::weave::{Tracked, Weaver};
use crate::kernel::canonical;
use crate::llvm::{DebugLocation, Function, View};

/// A definition or a use in the source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessSite {
    /// Name of the function that contains it.
    pub function: String,
    /// `None` without debug information.
    pub location: Option<DebugLocation>,
    /// `store`, `load`, `parameter`, `copy`, `fill`, `atomic`, or the name of a builtin or function.
    pub operation: String,
    /// Whether the value that it yields decides a branch: a p-use.
    pub is_predicate: bool,
}

/// A definition and a use that it can reach.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    /// Name of the variable, argument or array; of several that it may be, joined by commas.
    pub variable: String,
    /// How the two are related.
    pub relation: Relation,
    /// Number of the defining access; `None`: the host.
    pub definition: Option<usize>,
    /// Number of the using access.
    pub usage: usize,
}

/// The def-use pairs of a kernel, and what its woven code reports.
#[derive(Debug)]
pub struct DefUsePlan {
    /// By number of the access.
    pub sites: Vec<AccessSite>,
    /// In the order of uses, and then of definitions, in the source.
    pub pairs: Vec<Pair>,
    /// By number that the code reports: definition and use of a private variable; `None`: use without a definition.
    numbered: Vec<Option<(usize, usize)>>,
    /// Positions of the pairs.
    positions: HashMap<(Option<usize>, usize, Relation), usize>,
    /// Definitions and uses that may be of the same memory.
    aliases: BTreeSet<(usize, usize)>,
}

/// What of a plan's pairs a launch has shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Exercised {
    /// Positions of the pairs.
    pub pairs: BTreeSet<usize>,
    /// Definitions (`None`: the host) and uses that may be of the same memory, but that nothing orders in this
    /// relation.
    pub unordered: BTreeSet<(Option<usize>, usize, Relation)>,
    /// Those that the analysis excludes: its fault, unless the kernel accesses memory out of bounds.
    pub unexpected: BTreeSet<(Option<usize>, usize, Relation)>,
}

impl DefUsePlan {
    /// Finds the pairs of the kernel `entry`, in canonical form, and weaves what reports them into it. `arguments`:
    /// names of the kernel's arguments.
    ///
    /// # Errors
    /// `Caller` if the kernel has too many pairs; `Internal` if there is no such kernel, or the woven module does not
    /// verify.
    pub fn weave(module: &Module<'_>, entry: &str, arguments: &[String]) -> Result<DefUsePlan> {
        let view = View::of(module);
        let (kernel, helpers): (Vec<_>, Vec<_>) =
            view.functions().into_iter().filter(|f| f.has_body()).partition(|f| f.name() == entry);
        let functions: Vec<Function<'_>> = kernel.into_iter().chain(helpers).collect();
        if functions.first().is_none_or(|first| first.name() != entry) {
            return Err(Error::internal(format!("the kernel {entry} is gone")));
        }
        let layout = view.layout();
        let names = Names::read(&functions);
        let accesses = accesses::find(&functions, layout);
        let variables = variables::whole(&accesses, &names, layout);
        let of_variables: BTreeSet<usize> =
            variables.iter().flat_map(|v| v.definitions.iter().chain(&v.uses)).copied().collect();
        let memory = memory::pairs(&functions, &accesses, &names, arguments, |access| !of_variables.contains(&access))?;

        let site = |access: &accesses::Access<'_>| {
            let operation = accesses::operation_name(access);
            let location = access.inst.location().filter(|l| l.line > 0 && !access.is_entry);
            let declaration = || names.declaration(access.pointer).cloned();
            AccessSite {
                function: functions[access.function].name(),
                location: location.or_else(|| declaration().filter(|_| operation == "parameter")),
                operation,
                is_predicate: access.role == Role::Use && variables::decides(access.inst),
            }
        };
        let sites: Vec<AccessSite> = accesses.iter().map(site).collect();
        let mut plan = DefUsePlan::of_memory(sites, &memory);
        let mut tracked = Vec::new();
        for (number, function) in functions.iter().enumerate() {
            let is_own = |variable: &&Variable<'_>| variable.alloca.function() == functions[number];
            let own: Vec<&Variable<'_>> = variables.iter().filter(is_own).collect();
            let reaching = variables::reaching(*function, &own, &accesses);
            tracked.extend(own.into_iter().map(|variable| plan.add_variable(variable, &reaching, &names)));
        }
        plan.sort();
        Weaver::new(view).weave(&functions, &accesses, &tracked, &names, |access| memory.followed.contains(&access));
        canonical::verify(module, "weaving definitions and uses")?;
        Ok(plan)
    }

    fn of_memory(sites: Vec<AccessSite>, memory: &MemoryPairs) -> DefUsePlan {
        let pair = |(definition, usage, relation): &(Option<usize>, usize, Relation)| {
            let variable = match definition {
                Some(definition) => memory.aliases.get(&(*definition, *usage)).map(|name| name.to_string()),
                None => memory.host.get(usage).cloned(),
            };
            let variable = variable.unwrap_or_default();
            Pair { variable, relation: *relation, definition: *definition, usage: *usage }
        };
        DefUsePlan {
            sites,
            pairs: memory.pairs.iter().map(pair).collect(),
            numbered: Vec::new(),
            positions: HashMap::new(),
            aliases: memory.aliases.keys().copied().collect(),
        }
    }

    /// Adds the pairs of a private variable, and gives them the numbers that its code reports.
    fn add_variable<'a, 'm>(
        &mut self,
        variable: &'a Variable<'m>,
        reaching: &BTreeSet<(usize, usize)>,
        names: &Names<'m>,
    ) -> Tracked<'a, 'm> {
        let name = names.name(variable.alloca.value()).unwrap_or_default();
        let mut first_pair = HashMap::new();
        for usage in &variable.uses {
            self.numbered.push(None);
            first_pair.insert(*usage, self.numbered.len() as u32);
            for definition in &variable.definitions {
                self.numbered.push(Some((*definition, *usage)));
                if reaching.contains(&(*definition, *usage)) {
                    self.pairs.push(Pair {
                        variable: name.clone(),
                        relation: Relation::Private,
                        definition: Some(*definition),
                        usage: *usage,
                    });
                }
            }
        }
        Tracked { variable, first_pair }
    }

    fn sort(&mut self) {
        let sites = &self.sites;
        let place = |access: usize| (sites[access].location.clone(), access);
        self.pairs.sort_by_cached_key(|pair| (place(pair.usage), pair.definition.map(place), pair.relation));
        let key = |pair: &Pair| (pair.definition, pair.usage, pair.relation);
        self.positions = self.pairs.iter().enumerate().map(|(at, pair)| (key(pair), at)).collect();
    }

    /// The number of pairs of private variables that the code reports by number, and of accesses.
    pub fn reported(&self) -> (u32, u32) {
        (self.numbered.len() as u32, self.sites.len() as u32)
    }

    /// Returns what a launch has shown: `numbers` of pairs of private variables, and definitions (`None`: the host)
    /// with the uses that they reached through memory.
    pub fn exercised(
        &self,
        numbers: impl IntoIterator<Item = u32>,
        memory: impl IntoIterator<Item = (Option<u32>, u32, Relation)>,
    ) -> Exercised {
        let of_variables =
            numbers.into_iter().filter_map(|number| self.numbered.get(number as usize).copied().flatten());
        let of_variables = of_variables.map(|(definition, usage)| (Some(definition), usage, Relation::Private));
        let of_memory =
            memory.into_iter().map(|(d, usage, relation)| (d.map(|d| d as usize), usage as usize, relation));
        let mut shown = Exercised::default();
        for pair in of_variables.chain(of_memory) {
            let may_alias = pair.0.is_some_and(|definition| self.aliases.contains(&(definition, pair.1)));
            let by_others = matches!(pair.2, Relation::AcrossBarrier | Relation::WithinGroup | Relation::AcrossGroups);
            if let Some(position) = self.positions.get(&pair) {
                shown.pairs.insert(*position);
            } else if may_alias && by_others {
                shown.unordered.insert(pair);
            } else {
                shown.unexpected.insert(pair);
            }
        }
        shown
    }

    /// Returns stable ids of the pairs, in their order: they follow from the source and the compiler's options alone.
    pub fn ids(&self) -> Vec<String> {
        let mut counts: BTreeMap<String, usize> = BTreeMap::new();
        let mut id = |pair: &Pair| {
            let definition = pair.definition.map_or_else(|| "host".to_owned(), |definition| self.place(definition));
            let (relation, usage) = (relation_name(pair.relation), self.place(pair.usage));
            let id = format!("{relation}.{}@{definition}->{usage}", pair.variable);
            let count = counts.entry(id.clone()).or_insert(0);
            *count += 1;
            if *count > 1 { format!("{id}#{count}") } else { id }
        };
        self.pairs.iter().map(&mut id).collect()
    }

    fn place(&self, access: usize) -> String {
        let site = &self.sites[access];
        let at = match &site.location {
            Some(l) => {
                let file = l.file.rsplit(['/', '\\']).next().unwrap_or(&l.file);
                format!("{file}:{}:{}", l.line, l.column)
            }
            None => format!("access {access}"),
        };
        format!("{}.{}@{at}", site.function, site.operation)
    }
}

/// The spelling of a relation in results.
pub fn relation_name(relation: Relation) -> &'static str {
    match relation {
        Relation::Private => "private",
        Relation::SameWorkItem => "same-work-item",
        Relation::AcrossBarrier => "across-barrier",
        Relation::WithinGroup => "within-group",
        Relation::AcrossGroups => "across-groups",
        Relation::HostToKernel => "host-to-kernel",
    }
}
