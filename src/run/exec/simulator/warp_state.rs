//! What is known of a work-item as a lane of its warp: which function it has called last, and what that yields; where
//! it is in lockstep.

use kassay_model::native::abi::warp;

/// The lanes of a warp.
pub const LANES: usize = 32;

/// A work-item's last call of a function of warps.
#[derive(Debug, Clone, Copy, Default)]
pub struct WarpCall {
    pub mask: u32,
    pub kind: u32,
    pub value: u64,
    pub from: u32,
    /// Whether it waits there for others.
    pub waits: bool,
    /// What the function has yielded.
    pub result: u64,
    /// A hash of where the work-item has called such functions so far.
    pub history: u64,
}

impl WarpCall {
    /// Whether two lanes that wait may meet.
    pub fn meets(&self, other: &WarpCall) -> bool {
        self.waits && other.waits && (self.mask, self.kind) == (other.mask, other.kind)
    }

    /// Whether the function yields, of some lanes that came there together, what it yields of all lanes and a mask.
    pub fn can_be_masked(&self) -> bool {
        let kind = self.kind & !warp::WIDE;
        kind >= warp::SHUFFLE || matches!(kind, warp::BARRIER | warp::BALLOT | warp::ANY | warp::ALL)
    }

    /// What it yields of the values of `lanes`. A lane that shuffles from one that takes no part gets 0, and its own
    /// value from one that the warp does not have: CUDA leaves both open.
    pub fn combined(&self, values: &[u64; LANES], lanes: u32, existing: u32) -> u64 {
        let all = (0..LANES).filter(|lane| lanes >> lane & 1 != 0).map(|lane| values[lane]);
        let votes = (0..LANES).filter(|lane| lanes >> lane & 1 != 0 && values[*lane] != 0);
        let votes = votes.fold(0u32, |votes, lane| votes | 1 << lane);
        let signed = |value: u64| value as i32;
        match self.kind & !warp::WIDE {
            warp::BARRIER => 0,
            warp::BALLOT => u64::from(votes),
            warp::ANY => u64::from(votes != 0),
            warp::ALL => u64::from(votes == lanes),
            warp::ADD => u64::from(all.fold(0u32, |sum, value| sum.wrapping_add(value as u32))),
            warp::MIN_SIGNED => all.min_by_key(|value| signed(*value)).unwrap_or(0),
            warp::MAX_SIGNED => all.max_by_key(|value| signed(*value)).unwrap_or(0),
            warp::MIN_UNSIGNED => all.min().unwrap_or(0),
            warp::MAX_UNSIGNED => all.max().unwrap_or(0),
            _ if !is_in(existing, self.from) => self.value,
            _ if !is_in(lanes, self.from) => 0,
            _ => values[self.from as usize],
        }
    }
}

/// Whether a set of lanes has this one.
pub fn is_in(lanes: u32, lane: u32) -> bool {
    lane < LANES as u32 && lanes >> lane & 1 != 0
}

/// Where a work-item makes its next step, if warps run in lockstep.
#[derive(Debug, Clone, Copy, Default)]
pub struct Step {
    pub site: u32,
    /// Whether it has made the step already, for the access that follows.
    pub is_made: bool,
}

/// Work-items of a warp that make a step together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stepping {
    /// The first one of their warp.
    pub first: u32,
    /// Which they are, from there on.
    pub lanes: u64,
}

impl Stepping {
    /// The memory that is ordered before the step and after it: all that barriers can order.
    pub const FLAGS: u32 = 7;
}

#[cfg(test)]
mod tests {
    use super::*;

    fn combined(kind: u32, values: [u64; LANES], lanes: u32, from: u32) -> u64 {
        WarpCall { kind, from, value: 77, ..WarpCall::default() }.combined(&values, lanes, 0xffff)
    }

    #[test]
    fn only_named_lanes_count() {
        let values: [u64; LANES] = std::array::from_fn(|lane| u64::from((lane as i32 - 8) as u32));
        let lanes = 0b1010_0000_0000_0011;
        assert_eq!(combined(warp::BALLOT, values, lanes, 0), u64::from(lanes));
        assert_eq!(combined(warp::BALLOT, values, 0b1_0000_0000, 0), 0);
        assert_eq!(combined(warp::ADD, values, lanes, 0) as i32, -8 - 7 + 5 + 7);
        assert_eq!(combined(warp::MIN_SIGNED, values, lanes, 0) as i32, -8);
        assert_eq!(combined(warp::MAX_SIGNED, values, lanes, 0), 7);
        assert_eq!(combined(warp::MIN_UNSIGNED, values, lanes, 0), 5);
        assert_eq!(combined(warp::MAX_UNSIGNED, values, lanes, 0) as i32, -7);
        assert_eq!([combined(warp::ALL, values, lanes, 0), combined(warp::ANY, values, lanes, 0)], [1, 1]);
        assert_eq!(combined(warp::ALL, values, lanes | 1 << 8, 0), 0);
    }

    #[test]
    fn a_shuffle_takes_what_a_lane_brought_that_takes_part() {
        let values: [u64; LANES] = std::array::from_fn(|lane| 100 + lane as u64);
        assert_eq!(combined(warp::SHUFFLE, values, 0b110, 2), 102);
        assert_eq!(combined(warp::SHUFFLE_UP + warp::WIDE, values, 0b110, 3), 0);
        assert_eq!(combined(warp::SHUFFLE_DOWN, values, 0b110, 16), 77);
    }
}
