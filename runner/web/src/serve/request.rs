//! One request, read from a connection with limits on everything: httparse reads the head, and what is too long, too slow or not
//! HTTP is refused.

use std::io::{self, Read};

use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use thiserror::Error;

/// Bytes of a request before its body. Chosen: browsers send about one kilobyte.
const MOST_HEAD: usize = 16 * 1024;

/// Bytes of a body. Chosen: the longest that is of use is a FEN with settings.
const MOST_BODY: usize = 16 * 1024;

/// Headers of a request.
const MOST_HEADERS: usize = 64;

/// What is done with what an address names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Method {
    Get,
    Head,
    Post,
    Delete,
}

/// A request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) method: Method,
    /// The parts of the path, decoded; none of them is empty, `.` or `..`.
    pub(super) path: Vec<String>,
    query: Vec<(String, String)>,
    /// Names in small letters.
    headers: Vec<(String, String)>,
    pub(super) body: Vec<u8>,
}

/// Why a request is not answered as asked.
#[derive(Debug, Error, PartialEq, Eq)]
pub(super) enum Refusal {
    #[error("this is not a request of HTTP/1.1: {0}")]
    Malformed(String),
    #[error("there is no such page")]
    NotFound,
    #[error("this cannot be done here")]
    Method,
    #[error("the request took too long to arrive")]
    TooSlow,
    #[error("a body needs its length (Content-Length)")]
    NoLength,
    #[error("the body is longer than {MOST_BODY} bytes")]
    Body,
    #[error(
        "the head of the request is longer than {MOST_HEAD} bytes or has more than {MOST_HEADERS} headers"
    )]
    Head,
    /// Nobody is there to be told.
    #[error("the connection was lost")]
    Gone,
}

impl Refusal {
    /// The status of HTTP (RFC 9110, section 15).
    pub(super) fn status(&self) -> u16 {
        match self {
            Self::Malformed(_) | Self::Gone => 400,
            Self::NotFound => 404,
            Self::Method => 405,
            Self::TooSlow => 408,
            Self::NoLength => 411,
            Self::Body => 413,
            Self::Head => 431,
        }
    }
}

impl Request {
    /// Reads a request; `None` where the connection ends before it begins.
    pub(super) fn read(from: &mut impl Read) -> Result<Option<Self>, Refusal> {
        let mut bytes = Vec::new();
        let (mut request, used) = loop {
            if let Some(found) = head(&bytes)? {
                break found;
            }
            if bytes.len() > MOST_HEAD {
                return Err(Refusal::Head);
            }
            if more(from, &mut bytes)? == 0 {
                let cut = || Refusal::Malformed("it ends in its middle".to_owned());
                return if bytes.is_empty() { Ok(None) } else { Err(cut()) };
            }
        };
        let length = request.length()?;
        let mut body = bytes.split_off(used);
        while body.len() < length {
            if more(from, &mut body)? == 0 {
                return Err(Refusal::Malformed("its body is shorter than it says".to_owned()));
            }
        }
        body.truncate(length);
        request.body = body;
        Ok(Some(request))
    }

    /// A header that may be given once.
    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(of, _)| of == name).map(|(_, value)| value.as_str())
    }

    /// A value behind the `?` of the address.
    pub(super) fn asked(&self, name: &str) -> Option<&str> {
        self.query.iter().find(|(of, _)| of == name).map(|(_, value)| value.as_str())
    }

    /// What follows the path with one name left out: empty, or with its `?`.
    pub(super) fn query_without(&self, name: &str) -> String {
        let encoded = |text: &str| utf8_percent_encode(text, NON_ALPHANUMERIC).to_string();
        let rest = self.query.iter().filter(|(of, _)| of != name);
        let pairs: Vec<String> =
            rest.map(|(of, value)| format!("{}={}", encoded(of), encoded(value))).collect();
        if pairs.is_empty() { String::new() } else { format!("?{}", pairs.join("&")) }
    }

    /// A cookie.
    pub(super) fn cookie(&self, name: &str) -> Option<&str> {
        let pairs = self.header("cookie")?.split(';').filter_map(|pair| pair.trim().split_once('='));
        pairs.into_iter().find(|(of, _)| *of == name).map(|(_, value)| value)
    }

    fn length(&self) -> Result<usize, Refusal> {
        for name in ["content-length", "host", "transfer-encoding"] {
            if self.headers.iter().filter(|(of, _)| of == name).count() > 1 {
                return Err(Refusal::Malformed(format!("{name} is given twice")));
            }
        }
        if self.header("transfer-encoding").is_some() {
            return Err(Refusal::NoLength);
        }
        let Some(length) = self.header("content-length") else {
            return if self.method == Method::Post { Err(Refusal::NoLength) } else { Ok(0) };
        };
        // Digits alone, so that nobody reads another number than others do.
        if length.is_empty() || !length.bytes().all(|byte| byte.is_ascii_digit()) {
            return Err(Refusal::Malformed("its length is no number".to_owned()));
        }
        length.parse().ok().filter(|length| *length <= MOST_BODY).ok_or(Refusal::Body)
    }
}

fn more(from: &mut impl Read, bytes: &mut Vec<u8>) -> Result<usize, Refusal> {
    let mut buffer = [0; 4096];
    match from.read(&mut buffer) {
        Ok(read) => {
            bytes.extend_from_slice(&buffer[..read]);
            Ok(read)
        }
        Err(cause) if cause.kind() == io::ErrorKind::Interrupted => more(from, bytes),
        Err(cause) if [io::ErrorKind::WouldBlock, io::ErrorKind::TimedOut].contains(&cause.kind()) => {
            Err(Refusal::TooSlow)
        }
        Err(_) => Err(Refusal::Gone),
    }
}

/// The request without its body, and the bytes that it takes; `None` as long as there are too few.
fn head(bytes: &[u8]) -> Result<Option<(Request, usize)>, Refusal> {
    let mut headers = [httparse::EMPTY_HEADER; MOST_HEADERS];
    let mut parsed = httparse::Request::new(&mut headers);
    let used = match parsed.parse(bytes) {
        Ok(httparse::Status::Complete(used)) => used,
        Ok(httparse::Status::Partial) => return Ok(None),
        Err(httparse::Error::TooManyHeaders) => return Err(Refusal::Head),
        Err(cause) => return Err(Refusal::Malformed(cause.to_string())),
    };
    if used > MOST_HEAD {
        return Err(Refusal::Head);
    }
    let method = match parsed.method {
        Some("GET") => Method::Get,
        Some("HEAD") => Method::Head,
        Some("POST") => Method::Post,
        Some("DELETE") => Method::Delete,
        _ => return Err(Refusal::Method),
    };
    let target = parsed.path.unwrap_or_default();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let mut headers = Vec::new();
    for header in &*parsed.headers {
        let value = String::from_utf8(header.value.to_vec());
        let value = value.map_err(|_| Refusal::Malformed(format!("{} is not text", header.name)))?;
        headers.push((header.name.to_ascii_lowercase(), value));
    }
    let request = Request { method, path: parts(path)?, query: pairs(query)?, headers, body: Vec::new() };
    Ok(Some((request, used)))
}

/// The parts of a path. What could lead elsewhere is nowhere.
fn parts(path: &str) -> Result<Vec<String>, Refusal> {
    let below = path.strip_prefix('/').ok_or(Refusal::NotFound)?;
    if below.is_empty() {
        return Ok(Vec::new());
    }
    below.split('/').map(part).collect()
}

fn part(encoded: &str) -> Result<String, Refusal> {
    let part = decoded(encoded).ok_or(Refusal::NotFound)?;
    let is_odd = |c: char| c.is_control() || matches!(c, '/' | '\\' | '\0');
    if part.is_empty() || part == "." || part == ".." || part.contains(is_odd) {
        return Err(Refusal::NotFound);
    }
    Ok(part)
}

fn pairs(query: &str) -> Result<Vec<(String, String)>, Refusal> {
    let pair = |text: &str| {
        let (name, value) = text.split_once('=').unwrap_or((text, ""));
        Some((decoded(name)?, decoded(value)?))
    };
    let texts = query.split('&').filter(|text| !text.is_empty());
    let pairs: Option<Vec<(String, String)>> = texts.map(pair).collect();
    pairs.ok_or_else(|| Refusal::Malformed("what follows the ? is not text".to_owned()))
}

fn decoded(text: &str) -> Option<String> {
    percent_decode_str(text).decode_utf8().ok().map(std::borrow::Cow::into_owned)
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use super::{Method, Refusal, Request};

    /// A connection on which one byte comes at a time.
    struct Dripping<'a>(&'a [u8]);

    impl Read for Dripping<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            let (end, rest) = self.0.split_at(self.0.len().min(1));
            buffer[..end.len()].copy_from_slice(end);
            self.0 = rest;
            Ok(end.len())
        }
    }

    fn read(text: &str) -> Result<Option<Request>, Refusal> {
        let dripping = Request::read(&mut Dripping(text.as_bytes()));
        assert_eq!(dripping, Request::read(&mut text.as_bytes()));
        dripping
    }

    fn get(path: &str) -> Result<Vec<String>, Refusal> {
        read(&format!("GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n"))
            .map(|request| request.expect("one").path)
    }

    #[test]
    fn a_request_is_read_with_path_query_cookies_and_body() {
        let text = "POST /api/play/1?after=3&x=%2b HTTP/1.1\r\nHost: localhost:1\r\nCookie: a=1; dc0-1=ab\r\n\
            Content-Length: 4\r\n\r\nbodyGET / HTTP/1.1";
        let request = read(text).expect("sound").expect("one");
        assert_eq!((request.method, request.path.join("|")), (Method::Post, "api|play|1".to_owned()));
        assert_eq!(
            (request.asked("after"), request.asked("x"), request.asked("y")),
            (Some("3"), Some("+"), None)
        );
        assert_eq!((request.cookie("dc0-1"), request.cookie("b")), (Some("ab"), None));
        assert_eq!(
            (request.header("host"), request.body.as_slice()),
            (Some("localhost:1"), b"body".as_slice())
        );
        assert_eq!(read(""), Ok(None));
    }

    #[test]
    fn paths_that_lead_elsewhere_lead_nowhere() {
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
    fn what_is_too_long_or_no_http_is_refused() {
        let long = "x".repeat(20_000);
        let request = |head: &str| read(&format!("POST / HTTP/1.1\r\nHost: localhost\r\n{head}\r\n\r\n"));
        assert_eq!(request(&format!("X: {long}")), Err(Refusal::Head));
        assert_eq!(request(&"X: 1\r\n".repeat(70)), Err(Refusal::Head));
        assert_eq!(request("Content-Length: 99999"), Err(Refusal::Body));
        assert_eq!(request("Content-Length: 99999999999999999999999"), Err(Refusal::Body));
        assert_eq!(request("X: 1"), Err(Refusal::NoLength));
        assert_eq!(request("Transfer-Encoding: chunked"), Err(Refusal::NoLength));
        assert_eq!(get(&format!("/{long}")), Err(Refusal::Head));
        let odd =
            ["Content-Length: 1\r\nContent-Length: 1", "Content-Length: +1", "Content-Length: 5", "Host: x"];
        for head in odd {
            assert!(matches!(request(head), Err(Refusal::Malformed(_))), "{head}");
        }
        for text in [
            "\u{16}\u{3}\u{1}\0\r\n\r\n",
            "GET / HTTP/2.0\r\n\r\n",
            "GET /\r\n\r\n",
            "GET / HTTP/1.1\r\nHost",
        ] {
            assert!(matches!(read(text), Err(Refusal::Malformed(_))), "{text:?}");
        }
        assert_eq!(read("PUT / HTTP/1.1\r\n\r\n"), Err(Refusal::Method));
    }
}
