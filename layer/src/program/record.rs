//! The file of a program.

use opencl_sys::cl_int;
use serde::Serialize;

use super::includes::Included;
use super::{Build, Header, Origin, SpecialisationConstant};
use crate::driver::devices::Device;
use crate::spool::blobs::{Id, Piece};
use crate::spool::{self, files};

/// How a build ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    Success,
    Error(cl_int),
    /// It goes on while the program does something else.
    Unknown,
}

/// `programs/ID.json`.
#[derive(Serialize)]
struct Record<'a> {
    schema: &'static str,
    id: &'a Id,
    #[serde(flatten)]
    origin: &'a Origin,
    stage: &'a str,
    options: Option<&'a str>,
    headers: &'a [Header],
    constants: &'a [SpecialisationConstant],
    includes: &'a [Included],
    device: &'a Device,
    status: &'static str,
    /// What the driver returned, if it failed.
    error: Option<cl_int>,
    log: Option<String>,
    /// What the driver hands out for a program that has no source.
    built: Option<Piece>,
    /// The working directory during the build: relative includes are below it.
    directory: Option<String>,
}

/// Writes a program, unless it is there. `built` is asked for what the driver hands out for one that has no source.
pub fn write(
    build: &Build,
    device: &Device,
    id: &Id,
    status: Status,
    log: Option<String>,
    built: impl FnOnce() -> Option<Piece>,
) {
    let Some(spool) = spool::folder() else { return };
    let path = spool.join("programs").join(format!("{id}.json"));
    // A program that is there was built; an unknown end is replaced by a known one.
    let is_known = |text: String| !text.contains("\"status\":\"unknown\"");
    if std::fs::read_to_string(&path).is_ok_and(is_known) {
        return;
    }
    let (status, error) = match status {
        Status::Success => ("success", None),
        Status::Error(error) => ("error", Some(error)),
        Status::Unknown => ("unknown", None),
    };
    let record = Record {
        schema: "kassay.spool-program/1",
        id,
        origin: &build.origin,
        stage: build.stage,
        options: build.options.as_deref(),
        headers: &build.headers,
        constants: &build.constants,
        includes: &build.includes,
        device,
        status,
        error,
        log,
        built: built(),
        directory: std::env::current_dir().ok().map(|path| path.to_string_lossy().into_owned()),
    };
    let _ = files::write_json(spool, &path, &record);
}
