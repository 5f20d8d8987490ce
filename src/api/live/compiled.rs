//! Compiles the programs of a host program, in the forms in which their code is there.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::time::Duration;

use kassay_base::error::{Error, Result};
use kassay_base::forked::{self, Job, Limit};
use kassay_base::json;
use kassay_ir::kernel::compile::{self, Loaded};
use kassay_run::host::{self, Code, SourceFiles, Spool};
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::super::host_kernel::{self, Folder, Placed};
use super::super::options::OpenOptions;
use super::texts::{self, Texts};

/// A compiled program.
pub struct Compiled {
    /// The file that was compiled.
    pub path: PathBuf,
    /// How it was compiled.
    pub open: OpenOptions,
    pub loaded: Loaded,
    pub texts: Texts,
}

impl Compiled {
    /// Writes code into a folder of the cache, into `folder` if there is none, and compiles it. `files`: those that may
    /// hold the same text.
    ///
    /// # Errors
    /// `Environment` if files cannot be written; `Caller` if the code does not compile.
    pub fn new(open: &OpenOptions, folder: &Path, code: &Code, files: &SourceFiles) -> Result<Compiled> {
        let own = match code {
            // Of a program that was linked from several, the text only includes theirs.
            Code::Source { text, pieces, .. } if pieces.concat() == *text => host::same_texts(files, pieces),
            Code::Source { .. } | Code::Module { .. } => Vec::new(),
        };
        let at = Folder::Cached { otherwise: folder };
        let Placed { path, mut open, .. } = host_kernel::place(open, &at, &texts::base_name(&own), code)?;
        let folder = path.parent().unwrap_or(folder);
        let mut same = HashMap::from([(path.clone(), own)]);
        if let Code::Source { files: beside, .. } = code {
            let found = |(name, text): &(String, Vec<u8>)| {
                (folder.join(name), host::same_texts(files, std::slice::from_ref(text)))
            };
            same.extend(beside.iter().map(found));
        }
        let mut loaded = compile::load(&path, &open.kernel_options(Vec::new()), true)?;
        if let Code::Module { constants, .. } = code {
            let spec = host_kernel::spec_values(&loaded, constants);
            if !spec.is_empty() {
                open = open.spec(host_kernel::texts(&spec));
                loaded = compile::load(&path, &open.kernel_options(Vec::new()), true)?;
            }
        }
        let texts = Texts::new(path.clone(), same, &working(), texts::folder_name(code));
        Ok(Compiled { path, open, loaded, texts })
    }
}

/// The folder below which files with the texts of programs are looked for.
pub fn working() -> PathBuf {
    std::env::current_dir().unwrap_or_default()
}

/// How a program's code is woven, in a child.
pub trait Weaves: Clone + Serialize + DeserializeOwned {
    /// What is reported to the parent.
    type Woven: Serialize + DeserializeOwned;

    /// The folder with the layer's spool.
    fn spool(&self) -> &Path;

    /// Weaves code. `name` is used in the names of files; `files` may hold the same text.
    ///
    /// # Errors
    /// Why that cannot be.
    fn form(&self, name: &str, code: &Code, files: &SourceFiles) -> Result<Self::Woven>;
}

/// Weaves the first form of a program's code that can be woven, within `longest` for each. It is done in children,
/// because LLVM may take its process down. `files` are [`SourceFiles`], encoded: they are listed once, and not in each
/// child.
///
/// # Errors
/// Why it fails on the first form, for people.
pub fn first_form<W: Weaves>(
    weaves: &W,
    id: &str,
    longest: Duration,
    files: &[u8],
) -> std::result::Result<W::Woven, String> {
    let spool = Spool::programs_in(weaves.spool());
    let program = spool.programs.get(id).ok_or_else(|| unknown(id))?;
    let mut why = None;
    for number in 0..host::most_forms(program) {
        let input = (weaves.clone(), id.to_owned(), number);
        let job = Job::new(weave_form::<W>, &input, files).with_children();
        let done = forked::attempt(Limit::of(longest), "the program's woven kernels", job);
        let read = |bytes: Vec<u8>| {
            json::read::<Option<W::Woven>>(&bytes)
                .map_err(|error| Error::internal(format!("a map cannot be read: {error}")))
        };
        match done.and_then(read) {
            Ok(Some(done)) => return Ok(done),
            Ok(None) => break,
            Err(error) => {
                why.get_or_insert(error.to_string());
            }
        }
    }
    Err(why.unwrap_or_else(|| host_kernel::NO_CODE.meaning.to_owned()))
}

fn unknown(id: &str) -> String {
    format!("the layer has not described the program {id}")
}

/// In a child: weaves a form; none if there are not so many.
fn weave_form<W: Weaves>((weaves, id, number): (W, String, usize), files: &[u8]) -> Result<Vec<u8>> {
    let spool = Spool::programs_in(weaves.spool());
    let program = spool.programs.get(&id).ok_or_else(|| Error::caller(unknown(&id)))?;
    let forms = host::code_of(&spool, program);
    let files = SourceFiles::of_bytes(files);
    let woven = forms.get(number).map(|form| weaves.form(&format!("{id}-{number}"), form, &files)).transpose()?;
    json::bytes(&woven).map_err(|error| Error::internal(format!("a map cannot be sent: {error}")))
}
