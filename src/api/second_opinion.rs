//! What the simulator says of tests that fail on a device: who of the two disagrees with the test.

use std::time::Duration;

use kassay_base::error::Result;
use kassay_results::result::run::{Test, TestStatus};

use super::opened::Opened;

/// Tests of which the simulator is asked, at most, and how long it may take for each.
const MOST: usize = 8;
const LIMIT: Duration = Duration::from_secs(10);

/// Adds to the reasons of tests that failed on a device what the simulator makes of them, if it can run the kernel.
/// `run` runs what is opened for the simulator.
pub fn add(opened: &Opened, tests: &mut [Test], run: impl FnOnce(&Opened) -> Result<Vec<Test>>) {
    let is_doubted = |test: &&mut Test| matches!(test.status, TestStatus::Failed | TestStatus::Crashed);
    let mut doubted: Vec<&mut Test> = tests.iter_mut().filter(is_doubted).take(MOST).collect();
    if doubted.is_empty() {
        return;
    }
    let names: Vec<String> = doubted.iter().map(|test| test.name.clone()).collect();
    // A kernel that the simulator does not take leaves the device's word alone.
    let Ok(simulated) = opened.on_simulator(&names, LIMIT).and_then(|opened| run(&opened)) else { return };
    for test in &mut doubted {
        let Some(other) = simulated.iter().find(|other| other.name == test.name) else { continue };
        let Some(word) = word(test, other) else { continue };
        test.reason = Some(match test.reason.take() {
            Some(reason) => format!("{reason}; {word}"),
            None => word,
        });
    }
}

/// What the simulator says of a test, `on_device` being what the device says.
fn word(on_device: &Test, simulated: &Test) -> Option<String> {
    match (simulated.status, &simulated.reason) {
        // It is the simulator's already.
        (TestStatus::Failed, reason) if reason.is_some() && *reason == on_device.reason => None,
        (TestStatus::Passed, _) => Some("the simulator leaves what the test expects".to_owned()),
        (TestStatus::Unchecked, _) if on_device.status == TestStatus::Crashed => {
            Some("the simulator finds no fault in it".to_owned())
        }
        (TestStatus::Failed, Some(reason)) => Some(format!("on the simulator {reason}")),
        (TestStatus::Failed, None) if on_device.status == TestStatus::Crashed => {
            Some("the simulator finds no fault in it, but leaves something else than the test expects".to_owned())
        }
        (TestStatus::Failed, None) => {
            let first = |test: &Test| test.outputs.iter().find_map(|output| output.first.clone());
            let word =
                if first(on_device) == first(simulated) { "the same as the device" } else { "something else again" };
            Some(format!("the simulator leaves {word}"))
        }
        _ => None,
    }
}
