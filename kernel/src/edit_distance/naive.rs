//! The definition of the alignment: a full table of edit distances, and a path traced back through
//! it.
//!
//! Tests compare the bit-parallel rows with it.

use super::Edit;

/// Return the edit distance, and the edits of one cheapest path, in order.
///
/// Among equally cheap paths, seen from the end, a deletion comes first. An insertion comes next,
/// but only if the row above falls, and then a hit or a substitution. This is rapidfuzz's choice,
/// applied between the common prefix and suffix.
pub fn align(reference: &[u32], hypothesis: &[u32]) -> (usize, Vec<Edit>) {
    let common_prefix_length =
        |a: &[u32], b: &[u32]| a.iter().zip(b).take_while(|(a, b)| a == b).count();
    let prefix = common_prefix_length(reference, hypothesis);
    let (r, h) = (&reference[prefix..], &hypothesis[prefix..]);
    let suffix = r.iter().rev().zip(h.iter().rev()).take_while(|(a, b)| a == b).count();
    let (r, h) = (&r[..r.len() - suffix], &h[..h.len() - suffix]);
    let mut rows = vec![(0..=r.len()).collect::<Vec<usize>>()];
    for (i, word) in h.iter().enumerate() {
        let mut row = vec![i + 1];
        for (j, reference_word) in r.iter().enumerate() {
            let above = &rows[i];
            let diagonal = above[j] + usize::from(word != reference_word);
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
