//! Lists the functions that code for this host may call besides hooks: LLVM emits calls of them for intrinsics without
//! a processor instruction. The loader resolves their addresses.

use std::ffi::{c_int, c_void};

use half::f16;

/// Returns the address of a function that code may call; `None` for any other name.
pub fn address(name: &str) -> Option<usize> {
    FUNCTIONS.iter().find(|(known, _)| *known == name).map(|(_, function)| function.0 as usize)
}

/// Returns the names of all these functions.
pub fn names() -> impl Iterator<Item = &'static str> {
    FUNCTIONS.iter().map(|(name, _)| *name)
}

struct Address(*const c_void);

// SAFETY: addresses of functions.
unsafe impl Sync for Address {}

macro_rules! library {
    ($($name:ident ($($parameter:ty),*) $(-> $result:ty)?;)*) => {
        mod c {
            #[allow(unused_imports)]
            use super::*;
            unsafe extern "C" {
                $(pub fn $name($(_: $parameter),*) $(-> $result)?;)*
            }
        }
        const FUNCTIONS: &[(&str, Address)] = &[
            $((stringify!($name), Address(c::$name as *const c_void)),)*
            ("__extendhfsf2", Address(extend_half as *const c_void)),
            ("__truncsfhf2", Address(truncate_float as *const c_void)),
            ("__truncdfhf2", Address(truncate_double as *const c_void)),
            ("__gnu_h2f_ieee", Address(half_bits_to_float as *const c_void)),
            ("__gnu_f2h_ieee", Address(float_to_half_bits as *const c_void)),
            ("__multi3", Address(multiply as *const c_void)),
            ("__divti3", Address(divide as *const c_void)),
            ("__modti3", Address(remainder as *const c_void)),
            ("__udivti3", Address(divide_unsigned as *const c_void)),
            ("__umodti3", Address(remainder_unsigned as *const c_void)),
            ("__floattisf", Address(int_to_float as *const c_void)),
            ("__floattidf", Address(int_to_double as *const c_void)),
            ("__floatuntisf", Address(unsigned_to_float as *const c_void)),
            ("__floatuntidf", Address(unsigned_to_double as *const c_void)),
            ("__fixsfti", Address(float_to_int as *const c_void)),
            ("__fixdfti", Address(double_to_int as *const c_void)),
            ("__fixunssfti", Address(float_to_unsigned as *const c_void)),
            ("__fixunsdfti", Address(double_to_unsigned as *const c_void)),
            ("__powisf2", Address(power_float as *const c_void)),
            ("__powidf2", Address(power_double as *const c_void)),
        ];
    };
}

library! {
    memcpy(*mut c_void, *const c_void, usize) -> *mut c_void;
    memmove(*mut c_void, *const c_void, usize) -> *mut c_void;
    memset(*mut c_void, c_int, usize) -> *mut c_void;
    memcmp(*const c_void, *const c_void, usize) -> c_int;
    bcmp(*const c_void, *const c_void, usize) -> c_int;
    sinf(f32) -> f32; sin(f64) -> f64;
    cosf(f32) -> f32; cos(f64) -> f64;
    tanf(f32) -> f32; tan(f64) -> f64;
    sincosf(f32, *mut f32, *mut f32); sincos(f64, *mut f64, *mut f64);
    asinf(f32) -> f32; asin(f64) -> f64;
    acosf(f32) -> f32; acos(f64) -> f64;
    atanf(f32) -> f32; atan(f64) -> f64;
    atan2f(f32, f32) -> f32; atan2(f64, f64) -> f64;
    sinhf(f32) -> f32; sinh(f64) -> f64;
    coshf(f32) -> f32; cosh(f64) -> f64;
    tanhf(f32) -> f32; tanh(f64) -> f64;
    expf(f32) -> f32; exp(f64) -> f64;
    exp2f(f32) -> f32; exp2(f64) -> f64;
    exp10f(f32) -> f32; exp10(f64) -> f64;
    logf(f32) -> f32; log(f64) -> f64;
    log2f(f32) -> f32; log2(f64) -> f64;
    log10f(f32) -> f32; log10(f64) -> f64;
    powf(f32, f32) -> f32; pow(f64, f64) -> f64;
    fmodf(f32, f32) -> f32; fmod(f64, f64) -> f64;
    fmaf(f32, f32, f32) -> f32; fma(f64, f64, f64) -> f64;
    sqrtf(f32) -> f32; sqrt(f64) -> f64;
    floorf(f32) -> f32; floor(f64) -> f64;
    ceilf(f32) -> f32; ceil(f64) -> f64;
    truncf(f32) -> f32; trunc(f64) -> f64;
    rintf(f32) -> f32; rint(f64) -> f64;
    nearbyintf(f32) -> f32; nearbyint(f64) -> f64;
    roundf(f32) -> f32; round(f64) -> f64;
    roundevenf(f32) -> f32; roundeven(f64) -> f64;
    fminf(f32, f32) -> f32; fmin(f64, f64) -> f64;
    fmaxf(f32, f32) -> f32; fmax(f64, f64) -> f64;
    ldexpf(f32, c_int) -> f32; ldexp(f64, c_int) -> f64;
    frexpf(f32, *mut c_int) -> f32; frexp(f64, *mut c_int) -> f64;
}

/// A half is passed in the low bits of a vector register, like a float.
fn from_half(bits: f32) -> f16 {
    f16::from_bits(bits.to_bits() as u16)
}

fn to_half(value: f16) -> f32 {
    f32::from_bits(u32::from(value.to_bits()))
}

extern "C" fn extend_half(value: f32) -> f32 {
    from_half(value).to_f32()
}

extern "C" fn truncate_float(value: f32) -> f32 {
    to_half(f16::from_f32(value))
}

/// Converts through a float that is rounded to odd: its last bit keeps what the second rounding needs.
extern "C" fn truncate_double(value: f64) -> f32 {
    to_half(f16::from_f32(odd_float(value)))
}

/// Rounds towards zero and sets the last bit if the result is not exact.
fn odd_float(value: f64) -> f32 {
    let nearest = value as f32;
    if nearest.is_nan() || f64::from(nearest) == value {
        return nearest;
    }
    let bits = nearest.to_bits();
    let towards_zero = if f64::from(nearest).abs() > value.abs() { bits - 1 } else { bits };
    f32::from_bits(towards_zero | 1)
}

extern "C" fn half_bits_to_float(bits: u16) -> f32 {
    f16::from_bits(bits).to_f32()
}

extern "C" fn float_to_half_bits(value: f32) -> u16 {
    f16::from_f32(value).to_bits()
}

extern "C" fn multiply(a: i128, b: i128) -> i128 {
    a.wrapping_mul(b)
}

extern "C" fn divide(a: i128, b: i128) -> i128 {
    a.checked_div(b).unwrap_or_default()
}

extern "C" fn remainder(a: i128, b: i128) -> i128 {
    a.checked_rem(b).unwrap_or_default()
}

extern "C" fn int_to_float(n: i128) -> f32 {
    n as f32
}

extern "C" fn int_to_double(n: i128) -> f64 {
    n as f64
}

extern "C" fn unsigned_to_float(n: u128) -> f32 {
    n as f32
}

extern "C" fn unsigned_to_double(n: u128) -> f64 {
    n as f64
}

extern "C" fn float_to_int(n: f32) -> i128 {
    n as i128
}

extern "C" fn double_to_int(n: f64) -> i128 {
    n as i128
}

extern "C" fn float_to_unsigned(n: f32) -> u128 {
    n as u128
}

extern "C" fn double_to_unsigned(n: f64) -> u128 {
    n as u128
}

extern "C" fn divide_unsigned(a: u128, b: u128) -> u128 {
    a.checked_div(b).unwrap_or_default()
}

extern "C" fn remainder_unsigned(a: u128, b: u128) -> u128 {
    a.checked_rem(b).unwrap_or_default()
}

extern "C" fn power_float(base: f32, exponent: c_int) -> f32 {
    base.powi(exponent)
}

extern "C" fn power_double(base: f64, exponent: c_int) -> f64 {
    base.powi(exponent)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubles_become_halves_with_one_rounding() {
        let half = |value: f64| from_half(truncate_double(value));
        assert_eq!(half(1.0), f16::ONE);
        // Just above a tie of halves; an intermediate float would round it to the tie.
        let tie = 1.0 + f64::from(f16::EPSILON.to_f32()) / 2.0;
        assert_eq!(half(tie), f16::ONE);
        assert_eq!(half(tie + f64::EPSILON), f16::ONE + f16::EPSILON);
        assert_eq!(half(-tie - f64::EPSILON), -(f16::ONE + f16::EPSILON));
        assert_eq!(half(65519.999), f16::MAX);
        assert_eq!(half(65520.0), f16::INFINITY);
        assert_eq!(half(1e300), f16::INFINITY);
        assert_eq!(half(1e-300), f16::ZERO);
        assert_eq!(half(2f64.powi(-25)), f16::ZERO);
        assert_eq!(half(2f64.powi(-25) * (1.0 + f64::EPSILON)).to_bits(), 1);
        assert!(half(f64::NAN).is_nan());
        for bits in (0..=u16::MAX).step_by(7) {
            let value = f16::from_bits(bits);
            if !value.is_nan() {
                assert_eq!(half(value.to_f64()).to_bits(), bits);
            }
        }
    }

    #[test]
    fn names_are_found() {
        assert!(address("sinf").is_some());
        assert!(address("system").is_none());
        assert!(names().count() > 50);
    }
}
