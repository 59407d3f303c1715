//! Conversion of selected characters to code points.
//!
//! A one-byte character's code point is its byte. For a character of two bytes `a` and `b`, it is
//! `(a - 0xC0) * 64 + (b - 0x80)`. Longer characters get a meaningless value; callers that need
//! their code points decode them one by one.

/// The constant part of `a * 64 + b`, which must be subtracted.
const EXCESS: u32 = 0xC0 * 64 + 0x80;

/// Write the code points at the set bits, in order.
///
/// # Safety
/// 65 bytes must be readable, and `out` must have room for 64 values.
#[inline(always)]
pub unsafe fn write_points(source: *const u8, mut bits: u64, mut out: *mut u32) {
    while bits != 0 {
        // SAFETY: the bit is below 64.
        unsafe {
            let character = source.add(bits.trailing_zeros() as usize);
            let (a, b) = (u32::from(*character), u32::from(*character.add(1)));
            *out = if a < 0x80 { a } else { (a * 64 + b).wrapping_sub(EXCESS) };
            out = out.add(1);
        }
        bits &= bits - 1;
    }
}

/// The positions of the set bits of each byte, in order.
#[cfg(target_arch = "x86_64")]
static BIT_POSITIONS: [[u8; 8]; 256] = {
    let mut places = [[0; 8]; 256];
    let mut byte = 0;
    while byte < 256 {
        let (mut bit, mut count) = (0, 0);
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                places[byte][count] = bit;
                count += 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    places
};

/// Write the same values as [`write_points`], eight bytes at a time. Whole groups of eight are
/// written, up to the group of the last set bit.
///
/// # Safety
/// The processor must support AVX2 and popcnt; 80 bytes must be readable, and `out` must have room
/// for 80 values.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub unsafe fn avx2(mut source: *const u8, mut bits: u64, mut out: *mut u32) {
    use std::arch::x86_64::*;
    // SAFETY: each step reads 9 bytes and writes 8 values, and there are at most eight steps.
    unsafe {
        while bits != 0 {
            let a = _mm256_cvtepu8_epi32(_mm_loadl_epi64(source.cast()));
            let b = _mm256_cvtepu8_epi32(_mm_loadl_epi64(source.add(1).cast()));
            let two = _mm256_add_epi32(_mm256_slli_epi32::<6>(a), b);
            let two = _mm256_sub_epi32(two, _mm256_set1_epi32(EXCESS as i32));
            let is_two = _mm256_cmpgt_epi32(a, _mm256_set1_epi32(0x7F));
            let points = _mm256_blendv_epi8(a, two, is_two);
            let places = BIT_POSITIONS.as_ptr().add((bits & 0xFF) as usize);
            let places = _mm256_cvtepu8_epi32(_mm_loadl_epi64(places.cast()));
            _mm256_storeu_si256(out.cast(), _mm256_permutevar8x32_epi32(points, places));
            out = out.add((bits & 0xFF).count_ones() as usize);
            source = source.add(8);
            bits >>= 8;
        }
    }
}

/// Write the same values as [`write_points`], sixteen bytes at a time.
///
/// # Safety
/// The processor must support AVX-512 F and popcnt; 80 bytes must be readable, and `out` must have
/// room for 80 values.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub unsafe fn avx512(mut source: *const u8, mut bits: u64, mut out: *mut u32) {
    use std::arch::x86_64::*;
    // SAFETY: each step reads 17 bytes and writes 16 values, and there are at most four steps.
    unsafe {
        while bits != 0 {
            let a = _mm512_cvtepu8_epi32(_mm_loadu_si128(source.cast()));
            let b = _mm512_cvtepu8_epi32(_mm_loadu_si128(source.add(1).cast()));
            let is_two = _mm512_cmpgt_epi32_mask(a, _mm512_set1_epi32(0x7F));
            let two = _mm512_add_epi32(_mm512_slli_epi32::<6>(a), b);
            let points = _mm512_mask_sub_epi32(a, is_two, two, _mm512_set1_epi32(EXCESS as i32));
            let selected_bits = bits as u16;
            _mm512_storeu_si512(out.cast(), _mm512_maskz_compress_epi32(selected_bits, points));
            out = out.add(selected_bits.count_ones() as usize);
            source = source.add(16);
            bits >>= 16;
        }
    }
}
