//! Checks MC/DC: the graph of conditions against definitions on trees of operators, what devices and the simulator
//! record against evaluation here, and a fixture that was counted by hand.

mod fixture;
mod graph;
mod random;
mod trees;
