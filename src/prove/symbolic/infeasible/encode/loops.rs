//! Encodes loops: iteration by iteration, or cut at the header.

use kassay_ir::cfg::indices::BlockIndex;

use super::*;

impl Encoder<'_> {
    /// Encodes the loop at this position of the nest. `None` if the formula becomes too large.
    pub(super) fn encode_loop(&mut self, index: usize) -> Option<()> {
        let header = self.loop_nest.nodes[index].header;
        let incoming = self.incoming_edges(header);
        self.enter(header, &incoming);
        self.unrolled.remove(&header);
        let (marks, loops, steps) = (self.mark_counts(), self.loops.len(), self.steps);
        if self.unroll(index, &incoming)? {
            self.unrolled.insert(header);
            return Some(());
        }
        for (goal, all) in &mut self.marks {
            all.truncate(marks.get(goal).copied().unwrap_or(0));
        }
        self.marks.retain(|_, all| !all.is_empty());
        self.loops.truncate(loops);
        self.steps = steps;
        self.enter(header, &incoming);
        self.havoc(index, &incoming)
    }

    fn mark_counts(&self) -> BTreeMap<u32, usize> {
        self.marks.iter().map(|(goal, all)| (*goal, all.len())).collect()
    }

    fn exits(&self, index: usize) -> Vec<(BlockIndex, BlockIndex)> {
        let node = &self.loop_nest.nodes[index];
        let out = |b: &BlockIndex| {
            successors(&self.program.blocks[*b].end).into_iter().map(move |to| (*b, to)).collect::<Vec<_>>()
        };
        node.blocks.iter().flat_map(out).filter(|(_, to)| !node.blocks.contains(to)).collect()
    }

    /// Unrolls the loop as long as at least one exit condition is constant. Returns whether this reached the
    /// loop's end.
    fn unroll(&mut self, index: usize, incoming: &[(BlockIndex, Term)]) -> Option<bool> {
        let loop_nest = self.loop_nest;
        let node = &loop_nest.nodes[index];
        let header = node.header;
        let exits = self.exits(index);
        let live = self.live_out.get(&index).cloned().unwrap_or_default();
        let (begin, entered) = (self.steps, self.reach[header]);
        self.phis(header, incoming);
        let mut exit_states: HashMap<(BlockIndex, BlockIndex), (Term, Cells)> = HashMap::new();
        let mut merged: HashMap<ValueId, Vec<Term>> = HashMap::new();
        for iteration in 0..MAX_ITERATIONS {
            self.encode_blocks(&node.order, Some(header))?;
            let reach = self.reach[header].unwrap_or_else(|| self.terms.truth(false));
            let mut exit = self.false_term();
            let mut is_counted = false;
            for (from, to) in &exits {
                let active = self.edge(*from, *to);
                exit = self.terms.or(exit, active);
                let condition = self.condition_of(*from, *to).map(|(holds, _)| holds);
                is_counted |= condition.is_some_and(|holds| self.terms.as_constant(holds).is_some());
                let state = self.states.get(&(*from, *to)).cloned().unwrap_or_default();
                let total = match exit_states.remove(&(*from, *to)) {
                    Some(before) if self.terms.as_constant(active) == Some(0) => before,
                    Some((before, _)) if self.terms.as_constant(before) == Some(0) => (active, state),
                    None => (active, state),
                    Some((before, cells)) => {
                        (self.terms.or(before, active), state.merged(&mut self.terms, active, &cells))
                    }
                };
                exit_states.insert((*from, *to), total);
            }
            for value in &live {
                let now = self.value(*value);
                let lanes = match merged.remove(value) {
                    None => now,
                    Some(before) => {
                        let pairs: Vec<(Term, Term)> = now.into_iter().zip(before).collect();
                        pairs.into_iter().map(|(lane, other)| self.terms.select(exit, lane, other)).collect()
                    }
                };
                merged.insert(*value, lanes);
            }
            let mut back = Vec::new();
            for latch in &node.latches {
                let active = self.edge(*latch, header);
                if self.terms.as_constant(active) != Some(0) {
                    back.push((*latch, active));
                }
            }
            let again = self.any_taken(&back);
            if self.terms.as_constant(again) == Some(0) {
                for (edge, (active, cells)) in exit_states {
                    self.edges.insert(edge, active);
                    self.states.insert(edge, cells);
                }
                for (value, lanes) in merged {
                    self.values[value as usize] = Some(lanes);
                }
                self.reach[header] = entered;
                return Some(true);
            }
            let too_much = self.steps - begin > MAX_COPIED_INSTRUCTIONS || self.terms.as_constant(reach) == Some(0);
            if !is_counted || too_much || iteration + 1 == MAX_ITERATIONS {
                return Some(false);
            }
            let mut cells: Option<Cells> = None;
            for (latch, active) in &back {
                let state = self.states.get(&(*latch, header)).cloned().unwrap_or_default();
                cells = Some(match cells {
                    None => state,
                    Some(others) => state.merged(&mut self.terms, *active, &others),
                });
            }
            self.cells = cells.unwrap_or_default();
            self.phis(header, &back);
            self.reach[header] = Some(again);
        }
        Some(false)
    }

    /// Encodes a single iteration that stands for any: the header's `phi`s are fresh symbols, and cells that the loop
    /// may write are dropped.
    fn havoc(&mut self, index: usize, incoming: &[(BlockIndex, Term)]) -> Option<()> {
        let program = self.program;
        let loop_nest = self.loop_nest;
        let node = &loop_nest.nodes[index];
        let header = node.header;
        let cells = std::mem::take(&mut self.cells);
        let begin = self.terms.len();
        let mut phis = Vec::new();
        for instruction in &program.blocks[header].instructions {
            let Op::Phi(from) = &instruction.op else { break };
            let mut entries = Vec::new();
            for (p, active) in incoming {
                let operand = from.iter().position(|b| b == p).map(|i| instruction.operands[i]);
                if let Some(operand) = operand {
                    entries.push((*active, self.value(operand)));
                }
            }
            phis.push(Phi { value: instruction.result, symbols: Vec::new(), entries, back_edges: Vec::new() });
        }
        for phi in &mut phis {
            phi.symbols = self.fresh(phi.value, "iterated");
            self.values[phi.value as usize] = Some(phi.symbols.clone());
        }
        let reach = self.reach[header].unwrap_or_else(|| self.terms.truth(false));
        let own = self.loops.len();
        self.loops.push(HavockedLoop { header, reach, phis, begin, compared: Vec::new(), inner_end: 0 });
        self.cells = cells;
        self.memory.drop_written(&mut self.cells, node.blocks.iter());
        self.open_loops.push(own);
        let done = self.encode_blocks(&node.order, Some(header));
        self.open_loops.pop();
        done?;
        for latch in &node.latches {
            let active = self.edge(*latch, header);
            if self.terms.as_constant(active) == Some(0) {
                continue;
            }
            let mut values = Vec::new();
            for instruction in &program.blocks[header].instructions {
                let Op::Phi(from) = &instruction.op else { break };
                if let Some(i) = from.iter().position(|b| b == latch) {
                    values.push(self.value(instruction.operands[i]));
                }
            }
            for (phi, lanes) in self.loops[own].phis.iter_mut().zip(values) {
                phi.back_edges.push((active, lanes));
            }
        }
        self.loops[own].inner_end = self.loops.len();
        Some(())
    }
}
