//! The natural logarithm, the exponential function, and powers of positive numbers.
//!
//! Scores equal those of programs that use the system's mathematical library, so Python's own
//! library is called where there is one. WebAssembly has the compiler's functions: scores in a page
//! agree with Python to 12 digits.

/// The system's library, through the standard library.
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

/// Return the natural logarithm; of 0, negative infinity.
#[inline(always)]
pub fn ln(x: f64) -> f64 {
    library::ln(x)
}

/// Return e to the power of a number.
#[inline(always)]
pub fn exp(x: f64) -> f64 {
    library::exp(x)
}

/// Return a number above 0 to a power from 0 to 1.
#[cfg(feature = "page")]
#[inline(always)]
pub fn power(x: f64, y: f64) -> f64 {
    library::power(x, y)
}
