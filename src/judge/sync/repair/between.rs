//! Where a barrier can stand between two accesses.

use super::candidate::in_loops;
use super::layout::Gap;
use super::outline::{List, ListKind, Outline, Path, Step};

/// Gaps that get a barrier each, with what it costs to reach them.
pub struct Spot<'o, 'a> {
    pub gaps: Vec<(Gap<'o, 'a>, Option<u32>)>,
    pub cost: u64,
}

/// Outside loops, a barrier costs this.
const BARRIER: u64 = 10;
/// What is in a branch costs so many times as much: not all work-items need come there.
const IN_BRANCH: u64 = 4;

/// Two ways into one function, as far as they are the same.
pub struct Meeting<'o, 'a> {
    /// The lists that both are in, from the outermost.
    pub common: Vec<&'o List<'a>>,
    /// By list of `common`: the line of the statement that it belongs to.
    heads: Vec<Option<u32>>,
    /// The positions in the innermost common list, the first one first.
    pub first: usize,
    pub second: usize,
    /// Whether both are the same statement, without any in it.
    pub is_one: bool,
    /// The ways from there inwards, in the order of `first` and `second`.
    inner: [Vec<Step<'o, 'a>>; 2],
}

impl<'o, 'a> Meeting<'o, 'a> {
    pub fn of(outline: &Outline<'a>, a: &Path<'o, 'a>, b: &Path<'o, 'a>) -> Option<Meeting<'o, 'a>> {
        let same = |(x, y): &(&Step<'o, 'a>, &Step<'o, 'a>)| x.is_of(y.list);
        let shared = a.iter().zip(b).take_while(same).count();
        let last = shared.checked_sub(1)?;
        let head = |n: usize| n.checked_sub(1).map(|above| outline.line(a[above].item().span.start));
        let swaps = b[last].index < a[last].index;
        let (x, y) = if swaps { (b, a) } else { (a, b) };
        Some(Meeting {
            common: a[..shared].iter().map(|step| step.list).collect(),
            heads: (0..shared).map(head).collect(),
            first: x[last].index,
            second: y[last].index,
            is_one: a.len() == shared && b.len() == shared && a[last].index == b[last].index,
            inner: [x[shared..].to_vec(), y[shared..].to_vec()],
        })
    }

    /// How many loops both are in.
    pub fn loops(&self) -> usize {
        self.common.iter().filter(|list| list.kind == ListKind::Loop).count()
    }

    fn is_in_branch(&self) -> bool {
        self.common.iter().any(|list| matches!(list.kind, ListKind::Branch | ListKind::Switch))
    }

    /// The places where a barrier comes between the accesses: on the way from the first to the second, or from the
    /// second to the first of the loop's next iteration.
    pub fn spots(&self, outline: &Outline<'a>) -> Vec<Spot<'o, 'a>> {
        let mut spots = Vec::new();
        let Some((list, loops)) = self.common.last().map(|list| (*list, self.loops())) else { return spots };
        let head = self.heads.last().copied().flatten();
        let in_branch = if self.is_in_branch() { IN_BRANCH } else { 1 };
        let own = BARRIER * in_loops(loops) * in_branch;
        // The nearest to the second access orders it behind all that come before.
        let middle: Vec<Gap<'o, 'a>> = (self.first + 1..=self.second)
            .rev()
            .map(|index| Gap { list, index })
            .filter(|gap| is_reached(*gap))
            .collect();
        spots.extend(middle.iter().map(|gap| Spot { gaps: vec![(*gap, head)], cost: own }));
        // Within the statements that hold them.
        for (which, inner) in self.inner.iter().enumerate().filter(|_| self.first != self.second) {
            let (mut depth, mut factor) = (loops, in_branch);
            let mut outside = &list.items[if which == 0 { self.first } else { self.second }];
            for step in inner {
                depth += usize::from(step.list.kind == ListKind::Loop);
                if matches!(step.list.kind, ListKind::Branch | ListKind::Switch) {
                    factor = IN_BRANCH;
                }
                let gap = Gap { list: step.list, index: if which == 0 { step.index + 1 } else { step.index } };
                if is_reached(gap) {
                    let head = Some(outline.line(outside.span.start));
                    spots.push(Spot { gaps: vec![(gap, head)], cost: BARRIER * in_loops(depth) * factor });
                }
                outside = step.item();
            }
        }
        self.around_loops(&middle, &mut spots);
        spots
    }

    /// Barriers at the ends of the loops' bodies, alone, both, and with one in the middle.
    fn around_loops(&self, middle: &[Gap<'o, 'a>], spots: &mut Vec<Spot<'o, 'a>>) {
        let mut loops = 0;
        for (n, list) in self.common.iter().enumerate() {
            let in_branch = self.common[..=n].iter().any(|l| matches!(l.kind, ListKind::Branch | ListKind::Switch));
            if list.kind != ListKind::Loop {
                continue;
            }
            loops += 1;
            let cost = BARRIER * in_loops(loops) * if in_branch { IN_BRANCH } else { 1 };
            let at = |index: usize| (Gap { list, index }, self.heads[n]);
            let (start, end) = (at(0), at(list.items.len()));
            if is_reached(end.0) {
                spots.push(Spot { gaps: vec![end], cost: cost + 1 });
            }
            spots.push(Spot { gaps: vec![start], cost: cost + 2 });
            spots.push(Spot { gaps: vec![start, end], cost: 2 * cost + 1 });
            // An access in the middle and one around the loop's end.
            let is_last = n + 1 == self.common.len();
            for gap in middle.iter().filter(|_| is_last && is_reached(end.0)) {
                spots.push(Spot { gaps: vec![(*gap, self.heads[n]), end], cost: 2 * cost });
            }
        }
    }
}

/// Whether work-items come to a gap: no statement before it leaves the list.
fn is_reached(gap: Gap<'_, '_>) -> bool {
    let leaves = |kind: &str| matches!(kind, "ReturnStmt" | "BreakStmt" | "ContinueStmt" | "GotoStmt");
    let before = gap.index.checked_sub(1).and_then(|before| gap.list.items.get(before));
    (gap.list.kind != ListKind::Switch || gap.index > 0) && before.is_none_or(|item| !leaves(&item.node.kind))
}

/// Pieces for barriers in all gaps of a spot.
pub fn pieces(outline: &Outline<'_>, spot: &Spot<'_, '_>, barrier: &str) -> Vec<super::layout::Piece> {
    let code = [barrier.to_owned()];
    if let [(start, _), (end, _)] = &spot.gaps[..]
        && !start.list.has_braces
        && std::ptr::eq(start.list, end.list)
    {
        return outline.in_braces(&start.list.items[0], &code, &code);
    }
    spot.gaps.iter().flat_map(|(gap, _)| outline.insertion(*gap, &code)).collect()
}
