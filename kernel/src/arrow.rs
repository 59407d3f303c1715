//! The Arrow C data interface: columns and tables in another program's memory, read in place, and
//! tables of numbers given out.
//!
//! All code that follows another program's pointers is in these modules. [`interface`] has the three
//! structures; [`check`] looks at what comes before it is read; [`text`] and [`key`] know the types of column and read an entry of one; [`mod@column`]
//! is a column as a source of segments, [`rows`] a table as rows with texts, keys and numbers;
//! [`export`] gives out.

pub mod check;
pub mod column;
pub mod export;
pub mod interface;
pub mod key;
pub mod rows;
pub mod text;

pub use column::Column;
pub use export::{numbers, schema, stream, structure};
pub use interface::{ArrowArray, ArrowArrayStream, ArrowSchema};
