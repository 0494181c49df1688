//! Answers as they are written: a head that keeps browsers careful, and a body.

use std::sync::Arc;

use serde_json::{Value, json};

use super::request::Refusal;

/// What pages of the server may do: nothing but talk to it.
const STRICT: &str = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; \
    frame-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'";

/// What a report may do, whose styles and scripts are inside: not even that, but it may stand in a page of the server.
const ENCLOSED: &str = "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data:; \
    form-action 'none'; base-uri 'none'; frame-ancestors 'self'";

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Reply {
    pub(super) status: u16,
    kind: &'static str,
    policy: &'static str,
    /// Headers beside the ones that each answer has.
    headers: Vec<(&'static str, String)>,
    /// Shared by all who ask for the same: a report may have some MiB.
    pub(super) body: Arc<[u8]>,
}

impl Reply {
    /// Of a content type.
    pub(super) fn new(status: u16, kind: &'static str, body: impl Into<Vec<u8>>) -> Self {
        Self { status, kind, policy: STRICT, headers: Vec::new(), body: body.into().into() }
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

    /// A page that brings its own styles and scripts.
    pub(super) fn enclosed(text: String) -> Self {
        Self { policy: ENCLOSED, ..Self::html(200, text) }
    }

    pub(super) fn with(mut self, name: &'static str, value: impl Into<String>) -> Self {
        self.headers.push((name, value.into()));
        self
    }

    /// Everything before the body.
    pub(super) fn head(&self) -> String {
        let general = head(self.status, self.kind, self.policy, &self.headers);
        format!("{general}Content-Length: {}\r\n\r\n", self.body.len())
    }
}

impl From<&Refusal> for Reply {
    fn from(refusal: &Refusal) -> Self {
        Self::failure(refusal.status(), &refusal.to_string())
    }
}

/// The head of an endless answer of server-sent events.
pub(super) fn events_head() -> String {
    format!("{}\r\n", head(200, "text/event-stream", STRICT, &[]))
}

fn head(status: u16, kind: &str, policy: &str, more: &[(&'static str, String)]) -> String {
    let more: String = more.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
    format!(
        "HTTP/1.1 {status} {}\r\nContent-Type: {kind}\r\nContent-Security-Policy: {policy}\r\n\
         X-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\nCache-Control: no-store\r\n\
         Cross-Origin-Resource-Policy: same-origin\r\nCross-Origin-Opener-Policy: same-origin\r\nConnection: close\r\n{more}",
        reason(status)
    )
}

fn reason(status: u16) -> &'static str {
    match status {
        200 => "OK",
        201 => "Created",
        204 => "No Content",
        303 => "See Other",
        400 => "Bad Request",
        401 => "Unauthorized",
        403 => "Forbidden",
        404 => "Not Found",
        405 => "Method Not Allowed",
        408 => "Request Timeout",
        409 => "Conflict",
        411 => "Length Required",
        413 => "Content Too Large",
        415 => "Unsupported Media Type",
        421 => "Misdirected Request",
        422 => "Unprocessable Content",
        431 => "Request Header Fields Too Large",
        503 => "Service Unavailable",
        _ => "Internal Server Error",
    }
}
