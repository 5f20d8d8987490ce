//! Checks that rooms do not name what they must never name.

use std::path::Path;

use crate::rooms::levels;
use crate::sources::{layer_sources, module_path, package_of, sources};
use crate::tokens::{Token, tokens, without_tests};

/// What rooms must never name, as words of their code.
struct Wall {
    rooms: Rooms,
    never: &'static [&'static str],
    because: &'static str,
}

/// The rooms that a wall surrounds.
enum Rooms {
    Only(&'static [&'static str]),
    AllBut(&'static [&'static str]),
}

impl Rooms {
    fn contain(&self, room: &str) -> bool {
        match self {
            Rooms::Only(rooms) => rooms.contains(&room),
            Rooms::AllBut(rooms) => !rooms.contains(&room),
        }
    }
}

const WALLS: &[Wall] = &[
    Wall {
        rooms: Rooms::AllBut(&["llvm"]),
        never: &["llvm_sys"],
        because: "LLVM's C interface has no types that keep a value within its module's life; only the layer over it may name it",
    },
    Wall {
        rooms: Rooms::AllBut(&[]),
        never: &["run_passes"],
        because: "inkwell's function borrows the module shared, though passes delete what handles point to: `llvm::passes::run` is the one way",
    },
    Wall {
        rooms: Rooms::Only(&["generate", "symbolic", "coverage", "sync"]),
        never: &["unsafe"],
        because: "what these rooms do is plain data; memory is the business of LLVM's layer, of the simulator and of the drivers",
    },
    Wall {
        rooms: Rooms::Only(&["generate"]),
        never: &["instrument"],
        because: "how a run is instrumented is coverage's and mutation's business: generation asks them for what a launch showed",
    },
    Wall {
        rooms: Rooms::Only(&["sync"]),
        never: &["instrument", "inkwell", "spirv", "weave"],
        because: "verdicts are functions of observations: weaving and lowering belong to who makes the launches",
    },
    Wall {
        rooms: Rooms::Only(&["cli"]),
        never: &["inkwell", "Executor", "KernelUnderTest", "KernelFile"],
        because: "commands only turn flags into options and results into text: the library does the work, so that others can use it",
    },
    Wall {
        rooms: Rooms::Only(&["api"]),
        never: &["clap", "eprintln", "println", "indicatif", "ExitCode"],
        because: "who calls the library decides what the user sees",
    },
    Wall {
        rooms: Rooms::Only(&["coverage", "mutation", "generate", "sync", "api"]),
        never: &["opencl"],
        because: "a device is an executor to them, whatever kind it is",
    },
    Wall {
        rooms: Rooms::Only(&["cli", "api", "generate", "sync", "mutation", "coverage"]),
        never: &["Target::Native", "Target::SpirV", "Code::Native", "Code::Device"],
        because: "what an executor can do it says as capabilities; who asks which one it is breaks with the next kind of device",
    },
    Wall {
        rooms: Rooms::AllBut(&["hash"]),
        never: &["DefaultHasher"],
        because: "its algorithm may change with any Rust release, and results must be equal across toolchains",
    },
];

/// The walls of the layer's library. Tests in its files are outside of them.
const LAYER_WALLS: &[Wall] = &[
    Wall {
        rooms: Rooms::AllBut(&[]),
        never: &["print", "println", "eprint", "eprintln", "dbg"],
        because: "what a program prints is its own",
    },
    Wall {
        rooms: Rooms::AllBut(&[]),
        never: &["unwrap", "expect", "unreachable", "todo", "unimplemented"],
        because: "after a panic the layer only lets calls through",
    },
    Wall {
        rooms: Rooms::AllBut(&[]),
        never: FORKING,
        because: "the program's threads may hold any lock, for which a child would wait for ever",
    },
    Wall {
        rooms: Rooms::AllBut(&[]),
        never: &["spawn"],
        because: "a thread of the layer's own would get the program's signals and count for its limits",
    },
    Wall {
        rooms: Rooms::AllBut(&["boundary"]),
        never: &["catch_unwind", "set_hook"],
        because: "a failure is reported once, and remembered for all other calls",
    },
    Wall {
        rooms: Rooms::AllBut(&["driver"]),
        never: &["mprotect"],
        because: "what a wrapper calls is known where tables are overwritten",
    },
    Wall {
        rooms: Rooms::AllBut(&["entry"]),
        never: &["no_mangle", "export_name"],
        because: "programs and loaders may find what the library exports instead of what they look for",
    },
    Wall {
        rooms: Rooms::Only(&["generation", "lock", "spool", "boundary"]),
        never: &["opencl_sys"],
        because: "processes, files and failures are the same whatever is called",
    },
    Wall {
        rooms: Rooms::Only(&["shadow"]),
        never: &["call"],
        because: "its lock must not be held while a driver is called",
    },
];

#[test]
fn rooms_do_not_name_what_they_must_not() {
    let complaints_in = |walls: &[Wall], path: &Path, tokens: &[Token<'_>]| {
        complaints_about(walls, &path.display().to_string(), &room_of(path), tokens)
    };
    let mut complaints = Vec::new();
    for (path, text) in sources() {
        complaints.extend(complaints_in(WALLS, &path, &tokens(&text)));
    }
    for (path, text) in layer_sources() {
        complaints.extend(complaints_in(LAYER_WALLS, &path, &without_tests(&tokens(&text))));
    }
    assert!(complaints.is_empty(), "walls of ARCHITECTURE.md:\n{}", complaints.join("\n"));
}

#[test]
fn the_walls_stop_words_and_paths_but_not_comments() {
    let complaints = |room: &str, text: &str| complaints_about(WALLS, "src/x.rs", room, &tokens(text)).len();
    assert_eq!(complaints("cfg", "use llvm_sys::core::*;"), 1);
    assert_eq!(complaints("llvm", "use llvm_sys::core::*;"), 0);
    assert_eq!(complaints("api", "// println of llvm_sys\nlet x = \"println\";"), 0);
    assert_eq!(complaints("api", "fn f() {\n println!(); }"), 1);
    assert_eq!(complaints("cli", "if t == Target::Native {}"), 1);
    assert_eq!(complaints("cli", "if t == Other::Native {}"), 0);
    let of_layer = |room: &str, text: &str| {
        complaints_about(LAYER_WALLS, "layer/src/x.rs", room, &without_tests(&tokens(text))).len()
    };
    assert_eq!(of_layer("shadow", "fn f() { call!(driver, clFinish(queue)); }"), 1);
    assert_eq!(of_layer("live", "fn f() { call!(driver, clFinish(queue)); }"), 0);
    assert_eq!(of_layer("live", "fn f() { x.unwrap() }\n#[cfg(test)] mod tests { fn g() { x.unwrap() } }"), 1);
    assert_eq!(of_layer("live", "#[cfg(test)] mod tests { fn g() { x.unwrap() } }"), 0);
}

/// What makes a copy of the process, itself or by way of the standard library.
const FORKING: &[&str] = &[
    "fork",
    "vfork",
    "forkpty",
    "daemon",
    "clone3",
    "SYS_fork",
    "SYS_vfork",
    "SYS_clone",
    "SYS_clone3",
    "pre_exec",
    "before_exec",
];

/// The one file that may: a process with threads must not fork.
const FORKS: &str = "src/base/forked/server.rs";

#[test]
fn nothing_but_the_server_forks() {
    let complain = |(path, text): (std::path::PathBuf, String)| {
        let (line, word) = names(&tokens(&text), FORKING)?;
        Some((
            path.display().to_string(),
            format!("  {}:{line}: names `{word}`, but only {FORKS} forks", path.display()),
        ))
    };
    let (allowed, forbidden): (Vec<_>, Vec<_>) =
        sources().into_iter().filter_map(complain).partition(|(path, _)| path == FORKS);
    assert_eq!(allowed.len(), 1, "{FORKS} does not fork any more: this wall needs another name for it");
    let lines: Vec<String> = forbidden.into_iter().map(|(_, line)| line).collect();
    assert!(lines.is_empty(), "what other threads held is held for ever in a child:\n{}", lines.join("\n"));
}

/// Returns the room that a file belongs to: a package that has no rooms is one.
fn room_of(path: &Path) -> String {
    let package = package_of(path);
    if levels(package).is_some() { module_path(path)[0].clone() } else { package.to_owned() }
}

/// Returns the violations in one file of a room, a line each.
fn complaints_about(walls: &[Wall], file: &str, room: &str, tokens: &[Token<'_>]) -> Vec<String> {
    let complain = |wall: &Wall| {
        let (line, word) = names(tokens, wall.never)?;
        Some(format!("  {file}:{line}: names `{word}`, but {}", wall.because))
    };
    walls.iter().filter(|wall| wall.rooms.contain(room)).filter_map(complain).collect()
}

/// Finds the first of `words` that occurs in code, with its line. A word may be a path of two names (`A::B`).
fn names<'w>(tokens: &[Token<'_>], words: &[&'w str]) -> Option<(usize, &'w str)> {
    let text = |i: usize| tokens.get(i).map_or("", |t| t.1);
    (0..tokens.len()).find_map(|i| {
        let here = |word: &&&str| match word.split_once("::") {
            None => text(i) == **word,
            Some((first, second)) => text(i) == first && text(i + 1) == "::" && text(i + 2) == second,
        };
        words.iter().find(here).map(|word| (tokens[i].0, *word))
    })
}
