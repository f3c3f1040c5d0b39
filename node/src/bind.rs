//! What to say when an address cannot be listened on.

/// A listener could not be opened.
#[derive(Debug, thiserror::Error)]
#[error("cannot listen on {address} (set by {flag}): {source}")]
pub struct BindError {
    /// What was asked for.
    pub address: String,
    /// The command line flag that sets it.
    pub flag: &'static str,
    /// What the system said.
    pub source: std::io::Error,
}
