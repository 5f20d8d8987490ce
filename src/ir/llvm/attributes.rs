//! Attributes of functions, calls, results and parameters.

use super::ffi;
use super::handles::{AttributeHandle, ContextHandle, Function, Inst, Type};
use super::narrow::{Call, KnownAttribute, NumberAttribute, TextAttribute, TypeAttribute};

/// Where attributes stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AttributeIndex {
    /// Of the function itself, or of a call.
    Function,
    /// Of the result.
    Result,
    /// A parameter or argument, from 0.
    Parameter(u32),
}

impl AttributeIndex {
    /// Returns LLVM's number of the place.
    fn number(self) -> u32 {
        match self {
            AttributeIndex::Function => u32::MAX,
            AttributeIndex::Result => 0,
            AttributeIndex::Parameter(position) => position + 1,
        }
    }
}

/// An attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Attribute<'m> {
    handle: AttributeHandle<'m>,
    context: ContextHandle<'m>,
}

/// The attributes at one place of a function or call.
#[derive(Debug, Clone, Copy)]
pub struct Attributes<'m> {
    holder: Holder<'m>,
    index: u32,
}

#[derive(Debug, Clone, Copy)]
enum Holder<'m> {
    Function(Function<'m>),
    Call(Call<'m>),
}

/// A kind of attribute that has a name in LLVM, such as `nounwind`.
#[repr(transparent)]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AttributeKind(u32);

impl AttributeKind {
    /// Returns the kind of that name.
    ///
    /// # Panics
    /// If LLVM knows none.
    pub fn of(name: &str) -> AttributeKind {
        let kind = ffi::attribute_kind(name);
        assert!(kind != 0, "LLVM knows no attribute `{name}`");
        AttributeKind(kind)
    }

    /// Returns what follows the last of the kinds that LLVM knows; their numbers begin with 1.
    pub fn end() -> AttributeKind {
        ffi::LLVMGetLastEnumAttributeKind()
    }

    /// The number that this version of LLVM has for it.
    pub fn number(self) -> u32 {
        self.0
    }
}

impl<'m> Attribute<'m> {
    /// Returns the kind, unless it is an attribute of text.
    pub fn kind(self) -> Option<AttributeKind> {
        KnownAttribute::of(self.handle).map(|attribute| ffi::LLVMGetEnumAttributeKind(attribute))
    }

    /// Whether it is of text, such as `"no-trapping-math"="true"`.
    pub fn is_text(self) -> bool {
        TextAttribute::of(self.handle).is_some()
    }

    /// Whether it holds a type, such as `byval`.
    pub fn is_type(self) -> bool {
        TypeAttribute::of(self.handle).is_some()
    }

    /// Returns the type that it holds.
    pub fn type_value(self) -> Option<Type<'m>> {
        TypeAttribute::of(self.handle).map(|attribute| ffi::LLVMGetTypeAttributeValue(attribute))
    }

    /// Returns the number that it holds, such as that of `align`; 0 for one that only is there or not.
    pub fn number(self) -> Option<u64> {
        NumberAttribute::of(self.handle).map(|attribute| ffi::LLVMGetEnumAttributeValue(attribute))
    }

    /// Returns the key and the value of an attribute of text.
    pub fn text(self) -> Option<(String, String)> {
        let attribute = TextAttribute::of(self.handle)?;
        let (key, value) = (ffi::attribute_key(attribute), ffi::attribute_text(attribute));
        Some((key.unwrap_or_default(), value.unwrap_or_default()))
    }
}

impl<'m> Attributes<'m> {
    pub(super) fn of_function(function: Function<'m>, index: AttributeIndex) -> Attributes<'m> {
        Attributes { holder: Holder::Function(function), index: index.number() }
    }

    pub(super) fn of_call(call: Call<'m>, index: AttributeIndex) -> Attributes<'m> {
        Attributes { holder: Holder::Call(call), index: index.number() }
    }

    /// Whether there is an attribute of that name.
    pub fn has(self, name: &str) -> bool {
        self.get(name).is_some()
    }

    /// Returns the attribute of that name.
    ///
    /// # Panics
    /// If LLVM knows none.
    pub fn get(self, name: &str) -> Option<Attribute<'m>> {
        let kind = AttributeKind::of(name);
        let handle = match self.holder {
            Holder::Function(function) => ffi::LLVMGetEnumAttributeAtIndex(function, self.index, kind),
            Holder::Call(call) => ffi::LLVMGetCallSiteEnumAttribute(call, self.index, kind),
        };
        handle.map(|handle| self.attribute(handle))
    }

    /// Returns the value of the attribute of text with that key.
    pub fn text(self, key: &str) -> Option<String> {
        let texts = self.all().into_iter().filter_map(Attribute::text);
        texts.into_iter().find(|(own, _)| own == key).map(|(_, value)| value)
    }

    /// Returns all attributes, in LLVM's order.
    pub fn all(self) -> Vec<Attribute<'m>> {
        let all = match self.holder {
            Holder::Function(function) => ffi::function_attributes(function, self.index),
            Holder::Call(call) => ffi::call_attributes(call, self.index),
        };
        all.into_iter().map(|handle| self.attribute(handle)).collect()
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        let count = match self.holder {
            Holder::Function(function) => ffi::LLVMGetAttributeCountAtIndex(function, self.index),
            Holder::Call(call) => ffi::LLVMGetCallSiteAttributeCount(call, self.index),
        };
        count == 0
    }

    /// Adds an attribute that only is there or not, such as `nounwind`.
    ///
    /// # Panics
    /// If LLVM knows none of that name, or it holds a type or a range.
    pub fn add_flag(self, name: &str) {
        self.add_number(name, 0);
    }

    /// Adds an attribute with a number, such as `align`.
    ///
    /// # Panics
    /// As [`Attributes::add_flag`].
    pub fn add_number(self, name: &str, value: u64) {
        const OTHERS: [&str; 8] =
            ["byref", "byval", "elementtype", "inalloca", "preallocated", "sret", "range", "initializes"];
        assert!(!OTHERS.contains(&name), "`{name}` holds no number");
        // SAFETY: a kind that LLVM knows, and none whose values are of another sort.
        let handle = unsafe { ffi::LLVMCreateEnumAttribute(self.context(), AttributeKind::of(name), value) };
        self.add(self.attribute(handle));
    }

    /// Adds the attribute `range`, for a parameter or result of integers with `bits` bits: it is at least `low` and at
    /// most `high`, as an unsigned number.
    ///
    /// # Panics
    /// Unless `low <= high` and both fit the bits, of which there are 1 to 64, or if every number is in the range.
    pub fn add_range(self, bits: u32, low: u64, high: u64) {
        let most = u64::MAX >> 64u32.checked_sub(bits).filter(|unused| *unused < 64).expect("1 to 64 bits");
        assert!(low <= high && high <= most && (low > 0 || high < most), "no range of {bits} bits: {low} to {high}");
        let upper = high.wrapping_add(1) & most;
        // SAFETY: the kind is that of ranges, and up to 64 bits are one word.
        let handle = unsafe {
            ffi::LLVMCreateConstantRangeAttribute(self.context(), AttributeKind::of("range"), bits, &low, &upper)
        };
        self.add(self.attribute(handle));
    }

    /// Adds an attribute of text.
    pub fn add_text(self, key: &str, value: &str) {
        let (key_len, value_len) = (key.len() as u32, value.len() as u32);
        // SAFETY: LLVM reads as many bytes as it is told.
        let handle = unsafe {
            ffi::LLVMCreateStringAttribute(
                self.context(),
                key.as_ptr().cast(),
                key_len,
                value.as_ptr().cast(),
                value_len,
            )
        };
        self.add(self.attribute(handle));
    }

    /// Adds an attribute that stands elsewhere already.
    ///
    /// # Panics
    /// If that is in another context.
    pub fn add(self, attribute: Attribute<'m>) {
        assert_eq!(attribute.context, self.context(), "an attribute of another context");
        match self.holder {
            Holder::Function(function) => ffi::LLVMAddAttributeAtIndex(function, self.index, attribute.handle),
            Holder::Call(call) => ffi::LLVMAddCallSiteAttribute(call, self.index, attribute.handle),
        }
    }

    /// Removes the attribute of that name, if it is there.
    ///
    /// # Panics
    /// If LLVM knows none.
    pub fn remove(self, name: &str) {
        self.remove_kind(AttributeKind::of(name));
    }

    /// Removes the attribute of that kind, if it is there.
    pub fn remove_kind(self, kind: AttributeKind) {
        match self.holder {
            Holder::Function(function) => ffi::LLVMRemoveEnumAttributeAtIndex(function, self.index, kind),
            Holder::Call(call) => ffi::LLVMRemoveCallSiteEnumAttribute(call, self.index, kind),
        }
    }

    /// Removes the attribute of text with that key, if it is there.
    pub fn remove_text(self, key: &str) {
        match self.holder {
            Holder::Function(function) => ffi::remove_text_attribute(function, self.index, key),
            Holder::Call(call) => ffi::remove_call_text_attribute(call, self.index, key),
        }
    }

    /// Removes all attributes but those that `keep` names.
    pub fn retain(self, keep: impl Fn(Attribute<'m>) -> bool) {
        for attribute in self.all().into_iter().filter(|a| !keep(*a)) {
            match (attribute.text(), attribute.kind()) {
                (Some((key, _)), _) => self.remove_text(&key),
                (None, Some(kind)) => self.remove_kind(kind),
                (None, None) => {}
            }
        }
    }

    fn context(self) -> ContextHandle<'m> {
        match self.holder {
            Holder::Function(function) => function.context(),
            Holder::Call(call) => Inst::from(call).ty().context(),
        }
    }

    fn attribute(self, handle: AttributeHandle<'m>) -> Attribute<'m> {
        Attribute { handle, context: self.context() }
    }
}
