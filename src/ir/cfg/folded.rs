//! Describes source constructs that are not sites because clang emits nothing for them (`if (0)`), for `-v`.

use super::sites::Sites;
use crate::kernel::ast::Ast;
use crate::kernel::constructs::{self, Kind};

/// One line per folded construct of the functions that have sites, with its position, and one per helper that the
/// kernel does not reach.
pub fn describe(sites: &Sites, ast: &Ast) -> Vec<String> {
    let mut lines = Vec::new();
    for function in constructs::all(ast) {
        if !sites.functions.iter().any(|f| f.cfg.function == function.function) {
            if !function.is_kernel {
                lines.push(format!("`{}` is not reached by the kernel: its sites do not count", function.function));
            }
            continue;
        }
        for construct in function.constructs.iter().filter(|c| c.is_folded) {
            let at = &construct.range.begin.expansion;
            let what = match construct.kind {
                Kind::If { .. } => "if",
                Kind::Switch { .. } => "switch",
                Kind::Ternary => "?:",
                Kind::Loop { .. } => "loop",
                Kind::Barrier { .. } => "barrier",
                Kind::ShortCircuit { .. } => "short-circuit",
            };
            lines.push(format!("{}:{}:{}: clang folds this `{what}` away: no site", at.file, at.line, at.column));
        }
    }
    lines
}
