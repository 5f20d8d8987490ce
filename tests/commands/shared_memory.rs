//! Checks that suites whose arguments share memory agree between the simulator and a device. `tests/cli/shared-memory.md`
//! has what such suites may say, and what is found in them.

use serde_json::Value;

use crate::common::TestResult;
use crate::common::program::{at, json};
use crate::common::testdata::testdata;

#[test]
fn coverage_and_mutants_of_arguments_that_share_memory_agree_between_device_and_simulator() -> TestResult {
    for suite in ["suite.toml", "suite-shift.toml"] {
        let suite = testdata("aliases").join(suite);
        let mut seen = Vec::new();
        for device in ["sim", "opencl"] {
            json(&["cover", at(&suite), "--device", device], 0)?;
            let result = json(&["mutate", at(&suite), "--operators", "AOR,ROR,SDL", "--device", device], 0)?;
            let status = |mutant: &Value| (mutant["id"].to_string(), mutant["status"].to_string());
            seen.push(result["mutants"].as_array().into_iter().flatten().map(status).collect::<Vec<_>>());
            assert!(result["summary"]["killed"].as_u64() > Some(0), "{result}");
        }
        assert_eq!(seen[0], seen[1], "{}", suite.display());
    }
    Ok(())
}
