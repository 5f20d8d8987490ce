//! Bytes as the layer writes them into JSON.

/// Reads bytes from two hexadecimal digits each.
pub fn hexadecimal(text: &str) -> Option<Vec<u8>> {
    let digit = |c: &u8| char::from(*c).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let pairs = text.as_bytes().chunks(2).map(|pair| match pair {
        [high, low] => Some(digit(high)? << 4 | digit(low)?),
        _ => None,
    });
    pairs.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hexadecimal_digits_are_read() {
        assert_eq!(hexadecimal("00ff1A"), Some(vec![0, 255, 26]));
        assert_eq!((hexadecimal("0"), hexadecimal("0g"), hexadecimal("é")), (None, None, None));
    }
}
