//! Sums, products and comparisons, and what holds of their symbols.

use std::collections::{BTreeMap, HashMap};

use kassay_ir::llvm::IntPredicate;
use z3::ast::{Bool, Int};
use z3::{FuncDecl, Sort};

use super::fact::Fact;
use super::polynomial::{Monomial, Polynomial, Symbol};
use super::range::Range;

/// A bitwise operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Bitwise {
    /// Both bits.
    And,
    /// Either bit.
    Or,
    /// Exactly one bit.
    Xor,
}

/// Products of polynomials with more terms are symbols of their own.
const MAX_TERMS: usize = 60;

/// What is known of a symbol.
struct Known {
    integer: Int,
    range: Range,
}

/// What a symbol stands for, so that equal results are one symbol.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) enum Meaning {
    Sum(Polynomial),
    Quotient(Polynomial, Polynomial),
    Choice(Fact, Polynomial, Polynomial),
    Low(Polynomial, u32),
    PowerOfTwo(Polynomial),
    Bits(Bitwise, Polynomial, Polynomial),
    Operation(&'static str, Polynomial, Polynomial),
}

/// A function that is not known: what a buffer holds, by its offset.
struct Function {
    declaration: FuncDecl,
    applications: BTreeMap<Polynomial, Polynomial>,
}

/// Integers, and what holds of them.
#[derive(Default)]
pub struct Integers {
    symbols: Vec<Known>,
    names: HashMap<String, Symbol>,
    bits: HashMap<String, Bool>,
    pub(super) meanings: HashMap<Meaning, Polynomial>,
    /// Pairs of factors whose sums have names already.
    multiplied: HashMap<(Polynomial, Polynomial), ()>,
    pub(super) products: BTreeMap<Monomial, Int>,
    functions: BTreeMap<String, Function>,
    /// Two symbols whose product is another one: sizes of launches.
    known_products: HashMap<(Symbol, Symbol), Symbol>,
    facts: Vec<Bool>,
    fresh: u32,
}

impl Integers {
    /// The symbol of that name, with its range when it is new.
    pub fn symbol(&mut self, name: &str, range: Range) -> Polynomial {
        if let Some(known) = self.names.get(name) {
            return Polynomial::symbol(*known);
        }
        let symbol = self.symbols.len() as Symbol;
        let integer = Int::new_const(name);
        self.symbols.push(Known { integer, range });
        self.names.insert(name.to_owned(), symbol);
        let value = Polynomial::symbol(symbol);
        self.assert_range(&value, range);
        value
    }

    /// Whether there is a symbol of that name.
    pub fn knows(&self, name: &str) -> bool {
        self.names.contains_key(name)
    }

    /// A name that nothing has yet.
    pub fn unique(&mut self, name: &str) -> String {
        self.fresh += 1;
        format!("{name}!{}", self.fresh)
    }

    /// A symbol of its own.
    pub fn fresh(&mut self, name: &str, range: Range) -> Polynomial {
        let name = self.unique(name);
        self.symbol(&name, range)
    }

    /// The condition of that name.
    pub fn bit(&mut self, name: &str) -> Fact {
        Fact::Open(self.bits.entry(name.to_owned()).or_insert_with(|| Bool::new_const(name)).clone())
    }

    /// States that a fact holds.
    pub fn assert(&mut self, fact: &Fact) {
        match fact {
            Fact::True => {}
            fact => self.facts.push(fact.bit()),
        }
    }

    fn assert_range(&mut self, value: &Polynomial, range: Range) {
        if let Some(low) = range.low {
            let holds = self.integer(value).ge(Int::from_i128(low));
            self.facts.push(holds);
        }
        if let Some(high) = range.high {
            let holds = self.integer(value).le(Int::from_i128(high));
            self.facts.push(holds);
        }
    }

    /// States that the product of two symbols is a third one.
    pub fn name_product(&mut self, left: Symbol, right: Symbol, product: Symbol) {
        self.known_products.insert((left.min(right), left.max(right)), product);
        let monomial = self.product(vec![left.min(right), left.max(right)]);
        let holds = monomial.eq(&self.symbols[product as usize].integer);
        self.facts.push(holds);
    }

    /// Makes `symbol`, which has this value by a fact of its own, the name of the value where it is multiplied.
    pub fn name_sum(&mut self, value: &Polynomial, symbol: &Polynomial) {
        self.meanings.insert(Meaning::Sum(value.clone()), symbol.clone());
    }

    /// What holds of the symbols: ranges, definitions, and lemmas about products.
    pub fn facts(&mut self) -> Vec<Bool> {
        let mut all = self.lemmas();
        all.extend(self.facts.iter().cloned());
        all
    }

    /// The integers that a value may be, as far as its symbols' ranges tell.
    pub fn range(&self, value: &Polynomial) -> Range {
        Range::of(value, |symbol| self.symbols[symbol as usize].range)
    }

    pub(super) fn is_natural(&self, value: &Polynomial) -> bool {
        self.range(value).is_natural()
    }

    /// Z3's integer of a product of symbols.
    pub(super) fn product(&mut self, monomial: Monomial) -> Int {
        if let [only] = monomial[..] {
            return self.symbols[only as usize].integer.clone();
        }
        if let Some(known) = self.products.get(&monomial) {
            return known.clone();
        }
        let name: Vec<String> = monomial.iter().map(|s| self.symbols[*s as usize].integer.to_string()).collect();
        let integer = Int::new_const(name.join("*"));
        let value = Polynomial::term(monomial.clone(), 1);
        let range = self.range(&value);
        self.products.insert(monomial, integer.clone());
        self.assert_range(&value, range);
        integer
    }

    /// Z3's integer of a value.
    pub fn integer(&mut self, value: &Polynomial) -> Int {
        let mut summands = Vec::new();
        for (monomial, coefficient) in value.terms() {
            if monomial.is_empty() {
                summands.push(Int::from_i128(coefficient));
                continue;
            }
            let product = self.product(monomial.clone());
            summands.push(match coefficient {
                1 => product,
                _ => Int::from_i128(coefficient) * product,
            });
        }
        match &summands[..] {
            [] => Int::from_i64(0),
            [only] => only.clone(),
            _ => Int::add(&summands),
        }
    }

    /// The value `left + factor * right`.
    fn combined(&mut self, left: &Polynomial, right: &Polynomial, factor: i128) -> Polynomial {
        match left.plus(right, factor) {
            Some(sum) => sum,
            None => self.fresh("sum", Range::ALL),
        }
    }

    /// The sum.
    pub fn add(&mut self, left: &Polynomial, right: &Polynomial) -> Polynomial {
        self.combined(left, right, 1)
    }

    /// The difference.
    pub fn subtract(&mut self, left: &Polynomial, right: &Polynomial) -> Polynomial {
        self.combined(left, right, -1)
    }

    /// The product. Sums of several terms get names, so that lemmas speak of them.
    pub fn multiply(&mut self, left: &Polynomial, right: &Polynomial) -> Polynomial {
        if left.count() * right.count() > MAX_TERMS {
            return self.fresh("product", Range::ALL);
        }
        let Some(product) = left.times(right) else { return self.fresh("product", Range::ALL) };
        let product = self.with_known_products(product);
        self.name_factors(left, right, &product);
        product
    }

    /// Replaces products that are symbols.
    fn with_known_products(&self, value: Polynomial) -> Polynomial {
        if self.known_products.is_empty() || value.terms().all(|(monomial, _)| monomial.len() < 2) {
            return value;
        }
        let replaced = |whole: Option<Polynomial>, (monomial, coefficient): (&Monomial, i128)| {
            whole?.plus(&Polynomial::term(self.with_known_product(monomial.clone()), 1), coefficient)
        };
        value.terms().fold(Some(Polynomial::default()), replaced).unwrap_or(value)
    }

    fn with_known_product(&self, mut monomial: Monomial) -> Monomial {
        let pair = |m: &Monomial| {
            let pairs = (0..m.len()).flat_map(|i| (i + 1..m.len()).map(move |j| (i, j)));
            pairs.into_iter().find_map(|(i, j)| Some((i, j, *self.known_products.get(&(m[i], m[j]))?)))
        };
        while let Some((i, j, product)) = pair(&monomial) {
            monomial.remove(j);
            monomial[i] = product;
            monomial.sort_unstable();
        }
        monomial
    }

    /// The symbol for a sum.
    fn named(&mut self, value: &Polynomial) -> Symbol {
        if let Some(symbol) = value.as_symbol() {
            return symbol;
        }
        let meaning = Meaning::Sum(value.clone());
        if let Some(symbol) = self.meanings.get(&meaning).and_then(Polynomial::as_symbol) {
            return symbol;
        }
        let range = self.range(value);
        let name = self.fresh("sum", range);
        let same = self.equal(&name, value);
        self.assert(&same);
        self.meanings.insert(meaning, name.clone());
        name.as_symbol().unwrap_or_default()
    }

    fn name_factors(&mut self, left: &Polynomial, right: &Polynomial, product: &Polynomial) {
        let is_number = |value: &Polynomial| value.terms().all(|(monomial, _)| monomial.is_empty());
        let is_plain =
            |value: &Polynomial| value.count() == 1 && value.terms().all(|(monomial, _)| monomial.len() == 1);
        if is_number(left) || is_number(right) || (is_plain(left) && is_plain(right)) {
            return;
        }
        let key = if left <= right { (left.clone(), right.clone()) } else { (right.clone(), left.clone()) };
        if self.multiplied.insert(key, ()).is_some() {
            return;
        }
        let (a, b) = (self.named(left), self.named(right));
        let of_names = Polynomial::term(vec![a.min(b), a.max(b)], 1);
        let of_names = self.with_known_products(of_names);
        let same = self.equal(&of_names, product);
        self.assert(&same);
    }

    /// Whether `left <= right`.
    pub fn at_most(&mut self, left: &Polynomial, right: &Polynomial) -> Fact {
        let difference = self.subtract(right, left);
        let range = self.range(&difference);
        if range.is_natural() {
            return Fact::True;
        }
        if range.high.is_some_and(|high| high < 0) {
            return Fact::False;
        }
        Fact::Open(self.integer(&difference).ge(Int::from_i64(0)))
    }

    /// Whether `left < right`.
    pub fn below(&mut self, left: &Polynomial, right: &Polynomial) -> Fact {
        let next = self.add(left, &Polynomial::constant(1));
        self.at_most(&next, right)
    }

    /// Whether both are the same number.
    pub fn equal(&mut self, left: &Polynomial, right: &Polynomial) -> Fact {
        let difference = self.subtract(left, right);
        let range = self.range(&difference);
        match difference.as_constant() {
            Some(number) => Fact::of(number == 0),
            None if range.low.is_some_and(|low| low > 0) || range.high.is_some_and(|high| high < 0) => Fact::False,
            None => Fact::Open(self.integer(&difference).eq(Int::from_i64(0))),
        }
    }

    /// The comparison of two values of as many bits.
    pub fn compare(&mut self, predicate: IntPredicate, left: &Polynomial, right: &Polynomial) -> Fact {
        use IntPredicate::*;
        match predicate {
            LLVMIntEQ => self.equal(left, right),
            LLVMIntNE => self.equal(left, right).negated(),
            LLVMIntSLT => self.below(left, right),
            LLVMIntSLE => self.at_most(left, right),
            LLVMIntSGT => self.below(right, left),
            LLVMIntSGE => self.at_most(right, left),
            LLVMIntULT => self.unsigned(left, right, Integers::below),
            LLVMIntULE => self.unsigned(left, right, Integers::at_most),
            LLVMIntUGT => self.unsigned(right, left, Integers::below),
            LLVMIntUGE => self.unsigned(right, left, Integers::at_most),
        }
    }

    /// Read as unsigned, a negative number exceeds all that are not.
    fn unsigned(
        &mut self,
        left: &Polynomial,
        right: &Polynomial,
        compare: fn(&mut Integers, &Polynomial, &Polynomial) -> Fact,
    ) -> Fact {
        let as_signed = compare(self, left, right);
        let zero = Polynomial::default();
        let (l, r) = (self.below(left, &zero), self.below(right, &zero));
        let only_right = l.negated().and(&r);
        only_right.or(&l.same(&r).and(&as_signed))
    }

    /// `yes` where the fact holds, else `no`.
    pub fn choose(&mut self, fact: &Fact, yes: &Polynomial, no: &Polynomial) -> Polynomial {
        match fact {
            Fact::True => return yes.clone(),
            Fact::False => return no.clone(),
            Fact::Open(_) if yes == no => return yes.clone(),
            Fact::Open(_) => {}
        }
        let meaning = Meaning::Choice(fact.clone(), yes.clone(), no.clone());
        if let Some(known) = self.meanings.get(&meaning) {
            return known.clone();
        }
        let range = self.range(yes).hull(self.range(no));
        let value = self.fresh("choice", range);
        for (holds, side) in [(fact.clone(), yes), (fact.negated(), no)] {
            let same = self.equal(&value, side);
            self.assert(&holds.implies(&same));
        }
        self.meanings.insert(meaning, value.clone());
        value
    }

    /// What an unknown function returns for an argument.
    pub fn apply(&mut self, name: &str, argument: &Polynomial, range: Range) -> Polynomial {
        if let Some(known) = self.functions.get(name).and_then(|f| f.applications.get(argument)) {
            return known.clone();
        }
        let at = self.integer(argument);
        let result = self.fresh(name, range);
        let function = self.functions.entry(name.to_owned()).or_insert_with(|| Function {
            declaration: FuncDecl::new(name, &[&Sort::int()], &Sort::int()),
            applications: BTreeMap::new(),
        });
        function.applications.insert(argument.clone(), result.clone());
        let value = function.declaration.apply(&[&at]).as_int();
        let integer = self.integer(&result);
        if let Some(value) = value {
            self.facts.push(integer.eq(&value));
        }
        result
    }

    /// Arguments and results of two applications of functions whose name fulfils `is_meant`.
    fn applied(&self, is_meant: impl Fn(&str) -> bool) -> Vec<[Polynomial; 4]> {
        let mut pairs = Vec::new();
        for (_, function) in self.functions.iter().filter(|(name, _)| is_meant(name)) {
            let all: Vec<(&Polynomial, &Polynomial)> = function.applications.iter().collect();
            for (i, (a, x)) in all.iter().enumerate() {
                pairs.extend(all[i + 1..].iter().map(|(b, y)| [*a, *b, *x, *y].map(Polynomial::clone)));
            }
        }
        pairs
    }

    /// The argument of the application of a function of which `factor` times the result is a term of the value; `None`
    /// unless there is exactly one.
    pub fn argument_of(&self, name: &str, value: &Polynomial, factor: i128) -> Option<Polynomial> {
        let applications = &self.functions.get(name)?.applications;
        let is_term = |result: &Polynomial| result.as_symbol().is_some_and(|x| value.coefficient(&[x]) == factor);
        let mut found = applications.iter().filter(|(_, result)| is_term(result));
        let (argument, _) = found.next()?;
        found.next().is_none().then(|| argument.clone())
    }

    /// That functions whose name fulfils `is_meant` return each result at most once.
    pub fn injective(&mut self, is_meant: impl Fn(&str) -> bool) -> Vec<Fact> {
        let pairs = self.applied(is_meant);
        let fact = |[a, b, x, y]: [Polynomial; 4]| {
            let results = self.equal(&x, &y);
            results.implies(&self.equal(&a, &b))
        };
        pairs.into_iter().map(fact).collect()
    }

    /// That functions whose name fulfils `is_meant` return no less for a greater argument; of unsigned results that is
    /// known where they are natural.
    pub fn rising(&mut self, is_meant: impl Fn(&str) -> bool, is_signed: bool) -> Vec<Fact> {
        let pairs = self.applied(is_meant);
        let zero = Polynomial::default();
        let fact = |[a, b, x, y]: [Polynomial; 4]| {
            let up = self.at_most(&a, &b).implies(&self.at_most(&x, &y));
            let down = self.at_most(&b, &a).implies(&self.at_most(&y, &x));
            let natural = self.at_most(&zero, &x).and(&self.at_most(&zero, &y));
            let both = up.and(&down);
            if is_signed { both } else { natural.implies(&both) }
        };
        pairs.into_iter().map(fact).collect()
    }
}
