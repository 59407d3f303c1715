//! The Arrow C data interface: reading columns and tables from another program's memory, and
//! exporting tables.
//!
//! Only these modules dereference pointers from other programs. [`interface`] defines the three
//! structures, and [`check`] validates arrays before they are read. [`text`] and [`key`] define the
//! column types and read entries. [`mod@column`] reads a column as a source of segments, and
//! [`rows`] reads a table as rows of texts, keys and integers. [`export`] creates arrays for other
//! programs.

pub mod check;
pub mod column;
pub mod export;
pub mod interface;
pub mod key;
pub mod rows;
pub mod text;

pub use column::TextColumn;
pub use export::{create_schema, number_column, single_array_stream, struct_array};
pub use interface::{ArrowArray, ArrowArrayStream, ArrowInput, ArrowSchema};
