//! Instruments back edges: fuel, and counters of the iterations around barriers.

use kassay_model::native::abi::hook;

use super::early_exit::Exit;
use super::emit::Emitter;
use super::group_sync::Placeholder;
use super::iteration::{self, Counters};
use super::sites::Sites;
use crate::instrument::guard::loops::Loops;
use crate::llvm::IntPredicate::LLVMIntSLT;
use crate::llvm::{Block, Function, Inst};

/// An edge that closes a cycle.
struct BackEdge<'m> {
    terminator: Inst<'m>,
    successor: u32,
    site: u32,
    /// The counter that it increments.
    counter: Option<usize>,
}

/// The edges to instrument. Every cycle contains a back edge; every loop around a barrier has a counter.
#[derive(Default)]
pub struct Plan<'m> {
    edges: Vec<BackEdge<'m>>,
    counters: usize,
    /// Terminators of the blocks from which loops with counters are entered, with the counter to reset.
    entries: Vec<(Inst<'m>, usize)>,
    /// Counters by barrier, outermost first.
    enclosing: Vec<(Inst<'m>, Vec<usize>)>,
}

/// Plans the instrumentation of all back edges, with counters for the loops that contain collective operations.
pub fn find<'m>(kernel: Function<'m>, sites: &mut Sites<'_, 'm>, placeholders: &[Placeholder<'m>]) -> Plan<'m> {
    let loops = Loops::of(kernel);
    let placeholders: Vec<&Placeholder<'m>> = placeholders.iter().filter(|m| m.is_collective()).collect();
    let mut plan = Plan::default();
    let mut counter_of = vec![None; loops.all.len()];
    let predecessors = loops.predecessors();
    let at: Vec<usize> = placeholders.iter().map(|m| loops.index(m.inst.block())).collect();
    for (number, l) in loops.all.iter().enumerate() {
        if at.iter().any(|b| l.blocks.contains(b)) {
            counter_of[number] = Some(plan.counters);
            plan.counters += 1;
        }
        for &(b, successor) in &predecessors[l.header] {
            let terminator = loops.blocks[b].terminator();
            match (l.latches.contains(&b), l.blocks.contains(&b), counter_of[number]) {
                (true, _, counter) => {
                    let site = sites.back_edge(terminator);
                    plan.edges.push(BackEdge { terminator, successor, site, counter });
                }
                (false, false, Some(counter)) => plan.entries.push((terminator, counter)),
                _ => {}
            }
        }
    }
    // Cycles with several entries are no natural loops. Those that have such an operation have a counter, too.
    let mut counter_of_cycle = vec![None; loops.irreducible.len()];
    for (cycle, counter) in loops.irreducible.iter().zip(&mut counter_of_cycle) {
        if at.iter().any(|block| cycle.contains(block)) {
            let entered =
                cycle.iter().flat_map(|block| &predecessors[*block]).filter(|(from, _)| !cycle.contains(from));
            plan.entries.extend(entered.map(|(from, _)| (loops.blocks[*from].terminator(), plan.counters)));
            *counter = Some(plan.counters);
            plan.counters += 1;
        }
    }
    let cycle_of = |block: usize| {
        let mut cycles = loops.irreducible.iter().zip(&counter_of_cycle);
        cycles.find(|(cycle, _)| cycle.contains(&block)).and_then(|(_, counter)| *counter)
    };
    for (from, successor) in &loops.irregular {
        let terminator = loops.blocks[*from].terminator();
        let site = sites.back_edge(terminator);
        plan.edges.push(BackEdge { terminator, successor: *successor, site, counter: cycle_of(*from) });
    }
    for (placeholder, block) in placeholders.iter().zip(&at) {
        let inside = loops.all.iter().enumerate().filter(|(_, l)| l.blocks.contains(block));
        let counters = cycle_of(*block).into_iter().chain(inside.filter_map(|(number, _)| counter_of[number]));
        plan.enclosing.push((placeholder.inst, counters.collect()));
    }
    plan
}

/// Inserts fuel and counters on the planned edges and returns the counters.
pub fn weave<'m>(e: &Emitter<'m>, plan: &Plan<'m>, exit: Option<&Exit<'m>>) -> Counters<'m> {
    let counters: Vec<_> = (0..plan.counters).map(|_| e.variable(e.const_i64(0))).collect();
    for (terminator, counter) in &plan.entries {
        e.before(*terminator);
        e.builder.store(e.const_i64(0), counters[*counter]);
    }
    for edge in &plan.edges {
        let at = match edge.terminator.successors().len() {
            1 => edge.terminator,
            _ => Block::split_way(edge.terminator, edge.successor, ""),
        };
        e.before(at);
        if let Some(counter) = edge.counter {
            iteration::increment(e, counters[counter]);
        }
        let left = e.builder.add(e.load(e.long, e.fuel), e.const_i64(u64::MAX), "");
        e.builder.store(left, e.fuel);
        let none = e.compare(LLVMIntSLT, left, e.const_i64(0));
        e.emit_if(at, none, || {
            let next = e.hook(hook::FUEL, e.long, &[e.const_i32(edge.site)]);
            e.builder.store(next, e.fuel);
            if let Some(exit) = exit {
                exit.leave_at_end(e);
            }
        });
    }
    let by_inst =
        plan.enclosing.iter().map(|(inst, all)| (*inst, all.iter().map(|c| counters[*c]).collect())).collect();
    Counters { by_inst }
}
