//! Messages over stdin and stdout. One that cannot be decoded is answered with an error, and the session goes on (JSON-RPC 2.0, section
//! 5.1).

use std::io::{self, BufRead, Read as _, Write};
use std::thread::{self, JoinHandle};

use lsp_server::{Connection, ErrorCode, Message};
use lsp_types::notification::{Exit, Notification as _};
use serde_json::{Value, json};

/// The most bytes of a message, which a nonsensical length could exceed. Chosen: far above any script.
const MOST_BYTES: u64 = 64 << 20;
/// The most bytes of a line of a header. Chosen.
const MOST_HEADER: u64 = 1024;

/// The threads that read and write.
pub(super) struct Transport {
    reader: JoinHandle<io::Result<()>>,
    writer: JoinHandle<io::Result<()>>,
}

impl Transport {
    /// Starts the threads.
    pub(super) fn start() -> io::Result<(Connection, Self)> {
        let (server, Connection { sender, receiver }) = Connection::memory();
        let named = |name: &str| thread::Builder::new().name(name.to_owned());
        let reader = named("reader").spawn(move || {
            let take = |message| sender.send(message).is_ok();
            read(io::stdin().lock(), take, |refusal| refusal.write(&mut io::stdout().lock()))
        })?;
        let writer = named("writer").spawn(move || {
            receiver.into_iter().try_for_each(|message| message.write(&mut io::stdout().lock()))
        })?;
        Ok((server, Self { reader, writer }))
    }

    /// Waits for the end of the input, and for what is left to be written.
    pub(super) fn join(self) -> io::Result<()> {
        let ended = |thread: JoinHandle<io::Result<()>>| {
            thread.join().unwrap_or_else(|_| {
                Err(io::Error::other("dc0-run itself is wrong; its message is on stderr"))
            })
        };
        ended(self.reader)?;
        ended(self.writer)
    }
}

/// The answer to what is no message.
struct Refusal {
    /// That of the request, if it can be read.
    id: Value,
    code: ErrorCode,
    message: String,
}

impl Refusal {
    fn new(code: ErrorCode, message: String) -> Self {
        Self { id: Value::Null, code, message }
    }

    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        let error = json!({ "code": self.code as i32, "message": self.message });
        let text = json!({ "jsonrpc": "2.0", "id": self.id, "error": error }).to_string();
        write!(out, "Content-Length: {}\r\n\r\n{text}", text.len())?;
        out.flush()
    }
}

/// Reads until `exit`, until the input ends, or until nobody takes messages any more.
fn read(
    mut input: impl BufRead,
    take: impl Fn(Message) -> bool,
    refuse: impl Fn(&Refusal) -> io::Result<()>,
) -> io::Result<()> {
    while let Some(length) = next_length(&mut input)? {
        if length > MOST_BYTES {
            let message = format!("a message of {length} bytes is skipped; expected at most {MOST_BYTES}");
            refuse(&Refusal::new(ErrorCode::InvalidRequest, message))?;
            io::copy(&mut input.by_ref().take(length), &mut io::sink())?;
            continue;
        }
        let mut content = Vec::new();
        input.by_ref().take(length).read_to_end(&mut content)?;
        if (content.len() as u64) < length {
            return Err(invalid(format!("the last message has {} bytes instead of {length}", content.len())));
        }
        match decoded(content) {
            Ok(message) => {
                let is_exit = matches!(&message, Message::Notification(note) if note.method == Exit::METHOD);
                if !take(message) || is_exit {
                    break;
                }
            }
            Err(refusal) => refuse(&refusal)?,
        }
    }
    Ok(())
}

/// The length that a header gives; `None` at the end of the input.
fn next_length(input: &mut impl BufRead) -> io::Result<Option<u64>> {
    let mut length = None;
    loop {
        let mut line = Vec::new();
        if input.by_ref().take(MOST_HEADER).read_until(b'\n', &mut line)? == 0 {
            return Ok(None);
        }
        let line = String::from_utf8_lossy(&line);
        let malformed = || invalid(format!("malformed header: {line:?}"));
        let field = line.strip_suffix("\r\n").ok_or_else(malformed)?;
        if field.is_empty() {
            break;
        }
        let (name, value) = field.split_once(": ").ok_or_else(malformed)?;
        if name.eq_ignore_ascii_case("Content-Length") {
            length = Some(value.parse().map_err(|_| malformed())?);
        }
    }
    length.map(Some).ok_or_else(|| invalid("a header without Content-Length".to_owned()))
}

fn invalid(problem: String) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, problem)
}

fn decoded(mut content: Vec<u8>) -> Result<Message, Refusal> {
    replace_lone_surrogates(&mut content);
    let value: Value = serde_json::from_slice(&content)
        .map_err(|cause| Refusal::new(ErrorCode::ParseError, format!("malformed JSON: {cause}")))?;
    let id = value.get("id").filter(|id| id.is_string() || id.is_number()).cloned().unwrap_or_default();
    serde_json::from_value(value).map_err(|_| {
        let message = "expected one request, notification or response, with a method or a result";
        Refusal { id, ..Refusal::new(ErrorCode::InvalidRequest, message.to_owned()) }
    })
}

/// Replaces halves of surrogate pairs, which editors in JavaScript escape as they are, by U+FFFD; that has as many UTF-16 units.
fn replace_lone_surrogates(content: &mut [u8]) {
    let unit = |content: &[u8], at: usize| {
        let digits = content.get(at..at + 6)?.strip_prefix(b"\\u")?;
        u16::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
    };
    let mut at = 0;
    while at < content.len() {
        if content[at] != b'\\' {
            at += 1;
            continue;
        }
        at += match (unit(content, at), unit(content, at + 6)) {
            (Some(0xD800..=0xDBFF), Some(0xDC00..=0xDFFF)) => 12,
            (Some(0xD800..=0xDFFF), _) => {
                content[at + 2..at + 6].copy_from_slice(b"fffd");
                6
            }
            // The escaped byte may be another backslash.
            _ => 2,
        };
    }
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;

    use serde_json::{Value, json};

    use super::{MOST_BYTES, read};

    fn frame(content: &[u8]) -> Vec<u8> {
        [format!("Content-Length: {}\r\n\r\n", content.len()).as_bytes(), content].concat()
    }

    /// What is taken and refused of an input: messages, and the ids and codes of errors.
    fn received(input: &[u8]) -> (Vec<Value>, Vec<(Value, i32)>) {
        let (taken, refused) = (RefCell::new(Vec::new()), RefCell::new(Vec::new()));
        let take = |message| {
            taken.borrow_mut().push(serde_json::to_value(message).expect("JSON"));
            true
        };
        let ended = read(input, take, |refusal| {
            let mut bytes = Vec::new();
            refusal.write(&mut bytes)?;
            let (_, content) =
                str::from_utf8(&bytes).expect("text").split_once("\r\n\r\n").expect("a header");
            let answer: Value = serde_json::from_str(content).expect("JSON");
            assert_eq!(bytes, frame(content.as_bytes()));
            refused.borrow_mut().push((answer["id"].clone(), refusal.code as i32));
            Ok(())
        });
        ended.expect("reads");
        (taken.into_inner(), refused.into_inner())
    }

    #[test]
    fn what_is_no_message_is_refused_and_the_next_one_taken() {
        let note = json!({ "method": "initialized", "params": {} });
        for (content, expected) in [
            (&b"{\"jsonrpc\":\"2.0\",\"id\":77,\"method\":"[..], (Value::Null, -32700)),
            (b"", (Value::Null, -32700)),
            (b"{\"method\":\"\xff\"}", (Value::Null, -32700)),
            (b"[{\"id\":1,\"method\":\"shutdown\"}]", (Value::Null, -32600)),
            (b"3", (Value::Null, -32600)),
            (b"{\"params\":{}}", (Value::Null, -32600)),
            (b"{\"id\":7,\"params\":{}}", (json!(7), -32600)),
            (b"{\"id\":\"a\",\"method\":3}", (json!("a"), -32600)),
        ] {
            let input = [frame(content), frame(note.to_string().as_bytes())].concat();
            assert_eq!(received(&input), (vec![note.clone()], vec![expected]), "{content:?}");
        }
    }

    #[test]
    fn nothing_is_read_after_exit() {
        let exit = json!({ "method": "exit" });
        let input = [frame(exit.to_string().as_bytes()), b"{nonsense".to_vec()].concat();
        assert_eq!(received(&input), (vec![exit], vec![]));
    }

    #[test]
    fn a_length_beyond_the_limit_is_refused_without_memory_for_it() {
        let input = format!("Content-Length: {}\r\n\r\n{{}}", u64::MAX);
        assert_eq!(received(input.as_bytes()), (vec![], vec![(Value::Null, -32600)]));
        let content = vec![b' '; MOST_BYTES as usize + 1];
        let note = json!({ "method": "initialized" });
        let input = [frame(&content), frame(note.to_string().as_bytes())].concat();
        assert_eq!(received(&input), (vec![note], vec![(Value::Null, -32600)]));
    }

    #[test]
    fn half_of_a_surrogate_pair_becomes_a_replacement_character() {
        for (escaped, expected) in [
            ("\\ud83d", "\u{fffd}"),
            ("\\uDE00\\ud83d", "\u{fffd}\u{fffd}"),
            ("\\ud83d\\ud83d\\ude00", "\u{fffd}\u{1f600}"),
            ("\\ud83dx\\u0041", "\u{fffd}xA"),
            ("\\\\ud83d\\\\\\ud83d", "\\ud83d\\\u{fffd}"),
        ] {
            let content = format!("{{\"method\":\"{escaped}\"}}");
            assert_eq!(received(&frame(content.as_bytes())), (vec![json!({ "method": expected })], vec![]));
        }
    }

    #[test]
    fn a_malformed_header_and_a_cut_message_end_the_session() {
        for (input, problem) in [
            (&b"{nonsense\r\n\r\n"[..], "malformed header: \"{nonsense"),
            (b"Content-Length: -1\r\n\r\n", "malformed header: \"Content-Length: -1"),
            (b"Content-Type: text\r\n\r\n", "without Content-Length"),
            (b"Content-Length: 9\r\n\r\n{}", "has 2 bytes instead of 9"),
            (&[b'x'; 5000], "malformed header"),
        ] {
            let error = read(input, |_| true, |_| Ok(())).expect_err(problem);
            assert!(error.to_string().contains(problem), "{error}");
        }
    }
}
