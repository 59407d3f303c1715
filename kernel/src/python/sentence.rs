//! One segment from Python: its texts, and what reads them, whose memory is used again.

use super::sources::{Keep, not_text, several};
use crate::count::Reader;
use crate::text_batches::{Block, Foreign, check_size};
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString};
use std::sync::{Mutex, PoisonError};

/// The texts of one segment.
pub struct Sentence {
    /// The hypothesis, then its references.
    block: Block,
    /// The owners of their bytes.
    keep: Keep,
}

impl Default for Sentence {
    fn default() -> Self {
        let block = Block::Segments { segments: Vec::new(), trusted: true, keep: None };
        Self { block, keep: Keep::default() }
    }
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
        } else if let Ok(list) = references.cast::<PyList>()
            && list.len() == 1
        {
            // As most are: held itself, for less than a tuple of it costs.
            let text = list.get_item(0)?;
            self.push_reference(0, &text)?;
            self.keep.held = Some(text.unbind());
        } else if !references.is_none() {
            let several = several(references, 1)?;
            for (i, text) in several.iter_borrowed().enumerate() {
                self.push_reference(i, &text)?;
            }
            // What is no tuple may give strings, or lose them, that only `several` holds.
            self.keep.held = Some(several.into_any().unbind());
        }
        Ok(check_size("a segment's texts", self.bytes())?)
    }

    fn push_reference(&mut self, i: usize, text: &Bound<'_, PyAny>) -> PyResult<()> {
        if text.is_none() {
            return Ok(());
        }
        self.push(text.cast::<PyString>().map_err(|_| not_text(1, Some(i + 1), text))?)
    }

    fn push(&mut self, text: &Bound<'_, PyString>) -> PyResult<()> {
        let text = self.keep.foreign(text)?;
        self.texts().push(Some(text));
        Ok(())
    }

    fn texts(&mut self) -> &mut Vec<Option<Foreign>> {
        match &mut self.block {
            Block::Segments { segments, .. } => segments,
            Block::Lines { .. } | Block::Tokens(_) => unreachable!("it was made of segments"),
        }
    }

    /// The hypothesis and its references.
    pub fn block(&self) -> &Block {
        &self.block
    }

    /// The number of references.
    pub fn references(&self) -> usize {
        match &self.block {
            Block::Segments { segments, .. } => segments.len() - 1,
            Block::Lines { .. } | Block::Tokens(_) => 0,
        }
    }

    /// The length of all texts.
    pub fn bytes(&self) -> usize {
        self.block.bytes()
    }

    /// Lets go of the texts and keeps the memory.
    pub fn forget(&mut self) {
        self.texts().clear();
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
