//! Why a finding cannot be mended by synchronisation, and what would help.

use kassay_ir::kernel::builtins::{self, Family};
use kassay_model::words::Words;
use kassay_results::result::Location;
use kassay_results::result::check::{Access, Finding, FindingKind, Mode, Scope};

use super::outline::Outline;

/// Says why there is no repair; `tried` changes for it were tried.
pub fn why_not(outline: Option<&Outline<'_>>, finding: &Finding, tried: usize, words: Words) -> String {
    let text = match finding.kind {
        FindingKind::DataRace => race(outline, finding, tried),
        FindingKind::BarrierDivergence => divergence(outline, finding, tried),
        FindingKind::RedundantBarrier if tried == 0 => {
            out_of_reach(outline, finding).unwrap_or_else(|| "another repair changes it".to_owned())
        }
        FindingKind::RedundantBarrier => {
            "without it nothing is found in the explored inputs, but that no launch needs it is not proved".to_owned()
        }
        _ => "it is no fault of synchronisation".to_owned(),
    };
    words.say(&text).into_owned()
}

fn place(finding: &Finding) -> String {
    let name = finding.variable.as_deref().unwrap_or("memory");
    finding.index.map_or_else(|| format!("`{name}`"), |index| format!("`{name}[{index}]`"))
}

fn race(outline: Option<&Outline<'_>>, finding: &Finding, tried: usize) -> String {
    let [a, b] = &finding.accesses[..] else { return tried_all(tried) };
    let lines = match (a.location.line, b.location.line) {
        (0, _) | (_, 0) => String::new(),
        (first, second) if first == second => format!(" in line {first}"),
        (first, second) => format!(" in lines {first} and {second}"),
    };
    if let Some(what) = out_of_reach(outline, finding).filter(|_| tried == 0) {
        return what;
    }
    let is_within = finding.scope == Some(Scope::IntraGroup);
    if let Some(line) = outline.and_then(|outline| parted(outline, a, b)).filter(|_| is_within && tried == 0) {
        return format!(
            "the accesses{lines} are on different sides of the branch in line {line}, where no barrier can stand: make \
             two branches of it, with a barrier between"
        );
    }
    if !is_within {
        let helps = match (a.mode, b.mode) {
            (Some(Mode::Write), Some(Mode::Write)) => {
                "an atomic read-modify-write would be race free if the value may be updated in any order; otherwise \
                 let one work-group write it"
            }
            _ => {
                "split the kernel in two launches between the two accesses, or pass the value with atomics that \
                 release and acquire"
            }
        };
        return format!("the race{lines} is between work-groups, which no barrier orders; {helps}");
    }
    if (a.mode, b.mode) == (Some(Mode::Write), Some(Mode::Write)) {
        let who = if a.location == b.location { "all work-items write" } else { "several work-items write" };
        if a.location == b.location || tried == 0 {
            return format!(
                "{who} {}{lines}; no barrier orders writes of one phase: let one work-item write it, or give each a \
                 place of its own",
                place(finding)
            );
        }
    }
    tried_all(tried)
}

/// The line of the branch on whose sides two accesses are.
fn parted(outline: &Outline<'_>, a: &Access, b: &Access) -> Option<u32> {
    let ((_, x), (_, y)) = (outline.path(&a.location)?, outline.path(&b.location)?);
    let shared = x.iter().zip(&y).take_while(|(x, y)| x.is_of(y.list) && x.index == y.index).count();
    let is_inside = x.len() > shared && y.len() > shared && !x[shared].is_of(y[shared].list);
    let branch = x.get(shared.checked_sub(1)?)?.item();
    (is_inside && a.called_from == b.called_from).then(|| outline.line(branch.span.start))
}

fn divergence(outline: Option<&Outline<'_>>, finding: &Finding, tried: usize) -> String {
    if let Some(what) = out_of_reach(outline, finding).filter(|_| tried == 0) {
        return what;
    }
    if finding.waits_for_grid() && tried == 0 {
        return "all work-items of the launch have to come to the barrier of the grid: let it stand outside of what \
                decides on it, and let those come that have nothing to do"
            .to_owned();
    }
    let builtin = finding.accesses.first().and_then(|access| access.builtin.as_deref()).unwrap_or("barrier");
    let name = builtin.split(['(', ' ']).next().unwrap_or(builtin);
    let family = builtins::family(name);
    let is_barrier = matches!(family, Some(Family::Barrier | Family::SubGroupBarrier));
    if is_barrier || name == "__syncthreads" || name == "__syncwarp" {
        if finding.accesses.iter().any(|access| !access.called_from.is_empty()) {
            return format!(
                "the `{name}` is in a function that is called on several ways; call that function where all \
                 work-items come"
            );
        }
        return tried_all(tried);
    }
    let helps = if matches!(family, Some(Family::AsyncCopy | Family::EventWait)) {
        "give all work-items of the group the same arguments"
    } else if name.ends_with("_sync") || name.starts_with("__activemask") {
        "let all lanes that the mask names come there with the same mask"
    } else {
        "call it where all work-items of the group come, and use its result where it is needed"
    };
    format!("`{name}` is not a barrier that could stand elsewhere: what it returns or copies is used; {helps}")
}

/// Says that an access is where nothing is edited: in another file, or in what a macro makes.
fn out_of_reach(outline: Option<&Outline<'_>>, finding: &Finding) -> Option<String> {
    let outline = outline?;
    let other = finding.accesses.iter().find(|access| access.location.line > 0 && !outline.has(&access.location));
    if let Some(other) = other {
        return Some(format!("{} is not the kernel's file, and is not edited", other.location.file));
    }
    let is_made = |location: &&Location| outline.is_of_macro(location);
    let made = finding.accesses.iter().map(|access| &access.location).find(is_made)?;
    Some(format!("what stands in line {} is made by a macro, which is not edited", made.line))
}

fn tried_all(tried: usize) -> String {
    match tried {
        0 => "no barrier, atomic or other order of statements is known that might mend it".to_owned(),
        1 => "the only change that was tried leaves it or brings another finding".to_owned(),
        n => format!("each of the {n} changes that were tried leaves it or brings another finding"),
    }
}
