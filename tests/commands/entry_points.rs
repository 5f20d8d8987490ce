//! Checks SPIR-V in which several entry points name the same function.

use crate::common::TestResult;
use crate::common::program::{at, json, run};
use crate::common::testdata::testdata;

fn file(name: &str) -> String {
    at(&testdata(format!("spirv/entry_points/{name}"))).to_owned()
}

#[test]
fn each_entry_point_is_a_kernel() -> TestResult {
    let inspected = json(&["inspect", &file("both.spvasm")], 0)?;
    let kernels: Vec<_> = inspected["kernels"].as_array().into_iter().flatten().collect();
    let names: Vec<_> = kernels.iter().filter_map(|kernel| kernel["name"].as_str()).collect();
    assert_eq!(names, ["first", "second"]);
    // They differ in their names alone.
    let text = kernels[0]["sites"].to_string().replace("first", "second");
    assert_eq!(text, kernels[1]["sites"].to_string());
    for key in ["args", "required_local", "counts"] {
        assert_eq!(kernels[0][key], kernels[1][key], "{key}");
    }
    for name in names {
        for device in ["sim", "opencl"] {
            for command in ["run", "cover"] {
                let (out, err, code) = run(&[command, &file(&format!("{name}.toml")), "--device", device])?;
                assert_eq!(code, 0, "{command} {name} {device}: {out}{err}");
            }
        }
    }
    Ok(())
}
