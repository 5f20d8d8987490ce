//! Checks the operators of the IR at every level: what they find, that what they make verifies, and that it does the
//! same in a module of many as alone.

mod agreement;
mod atomics;
mod command;
mod counts;
mod families;
mod support;
mod verified;
