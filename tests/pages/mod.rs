//! Pages whose commands are run: those of the book (`tests/book`), and those that say what the program promises
//! (`tests/cli`). Not a test.

#![allow(dead_code)]

pub mod output;
pub mod page;
pub mod part;
pub mod runner;
