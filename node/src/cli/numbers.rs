//! Counts in sentences.

pub(super) use metatopia_client::text::number_of;
