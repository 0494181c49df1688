//! Access control: a request needs the token, must come from a page of this server, and must name this machine as its host.
//!
//! The token comes once in an address and is kept as a cookie from then on. Other sites in the same browser cannot read it, and
//! the check of `Host` keeps out pages whose own name points to this machine (DNS rebinding).

use std::net::IpAddr;

use super::reply::Reply;
use super::request::{Method, Request};

/// The checks of each request.
#[derive(Debug)]
pub(super) struct Access {
    token: String,
    /// Names of this machine besides `localhost` and its addresses.
    hosts: Vec<String>,
}

/// The port of addresses that name none.
const HTTP_PORT: u16 = 80;

const NO_TOKEN: &str = "Open the address that <code>dc0-run serve</code> has printed: it ends with <code>?token=…</code>. \
    The token is kept until the browser closes, and a new one is made each time the server starts.";
const WRONG_TOKEN: &str = "This token is not the one that <code>dc0-run serve</code> has printed. A new one is made each time the \
    server starts: open the address that it prints.";

impl Access {
    pub(super) fn new(token: String, hosts: Vec<String>) -> Self {
        Self { token, hosts }
    }

    /// Checks a request before anything else is done for it. A reply, if there is one, rejects it or redirects it to its address
    /// without the token.
    pub(super) fn check(&self, request: &Request) -> Option<Reply> {
        if !request.header("host").is_some_and(|host| self.is_own_host(host)) {
            let text =
                "The address does not name this machine; <code>--host NAME</code> allows another name.";
            return Some(rejected(421, "Unknown host", text));
        }
        if let Some(given) = request.query("token") {
            return Some(if self.is_token(given) {
                self.entry(request)
            } else {
                rejected(403, "Wrong token", WRONG_TOKEN)
            });
        }
        match request.cookie(&cookie_name(request)) {
            None => Some(rejected(401, "Token needed", NO_TOKEN)),
            Some(given) if !self.is_token(given) => Some(rejected(403, "Wrong token", WRONG_TOKEN)),
            Some(_) if is_foreign(request) => {
                Some(rejected(403, "Foreign site", "Only pages of this server may request this."))
            }
            Some(_) => None,
        }
    }

    /// blake3's digests compare in constant time, so response times reveal nothing about the token.
    fn is_token(&self, given: &str) -> bool {
        blake3::hash(given.as_bytes()) == blake3::hash(self.token.as_bytes())
    }

    /// IP addresses cannot be rebound; of names, only this machine's are accepted.
    fn is_own_host(&self, host: &str) -> bool {
        let (name, _) = name_and_port(host);
        let is_name = |known: &String| known.eq_ignore_ascii_case(name);
        name.parse::<IpAddr>().is_ok()
            || name.eq_ignore_ascii_case("localhost")
            || self.hosts.iter().any(is_name)
    }

    /// `Lax`, so that links from elsewhere, such as a web terminal, send the cookie. Requests by other sites that change something
    /// are rejected by `Origin` and `Sec-Fetch-Site`.
    fn entry(&self, request: &Request) -> Reply {
        let cookie = format!("{}={}; Path=/; HttpOnly; SameSite=Lax", cookie_name(request), self.token);
        let reply = Reply::new(303, "text/plain; charset=utf-8", "");
        reply.with("Set-Cookie", cookie).with("Location", request.address_without("token"))
    }
}

/// The cookie's name. Cookies belong to a host, not to a port, so servers at once need names of their own; a server that is started again
/// takes the name of the one before, so that cookies do not add up. The port is the browser's: servers of several machines that are
/// reached through ssh may have the same one.
fn cookie_name(request: &Request) -> String {
    let (_, port) = name_and_port(request.header("host").unwrap_or_default());
    format!("dc0-{}", port.parse().unwrap_or(HTTP_PORT))
}

/// The parts of a header `Host`; the port may be missing. Addresses of IPv6 are in brackets.
fn name_and_port(host: &str) -> (&str, &str) {
    match host.strip_prefix('[').and_then(|rest| rest.split_once(']')) {
        Some((address, rest)) => (address, rest.trim_start_matches(':')),
        None => host.rsplit_once(':').unwrap_or((host, "")),
    }
}

/// Whether another site's page has sent the request, to change something or to read data.
fn is_foreign(request: &Request) -> bool {
    let site = request.header("sec-fetch-site").is_some_and(|site| !["same-origin", "none"].contains(&site));
    let host = request.header("host").unwrap_or_default();
    let origin = request.header("origin").is_some_and(|origin| origin != format!("http://{host}"));
    let is_change = [Method::POST, Method::DELETE].contains(&request.method);
    origin || (site && (is_change || request.path.first().is_some_and(|part| part == "api")))
}

fn rejected(status: u16, title: &str, text: &str) -> Reply {
    Reply::html(
        status,
        format!(
            "<!doctype html><html lang=\"en\"><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width\">\
             <title>dc0: {title}</title><h1>{title}</h1><p>{text}</p></html>\n"
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::Access;
    use crate::serve::request::tests::read;

    fn access() -> Access {
        Access::new("abc".to_owned(), vec!["lab".to_owned()])
    }

    fn status(target: &str, headers: &str) -> u16 {
        let request = read("GET", target, headers, "").expect("a valid request");
        access().check(&request).map_or(200, |reply| reply.into_response().status().as_u16())
    }

    #[test]
    fn the_token_becomes_a_cookie_that_grants_access() {
        let target = "/run/a%20b?x=%26&token=abc&run=a%2Fb";
        let request = read("GET", target, "Host: localhost:8420", "").expect("a valid request");
        let response = access().check(&request).expect("an answer").into_response();
        assert_eq!(response.headers()["location"], "/run/a%20b?x=%26&run=a%2Fb");
        assert_eq!(response.headers()["set-cookie"], "dc0-8420=abc; Path=/; HttpOnly; SameSite=Lax");
        assert_eq!(status("/", "Host: localhost:8420\nCookie: dc0-8420=abc"), 200);
    }

    #[test]
    fn a_server_that_is_started_again_replaces_the_cookie_of_the_one_before() {
        let cookie = |token: &str, host: &str| {
            let headers = format!("Host: {host}");
            let request = read("GET", &format!("/?token={token}"), &headers, "").expect("a valid request");
            let reply = Access::new(token.to_owned(), Vec::new()).check(&request).expect("an answer");
            let set = reply.into_response().headers()["set-cookie"].to_str().expect("text").to_owned();
            set.split_once('=').expect("a name and a value").0.to_owned()
        };
        assert_eq!(cookie("abc", "localhost:8420"), "dc0-8420");
        assert_eq!(cookie("def", "localhost:8420"), "dc0-8420");
        assert_eq!(cookie("def", "[::1]:8421"), "dc0-8421");
        assert_eq!(cookie("def", "127.0.0.1"), "dc0-80");
    }

    #[test]
    fn requests_without_the_token_or_from_other_sites_are_rejected() {
        let known = "Host: 127.0.0.1:8420\nCookie: dc0-8420=abc";
        assert_eq!(status("/", "Host: 127.0.0.1"), 401);
        assert_eq!(status("/", "Host: 127.0.0.1:8420\nCookie: dc0-8421=abc"), 401);
        assert_eq!(status("/", "Host: 127.0.0.1:8420\nCookie: dc0-8420=ab"), 403);
        assert_eq!(status("/?token=", known), 403);
        assert_eq!(status("/?token=abcd", known), 403);
        assert_eq!(status("/api/runs", &format!("{known}\nOrigin: http://evil.example")), 403);
        assert_eq!(status("/api/runs", &format!("{known}\nSec-Fetch-Site: cross-site")), 403);
        assert_eq!(status("/", &format!("{known}\nSec-Fetch-Site: none")), 200);
    }

    #[test]
    fn unknown_hosts_are_rejected_even_with_the_token() {
        for (host, expected) in [
            ("evil.example", 421),
            ("localhost.evil.example:8420", 421),
            ("", 421),
            ("LOCALHOST", 200),
            ("[::1]:8420", 200),
            ("192.168.0.7:1", 200),
            ("lab:8420", 200),
        ] {
            let cookies = "dc0-1=abc; dc0-80=abc; dc0-8420=abc";
            assert_eq!(status("/", &format!("Host: {host}\nCookie: {cookies}")), expected, "{host}");
        }
        assert_eq!(status("/?token=abc", "Host: evil.example"), 421);
        assert_eq!(status("/?token=abc", "X: 1"), 421);
    }
}
