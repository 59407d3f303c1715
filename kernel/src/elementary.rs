//! The natural logarithm, the exponential function, and powers of positive numbers.
//!
//! Scores equal those of programs that use the system's mathematical library, so where there is one
//! it is asked: the one that Python asks. WebAssembly in a page has none: there, they are computed
//! operation by operation as glibc computes them on processors with fused multiplication and
//! addition. The page and the library then give the same bits.
//!
//! The algorithms are those of Arm Optimized Routines, by Szabolcs Nagy: a table of 128 intervals,
//! and a short polynomial inside each. What is rounded once there is `fused` here.

#[cfg(any(
    all(target_arch = "wasm32", not(target_os = "emscripten")),
    all(test, not(miri), target_os = "linux", target_env = "gnu", target_arch = "x86_64")
))]
mod tables;

#[cfg(all(target_arch = "wasm32", not(target_os = "emscripten")))]
use portable as library;

/// What the standard library asks: the system's.
#[cfg(not(any(
    all(target_arch = "wasm32", not(target_os = "emscripten")),
    all(windows, target_env = "gnu")
)))]
mod library {
    #[inline(always)]
    pub fn ln(x: f64) -> f64 {
        x.ln()
    }

    #[inline(always)]
    pub fn exp(x: f64) -> f64 {
        x.exp()
    }

    #[cfg(feature = "page")]
    #[inline(always)]
    pub fn power(x: f64, y: f64) -> f64 {
        x.powf(y)
    }
}

/// Python for Windows asks the Universal C Runtime. MinGW would link functions of its own.
#[cfg(all(windows, target_env = "gnu"))]
mod library {
    #[link(name = "api-ms-win-crt-math-l1-1-0", kind = "raw-dylib")]
    unsafe extern "C" {
        #[link_name = "log"]
        pub safe fn ln(x: f64) -> f64;
        pub safe fn exp(x: f64) -> f64;
        #[cfg(feature = "page")]
        #[link_name = "pow"]
        pub safe fn power(x: f64, y: f64) -> f64;
    }
}

/// The natural logarithm.
#[inline(always)]
pub fn ln(x: f64) -> f64 {
    library::ln(x)
}

/// The exponential function.
#[inline(always)]
pub fn exp(x: f64) -> f64 {
    library::exp(x)
}

/// A number above 0 to a power from 0 to 1.
#[cfg(feature = "page")]
#[inline(always)]
pub fn power(x: f64, y: f64) -> f64 {
    library::power(x, y)
}

#[cfg(any(
    all(target_arch = "wasm32", not(target_os = "emscripten")),
    all(test, not(miri), target_os = "linux", target_env = "gnu", target_arch = "x86_64")
))]
mod portable {
    use super::tables::{EXP, LOG, POWER};

    /// The binary digits of a number behind its first; the exponent stands before them.
    const DIGITS: u32 = 52;

    fn float(bits: u64) -> f64 {
        f64::from_bits(bits)
    }

    /// The sum of two numbers, and what rounding took from it.
    #[inline(always)]
    fn two_sum(a: f64, b: f64) -> (f64, f64) {
        let sum = a + b;
        let of_b = sum - a;
        (sum, (a - (sum - of_b)) + (b - of_b))
    }

    /// a × b + c, rounded once.
    ///
    /// WebAssembly has no such instruction. Where nothing is near the ends of the range, it is what
    /// rounding to odd makes of exact sums and products: Boldo and Melquiond, "Emulation of FMA and
    /// correctly rounded sums", IEEE Transactions on Computers 57 (2008).
    #[inline(always)]
    fn fused(a: f64, b: f64, c: f64) -> f64 {
        let halves = |x: f64| {
            let wide = 134_217_729.0 * x;
            let high = wide - (wide - x);
            (high, x - high)
        };
        let product = a * b;
        let ((ah, al), (bh, bl)) = (halves(a), halves(b));
        let lost = ((ah * bh - product) + ah * bl + al * bh) + al * bl;
        let (th, tl) = two_sum(c, lost);
        let (vh, vl) = two_sum(product, th);
        let (sum, rest) = two_sum(tl, vl);
        let mut bits = sum.to_bits();
        if rest != 0.0 && bits & 1 == 0 {
            bits = if (rest > 0.0) == (sum > 0.0) { bits + 1 } else { bits - 1 };
        }
        vh + f64::from_bits(bits)
    }

    /// Near 1 the polynomial alone.
    fn ln_near_one(x: f64) -> f64 {
        const B: [u64; 11] = [
            0xbfe0000000000000,
            0x3fd5555555555577,
            0xbfcffffffffffdcb,
            0x3fc999999995dd0c,
            0xbfc55555556745a7,
            0x3fc24924a344de30,
            0xbfbfffffa4423d65,
            0x3fbc7184282ad6ca,
            0xbfb999eb43b068ff,
            0x3fb78182f7afd085,
            0xbfb5521375d145cd,
        ];
        let b = |i: usize| float(B[i]);
        let r = x - 1.0;
        let r2 = r * r;
        let r3 = r * r2;
        let part = |i: usize| fused(r2, b(i + 2), fused(r, b(i + 1), b(i)));
        let high = fused(r3, b(10), part(7));
        let tail = fused(r3, fused(r3, high, part(4)), part(1));
        // The first terms in two pieces.
        let wide = fused(r, 134_217_728.0, r);
        let rhi = fused(-r, 134_217_728.0, wide);
        let rlo = r - rhi;
        let w = rhi * rhi * b(0);
        let hi = r + w;
        let lo = fused(b(0) * rlo, rhi + r, r - hi + w);
        fused(r3, tail, lo) + hi
    }

    pub fn ln(x: f64) -> f64 {
        let mut bits = x.to_bits();
        let (low, high) = ((1.0f64 - 0.0625).to_bits(), (1.0f64 + 0.064_697_265_625).to_bits());
        if bits.wrapping_sub(low) < high - low {
            return if x == 1.0 { 0.0 } else { ln_near_one(x) };
        }
        if !x.is_normal() || x < 0.0 {
            if !x.is_finite() || x <= 0.0 {
                return x.ln(); // infinite, or not a number
            }
            bits = (x * float(0x4330000000000000)).to_bits().wrapping_sub(52 << DIGITS);
        }
        let distance = bits.wrapping_sub(0x3fe6000000000000);
        let i = (distance >> (DIGITS - 7)) as usize % 128;
        let k = ((distance as i64) >> DIGITS) as f64;
        let z = float(bits.wrapping_sub(distance & (0xfff << DIGITS)));
        let (reciprocal, log) = (float(LOG[2 * i]), float(LOG[2 * i + 1]));
        let r = fused(z, reciprocal, -1.0);
        let w = fused(k, float(0x3fe62e42fefa3800), log);
        let hi = w + r;
        let lo = fused(k, float(0x3d2ef35793c76730), w - hi + r);
        let a = [
            0xbfe0000000000001,
            0x3fd555555551305b,
            0xbfcfffffffeb4590,
            0x3fc999b324f10111,
            0xbfc55575e506c89f,
        ]
        .map(float);
        let r2 = r * r;
        let tail = fused(r2, fused(r, a[4], a[3]), fused(r, a[2], a[1]));
        fused(r * r2, tail, fused(r2, a[0], lo)) + hi
    }

    pub fn exp(x: f64) -> f64 {
        exp_of(x, 0.0)
    }

    /// Of a number in two pieces.
    #[inline(always)]
    fn exp_of(x: f64, tail: f64) -> f64 {
        let size = x.abs();
        if size < float(0x3c90000000000000) {
            return 1.0 + x;
        }
        if size.is_nan() || size >= 1024.0 {
            return x.exp(); // 0, infinite, or not a number
        }
        let shift = float(0x4338000000000000);
        let kd = fused(x, float(0x40671547652b82fe), shift);
        let ki = kd.to_bits();
        let kd = kd - shift;
        let r = fused(kd, float(0xbf762e42fefa0000), x);
        let r = fused(kd, float(0xbd0cf79abc9e3b3a), r) + tail;
        let i = 2 * (ki % 128) as usize;
        let bits = EXP[i + 1].wrapping_add(ki << (DIGITS - 7));
        let c = [0x3fdffffffffffdbd, 0x3fc555555555543c, 0x3fa55555cf172b91, 0x3f81111167a4d017]
            .map(float);
        let r2 = r * r;
        let first = fused(r2, fused(r, c[1], c[0]), float(EXP[i]) + r);
        let rest = fused(r2 * r2, fused(r, c[3], c[2]), first);
        if size >= 512.0 {
            return far(rest, bits, ki & 0x8000_0000 == 0);
        }
        let scale = float(bits);
        fused(scale, rest, scale)
    }

    /// The logarithm in two pieces, times the exponent.
    pub fn power(x: f64, y: f64) -> f64 {
        let mut bits = x.to_bits();
        if !x.is_normal() {
            if !x.is_finite() || x == 0.0 {
                return x.powf(y);
            }
            bits = (x * float(0x4330000000000000)).to_bits().wrapping_sub(52 << DIGITS);
        }
        let distance = bits.wrapping_sub(0x3fe6955500000000);
        let i = (distance >> (DIGITS - 7)) as usize % 128;
        let k = ((distance as i64) >> DIGITS) as f64;
        let z = float(bits.wrapping_sub(distance & (0xfff << DIGITS)));
        let [reciprocal, log, rest] = [0, 1, 2].map(|part| float(POWER[3 * i + part]));
        let r = fused(z, reciprocal, -1.0);
        let t1 = fused(k, float(0x3fe62e42fefa3800), log);
        let t2 = t1 + r;
        let lo1 = fused(k, float(0x3d2ef35793c76730), rest);
        let lo2 = t1 - t2 + r;
        let a = [
            0xbfe0000000000000,
            0xbfe5555555555560,
            0x3fe0000000000006,
            0x3fe999999959554e,
            0xbfe555555529a47a,
            0xbff2495b9b4845e9,
            0x3ff0002b8b263fc3,
        ]
        .map(float);
        let ar = a[0] * r;
        let ar2 = r * ar;
        let hi = t2 + ar2;
        let lo3 = fused(ar, r, -ar2);
        let lo4 = t2 - hi + ar2;
        let tail = fused(ar2, fused(r, a[6], a[5]), fused(r, a[4], a[3]));
        let tail = fused(ar2, tail, fused(r, a[2], a[1]));
        let lo = fused(r * ar2, tail, lo1 + lo2 + lo3 + lo4);
        let whole = hi + lo;
        let lo = hi - whole + lo;
        let high = y * whole;
        exp_of(high, fused(y, lo, fused(y, whole, -high)))
    }

    /// Where the power of two might be none of a normal number.
    fn far(rest: f64, bits: u64, up: bool) -> f64 {
        if up {
            let scale = float(bits.wrapping_sub(1009 << DIGITS));
            return fused(scale, rest, scale) * float(0x7f00000000000000);
        }
        let scale = float(bits.wrapping_add(1022 << DIGITS));
        // glibc's compiler does not fuse these two.
        let part = scale * rest;
        let mut y = scale + part;
        if y < 1.0 {
            // Rounded once, to the digits that are left so near to 0.
            let lo = scale - y + part;
            let hi = 1.0 + y;
            y = hi + (1.0 - hi + y + lo) - 1.0;
        }
        y * f64::MIN_POSITIVE
    }
}

#[cfg(all(test, not(miri), target_os = "linux", target_env = "gnu", target_arch = "x86_64"))]
mod tests {
    use super::portable;
    use proptest::prelude::*;

    /// glibc has these operations where the processor has fused multiplication.
    fn is_fused() -> bool {
        std::is_x86_feature_detected!("fma")
    }

    fn same(of: &str, x: f64, ours: f64, theirs: f64) {
        let equal = ours.to_bits() == theirs.to_bits() || (ours.is_nan() && theirs.is_nan());
        assert!(equal || !is_fused(), "{of}({x:e}): {ours:e}, not {theirs:e}");
    }

    fn check(x: f64) {
        same("ln", x, portable::ln(x), x.ln());
        same("exp", x, portable::exp(x), x.exp());
    }

    #[test]
    fn precisions_and_brevity_have_the_bits_of_the_system() {
        for total in 1..1500 {
            for count in 1..=total {
                check(100.0 * f64::from(count) / f64::from(total));
                same("exp", 0.0, portable::exp(1.0 - f64::from(total) / f64::from(count)), {
                    (1.0 - f64::from(total) / f64::from(count)).exp()
                });
            }
        }
        for power in -1080..1024 {
            check(2f64.powi(power));
            check(-(2f64.powi(power)));
        }
        for x in [0.0, -0.0, f64::INFINITY, f64::NEG_INFINITY, f64::NAN, f64::MIN_POSITIVE, 5e-324]
        {
            check(x);
        }
    }

    #[test]
    fn roots_have_the_bits_of_the_system() {
        for order in 1..=16 {
            let y = 1.0 / f64::from(order);
            for count in 1..1500 {
                let x = f64::from(count) / 1500.0;
                for x in [x, x * x, x * x * 1e-9, 1.0 / x] {
                    same("power", x, portable::power(x, y), x.powf(y));
                }
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(200_000))]

        #[test]
        fn any_root_has_the_bits_of_the_system(x in 1e-200f64..10.0, small in -200f64..2.0, order in 1..17) {
            let y = 1.0 / f64::from(order);
            for x in [x, 10f64.powf(small)] {
                same("power", x, portable::power(x, y), x.powf(y));
            }
        }

        #[test]
        fn any_number_has_the_bits_of_the_system(bits in any::<u64>(), x in -760f64..720.0, near in 0.9f64..1.1) {
            check(f64::from_bits(bits));
            check(x);
            check(near);
        }
    }
}
