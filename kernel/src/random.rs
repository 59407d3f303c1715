//! A random number generator that reproduces NumPy's `numpy.random.default_rng(seed)` bit for bit.
//!
//! The generator is PCG64 (Melissa O'Neill, 2014: PCG, a family of simple fast space-efficient
//! statistically good algorithms for random number generation; the XSL-RR 128/64 member), seeded by
//! NumPy's `SeedSequence`. It provides the distributions that resampling needs: integers below a
//! bound (Daniel Lemire, 2019: Fast random integer generation in an interval) and booleans.

const MULTIPLIER: u128 = 0x2360_ED05_1FC6_5DA4_4385_DF64_9FCC_F645;

/// Number of 32-bit values generated at a time.
const BLOCK: usize = 256;

/// The stream of `numpy.random.default_rng`.
#[derive(Clone, Debug)]
pub struct Generator {
    state: u128,
    increment: u128,
    /// The upper half of the last 64 random bits, if only the lower half has been used.
    half: Option<u32>,
}

impl Generator {
    /// Create the stream for a seed: a non-negative integer of any size, as 32-bit words, lowest
    /// first.
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
        self.output()
    }

    #[inline(always)]
    fn output(&self) -> u64 {
        let folded = (self.state >> 64) as u64 ^ self.state as u64;
        folded.rotate_right((self.state >> 122) as u32)
    }

    #[inline(always)]
    fn next_32(&mut self) -> u32 {
        if let Some(half) = self.half.take() {
            return half;
        }
        let bits = self.next_64();
        self.half = Some((bits >> 32) as u32);
        bits as u32
    }

    /// Return a value of `Generator.random(dtype=np.float32)`, rounded to 0 or 1 like `np.rint`,
    /// which rounds one half to 0.
    #[inline(always)]
    pub fn rounded_single(&mut self) -> bool {
        self.next_32() >> 8 > 1 << 23
    }

    /// Fill `out` with integers from 0 to `bound` - 1, like `Generator.choice(bound, ...)` and
    /// `Generator.integers(bound, ...)`. `bound` must not be 0. If it is 1, no random bits are
    /// used.
    pub fn fill_below(&mut self, bound: u32, out: &mut [u32]) {
        if bound == 1 {
            out.fill(0);
            return;
        }
        let threshold = bound.wrapping_neg() % bound;
        let mut filled = 0;
        while filled < out.len() {
            let mut draws = [0; BLOCK];
            let draws = &mut draws[..BLOCK.min(out.len() - filled)];
            self.fill_32(draws);
            let rest = &mut out[filled..];
            let mut has_rejected = false;
            for (out, &draw) in rest.iter_mut().zip(&*draws) {
                let product = u64::from(draw) * u64::from(bound);
                *out = (product >> 32) as u32;
                has_rejected |= (product as u32) < threshold;
            }
            let is_accepted = |draw: &&u32| draw.wrapping_mul(bound) >= threshold;
            if has_rejected {
                // Rejected values are rare: move the accepted values up to replace them.
                for (out, &draw) in rest.iter_mut().zip(draws.iter().filter(is_accepted)) {
                    *out = ((u64::from(draw) * u64::from(bound)) >> 32) as u32;
                }
            }
            filled +=
                if has_rejected { draws.iter().filter(is_accepted).count() } else { draws.len() };
        }
    }

    /// Fill `out` with 32-bit values.
    ///
    /// Four steps are computed from the same state, so that they do not depend on each other.
    fn fill_32(&mut self, out: &mut [u32]) {
        let mut jumps = [(MULTIPLIER, self.increment); 4];
        for i in 1..jumps.len() {
            let (multiplier, increment) = jumps[i - 1];
            jumps[i] = (
                multiplier.wrapping_mul(MULTIPLIER),
                increment.wrapping_mul(MULTIPLIER).wrapping_add(self.increment),
            );
        }
        let first = usize::from(self.half.is_some() && !out.is_empty());
        let (first, rest) = out.split_at_mut(first);
        let mut eights = rest.chunks_exact_mut(8);
        first.iter_mut().for_each(|out| *out = self.next_32());
        for eight in &mut eights {
            let state = self.state;
            for (pair, (multiplier, increment)) in eight.chunks_exact_mut(2).zip(jumps) {
                self.state = state.wrapping_mul(multiplier).wrapping_add(increment);
                let both = self.output();
                (pair[0], pair[1]) = (both as u32, (both >> 32) as u32);
            }
        }
        eights.into_remainder().iter_mut().for_each(|out| *out = self.next_32());
    }
}

/// Booleans from a [`Generator`], as drawn by one call of `Generator.integers(2, dtype=bool)`: 32
/// from each 32-bit value, lowest bit first. Dropping this value discards the remaining bits.
#[derive(Clone, Copy, Debug, Default)]
pub struct Bits {
    remaining: u64,
    /// The number of remaining bits, always less than 32.
    count: u32,
}

impl Bits {
    /// Return the next `count` booleans (at most 32), with the first in the lowest bit.
    pub fn take(&mut self, generator: &mut Generator, count: u32) -> u32 {
        if self.count < count {
            self.remaining |= u64::from(generator.next_32()) << self.count;
            self.count += 32;
        }
        let bits = self.remaining & ((1 << count) - 1);
        self.remaining >>= count;
        self.count -= count;
        bits as u32
    }

    /// Fill `out` with the next `count` booleans, 64 per word, with the first in the lowest bit.
    pub fn fill(&mut self, generator: &mut Generator, count: usize, out: &mut [u64]) {
        let (words, rest) = out.split_at_mut(count / 64);
        let mut draws = vec![0; 2 * words.len()];
        generator.fill_32(&mut draws);
        for (word, pair) in words.iter_mut().zip(draws.chunks_exact(2)) {
            let pair = u64::from(pair[0]) | u64::from(pair[1]) << 32;
            *word = self.remaining | pair << self.count;
            self.remaining = pair >> 1 >> (63 - self.count);
        }
        if let Some(word) = rest.first_mut() {
            let mut half = |bits: usize| u64::from(self.take(generator, bits.min(32) as u32));
            *word = half(count % 64) | half((count % 64).saturating_sub(32)) << 32;
        }
    }
}

/// Return the first eight words of state that `numpy.random.SeedSequence(seed)` generates.
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
