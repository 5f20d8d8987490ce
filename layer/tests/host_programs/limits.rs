//! Which launches are kept.

use crate::harness::{Program, Way};

fn kept(config: &str, launches: &str) -> (Vec<u64>, crate::harness::Process) {
    let (output, spool) = Program::new("ends").under(Way::Proxy, config, &["return", launches]);
    assert_eq!(output.status.code(), Some(5));
    let process = spool.process();
    process.check_counts();
    (process.launches.iter().map(|launch| launch["launch"].as_u64().unwrap()).collect(), process)
}

#[test]
fn first_of_a_shape_and_powers_of_two_are_kept_within_the_limit() {
    assert_eq!(kept("{}", "40").0, [1, 2, 4, 8, 16, 32]);
    let (launches, process) = kept(r#"{"max_launches": 3}"#, "40");
    assert_eq!(launches, [1, 2, 4]);
    assert_eq!((process.count("more", "not-sampled"), process.count("more", "max-launches")), (1, 36));
}

#[test]
fn kernels_are_chosen_by_globs() {
    assert_eq!(kept(r#"{"kernels": ["x*", "m?re"]}"#, "3").0, [1, 2]);
    let (launches, process) = kept(r#"{"kernels": ["x*"]}"#, "3");
    assert_eq!((launches.len(), process.count("more", "not-selected")), (0, 3));
}

#[test]
fn a_budget_of_bytes_is_kept_and_told() {
    // Contents of four bytes: 0 and 1 for the first launch, 2 for the second, 3 and 4 for the fourth.
    let (launches, process) = kept(r#"{"max_bytes": 12}"#, "20");
    assert_eq!(launches, [1, 2]);
    assert!(process.count("more", "max-bytes") >= 1);
    assert_eq!(process.notes.len(), 1);
    assert_eq!(process.notes[0]["kind"], "budget-reached");
    let (launches, process) = kept(r#"{"max_launch_bytes": 7}"#, "2");
    assert_eq!((launches.len(), process.count("more", "max-launch-bytes")), (0, 2));
}

#[test]
fn inputs_alone_can_be_asked_for() {
    let (launches, process) = kept(r#"{"after": false}"#, "5");
    assert_eq!(launches, [1, 2, 4]);
    assert!(
        process
            .launches
            .iter()
            .all(|launch| launch["memory"][0]["after"].is_null() && launch["memory"][0]["before"].is_string())
    );
}
