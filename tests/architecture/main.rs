//! Enforces the boundaries between the rooms of `src/`, and of the layer's in `layer/src/`: imports run downwards only,
//! rooms do not name what they must not know, files do not import each other in cycles, and no file grows beyond one
//! concern.
//!
//! It reads the sources as text, as tokens without comments and literals. It does not see what a macro would expand to.

mod builtins;
mod circles;
mod page;
mod rooms;
mod schemas;
mod sources;
mod tokens;
mod walls;
