//! Maps source lines to the blocks that hold their code.

use std::collections::BTreeMap;

use super::graph::{Cfg, InstKind};
use super::indices::{BlockIndex, FunctionIndex};
use crate::kernel::source::Sources;

/// For each file and line: the blocks (function, block) that hold code of the line, each
/// once, in order.
pub type LineBlocks = BTreeMap<(String, u32), Vec<(FunctionIndex, BlockIndex)>>;

/// Collects the lines of all functions. A jump or return counts as code of a line only if the source has its keyword
/// there (`break`, `return` …), because clang also places jumps at closing braces.
pub fn find(functions: &[&Cfg], sources: &Sources) -> LineBlocks {
    let mut lines = LineBlocks::new();
    for (f, cfg) in FunctionIndex::enumerate(functions) {
        for (b, block) in BlockIndex::enumerate(&cfg.blocks).filter(|(b, _)| cfg.reachable[*b]) {
            for inst in &block.instructions {
                let Some(at) = inst.location.as_ref().filter(|l| l.line > 0) else { continue };
                let is_code = match inst.kind {
                    InstKind::Alloca => false,
                    InstKind::Goto | InstKind::Return => {
                        sources.at(&at.file, at.line, at.column).is_some_and(|text| starts_with_jump(&text))
                    }
                    _ => true,
                };
                if is_code {
                    let blocks = lines.entry((at.file.clone(), at.line)).or_default();
                    if !blocks.contains(&(f, b)) {
                        blocks.push((f, b));
                    }
                }
            }
        }
    }
    lines
}

fn starts_with_jump(text: &str) -> bool {
    ["return", "break", "continue", "goto"]
        .iter()
        .any(|k| text.strip_prefix(k).is_some_and(|rest| !rest.starts_with(|c: char| c.is_alphanumeric() || c == '_')))
}
