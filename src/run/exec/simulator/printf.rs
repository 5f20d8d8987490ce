//! `printf` as OpenCL C defines it (OpenCL C 3.0, 6.15.14): C's conversions, also of vectors.
//!
//! The C library formats each number; this module widens arguments, and joins vectors.

use std::ffi::CStr;

use kassay_model::native::table::PrintArg;
use kassay_model::printf_format::{Conversion, Piece, pieces};

/// The maximum number of bytes that a launch may print; the rest is dropped.
pub const MAX_PRINTED_BYTES: usize = 64 << 20;

/// The number of bytes that the packed arguments of a call take.
pub fn packed_bytes(args: &[PrintArg]) -> usize {
    args.iter().map(|a| arg_end(*a)).max().unwrap_or(0)
}

fn arg_end(arg: PrintArg) -> usize {
    let end = match arg {
        PrintArg::Integer { bytes, components, offset } | PrintArg::Float { bytes, components, offset } => {
            offset + bytes * components
        }
        PrintArg::Pointer { offset } => offset + 8,
    };
    end as usize
}

/// Appends the output of one call. `string`: the bytes that a pointer points to, up to the terminating zero.
pub fn write<'a>(out: &mut Vec<u8>, format: &[u8], args: &[PrintArg], packed: &[u8], string: impl Fn(u64) -> &'a [u8]) {
    let mut args = args.iter();
    for piece in pieces(format) {
        match piece {
            Piece::Text(text) => out.extend_from_slice(text),
            Piece::Conversion(conversion) if conversion.letter == b'%' => out.push(b'%'),
            Piece::Conversion(conversion) => {
                if let Some(arg) = args.next() {
                    convert(conversion, out, *arg, packed, &string);
                }
            }
        }
    }
}

/// Appends one argument, as the conversion says.
fn convert<'s>(
    conversion: Conversion<'_>,
    out: &mut Vec<u8>,
    arg: PrintArg,
    packed: &[u8],
    string: &impl Fn(u64) -> &'s [u8],
) {
    let (start, bytes, components) = match arg {
        PrintArg::Integer { bytes, components, offset } | PrintArg::Float { bytes, components, offset } => {
            (offset as usize, bytes as usize, components)
        }
        PrintArg::Pointer { offset } => (offset as usize, 8, 1),
    };
    let float = matches!(arg, PrintArg::Float { .. });
    for component in 0..conversion.vector.min(components) as usize {
        if component > 0 {
            out.push(b',');
        }
        let Some(raw) = packed.get(start + component * bytes..).and_then(|p| p.get(..bytes)) else { return };
        let mut word = [0; 8];
        word[..bytes.min(8)].copy_from_slice(&raw[..bytes.min(8)]);
        let word = u64::from_le_bytes(word);
        match conversion.letter {
            b's' => c_string(conversion, out, string(word)),
            b'p' => with_c(conversion, out, "", |format, to, len| {
                // SAFETY: `with_c` passes a NUL-terminated format and a buffer of `len` bytes; `%p` takes
                // a pointer.
                unsafe { libc::snprintf(to, len, format, word as *const libc::c_void) }
            }),
            b'f' | b'F' | b'e' | b'E' | b'g' | b'G' | b'a' | b'A' => {
                let value = if float { widened(word, bytes) } else { word as i64 as f64 };
                with_c(conversion, out, "", |format, to, len| {
                    // SAFETY: `with_c` passes a NUL-terminated format and a buffer of `len` bytes; these
                    // conversions take a double.
                    unsafe { libc::snprintf(to, len, format, value) }
                });
            }
            b'c' => with_c(conversion, out, "", |format, to, len| {
                // SAFETY: `with_c` passes a NUL-terminated format and a buffer of `len` bytes; `%c` takes an int.
                unsafe { libc::snprintf(to, len, format, i32::from(word as u8)) }
            }),
            letter => {
                let value = integer(conversion, word, bytes, matches!(letter, b'd' | b'i'));
                with_c(conversion, out, "ll", |format, to, len| {
                    // SAFETY: `with_c` passes a NUL-terminated format and a buffer of `len` bytes; with `ll`, these
                    // conversions take a long long.
                    unsafe { libc::snprintf(to, len, format, value) }
                });
            }
        }
    }
}

/// Converts an integer of `bytes` bytes to the width that the conversion states, then extends it to 64 bits.
fn integer(conversion: Conversion<'_>, word: u64, bytes: usize, signed: bool) -> i64 {
    let unused = 64 - 8 * conversion.integer_bytes(bytes as u32);
    if signed { (word << unused) as i64 >> unused } else { (word << unused >> unused) as i64 }
}

/// Lets the C library format a value: `call` gets the conversion with this length modifier, a buffer and its size.
fn with_c(
    conversion: Conversion<'_>,
    out: &mut Vec<u8>,
    length: &str,
    call: impl Fn(*const libc::c_char, *mut libc::c_char, usize) -> libc::c_int,
) {
    let mut format = Vec::with_capacity(conversion.style.len() + length.len() + 3);
    format.push(b'%');
    format.extend_from_slice(conversion.style);
    format.extend_from_slice(length.as_bytes());
    format.extend_from_slice(&[conversion.letter, 0]);
    let Ok(format) = CStr::from_bytes_with_nul(&format) else { return };
    let mut short = [0_u8; 128];
    let len = call(format.as_ptr(), short.as_mut_ptr().cast(), short.len());
    let len = usize::try_from(len).unwrap_or(0);
    if len < short.len() {
        out.extend_from_slice(&short[..len]);
        return;
    }
    let mut long = vec![0_u8; len.min(MAX_PRINTED_BYTES) + 1];
    call(format.as_ptr(), long.as_mut_ptr().cast(), long.len());
    long.pop();
    out.extend_from_slice(&long);
}

/// A string, cut to the precision and padded to the width.
fn c_string(conversion: Conversion<'_>, out: &mut Vec<u8>, text: &[u8]) {
    let style = String::from_utf8_lossy(conversion.style);
    let (width, precision) = style.split_once('.').map_or((&*style, None), |(w, p)| (w, Some(p)));
    let left = width.starts_with('-');
    let width: usize = width.trim_start_matches(['-', '+', ' ', '#', '0']).parse().unwrap_or(0);
    let most = precision.map_or(text.len(), |p| p.parse().unwrap_or(0));
    let text = &text[..text.len().min(most)];
    let fill = width.min(MAX_PRINTED_BYTES).saturating_sub(text.len());
    if !left {
        out.resize(out.len() + fill, b' ');
    }
    out.extend_from_slice(text);
    if left {
        out.resize(out.len() + fill, b' ');
    }
}

fn widened(word: u64, bytes: usize) -> f64 {
    match bytes {
        2 => half::f16::from_bits(word as u16).to_f64(),
        4 => f64::from(f32::from_bits(word as u32)),
        _ => f64::from_bits(word),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(format: &str, args: &[PrintArg], packed: &[u8]) -> String {
        let mut out = Vec::new();
        write(&mut out, format.as_bytes(), args, packed, |_| b"text");
        String::from_utf8(out).unwrap_or_default()
    }

    fn int(bytes: u32, components: u32) -> PrintArg {
        PrintArg::Integer { bytes, components, offset: 0 }
    }

    #[test]
    fn integers_have_the_width_that_the_conversion_states() {
        let minus = (-1_i32).to_le_bytes();
        assert_eq!(printed("%d|%%\n", &[int(4, 1)], &minus), "-1|%\n");
        assert_eq!(printed("%u", &[int(4, 1)], &minus), "4294967295");
        assert_eq!(printed("%hhx", &[int(4, 1)], &minus), "ff");
        assert_eq!(printed("[%+5d][%d]", &[int(4, 1), int(4, 1)], &7_i32.to_le_bytes()), "[   +7][7]");
        assert_eq!(printed("%-6d|", &[int(4, 1)], &42_i32.to_le_bytes()), "42    |");
        assert_eq!(printed("%ld", &[int(8, 1)], &i64::MIN.to_le_bytes()), "-9223372036854775808");
        assert_eq!(printed("%#llx", &[int(8, 1)], &255_i64.to_le_bytes()), "0xff");
        assert_eq!(printed("%c%s", &[int(4, 1), PrintArg::Pointer { offset: 0 }], &[65, 0, 0, 0, 0, 0, 0, 0]), "Atext");
    }

    #[test]
    fn vectors_are_joined() {
        let shorts: Vec<u8> = [1_i16, -2, 3, -4].iter().flat_map(|v| v.to_le_bytes()).collect();
        assert_eq!(printed("%v4hd", &[int(2, 4)], &shorts), "1,-2,3,-4");
        assert_eq!(printed("%v4hx", &[int(2, 4)], &shorts), "1,fffe,3,fffc");
        let floats: Vec<u8> = [1.5_f32, -0.25].iter().flat_map(|v| v.to_le_bytes()).collect();
        let arg = PrintArg::Float { bytes: 4, components: 2, offset: 0 };
        assert_eq!(printed("(%5.2v2hlf)", &[arg], &floats), "( 1.50,-0.25)");
    }

    #[test]
    fn floats_and_strings() {
        let arg = PrintArg::Float { bytes: 4, components: 1, offset: 0 };
        assert_eq!(printed("%a %", &[arg], &1.0_f32.to_le_bytes()), "0x1p+0 %");
        assert_eq!(printed("%e", &[arg], &f32::INFINITY.to_le_bytes()), "inf");
        assert_eq!(printed("%.300f", &[arg], &1.0_f32.to_le_bytes()).len(), 302);
        let half = PrintArg::Float { bytes: 2, components: 1, offset: 0 };
        assert_eq!(printed("%g", &[half], &half::f16::from_f32(0.5).to_le_bytes()), "0.5");
        assert_eq!(printed("[%6.2s][%-6s]", &[PrintArg::Pointer { offset: 0 }; 2], &[0; 8]), "[    te][text  ]");
        assert_eq!(printed("%d %q", &[], &[]), " %q");
    }
}
