//! A set of spellings with a number for each: a double array.

/// A place in the array: a prefix of spellings.
#[derive(Clone, Copy)]
struct Node {
    /// The prefix without its last byte; `NONE` for a place that is free.
    parent: u32,
    /// The prefix with one more byte is at this place xor the byte.
    next: u32,
    /// The number of the spelling that is this prefix.
    value: u32,
}

const NONE: u32 = u32::MAX;

/// The empty prefix.
pub const ROOT: u32 = 0;

/// Prefixes with several followers are tried in so many blocks of the array, the newest, before
/// a new one is added.
const TRIED: usize = 8;

/// A set of spellings.
#[derive(Default)]
pub struct Trie {
    nodes: Vec<Node>,
    /// Blocks of 256 places of which some are free, and how many.
    open: Vec<(u32, u32)>,
}

impl Trie {
    /// The trie of spellings with their numbers, none of them empty.
    pub fn new(mut spellings: Vec<(&[u8], u32)>) -> Self {
        let mut trie = Self::default();
        if spellings.is_empty() {
            return trie;
        }
        spellings.sort_unstable();
        trie.block();
        trie.claim(ROOT, ROOT);
        let mut labels = Vec::new();
        let mut above = vec![(ROOT, 0, spellings.len(), 0)];
        while let Some((node, mut first, last, depth)) = above.pop() {
            while first < last && spellings[first].0.len() == depth {
                trie.nodes[node as usize].value = spellings[first].1;
                first += 1;
            }
            labels.clear();
            let mut from = first;
            for i in first..last {
                let byte = spellings[i].0[depth];
                if i + 1 == last || spellings[i + 1].0[depth] != byte {
                    labels.push((byte, from, i + 1));
                    from = i + 1;
                }
            }
            if labels.is_empty() {
                continue;
            }
            let next = trie.place(&labels);
            trie.nodes[node as usize].next = next;
            for &(byte, from, to) in labels.iter().rev() {
                let child = next ^ u32::from(byte);
                trie.claim(child, node);
                above.push((child, from, to, depth + 1));
            }
        }
        trie.open = Vec::new();
        trie
    }

    /// Adds a block.
    fn block(&mut self) -> u32 {
        let block = (self.nodes.len() / 256) as u32;
        let free = Node { parent: NONE, next: 0, value: NONE };
        self.nodes.resize(self.nodes.len() + 256, free);
        self.open.push((block, 256));
        block
    }

    /// Where the followers of a prefix can go.
    fn place(&mut self, labels: &[(u8, usize, usize)]) -> u32 {
        let first = u32::from(labels[0].0);
        let tried = if labels.len() == 1 { self.open.len() } else { TRIED };
        for &(block, free) in self.open.iter().rev().take(tried) {
            if (free as usize) < labels.len() {
                continue;
            }
            let start = 256 * block;
            for at in start..start + 256 {
                let next = at ^ first;
                if labels
                    .iter()
                    .all(|&(byte, ..)| self.nodes[(next ^ u32::from(byte)) as usize].parent == NONE)
                {
                    return next;
                }
            }
        }
        256 * self.block()
    }

    fn claim(&mut self, at: u32, parent: u32) {
        self.nodes[at as usize].parent = parent;
        if let Some(i) = self.open.iter().rposition(|&(block, _)| block == at / 256) {
            self.open[i].1 -= 1;
            if self.open[i].1 == 0 {
                self.open.remove(i);
            }
        }
    }

    /// The prefix with one more byte.
    #[inline(always)]
    pub fn follow(&self, node: u32, byte: u8) -> Option<u32> {
        let next = self.nodes.get(node as usize)?.next ^ u32::from(byte);
        // The root is its own parent, and nobody's follower.
        let found = self.nodes.get(next as usize)?.parent == node && next != ROOT;
        found.then_some(next)
    }

    /// The number of the spelling that is this prefix.
    #[inline(always)]
    pub fn value(&self, node: u32) -> Option<u32> {
        let value = self.nodes[node as usize].value;
        (value != NONE).then_some(value)
    }

    /// The length of the longest spelling that `text` starts with.
    #[inline(always)]
    pub fn longest(&self, text: &[u8]) -> Option<usize> {
        if self.nodes.is_empty() {
            return None;
        }
        let mut longest = None;
        let mut node = ROOT;
        for (at, &byte) in text.iter().enumerate() {
            let Some(next) = self.follow(node, byte) else { break };
            node = next;
            if self.value(node).is_some() {
                longest = Some(at + 1);
            }
        }
        longest
    }

    /// True if some spelling starts with this byte.
    pub fn starts(&self, byte: u8) -> bool {
        self.follow(ROOT, byte).is_some()
    }
}
