//! The broker's address, and what this process proves itself with. Credentials are never shown.

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::str::FromStr as _;
use std::{env, fs};

use async_nats::{ConnectOptions, ServerAddr};
use clap::Args;

use crate::error::BrokerError;

/// Names a file with credentials, as `--credentials` does.
const VARIABLE: &str = "DC0_NATS_CREDENTIALS";

/// How to reach the broker.
#[derive(Debug, Clone, Default, Args)]
pub struct BrokerArgs {
    /// A file with a token, the seed of a pair of keys (`NKey`), or a `.creds` file's text, for the broker [default: that of the variable
    /// `DC0_NATS_CREDENTIALS`; a token or `USER:PASSWORD` may be in the URL, too].
    #[arg(long, value_name = "FILE")]
    pub credentials: Option<PathBuf>,
    /// A PEM file with the certificate authorities of the broker's TLS, besides those of the system.
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,
}

/// A broker's address and credentials.
pub(crate) struct Address {
    /// Without credentials.
    shown: String,
    is_loopback: bool,
    is_encrypted: bool,
    secret: Option<Secret>,
    authorities: Option<PathBuf>,
}

enum Secret {
    Token(String),
    User(String, String),
    /// The seed of a pair of keys.
    NKey(String),
    /// The text of a `.creds` file.
    Creds(String),
}

impl fmt::Display for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.shown)
    }
}

impl fmt::Debug for Address {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Address({})", self.shown)
    }
}

impl Address {
    /// Reads the address and the credentials.
    pub(crate) fn new(url: &str, args: &BrokerArgs) -> Result<Self, BrokerError> {
        let wrong = |problem: &str| BrokerError::Address { url: redacted(url), problem: problem.to_owned() };
        let server = ServerAddr::from_str(url)
            .map_err(|_| wrong("expected nats://HOST:4222, or tls://HOST:4222 for a broker with TLS"))?;
        if !["nats", "tls"].contains(&server.scheme()) || server.host().is_empty() {
            return Err(wrong("expected nats://HOST:4222, or tls://HOST:4222 for a broker with TLS"));
        }
        let in_url = server.username().map(|user| match server.password() {
            Some(password) => Secret::User(user.to_owned(), password.to_owned()),
            None => Secret::Token(user.to_owned()),
        });
        let file = args.credentials.clone();
        let file = file.or_else(|| env::var_os(VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from));
        let secret = match (in_url, file) {
            (Some(secret), _) => Some(secret),
            (None, Some(file)) => {
                let text = fs::read_to_string(&file);
                let text = text.map_err(|cause| BrokerError::Credentials { file: file.clone(), cause })?;
                Some(Secret::of(text.trim()))
            }
            (None, None) => None,
        };
        let (host, port) = (server.host(), server.port());
        let is_loopback = host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
        let bracketed = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
        let shown = format!("{}://{bracketed}:{port}", server.scheme());
        if secret.is_none() && !is_loopback {
            return Err(BrokerError::Open { address: shown });
        }
        let (is_encrypted, authorities) = (server.tls_required(), args.ca.clone());
        Ok(Self { shown, is_loopback, is_encrypted, secret, authorities })
    }

    /// Whether credentials and games cross a network in the clear.
    pub(crate) fn is_in_the_clear(&self) -> bool {
        !self.is_loopback && !self.is_encrypted
    }

    /// The options of a connection.
    pub(crate) fn options(&self) -> Result<ConnectOptions, BrokerError> {
        let malformed = |cause: std::io::Error| BrokerError::Address {
            url: self.shown.clone(),
            problem: format!("its credentials are malformed: {cause}"),
        };
        let options = match &self.secret {
            None => ConnectOptions::new(),
            Some(Secret::Token(token)) => ConnectOptions::with_token(token.clone()),
            Some(Secret::User(user, password)) => {
                ConnectOptions::with_user_and_password(user.clone(), password.clone())
            }
            Some(Secret::NKey(seed)) => ConnectOptions::with_nkey(seed.clone()),
            Some(Secret::Creds(text)) => ConnectOptions::with_credentials(text).map_err(malformed)?,
        };
        let options = options.require_tls(self.is_encrypted);
        Ok(match &self.authorities {
            Some(file) => options.add_root_certificates(file.clone()),
            None => options,
        })
    }
}

impl Secret {
    /// The kind of credentials in a file, by its text.
    fn of(text: &str) -> Self {
        let is_seed = text.len() == 58
            && text.starts_with("SU")
            && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
        if text.starts_with("-----BEGIN NATS") {
            Self::Creds(text.to_owned())
        } else if is_seed {
            Self::NKey(text.to_owned())
        } else {
            Self::Token(text.to_owned())
        }
    }
}

/// A URL as it may be shown: without credentials.
pub fn redacted(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return redacted_rest(url) };
    format!("{scheme}://{}", redacted_rest(rest))
}

fn redacted_rest(rest: &str) -> String {
    match rest.rsplit_once('@') {
        Some((_, host)) => format!("CREDENTIALS@{host}"),
        None => rest.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Address, BrokerArgs, Secret, redacted};

    #[test]
    fn credentials_are_never_shown() {
        assert_eq!(redacted("nats://s3cret@host:4222"), "nats://CREDENTIALS@host:4222");
        assert_eq!(redacted("nats://me:p@ss@host"), "nats://CREDENTIALS@host");
        assert_eq!(redacted("nats://host:4222"), "nats://host:4222");
        for url in ["nats://s3cret@lab:4222", "tls://me:s3cret@lab:4222"] {
            let address = Address::new(url, &BrokerArgs::default()).expect("an address");
            assert!(!format!("{address} {address:?}").contains("s3cret"));
        }
        let error = Address::new("http://s3cret@lab:4222", &BrokerArgs::default()).expect_err("a scheme");
        assert!(!error.to_string().contains("s3cret"), "{error}");
    }

    #[test]
    fn a_broker_without_credentials_must_be_on_this_machine() {
        for url in ["nats://127.0.0.1:4222", "nats://localhost", "nats://[::1]:5000"] {
            assert!(Address::new(url, &BrokerArgs::default()).is_ok(), "{url}");
        }
        let error = Address::new("nats://10.0.0.7:4222", &BrokerArgs::default()).expect_err("is open");
        assert!(error.to_string().contains("nats://10.0.0.7:4222 has no credentials"), "{error}");
    }

    #[test]
    fn the_kind_of_credentials_is_seen_from_their_text() {
        let seed = format!("SU{}", "A".repeat(56));
        assert!(matches!(Secret::of(&seed), Secret::NKey(_)));
        assert!(matches!(Secret::of("-----BEGIN NATS USER JWT-----"), Secret::Creds(_)));
        assert!(matches!(Secret::of("SUMMER"), Secret::Token(_)));
    }
}
