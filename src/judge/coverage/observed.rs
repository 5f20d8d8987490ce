//! Code for the simulator that shows what a launch covers and which values it compares, for searches that run many
//! small launches.

use std::sync::Arc;
use std::time::Instant;

use kassay_base::error::Result;
use kassay_ir::cfg::sites::Sites;
use kassay_ir::instrument::comparisons::Comparisons;
use kassay_ir::instrument::coverage::CoveragePlan;
use kassay_ir::instrument::layout::Slots;
use kassay_ir::instrument::lowering;
use kassay_model::code::{Effort, LoweringOptions};
use kassay_run::exec::{NativeCode, simulator};
use kassay_suite::launch::NdRange;

use super::build::KernelUnderTest;
use super::tally::{self, Probe, SiteTally};

/// Code with coverage probes, a slot for each work-group, and with hooks that report comparisons.
#[derive(Debug)]
pub struct ObservedCode {
    /// The code, for the simulator.
    pub code: Arc<NativeCode>,
    /// How many comparisons are reported.
    pub comparisons: u32,
    plan: CoveragePlan,
}

impl ObservedCode {
    /// Returns the words of the probe buffer that a launch needs; `None` if they are too many.
    pub fn probe_words(&self, range: &NdRange) -> Option<u64> {
        self.plan.layout.words_for(range)
    }

    /// Returns what a launch covered.
    pub fn tally(&self, sites: &Sites, probe: Probe<'_>) -> Vec<SiteTally> {
        tally::tally(sites, &self.plan, probe)
    }
}

/// Such code in the making.
#[derive(Debug)]
pub struct PendingCode {
    making: lowering::PendingCode,
    comparisons: u32,
    plan: CoveragePlan,
}

impl PendingCode {
    /// Waits for the code.
    ///
    /// # Errors
    /// `Internal` if it cannot be lowered; [`Error::late`](kassay_base::error::Error::late) at the deadline.
    pub fn end(self) -> Result<ObservedCode> {
        let PendingCode { making, comparisons, plan } = self;
        Ok(ObservedCode { code: making.end()?.into_native()?, comparisons, plan })
    }
}

/// Begins to make such code, until `deadline` at the latest.
///
/// # Errors
/// `Internal` if the kernel cannot be woven.
pub fn begin(under_test: &KernelUnderTest<'_>, deadline: Option<Instant>) -> Result<PendingCode> {
    let module = under_test.module.clone();
    let comparisons = Comparisons::find(&module);
    let plan = CoveragePlan::new(&under_test.sites, Slots::Groups);
    let target = simulator::CAPABILITIES.target;
    plan.weave(&module, &under_test.sites, target)?;
    comparisons.weave(&module)?;
    let comparisons = comparisons.count();
    let options = LoweringOptions { effort: Effort::Quick, deadline, ..under_test.lowering };
    let making = lowering::begin(module, &under_test.entry, &under_test.interface, target, &options)?;
    Ok(PendingCode { making, comparisons, plan })
}
