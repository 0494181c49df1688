//! Who may ask: whoever has the token, from a page of this server, by a name that is this machine's.
//!
//! The token comes once in an address and is kept as a cookie from then on. Other sites in the same browser cannot read it, and
//! the name in `Host` keeps out pages that have their own name point to this machine (DNS rebinding).

use std::net::IpAddr;

use super::reply::Reply;
use super::request::{Method, Request};

/// What is asked of each request.
#[derive(Debug)]
pub(super) struct Access {
    token: String,
    /// Cookies are those of a machine and not of a port, so that each server needs a name of its own.
    cookie: String,
    /// Names of this machine besides `localhost` and its addresses.
    hosts: Vec<String>,
}

const NO_TOKEN: &str = "Open the address that <code>dc0-run serve</code> has printed: it ends with <code>?token=…</code>. \
    The token is kept until the browser closes, and is another one each time the server starts.";
const WRONG_TOKEN: &str = "This token is not the one that <code>dc0-run serve</code> has printed. It is another one each time the \
    server starts.";

impl Access {
    pub(super) fn new(token: String, port: u16, hosts: Vec<String>) -> Self {
        Self { token, cookie: format!("dc0-{port}"), hosts }
    }

    /// Looks at a request before anything is done for it. The answer, if there is one already, turns it away or sends it on without
    /// the token in its address.
    pub(super) fn check(&self, request: &Request) -> Option<Reply> {
        if !request.header("host").is_some_and(|host| self.knows(host)) {
            let text = "The name in the address is not known to be this machine's; <code>--host NAME</code> makes it known.";
            return Some(turned_away(421, "Another name", text));
        }
        if let Some(given) = request.query("token") {
            return Some(if self.is_token(given) {
                self.entry(request)
            } else {
                turned_away(403, "Wrong token", WRONG_TOKEN)
            });
        }
        match request.cookie(&self.cookie) {
            None => Some(turned_away(401, "Token needed", NO_TOKEN)),
            Some(given) if !self.is_token(given) => Some(turned_away(403, "Wrong token", WRONG_TOKEN)),
            Some(_) if is_foreign(request) => {
                Some(turned_away(403, "From elsewhere", "Only pages of this server may ask for this."))
            }
            Some(_) => None,
        }
    }

    /// blake3's digests compare in constant time, so that the time an answer takes says nothing of the token.
    fn is_token(&self, given: &str) -> bool {
        blake3::hash(given.as_bytes()) == blake3::hash(self.token.as_bytes())
    }

    /// Addresses cannot be rebound to others; of names, those of this machine are known.
    fn knows(&self, host: &str) -> bool {
        let name = match host.strip_prefix('[') {
            Some(rest) => rest.split(']').next().unwrap_or_default(),
            None => host.rsplit_once(':').map_or(host, |(name, _)| name),
        };
        let is_name = |known: &String| known.eq_ignore_ascii_case(name);
        name.parse::<IpAddr>().is_ok()
            || name.eq_ignore_ascii_case("localhost")
            || self.hosts.iter().any(is_name)
    }

    /// The cookie goes along with links that lead here from elsewhere, such as a web terminal (`Lax`); what changes something is
    /// refused to other sites by `Origin` and `Sec-Fetch-Site`.
    fn entry(&self, request: &Request) -> Reply {
        let cookie = format!("{}={}; Path=/; HttpOnly; SameSite=Lax", self.cookie, self.token);
        let reply = Reply::new(303, "text/plain; charset=utf-8", "");
        reply.with("Set-Cookie", cookie).with("Location", request.address_without("token"))
    }
}

/// Whether a page of another site has sent a request that changes something, or that it wants to look at.
fn is_foreign(request: &Request) -> bool {
    let site = request.header("sec-fetch-site").is_some_and(|site| !["same-origin", "none"].contains(&site));
    let host = request.header("host").unwrap_or_default();
    let origin = request.header("origin").is_some_and(|origin| origin != format!("http://{host}"));
    let is_change = [Method::POST, Method::DELETE].contains(&request.method);
    origin || (site && (is_change || request.path.first().is_some_and(|part| part == "api")))
}

fn turned_away(status: u16, title: &str, text: &str) -> Reply {
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
        Access::new("abc".to_owned(), 8420, vec!["lab".to_owned()])
    }

    fn status(target: &str, headers: &str) -> u16 {
        let request = read("GET", target, headers, "").expect("sound");
        access().check(&request).map_or(200, |reply| reply.into_response().status().as_u16())
    }

    #[test]
    fn the_token_becomes_a_cookie_and_the_cookie_opens() {
        let target = "/run/a%20b?x=%26&token=abc&run=a%2Fb";
        let request = read("GET", target, "Host: localhost:8420", "").expect("sound");
        let response = access().check(&request).expect("an answer").into_response();
        assert_eq!(response.headers()["location"], "/run/a%20b?x=%26&run=a%2Fb");
        assert_eq!(response.headers()["set-cookie"], "dc0-8420=abc; Path=/; HttpOnly; SameSite=Lax");
        assert_eq!(status("/", "Host: localhost:8420\nCookie: dc0-8420=abc"), 200);
    }

    #[test]
    fn others_are_turned_away() {
        let known = "Host: 127.0.0.1:8420\nCookie: dc0-8420=abc";
        assert_eq!(status("/", "Host: 127.0.0.1"), 401);
        assert_eq!(status("/", "Host: 127.0.0.1\nCookie: dc0-8421=abc"), 401);
        assert_eq!(status("/", "Host: 127.0.0.1\nCookie: dc0-8420=ab"), 403);
        assert_eq!(status("/?token=", known), 403);
        assert_eq!(status("/?token=abcd", known), 403);
        assert_eq!(status("/api/runs", &format!("{known}\nOrigin: http://evil.example")), 403);
        assert_eq!(status("/api/runs", &format!("{known}\nSec-Fetch-Site: cross-site")), 403);
        assert_eq!(status("/", &format!("{known}\nSec-Fetch-Site: none")), 200);
    }

    #[test]
    fn names_that_are_not_this_machines_are_refused_even_with_the_token() {
        for (host, expected) in [
            ("evil.example", 421),
            ("localhost.evil.example:8420", 421),
            ("", 421),
            ("LOCALHOST", 200),
            ("[::1]:8420", 200),
            ("192.168.0.7:1", 200),
            ("lab:8420", 200),
        ] {
            assert_eq!(status("/", &format!("Host: {host}\nCookie: dc0-8420=abc")), expected, "{host}");
        }
        assert_eq!(status("/?token=abc", "Host: evil.example"), 421);
        assert_eq!(status("/?token=abc", "X: 1"), 421);
    }
}
