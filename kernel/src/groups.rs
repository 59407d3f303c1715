//! Rows of a table to totals by group: what engines run beside their data.
//!
//! [`count`] reads the rows, [`totals`] keeps what they add up to, [`exchange`] is how totals travel
//! between processes: as a table and as bytes.

pub mod count;
pub mod group_sums;
pub mod state_table;
