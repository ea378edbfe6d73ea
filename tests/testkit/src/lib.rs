//! What the tests stand on: a scripted model, a real OpenCode in a scratch home, simulated parts.
