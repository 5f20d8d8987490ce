//! Kernels have woven replacements, and programs do not notice.

use serde_json::{Value, json};

use crate::harness::{Process, Program, Spool, WAYS, Way, assert_same};
use crate::kassay::{Kassay, Manner};

/// Runs a program natively and with replacements, by both ways, and wants the same end and the same output.
fn same(program: &str, arguments: &[&str]) -> Vec<(Spool, Vec<Value>)> {
    with(program, arguments, "{}", Manner::Weave, &[])
}

fn with(
    program: &str,
    arguments: &[&str],
    config: &str,
    manner: Manner,
    variables: &[(&str, &str)],
) -> Vec<(Spool, Vec<Value>)> {
    let program = Program::new(program);
    let native = program.native(arguments);
    let run = |way: &Way| {
        let spool = Spool::new(config);
        let kassay = Kassay::start(spool.folder.path(), manner.clone());
        let mut command = program.command(arguments);
        spool.enter(*way, &mut command);
        command.env("KASSAY_SOCKET", &kassay.socket).envs(variables.iter().copied());
        assert_same(&native, &command.output().unwrap());
        for process in spool.processes() {
            process.check_counts();
            process.check_replacements();
        }
        (spool, kassay.asked())
    };
    WAYS.iter().map(run).collect()
}

/// The reasons for which launches ran as they are.
fn reasons(process: &Process) -> Vec<&str> {
    process
        .notes
        .iter()
        .filter(|note| note["kind"] == "not-woven")
        .map(|note| note["reason"].as_str().unwrap())
        .collect()
}

#[test]
fn probes_are_there_however_a_process_ends() {
    for how in ["return", "_exit", "abort", "kill"] {
        for (spool, asked) in same("ends", &[how, "5"]) {
            let process = spool.process();
            assert_eq!((process.count("more", "woven"), process.count("more", "plain")), (5, 0), "{how}");
            let probe = process.probe("more");
            // Five work-items; what was set at the beginning was seen; the argument has four bytes.
            assert_eq!((probe[0], probe[1], probe[3], probe[16]), (5, 1, 7, 4), "{how}");
            assert_eq!(asked.len(), 1);
            assert_eq!((&asked[0]["schema"], &asked[0]["ask"]), (&json!("kassay.ask/1"), &json!("weave")));
            assert_eq!((&asked[0]["program"], &asked[0]["mutant"]), (&process.kernels[0]["program"], &Value::Null));
            assert!(reasons(&process).is_empty());
            // Captured contents are those of the replacement's launches, which computed the same.
            let last = process.launches_of("more").pop().unwrap();
            assert_eq!(spool.integers(&last["memory"][0]["after"]), [4]);
        }
    }
}

#[test]
fn probes_are_read_where_devices_have_memory_of_their_own() {
    let config = r#"{"read_probes": true}"#;
    for (program, arguments, kernel, count) in [
        ("ends", ["return", "5"].as_slice(), "more", 5),
        ("replacements", &["contexts"], "more", 5),
        ("replacements", &["threads"], "add", 800),
    ] {
        for (spool, _) in with(program, arguments, config, Manner::Weave, &[]) {
            let process = spool.process();
            assert_eq!((process.count(kernel, "woven"), process.total(kernel)), (count, count as u32), "{arguments:?}");
        }
    }
}

#[test]
fn the_mutant_goes_to_kassay_and_into_the_list_of_probes() {
    for (spool, asked) in
        with("ends", &["return", "1"], r#"{"max_launches": 0}"#, Manner::Weave, &[("KASSAY_MUTANT", "12")])
    {
        assert_eq!(asked[0]["mutant"], "12");
        assert_eq!(spool.process().probes[0].0["mutant"], "12");
    }
}

#[test]
fn arguments_of_all_kinds_reach_the_replacement() {
    for (spool, _) in same("arguments", &[]) {
        let process = spool.process();
        assert_eq!((process.count("scale", "woven"), process.count("add", "woven")), (1, 4));
        assert_eq!((process.probe("scale")[0], process.total("add")), (32, 4));
        assert_eq!(process.count("scale", "refused"), 1);
    }
    for (spool, _) in same("memory", &[]) {
        let process = spool.process();
        let woven = ["twice", "fill", "blur", "sum"].map(|name| process.count(name, "woven"));
        assert_eq!((woven, reasons(&process).len()), ([1; 4], 0));
        assert_eq!((process.total("blur"), process.total("sum")), (15, 1));
        let launch = process.launches_of("sum")[0];
        let out = launch["arguments"][1]["memory"].as_u64().unwrap();
        assert_eq!(spool.integers(&launch["memory"][usize::try_from(out).unwrap()]["after"]), [42]);
    }
    for (spool, _) in same("replacements", &["member"]) {
        let process = spool.process();
        assert_eq!((process.count("through", "woven"), process.total("through")), (2, 2));
    }
}

#[test]
fn the_replacement_gets_the_sizes_of_its_arguments() {
    for (spool, _) in same("replacements", &["sizes"]) {
        let process = spool.process();
        assert_eq!((process.count("fill", "woven"), process.count("fill", "plain")), (9, 0));
        assert_eq!(process.count("fill", "refused") + process.count("", "refused"), 2);
        // Buffers of 64 bytes, then one of 256, each with 32 bytes of local memory, a null buffer and a number.
        let sizes: Vec<[u32; 4]> =
            process.probes_of("fill").iter().map(|probe| [16, 20, 24, 28].map(|at| probe[at])).collect();
        assert_eq!(sizes, [[64, 32, 0, 0], [256, 32, 0, 0]]);
        let counts: Vec<u32> = process.probes_of("fill").iter().map(|probe| probe[0]).collect();
        assert_eq!(counts, [(4 + 1 + 1) + (1 + 1 + 1), 4 + 1 + 1]);
    }
}

#[test]
fn queues_events_and_threads_work_as_ever() {
    for (spool, asked) in same("queues", &[]) {
        let process = spool.process();
        assert_eq!((process.count("twice", "woven"), process.count("more", "woven")), (3, 801));
        assert_eq!((process.total("twice"), process.total("more"), asked.len()), (12, 804, 1));
    }
    for (spool, asked) in same("replacements", &["threads"]) {
        let process = spool.process();
        assert_eq!((process.count("add", "woven"), process.total("add")), (800, 800));
        // Eight first launches, one request. A launch during which another thread's runs may be compared in vain.
        assert_eq!(asked.iter().filter(|request| request["ask"] == "weave").count(), 1);
        assert!(reasons(&process).is_empty());
    }
}

#[test]
fn variables_belong_to_one_build_of_one_program() {
    for (spool, _) in same("replacements", &["variables"]) {
        let process = spool.process();
        assert_eq!((process.count("bump", "woven"), process.count("look", "woven")), (5, 2), "{:?}", process.notes);
    }
}

#[test]
fn contexts_and_memory_go_when_they_would() {
    for (spool, asked) in same("replacements", &["contexts"]) {
        let process = spool.process();
        assert_eq!((process.count("more", "woven"), asked.len()), (5, 1), "{:?}", process.notes);
        // The file is used again by the next context.
        assert_eq!((process.probes_of("more").len(), process.probe("more")[0]), (1, 5));
    }
}

#[test]
fn a_child_has_files_and_replacements_of_its_own() {
    let native = Program::new("replacements").native(&["forked"]);
    if !String::from_utf8_lossy(&native.stdout).contains("child 11") {
        // This driver does not let a child go on.
        return;
    }
    for (spool, asked) in same("replacements", &["forked"]) {
        let processes = spool.processes();
        let woven: Vec<u64> = processes.iter().map(|process| process.count("more", "woven")).collect();
        let recorded: Vec<u32> = processes.iter().map(|process| process.total("more")).collect();
        assert!([[2, 1], [1, 2]].contains(&[woven[0], woven[1]]), "{woven:?}");
        assert_eq!(recorded.iter().map(|count| u64::from(*count)).collect::<Vec<_>>(), woven);
        assert_eq!(asked.len(), 2);
        assert_ne!(asked[0]["process"], asked[1]["process"]);
    }
}

#[test]
fn programs_that_kassay_cannot_weave_run_as_they_are() {
    for (spool, asked) in same("programs", &[]) {
        let process = spool.process();
        // The program of a binary is woven as the one that the binary was taken from.
        assert_eq!((process.count("step_on", "woven"), process.count("step_on", "plain")), (4, 0));
        assert_eq!((process.count("use", "plain"), reasons(&process)), (1, vec!["no source"]));
        assert_eq!(asked.len(), 4);
        let note = process.notes.iter().find(|note| note["kernel"] == "use").unwrap();
        assert!(process.kernels.iter().any(|line| line["name"] == "use" && line["program"] == note["program"]));
    }
}

#[test]
fn without_an_answer_launches_run_as_they_are() {
    let answer = |value: Value| Manner::Say(value.to_string().into_bytes());
    let module = json!([{"file": "config.json", "options": ""}]);
    let kernel =
        json!([{"name": "more", "module": 0, "arguments": [{"from": "parameter", "index": 0}], "probe": null}]);
    let schema = "kassay.woven/1";
    for (manner, reason) in [
        (answer(json!({"schema": schema, "error": "not today"})), "not today"),
        (answer(json!({"schema": schema})), "not-answered"),
        (answer(json!({"schema": schema, "plain": [{"kernel": "more", "reason": "a printf"}]})), "a printf"),
        (answer(json!({"schema": schema, "modules": [{"file": "woven/none.spv"}], "kernels": kernel})), "no-module"),
        // No SPIR-V.
        (answer(json!({"schema": schema, "modules": module, "kernels": kernel})), "not-built"),
        (answer(json!({"schema": schema, "modules": [{"file": "../x"}]})), "bad-answer"),
        (Manner::Say(b"{".to_vec()), "bad-answer"),
        (Manner::Say(vec![0xFF; 100_000]), "bad-answer"),
        (Manner::Silent, "timeout"),
        (Manner::Close, "no-answer"),
    ] {
        for (spool, _) in with("ends", &["return", "3"], r#"{"weave_timeout_ms": 100}"#, manner.clone(), &[]) {
            let process = spool.process();
            assert_eq!((process.count("more", "woven"), process.count("more", "plain")), (0, 3));
            assert_eq!(reasons(&process), [reason], "{:?}", process.notes);
            assert_eq!((process.count("more", "kept"), process.probes.len()), (2, 0));
        }
    }
}

#[test]
fn a_socket_that_is_gone_or_was_never_there_changes_nothing() {
    for (spool, _) in with("replacements", &["two"], "{}", Manner::Vanish, &[]) {
        let process = spool.process();
        assert_eq!((process.count("more", "woven"), process.count("less", "plain")), (1, 1));
        assert_eq!(reasons(&process), ["no-answer"]);
    }
    for socket in ["/nonexistent/socket", "/tmp"] {
        for (spool, _) in with("ends", &["return", "3"], "{}", Manner::Weave, &[("KASSAY_SOCKET", socket)]) {
            assert_eq!((spool.process().count("more", "plain"), reasons(&spool.process())), (3, vec!["no-answer"]));
        }
    }
}

#[test]
fn replacements_need_room_for_their_probes() {
    let program = Program::new("ends");
    let native = program.native(&["return", "3"]);
    for way in WAYS {
        let spool = Spool::new("{}");
        // In the place of the processes' folders.
        std::fs::write(spool.folder.path().join("processes"), "a file").unwrap();
        let kassay = Kassay::start(spool.folder.path(), Manner::Weave);
        let mut command = program.command(&["return", "3"]);
        spool.enter(way, &mut command);
        assert_same(&native, &command.env("KASSAY_SOCKET", &kassay.socket).output().unwrap());
    }
}

#[test]
fn a_late_launch_that_covers_something_new_is_kept() {
    // The first of those that are there for their number alone gives way, if there are enough.
    let (replaced, added) = ([1, 3, 4, 8, 16, 32, 64, 700], [1, 2, 3, 4, 8, 16, 32, 35]);
    for (config, last, expected) in [
        (r#"{"sample_by_coverage": true}"#, "705", Some(replaced)),
        (r#"{"sample_by_coverage": true, "after": false}"#, "705", Some(replaced)),
        (r#"{"sample_by_coverage": true, "read_probes": true}"#, "40", Some(added)),
        (r#"{"sample_by_coverage": true, "max_launches": 1}"#, "705", None),
        ("{}", "705", None),
    ] {
        for (spool, _) in with("replacements", &["late", last], config, Manner::Weave, &[]) {
            let late = last.parse::<i32>().unwrap() - 5;
            let process = spool.process();
            let kept = process.launches_of("step");
            let numbers: Vec<u64> = kept.iter().map(|launch| launch["launch"].as_u64().unwrap()).collect();
            let Some(expected) = expected else {
                assert!(!numbers.contains(&700), "{config}: {numbers:?}");
                continue;
            };
            assert_eq!(numbers, expected, "{config}");
            let launch = kept[7];
            assert_eq!((&launch["chosen"], &launch["new_coverage"]), (&json!("coverage"), &json!(true)));
            let contents = |memory: usize, when: &str| spool.integers(&launch["memory"][memory][when]);
            assert_eq!((contents(0, "before"), contents(1, "before")), (vec![late - 1], vec![late]), "{config}");
            if config.contains("after") {
                assert!(launch["memory"][0]["after"].is_null());
                continue;
            }
            assert_eq!(contents(0, "after"), [late + 999]);
            let of = |key: &str| kept[..3].iter().map(|launch| launch[key].clone()).collect::<Vec<_>>();
            let second = if expected == replaced { "scalar" } else { "number" };
            assert_eq!(of("chosen")[..2], [json!("shape"), json!(second)]);
            assert_eq!(of("new_coverage"), [true, false, false]);
        }
    }
}

#[test]
fn launches_without_replacements_are_not_kept_for_what_they_might_cover() {
    let config = r#"{"sample_by_coverage": true}"#;
    for (spool, _) in with("replacements", &["late", "800"], config, Manner::Close, &[]) {
        let process = spool.process();
        assert_eq!((process.count("step", "plain"), process.launches_of("step").len()), (800, 8));
        assert!(process.launches.iter().all(|launch| launch["new_coverage"].is_null()));
    }
}

#[test]
fn a_replacement_that_does_something_else_never_takes_the_kernels_place() {
    let spoil = |from, to| Manner::Spoil(from, to);
    for (manner, woven, config) in [
        (spoil("+= 1;", "+= 9;"), 0, r#"{"max_launches": 0}"#),
        // In the second launch only.
        (spoil("+= 1;", "+= a[0] == 1 ? 9 : 1;"), 1, r#"{"max_launches": 0}"#),
        (spoil("+= 1;", "+= 9;"), 0, r#"{"verify": "all"}"#),
    ] {
        for (spool, asked) in with("ends", &["return", "5"], config, manner.clone(), &[]) {
            let process = spool.process();
            assert_eq!((process.count("more", "woven"), process.count("more", "plain")), (woven, 5 - woven));
            assert_eq!(reasons(&process), ["differs-when-woven"]);
            assert_eq!((asked.len(), &asked[1]["ask"]), (2, &json!("compare")));
            assert_eq!(asked[1]["memory"][0]["arguments"], json!([{"argument": 0, "offset": 0, "size": 4}]));
        }
    }
    // Kernels that share variables: if one differs, none is woven.
    for (spool, _) in with("replacements", &["variables"], "{}", spoil("counter += 1", "counter += 2"), &[]) {
        let process = spool.process();
        assert_eq!((process.count("bump", "woven"), process.count("look", "woven")), (0, 0));
    }
    for (spool, _) in with("memory", &[], "{}", spoil("get_global_id(0)", "(get_global_id(0) ^ 1)"), &[]) {
        assert!(!reasons(&spool.process()).is_empty());
    }
    for (spool, _) in with("replacements", &["member"], "{}", spoil("AT[0] +", "AT[0] -"), &[]) {
        assert_eq!(reasons(&spool.process()), ["differs-when-woven"]);
    }
}

#[test]
fn without_comparison_a_replacement_does_whatever_it_does() {
    let program = Program::new("ends");
    let spool = Spool::new(r#"{"verify": "none"}"#);
    let kassay = Kassay::start(spool.folder.path(), Manner::Spoil("+= 1;", "+= 9;"));
    let mut command = program.command(&["return", "5"]);
    spool.enter(WAYS[0], &mut command);
    command.env("KASSAY_SOCKET", &kassay.socket).output().unwrap();
    let process = spool.process();
    assert_eq!((process.count("more", "woven"), kassay.asked().len()), (5, 1));
    let last = process.launches_of("more").pop().unwrap();
    assert_eq!(spool.integers(&last["memory"][0]["after"]), [36]);
}
