//! Drives session goals on an OpenCode server: tasks, files and a database around goal-core.
