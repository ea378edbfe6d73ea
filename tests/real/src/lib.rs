//! Goals on the real OpenCode server with a scripted model behind it.
