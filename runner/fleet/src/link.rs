//! The connection to the broker. It lives on a thread of its own, so that it stays up while this process computes.

use std::future::{Future, ready};
use std::sync::{Arc, Mutex, mpsc};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use async_nats::jetstream::context::GetStreamErrorKind;
use async_nats::jetstream::stream::Stream;
use async_nats::jetstream::{self, Context, ErrorCode};
use async_nats::{Client, ConnectError, ConnectErrorKind, ConnectOptions, Event};
use dc0_core::poison::IgnorePoison as _;
use dc0_process::fault::chain;
use thiserror::Error;
use tokio::runtime::{Builder, Handle};
use tokio::sync::oneshot;
use tokio::task::AbortHandle;
use tokio::time::{sleep, timeout};

use crate::address::Address;
use crate::error::BrokerError;

/// The oldest broker that may be used: earlier ones of 2.10 can lose a whole stream in a crash.
const OLDEST: [u64; 3] = [2, 10, 23];

/// The longest that one request to the broker may take; what needs it tries again. Chosen: above the pauses of a busy disk.
const REQUEST_LIMIT: Duration = Duration::from_secs(10);

/// The longest that a file may travel. Chosen: 8 GB at 100 Mbit/s.
const TRANSFER_LIMIT: Duration = Duration::from_mins(15);

/// The pauses before further attempts at the first connection, which may meet a broker that starts just now, or a network that breaks:
/// five seconds in all. Chosen.
const FIRST_PAUSES_MS: [u64; 5] = [200, 400, 800, 1600, 2000];

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

/// The latest trouble with the connection.
#[derive(Debug, Default, Clone)]
struct Trouble(Arc<Mutex<Option<String>>>);

impl Trouble {
    /// Notes what has happened to the connection, and warns of what is new.
    fn note(&self, event: &Event, broker: &str) {
        log::info!("broker: {event}");
        let text = match event {
            Event::ServerError(error) => error.to_string(),
            Event::ClientError(error) => error.to_string(),
            Event::Connected => {
                *self.0.lock().ignore_poison() = None;
                return;
            }
            _ => return,
        };
        let text = text.trim_start_matches("nats: ").to_owned();
        let mut latest = self.0.lock().ignore_poison();
        if latest.as_ref() != Some(&text) {
            log::warn!("the connection to the broker at {broker}: {text}");
            *latest = Some(text);
        }
    }

    /// What was noted last.
    fn latest(&self) -> Option<String> {
        self.0.lock().ignore_poison().clone()
    }
}

/// A connection to the broker.
#[derive(Debug)]
pub(crate) struct Link {
    address: Address,
    client: Client,
    jetstream: Context,
    trouble: Trouble,
    handle: Handle,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Link {
    /// Connects to a broker that is new enough and keeps streams; `name` is shown by the broker's own tools.
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
        let trouble = Trouble::default();
        let (noted, broker) = (trouble.clone(), address.to_string());
        let options = address
            .options()?
            .name(name)
            .reconnect_delay_callback(|attempts| {
                (Duration::from_millis(100) * attempts.min(100) as u32).min(MOST_DELAY)
            })
            .event_callback(move |event| {
                noted.note(&event, &broker);
                ready(())
            });
        let server = address.to_string();
        let connecting = async move { timeout(REQUEST_LIMIT, connected(options, server)).await };
        let cause = |cause: String| BrokerError::Connect { address: address.to_string(), cause };
        let client = match wait_on(&handle, connecting) {
            Some(Ok(Ok(client))) => client,
            Some(Ok(Err(error))) => return Err(cause(advised(&address, &error))),
            Some(Err(_)) => return Err(cause(format!("no answer within {} s", REQUEST_LIMIT.as_secs()))),
            None => return Err(cause("the connection's thread ended".to_owned())),
        };
        let info = client.server_info();
        qualified(&info.version, info.jetstream).map_err(|cause| BrokerError::Request {
            address: address.to_string(),
            what: "qualify",
            cause,
        })?;
        // It starts a task of its own.
        let jetstream = {
            let _entered = handle.enter();
            jetstream::new(client.clone())
        };
        Ok(Self { address, client, jetstream, trouble, handle, stop: Some(stop), thread: Some(thread) })
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

    /// The cause of a failure, with why the connection is down, if it is.
    fn explained(&self, cause: String) -> String {
        match self.trouble.latest().filter(|_| !self.is_connected()) {
            Some(trouble) => format!("{cause}; the connection: {trouble}"),
            None => cause,
        }
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
        let failed =
            |cause| BrokerError::Request { address: self.address(), what, cause: self.explained(cause) };
        match wait_on(&self.handle, async move { timeout(limit, request).await }) {
            Some(Ok(Ok(answer))) => Ok(answer),
            Some(Ok(Err(error))) => Err(failed(chain(&error))),
            Some(Err(_)) => Err(failed(format!("no answer within {} s", limit.as_secs()))),
            None => Err(failed("the connection's thread ended".to_owned())),
        }
    }
}

/// Why a broker of this version, with or without `JetStream`, may not be used.
fn qualified(version: &str, has_jetstream: bool) -> Result<(), String> {
    let number = |part: &str| part.split(|letter: char| !letter.is_ascii_digit()).next()?.parse::<u64>().ok();
    let numbers: Vec<u64> = version.split('.').map_while(number).collect();
    if numbers.as_slice() < OLDEST.as_slice() {
        let [major, minor, patch] = OLDEST;
        return Err(format!(
            "it is nats-server {version}, expected {major}.{minor}.{patch} or newer; older ones can lose streams"
        ));
    }
    if !has_jetstream {
        return Err("it was started without JetStream; start `nats-server -js`".to_owned());
    }
    Ok(())
}

/// The first connection. A broker that refuses is not asked again.
async fn connected(options: ConnectOptions, server: String) -> Result<Client, ConnectError> {
    for pause in FIRST_PAUSES_MS.map(Duration::from_millis) {
        match options.clone().connect(server.as_str()).await {
            Err(error) if error.kind() == ConnectErrorKind::Io => sleep(pause).await,
            outcome => return outcome,
        }
    }
    options.connect(server.as_str()).await
}

/// Why a connection failed, and what to do.
fn advised(address: &Address, error: &ConnectError) -> String {
    let cause = chain(error);
    let says = |words: &str| cause.contains(words);
    // A broker that does not accept a certificate may end the connection before its reason is read.
    let was_cut = says("reset by peer") || says("roken pipe") || says("close_notify");
    let advice = if error.kind() == ConnectErrorKind::AuthorizationViolation {
        match address.proof() {
            None => "it demands credentials; give them with --credentials FILE".to_owned(),
            Some(kind) => format!("it does not accept this {kind}"),
        }
    } else if says("UnknownIssuer") {
        "its certificate is of an authority that is not known here; name that with --ca FILE".to_owned()
    } else if says("not valid for name") {
        "its certificate is for another name or address; use one of those, or have a certificate made for this one".to_owned()
    } else if address.has_certificate() && (says("fatal alert") || was_cut) {
        "it does not accept this certificate".to_owned()
    } else if address.is_encrypted() && (says("CertificateRequired") || was_cut) {
        "it asks for a certificate; give --certificate FILE and --certificate-key FILE".to_owned()
    } else if address.is_encrypted() && says("corrupt message") {
        "it does not offer TLS, without which nothing is sent".to_owned()
    } else {
        return cause;
    };
    format!("{cause}\n  {advice}")
}

/// A stream; `None` if nobody has made it yet. A broker that does not answer is an error, not an absence.
pub(crate) async fn stream_if_any(jetstream: &Context, name: &str) -> Result<Option<Stream>, Cause> {
    match jetstream.get_stream(name).await {
        Ok(stream) => Ok(Some(stream)),
        Err(error) => match error.kind() {
            GetStreamErrorKind::JetStream(cause) if cause.error_code() == ErrorCode::STREAM_NOT_FOUND => {
                Ok(None)
            }
            _ => Err(Cause::of(error)),
        },
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

#[cfg(test)]
mod tests {
    use super::qualified;

    #[test]
    fn a_broker_must_be_new_enough_and_keep_streams() {
        for version in ["2.10.23", "2.11.0-preview.1", "2.15.1", "3.0.0"] {
            assert_eq!(qualified(version, true), Ok(()), "{version}");
        }
        for version in ["2.9.10", "2.10.22", "2.10", "", "x"] {
            let cause = qualified(version, true).expect_err(version);
            assert!(cause.contains(&format!("nats-server {version}, expected 2.10.23 or newer")), "{cause}");
        }
        assert!(qualified("2.15.1", false).expect_err("no streams").contains("without JetStream"));
    }
}
