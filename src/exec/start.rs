//! Starts the executors of the requested device, or the simulator if there is no such device and the request allows it.

use super::discover::Vendors;
use super::opencl::{OpenClExecutor, Starting, WorkerOptions};
use super::simulator::Simulator;
use super::{DeviceRequest, Executor, Target};
use crate::error::{Error, Result};

/// Executors of one device that are starting in the background.
#[derive(Debug)]
pub struct StartingExecutors {
    count: usize,
    starting: Device,
}

#[derive(Debug)]
enum Device {
    Opencl {
        lanes: Vec<Starting>,
        /// Whether the simulator is an acceptable replacement.
        or_simulator: bool,
    },
    Simulator {
        /// Why there is no device, if one would have been preferred.
        instead: Option<String>,
    },
}

/// Executors that are ready.
pub struct Started {
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
            return Ok(StartingExecutors { count, starting: Device::Simulator { instead } });
        }
        let starting = match request {
            DeviceRequest::Simulator => Device::Simulator { instead: None },
            _ => {
                let lane = |_| OpenClExecutor::spawn(request.clone(), options.clone());
                Device::Opencl { lanes: (0..count).map(lane).collect::<Result<_>>()?, or_simulator }
            }
        };
        Ok(StartingExecutors { count, starting })
    }

    /// The form of code that they will take, as far as that is known before they are ready.
    pub fn target(&self) -> Target {
        match self.starting {
            Device::Opencl { .. } => Target::SpirV,
            Device::Simulator { .. } => Target::Host,
        }
    }

    /// Waits until they are ready.
    ///
    /// # Errors
    /// `Environment` if no device matches the request, its driver fails, or it takes no IL; except if the request was
    /// [`DeviceRequest::Auto`]: then the simulator is used instead.
    pub fn ready(self) -> Result<Started> {
        let instead = match self.starting {
            Device::Simulator { instead } => instead,
            Device::Opencl { lanes, or_simulator } => {
                let ready = |lane: Starting| Ok(Box::new(lane.ready()?) as Box<dyn Executor>);
                match lanes.into_iter().map(ready).collect::<Result<_>>() {
                    Err(Error::Environment(report)) if or_simulator => Some(report.what),
                    executors => return executors.map(|executors| Started { executors, note: None }),
                }
            }
        };
        // Each executor has its share of the processors; work-groups are spread over them where their order does
        // not matter.
        let processors = std::thread::available_parallelism().map_or(1, usize::from);
        let threads = (processors / self.count).max(1);
        let lane = |_| Simulator::new(threads).map(|e| Box::new(e) as Box<dyn Executor>);
        let executors = (0..self.count).map(lane).collect::<Result<_>>()?;
        let note =
            instead.map(|why| format!("{why}: the simulator runs the kernel (`kassay devices` tells what is missing)"));
        Ok(Started { executors, note })
    }
}
