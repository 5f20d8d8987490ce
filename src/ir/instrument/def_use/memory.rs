//! Pairs of memory: of each definition and use of memory that may be the same, how they can be related.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::rc::Rc;

use kassay_base::error::{Error, Result};
use kassay_model::native::table::Relation;

use super::accesses::{Access, Extent, Role};
use super::paths::{Ordered, Paths, Reached};
use super::variables::Names;
use crate::cfg::points_to::{PointsTo, Root};
use crate::llvm::{AddressSpace, DataLayout, Function, Opcode, Value};

/// A kind of memory whose accesses are followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Memory {
    Private,
    Local,
    Global,
}

impl Memory {
    fn ordered(self) -> Ordered {
        if self == Memory::Local { Ordered::Local } else { Ordered::Global }
    }
}

/// An object that accesses may share.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Object<'m> {
    Root(Root<'m>),
    /// The copy that a parameter which is passed by value points to.
    Copy(Value<'m>),
}

/// Pairs by definition (`None`: the host) and use, with the names of what they share.
#[derive(Debug, Default)]
pub struct MemoryPairs {
    /// Definitions and uses that may be of the same memory.
    pub aliases: BTreeMap<(usize, usize), Rc<str>>,
    /// How they can be related.
    pub pairs: BTreeSet<(Option<usize>, usize, Relation)>,
    /// The names of what the host defines, by use.
    pub host: BTreeMap<usize, String>,
    /// Accesses that are followed.
    pub followed: BTreeSet<usize>,
}

/// Most pairs that a kernel may have.
const MOST_PAIRS: usize = 200_000;

/// What an access may concern.
type Objects<'m> = BTreeSet<(Memory, Object<'m>)>;

/// What accesses of two kinds may share.
struct Shared {
    name: Rc<str>,
    memories: BTreeSet<Memory>,
}

struct Reader<'a, 'm> {
    kernel: Function<'m>,
    points_to: &'a PointsTo<'m>,
    names: &'a Names<'m>,
    /// Names of the kernel's arguments.
    arguments: &'a [String],
    by_value: Vec<Value<'m>>,
}

impl<'m> Reader<'_, 'm> {
    fn objects(&self, pointer: Value<'m>) -> Objects<'m> {
        let base = base(pointer);
        if self.by_value.contains(&base) {
            return [(Memory::Private, Object::Copy(base))].into();
        }
        let mut all = Objects::new();
        let roots = self.points_to.roots(pointer);
        if base.as_opcode(Opcode::LLVMAlloca).is_none() {
            // Where the address of a parameter is passed on, the analysis takes it for that of what was copied.
            let copies = self.by_value.iter().filter(|copy| !self.points_to.roots(**copy).is_disjoint(&roots));
            all.extend(copies.map(|copy| (Memory::Private, Object::Copy(*copy))));
        }
        for root in roots {
            let memory: &[Memory] = match root {
                Root::Private(variable) if self.names.name(variable).is_some() => &[Memory::Private],
                // A temporary of the compiler.
                Root::Private(_) => &[],
                Root::Argument(_) if self.points_to.is_private(&root) => &[],
                Root::Argument(position) => match self.kernel.param(position).and_then(|p| p.ty().space()) {
                    Some(AddressSpace::Global | AddressSpace::Constant) => &[Memory::Global],
                    Some(AddressSpace::Local) => &[Memory::Local],
                    _ => &[],
                },
                Root::Variable(variable) => match variable.ty().space() {
                    Some(AddressSpace::Local) => &[Memory::Local],
                    _ => &[],
                },
                Root::Unknown => match pointer.ty().space() {
                    Some(AddressSpace::Private) => &[Memory::Private],
                    Some(AddressSpace::Local) => &[Memory::Local],
                    Some(AddressSpace::Global | AddressSpace::Constant) => &[Memory::Global],
                    _ => &[Memory::Private, Memory::Local, Memory::Global],
                },
            };
            all.extend(memory.iter().map(|memory| (*memory, Object::Root(root))));
        }
        all
    }

    fn name(&self, object: Object<'m>) -> String {
        match object {
            Object::Root(Root::Private(variable)) | Object::Copy(variable) => {
                self.names.name(variable).unwrap_or_else(|| "a private variable".to_owned())
            }
            Object::Root(Root::Argument(position)) => {
                self.arguments.get(position as usize).cloned().unwrap_or_else(|| format!("argument {position}"))
            }
            // clang puts the function's name before that of a static local variable.
            Object::Root(Root::Variable(variable)) => {
                let name = variable.name();
                name.rsplit('.').find(|part| part.parse::<u32>().is_err()).unwrap_or(&name).to_owned()
            }
            Object::Root(Root::Unknown) => "memory behind an unknown pointer".to_owned(),
        }
    }

    /// Returns what accesses of two kinds may share; `None`: nothing.
    fn shared(&self, a: &Objects<'m>, b: &Objects<'m>) -> Option<Shared> {
        let common = common(a, b);
        let memories = common.iter().map(|(memory, _)| *memory).collect();
        let name = || self.joined(common.iter().map(|(_, object)| *object)).into();
        (!common.is_empty()).then(|| Shared { name: name(), memories })
    }

    fn joined(&self, objects: impl Iterator<Item = Object<'m>>) -> String {
        let names: BTreeSet<String> = objects.map(|object| self.name(object)).collect();
        names.into_iter().collect::<Vec<_>>().join(", ")
    }
}

/// Returns what a pointer steps from.
fn base(pointer: Value<'_>) -> Value<'_> {
    let mut base = pointer;
    while let Some(inst) = base.as_instruction() {
        match inst.opcode() {
            Opcode::LLVMGetElementPtr | Opcode::LLVMAddrSpaceCast | Opcode::LLVMBitCast => base = inst.operand(0),
            _ => break,
        }
    }
    base
}

/// The bytes of an object that an access concerns, if its pointer steps from the object by a constant: the object, the
/// first byte, and the byte after the last.
type Range<'m> = (Value<'m>, i64, i64);

/// `parameters`: those that are the same pointer whenever their function runs, or lead to memory of their own.
fn constant_range<'m>(access: &Access<'m>, parameters: &[Value<'m>], layout: DataLayout<'m>) -> Option<Range<'m>> {
    let Extent::Fixed(bytes) = access.extent else { return None };
    let (mut pointer, mut start) = (access.pointer, 0_i64);
    while let Some(gep) = pointer.as_opcode(Opcode::LLVMGetElementPtr) {
        start = start.checked_add(layout.constant_offset(gep.value())?)?;
        pointer = gep.operand(0);
    }
    let is_object = pointer.as_opcode(Opcode::LLVMAlloca).is_some() || pointer.as_global().is_some();
    let end = start.checked_add(i64::try_from(bytes).ok()?)?;
    (is_object || parameters.contains(&pointer)).then_some((pointer, start, end))
}

/// Returns whether two accesses concern different parts of the same object.
fn are_apart(a: Option<Range<'_>>, b: Option<Range<'_>>) -> bool {
    match (a, b) {
        (Some((a, from_a, to_a)), Some((b, from_b, to_b))) => a == b && (to_a <= from_b || to_b <= from_a),
        _ => false,
    }
}

/// Returns the parameters of `functions` that are passed by value, as pointers to copies.
fn by_value<'m>(functions: &[Function<'m>]) -> Vec<Value<'m>> {
    let own = |function: &Function<'m>| {
        let function = *function;
        (0..).zip(function.params()).filter(move |(at, _)| function.is_by_value(*at)).map(|(_, parameter)| parameter)
    };
    functions.iter().flat_map(own).collect()
}

/// Returns what two accesses may share, with the memory that it is in.
fn common<'m>(a: &Objects<'m>, b: &Objects<'m>) -> Vec<(Memory, Object<'m>)> {
    let unknown = |of: &Objects<'m>, memory: Memory| of.contains(&(memory, Object::Root(Root::Unknown)));
    let mut all: Vec<_> = a.intersection(b).copied().collect();
    all.extend(a.iter().filter(|(memory, _)| unknown(b, *memory)));
    all.extend(b.iter().filter(|(memory, _)| unknown(a, *memory)));
    all
}

/// Finds the pairs of the accesses that `is_followed` selects. `functions`: the kernel first.
///
/// # Errors
/// `Caller` if there are too many pairs.
pub fn pairs<'m>(
    functions: &[Function<'m>],
    accesses: &[Access<'m>],
    names: &Names<'m>,
    arguments: &[String],
    is_followed: impl Fn(usize) -> bool,
) -> Result<MemoryPairs> {
    let points_to = PointsTo::find(functions);
    let reader =
        Reader { kernel: functions[0], points_to: &points_to, names, arguments, by_value: by_value(functions) };
    // Most accesses concern the same few objects.
    let mut kinds: Vec<Objects<'m>> = Vec::new();
    let mut kind_of = |pointer| {
        let objects = reader.objects(pointer);
        kinds.iter().position(|known| *known == objects).unwrap_or_else(|| {
            kinds.push(objects);
            kinds.len() - 1
        })
    };
    let kind: Vec<usize> = accesses.iter().map(|access| kind_of(access.pointer)).collect();
    let layout = functions[0].view().layout();
    let fixed = [functions[0].params(), reader.by_value.clone()].concat();
    let range = |access: &Access<'m>| constant_range(access, &fixed, layout);
    let ranges: Vec<Option<Range<'m>>> = accesses.iter().map(range).collect();
    let paths = Paths::new(functions, accesses);
    let order = Order::new(&paths);
    let mut found = MemoryPairs::default();
    let of_role = |role: Role| {
        let followed = |n: &usize| accesses[*n].role == role && !kinds[kind[*n]].is_empty() && is_followed(*n);
        (0..accesses.len()).filter(followed).collect::<Vec<usize>>()
    };
    let (definitions, uses) = (of_role(Role::Definition), of_role(Role::Use));
    for usage in &uses {
        let from_host = |(_, object): &&(Memory, Object<'m>)| match object {
            Object::Root(Root::Argument(_) | Root::Unknown) => true,
            Object::Root(_) | Object::Copy(_) => false,
        };
        let global = kinds[kind[*usage]].iter().filter(|(memory, _)| *memory == Memory::Global);
        let host: Vec<Object<'m>> = global.filter(from_host).map(|(_, object)| *object).collect();
        if !host.is_empty() {
            found.host.insert(*usage, reader.joined(host.into_iter()));
            found.pairs.insert((None, *usage, Relation::HostToKernel));
        }
    }
    let mut shared_of: HashMap<(usize, usize), Option<Shared>> = HashMap::new();
    for definition in &definitions {
        let after = After::new(&paths, &accesses[*definition]);
        for usage in &uses {
            if are_apart(ranges[*definition], ranges[*usage]) {
                continue;
            }
            let of = (kind[*definition], kind[*usage]);
            let shared = shared_of.entry(of).or_insert_with(|| reader.shared(&kinds[of.0], &kinds[of.1]));
            let Some(shared) = shared else { continue };
            found.aliases.insert((*definition, *usage), Rc::clone(&shared.name));
            let (by, of) = (&accesses[*definition], &accesses[*usage]);
            let relations =
                shared.memories.iter().flat_map(|memory| order.relations(&paths, &after, (by, of), *memory));
            found.pairs.extend(relations.map(|relation| (Some(*definition), *usage, relation)));
        }
        if found.aliases.len().max(found.pairs.len()) > MOST_PAIRS {
            return Err(Error::caller(format!("the kernel has more than {MOST_PAIRS} def-use pairs of memory")).help(
                "leave --def-use out, or unroll less: the pairs of an array are its definitions times its uses",
            ));
        }
    }
    found.followed = definitions.into_iter().chain(uses).collect();
    Ok(found)
}

/// What can come after a definition.
struct After {
    anything: Reached,
    /// Before the next barrier that orders local, or global, memory.
    interval: [Reached; 2],
    /// After such a barrier.
    barrier: [Reached; 2],
    /// After such a barrier, or a wait for asynchronous copies.
    wait: [Reached; 2],
}

const MEMORIES: [Ordered; 2] = [Ordered::Local, Ordered::Global];

impl After {
    fn new<'m>(paths: &Paths<'m>, definition: &Access<'m>) -> After {
        let node = paths.of(definition.inst);
        let anything = paths.after([node], None);
        let past_barriers = |waits| MEMORIES.map(|m| paths.after(paths.barriers(&anything, m, waits), None));
        let (barrier, wait) = (past_barriers(false), past_barriers(true));
        let before = |m| if paths.has_barriers(m) { paths.after([node], Some(m)) } else { anything.clone() };
        After { interval: MEMORIES.map(before), barrier, wait, anything }
    }
}

/// What holds of all pairs.
struct Order {
    /// By memory, for each beginning of an interval: what can come before the next barrier.
    intervals: [Vec<Reached>; 2],
    /// Nodes that order accesses within a group without barriers, and what can come after them in their interval.
    within: (Vec<usize>, [Reached; 2]),
    /// The same between groups, at any distance.
    across: (Vec<usize>, Reached),
}

impl Order {
    fn new(paths: &Paths<'_>) -> Order {
        let interval = |m: Ordered| paths.beginnings(m).into_iter().map(|at| paths.after([at], Some(m))).collect();
        let (within, across) = (paths.atomics(false), paths.atomics(true));
        Order {
            intervals: MEMORIES.map(interval),
            within: (within.clone(), MEMORIES.map(|m| paths.after(within.iter().copied(), Some(m)))),
            across: (across.clone(), paths.after(across, None)),
        }
    }

    /// Returns how a definition and a use of the same memory can be related.
    fn relations<'m>(
        &self,
        paths: &Paths<'m>,
        after: &After,
        (definition, usage): (&Access<'m>, &Access<'m>),
        memory: Memory,
    ) -> Vec<Relation> {
        let node = paths.of(usage.inst);
        if memory == Memory::Private {
            // A parameter is defined before the function's first instruction.
            let follows = after.anything[node] || (definition.is_entry && paths.of(definition.inst) == node);
            return if follows { vec![Relation::Private] } else { Vec::new() };
        }
        let at = memory.ordered() as usize;
        let is_collective = definition.is_collective || usage.is_collective;
        let mut all = Vec::new();
        if after.anything[node] && !is_collective {
            all.push(Relation::SameWorkItem);
        }
        let past_barrier = if definition.is_collective { &after.wait } else { &after.barrier };
        if past_barrier[at][node] {
            all.push(Relation::AcrossBarrier);
        }
        let ordered = |nodes: &[usize], released: &Reached, acquired: &Reached| {
            (definition.is_atomic || nodes.iter().any(|n| released[*n])) && (usage.is_atomic || acquired[node])
        };
        let own = paths.of(definition.inst);
        let same_interval = || self.intervals[at].iter().any(|reached| reached[own] && reached[node]);
        if !is_collective && ordered(&self.within.0, &after.interval[at], &self.within.1[at]) && same_interval() {
            all.push(Relation::WithinGroup);
        }
        if memory == Memory::Global && ordered(&self.across.0, &after.anything, &self.across.1) {
            all.push(Relation::AcrossGroups);
        }
        all
    }
}
