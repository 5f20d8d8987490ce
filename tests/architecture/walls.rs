//! Checks that rooms do not name what they must never name.

use crate::sources::{module_path, sources};
use crate::tokens::{Token, tokens};

/// What rooms (or files) must never name, as words of their code. `except` lists files that still do, until they are
/// repaired; the list may only shrink.
struct Wall {
    rooms: &'static [&'static str],
    never: &'static [&'static str],
    because: &'static str,
    except: &'static [&'static str],
}

const WALLS: &[Wall] = &[
    Wall {
        rooms: &[
            "suite", "exec", "result", "report", "cli", "api", "generate", "sync", "symbolic", "coverage", "mutation",
        ],
        never: &["llvm_sys"],
        because: "LLVM's C interface has no types that keep a value within its module's life; only the layer over it may name it",
        except: &[
            "src/generate/atomic_counters.rs",
            "src/generate/path_conditions.rs",
            "src/generate/group_sizes.rs",
            "src/generate/intervals.rs",
            "src/generate/roles.rs",
            "src/generate/polynomial.rs",
            "src/symbolic/concolic/product_graph.rs",
            "src/symbolic/infeasible/memory.rs",
            "src/symbolic/infeasible/unsat_core.rs",
            "src/symbolic/implementation_defined.rs",
            "src/symbolic/transfer/mod.rs",
        ],
    },
    Wall {
        rooms: &["program"],
        never: &["llvm_sys"],
        because: "a program is plain data, so that analyses and interpreters of it need no LLVM; only its reader does",
        except: &["src/program/mod.rs", "src/program/arithmetic.rs"],
    },
    Wall {
        rooms: &["suite", "result", "report", "generate", "symbolic", "cli", "api", "coverage", "sync"],
        never: &["unsafe"],
        because: "what these rooms do is plain data; memory is the business of LLVM's layer, of the simulator and of the drivers",
        except: &[],
    },
    Wall {
        rooms: &["suite", "result", "report", "exec"],
        never: &["inkwell"],
        because: "suites, results and reports outlive any module; executors take code, not IR",
        except: &[],
    },
    Wall {
        rooms: &["generate"],
        never: &["instrument"],
        because: "how a run is instrumented is coverage's and mutation's business: generation asks them for what a launch showed",
        except: &[],
    },
    Wall {
        rooms: &["sync"],
        never: &["instrument", "inkwell", "spirv", "weave", "run_passes"],
        because: "verdicts are functions of observations: weaving and lowering belong to who makes the launches",
        except: &[],
    },
    Wall {
        rooms: &["cli"],
        never: &["inkwell", "Executor", "KernelUnderTest", "KernelFile"],
        because: "commands only turn flags into options and results into text: the library does the work, so that others can use it",
        except: &[],
    },
    Wall {
        rooms: &["api"],
        never: &["clap", "eprintln", "println", "indicatif", "ExitCode"],
        because: "who calls the library decides what the user sees",
        except: &[],
    },
    Wall {
        rooms: &["coverage", "mutation", "generate", "sync", "api"],
        never: &["opencl"],
        because: "a device is an executor to them, whatever kind it is",
        except: &[],
    },
    Wall {
        rooms: &["cli", "api", "generate", "sync", "mutation", "coverage"],
        never: &["Target::Host", "Target::SpirV", "Code::Host", "Code::Device"],
        because: "what an executor can do it says as capabilities; who asks which one it is breaks with the next kind of device",
        except: &[],
    },
    Wall {
        rooms: &[
            "kernel",
            "cfg",
            "lower",
            "suite",
            "program",
            "instrument",
            "solve",
            "exec",
            "result",
            "coverage",
            "report",
            "symbolic",
            "mutation",
            "generate",
            "sync",
            "api",
            "cli",
        ],
        never: &["DefaultHasher"],
        because: "its algorithm may change with any Rust release, and results must be equal across toolchains",
        except: &[],
    },
];

#[test]
fn rooms_do_not_name_what_they_must_not() {
    let sources = sources();
    let mut complaints = Vec::new();
    for wall in WALLS {
        let mut unused: Vec<&str> = wall.except.to_vec();
        for (path, text) in &sources {
            let file = path.display().to_string();
            if !wall.rooms.contains(&module_path(path)[0].as_str()) {
                continue;
            }
            let Some((line, word)) = names(&tokens(text), wall.never) else { continue };
            match wall.except.contains(&file.as_str()) {
                true => unused.retain(|f| *f != file),
                false => complaints.push(format!("  {file}:{line}: names `{word}`, but {}", wall.because)),
            }
        }
        complaints.extend(unused.iter().map(|f| format!("  {f}: keeps to the wall now; take it from the exceptions")));
    }
    assert!(complaints.is_empty(), "walls of ARCHITECTURE.md:\n{}", complaints.join("\n"));
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
