//! A request: what hyper has read, with limits on its size and with paths that cannot lead elsewhere.

use http_body_util::BodyExt;
use hyper::Uri;
use hyper::body::{Body, Bytes};
use hyper::header::{CONTENT_LENGTH, HOST, HeaderMap, TRANSFER_ENCODING};
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use thiserror::Error;

pub(super) use hyper::Method;

/// Bytes of a body. Chosen: the longest useful one is a FEN with settings.
const MAX_BODY: usize = 16 * 1024;

/// A request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Request {
    /// GET, HEAD, POST or DELETE.
    pub(super) method: Method,
    /// The parts of the path, decoded; none of them is empty, `.` or `..`.
    pub(super) path: Vec<String>,
    query: Vec<(String, String)>,
    /// All values are UTF-8.
    headers: HeaderMap,
    pub(super) body: Bytes,
}

/// Why a request is rejected.
#[derive(Debug, Error, PartialEq, Eq)]
pub(super) enum Refusal {
    #[error("this is not an HTTP/1.1 request: {0}")]
    Malformed(String),
    #[error("there is no such page")]
    NotFound,
    #[error("expected GET, HEAD, POST or DELETE")]
    Method,
    #[error("a body needs its length (Content-Length)")]
    NoLength,
    #[error("the body is longer than {MAX_BODY} bytes")]
    Body,
}

impl Refusal {
    /// The HTTP status (RFC 9110, section 15).
    pub(super) fn status(&self) -> u16 {
        match self {
            Self::Malformed(_) => 400,
            Self::NotFound => 404,
            Self::Method => 501,
            Self::NoLength => 411,
            Self::Body => 413,
        }
    }
}

impl Request {
    /// Parses the head, and reads the body if its length is within the limit.
    pub(super) async fn read<B: Body>(request: hyper::Request<B>) -> Result<Self, Refusal> {
        let (head, body) = request.into_parts();
        if ![Method::GET, Method::HEAD, Method::POST, Method::DELETE].contains(&head.method) {
            return Err(Refusal::Method);
        }
        let path = parts(&head.uri)?;
        let query = pairs(head.uri.query().unwrap_or_default())?;
        check(&head.method, &head.headers)?;
        let body = body.collect().await;
        let body = body.map_err(|_| Refusal::Malformed("its body is shorter than it says".to_owned()))?;
        Ok(Self { method: head.method, path, query, headers: head.headers, body: body.to_bytes() })
    }

    /// The value of a header.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.get(name).and_then(|value| std::str::from_utf8(value.as_bytes()).ok())
    }

    /// The value of a query parameter.
    pub(super) fn query(&self, name: &str) -> Option<&str> {
        self.queries(name).next()
    }

    /// All values of a query parameter that may be given several times.
    pub(super) fn queries(&self, name: &str) -> impl Iterator<Item = &str> {
        self.query.iter().filter(move |(key, _)| key == name).map(|(_, value)| value.as_str())
    }

    /// The path and the query, without one query parameter.
    pub(super) fn address_without(&self, name: &str) -> String {
        let encoded = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
        let path: Vec<String> = self.path.iter().map(|part| encoded(part)).collect();
        let rest = self.query.iter().filter(|(key, _)| key != name);
        let pairs: Vec<String> =
            rest.map(|(key, value)| format!("{}={}", encoded(key), encoded(value))).collect();
        let query = if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) };
        format!("/{}{query}", path.join("/"))
    }

    /// The value of a cookie.
    pub(super) fn cookie(&self, name: &str) -> Option<&str> {
        let pairs = self.header("cookie")?.split(';').filter_map(|pair| pair.trim().split_once('='));
        pairs.into_iter().find(|(key, _)| *key == name).map(|(_, value)| value)
    }
}

/// Rejects headers that could be read in two ways, and bodies that are too long or have no length.
fn check(method: &Method, headers: &HeaderMap) -> Result<(), Refusal> {
    for (name, value) in headers {
        if std::str::from_utf8(value.as_bytes()).is_err() {
            return Err(Refusal::Malformed(format!("{name} is not text")));
        }
    }
    for name in [CONTENT_LENGTH, HOST, TRANSFER_ENCODING] {
        if headers.get_all(&name).iter().count() > 1 {
            return Err(Refusal::Malformed(format!("{name} is given twice")));
        }
    }
    if headers.contains_key(TRANSFER_ENCODING) {
        return Err(Refusal::NoLength);
    }
    match headers.get(CONTENT_LENGTH) {
        None if method == Method::POST => Err(Refusal::NoLength),
        None => Ok(()),
        // hyper has checked that this is a number.
        Some(length) => {
            let length: Option<usize> = length.to_str().ok().and_then(|length| length.parse().ok());
            if length.is_some_and(|length| length <= MAX_BODY) { Ok(()) } else { Err(Refusal::Body) }
        }
    }
}

/// The parts of a path. A path that could lead elsewhere is not found.
fn parts(address: &Uri) -> Result<Vec<String>, Refusal> {
    let below = address.path().strip_prefix('/').ok_or(Refusal::NotFound)?;
    // An absolute address, as sent to proxies.
    if address.authority().is_some() {
        return Err(Refusal::NotFound);
    }
    if below.is_empty() {
        return Ok(Vec::new());
    }
    below.split('/').map(part).collect()
}

fn part(encoded: &str) -> Result<String, Refusal> {
    let part = decoded(encoded).ok_or(Refusal::NotFound)?;
    if is_plain(&part) { Ok(part) } else { Err(Refusal::NotFound) }
}

/// Whether a part of a path names one thing in its folder, on any system, in one line.
pub(super) fn is_plain(part: &str) -> bool {
    let is_odd = |c: char| c.is_control() || matches!(c, '/' | '\\');
    !part.is_empty() && part != "." && part != ".." && !part.contains(is_odd)
}

/// The parameters of a query, as browsers write them (WHATWG URL, application/x-www-form-urlencoded).
fn pairs(query: &str) -> Result<Vec<(String, String)>, Refusal> {
    let pair = |text: &str| {
        let (name, value) = text.split_once('=').unwrap_or((text, ""));
        Some((decoded(&name.replace('+', " "))?, decoded(&value.replace('+', " "))?))
    };
    let texts = query.split('&').filter(|text| !text.is_empty());
    let pairs: Option<Vec<(String, String)>> = texts.map(pair).collect();
    pairs.ok_or_else(|| Refusal::Malformed("what follows the ? is not text".to_owned()))
}

fn decoded(text: &str) -> Option<String> {
    percent_decode_str(text).decode_utf8().ok().map(std::borrow::Cow::into_owned)
}

#[cfg(test)]
pub(super) mod tests {
    use http_body_util::Full;
    use hyper::body::Bytes;

    use super::{Method, Refusal, Request};

    /// Reads a request with headers such as `Host: localhost`, one per line.
    pub(in crate::serve) fn read(
        method: &str,
        target: &str,
        headers: &str,
        body: &str,
    ) -> Result<Request, Refusal> {
        let request = hyper::Request::builder().method(method).uri(target);
        let request = headers.lines().fold(request, |request, line| {
            let (name, value) = line.split_once(':').expect("a header");
            request.header(name, value.trim())
        });
        let request = request.body(Full::new(Bytes::from(body.to_owned()))).expect("an HTTP request");
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(Request::read(request))
    }

    #[test]
    fn path_query_cookies_and_body_are_read() {
        let headers = "Host: localhost:1\nCookie: a=1; dc0-1=ab\nContent-Length: 4";
        let request =
            read("POST", "/api/play/1?after=3&x=%2b&z=a+b", headers, "body").expect("a valid request");
        assert_eq!((&request.method, request.path.join("|")), (&Method::POST, "api|play|1".to_owned()));
        assert_eq!(
            (request.query("after"), request.query("x"), request.query("z"), request.query("y")),
            (Some("3"), Some("+"), Some("a b"), None)
        );
        assert_eq!((request.cookie("dc0-1"), request.cookie("b")), (Some("ab"), None));
        assert_eq!((request.header("host"), &request.body[..]), (Some("localhost:1"), b"body".as_slice()));
        assert_eq!(request.address_without("after"), "/api/play/1?x=%2B&z=a%20b");
    }

    #[test]
    fn paths_that_lead_elsewhere_are_not_found() {
        let get = |path: &str| read("GET", path, "Host: localhost", "").map(|request| request.path);
        for path in [
            "/..",
            "/a/../b",
            "/%2e%2e/x",
            "/a%2fb",
            "/a//b",
            "/a/",
            "/%00",
            "/..%5cx",
            "/%ff",
            "http://x/",
            "*",
        ] {
            assert_eq!(get(path), Err(Refusal::NotFound), "{path}");
        }
        assert_eq!(get("/"), Ok(vec![]));
        assert_eq!(get("/run/a%20b"), Ok(vec!["run".to_owned(), "a b".to_owned()]));
    }

    #[test]
    fn overlong_and_ambiguous_requests_are_rejected() {
        let post = |headers: &str| read("POST", "/", headers, "");
        assert_eq!(post("Content-Length: 99999"), Err(Refusal::Body));
        assert_eq!(post("Content-Length: 99999999999999999999999"), Err(Refusal::Body));
        assert_eq!(post("X: 1"), Err(Refusal::NoLength));
        assert_eq!(post("Transfer-Encoding: chunked"), Err(Refusal::NoLength));
        assert_eq!(read("PUT", "/", "", ""), Err(Refusal::Method));
        for headers in ["Content-Length: 1\nContent-Length: 1", "Host: x\nHost: x"] {
            assert!(matches!(post(headers), Err(Refusal::Malformed(_))), "{headers}");
        }
        assert!(matches!(read("GET", "/?x=%ff", "", ""), Err(Refusal::Malformed(_))));
    }
}
