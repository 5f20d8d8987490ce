//! Libraries of builtins, of which linking takes what a module needs.

use std::path::Path;

use inkwell::context::ContextRef;
use inkwell::memory_buffer::MemoryBuffer;
use inkwell::module::Module;
use kassay_base::error::{Error, Result};

use super::missing;
use crate::llvm::{self, Linkage, Type, View};

/// Builds the error for builtins that LLVM does not read or link.
pub fn unreadable(e: impl std::fmt::Display) -> Error {
    Error::internal("the builtins cannot be linked").details(e.to_string())
}

/// Returns the functions that are used but have no body, with their types.
pub fn undefined<'m>(module: &'m Module<'_>) -> Vec<(String, Type<'m>)> {
    let functions = View::of(module).functions().into_iter();
    let wanted = functions.filter(|f| !f.has_body() && !f.name().starts_with("llvm.") && f.is_used());
    wanted.map(|f| (f.name(), f.value_type())).collect()
}

/// A library from which only linked functions are read.
pub struct Library<'c>(Module<'c>);

impl<'c> Library<'c> {
    pub fn open(context: ContextRef<'c>, bitcode: &Source<'_>) -> Result<Library<'c>> {
        let buffer = match bitcode {
            Source::Embedded(bitcode) => MemoryBuffer::create_from_memory_range(bitcode, "builtins"),
            Source::File(path) => file(path).map_err(|why| bitcode.unreadable(&why))?,
        };
        let library = llvm::read_lazily(context, buffer).map_err(|why| bitcode.unreadable(&why))?;
        // So that linking takes only the functions that are needed.
        let view = View::of(&library);
        for f in view.functions() {
            if !f.is_declaration() && f.linkage() == Linkage::LLVMExternalLinkage {
                f.set_linkage(Linkage::LLVMLinkOnceODRLinkage);
            }
        }
        for global in view.globals() {
            if !global.is_declaration() && global.linkage() == Linkage::LLVMExternalLinkage {
                global.set_linkage(Linkage::LLVMLinkOnceODRLinkage);
            }
        }
        Ok(Library(library))
    }

    pub fn defines(&self, name: &str) -> bool {
        View::of(&self.0).function(name).is_some_and(|f| !f.is_declaration())
    }

    /// Links the functions that `into` declares.
    pub fn link(self, into: &mut Module<'c>) -> Result<()> {
        self.0.set_triple(&into.get_triple());
        self.0.set_data_layout(&into.get_data_layout());
        llvm::link(into, self.0).map_err(unreadable)
    }
}

fn file(path: &Path) -> std::result::Result<MemoryBuffer<'static>, String> {
    path.to_str().ok_or("its path is not Unicode")?;
    MemoryBuffer::create_from_file(path).map_err(|e| e.to_string())
}

/// libclc, opened when first needed: reading its list of functions takes a third of the time from a short kernel
/// to its launch.
pub struct LazyLibclc<'c, 'a> {
    context: ContextRef<'c>,
    path: &'a Path,
    open: Option<Library<'c>>,
}

impl<'c, 'a> LazyLibclc<'c, 'a> {
    pub fn new(context: ContextRef<'c>, path: &'a Path) -> LazyLibclc<'c, 'a> {
        LazyLibclc { context, path, open: None }
    }

    /// Links the functions that `into` declares, if the library was opened for any.
    pub fn link(self, into: &mut Module<'c>) -> Result<()> {
        self.open.map_or(Ok(()), |library| library.link(into))
    }

    pub fn get(&mut self) -> Result<&Library<'c>> {
        let library = match self.open.take() {
            Some(library) => library,
            None => Library::open(self.context, &Source::File(self.path))?,
        };
        Ok(self.open.insert(library))
    }
}

pub enum Source<'a> {
    Embedded(&'static [u8]),
    File(&'a Path),
}

impl Source<'_> {
    fn unreadable(&self, why: &str) -> Error {
        match self {
            Source::Embedded(_) => unreadable(why),
            Source::File(path) => missing(format!("{} cannot be read: {why}", path.display())),
        }
    }
}

/// Declares functions so that linking adds their bodies. The type is arbitrary, because the body determines it.
pub fn declare<'a>(module: &Module<'_>, names: impl Iterator<Item = &'a String>) {
    let view = View::of(module);
    for name in names {
        view.function_or_declared(name, view.void_type().function(&[], false));
    }
}
