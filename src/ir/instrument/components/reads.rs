//! Narrows reads of vectors of which the same expression takes components (`p[i].w`), and of vectors of three
//! components, of which clang reads four.

use super::parts::{describe, has_components, is_own};
use crate::llvm::{Function, Inst, Location, Opcode, Type, Value, View};

/// Makes reads of vectors read only the components that their expressions name.
pub fn separate<'m>(view: View<'m>, function: Function<'m>) {
    for block in function.blocks() {
        let loads = block.instructions().into_iter().filter(|inst| inst.is(Opcode::LLVMLoad));
        for load in loads.filter(|load| load.ty().is_vector() && !load.is_volatile() && !load.is_atomic()) {
            if let Some(named) = named_components(view, load) {
                narrow(view, load, &runs(&named));
            }
        }
    }
}

/// Returns for each component whether it is named; `None` if all or none are.
fn named_components<'m>(view: View<'m>, load: Inst<'m>) -> Option<Vec<bool>> {
    if !has_components(view, load.value()) || is_own(load.operand(0)) {
        return None;
    }
    let named = named(load.value(), load.debug_location())?;
    let some = named.iter().any(|is_named| *is_named);
    (some && !named.iter().all(|is_named| *is_named)).then_some(named)
}

/// Returns for each component of a vector whether instructions of the expression at `location` take it, and nothing
/// else takes any; `None` if something takes the vector as a whole.
fn named<'m>(vector: Value<'m>, location: Option<Location<'m>>) -> Option<Vec<bool>> {
    let lanes = vector.ty().lanes()?;
    let mut all = vec![false; lanes as usize];
    for user in vector.users() {
        let user = user.as_instruction().filter(|user| user.debug_location() == location)?;
        if user.is(Opcode::LLVMExtractElement) {
            let lane = user.operand(1).as_u64().filter(|lane| *lane < u64::from(lanes))?;
            all[lane as usize] = true;
            continue;
        }
        let mask = user.shuffle_mask()?;
        // Of what is shuffled, too, only some components may be taken.
        let taken = named(user.value(), location).unwrap_or_else(|| vec![true; mask.len()]);
        for (position, operand) in [user.operand(0), user.operand(1)].into_iter().enumerate() {
            let first = position as u32 * lanes;
            let of_operand = mask.iter().zip(&taken).filter(|(_, is_taken)| **is_taken && operand == vector);
            for lane in of_operand.filter_map(|(lane, _)| lane.and_then(|lane| lane.checked_sub(first))) {
                if let Some(is_named) = all.get_mut(lane as usize) {
                    *is_named = true;
                }
            }
        }
    }
    Some(all)
}

/// Returns the first component and the number of components of each part without gaps.
fn runs(named: &[bool]) -> Vec<(u32, u32)> {
    let mut all: Vec<(u32, u32)> = Vec::new();
    for lane in (0..).zip(named).filter(|(_, is_named)| **is_named).map(|(lane, _)| lane) {
        match all.last_mut() {
            Some((first, count)) if *first + *count == lane => *count += 1,
            _ => all.push((lane, 1)),
        }
    }
    all
}

fn narrow<'m>(view: View<'m>, load: Inst<'m>, runs: &[(u32, u32)]) {
    let (ty, pointer) = (load.ty(), load.operand(0));
    let Some(lanes) = ty.lanes() else { return };
    let element = ty.scalar();
    let bytes = view.layout().store_size(element);
    let builder = view.builder();
    builder.before(load);
    builder.set_location(load.debug_location());
    let int = view.int_type(32);
    let mut whole = ty.poison();
    for &(first, count) in runs {
        let place = match first {
            0 => pointer,
            _ => builder.gep(element, pointer, &[int.int(first.into())], ""),
        };
        let part = builder.load(part_type(element, count), place, "");
        describe(view, part, load, u64::from(first) * bytes);
        whole = if count == 1 {
            builder.insert_element(whole, part, int.int(first.into()), "")
        } else {
            let is_in = |lane: &u32| (first..first + count).contains(lane);
            let spread: Vec<Option<u32>> = (0..lanes).map(|lane| is_in(&lane).then(|| lane - first)).collect();
            let wide = builder.shuffle(part, part.ty().poison(), &spread, "");
            let both: Vec<Option<u32>> =
                (0..lanes).map(|lane| Some(if is_in(&lane) { lanes + lane } else { lane })).collect();
            builder.shuffle(whole, wide, &both, "")
        };
    }
    drop(builder);
    load.replace_and_erase(whole);
}

fn part_type(element: Type<'_>, count: u32) -> Type<'_> {
    if count == 1 { element } else { element.vector(count) }
}
