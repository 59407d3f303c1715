//! Division of a text into the segments of its reference, by aligning units.
//!
//! A unit is a word, a piece of a word or a character, given as an integer. [`bit_parallel`] and
//! [`general`] align by the smallest edit distance, [`similar`] by the largest sum of
//! similarities. Each returns an [`Alignment`], which contains the segment of every unit of the
//! hypothesis. Segment numbers never decrease. [`agreement`] counts the units that each segment has
//! in common with its reference.
//!
//! The edit distance follows Matusov et al. (2005), "Evaluating Machine Translation Output with
//! Automatic Sentence Segmentation". Equally good steps have the order of preference of mweralign
//! 1.4: first skip a unit of the reference, then skip a unit of the hypothesis, then pair two
//! units. A border between segments costs nothing, and no unit of the hypothesis is inserted
//! between a border and the next unit of the reference, so additional units belong to the end of
//! the previous segment.

pub mod agreement;
pub mod bit_parallel;
pub mod general;
pub mod similar;

/// The reference units of each segment, in one or more alternatives.
pub type Segments = [Vec<Vec<u32>>];

/// Marks a unit that is paired with no other unit.
pub const UNPAIRED: u32 = u32::MAX;

/// The segment and the counterpart of each unit of the hypothesis.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Alignment {
    /// For each unit of the hypothesis: its segment, or `UNPAIRED` if the unit belongs to none.
    pub segments: Vec<u32>,
    /// For each unit of the hypothesis: the reference unit in its segment with which it is paired,
    /// or `UNPAIRED`.
    pub pairs: Vec<u32>,
    /// For each segment: the alternative with which the hypothesis is aligned.
    pub alternatives: Vec<u32>,
    /// The edit distance; zero if similarities are compared.
    pub errors: u64,
}

/// The cost of a border before the first unit of the hypothesis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LeadingBorders {
    /// The border costs nothing, like all other borders.
    Free,
    /// The border costs as much as a unit, as in mweralign and mwerSegmenter. The first unit of the
    /// hypothesis is then rarely placed in a later segment.
    Counted,
}
