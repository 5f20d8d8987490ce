//! Numbers of elements that launches determine: `ni * nj`, `2 * n + 1`.

use crate::condition::{KnownLaunch, Quantity};
use crate::words::Words;

/// A sum of products of what a launch gives.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Extent {
    /// Each a factor and the quantities that it is multiplied by, none of which is a constant, a sum or a product. No
    /// two have the same quantities; without any it is a number.
    pub terms: Vec<(i128, Vec<Quantity>)>,
}

impl Extent {
    /// Its value in a launch; `None` if something of it is not known, or if it exceeds 128 bits.
    pub fn value(&self, launch: &impl KnownLaunch) -> Option<i128> {
        self.terms.iter().try_fold(0i128, |sum, (factor, quantities)| {
            let product = quantities.iter().try_fold(*factor, |all, q| all.checked_mul(q.value(launch)?))?;
            sum.checked_add(product)
        })
    }

    /// As an expression of the kernel's language, the longest products first: `height * pitch - pitch + width`.
    pub fn text(&self, words: Words) -> String {
        let mut terms: Vec<&(i128, Vec<Quantity>)> = self.terms.iter().collect();
        terms.sort_by_key(|(_, quantities)| std::cmp::Reverse(quantities.len()));
        // What is taken away does not come first if anything else can.
        let first = terms.iter().position(|(factor, _)| *factor > 0).unwrap_or(0);
        let first = (!terms.is_empty()).then(|| terms.remove(first));
        let mut text = String::new();
        for (factor, quantities) in first.into_iter().chain(terms) {
            let sign = match (text.is_empty(), *factor < 0) {
                (true, true) => "-",
                (true, false) => "",
                (false, true) => " - ",
                (false, false) => " + ",
            };
            text.push_str(sign);
            let number = factor.unsigned_abs();
            let mut factors: Vec<String> = quantities.iter().map(|q| q.expression(words)).collect();
            if number != 1 || factors.is_empty() {
                factors.insert(0, number.to_string());
            }
            text.push_str(&factors.join(" * "));
        }
        if text.is_empty() { "0".to_owned() } else { text }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::condition::{IndexBuffer, ScalarArgument};

    struct Launch;

    impl KnownLaunch for Launch {
        fn global_size(&self, _: u8) -> Option<u64> {
            Some(12)
        }

        fn local_size(&self, _: u8) -> Option<u64> {
            Some(4)
        }

        fn scalar(&self, scalar: &ScalarArgument) -> Option<i128> {
            Some(i128::from(scalar.position) + 5)
        }

        fn elements(&self, _: &IndexBuffer) -> Option<Vec<i128>> {
            None
        }
    }

    #[test]
    fn sums_of_products_are_written_as_a_person_would() {
        let (height, pitch, width) =
            (Quantity::scalar(0, "height"), Quantity::scalar(1, "pitch"), Quantity::GlobalSize(0));
        let terms = vec![(1, vec![width.clone()]), (-1, vec![pitch.clone()]), (1, vec![height.clone(), pitch])];
        let extent = Extent { terms };
        assert_eq!(extent.text(Words::OpenCl), "height * pitch + get_global_size(0) - pitch");
        assert_eq!(extent.value(&Launch), Some(30 + 12 - 6));
        let odd = Extent { terms: vec![(1, vec![]), (-2, vec![height.clone()])] };
        assert_eq!(odd.text(Words::OpenCl), "1 - 2 * height");
        assert_eq!(Extent { terms: vec![(-3, vec![height])] }.text(Words::OpenCl), "-3 * height");
        assert_eq!(Extent { terms: vec![] }.text(Words::OpenCl), "0");
        assert_eq!(Extent { terms: vec![(1, vec![width])] }.text(Words::Cuda), "gridDim.x * blockDim.x");
    }
}
