//! Executes calls, as far as all domains agree on them.

use super::call::{Call, ImageQuery, Query, VectorAccess};
use super::{Domain, ItemOf, Machine, State, ValueOf};
use crate::program::ids::Part;
use crate::program::value::{Lane, Value};
use crate::program::{Definition, Instruction, Shape};

impl<D: Domain> Machine<'_, D> {
    /// Executes a call. At a barrier, the work-item starts to wait.
    pub(super) fn call(
        &mut self,
        item: &mut ItemOf<D>,
        instruction: &Instruction,
        call: Call,
        shape: Shape,
    ) -> ValueOf<D> {
        let values = |item: &ItemOf<D>| -> Vec<ValueOf<D>> {
            instruction.operands.iter().map(|o| item.values[*o as usize].clone()).collect()
        };
        match call {
            Call::Query(query) => {
                // An unknown dimension is none of the three.
                let dimension = instruction.operands.first().and_then(|o| item.values[*o as usize].bits());
                return Value::One(self.query(item, query, dimension.unwrap_or(3)));
            }
            Call::Barrier => item.state = State::Waiting,
            Call::Idle => {}
            Call::Vector(access) => return self.vector(item, access, instruction, shape),
            Call::AsyncCopy(copy) => {
                let operands = values(item);
                self.domain.copy_async(item, copy, &operands);
            }
            Call::Atomic(atomic) => return self.domain.atomic_call(item, instruction, atomic, shape),
            Call::Copy => {
                let operands = values(item);
                self.domain.copy(item, &operands);
            }
            Call::Fill => {
                let operands = values(item);
                self.domain.fill(item, &operands);
            }
            Call::Image(query) => return self.image(instruction, query, shape),
            Call::Other => return self.domain.builtin(item, instruction, shape),
        }
        D::Lane::undetermined(shape)
    }

    fn query(&mut self, item: &ItemOf<D>, query: Query, dimension: u64) -> D::Lane {
        match (query, usize::try_from(dimension)) {
            (Query::Id(id), Ok(d @ 0..3)) => match id.part() {
                Some(part) => self.domain.part(item, part, d),
                None => {
                    let offset = self.domain.part(item, Part::Offset, d);
                    let inside = self.inside(item, d);
                    self.domain.sum(inside, offset)
                }
            },
            (Query::Id(id), _) => D::Lane::new(id.beyond()),
            (Query::GlobalLinearId, _) => {
                let ids = [0, 1, 2].map(|d| self.inside(item, d));
                let sizes = [0, 1].map(|d| self.domain.part(item, Part::GlobalSize, d));
                self.linear(ids, sizes)
            }
            (Query::LocalLinearId, _) => {
                let ids = [0, 1, 2].map(|d| self.domain.part(item, Part::LocalId, d));
                let sizes = [0, 1].map(|d| self.domain.part(item, Part::LocalSize, d));
                self.linear(ids, sizes)
            }
            (Query::Dimensions, _) => self.domain.part(item, Part::Dimensions, 0),
            (Query::Constant(bits), _) => D::Lane::new(bits.into()),
        }
    }

    /// Returns the global id without the offset.
    fn inside(&mut self, item: &ItemOf<D>, d: usize) -> D::Lane {
        let (group, size) = (self.domain.part(item, Part::GroupId, d), self.domain.part(item, Part::LocalSize, d));
        let begin = self.domain.product(group, size);
        let local = self.domain.part(item, Part::LocalId, d);
        self.domain.sum(begin, local)
    }

    fn linear(&mut self, ids: [D::Lane; 3], sizes: [D::Lane; 2]) -> D::Lane {
        let planes = self.domain.product(ids[2], sizes[1]);
        let rows = self.domain.sum(planes, ids[1]);
        let before = self.domain.product(rows, sizes[0]);
        self.domain.sum(before, ids[0])
    }

    /// Executes `vload` or `vstore`.
    fn vector(
        &mut self,
        item: &mut ItemOf<D>,
        access: VectorAccess,
        instruction: &Instruction,
        shape: Shape,
    ) -> ValueOf<D> {
        let unknown = D::Lane::undetermined(shape);
        let operand = |i: usize| Some(&item.values[*instruction.operands.get(i)? as usize]);
        let lane = |i: usize| operand(i).and_then(|value| value.lanes().first().copied());
        let (number, at) = if access.is_load { (0, 1) } else { (1, 2) };
        let (Some(number), Some(at)) = (lane(number), lane(at)) else { return unknown };
        let of = if access.is_load { shape } else { self.program.shape(instruction.operands[0]) };
        let bytes = self.domain.product(number, D::Lane::new(access.stride(of)));
        let at = Value::One(self.domain.sum(bytes, at));
        let in_memory = access.in_memory(of);
        if access.is_load {
            let found = self.domain.load(item, &at, in_memory);
            return if access.is_half { self.domain.convert_floats(&found, in_memory, of) } else { found };
        }
        let Some(value) = operand(0).cloned() else { return unknown };
        let value = if access.is_half { self.domain.convert_floats(&value, of, in_memory) } else { value };
        self.domain.store(item, &at, &value, in_memory);
        unknown
    }

    /// Answers a question about an image.
    fn image(&self, instruction: &Instruction, query: ImageQuery, shape: Shape) -> ValueOf<D> {
        let definition = instruction.operands.first().map(|o| &self.program.values[*o as usize]);
        let sides = match definition {
            Some(Definition::Param(position)) => self.domain.image_sides(*position as usize),
            _ => None,
        };
        match (query, sides) {
            (ImageQuery::Side(side), Some(sides)) => Value::of_bits([sides[usize::from(side)]], shape),
            (ImageQuery::Sides, sides) => Value::of_bits(sides.unwrap_or([0; 3]), shape),
            (ImageQuery::Side(_), None) | (ImageQuery::Format, _) => D::Lane::undetermined(shape),
        }
    }
}
