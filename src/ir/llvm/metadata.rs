//! Metadata of instructions, functions and global variables.

use llvm_sys::LLVMOpaqueValueMetadataEntry;

use super::ffi;
use super::handles::{ContextHandle, Function, Global, Inst, NodeHandle, Type, Value};
use super::narrow::NodeValue;

/// A kind of metadata, such as `llvm.loop`. See `View::metadata_kind`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MetadataKind(pub(super) u32);

impl MetadataKind {
    /// Debug locations of instructions, subprograms of functions, variables of globals.
    pub const DEBUG: MetadataKind = MetadataKind(0);
}

/// A metadata node; its operands can be asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Node<'m> {
    pub(super) handle: NodeHandle<'m>,
    pub(super) context: ContextHandle<'m>,
}

/// An operand of a metadata node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Operand<'m> {
    /// `null`, or an operand of a kind that is not read.
    Nothing,
    /// A string.
    Text(String),
    /// Another node.
    Node(Node<'m>),
    /// A constant.
    Value(Value<'m>),
}

impl<'m> Operand<'m> {
    /// Returns the node, if it is one.
    pub fn node(&self) -> Option<Node<'m>> {
        if let Operand::Node(node) = self { Some(*node) } else { None }
    }

    /// Returns the text, if it is one.
    pub fn text(&self) -> Option<&str> {
        if let Operand::Text(text) = self { Some(text) } else { None }
    }

    /// Returns the number of a constant integer of at most 64 bits.
    pub fn number(&self) -> Option<u64> {
        if let Operand::Value(value) = self { value.as_u64() } else { None }
    }
}

impl<'m> Node<'m> {
    /// `handle` is a node of the context.
    pub(super) fn known(handle: NodeHandle<'m>, context: ContextHandle<'m>) -> Node<'m> {
        Node { handle, context }
    }

    /// Makes a node, in the context of `ty`.
    ///
    /// # Panics
    /// If an operand is of another context, or a value is no constant.
    pub fn new(ty: Type<'m>, operands: &[Operand<'m>]) -> Node<'m> {
        let context = ty.context();
        let mut handles: Vec<Option<NodeHandle<'m>>> = operands.iter().map(|o| handle_of(o, context)).collect();
        // SAFETY: as many operands as said, of that context.
        let handle = unsafe { ffi::LLVMMDNodeInContext2(context, handles.as_mut_ptr(), handles.len()) };
        Node { handle, context }
    }

    /// Returns the operands, in order.
    pub fn operands(self) -> Vec<Operand<'m>> {
        self.operand_values().into_iter().map(|operand| self.read(operand)).collect()
    }

    /// Returns the operand at a position; nothing if the node has not that many.
    pub fn operand(self, index: usize) -> Operand<'m> {
        self.read(self.operand_values().get(index).copied().flatten())
    }

    fn operand_values(self) -> Vec<Option<Value<'m>>> {
        NodeValue::of(self.value()).map(ffi::node_operands).unwrap_or_default()
    }

    fn read(self, operand: Option<Value<'m>>) -> Operand<'m> {
        let Some(value) = operand else { return Operand::Nothing };
        if !value.is_metadata() {
            return Operand::Value(value);
        }
        if let Some(text) = ffi::metadata_string(value) {
            return Operand::Text(text);
        }
        // What stands for a value of a function is no node, and says nothing here.
        match ffi::LLVMIsAMDNode(value).map(|value| ffi::LLVMValueAsMetadata(value)).filter(|handle| is_node(*handle)) {
            Some(handle) => Operand::Node(Node { handle, ..self }),
            None => Operand::Nothing,
        }
    }

    /// Returns the node as a value, as intrinsics take it.
    pub fn value(self) -> Value<'m> {
        ffi::LLVMMetadataAsValue(self.context, self.handle)
    }

    /// Returns the node of a value that is one.
    pub fn of_value(value: Value<'m>) -> Option<Node<'m>> {
        let handle =
            value.is_metadata().then(|| ffi::LLVMIsAMDNode(value))?.map(|value| ffi::LLVMValueAsMetadata(value))?;
        is_node(handle).then(|| Node { handle, context: value.ty().context() })
    }

    /// Whether it is of that class of LLVM's metadata.
    pub fn is(self, class: llvm_sys::debuginfo::LLVMMetadataKind) -> bool {
        ffi::LLVMGetMetadataKind(self.handle) == class as u32
    }
}

/// Whether it is a node, and not a value that stands for itself.
fn is_node(handle: NodeHandle<'_>) -> bool {
    use llvm_sys::debuginfo::LLVMMetadataKind::{LLVMConstantAsMetadataMetadataKind, LLVMLocalAsMetadataMetadataKind};
    let class = ffi::LLVMGetMetadataKind(handle);
    class != LLVMConstantAsMetadataMetadataKind as u32 && class != LLVMLocalAsMetadataMetadataKind as u32
}

fn handle_of<'m>(operand: &Operand<'m>, context: ContextHandle<'m>) -> Option<NodeHandle<'m>> {
    match operand {
        Operand::Nothing => None,
        Operand::Text(text) => Some(ffi::metadata_of_string(context, text)),
        Operand::Node(node) => {
            assert_eq!(node.context, context, "a node of another context");
            Some(node.handle)
        }
        Operand::Value(value) => {
            assert!(value.is_constant() && value.ty().context() == context, "{} in metadata", value.text());
            Some(ffi::LLVMValueAsMetadata(*value))
        }
    }
}

/// A list of attached metadata that LLVM made for its caller.
struct Entries {
    list: *mut LLVMOpaqueValueMetadataEntry,
    count: usize,
}

impl Entries {
    /// `count` is what LLVM wrote when it made the list.
    fn all<'m>(&self, context: ContextHandle<'m>) -> Vec<(MetadataKind, Node<'m>)> {
        // SAFETY: indices below the number of entries; what is attached are nodes of the context.
        let entry = |i| unsafe {
            let node = ffi::LLVMValueMetadataEntriesGetMetadata(self.list, i);
            (MetadataKind(ffi::LLVMValueMetadataEntriesGetKind(self.list, i)), Node::known(node, context))
        };
        (0..self.count as u32).map(entry).collect()
    }
}

impl Drop for Entries {
    fn drop(&mut self) {
        // SAFETY: LLVM made the list for its caller, and it is freed once.
        unsafe { ffi::LLVMDisposeValueMetadataEntries(self.list) }
    }
}

impl<'m> Inst<'m> {
    /// Returns the metadata of that kind.
    pub fn metadata(self, kind: MetadataKind) -> Option<Node<'m>> {
        Node::of_value(ffi::LLVMGetMetadata(self, kind.0)?)
    }

    /// Attaches metadata, or takes it away.
    ///
    /// # Panics
    /// If the node is of another context, or the kind is that of debug locations ([`Inst::set_debug_location`]).
    pub fn set_metadata(self, kind: MetadataKind, node: Option<Node<'m>>) {
        assert!(kind != MetadataKind::DEBUG, "a debug location is set as metadata");
        assert!(node.is_none_or(|node| node.context == self.ty().context()), "a node of another context");
        // SAFETY: a node of the instruction's context, or nothing.
        unsafe { ffi::LLVMSetMetadata(self, kind.0, node.map(Node::value)) }
    }

    /// Returns all metadata but the debug location.
    pub fn all_metadata(self) -> Vec<(MetadataKind, Node<'m>)> {
        let mut count = 0;
        let list = ffi::LLVMInstructionGetAllMetadataOtherThanDebugLoc(self, &mut count);
        Entries { list, count }.all(self.ty().context())
    }

    /// Takes away all metadata but the debug location.
    pub fn drop_metadata(self) {
        for (kind, _) in self.all_metadata() {
            self.set_metadata(kind, None);
        }
    }
}

/// Implements metadata of functions and global variables.
macro_rules! global_metadata {
    ($($handle:ident)*) => {$(
        impl<'m> $handle<'m> {
            /// Returns all metadata attached, in LLVM's order.
            pub fn all_metadata(self) -> Vec<(MetadataKind, Node<'m>)> {
                let mut count = 0;
                let list = ffi::LLVMGlobalCopyAllMetadata(self.into(), &mut count);
                Entries { list, count }.all(self.ty().context())
            }

            /// Returns the first metadata of that kind.
            pub fn metadata(self, kind: MetadataKind) -> Option<Node<'m>> {
                self.all_metadata().into_iter().find(|(own, _)| *own == kind).map(|(_, node)| node)
            }

            /// Attaches metadata in place of what there was of that kind.
            ///
            /// # Panics
            /// If the node is of another context, or is no debug information where that is wanted.
            pub fn set_metadata(self, kind: MetadataKind, node: Node<'m>) {
                assert_eq!(node.context, self.ty().context(), "a node of another context");
                assert!(kind != MetadataKind::DEBUG || node.describes_global(), "a node that does not describe a global");
                // SAFETY: a node of the global's context, and debug information where that is wanted.
                unsafe { ffi::LLVMGlobalSetMetadata(self.into(), kind.0, node.handle) }
            }

            /// Takes away all metadata.
            pub fn clear_metadata(self) {
                ffi::LLVMGlobalClearMetadata(self.into());
            }
        }
    )*};
}

global_metadata! { Function Global }

impl Node<'_> {
    /// Whether it is debug information of a function or a global variable.
    fn describes_global(self) -> bool {
        use llvm_sys::debuginfo::LLVMMetadataKind::*;
        self.is(LLVMDISubprogramMetadataKind) || self.is(LLVMDIGlobalVariableExpressionMetadataKind)
    }
}
