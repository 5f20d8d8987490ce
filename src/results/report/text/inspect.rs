//! Renders the result of `kassay inspect` as text.

use std::fmt::Write;

use super::super::style::{self, Paint, Style, visible};
use super::super::table::{Cell, Table};
use super::{notes, title};
use crate::result::inspect::{Arg, Counts, Field, InspectResult, Kernel, Site};

/// Renders for each kernel its arguments, local memory, counts, and sites by function.
pub fn inspect(result: &InspectResult, style: &Style) -> String {
    let mut out = String::new();
    for (n, kernel) in result.kernels.iter().enumerate() {
        if n > 0 {
            out.push('\n');
        }
        out.push_str(&title(style, &kernel.name, &result.header.source, None));
        out.push_str(&interface(kernel, style));
        out.push_str(&section(style, "counts"));
        out.push_str(&counts(&kernel.counts, style));
        if kernel.mutants_by_operator.values().any(|n| *n > 0) {
            let level = if kernel.level == "canonical" { String::new() } else { format!(", level {}", kernel.level) };
            out.push_str(&section(style, &format!("mutants by operator{level}")));
            let mut table = Table::new(4, "lr");
            for (operator, n) in kernel.mutants_by_operator.iter().filter(|(_, n)| **n > 0) {
                table.row([operator.into(), n.to_string().into()]);
            }
            out.push_str(&table.render(style));
        }
        for function in functions(kernel) {
            out.push_str(&sites(kernel, function, style));
        }
    }
    if result.kernels.is_empty() {
        let _ = writeln!(out, "{} has no kernels", visible(&result.header.source));
    }
    if !result.spec_constants.is_empty() {
        out.push_str(&section(style, "specialisation constants"));
        let mut table = Table::new(4, "rllll");
        table.head(&["id", "name", "type", "default", "value"]);
        for constant in &result.spec_constants {
            let value = if constant.value == constant.default { "" } else { &constant.value };
            table.row([
                constant.id.to_string().into(),
                Cell::new(constant.name.as_deref().unwrap_or("-")),
                Cell::new(&constant.type_name),
                Cell::new(&constant.default),
                Cell::new(value),
            ]);
        }
        out.push_str(&table.render(style));
    }
    out.push_str(&notes(style, &result.notes));
    out
}

fn section(style: &Style, text: &str) -> String {
    format!("\n  {}\n", style.paint(Paint::Bold, text))
}

fn interface(kernel: &Kernel, style: &Style) -> String {
    let mut out = section(style, "arguments");
    if kernel.args.is_empty() {
        out.push_str("    none\n");
    } else {
        let mut table = Table::new(4, "rllllrr");
        // The columns of struct fields are shown only if there are any.
        let layout: &[&str] = if kernel.args.iter().any(|a| !a.fields.is_empty()) { &["offset", "size"] } else { &[] };
        let mut head = vec!["", "name", "type", "address space"];
        head.push(if kernel.args.iter().any(|a| a.access != "none") { "access" } else { "" });
        table.head(&[&head, layout].concat());
        for arg in &kernel.args {
            argument(&mut table, arg);
        }
        out.push_str(&table.render(style));
    }
    if let Some([x, y, z]) = kernel.required_local {
        let _ = writeln!(out, "\n  required local size: {x} x {y} x {z}");
    }
    if let Some(size) = kernel.sub_group_size {
        let _ = writeln!(out, "\n  required size of sub-groups: {size}");
    }
    if !kernel.local_variables.is_empty() {
        out.push_str(&section(style, "local variables"));
        let mut table = Table::new(4, "lrl");
        for variable in &kernel.local_variables {
            table.row([Cell::new(&variable.name), variable.size.to_string().into(), "bytes".into()]);
        }
        let total = kernel.local_variables.iter().map(|v| v.size).fold(0, u64::saturating_add);
        if kernel.local_variables.len() > 1 {
            table.row([Cell::painted(Paint::Dim, "together"), total.to_string().into(), "bytes".into()]);
        }
        out.push_str(&table.render(style));
    }
    out
}

fn argument(table: &mut Table, arg: &Arg) {
    table.row([
        arg.position.to_string().into(),
        Cell::new(arg.name.as_deref().unwrap_or("-")),
        Cell::new(&arg.type_name),
        Cell::new(&arg.address_space),
        Cell::new(if arg.access == "none" { "" } else { &arg.access }),
    ]);
    fields(table, &arg.fields, 1);
}

fn fields(table: &mut Table, list: &[Field], depth: usize) {
    for field in list {
        let indent = "  ".repeat(depth);
        table.row([
            Cell::new(""),
            Cell::new(format!("{indent}.{}", field.name)),
            Cell::new(format!("{indent}{}", field.type_name)),
            Cell::new(""),
            Cell::new(""),
            field.offset.to_string().into(),
            field.size.to_string().into(),
        ]);
        fields(table, &field.fields, depth + 1);
    }
}

fn counts(counts: &Counts, style: &Style) -> String {
    let mut table = Table::new(4, "lrl");
    let outcomes = style::count(counts.branch_outcomes, "outcome");
    let mut row = |name: &str, n: u64, more: &str| table.row([name.into(), n.to_string().into(), Cell::new(more)]);
    row("branches", counts.branches, &outcomes);
    row("conditions", counts.conditions, "");
    if counts.decisions > 0 {
        row("decisions", counts.decisions, &format!("{} for MC/DC", style::count(counts.mcdc_conditions, "condition")));
    }
    row("loops", counts.loops, "");
    row("barriers", counts.barriers, "");
    row("basic blocks", counts.basic_blocks, "");
    row("lines", counts.lines, "");
    row("statements", counts.statements, "");
    if let Some(pairs) = counts.def_use_pairs {
        let kinds = counts.def_use_pairs_by_kind.iter().map(|(kind, count)| format!("{count} {}", kind.label()));
        row("def-use pairs", pairs, &kinds.collect::<Vec<_>>().join(", "));
    }
    if counts.mutants > 0 {
        row("mutants", counts.mutants, "");
    }
    table.render(style)
}

/// Returns the functions with sites: those that the kernel lists, then any that only the sites name.
fn functions(kernel: &Kernel) -> Vec<&str> {
    let mut names: Vec<&str> = Vec::new();
    for name in kernel.functions.iter().chain(kernel.sites.iter().map(|s| &s.function)) {
        if !names.contains(&name.as_str()) && kernel.sites.iter().any(|s| s.function == *name) {
            names.push(name);
        }
    }
    names
}

fn sites(kernel: &Kernel, function: &str, style: &Style) -> String {
    let all: Vec<&Site> = kernel.sites.iter().filter(|s| s.function == function).collect();
    let main_file = all.iter().find(|s| s.location.line > 0).map_or("", |s| s.location.file.as_str());
    let mut out = section(style, &format!("sites in {}", visible(function)));
    if !main_file.is_empty() {
        let _ = writeln!(out, "    {}", style.paint(Paint::Dim, visible(main_file)));
    }
    let mut table = Table::new(4, "llll");
    // Lines are many and have one outcome each; they are summarised below.
    for site in all.iter().filter(|s| s.kind != "line") {
        table.row([
            Cell::new(place(site, main_file)),
            Cell::new(&site.kind),
            Cell::new(&site.construct),
            Cell::new(site.outcomes.join(", ")),
        ]);
    }
    out.push_str(&table.render(style));
    let mut lines: Vec<u32> =
        all.iter().filter(|s| s.kind == "line" && s.location.file == main_file).map(|s| s.location.line).collect();
    lines.sort_unstable();
    if !lines.is_empty() {
        let _ = writeln!(out, "    lines with code: {}", style::ranges(lines));
    }
    out
}

/// Returns `line:column`, preceded by the file if it is not the function's own; the id if the location is unknown.
fn place(site: &Site, main_file: &str) -> String {
    let at = &site.location;
    match at.line {
        0 => site.id.clone(),
        _ if at.file == main_file => at.position().to_string(),
        _ => at.to_string(),
    }
}
