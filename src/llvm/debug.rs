//! Debug information: where code comes from.

use std::path::PathBuf;
use std::sync::LazyLock;

use llvm_sys::debuginfo::LLVMMetadataKind;

use super::ffi;
use super::handles::{Global, Inst, Value};
use super::metadata::{MetadataKind, Node};
use super::text::text;

/// A debug location: file as the module names it, line and column from 1 (line 0: code without a line).
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DebugLocation {
    pub file: String,
    pub line: u32,
    pub column: u32,
}

/// A node that is a debug location, as instructions have it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Location<'m>(Node<'m>);

impl<'m> Location<'m> {
    /// Makes a location in a scope.
    ///
    /// # Panics
    /// If the scope is no function or block of a function.
    pub fn new(scope: Node<'m>, line: u32, column: u32) -> Location<'m> {
        use LLVMMetadataKind::*;
        let kinds = [LLVMDISubprogramMetadataKind, LLVMDILexicalBlockMetadataKind, LLVMDILexicalBlockFileMetadataKind];
        assert!(kinds.into_iter().any(|kind| scope.is(kind)), "a location in a scope without code");
        // SAFETY: a local scope of that context; nothing is inlined.
        let handle = unsafe { ffi::LLVMDIBuilderCreateDebugLocation(scope.context, line, column, scope.handle, None) };
        Location(Node { handle, ..scope })
    }

    /// Returns the node's location, if it is one.
    pub fn of_node(node: Node<'m>) -> Option<Location<'m>> {
        node.is(LLVMMetadataKind::LLVMDILocationMetadataKind).then_some(Location(node))
    }

    /// Returns the metadata node.
    pub fn node(self) -> Node<'m> {
        self.0
    }

    /// Returns the line, from 1; 0 if unknown.
    pub fn line(self) -> u32 {
        // SAFETY: a debug location.
        unsafe { ffi::LLVMDILocationGetLine(self.0.handle) }
    }

    /// Returns the column, from 1; 0 if unknown.
    pub fn column(self) -> u32 {
        // SAFETY: a debug location.
        unsafe { ffi::LLVMDILocationGetColumn(self.0.handle) }
    }

    /// Returns the scope that contains it.
    pub fn scope(self) -> Option<Node<'m>> {
        // SAFETY: a debug location; its scope is a node.
        let handle = unsafe { ffi::LLVMDILocationGetScope(self.0.handle) }?;
        Some(Node { handle, ..self.0 })
    }

    /// Returns the location of the call through which the code came here.
    pub fn inlined_at(self) -> Option<Location<'m>> {
        // SAFETY: a debug location; what it is inlined at is one too.
        let handle = unsafe { ffi::LLVMDILocationGetInlinedAt(self.0.handle) }?;
        Location::of_node(Node { handle, ..self.0 })
    }

    /// Returns file, line and column.
    pub fn place(self) -> DebugLocation {
        let file = self.scope().map_or_else(String::new, Node::scope_file);
        DebugLocation { file, line: self.line(), column: self.column() }
    }
}

/// The current folder when it was first asked for.
static CURRENT: LazyLock<PathBuf> = LazyLock::new(|| std::env::current_dir().unwrap_or_default());

impl<'m> Node<'m> {
    /// Returns the file of a debug scope, with its directory where the name is relative to another folder than the current one; empty
    /// if there is none.
    pub fn scope_file(self) -> String {
        use LLVMMetadataKind::*;
        let scopes = [
            LLVMDIFileMetadataKind,
            LLVMDISubprogramMetadataKind,
            LLVMDILexicalBlockMetadataKind,
            LLVMDILexicalBlockFileMetadataKind,
            LLVMDICompileUnitMetadataKind,
            LLVMDINamespaceMetadataKind,
            LLVMDIModuleMetadataKind,
            LLVMDICompositeTypeMetadataKind,
            LLVMDIBasicTypeMetadataKind,
            LLVMDIDerivedTypeMetadataKind,
            LLVMDISubroutineTypeMetadataKind,
        ];
        if !scopes.into_iter().any(|kind| self.is(kind)) {
            return String::new();
        }
        // SAFETY: a scope; its file is null or a file.
        match unsafe { ffi::LLVMDIScopeGetFile(self.handle) } {
            Some(handle) => Node { handle, ..self }.file_name(),
            None => String::new(),
        }
    }

    fn file_name(self) -> String {
        if !self.is(LLVMMetadataKind::LLVMDIFileMetadataKind) {
            return String::new();
        }
        let mut length = 0;
        // SAFETY: a file; LLVM gives both texts with their lengths.
        let (name, directory) = unsafe {
            let name = ffi::LLVMDIFileGetFilename(self.handle, &mut length);
            let name = text(name, length as usize);
            let directory = ffi::LLVMDIFileGetDirectory(self.handle, &mut length);
            (name, PathBuf::from(text(directory, length as usize)))
        };
        match directory.is_absolute() && directory != *CURRENT {
            true => directory.join(name).to_string_lossy().into_owned(),
            false => name,
        }
    }
}

impl<'m> Inst<'m> {
    /// Returns where the source has it.
    pub fn location(self) -> Option<DebugLocation> {
        self.debug_location().map(Location::place)
    }

    /// Returns the node that says where the source has it.
    pub fn debug_location(self) -> Option<Location<'m>> {
        Some(Location(Node::known(ffi::LLVMInstructionGetDebugLoc(self)?, self.ty().context())))
    }

    /// # Panics
    /// If the location is of another context.
    pub fn set_debug_location(self, location: Option<Location<'m>>) {
        assert!(location.is_none_or(|l| l.0.context == self.ty().context()), "a location of another context");
        // SAFETY: a debug location of the instruction's context, or none.
        unsafe { ffi::LLVMInstructionSetDebugLoc(self, location.map(|l| l.0.handle)) }
    }

    /// Returns the first debug location among the operands, but the first, of the metadata of that kind (`llvm.loop`: the loop's start).
    pub fn metadata_debug_location(self, kind: MetadataKind) -> Option<Location<'m>> {
        let operands = self.metadata(kind)?.operands();
        operands.into_iter().skip(1).filter_map(|operand| operand.node()).find_map(Location::of_node)
    }

    /// Returns file, line and column of [`Inst::metadata_debug_location`].
    pub fn metadata_location(self, kind: MetadataKind) -> Option<DebugLocation> {
        self.metadata_debug_location(kind).map(Location::place)
    }

    /// Returns the variables that debug records in front of it declare: where each is kept, and its node, whose operand 1 is its name.
    pub fn declared_variables(self) -> Vec<(Value<'m>, Node<'m>)> {
        let records = std::iter::successors(ffi::LLVMGetFirstDbgRecord(self), |r| ffi::LLVMGetNextDbgRecord(*r));
        let declares = llvm_sys::LLVMDbgRecordKind::LLVMDbgRecordDeclare as u32;
        let mut all = Vec::new();
        for record in records.filter(|record| ffi::LLVMDbgRecordGetKind(*record) == declares) {
            // SAFETY: a record of a variable's declaration has one place.
            let (place, variable) = unsafe {
                (ffi::LLVMDbgVariableRecordGetValue(record, 0), ffi::LLVMDbgVariableRecordGetVariable(record))
            };
            all.extend(place.map(|place| (place, Node::known(variable, self.ty().context()))));
        }
        all
    }
}

impl Global<'_> {
    /// Returns where debug information says that it is declared; the column is not told (0).
    pub fn location(self) -> Option<DebugLocation> {
        use LLVMMetadataKind::*;
        let expression = self.metadata(MetadataKind::DEBUG)?;
        if !expression.is(LLVMDIGlobalVariableExpressionMetadataKind) {
            return None;
        }
        // SAFETY: an expression of a global variable, whose variable is asked for its file and line.
        unsafe {
            let variable = ffi::LLVMDIGlobalVariableExpressionGetVariable(expression.handle)?;
            let file = ffi::LLVMDIVariableGetFile(variable);
            let file = file.map_or_else(String::new, |handle| Node { handle, ..expression }.file_name());
            Some(DebugLocation { file, line: ffi::LLVMDIVariableGetLine(variable), column: 0 })
        }
    }
}
