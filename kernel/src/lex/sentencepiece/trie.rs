//! A trie that maps spellings to numbers, stored as a double array.

/// A node of the trie, which represents a prefix of spellings.
#[derive(Clone, Copy)]
struct TrieNode {
    /// The node of the prefix without its last byte; `NONE` for a free slot.
    parent: u32,
    /// The child for a byte has the index `next` xor the byte.
    child_base: u32,
    /// The number of the spelling that equals the prefix.
    value: u32,
}

const NONE: u32 = u32::MAX;

/// The node of the empty prefix.
pub const ROOT: u32 = 0;

/// Number of recent blocks that are searched for free slots for several children before a new block
/// is added.
const MAX_SEARCHED_BLOCKS: usize = 8;

/// A trie of spellings.
#[derive(Default)]
pub struct Trie {
    nodes: Vec<TrieNode>,
    /// The blocks (of 256 slots each) that have free slots, and the number of free slots in each.
    open_blocks: Vec<(u32, u32)>,
}

impl Trie {
    /// Create a trie of non-empty spellings and their numbers.
    pub fn new(mut spellings: Vec<(&[u8], u32)>) -> Self {
        let mut trie = Self::default();
        if spellings.is_empty() {
            return trie;
        }
        spellings.sort_unstable();
        trie.add_block();
        trie.claim(ROOT, ROOT);
        let mut labels = Vec::new();
        let mut pending = vec![(ROOT, 0, spellings.len(), 0)];
        while let Some((node, mut first, last, depth)) = pending.pop() {
            while first < last && spellings[first].0.len() == depth {
                trie.nodes[node as usize].value = spellings[first].1;
                first += 1;
            }
            labels.clear();
            let mut label_start = first;
            for i in first..last {
                let byte = spellings[i].0[depth];
                if i + 1 == last || spellings[i + 1].0[depth] != byte {
                    labels.push((byte, label_start, i + 1));
                    label_start = i + 1;
                }
            }
            if labels.is_empty() {
                continue;
            }
            let child_base = trie.find_base(&labels);
            trie.nodes[node as usize].child_base = child_base;
            for &(byte, group_start, group_end) in labels.iter().rev() {
                let child = child_base ^ u32::from(byte);
                trie.claim(child, node);
                pending.push((child, group_start, group_end, depth + 1));
            }
        }
        trie.open_blocks = Vec::new();
        trie
    }

    /// Append a block of free slots.
    fn add_block(&mut self) -> u32 {
        let block = (self.nodes.len() / 256) as u32;
        let free = TrieNode { parent: NONE, child_base: 0, value: NONE };
        self.nodes.resize(self.nodes.len() + 256, free);
        self.open_blocks.push((block, 256));
        block
    }

    /// Return a base such that the slots for all children of a prefix are free.
    fn find_base(&mut self, labels: &[(u8, usize, usize)]) -> u32 {
        let first = u32::from(labels[0].0);
        let block_limit =
            if labels.len() == 1 { self.open_blocks.len() } else { MAX_SEARCHED_BLOCKS };
        for &(block, free) in self.open_blocks.iter().rev().take(block_limit) {
            if (free as usize) < labels.len() {
                continue;
            }
            let start = 256 * block;
            for slot in start..start + 256 {
                let base = slot ^ first;
                if labels
                    .iter()
                    .all(|&(byte, ..)| self.nodes[(base ^ u32::from(byte)) as usize].parent == NONE)
                {
                    return base;
                }
            }
        }
        256 * self.add_block()
    }

    /// Mark a slot as used by a child of `parent`.
    fn claim(&mut self, slot: u32, parent: u32) {
        self.nodes[slot as usize].parent = parent;
        if let Some(i) = self.open_blocks.iter().rposition(|&(block, _)| block == slot / 256) {
            self.open_blocks[i].1 -= 1;
            if self.open_blocks[i].1 == 0 {
                self.open_blocks.remove(i);
            }
        }
    }

    /// Return the child for a byte.
    #[inline(always)]
    pub fn child(&self, node: u32, byte: u8) -> Option<u32> {
        let child_index = self.nodes.get(node as usize)?.child_base ^ u32::from(byte);
        // The root is its own parent, so it must be excluded explicitly.
        let is_child = self.nodes.get(child_index as usize)?.parent == node && child_index != ROOT;
        is_child.then_some(child_index)
    }

    /// Return the number of the spelling that equals the node's prefix.
    #[inline(always)]
    pub fn value(&self, node: u32) -> Option<u32> {
        let value = self.nodes[node as usize].value;
        (value != NONE).then_some(value)
    }

    /// Return the length of the longest spelling at the start of `text`.
    #[inline(always)]
    pub fn longest_prefix(&self, text: &[u8]) -> Option<usize> {
        if self.nodes.is_empty() {
            return None;
        }
        let mut longest = None;
        let mut node = ROOT;
        for (position, &byte) in text.iter().enumerate() {
            let Some(next) = self.child(node, byte) else { break };
            node = next;
            if self.value(node).is_some() {
                longest = Some(position + 1);
            }
        }
        longest
    }

    /// Return whether a spelling starts with this byte.
    pub fn starts_with_byte(&self, byte: u8) -> bool {
        self.child(ROOT, byte).is_some()
    }
}
