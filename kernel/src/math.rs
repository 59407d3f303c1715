//! The natural logarithm, the exponential function, and powers of positive numbers.
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

    #[cfg(feature = "page")]
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
        #[cfg(feature = "page")]
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

/// Return `x` to the power of `y`, where `x` is positive and `y` is between 0 and 1.
#[cfg(feature = "page")]
#[inline(always)]
pub fn power(x: f64, y: f64) -> f64 {
    library::power(x, y)
}
