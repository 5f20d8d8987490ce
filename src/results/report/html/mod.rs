//! Shows results as one HTML page that needs nothing else: no network, no other file.
//!
//! What the page says is markup that is made here; its script only sorts and filters, and makes the rows of mutants
//! from embedded data. Everything that comes from a result or a source is escaped by the templates; a content security
//! policy lets no script run but the page's own.

mod annotations;
mod comparisons;
mod coverage;
mod figures;
mod findings;
mod goals;
mod highlight;
mod kernel;
mod mutants;
mod overview;
mod pages;
mod parts;
mod programs;
mod source_view;
mod sources;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use kassay_base::error::Result;
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

use self::kernel::Prepared;
use self::pages::Pages;
use self::parts::{file_name, shown};
use self::sources::Sources;
use crate::result::any::KERNEL_COMMANDS;
use crate::result::store::ResultFile;

const CSS: &str = include_str!("page.css");
const SCRIPT: &str = include_str!("page.js");

/// The commands whose results the page shows.
pub(super) const COMMANDS: &[&[&str]] = &[KERNEL_COMMANDS, &["inspect", "compare", "capture"]];

/// Returns the page of loaded results.
///
/// # Errors
/// `Caller` if a result is not about kernels.
pub(super) fn convert(results: &[ResultFile]) -> Result<String> {
    Ok(page(&Pages::of(results)?).into_string())
}

/// Lets nothing but the page's own style and script take effect, whatever the markup were to contain.
fn policy() -> String {
    let hash = |text: &str| STANDARD.encode(Sha256::digest(text.as_bytes()));
    format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; form-action 'none'",
        hash(CSS),
        hash(SCRIPT)
    )
}

fn page(pages: &Pages<'_>) -> Markup {
    let sources = Sources::default();
    let prepared: Vec<Prepared<'_, '_>> = pages.kernels.iter().map(|page| Prepared::of(page, &sources)).collect();
    let others = pages.captures.len() + pages.comparisons.len();
    // A single kernel is shown below the overview; of several, one at a time.
    let class = if prepared.len() + others > 1 { "several" } else { "single" };
    let title = match pages.kernels.as_slice() {
        [one] => format!("{} – kassay", shown(one.name)),
        _ => "kassay report".to_owned(),
    };
    html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy());
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                meta name="generator" content={ "kassay " (shown(pages.version)) };
                title { (title) }
                style { (PreEscaped(CSS)) }
            }
            body class=(class) {
                a.skip href="#main" { "Skip to the content" }
                (navigation(pages, &prepared))
                main id="main" {
                    @if has_overview(pages, &prepared) { (overview::overview(pages, &prepared)) }
                    @for one in &prepared { (kernel::kernel(one, &sources)) }
                    @for (n, run) in pages.comparisons.iter().enumerate() { (comparisons::comparison(n, run)) }
                    @for (n, run) in pages.captures.iter().enumerate() { (programs::capture(n, run, pages)) }
                    footer { "Written by kassay " (env!("CARGO_PKG_VERSION")) @if pages.version != env!("CARGO_PKG_VERSION") { " from results of " (shown(pages.version)) } "." }
                }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    }
}

/// The list of all pages.
fn navigation(pages: &Pages<'_>, prepared: &[Prepared<'_, '_>]) -> Markup {
    html! {
        nav.pages aria-label="Kernels" {
            p.brand { a href="#main" { "kassay" } }
            @if prepared.len() > 12 { input.find type="search" placeholder="Find a kernel" aria-label="Find a kernel" hidden; }
            ul {
                @if has_overview(pages, prepared) { li { a href="#overview" { "Overview" } } }
                @for one in prepared {
                    li {
                        a href={ "#" (one.page.anchor()) } title=(shown(one.page.source)) {
                            (shown(one.page.name))
                            @if is_ambiguous(pages, one) { span.quiet { " " (shown(file_name(one.page.source))) } }
                            @if !one.untested.is_empty() { span.gaps title="lines with something untested" { (one.untested.len()) } }
                        }
                    }
                }
                @for (n, _) in pages.comparisons.iter().enumerate() { li { a href={ "#compare" (n) } { "Levels compared" } } }
                @for (n, run) in pages.captures.iter().enumerate() {
                    li { a href={ "#capture" (n) } { "Capture of " (shown(file_name(run.result.command.first().map_or("", String::as_str)))) } }
                }
            }
        }
    }
}

/// Returns whether there is something to say of several kernels together: of a single one, its page says all.
fn has_overview(pages: &Pages<'_>, prepared: &[Prepared<'_, '_>]) -> bool {
    prepared.len() > 1 || !pages.sets.is_empty() || !pages.captures.is_empty() || !pages.comparisons.is_empty()
}

/// Returns whether another kernel has the same name.
fn is_ambiguous(pages: &Pages<'_>, one: &Prepared<'_, '_>) -> bool {
    pages.kernels.iter().filter(|page| page.name == one.page.name).count() > 1
}
