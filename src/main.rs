//! The `kassay` program: everything is in the library's `cli` room.

fn main() -> std::process::ExitCode {
    kassay::cli::main()
}
