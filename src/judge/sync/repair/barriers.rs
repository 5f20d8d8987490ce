//! Barriers: which ones a kernel has, how one is written, and what is said of a new one.

use std::collections::BTreeSet;

use kassay_ir::kernel::ast::Node;
use kassay_ir::kernel::builtins::{Builtin, Family};
use kassay_results::result::check::Memory;

use super::expressions::expression;
use super::layout::Gap;
use super::outline::{Body, ListKind, Outline, Path, Span};
use super::updates::Dialect;
use crate::mutation::catalogue::operators::calls;

const LOCAL: &str = "CLK_LOCAL_MEM_FENCE";
const GLOBAL: &str = "CLK_GLOBAL_MEM_FENCE";
const IMAGE: &str = "CLK_IMAGE_MEM_FENCE";

/// The call of a barrier that is a statement of its own.
pub struct BarrierCall<'o, 'a> {
    pub path: Path<'o, 'a>,
    /// As the source names it.
    pub name: String,
    pub arguments: Vec<String>,
    /// Without the semicolon.
    pub span: Span,
}

/// The barrier that a statement calls, by its name in the source.
pub fn barrier_of(node: &Node) -> Option<&str> {
    let call = expression(node);
    let name = call.name.as_deref().filter(|_| call.is("CallExpr"))?;
    let of_warps = name == "__syncwarp" || name == "__syncthreads";
    (of_warps || call.callee().and_then(Builtin::of).is_some_and(Builtin::is_barrier)).then_some(name)
}

/// The barriers of a function; those that macros make are left out.
pub fn calls<'o, 'a>(outline: &Outline<'a>, body: &'o Body<'a>) -> Vec<BarrierCall<'o, 'a>> {
    let mut found = Vec::new();
    Outline::walk(&body.list, &mut |path| {
        let Some(item) = path.last().map(|step| step.item()) else { return };
        let Some(name) = barrier_of(item.node) else { return };
        let is_expanded = item.node.range.as_ref().is_none_or(|range| range.begin.spelling.is_some());
        let text = outline.slice(item.span);
        let Some(call) = text.trim_end().strip_suffix(';').map(str::trim_end).filter(|_| !is_expanded) else { return };
        let span = Span { start: item.span.start, end: item.span.start + call.len() };
        if call.starts_with(name) && call.ends_with(')') {
            let arguments = calls::arguments(call).into_iter().filter(|argument| !argument.is_empty()).collect();
            found.push(BarrierCall { path: path.clone(), name: name.to_owned(), arguments, span });
        }
    });
    found
}

/// How barriers are written in a kernel.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Spelling {
    pub dialect: Dialect,
    /// The name that the kernel gives a barrier of the group.
    name: String,
    /// Whether the kernel has functions of warps.
    pub has_warps: bool,
}

impl Spelling {
    pub fn of(outline: &Outline<'_>, dialect: Dialect) -> Spelling {
        let has = |what: &str| outline.text.windows(what.len()).any(|found| found == what.as_bytes());
        let known = outline.functions.iter().flat_map(|body| calls(outline, body)).map(|call| call.name);
        let of_group = |name: &String| {
            Builtin::of(name).is_some_and(|known| known.family() == Family::Barrier && !known.is_of_grid())
        };
        let name = known.into_iter().find(of_group).unwrap_or_else(|| "barrier".to_owned());
        Spelling { dialect, name, has_warps: has("_sync(") || has("__syncwarp") }
    }

    /// The barriers that order these memories, the cheapest first.
    pub fn barriers(&self, memories: &BTreeSet<Option<Memory>>) -> Vec<String> {
        if self.dialect == Dialect::Cuda {
            let mut all = vec!["__syncthreads();".to_owned()];
            all.extend(self.has_warps.then(|| "__syncwarp();".to_owned()));
            return all;
        }
        let flags = self.flags(memories);
        let mut all = vec![flags.clone()];
        let both = format!("{LOCAL} | {GLOBAL}");
        all.extend((!flags.contains('|')).then_some(both));
        all.into_iter().map(|flags| format!("{}({flags});", self.name)).collect()
    }

    /// The flags that order these memories.
    pub fn flags(&self, memories: &BTreeSet<Option<Memory>>) -> String {
        let flag = |memory: &Option<Memory>| match memory {
            Some(Memory::Local) => vec![LOCAL],
            Some(Memory::Global | Memory::Constant) => vec![GLOBAL],
            Some(Memory::Image) => vec![IMAGE],
            Some(Memory::Private) | None => vec![LOCAL, GLOBAL],
        };
        let mut flags: Vec<&str> = memories.iter().flat_map(flag).collect();
        flags.sort_by_key(|flag| [LOCAL, GLOBAL, IMAGE].iter().position(|known| known == flag));
        flags.dedup();
        flags.join(" | ")
    }

    /// The barrier that orders what a call orders, and these memories too; `None` if the call does already.
    pub fn widened(&self, call: &BarrierCall<'_, '_>, memories: &BTreeSet<Option<Memory>>) -> Option<String> {
        if self.dialect == Dialect::Cuda {
            return match (&*call.name, call.arguments.is_empty()) {
                ("__syncwarp", false) => Some("__syncwarp()".to_owned()),
                ("__syncwarp", true) => Some("__syncthreads()".to_owned()),
                _ => None,
            };
        }
        let given = call.arguments.first()?;
        let needed = self.flags(memories);
        let orders = |flag: &str| given.split('|').any(|known| known.trim() == flag);
        let scope = call.arguments.get(1).map(String::as_str);
        let is_narrow = matches!(scope, Some("memory_scope_work_item" | "memory_scope_sub_group"));
        if needed.split(" | ").all(orders) && !is_narrow {
            return None;
        }
        let known = [LOCAL, GLOBAL, IMAGE];
        let all: Vec<&str> =
            known.into_iter().filter(|flag| orders(flag) || needed.split(" | ").any(|n| n == *flag)).collect();
        let scope = scope.filter(|_| !is_narrow).map_or_else(String::new, |scope| format!(", {scope}"));
        Some(format!("{}({}{scope})", call.name, all.join(" | ")))
    }
}

/// Where a gap is, in words.
pub fn place(outline: &Outline<'_>, gap: Gap<'_, '_>, head: Option<u32>) -> String {
    let Gap { list, index } = gap;
    let of_loop = list.kind == ListKind::Loop;
    let head = head.map_or_else(String::new, |line| format!(" in line {line}"));
    match (index, list.items.get(index.wrapping_sub(1))) {
        (0, _) if of_loop => format!("at the start of the loop body{head}"),
        (n, Some(_)) if of_loop && n == list.items.len() => format!("at the end of the loop body{head}"),
        (0, _) => match list.items.first() {
            Some(first) => format!("before line {}", outline.line(first.span.start)),
            None => format!("in the empty block{head}"),
        },
        (_, Some(before)) => format!("after line {}", outline.line(before.span.end.saturating_sub(1))),
        (n, None) => format!("as statement {n}"),
    }
}
