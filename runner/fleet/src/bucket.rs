//! Files in a folder or a bucket beside the broker: local, S3 and what is compatible with it, Google's, Azure's.
//!
//! A file is visible as a whole or not at all. Requests that fail are repeated with growing pauses; credentials come from the variables
//! that each cloud's own tools read, and are never shown.

use std::fs;
use std::path::Path as FilePath;
use std::time::Duration;

use object_store::aws::AmazonS3Builder;
use object_store::azure::MicrosoftAzureBuilder;
use object_store::gcp::GoogleCloudStorageBuilder;
use object_store::local::LocalFileSystem;
use object_store::path::Path;
use object_store::{
    BackoffConfig, Error, ObjectStore, ObjectStoreExt as _, ObjectStoreScheme, PutMode, PutPayload,
    RetryConfig, WriteMultipart,
};
// Its feature decides with which TLS object_store's requests are made.
use reqwest as _;
use rustls::crypto::ring::default_provider;
use url::Url;

use crate::address::redacted;
use crate::error::{BrokerError, ObjectError};

/// Repetitions of a request, and how long they may take. What needs the file tries again after that.
const RETRIES: RetryConfig = RetryConfig {
    backoff: BackoffConfig {
        init_backoff: Duration::from_millis(100),
        max_backoff: Duration::from_secs(10),
        base: 2.0,
    },
    max_retries: 6,
    retry_timeout: Duration::from_secs(30),
};

/// Larger files are sent in several parts.
const ONE_PART: usize = 64 << 20;

/// Bytes of a part. S3 takes up to 10,000 parts.
const PART: usize = 16 << 20;

/// A place for files.
#[derive(Debug)]
pub(crate) struct Bucket {
    store: Box<dyn ObjectStore>,
    /// The folder in it.
    folder: Path,
    /// Without credentials.
    shown: String,
}

impl Bucket {
    /// A folder, or the URL of a bucket.
    pub(crate) fn open(text: &str) -> Result<Self, BrokerError> {
        let shown = without_query(&redacted(text));
        let wrong = |problem: String| BrokerError::Artefacts { url: shown.clone(), problem };
        if !text.contains("://") {
            // A letter alone is a drive.
            let is_url = |(scheme, _): (&str, &str)| scheme.len() > 1 && !scheme.contains('/');
            if text.split_once(":/").is_some_and(is_url) {
                return Err(wrong("expected two slashes after the colon".to_owned()));
            }
            return Self::local(FilePath::new(text), &shown);
        }
        let url = Url::parse(text).map_err(|cause| wrong(cause.to_string()))?;
        // Libraries repeat the URL in what they say.
        let refused = |cause: &dyn std::fmt::Display| {
            let said = cause.to_string().replace(text, &shown).replace(url.as_str(), &shown);
            wrong(without_query(&said))
        };
        let (scheme, folder) = ObjectStoreScheme::parse(&url).map_err(|cause| refused(&cause))?;
        let failed = |cause: Error| refused(&cause);
        // Another part of the process may have chosen it already.
        let _ = default_provider().install_default();
        let store: Box<dyn ObjectStore> = match scheme {
            ObjectStoreScheme::Local => {
                let folder = url
                    .to_file_path()
                    .map_err(|()| wrong("it names no folder of this machine".to_owned()))?;
                return Self::local(&folder, &shown);
            }
            ObjectStoreScheme::AmazonS3 => Box::new(
                AmazonS3Builder::from_env().with_url(text).with_retry(RETRIES).build().map_err(failed)?,
            ),
            ObjectStoreScheme::GoogleCloudStorage => Box::new(
                GoogleCloudStorageBuilder::from_env()
                    .with_url(text)
                    .with_retry(RETRIES)
                    .build()
                    .map_err(failed)?,
            ),
            ObjectStoreScheme::MicrosoftAzure => Box::new(
                MicrosoftAzureBuilder::from_env()
                    .with_url(text)
                    .with_retry(RETRIES)
                    .build()
                    .map_err(failed)?,
            ),
            _ => return Err(wrong(format!("the scheme {} is not known", url.scheme()))),
        };
        Ok(Self { store, folder, shown })
    }

    fn local(folder: &FilePath, shown: &str) -> Result<Self, BrokerError> {
        let wrong = |problem: String| BrokerError::Artefacts { url: shown.to_owned(), problem };
        fs::create_dir_all(folder).map_err(|cause| wrong(cause.to_string()))?;
        let store = LocalFileSystem::new_with_prefix(folder).map_err(|cause| wrong(cause.to_string()))?;
        Ok(Self { store: Box::new(store.with_fsync(true)), folder: Path::default(), shown: shown.to_owned() })
    }

    /// The place, without credentials.
    pub(crate) fn shown(&self) -> &str {
        &self.shown
    }

    fn path(&self, name: &str) -> Path {
        name.split('/').fold(self.folder.clone(), Path::join)
    }

    /// Stores a file, unless one of this name and size is there; or in any case, for one that is damaged.
    pub(crate) async fn put(&self, name: &str, content: Vec<u8>, replaces: bool) -> Result<(), String> {
        self.try_put(&self.path(name), content, replaces).await.map_err(|error| cause(&error))
    }

    async fn try_put(&self, path: &Path, content: Vec<u8>, replaces: bool) -> Result<(), Error> {
        let size = content.len() as u64;
        let is_there = !replaces && self.store.head(path).await.is_ok_and(|found| found.size == size);
        if is_there {
            return Ok(());
        }
        let payload = PutPayload::from(content);
        if payload.content_length() > ONE_PART {
            let upload = self.store.put_multipart(path).await?;
            let mut upload = WriteMultipart::new_with_chunk_size(upload, PART);
            payload.into_iter().for_each(|part| upload.put(part));
            upload.finish().await?;
            return Ok(());
        }
        if !replaces {
            match self.store.put_opts(path, payload.clone(), PutMode::Create.into()).await {
                // Another process was first, with the same content; or an earlier one was cut off.
                Err(Error::AlreadyExists { .. }) if self.store.head(path).await?.size == size => {
                    return Ok(());
                }
                // It is replaced, as some servers can do nothing else. The content is the same.
                Err(Error::AlreadyExists { .. } | Error::NotImplemented { .. }) => {}
                created => return created.map(|_| ()),
            }
        }
        self.store.put(path, payload).await?;
        Ok(())
    }

    /// Fetches a file of at most `most` bytes. The inner error says why it cannot be had.
    pub(crate) async fn get(&self, name: &str, most: u64) -> Result<Result<Vec<u8>, ObjectError>, String> {
        let found = match self.store.get(&self.path(name)).await {
            Err(error @ Error::NotFound { .. }) => return Ok(Err(ObjectError::Missing(cause(&error)))),
            found => found.map_err(|error| cause(&error))?,
        };
        let size = found.meta.size;
        if size > most {
            return Ok(Err(ObjectError::too_large(size, most)));
        }
        Ok(Ok(found.bytes().await.map_err(|error| cause(&error))?.to_vec()))
    }

    /// Deletes a file; one that is not there is no error.
    pub(crate) async fn delete(&self, name: &str) -> Result<(), String> {
        match self.store.delete(&self.path(name)).await {
            Err(Error::NotFound { .. }) => Ok(()),
            deleted => deleted.map_err(|error| cause(&error)),
        }
    }
}

fn cause(error: &Error) -> String {
    without_query(&dc0_process::fault::chain(error))
}

/// A text whose URLs have no queries: those can be signatures.
fn without_query(text: &str) -> String {
    let word = |word: &str| word.split('?').next().unwrap_or_default().to_owned();
    text.split(' ').map(word).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use std::fs;

    use tokio::runtime::Builder;

    use super::{Bucket, without_query};

    #[test]
    fn files_are_stored_once_and_damaged_ones_replaced() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let root = folder.path().join("deep");
        let bucket = Bucket::open(&root.display().to_string()).expect("a folder");
        let runtime = Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            bucket.put("a/b", b"content".to_vec(), false).await.expect("stores");
            bucket.put("a/b", b"CONTENT".to_vec(), false).await.expect("is there");
            assert_eq!(bucket.get("a/b", 7).await.expect("answers").expect("whole"), b"content");
            let large = bucket.get("a/b", 6).await.expect("answers").expect_err("large");
            assert!(large.to_string().contains("7 bytes"), "{large}");
            fs::write(root.join("a/b"), b"cut").expect("writes");
            bucket.put("a/b", b"content".to_vec(), false).await.expect("replaces what has another size");
            assert_eq!(bucket.get("a/b", 7).await.expect("answers").expect("whole"), b"content");
            bucket.put("a/b", b"CONTENT".to_vec(), true).await.expect("replaces");
            assert_eq!(bucket.get("a/b", 7).await.expect("answers").expect("whole"), b"CONTENT");
            let large = vec![7; super::ONE_PART + 1];
            bucket.put("large", large.clone(), false).await.expect("stores");
            assert!(bucket.get("large", u64::MAX).await.expect("answers").expect("whole") == large);
            bucket.delete("a/b").await.expect("deletes");
            bucket.delete("a/b").await.expect("is gone");
            assert!(bucket.get("a/b", 7).await.expect("answers").is_err());
        });
        // Nothing partial is left.
        assert_eq!(fs::read_dir(&root).expect("lists").count(), 2);
    }

    #[test]
    fn other_addresses_are_refused_and_secrets_not_shown() {
        for text in [
            "http://lab/files",
            "ftp://me:s3cret@lab/files",
            "memory:///",
            "s3:/lab",
            "s3://",
            "s3://me:s3cret@",
            "az://me:s3cret@lab:7/x",
        ] {
            let error = Bucket::open(text).expect_err(text).to_string();
            assert!(error.contains("is no place for files") && !error.contains("s3cret"), "{error}");
        }
        let shown = without_query("PUT https://lab.blob.core.windows.net/a?sig=s3cret failed");
        assert_eq!(shown, "PUT https://lab.blob.core.windows.net/a failed");
    }
}
