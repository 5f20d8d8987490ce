//! Formats of `printf` as OpenCL C defines them (OpenCL C 3.0, 6.15.14): C's conversions, also of vectors.

/// A conversion of a format string, split into its parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Conversion<'a> {
    /// Flags, width and precision, unparsed.
    pub style: &'a [u8],
    /// Number of components; 1 for scalars.
    pub vector: u32,
    /// The length modifier: `hh`, `h`, `hl`, `l`, or none.
    pub length: &'a [u8],
    /// The conversion specifier, such as `d`.
    pub letter: u8,
}

/// A part of a format string.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Piece<'a> {
    /// Printed as it is.
    Text(&'a [u8]),
    /// Takes an argument, unless it is `%%`.
    Conversion(Conversion<'a>),
}

/// Returns the parts of a format. A `%` that begins no conversion is text.
pub fn pieces(format: &[u8]) -> impl Iterator<Item = Piece<'_>> {
    let mut rest = format;
    std::iter::from_fn(move || {
        let (piece, after) = match rest.iter().position(|b| *b == b'%') {
            None if rest.is_empty() => return None,
            None => (Piece::Text(rest), &rest[rest.len()..]),
            Some(0) => match Conversion::parse(rest) {
                Some((conversion, after)) => (Piece::Conversion(conversion), after),
                None => (Piece::Text(&rest[..1]), &rest[1..]),
            },
            Some(at) => (Piece::Text(&rest[..at]), &rest[at..]),
        };
        rest = after;
        Some(piece)
    })
}

impl<'a> Conversion<'a> {
    /// Parses the conversion at the start of `text`; also returns the rest.
    fn parse(text: &'a [u8]) -> Option<(Conversion<'a>, &'a [u8])> {
        let after = |from: usize, set: &[u8]| {
            from + text[from.min(text.len())..].iter().take_while(|b| set.contains(b)).count()
        };
        let flags = after(1, b"-+ #0");
        let width = after(flags, b"0123456789");
        let precision = if text.get(width) == Some(&b'.') { after(width + 1, b"0123456789") } else { width };
        let mut at = precision;
        let mut vector = 1;
        if text.get(at) == Some(&b'v') {
            let end = after(at + 1, b"0123456789");
            vector = std::str::from_utf8(&text[at + 1..end]).ok()?.parse().ok()?;
            at = end;
        }
        let end = after(at, b"hl");
        let length = &text[at..end];
        let letter = *text.get(end)?;
        if !b"diouxXcspfFeEgGaA%".contains(&letter) {
            return None;
        }
        Some((Conversion { style: &text[1..precision], vector, length, letter }, &text[end + 1..]))
    }

    /// Returns whether it prints a floating-point number.
    pub fn is_float(&self) -> bool {
        b"fFeEgGaA".contains(&self.letter)
    }

    /// Returns whether it prints an integer, and then whether with its sign.
    pub fn integer_sign(&self) -> Option<bool> {
        b"diouxX".contains(&self.letter).then_some(matches!(self.letter, b'd' | b'i'))
    }

    /// Returns how many bytes of an integer count whose elements have `bytes` bytes, 1 to 8.
    pub fn integer_bytes(&self, bytes: u32) -> u32 {
        let said = match self.length {
            b"hh" => 1,
            b"h" => 2,
            b"l" => 8,
            // `hl` is for vectors of 32-bit elements; a vector without a length modifier uses its elements' width.
            b"hl" => 4,
            _ if self.vector > 1 => bytes,
            _ => 4,
        };
        // Arguments narrower than the conversion states were not promoted: they keep their own width.
        said.min(bytes.max(1)).min(8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_fall_into_text_and_conversions() {
        let conversion =
            |style, vector, length, letter| Piece::Conversion(Conversion { style, vector, length, letter });
        let all: Vec<Piece<'_>> = pieces(b"a%+5.2v4hlf%d%% %q").collect();
        assert_eq!(
            all,
            [
                Piece::Text(b"a"),
                conversion(b"+5.2", 4, b"hl", b'f'),
                conversion(b"", 1, b"", b'd'),
                conversion(b"", 1, b"", b'%'),
                Piece::Text(b" "),
                Piece::Text(b"%"),
                Piece::Text(b"q"),
            ]
        );
    }

    #[test]
    fn length_modifiers_state_how_many_bytes_count() {
        let bytes = |format: &[u8], of: u32| match pieces(format).next() {
            Some(Piece::Conversion(conversion)) => conversion.integer_bytes(of),
            _ => 0,
        };
        assert_eq!([bytes(b"%hhd", 4), bytes(b"%hd", 4), bytes(b"%d", 4), bytes(b"%ld", 8)], [1, 2, 4, 8]);
        assert_eq!([bytes(b"%v2d", 2), bytes(b"%v2hlx", 4), bytes(b"%v2lx", 8), bytes(b"%ld", 4)], [2, 4, 8, 4]);
    }
}
