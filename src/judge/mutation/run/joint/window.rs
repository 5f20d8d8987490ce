//! What one joint sweep runs: cases that share a launch, and the order in which a device makes them.

use std::collections::BTreeMap;

use kassay_suite::launch::{Launch, NdRange};

use crate::mutation::run::baseline::TestBaseline;

/// Tests that are prefetched together.
#[derive(Debug)]
pub struct Window {
    pub taken: Vec<usize>,
    /// What is still to be run, the next one last.
    pub jobs: Vec<Job>,
    /// What ran out of fuel and may have more. It is run after all jobs: a launch takes as long as its slowest run,
    /// and most of these run to the end of their fuel, so they had better do so side by side.
    pub out_of_fuel: Vec<Group>,
    /// What the device is at.
    pub running: Option<Job>,
}

impl Window {
    /// Returns whether something is still to be run, or to be looked at.
    pub fn is_open(&self) -> bool {
        self.running.is_some() || !self.jobs.is_empty() || !self.out_of_fuel.is_empty()
    }
}

/// Runs that one joint sweep makes.
#[derive(Debug)]
pub struct Job {
    pub groups: Vec<Group>,
    /// Fuel as a multiple of the original's.
    pub factor: f64,
}

impl Job {
    /// Makes jobs of groups, each of at most so many runs if a group has no more.
    fn split(groups: Vec<Group>, factor: f64, most: usize) -> Vec<Job> {
        let mut jobs: Vec<Job> = Vec::new();
        let mut left = 0;
        for group in groups {
            let runs = group.which.len();
            match jobs.last_mut().filter(|_| runs <= left) {
                Some(job) => job.groups.push(group),
                None => {
                    jobs.push(Job { groups: vec![group], factor });
                    left = most;
                }
            }
            left = left.saturating_sub(runs);
        }
        jobs
    }
}

/// Makes jobs of groups, each of groups whose work-groups have the same size, because all of a launch have. The largest
/// is the last one, which is started first: what is looked at meanwhile has the most time then.
pub fn jobs(groups: Vec<Group>, baselines: &[TestBaseline<'_>], factor: f64, most: usize) -> Vec<Job> {
    let mut classes: BTreeMap<[u64; 3], Vec<Group>> = BTreeMap::new();
    for group in groups {
        classes.entry(group.range(baselines).decided().local).or_default().push(group);
    }
    let mut jobs: Vec<Job> = classes.into_values().flat_map(|groups| Job::split(groups, factor, most)).collect();
    jobs.sort_by_key(|job| job.groups.iter().map(|group| group.which.len()).sum::<usize>());
    jobs
}

/// Cases that are run on the same launch.
#[derive(Debug, Clone)]
pub struct Group {
    /// The baseline.
    pub t: usize,
    /// Its launch as mutants change it; `None`: as it is.
    pub changed: Option<Launch>,
    /// The cases, in order.
    pub which: Vec<usize>,
}

impl Group {
    pub fn launch<'a>(&'a self, baselines: &'a [TestBaseline<'_>]) -> &'a Launch {
        self.changed.as_ref().unwrap_or(&baselines[self.t].test.launch)
    }

    pub fn range<'a>(&'a self, baselines: &'a [TestBaseline<'_>]) -> &'a NdRange {
        &self.launch(baselines).range
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn jobs_have_as_many_runs_as_they_may_and_no_group_is_lost() {
        let group = |t: usize, runs: usize| Group { t, changed: None, which: (0..runs).collect() };
        let sizes = [3, 4, 1, 9, 2, 0, 6];
        let groups = (0..).zip(sizes).map(|(t, runs)| group(t, runs)).collect();
        let jobs = Job::split(groups, 2.0, 8);
        let of = |job: &Job| job.groups.iter().map(|group| group.t).collect::<Vec<_>>();
        assert_eq!(jobs.iter().map(of).collect::<Vec<_>>(), [vec![0, 1, 2], vec![3], vec![4, 5, 6]]);
        assert!(Job::split(Vec::new(), 2.0, 8).is_empty());
    }
}
