//! MySQL's protocol.
