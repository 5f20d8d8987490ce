//! Generates `docs/operators.md`, the table of operators, from the registry.

use std::fmt::Write;

use super::operators::OPERATORS;

/// Returns the text of `docs/operators.md`.
pub fn markdown() -> String {
    let mut out = String::from(
        "# Mutation operators\n\n\
         Generated from the registry (`src/mutation/operators/`); `BLESS=1 cargo nextest run --test mutation reference` \
         writes it anew.\n\n\
         `--operators` takes ids with commas between, or a preset: `all` (every operator with all its replacements), `peng` \
         (PENG, table 4.2) and `liu` (LIU, tables 6.1 and 6.2). A preset takes the operators marked with it, with the \
         replacements that its document has. The class is what scores are broken down by.\n\n\
         | id | name | class | what it does | from | `peng` | `liu` |\n\
         | --- | --- | --- | --- | --- | --- | --- |\n",
    );
    let mark = |is_part: bool| if is_part { "yes" } else { "" };
    for o in OPERATORS {
        let description = o.description.replace('|', "\\|");
        let (peng, liu) = (mark(o.peng), mark(o.liu));
        let _ =
            writeln!(out, "| `{}` | {} | {} | {description} | {} | {peng} | {liu} |", o.id, o.name, o.class, o.origin);
    }
    out.push_str(NOTES);
    out
}

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
";
