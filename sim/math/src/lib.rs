//! Fixed-point numbers, vectors, angles and seeded random streams.
