//! Rules about the project's own files that no compiler checks.
//!
//! Each rule is a function from text to a list of problems, tested here on samples that break it;
//! `tests/project.rs` applies the rules to the project. A problem is a sentence that names the
//! file, the line where there is one, and what to do.

pub mod files;
pub mod map;
pub mod markdown;
pub mod rules;
pub mod source;
