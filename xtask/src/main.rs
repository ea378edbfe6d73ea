//! cargo xtask demo and cargo xtask test: everything a fresh machine needs.
fn main() {}
