//! Starts the executors of the requested device, or the simulator if there is no such device and the request allows it.

use super::discover::Vendors;
use super::opencl::{OpenClExecutor, StartingWorker, WorkerOptions};
use super::simulator::Simulator;
use super::{DeviceRequest, Executor, Target};
use crate::error::{Error, Result};

/// Executors of one device that are starting in the background.
#[derive(Debug)]
pub struct StartingExecutors {
    count: usize,
    starting: Backend,
}

#[derive(Debug)]
enum Backend {
    Opencl {
        workers: Vec<StartingWorker>,
        /// Whether the simulator is an acceptable replacement.
        or_simulator: bool,
    },
    Simulator {
        /// Why there is no device, if one would have been preferred.
        instead: Option<String>,
    },
}

/// Executors that are ready.
pub struct StartedExecutors {
    /// At least one, all of the same device.
    pub executors: Vec<Box<dyn Executor>>,
    /// For the user: that the simulator runs instead of a device, and why.
    pub note: Option<String>,
}

impl StartingExecutors {
    /// Begins to start `count` executors (at least one) of the requested device.
    ///
    /// # Errors
    /// `Environment` if the system cannot create processes for them.
    pub fn start(request: &DeviceRequest, options: &WorkerOptions, count: usize) -> Result<StartingExecutors> {
        let count = count.max(1);
        let or_simulator = *request == DeviceRequest::Auto;
        // If no driver is installed, there is nothing to try.
        if or_simulator && options.vendors.is_none() && Vendors::discover().icds.is_empty() {
            let instead = Some("there is no OpenCL device".to_owned());
            return Ok(StartingExecutors { count, starting: Backend::Simulator { instead } });
        }
        let starting = match request {
            DeviceRequest::Simulator => Backend::Simulator { instead: None },
            _ => {
                let worker = |_| OpenClExecutor::spawn(request.clone(), options.clone());
                Backend::Opencl { workers: (0..count).map(worker).collect::<Result<_>>()?, or_simulator }
            }
        };
        Ok(StartingExecutors { count, starting })
    }

    /// Returns how many there will be.
    pub fn count(&self) -> usize {
        self.count
    }

    /// The form of code that they will take, as far as that is known before they are ready.
    pub fn target(&self) -> Target {
        match self.starting {
            Backend::Opencl { .. } => Target::SpirV,
            Backend::Simulator { .. } => Target::Host,
        }
    }

    /// Waits until they are ready.
    ///
    /// # Errors
    /// `Environment` if no device matches the request, its driver fails, or it takes no IL; except if the request was
    /// [`DeviceRequest::Auto`]: then the simulator is used instead.
    pub fn ready(self) -> Result<StartedExecutors> {
        let instead = match self.starting {
            Backend::Simulator { instead } => instead,
            Backend::Opencl { workers, or_simulator } => {
                let ready = |worker: StartingWorker| Ok(Box::new(worker.ready()?) as Box<dyn Executor>);
                match workers.into_iter().map(ready).collect::<Result<_>>() {
                    Err(Error::Environment(report)) if or_simulator => Some(report.what),
                    executors => return executors.map(|executors| StartedExecutors { executors, note: None }),
                }
            }
        };
        // Each executor has its share of the processors; work-groups are spread over them where their order does
        // not matter.
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = (processors / self.count).max(1);
        let simulator = |_| Simulator::new(threads).map(|e| Box::new(e) as Box<dyn Executor>);
        let executors = (0..self.count).map(simulator).collect::<Result<_>>()?;
        let note =
            instead.map(|why| format!("{why}: the simulator runs the kernel (`kassay devices` tells what is missing)"));
        Ok(StartedExecutors { executors, note })
    }
}
