//! Shows what each kind of weaving makes of a small kernel: `tests/golden/*.ll` holds the LLVM IR, compared as text.
//! `BLESS=1 cargo nextest run --test kernel golden` accepts the current IR.
//!
//! The texts hold the kernels' functions alone: debug information, metadata, attributes, declarations and the functions
//! of the runtime (`runtime-cl/`) are left out.

use inkwell::module::Module;
use kassay_ir::instrument::coverage::CoveragePlan;
use kassay_ir::instrument::def_use::DefUsePlan;
use kassay_ir::instrument::device_races::{self, LocalShadow};
use kassay_ir::instrument::layout::{GuardLayout, Slots};
use kassay_ir::instrument::mutants::{Edit, schemata};
use kassay_ir::instrument::{guard, ids};
use kassay_ir::llvm::Context;
use kassay_judge::mutation::Selection;
use kassay_judge::mutation::enumerate;
use kassay_model::options::KernelOptions;
use kassay_run::exec::Target;

use crate::common::kernels::{Opened, open};
use crate::common::stored::expect_file;
use crate::common::testdata;

/// Weaves the kernel of the folder `kernel` of `testdata` and compares the result with `tests/golden/NAME.ll`, whose
/// head says what there is to see.
fn golden(name: &str, kernel: &str, head: &str, weave: impl for<'c> FnOnce(&Opened<'c>, Module<'c>) -> Module<'c>) {
    let context = Context::create();
    let opened = open(&context, &testdata::kernel(kernel), None, &KernelOptions::default()).unwrap();
    let module = weave(&opened, opened.under_test.module.clone());
    module.strip_debug_info();
    let head = format!("testdata/{kernel}/{kernel}.cl\n\n{head}");
    let head: String = head.lines().map(|line| format!("; {line}").trim_end().to_owned() + "\n").collect();
    expect_file(&format!("tests/golden/{name}.ll"), &(head + &bodies(&module.print_to_string().to_string())));
}

/// Returns the global variables and function bodies in a module's text, without those of runtime functions.
fn bodies(text: &str) -> String {
    let mut shown = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if line.starts_with('@') {
            shown += &format!("\n{line}\n");
        } else if line.starts_with("define ") {
            let signature = &line[..=line.rfind(')').unwrap_or_default()];
            let body: Vec<&str> = lines.by_ref().take_while(|line| *line != "}").collect();
            if !signature.contains("@__kassay_") {
                let body: String = body.into_iter().map(|line| format!("{}\n", without_references(line))).collect();
                shown += &format!("\n{signature} {{\n{body}}}\n");
            }
        }
    }
    shown
}

/// Cuts metadata and references to attributes off an instruction.
fn without_references(line: &str) -> &str {
    let line = line.split(", !").next().unwrap_or_default();
    match line.rsplit_once(" #") {
        Some((rest, number)) if number.parse::<u32>().is_ok() => rest,
        _ => line,
    }
}

fn layout(opened: &Opened<'_>) -> GuardLayout {
    GuardLayout { args: opened.under_test.interface.args.len() as u32 }
}

const PLAIN: &str = "\
The canonical form, from which sites are read and into which everything is woven: the kernel as clang emits it,
before any pass. Variables are in memory (`alloca`), and every construct of the source has its blocks: `if.then` and
`if.end` are those of `if (i < n)`.
";

const COVERAGE: &str = "\
Coverage probes. A work-item sets bits in its private `%kassay.words` and at the end flushes those that are new into
its work-group's slot of the probe buffer.
- Only bits that no other ones imply have a probe. Instead of the branches `cond.true` and `cond.false`, the block
  where they join has one, whose bit depends on the edge (`phi`): 2 and 4 are the outcomes of `gid < n`, 8 and 16
  those of `lid < stride`, 32 and 64 those of `lid == 0`.
- `%kassay.loop` counts iterations; `__kassay_loop_end` turns the count into a class: zero, one or many (bits 7 to 9).
- Bit 0 is the barrier in the loop; the one before it is always reached. The slot's second word takes the barriers
  that a work-item did not reach: a work-group with both bits of a barrier diverged.
";

const MUTANTS: &str = "\
Eight mutants in one module, each selected by its number in the slot of the probe buffer (`%kassay.mutant`; 0:
none): 1 to 5 replace the operator of `i < n`, 6 to 8 that of `a[i] + b[i]`.
- The original operation stays. `kassay.mutants` is entered only if one of the mutants of this place is active,
  computes all replacements and selects one; a `phi` passes it on.
- `__kassay_slot` is only declared here; `instrument::ids` defines it.
";

const GUARDS: &str = "\
Guards. The kernel is inlined and promoted to registers first, so that pointers lead back to their arguments.
- The head computes from the argument's size in the probe buffer (words 16 and 17) how many positions are within
  bounds (`__kassay_places`).
- `kassay.access` is entered only within bounds. Otherwise a load gives 0, a store is skipped, and the fault is
  recorded: 258 is instruction 1, kind 2 (out of bounds), and 514 instruction 2.
- `kassay.end` reports to the slot: the most fuel that a work-item used (there is no loop here, so none), and the
  fault of the first work-item that has one with its linear id.
";

const ACCESSES: &str = "\
Code for the simulator that checks races (`kassay lower --print host-races`), before optimisation.
- The last argument is the context of the work-item: `get_global_id(0)` and `get_local_id(0)` are loads from it.
- Each access to global and local memory is passed to `__kassay_access` with its number in the table of accesses;
  the result is the address to use, which is another one if the access is out of bounds. Private variables are not
  watched.
- `__kassay_barrier` suspends the work-item until its work-group has arrived.
";

const DEF_USE: &str = "\
Reports of definitions and uses, before everything is inlined.
- Beside each private variable stands `%kassay.last` with the number of its last definition; 0: none. A use adds it to
  the number of its own first pair and reports the pair (`__kassay_at_pair`).
- Accesses to memory report their number, flags (1: a definition), address and length (`__kassay_at_flow`).
";

const DEVICE_RACES: &str = "\
The search for races on a device. The kernel is inlined and promoted to registers first, so that pointers lead back to their
arguments.
- Accesses to memory that is written are reported in front of them: to `partial` (object 0) by their distance from the argument
  in bytes; to `tile` (object 1), whose shadow is in local memory, the last argument but one. Reads of `in` cannot race, and for
  the read of `tile[lid]` the write after it stands.
- `%kassay.me` and `%kassay.local` are the work-item's words for both memories. Barriers advance the number of the interval of
  the memory that they order.
- `__kassay_race_clear` clears the local shadow memory, in front of everything else.
";

const IDS: &str = "\
Virtual ids: a launch holds several runs of the kernel, each in a slot of its own, or runs its work-groups in
another order.
- `__kassay_ids_enter` derives slot and virtual work-group from the launched work-group, once.
- Buffers are advanced to the copies of the slot (`__kassay_ids_offset`, by the distance at this word of the probe
  buffer), and `get_global_id` is replaced.
- `__kassay_ids_slot` takes the place of `__kassay_slot`: the words of this run, such as the number of its mutant.
";

#[test]
fn plain_kernels_are_as_clang_emits_them() {
    golden("plain", "vector_add", PLAIN, |_, module| module);
}

#[test]
fn coverage_probes_set_bits_where_paths_join() {
    golden("coverage", "reduction_tree", COVERAGE, |opened, module| {
        let sites = &opened.under_test.sites;
        CoveragePlan::new(sites, Slots::Groups).weave(&module, sites, Target::SpirV).unwrap();
        module
    });
}

#[test]
fn mutants_are_selected_by_their_number() {
    golden("mutants", "vector_add", MUTANTS, |opened, module| {
        let selection = Selection::parse("ROR,AOR").unwrap();
        let mutants = enumerate(&opened.subject(selection.preset()), &selection).mutants;
        let woven: Vec<(u32, &Edit)> = (1..).zip(mutants.iter().map(|m| &m.edit)).collect();
        schemata::weave(&module, &opened.under_test.sites, &woven, false).unwrap();
        module
    });
}

#[test]
fn guards_skip_accesses_that_are_out_of_bounds() {
    golden("guards", "liu_increment", GUARDS, |opened, mut module| {
        let under_test = &opened.under_test;
        guard::inline_and_promote(&mut module, &under_test.entry, &under_test.machine).unwrap();
        guard::weave(&mut module, &under_test.entry, layout(opened), false, &under_test.machine).unwrap();
        module
    });
}

#[test]
fn the_simulator_is_called_at_every_access_and_barrier() {
    golden("accesses", "divergent_exit", ACCESSES, |opened, module| {
        opened.under_test.hooked(module, false, true).unwrap().0
    });
}

#[test]
fn ids_are_those_of_the_slot() {
    golden("ids", "vector_add", IDS, |opened, mut module| {
        let under_test = &opened.under_test;
        // Without mutants, this only gives the kernel its probe buffer.
        schemata::weave(&module, &under_test.sites, &[], false).unwrap();
        ids::batched(&mut module, &under_test.entry, layout(opened), &under_test.machine).unwrap();
        module
    });
}

#[test]
fn definitions_and_uses_are_reported() {
    golden("def_use", "vector_add", DEF_USE, |opened, module| {
        let under_test = &opened.under_test;
        let arguments: Vec<String> = under_test.interface.args.iter().map(|arg| arg.label()).collect();
        DefUsePlan::weave(&module, &under_test.entry, &arguments).unwrap();
        module
    });
}

#[test]
fn accesses_that_may_race_are_told_to_shadow_memory() {
    golden("device_races", "reduction_tree", DEVICE_RACES, |opened, mut module| {
        let under_test = &opened.under_test;
        let args = under_test.interface.args.len() as u32;
        let woven =
            device_races::weave(&mut module, &under_test.entry, args, LocalShadow::Local, &under_test.machine).unwrap();
        assert!(woven.is_ok());
        module
    });
}
