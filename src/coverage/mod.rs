//! The metrics: which sites, what observation covers them, totals.
