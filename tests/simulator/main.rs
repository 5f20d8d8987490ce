//! The simulator: its engine on small objects made by hand.

mod faults;
mod objects;
mod schedules;
mod support;
