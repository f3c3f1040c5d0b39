//! One physics region in integers: bodies, shapes, contacts, queries.
