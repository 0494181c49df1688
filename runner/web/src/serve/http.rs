//! HTTP over TCP: hyper reads requests and writes answers, with limits on number, size and time. A connection carries one request.

use std::future::poll_fn;
use std::io;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use http_body_util::channel::Channel;
use http_body_util::{Either, Full};
use hyper::Response;
use hyper::body::{Bytes, Incoming};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use tokio::io::AsyncWrite;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::task::JoinError;
use tokio::time::{sleep, timeout};

use super::Server;
use super::reply::Reply;
use super::request::Request;
use super::routes::{self, Answer};
use super::stage::{Progress, Stage};

/// Connections at once; others wait until one ends. Chosen.
const MAX_CONNECTIONS: usize = 128;

/// Bytes of a request before its body. Chosen: browsers send about one kilobyte.
const MAX_HEAD: usize = 16 * 1024;

/// Headers of a request.
const MAX_HEADERS: usize = 64;

/// Time limit for a request to arrive.
const RECEIVE_LIMIT: Duration = Duration::from_secs(5);

/// While fewer connections than this are free, requests must arrive sooner: idle connections need no token, and must not keep out
/// clients that have one. Chosen.
const FEW: usize = 32;
const SHORT_RECEIVE_LIMIT: Duration = Duration::from_secs(1);

/// Time limit for the client to receive a reply, a report of some MiB over a slow line included.
const SEND_LIMIT: Duration = Duration::from_secs(30);

/// The reply to a client that is too slow. hyper itself rejects heads that are too long or not HTTP; its own timeout would close the
/// connection without a reply.
const TOO_SLOW: &[u8] = b"HTTP/1.1 408 Request Timeout\r\nConnection: close\r\nContent-Length: 0\r\n\r\n";

/// Accepts connections until the runtime ends.
pub(super) async fn listen(listener: TcpListener, server: Arc<Server>) {
    let connections = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    loop {
        let permit = Arc::clone(&connections).acquire_owned().await.expect("the semaphore is never closed");
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(cause) => {
                log::debug!("a connection was not accepted: {cause}");
                // There may be too many open files; some will be closed soon.
                sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let limit = if connections.available_permits() < FEW { SHORT_RECEIVE_LIMIT } else { RECEIVE_LIMIT };
        let server = Arc::clone(&server);
        tokio::spawn(async move {
            if let Err(cause) = handle(stream, limit, server).await {
                log::debug!("a reply was not sent: {cause}");
            }
            drop(permit);
        });
    }
}

async fn handle(stream: TcpStream, limit: Duration, server: Arc<Server>) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let progress = Progress::new(Stage::receiving(limit));
    let service = service_fn(|request| Box::pin(respond(Arc::clone(&server), request, progress.clone())));
    let mut connection = http1::Builder::new()
        .keep_alive(false)
        // A client may stop sending after its request; whether it is gone shows at the next write.
        .half_close(true)
        .max_header_size(MAX_HEAD)
        .max_headers(MAX_HEADERS)
        .title_case_headers(true)
        .auto_date_header(false)
        .serve_connection(TokioIo::new(stream), service);
    let mut late = pin!(progress.until_late());
    let ended = poll_fn(|context| match connection.poll_without_shutdown(context) {
        Poll::Ready(ended) => Poll::Ready(ended.map_err(io::Error::other)),
        Poll::Pending => late.as_mut().poll(context).map(|()| Err(io::ErrorKind::TimedOut.into())),
    })
    .await;
    let stream = connection.into_parts().io.into_inner();
    let is_late = ended.as_ref().is_err_and(|cause| cause.kind() == io::ErrorKind::TimedOut);
    if is_late && matches!(progress.stage(), Stage::Receiving(_)) {
        stream.writable().await?;
        stream.try_write(TOO_SLOW)?;
    }
    close(stream).await?;
    ended
}

async fn respond(
    server: Arc<Server>,
    request: hyper::Request<Incoming>,
    progress: Progress,
) -> Result<Response<Either<Full<Bytes>, Channel<Bytes>>>, JoinError> {
    let request = Request::read(request).await;
    progress.set(Stage::Answering);
    let answer = match request {
        Ok(request) => routes::answer(&server, request).await?,
        Err(refusal) => Answer::Reply(Reply::from(&refusal)),
    };
    Ok(match answer {
        Answer::Reply(reply) => {
            progress.set(Stage::sending(SEND_LIMIT));
            reply.into_response().map(Either::Left)
        }
        Answer::Download(download) => {
            let head = download.head();
            let (parts, body) = Channel::new(1);
            tokio::spawn(download.send(server, parts, progress));
            head.into_response().map(|_| Either::Right(body))
        }
        Answer::Events(stream) => {
            let (events, body) = Channel::new(1);
            tokio::spawn(stream.send(server, events, progress));
            Reply::events().into_response().map(|_| Either::Right(body))
        }
    })
}

/// Closes a connection. Unread bytes of the request would reset it before the reply arrives, so they are read here.
async fn close(mut stream: TcpStream) -> io::Result<()> {
    poll_fn(|context| Pin::new(&mut stream).poll_shutdown(context)).await?;
    let rest = async {
        let (mut buffer, mut left) = (vec![0; 1 << 14], 1_usize << 20);
        loop {
            stream.readable().await?;
            match stream.try_read(&mut buffer) {
                Ok(0) => return Ok(()),
                Ok(read) if read >= left => return Ok(()),
                Ok(read) => left -= read,
                Err(cause) if cause.kind() == io::ErrorKind::WouldBlock => {}
                Err(cause) => return Err(cause),
            }
        }
    };
    timeout(Duration::from_millis(500), rest).await.unwrap_or(Ok(()))
}
