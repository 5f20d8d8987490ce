//! Types of positions in the code of a kernel, so that the position of a function cannot be confused with that of a
//! block, a site or an instruction.

use std::fmt;
use std::ops::{Index, IndexMut};

/// Defines what all positions have in common. They are written as plain numbers.
macro_rules! position {
    ($name:ident) => {
        impl $name {
            /// Returns the first `count` positions in ascending order.
            pub fn first(count: usize) -> impl DoubleEndedIterator<Item = $name> + ExactSizeIterator + Clone {
                (0..count).map($name)
            }

            /// Pairs the elements of a list with their positions.
            pub fn enumerate<I: IntoIterator>(list: I) -> impl Iterator<Item = ($name, I::Item)> {
                list.into_iter().enumerate().map(|(number, element)| ($name(number), element))
            }

            /// Returns the position after this one.
            #[must_use]
            pub fn next(self) -> $name {
                $name(self.0 + 1)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Debug::fmt(&self.0, f)
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(&self.0, f)
            }
        }

        impl<T> Index<$name> for [T] {
            type Output = T;

            fn index(&self, position: $name) -> &T {
                &self[position.0]
            }
        }

        impl<T> IndexMut<$name> for [T] {
            fn index_mut(&mut self, position: $name) -> &mut T {
                &mut self[position.0]
            }
        }

        impl<T> Index<$name> for Vec<T> {
            type Output = T;

            fn index(&self, position: $name) -> &T {
                &self[position.0]
            }
        }

        impl<T> IndexMut<$name> for Vec<T> {
            fn index_mut(&mut self, position: $name) -> &mut T {
                &mut self[position.0]
            }
        }
    };
}

/// The position of a function among those of a kernel ([`Sites::functions`](super::sites::Sites::functions)).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FunctionIndex(pub usize);

impl FunctionIndex {
    /// The kernel itself, which comes before its helpers.
    pub const KERNEL: FunctionIndex = FunctionIndex(0);
}

position!(FunctionIndex);

/// The position of a block in its function.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BlockIndex(pub usize);

impl BlockIndex {
    /// The entry of the function.
    pub const ENTRY: BlockIndex = BlockIndex(0);
}

position!(BlockIndex);
