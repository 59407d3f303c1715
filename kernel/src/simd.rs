//! Instruction sets for operations on 64 bytes at a time, selected once at run time.
//!
//! Vectorized code is written once, as a [`Job`] that uses the [`Vector`] trait.
//! [`Instructions::run`] compiles each job for every instruction set and calls the selected one.

#[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
mod neon;
mod points;
#[cfg(target_arch = "x86_64")]
mod utf8;

use std::sync::OnceLock;

named_enum! {
    /// The instruction sets for which jobs are compiled, slowest first.
    Instructions {
        /// The scalar definitions, which process one byte at a time, without block lexers.
        Scalar = "scalar",
        /// Blocks of bytes in ordinary Rust, for processors without the instruction sets below.
        Portable = "portable",
        /// aarch64 with 128-bit vectors.
        Neon = "neon",
        /// x86-64 with 256-bit integer vectors.
        Avx2 = "avx2",
        /// x86-64 with 512-bit vectors and byte compression: Ice Lake, Zen 4 and later.
        Avx512 = "avx512",
    }
}

impl Instructions {
    /// Return the sets that this processor supports, slowest first.
    pub fn available() -> impl DoubleEndedIterator<Item = Self> {
        Self::ALL.iter().copied().filter(|set| set.is_available())
    }

    /// Return the best set that this processor supports.
    pub fn best() -> Self {
        static BEST: OnceLock<Instructions> = OnceLock::new();
        *BEST.get_or_init(|| Self::available().next_back().unwrap_or(Self::Portable))
    }

    /// Return whether this processor supports the set.
    pub fn is_available(self) -> bool {
        match self {
            Self::Scalar | Self::Portable => true,
            Self::Neon => cfg!(all(target_arch = "aarch64", target_feature = "neon")),
            #[cfg(target_arch = "x86_64")]
            Self::Avx2 => {
                is_x86_feature_detected!("avx2")
                    && is_x86_feature_detected!("bmi1")
                    && is_x86_feature_detected!("bmi2")
                    && is_x86_feature_detected!("lzcnt")
                    && is_x86_feature_detected!("popcnt")
            }
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 => {
                Self::Avx2.is_available()
                    && is_x86_feature_detected!("avx512f")
                    && is_x86_feature_detected!("avx512bw")
                    && is_x86_feature_detected!("avx512dq")
                    && is_x86_feature_detected!("avx512vl")
                    && is_x86_feature_detected!("avx512vbmi2")
            }
            #[cfg(not(target_arch = "x86_64"))]
            Self::Avx2 | Self::Avx512 => false,
        }
    }

    /// Run `job` with this set, or with the next slower set that the processor supports.
    pub fn run<J: Job>(self, job: J) -> J::Output {
        match self {
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 if self.is_available() => {
                // SAFETY: the processor has every feature the function enables.
                unsafe { x86::run_avx512(job) }
            }
            #[cfg(target_arch = "x86_64")]
            Self::Avx512 | Self::Avx2 if Self::Avx2.is_available() => {
                // SAFETY: the processor has every feature the function enables.
                unsafe { x86::run_avx2(job) }
            }
            #[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
            // SAFETY: the target has NEON.
            Self::Neon | Self::Avx2 | Self::Avx512 => unsafe { neon::Neon::call(job) },
            // SAFETY: the portable set needs no particular instructions.
            _ => unsafe { Portable::call(job) },
        }
    }
}

/// Up to eight classes of ASCII bytes, for [`Vector::classes`]. A byte belongs to a class if both
/// of its halves belong to the class.
pub struct Classes {
    low: [u8; 16],
    high: [u8; 16],
    /// The classes of each byte.
    bytes: [u8; 256],
}

impl Classes {
    /// Create the table. Class `i` contains the bytes whose high half is set in `rectangles[i].0`
    /// and whose low half is set in `rectangles[i].1`.
    pub const fn new(rectangles: [(u8, u16); 8]) -> Self {
        let mut table = Self { low: [0; 16], high: [0; 16], bytes: [0; 256] };
        let mut byte = 0;
        while byte < 0x80 {
            let (high, low) = (byte >> 4, byte & 15);
            let mut class = 0;
            while class < 8 {
                table.high[high] |= (rectangles[class].0 >> high & 1) << class;
                table.low[low] |= ((rectangles[class].1 >> low & 1) as u8) << class;
                class += 1;
            }
            byte += 1;
        }
        while byte > 0 {
            byte -= 1;
            table.bytes[byte] = table.high[byte >> 4] & table.low[byte & 15];
        }
        table
    }

    /// Return the classes of a byte.
    pub fn byte_classes(&self, byte: u8) -> u8 {
        self.bytes[usize::from(byte)]
    }
}

/// Code that can be compiled for each instruction set.
pub trait Job {
    /// The result type.
    type Output;

    /// Run the code. Implementations are `#[inline(always)]`, so that all of it is compiled with
    /// the instruction set of `V`.
    ///
    /// # Safety
    /// The processor must support the instructions of `V`.
    unsafe fn run<V: Vector>(self) -> Self::Output;
}

/// Operations on vectors of 64 bytes or of a few 64-bit keys.
///
/// # Safety
/// Every function needs the instructions of the implementing type. Pointers must be readable (or
/// writable) for the sizes that each function states.
#[allow(clippy::missing_safety_doc)]
pub unsafe trait Vector: Copy {
    /// Sixty-four bytes.
    type Bytes: Copy;
    /// One boolean per byte.
    type Mask: Copy;
    /// [`Vector::LANES`] keys.
    type Keys: Copy;
    /// The number of keys that one operation compares.
    const LANES: usize;

    /// Run a job in a function that is not inlined, so that all callers share one compiled copy.
    unsafe fn call<J: Job>(job: J) -> J::Output;

    /// Read 64 bytes.
    unsafe fn load(source: *const u8) -> Self::Bytes;
    /// Whether [`Vector::continues_utf8`] is implemented.
    const CHECKS_UTF8: bool = false;
    /// Return whether 64 bytes continue the three bytes before them as UTF-8. The last character
    /// may be incomplete.
    #[inline(always)]
    unsafe fn continues_utf8(_source: *const u8) -> bool {
        false
    }
    /// Compare each byte with `value`.
    unsafe fn equal(bytes: Self::Bytes, value: u8) -> Self::Mask;
    /// Test whether each byte is in the range from `first` to `last`, inclusive.
    unsafe fn within(bytes: Self::Bytes, first: u8, last: u8) -> Self::Mask;
    /// Return the classes of each byte.
    unsafe fn classes(bytes: Self::Bytes, table: &Classes) -> Self::Bytes;
    /// Return, as bits, the bytes that belong to at least one of the classes in `class_bits`.
    unsafe fn having(classes: Self::Bytes, class_bits: u8) -> u64;
    /// Combine two masks with a bitwise or.
    unsafe fn or(a: Self::Mask, b: Self::Mask) -> Self::Mask;
    /// Convert a mask to bits, where byte 0 is the lowest bit.
    unsafe fn bits(mask: Self::Mask) -> u64;
    /// Write `base + i` for each set bit `i`, in order. `out` must have room for 80 values.
    unsafe fn positions(bits: u64, base: u32, out: *mut u32);
    /// Return the lowest `count` bytes of a word. For `count > 8` the result is unspecified.
    #[inline(always)]
    unsafe fn low_bytes(word: u64, count: usize) -> u64 {
        if count < 8 { word & ((1 << (8 * count)) - 1) } else { word }
    }
    /// Return `bits`. The compiler does not combine several calls in one vector.
    #[inline(always)]
    unsafe fn scalar(bits: u64) -> u64 {
        bits
    }
    /// Maximum number of keys, 64 or 128, of which comparing all is faster than a hash table.
    const MAX_COMPARED_KEYS: usize = 64;
    /// Read [`Vector::LANES`] keys.
    unsafe fn load_keys(source: *const u64) -> Self::Keys;
    /// Compare each key with `key`, and return the result as bits.
    unsafe fn equal_keys(keys: Self::Keys, key: u64) -> u64;
    /// Compare up to 64 keys with `key`, and return the result as bits.
    #[inline(always)]
    unsafe fn equal_among<const N: usize>(keys: &[Self::Keys; N], key: u64) -> u64 {
        let mut equal = 0;
        for (i, &keys) in keys.iter().enumerate() {
            // SAFETY: guaranteed by the caller.
            equal |= unsafe { Self::equal_keys(keys, key) } << (i * Self::LANES);
        }
        equal
    }
    /// Return, as bits, which of [`Vector::LANES`] keys have all bits of the top byte set.
    #[inline(always)]
    unsafe fn marked_keys(source: *const u64) -> u64 {
        // SAFETY: the caller guarantees `LANES` readable keys.
        (0..Self::LANES)
            .map(|i| u64::from(unsafe { source.add(i).read() } >= 0xFF << 56) << i)
            .fold(0, |bits, bit| bits | bit)
    }

    /// One bitset per order, for [`ORDERS`] orders.
    type Orders: Copy;
    /// One boolean per order.
    type Flags: Copy;
    /// Maximum number of words of a bitset whose [`Vector::Orders`] are kept in registers.
    const REGISTER_WORDS: usize = 8;

    /// Return a value with this bitset for every order.
    unsafe fn orders(bits: u64) -> Self::Orders;
    /// Return a value that is true for every order.
    unsafe fn unfound() -> Self::Flags;
    /// Return the end positions of n-grams after the next token. They are the ends of the next
    /// lower order, shifted by one, where the token is `equal`. `carry` is the carry from the next
    /// lower word, or 0.
    unsafe fn next_ends(ends: Self::Orders, carry: Self::Orders, equal: u64) -> Self::Orders;
    /// Return the carry of this word's previous ends into the next higher word.
    unsafe fn carry(ends: Self::Orders) -> Self::Orders;
    /// Return the same end positions as [`Vector::next_ends`] twice: in a form for the next call,
    /// and by order. `step` is the index of the token, and the first `ends` are 0.
    ///
    /// In the first form, an implementation may keep an n-gram in one lane while it gets longer.
    /// Then only the second form, which the next call does not wait for, moves lanes.
    #[inline(always)]
    unsafe fn extend_ngrams(
        ends: Self::Orders,
        carry: Self::Orders,
        equal: u64,
        _step: usize,
    ) -> (Self::Orders, Self::Orders) {
        // SAFETY: guaranteed by the caller.
        let ends = unsafe { Self::next_ends(ends, carry, equal) };
        (ends, ends)
    }
    /// Mark the lowest unused position in `ends` as used, for the orders whose flag is set. Clear
    /// the flag of each order that has such a position.
    unsafe fn use_lowest(
        used: Self::Orders,
        ends: Self::Orders,
        unfound: Self::Flags,
    ) -> (Self::Orders, Self::Flags);
    /// Return the bitset of each order.
    unsafe fn each_order(orders: Self::Orders) -> [u64; ORDERS];

    /// Write the code point that starts at each set bit, in order. Characters of more than two
    /// bytes yield arbitrary values. 80 bytes must be readable, and `out` must have room for 80
    /// values.
    #[inline(always)]
    unsafe fn points(source: *const u8, bits: u64, out: *mut u32) {
        // SAFETY: guaranteed by the caller.
        unsafe { points::write_points(source, bits, out) }
    }
}

/// Number of orders that one operation matches.
pub const ORDERS: usize = 8;

/// Ordinary Rust, which the compiler vectorizes as far as the target allows.
#[derive(Clone, Copy)]
pub struct Portable;

// SAFETY: this set needs no particular instructions.
unsafe impl Vector for Portable {
    type Bytes = [u8; 64];
    type Mask = [u8; 64];
    type Keys = [u64; 8];
    const LANES: usize = 8;

    #[inline(never)]
    unsafe fn call<J: Job>(job: J) -> J::Output {
        // SAFETY: this set needs no particular instructions.
        unsafe { job.run::<Self>() }
    }

    #[inline(always)]
    unsafe fn load(source: *const u8) -> [u8; 64] {
        // SAFETY: the caller guarantees 64 readable bytes.
        unsafe { source.cast::<[u8; 64]>().read_unaligned() }
    }

    #[inline(always)]
    unsafe fn equal(bytes: [u8; 64], value: u8) -> [u8; 64] {
        bytes.map(|byte| u8::from(byte == value))
    }

    #[inline(always)]
    unsafe fn within(bytes: [u8; 64], first: u8, last: u8) -> [u8; 64] {
        bytes.map(|byte| u8::from(byte.wrapping_sub(first) <= last - first))
    }

    #[inline(always)]
    unsafe fn classes(bytes: [u8; 64], table: &Classes) -> [u8; 64] {
        bytes.map(|byte| table.byte_classes(byte))
    }

    #[inline(always)]
    unsafe fn having(classes: [u8; 64], class_bits: u8) -> u64 {
        // SAFETY: this set needs no particular instructions.
        unsafe { Self::bits(classes.map(|class| u8::from(class & class_bits != 0))) }
    }

    #[inline(always)]
    unsafe fn or(mut a: [u8; 64], b: [u8; 64]) -> [u8; 64] {
        for (x, y) in a.iter_mut().zip(b) {
            *x |= y;
        }
        a
    }

    #[inline(always)]
    unsafe fn bits(mask: [u8; 64]) -> u64 {
        let mut bits = 0;
        for (i, eight) in mask.as_chunks::<8>().0.iter().enumerate() {
            // The product gathers the lowest bit of each byte into the top byte, without carries.
            let gathered = u64::from_le_bytes(*eight).wrapping_mul(0x0102_0408_1020_4080) >> 56;
            bits |= gathered << (8 * i);
        }
        bits
    }

    #[inline(always)]
    unsafe fn positions(mut bits: u64, base: u32, mut out: *mut u32) {
        while bits != 0 {
            // SAFETY: at most 64 values are written.
            unsafe {
                out.write(base + bits.trailing_zeros());
                out = out.add(1);
            }
            bits &= bits - 1;
        }
    }

    #[inline(always)]
    unsafe fn load_keys(source: *const u64) -> [u64; 8] {
        // SAFETY: the caller guarantees eight readable keys.
        unsafe { source.cast::<[u64; 8]>().read_unaligned() }
    }

    #[inline(always)]
    unsafe fn equal_keys(keys: [u64; 8], key: u64) -> u64 {
        let mut bits = 0;
        for (i, &candidate) in keys.iter().enumerate() {
            bits |= u64::from(candidate == key) << i;
        }
        bits
    }

    type Orders = [u64; ORDERS];
    type Flags = [u64; ORDERS];

    #[inline(always)]
    unsafe fn orders(bits: u64) -> [u64; ORDERS] {
        [bits; ORDERS]
    }

    #[inline(always)]
    unsafe fn unfound() -> [u64; ORDERS] {
        [u64::MAX; ORDERS]
    }

    #[inline(always)]
    unsafe fn next_ends(ends: [u64; ORDERS], carry: [u64; ORDERS], equal: u64) -> [u64; ORDERS] {
        let mut next = [equal; ORDERS];
        for order in 1..ORDERS {
            next[order] &= ends[order - 1] << 1 | carry[order - 1];
        }
        next
    }

    #[inline(always)]
    unsafe fn carry(ends: [u64; ORDERS]) -> [u64; ORDERS] {
        ends.map(|bits| bits >> 63)
    }

    #[inline(always)]
    unsafe fn use_lowest(
        mut used: [u64; ORDERS],
        ends: [u64; ORDERS],
        mut unfound: [u64; ORDERS],
    ) -> ([u64; ORDERS], [u64; ORDERS]) {
        for order in 0..ORDERS {
            let free = ends[order] & !used[order];
            used[order] |= free & free.wrapping_neg() & unfound[order];
            unfound[order] &= u64::from(free != 0).wrapping_sub(1);
        }
        (used, unfound)
    }

    #[inline(always)]
    unsafe fn each_order(orders: [u64; ORDERS]) -> [u64; ORDERS] {
        orders
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use super::{Classes, Job, ORDERS, Vector, points, utf8};
    use std::arch::asm;
    use std::arch::x86_64::*;

    #[target_feature(
        enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,avx2,bmi1,bmi2,lzcnt,popcnt"
    )]
    #[inline(never)]
    pub unsafe fn run_avx512<J: Job>(job: J) -> J::Output {
        // SAFETY: this function enables the features of Avx512.
        unsafe { job.run::<Avx512>() }
    }

    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    #[inline(never)]
    pub unsafe fn run_avx2<J: Job>(job: J) -> J::Output {
        // SAFETY: this function enables the features of Avx2.
        unsafe { job.run::<Avx2>() }
    }

    /// The lanes of n-grams at one step of [`Vector::extend_ngrams`]. The n-gram that starts at step
    /// `s` is in lane `s % 8`.
    #[repr(align(64))]
    struct StepLanes {
        /// All bits of the lane whose n-gram starts at this step.
        start: [u64; ORDERS],
        /// The lane of each order.
        lanes: [u64; ORDERS],
    }

    /// The lanes at the steps 0 to 7, which repeat.
    static STEP_LANES: [StepLanes; ORDERS] = {
        let mut steps = [const { StepLanes { start: [0; ORDERS], lanes: [0; ORDERS] } }; ORDERS];
        let mut step = 0;
        while step < ORDERS {
            steps[step].start[step] = u64::MAX;
            let mut order = 0;
            while order < ORDERS {
                steps[step].lanes[order] = ((step + ORDERS - order) % ORDERS) as u64;
                order += 1;
            }
            step += 1;
        }
        steps
    };

    /// Return `bits`, of which the compiler knows only that they are in a general register.
    #[inline(always)]
    fn in_register(mut bits: u64) -> u64 {
        // SAFETY: there is no instruction.
        unsafe {
            asm!("/* {0} */", inout(reg) bits, options(pure, nomem, nostack, preserves_flags));
        }
        bits
    }

    #[derive(Clone, Copy)]
    pub struct Avx2;

    // SAFETY: each function relies only on the trait's contract.
    #[allow(unsafe_op_in_unsafe_fn, clippy::undocumented_unsafe_blocks)]
    unsafe impl Vector for Avx2 {
        type Bytes = [__m256i; 2];
        type Mask = [__m256i; 2];
        type Keys = [__m256i; 2];
        const LANES: usize = 8;
        const MAX_COMPARED_KEYS: usize = 128;
        const CHECKS_UTF8: bool = true;

        #[inline(always)]
        unsafe fn call<J: Job>(job: J) -> J::Output {
            run_avx2(job)
        }

        #[inline(always)]
        unsafe fn continues_utf8(source: *const u8) -> bool {
            utf8::avx2(source) & utf8::avx2(source.add(32))
        }

        #[inline(always)]
        unsafe fn load(source: *const u8) -> Self::Bytes {
            let source = source.cast::<__m256i>();
            [_mm256_loadu_si256(source), _mm256_loadu_si256(source.add(1))]
        }

        #[inline(always)]
        unsafe fn equal(bytes: Self::Bytes, value: u8) -> Self::Mask {
            let value = _mm256_set1_epi8(value as i8);
            [_mm256_cmpeq_epi8(bytes[0], value), _mm256_cmpeq_epi8(bytes[1], value)]
        }

        #[inline(always)]
        unsafe fn within(bytes: Self::Bytes, first: u8, last: u8) -> Self::Mask {
            let low = _mm256_set1_epi8(first as i8);
            let span = _mm256_set1_epi8((last - first) as i8);
            let a = _mm256_sub_epi8(bytes[0], low);
            let b = _mm256_sub_epi8(bytes[1], low);
            [
                _mm256_cmpeq_epi8(_mm256_min_epu8(a, span), a),
                _mm256_cmpeq_epi8(_mm256_min_epu8(b, span), b),
            ]
        }

        #[inline(always)]
        unsafe fn classes(bytes: Self::Bytes, table: &Classes) -> Self::Bytes {
            let broadcast_half = |half: &[u8; 16]| {
                _mm256_broadcastsi128_si256(_mm_loadu_si128(half.as_ptr().cast()))
            };
            let (low, high, half) =
                (broadcast_half(&table.low), broadcast_half(&table.high), _mm256_set1_epi8(15));
            // A byte of 0x80 or above has no classes, because its look-up in `low` gives 0.
            let row = _mm256_and_si256(_mm256_srli_epi16::<4>(bytes[0]), half);
            let next = _mm256_and_si256(_mm256_srli_epi16::<4>(bytes[1]), half);
            [
                _mm256_and_si256(
                    _mm256_shuffle_epi8(low, bytes[0]),
                    _mm256_shuffle_epi8(high, row),
                ),
                _mm256_and_si256(
                    _mm256_shuffle_epi8(low, bytes[1]),
                    _mm256_shuffle_epi8(high, next),
                ),
            ]
        }

        #[inline(always)]
        unsafe fn having(classes: Self::Bytes, class_bits: u8) -> u64 {
            let (wanted_bits, zero) = (_mm256_set1_epi8(class_bits as i8), _mm256_setzero_si256());
            !Self::bits([
                _mm256_cmpeq_epi8(_mm256_and_si256(classes[0], wanted_bits), zero),
                _mm256_cmpeq_epi8(_mm256_and_si256(classes[1], wanted_bits), zero),
            ])
        }

        #[inline(always)]
        unsafe fn or(a: Self::Mask, b: Self::Mask) -> Self::Mask {
            [_mm256_or_si256(a[0], b[0]), _mm256_or_si256(a[1], b[1])]
        }

        #[inline(always)]
        unsafe fn bits(mask: Self::Mask) -> u64 {
            let low = _mm256_movemask_epi8(mask[0]) as u32 as u64;
            let high = _mm256_movemask_epi8(mask[1]) as u32 as u64;
            low | high << 32
        }

        #[inline(always)]
        unsafe fn positions(mut bits: u64, base: u32, out: *mut u32) {
            let count = bits.count_ones() as usize;
            // Sixteen positions are written without a branch, because few blocks have more.
            let mut i = 0;
            loop {
                for k in i..i + 16 {
                    // Writes are volatile, so that each value is stored separately: collecting
                    // values in vectors is slower.
                    out.add(k).write_volatile(base.wrapping_add(_tzcnt_u64(bits) as u32));
                    bits = _blsr_u64(bits);
                }
                i += 16;
                if i >= count {
                    break;
                }
            }
        }

        #[inline(always)]
        unsafe fn low_bytes(word: u64, count: usize) -> u64 {
            _bzhi_u64(word, 8 * count as u32)
        }

        #[inline(always)]
        unsafe fn scalar(bits: u64) -> u64 {
            in_register(bits)
        }

        #[inline(always)]
        unsafe fn load_keys(source: *const u64) -> Self::Keys {
            let (low, high) =
                (_mm256_loadu_si256(source.cast()), _mm256_loadu_si256(source.add(4).cast()));
            // The order 0 1 4 5, 2 3 6 7 makes `equal_keys` pack the keys in order.
            [
                _mm256_permute2x128_si256::<0x20>(low, high),
                _mm256_permute2x128_si256::<0x31>(low, high),
            ]
        }

        #[inline(always)]
        unsafe fn equal_keys(keys: Self::Keys, key: u64) -> u64 {
            let key = _mm256_set1_epi64x(key as i64);
            let (low, high) = (_mm256_cmpeq_epi64(keys[0], key), _mm256_cmpeq_epi64(keys[1], key));
            let same = _mm256_packs_epi32(low, high);
            _mm256_movemask_ps(_mm256_castsi256_ps(same)) as u32 as u64
        }

        #[inline(always)]
        unsafe fn equal_among<const N: usize>(keys: &[Self::Keys; N], key: u64) -> u64 {
            let (key, none) = (_mm256_set1_epi64x(key as i64), _mm256_setzero_si256());
            let mut equal = 0;
            for (i, four) in keys.chunks(4).enumerate() {
                let eight = |i: usize| {
                    let Some(keys) = four.get(i) else { return none };
                    let low = _mm256_cmpeq_epi64(keys[0], key);
                    _mm256_packs_epi32(low, _mm256_cmpeq_epi64(keys[1], key))
                };
                // The results are packed to one byte per key and extracted together.
                let low = _mm256_packs_epi16(eight(0), eight(1));
                let high = _mm256_packs_epi16(eight(2), eight(3));
                let in_order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
                let all = _mm256_permutevar8x32_epi32(_mm256_packs_epi16(low, high), in_order);
                equal |= (_mm256_movemask_epi8(all) as u32 as u64) << (32 * i);
            }
            equal
        }

        #[inline(always)]
        unsafe fn marked_keys(source: *const u64) -> u64 {
            let [low, high] = Self::load_keys(source);
            let mark = _mm256_set1_epi64x(0xFF);
            let low = _mm256_cmpeq_epi64(_mm256_srli_epi64::<56>(low), mark);
            let high = _mm256_cmpeq_epi64(_mm256_srli_epi64::<56>(high), mark);
            _mm256_movemask_ps(_mm256_castsi256_ps(_mm256_packs_epi32(low, high))) as u32 as u64
        }

        type Orders = [__m256i; 2];
        type Flags = [__m256i; 2];

        #[inline(always)]
        unsafe fn orders(bits: u64) -> Self::Orders {
            [_mm256_set1_epi64x(bits as i64); 2]
        }

        #[inline(always)]
        unsafe fn unfound() -> Self::Flags {
            [_mm256_set1_epi64x(-1); 2]
        }

        #[inline(always)]
        unsafe fn next_ends(ends: Self::Orders, carry: Self::Orders, equal: u64) -> Self::Orders {
            let shift_ends =
                |i: usize| _mm256_or_si256(_mm256_add_epi64(ends[i], ends[i]), carry[i]);
            // Rotate lanes 0 1 2 3 to 3 0 1 2, so that the bits of each order move to the next
            // higher order.
            let rotate_lanes = |lanes| _mm256_permute4x64_epi64::<0b10_01_00_11>(lanes);
            let (low, high) = (rotate_lanes(shift_ends(0)), rotate_lanes(shift_ends(1)));
            let equal = _mm256_set1_epi64x(equal as i64);
            [
                _mm256_and_si256(_mm256_blend_epi32::<3>(low, _mm256_set1_epi64x(-1)), equal),
                _mm256_and_si256(_mm256_blend_epi32::<3>(high, low), equal),
            ]
        }

        #[inline(always)]
        unsafe fn carry(ends: Self::Orders) -> Self::Orders {
            [_mm256_srli_epi64::<63>(ends[0]), _mm256_srli_epi64::<63>(ends[1])]
        }

        #[inline(always)]
        unsafe fn use_lowest(
            mut used: Self::Orders,
            ends: Self::Orders,
            mut unfound: Self::Flags,
        ) -> (Self::Orders, Self::Flags) {
            let zero = _mm256_setzero_si256();
            for i in 0..2 {
                let free = _mm256_andnot_si256(used[i], ends[i]);
                let lowest = _mm256_and_si256(free, _mm256_sub_epi64(zero, free));
                used[i] = _mm256_or_si256(used[i], _mm256_and_si256(lowest, unfound[i]));
                unfound[i] = _mm256_and_si256(unfound[i], _mm256_cmpeq_epi64(free, zero));
            }
            (used, unfound)
        }

        #[inline(always)]
        unsafe fn each_order(orders: Self::Orders) -> [u64; ORDERS] {
            std::mem::transmute(orders)
        }

        #[inline(always)]
        unsafe fn points(source: *const u8, bits: u64, out: *mut u32) {
            points::avx2(source, bits, out)
        }
    }

    #[repr(align(64))]
    struct Aligned([u8; 64]);

    /// The bytes 0 to 63.
    static BYTE_INDICES: Aligned = {
        let mut bytes = [0; 64];
        let mut i = 0;
        while i < 64 {
            bytes[i] = i as u8;
            i += 1;
        }
        Aligned(bytes)
    };

    #[derive(Clone, Copy)]
    pub struct Avx512;

    // SAFETY: each function relies only on the trait's contract.
    #[allow(unsafe_op_in_unsafe_fn, clippy::undocumented_unsafe_blocks)]
    unsafe impl Vector for Avx512 {
        type Bytes = __m512i;
        type Mask = u64;
        type Keys = __m512i;
        const LANES: usize = 8;
        const MAX_COMPARED_KEYS: usize = 128;
        const CHECKS_UTF8: bool = true;

        #[inline(always)]
        unsafe fn call<J: Job>(job: J) -> J::Output {
            run_avx512(job)
        }

        #[inline(always)]
        unsafe fn continues_utf8(source: *const u8) -> bool {
            utf8::avx512(source)
        }

        #[inline(always)]
        unsafe fn load(source: *const u8) -> Self::Bytes {
            _mm512_loadu_si512(source.cast())
        }

        #[inline(always)]
        unsafe fn equal(bytes: Self::Bytes, value: u8) -> Self::Mask {
            _mm512_cmpeq_epi8_mask(bytes, _mm512_set1_epi8(value as i8))
        }

        #[inline(always)]
        unsafe fn within(bytes: Self::Bytes, first: u8, last: u8) -> Self::Mask {
            let offset = _mm512_sub_epi8(bytes, _mm512_set1_epi8(first as i8));
            _mm512_cmple_epu8_mask(offset, _mm512_set1_epi8((last - first) as i8))
        }

        #[inline(always)]
        unsafe fn classes(bytes: Self::Bytes, table: &Classes) -> Self::Bytes {
            let broadcast_half =
                |half: &[u8; 16]| _mm512_broadcast_i32x4(_mm_loadu_si128(half.as_ptr().cast()));
            // A byte of 0x80 or above has no classes, because its look-up in `low` gives 0.
            let row = _mm512_and_si512(_mm512_srli_epi16::<4>(bytes), _mm512_set1_epi8(15));
            let low = _mm512_shuffle_epi8(broadcast_half(&table.low), bytes);
            _mm512_and_si512(low, _mm512_shuffle_epi8(broadcast_half(&table.high), row))
        }

        #[inline(always)]
        unsafe fn having(classes: Self::Bytes, class_bits: u8) -> u64 {
            _mm512_test_epi8_mask(classes, _mm512_set1_epi8(class_bits as i8))
        }

        #[inline(always)]
        unsafe fn or(a: Self::Mask, b: Self::Mask) -> Self::Mask {
            a | b
        }

        #[inline(always)]
        unsafe fn bits(mask: Self::Mask) -> u64 {
            mask
        }

        #[inline(always)]
        unsafe fn positions(bits: u64, base: u32, out: *mut u32) {
            // The indices of the set bits are collected as bytes, then widened sixteen at a time.
            let mut places =
                _mm512_maskz_compress_epi8(bits, _mm512_load_si512(BYTE_INDICES.0.as_ptr().cast()));
            let base = _mm512_set1_epi32(base as i32);
            let count = bits.count_ones() as usize;
            let mut i = 0;
            loop {
                let sixteen = _mm512_cvtepu8_epi32(_mm512_castsi512_si128(places));
                _mm512_storeu_si512(out.add(i).cast(), _mm512_add_epi32(base, sixteen));
                i += 16;
                if i >= count {
                    break;
                }
                places = _mm512_alignr_epi32::<4>(places, places);
            }
        }

        #[inline(always)]
        unsafe fn low_bytes(word: u64, count: usize) -> u64 {
            _bzhi_u64(word, 8 * count as u32)
        }

        #[inline(always)]
        unsafe fn scalar(bits: u64) -> u64 {
            in_register(bits)
        }

        #[inline(always)]
        unsafe fn load_keys(source: *const u64) -> Self::Keys {
            _mm512_loadu_si512(source.cast())
        }

        #[inline(always)]
        unsafe fn equal_keys(keys: Self::Keys, key: u64) -> u64 {
            u64::from(_mm512_cmpeq_epi64_mask(keys, _mm512_set1_epi64(key as i64)))
        }

        #[inline(always)]
        unsafe fn equal_among<const N: usize>(keys: &[Self::Keys; N], key: u64) -> u64 {
            let key = _mm512_set1_epi64(key as i64);
            let eight = |i: usize| match keys.get(i) {
                Some(&keys) => _mm512_cmpeq_epi64_mask(keys, key),
                None => 0,
            };
            // Masks are combined inside the mask registers, because moving values out of them is
            // slower.
            let sixteen = |i: usize| _mm512_kunpackb(eight(i + 1).into(), eight(i).into());
            let half = |i: usize| _mm512_kunpackw(sixteen(i + 2).into(), sixteen(i).into());
            _mm512_kunpackd(half(4).into(), half(0).into())
        }

        #[inline(always)]
        unsafe fn marked_keys(source: *const u64) -> u64 {
            let marks = _mm512_set1_epi64((0xFF_u64 << 56) as i64);
            u64::from(_mm512_cmpge_epu64_mask(_mm512_loadu_si512(source.cast()), marks))
        }

        type Orders = __m512i;
        type Flags = __mmask8;
        const REGISTER_WORDS: usize = 12;

        #[inline(always)]
        unsafe fn orders(bits: u64) -> Self::Orders {
            _mm512_set1_epi64(bits as i64)
        }

        #[inline(always)]
        unsafe fn unfound() -> Self::Flags {
            0xFF
        }

        #[inline(always)]
        unsafe fn next_ends(ends: Self::Orders, carry: Self::Orders, equal: u64) -> Self::Orders {
            let shifted = _mm512_shldi_epi64::<1>(ends, carry);
            let rotated = _mm512_alignr_epi64::<7>(shifted, _mm512_set1_epi64(-1));
            _mm512_and_si512(rotated, _mm512_set1_epi64(equal as i64))
        }

        #[inline(always)]
        unsafe fn carry(ends: Self::Orders) -> Self::Orders {
            ends
        }

        #[inline(always)]
        unsafe fn extend_ngrams(
            ends: Self::Orders,
            carry: Self::Orders,
            equal: u64,
            step: usize,
        ) -> (Self::Orders, Self::Orders) {
            let step_lanes = &STEP_LANES[step % ORDERS];
            let start = _mm512_load_si512(step_lanes.start.as_ptr().cast());
            let lanes = _mm512_load_si512(step_lanes.lanes.as_ptr().cast());
            let shifted = _mm512_shldi_epi64::<1>(ends, carry);
            // (shifted | start) & equal
            let equal = _mm512_set1_epi64(equal as i64);
            let ends = _mm512_ternarylogic_epi64::<0xA8>(shifted, start, equal);
            (ends, _mm512_permutexvar_epi64(lanes, ends))
        }

        #[inline(always)]
        unsafe fn use_lowest(
            used: Self::Orders,
            ends: Self::Orders,
            unfound: Self::Flags,
        ) -> (Self::Orders, Self::Flags) {
            let free = _mm512_andnot_si512(used, ends);
            let negative = _mm512_sub_epi64(_mm512_setzero_si512(), free);
            // used | free & -free
            let used = _mm512_mask_ternarylogic_epi64::<0xF8>(used, unfound, free, negative);
            (used, _mm512_mask_testn_epi64_mask(unfound, free, free))
        }

        #[inline(always)]
        unsafe fn each_order(orders: Self::Orders) -> [u64; ORDERS] {
            std::mem::transmute(orders)
        }

        #[inline(always)]
        unsafe fn points(source: *const u8, bits: u64, out: *mut u32) {
            points::avx512(source, bits, out)
        }
    }
}
