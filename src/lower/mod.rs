//! Instrumented IR to code.
