//! The petgraph CFG of a kernel: decisions, loops, barriers, dominance, control dependence; sites and their ids.
