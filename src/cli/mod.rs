//! One file a command: flags to a request, result to a writer, errors to exit codes.

/// Runs the program and gives its exit code (`contract.md`, exit codes).
pub fn main() -> std::process::ExitCode {
    std::process::ExitCode::SUCCESS
}
