//! The engine over real sockets, against a server that fails as servers and networks do.
