//! Source packages, licences, and the execution of scripts.
