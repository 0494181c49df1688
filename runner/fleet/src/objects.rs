//! Files of jobs, tasks and results. A name has one content for ever, and what arrives is checked against its digest.

use std::io;
use std::sync::Arc;

use async_nats::jetstream::object_store::{InfoErrorKind, ObjectStore};
use dc0_core::durable;
use dc0_process::fault::chain;
use tokio::io::AsyncReadExt as _;

use crate::bucket::Bucket;
use crate::error::{BrokerError, ObjectError};
use crate::link::{Cause, Link, stream_if_any};
use crate::names::BUCKET;

async fn bucket(jetstream: &async_nats::jetstream::Context) -> Result<ObjectStore, Cause> {
    jetstream.get_object_store(BUCKET).await.map_err(Cause::of)
}

/// Stores an object, unless one of this name and size is there. It becomes visible as a whole.
pub(crate) fn put(link: &Link, name: String, content: Vec<u8>) -> Result<(), BrokerError> {
    let jetstream = link.jetstream().clone();
    link.wait_for_transfer("store a file", async move {
        let bucket = bucket(&jetstream).await?;
        if bucket.info(&name).await.is_ok_and(|info| !info.deleted && info.size == content.len()) {
            return Ok(());
        }
        let stored = bucket.put(name.as_str(), &mut content.as_slice()).await;
        stored.map(|_| ()).map_err(Cause::of)
    })
}

/// Whether an object is there. A broker that does not answer is an error, not an absence.
pub(crate) fn is_there(link: &Link, name: String) -> Result<bool, BrokerError> {
    let jetstream = link.jetstream().clone();
    link.wait("find a file", async move {
        if stream_if_any(&jetstream, &format!("OBJ_{BUCKET}")).await?.is_none() {
            return Ok(false);
        }
        match bucket(&jetstream).await?.info(&name).await {
            Ok(info) => Ok(!info.deleted),
            Err(error) if error.kind() == InfoErrorKind::NotFound => Ok(false),
            Err(error) => Err(Cause::of(error)),
        }
    })
}

/// Deletes an object; one that is not there is no error.
pub(crate) fn delete(link: &Link, name: String) -> Result<(), BrokerError> {
    let jetstream = link.jetstream().clone();
    link.wait("delete a file", async move {
        let bucket = bucket(&jetstream).await?;
        if bucket.info(&name).await.is_ok_and(|info| !info.deleted) {
            bucket.delete(&name).await.map_err(Cause::of)?;
        }
        Ok::<_, Cause>(())
    })
}

/// Fetches an object of this digest, which has at most `most` bytes.
pub(crate) fn get(link: &Link, name: String, blake3: &str, most: u64) -> Result<Vec<u8>, ObjectError> {
    let jetstream = link.jetstream().clone();
    let fetched = link.wait_for_transfer("hand out a file", async move {
        let bucket = bucket(&jetstream).await?;
        let mut object = match bucket.get(&name).await {
            Ok(object) => object,
            Err(error) => return Ok(Err(ObjectError::Missing(chain(&error)))),
        };
        let size = object.info().size as u64;
        if size > most {
            return Ok(Err(ObjectError::too_large(size, most)));
        }
        let mut content = Vec::with_capacity(size as usize);
        let read = (&mut object).take(most + 1).read_to_end(&mut content).await;
        // The object store's own digest is checked while reading.
        Ok::<_, Cause>(
            read.map(|_| content).map_err(|error: io::Error| ObjectError::Wrong(error.to_string())),
        )
    })?;
    verified(fetched, blake3)
}

/// Content of the right digest.
fn verified(fetched: Result<Vec<u8>, ObjectError>, blake3: &str) -> Result<Vec<u8>, ObjectError> {
    let content = fetched?;
    let found = durable::digest(&content);
    if found == blake3 {
        return Ok(content);
    }
    Err(ObjectError::Wrong(format!("its blake3 digest is {found}, expected {blake3}")))
}

/// Where the files of jobs, tasks and results are: in the broker's object store, or beside it.
#[derive(Debug, Default, Clone)]
pub(crate) struct Artefacts(Option<Arc<Bucket>>);

impl Artefacts {
    /// The place that the user names; that of the broker if there is none.
    pub(crate) fn open(location: Option<&str>) -> Result<Self, BrokerError> {
        Ok(Self(location.map(Bucket::open).transpose()?.map(Arc::new)))
    }

    /// The place beside the broker, without credentials.
    pub(crate) fn shown(&self) -> Option<String> {
        self.0.as_ref().map(|bucket| bucket.shown().to_owned())
    }

    /// Stores a file, unless one of this name and size is there; or in any case, for one that is damaged.
    pub(crate) fn put(
        &self,
        link: &Link,
        name: String,
        content: Vec<u8>,
        replaces: bool,
    ) -> Result<(), BrokerError> {
        let Some(bucket) = self.0.clone() else {
            if replaces {
                delete(link, name.clone())?;
            }
            return put(link, name, content);
        };
        let stored = link.wait_for_transfer("store a file", async move {
            bucket.put(&name, content, replaces).await.map_err(|cause| Cause::of_text(&cause))
        });
        stored.map_err(|error| self.beside(error))
    }

    /// Fetches a file of this digest, which has at most `most` bytes.
    pub(crate) fn get(
        &self,
        link: &Link,
        name: String,
        blake3: &str,
        most: u64,
    ) -> Result<Vec<u8>, ObjectError> {
        let Some(bucket) = self.0.clone() else { return get(link, name, blake3, most) };
        let fetched = link.wait_for_transfer("hand out a file", async move {
            bucket.get(&name, most).await.map_err(|cause| Cause::of_text(&cause))
        });
        verified(fetched.map_err(|error| self.beside(error))?, blake3)
    }

    /// Deletes a file; one that is not there is no error.
    pub(crate) fn delete(&self, link: &Link, name: String) -> Result<(), BrokerError> {
        let Some(bucket) = self.0.clone() else { return delete(link, name) };
        let deleted = link.wait("delete a file", async move {
            bucket.delete(&name).await.map_err(|cause| Cause::of_text(&cause))
        });
        deleted.map_err(|error| self.beside(error))
    }

    /// The error of a request that did not go to the broker.
    fn beside(&self, error: BrokerError) -> BrokerError {
        match (error, self.shown()) {
            (BrokerError::Request { what, cause, .. }, Some(url)) => BrokerError::Store { url, what, cause },
            (error, _) => error,
        }
    }
}
