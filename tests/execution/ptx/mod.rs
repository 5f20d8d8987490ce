//! Checks code for NVIDIA GPUs, without one: every kernel of `testdata` gives PTX that NVIDIA's assembler takes.

mod assembler;
mod builtins;
mod testdata;

#[test]
fn what_runs_around_joint_launches_assembles() {
    let ptx = kassay_ir::lower::ptx::JOINT_PTX;
    for entry in [".entry reset(", ".entry compare("] {
        assert!(ptx.contains(entry), "there is no {entry}");
    }
    assembler::assemble(ptx.as_bytes()).unwrap();
    let target = format!(".target {}, texmode_independent", kassay_model::ptx::ARCHITECTURE);
    assert!(ptx.contains(&target), "{target} is what all other code is made for");
    // Sums and products are rounded one by one, as on the simulator.
    assert!(!ptx.contains("fma.rn"), "{ptx}");
}
