//! The kernels of a program that is checked while it runs: compiled when their first launch comes, then run on the
//! simulator launch by launch, and judged at the end.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use kassay_base::error::{Error, Result};
use kassay_judge::sync::budget::Budget;
use kassay_judge::sync::checking::{self, Case};
use kassay_judge::sync::device_pass::Looked;
use kassay_judge::sync::{inputs, pool};
use kassay_model::code::{LoweringOptions, NativeCode};
use kassay_results::result::check::CheckResult;
use kassay_run::exec::simulator::observation::Simulation;
use kassay_run::exec::{ProgramId, Simulator};
use kassay_run::host::{self, Arrival, Contents, Reason, Spool};
use kassay_suite::launch::{ArgValue, Launch};
use kassay_suite::write::NewTest;

use super::super::host_kernel::{Folder, FolderNames, HostKernel, NO_CODE, NOT_COMPILED};
use super::super::input::SyntaxTree;
use super::super::options::OpenOptions;
use super::conclusion::{Judging, with_local_size};
use super::loaded::LoadedSimulator;
use super::options::CheckOptions;
use super::queue::{self, LaunchId, Waiting};

const NOT_SIMULATED: Reason = Reason { name: "not-simulated", meaning: "the simulator cannot run it" };
const NO_TIME: Reason = Reason { name: "budget", meaning: "the budget was used up before it was checked" };

/// A kernel of a program.
pub(super) struct Kernel {
    pub program: String,
    pub name: String,
    /// The name of its folder.
    pub folder: String,
    waiting: Waiting,
    state: State,
    /// The arguments that share memory in some launch.
    shared: BTreeSet<u32>,
    explored: Vec<Explored>,
    /// Why kassay could not do something with it: the first such error.
    pub error: Option<Error>,
}

enum State {
    New,
    /// With its number among the programs that the simulators have loaded.
    Ready(Box<Ready>),
    /// Nothing can be done with its launches.
    Failed(Reason),
}

struct Ready {
    kernel: HostKernel,
    code: Arc<NativeCode>,
    number: usize,
}

/// A launch after its first run.
struct Explored {
    arrival: Arrival,
    case: Case,
    simulation: Simulation,
}

/// A simulator with the programs that it has loaded.
struct Worker {
    simulator: Simulator,
    programs: Vec<ProgramId>,
}

/// All kernels of a program.
pub(super) struct Kernels<'a> {
    open: &'a OpenOptions,
    options: &'a CheckOptions,
    most: u64,
    /// Where kernels' folders are made.
    base: PathBuf,
    /// Whether suites are made in them.
    makes_suites: bool,
    names: FolderNames,
    all: Vec<Kernel>,
    positions: HashMap<(String, String), usize>,
    workers: Vec<Worker>,
    contents: Contents,
    /// Launches that are not checked, and why.
    pub left_out: BTreeMap<LaunchId, Reason>,
}

/// A launch that is to be run.
struct Item<'k> {
    kernel: usize,
    number: usize,
    code: &'k NativeCode,
    arrival: Arrival,
    case: Case,
}

impl<'a> Kernels<'a> {
    /// `most`: launches of a kernel that are checked, at most. `makes_suites`: whether suites are made in `base`.
    pub fn new(
        open: &'a OpenOptions,
        options: &'a CheckOptions,
        most: u64,
        (base, makes_suites): (&Path, bool),
        spool: &Spool,
    ) -> Result<Kernels<'a>> {
        let worker = |_| {
            let mut simulator = Simulator::new(1)?;
            simulator.run_in_lockstep(options.warp_sync);
            Ok(Worker { simulator, programs: Vec::new() })
        };
        Ok(Kernels {
            open,
            options,
            most,
            base: base.to_owned(),
            makes_suites,
            names: FolderNames::default(),
            all: Vec::new(),
            positions: HashMap::new(),
            workers: (0..open.jobs.max(1)).map(worker).collect::<Result<_>>()?,
            contents: Contents::new(spool),
            left_out: BTreeMap::new(),
        })
    }

    /// Adds launches that have come.
    pub fn add(&mut self, arrivals: Vec<Arrival>) {
        for arrival in arrivals {
            let (program, name) = (arrival.launch.program.clone(), arrival.launch.name.clone());
            let at = *self.positions.entry((program.clone(), name.clone())).or_insert_with(|| {
                let folder = self.names.name(&name, &program);
                self.all.push(Kernel {
                    program,
                    name,
                    folder,
                    waiting: Waiting::default(),
                    state: State::New,
                    shared: BTreeSet::new(),
                    explored: Vec::new(),
                    error: None,
                });
                self.all.len() - 1
            });
            let kernel = &mut self.all[at];
            if let State::Failed(reason) = kernel.state {
                self.left_out.insert(arrival.id(), reason);
            } else if let Err((id, reason)) = kernel.waiting.add(arrival, self.most) {
                self.left_out.insert(id, reason);
            }
        }
    }

    /// Runs some launches, no more than there are simulators, each within its share of `budget`: an equal one for each
    /// kernel with launches that wait. Returns whether there was any.
    ///
    /// # Errors
    /// `Environment` if files cannot be read or written.
    pub fn round(&mut self, spool: &Spool, budget: Budget) -> Result<bool> {
        let waiting: Vec<(usize, usize)> =
            self.all.iter().map(|kernel| (kernel.waiting.taken, kernel.waiting.len())).collect();
        let chosen = queue::next(&waiting, self.workers.len());
        if chosen.is_empty() {
            return Ok(false);
        }
        let kernels = waiting.iter().filter(|(_, waits)| *waits > 0).count();
        let mut cases = Vec::new();
        for at in chosen {
            cases.extend(self.prepare(at, spool, budget)?);
        }
        let mut items = Vec::new();
        for (at, arrival, case) in cases {
            if let State::Ready(ready) = &self.all[at].state {
                items.push(Item { kernel: at, number: ready.number, code: &ready.code, arrival, case });
            }
        }
        let end = budget.up_to(checking::EXPLORING).part(kernels.div_ceil(self.workers.len()));
        let timeout = self.open.timeout;
        let done = pool::each(&mut self.workers, items, |worker, mut item, _| {
            let explored = worker
                .loaded(item.number, timeout)
                .and_then(|mut simulator| checking::explore(&mut simulator, &item.code.table, &mut item.case, end));
            Ok((item.kernel, item.arrival, item.case, explored))
        })?;
        for (at, arrival, case, explored) in done {
            let kernel = &mut self.all[at];
            match explored {
                Ok(mut simulation) => {
                    // What a launch leaves only tells the orders of conflicting accesses.
                    if simulation.conflicts.is_empty() {
                        simulation.observation.outputs = Vec::new();
                    }
                    kernel.explored.push(Explored { arrival, case, simulation });
                }
                Err(error) => {
                    self.left_out.insert(arrival.id(), NOT_SIMULATED);
                    kernel.error.get_or_insert(error);
                }
            }
        }
        Ok(true)
    }

    /// Takes a kernel's next launch and makes an input of it, and compiles the kernel if need be. `None` if there is
    /// nothing to run.
    fn prepare(&mut self, at: usize, spool: &Spool, budget: Budget) -> Result<Option<(usize, Arrival, Case)>> {
        let Some(arrival) = self.all[at].waiting.take() else { return Ok(None) };
        let id = arrival.id();
        loop {
            if matches!(self.all[at].state, State::New) {
                self.compile(at, spool, budget)?;
            }
            let kernel = &mut self.all[at];
            let ready = match &kernel.state {
                State::Ready(ready) => ready,
                State::Failed(reason) => {
                    self.left_out.insert(id, *reason);
                    for other in kernel.waiting.drain() {
                        self.left_out.insert(other.id(), *reason);
                    }
                    return Ok(None);
                }
                State::New => return Err(Error::internal("a kernel was neither compiled nor refused")),
            };
            let interface = ready.kernel.opened.interface();
            let launch = match host::convert(&arrival.launch, interface, &mut self.contents) {
                Ok(converted) => converted.launch,
                Err(reason) => {
                    self.left_out.insert(id, reason);
                    return Ok(None);
                }
            };
            let shared: BTreeSet<u32> = launch.sharing().collect();
            if !shared.is_subset(&kernel.shared) {
                // What was concluded of the code holds for arguments of memory of their own: all is done anew.
                kernel.shared.extend(shared);
                kernel.state = State::New;
                for explored in std::mem::take(&mut kernel.explored).into_iter().rev() {
                    kernel.waiting.put_back(explored.arrival);
                }
                continue;
            }
            let case = self.case(at, launch)?;
            return Ok(case.map(|case| (at, arrival, case)));
        }
    }

    fn case(&self, at: usize, launch: Launch) -> Result<Option<Case>> {
        let State::Ready(ready) = &self.all[at].state else { return Ok(None) };
        ready.kernel.opened.with(SyntaxTree::Needed, |parsed| {
            let under_test = &parsed.under_test;
            let mut outputs = inputs::outputs(&under_test.interface);
            outputs.retain(|output| !matches!(launch.args.get(output.position as usize), Some(ArgValue::Same(_))));
            Ok(Some(Case {
                name: self.all[at].name.clone(),
                origin: "program",
                launch: with_local_size(launch, under_test),
                outputs,
                fitness: None,
                preconditions: Vec::new(),
                guesses: Vec::new(),
            }))
        })
    }

    /// Compiles a kernel from the first form of its code that can be compiled. What goes wrong is noted.
    ///
    /// # Errors
    /// `Environment` if files cannot be read or written.
    fn compile(&mut self, at: usize, spool: &Spool, budget: Budget) -> Result<()> {
        let kernel = &self.all[at];
        let program = spool.programs.get(&kernel.program);
        let forms = program.map(|program| host::code_of(spool, program)).unwrap_or_default();
        let left = budget.end().map(|end| end.saturating_duration_since(Instant::now()));
        let open = self.open.clone().syntax_tree(true).budget(left.map(|left| left.max(Duration::from_millis(1))));
        let folder = self.base.join(&kernel.folder);
        let (mut reason, mut error) = (NO_CODE, None);
        for form in &forms {
            let wanted = LoweringOptions { races: true, deadline: budget.end(), ..LoweringOptions::default() };
            let place = if self.makes_suites { Folder::Own(&folder) } else { Folder::Cached { otherwise: &folder } };
            let compiled = HostKernel::open(&open, &place, &kernel.name, form, &kernel.shared).and_then(|kernel| {
                let code = kernel.opened.with(SyntaxTree::Needed, |parsed| {
                    parsed.under_test.fits_the_simulator()?;
                    parsed.under_test.for_simulator(&wanted)
                })?;
                Ok((kernel, code))
            });
            match compiled {
                Ok((kernel, code)) => {
                    let number = self.load(&code)?;
                    self.all[at].state = State::Ready(Box::new(Ready { kernel, code, number }));
                    return Ok(());
                }
                Err(e) if e.is_late() => reason = NO_TIME,
                Err(e) if e.exit_code() == 3 => return Err(e),
                Err(e) => {
                    reason = NOT_COMPILED;
                    error.get_or_insert(e);
                }
            }
        }
        self.all[at].state = State::Failed(reason);
        self.all[at].error = error;
        Ok(())
    }

    fn load(&mut self, code: &Arc<NativeCode>) -> Result<usize> {
        for worker in &mut self.workers {
            let program = worker.simulator.load_native(code)?;
            worker.programs.push(program);
        }
        Ok(self.workers.first().map_or(0, |worker| worker.programs.len() - 1))
    }

    /// Why a launch was not checked.
    pub fn reason(&self, id: &LaunchId) -> Reason {
        self.left_out.get(id).copied().unwrap_or(NO_TIME)
    }

    /// The kernel of this name of a program, of which launches came.
    pub fn find(&self, program: &str, name: &str) -> Option<usize> {
        self.positions.get(&(program.to_owned(), name.to_owned())).copied()
    }

    /// The kernel at a position.
    pub fn at(&self, at: usize) -> &Kernel {
        &self.all[at]
    }

    /// Judges a kernel by the launches that were run and that `name` names; the others are as if they had not been.
    /// Returns the launches with the result; `None` without launches.
    ///
    /// # Errors
    /// Errors of the simulator, and `Environment` if reproductions cannot be written.
    pub fn judge(
        &mut self,
        at: usize,
        budget: Budget,
        started: Instant,
        name: impl Fn(&Arrival) -> Option<String>,
    ) -> Result<Option<(Vec<Arrival>, CheckResult)>> {
        let kernel = &mut self.all[at];
        let State::Ready(ready) = &kernel.state else { return Ok(None) };
        let mut explored = std::mem::take(&mut kernel.explored);
        // In the program's order, whatever the order in which they were run.
        explored.sort_by(|a, b| {
            (&a.arrival.process, a.arrival.launch.sequence).cmp(&(&b.arrival.process, b.arrival.launch.sequence))
        });
        let (mut arrivals, mut cases, mut simulations) = (Vec::new(), Vec::new(), Vec::new());
        for Explored { arrival, case, simulation } in explored {
            if let Some(name) = name(&arrival) {
                arrivals.push(arrival);
                cases.push(Case { name, ..case });
                simulations.push(simulation);
            }
        }
        if arrivals.is_empty() {
            return Ok(None);
        }
        let timeout = self.open.timeout;
        let mut simulators = Vec::new();
        for worker in &mut self.workers {
            let mut simulator = worker.loaded(ready.number, timeout)?;
            simulator.launches = 0;
            simulators.push(simulator);
        }
        if let Some(first) = simulators.first_mut() {
            first.launches = arrivals.len() as u64;
        }
        let reproduce = self.options.reproduce.as_ref().map(|folder| folder.join(&kernel.folder));
        let opened = &ready.kernel.opened;
        let result = opened.with(SyntaxTree::Needed, |parsed| {
            // The launches are the program's: facts, whatever they keep to.
            let (options, first_pass, condition) = (self.options, None, None);
            let judging = Judging { opened, parsed, options, budget, started, first_pass, reproduce, condition };
            judging.judge(&ready.code.table, &mut simulators, &cases, simulations, Vec::new(), Looked::default())
        })?;
        Ok(Some((arrivals, result)))
    }

    /// The kernels that were compiled, each with the name of its folder.
    pub fn compiled(&self) -> impl Iterator<Item = (&str, &HostKernel)> {
        self.all.iter().filter_map(|kernel| match &kernel.state {
            State::Ready(ready) => Some((kernel.folder.as_str(), &ready.kernel)),
            State::New | State::Failed(_) => None,
        })
    }

    /// Writes the launches that were run and that `name` names as suites, each beside its kernel. They expect nothing.
    ///
    /// # Errors
    /// `Environment` if files cannot be written.
    pub fn write_suites(&self, name: impl Fn(&Arrival) -> Option<String>) -> Result<()> {
        for kernel in &self.all {
            let State::Ready(ready) = &kernel.state else { continue };
            let mut tests = Vec::new();
            for Explored { arrival, case, .. } in &kernel.explored {
                let Some(name) = name(arrival) else { continue };
                tests.push(NewTest { name, description: None, launch: &case.launch, faulted: &[], expectations: &[] });
            }
            if !tests.is_empty() {
                ready.kernel.write_suite(tests)?;
            }
        }
        Ok(())
    }
}

impl Worker {
    /// The simulator with one of its programs.
    fn loaded(&mut self, number: usize, timeout: Duration) -> Result<LoadedSimulator<'_>> {
        let program = self.programs.get(number).copied();
        let program = program.ok_or_else(|| Error::internal("a simulator has not loaded a kernel"))?;
        Ok(LoadedSimulator { simulator: &mut self.simulator, program, timeout, launches: 0 })
    }
}
