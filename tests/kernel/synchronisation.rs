//! Checks that barriers, fences and atomics of SPIR-V mean in kassay's IR what the module's words say: every
//! instruction with every scope, order and address space, by either translator; and that the simulator tells what these
//! say.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use crate::common::program::kassay;

/// The address spaces of the pointers, by storage class.
const SPACES: [(u32, &str); 3] = [(5, "global"), (4, "local"), (8, "generic")];
/// Relaxed, acquire, release, both, sequentially consistent (SPIR-V 3.25).
const ORDERS: [u32; 5] = [0, 2, 4, 8, 0x10];
/// Memory of the group, of all groups, and images (SPIR-V 3.25), in the combinations that are tried.
const MEMORIES: [u32; 5] = [0, 0x100, 0x200, 0x300, 0xb00];
/// The instructions with a value as their last operand, and their operation.
const OPERATIONS: [(&str, &str); 10] = [
    ("Exchange", "exchange"),
    ("IAdd", "add"),
    ("ISub", "sub"),
    ("SMin", "min"),
    ("UMin", "umin"),
    ("SMax", "max"),
    ("UMax", "umax"),
    ("And", "and"),
    ("Or", "or"),
    ("Xor", "xor"),
];

/// What an instruction means.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Meaning {
    /// The operation; of a barrier, who waits.
    what: String,
    /// The address space; of barriers and fences, the memory that is ordered.
    memory: String,
    /// As in SPIR-V.
    scope: u32,
    orders: Vec<u32>,
}

fn meaning(what: &str, memory: impl Into<String>, scope: u32, orders: &[u32]) -> Meaning {
    // All scopes from the group on are one for its memory, as long as it orders no other.
    let memory = memory.into();
    let scope = if memory == "local" && scope <= 2 && orders.iter().all(|order| *order == 0) { 1 } else { scope };
    Meaning { what: what.to_owned(), memory, scope, orders: orders.to_vec() }
}

fn fence(semantics: u32, scope: u32) -> Meaning {
    meaning("fence", format!("{:#x}", semantics & 0xb00), scope, &[semantics & 0x1f])
}

/// A barrier that orders acquires and releases, and one that orders nothing.
fn barrier(execution: u32, semantics: u32, scope: u32) -> Meaning {
    meaning(&format!("barrier {execution}"), format!("{:#x}", semantics & 0xb00), scope, &[])
}

/// A module with the instructions, and what each of them means.
fn module() -> (String, Vec<Meaning>) {
    let (mut text, mut means) = (String::new(), Vec::new());
    let mut next = 0;
    let mut line = |result: Option<&str>, rest: String| {
        next += 1;
        match result {
            Some(op) => writeln!(text, "%r{next} = {op} {rest}").unwrap(),
            None => writeln!(text, "{rest}").unwrap(),
        }
    };
    for scope in 0..=4 {
        for order in ORDERS {
            for memory in MEMORIES {
                let semantics = order | memory;
                line(None, format!("OpMemoryBarrier %c{scope} %c{semantics}"));
                means.push(fence(semantics, scope));
                for execution in [2, 3] {
                    line(None, format!("OpControlBarrier %c{execution} %c{scope} %c{semantics}"));
                    match order {
                        0 => means.push(barrier(execution, 0, scope)),
                        2 => means.extend([barrier(execution, 0, scope), fence(semantics, scope)]),
                        4 => means.extend([fence(semantics, scope), barrier(execution, 0, scope)]),
                        _ => means.push(barrier(execution, semantics, scope)),
                    }
                }
            }
            for (_, space) in SPACES {
                for bits in [32, 64] {
                    let (s, p, ty) = (order | 0x300, format!("%{space}{bits}"), format!("%uint{bits}"));
                    let is_load = matches!(order, 0 | 2 | 16);
                    let is_store = matches!(order, 0 | 4 | 16);
                    let say = |what: &str| meaning(&format!("{what} {bits}"), space, scope, &[order]);
                    for (op, what) in OPERATIONS {
                        line(Some(&format!("OpAtomic{op}")), format!("{ty} {p} %c{scope} %c{s} %seven{bits}"));
                        means.push(say(what));
                    }
                    for (op, what) in [("IIncrement", "add"), ("IDecrement", "sub")] {
                        line(Some(&format!("OpAtomic{op}")), format!("{ty} {p} %c{scope} %c{s}"));
                        means.push(say(what));
                    }
                    for failing in ORDERS.into_iter().filter(|order| matches!(order, 0 | 2 | 16)) {
                        let f = failing | 0x300;
                        let rest = format!("{ty} {p} %c{scope} %c{s} %c{f} %seven{bits} %nine{bits}");
                        line(Some("OpAtomicCompareExchange"), rest);
                        means.push(Meaning { orders: vec![order, failing], ..say("compare") });
                        if order == 0 && failing != 0 {
                            means.last_mut().unwrap().scope = scope;
                        }
                    }
                    if is_load {
                        line(Some("OpAtomicLoad"), format!("{ty} {p} %c{scope} %c{s}"));
                        means.push(say("load"));
                    }
                    if is_store {
                        line(None, format!("OpAtomicStore {p} %c{scope} %c{s} %seven{bits}"));
                        means.push(say("store"));
                    }
                    if bits == 32 {
                        line(Some("OpAtomicFlagTestAndSet"), format!("%bool {p} %c{scope} %c{s}"));
                        means.push(say("test"));
                        if is_store {
                            line(None, format!("OpAtomicFlagClear {p} %c{scope} %c{s}"));
                            means.push(say("clear"));
                        }
                    }
                }
            }
        }
    }
    (text, means)
}

/// A kernel of SPIR-V text around instructions. Its pointers are `%global32`, `%local64`, …; `%c3` is a number.
fn kernel(instructions: &str) -> String {
    let mut numbers: Vec<u32> = ORDERS.iter().flat_map(|order| MEMORIES.map(|memory| order | memory)).collect();
    numbers.extend(0..=8);
    numbers.sort_unstable();
    numbers.dedup();
    let constants: String = numbers.iter().map(|n| format!("%c{n} = OpConstant %uint32 {n}\n")).collect();
    let mut of_bits = String::new();
    for bits in [32, 64] {
        for (class, (_, space)) in ["CrossWorkgroup", "Workgroup", "Generic"].into_iter().zip(SPACES) {
            writeln!(of_bits, "%{space}{bits}_p = OpTypePointer {class} %uint{bits}").unwrap();
        }
        for (name, n) in [("seven", 7), ("nine", 9)] {
            writeln!(of_bits, "%{name}{bits} = OpConstant %uint{bits} {n}").unwrap();
        }
    }
    let generic: String = [32, 64]
        .map(|bits| {
            format!(
                "%g{bits} = OpPtrCastToGeneric %generic{bits}_p %global{bits}
            %l{bits} = OpPtrCastToGeneric %generic{bits}_p %local{bits}
            %generic{bits} = OpSelect %generic{bits}_p %is_global %g{bits} %l{bits}\n"
            )
        })
        .concat();
    format!(
        "; SPIR-V\n; Version: 1.2
        OpCapability Addresses\nOpCapability Kernel\nOpCapability Int64\nOpCapability Int64Atomics
        OpCapability GenericPointer\nOpCapability SubgroupDispatch
        OpMemoryModel Physical64 OpenCL\nOpEntryPoint Kernel %k \"k\"\nOpSource OpenCL_C 200000\nOpName %k \"k\"
        %void = OpTypeVoid\n%bool = OpTypeBool\n%uint32 = OpTypeInt 32 0\n%uint64 = OpTypeInt 64 0
        {of_bits}{constants}
        %type = OpTypeFunction %void %global32_p %global64_p %local32_p %local64_p %uint32
        %k = OpFunction %void None %type
        %global32 = OpFunctionParameter %global32_p\n%global64 = OpFunctionParameter %global64_p
        %local32 = OpFunctionParameter %local32_p\n%local64 = OpFunctionParameter %local64_p
        %n = OpFunctionParameter %uint32\n%entry = OpLabel\n%is_global = OpIEqual %bool %n %c0
        {generic}{instructions}
        OpReturn\nOpFunctionEnd\n"
    )
}

/// Reads the meaning of a call in LLVM IR; `None` if it is of no builtin that synchronises.
fn meaning_of_call(line: &str) -> Option<Meaning> {
    let (_, call) = line.split_once("call ")?;
    let (_, call) = call.split_once("@_Z")?;
    let digits = call.chars().take_while(char::is_ascii_digit).count();
    let (name, rest) = call[digits..].split_at(call[..digits].parse().ok()?);
    let (types, rest) = rest.split_once('(')?;
    let args: Vec<&str> = rest.rsplit_once(')')?.0.split(", ").map(|arg| arg.split(' ').next_back().unwrap()).collect();
    let number = |at: usize| args[at].parse::<u32>().unwrap_or_else(|_| panic!("{line}"));
    let scope = |at: usize| [4, 2, 1, 0, 3][number(at) as usize];
    let order = |at: usize| [0, 0, 2, 4, 8, 16][number(at) as usize];
    let memory = |at: usize| ((number(at) & 3) << 8) | ((number(at) & 4) << 9);
    match name {
        "barrier" => return Some(barrier(2, memory(0), 2)),
        "work_group_barrier" => return Some(barrier(2, memory(0), scope(1))),
        "sub_group_barrier" => return Some(barrier(3, memory(0), scope(1))),
        "mem_fence" => return Some(fence(memory(0) | 8, 2)),
        "read_mem_fence" => return Some(fence(memory(0) | 2, 2)),
        "write_mem_fence" => return Some(fence(memory(0) | 4, 2)),
        "atomic_work_item_fence" => return Some(fence(memory(0) | order(1), scope(2))),
        _ => {}
    }
    let space = ["global", "", "local", "generic"][types.strip_prefix("PU3AS")?[..1].parse::<usize>().unwrap() - 1];
    let scalar = types[6..].trim_start_matches("VU7_Atomic").trim_start_matches('V').chars().next()?;
    let bits = if "lm".contains(scalar) { 64 } else { 32 };
    let prefix = if name.starts_with("atom_") || !name.ends_with("_explicit") { 1 } else { 2 };
    let word = name.trim_start_matches("atomic_").trim_start_matches("atom_").trim_start_matches("fetch_");
    let (word, signs) = (word.trim_end_matches("_explicit"), if "jm".contains(scalar) { "u" } else { "" });
    let what = match word {
        "xchg" => "exchange".to_owned(),
        "cmpxchg" | "compare_exchange_strong" => "compare".to_owned(),
        "flag_test_and_set" => "test".to_owned(),
        "flag_clear" => "clear".to_owned(),
        "min" | "max" => format!("{signs}{word}"),
        other => other.to_owned(),
    };
    let what = format!("{what} {bits}");
    Some(match (prefix, word) {
        (1, "cmpxchg") => meaning(&what, space, 1, &[0, 0]),
        (1, _) => meaning(&what, space, 1, &[0]),
        (_, "compare_exchange_strong") => meaning(&what, space, scope(5), &[order(3), order(4)]),
        (_, "load" | "flag_test_and_set" | "flag_clear") => meaning(&what, space, scope(2), &[order(1)]),
        _ => meaning(&what, space, scope(3), &[order(2)]),
    })
}

/// The translators of this machine.
fn translators() -> Vec<Option<PathBuf>> {
    let debians = Path::new("/usr/bin/llvm-spirv-15");
    std::iter::once(None).chain(debians.is_file().then(|| Some(debians.to_owned()))).collect()
}

/// Runs kassay; returns the exit code and what it writes to both streams.
fn run(translator: &Option<PathBuf>, args: &[&str], file: &Path) -> (Option<i32>, String, String) {
    let mut command = kassay();
    command.args(args).arg(file);
    command.envs(translator.iter().map(|path| ("KASSAY_LLVM_SPIRV", path)));
    let done = command.output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (done.status.code(), text(&done.stdout), text(&done.stderr))
}

#[test]
fn every_scope_and_order_is_read_as_the_module_has_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("k.spvasm");
    let (instructions, means) = module();
    std::fs::write(&file, kernel(&instructions)).unwrap();
    for translator in translators() {
        let (code, ir, message) = run(&translator, &["lower", "--print", "canonical"], &file);
        assert_eq!(code, Some(0), "{translator:?}: {message}");
        let read: Vec<Meaning> = ir.lines().filter_map(meaning_of_call).collect();
        assert_eq!(read.len(), means.len(), "{translator:?}");
        for (n, (read, meant)) in read.iter().zip(&means).enumerate() {
            assert_eq!(read, meant, "{translator:?}: instruction {n}");
        }
        // What compares with a value needs a variable only where OpenCL C 1.2 has no such builtin.
        assert!(!ir.contains("__translate"), "{translator:?}");
    }
}

#[test]
fn what_opencl_cannot_say_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("k.spvasm");
    for (instruction, says) in [
        ("OpControlBarrier %c1 %c1 %c784", "a barrier of the scope 1, which OpenCL does not have"),
        ("OpControlBarrier %n %c2 %c784", "a barrier whose scope is computed"),
        ("OpMemoryBarrier %c5 %c784", "a memory scope of number 5"),
        ("%x = OpAtomicIAdd %uint32 %global32 %c2 %c6 %c1", "the memory semantics 0x6, with more than one order"),
    ] {
        std::fs::write(&file, kernel(instruction)).unwrap();
        let (code, _, message) = run(&None, &["inspect"], &file);
        assert!(code == Some(2) && message.contains(says), "{instruction}: {code:?}: {message}");
    }
}

#[test]
fn scopes_and_orders_that_are_computed_are_computed_without_branches() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("k.spvasm");
    let computed = "OpMemoryBarrier %n %n\n%x = OpAtomicIAdd %uint32 %global32 %n %n %c1\nOpControlBarrier %c2 %n %n";
    std::fs::write(&file, kernel(computed)).unwrap();
    let (code, ir, message) = run(&None, &["lower", "--print", "canonical"], &file);
    assert_eq!(code, Some(0), "{message}");
    assert!(!ir.contains("switch") && !ir.contains("br ") && !ir.contains("unreachable"), "{ir}");
}

/// Checks a kernel on the simulator; returns what `kassay check` says. `%data`, `%flag` and `%out` are buffers of two
/// uints, `%local` and `%global` the ids of the work-item.
fn checked(items: u64, group: u64, instructions: &str) -> String {
    let numbers: String =
        [0, 1, 2, 3, 4, 7, 8, 16, 0x302, 0x304, 0x310].map(|n: u32| format!("%c{n} = OpConstant %uint {n}\n")).concat();
    let text = format!(
        "; SPIR-V\n; Version: 1.2
        OpCapability Addresses\nOpCapability Kernel\nOpCapability Int64\nOpCapability SubgroupDispatch
        OpMemoryModel Physical64 OpenCL\nOpEntryPoint Kernel %k \"k\" %locals %globals\nOpSource OpenCL_C 200000
        OpName %k \"k\"\nOpName %data \"data\"\nOpName %flag \"flag\"\nOpName %out \"out\"
        OpDecorate %locals BuiltIn LocalInvocationId\nOpDecorate %globals BuiltIn GlobalInvocationId
        %void = OpTypeVoid\n%bool = OpTypeBool\n%uint = OpTypeInt 32 0\n%ulong = OpTypeInt 64 0
        {numbers}%ids = OpTypeVector %ulong 3\n%ids_p = OpTypePointer Input %ids
        %locals = OpVariable %ids_p Input\n%globals = OpVariable %ids_p Input
        %pointer = OpTypePointer CrossWorkgroup %uint
        %type = OpTypeFunction %void %pointer %pointer %pointer
        %k = OpFunction %void None %type
        %data = OpFunctionParameter %pointer\n%flag = OpFunctionParameter %pointer\n%out = OpFunctionParameter %pointer
        %entry = OpLabel\n%local3 = OpLoad %ids %locals\n%global3 = OpLoad %ids %globals
        %local1 = OpCompositeExtract %ulong %local3 0\n%global1 = OpCompositeExtract %ulong %global3 0
        %local = OpUConvert %uint %local1\n%global = OpUConvert %uint %global1
        {instructions}\nOpReturn\nOpFunctionEnd\n"
    );
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("k.spvasm"), text).unwrap();
    let suite = folder.path().join("suite.toml");
    let args: String = (0..3).map(|n| format!("{n} = {{ values = [0, 0] }}\n")).collect();
    let launch = format!("global = [{items}]\nlocal = [{group}]");
    let text = format!("kernel = \"k.spvasm\"\n[[test]]\nname = \"one\"\n{launch}\n[test.args]\n{args}");
    std::fs::write(&suite, text).unwrap();
    let (code, said, message) = run(&None, &["check", "--budget", "2"], &suite);
    assert!(matches!(code, Some(0 | 1)), "{code:?}: {message}");
    said
}

#[test]
fn barriers_of_sub_groups_are_for_sub_groups() {
    // The simulator's sub-groups have 16 work-items.
    for (execution, length, diverges) in [(3, 16, false), (3, 8, true), (2, 16, true)] {
        let said = checked(
            32,
            32,
            &format!(
                "%waits = OpULessThan %bool %local %c{length}
                OpBranchConditional %waits %wait %end
                %wait = OpLabel\nOpControlBarrier %c{execution} %c2 %c784\nOpBranch %end\n%end = OpLabel"
            ),
        );
        assert_eq!(said.contains("barrier divergence"), diverges, "{execution} {length}: {said}");
    }
}

#[test]
fn races_follow_from_scopes_and_orders() {
    const RELEASE: u32 = 0x304;
    const ACQUIRE: u32 = 0x302;
    // Whether the two work-items are of one group; scope and orders.
    for (group, scope, store, load, races) in [
        (1, 1, RELEASE, ACQUIRE, false),
        (1, 1, 0x310, 0x310, false),
        (1, 0, RELEASE, ACQUIRE, false),
        (1, 1, 0, ACQUIRE, true),
        (1, 1, RELEASE, 0, true),
        (1, 1, 0, 0, true),
        (1, 2, RELEASE, ACQUIRE, true),
        (1, 3, RELEASE, ACQUIRE, true),
        (2, 2, RELEASE, ACQUIRE, false),
        (2, 2, 0, 0, true),
    ] {
        let said = checked(
            2,
            group,
            &format!(
                "%writes = OpIEqual %bool %global %c0
                OpBranchConditional %writes %writer %reader
                %writer = OpLabel\nOpStore %data %c7 Aligned 4\nOpAtomicStore %flag %c{scope} %c{store} %c1\nOpBranch %end
                %reader = OpLabel\n%set = OpAtomicLoad %uint %flag %c{scope} %c{load}\n%is_set = OpIEqual %bool %set %c1
                OpBranchConditional %is_set %then %end
                %then = OpLabel\n%read = OpLoad %uint %data Aligned 4\nOpStore %out %read Aligned 4\nOpBranch %end
                %end = OpLabel"
            ),
        );
        assert_eq!(said.contains("data race"), races, "{group} {scope} {store:#x} {load:#x}: {said}");
    }
}

#[test]
fn pointers_without_an_address_space_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let source = "kernel void k(global int *out, local int *kept) {
        int mine = 3;
        *kept = 5;
        for (int i = 0; i < 3; i++) {
            generic int *p = i == 0 ? (generic int *)out : i == 1 ? (generic int *)kept : (generic int *)&mine;
            out[1 + i] = (to_global(p) != 0) + 2 * (to_local(p) != 0) + 4 * (to_private(p) != 0) + 8 * get_fence(p);
            if (to_local(p)) out[4] = *to_local(p);
        }
    }";
    std::fs::write(folder.path().join("k.cl"), source).unwrap();
    let suite = folder.path().join("suite.toml");
    let text = "kernel = \"k.cl\"\noptions = [\"-cl-std=CL2.0\"]\n[[test]]\nname = \"one\"\nglobal = [1]\n[test.args]
        out = { values = [0, 0, 0, 0, 0], expect = { values = [0, 17, 10, 4, 5] } }\nkept = { local = 4 }\n";
    std::fs::write(&suite, text).unwrap();
    let (code, said, message) = run(&None, &["run", "--device", "sim"], &suite);
    assert_eq!(code, Some(0), "{said}{message}");
}
