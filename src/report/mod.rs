//! Results to text, lcov and other formats.
