//! Tokens, passwords and keys, and the files that hold them.

use std::path::{Path, PathBuf};
use std::{env, fs, io};

use async_nats::ConnectOptions;
use nkeys::{KeyPair, KeyPairType};

use crate::error::BrokerError;

/// Names a file with credentials, as `--credentials` does.
const VARIABLE: &str = "DC0_NATS_CREDENTIALS";

/// Letters of a pair of keys' seed.
const SEED: usize = 58;

/// What a process proves itself with, besides a certificate.
#[derive(PartialEq, Eq)]
pub(crate) enum Secret {
    /// A text that all share.
    Token(String),
    /// A user and its password.
    User(String, String),
    /// The seed of a pair of keys.
    NKey(String),
    /// The text of a `.creds` file: a JWT and a seed.
    Creds(String),
}

impl std::fmt::Debug for Secret {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.kind())
    }
}

impl Secret {
    /// Reads a file with credentials.
    pub(crate) fn read(file: &Path) -> Result<Self, BrokerError> {
        let unusable =
            |problem| BrokerError::Unusable { what: "credentials", file: file.to_owned(), problem };
        let text = fs::read_to_string(file).map_err(|cause| unusable(cause.to_string()))?;
        Self::of(&text).map_err(unusable)
    }

    /// The credentials in the file that the environment names.
    pub(crate) fn of_variable() -> Result<Option<Self>, BrokerError> {
        let file = env::var_os(VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from);
        file.map(|file| Self::read(&file)).transpose()
    }

    /// The credentials of a file's text.
    fn of(text: &str) -> Result<Self, String> {
        if text.contains("-----BEGIN NATS USER JWT-----") {
            return Ok(Self::Creds(text.to_owned()));
        }
        let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
        match lines.as_slice() {
            // Tools that make keys may add the public one.
            [seed] | [seed, _] if is_seed(seed)? => Ok(Self::NKey((*seed).to_owned())),
            [token] => Ok(Self::Token((*token).to_owned())),
            [user, password] => Ok(Self::User((*user).to_owned(), (*password).to_owned())),
            lines => Err(format!(
                "it has {} lines with text, expected a token, a user and its password in two lines, an NKey's seed (SU…), or the text of \
                 a .creds file",
                lines.len()
            )),
        }
    }

    /// What it is, for messages.
    pub(crate) fn kind(&self) -> &'static str {
        match self {
            Self::Token(_) => "token",
            Self::User(..) => "user and password",
            Self::NKey(_) => "NKey",
            Self::Creds(_) => "JWT",
        }
    }

    /// The options of a connection with it.
    pub(crate) fn options(&self) -> io::Result<ConnectOptions> {
        Ok(match self {
            Self::Token(token) => ConnectOptions::with_token(token.clone()),
            Self::User(user, password) => {
                ConnectOptions::with_user_and_password(user.clone(), password.clone())
            }
            Self::NKey(seed) => ConnectOptions::with_nkey(seed.clone()),
            Self::Creds(text) => ConnectOptions::with_credentials(text)?,
        })
    }
}

/// Whether a line is a user's seed; an error if it is another one, or a damaged one.
fn is_seed(line: &str) -> Result<bool, String> {
    let is_base32 = |byte: u8| byte.is_ascii_uppercase() || (b'2'..=b'7').contains(&byte);
    if line.len() != SEED || !line.starts_with('S') || !line.bytes().all(is_base32) {
        return Ok(false);
    }
    match KeyPair::from_seed(line).map(|pair| pair.key_pair_type()) {
        Ok(KeyPairType::User) => Ok(true),
        Ok(kind) => {
            Err(format!("it is the seed of another kind of NKey ({kind:?}), expected a user's (SU…)"))
        }
        Err(cause) if line.starts_with("SU") => Err(format!("its NKey's seed is malformed: {cause}")),
        // A token may look like that.
        Err(_) => Ok(false),
    }
}

#[cfg(test)]
mod tests {
    use nkeys::KeyPair;

    use super::Secret;

    #[test]
    fn the_kind_of_credentials_is_seen_from_their_text() {
        let pair = KeyPair::new_user();
        let (seed, public) = (pair.seed().expect("has one"), pair.public_key());
        let nkey = Ok(Secret::NKey(seed.clone()));
        assert_eq!(Secret::of(&format!("{seed}\n")), nkey);
        assert_eq!(Secret::of(&format!("{seed}\r\n{public}\r\n")), nkey);
        assert_eq!(Secret::of(" SUMMER\n"), Ok(Secret::Token("SUMMER".to_owned())));
        assert_eq!(Secret::of(&"S".repeat(58)), Ok(Secret::Token("S".repeat(58))));
        assert_eq!(Secret::of("me\np w:\n"), Ok(Secret::User("me".to_owned(), "p w:".to_owned())));
        let creds = "\n-----BEGIN NATS USER JWT-----\nx\n";
        assert_eq!(Secret::of(creds), Ok(Secret::Creds(creds.to_owned())));
    }

    #[test]
    fn files_without_usable_credentials_are_refused() {
        for text in ["", " \n\n", "a\nb\nc"] {
            assert!(Secret::of(text).expect_err(text).contains("lines with text, expected a token"));
        }
        let account = KeyPair::new_account().seed().expect("has one");
        let error = Secret::of(&account).expect_err("an account's");
        assert!(error.contains("another kind of NKey (Account)") && !error.contains(&account), "{error}");
        let mut damaged = KeyPair::new_user().seed().expect("has one");
        let last = if damaged.ends_with('A') { 'B' } else { 'A' };
        damaged.replace_range(57.., &last.to_string());
        let error = Secret::of(&damaged).expect_err("damaged");
        assert!(error.contains("malformed") && !error.contains(&damaged), "{error}");
    }
}
