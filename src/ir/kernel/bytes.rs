//! Reads and writes the encoding of `clang/clang.h`: numbers in LEB128, strings with their length in front.

/// Decodes bytes from front to back. `None` means the end of input or malformed input.
pub(super) struct Reader<'b> {
    left: &'b [u8],
}

impl<'b> Reader<'b> {
    /// A reader at the beginning of `bytes`.
    pub fn new(bytes: &'b [u8]) -> Self {
        Reader { left: bytes }
    }

    /// Returns whether all bytes have been read.
    pub fn is_done(&self) -> bool {
        self.left.is_empty()
    }

    /// One byte.
    pub fn byte(&mut self) -> Option<u8> {
        let (&first, left) = self.left.split_first()?;
        self.left = left;
        Some(first)
    }

    /// A number in LEB128.
    pub fn number(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    /// A number of items of at least one byte each. A number above that of the remaining bytes is malformed.
    pub fn count(&mut self) -> Option<usize> {
        usize::try_from(self.number()?).ok().filter(|&count| count <= self.left.len())
    }

    /// Bytes with their length in front.
    pub fn block(&mut self) -> Option<&'b [u8]> {
        let len = self.count()?;
        let (block, left) = self.left.split_at_checked(len)?;
        self.left = left;
        Some(block)
    }
}

/// Encodes what [`Reader`] decodes.
#[derive(Default)]
pub(super) struct Writer {
    pub bytes: Vec<u8>,
}

impl Writer {
    /// Appends a number in LEB128.
    pub fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.bytes.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.bytes.push(number as u8);
    }

    /// Appends bytes with their length in front.
    pub fn block(&mut self, block: &[u8]) {
        self.number(block.len() as u64);
        self.bytes.extend_from_slice(block);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_texts_are_read_back_and_wrong_ones_are_not() {
        let mut reader = Reader::new(b"\x05\xac\x02\x02ab");
        assert_eq!((reader.number(), reader.number(), reader.block()), (Some(5), Some(300), Some(&b"ab"[..])));
        assert!(reader.is_done() && reader.byte().is_none());
        let mut writer = Writer::default();
        writer.number(300);
        writer.block(b"ab");
        assert_eq!(writer.bytes, b"\xac\x02\x02ab");
        assert_eq!(Reader::new(b"\x05ab").block(), None);
        assert_eq!(Reader::new(&[0xff; 12]).number(), None);
    }
}
