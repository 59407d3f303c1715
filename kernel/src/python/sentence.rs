//! One segment from Python: its texts, and what reads them, whose memory is used again.

use super::sources::{Keep, not_text, several};
use crate::count::Reader;
use crate::text::Block;
use pyo3::prelude::*;
use pyo3::types::PyString;
use std::sync::{Mutex, PoisonError};

/// The texts of one segment.
#[derive(Default)]
pub struct Sentence {
    /// Blocks of one segment each: the hypothesis and its references, and some that others had.
    blocks: Vec<Block>,
    count: usize,
    /// The owners of their bytes.
    keep: Keep,
}

impl Sentence {
    /// A segment that is read once.
    pub fn new(hypothesis: &Bound<'_, PyString>, references: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut made = Self::default();
        made.read(hypothesis, references)?;
        Ok(made)
    }

    /// `references` is a string, or a sequence of strings and None. The caller holds both, until it
    /// has these texts forgotten.
    pub fn read(
        &mut self,
        hypothesis: &Bound<'_, PyString>,
        references: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        self.push(hypothesis)?;
        if let Ok(text) = references.cast::<PyString>() {
            self.push(text)?;
        } else if !references.is_none() {
            let several = several(references, 1)?;
            // What is no tuple may give strings, or lose them, that only `several` holds.
            self.keep.held = Some(several.clone().unbind());
            for (i, text) in several.iter_borrowed().enumerate() {
                if !text.is_none() {
                    let text =
                        text.cast::<PyString>().map_err(|_| not_text(1, Some(i + 1), &text))?;
                    self.push(&text)?;
                }
            }
        }
        Ok(())
    }

    fn push(&mut self, text: &Bound<'_, PyString>) -> PyResult<()> {
        let text = self.keep.foreign(text)?;
        match self.blocks.get_mut(self.count) {
            Some(Block::Segments { segments, .. }) => segments[0] = Some(text),
            _ => {
                let segments = vec![Some(text)];
                self.blocks.push(Block::Segments { segments, trusted: true, keep: None });
            }
        }
        self.count += 1;
        Ok(())
    }

    /// The hypothesis.
    pub fn hypothesis(&self) -> &Block {
        &self.blocks[0]
    }

    /// Its references.
    pub fn references(&self) -> &[Block] {
        &self.blocks[1..self.count]
    }

    /// The length of all texts.
    pub fn bytes(&self) -> usize {
        self.blocks[..self.count].iter().map(Block::bytes).sum()
    }

    /// Lets go of the texts and keeps the memory.
    pub fn forget(&mut self) {
        for block in &mut self.blocks[..self.count] {
            if let Block::Segments { segments, .. } = block {
                segments[0] = None;
            }
        }
        self.count = 0;
        self.keep = Keep::default();
    }
}

/// A reader, and its place for texts.
pub struct Desk {
    /// Of which choice of instructions the reader is.
    choice: u8,
    /// The reader.
    pub reader: Box<dyn Reader>,
    /// What it reads.
    pub texts: Sentence,
}

/// A metric's desks for single segments that nobody sits at.
#[derive(Default)]
pub struct Desks {
    /// The first, which nearly every segment is read at: kept where it is, with its lock held.
    first: Mutex<Option<Desk>>,
    /// More of them, for threads that come at the same time.
    more: Mutex<Vec<Desk>>,
}

impl Desks {
    /// Does something at a desk for this choice of instructions; `make` makes a reader.
    pub fn at_one<R>(
        &self,
        choice: u8,
        make: impl FnOnce() -> PyResult<Box<dyn Reader>>,
        work: impl FnOnce(&mut Desk) -> PyResult<R>,
    ) -> PyResult<R> {
        let make = || Ok::<_, PyErr>(Desk { choice, reader: make()?, texts: Sentence::default() });
        if let Ok(mut first) = self.first.try_lock() {
            let desk = match &mut *first {
                Some(desk) if desk.choice == choice => desk,
                other => other.insert(make()?),
            };
            let result = work(desk);
            desk.texts.forget();
            return result;
        }
        let more = || self.more.lock().unwrap_or_else(PoisonError::into_inner);
        let idle = more().pop().filter(|desk| desk.choice == choice);
        let mut desk = idle.map_or_else(make, Ok)?;
        let result = work(&mut desk);
        desk.texts.forget();
        more().push(desk);
        result
    }
}
