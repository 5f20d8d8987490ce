//! Maps coordinates to texels: addressing and filter modes (OpenCL C 3.0, section 8.2), one dimension at a time.

use kassay_suite::launch::Addressing;

use super::sampler::Sampler;

/// The texel that is read, in one dimension.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TexelIndex {
    /// This texel, counted from 0.
    At(u64),
    /// Outside the image, where the border colour is read.
    Border,
    /// Outside the image, where the addressing mode leaves the result undefined: the texel's index would be this.
    Outside(i64),
}

/// Two neighbouring texels and the weight of the second one, from 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TexelPair {
    pub indices: [TexelIndex; 2],
    pub weight: f32,
}

impl TexelIndex {
    /// An index to which no addressing mode is applied.
    pub fn checked(at: i64, size: u64) -> TexelIndex {
        match u64::try_from(at) {
            Ok(inside) if inside < size => TexelIndex::At(inside),
            _ => TexelIndex::Outside(at),
        }
    }

    fn clamped(at: i64, size: u64) -> TexelIndex {
        TexelIndex::At(u64::try_from(at).unwrap_or(0).min(size - 1))
    }

    fn bordered(at: i64, size: u64) -> TexelIndex {
        match TexelIndex::checked(at, size) {
            TexelIndex::Outside(_) => TexelIndex::Border,
            inside => inside,
        }
    }
}

/// The texel of an integer coordinate, in an image of `size` texels (at least 1) in this dimension. Integer coordinates
/// are not normalized, whatever the sampler says; OpenCL leaves that case undefined.
pub fn integer(sampler: Sampler, at: i64, size: u64) -> TexelIndex {
    match sampler.addressing {
        Addressing::None => TexelIndex::checked(at, size),
        Addressing::ClampToEdge => TexelIndex::clamped(at, size),
        Addressing::Clamp => TexelIndex::bordered(at, size),
        Addressing::Repeat => TexelIndex::At(at.rem_euclid(length(size)).unsigned_abs()),
        Addressing::MirroredRepeat => {
            let round = at.rem_euclid(2 * length(size)).unsigned_abs();
            TexelIndex::At(round.min(2 * size - 1 - round))
        }
    }
}

/// The texel that `CLK_FILTER_NEAREST` selects.
pub fn nearest(sampler: Sampler, coordinate: f32, size: u64) -> TexelIndex {
    match sampler.addressing {
        Addressing::None | Addressing::ClampToEdge | Addressing::Clamp => {
            integer(sampler, floor(unnormalized(sampler, coordinate, size)), size)
        }
        Addressing::Repeat => {
            let at = floor(repeated(sampler, coordinate, size));
            TexelIndex::clamped(if at > length(size) - 1 { at - length(size) } else { at }, size)
        }
        Addressing::MirroredRepeat => TexelIndex::clamped(floor(mirrored(sampler, coordinate, size)), size),
    }
}

/// The texels that `CLK_FILTER_LINEAR` interpolates.
pub fn linear(sampler: Sampler, coordinate: f32, size: u64) -> TexelPair {
    let u = match sampler.addressing {
        Addressing::None | Addressing::ClampToEdge | Addressing::Clamp => unnormalized(sampler, coordinate, size),
        Addressing::Repeat => repeated(sampler, coordinate, size),
        Addressing::MirroredRepeat => mirrored(sampler, coordinate, size),
    };
    let (first, weight) = (floor(u - 0.5), fraction(u - 0.5));
    let texels = [first, first.saturating_add(1)];
    let indices = match sampler.addressing {
        // A coordinate inside the image is valid even if one of its two texels lies outside: that one is the border.
        Addressing::None => match TexelIndex::checked(floor(u), size) {
            TexelIndex::At(_) => texels.map(|at| TexelIndex::bordered(at, size)),
            outside => [outside; 2],
        },
        Addressing::ClampToEdge | Addressing::MirroredRepeat => texels.map(|at| TexelIndex::clamped(at, size)),
        Addressing::Clamp => texels.map(|at| TexelIndex::bordered(at, size)),
        Addressing::Repeat => texels.map(|at| TexelIndex::At(at.rem_euclid(length(size)).unsigned_abs())),
    };
    TexelPair { indices, weight }
}

/// The layer of an image array (section 8.4) for a float coordinate and a sampler.
pub fn layer(coordinate: f32, layers: u64) -> u64 {
    // The cast saturates and maps NaN to 0.
    u64::min(coordinate.round_ties_even() as u64, layers - 1)
}

fn length(size: u64) -> i64 {
    i64::try_from(size).unwrap_or(i64::MAX / 4)
}

fn floor(u: f32) -> i64 {
    // The cast saturates and maps NaN to 0.
    u.floor() as i64
}

fn fraction(x: f32) -> f32 {
    let fraction = x - x.floor();
    if fraction.is_finite() { fraction } else { 0.0 }
}

fn unnormalized(sampler: Sampler, coordinate: f32, size: u64) -> f32 {
    if sampler.normalized { coordinate * size as f32 } else { coordinate }
}

fn normalized(sampler: Sampler, coordinate: f32, size: u64) -> f32 {
    if sampler.normalized { coordinate } else { coordinate / size as f32 }
}

fn repeated(sampler: Sampler, coordinate: f32, size: u64) -> f32 {
    let s = normalized(sampler, coordinate, size);
    (s - s.floor()) * size as f32
}

fn mirrored(sampler: Sampler, coordinate: f32, size: u64) -> f32 {
    let s = normalized(sampler, coordinate, size);
    (s - 2.0 * (0.5 * s).round_ties_even()).abs() * size as f32
}

#[cfg(test)]
mod tests {
    use kassay_suite::launch::Filter;
    use proptest::prelude::*;

    use super::*;

    fn sampler(addressing: Addressing, normalized: bool) -> Sampler {
        Sampler { addressing, filter: Filter::Linear, normalized }
    }

    const ALL: [Addressing; 5] =
        [Addressing::None, Addressing::ClampToEdge, Addressing::Clamp, Addressing::Repeat, Addressing::MirroredRepeat];

    fn inside(place: TexelIndex, size: u64) -> bool {
        !matches!(place, TexelIndex::At(at) if at >= size)
    }

    #[test]
    fn the_modes_differ_outside_the_image() {
        let at = |addressing, normalized, x| nearest(sampler(addressing, normalized), x, 4);
        assert_eq!(at(Addressing::None, false, 3.9), TexelIndex::At(3));
        assert_eq!(at(Addressing::None, false, 4.0), TexelIndex::Outside(4));
        assert_eq!(at(Addressing::None, false, -0.1), TexelIndex::Outside(-1));
        assert_eq!(at(Addressing::ClampToEdge, false, 9.0), TexelIndex::At(3));
        assert_eq!(at(Addressing::Clamp, false, 4.0), TexelIndex::Border);
        assert_eq!(at(Addressing::Repeat, true, 1.3), TexelIndex::At(1));
        assert_eq!(at(Addressing::Repeat, true, -0.1), TexelIndex::At(3));
        assert_eq!(
            [1.1, 1.9, 2.1, -0.3].map(|x| at(Addressing::MirroredRepeat, true, x)),
            [3, 0, 0, 1].map(TexelIndex::At)
        );
    }

    #[test]
    fn two_texels_are_interpolated() {
        let pair = |addressing, x| linear(sampler(addressing, false), x, 4);
        assert_eq!(
            pair(Addressing::ClampToEdge, 2.0),
            TexelPair { indices: [TexelIndex::At(1), TexelIndex::At(2)], weight: 0.5 }
        );
        assert_eq!(
            pair(Addressing::Clamp, 0.25),
            TexelPair { indices: [TexelIndex::Border, TexelIndex::At(0)], weight: 0.75 }
        );
        assert_eq!(pair(Addressing::None, 0.25).indices, [TexelIndex::Border, TexelIndex::At(0)]);
        assert_eq!(pair(Addressing::None, 4.25).indices, [TexelIndex::Outside(4); 2]);
        let repeated = linear(sampler(Addressing::Repeat, true), 0.0, 4);
        assert_eq!(repeated, TexelPair { indices: [TexelIndex::At(3), TexelIndex::At(0)], weight: 0.5 });
    }

    #[test]
    fn layers_are_rounded_and_clamped() {
        assert_eq!([-3.0, 0.5, 1.5, 2.4, 99.0, f32::NAN].map(|x| layer(x, 3)), [0, 0, 2, 2, 2, 0]);
    }

    proptest! {
        #[test]
        fn no_texel_lies_outside_the_image(x: f32, size in 1_u64..5000, normalized: bool) {
            for addressing in ALL {
                let sampler = sampler(addressing, normalized);
                let pair = linear(sampler, x, size);
                prop_assert!(inside(nearest(sampler, x, size), size));
                prop_assert!(pair.indices.iter().all(|place| inside(*place, size)));
                prop_assert!((0.0..=1.0).contains(&pair.weight), "{}", pair.weight);
            }
        }

        #[test]
        fn no_mode_moves_what_is_inside(at in 0_u64..4000, more in 1_u64..1000, fraction in 0.01_f32..0.99) {
            let size = at + more;
            for addressing in ALL {
                let sampler = sampler(addressing, false);
                prop_assert_eq!(integer(sampler, at as i64, size), TexelIndex::At(at));
                // Repetition needs normalized coordinates, which are not exact.
                if !matches!(addressing, Addressing::Repeat | Addressing::MirroredRepeat) {
                    prop_assert_eq!(nearest(sampler, at as f32 + fraction, size), TexelIndex::At(at));
                }
            }
        }

        #[test]
        fn repetition_has_a_period(at in -5000_i64..5000, size in 1_u64..300) {
            let (n, repeat) = (size as i64, sampler(Addressing::Repeat, true));
            let mirror = sampler(Addressing::MirroredRepeat, true);
            prop_assert_eq!(integer(repeat, at, size), integer(repeat, at + n, size));
            prop_assert_eq!(integer(mirror, at, size), integer(mirror, at + 2 * n, size));
            prop_assert_eq!(integer(mirror, at, size), integer(mirror, -1 - at, size));
        }

        /// With powers of two nothing is rounded, so the float and integer forms agree.
        #[test]
        fn floats_and_integers_agree(at in -2000_i64..2000, bits in 0_u32..7) {
            let size = 1_u64 << bits;
            let s = (at as f32 + 0.5) / size as f32;
            for addressing in ALL {
                let sampler = sampler(addressing, true);
                prop_assert_eq!(nearest(sampler, s, size), integer(sampler, at, size));
            }
        }

        /// In the middle of a texel, only that texel counts.
        #[test]
        fn the_middle_of_a_texel_is_that_texel(at in 0_u64..64, bits in 0_u32..7) {
            let size = 1_u64 << bits;
            prop_assume!(at < size);
            for addressing in ALL {
                let pair = linear(sampler(addressing, true), (at as f32 + 0.5) / size as f32, size);
                prop_assert_eq!((pair.indices[0], pair.weight), (TexelIndex::At(at), 0.0));
            }
        }
    }
}
