//! Weaves every mutant of the IR in every way; each module is verified.

use std::collections::BTreeSet;

use kassay::Level;
use kassay_ir::instrument::mutants::{Edit, Form, infection, schemata, single};

use super::support::{LEVELS, with_mutants};

/// Every mutant of a kernel at a level shares a module with the others, in each form, and every third has one alone.
/// Returns the operators that made some.
fn all_verify(kernel: &str, level: Level) -> BTreeSet<&'static str> {
    with_mutants(kernel, level, "all", |under_test, found| {
        let mutants = &found.mutants;
        let ids: BTreeSet<&str> = mutants.iter().map(|m| m.id.as_str()).collect();
        assert_eq!(ids.len(), mutants.len(), "{kernel} at {level:?}: ids");
        let numbered: Vec<(u32, &Edit)> = (1..).zip(mutants.iter().map(|m| &m.edit)).collect();
        for (form, pairs) in [(Form::Branch, false), (Form::Select, false), (Form::Branch, true)] {
            let module = under_test.module.clone();
            schemata::weave_as(&module, &under_test.sites, &numbered, pairs, form)
                .unwrap_or_else(|e| panic!("{kernel} at {level:?}, {form:?}: {e:?}"));
        }
        let probed: Vec<(u32, &Edit, bool)> =
            numbered.iter().zip(mutants).map(|((n, edit), m)| (*n, *edit, m.is_structural)).collect();
        infection::weave(&under_test.module.clone(), &under_test.sites, &probed)
            .unwrap_or_else(|e| panic!("{kernel} at {level:?}, probes: {e:?}"));
        for mutant in mutants.iter().step_by(3) {
            let module = under_test.module.clone();
            single::apply(&module, &under_test.sites, &mutant.edit).unwrap_or_else(|e| panic!("{}: {e:?}", mutant.id));
        }
        assert!(mutants.iter().all(|m| !m.original.is_empty()), "{kernel}: a mutant of nothing");
        mutants.iter().map(|m| m.operator).collect()
    })
}

#[test]
fn every_mutant_verifies_at_every_level() {
    let mut seen = BTreeSet::new();
    let kernels = [
        "loop_shapes",
        "switch_machine",
        "helper_thrice",
        "long_vectors",
        "struct_args",
        "reduction_tree",
        "atomics_cl20",
        "atomic_instructions",
    ];
    for kernel in kernels {
        for level in LEVELS {
            seen.extend(all_verify(kernel, level));
        }
    }
    let expected = [
        "IAO", "IBO", "ICP", "IBR", "ISL", "ICN", "INE", "IST", "ICA", "IID", "IMO", "IGP", "ICX", "IPH", "ISO", "SYR",
        "AR", "AOP",
    ];
    let missing: Vec<&&str> = expected.iter().filter(|id| !seen.contains(*id)).collect();
    assert!(missing.is_empty(), "{missing:?} found nothing");
}

/// Returns the last operand of an instruction's text, if it is a number.
fn last_number(text: &str) -> Option<i64> {
    text.rsplit(", ").next()?.parse().ok()
}

#[test]
fn offsets_in_bytes_change_by_what_is_accessed() {
    // The elements of its array have 8 bytes, of which LLVM counts each.
    let steps = with_mutants("clcpp_opcodes", Level::O2, "IGP", |_, found| {
        let offsets = found.mutants.into_iter().filter(|m| m.original.starts_with("getelementptr inbounds %stack, "));
        offsets
            .filter_map(|m| Some((last_number(&m.replacement)? - last_number(&m.original)?).abs()))
            .collect::<BTreeSet<i64>>()
    });
    assert_eq!(steps, BTreeSet::from([8]));
    // Its struct has pointers, and another offset would make one of anything.
    with_mutants("struct_pointers", Level::O1, "IGP", |_, found| {
        let of_struct = found.mutants.iter().filter(|m| m.original.starts_with("getelementptr inbounds %w.given, "));
        // What is left is an int.
        assert!(of_struct.clone().all(|m| last_number(&m.original) == Some(24)), "{:?}", of_struct.count());
        assert!(found.excluded.iter().any(|e| e.operator == "IGP" && e.reason.contains("lead anywhere")));
    });
}
