//! The aarch64 instruction set: 64 bytes, eight keys or eight orders in four 128-bit vectors.

use super::{Classes, Job, ORDERS, Vector};
use std::arch::aarch64::*;
use std::array::from_fn;

/// NEON, which all target processors of this module support.
#[derive(Clone, Copy)]
pub struct Neon;

/// The bit that represents each byte of a mask, within groups of eight.
const BITS: [u8; 16] = [1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128];

/// Convert eight 64-bit booleans to bits.
#[inline(always)]
unsafe fn eight_bits(mask: [uint64x2_t; 4]) -> u64 {
    // SAFETY: the target has NEON, and the array has more than 8 bytes.
    unsafe {
        let four = mask.map(|two| vreinterpretq_u32_u64(two));
        let low = vreinterpretq_u16_u32(vuzp1q_u32(four[0], four[1]));
        let high = vreinterpretq_u16_u32(vuzp1q_u32(four[2], four[3]));
        let eight = vmovn_u16(vuzp1q_u16(low, high));
        u64::from(vaddv_u8(vand_u8(eight, vld1_u8(BITS.as_ptr()))))
    }
}

// SAFETY: each function relies only on the trait's contract, and the target has NEON.
unsafe impl Vector for Neon {
    type Bytes = [uint8x16_t; 4];
    type Mask = [uint8x16_t; 4];
    type Keys = [uint64x2_t; 4];
    const LANES: usize = 8;

    #[inline(never)]
    unsafe fn call<J: Job>(job: J) -> J::Output {
        // SAFETY: the target has the features of Neon.
        unsafe { job.run::<Self>() }
    }

    #[inline(always)]
    unsafe fn load(source: *const u8) -> Self::Bytes {
        // SAFETY: the caller guarantees 64 readable bytes.
        unsafe { from_fn(|i| vld1q_u8(source.add(16 * i))) }
    }

    #[inline(always)]
    unsafe fn equal(bytes: Self::Bytes, value: u8) -> Self::Mask {
        // SAFETY: the target has NEON.
        unsafe { bytes.map(|sixteen| vceqq_u8(sixteen, vdupq_n_u8(value))) }
    }

    #[inline(always)]
    unsafe fn within(bytes: Self::Bytes, first: u8, last: u8) -> Self::Mask {
        // SAFETY: the target has NEON.
        unsafe {
            let (low, span) = (vdupq_n_u8(first), vdupq_n_u8(last - first));
            bytes.map(|sixteen| vcleq_u8(vsubq_u8(sixteen, low), span))
        }
    }

    #[inline(always)]
    unsafe fn classes(bytes: Self::Bytes, table: &Classes) -> Self::Bytes {
        // SAFETY: the target has NEON, and each table has 16 bytes.
        unsafe {
            let (low, high) = (vld1q_u8(table.low.as_ptr()), vld1q_u8(table.high.as_ptr()));
            bytes.map(|sixteen| {
                let low_classes = vqtbl1q_u8(low, vandq_u8(sixteen, vdupq_n_u8(15)));
                vandq_u8(low_classes, vqtbl1q_u8(high, vshrq_n_u8::<4>(sixteen)))
            })
        }
    }

    #[inline(always)]
    unsafe fn having(classes: Self::Bytes, class_bits: u8) -> u64 {
        // SAFETY: the target has NEON.
        unsafe { Self::bits(classes.map(|sixteen| vtstq_u8(sixteen, vdupq_n_u8(class_bits)))) }
    }

    #[inline(always)]
    unsafe fn or(a: Self::Mask, b: Self::Mask) -> Self::Mask {
        // SAFETY: the target has NEON.
        unsafe { from_fn(|i| vorrq_u8(a[i], b[i])) }
    }

    #[inline(always)]
    unsafe fn bits(mask: Self::Mask) -> u64 {
        // SAFETY: the target has NEON, and the array has 16 bytes.
        unsafe {
            let places = vld1q_u8(BITS.as_ptr());
            let [a, b, c, d] = mask.map(|sixteen| vandq_u8(sixteen, places));
            // Three pairwise sums gather eight bytes into one.
            let eighths = vpaddq_u8(vpaddq_u8(a, b), vpaddq_u8(c, d));
            vgetq_lane_u64::<0>(vreinterpretq_u64_u8(vpaddq_u8(eighths, eighths)))
        }
    }

    #[inline(always)]
    unsafe fn positions(mut bits: u64, base: u32, out: *mut u32) {
        let count = bits.count_ones() as usize;
        // Twelve positions are written without a branch, because few blocks have more.
        for first in (0..count.max(1)).step_by(12) {
            for k in first..first + 12 {
                // SAFETY: at most 72 of 80 values are written. Values after the last set bit are
                // overwritten or never read.
                unsafe { out.add(k).write(base.wrapping_add(bits.trailing_zeros())) };
                bits &= bits.wrapping_sub(1);
            }
        }
    }

    #[inline(always)]
    unsafe fn load_keys(source: *const u64) -> Self::Keys {
        // SAFETY: the caller guarantees eight readable keys.
        unsafe { from_fn(|i| vld1q_u64(source.add(2 * i))) }
    }

    #[inline(always)]
    unsafe fn equal_keys(keys: Self::Keys, key: u64) -> u64 {
        // SAFETY: the target has NEON.
        unsafe { eight_bits(keys.map(|two| vceqq_u64(two, vdupq_n_u64(key)))) }
    }

    #[inline(always)]
    unsafe fn marked_keys(source: *const u64) -> u64 {
        // SAFETY: the caller guarantees eight readable keys.
        unsafe {
            eight_bits(Self::load_keys(source).map(|two| vcgeq_u64(two, vdupq_n_u64(0xFF << 56))))
        }
    }

    type Orders = [uint64x2_t; 4];
    type Flags = [uint64x2_t; 4];

    #[inline(always)]
    unsafe fn orders(bits: u64) -> Self::Orders {
        // SAFETY: the target has NEON.
        unsafe { [vdupq_n_u64(bits); 4] }
    }

    #[inline(always)]
    unsafe fn unfound() -> Self::Flags {
        // SAFETY: the target has NEON.
        unsafe { [vdupq_n_u64(u64::MAX); 4] }
    }

    #[inline(always)]
    unsafe fn next_ends(ends: Self::Orders, carry: Self::Orders, equal: u64) -> Self::Orders {
        // SAFETY: the target has NEON.
        unsafe {
            let shifted: Self::Orders =
                from_fn(|i| vorrq_u64(vaddq_u64(ends[i], ends[i]), carry[i]));
            let equal = vdupq_n_u64(equal);
            // Move each order's bits to the next higher order; an n-gram of order 0 ends at every
            // position.
            from_fn(|i| {
                let below = if i == 0 { vdupq_n_u64(u64::MAX) } else { shifted[i - 1] };
                vandq_u64(vextq_u64::<1>(below, shifted[i]), equal)
            })
        }
    }

    #[inline(always)]
    unsafe fn carry(ends: Self::Orders) -> Self::Orders {
        // SAFETY: the target has NEON.
        unsafe { ends.map(|two| vshrq_n_u64::<63>(two)) }
    }

    #[inline(always)]
    unsafe fn use_lowest(
        mut used: Self::Orders,
        ends: Self::Orders,
        mut unfound: Self::Flags,
    ) -> (Self::Orders, Self::Flags) {
        // SAFETY: the target has NEON.
        unsafe {
            for i in 0..4 {
                let free = vbicq_u64(ends[i], used[i]);
                let negative = vsubq_u64(vdupq_n_u64(0), free);
                let lowest = vandq_u64(free, negative);
                used[i] = vorrq_u64(used[i], vandq_u64(lowest, unfound[i]));
                unfound[i] = vandq_u64(unfound[i], vceqzq_u64(free));
            }
            (used, unfound)
        }
    }

    #[inline(always)]
    unsafe fn each_order(orders: Self::Orders) -> [u64; ORDERS] {
        // SAFETY: both are eight 64-bit integers, in the same order.
        unsafe { std::mem::transmute(orders) }
    }
}
