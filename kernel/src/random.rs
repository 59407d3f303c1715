//! NumPy's random numbers, bit by bit: `numpy.random.default_rng(seed)` without NumPy.
//!
//! PCG64 (Melissa O'Neill, 2014: PCG, a family of simple fast space-efficient statistically good
//! algorithms for random number generation; the XSL-RR 128/64 member), seeded by NumPy's
//! `SeedSequence`. Of the distributions only what resampling draws is here: integers below a bound
//! (Daniel Lemire, 2019: Fast random integer generation in an interval) and truth values.

const MULTIPLIER: u128 = 0x2360_ED05_1FC6_5DA4_4385_DF64_9FCC_F645;

/// The stream of `numpy.random.default_rng`.
#[derive(Clone, Debug)]
pub struct Generator {
    state: u128,
    increment: u128,
    /// The upper half of the last 64 bits, if a 32-bit draw has taken the lower half only.
    half: Option<u32>,
}

impl Generator {
    /// The stream of a seed: a non-negative integer of any size, as 32-bit words, lowest first.
    pub fn new(seed: &[u32]) -> Self {
        let words = seed_sequence(seed);
        let pair = |i: usize| u64::from(words[i]) | u64::from(words[i + 1]) << 32;
        let wide = |i: usize| u128::from(pair(i)) << 64 | u128::from(pair(i + 2));
        let mut generator = Self { state: 0, increment: wide(4) << 1 | 1, half: None };
        generator.step();
        generator.state = generator.state.wrapping_add(wide(0));
        generator.step();
        generator
    }

    #[inline(always)]
    fn step(&mut self) {
        self.state = self.state.wrapping_mul(MULTIPLIER).wrapping_add(self.increment);
    }

    #[inline(always)]
    fn next_64(&mut self) -> u64 {
        self.step();
        let folded = (self.state >> 64) as u64 ^ self.state as u64;
        folded.rotate_right((self.state >> 122) as u32)
    }

    #[inline(always)]
    fn next_32(&mut self) -> u32 {
        if let Some(half) = self.half.take() {
            return half;
        }
        let both = self.next_64();
        self.half = Some((both >> 32) as u32);
        both as u32
    }

    /// A draw of `Generator.random(dtype=np.float32)`, rounded to 0 or 1 as `np.rint` does: one half
    /// to 0.
    #[inline(always)]
    pub fn rounded_single(&mut self) -> bool {
        self.next_32() >> 8 > 1 << 23
    }

    /// Fills `out` with integers from 0 to `bound` - 1, as `Generator.choice(bound, ...)` and
    /// `Generator.integers(bound, ...)` do. `bound` must not be 0; if it is 1, nothing is drawn.
    pub fn fill_below(&mut self, bound: u32, out: &mut [u32]) {
        if bound == 1 {
            out.fill(0);
            return;
        }
        let threshold = bound.wrapping_neg() % bound;
        for out in out {
            let mut product = u64::from(self.next_32()) * u64::from(bound);
            while (product as u32) < threshold {
                product = u64::from(self.next_32()) * u64::from(bound);
            }
            *out = (product >> 32) as u32;
        }
    }
}

/// Truth values from a [`Generator`], as one call of `Generator.integers(2, dtype=bool)` draws
/// them: 32 from each draw, lowest bit first. What is left of the last draw is lost with this.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bits {
    left: u64,
    count: u32,
}

impl Bits {
    /// The next `count` truth values, at most 32, the first in the lowest bit.
    #[inline(always)]
    pub fn take(&mut self, generator: &mut Generator, count: u32) -> u32 {
        if self.count < count {
            self.left |= u64::from(generator.next_32()) << self.count;
            self.count += 32;
        }
        let bits = self.left & ((1 << count) - 1);
        self.left >>= count;
        self.count -= count;
        bits as u32
    }
}

/// The first eight words of state that `numpy.random.SeedSequence(seed)` generates.
fn seed_sequence(seed: &[u32]) -> [u32; 8] {
    let mut constant = 0x43b0_d7e5_u32;
    let mut hash = |value: u32| {
        let value = value ^ constant;
        constant = constant.wrapping_mul(0x931e_8875);
        let value = value.wrapping_mul(constant);
        value ^ value >> 16
    };
    let mix = |x: u32, y: u32| {
        let value = x.wrapping_mul(0xca01_f9dd).wrapping_sub(y.wrapping_mul(0x4973_f715));
        value ^ value >> 16
    };
    let mut pool: [u32; 4] = std::array::from_fn(|i| hash(seed.get(i).copied().unwrap_or(0)));
    for source in 0..4 {
        for target in (0..4).filter(|&target| target != source) {
            pool[target] = mix(pool[target], hash(pool[source]));
        }
    }
    for &word in seed.iter().skip(4) {
        for entry in &mut pool {
            *entry = mix(*entry, hash(word));
        }
    }
    let mut constant = 0x8b51_f9dd_u32;
    std::array::from_fn(|i| {
        let value = pool[i % 4] ^ constant;
        constant = constant.wrapping_mul(0x58f3_8ded);
        let value = value.wrapping_mul(constant);
        value ^ value >> 16
    })
}
