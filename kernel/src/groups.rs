//! Sums of table rows by group, for engines that run the kernel next to their data.
//!
//! [`count`] reads the rows, [`group_sums`] keeps the sums of each group, and [`state_table`]
//! converts sums to a table or to bytes for exchange between processes.

pub mod count;
pub mod group_sums;
pub mod state_table;
