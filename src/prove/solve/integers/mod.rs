//! Arithmetic of kernels on mathematical integers: values are polynomials, and Z3 is asked linear questions only.
//!
//! A value of `w` bits is represented by the integer that it is when read as signed. Operations are those of integers,
//! so that what is concluded holds only where no operation wraps; who builds values asks [`Integers::range`] or Z3
//! whether that is so.
//!
//! Each product of several symbols is an integer of its own to Z3. What is known of it are lemmas about two products
//! with a common factor (`lemmas`); they are what `row * width + column` and `group * size + local` need.

mod algebra;
mod bits;
mod fact;
mod lemmas;
mod polynomial;
mod range;

pub use self::algebra::{Bitwise, Integers};
pub use self::fact::Fact;
pub use self::polynomial::{Monomial, Polynomial, Symbol};
pub use self::range::Range;
