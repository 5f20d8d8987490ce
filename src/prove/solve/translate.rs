//! Translates terms to Z3.

use std::collections::{BTreeMap, BTreeSet};

use kassay_ir::kernel::floats;
use z3::ast::{Ast, BV, Bool, Float, RoundingMode};
use z3::{FuncDecl, Sort as Z3Sort};

use super::expression::{Node, Term, Terms};
use super::operation::{Operation, Rounding, Sort, mask};
use super::subterms::Names;

/// A translated term.
pub(super) enum Z3Value {
    Bits(BV),
    Float(Float),
    None,
}

/// A translation of terms, created in the current Z3 context.
pub(super) struct Translation<'t> {
    terms: &'t Terms,
    names: Names,
    translated: BTreeMap<Term, Z3Value>,
    /// The bits of floats, as far as they were requested.
    float_bits: BTreeMap<Term, BV>,
    /// Constraints that tie those bits to their floats.
    definitions: BTreeMap<Term, Bool>,
    functions: BTreeMap<String, FuncDecl>,
}

fn bit(condition: &Bool) -> Z3Value {
    Z3Value::Bits(condition.ite(&BV::from_u64(1, 1), &BV::from_u64(0, 1)))
}

/// The Z3 sort of a float: bits of the exponent, and of the significand including the hidden bit (IEEE 754, table 3.5).
fn float_sort(width: u32) -> Z3Sort {
    match width {
        16 => Z3Sort::float(5, 11),
        32 => Z3Sort::float32(),
        _ => Z3Sort::double(),
    }
}

fn to_float(bits: &BV, width: u32) -> Float {
    let (context, sort) = (bits.get_ctx(), float_sort(width));
    // SAFETY: the bit vector and the sort belong to `context`, which both keep alive, and the sort has
    // the vector's width.
    unsafe {
        let ast = z3_sys::Z3_mk_fpa_to_fp_bv(context.get_z3_context(), bits.get_z3_ast(), sort.get_z3_sort());
        Float::wrap(context, ast.expect("bits of a float's width"))
    }
}

fn from_integer(bits: &BV, is_signed: bool, width: u32) -> Float {
    let (context, sort, mode) = (bits.get_ctx(), float_sort(width), RoundingMode::round_nearest_ties_to_even());
    let make = if is_signed { z3_sys::Z3_mk_fpa_to_fp_signed } else { z3_sys::Z3_mk_fpa_to_fp_unsigned };
    // SAFETY: the bit vector, the rounding mode and the sort belong to `context`, which they keep alive.
    unsafe {
        let ast = make(context.get_z3_context(), mode.get_z3_ast(), bits.get_z3_ast(), sort.get_z3_sort());
        Float::wrap(context, ast.expect("bits and the sort of a float"))
    }
}

fn number(x: f64, width: u32) -> Float {
    to_float(&BV::from_u64(floats::bits(x, width), width), width)
}

/// Truncates towards 0; out-of-range values saturate, NaN becomes 0.
fn to_integer(x: &Float, from: u32, is_signed: bool, width: u32) -> BV {
    let mode = RoundingMode::round_towards_zero();
    let (least, most, end) = if is_signed {
        (1u64 << (width - 1), (1u64 << (width - 1)) - 1, 2f64.powi(width.cast_signed() - 1))
    } else {
        (0, mask(width), 2f64.powi(width.cast_signed()))
    };
    let begin = if is_signed { -end } else { 0.0 };
    let within =
        if is_signed { x.to_sbv_with_rounding_mode(&mode, width) } else { x.to_ubv_with_rounding_mode(&mode, width) };
    let below = x.le(number(begin, from)).ite(&BV::from_u64(least, width), &within);
    let above = x.ge(number(end, from)).ite(&BV::from_u64(most, width), &below);
    x.is_nan().ite(&BV::from_u64(0, width), &above)
}

impl<'t> Translation<'t> {
    /// An empty translation.
    pub fn new(terms: &'t Terms, names: Names) -> Translation<'t> {
        Translation {
            terms,
            names,
            translated: BTreeMap::new(),
            float_bits: BTreeMap::new(),
            definitions: BTreeMap::new(),
            functions: BTreeMap::new(),
        }
    }

    /// Translates `needed`, in order; the subterms of each must be translated already or be contained in it.
    pub fn add(&mut self, needed: &BTreeSet<Term>) {
        for term in needed {
            if !self.translated.contains_key(term) {
                let ast = self.make(*term);
                self.translated.insert(*term, ast);
            }
        }
    }

    /// The constraint that has to be asserted wherever the term is used, if there is one.
    pub fn definition(&self, term: Term) -> Option<&Bool> {
        self.definitions.get(&term)
    }

    fn bits(&self, term: Term) -> Option<&BV> {
        match self.translated.get(&term) {
            Some(Z3Value::Bits(bits)) => Some(bits),
            _ => None,
        }
    }

    fn float(&self, term: Term) -> Option<&Float> {
        match self.translated.get(&term) {
            Some(Z3Value::Float(float)) => Some(float),
            _ => None,
        }
    }

    /// The bits of a translated term; for a computed float, a bit vector that is defined to represent it.
    pub fn bits_of(&mut self, term: Term) -> Option<BV> {
        if let Some(bits) = self.bits(term).or_else(|| self.float_bits.get(&term)) {
            return Some(bits.clone());
        }
        let Sort::Float(width) = self.terms.sort(term) else { return None };
        let bits = match self.terms.node(term) {
            Node::Constant(bits) if !floats::number(*bits, width).is_nan() => BV::from_u64(*bits, width),
            Node::Apply(Operation::FromBits, args) => self.bits(args[0])?.clone(),
            _ => {
                let bits = BV::new_const(format!("bits of {term:?}"), width);
                let same = Ast::eq(&to_float(&bits, width), self.float(term)?);
                self.definitions.insert(term, same);
                bits
            }
        };
        self.float_bits.insert(term, bits.clone());
        Some(bits)
    }

    /// The truth of a one-bit term; a term that cannot be translated may be true or false.
    pub fn is_true(&self, term: Term) -> Bool {
        match self.bits(term) {
            Some(bits) if bits.get_size() == 1 => Ast::eq(bits, BV::from_u64(1, 1)),
            _ => Bool::fresh_const("unknown"),
        }
    }

    /// The equality of two translated terms; false if they have different sorts or cannot be translated.
    pub fn equals(&self, left: Term, right: Term) -> Bool {
        match (self.translated.get(&left), self.translated.get(&right)) {
            (Some(Z3Value::Bits(l)), Some(Z3Value::Bits(r))) => Ast::eq(l, r),
            (Some(Z3Value::Float(l)), Some(Z3Value::Float(r))) => Ast::eq(l, r),
            _ => Bool::from_bool(false),
        }
    }

    fn make(&mut self, term: Term) -> Z3Value {
        let terms = self.terms;
        let sort = terms.sort(term);
        match terms.node(term) {
            Node::Constant(bits) => match sort {
                Sort::Bits(width) => Z3Value::Bits(BV::from_u64(*bits, width)),
                Sort::Float(32) => Z3Value::Float(Float::from_f32(f32::from_bits(*bits as u32))),
                Sort::Float(64) => Z3Value::Float(Float::from_f64(f64::from_bits(*bits))),
                Sort::Float(width) => Z3Value::Float(to_float(&BV::from_u64(*bits, width), width)),
                Sort::Other => Z3Value::None,
            },
            Node::Apply(Operation::ToBits, args) => {
                self.bits_of(args[0]).map_or_else(|| self.free(term, sort), Z3Value::Bits)
            }
            Node::Apply(operation, args) => self.apply(*operation, args, sort).unwrap_or_else(|| self.free(term, sort)),
            Node::Symbol(name) if self.names == Names::Functions => self.application(term, name, &[], sort),
            Node::Unknown(name, args) if self.names == Names::Functions => self.application(term, name, args, sort),
            Node::Symbol(_) | Node::Unknown(..) => self.free(term, sort),
        }
    }

    /// A variable for the term: equal terms have equal values.
    fn free(&self, term: Term, sort: Sort) -> Z3Value {
        let name = format!("{term:?}");
        match sort {
            Sort::Bits(width) => Z3Value::Bits(BV::new_const(name, width)),
            Sort::Float(32) => Z3Value::Float(Float::new_const_float32(name)),
            Sort::Float(64) => Z3Value::Float(Float::new_const_double(name)),
            Sort::Float(_) => Z3Value::Float(Float::new_const(name, 5, 11)),
            Sort::Other => Z3Value::None,
        }
    }

    /// An application of the uninterpreted function of that name.
    fn application(&mut self, term: Term, name: &str, args: &[Term], sort: Sort) -> Z3Value {
        let (Sort::Bits(width) | Sort::Float(width)) = sort else { return Z3Value::None };
        let mut arguments = Vec::new();
        for arg in args {
            match self.bits_of(*arg) {
                Some(bits) => arguments.push(bits),
                None => return self.free(term, sort),
            }
        }
        let widths: Vec<u32> = arguments.iter().map(BV::get_size).collect();
        // One name may denote functions of several sorts.
        let key = format!("{name} {widths:?} {width}");
        let value = if arguments.is_empty() {
            BV::new_const(key, width)
        } else {
            let function = self.functions.entry(key).or_insert_with_key(|key| {
                let domain: Vec<Z3Sort> = widths.iter().map(|w| Z3Sort::bitvector(*w)).collect();
                FuncDecl::new(key.as_str(), &domain.iter().collect::<Vec<_>>(), &Z3Sort::bitvector(width))
            });
            let args: Vec<&dyn Ast> = arguments.iter().map(|bits| bits as &dyn Ast).collect();
            match function.apply(&args).as_bv() {
                Some(bits) => bits,
                None => return self.free(term, sort),
            }
        };
        if matches!(sort, Sort::Float(_)) {
            let float = to_float(&value, width);
            self.float_bits.insert(term, value);
            Z3Value::Float(float)
        } else {
            Z3Value::Bits(value)
        }
    }

    fn apply(&self, operation: Operation, args: &[Term], sort: Sort) -> Option<Z3Value> {
        use Operation::*;
        match operation {
            Select => {
                let condition = self.is_true(args[0]);
                Some(match sort {
                    Sort::Bits(_) => Z3Value::Bits(condition.ite(self.bits(args[1])?, self.bits(args[2])?)),
                    Sort::Float(_) => Z3Value::Float(condition.ite(self.float(args[1])?, self.float(args[2])?)),
                    Sort::Other => return None,
                })
            }
            FEq | FLt | FLe | IsNan | FNeg | FAbs | FAdd | FSub | FMul | FDiv | FRem | FSqrt | FFma | FRound(_)
            | FToF | FToSI | FToUI => self.apply_to_floats(operation, args, sort),
            _ => self.apply_to_bits(operation, args, sort),
        }
    }

    fn apply_to_floats(&self, operation: Operation, args: &[Term], sort: Sort) -> Option<Z3Value> {
        use Operation::*;
        let (left, Sort::Float(from)) = (self.float(args[0])?, self.terms.sort(args[0])) else { return None };
        let nearest = RoundingMode::round_nearest_ties_to_even();
        let right = || self.float(*args.get(1)?);
        Some(match (operation, sort) {
            (FEq, _) => bit(&left.eq_fpa(right()?)),
            (FLt, _) => bit(&left.lt(right()?)),
            (FLe, _) => bit(&left.le(right()?)),
            (IsNan, _) => bit(&left.is_nan()),
            (FNeg, _) => Z3Value::Float(left.unary_neg()),
            (FAbs, _) => Z3Value::Float(left.unary_abs()),
            (FAdd, _) => Z3Value::Float(left.add_with_rounding_mode(right()?, &nearest)),
            (FSub, _) => Z3Value::Float(left.sub_with_rounding_mode(right()?, &nearest)),
            (FMul, _) => Z3Value::Float(left.mul_with_rounding_mode(right()?, &nearest)),
            (FDiv, _) => Z3Value::Float(left.div_with_rounding_mode(right()?, &nearest)),
            (FSqrt, _) => Z3Value::Float(left.sqrt()),
            (FFma, _) => Z3Value::Float(left.fma(right()?, self.float(args[2])?)),
            (FRound(rounding), _) => {
                let mode = match rounding {
                    Rounding::Even => nearest,
                    Rounding::Away => RoundingMode::round_nearest_ties_to_away(),
                    Rounding::Up => RoundingMode::round_towards_positive(),
                    Rounding::Down => RoundingMode::round_towards_negative(),
                    Rounding::Zero => RoundingMode::round_towards_zero(),
                };
                Z3Value::Float(left.round_to_integral_with_rounding_mode(&mode))
            }
            (FToF, Sort::Float(to)) => Z3Value::Float(left.to_fp_with_rounding_mode(&nearest, &float_sort(to))),
            (FToSI, Sort::Bits(to)) => Z3Value::Bits(to_integer(left, from, true, to)),
            (FToUI, Sort::Bits(to)) => Z3Value::Bits(to_integer(left, from, false, to)),
            // Bit-blasted remainders are as long as the exponent range: no solver copes with them.
            _ => return None,
        })
    }

    fn apply_to_bits(&self, operation: Operation, args: &[Term], sort: Sort) -> Option<Z3Value> {
        use Operation::*;
        let left = self.bits(args[0])?;
        match (operation, sort) {
            (SIToF | UIToF, Sort::Float(to)) => {
                return Some(Z3Value::Float(from_integer(left, operation == SIToF, to)));
            }
            (FromBits, Sort::Float(to)) => return Some(Z3Value::Float(to_float(left, to))),
            _ => {}
        }
        let Sort::Bits(width) = sort else { return None };
        match operation {
            ZExt => return Some(Z3Value::Bits(left.zero_ext(width - left.get_size()))),
            SExt => return Some(Z3Value::Bits(left.sign_ext(width - left.get_size()))),
            Trunc => return Some(Z3Value::Bits(left.extract(width - 1, 0))),
            Extract(low) => return Some(Z3Value::Bits(left.extract(low + width - 1, low))),
            _ => {}
        }
        let right = self.bits(args[1])?;
        Some(match operation {
            Add => Z3Value::Bits(left.bvadd(right)),
            Sub => Z3Value::Bits(left.bvsub(right)),
            Mul => Z3Value::Bits(left.bvmul(right)),
            UDiv => Z3Value::Bits(left.bvudiv(right)),
            SDiv => Z3Value::Bits(left.bvsdiv(right)),
            URem => Z3Value::Bits(left.bvurem(right)),
            SRem => Z3Value::Bits(left.bvsrem(right)),
            And => Z3Value::Bits(left.bvand(right)),
            Or => Z3Value::Bits(left.bvor(right)),
            Xor => Z3Value::Bits(left.bvxor(right)),
            Shl => Z3Value::Bits(left.bvshl(right)),
            LShr => Z3Value::Bits(left.bvlshr(right)),
            AShr => Z3Value::Bits(left.bvashr(right)),
            Concat => Z3Value::Bits(left.concat(right)),
            Eq => bit(&Ast::eq(left, right)),
            Ult => bit(&left.bvult(right)),
            Ule => bit(&left.bvule(right)),
            Slt => bit(&left.bvslt(right)),
            Sle => bit(&left.bvsle(right)),
            _ => return None,
        })
    }
}
