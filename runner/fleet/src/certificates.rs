//! Files with certificates and keys, which are looked at before a connection needs them, so that errors name the file.

use std::fs;
use std::path::Path;

use rustls::RootCertStore;
use rustls::crypto::ring::default_provider;
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::sign::CertifiedKey;

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
    CertifiedKey::from_der(certificates, pair, &default_provider())
        .map_err(|cause| unusable(what, key, &format!("{cause}; expected that of {}", chain.display())))?;
    Ok(())
}
