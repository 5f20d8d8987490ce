//! How paths travel in JSON between processes of kassay: as bytes, because a path need not be text. For
//! `#[serde(with)]`.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// Paths in a form that holds them all.
pub trait Paths: Sized {
    /// The same paths as bytes, which any format can hold.
    type Bytes: Serialize + DeserializeOwned;

    /// Returns the paths as bytes.
    fn to_bytes(&self) -> Self::Bytes;

    /// Makes the paths of what [`Paths::to_bytes`] returned.
    fn of_bytes(bytes: Self::Bytes) -> Self;
}

impl Paths for PathBuf {
    type Bytes = OsString;

    fn to_bytes(&self) -> OsString {
        self.clone().into_os_string()
    }

    fn of_bytes(bytes: OsString) -> PathBuf {
        bytes.into()
    }
}

impl Paths for Option<PathBuf> {
    type Bytes = Option<OsString>;

    fn to_bytes(&self) -> Option<OsString> {
        self.as_ref().map(Paths::to_bytes)
    }

    fn of_bytes(bytes: Option<OsString>) -> Option<PathBuf> {
        bytes.map(PathBuf::from)
    }
}

impl Paths for Vec<PathBuf> {
    type Bytes = Vec<OsString>;

    fn to_bytes(&self) -> Vec<OsString> {
        self.iter().map(Paths::to_bytes).collect()
    }

    fn of_bytes(bytes: Vec<OsString>) -> Vec<PathBuf> {
        bytes.into_iter().map(PathBuf::from).collect()
    }
}

impl<V: Clone + Serialize + DeserializeOwned> Paths for BTreeMap<PathBuf, V> {
    type Bytes = Vec<(OsString, V)>;

    fn to_bytes(&self) -> Self::Bytes {
        self.iter().map(|(path, value)| (path.to_bytes(), value.clone())).collect()
    }

    fn of_bytes(bytes: Self::Bytes) -> BTreeMap<PathBuf, V> {
        bytes.into_iter().map(|(path, value)| (path.into(), value)).collect()
    }
}

/// Writes paths.
///
/// # Errors
/// Errors of the serializer.
pub fn serialize<P: Paths, S: Serializer>(paths: &P, serializer: S) -> Result<S::Ok, S::Error> {
    paths.to_bytes().serialize(serializer)
}

/// Reads what [`serialize`] wrote.
///
/// # Errors
/// Errors of the deserializer.
pub fn deserialize<'de, P: Paths, D: Deserializer<'de>>(deserializer: D) -> Result<P, D::Error> {
    P::Bytes::deserialize(deserializer).map(P::of_bytes)
}
