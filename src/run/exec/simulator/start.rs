//! Starts simulators like executors of a device.

use kassay_base::error::Result;

use super::executor::Simulator;
use crate::exec::{Executor, StartingExecutor};

/// A simulator that has yet to be created.
#[derive(Debug)]
struct StartingSimulator {
    threads: usize,
}

impl StartingExecutor for StartingSimulator {
    fn ready(self: Box<Self>) -> Result<Box<dyn Executor>> {
        Ok(Box::new(Simulator::new(self.threads)?))
    }
}

/// Begins to start `count` simulators. Each has its share of the processors; work-groups are spread over them where
/// their order does not matter.
pub fn start(count: usize) -> Vec<Box<dyn StartingExecutor>> {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let threads = (processors / count.max(1)).max(1);
    (0..count).map(|_| Box::new(StartingSimulator { threads }) as Box<dyn StartingExecutor>).collect()
}
