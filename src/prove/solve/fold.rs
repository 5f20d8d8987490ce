//! Applies operations to terms, simplified without a solver: evaluates constants and applies identities that only
//! require a look at the arguments.

use kassay_ir::kernel::floats;

use super::evaluation::evaluate;
use super::expression::{Node, Term, Terms};
use super::operation::{Operation, Sort, mask};

/// The result of folding an operation.
enum Folded {
    Known(Term),
    Rest(Operation, Vec<Term>),
}

fn is_commutative(operation: Operation) -> bool {
    use Operation::*;
    matches!(operation, Add | Mul | And | Or | Xor | Eq | FAdd | FMul | FEq)
}

impl Terms {
    /// Applies an operation, folding it if possible; `sort` is that of the result.
    pub fn apply(&mut self, operation: Operation, args: Vec<Term>, sort: Sort) -> Term {
        if self.is_unfolded() {
            return self.add(Node::Apply(operation, args), sort);
        }
        match self.folded(operation, args, sort) {
            Folded::Known(term) => term,
            Folded::Rest(operation, args) => self.add(Node::Apply(operation, args), sort),
        }
    }

    /// A comparison, which yields one bit.
    pub fn compare(&mut self, operation: Operation, left: Term, right: Term) -> Term {
        self.apply(operation, vec![left, right], Sort::Bits(1))
    }

    /// Conjunction of one-bit terms.
    pub fn and(&mut self, left: Term, right: Term) -> Term {
        self.apply(Operation::And, vec![left, right], Sort::Bits(1))
    }

    /// Disjunction of one-bit terms.
    pub fn or(&mut self, left: Term, right: Term) -> Term {
        self.apply(Operation::Or, vec![left, right], Sort::Bits(1))
    }

    /// `yes` if the bit is 1, otherwise `no`, which must have the same sort.
    pub fn select(&mut self, bit: Term, yes: Term, no: Term) -> Term {
        let sort = self.sort(yes);
        self.apply(Operation::Select, vec![bit, yes, no], sort)
    }

    /// Negation of a one-bit term.
    pub fn not(&mut self, bit: Term) -> Term {
        let one = self.constant(1, Sort::Bits(1));
        self.apply(Operation::Xor, vec![bit, one], Sort::Bits(1))
    }

    /// Folds an operation on `args`; `sort` is that of the result.
    fn folded(&mut self, operation: Operation, mut args: Vec<Term>, sort: Sort) -> Folded {
        if sort != Sort::Other
            && let Some(values) = args.iter().map(|a| self.as_constant(*a)).collect::<Option<Vec<u64>>>()
        {
            let sorts: Vec<Sort> = args.iter().map(|a| self.sort(*a)).collect();
            // IEEE 754 leaves the bits of a NaN open.
            let is_nan = |width| operation == Operation::ToBits && floats::number(values[0], width).is_nan();
            let is_open = matches!(sorts[..], [Sort::Float(width)] if is_nan(width));
            if !sorts.contains(&Sort::Other) && !is_open {
                let bits = evaluate(operation, &values, &sorts, sort);
                return Folded::Known(self.constant(bits, sort));
            }
        }
        // Constants go to the right; otherwise the older term goes to the left.
        if is_commutative(operation) {
            let rank = |t: &Term| (self.as_constant(*t).is_some(), *t);
            if rank(&args[0]) > rank(&args[1]) {
                args.swap(0, 1);
            }
        }
        match self.identity(operation, &args, sort) {
            Some(term) => Folded::Known(term),
            None => Folded::Rest(operation, args),
        }
    }

    fn identity(&mut self, operation: Operation, args: &[Term], sort: Sort) -> Option<Term> {
        use Operation::*;
        match operation {
            Select => self.fold_select(args[0], args[1], args[2]),
            ZExt | SExt | Trunc | Extract(_) => self.fold_resize(operation, args[0], sort),
            Concat if self.as_constant(args[0]) == Some(0) => Some(self.apply(ZExt, vec![args[1]], sort)),
            Concat => self.fold_concat(args[0], args[1], sort),
            FromBits => match self.node(args[0]) {
                Node::Apply(ToBits, inner) if self.sort(inner[0]) == sort => Some(inner[0]),
                _ => None,
            },
            ToBits => match self.node(args[0]) {
                Node::Apply(FromBits, inner) => Some(inner[0]),
                _ => None,
            },
            FToF if self.sort(args[0]) == sort => Some(args[0]),
            Eq | Ult | Ule | Slt | Sle => self.fold_comparison(operation, args[0], args[1]),
            Add | Sub | Mul | UDiv | SDiv | URem | SRem | And | Or | Xor | Shl | LShr | AShr => {
                self.fold_arithmetic(operation, args[0], args[1], sort)
            }
            _ => None,
        }
    }

    fn fold_select(&mut self, bit: Term, yes: Term, no: Term) -> Option<Term> {
        match self.as_constant(bit) {
            Some(1) => return Some(yes),
            Some(_) => return Some(no),
            None if yes == no => return Some(yes),
            None => {}
        }
        if self.sort(yes) == Sort::Bits(1) {
            return match (self.as_constant(yes), self.as_constant(no)) {
                (Some(1), Some(_)) => Some(bit),
                (Some(_), Some(_)) => Some(self.not(bit)),
                (Some(1), None) => Some(self.or(bit, no)),
                (None, Some(0)) => Some(self.and(bit, yes)),
                (Some(_), None) => {
                    let not = self.not(bit);
                    Some(self.and(not, no))
                }
                (None, Some(_)) => {
                    let not = self.not(bit);
                    Some(self.or(not, yes))
                }
                (None, None) => None,
            };
        }
        self.negated(bit).map(|bit| self.select(bit, no, yes))
    }

    /// The term whose negation `bit` is.
    fn negated(&self, bit: Term) -> Option<Term> {
        match self.node(bit) {
            Node::Apply(Operation::Xor, args) if self.as_constant(args[1]) == Some(1) => Some(args[0]),
            _ => None,
        }
    }

    fn fold_resize(&mut self, operation: Operation, from: Term, sort: Sort) -> Option<Term> {
        use Operation::*;
        if self.sort(from) == sort {
            return Some(from);
        }
        if operation == Extract(0) {
            return Some(self.apply(Trunc, vec![from], sort));
        }
        let (Sort::Bits(to), Node::Apply(inner, args)) = (sort, self.node(from)) else { return None };
        let (inner, args) = (*inner, args.clone());
        let Sort::Bits(first) = self.sort(args[0]) else { return None };
        match (operation, inner) {
            (ZExt, ZExt) | (SExt, SExt) => Some(self.apply(operation, vec![args[0]], sort)),
            // The sign bit is known to be 0.
            (SExt, ZExt) => Some(self.apply(ZExt, vec![args[0]], sort)),
            (Trunc, Trunc) => Some(self.apply(Trunc, vec![args[0]], sort)),
            (Trunc, ZExt | SExt) => {
                let operation = if to < first { Trunc } else { inner };
                Some(self.apply(operation, vec![args[0]], sort))
            }
            (Extract(low), Extract(lower)) => Some(self.apply(Extract(low + lower), vec![args[0]], sort)),
            (Trunc, Extract(low)) => Some(self.apply(Extract(low), vec![args[0]], sort)),
            (Trunc | Extract(_), Concat) => {
                let low = if let Extract(low) = operation { low } else { 0 };
                let Sort::Bits(split) = self.sort(args[1]) else { return None };
                if low >= split {
                    Some(self.apply(Extract(low - split), vec![args[0]], sort))
                } else if low + to <= split {
                    Some(self.apply(Extract(low), vec![args[1]], sort))
                } else {
                    None
                }
            }
            _ => None,
        }
    }

    /// Concatenated neighbouring parts of one term are one part of it.
    fn fold_concat(&mut self, high: Term, low: Term, sort: Sort) -> Option<Term> {
        let part = |terms: &Terms, term: Term| match terms.node(term) {
            Node::Apply(Operation::Extract(at), args) => Some((args[0], *at)),
            Node::Apply(Operation::Trunc, args) => Some((args[0], 0)),
            _ => None,
        };
        let ((of, at), (below, first)) = (part(self, high)?, part(self, low)?);
        let Sort::Bits(width) = self.sort(low) else { return None };
        (of == below && at == first + width).then(|| self.apply(Operation::Extract(first), vec![of], sort))
    }

    fn fold_comparison(&mut self, operation: Operation, left: Term, right: Term) -> Option<Term> {
        use Operation::*;
        if left == right && self.sort(left) != Sort::Other {
            return Some(self.truth(matches!(operation, Eq | Ule | Sle)));
        }
        let Sort::Bits(width) = self.sort(left) else { return None };
        if operation == Ult && (self.as_constant(right) == Some(0) || self.as_constant(left) == Some(mask(width))) {
            return Some(self.truth(false));
        }
        let bits = self.as_constant(right)?;
        match (operation, bits) {
            (Eq, bits) if width == 1 => Some(if bits == 1 { left } else { self.not(left) }),
            (Ule, bits) if bits == mask(width) => Some(self.truth(true)),
            (Eq, bits) => {
                let Node::Apply(inner, args) = self.node(left) else { return None };
                let (inner, args) = (*inner, args.clone());
                match inner {
                    // An extended value equals a constant if its original part does, provided that the remaining bits
                    // are those of the extension.
                    ZExt | SExt => {
                        let sort = self.sort(args[0]);
                        let part = self.constant(bits, sort);
                        let back = self.apply(inner, vec![part], Sort::Bits(width));
                        match self.as_constant(back) == Some(bits) {
                            true => Some(self.compare(Eq, args[0], part)),
                            false => Some(self.truth(false)),
                        }
                    }
                    Select => {
                        let (yes, no) = (self.as_constant(args[1])?, self.as_constant(args[2])?);
                        let (yes, no) = (self.truth(yes == bits), self.truth(no == bits));
                        Some(self.select(args[0], yes, no))
                    }
                    _ => None,
                }
            }
            _ => None,
        }
    }

    fn fold_arithmetic(&mut self, operation: Operation, left: Term, right: Term, sort: Sort) -> Option<Term> {
        use Operation::*;
        let Sort::Bits(width) = sort else { return None };
        if left == right {
            match operation {
                Sub | Xor => return Some(self.constant(0, sort)),
                And | Or => return Some(left),
                _ => {}
            }
        }
        let bits = match self.as_constant(right) {
            Some(bits) => bits,
            // 0 shifted by anything is 0. Quotients of 0 are not folded, because 0 divided by 0 is not 0.
            None if self.as_constant(left) == Some(0) && matches!(operation, Shl | LShr | AShr) => return Some(left),
            None => return None,
        };
        match (operation, bits) {
            (Add | Sub | Or | Xor | Shl | LShr | AShr, 0) | (Mul | UDiv | SDiv, 1) => return Some(left),
            (Mul | And, 0) => return Some(right),
            (URem, 1) => return Some(self.constant(0, sort)),
            (And, bits) if bits == mask(width) => return Some(left),
            (Or, bits) if bits == mask(width) => return Some(right),
            (Shl | LShr, by) if by >= u64::from(width) => return Some(self.constant(0, sort)),
            _ => {}
        }
        let Node::Apply(inner, args) = self.node(left) else { return None };
        let (inner, args) = (*inner, args.clone());
        // Merges the constants of a chain of operations.
        if operation == inner && matches!(operation, Add | Mul | And | Or | Xor) {
            let both = self.apply(operation, vec![args[1], right], sort);
            if self.as_constant(both).is_some() {
                return Some(self.apply(operation, vec![args[0], both], sort));
            }
        }
        match (operation, inner) {
            // A mask that covers all bits of a zero-extended value has no effect.
            (And, ZExt) => {
                let Sort::Bits(first) = self.sort(args[0]) else { return None };
                (bits & mask(first) == mask(first)).then_some(left)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::concrete::Valuation;
    use super::*;
    use Operation::*;

    #[test]
    fn folded_terms_have_the_values_of_unfolded_ones() {
        let widths = [1, 7, 8, 16, 32, 64];
        let two = [Add, Sub, Mul, UDiv, SDiv, URem, SRem, And, Or, Xor, Shl, LShr, AShr, Eq, Ult, Ule, Slt, Sle];
        let (mut plain, mut folding) = (Terms::unfolded(), Terms::default());
        let (mut state, mut pairs) = (7u64, Vec::new());
        let mut random = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 33) as usize % below
        };
        for width in widths {
            let sort = Sort::Bits(width);
            for name in ["x", "y"] {
                let name = format!("{name}{width}");
                pairs.push((plain.symbol(&name, sort), folding.symbol(&name, sort)));
            }
            for bits in [0, 1, 2, 5, u64::MAX, 1 << (width - 1)] {
                pairs.push((plain.constant(bits, sort), folding.constant(bits, sort)));
            }
        }
        for _ in 0..6000 {
            let a = pairs[random(pairs.len())];
            let Sort::Bits(width) = plain.sort(a.0) else { continue };
            let alike: Vec<_> = pairs.iter().filter(|p| plain.sort(p.0) == Sort::Bits(width)).copied().collect();
            let (b, c) = (alike[random(alike.len())], alike[random(alike.len())]);
            let bits: Vec<_> = pairs.iter().filter(|p| plain.sort(p.0) == Sort::Bits(1)).copied().collect();
            let bit = bits[random(bits.len())];
            let other = widths[random(widths.len())];
            let (operation, args, sort) = match random(6) {
                0 => (Select, vec![bit, b, c], Sort::Bits(width)),
                1 if other > width => ([ZExt, SExt][random(2)], vec![a], Sort::Bits(other)),
                1 if other < width => {
                    (Extract(random((width - other) as usize + 1) as u32), vec![a], Sort::Bits(other))
                }
                2 if other < width => (Trunc, vec![a], Sort::Bits(other)),
                3 if width <= 16 => (Concat, vec![a, b], Sort::Bits(2 * width)),
                _ => {
                    let operation = two[random(two.len())];
                    let is_comparison = matches!(operation, Eq | Ult | Ule | Slt | Sle);
                    (operation, vec![a, b], Sort::Bits(if is_comparison { 1 } else { width }))
                }
            };
            let left = plain.apply(operation, args.iter().map(|p| p.0).collect(), sort);
            let right = folding.apply(operation, args.iter().map(|p| p.1).collect(), sort);
            assert_eq!(folding.sort(right), sort);
            pairs.push((left, right));
        }
        for seed in 0..12 {
            let (mut one, mut other) = (Valuation::new(&plain, seed), Valuation::new(&folding, seed));
            for (left, right) in &pairs {
                assert_eq!(
                    one.value(*left),
                    other.value(*right),
                    "{:?}: {:?}",
                    plain.node(*left),
                    folding.node(*right)
                );
            }
        }
        assert!(folding.len() < plain.len());
    }
}
