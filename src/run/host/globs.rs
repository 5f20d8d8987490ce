//! Shell patterns, as the layer understands them.

use std::ffi::CString;

/// Returns whether a name matches one of these patterns (`fnmatch(3)`).
pub fn matches_one(name: &str, patterns: &[String]) -> bool {
    let Ok(name) = CString::new(name) else { return false };
    patterns.iter().any(|pattern| {
        let Ok(pattern) = CString::new(pattern.as_str()) else { return false };
        // SAFETY: both are strings with a zero at their ends.
        unsafe { libc::fnmatch(pattern.as_ptr(), name.as_ptr(), 0) == 0 }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_match_names() {
        let patterns = ["no".to_owned(), "re*_[ab]".to_owned()];
        assert!(matches_one("reduce_a", &patterns));
        assert!(!matches_one("reduce_c", &patterns) && !matches_one("a\0b", &patterns));
    }
}
