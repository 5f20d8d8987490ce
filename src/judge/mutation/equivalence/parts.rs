//! Chooses the code in which mutants are compared: the kernel with everything that it calls or, if that is large, only
//! the changed function.

use std::cell::RefCell;
use std::collections::{BTreeSet, HashMap};
use std::path::Path;
use std::rc::Rc;

use inkwell::module::Module;
use kassay_base::error::{Error, Result};
use kassay_ir::cfg::indices::FunctionIndex;
use kassay_ir::cfg::sites::Sites;
use kassay_ir::instrument::mutants::Edit;
use kassay_ir::kernel::{inlined, module};
use kassay_ir::llvm::{Context, Linkage, View};

use super::assumptions;
use super::data;
use super::launch_facts::LaunchFacts;
use super::normal::{self, Classes, NormalForm};

/// Most instructions of a kernel that is compared with everything that it calls. In larger ones, equal mutants are
/// sought within the changed function: how callers use its values is ignored, so that fewer are found, but no claim
/// is wrong.
const MAX_INLINED: u64 = 8_000;

/// A kernel whose mutants are classified: its canonical form as bitcode, the sites read from it, and its
/// entry function.
#[derive(Clone, Copy)]
pub struct Kernel<'a> {
    /// The canonical form.
    pub bitcode: &'a [u8],
    /// Its functions with the places of mutants.
    pub sites: &'a Sites,
    /// The kernel's name.
    pub entry: &'a str,
}

/// Returns how many instructions have to be normalised for these edits of a canonical form, whose functions are those
/// of `sites`.
pub fn instructions_to_normalise(module: &Module<'_>, sites: &Sites, entry: &str, edits: &[&Edit]) -> u64 {
    let whole = inlined::size(module, entry).filter(|size| *size <= MAX_INLINED);
    let own = |f: FunctionIndex| {
        let blocks = sites.functions.get(f.0).map_or(&[][..], |f| &f.cfg.blocks);
        blocks.iter().map(|b| b.instructions.len() as u64).sum()
    };
    let of =
        |edit: &Edit| whole.unwrap_or_else(|| edit.places(&|_, _| 0).first().map_or(0, |place| own(place.function)));
    edits.iter().filter(|edit| edit.is_woven()).map(|edit| of(edit)).sum()
}

/// The canonical form without debug information and metadata, which copies need not carry, and the parts used so far.
pub(super) struct CanonicalForm<'k, 'c> {
    pub kernel: Kernel<'k>,
    module: Module<'c>,
    is_large: bool,
    /// By function; the only part of a small kernel is at `None`.
    parts: RefCell<HashMap<Option<FunctionIndex>, Rc<Part<'c>>>>,
}

/// A module in which one function, `entry`, is compared.
pub(super) struct Part<'c> {
    pub module: Module<'c>,
    /// The same, inlined and promoted.
    pub promoted: Module<'c>,
    pub entry: String,
    /// The class of its normal form; `None`: it has none.
    pub original: Option<usize>,
    /// Its refined normal forms so far, by the position of the launch; see [`Part::refined`].
    refined: RefCell<HashMap<Option<usize>, Rc<Refined>>>,
}

/// A refined part, for a launch or for any.
#[derive(Debug)]
pub(super) struct Refined {
    pub form: NormalForm,
    /// Whether it reads no buffers, images and results of atomics.
    pub ignores_data: bool,
}

impl Part<'_> {
    /// Returns the refined normal form of the original, for a launch and its position among all, or for any launch.
    ///
    /// # Errors
    /// `Internal` if a pass fails.
    pub fn refined(&self, launch: Option<(usize, &LaunchFacts)>) -> Result<Rc<Refined>> {
        let position = launch.map(|(position, _)| position);
        if let Some(known) = self.refined.borrow().get(&position) {
            return Ok(known.clone());
        }
        // Computed in the same way as for mutants, as above.
        let mut module = self.module.clone();
        let refined = match normal::promote(&mut module, &self.entry)? {
            true => {
                normal::refine(&mut module, &self.entry, launch.map(|(_, facts)| facts))?;
                let ignores_data = data::is_ignored(View::of(&module));
                Refined { form: normal::of_refined(module)?, ignores_data }
            }
            false => Refined { form: NormalForm::Indeterminate, ignores_data: false },
        };
        let refined = Rc::new(refined);
        self.refined.borrow_mut().insert(position, refined.clone());
        Ok(refined)
    }
}

impl<'k, 'c> CanonicalForm<'k, 'c> {
    /// Parses the bitcode of a kernel.
    ///
    /// # Errors
    /// `Caller` if the bitcode does not parse.
    pub fn parse(context: &'c Context, kernel: Kernel<'k>) -> Result<CanonicalForm<'k, 'c>> {
        let module = module::parse(context, kernel.bitcode, Path::new("canonical form"))?;
        // Instructions keep their positions, since debug information consists of none.
        View::of(&module).strip_debug_info();
        assumptions::drop_metadata(View::of(&module));
        let is_large = inlined::size(&module, kernel.entry).is_none_or(|size| size > MAX_INLINED);
        Ok(CanonicalForm { kernel, module, is_large, parts: RefCell::default() })
    }

    /// Whether the kernel is compared function by function.
    pub fn is_large(&self) -> bool {
        self.is_large
    }

    /// Returns a copy of the kernel with everything that it calls; `None` if it is large.
    pub fn whole(&self) -> Option<Module<'c>> {
        (!self.is_large).then(|| self.module.clone())
    }

    /// Returns the part in which an edit is compared; `None`: it changes several functions of a large kernel.
    ///
    /// # Errors
    /// `Internal` if a pass fails.
    pub fn part(&self, edit: &Edit, classes: &Classes) -> Result<Option<Rc<Part<'c>>>> {
        let function = match self.is_large {
            false => None,
            true => {
                let root = |name: &String| {
                    let mut all = FunctionIndex::enumerate(&self.kernel.sites.functions);
                    all.find(|(_, f)| f.cfg.function == *name).map(|(f, _)| f)
                };
                let functions: BTreeSet<FunctionIndex> = match edit {
                    Edit::Variant(variant) => variant.root.iter().filter_map(root).collect(),
                    _ => edit.places(&|_, _| 0).iter().map(|p| p.function).collect(),
                };
                let mut functions = functions.into_iter();
                match (functions.next(), functions.next()) {
                    (Some(only), None) => Some(only),
                    _ => return Ok(None),
                }
            }
        };
        if let Some(known) = self.parts.borrow().get(&function) {
            return Ok(Some(known.clone()));
        }
        let module = self.module.clone();
        let entry = match function {
            None => self.kernel.entry.to_owned(),
            Some(f) => {
                let sites = self.kernel.sites.functions.get(f.0);
                let name = sites.map(|f| f.cfg.function.clone());
                let name = name.ok_or_else(|| Error::internal("an edit changes a function that has no sites"))?;
                keep_only_body(&module, &name);
                name
            }
        };
        let mut promoted = module.clone();
        normal::promote(&mut promoted, &entry)?;
        // Computed in the same way as for mutants: passes may transform a clone of the promoted form differently.
        let original = classes.of(normal::of(module.clone(), &entry)?);
        let part = Rc::new(Part { module, promoted, entry, original, refined: RefCell::default() });
        self.parts.borrow_mut().insert(function, part.clone());
        Ok(Some(part))
    }
}

/// Deletes the bodies of all other functions, which may then do anything, and makes functions and variables external,
/// so that variables may change at any time.
fn keep_only_body(module: &Module<'_>, name: &str) {
    let view = View::of(module);
    for f in view.functions().into_iter().filter(|f| f.has_body()) {
        if f.name() != name {
            // SAFETY: nothing of it has been handed out.
            unsafe { f.delete_body() };
        }
        f.set_linkage(Linkage::LLVMExternalLinkage);
    }
    for variable in view.globals().into_iter().filter(|variable| !variable.is_constant()) {
        variable.set_linkage(Linkage::LLVMExternalLinkage);
    }
}
