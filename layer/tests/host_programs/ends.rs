//! However a process ends, its spool is whole, and the program ends as natively.

use crate::harness::{Program, WAYS, assert_same};

#[test]
fn nothing_is_lost_at_a_sudden_end() {
    let program = Program::new("ends");
    for how in ["_exit", "abort", "kill"] {
        for spool in program.same("{}", &[how, "5"]) {
            let process = spool.process();
            process.check_counts();
            assert_eq!((process.count("more", "launches"), process.count("more", "kept")), (5, 3));
            assert!(!process.has_ended());
        }
    }
}

#[test]
fn a_forked_child_is_a_process_of_its_own() {
    let program = Program::new("ends");
    for spool in program.same("{}", &["fork-before", "3"]) {
        let launches: Vec<u64> = spool.processes().iter().map(|process| process.count("more", "launches")).collect();
        assert!(launches == [3, 6] || launches == [6, 3], "{launches:?}");
    }
    // OpenCL does not say that a child may go on; this driver lets it.
    let native = program.native(&["fork-after", "3"]);
    if String::from_utf8_lossy(&native.stdout).contains("child 6") {
        for spool in program.same("{}", &["fork-after", "3"]) {
            let processes = spool.processes();
            assert_eq!(processes.len(), 2);
            let child = processes.iter().find(|process| !process.record["forked_from"].is_null()).unwrap();
            assert_eq!(child.count("more", "launches"), 6);
            child.check_counts();
        }
    }
}

#[test]
fn without_opencl_calls_there_is_no_process() {
    for spool in Program::new("ends").same("{}", &["nothing"]) {
        assert!(spool.processes().is_empty());
    }
}

#[test]
fn a_spool_that_is_gone_or_cannot_be_written_changes_nothing() {
    let program = Program::new("ends");
    let native = program.native(&["return", "5"]);
    for way in WAYS {
        for damage in ["gone", "in the way", "small", "no settings"] {
            let spool = crate::harness::Spool::new("{}");
            let mut command = program.command(&["return", "5"]);
            spool.enter(way, &mut command);
            match damage {
                "gone" => {
                    command.env("KASSAY_SPOOL", spool.folder.path().join("gone"));
                }
                "in the way" => {
                    for part in ["processes", "blobs", "tmp"] {
                        std::fs::write(spool.folder.path().join(part), "a file").unwrap();
                    }
                }
                "small" => {
                    // Files of at most 4 kB: a write beyond raises SIGXFSZ.
                    let mut limited = std::process::Command::new("sh");
                    limited
                        .args(["-c", "ulimit -f 4; exec \"$0\" \"$@\""])
                        .arg(command.get_program())
                        .args(command.get_args());
                    for (name, value) in command.get_envs() {
                        match value {
                            Some(value) => limited.env(name, value),
                            None => limited.env_remove(name),
                        };
                    }
                    command = limited;
                }
                _ => std::fs::write(spool.folder.path().join("config.json"), "{").unwrap(),
            }
            assert_same(&native, &command.output().unwrap());
            if damage == "no settings" {
                let process = spool.process();
                assert_eq!(process.notes[0]["kind"], "config-unreadable");
                assert_eq!((process.count("more", "launches"), process.launches.len()), (5, 0));
            }
        }
    }
}
