//! Describes how OpenCL C builtins access memory through their pointer parameters, from their mangled names.

use crate::kernel::builtins::{self, Builtin, Effect, Family, Parameter, demangle};
use crate::llvm::Value;

/// The extent of an access through a parameter of a builtin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// A fixed number of bytes; `None`: the size of the result.
    Bytes(Option<u64>),
    /// `vload` and `vstore`: `size` bytes, at `step` bytes times the value of the parameter at position `offset`.
    Indexed { offset: u32, step: u64, size: u64 },
    /// Asynchronous copies: parameter 2 is the number of elements, each of `size` bytes; parameter 3 is the
    /// stride if `strided`.
    Elements { size: u64, strided: bool },
}

/// A parameter through which a builtin accesses memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PointerParameter {
    pub index: u32,
    pub reach: Reach,
}

/// Returns what [`accesses`] does, for a call with these arguments; without what they do not fit, whatever the callee's
/// name says.
pub fn accesses_with(mangled: &str, args: &[Value<'_>]) -> Vec<PointerParameter> {
    let is_pointer = |position: u32| args.get(position as usize).is_some_and(|arg| arg.ty().is_pointer());
    let is_integer = |position: u32| args.get(position as usize).is_some_and(|arg| arg.ty().is_integer());
    let fits = |parameter: &PointerParameter| {
        is_pointer(parameter.index)
            && match parameter.reach {
                Reach::Bytes(_) => true,
                Reach::Indexed { offset, .. } => is_integer(offset),
                Reach::Elements { strided, .. } => is_integer(2) && (!strided || is_integer(3)),
            }
    };
    accesses(mangled).into_iter().filter(fits).collect()
}

/// Returns the pointer parameters through which the builtin with this mangled name accesses memory; empty for functions
/// that are not builtins. Prefetches access no memory, `wait_group_events` only events, and `printf` only literals.
fn accesses(mangled: &str) -> Vec<PointerParameter> {
    let Some((name, parameters)) = demangle(mangled) else { return Vec::new() };
    let family = builtins::family(name);
    if matches!(family, Some(Family::Prefetch | Family::EventWait)) {
        return Vec::new();
    }
    let parameters = builtins::parameters(parameters);
    let pointers = (0u32..).zip(&parameters).filter_map(|(i, p)| match p {
        Parameter::Pointer { pointee, local } => Some((i, *pointee, *local)),
        Parameter::Value => None,
    });
    if matches!(family, Some(Family::VectorLoad | Family::VectorStore)) {
        return pointers
            .filter_map(|(parameter, element, _)| {
                let lanes = lanes(name)?;
                // `vloada_half3` and `vstorea_half3` step by four halves (OpenCL C 1.2, 6.12.7).
                let aligned = name.starts_with("vloada") || name.starts_with("vstorea");
                let step = element? * if aligned && lanes == 3 { 4 } else { lanes };
                let reach = Reach::Indexed { offset: parameter.checked_sub(1)?, step, size: element? * lanes };
                Some(PointerParameter { index: parameter, reach })
            })
            .collect();
    }
    if family == Some(Family::AsyncCopy) {
        let all: Vec<_> = pointers.collect();
        let Some(size) = all.first().and_then(|(_, size, _)| *size) else { return Vec::new() };
        let strided = |local: bool| name == "async_work_group_strided_copy" && !local;
        return all
            .into_iter()
            .map(|(parameter, _, local)| PointerParameter {
                index: parameter,
                reach: Reach::Elements { size, strided: strided(local) },
            })
            .collect();
    }
    pointers.map(|(parameter, size, _)| PointerParameter { index: parameter, reach: Reach::Bytes(size) }).collect()
}

/// Returns how a function synchronises the work-group, if all its items have to reach the call: barriers, and functions
/// that synchronise like one.
pub fn group_sync(mangled: &str) -> Option<GroupSync> {
    let builtin = Builtin::of(mangled).filter(|builtin| builtin.has(Effect::GroupWide))?;
    Some(if builtin.family() == Family::Barrier { GroupSync::Barrier } else { GroupSync::Other })
}

/// The way in which a function synchronises the work-group.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum GroupSync {
    /// A barrier of the work-group.
    Barrier,
    /// A collective function that need not order memory accesses.
    Other,
}

/// The number of components in the name of `vload4`, `vstore_half8_rte` …; 1 for scalars.
fn lanes(name: &str) -> Option<u64> {
    let digits: String = name.chars().skip_while(|c| !c.is_ascii_digit()).take_while(char::is_ascii_digit).collect();
    if digits.is_empty() { Some(1) } else { digits.parse().ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(name: &str) -> Vec<(u32, Option<u64>)> {
        let read = |t: PointerParameter| match t.reach {
            Reach::Bytes(n) => (t.index, n),
            other => panic!("{name}: {other:?}"),
        };
        accesses(name).into_iter().map(read).collect()
    }

    #[test]
    fn pointees_are_read_from_the_mangled_name() {
        assert_eq!(bytes("_Z10atomic_addPU3AS1Vii"), [(0, Some(4))]);
        assert_eq!(bytes("_Z8atom_addPU3AS3Vll"), [(0, Some(8))]);
        assert_eq!(bytes("_Z5frexpdPU3AS1i"), [(1, Some(4))]);
        assert_eq!(bytes("_Z5frexpDv4_dPDv4_i"), [(1, Some(16))]);
        assert_eq!(bytes("_Z5fractDv4_fPU3AS1S_"), [(1, None)]);
        let exchange =
            "_Z39atomic_compare_exchange_strong_explicitPU3AS4VU7_AtomiciPU3AS4ii12memory_orderS4_12memory_scope";
        assert_eq!(bytes(exchange), [(0, Some(4)), (1, Some(4))]);
        assert_eq!(bytes("_Z8prefetchPU3AS1KDv4_fm"), []);
        assert_eq!(bytes("_Z13get_global_idj"), []);
        assert_eq!(bytes("printf"), []);
    }

    #[test]
    fn vectors_step_by_their_lanes() {
        let indexed = |name: &str| match accesses(name)[..] {
            [PointerParameter { index: parameter, reach: Reach::Indexed { offset, step, size } }] => {
                (parameter, offset, step, size)
            }
            ref other => panic!("{name}: {other:?}"),
        };
        assert_eq!(indexed("_Z6vload4mPU3AS1Kf"), (1, 0, 16, 16));
        assert_eq!(indexed("_Z7vstore3Dv3_fmPU3AS1f"), (2, 1, 12, 12));
        assert_eq!(indexed("_Z11vstore_halffmPU3AS1Dh"), (2, 1, 2, 2));
        assert_eq!(indexed("_Z12vloada_half3mPU3AS1KDh"), (1, 0, 8, 6));
    }

    #[test]
    fn only_the_global_side_of_a_copy_is_strided() {
        let name = "_Z29async_work_group_strided_copyPU3AS1iPU3AS3Kimm9ocl_event";
        let element = |strided| Reach::Elements { size: 4, strided };
        assert_eq!(
            accesses(name),
            [PointerParameter { index: 0, reach: element(true) }, PointerParameter { index: 1, reach: element(false) }]
        );
        assert_eq!(group_sync(name), Some(GroupSync::Other));
        assert_eq!(group_sync("_Z7barrierj"), Some(GroupSync::Barrier));
        assert_eq!(group_sync("_Z9mem_fencej"), None);
    }
}
