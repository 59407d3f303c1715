//! Instruction sets: sixty-four bytes at a time, chosen once when the program runs.
//!
//! Everything that is worth vectorizing is written once, over the [`Vector`] trait, as a [`Job`].
//! [`Instructions::run`] compiles each job for every instruction set and calls the one in use.

#[cfg(all(target_arch = "aarch64", target_feature = "neon"))]
mod neon;
mod points;

use std::sync::OnceLock;

/// The instruction sets a job can run with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Instructions {
    /// The plain definitions: one byte after the other, no block lexer at all.
    Scalar,
    /// Blocks of bytes in ordinary Rust, for processors without the sets below.
    Portable,
    /// aarch64 with its 128-bit vectors.
    Neon,
    /// x86-64 with 256-bit integer vectors.
    Avx2,
    /// x86-64 with 512-bit vectors that compress bytes: Ice Lake, Zen 4 and later.
    Avx512,
}

impl Instructions {
    /// Every name that [`Instructions::named`] knows, slowest first.
    pub const NAMES: [&str; 5] = ["scalar", "portable", "neon", "avx2", "avx512"];

    /// The best set that this processor has.
    pub fn best() -> Self {
        static BEST: OnceLock<Instructions> = OnceLock::new();
        *BEST.get_or_init(|| {
            [Self::Avx512, Self::Avx2, Self::Neon]
                .into_iter()
                .find(|set| set.is_available())
                .unwrap_or(Self::Portable)
        })
    }

    /// The set with this name, if there is one.
    pub fn named(name: &str) -> Option<Self> {
        Some(match name {
            "scalar" => Self::Scalar,
            "portable" => Self::Portable,
            "neon" => Self::Neon,
            "avx2" => Self::Avx2,
            "avx512" => Self::Avx512,
            _ => return None,
        })
    }

    /// The name that [`Instructions::named`] takes.
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// True if this processor can run it.
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

    /// Runs `job` with this set, or with the best one below it that the processor has.
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
            // SAFETY: the portable set needs nothing of the processor.
            _ => unsafe { Portable::call(job) },
        }
    }
}

/// Up to eight classes of ASCII bytes, for [`Vector::classes`]: a byte has those that its low and its
/// high half both have.
pub struct Classes {
    low: [u8; 16],
    high: [u8; 16],
    /// The classes of each byte.
    bytes: [u8; 256],
}

impl Classes {
    /// Class `i` has the bytes whose high half is a bit of `rectangles[i].0` and whose low half is one
    /// of `rectangles[i].1`.
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

    /// The classes of a byte.
    pub fn of(&self, byte: u8) -> u8 {
        self.bytes[usize::from(byte)]
    }
}

/// A piece of work that can be compiled for each instruction set.
pub trait Job {
    /// The result of the work.
    type Output;

    /// Does the work. Implementations are `#[inline(always)]`, so that the whole of it is compiled
    /// with the instruction set of `V`.
    ///
    /// # Safety
    /// The processor must have the instructions of `V`.
    unsafe fn run<V: Vector>(self) -> Self::Output;
}

/// Sixty-four bytes, or a few 64-bit keys, compared at once.
///
/// # Safety
/// Every function needs the instructions that the implementing type stands for; pointers must be
/// readable (or writable) for the sizes each function names.
#[allow(clippy::missing_safety_doc)]
pub unsafe trait Vector: Copy {
    /// Sixty-four bytes.
    type Bytes: Copy;
    /// One truth value per byte.
    type Mask: Copy;
    /// [`Vector::LANES`] keys.
    type Keys: Copy;
    /// The number of keys compared at once.
    const LANES: usize;

    /// Runs a job by a call, so that one compiled copy serves all callers.
    unsafe fn call<J: Job>(job: J) -> J::Output;

    /// Reads 64 bytes.
    unsafe fn load(at: *const u8) -> Self::Bytes;
    /// Which bytes equal `value`.
    unsafe fn equal(bytes: Self::Bytes, value: u8) -> Self::Mask;
    /// Which bytes lie between `first` and `last`, both included.
    unsafe fn within(bytes: Self::Bytes, first: u8, last: u8) -> Self::Mask;
    /// The classes of each byte.
    unsafe fn classes(bytes: Self::Bytes, table: &Classes) -> Self::Bytes;
    /// Which bytes have one of the classes `some`, as bits.
    unsafe fn having(classes: Self::Bytes, some: u8) -> u64;
    /// Either.
    unsafe fn or(a: Self::Mask, b: Self::Mask) -> Self::Mask;
    /// The truth values as bits, byte 0 lowest.
    unsafe fn bits(mask: Self::Mask) -> u64;
    /// Writes `base + i` for each set bit `i`, in order. `out` must have room for 80 values.
    unsafe fn positions(bits: u64, base: u32, out: *mut u32);
    /// The lowest `count` bytes of a word; of no use for a count above 8.
    #[inline(always)]
    unsafe fn low_bytes(word: u64, count: usize) -> u64 {
        if count < 8 { word & ((1 << (8 * count)) - 1) } else { word }
    }
    /// Reads [`Vector::LANES`] keys.
    unsafe fn load_keys(at: *const u64) -> Self::Keys;
    /// Which of the keys equal `key`, as bits.
    unsafe fn equal_keys(keys: Self::Keys, key: u64) -> u64;
    /// Which of up to 64 keys equal `key`, as bits.
    #[inline(always)]
    unsafe fn equal_among<const N: usize>(keys: &[Self::Keys; N], key: u64) -> u64 {
        let mut equal = 0;
        for (i, &keys) in keys.iter().enumerate() {
            // SAFETY: as the caller promises.
            equal |= unsafe { Self::equal_keys(keys, key) } << (i * Self::LANES);
        }
        equal
    }
    /// Which of [`Vector::LANES`] keys have all bits of their top byte set, as bits.
    #[inline(always)]
    unsafe fn marked_keys(at: *const u64) -> u64 {
        // SAFETY: the caller gives so many readable keys.
        (0..Self::LANES)
            .map(|i| u64::from(unsafe { at.add(i).read() } >= 0xFF << 56) << i)
            .fold(0, |bits, bit| bits | bit)
    }

    /// A bitset for each of [`ORDERS`] orders.
    type Orders: Copy;
    /// A truth value for each order.
    type Flags: Copy;

    /// The same bits for each order.
    unsafe fn orders(bits: u64) -> Self::Orders;
    /// True for each order.
    unsafe fn unfound() -> Self::Flags;
    /// Where n-grams end at the next position: those of the order below moved by one, where the
    /// token is `equal`. `carry` comes from the bits below these.
    unsafe fn next_ends(ends: Self::Orders, carry: Self::Orders, equal: u64) -> Self::Orders;
    /// The highest bit, to move into the bits above.
    unsafe fn carry(ends: Self::Orders) -> Self::Orders;
    /// Uses up the lowest of `ends` that is free, for the orders whose flag is set; the flags of
    /// the orders that had none stay.
    unsafe fn use_lowest(
        used: Self::Orders,
        ends: Self::Orders,
        unfound: Self::Flags,
    ) -> (Self::Orders, Self::Flags);
    /// The bitset of each order.
    unsafe fn each_order(orders: Self::Orders) -> [u64; ORDERS];

    /// Writes the code point that starts at each set bit, in order, as if none took more than two
    /// bytes. 80 bytes must be readable, and `out` must have room for 80 values.
    #[inline(always)]
    unsafe fn points(at: *const u8, bits: u64, out: *mut u32) {
        // SAFETY: as the caller promises.
        unsafe { points::plain(at, bits, out) }
    }
}

/// The number of orders matched at once.
pub const ORDERS: usize = 8;

/// Ordinary Rust, which compilers vectorize as far as the target allows.
#[derive(Clone, Copy)]
pub struct Portable;

// SAFETY: needs no particular instructions.
unsafe impl Vector for Portable {
    type Bytes = [u8; 64];
    type Mask = [u8; 64];
    type Keys = [u64; 8];
    const LANES: usize = 8;

    #[inline(never)]
    unsafe fn call<J: Job>(job: J) -> J::Output {
        // SAFETY: this set needs nothing of the processor.
        unsafe { job.run::<Self>() }
    }

    #[inline(always)]
    unsafe fn load(at: *const u8) -> [u8; 64] {
        // SAFETY: the caller gives 64 readable bytes.
        unsafe { at.cast::<[u8; 64]>().read_unaligned() }
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
        bytes.map(|byte| table.of(byte))
    }

    #[inline(always)]
    unsafe fn having(classes: [u8; 64], some: u8) -> u64 {
        // SAFETY: this set needs nothing of the processor.
        unsafe { Self::bits(classes.map(|class| u8::from(class & some != 0))) }
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
    unsafe fn load_keys(at: *const u64) -> [u64; 8] {
        // SAFETY: the caller gives eight readable keys.
        unsafe { at.cast::<[u64; 8]>().read_unaligned() }
    }

    #[inline(always)]
    unsafe fn equal_keys(keys: [u64; 8], key: u64) -> u64 {
        let mut bits = 0;
        for (i, &other) in keys.iter().enumerate() {
            bits |= u64::from(other == key) << i;
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
    use super::{Classes, Job, ORDERS, Vector, points};
    use std::arch::x86_64::*;

    #[target_feature(
        enable = "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi2,avx2,bmi1,bmi2,lzcnt,popcnt"
    )]
    #[inline(never)]
    pub unsafe fn run_avx512<J: Job>(job: J) -> J::Output {
        // SAFETY: this function enables what Avx512 needs.
        unsafe { job.run::<Avx512>() }
    }

    #[target_feature(enable = "avx2,bmi1,bmi2,lzcnt,popcnt")]
    #[inline(never)]
    pub unsafe fn run_avx2<J: Job>(job: J) -> J::Output {
        // SAFETY: this function enables what Avx2 needs.
        unsafe { job.run::<Avx2>() }
    }

    #[derive(Clone, Copy)]
    pub struct Avx2;

    // SAFETY: each function uses only what the trait's contract gives it.
    #[allow(unsafe_op_in_unsafe_fn, clippy::undocumented_unsafe_blocks)]
    unsafe impl Vector for Avx2 {
        type Bytes = [__m256i; 2];
        type Mask = [__m256i; 2];
        type Keys = [__m256i; 2];
        const LANES: usize = 8;

        #[inline(always)]
        unsafe fn call<J: Job>(job: J) -> J::Output {
            run_avx2(job)
        }

        #[inline(always)]
        unsafe fn load(at: *const u8) -> Self::Bytes {
            let at = at.cast::<__m256i>();
            [_mm256_loadu_si256(at), _mm256_loadu_si256(at.add(1))]
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
            let both = |half: &[u8; 16]| {
                _mm256_broadcastsi128_si256(_mm_loadu_si128(half.as_ptr().cast()))
            };
            let (low, high, half) = (both(&table.low), both(&table.high), _mm256_set1_epi8(15));
            // A byte from 0x80 on has no classes: looking it up in `low` gives 0.
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
        unsafe fn having(classes: Self::Bytes, some: u8) -> u64 {
            let (some, zero) = (_mm256_set1_epi8(some as i8), _mm256_setzero_si256());
            !Self::bits([
                _mm256_cmpeq_epi8(_mm256_and_si256(classes[0], some), zero),
                _mm256_cmpeq_epi8(_mm256_and_si256(classes[1], some), zero),
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
            // Sixteen at once without a branch: few blocks have more.
            let mut i = 0;
            loop {
                for k in i..i + 16 {
                    // Volatile, so that each is stored by itself: gathering them in vectors first
                    // takes longer.
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
        unsafe fn load_keys(at: *const u64) -> Self::Keys {
            let (low, high) = (_mm256_loadu_si256(at.cast()), _mm256_loadu_si256(at.add(4).cast()));
            // 0 1 4 5 and 2 3 6 7: as `equal_keys` needs them, to pack them in order.
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
                // Packed to a byte for each key, which are taken out at once.
                let low = _mm256_packs_epi16(eight(0), eight(1));
                let high = _mm256_packs_epi16(eight(2), eight(3));
                let in_order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
                let all = _mm256_permutevar8x32_epi32(_mm256_packs_epi16(low, high), in_order);
                equal |= (_mm256_movemask_epi8(all) as u32 as u64) << (32 * i);
            }
            equal
        }

        #[inline(always)]
        unsafe fn marked_keys(at: *const u64) -> u64 {
            let [low, high] = Self::load_keys(at);
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
            let moved = |i: usize| _mm256_or_si256(_mm256_add_epi64(ends[i], ends[i]), carry[i]);
            // Lanes 0 1 2 3 to 3 0 1 2: each order's bits go to the one above.
            let turned = |lanes| _mm256_permute4x64_epi64::<0b10_01_00_11>(lanes);
            let (low, high) = (turned(moved(0)), turned(moved(1)));
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
        unsafe fn points(at: *const u8, bits: u64, out: *mut u32) {
            points::avx2(at, bits, out)
        }
    }

    #[repr(align(64))]
    struct Aligned([u8; 64]);

    /// 0 to 63.
    static COUNTING: Aligned = {
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

    // SAFETY: each function uses only what the trait's contract gives it.
    #[allow(unsafe_op_in_unsafe_fn, clippy::undocumented_unsafe_blocks)]
    unsafe impl Vector for Avx512 {
        type Bytes = __m512i;
        type Mask = u64;
        type Keys = __m512i;
        const LANES: usize = 8;

        #[inline(always)]
        unsafe fn call<J: Job>(job: J) -> J::Output {
            run_avx512(job)
        }

        #[inline(always)]
        unsafe fn load(at: *const u8) -> Self::Bytes {
            _mm512_loadu_si512(at.cast())
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
            let all =
                |half: &[u8; 16]| _mm512_broadcast_i32x4(_mm_loadu_si128(half.as_ptr().cast()));
            // A byte from 0x80 on has no classes: looking it up in `low` gives 0.
            let row = _mm512_and_si512(_mm512_srli_epi16::<4>(bytes), _mm512_set1_epi8(15));
            let low = _mm512_shuffle_epi8(all(&table.low), bytes);
            _mm512_and_si512(low, _mm512_shuffle_epi8(all(&table.high), row))
        }

        #[inline(always)]
        unsafe fn having(classes: Self::Bytes, some: u8) -> u64 {
            _mm512_test_epi8_mask(classes, _mm512_set1_epi8(some as i8))
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
            // The numbers of the set bits as bytes, which are then widened sixteen at a time.
            let mut places =
                _mm512_maskz_compress_epi8(bits, _mm512_load_si512(COUNTING.0.as_ptr().cast()));
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
        unsafe fn load_keys(at: *const u64) -> Self::Keys {
            _mm512_loadu_si512(at.cast())
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
            // Put together where they are: each way out of the mask registers costs more.
            let sixteen = |i: usize| _mm512_kunpackb(eight(i + 1).into(), eight(i).into());
            let half = |i: usize| _mm512_kunpackw(sixteen(i + 2).into(), sixteen(i).into());
            _mm512_kunpackd(half(4).into(), half(0).into())
        }

        #[inline(always)]
        unsafe fn marked_keys(at: *const u64) -> u64 {
            let marks = _mm512_set1_epi64((0xFF_u64 << 56) as i64);
            u64::from(_mm512_cmpge_epu64_mask(_mm512_loadu_si512(at.cast()), marks))
        }

        type Orders = __m512i;
        type Flags = __mmask8;

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
            let moved = _mm512_or_si512(_mm512_add_epi64(ends, ends), carry);
            let turned = _mm512_alignr_epi64::<7>(moved, _mm512_set1_epi64(-1));
            _mm512_and_si512(turned, _mm512_set1_epi64(equal as i64))
        }

        #[inline(always)]
        unsafe fn carry(ends: Self::Orders) -> Self::Orders {
            _mm512_srli_epi64::<63>(ends)
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
        unsafe fn points(at: *const u8, bits: u64, out: *mut u32) {
            points::avx512(at, bits, out)
        }
    }
}
