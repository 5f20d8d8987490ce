//! Lines with code: which blocks hold code of which source line.

use std::collections::BTreeMap;

use super::graph::{BlockIndex, Cfg, InstKind};
use crate::kernel::source::Sources;

/// By file and line: the blocks (function's position, block) that hold code of the line, each once, in order.
pub type LineBlocks = BTreeMap<(String, u32), Vec<(usize, BlockIndex)>>;

/// Reads the lines of all functions. A jump or a return stands for a line only where the source has its keyword
/// (`break`, `return` …): clang also places them at closing braces, which are no code.
pub fn find(functions: &[&Cfg], sources: &Sources) -> LineBlocks {
    let mut lines = LineBlocks::new();
    for (f, cfg) in functions.iter().enumerate() {
        for (b, block) in cfg.blocks.iter().enumerate().filter(|(b, _)| cfg.reachable[*b]) {
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
