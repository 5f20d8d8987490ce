//! What LLVM's attributes let an optimiser assume: each attribute stands here once, with what it says.
//!
//! Weaving makes some of it false (a kernel with probes writes memory), a mutant may do what the original never does,
//! and what a simulator observes must not depend on how an optimiser treats an error. Each of them drops what it has to
//! by these functions.

use std::sync::LazyLock;

use super::attributes::{AttributeIndex, AttributeKind, Attributes};
use super::handles::{Function, Inst};
use super::view::View;

/// What an attribute says.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Nature {
    /// Of a parameter's or result's value, or the memory that it points to; it comes from the source (`restrict`,
    /// types).
    SourceValue,
    /// The same, as an optimiser infers it from the code.
    InferredValue,
    /// What a function does, and what woven code does not change.
    Effect,
    /// What a function does, and code that is woven in does more: it writes memory, waits, or ends a loop by fuel.
    WovenEffect,
    /// How arguments and results are passed.
    Passing,
    /// How code is to be generated, or what an optimiser must not do: nothing follows from it.
    Directive,
}

/// All attributes of LLVM 22 (`llvm/IR/Attributes.td`).
const ATTRIBUTES: &[(Nature, &[&str])] = &[
    (Nature::SourceValue, &["align", "dead_on_unwind", "noalias", "writable"]),
    (
        Nature::InferredValue,
        &[
            "allocalign",
            "allocptr",
            "captures",
            "dead_on_return",
            "dereferenceable",
            "dereferenceable_or_null",
            "initializes",
            "nofpclass",
            "nonnull",
            "noundef",
            "range",
            "readnone",
            "readonly",
            "returned",
            "writeonly",
        ],
    ),
    (
        Nature::Effect,
        &["allockind", "allocsize", "nocallback", "nocreateundeforpoison", "nofree", "norecurse", "noreturn"],
    ),
    (Nature::WovenEffect, &["memory", "mustprogress", "nosync", "speculatable", "willreturn"]),
    (
        Nature::Passing,
        &[
            "byref",
            "byval",
            "elementtype",
            "immarg",
            "inalloca",
            "inreg",
            "nest",
            "noext",
            "preallocated",
            "signext",
            "sret",
            "swiftasync",
            "swifterror",
            "swiftself",
            "zeroext",
        ],
    ),
    (
        Nature::Directive,
        &[
            "alignstack",
            "alwaysinline",
            "builtin",
            "cold",
            "convergent",
            "coro_elide_safe",
            "coro_only_destroy_when_complete",
            "disable_sanitizer_instrumentation",
            "fn_ret_thunk_extern",
            "hot",
            "hybrid_patchable",
            "inlinehint",
            "jumptable",
            "minsize",
            "naked",
            "nobuiltin",
            "nocf_check",
            "nodivergencesource",
            "noduplicate",
            "noimplicitfloat",
            "noinline",
            "nomerge",
            "nonlazybind",
            "noprofile",
            "noredzone",
            "nosanitize_bounds",
            "nosanitize_coverage",
            // Nothing throws in kernels.
            "nounwind",
            "null_pointer_is_valid",
            "optdebug",
            "optforfuzzing",
            "optnone",
            "optsize",
            "presplitcoroutine",
            "returns_twice",
            "safestack",
            "sanitize_address",
            "sanitize_alloc_token",
            "sanitize_hwaddress",
            "sanitize_memory",
            "sanitize_memtag",
            "sanitize_numerical_stability",
            "sanitize_realtime",
            "sanitize_realtime_blocking",
            "sanitize_thread",
            "sanitize_type",
            "shadowcallstack",
            "skipprofile",
            "speculative_load_hardening",
            "ssp",
            "sspreq",
            "sspstrong",
            "strictfp",
            "uwtable",
            "vscale_range",
        ],
    ),
];

/// Kinds by nature: looking names up for every call of every mutant takes longer than removing the attributes.
struct Kinds {
    values: Vec<AttributeKind>,
    inferred: Vec<AttributeKind>,
    effects: Vec<AttributeKind>,
    woven: Vec<AttributeKind>,
    passing: Vec<AttributeKind>,
}

static KINDS: LazyLock<Kinds> = LazyLock::new(|| {
    let of = |natures: &[Nature]| {
        let names = ATTRIBUTES.iter().filter(|(nature, _)| natures.contains(nature)).flat_map(|(_, names)| *names);
        names.map(|name| AttributeKind::of(name)).collect()
    };
    Kinds {
        values: of(&[Nature::SourceValue, Nature::InferredValue]),
        inferred: of(&[Nature::InferredValue]),
        effects: of(&[Nature::Effect, Nature::WovenEffect]),
        woven: of(&[Nature::WovenEffect]),
        passing: of(&[Nature::Passing]),
    }
});

/// Where a function with so many parameters, or a call with so many arguments, may have attributes about values.
fn values(count: u32) -> impl Iterator<Item = AttributeIndex> {
    std::iter::once(AttributeIndex::Result).chain((0..count).map(AttributeIndex::Parameter))
}

/// A function or a call.
#[derive(Debug, Clone, Copy)]
pub enum Holder<'m> {
    /// A function, whose attributes hold for all calls.
    Function(Function<'m>),
    /// A call, whose attributes hold for it alone.
    Call(Inst<'m>),
}

impl<'m> Holder<'m> {
    fn at(self, index: AttributeIndex) -> Attributes<'m> {
        match self {
            Holder::Function(function) => function.attributes(index),
            Holder::Call(call) => call.attributes(index),
        }
    }

    fn values(self) -> impl Iterator<Item = Attributes<'m>> {
        let count = match self {
            Holder::Function(function) => function.param_count(),
            Holder::Call(call) => call.arg_count(),
        };
        values(count).map(move |index| self.at(index)).filter(|attributes| !attributes.is_empty())
    }

    fn remove(self, kinds: &[AttributeKind]) {
        let own = self.at(AttributeIndex::Function);
        kinds.iter().for_each(|kind| own.remove_kind(*kind));
    }

    /// Drops what is said of values.
    pub fn drop_values(self) {
        self.values().for_each(|place| KINDS.values.iter().for_each(|kind| place.remove_kind(*kind)));
    }

    /// Drops what is said of values but comes from the code, not from the source.
    pub fn drop_inferred_values(self) {
        self.values().for_each(|place| KINDS.inferred.iter().for_each(|kind| place.remove_kind(*kind)));
    }

    /// Drops what is said of what it does.
    pub fn drop_effects(self) {
        self.remove(&KINDS.effects);
    }

    /// Drops what is said of what it does, as far as woven code makes it false.
    pub fn drop_woven_effects(self) {
        self.remove(&KINDS.woven);
    }

    /// Drops everything but how arguments and results are passed, and that nothing throws.
    pub fn drop_all(self) {
        let (nounwind, align) = (AttributeKind::of("nounwind"), AttributeKind::of("align"));
        let places = std::iter::once(self.at(AttributeIndex::Function)).chain(self.values());
        for place in places {
            // The alignment of a copy is a part of how it is passed.
            let by_value = place.all().iter().any(|attribute| attribute.is_type());
            place.retain(|attribute| {
                attribute.is_type()
                    || attribute.kind().is_some_and(|kind| {
                        kind == nounwind || KINDS.passing.contains(&kind) || by_value && kind == align
                    })
            });
        }
    }
}

/// Drops what a module's functions, and calls of them, say of effects, as far as woven code makes it false.
pub fn drop_woven_effects(module: View<'_>) {
    for function in module.functions().into_iter().filter(|f| f.has_body()) {
        Holder::Function(function).drop_woven_effects();
        let calls = function.instructions().into_iter().filter(|i| i.called_function().is_some_and(Function::has_body));
        calls.for_each(|call| Holder::Call(call).drop_woven_effects());
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// A version of LLVM with another attribute fails this until the attribute has its place in the table.
    #[test]
    fn every_attribute_that_llvm_knows_stands_in_the_table_once() {
        let names: Vec<&str> = ATTRIBUTES.iter().flat_map(|(_, names)| *names).copied().collect();
        let kinds: BTreeSet<u32> = names.iter().map(|name| AttributeKind::of(name).number()).collect();
        assert_eq!(kinds.len(), names.len(), "some attribute stands there twice");
        assert_eq!(kinds, (1..AttributeKind::end().number()).collect());
    }
}
