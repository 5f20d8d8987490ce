//! Keeps a second worker ready, which takes over when the first one is lost: its device is open by then.
//!
//! After a fault on an NVIDIA GPU, the process is of no further use, and a new one takes 0.2 s and more until it has
//! opened the device.

use kassay_base::error::Result;

use super::process::Process;
use crate::exec::Target;

/// The variable with which a user overrides [`SpareWorker::WhereItPays`].
const VARIABLE: &str = "KASSAY_STANDBY";

/// When an executor keeps a second worker ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SpareWorker {
    /// On devices that a fault costs the process and that take long to open: those that take PTX.
    #[default]
    WhereItPays,
    /// On all devices.
    Always,
    /// On none.
    Never,
}

impl SpareWorker {
    /// What the user asks for by `KASSAY_STANDBY`: `always` or `never`; [`SpareWorker::WhereItPays`] if nothing else.
    pub fn from_environment() -> SpareWorker {
        match std::env::var(VARIABLE).as_deref() {
            Ok("always") => SpareWorker::Always,
            Ok("never") => SpareWorker::Never,
            _ => SpareWorker::WhereItPays,
        }
    }

    /// Returns whether a second worker stands by for an executor whose device takes code of the form `target`.
    pub fn is_wanted(self, target: Target) -> bool {
        match self {
            SpareWorker::WhereItPays => target == Target::Ptx,
            SpareWorker::Always => true,
            SpareWorker::Never => false,
        }
    }

    /// The same for one of `count` executors. Where there are several, a lost worker is not waited for, because the
    /// others go on; and each process takes memory of the device.
    pub fn among(self, count: usize) -> SpareWorker {
        if self == SpareWorker::WhereItPays && count > 1 { SpareWorker::Never } else { self }
    }
}

/// The worker that stands by, if there is one. Dropping this ends the worker.
#[derive(Debug, Default)]
pub struct Spare(Option<Process>);

impl Spare {
    /// Has a worker started, unless one stands by already, without waiting until it is ready. If none can be started,
    /// that shows when it is needed.
    pub fn prepare(&mut self, start: impl FnOnce() -> Result<Process>) {
        if self.0.is_none() {
            self.0 = start().ok();
        }
    }

    /// The worker; `None` if there is none, because it was not prepared, could not be started or has died.
    pub fn take(&mut self) -> Option<Process> {
        let mut process = self.0.take()?;
        process.is_alive().then_some(process)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_worker_stands_by_for_the_only_executor_of_a_device_that_takes_ptx() {
        let kept = |policy: SpareWorker, count| policy.among(count).is_wanted(Target::Ptx);
        assert!(kept(SpareWorker::WhereItPays, 1));
        assert!(!kept(SpareWorker::WhereItPays, 2));
        assert!(kept(SpareWorker::Always, 2));
        assert!(!kept(SpareWorker::Never, 1));
        assert!(!SpareWorker::WhereItPays.is_wanted(Target::SpirV) && SpareWorker::Always.is_wanted(Target::SpirV));
    }
}
