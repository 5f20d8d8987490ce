//! Debug information: where code comes from.

use std::fmt;
use std::marker::PhantomData;
use std::path::PathBuf;
use std::sync::LazyLock;

use kassay_base::error::Position;

use super::ffi;
use super::handles::{ContextHandle, Global, Inst, NodeHandle, Value, Variable};
use super::metadata::{MetadataKind, Node};
use super::narrow::{Declaration, File, GlobalExpression, LocalScope, LocationHandle, Scope};

/// The last column that debug locations have: LLVM keeps them in 16 bits. What is further right on a line has column 0.
pub const LAST_COLUMN: u32 = u16::MAX as u32;

/// A debug location: file as the module names it, line and column from 1 (line 0: code without a line; column 0: it is
/// not known).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DebugLocation {
    /// The file, as the module names it.
    pub file: String,
    /// Counts from 1; 0: code without a line.
    pub line: u32,
    /// Counts from 1; 0: it is not known.
    pub column: u32,
}

/// `file:line:column`, as far as it is known.
impl fmt::Display for DebugLocation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.file, Position { line: self.line, column: self.column })
    }
}

/// A node that is a debug location, as instructions have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Location<'m> {
    pub(super) handle: LocationHandle<'m>,
    pub(super) context: ContextHandle<'m>,
}

impl<'m> Location<'m> {
    /// Makes a location in a scope.
    ///
    /// # Panics
    /// If the scope is no function or block of a function.
    pub fn new(scope: Node<'m>, line: u32, column: u32) -> Location<'m> {
        let (local, context) = (LocalScope::of(scope.handle).expect("a scope with code"), scope.context);
        // SAFETY: a scope of that context; nothing is inlined.
        let handle = unsafe { ffi::LLVMDIBuilderCreateDebugLocation(context, line, column, local, None) };
        Location { handle, context }
    }

    /// Returns the node's location, if it is one.
    pub fn of_node(node: Node<'m>) -> Option<Location<'m>> {
        Some(Location { handle: LocationHandle::of(node.handle)?, context: node.context })
    }

    /// Returns the metadata node.
    pub fn node(self) -> Node<'m> {
        Node::known(self.handle.into(), self.context)
    }

    /// Returns the line, from 1; 0 if unknown.
    pub fn line(self) -> u32 {
        ffi::LLVMDILocationGetLine(self.handle)
    }

    /// Returns the column, from 1; 0 if unknown.
    pub fn column(self) -> u32 {
        ffi::LLVMDILocationGetColumn(self.handle)
    }

    /// Returns the scope that contains it.
    pub fn scope(self) -> Option<Node<'m>> {
        Some(Node::known(ffi::LLVMDILocationGetScope(self.handle)?, self.context))
    }

    /// Returns the location of the call through which the code came here.
    pub fn inlined_at(self) -> Option<Location<'m>> {
        Some(Location { handle: ffi::LLVMDILocationGetInlinedAt(self.handle)?, ..self })
    }

    /// Returns file, line and column.
    pub fn place(self) -> DebugLocation {
        let file = self.scope().map_or_else(String::new, Node::scope_file);
        DebugLocation { file, line: self.line(), column: self.column() }
    }
}

/// The current folder when it was first asked for.
static CURRENT: LazyLock<PathBuf> = LazyLock::new(|| std::env::current_dir().unwrap_or_default());

impl Node<'_> {
    /// Returns the file of a debug scope, with its directory where the name is relative to another folder than the
    /// current one; empty if there is none.
    pub fn scope_file(self) -> String {
        Scope::of(self.handle).and_then(|scope| ffi::LLVMDIScopeGetFile(scope)).map(file_name).unwrap_or_default()
    }
}

impl Node<'_> {
    /// Returns where a variable of a function is declared, if the node is one; the column is unknown (0).
    pub fn variable_location(self) -> Option<DebugLocation> {
        if !self.is(llvm_sys::debuginfo::LLVMMetadataKind::LLVMDILocalVariableMetadataKind) {
            return None;
        }
        let variable = Variable(self.handle.0, PhantomData);
        let file = ffi::LLVMDIVariableGetFile(variable).map(file_name).unwrap_or_default();
        Some(DebugLocation { file, line: ffi::LLVMDIVariableGetLine(variable), column: 0 })
    }
}

/// Returns the name of a file, if the node is one.
fn file_name(node: NodeHandle<'_>) -> String {
    let Some(file) = File::of(node) else { return String::new() };
    let name = ffi::file_name(file).unwrap_or_default();
    let directory = PathBuf::from(ffi::file_directory(file).unwrap_or_default());
    match directory.is_absolute() && directory != *CURRENT {
        true => directory.join(name).to_string_lossy().into_owned(),
        false => name,
    }
}

impl<'m> Inst<'m> {
    /// Returns where the source has it.
    pub fn location(self) -> Option<DebugLocation> {
        self.debug_location().map(Location::place)
    }

    /// Returns the node that says where the source has it.
    pub fn debug_location(self) -> Option<Location<'m>> {
        Some(Location { handle: ffi::LLVMInstructionGetDebugLoc(self)?, context: self.ty().context() })
    }

    /// # Panics
    /// If the location is of another context.
    pub fn set_debug_location(self, location: Option<Location<'m>>) {
        assert!(location.is_none_or(|l| l.context == self.ty().context()), "a location of another context");
        // SAFETY: a debug location of the instruction's context, or none.
        unsafe { ffi::LLVMInstructionSetDebugLoc(self, location.map(|l| l.handle)) }
    }

    /// Returns the first debug location among the operands, but the first, of the metadata of that kind (`llvm.loop`:
    /// the loop's start).
    pub fn metadata_debug_location(self, kind: MetadataKind) -> Option<Location<'m>> {
        let operands = self.metadata(kind)?.operands();
        operands.into_iter().skip(1).filter_map(|operand| operand.node()).find_map(Location::of_node)
    }

    /// Returns file, line and column of [`Inst::metadata_debug_location`].
    pub fn metadata_location(self, kind: MetadataKind) -> Option<DebugLocation> {
        self.metadata_debug_location(kind).map(Location::place)
    }

    /// Returns the variables that debug records in front of it declare: where each is kept, and its node, whose operand
    /// 1 is its name.
    pub fn declared_variables(self) -> Vec<(Value<'m>, Node<'m>)> {
        let records = std::iter::successors(ffi::LLVMGetFirstDbgRecord(self), |r| ffi::LLVMGetNextDbgRecord(*r));
        let declared = |declaration: Declaration<'m>| {
            let variable = ffi::LLVMDbgVariableRecordGetVariable(declaration);
            // SAFETY: a declaration has one place.
            let place = unsafe { ffi::LLVMDbgVariableRecordGetValue(declaration, 0) }?;
            Some((place, Node::known(variable, self.ty().context())))
        };
        records.filter_map(Declaration::of).filter_map(declared).collect()
    }
}

impl Global<'_> {
    /// Returns where debug information says that it is declared; the column is unknown (0).
    pub fn location(self) -> Option<DebugLocation> {
        let expression = GlobalExpression::of(self.metadata(MetadataKind::DEBUG)?.handle)?;
        let variable = ffi::LLVMDIGlobalVariableExpressionGetVariable(expression)?;
        let file = ffi::LLVMDIVariableGetFile(variable).map(file_name).unwrap_or_default();
        Some(DebugLocation { file, line: ffi::LLVMDIVariableGetLine(variable), column: 0 })
    }
}
