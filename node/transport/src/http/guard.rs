//! The checks that every request must pass: which page asks, by which name, and how long its body
//! is.

use std::sync::Arc;

use axum::{
    extract::{ConnectInfo, Request, State},
    http::{
        HeaderMap, HeaderName, HeaderValue, StatusCode,
        header::{
            ACCESS_CONTROL_ALLOW_ORIGIN, CACHE_CONTROL, CONTENT_LENGTH, HOST, LOCATION, ORIGIN,
            VARY, X_CONTENT_TYPE_OPTIONS,
        },
    },
    middleware::Next,
    response::{IntoResponse, Response},
};

use super::{Allowed, BODY_BYTES_MAX, ErrorAnswer, allowed::Page, listener::Caller, origin::host};
use crate::figures::HttpFigures;

pub(super) struct Guard {
    /// A page that one of these lists allows may ask.
    pub(super) allowed: Vec<Allowed>,
    pub(super) plain: &'static [&'static str],
    pub(super) origins_setting: &'static str,
    pub(super) figures: Arc<HttpFigures>,
}

/// Returns a header's text, or an error if the header is there twice or is no text.
fn text(headers: &HeaderMap, name: HeaderName) -> Result<Option<&str>, ErrorAnswer> {
    let mut values = headers.get_all(&name).iter();
    match (values.next(), values.next()) {
        (None, _) => Ok(None),
        (Some(value), None) => match value.to_str() {
            Ok(text) => Ok(Some(text)),
            Err(_) => Err(ErrorAnswer::bad_request(format!("the header {name} is not readable"))),
        },
        (Some(_), Some(_)) => {
            Err(ErrorAnswer::bad_request(format!("the header {name} is there twice")))
        }
    }
}

impl Guard {
    /// Returns the origin that may read the answer, if it is another one than the server's own.
    fn judge(&self, headers: &HeaderMap) -> Result<Option<HeaderValue>, ErrorAnswer> {
        let foreign = |what: &str, which: &str| {
            self.figures.http_requests_foreign_total.inc();
            let setting = self.origins_setting;
            let message = format!("{what} `{which}` is not allowed here; see {setting}");
            ErrorAnswer::new(StatusCode::FORBIDDEN, "foreign_origin", message)
        };
        let called =
            text(headers, HOST)?.ok_or_else(|| ErrorAnswer::bad_request("no Host header"))?;
        let name = host(called).to_ascii_lowercase();
        let called_so = || self.allowed.iter().filter(|allowed| allowed.is_name(&name));
        if called_so().next().is_none() {
            return Err(foreign("host", called));
        }
        let Some(origin) = text(headers, ORIGIN)? else {
            return Ok(None);
        };
        let is_any = |page| called_so().any(|allowed| allowed.page(origin, called) == page);
        if is_any(Page::Own) {
            Ok(None)
        } else if is_any(Page::Other) {
            Ok(headers.get(ORIGIN).cloned())
        } else {
            Err(foreign("origin", origin))
        }
    }
}

fn check_body(headers: &HeaderMap) -> Result<(), ErrorAnswer> {
    let Some(length) = text(headers, CONTENT_LENGTH)? else {
        return Ok(());
    };
    // Hyper has refused a length that is no number already.
    if length.parse::<usize>().is_ok_and(|length| length <= BODY_BYTES_MAX) {
        return Ok(());
    }
    let message = format!("a body of {length} bytes is above the limit of {BODY_BYTES_MAX}");
    Err(ErrorAnswer::new(StatusCode::PAYLOAD_TOO_LARGE, "too_large", message))
}

/// Returns whether the request came without TLS where it should not.
fn is_to_go(plain: &[&str], request: &Request) -> bool {
    let caller = request.extensions().get::<ConnectInfo<Caller>>();
    let Some(is_here) = caller.and_then(|ConnectInfo(caller)| caller.plain()) else {
        return false;
    };
    let is_question = plain.iter().any(|path| request.uri().path().starts_with(path));
    // Only pages send an Origin.
    !is_here || !is_question || request.headers().contains_key(ORIGIN)
}

/// Redirects to the same address under TLS. The Host of the request was found to be ours. The
/// redirect is temporary, because a browser keeps a permanent one for ever.
fn to_https(request: &Request) -> Response {
    let called = request.headers().get(HOST).and_then(|host| host.to_str().ok());
    let path = request.uri().path_and_query().map_or("/", |path| path.as_str());
    let there = format!("https://{}{path}", called.unwrap_or_default());
    match HeaderValue::from_str(&there) {
        Ok(there) => (StatusCode::TEMPORARY_REDIRECT, [(LOCATION, there)]).into_response(),
        Err(_) => ErrorAnswer::bad_request("this is https").into_response(),
    }
}

/// Lets a request pass, or answers why it may not.
pub(super) async fn check(
    State(guard): State<Arc<Guard>>,
    request: Request,
    next: Next,
) -> Response {
    guard.figures.http_requests_total.inc();
    let headers = request.headers();
    let judged = guard.judge(headers).and_then(|origin| check_body(headers).map(|()| origin));
    let (mut response, reader) = match judged {
        Ok(_) if is_to_go(guard.plain, &request) => (to_https(&request), None),
        Ok(origin) => (next.run(request).await, origin),
        Err(failure) => (failure.into_response(), None),
    };
    let headers = response.headers_mut();
    headers.insert(X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    headers.entry(CACHE_CONTROL).or_insert(HeaderValue::from_static("no-store"));
    headers.insert(VARY, HeaderValue::from_static("origin, accept-encoding"));
    if let Some(origin) = reader {
        headers.insert(ACCESS_CONTROL_ALLOW_ORIGIN, origin);
    }
    response
}
