//! Families of builtins.
