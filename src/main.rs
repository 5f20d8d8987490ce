//! The `kassay` program; the library's `cli` room implements it.

fn main() -> std::process::ExitCode {
    kassay::main()
}
