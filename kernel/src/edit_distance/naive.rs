//! The alignment as it is defined: the whole table of edit distances, and the way back through it.
//!
//! This is what the tests hold the rows of bits equal to.

use super::Edit;

/// The edit distance, and the edits of one cheapest way, from the start.
///
/// Of equally cheap ways, from the end, a deletion is taken first; then an insertion, but only where
/// the row above falls; then a hit or a substitution. So rapidfuzz has it, behind the words that both
/// sides start and end with.
pub fn align(reference: &[u32], hypothesis: &[u32]) -> (usize, Vec<Edit>) {
    let pairs = |a: &[u32], b: &[u32]| a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let prefix = pairs(reference, hypothesis);
    let (r, h) = (&reference[prefix..], &hypothesis[prefix..]);
    let suffix = r.iter().rev().zip(h.iter().rev()).take_while(|(a, b)| a == b).count();
    let (r, h) = (&r[..r.len() - suffix], &h[..h.len() - suffix]);
    let mut rows = vec![(0..=r.len()).collect::<Vec<usize>>()];
    for (i, word) in h.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, other) in r.iter().enumerate() {
            let above = &rows[i];
            let diagonal = above[j] + usize::from(word != other);
            row.push(diagonal.min(above[j + 1] + 1).min(row[j] + 1));
        }
        rows.push(row);
    }
    let mut edits = vec![Edit::Hit; suffix];
    let (mut i, mut j) = (h.len(), r.len());
    while i > 0 && j > 0 {
        if rows[i][j] > rows[i][j - 1] {
            j -= 1;
            edits.push(Edit::Deletion);
            continue;
        }
        i -= 1;
        if rows[i][j] < rows[i][j - 1] {
            edits.push(Edit::Insertion);
        } else {
            j -= 1;
            edits.push(if h[i] == r[j] { Edit::Hit } else { Edit::Substitution });
        }
    }
    edits.extend(std::iter::repeat_n(Edit::Deletion, j));
    edits.extend(std::iter::repeat_n(Edit::Insertion, i));
    edits.extend(std::iter::repeat_n(Edit::Hit, prefix));
    edits.reverse();
    (rows[h.len()][r.len()], edits)
}
