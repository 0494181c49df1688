//! The broker's address, and what this process proves itself with. Credentials are never shown.

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::str::FromStr as _;

use async_nats::{ConnectOptions, ServerAddr};
use clap::Args;
use percent_encoding::percent_decode_str;

use crate::certificates::{check_authorities, check_pair};
use crate::error::BrokerError;
use crate::secret::Secret;

/// How to reach the broker.
#[derive(Debug, Clone, Default, Args)]
pub struct BrokerArgs {
    /// A file with a token, a user and its password in two lines, the seed of an `NKey`, or a `.creds` file's text, for the
    /// broker [default: that of the variable `DC0_NATS_CREDENTIALS`; a token or `USER:PASSWORD` may be in the URL, too].
    #[arg(long, value_name = "FILE")]
    pub credentials: Option<PathBuf>,
    /// A PEM file with the certificate authorities of the broker's TLS [default: those of the system].
    #[arg(long, value_name = "FILE")]
    pub ca: Option<PathBuf>,
    /// A PEM file with this machine's certificate, for a broker that asks for one.
    #[arg(long, value_name = "FILE", requires = "certificate_key")]
    pub certificate: Option<PathBuf>,
    /// A PEM file with the private key of `--certificate`.
    #[arg(long, value_name = "FILE", requires = "certificate")]
    pub certificate_key: Option<PathBuf>,
}

/// A broker's address and credentials.
pub(crate) struct Address {
    /// Without credentials.
    shown: String,
    is_loopback: bool,
    is_encrypted: bool,
    secret: Option<Secret>,
    authorities: Option<PathBuf>,
    /// The certificate and its key.
    certificate: Option<(PathBuf, PathBuf)>,
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
        let expected = "expected nats://HOST:4222, or tls://HOST:4222 for a broker with TLS";
        let server = ServerAddr::from_str(url).map_err(|_| wrong(expected))?;
        if !["nats", "tls"].contains(&server.scheme()) || server.host().is_empty() {
            return Err(wrong(expected));
        }
        let secret = match (secret_in(&server).map_err(wrong)?, &args.credentials) {
            (Some(_), Some(file)) => {
                return Err(wrong(&format!(
                    "it has credentials, and so has {}; give one of them",
                    file.display()
                )));
            }
            (Some(secret), None) => Some(secret),
            (None, Some(file)) => Some(Secret::read(file)?),
            (None, None) => Secret::of_variable()?,
        };
        let certificate = args.certificate.clone().zip(args.certificate_key.clone());
        args.ca.as_deref().map_or(Ok(()), check_authorities)?;
        certificate.as_ref().map_or(Ok(()), |(chain, key)| check_pair(chain, key))?;
        let (host, port) = (server.host(), server.port());
        let is_loopback = host == "localhost" || host.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback());
        let bracketed = if host.contains(':') { format!("[{host}]") } else { host.to_owned() };
        let shown = format!("{}://{bracketed}:{port}", server.scheme());
        if secret.is_none() && certificate.is_none() && !is_loopback {
            return Err(BrokerError::Open { address: shown });
        }
        // Who names certificates does not want to send anything without them.
        let is_encrypted = server.tls_required() || args.ca.is_some() || certificate.is_some();
        Ok(Self { shown, is_loopback, is_encrypted, secret, authorities: args.ca.clone(), certificate })
    }

    /// Whether credentials and games cross a network in the clear.
    pub(crate) fn is_in_the_clear(&self) -> bool {
        !self.is_loopback && !self.is_encrypted
    }

    /// Whether the connection is to use TLS.
    pub(crate) fn is_encrypted(&self) -> bool {
        self.is_encrypted
    }

    /// Whether this machine has a certificate.
    pub(crate) fn has_certificate(&self) -> bool {
        self.certificate.is_some()
    }

    /// The credentials' kind, for messages; none if there are none.
    pub(crate) fn proof(&self) -> Option<&'static str> {
        let certificate = self.certificate.as_ref().map(|_| "certificate");
        self.secret.as_ref().map(Secret::kind).or(certificate)
    }

    /// The options of a connection.
    pub(crate) fn options(&self) -> Result<ConnectOptions, BrokerError> {
        let options = match &self.secret {
            None => ConnectOptions::new(),
            Some(secret) => secret.options().map_err(|cause| BrokerError::Address {
                url: self.shown.clone(),
                problem: format!("its credentials are malformed: {cause}"),
            })?,
        };
        let mut options = options.require_tls(self.is_encrypted);
        if let Some(file) = &self.authorities {
            options = options.add_root_certificates(file.clone());
        }
        if let Some((chain, key)) = &self.certificate {
            options = options.add_client_certificate(chain.clone(), key.clone());
        }
        Ok(options)
    }
}

/// The credentials in a URL, where letters may stand as `%` and two digits.
fn secret_in(server: &ServerAddr) -> Result<Option<Secret>, &'static str> {
    let decoded = |text: &str| percent_decode_str(text).decode_utf8().map(String::from);
    let decoded = |text| decoded(text).map_err(|_| "its credentials are no UTF-8 after decoding `%`");
    let Some(user) = server.username() else {
        return match server.password() {
            Some(_) => Err("it has a password without a user; a token is nats://TOKEN@HOST:4222"),
            None => Ok(None),
        };
    };
    Ok(Some(match server.password() {
        Some(password) => Secret::User(decoded(user)?, decoded(password)?),
        None => Secret::Token(decoded(user)?),
    }))
}

/// A URL as it may be shown: without credentials.
pub fn redacted(url: &str) -> String {
    let Some((scheme, rest)) = url.split_once("://") else { return redacted_rest(url) };
    // The query of a bucket's URL can be a signature.
    let rest = rest.split('?').next().unwrap_or_default();
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
    use std::fs;

    use super::{Address, BrokerArgs, redacted, secret_in};
    use crate::secret::Secret;

    #[test]
    fn credentials_are_never_shown() {
        assert_eq!(redacted("nats://s3cret@host:4222"), "nats://CREDENTIALS@host:4222");
        assert_eq!(redacted("nats://me:p@ss@host"), "nats://CREDENTIALS@host");
        assert_eq!(redacted("nats://host:4222"), "nats://host:4222");
        for url in ["nats://s3cret@lab:4222", "tls://me:s3cret@lab:4222"] {
            let address = Address::new(url, &BrokerArgs::default()).expect("an address");
            assert!(!format!("{address} {address:?}").contains("s3cret"));
        }
        for url in
            ["http://s3cret@lab:4222", "nats://:s3cret@lab", "nats://me:s3cret%ff@lab", "ws://s3cret@lab"]
        {
            let error = Address::new(url, &BrokerArgs::default()).expect_err(url);
            assert!(!error.to_string().contains("s3cret"), "{error}");
        }
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
    fn letters_of_credentials_may_be_encoded_in_a_url() {
        let secret = |url: &str| secret_in(&url.parse().expect("a URL")).expect("sound");
        assert_eq!(secret("nats://lab"), None);
        assert_eq!(secret("nats://a%40b@lab"), Some(Secret::Token("a@b".to_owned())));
        assert_eq!(secret("nats://me:p%2Fw%25@lab"), Some(Secret::User("me".to_owned(), "p/w%".to_owned())));
    }

    #[test]
    fn credentials_come_from_one_source_only() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let file = folder.path().join("token");
        fs::write(&file, "other\n").expect("writes");
        let args = BrokerArgs { credentials: Some(file), ..BrokerArgs::default() };
        assert!(Address::new("nats://lab", &args).is_ok());
        let error = Address::new("nats://s3cret@lab", &args).expect_err("two places").to_string();
        assert!(error.contains("give one of them") && !error.contains("s3cret"), "{error}");
    }
}
