//! Tracks branch distances: for each comparison that always had the same result, the input with the smallest
//! distance from the other result. Also tracks inputs in which comparisons had a result a number of times of a new
//! order of magnitude.

use kassay_run::exec::simulator::compare::ComparisonStats;
use kassay_suite::launch::Launch;

use super::genotype::Genotype;

/// Inputs that are kept for how often comparisons had a result.
const MAX_VARIED: usize = 32;

/// The input that came nearest to a result that a comparison has not had yet.
#[derive(Debug, Clone)]
pub struct Champion {
    pub distance: u64,
    /// Kind of the comparison; see [`kassay_model::native::abi::comparison`].
    pub kind: u32,
    /// The operands at that distance.
    pub operands: (u64, u64),
    pub genotype: Genotype,
    pub launch: Launch,
    /// How often it was mutated in vain.
    tries: u32,
}

/// What is known of one result of a comparison, false or true.
#[derive(Debug, Clone, Default)]
struct Direction {
    /// Bit set of the orders of magnitude of how often it occurred.
    times: u64,
    champion: Option<Champion>,
}

/// The contribution of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Gain {
    /// It at least halves a distance.
    pub halved: bool,
    pub nearer: bool,
    pub varied: bool,
}

/// Branch distances of all comparisons, and the inputs that come nearest.
#[derive(Default)]
pub struct BranchDistances {
    directions: Vec<Direction>,
    varied: Vec<Genotype>,
    next: usize,
}

impl BranchDistances {
    /// Records a launch. Without a genotype it cannot be a parent, but its results count.
    pub fn note(&mut self, compared: &[ComparisonStats], genotype: Option<&Genotype>, launch: &Launch) -> Gain {
        self.directions.resize_with(self.directions.len().max(2 * compared.len()), Direction::default);
        let mut gain = Gain::default();
        for (compared, directions) in compared.iter().zip(self.directions.chunks_exact_mut(2)) {
            for (i, direction) in directions.iter_mut().enumerate() {
                if compared.distance[i] == 0 {
                    direction.champion = None;
                    let class = 1 << magnitude(compared.times[i]);
                    gain.varied |= direction.times & class == 0;
                    direction.times |= class;
                } else if compared.distance[i] < u64::MAX && direction.times == 0 {
                    let before = direction.champion.as_ref().map_or(u64::MAX, |c| c.distance);
                    let Some(genotype) = genotype.filter(|_| compared.distance[i] < before) else { continue };
                    gain.nearer = true;
                    gain.halved |= compared.distance[i] <= before / 2;
                    direction.champion = Some(Champion {
                        distance: compared.distance[i],
                        kind: compared.kind,
                        operands: compared.operands[i],
                        genotype: genotype.clone(),
                        launch: launch.clone(),
                        tries: 0,
                    });
                }
            }
        }
        if let Some(genotype) = genotype.filter(|_| gain.varied) {
            if self.varied.len() < MAX_VARIED {
                self.varied.push(genotype.clone());
            } else {
                self.varied[self.next % MAX_VARIED] = genotype.clone();
                self.next += 1;
            }
        }
        gain
    }

    /// Returns the champion that was tried least often, and how often that was.
    pub fn next_champion(&mut self) -> Option<(&Champion, u32)> {
        let champions = self.directions.iter_mut().filter_map(|w| w.champion.as_mut());
        let champion = champions.min_by_key(|c| c.tries)?;
        champion.tries += 1;
        Some((champion, champion.tries - 1))
    }

    /// Returns inputs in which a comparison had a result a number of times of a new order of magnitude.
    pub fn varied(&self) -> &[Genotype] {
        &self.varied
    }
}

/// Returns the order of magnitude of a count: 1, 2, 3, 4 to 7, 8 to 15 and so on.
fn magnitude(times: u64) -> u32 {
    match times {
        0..=3 => times as u32,
        // No launch makes 2^61 comparisons.
        _ => (times.ilog2() + 2).min(63),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn orders_of_magnitude_are_distinguished() {
        let all: Vec<u32> = [1, 2, 3, 4, 7, 8, 15, 16].into_iter().map(magnitude).collect();
        assert_eq!(all, [1, 2, 3, 4, 4, 5, 5, 6]);
        assert!(magnitude(1 << 60) < 64);
    }
}
