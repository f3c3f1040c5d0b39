//! Short questions to a node by HTTP: small answers, and never a long wait.

use std::{io, time::Duration};

use metatopia_transport::tls::provider;
use serde::de::DeserializeOwned;
use tokio::task::spawn_blocking;
use ureq::tls::{RootCerts, TlsConfig, TlsProvider};

/// Largest body that is read.
const BODY_BYTES_MAX: u64 = 1024 * 1024;

/// Characters of a refusal that are shown.
const SAID_CHARS_MAX: usize = 200;

/// Time for a whole request.
pub(crate) const REQUEST: Duration = Duration::from_secs(5);

/// Why a node did not answer as it should.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HttpError {
    /// Nobody listens there, or the connection broke.
    #[error("is not reached: {0}")]
    Unreachable(String),
    /// Nothing came in time.
    #[error("gives no answer within {} s", REQUEST.as_secs())]
    TimedOut,
    /// The node refused the question.
    #[error("answers {code}: {said}")]
    Status {
        /// The HTTP status.
        code: u16,
        /// What it said, shortened.
        said: String,
    },
    /// Whoever answers there is no node, or one of another version.
    #[error("does not answer as a node does: {0}")]
    Malformed(String),
}

/// Gets a path of a node and reads the JSON.
pub(crate) async fn get<T: DeserializeOwned>(url: String) -> Result<T, HttpError> {
    let body = get_text(url).await?;
    serde_json::from_str(&body).map_err(|error| HttpError::Malformed(error.to_string()))
}

/// Gets a path of a node.
pub(crate) async fn get_text(url: String) -> Result<String, HttpError> {
    let request = spawn_blocking(move || blocking(&url));
    request.await.map_err(|error| HttpError::Unreachable(error.to_string()))?
}

fn blocking(url: &str) -> Result<String, HttpError> {
    let config = ureq::Agent::config_builder()
        .timeout_global(Some(REQUEST))
        .http_status_as_error(false)
        .max_redirects(0)
        .tls_config(
            TlsConfig::builder()
                .provider(TlsProvider::Rustls)
                .root_certs(RootCerts::PlatformVerifier)
                .unversioned_rustls_crypto_provider(provider())
                .build(),
        )
        // A node is asked where it is, whatever proxy a browser here would use.
        .proxy(None)
        .build();
    let mut response = config.new_agent().get(url).call().map_err(translate)?;
    let body = response
        .body_mut()
        .with_config()
        .limit(BODY_BYTES_MAX)
        .read_to_string()
        .map_err(translate)?;
    let code = response.status().as_u16();
    if code == 200 {
        return Ok(body);
    }
    Err(HttpError::Status { code, said: said(&body) })
}

/// Returns the message of an error answer, in one short line.
fn said(body: &str) -> String {
    let json: Option<serde_json::Value> = serde_json::from_str(body).ok();
    let message = json.as_ref().and_then(|json| {
        json.pointer("/error/message").or_else(|| json.pointer("/reason"))?.as_str()
    });
    let line = message.or_else(|| body.lines().next()).unwrap_or_default();
    line.chars().filter(|c| !c.is_control()).take(SAID_CHARS_MAX).collect()
}

fn translate(error: ureq::Error) -> HttpError {
    match error {
        ureq::Error::Timeout(_) => HttpError::TimedOut,
        ureq::Error::Io(error) => HttpError::Unreachable(match error.kind() {
            io::ErrorKind::ConnectionRefused => "nobody listens there".to_owned(),
            _ => error.to_string(),
        }),
        ureq::Error::HostNotFound => HttpError::Unreachable("there is no such host".to_owned()),
        ureq::Error::BodyExceedsLimit(_) => HttpError::Malformed("it is too long".to_owned()),
        ureq::Error::Protocol(error) => HttpError::Malformed(error.to_string()),
        error => HttpError::Unreachable(error.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_refusal_is_told_in_its_own_words() {
        let body = r#"{"error":{"code":"not_found","message":"no root after 9"}}"#;
        assert_eq!(said(body), "no root after 9");
        assert_eq!(said(r#"{"ready":false,"reason":"starting"}"#), "starting");
        assert_eq!(said("gone\nand more"), "gone");
        assert_eq!(said(&"x".repeat(500)).len(), SAID_CHARS_MAX);
        assert_eq!(said("\x1b[2Jcleared"), "[2Jcleared");
    }
}
