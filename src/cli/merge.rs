//! `kassay merge`: shards into one result.

use std::path::PathBuf;

use clap::Args;

use super::options::check_writable;
use crate::error::Result;
use crate::mutation::operators::OPERATORS;
use crate::result::{merge, store};

/// Merge the results of all shards of a `mutate` run into one
#[derive(Debug, Args)]
pub struct MergeArgs {
    /// The shards' results, in any order
    #[arg(required = true, value_name = "RESULT")]
    pub results: Vec<PathBuf>,
    /// The merged result
    #[arg(short = 'o', long, value_name = "FILE")]
    pub output: PathBuf,
}

pub fn run(args: &MergeArgs) -> Result<u8> {
    check_writable(&args.output)?;
    let loaded = args
        .results
        .iter()
        .map(|path| store::read(path).map(|result| (path.clone(), result)))
        .collect::<Result<Vec<_>>>()?;
    store::write(&merge::merge(loaded, &class_of)?, &args.output)?;
    Ok(0)
}

/// The class of an operator by its id.
fn class_of(operator: &str) -> String {
    OPERATORS.iter().find(|o| o.id == operator).map_or("unknown", |o| o.class).to_owned()
}
