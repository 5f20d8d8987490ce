//! Determines which of a kernel's operations have a precision that OpenCL leaves to the device, so that two compiled
//! programs may compute different results.

use std::collections::BTreeSet;

use super::builtins::{self, Effect, demangle};

/// Floating-point functions that OpenCL 1.2 defines exactly (7.4: 0 ULP or correctly rounded; 6.12.2 to 6.12.14:
/// selection, relations, conversion, data movement). `sqrt` has a rule of its own below.
const EXACT: &[&str] = &[
    "all",
    "any",
    "bitselect",
    "ceil",
    "clamp",
    "copysign",
    "fabs",
    "fdim",
    "floor",
    "fmax",
    "fmin",
    "fmod",
    "frexp",
    "ilogb",
    "isequal",
    "isfinite",
    "isgreater",
    "isgreaterequal",
    "isinf",
    "isless",
    "islessequal",
    "islessgreater",
    "isnan",
    "isnormal",
    "isnotequal",
    "isordered",
    "isunordered",
    "ldexp",
    "logb",
    "max",
    "maxmag",
    "min",
    "minmag",
    "modf",
    "nan",
    "nextafter",
    "remainder",
    "remquo",
    "rint",
    "round",
    "select",
    "shuffle",
    "shuffle2",
    "sign",
    "signbit",
    "step",
    "trunc",
    "fma",
];

/// The error in ULP assumed for functions that are not in the table of OpenCL 1.2, or that
/// it calls implementation-defined.
const UNSTATED_ULP: f64 = 16.0;
/// The errors in ULP that OpenCL 1.2 allows (7.4, table 7.1).
const ULP: &[(&str, f64)] = &[
    ("sqrt", 3.0),
    ("rsqrt", 2.0),
    ("sin", 4.0),
    ("cos", 4.0),
    ("tan", 5.0),
    ("exp", 3.0),
    ("exp2", 3.0),
    ("exp10", 3.0),
    ("log", 3.0),
    ("log2", 3.0),
    ("log10", 3.0),
    ("hypot", 4.0),
    ("cbrt", 2.0),
    ("pow", 16.0),
    ("pown", 16.0),
    ("powr", 16.0),
    ("read_imagef", 1.5),
];

/// The error in ULP that a builtin is allowed, if its precision is up to the device.
fn allowed_error(symbol: &str) -> Option<f64> {
    let (name, parameters) = demangle(symbol)?;
    if name == "write_imagef" || name == "read_imagef" {
        return Some(ULP.iter().find(|(n, _)| *n == name).map_or(UNSTATED_ULP, |(_, ulp)| *ulp));
    }
    // Address spaces, vectors and substitutions contain letters that also encode types: `PU3AS1Dv4_h` is a
    // pointer to `uchar4`.
    let mut scalars = parameters.to_owned();
    for word in ["U3AS", "Dv", "S_"] {
        scalars = scalars.replace(word, "");
    }
    let double = scalars.contains('d');
    if !(scalars.contains('f') || double || parameters.contains("Dh")) {
        return None;
    }
    if builtins::has(name, Effect::MovesData) || EXACT.contains(&name) || (name == "sqrt" && double) {
        return None;
    }
    Some(ULP.iter().find(|(n, _)| *n == name).map_or(UNSTATED_ULP, |(_, ulp)| *ulp))
}

/// The operations of a kernel whose precision is up to the device, and the largest error allowed to any of them.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Precision {
    uses: BTreeSet<String>,
    ulp: f64,
}

impl Precision {
    /// Scans the text of a kernel's canonical form.
    pub fn of(canonical: &str) -> Precision {
        let mut found = Precision::default();
        for line in canonical.lines().filter(|l| l.starts_with("  ")) {
            let single_division =
                line.contains(" fdiv ") && !line.contains(" fdiv double") && !line.contains("x double>");
            if single_division {
                found.note("division", 2.5);
            }
            for symbol in line.split('@').skip(1) {
                let end = symbol.find(|c: char| !(c.is_alphanumeric() || c == '_')).unwrap_or(symbol.len());
                if let (Some(ulp), Some((name, _))) = (allowed_error(&symbol[..end]), demangle(&symbol[..end])) {
                    found.note(name, ulp);
                }
            }
        }
        found
    }

    fn note(&mut self, name: &str, ulp: f64) {
        self.uses.insert(name.to_owned());
        self.ulp = self.ulp.max(ulp);
    }

    /// The names of the operations.
    pub fn uses(&self) -> &BTreeSet<String> {
        &self.uses
    }

    /// The largest distance between two results of one operation, in ULP: each may be off by the allowed error. 0 means
    /// that everything is exact.
    pub fn bound(&self) -> u64 {
        (2.0 * self.ulp).ceil() as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn builtins_are_classed_by_what_opencl_requires_of_them() {
        for exact in [
            "_Z13get_global_idj",
            "_Z4fabsf",
            "_Z3fmaddd",
            "_Z4sqrtd",
            "_Z6vload4mPU3AS1Kf",
            "_Z16vstore_half4_rteDv4_fmPU3AS1Dh",
            "_Z6selectDv16_fS_Dv16_i",
            "_Z10atomic_addPU3AS1Vii",
            "_Z12read_imageui14ocl_image3d_ro11ocl_samplerDv4_i",
            "_Z15get_image_width14ocl_image2d_ro",
            "_Z3maxDv4_jS_",
        ] {
            assert_eq!(allowed_error(exact), None, "{exact}");
        }
        for (choice, ulp) in [
            ("_Z3cosf", 4.0),
            ("_Z4sqrtf", 3.0),
            ("_Z3expd", 3.0),
            ("_Z3madfff", UNSTATED_ULP),
            ("_Z10native_sinf", UNSTATED_ULP),
            ("_Z8distanceDv3_fS_", UNSTATED_ULP),
            ("_Z11read_imagef14ocl_image2d_ro11ocl_samplerDv2_i", 1.5),
        ] {
            assert_eq!(allowed_error(choice), Some(ulp), "{choice}");
        }
        let division = |line: &str| Precision::of(line).ulp;
        assert_eq!(division("  %d = fdiv float %a, %b"), 2.5);
        assert_eq!(division("  %d = fdiv <4 x float> %a, %b"), 2.5);
        assert_eq!(division("  %d = fdiv double %a, %b"), 0.0);
    }
}
