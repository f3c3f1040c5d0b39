//! What clients and nodes say to each other.
