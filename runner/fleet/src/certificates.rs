//! Files with certificates and keys, which are looked at before a connection needs them, so that errors name the file.

use std::fs;
use std::path::Path;

use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;
use rustls::{Error, RootCertStore};

use crate::error::BrokerError;

fn unusable(what: &'static str, file: &Path, problem: &impl ToString) -> BrokerError {
    BrokerError::Unusable { what, file: file.to_owned(), problem: problem.to_string() }
}

/// The certificates of a PEM file, at least one.
fn certificates(what: &'static str, file: &Path) -> Result<Vec<CertificateDer<'static>>, BrokerError> {
    let text = fs::read(file).map_err(|cause| unusable(what, file, &cause))?;
    let found: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(&text).collect();
    let found = found.map_err(|cause| unusable(what, file, &cause))?;
    if found.is_empty() {
        return Err(unusable(what, file, &"it has no CERTIFICATE in PEM format"));
    }
    Ok(found)
}

/// An error unless a file has authorities.
pub(crate) fn check_authorities(file: &Path) -> Result<(), BrokerError> {
    let what = "certificate authorities";
    for certificate in certificates(what, file)? {
        RootCertStore::empty().add(certificate).map_err(|cause| unusable(what, file, &cause))?;
    }
    Ok(())
}

/// An error unless a file has a certificate, and another the key of it.
pub(crate) fn check_pair(chain: &Path, key: &Path) -> Result<(), BrokerError> {
    let what = "private key";
    let certificates = certificates("certificate", chain)?;
    let text = fs::read(key).map_err(|cause| unusable(what, key, &cause))?;
    // Only what is wrong is said, and nothing of the key.
    let pair = PrivateKeyDer::from_pem_slice(&text)
        .map_err(|_| unusable(what, key, &"it has no PRIVATE KEY in PEM format without a password"))?;
    match CertifiedKey::from_der(certificates, pair, &default_provider()) {
        Ok(_) => Ok(()),
        Err(cause @ Error::InvalidCertificate(_)) => {
            Err(unusable("certificate", chain, &format!("{cause}; expected X.509 version 3")))
        }
        Err(cause) => Err(unusable(what, key, &format!("{cause}; expected that of {}", chain.display()))),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::check_pair;

    /// What `openssl x509 -req` makes without extensions: a certificate of version 1, and its key.
    const VERSION_1: [&str; 2] = [
        "-----BEGIN CERTIFICATE-----\n\
         MIHeMIGRAhRsh6nhHxyAMKFz5W9fvAsLI80wLDAFBgMrZXAwETEPMA0GA1UEAwwG\n\
         Y2xpZW50MCAXDTI2MTIwMTA0MDMwN1oYDzIxMjYxMTA3MDQwMzA3WjARMQ8wDQYD\n\
         VQQDDAZjbGllbnQwKjAFBgMrZXADIQAnvpb+MpwiyuViywn6X0Jzbnn77aicqf+u\n\
         pgr0ideRCzAFBgMrZXADQQAQ9p3W/R9Yn7/Cnz9mZpcbss4PG3ZseCkltsOQD9Zy\n\
         qOGIiNIRfaNNn2S7Ayzmi9zb9DxrhoZikoqxOp1QHx8C\n\
         -----END CERTIFICATE-----\n",
        "-----BEGIN PRIVATE KEY-----\n\
         MC4CAQAwBQYDK2VwBCIEICXk57l5+pOeX+6O1NR5ztDYZkJl//gWrcXGxGs3m1wF\n\
         -----END PRIVATE KEY-----\n",
    ];

    #[test]
    fn a_certificate_that_cannot_be_read_is_named_instead_of_its_key() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let [chain, key] = ["client.pem", "client.key"].map(|name| folder.path().join(name));
        for (file, content) in [&chain, &key].into_iter().zip(VERSION_1) {
            fs::write(file, content).expect("writes");
        }
        let error = check_pair(&chain, &key).expect_err("version 1").to_string();
        let expected = format!("cannot use the certificate in {}: ", chain.display());
        assert!(error.starts_with(&expected) && error.ends_with("expected X.509 version 3"), "{error}");
    }
}
