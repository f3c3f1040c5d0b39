//! The agreement machine of one sim, sans-IO.
