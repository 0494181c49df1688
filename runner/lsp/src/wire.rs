//! Messages on the wire. A malformed message is reported and skipped; the next one is read.

use std::io::{self, BufRead, Read, Write};
use std::sync::{Arc, Mutex};

use dc0_core::poison::IgnorePoison as _;

use lsp_server::{Message, Notification};
use lsp_types::notification::{LogMessage, Notification as _};
use lsp_types::{LogMessageParams, MessageType};

/// The longest message that is accepted; no editor sends one as long.
const MOST_BYTES: usize = 64 << 20;
/// The longest line of a message's header, in bytes.
const MOST_HEADER_BYTES: u64 = 4096;

/// What was read.
#[derive(Debug)]
pub(super) enum Incoming {
    /// A message.
    Message(Box<Message>),
    /// Not a message, and why.
    Malformed(String),
    /// The editor has closed its end.
    End,
}

/// Reads the next message.
pub(super) fn read(input: &mut dyn BufRead) -> io::Result<Incoming> {
    let length = match read_header(input)? {
        Header::Length(length) => length,
        Header::Malformed(why) => return Ok(Incoming::Malformed(why)),
        Header::End => return Ok(Incoming::End),
    };
    let mut body = Vec::new();
    if input.take(length as u64).read_to_end(&mut body)? < length {
        return Ok(Incoming::End);
    }
    Ok(match serde_json::from_slice(&body) {
        Ok(message) => Incoming::Message(message),
        Err(cause) => {
            Incoming::Malformed(format!("a message of {length} bytes is not a JSON-RPC message: {cause}"))
        }
    })
}

enum Header {
    Length(usize),
    Malformed(String),
    End,
}

/// Reads the header lines, up to an empty line.
fn read_header(input: &mut dyn BufRead) -> io::Result<Header> {
    let (mut length, mut wrong, mut is_begun) = (None, None, false);
    loop {
        let mut line = Vec::new();
        if input.take(MOST_HEADER_BYTES).read_until(b'\n', &mut line)? == 0 {
            let end = || "the input ends within a message's header".to_owned();
            return Ok(if is_begun { Header::Malformed(wrong.unwrap_or_else(end)) } else { Header::End });
        }
        is_begun = true;
        let line = String::from_utf8_lossy(&line);
        let line = line.trim_end();
        if line.is_empty() {
            break;
        }
        match line.split_once(':') {
            Some((name, value)) if name.eq_ignore_ascii_case("content-length") => {
                length = value.trim().parse::<usize>().ok().filter(|length| *length <= MOST_BYTES);
                wrong = length
                    .is_none()
                    .then(|| format!("\"{line}\" is not a length of at most {MOST_BYTES} bytes"));
            }
            Some(_) => {}
            None => {
                let start: String = line.chars().take(80).collect();
                wrong = Some(format!("\"{start}\" is not a line of a message's header"));
            }
        }
    }
    Ok(match (length, wrong) {
        (Some(length), None) => Header::Length(length),
        (_, wrong) => {
            Header::Malformed(wrong.unwrap_or_else(|| "a message's header has no Content-Length".to_owned()))
        }
    })
}

/// Where messages to the editor go, from several threads.
#[derive(Clone)]
pub(super) struct Outbox(Arc<Mutex<Box<dyn Write + Send>>>);

impl Outbox {
    pub(super) fn new(output: Box<dyn Write + Send>) -> Self {
        Self(Arc::new(Mutex::new(output)))
    }

    /// Sends a message.
    pub(super) fn send(&self, message: impl Into<Message>) -> io::Result<()> {
        let mut output = self.0.lock().ignore_poison();
        message.into().write(&mut *output)
    }

    /// Sends a line for the editor's log.
    pub(super) fn log(&self, message: String) -> io::Result<()> {
        let params = LogMessageParams { typ: MessageType::WARNING, message };
        self.send(Notification::new(LogMessage::METHOD.to_owned(), params))
    }
}

#[cfg(test)]
mod tests {
    use super::{Incoming, read};

    /// What is read from some bytes: `message`, or why there is none.
    fn read_all(bytes: &[u8]) -> Vec<String> {
        let mut input = bytes;
        let mut all = Vec::new();
        loop {
            match read(&mut input).expect("no failure") {
                Incoming::Message(_) => all.push("message".to_owned()),
                Incoming::Malformed(why) => all.push(why),
                Incoming::End => return all,
            }
        }
    }

    fn framed(body: &str) -> String {
        format!("Content-Length: {}\r\n\r\n{body}", body.len())
    }

    #[test]
    fn malformed_messages_are_reported_and_the_next_one_is_read() {
        let good = framed(r#"{"jsonrpc":"2.0","method":"exit"}"#);
        let text = format!("{}{good}{}{good}", framed("{nonsense"), framed("[]"));
        let all = read_all(text.as_bytes());
        assert_eq!((all.len(), all[1].as_str(), all[3].as_str()), (4, "message", "message"), "{all:?}");
        assert!(all[0].contains("not a JSON-RPC message"), "{all:?}");
        let all =
            read_all(format!("hello\r\n\r\ncontent-length: 99999999999999999999\r\n\r\n{good}").as_bytes());
        assert!(all[0].contains("hello") && all[1].contains("99999") && all[2] == "message", "{all:?}");
        let all = read_all(format!("Content-Type: x\r\n\r\n{good}").as_bytes());
        assert!(all[0].contains("no Content-Length"), "{all:?}");
    }

    #[test]
    fn input_may_end_within_a_message() {
        for text in ["", "Content-Length: 5\r\n\r\n{"] {
            assert!(read_all(text.as_bytes()).is_empty(), "{text}");
        }
        // What is no message at all is reported.
        for (text, why) in [
            ("hello\nworld\n", "\"world\" is not a line"),
            ("\u{fffd}", "is not a line"),
            ("Content-Length: 5", "ends within"),
        ] {
            let all = read_all(text.as_bytes());
            assert!(all.len() == 1 && all[0].contains(why), "{all:?}");
        }
    }
}
