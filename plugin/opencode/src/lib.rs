//! A client of the OpenCode server as it is: HTTP, event stream, managed process.
