//! Private variables that are only loaded and stored as a whole: for these, reaching definitions are exact.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::accesses::{Access, Role};
use crate::llvm::{DataLayout, DebugLocation, Function, Inst, Opcode, Value};

/// Names and declarations of the variables of the source that live in memory, by their `alloca`.
#[derive(Debug, Default)]
pub struct Names<'m> {
    declared: HashMap<Value<'m>, (String, Option<DebugLocation>)>,
    /// Functions with debug information.
    described: HashSet<Function<'m>>,
}

impl<'m> Names<'m> {
    pub fn read(functions: &[Function<'m>]) -> Names<'m> {
        let mut names = Names::default();
        for function in functions {
            for (place, variable) in function.instructions().into_iter().flat_map(Inst::declared_variables) {
                // A local variable's name is operand 1 of its node (LLVM 22, DebugInfoMetadata.h).
                if let Some(name) = variable.operand(1).text() {
                    names.described.insert(*function);
                    let known = || (name.to_owned(), variable.variable_location());
                    names.declared.entry(place).or_insert_with(known);
                }
            }
        }
        names
    }

    /// Returns the name of a variable. Where a function has debug information, what that does not declare is a
    /// temporary of the compiler, and has none.
    pub fn name(&self, variable: Value<'m>) -> Option<String> {
        if let Some((name, _)) = self.declared.get(&variable) {
            return Some(name.clone());
        }
        let is_described = variable.function().is_some_and(|function| self.described.contains(&function));
        (!is_described).then(|| match variable.name() {
            name if name.is_empty() => "a private variable".to_owned(),
            name => name,
        })
    }

    /// Returns where a variable is declared.
    pub fn declaration(&self, variable: Value<'m>) -> Option<&DebugLocation> {
        self.declared.get(&variable)?.1.as_ref()
    }
}

/// A variable, with its accesses by their numbers.
#[derive(Debug, Clone)]
pub struct Variable<'m> {
    pub alloca: Inst<'m>,
    pub definitions: Vec<usize>,
    pub uses: Vec<usize>,
}

/// Returns the variables of the source that are only loaded and stored as a whole.
pub fn whole<'m>(accesses: &[Access<'m>], names: &Names<'m>, layout: DataLayout<'m>) -> Vec<Variable<'m>> {
    let mut numbers: HashMap<Value<'m>, usize> = HashMap::new();
    let mut all: Vec<Variable<'m>> = Vec::new();
    for (number, access) in accesses.iter().enumerate() {
        let Some(alloca) = access.pointer.as_opcode(Opcode::LLVMAlloca) else { continue };
        let known = numbers.get(&access.pointer).copied();
        if known.is_none() && (names.name(access.pointer).is_none() || !is_whole(alloca, layout)) {
            continue;
        }
        let at = *numbers.entry(access.pointer).or_insert_with(|| {
            all.push(Variable { alloca, definitions: Vec::new(), uses: Vec::new() });
            all.len() - 1
        });
        match access.role {
            Role::Definition => all[at].definitions.push(number),
            Role::Use => all[at].uses.push(number),
        }
    }
    all
}

/// Returns whether every use of a variable's address is a load or a store of all of it.
fn is_whole<'m>(alloca: Inst<'m>, layout: DataLayout<'m>) -> bool {
    let Some(ty) = alloca.allocated_type() else { return false };
    // clang reads and writes vectors of three lanes as ones of four.
    let bytes = layout.store_size(ty)..=layout.abi_size(ty);
    let fits = |user: Value<'m>| {
        let Some(inst) = user.as_instruction() else { return false };
        match inst.opcode() {
            Opcode::LLVMLoad => bytes.contains(&layout.store_size(inst.ty())),
            Opcode::LLVMStore => {
                inst.operand(0) != alloca.value() && bytes.contains(&layout.store_size(inst.operand(0).ty()))
            }
            _ => false,
        }
    };
    alloca.operand(0).as_u64() == Some(1) && alloca.users().into_iter().all(fits)
}

/// Returns the pairs of definition and use of these variables, which are of one function, such that the definition
/// reaches the use.
pub fn reaching<'m>(
    function: Function<'m>,
    variables: &[&Variable<'m>],
    accesses: &[Access<'m>],
) -> BTreeSet<(usize, usize)> {
    let blocks = function.blocks();
    let positions: HashMap<_, usize> = blocks.iter().enumerate().map(|(at, block)| (*block, at)).collect();
    let successors: Vec<Vec<usize>> = blocks
        .iter()
        .map(|block| block.terminator().successors().iter().map(|next| positions[next]).collect())
        .collect();
    let mut is_reached = vec![false; blocks.len()];
    let mut open = vec![0];
    while let Some(at) = open.pop() {
        if !std::mem::replace(&mut is_reached[at], true) {
            open.extend(&successors[at]);
        }
    }
    let mut pairs = BTreeSet::new();
    for variable in variables {
        // By block: accesses in their order.
        let mut events: HashMap<usize, Vec<usize>> = HashMap::new();
        let mut own = [&variable.definitions[..], &variable.uses].concat();
        own.sort_unstable();
        for access in own {
            events.entry(positions[&accesses[access].inst.block()]).or_default().push(access);
        }
        let of = |block: usize| events.get(&block).map_or(&[][..], Vec::as_slice);
        for definition in &variable.definitions {
            // Adds the uses among accesses up to the next definition; returns whether there is none.
            let mut leads_on = |after: &[usize]| {
                let is_use = |access: &&usize| accesses[**access].role == Role::Use;
                let uses = after.iter().take_while(is_use);
                pairs.extend(uses.clone().map(|usage| (*definition, *usage)));
                uses.count() == after.len()
            };
            let from = positions[&accesses[*definition].inst.block()];
            if !is_reached[from] {
                continue;
            }
            let here = of(from);
            let at = here.partition_point(|access| access <= definition);
            if !leads_on(&here[at..]) {
                continue;
            }
            let (mut seen, mut open) = (vec![false; blocks.len()], successors[from].clone());
            while let Some(block) = open.pop() {
                if !std::mem::replace(&mut seen[block], true) && leads_on(of(block)) {
                    open.extend(&successors[block]);
                }
            }
        }
    }
    pairs
}

/// Returns whether a value that an instruction yields decides a branch, without passing through memory or a call.
pub fn decides(inst: Inst<'_>) -> bool {
    let mut seen = HashSet::new();
    let mut open = vec![inst];
    while let Some(next) = open.pop() {
        for user in next.value().user_instructions() {
            let is_decision =
                user.successors().len() > 1 || (user.is(Opcode::LLVMSelect) && user.operand(0) == next.value());
            if is_decision {
                return true;
            }
            let passes = !matches!(user.opcode(), Opcode::LLVMCall | Opcode::LLVMLoad | Opcode::LLVMStore)
                && !user.is_terminator();
            if passes && seen.insert(user) {
                open.push(user);
            }
        }
    }
    false
}
