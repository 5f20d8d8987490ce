//! The `kassay-worker` program, in whose processes OpenCL runs. It must call nothing of LLVM or Z3, so that it links
//! neither.

fn main() -> std::process::ExitCode {
    kassay_run::exec::opencl::worker_main(kassay_ir::lower::ptx::JOINT_PTX)
}
