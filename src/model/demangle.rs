//! Reads C++ names of functions from their mangled form (Itanium C++ ABI, chapter 5.1), for modules in which no debug
//! information has them as they are written.

use std::ffi::{CStr, CString, c_char, c_int};

/// Returns whether a function or variable has a mangled name, as builtins and what C++ for OpenCL declares have.
pub fn is_mangled(name: &str) -> bool {
    name.starts_with("_Z")
}

#[link(name = "stdc++")]
unsafe extern "C" {
    /// The demangler of the C++ runtime (Itanium C++ ABI, chapter 3.4).
    fn __cxa_demangle(
        mangled: *const c_char,
        buffer: *mut c_char,
        length: *mut usize,
        status: *mut c_int,
    ) -> *mut c_char;
}

/// The spelling of address spaces by their number in mangled names; private memory goes without saying, as does the
/// generic space.
const SPACES: [&str; 5] = ["", "__global ", "__constant ", "__local ", ""];

/// The names of a function.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Demangled {
    /// Its name, with the classes and namespaces around it and with template arguments.
    pub name: String,
    /// That, with the types of its parameters in parentheses.
    pub overload: String,
}

/// Returns the names of a function; `None` if its name is not mangled.
pub fn function(mangled: &str) -> Option<Demangled> {
    let text = demangled(&adapted(mangled))?;
    // What follows the parameters says of which objects a member function is.
    let text = ["&", "const", "volatile"].into_iter().fold(text.trim_end(), |text, word| {
        text.strip_suffix(word).filter(|rest| rest.ends_with([' ', ')'])).map_or(text, str::trim_end)
    });
    let open = matching_parenthesis(text)?;
    let (head, parameters) = text.split_at(open);
    let name = tidied(without_result(head));
    Some(Demangled { overload: format!("{name}{}", tidied(parameters)), name })
}

/// Returns a kernel's name for people: of SYCL's `_ZTS…` the type after which the kernel is called, of a mangled
/// function its name without parameters, and any other as it is.
pub fn kernel(name: &str) -> String {
    const TYPE: &str = "typeinfo name for ";
    match demangled(&adapted(name)) {
        Some(text) if text.starts_with(TYPE) => tidied(&text[TYPE.len()..]),
        _ => function(name).map_or_else(|| name.to_owned(), |found| found.name),
    }
}

/// Returns the name of a variable; in front of one that belongs to a function that one's and a dot. `None` if its name
/// is not mangled.
pub fn variable(mangled: &str) -> Option<String> {
    const LOCAL: &str = "_ZZ";
    let text = demangled(&adapted(mangled)).filter(|text| !text.ends_with(')'))?;
    match text.rsplit_once("::").filter(|_| mangled.starts_with(LOCAL)) {
        Some((scope, own)) => {
            let head = matching_parenthesis(scope).map_or(scope, |open| without_result(&scope[..open]));
            Some(format!("{}.{own}", tidied(head)))
        }
        None => Some(tidied(&text)),
    }
}

fn demangled(mangled: &str) -> Option<String> {
    // Without this, it would take the name for that of a type.
    let mangled = Some(mangled).filter(|name| is_mangled(name))?;
    let mangled = CString::new(mangled).ok()?;
    // SAFETY: the name ends with a zero byte; without a buffer the result is allocated, and it is freed once, after its
    // last use.
    unsafe {
        let text = __cxa_demangle(mangled.as_ptr(), std::ptr::null_mut(), std::ptr::null_mut(), std::ptr::null_mut());
        let owned = (!text.is_null()).then(|| CStr::from_ptr(text).to_string_lossy().into_owned());
        libc::free(text.cast());
        owned
    }
}

/// Returns a mangled name as the demangler knows it. The address spaces of member functions' objects (`NU3AS4…`) are
/// left out. Those of types take over the qualifiers after them (`U3AS1Ki` becomes `U4AS1Ki`), because the demangler
/// numbers types for later reference differently where it finds qualifiers of both kinds.
fn adapted(mangled: &str) -> String {
    const SPACE: &str = "U3AS";
    let mut out = String::new();
    // Whether an `N` that begins a name with classes or namespaces is all that precedes.
    let mut in_scope = false;
    let mut rest = mangled;
    while let Some(first) = rest.chars().next() {
        if let Some((number, after)) = rest.strip_prefix(SPACE).and_then(|space| space.split_at_checked(1)) {
            let others = after.trim_start_matches(['r', 'V', 'K']);
            let qualifiers = &after[..after.len() - others.len()];
            if in_scope {
                out.push_str(qualifiers);
            } else {
                out.push_str(&format!("U{}AS{number}{qualifiers}", 3 + qualifiers.len()));
            }
            (in_scope, rest) = (false, others);
            continue;
        }
        let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        let length = match literal(rest) {
            // A name with its length in front.
            _ if digits > 0 => {
                rest[..digits].parse::<usize>().map_or(rest.len(), |length| digits.saturating_add(length))
            }
            Some(literal) => literal,
            None => first.len_utf8(),
        };
        let (copied, others) = rest.split_at_checked(length).unwrap_or((rest, ""));
        out.push_str(copied);
        (in_scope, rest) = (copied == "N", others);
    }
    out
}

/// Returns the length of a number that is a template argument (`Li3E`) at the begin of a text.
fn literal(text: &str) -> Option<usize> {
    let value = text.strip_prefix('L')?.strip_prefix(|c: char| c.is_ascii_lowercase())?;
    let value = value.strip_prefix('n').unwrap_or(value).trim_start_matches(|c: char| c.is_ascii_digit());
    Some(text.len() - value.strip_prefix('E')?.len())
}

/// Returns where the parenthesis opens that closes at the end of a text.
fn matching_parenthesis(text: &str) -> Option<usize> {
    let mut depth = 0_i32;
    text.ends_with(')').then_some(())?;
    text.char_indices().rev().find_map(|(at, c)| {
        depth += i32::from(c == ')') - i32::from(c == '(');
        (depth == 0).then_some(at)
    })
}

/// Leaves out the type of a result, which names of templates' instances have in front.
fn without_result(head: &str) -> &str {
    let (mut depth, mut start) = (0_i32, 0);
    for (at, c) in head.char_indices() {
        if depth == 0 && head[at..].starts_with("operator") {
            break;
        }
        match c {
            '<' | '(' | '[' | '{' => depth += 1,
            '>' | ')' | ']' | '}' => depth -= 1,
            ' ' if depth == 0 => start = at + 1,
            _ => {}
        }
    }
    &head[start..]
}

/// Writes types as clang does for OpenCL: `int const AS1*` as `const __global int *`, `float __vector(4)` as `float4`.
fn tidied(text: &str) -> String {
    const VECTOR: &str = " __vector(";
    let mut text = text.replace("> >", ">>");
    while let Some((before, rest)) = text.split_once(VECTOR) {
        let Some((lanes, after)) = rest.split_once(')') else { break };
        text = format!("{before}{lanes}{after}");
    }
    while let Some(at) = text.find(" AS") {
        let number = text[at + 3..].bytes().next().filter(u8::is_ascii_digit).map(|digit| usize::from(digit - b'0'));
        let Some(space) = number.and_then(|number| SPACES.get(number)) else { break };
        let start = type_start(&text[..at]);
        let ty = &text[start..at];
        let after = text[at + 4..].trim_start_matches(['r', 'V', 'K']);
        let qualifiers = &text[at + 4..text.len() - after.len()];
        let words =
            [('K', "const "), ('V', "volatile ")].map(|(q, word)| if qualifiers.contains(q) { word } else { "" });
        let qualified = words.concat();
        let blank = if space.is_empty() || !after.starts_with(['*', '&']) { "" } else { " " };
        text = format!("{}{qualified}{space}{ty}{blank}{after}", &text[..start]);
    }
    text
}

/// Returns where the type begins that ends a text: after a comma or bracket that is not its own.
fn type_start(text: &str) -> usize {
    let mut depth = 0_i32;
    for (at, c) in text.char_indices().rev() {
        match c {
            '>' | ')' => depth += 1,
            '<' | '(' if depth > 0 => depth -= 1,
            '<' | '(' => return at + 1,
            ',' if depth == 0 => return at + 1 + usize::from(text[at + 1..].starts_with(' ')),
            _ => {}
        }
    }
    0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn both(mangled: &str) -> String {
        let found = function(mangled).unwrap_or_else(|| panic!("{mangled}"));
        assert!(found.overload.starts_with(&found.name));
        found.overload
    }

    #[test]
    fn kernels_are_called_after_types_and_functions() {
        let name = kernel("_ZTSN4dpnp6tensor7kernels3add17add_contig_kernelIfffLh2ELh2EEE");
        assert!(name.starts_with("dpnp::tensor::kernels::add::add_contig_kernel<float, float, float, "), "{name}");
        assert_eq!(kernel("_ZN4main8clip_sumEPU3AS1fi"), "main::clip_sum");
        for plain in ["vector_add", "_Z", "_ZTS", "__omp_offloading_10_main_l7"] {
            assert_eq!(kernel(plain), plain);
        }
    }

    #[test]
    fn names_are_those_of_the_source() {
        assert_eq!(both("_Z7kind_ofc"), "kind_of(char)");
        assert_eq!(both("_Z4sortILb0EEiRA4_U3AS4i"), "sort<false>(int (&) [4])");
        assert_eq!(both("_Z6extentPU3AS4KiRU3AS4i"), "extent(const int*, int&)");
        assert_eq!(both("_Z6extentPU3AS4KiRU3AS4iS2_"), "extent(const int*, int&, int&)");
        assert_eq!(
            both("_ZNU3AS44SpanIPU3AS1KiEC2ES1_i"),
            "Span<const __global int *>::Span(const __global int *, int)"
        );
        assert_eq!(both("_ZNU3AS46WindowIiLi3EE4pushEi"), "Window<int, 3>::push(int)");
        assert_eq!(both("_ZNU3AS4K6WindowIiLi3EE5beginEv"), "Window<int, 3>::begin()");
        assert_eq!(both("_ZNU3AS44SpanIPU3AS3iE3setEii"), "Span<__local int *>::set(int, int)");
        assert_eq!(both("_ZNU3AS4K4SpanIPU3AS1KiEixEi"), "Span<const __global int *>::operator[](int)");
        assert_eq!(both("_ZNU3AS4K3SumclEii"), "Sum::operator()(int, int)");
        assert_eq!(both("_ZN2vmaaENS_4FlagES0_"), "vm::operator&&(vm::Flag, vm::Flag)");
        assert_eq!(both("_ZN2vm5applyIDv2_iEEiNS_2OpEPT_i"), "vm::apply<int2>(vm::Op, int2*, int)");
    }

    #[test]
    fn variables_are_named_with_their_function() {
        assert_eq!(variable("_ZZ12clcpp_reduceE4part").as_deref(), Some("clcpp_reduce.part"));
        assert_eq!(variable("_ZZ4sortILb0EEiRA4_U3AS4iE5table").as_deref(), Some("sort<false>.table"));
        assert_eq!(variable("_ZN2vm5tableE").as_deref(), Some("vm::table"));
        assert_eq!(variable("_ZL5table").as_deref(), Some("table"));
        assert_eq!(variable("table"), None);
    }

    #[test]
    fn other_names_have_none() {
        for name in ["kernel", "_Z", "_Z4eachIZ", "_ZNU3AS4", "_ZZ12clcpp_reduceE4part", "_Z9999a", "_ZNU3AS", "é"] {
            assert_eq!(function(name), None, "{name}");
        }
    }
}
