//! PostgreSQL's protocol.
