//! Keeps the walls between the rooms of `src/`: imports run downwards only, rooms do not name what is none of their business, files do
//! not import each other in circles, and no file grows beyond one concern.
//!
//! It reads the sources as text, as tokens without comments and literals. What a macro would expand to it does not see.

mod circles;
mod page;
mod rooms;
mod sources;
mod tokens;
mod walls;
