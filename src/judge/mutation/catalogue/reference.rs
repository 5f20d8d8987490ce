//! Generates `docs/operators.md`, the table of operators, from the registry.

use std::fmt::Write;

use super::level::OperatorLevel;
use super::operators::{OPERATORS, Operator};

/// Returns the text of `docs/operators.md`.
pub fn markdown() -> String {
    let mut out = String::from(
        "# Mutation operators\n\n\
         Generated from the registry (`src/judge/mutation/catalogue/operators/`); `BLESS=1 cargo nextest run --test mutation reference` \
         writes it anew.\n\n\
         `--operators` takes ids with commas between, or a preset: `all` (every operator with all its replacements), `peng` \
         (PENG, table 4.2) and `liu` (LIU, tables 6.1 and 6.2), which take the operators marked with them, with the \
         replacements that their documents have, and `mutgpu`, the nine operators of ZHU: `AS`, `AI`, `AD`, `SHR`, `GIR`, \
         `GII`, `GID`, `SYR` and `AR`. The class is what scores are broken down by.\n\n\
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
- `SCR`: `sub_group_barrier`, and in CUDA `__syncwarp`, the `sync()` of tiles and coalesced groups, and the barriers of warps
  in functions of headers. LIU also has calls of hosts (`cudaDeviceSynchronize`), which no kernel has.
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

- `IAO`, `IBO`, `ICP`, `ICN`, `INE`, `ISO`, `ICX`, `IVL`: integers of at most 64 bits, `half`, `float`, `double`, and vectors of
  these; `ICP` compares pointers, too. `frem` is put in nowhere: OpenCL C has no operator for it.
- `IBR`: conditions that are no constants; a `switch` has none. A branch that may lead to `unreachable` stays; in optimised IR,
  `unreachable` has become a return.
- `ICN`: not indices of addresses and vectors, sizes, cases of a `switch`, what the ids of work-items take, flags of barriers,
  memory orders and scopes. Of a vector of different constants, c + 1 and c - 1 change every lane.
- `IST`: stores of pointers stay, because what reads them would lead anywhere. In `ir:raw` a parameter's copy is a store, too.
- `ICA`: barriers and fences are `SYR`'s, `SCR`'s and `FR`'s.
- `IMO`: `atomic_*_explicit` and `atomic_work_item_fence` with constant orders and scopes, and instructions. A load has no
  release, a store no acquire; a compare-exchange that fails becomes weaker along with one that succeeds, where it would be
  ordered more strongly. Scopes: all devices, device, work-group.
- `IPH`: a value of one way is often not known on the other: most `phi`s of loops are left, with the reason.
- `IGP`: optimisers count in bytes; such an offset changes by the size of the largest number or vector that is accessed through
  it. Where a pointer is read or written, the address stays.
- `ICX` and `IBO` both exchange `ashr` and `lshr`: the later one is a duplicate.
- `SYR`, `SCR`, `FR`, `BFR`, `AR`, `AOP`: calls of builtins, as OpenCL C has them. `FR`, `AR`, `AOP`, `IMO` and `ICA` also change atomic
  instructions (`atomicrmw`, `cmpxchg`, atomic `load` and `store`, `fence`), which clang makes of its own `__opencl_atomic_*`,
  `__atomic_*` and `__sync_*`; SPIR-V that is read back has calls. `AOP` also knows `umin`/`umax`, and makes `nand` an `and`;
  `AR` leaves loads and stores alone.

### What keeps mutants defined

Nothing that a mutant does is undefined unless the same would be of a mutant of the source: it runs out of bounds or divides by
zero (which is checked), overflows signed arithmetic in IR that was not optimised, converts a float to an integer that
cannot hold it, or races.

| what the original's code says | what becomes of it |
| --- | --- |
| flags of an instruction (`nsw`, `nuw`, `exact`, `inbounds`, `nusw`, `disjoint`, `nneg`, `samesign`) | what replaces it has none; one with another operand loses its own; in optimised IR all go |
| flags of floats (`nnan`, `ninf` …) | those that the user gave by options stay; what the optimiser inferred goes |
| division by zero, `INT_MIN / -1`, also where the operator puts the division in | checked in each run: `runtime-error` |
| shift by the width or more | a shift that is put in, or has another amount, takes it modulo the width |
| addresses | checked in each run; offsets in bytes change by what is accessed, so that alignments stay |
| alignments that the optimiser inferred | lowered to those of the types |
| `llvm.assume`, also the user's `__builtin_assume` | erased once the operators have been applied |
| `unreachable`, also the user's `__builtin_unreachable` | a return; `IBR` leaves branches to it alone |
| `llvm.abs`, `ctlz`, `cttz` with values for which they are poison | made defined for all |
| attributes of values: `noundef`, `nonnull`, `range`, `nofpclass`, `returned`, `dereferenceable`, `readonly`, `readnone`, `writeonly`, `captures`, `initializes`, `dead_on_return` | dropped in optimised IR; `noalias` is the user's `restrict` and stays |
| attributes of functions: `memory`, `nosync`, `willreturn`, `mustprogress`, `speculatable` | dropped wherever mutants are woven in |
| `noreturn`, `nofree`, `nocallback`, `norecurse`, `tail` of calls | dropped in optimised IR |
| `convergent` | stays; a call that is put in for one of synchronisation is convergent |
| metadata: `!range`, `!nonnull`, `!noundef`, `!nofpclass`, `!align`, `!dereferenceable`, `!invariant.*`, `!alias.scope`, `!noalias`, `!captures` | dropped in optimised IR |
| `!tbaa` | dropped in every form |
| private variables without a value, because a store or call is gone | hold a pattern, as all that is not initialised |
| `undef` and `poison` operands | are not replaced (`ICN`, `INE`), exchanged (`IPH`) or chosen (`ISL`); lanes that hold anything stay (`IVL`) |
| values where they are not known | `IPH` and `ICN` take only those that dominate; every module is verified |
| memory orders that an instruction cannot have | are not made (`IMO`) |
";
