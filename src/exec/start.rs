//! Starts the executors of the requested device, trying several kinds of devices if the request allows it.

use std::collections::VecDeque;

use super::kinds::DeviceKind;
use super::opencl::WorkerOptions;
use super::{Capabilities, DeviceRequest, DeviceSelector, Executor, StartingExecutor, Target};
use crate::error::{Error, Result};

/// Executors of one device that are starting in the background.
#[derive(Debug)]
pub struct StartingExecutors {
    count: usize,
    options: WorkerOptions,
    kind: &'static DeviceKind,
    starting: Vec<Box<dyn StartingExecutor>>,
    /// What to try if these do not become ready, in this order.
    rest: VecDeque<(&'static DeviceKind, DeviceSelector)>,
    /// Why kinds that would have been preferred have no device.
    failed: Vec<String>,
}

/// Executors that are ready.
pub struct StartedExecutors {
    /// At least one, all of the same device.
    pub executors: Vec<Box<dyn Executor>>,
    /// For the user: what runs the kernel instead of a preferred device, and why.
    pub note: Option<String>,
}

impl StartingExecutors {
    /// Begins to start `count` executors (at least one) of the requested device.
    ///
    /// # Errors
    /// `Environment` if the system cannot create processes for them.
    pub fn start(request: &DeviceRequest, options: &WorkerOptions, count: usize) -> Result<StartingExecutors> {
        StartingExecutors::of(request.candidates(), options, count)
    }

    /// Begins to start executors of the first of these kinds that may have the selected device.
    ///
    /// # Errors
    /// As for [`StartingExecutors::start`].
    pub fn of(
        candidates: impl IntoIterator<Item = (&'static DeviceKind, DeviceSelector)>,
        options: &WorkerOptions,
        count: usize,
    ) -> Result<StartingExecutors> {
        let count = count.max(1);
        let (mut rest, mut failed) = (candidates.into_iter().collect::<VecDeque<_>>(), Vec::new());
        loop {
            let Some((kind, selector)) = rest.pop_front() else {
                return Err(Error::internal("no kind of device was given"));
            };
            // Asked only if something else can be tried: else the attempt gives the better message.
            if !rest.is_empty()
                && let Some(why) = (kind.absence)(options)
            {
                failed.push(why);
                continue;
            }
            let starting = (kind.start)(&selector, options, count)?;
            return Ok(StartingExecutors { count, options: options.clone(), kind, starting, rest, failed });
        }
    }

    /// What they will be able to do, as far as that is known before they are ready.
    pub fn capabilities(&self) -> Capabilities {
        self.kind.capabilities
    }

    /// The form of code that they will take, as far as that is known before they are ready.
    pub fn target(&self) -> Target {
        self.capabilities().target
    }

    /// Waits until they are ready.
    ///
    /// # Errors
    /// `Environment` if no device matches the request, its driver fails, or it takes no code that kassay can make;
    /// except if the request allows other kinds of devices: then one of these is used instead.
    pub fn ready(self) -> Result<StartedExecutors> {
        let StartingExecutors { count, options, kind, starting, rest, mut failed } = self;
        match starting.into_iter().map(|executor| executor.ready()).collect::<Result<Vec<_>>>() {
            Ok(executors) => {
                let note = (!failed.is_empty()).then(|| {
                    let (why, title) = (failed.join("; "), kind.title);
                    format!("{why}: {title} runs the kernel (`kassay devices` tells what is missing)")
                });
                Ok(StartedExecutors { executors, note })
            }
            Err(Error::Environment(report)) if !rest.is_empty() => {
                failed.push(report.what);
                let mut next = StartingExecutors::of(rest, &options, count)?;
                next.failed.splice(..0, failed);
                next.ready()
            }
            Err(e) => Err(e),
        }
    }
}
