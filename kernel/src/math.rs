//! The natural logarithm, the exponential function, powers, and exact sums.
//!
//! Scores must equal the scores of Python programs, so the kernel calls the same mathematical
//! library as Python. WebAssembly uses the compiler's functions; scores in a browser agree with
//! Python's scores to 12 digits.

/// Functions of the system's library, called through the standard library.
#[cfg(not(all(windows, target_env = "gnu")))]
mod library {
    #[inline(always)]
    pub fn ln(x: f64) -> f64 {
        x.ln()
    }

    #[inline(always)]
    pub fn exp(x: f64) -> f64 {
        x.exp()
    }

    #[cfg(any(feature = "page", feature = "python"))]
    #[inline(always)]
    pub fn power(x: f64, y: f64) -> f64 {
        x.powf(y)
    }
}

/// Functions of the Universal C Runtime, which Python for Windows uses. MinGW would link other
/// functions.
#[cfg(all(windows, target_env = "gnu"))]
mod library {
    #[link(name = "api-ms-win-crt-math-l1-1-0", kind = "raw-dylib")]
    unsafe extern "C" {
        #[link_name = "log"]
        pub safe fn ln(x: f64) -> f64;
        pub safe fn exp(x: f64) -> f64;
        #[cfg(any(feature = "page", feature = "python"))]
        #[link_name = "pow"]
        pub safe fn power(x: f64, y: f64) -> f64;
    }
}

/// Return the natural logarithm, or negative infinity for 0.
#[inline(always)]
pub fn ln(x: f64) -> f64 {
    library::ln(x)
}

/// Return e to the power of `x`.
#[inline(always)]
pub fn exp(x: f64) -> f64 {
    library::exp(x)
}

/// Return `x` to the power of `y`.
#[cfg(any(feature = "page", feature = "python"))]
#[inline(always)]
pub fn power(x: f64, y: f64) -> f64 {
    library::power(x, y)
}

/// Return the square of `x` as Python computes `x ** 2`. In one of a thousand values, the last bit
/// differs from that of `x * x`.
#[cfg(feature = "python")]
pub fn square(x: f64) -> f64 {
    // The compiler would replace a constant exponent by a multiplication.
    power(x, std::hint::black_box(2.0))
}

/// Return the exactly rounded sum of numbers, like Python's `math.fsum`.
///
/// Source: Jonathan Richard Shewchuk (1997): Adaptive precision floating-point arithmetic and fast
/// robust geometric predicates.
#[cfg(any(feature = "page", feature = "python"))]
pub fn exact_sum(numbers: impl Iterator<Item = f64>) -> f64 {
    let mut parts: Vec<f64> = Vec::new();
    for mut x in numbers {
        let mut kept_parts = 0;
        for i in 0..parts.len() {
            let mut y = parts[i];
            if x.abs() < y.abs() {
                std::mem::swap(&mut x, &mut y);
            }
            let high = x + y;
            let low = y - (high - x);
            if low != 0.0 {
                parts[kept_parts] = low;
                kept_parts += 1;
            }
            x = high;
        }
        parts.truncate(kept_parts);
        parts.push(x);
    }
    let Some(mut high) = parts.pop() else { return 0.0 };
    while let Some(part) = parts.pop() {
        let previous_high = high;
        high = previous_high + part;
        let low = part - (high - previous_high);
        if low != 0.0 {
            // Round half to even, taking the remaining partial sums into account.
            if parts.last().is_some_and(|&next| (low < 0.0) == (next < 0.0) && next != 0.0) {
                let twice = low * 2.0;
                let sum = high + twice;
                if twice == sum - high {
                    high = sum;
                }
            }
            break;
        }
    }
    high
}
