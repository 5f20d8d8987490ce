//! Gives a module for SPIR-V the address spaces, types and calling conventions of PTX.
//!
//! LLVM's C interface cannot change the type of a value, so the module is printed, its text rewritten, and parsed
//! again. Generic and private pointers become plain ones (a plain pointer of PTX reaches all memory). Constant memory
//! becomes global: NVIDIA's constant bank holds 64 KB and serialises reads of different addresses. Images, samplers and
//! events become pointers.

use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use inkwell::targets::TargetMachine;
use kassay_base::error::{Error, Result};

use crate::llvm::View;

/// Retargets a module.
///
/// # Errors
/// `Internal` if LLVM cannot parse the rewritten text.
pub fn retarget<'c>(module: Module<'c>, machine: &TargetMachine) -> Result<Module<'c>> {
    // Positions are kept on the host's side; the code carries none.
    View::of(&module).strip_debug_info();
    let context = module.get_context();
    let text = rewrite(&module.print_to_string().to_string());
    drop(module);
    let buffer = MemoryBuffer::create_from_memory_range_copy(text.as_bytes(), "kernel");
    let module = context
        .create_module_from_ir(buffer)
        .map_err(|e| Error::internal("the kernel cannot be retargeted to PTX").details(e.to_string()))?;
    module.set_triple(&machine.get_triple());
    module.set_data_layout(&machine.get_target_data().get_data_layout());
    Ok(module)
}

fn rewrite(text: &str) -> String {
    without_idle_casts(&with_ptx_types(text))
}

/// Metadata for SPIR-V's backend and for OpenCL's tools.
const DROPPED_LINES: [&str; 6] =
    ["target datalayout", "target triple", "!opencl.", "!spirv.", "!llvm.module.flags", "!llvm.ident"];

/// Rewrites types, conventions and scopes outside names, strings and comments.
fn with_ptx_types(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut at_line_start = true;
    while let Some(first) = rest.chars().next() {
        if at_line_start && DROPPED_LINES.iter().any(|line| rest.starts_with(line)) {
            rest = rest.find('\n').map_or("", |end| &rest[end..]);
            at_line_start = false;
            continue;
        }
        at_line_start = first == '\n';
        let length = match first {
            '"' => string_length(rest),
            ';' => {
                rest = rest.find('\n').map_or("", |end| &rest[end..]);
                continue;
            }
            '@' | '%' | '!' | '#' | '$' => 1 + rest[1..].find(|c| !is_name(c)).unwrap_or(rest.len() - 1),
            c if c.is_ascii_alphabetic() => {
                rest = word(rest, &mut out);
                continue;
            }
            c => c.len_utf8(),
        };
        out.push_str(&rest[..length]);
        rest = &rest[length..];
    }
    out
}

fn is_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || "_.$-".contains(c)
}

/// Returns the length of the string that `text` begins with. LLVM writes a quote in a string as `\22`.
fn string_length(text: &str) -> usize {
    text[1..].find('"').map_or(text.len(), |end| end + 2)
}

/// Rewrites the word that `text` begins with, and returns what follows.
fn word<'t>(text: &'t str, out: &mut String) -> &'t str {
    if let Some(rest) = text.strip_prefix("addrspace(") {
        let (space, rest) = rest.split_once(')').unwrap_or((rest, ""));
        match space {
            "0" | "4" => {
                if out.ends_with(' ') {
                    out.pop();
                }
            }
            "2" => out.push_str("addrspace(1)"),
            other => *out += &format!("addrspace({other})"),
        }
        return rest;
    }
    if text.starts_with("target(\"spirv.") {
        out.push_str("ptr");
        return text.split_once(')').map_or("", |(_, rest)| rest);
    }
    if let Some(rest) = text.strip_prefix("syncscope(") {
        let (scope, rest) = rest.split_once(')').unwrap_or((rest, ""));
        let scope = match scope {
            "\"workgroup\"" | "\"subgroup\"" => "\"block\"",
            "\"all_svm_devices\"" => return rest.strip_prefix(' ').unwrap_or(rest),
            other => other,
        };
        *out += &format!("syncscope({scope})");
        return rest;
    }
    let length = text.find(|c: char| !(c.is_ascii_alphanumeric() || c == '_' || c == '.')).unwrap_or(text.len());
    let (word, rest) = text.split_at(length);
    match word {
        "spir_kernel" => out.push_str("ptx_kernel"),
        "spir_func" => return rest.strip_prefix(' ').unwrap_or(rest),
        other => out.push_str(other),
    }
    rest
}

const CAST: &str = "addrspacecast ";

/// Turns address-space casts between what have become equal types into bit casts, because LLVM refuses the former.
fn without_idle_casts(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find(CAST) {
        out.push_str(&rest[..at]);
        rest = &rest[at + CAST.len()..];
        let is_idle = cast_types(rest).is_some_and(|(from, to)| from == to);
        out.push_str(if is_idle { "bitcast " } else { CAST });
    }
    out.push_str(rest);
    out
}

/// Returns the types of a cast of which `text` holds what follows the word: `T value to T`, in parentheses if it is
/// a constant expression.
fn cast_types(text: &str) -> Option<(&str, &str)> {
    let text = text.strip_prefix('(').unwrap_or(text);
    let from = pointers(text)?;
    let mut depth = 0_u32;
    let mut at = from.len();
    while let Some(c) = text[at..].chars().next() {
        match c {
            '"' => {
                at += string_length(&text[at..]);
                continue;
            }
            '(' => depth += 1,
            ')' if depth == 0 => return None,
            ')' => depth -= 1,
            '\n' => return None,
            ' ' if depth == 0 => {
                if let Some(to) = text[at..].strip_prefix(" to ") {
                    return Some((from, pointers(to)?));
                }
            }
            _ => {}
        }
        at += c.len_utf8();
    }
    None
}

/// Returns the type that `text` begins with: a pointer, or a vector of pointers.
fn pointers(text: &str) -> Option<&str> {
    if text.starts_with('<') {
        return text.find('>').map(|end| &text[..=end]);
    }
    let rest = text.strip_prefix("ptr")?;
    let space = rest.strip_prefix(" addrspace(").and_then(|space| space.find(')'));
    Some(&text[..3 + space.map_or(0, |end| " addrspace(".len() + end + 1)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_get_address_spaces_of_ptx() {
        let text = "define spir_kernel void @k(ptr addrspace(1) %a, ptr addrspace(2) %b, ptr addrspace(3) %c, ptr addrspace(4) %d)";
        let ptx = "define ptx_kernel void @k(ptr addrspace(1) %a, ptr addrspace(1) %b, ptr addrspace(3) %c, ptr %d)";
        assert_eq!(rewrite(text), ptx);
        assert_eq!(
            rewrite("declare spir_func i32 @f(target(\"spirv.Image\", void, 1, 0) %i)"),
            "declare i32 @f(ptr %i)"
        );
        assert_eq!(rewrite("@c = internal addrspace(2) constant i32 7"), "@c = internal addrspace(1) constant i32 7");
    }

    #[test]
    fn names_strings_and_comments_are_left() {
        for text in [
            "@\"addrspace(4)\" = x",
            "%spir_func.addr = y",
            "c\"spir_func addrspace(2)\\22\\00\"",
            "!7 = !{!\"spir_func\"}",
        ] {
            assert_eq!(rewrite(text), text);
        }
        assert_eq!(rewrite("ret void ; addrspacecast ptr to ptr\n}"), "ret void \n}");
        assert_eq!(rewrite("; a\ntarget triple = \"spirv64\"\n!opencl.ocl.version = !{!0}\n@x = y"), "\n\n\n@x = y");
    }

    #[test]
    fn casts_to_the_same_type_become_bit_casts() {
        let text = "%a = addrspacecast ptr addrspace(1) %p to ptr addrspace(4)";
        assert_eq!(rewrite(text), "%a = addrspacecast ptr addrspace(1) %p to ptr");
        assert_eq!(rewrite("%a = addrspacecast ptr %p to ptr addrspace(4)"), "%a = bitcast ptr %p to ptr");
        assert_eq!(
            rewrite("store ptr addrspacecast (ptr addrspace(2) @c to ptr addrspace(1)), ptr %p"),
            "store ptr bitcast (ptr addrspace(1) @c to ptr addrspace(1)), ptr %p"
        );
        let nested = "ptr addrspacecast (ptr addrspace(1) getelementptr (i8, ptr addrspace(1) addrspacecast (ptr addrspace(2) @c to ptr addrspace(1)), i64 4) to ptr addrspace(4))";
        let ptx = "ptr addrspacecast (ptr addrspace(1) getelementptr (i8, ptr addrspace(1) bitcast (ptr addrspace(1) @c to ptr addrspace(1)), i64 4) to ptr)";
        assert_eq!(rewrite(nested), ptx);
        assert_eq!(
            rewrite("%a = addrspacecast <2 x ptr> %p to <2 x ptr addrspace(4)>"),
            "%a = bitcast <2 x ptr> %p to <2 x ptr>"
        );
    }

    #[test]
    fn scopes_are_those_of_ptx() {
        let text = "%o = atomicrmw add ptr addrspace(1) %p, i32 1 syncscope(\"workgroup\") monotonic, align 4";
        assert!(rewrite(text).contains("syncscope(\"block\")"));
        let text = "%o = atomicrmw add ptr addrspace(1) %p, i32 1 syncscope(\"all_svm_devices\") seq_cst, align 4";
        assert!(rewrite(text).contains("i32 1 seq_cst"));
        assert!(rewrite("fence syncscope(\"device\") acquire").contains("syncscope(\"device\")"));
    }
}
