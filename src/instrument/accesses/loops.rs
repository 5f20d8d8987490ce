//! Back edges: fuel, and counters of iterations around barriers.

use llvm_sys::LLVMIntPredicate::LLVMIntSLT;
use llvm_sys::core::*;

use super::blocks;
use super::early_exit::Exit;
use super::emit::Emitter;
use super::group_sync::Meeting;
use super::iteration::{self, Counters};
use super::sites::Sites;
use crate::instrument::guard::loops::Loops;
use crate::kernel::ir::{Function, Inst};
use crate::lower::host::abi::hook;

/// An edge that closes a cycle: a way out of a terminator.
struct BackEdge {
    terminator: Inst,
    way: u32,
    site: u32,
    /// Which counter counts it.
    counter: Option<usize>,
}

/// Every cycle holds a back edge; every loop around a barrier has a counter.
#[derive(Default)]
pub struct Plan {
    edges: Vec<BackEdge>,
    counters: usize,
    /// Where loops with counters are entered from outside: ends of blocks.
    entered: Vec<(Inst, usize)>,
    /// Counters by barrier, outermost first.
    around: Vec<(Inst, Vec<usize>)>,
}

pub fn find(kernel: Function, sites: &mut Sites<'_>, meetings: &[Meeting]) -> Plan {
    let loops = Loops::of(kernel);
    let meetings: Vec<&Meeting> = meetings.iter().filter(|m| m.counts()).collect();
    let mut plan = Plan::default();
    let mut counter_of = vec![None; loops.all.len()];
    let predecessors = loops.predecessors();
    let at: Vec<usize> = meetings.iter().map(|m| loops.index(m.inst.block())).collect();
    for (number, l) in loops.all.iter().enumerate() {
        if at.iter().any(|b| l.blocks.contains(b)) {
            counter_of[number] = Some(plan.counters);
            plan.counters += 1;
        }
        for &(b, way) in &predecessors[l.header] {
            let terminator = loops.blocks[b].terminator();
            match (l.latches.contains(&b), l.blocks.contains(&b), counter_of[number]) {
                (true, _, counter) => {
                    let site = sites.back_edge(terminator);
                    plan.edges.push(BackEdge { terminator, way, site, counter });
                }
                (false, false, Some(counter)) => plan.entered.push((terminator, counter)),
                _ => {}
            }
        }
    }
    // Cycles with several entries are no loops to count by themselves: one counter counts all of them, and is never reset.
    let irregular = (!loops.irregular.is_empty() && !meetings.is_empty()).then_some(plan.counters);
    plan.counters += usize::from(irregular.is_some());
    for (from, way) in &loops.irregular {
        let terminator = loops.blocks[*from].terminator();
        let site = sites.back_edge(terminator);
        plan.edges.push(BackEdge { terminator, way: *way, site, counter: irregular });
    }
    for (meeting, block) in meetings.iter().zip(&at) {
        let inside = loops.all.iter().enumerate().filter(|(_, l)| l.blocks.contains(block));
        let counters = irregular.into_iter().chain(inside.filter_map(|(number, _)| counter_of[number]));
        plan.around.push((meeting.inst, counters.collect()));
    }
    plan
}

pub fn weave(e: &Emitter<'_, '_>, plan: &Plan, exit: Option<Exit>) -> Counters {
    let counters: Vec<_> = (0..plan.counters).map(|_| e.variable(e.wide(0))).collect();
    for (terminator, counter) in &plan.entered {
        e.before(*terminator);
        // SAFETY: alive; the variable holds an `i64`.
        unsafe { LLVMBuildStore(e.builder, e.wide(0), counters[*counter]) };
    }
    for edge in &plan.edges {
        let at = match edge.terminator.successors().len() {
            1 => edge.terminator,
            _ => blocks::split_edge(e.context, edge.terminator, edge.way),
        };
        e.before(at);
        if let Some(counter) = edge.counter {
            iteration::count(e, counters[counter]);
        }
        // SAFETY: alive; the variable holds an `i64`.
        unsafe {
            let left = LLVMBuildAdd(e.builder, e.load(e.long, e.fuel), e.wide(u64::MAX), c"".as_ptr());
            LLVMBuildStore(e.builder, left, e.fuel);
            let none = e.compare(LLVMIntSLT, left, e.wide(0));
            e.aside(at, none, || {
                let next = e.hook(hook::FUEL, e.long, &[e.number(edge.site)]);
                LLVMBuildStore(e.builder, next, e.fuel);
                if let Some(exit) = exit {
                    exit.here(e);
                }
            });
        }
    }
    let of = plan.around.iter().map(|(inst, all)| (*inst, all.iter().map(|c| counters[*c]).collect())).collect();
    Counters { of }
}
