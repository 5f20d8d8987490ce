//! Generates `docs/operators.md`, the table of operators, from the registry.

use std::fmt::Write;

use super::level::OperatorLevel;
use super::operators::{OPERATORS, Operator};

/// Returns the text of `docs/operators.md`.
pub fn markdown() -> String {
    let mut out = String::from(
        "# Mutation operators\n\n\
         Generated from the registry (`src/mutation/operators/`); `BLESS=1 cargo nextest run --test mutation reference` \
         writes it anew.\n\n\
         `--operators` takes ids with commas between, or a preset: `all` (every operator with all its replacements), `peng` \
         (PENG, table 4.2) and `liu` (LIU, tables 6.1 and 6.2). A preset takes the operators marked with it, with the \
         replacements that its document has. The class is what scores are broken down by.\n\n\
         Operators of the source change what the source says; those of [the IR](#operators-of-the-ir) change instructions, at \
         the levels `ir:raw` to `ir:O3` of [`--level`](mutate.md#levels). The concept is what an operator changes, whatever the \
         level.\n\n\
         ## Operators of the source\n\n\
         | id | name | class | what it does | from | `peng` | `liu` | concept |\n\
         | --- | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    let mark = |is_part: bool| if is_part { "yes" } else { "" };
    let description = |o: &Operator| o.description.replace('|', "\\|");
    for o in OPERATORS.iter().filter(|o| o.levels.contains(&OperatorLevel::Source)) {
        let (peng, liu, concept) = (mark(o.peng), mark(o.liu), o.concept.name());
        let _ = writeln!(
            out,
            "| `{}` | {} | {} | {} | {} | {peng} | {liu} | {concept} |",
            o.id,
            o.name,
            o.class,
            description(o),
            o.origin
        );
    }
    out.push_str(OF_IR);
    for o in OPERATORS.iter().filter(|o| o.levels.contains(&OperatorLevel::Ir)) {
        let what = match o.levels.contains(&OperatorLevel::Source) {
            true => "as above, each call in the IR by itself".to_owned(),
            false => description(o),
        };
        let _ = writeln!(out, "| `{}` | {} | {} | {what} | {} |", o.id, o.name, o.class, o.concept.name());
    }
    out.push_str(NOTES);
    out
}

const OF_IR: &str = "
## Operators of the IR

| id | name | class | what it does | concept |
| --- | --- | --- | --- | --- |
";

const NOTES: &str = "
## Notes

Ids of mutants are `function.OPERATOR@file:line:column:replacement`; `#2` and so on tell alike ones apart. Without debug
information the block's and the instruction's number stand for the place. Mutants of launches are
`OPERATOR@launch:replacement`.

Two operators that make the same change give a mutant each; the later one is a duplicate of the earlier.

- `SYR`, `BFR`: `barrier` and `work_group_barrier`. Two barriers in a macro's body are two; a barrier in an argument that the
  macro uses twice is one. `peng` leaves calls that come from macros alone.
- `BFR` needs constant flags. Other flags (`CLK_IMAGE_MEM_FENCE`) and the scope stay.
- `AR`, `AOP`: the atomics of OpenCL C 1.x (`atomic_*`, `atom_*`) and those of C11. Atomic loads and stores, and flags, have no
  plain form that would differ.
- `GIR`: the other dimensions are those that the kernel asks for anywhere with these functions: in others all indices are 0.
- `SHR`: each work-item has a copy of its own, zero in the beginning. Where a variable has to stay shared (asynchronous
  copies, pointers that lead to one of several variables), the mutant is ignored, with the reason.
- `ICR`: all coordinates that count, layers of arrays among them; float coordinates change by 1.0, a texel where the sampler
  takes unnormalised ones. `peng` has no one-dimensional images.
- `AS`, `AI`, `AD`: for each dimension that the suite's tests use. `AI` and `AD` change the number of work-groups, or the
  work-items of each group with the number of groups as it is. What the device or `reqd_work_group_size` does not allow is
  ignored, with the reason. `inspect` knows no suite and counts none of these.

## Notes on the IR

A mutant of the IR has the words of the IR: `add nsw %x, 3` becomes `sub`, or `add %x, 4`. `_` is a value without a name. Its
place is the debug location of its instruction; several mutants of one place are numbered.

- What replaces an instruction has no flags (`nsw`, `exact`, `inbounds`), and an instruction with another operand loses its own:
  they were true of the original. A division that is put in is checked like any other, a shift amount is taken modulo the width.
  In optimised IR, flags and promises that the optimiser inferred are dropped wherever mutants are woven in.
- `IAO`, `IBO`, `ICP`, `ICN`, `INE`, `ISO`, `ICX`, `IVL`: integers of at most 64 bits, `half`, `float`, `double`, and vectors of
  these; `ICP` compares pointers, too. `frem` is put in nowhere: OpenCL C has no operator for it.
- `IBR`: conditions that are no constants; a `switch` has none. A branch that may lead to `unreachable` stays; in optimised IR,
  `unreachable` has become a return.
- `ICN`: not indices of addresses and vectors, sizes, cases of a `switch`, what the ids of work-items take, flags of barriers,
  memory orders and scopes. Of a vector of different constants, c + 1 and c - 1 change every lane.
- `IST`: stores of pointers stay, because what reads them would lead anywhere. In `ir:raw` a parameter's copy is a store, too.
- `ICA`: barriers and fences are `SYR`'s and `FR`'s.
- `IMO`: `atomic_*_explicit` and `atomic_work_item_fence` with constant orders and scopes. A load has no release, a store no
  acquire. Scopes: all devices, device, work-group.
- `IPH`: a value of one way is often not known on the other: most `phi`s of loops are left, with the reason.
- `ICX` and `IBO` both exchange `ashr` and `lshr`: the later one is a duplicate.
- `SYR`, `FR`, `BFR`, `AR`, `AOP`: calls of builtins, as OpenCL C has them.
";
