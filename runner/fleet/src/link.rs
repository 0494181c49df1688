//! The connection to the broker. It lives on a thread of its own, so that it stays up while this process computes.

use std::future::Future;
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use async_nats::Client;
use async_nats::jetstream::{self, Context};
use dc0_process::fault::chain;
use thiserror::Error;
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;
use tokio::task::AbortHandle;
use tokio::time::timeout;

use crate::address::Address;
use crate::error::BrokerError;

/// The longest that one request to the broker may take; what needs it tries again. Chosen: above the pauses of a busy disk.
const REQUEST_LIMIT: Duration = Duration::from_secs(10);

/// The longest that a file may travel. Chosen: 8 GB at 100 Mbit/s.
const TRANSFER_LIMIT: Duration = Duration::from_mins(15);

/// The longest pause between two attempts to connect again.
const MOST_DELAY: Duration = Duration::from_secs(2);

/// An error with its causes as text, to cross threads.
#[derive(Debug, Error)]
#[error("{0}")]
pub(crate) struct Cause(String);

impl Cause {
    /// An error with its causes.
    pub(crate) fn of(error: impl std::error::Error + 'static) -> Self {
        Self(chain(&error))
    }

    /// An error that is only text.
    pub(crate) fn of_text(error: &impl ToString) -> Self {
        Self(error.to_string())
    }
}

/// A connection to the broker.
#[derive(Debug)]
pub(crate) struct Link {
    address: Address,
    client: Client,
    jetstream: Context,
    handle: Handle,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Link {
    /// Connects; `name` is shown by the broker's own tools.
    pub(crate) fn connect(address: Address, name: &str) -> Result<Self, BrokerError> {
        if address.is_in_the_clear() {
            log::warn!("{address} is reached without TLS: its credentials can be read on the network");
        }
        let runtime = Builder::new_current_thread().enable_all().build().map_err(BrokerError::Thread)?;
        let handle = runtime.handle().clone();
        let (stop, stopped) = oneshot::channel::<()>();
        let run = move || {
            // An error means that the connection was dropped, which ends the thread too.
            let _ = runtime.block_on(stopped);
        };
        let thread = thread::Builder::new().name("broker".to_owned()).spawn(run);
        let thread = thread.map_err(BrokerError::Thread)?;
        let options = address
            .options()?
            .name(name)
            .reconnect_delay_callback(|attempts| {
                (Duration::from_millis(100) * attempts.min(100) as u32).min(MOST_DELAY)
            })
            .event_callback(|event| async move { log::info!("broker: {event}") });
        let server = address.to_string();
        let connecting = async move { timeout(REQUEST_LIMIT, options.connect(server)).await };
        let cause = |cause: String| BrokerError::Connect { address: address.to_string(), cause };
        let client = match wait_on(&handle, connecting) {
            Some(Ok(Ok(client))) => client,
            Some(Ok(Err(error))) => return Err(cause(chain(&error))),
            Some(Err(_)) => return Err(cause(format!("no answer within {} s", REQUEST_LIMIT.as_secs()))),
            None => return Err(cause("the connection's thread ended".to_owned())),
        };
        // It starts a task of its own.
        let jetstream = {
            let _entered = handle.enter();
            jetstream::new(client.clone())
        };
        Ok(Self { address, client, jetstream, handle, stop: Some(stop), thread: Some(thread) })
    }

    /// The address, without credentials.
    pub(crate) fn address(&self) -> String {
        self.address.to_string()
    }

    /// The connection.
    pub(crate) fn client(&self) -> &Client {
        &self.client
    }

    /// The broker's streams.
    pub(crate) fn jetstream(&self) -> &Context {
        &self.jetstream
    }

    /// Whether the connection is up.
    pub(crate) fn is_connected(&self) -> bool {
        self.client.connection_state() == async_nats::connection::State::Connected
    }

    /// Does something in the background until it ends or is aborted.
    pub(crate) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> AbortHandle {
        self.handle.spawn(task).abort_handle()
    }

    /// Waits for a request; `what` completes "the broker did not …".
    pub(crate) fn wait<T: Send + 'static, E: std::error::Error + Send + 'static>(
        &self,
        what: &'static str,
        request: impl Future<Output = Result<T, E>> + Send + 'static,
    ) -> Result<T, BrokerError> {
        self.wait_up_to(REQUEST_LIMIT, what, request)
    }

    /// As [`wait`](Self::wait), for the content of a file.
    pub(crate) fn wait_for_transfer<T: Send + 'static, E: std::error::Error + Send + 'static>(
        &self,
        what: &'static str,
        request: impl Future<Output = Result<T, E>> + Send + 'static,
    ) -> Result<T, BrokerError> {
        self.wait_up_to(TRANSFER_LIMIT, what, request)
    }

    fn wait_up_to<T: Send + 'static, E: std::error::Error + Send + 'static>(
        &self,
        limit: Duration,
        what: &'static str,
        request: impl Future<Output = Result<T, E>> + Send + 'static,
    ) -> Result<T, BrokerError> {
        let failed = |cause| BrokerError::Request { address: self.address(), what, cause };
        match wait_on(&self.handle, async move { timeout(limit, request).await }) {
            Some(Ok(Ok(answer))) => Ok(answer),
            Some(Ok(Err(error))) => Err(failed(chain(&error))),
            Some(Err(_)) => Err(failed(format!("no answer within {} s", limit.as_secs()))),
            None => Err(failed("the connection's thread ended".to_owned())),
        }
    }
}

/// Waits for a future that another thread drives; `None` if that thread has ended.
fn wait_on<T: Send + 'static>(
    handle: &Handle,
    future: impl Future<Output = T> + Send + 'static,
) -> Option<T> {
    let (sender, receiver) = mpsc::channel();
    handle.spawn(async move {
        // Nobody waits any more only if the waiting thread has ended.
        let _ = sender.send(future.await);
    });
    receiver.recv().ok()
}

impl Drop for Link {
    fn drop(&mut self) {
        let client = self.client.clone();
        // What was published last has left before the connection ends; without one there is nobody to send it to.
        let _ = wait_on(&self.handle, async move { timeout(Duration::from_secs(1), client.flush()).await });
        if let Some(stop) = self.stop.take() {
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            log::warn!("the thread of the broker's connection panicked");
        }
    }
}
