//! The texts of single segments from Python, and readers that reuse their buffers.

use super::sources::{ByteOwners, not_text_error, several};
use crate::count::Reader;
use crate::interrupt::lock;
use crate::text_batches::{Block, BorrowedSegment, check_text_size};
use pyo3::exceptions::PyTypeError;
use pyo3::ffi;
use pyo3::prelude::*;
use pyo3::types::{PyList, PyString, PyType};
use std::ffi::c_void;
use std::mem::transmute;
use std::sync::Mutex;

/// The texts of one segment.
pub struct SegmentTexts {
    /// The texts: the hypothesis, then the references.
    block: Block,
    /// The owners of the bytes.
    owners: ByteOwners,
}

impl Default for SegmentTexts {
    fn default() -> Self {
        let block = Block::Segments { segments: Vec::new(), is_utf8: true, owner: None };
        Self { block, owners: ByteOwners::default() }
    }
}

impl SegmentTexts {
    /// Create the texts of a segment that is read only once.
    pub fn new(hypothesis: &Bound<'_, PyString>, references: &Bound<'_, PyAny>) -> PyResult<Self> {
        let mut texts = Self::default();
        texts.set_texts(hypothesis, references)?;
        Ok(texts)
    }

    /// Set the texts. `references` is a string, or a sequence of strings and None. The caller must
    /// keep both arguments alive until these texts are cleared.
    pub fn set_texts(
        &mut self,
        hypothesis: &Bound<'_, PyString>,
        references: &Bound<'_, PyAny>,
    ) -> PyResult<()> {
        self.push_text(hypothesis)?;
        if let Ok(text) = references.cast::<PyString>() {
            self.push_text(text)?;
        } else if let Ok(list) = references.cast::<PyList>()
            && list.len() == 1
        {
            // A single reference is the most frequent case, and owning a string is cheaper than
            // owning a tuple.
            let text = list.get_item(0)?;
            self.push_reference(0, &text)?;
            self.owners.owner = Some(text.unbind());
        } else if !references.is_none() {
            let reference_strings = several(references, 1)?;
            for (i, text) in reference_strings.iter_borrowed().enumerate() {
                self.push_reference(i, &text)?;
            }
            // Other sequences may drop their strings, so keep a tuple that owns them.
            self.owners.owner = Some(reference_strings.into_any().unbind());
        }
        Ok(check_text_size("a segment's texts", self.byte_count())?)
    }

    /// Append a reference.
    fn push_reference(&mut self, i: usize, text: &Bound<'_, PyAny>) -> PyResult<()> {
        if text.is_none() {
            return Ok(());
        }
        self.push_text(text.cast::<PyString>().map_err(|_| not_text_error(1, Some(i + 1), text))?)
    }

    /// Append a text.
    fn push_text(&mut self, text: &Bound<'_, PyString>) -> PyResult<()> {
        let bytes = self.owners.borrow(text)?;
        self.segments_mut().push(Some(bytes));
        Ok(())
    }

    /// Return the texts of the block.
    fn segments_mut(&mut self) -> &mut Vec<Option<BorrowedSegment>> {
        match &mut self.block {
            Block::Segments { segments, .. } => segments,
            Block::Lines { .. } | Block::Tokens(_) => {
                unreachable!("the block consists of segments")
            }
        }
    }

    /// Return the hypothesis and its references.
    pub fn block(&self) -> &Block {
        &self.block
    }

    /// Return the number of references.
    pub fn reference_count(&self) -> usize {
        match &self.block {
            Block::Segments { segments, .. } => segments.len() - 1,
            Block::Lines { .. } | Block::Tokens(_) => 0,
        }
    }

    /// Return the total length of all texts in bytes.
    pub fn byte_count(&self) -> usize {
        self.block.byte_count()
    }

    /// Remove the texts, but keep the allocated memory.
    pub fn clear(&mut self) {
        self.segments_mut().clear();
        self.owners = ByteOwners::default();
    }
}

/// The class of a metric's scores. Scores are created without calling Python code, which would take
/// longer than reading a short text.
pub struct ScoreClass {
    class: Py<PyType>,
    /// The descriptors of [`ScoreClass::ATTRIBUTES`], and the function that sets the attributes.
    descriptors: [Py<PyAny>; 5],
    set: ffi::descrsetfunc,
}

impl ScoreClass {
    /// The slots of `TableScore`, in the order of the arguments of [`ScoreClass::create`].
    const ATTRIBUTES: [&str; 5] = ["_metric", "_packed_row", "_references", "_segment", "_value"];

    /// Prepare a class derived from `TableScore`.
    pub fn new(class: Bound<'_, PyType>) -> PyResult<Self> {
        let mut descriptors = Vec::new();
        for name in Self::ATTRIBUTES {
            descriptors.push(class.getattr(name)?);
        }
        let kind = descriptors[0].get_type();
        // SAFETY: the type is valid. All descriptors of slots have the same type.
        let set = unsafe { ffi::PyType_GetSlot(kind.as_type_ptr(), ffi::Py_tp_descr_set) };
        if set.is_null() || descriptors.iter().any(|one| !one.get_type().is(&kind)) {
            return Err(PyTypeError::new_err("the score class has no slots"));
        }
        let mut descriptors = descriptors.into_iter().map(Bound::unbind);
        Ok(Self {
            class: class.unbind(),
            descriptors: std::array::from_fn(|_| descriptors.next().expect("one per attribute")),
            // SAFETY: this slot of a type has this signature.
            set: unsafe { transmute::<*mut c_void, ffi::descrsetfunc>(set) },
        })
    }

    /// Create a score with these attributes.
    pub fn create<'py>(
        &self,
        py: Python<'py>,
        attributes: [&Bound<'py, PyAny>; 5],
    ) -> PyResult<Bound<'py, PyAny>> {
        // SAFETY: the class is a type without a constructor in C, and owns its descriptors. The
        // result of the first call is a new object or null with an exception.
        unsafe {
            let score = ffi::PyType_GenericAlloc(self.class.as_ptr().cast(), 0);
            let score = Bound::from_owned_ptr_or_err(py, score)?;
            for (descriptor, value) in self.descriptors.iter().zip(attributes) {
                if (self.set)(descriptor.as_ptr(), score.as_ptr(), value.as_ptr()) != 0 {
                    return Err(PyErr::fetch(py));
                }
            }
            Ok(score)
        }
    }
}

/// A reader with its texts.
pub struct ReaderSlot {
    /// The index of the reader's instruction set.
    instructions: u8,
    /// The reader.
    pub reader: Box<dyn Reader>,
    /// The texts that it reads.
    pub texts: SegmentTexts,
}

/// A metric's pool of idle readers for single segments.
#[derive(Default)]
pub struct ReaderPool {
    /// The first slot, which almost every segment uses. The slot is locked while in use.
    first_slot: Mutex<Option<ReaderSlot>>,
    /// Further slots, for threads that run at the same time.
    other_slots: Mutex<Vec<ReaderSlot>>,
}

impl ReaderPool {
    /// Run a function with a reader for these instructions. If none is idle, create one with
    /// `make`.
    pub fn with_reader<R>(
        &self,
        instructions: u8,
        make: impl FnOnce() -> PyResult<Box<dyn Reader>>,
        work: impl FnOnce(&mut ReaderSlot) -> PyResult<R>,
    ) -> PyResult<R> {
        let make_slot = || {
            Ok::<_, PyErr>(ReaderSlot {
                instructions,
                reader: make()?,
                texts: SegmentTexts::default(),
            })
        };
        if let Ok(mut first) = self.first_slot.try_lock() {
            let slot = match &mut *first {
                Some(slot) if slot.instructions == instructions => slot,
                empty_slot => empty_slot.insert(make_slot()?),
            };
            let result = work(slot);
            slot.texts.clear();
            return result;
        }
        let lock_others = || lock(&self.other_slots);
        let idle_slot = lock_others().pop().filter(|slot| slot.instructions == instructions);
        let mut slot = idle_slot.map_or_else(make_slot, Ok)?;
        let result = work(&mut slot);
        slot.texts.clear();
        lock_others().push(slot);
        result
    }
}
