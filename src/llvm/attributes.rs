//! Attributes of functions, calls, results and parameters.

use super::ffi;
use super::handles::{AttributeHandle, ContextHandle, Function, Inst, Type};
use super::text::text;

/// Where attributes stand.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum AttributeIndex {
    Function,
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
    /// The instruction is a call.
    Call(Inst<'m>),
}

/// A kind of attribute that has a name in LLVM, such as `nounwind`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct AttributeKind(u32);

impl AttributeKind {
    /// Returns the kind of that name.
    ///
    /// # Panics
    /// If LLVM knows none.
    pub fn of(name: &str) -> AttributeKind {
        // SAFETY: LLVM reads as many bytes as it is told.
        let kind = unsafe { ffi::LLVMGetEnumAttributeKindForName(name.as_ptr().cast(), name.len()) };
        assert!(kind != 0, "LLVM knows no attribute `{name}`");
        AttributeKind(kind)
    }
}

impl<'m> Attribute<'m> {
    /// Returns the kind, unless it is an attribute of text.
    pub fn kind(self) -> Option<AttributeKind> {
        // SAFETY: an attribute that is not of text has such a kind.
        (!self.is_text()).then(|| AttributeKind(unsafe { ffi::LLVMGetEnumAttributeKind(self.handle) }))
    }

    /// Whether it is of text, such as `"no-trapping-math"="true"`.
    pub fn is_text(self) -> bool {
        ffi::LLVMIsStringAttribute(self.handle) != 0
    }

    /// Whether it holds a type, such as `byval`.
    pub fn is_type(self) -> bool {
        ffi::LLVMIsTypeAttribute(self.handle) != 0
    }

    /// Returns the type that it holds.
    pub fn type_value(self) -> Option<Type<'m>> {
        // SAFETY: only an attribute that holds a type is asked for it.
        self.is_type().then(|| unsafe { ffi::LLVMGetTypeAttributeValue(self.handle) })
    }

    /// Returns the number that it holds, such as that of `align`; 0 for one that only is there or not.
    pub fn number(self) -> Option<u64> {
        // SAFETY: only an attribute that may hold a number is asked for it.
        (ffi::LLVMIsEnumAttribute(self.handle) != 0).then(|| unsafe { ffi::LLVMGetEnumAttributeValue(self.handle) })
    }

    /// Returns the key and the value of an attribute of text.
    pub fn text(self) -> Option<(String, String)> {
        if !self.is_text() {
            return None;
        }
        let mut length = 0;
        // SAFETY: an attribute of text; LLVM gives both texts with their lengths.
        unsafe {
            let key = ffi::LLVMGetStringAttributeKind(self.handle, &mut length);
            let key = text(key, length as usize);
            let value = ffi::LLVMGetStringAttributeValue(self.handle, &mut length);
            Some((key, text(value, length as usize)))
        }
    }
}

impl<'m> Attributes<'m> {
    pub(super) fn of_function(function: Function<'m>, index: AttributeIndex) -> Attributes<'m> {
        Attributes { holder: Holder::Function(function), index: index.number() }
    }

    /// `call` is a call.
    pub(super) fn of_call(call: Inst<'m>, index: AttributeIndex) -> Attributes<'m> {
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
        let kind = AttributeKind::of(name).0;
        // SAFETY: a kind that LLVM knows; a call where one is asked.
        let handle = unsafe {
            match self.holder {
                Holder::Function(function) => ffi::LLVMGetEnumAttributeAtIndex(function, self.index, kind),
                Holder::Call(call) => ffi::LLVMGetCallSiteEnumAttribute(call, self.index, kind),
            }
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
        // SAFETY: a call where one is asked; the vector has room for as many as there are, and then that length.
        let handles = unsafe {
            let count = match self.holder {
                Holder::Function(function) => ffi::LLVMGetAttributeCountAtIndex(function, self.index),
                Holder::Call(call) => ffi::LLVMGetCallSiteAttributeCount(call, self.index),
            };
            let mut all = Vec::with_capacity(count as usize);
            match self.holder {
                Holder::Function(function) => ffi::LLVMGetAttributesAtIndex(function, self.index, all.as_mut_ptr()),
                Holder::Call(call) => ffi::LLVMGetCallSiteAttributes(call, self.index, all.as_mut_ptr()),
            }
            all.set_len(count as usize);
            all
        };
        handles.into_iter().map(|handle| self.attribute(handle)).collect()
    }

    /// Whether there is none.
    pub fn is_empty(self) -> bool {
        // SAFETY: a call where one is asked.
        let count = unsafe {
            match self.holder {
                Holder::Function(function) => ffi::LLVMGetAttributeCountAtIndex(function, self.index),
                Holder::Call(call) => ffi::LLVMGetCallSiteAttributeCount(call, self.index),
            }
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
        let handle = unsafe { ffi::LLVMCreateEnumAttribute(self.context(), AttributeKind::of(name).0, value) };
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
            // SAFETY: a call.
            Holder::Call(call) => unsafe { ffi::LLVMAddCallSiteAttribute(call, self.index, attribute.handle) },
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
            Holder::Function(function) => ffi::LLVMRemoveEnumAttributeAtIndex(function, self.index, kind.0),
            // SAFETY: a call, and a kind that LLVM knows.
            Holder::Call(call) => unsafe { ffi::LLVMRemoveCallSiteEnumAttribute(call, self.index, kind.0) },
        }
    }

    /// Removes the attribute of text with that key, if it is there.
    pub fn remove_text(self, key: &str) {
        let (data, length) = (key.as_ptr().cast(), key.len() as u32);
        // SAFETY: LLVM reads as many bytes as it is told; a call where one is told.
        unsafe {
            match self.holder {
                Holder::Function(f) => ffi::LLVMRemoveStringAttributeAtIndex(f, self.index, data, length),
                Holder::Call(call) => ffi::LLVMRemoveCallSiteStringAttribute(call, self.index, data, length),
            }
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
            Holder::Call(call) => call.ty().context(),
        }
    }

    fn attribute(self, handle: AttributeHandle<'m>) -> Attribute<'m> {
        Attribute { handle, context: self.context() }
    }
}
