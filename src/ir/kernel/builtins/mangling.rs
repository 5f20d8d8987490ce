//! Takes mangled names of builtins apart and makes them (Itanium C++ ABI, chapter 5.1).

/// Splits a mangled name into base name and mangled parameters (Itanium C++ ABI 5.1.4: `_Z`, length, name, types).
pub fn demangle(callee: &str) -> Option<(&str, &str)> {
    identifier(callee.strip_prefix("_Z")?)
}

/// Splits off a name that is preceded by its length: `(image, f)` for `5imagef`.
pub fn identifier(text: &str) -> Option<(&str, &str)> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let len: usize = text[..digits].parse().ok()?;
    text[digits..].split_at_checked(len)
}

/// Returns the mangled name of a builtin whose parameters are mangled as `params`.
pub fn mangle(name: &str, params: &str) -> String {
    format!("_Z{}{name}{params}", name.len())
}

/// A parameter of a builtin, as far as its mangled type says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parameter {
    /// Passed by value.
    Value,
    /// The size of the pointee in bytes, if the name spells it out (rather than refer to an earlier parameter).
    Pointer {
        /// Size of the pointee in bytes, if the name spells it out.
        pointee: Option<u64>,
        /// Whether it points to local memory.
        local: bool,
    },
}

/// Reads mangled parameters up to the first one that is not understood.
pub fn parameters(mut params: &str) -> Vec<Parameter> {
    let mut all = Vec::new();
    while !params.is_empty() {
        let Some((parameter, rest)) = parameter(params) else { break };
        all.push(parameter);
        params = rest;
    }
    all
}

fn parameter(text: &str) -> Option<(Parameter, &str)> {
    let Some(pointee) = text.strip_prefix('P') else {
        return Some((Parameter::Value, size(text)?.1));
    };
    let (local, rest) = qualifiers(pointee)?;
    let (pointee, rest) = size(rest)?;
    Some((Parameter::Pointer { pointee, local }, rest))
}

/// A parameter of a builtin as its mangled type spells it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spelt {
    /// Whether it is a pointer; the rest then describes what it points to.
    pub pointer: bool,
    /// 1 for scalars.
    pub lanes: u64,
    /// The mangled type of a lane: `j`; `D` for `half`.
    pub lane: char,
}

/// Reads mangled parameters up to the first one that is not understood; `None` for those that are not spelt out or not
/// arithmetic.
pub fn spelt(mut params: &str) -> Vec<Option<Spelt>> {
    let mut all = Vec::new();
    while let Some((_, rest)) = parameter(params) {
        let read = || {
            let pointee = params.strip_prefix('P');
            let (lanes, ty) = lanes(qualifiers(pointee.unwrap_or(params))?.1)?;
            scalar(ty)?;
            Some(Spelt { pointer: pointee.is_some(), lanes, lane: ty.chars().next()? })
        };
        all.push(read());
        params = rest;
    }
    all
}

/// Reads the qualifiers of a type: `U3AS1VK`, in which clang writes address spaces as vendor's qualifiers. Returns
/// whether the address space is that of local memory, and what follows.
fn qualifiers(mut text: &str) -> Option<(bool, &str)> {
    let mut local = false;
    loop {
        if let Some(rest) = text.strip_prefix(['V', 'K', 'r']) {
            text = rest;
        } else if let Some(rest) = text.strip_prefix('U') {
            let (name, rest) = identifier(rest)?;
            local |= name == "AS3";
            text = rest;
        } else {
            return Some((local, text));
        }
    }
}

/// Reads the number of lanes of a type, and what follows: the type of a lane.
fn lanes(text: &str) -> Option<(u64, &str)> {
    let Some(vector) = text.strip_prefix("Dv") else { return Some((1, text)) };
    let (lanes, element) = vector.split_once('_')?;
    Some((lanes.parse().ok()?, element))
}

/// Reads an arithmetic type; returns its size in bytes, and what follows.
fn scalar(text: &str) -> Option<(u64, &str)> {
    if let Some(rest) = text.strip_prefix("Dh") {
        return Some((2, rest));
    }
    let size = match text.chars().next()? {
        'c' | 'a' | 'h' | 'b' => 1,
        's' | 't' => 2,
        'i' | 'j' | 'f' => 4,
        'l' | 'm' | 'd' | 'x' | 'y' => 8,
        _ => return None,
    };
    Some((size, &text[1..]))
}

/// Reads one type; returns its size in bytes if it is arithmetic or a pointer, and what follows.
fn size(text: &str) -> Option<(Option<u64>, &str)> {
    let (_, text) = qualifiers(text)?;
    if text.starts_with("Dv") {
        let (lanes, element) = lanes(text)?;
        let (size, rest) = size(element)?;
        return Some((size.map(|s| s * if lanes == 3 { 4 } else { lanes }), rest));
    }
    if let Some(pointee) = text.strip_prefix('P') {
        return Some((Some(8), size(pointee)?.1));
    }
    if let Some(reference) = text.strip_prefix('S') {
        return Some((None, reference.split_once('_')?.1));
    }
    if text.starts_with(|c: char| c.is_ascii_digit()) {
        return Some((None, identifier(text)?.1));
    }
    scalar(text).map(|(size, rest)| (Some(size), rest))
}

/// Returns the mangled type of the first parameter, or of its lanes: `f` for `Dv4_fS_`.
pub fn first_scalar(params: &str) -> Option<char> {
    lanes(params)?.1.chars().next()
}

/// Returns the mangled type that the first parameter points to, after the pointer's qualifiers: `j` for
/// `PU3AS1VU7_Atomicj`.
pub fn pointee(params: &str) -> Option<char> {
    qualifiers(params.strip_prefix('P')?)?.1.chars().next()
}

/// Returns the number of lanes and the bytes per lane of what the first pointer among the parameters points to:
/// `(4, 4)` for `jPU3AS1KDv4_f`.
pub fn pointed(params: &str) -> Option<(u64, u64)> {
    let (_, ty) = qualifiers(params.get(params.find('P')? + 1..)?)?;
    let (lanes, lane) = lanes(ty)?;
    Some((lanes, scalar(lane)?.0))
}

/// Returns whether a mangled builtin type (Itanium C++ ABI 5.1.5) is a floating-point type.
pub fn is_float(ty: char) -> bool {
    matches!(ty, 'f' | 'd' | 'D')
}

/// Returns whether a mangled builtin type is a signed integer.
pub fn is_signed(ty: char) -> bool {
    matches!(ty, 'c' | 'a' | 's' | 'i' | 'l' | 'x')
}

/// Returns whether a call that names one builtin in the syntax tree may be one of the other in the canonical form: of
/// functions of warps, those whose mask names all lanes become those of sub-groups.
pub fn is_same(called: &str, canonical: &str) -> bool {
    let of_warp = || called.strip_prefix("kassay_warp_").zip(canonical.strip_prefix("sub_group_"));
    called == canonical || of_warp().is_some_and(|(one, other)| one == other)
}

/// Returns the name in the source of a builtin that clang passes a block's function, `enqueue_kernel` and the queries
/// of blocks as kernels, by its name in modules.
pub fn taking_a_block(callee: &str) -> Option<&str> {
    const ENQUEUE: &str = "__enqueue_kernel_";
    let query = callee.strip_prefix("__").filter(|query| query.starts_with("get_kernel_"));
    match query {
        Some(query) => Some(query.strip_suffix("_impl").unwrap_or(query)),
        None => callee.starts_with(ENQUEUE).then_some("enqueue_kernel"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mangled_names_are_taken_apart_and_put_together() {
        assert_eq!(demangle("_Z10atomic_addPU3AS1Vjj"), Some(("atomic_add", "PU3AS1Vjj")));
        assert_eq!(demangle("_Z7barrierj"), Some(("barrier", "j")));
        assert_eq!(demangle("_Z99short"), None);
        assert_eq!(demangle("helper"), None);
        assert_eq!(demangle("_Z"), None);
        assert_eq!(identifier("9ocl_eventm"), Some(("ocl_event", "m")));
        assert_eq!(identifier("f"), None);
        assert_eq!(mangle("atomic_sub", "PU3AS1Vjj"), "_Z10atomic_subPU3AS1Vjj");
    }

    #[test]
    fn the_pointee_type_is_read_after_the_qualifiers() {
        assert_eq!(pointee("PU3AS1Vjj"), Some('j'));
        assert_eq!(pointee("PU3AS3VU7_Atomicii12memory_order"), Some('i'));
        assert_eq!(pointee("PVU3AS1ff"), Some('f'));
        assert_eq!(pointee("j"), None);
        assert_eq!(pointed("PU3AS1KDv4_f"), Some((4, 4)));
        assert_eq!(pointed("jPU3AS1Kh"), Some((1, 1)));
        assert_eq!(pointed("PU3AS3Dh"), Some((1, 2)));
        assert_eq!(pointed("ii"), None);
        assert_eq!((first_scalar("Dv4_fS_"), first_scalar("ji"), first_scalar("")), (Some('f'), Some('j'), None));
    }

    #[test]
    fn parameters_are_spelt_out_or_refer_to_earlier_ones() {
        let spelt_out = |pointer, lanes, lane| Some(Spelt { pointer, lanes, lane });
        assert_eq!(spelt("PU3AS1Vjj"), [spelt_out(true, 1, 'j'), spelt_out(false, 1, 'j')]);
        assert_eq!(
            spelt("Dv4_fmPU3AS1Dh"),
            [spelt_out(false, 4, 'f'), spelt_out(false, 1, 'm'), spelt_out(true, 1, 'D')]
        );
        assert_eq!(spelt("Dv2_hPS_"), [spelt_out(false, 2, 'h'), None]);
        assert_eq!(spelt("iPvj"), [spelt_out(false, 1, 'i')]);
    }

    #[test]
    fn parameters_are_read_up_to_what_is_not_understood() {
        let pointer = |pointee, local| Parameter::Pointer { pointee, local };
        let value = Parameter::Value;
        assert_eq!(
            parameters("PU3AS3fPU3AS1Kfm9ocl_event")[..],
            [pointer(Some(4), true), pointer(Some(4), false), value, value]
        );
        assert_eq!(parameters("Dv3_fPS_"), [value, pointer(None, false)]);
        assert_eq!(parameters("PDv3_fPPi"), [pointer(Some(16), false), pointer(Some(8), false)]);
        assert_eq!(parameters("iPvj"), [value]);
    }
}
