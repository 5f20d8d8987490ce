//! Shows host programs: what `capture` recorded of them, and what results of several kernels say besides the kernels.

use maud::{Markup, html};

use super::super::style;
use super::pages::{KernelPage, Pages, Run, SetPage};
use super::parts::{Tone, badge, facts, names, notes, shown, sort_key};
use crate::result::capture::{BuildStatus, CaptureResult, Kernel};

/// How a program ended, in words.
fn end(exit_code: Option<i32>, signal: Option<&str>) -> String {
    match (exit_code, signal) {
        (Some(code), _) => format!("exit code {code}"),
        (None, Some(signal)) => format!("ended by {}", shown(signal)),
        (None, None) => "ended".to_owned(),
    }
}

/// Shows what a result for several kernels says of all together; nothing if there is no more to say.
pub(super) fn set(SetPage { file, set }: &SetPage<'_>) -> Markup {
    let (failed, left_out) = (set.failed(), set.left_out());
    if set.program().is_none() && failed.is_empty() && left_out.is_empty() && set.notes().is_empty() {
        return html! {};
    }
    html! {
        section.part {
            h3 { "kassay " (set.command()) ": " (style::count(set.count() as u64, "kernel")) }
            @if let Some(program) = set.program() {
                p { code { (shown(&program.command.join(" "))) } }
                p.facts {
                    span { (shown(&file.display().to_string())) }
                    span { (end(program.exit_code, program.signal.as_deref())) }
                    span { (style::seconds(program.program_s)) }
                    span { (style::count(program.processes, "process")) }
                }
            }
            @if !failed.is_empty() {
                h4.bad { "Without a result" }
                ul { @for failed in failed { li { (shown(failed.kernel.as_deref().or(failed.suite.as_deref()).unwrap_or("a kernel"))) ": " (shown(&failed.error)) } } }
            }
            @if !left_out.is_empty() {
                details {
                    summary { "Launches left out" }
                    ul { @for left in left_out { li { (style::count(left.count, "launch")) @if let Some(kernel) = &left.kernel { " of " (shown(kernel)) } ": " (shown(&left.meaning)) } } }
                }
            }
            (notes(set.notes()))
        }
    }
}

/// Shows what was captured of a program.
pub(super) fn capture(number: usize, run: &Run<'_, CaptureResult>, pages: &Pages<'_>) -> Markup {
    let result = run.result;
    html! {
        section.view id={ "capture" (number) } aria-labelledby={ "capture" (number) "-h" } {
            h2 id={ "capture" (number) "-h" } { "Captured: " code { (shown(&result.command.join(" "))) } }
            (facts(run.file, &result.header, result.elapsed_s))
            p.facts {
                span { (end(result.exit_code, result.signal.as_deref())) }
                span { "program " (style::seconds(result.program_s)) @if let Some(native) = result.native_s { ", without kassay " (style::seconds(native)) } }
                span { (style::count(result.processes, "process")) }
            }
            table.numbers.sortable {
                caption { "Kernels" }
                thead {
                    tr {
                        th scope="col" { "kernel" } th.n scope="col" { "launches" } th.n scope="col" { "kept" } th.n scope="col" { "refused" } th scope="col" { "replayed" }
                        th scope="col" { "suite" } th scope="col" { "left out" }
                    }
                }
                tbody {
                    @for kernel in &result.kernels {
                        tr {
                            th scope="row" {
                                @match page_of(kernel, pages) {
                                    Some(page) => a href={ "#" (page.anchor()) } { (shown(&kernel.name)) },
                                    None => (shown(&kernel.name)),
                                }
                                span.quiet { " " (short(&kernel.program)) }
                            }
                            td.n { (kernel.launches) } td.n { (kernel.kept) } td.n { (kernel.refused) }
                            td { (replay(kernel)) }
                            td { @if let Some(suite) = &kernel.suite { code { (shown(suite)) } } @if let Some(error) = &kernel.error { span.bad { (shown(error)) } } }
                            td { @for left in &kernel.left_out { div { (left.count) ": " (shown(&left.meaning)) } } }
                        }
                    }
                }
            }
            table.numbers {
                caption { "Programs" }
                thead { tr { th scope="col" { "id" } th scope="col" { "origin" } th scope="col" { "options" } th scope="col" { "build" } th scope="col" { "code" } th scope="col" { "same text in" } } }
                tbody {
                    @for program in &result.programs {
                        tr {
                            th scope="row" { (short(&program.id)) } td { (program.origin.name()) } td { code { (shown(&program.options)) } }
                            td {
                                @match program.status { BuildStatus::Built => "built", BuildStatus::Failed => (badge(Tone::Bad, "failed")), BuildStatus::Unknown => "unknown" }
                                @if let Some(log) = &program.log { details { summary { "log" } pre { (shown(log)) } } }
                            }
                            td { @if let Some(file) = &program.file { code { (shown(file)) } } }
                            td { (names(&program.same_text.iter().map(|same| format!("{} (line {})", same.file, same.line)).collect::<Vec<_>>(), 4)) }
                        }
                    }
                }
            }
            @if !result.left_out.is_empty() { ul { @for left in &result.left_out { li { (style::count(left.count, "launch")) ": " (shown(&left.meaning)) } } } }
            (notes(&result.notes))
        }
    }
}

/// The page of a captured kernel, if another result has one.
fn page_of<'p, 'a>(kernel: &Kernel, pages: &'p Pages<'a>) -> Option<&'p KernelPage<'a>> {
    let mut same = pages.kernels.iter().filter(|page| page.name == kernel.name);
    same.clone().find(|page| page.program == Some(kernel.program.as_str())).or_else(|| same.next())
}

/// The beginning of an id.
fn short(id: &str) -> String {
    shown(id).chars().take(8).collect()
}

fn replay(kernel: &Kernel) -> Markup {
    html! {
        @if let Some(replay) = &kernel.replay {
            @if let Some(error) = &replay.error { (badge(Tone::Bad, "not run")) " " (shown(error)) }
            @else {
                @if replay.exact > 0 { (replay.exact) " exactly" }
                @if replay.within_tolerance > 0 { " " (replay.within_tolerance) " within tolerances" }
                @if !replay.not_reproduced.is_empty() {
                    details {
                        summary { span.bad { (replay.not_reproduced.len()) " not reproduced" } }
                        ul { @for not in &replay.not_reproduced { li { (shown(&not.test)) @if let Some(arg) = &not.argument { " " code { (shown(arg)) } } ": " (shown(&not.message)) } } }
                    }
                }
            }
        } @else { span.quiet { "–" } }
        @let largest = kernel.replay.iter().flat_map(|r| &r.tolerances).map(|t| t.largest_difference).fold(None, |a: Option<f64>, b| Some(a.map_or(b, |a| a.max(b))));
        @if let Some(largest) = largest { span.quiet data-sort=(sort_key(Some(largest))) { " (largest difference " (style::magnitude(largest)) ")" } }
    }
}
