//! The wall-clock budget of a check, and its division among the parts of the check.

use std::time::{Duration, Instant};

/// The time that a check may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    started: Instant,
    /// `None`: no limit.
    limit: Option<Duration>,
}

impl Budget {
    /// Creates a budget of `seconds` from `started` on; unlimited if `seconds` is not a valid duration.
    pub fn of(started: Instant, seconds: f64) -> Budget {
        Budget { started, limit: Duration::try_from_secs_f64(seconds).ok() }
    }

    /// Creates a budget without limit.
    pub fn unlimited() -> Budget {
        Budget { started: Instant::now(), limit: None }
    }

    /// Returns a budget that ends when `share` (0 to 1) of the total time is over.
    #[must_use]
    pub fn up_to(self, share: f64) -> Budget {
        Budget { limit: self.limit.map(|limit| limit.mul_f64(share)), ..self }
    }

    /// Returns a separate budget that begins now: `share` (0 to 1) of the total time, or the remaining time if that
    /// is less.
    #[must_use]
    pub fn share(self, share: f64) -> Budget {
        let started = Instant::now();
        let left = self.end().map(|end| end.saturating_duration_since(started));
        let limit = self.limit.zip(left).map(|(limit, left)| limit.mul_f64(share).min(left));
        Budget { started, limit }
    }

    /// Returns a separate budget that begins now: the first of `parts` equal parts of the remaining time.
    #[must_use]
    pub fn rest(self, parts: usize) -> Budget {
        let started = Instant::now();
        Budget { started, limit: self.part(parts).map(|end| end.saturating_duration_since(started)) }
    }

    /// The end of the budget; `None` without limit.
    pub fn end(self) -> Option<Instant> {
        self.started.checked_add(self.limit?)
    }

    /// Returns whether the time is up.
    pub fn is_over(self) -> bool {
        self.end().is_some_and(|end| Instant::now() >= end)
    }

    /// Returns the time at which the first of `parts` equal parts of the remaining time ends.
    pub fn part(self, parts: usize) -> Option<Instant> {
        let now = Instant::now();
        let left = self.end()?.saturating_duration_since(now);
        Some(now + left / u32::try_from(parts.max(1)).unwrap_or(u32::MAX))
    }

    /// Describes the budget in messages.
    pub fn words(self) -> String {
        self.limit.map_or_else(|| "no budget".to_owned(), |limit| format!("the budget of {} s", limit.as_secs_f64()))
    }
}
