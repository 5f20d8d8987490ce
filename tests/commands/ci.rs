//! `kassay ci` stopped and resumed. `tests/cli/ci.md` has its file, its flags and thresholds, its result and exit code.

use crate::common::TestResult;
use crate::common::bench::Bench;

#[test]
fn an_interrupted_project_goes_on() -> TestResult {
    let bench = Bench::new()?;
    for kernel in ["vector_add", "saxpy_tail"] {
        bench.copy(kernel, &format!("kernels/{kernel}"))?;
    }
    bench.put("kassay.toml", "[options]\ndevice = \"sim\"\n[run]\n[cover]\n[mutate]\nsample = 30\n")?;
    bench.ends(0, &["ci", "-o", "whole.json"])?;
    // A run that has decided one question: what it kept is taken over, whatever the kernel would do now.
    let mut child = bench.command(&["ci", "-j", "1", "-o", "cut.json"]).spawn()?;
    let parts = bench.path("cut.json.parts");
    let kept = || {
        std::fs::read_dir(&parts)
            .into_iter()
            .flatten()
            .flatten()
            .any(|e| e.file_name().to_string_lossy().starts_with("run-saxpy"))
    };
    while !kept() && child.try_wait()?.is_none() {
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    child.kill()?;
    child.wait()?;
    bench.ends(0, &["ci", "-o", "cut.json", "--resume"])?;
    let (whole, cut) = (bench.read("whole.json")?, bench.read("cut.json")?);
    for command in ["run", "cover", "mutate"] {
        assert_eq!(whole[command]["total"], cut[command]["total"], "{command}");
    }
    assert!(!parts.exists());
    Ok(())
}
