//! Types of positions, so that the position of a mutant cannot be confused with that of a test, and lists that only
//! positions of the right type index.

use std::fmt;
use std::marker::PhantomData;
use std::ops::{Index, IndexMut};

use super::mutant::Mutant;

/// The position of a mutant in a list: of all mutants of a campaign, or of those that a search wants to kill. Shards
/// share positions; results name mutants by their ids instead.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct MutantIndex(pub usize);

/// The position of a test in its suite.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TestIndex(pub usize);

/// A position that a [`Table`] is indexed by.
pub trait Position: Copy {
    /// Creates the position with this number, counted from 0.
    fn of(number: usize) -> Self;

    /// Returns its number, counted from 0.
    fn number(self) -> usize;
}

impl Position for MutantIndex {
    fn of(number: usize) -> MutantIndex {
        MutantIndex(number)
    }

    fn number(self) -> usize {
        self.0
    }
}

impl Position for TestIndex {
    fn of(number: usize) -> TestIndex {
        TestIndex(number)
    }

    fn number(self) -> usize {
        self.0
    }
}

/// A list with one value for each position of type `P`.
#[derive(Clone, PartialEq, Eq)]
pub struct Table<P, T> {
    values: Vec<T>,
    positions: PhantomData<P>,
}

/// One value for each mutant.
pub type ByMutant<T> = Table<MutantIndex, T>;

/// One value for each test of the suite.
pub type ByTest<T> = Table<TestIndex, T>;

impl<P: Position, T> Table<P, T> {
    /// Creates a table of `count` positions, all with this value.
    pub fn filled(value: T, count: usize) -> Table<P, T>
    where
        T: Clone,
    {
        vec![value; count].into()
    }

    /// Returns the number of positions.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Returns whether there is no position.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// Returns the positions in ascending order.
    pub fn positions(&self) -> impl Iterator<Item = P> + use<P, T> {
        positions(self.values.len())
    }

    /// Returns the values in the order of their positions.
    pub fn values(&self) -> std::slice::Iter<'_, T> {
        self.values.iter()
    }

    /// Sets the values of all positions.
    pub fn fill(&mut self, value: T)
    where
        T: Clone,
    {
        self.values.fill(value);
    }

    /// Returns the values as a plain list.
    pub fn into_values(self) -> Vec<T> {
        self.values
    }
}

/// Returns the positions of a list of `count` elements in ascending order.
pub fn positions<P: Position>(count: usize) -> impl Iterator<Item = P> + use<P> {
    (0..count).map(P::of)
}

impl<P, T> Default for Table<P, T> {
    fn default() -> Self {
        Vec::new().into()
    }
}

impl<P, T: fmt::Debug> fmt::Debug for Table<P, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.values.fmt(f)
    }
}

impl<P, T> From<Vec<T>> for Table<P, T> {
    fn from(values: Vec<T>) -> Self {
        Table { values, positions: PhantomData }
    }
}

impl<P, T> FromIterator<T> for Table<P, T> {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        values.into_iter().collect::<Vec<T>>().into()
    }
}

impl<P: Position, T> Index<P> for Table<P, T> {
    type Output = T;

    fn index(&self, position: P) -> &T {
        &self.values[position.number()]
    }
}

impl<P: Position, T> IndexMut<P> for Table<P, T> {
    fn index_mut(&mut self, position: P) -> &mut T {
        &mut self.values[position.number()]
    }
}

impl Index<MutantIndex> for [Mutant] {
    type Output = Mutant;

    fn index(&self, position: MutantIndex) -> &Mutant {
        &self[position.0]
    }
}
