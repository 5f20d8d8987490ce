//! Formats findings as sentences.

use kassay_results::result::Location;
use kassay_results::result::check::{Access, Branch, FindingKind, Items, Mode, Scope};

/// Formats an id in as many dimensions as the launch has: `5`, `(3, 2)`.
pub fn id(id: [u64; 3], dims: u32) -> String {
    match dims {
        0 | 1 => id[0].to_string(),
        2 => format!("({}, {})", id[0], id[1]),
        _ => format!("({}, {}, {})", id[0], id[1], id[2]),
    }
}

fn verb(mode: Option<Mode>) -> &'static str {
    match mode {
        Some(Mode::Write) => "writes",
        Some(Mode::Atomic) => "accesses atomically",
        Some(Mode::Read) | None => "reads",
    }
}

fn line(access: &Access) -> String {
    match access.location.line {
        0 => String::new(),
        n => format!(" in line {n}"),
    }
}

fn items(n: u64) -> String {
    if n == 1 { "1 work-item".to_owned() } else { format!("{n} work-items") }
}

/// Describes a data race. `element`: what both access, such as `tmp[4]`, unless the accesses have names of their own
/// for it. `grid`: the kernel has barriers of all work-groups.
pub fn race(accesses: &[Access; 2], element: &str, scope: Scope, dims: u32, grid: bool) -> String {
    let [a, b] = accesses;
    let who = |access: &Access| access.global_id.map_or_else(|| "?".to_owned(), |g| id(g, dims));
    let other = match scope {
        Scope::IntraGroup => format!("work-item {} of its group", who(b)),
        Scope::InterGroup => format!("work-item {} of another group", who(b)),
    };
    let order = match scope {
        Scope::IntraGroup => "no barrier that orders this memory stands between",
        Scope::InterGroup if grid => "no barrier of the grid stands between",
        Scope::InterGroup => "nothing orders work-groups",
    };
    let by_name = match &b.element {
        Some(name) if b.element != a.element => format!(" as `{name}`"),
        _ => String::new(),
    };
    format!(
        "work-item {} {} `{}`{}, which {other} {}{}{}; {order}",
        who(a),
        verb(a.mode),
        a.element.as_deref().unwrap_or(element),
        line(a),
        verb(b.mode),
        by_name,
        line(b),
    )
}

/// Describes a data race that only a device has shown. `element`: the memory's name and the index in it, if known.
pub fn race_on_device(accesses: &[Access], element: (Option<&str>, Option<i64>), scope: Scope, device: &str) -> String {
    let element = match element {
        (Some(name), Some(index)) => format!("`{name}[{index}]`"),
        (Some(name), None) => format!("`{name}`"),
        (None, _) => "memory".to_owned(),
    };
    let who = match scope {
        Scope::IntraGroup => "two work-items of a group",
        Scope::InterGroup => "work-items of different groups",
    };
    let does: Vec<String> = accesses.iter().map(|access| format!("{}{}", verb(access.mode), line(access))).collect();
    format!("on {device}, {who} accessed {element}, and nothing orders them: one {}", does.join(", the other one "))
}

/// Describes a barrier divergence. `accesses`: the barriers waited at; `iterations`: one of them is waited at in
/// several iterations of its loop.
pub fn divergence(accesses: &[Access], finished: Option<&Items>, branch: Option<&Branch>, iterations: bool) -> String {
    let at = |(i, access): (usize, &Access)| {
        let (barrier, n) = (access.builtin.as_deref().unwrap_or("barrier"), access.waiting.unwrap_or(0));
        let verb = match (i, n) {
            (0, 1) => "waits ",
            (0, _) => "wait ",
            _ => "",
        };
        format!("{} {verb}at the `{barrier}`{}", items(n), line(access))
    };
    let parts: Vec<String> = accesses.iter().enumerate().map(at).collect();
    let mut out = parts.join(", ");
    if let Some(finished) = finished {
        let have = if finished.items == 1 { "has" } else { "have" };
        out.push_str(&format!(", {} {have} ended", items(finished.items)));
    }
    if iterations {
        out.push_str(", in different iterations of its loop");
    }
    if let Some(branch) = branch {
        out.push_str(&format!(
            "; the `{}` in line {} sent them different ways",
            branch.construct, branch.location.line
        ));
    }
    out
}

/// How far an access and the variable or buffer that it misses reach.
#[derive(Debug, Clone, Default)]
pub struct Extent {
    /// Number of elements of the variable or buffer, if known.
    pub elements: Option<u64>,
    /// Whether the access is of more than one of them.
    pub is_longer: bool,
    /// Which part of the access lies outside (`the last 4 of which lie`); `None` if all of it does.
    pub outside: Option<String>,
}

/// Describes a memory fault. `element`: what is accessed, such as `tmp[4]`, and its index.
pub fn fault(
    kind: FindingKind,
    access: &Access,
    (element, index): (&str, Option<i64>),
    extent: &Extent,
    dims: u32,
) -> String {
    let who = access.global_id.map_or_else(|| "a work-item".to_owned(), |g| format!("work-item {}", id(g, dims)));
    let does = verb(access.mode);
    let bytes = access.bytes.map(|b| if b == 1 { "1 byte".to_owned() } else { format!("{b} bytes") });
    match kind {
        FindingKind::OutOfBounds => match (element, extent.elements) {
            ("memory", _) => format!("{who} {does} memory that belongs to no buffer or variable"),
            (_, Some(1)) if index.is_none() => format!("{who} {does} `{element}` outside its only element"),
            (_, Some(n)) if index.is_none() => format!("{who} {does} `{element}` outside its {n} elements"),
            (_, Some(n)) => {
                let bytes = bytes.filter(|_| extent.is_longer || extent.outside.is_some());
                let what = bytes.map_or_else(|| format!("`{element}`"), |b| format!("{b} from `{element}` on"));
                match &extent.outside {
                    Some(part) if n == 1 => format!("{who} {does} {what}, {part} outside its only element"),
                    Some(part) => format!("{who} {does} {what}, {part} outside its {n} elements"),
                    None if n == 1 => format!("{who} {does} {what}, but it has only 1 element"),
                    None => format!("{who} {does} {what}, but it has {n} elements"),
                }
            }
            (_, None) => format!("{who} {does} `{element}`, which lies outside its buffer"),
        },
        FindingKind::NullAccess => format!("{who} {does} through a null pointer"),
        FindingKind::ReadOnlyWrite => format!("{who} {does} `{element}`, which is read-only"),
        FindingKind::WriteOnlyRead => format!("{who} {does} `{element}`, which is write-only"),
        FindingKind::Misaligned => {
            let bytes = bytes.unwrap_or_else(|| "a value".to_owned());
            format!("{who} {does} {bytes} of `{element}` at an address that is not aligned for its type")
        }
        FindingKind::Uninitialised => format!("{who} reads `{element}`, which no work-item of its group has written"),
        FindingKind::Division => format!("{who} divides by zero, or the least integer by -1"),
        FindingKind::NonTermination => format!("{who} does not come to an end of this loop"),
        FindingKind::Assertion => format!("{who} traps"),
        FindingKind::UnawaitedCopy => {
            let builtin = access.builtin.as_deref().unwrap_or("async_work_group_copy");
            format!("nothing waits for the event of this `{builtin}` before its work-group ends")
        }
        // These have sentences of their own.
        FindingKind::DataRace | FindingKind::BarrierDivergence | FindingKind::RedundantBarrier => String::new(),
    }
}

/// Describes an access to a buffer that the host has made for other accesses only; `flag`: by this flag.
pub fn against_flag(access: &Access, element: &str, flag: &str, dims: u32) -> String {
    let who = access.global_id.map_or_else(|| "a work-item".to_owned(), |g| format!("work-item {}", id(g, dims)));
    format!("{who} {} `{element}` of a buffer that the host has made with `{flag}`", verb(access.mode))
}

/// Describes an assertion that fails.
pub fn assertion(access: &Access, condition: &str, dims: u32) -> String {
    let who = access.global_id.map_or_else(|| "a work-item".to_owned(), |g| format!("work-item {}", id(g, dims)));
    format!("the assertion `{condition}` fails in {who}")
}

/// Describes a read of a buffer to which nothing was written, neither before the launch nor in it.
pub fn never_written(access: &Access, element: &str, dims: u32) -> String {
    let who = access.global_id.map_or_else(|| "a work-item".to_owned(), |g| format!("work-item {}", id(g, dims)));
    format!("{who} reads `{element}`, which nothing has written, before the launch or in it")
}

/// Describes an access to a texel outside an image; `texel`: its coordinates, 0 in dimensions that the image lacks.
pub fn texel(access: &Access, image: &str, texel: [i64; 3], dims: u32) -> String {
    let who = access.global_id.map_or_else(|| "a work-item".to_owned(), |g| format!("work-item {}", id(g, dims)));
    let [x, y, z] = texel;
    format!("{who} {} texel ({x}, {y}, {z}) of the image `{image}`, which has no such texel", verb(access.mode))
}

/// Describes an index beyond an array inside `object`; the pair is the index and the array's length.
pub fn beyond_inner(access: &Access, (index, length): (i64, u64), object: Option<&str>, dims: u32) -> String {
    let who = access.global_id.map_or_else(|| "a work-item".to_owned(), |g| format!("work-item {}", id(g, dims)));
    let of = object.map_or_else(String::new, |name| format!(" in `{name}`"));
    let does = verb(access.mode);
    format!(
        "{who} {does} element {index} of an array of {length} elements{of}; the access may stay in the object around it"
    )
}

/// Describes an index beyond a row of an array of arrays, in an access that stays in that; the pair is the index and
/// the row's length.
pub fn beyond_row(access: &Access, (index, length): (i64, u64), object: Option<&str>, dims: u32) -> String {
    let who = access.global_id.map_or_else(|| "a work-item".to_owned(), |g| format!("work-item {}", id(g, dims)));
    let of = object.map_or_else(String::new, |name| format!(" of `{name}`"));
    let Location { file, line, column } = &access.location;
    let does = verb(access.mode);
    format!(
        "{file}:{line}:{column}: {who} {does} element {index} of a row of {length}{of}, which is an element of another row; \
         the verdict does not count that"
    )
}

/// Describes a barrier to which work-items of a group pass different flags.
pub fn barrier_flags(access: &Access, dims: u32) -> String {
    let who = access.global_id.map_or_else(|| "a work-item".to_owned(), |g| format!("work-item {}", id(g, dims)));
    let builtin = access.builtin.as_deref().unwrap_or("barrier");
    let all = "all work-items of a group have to pass the same flags";
    format!("{who} calls `{builtin}`{} with other flags than others of its group; {all}", line(access))
}

/// Describes an asynchronous copy for which work-items of a group pass different arguments; `argument`: the first that
/// differs, numbered as by the simulator's hook.
pub fn copy_arguments(access: &Access, argument: i64, dims: u32) -> String {
    let who = access.global_id.map_or_else(|| "a work-item".to_owned(), |g| format!("work-item {}", id(g, dims)));
    let builtin = access.builtin.as_deref().unwrap_or("async_work_group_copy");
    let what = match argument {
        0 => "another destination",
        1 => "another source",
        2 => "another number of elements",
        4 | 5 => "another stride",
        6 => "another event",
        _ => "other elements",
    };
    let all = "all work-items of a group have to pass the same arguments";
    format!("{who} calls `{builtin}`{} with {what} than others of its group; {all}", line(access))
}

/// Describes a wait for which work-items of a group pass different lists of events.
pub fn event_lists(access: &Access, other_length: bool, dims: u32) -> String {
    let who = access.global_id.map_or_else(|| "a work-item".to_owned(), |g| format!("work-item {}", id(g, dims)));
    let builtin = access.builtin.as_deref().unwrap_or("wait_group_events");
    let what = if other_length { "another number of events" } else { "other events" };
    let all = "all work-items of a group have to pass the same events";
    format!("{who} calls `{builtin}`{} with {what} than others of its group; {all}", line(access))
}

/// Describes a call of a function of warps with a mask that does not name the caller.
pub fn outside_mask(access: &Access, mask: i64, dims: u32) -> String {
    let who = access.global_id.map_or_else(|| "a work-item".to_owned(), |g| format!("work-item {}", id(g, dims)));
    let builtin = access.builtin.as_deref().unwrap_or("a function of warps");
    format!(
        "{who} calls `{builtin}`{} with the mask {mask:#010x}, which does not name its own lane; every lane has to be in \
         the mask that it passes",
        line(access)
    )
}

/// Describes a redundant barrier.
pub fn redundant(builtin: &str, inputs: u64) -> String {
    let inputs = if inputs == 1 {
        "the one input that reaches it".to_owned()
    } else {
        format!("all {inputs} inputs that reach it")
    };
    format!("without this `{builtin}` nothing new is found, in {inputs}")
}
