//! How much wall-clock time a check has, and how its parts share it.

use std::time::{Duration, Instant};

/// The time that a check may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    begun: Instant,
    /// `None`: no limit.
    limit: Option<Duration>,
}

impl Budget {
    /// So many seconds from `begun` on.
    pub fn of(begun: Instant, seconds: f64) -> Budget {
        Budget { begun, limit: Duration::try_from_secs_f64(seconds).ok() }
    }

    pub fn unlimited() -> Budget {
        Budget { begun: Instant::now(), limit: None }
    }

    /// A budget that ends when `share` (0 to 1) of all the time is over.
    #[must_use]
    pub fn up_to(self, share: f64) -> Budget {
        Budget { limit: self.limit.map(|limit| limit.mul_f64(share)), ..self }
    }

    /// A budget of its own that begins now: `share` (0 to 1) of all the time, or what is left of it.
    #[must_use]
    pub fn share(self, share: f64) -> Budget {
        let begun = Instant::now();
        let left = self.end().map(|end| end.saturating_duration_since(begun));
        let limit = self.limit.zip(left).map(|(limit, left)| limit.mul_f64(share).min(left));
        Budget { begun, limit }
    }

    /// When it ends.
    pub fn end(self) -> Option<Instant> {
        self.begun.checked_add(self.limit?)
    }

    pub fn is_over(self) -> bool {
        self.end().is_some_and(|end| Instant::now() >= end)
    }

    /// When the first of `parts` equal parts of what is left ends.
    pub fn part(self, parts: usize) -> Option<Instant> {
        let now = Instant::now();
        let left = self.end()?.saturating_duration_since(now);
        Some(now + left / u32::try_from(parts.max(1)).unwrap_or(u32::MAX))
    }

    /// As messages have it.
    pub fn words(self) -> String {
        self.limit.map_or_else(|| "no budget".to_owned(), |limit| format!("the budget of {} s", limit.as_secs_f64()))
    }
}
