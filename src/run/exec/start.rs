//! Starts the executors of the requested device, trying several kinds of devices if the request allows it.

use std::collections::VecDeque;

use kassay_base::error::{Error, Result};

use super::kinds::DeviceKind;
use super::opencl::WorkerOptions;
use super::{Capabilities, DeviceRequest, DeviceSelector, Executor, StartingExecutor, Target};

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
            match (kind.start)(&selector, options, count) {
                Ok(starting) => {
                    return Ok(StartingExecutors { count, options: options.clone(), kind, starting, rest, failed });
                }
                Err(Error::Environment(report)) if !rest.is_empty() => failed.push(report.what),
                Err(e) => return Err(e),
            }
        }
    }

    /// What they will be able to do, as far as that is known before they are ready.
    pub fn capabilities(&self) -> Capabilities {
        self.kind.capabilities
    }

    /// Returns how many there will be.
    pub fn count(&self) -> usize {
        self.count
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use kassay_suite::launch::{Launch, NdRange};

    use super::*;
    use crate::exec::{
        Checks, Code, DeviceInfo, Joins, Numbering, Observation, ProgramId, RunOptions, RunResult, Schedules, Sweep,
        SweepOutcome, simulator,
    };

    /// An executor that loads everything and runs nothing.
    struct Idle {
        device: DeviceInfo,
        loaded: u32,
    }

    impl Executor for Idle {
        fn device(&self) -> &DeviceInfo {
            &self.device
        }

        fn capabilities(&self) -> Capabilities {
            IDLE.capabilities
        }

        fn begin_load(&mut self, _: &Code) -> Result<ProgramId> {
            self.loaded += 1;
            Ok(ProgramId(self.loaded - 1))
        }

        fn finish_load(&mut self, _: ProgramId) -> Result<()> {
            Ok(())
        }

        fn run_with_probe(&mut self, _: ProgramId, _: &Launch, _: &RunOptions, _: &[u32]) -> Result<RunResult> {
            Ok(Ok(Observation::default()))
        }

        fn sweep(&mut self, _: ProgramId, _: &Sweep<'_>) -> Result<SweepOutcome> {
            Err(Error::internal("nothing is swept"))
        }
    }

    /// Starts an [`Idle`], or fails with these words.
    #[derive(Debug)]
    struct Starting(Option<&'static str>);

    impl StartingExecutor for Starting {
        fn ready(self: Box<Self>) -> Result<Box<dyn Executor>> {
            let device = DeviceInfo { name: "idle".to_owned(), kind: "accelerator".to_owned(), ..simulator::device() };
            match self.0 {
                Some(why) => Err(Error::environment(why)),
                None => Ok(Box::new(Idle { device, loaded: 0 })),
            }
        }
    }

    fn executors(count: usize, why: Option<&'static str>) -> Result<Vec<Box<dyn StartingExecutor>>> {
        Ok((0..count).map(|_| Box::new(Starting(why)) as Box<dyn StartingExecutor>).collect())
    }

    /// All that a kind of device has to say.
    const ROW: DeviceKind = DeviceKind {
        name: "idle",
        aliases: &[],
        title: "nothing",
        capabilities: Capabilities {
            target: Target::SpirV,
            schedules: Schedules::All,
            checks: Checks::NONE,
            batches: false,
            joins: Joins::Never,
            skips_returned: false,
            whole_grids: false,
            compiles: false,
        },
        numbering: Numbering::ByPlatform,
        is_automatic: true,
        absence: |_| None,
        devices: |_| Ok(Vec::new()),
        start: |_, _, count| executors(count, None),
    };

    static IDLE: DeviceKind = ROW;

    static ABSENT: DeviceKind =
        DeviceKind { name: "absent", absence: |_| Some("there is none".to_owned()), start: broken, ..ROW };

    static BROKEN: DeviceKind = DeviceKind { name: "broken", start: broken, ..ROW };

    fn broken(_: &DeviceSelector, _: &WorkerOptions, count: usize) -> Result<Vec<Box<dyn StartingExecutor>>> {
        executors(count, Some("its driver fails"))
    }

    fn started(kinds: &[&'static DeviceKind]) -> Result<StartedExecutors> {
        let candidates = kinds.iter().map(|kind| (*kind, DeviceSelector::Any));
        StartingExecutors::of(candidates, &WorkerOptions::default(), 3)?.ready()
    }

    #[test]
    fn a_kind_of_device_is_its_row_and_its_executor() {
        let mut started = started(&[&IDLE]).unwrap();
        assert!(started.note.is_none());
        assert_eq!(started.executors.len(), 3);
        let executor = &mut started.executors[0];
        assert_eq!(executor.capabilities().schedules, Schedules::All);
        let program = executor.load(&Code::spirv(Vec::new(), "k", String::new())).unwrap();
        let range = NdRange { dims: 1, global: [1; 3], local: None, offset: [0; 3] };
        let launch = Launch::new(range, Vec::new());
        let options = RunOptions { timeout: Duration::from_secs(1), repeats: 1, probe_words: None, outputs: true };
        assert!(executor.run(program, &launch, &options).unwrap().unwrap().outputs.is_empty());
    }

    #[test]
    fn kinds_without_a_device_give_way_to_later_ones() {
        let started = started(&[&ABSENT, &BROKEN, &IDLE]).unwrap();
        assert_eq!(started.executors[0].device().name, "idle");
        let note = started.note.unwrap();
        assert!(note.starts_with("there is none; its driver fails: nothing runs the kernel ("), "{note}");
    }

    #[test]
    fn the_last_kind_reports_why_it_fails() {
        for kinds in [&[&BROKEN][..], &[&ABSENT], &[&ABSENT, &BROKEN]] {
            let error = started(kinds).err().unwrap();
            assert!(matches!(&error, Error::Environment(report) if report.what == "its driver fails"), "{error}");
        }
    }
}
