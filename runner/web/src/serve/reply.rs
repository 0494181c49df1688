//! Replies: a body with headers for security.

use http_body_util::Full;
use hyper::Response;
use hyper::body::Bytes;
use hyper::header::{
    CACHE_CONTROL, CONTENT_SECURITY_POLICY, CONTENT_TYPE, REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS,
};
use serde_json::{Value, json};

use super::request::Refusal;

/// The policy of the server's pages: they may talk to the server and nothing else.
const STRICT: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
    frame-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'";

/// The policy of reports, whose styles and scripts are inline: they may not even do that, but pages of the server may frame them.
const ENCLOSED: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; \
    form-action 'none'; base-uri 'none'; frame-ancestors 'self'";

/// A reply.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reply {
    pub(super) status: u16,
    kind: &'static str,
    policy: &'static str,
    /// Headers besides those of every reply.
    headers: Vec<(&'static str, String)>,
    /// Shared by all copies of the reply: a report may have some MiB.
    pub(super) body: Bytes,
}

impl Reply {
    /// A reply with a content type.
    pub(super) fn new(status: u16, kind: &'static str, body: impl Into<Vec<u8>>) -> Self {
        Self { status, kind, policy: STRICT, headers: Vec::new(), body: Bytes::from(body.into()) }
    }

    pub(super) fn html(status: u16, text: String) -> Self {
        Self::new(status, "text/html; charset=utf-8", text)
    }

    pub(super) fn json(status: u16, value: &Value) -> Self {
        Self::new(status, "application/json", value.to_string())
    }

    /// A failure, as the pages' scripts read it.
    pub(super) fn failure(status: u16, message: &str) -> Self {
        Self::json(status, &json!({ "error": message }))
    }

    /// A page with inline styles and scripts.
    pub(super) fn enclosed(text: String) -> Self {
        Self { policy: ENCLOSED, ..Self::html(200, text) }
    }

    pub(super) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// The head of a stream of server-sent events.
    pub(super) fn events() -> Self {
        Self::new(200, "text/event-stream", "")
    }

    pub(super) fn into_response(self) -> Response<Full<Bytes>> {
        let response = Response::builder()
            .status(self.status)
            .header(CONTENT_TYPE, self.kind)
            .header(CONTENT_SECURITY_POLICY, self.policy)
            .header(X_CONTENT_TYPE_OPTIONS, "nosniff")
            .header(REFERRER_POLICY, "no-referrer")
            .header(CACHE_CONTROL, "no-store")
            .header("Cross-Origin-Resource-Policy", "same-origin")
            .header("Cross-Origin-Opener-Policy", "same-origin");
        let response =
            self.headers.into_iter().fold(response, |response, (name, value)| response.header(name, value));
        response.body(Full::new(self.body)).expect("the program's headers are valid")
    }
}

impl From<&Refusal> for Reply {
    fn from(refusal: &Refusal) -> Self {
        Self::failure(refusal.status(), &refusal.to_string())
    }
}
