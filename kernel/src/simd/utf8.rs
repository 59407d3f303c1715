//! Validation of UTF-8 without branches: "Validating UTF-8 in less than one instruction per byte"
//! (Keiser and Lemire, 2021). Text with a few non-ASCII characters would mispredict a branch that
//! skips ASCII.

use std::arch::x86_64::*;

const TOO_SHORT: u8 = 1 << 0;
const TOO_LONG: u8 = 1 << 1;
const OVERLONG_3: u8 = 1 << 2;
const TOO_LARGE: u8 = 1 << 3;
const SURROGATE: u8 = 1 << 4;
const OVERLONG_2: u8 = 1 << 5;
const OVERLONG_4: u8 = 1 << 6; // and other characters above U+10FFFF
const TWO_CONTINUATIONS: u8 = 1 << 7;
const ANY: u8 = TOO_SHORT | TOO_LONG | TWO_CONTINUATIONS;
const LARGE: u8 = ANY | TOO_LARGE | OVERLONG_4;
const NEXT: u8 = TOO_LONG | OVERLONG_2 | TWO_CONTINUATIONS;

/// The possible errors by the high half and the low half of a byte, and by the high half of the next
/// byte. An error is present if it is possible in all three.
const TABLES: [[u8; 16]; 3] = {
    let mut tables = [[TOO_LONG; 16], [LARGE; 16], [TOO_SHORT; 16]];
    let mut i = 8;
    while i < 12 {
        tables[0][i] = TWO_CONTINUATIONS;
        tables[2][i] = NEXT | SURROGATE | TOO_LARGE;
        i += 1;
    }
    tables[0][12] = TOO_SHORT | OVERLONG_2;
    tables[0][13] = TOO_SHORT;
    tables[0][14] = TOO_SHORT | OVERLONG_3 | SURROGATE;
    tables[0][15] = TOO_SHORT | TOO_LARGE | OVERLONG_4;
    tables[1][0] = ANY | OVERLONG_3 | OVERLONG_2 | OVERLONG_4;
    tables[1][1] = ANY | OVERLONG_2;
    (tables[1][2], tables[1][3], tables[1][4]) = (ANY, ANY, ANY | TOO_LARGE);
    tables[1][13] = LARGE | SURROGATE;
    tables[2][8] = NEXT | OVERLONG_3 | OVERLONG_4;
    tables[2][9] = NEXT | OVERLONG_3 | TOO_LARGE;
    tables
};

/// Define a function that returns whether a vector of bytes continues the three bytes before it as
/// UTF-8.
macro_rules! define_check {
    ($name:ident, $load:ident, $table:ident, $set:ident, $shift:ident, $shuffle:ident, $and:ident,
     $or:ident, $xor:ident, $subtract:ident, $test:ident, $passed:literal) => {
        #[inline(always)]
        pub unsafe fn $name(source: *const u8) -> bool {
            // SAFETY: the caller guarantees the instructions, and that the bytes are readable.
            unsafe {
                let bytes = $load(source.cast());
                let (first, second) = ($load(source.sub(1).cast()), $load(source.sub(2).cast()));
                let third = $load(source.sub(3).cast());
                let by_high = $table(_mm_loadu_si128(TABLES[0].as_ptr().cast()));
                let by_low = $table(_mm_loadu_si128(TABLES[1].as_ptr().cast()));
                let by_next = $table(_mm_loadu_si128(TABLES[2].as_ptr().cast()));
                let half = $set(15);
                let high = $shuffle(by_high, $and($shift::<4>(first), half));
                let low = $shuffle(by_low, $and(first, half));
                let next = $shuffle(by_next, $and($shift::<4>(bytes), half));
                let errors = $and($and(high, low), next);
                // The third and fourth bytes of a character must follow two continuation bytes.
                let third_bytes = $subtract(second, $set((0xE0_u8 - 0x80) as i8));
                let fourth_bytes = $subtract(third, $set((0xF0_u8 - 0x80) as i8));
                let continued = $and($or(third_bytes, fourth_bytes), $set(0x80_u8 as i8));
                let errors = $xor(errors, continued);
                $test(errors, errors) == $passed
            }
        }
    };
}

define_check!(
    avx2,
    _mm256_loadu_si256,
    _mm256_broadcastsi128_si256,
    _mm256_set1_epi8,
    _mm256_srli_epi16,
    _mm256_shuffle_epi8,
    _mm256_and_si256,
    _mm256_or_si256,
    _mm256_xor_si256,
    _mm256_subs_epu8,
    _mm256_testz_si256,
    1
);
define_check!(
    avx512,
    _mm512_loadu_si512,
    _mm512_broadcast_i32x4,
    _mm512_set1_epi8,
    _mm512_srli_epi16,
    _mm512_shuffle_epi8,
    _mm512_and_si512,
    _mm512_or_si512,
    _mm512_xor_si512,
    _mm512_subs_epu8,
    _mm512_test_epi8_mask,
    0
);
