//! A simple editor, which frames messages by hand.

use std::collections::VecDeque;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Duration;

use serde_json::{Value, json};

/// How long a test waits for an answer. It is to find hangs, not slowness.
const PATIENCE: Duration = Duration::from_mins(2);

pub(crate) struct Editor {
    program: Child,
    input: Option<ChildStdin>,
    messages: Receiver<Value>,
    /// Messages that arrived while the test waited for another one.
    others: VecDeque<Value>,
    /// The id of the latest request.
    last_id: u32,
}

/// A file's URI.
pub(crate) fn uri(file: &Path) -> String {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte);
    let path = file.to_str().expect("a path of text");
    let escaped = path
        .bytes()
        .map(|byte| if plain(byte) { char::from(byte).to_string() } else { format!("%{byte:02X}") });
    format!("file://{}", escaped.collect::<String>())
}

fn next_message(output: &mut impl BufRead) -> Option<Value> {
    let mut length = 0;
    loop {
        let mut line = String::new();
        if output.read_line(&mut line).expect("the header is text") == 0 {
            return None;
        }
        match line.trim_end().split_once(": ") {
            Some((_, value)) => length = value.parse().expect("a length"),
            None => break,
        }
    }
    let mut body = vec![0; length];
    output.read_exact(&mut body).expect("a whole message");
    Some(serde_json::from_slice(&body).expect("JSON"))
}

impl Editor {
    pub(crate) fn start() -> Self {
        let mut command = Command::new(env!("CARGO_BIN_EXE_dc0-run"));
        command
            .args(["lsp", "--stdio"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::inherit());
        let mut program = command.spawn().expect("the program starts");
        let (input, output) = (program.stdin.take(), program.stdout.take().expect("a pipe"));
        let (sender, messages) = channel();
        std::thread::spawn(move || {
            let mut output = BufReader::new(output);
            while let Some(message) = next_message(&mut output) {
                if sender.send(message).is_err() {
                    return;
                }
            }
        });
        Self { program, input, messages, others: VecDeque::new(), last_id: 0 }
    }

    pub(crate) fn initialized() -> Self {
        let mut editor = Self::start();
        editor.initialize();
        editor
    }

    #[track_caller]
    pub(crate) fn initialize(&mut self) {
        let answer =
            self.request("initialize", json!({ "capabilities": {}, "processId": null, "rootUri": null }));
        assert_eq!(answer["result"]["serverInfo"]["name"], "dc0-run");
        self.notify("initialized", json!({}));
    }

    fn send(&mut self, message: &Value) {
        self.send_text(&message.to_string());
    }

    pub(crate) fn send_text(&mut self, text: &str) {
        let input = self.input.as_mut().expect("not closed yet");
        let sent = write!(input, "Content-Length: {}\r\n\r\n{text}", text.len());
        sent.and_then(|()| input.flush()).expect("the server listens");
    }

    pub(crate) fn notify(&mut self, method: &str, params: impl Into<Value>) {
        self.send(&json!({ "jsonrpc": "2.0", "method": method, "params": params.into() }));
    }

    /// Sends a request, and returns the whole answer.
    #[track_caller]
    pub(crate) fn request(&mut self, method: &str, params: impl Into<Value>) -> Value {
        self.last_id += 1;
        let id = self.last_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params.into() }));
        self.first(|message| message["id"] == id)
    }

    /// The next message of a method.
    #[track_caller]
    pub(crate) fn until(&mut self, method: &str) -> Value {
        self.first(|message| message["method"] == method)
    }

    /// The next error that answers no request.
    #[track_caller]
    pub(crate) fn refusal(&mut self) -> Value {
        self.first(|message| message["id"].is_null() && message["error"].is_object())
    }

    /// The first matching message; others are kept for later.
    #[track_caller]
    fn first(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.others.iter().position(&fits) {
            return self.others.remove(at).expect("it is there");
        }
        loop {
            let message = self.messages.recv_timeout(PATIENCE).expect("an answer in time");
            if fits(&message) {
                return message;
            }
            self.others.push_back(message);
        }
    }

    pub(crate) fn open(&mut self, uri: &str, text: &str) {
        let document = json!({ "uri": uri, "languageId": "rhai", "version": 1, "text": text });
        self.notify("textDocument/didOpen", json!({ "textDocument": document }));
    }

    /// Replaces the whole text.
    pub(crate) fn change(&mut self, uri: &str, version: i32, text: &str) {
        let document = json!({ "uri": uri, "version": version });
        self.notify(
            "textDocument/didChange",
            json!({ "textDocument": document, "contentChanges": [{ "text": text }] }),
        );
    }

    fn published(&mut self, fits: impl Fn(&Value) -> bool) -> Value {
        let is = |message: &Value| {
            message["method"] == "textDocument/publishDiagnostics" && fits(&message["params"])
        };
        self.first(is)["params"]["diagnostics"].take()
    }

    /// The next diagnostics of a file.
    #[track_caller]
    pub(crate) fn diagnostics(&mut self, uri: &str) -> Value {
        self.published(|params| params["uri"] == uri)
    }

    /// The diagnostics of a version of a file.
    #[track_caller]
    pub(crate) fn diagnostics_of(&mut self, uri: &str, version: i32) -> Value {
        self.published(|params| params["uri"] == uri && params["version"] == version)
    }

    /// The next diagnostics of a file that are not empty.
    #[track_caller]
    pub(crate) fn diagnostics_with_any(&mut self, uri: &str) -> Value {
        self.published(|params| params["uri"] == uri && params["diagnostics"] != json!([]))
    }

    /// Closes the input, and returns the exit code.
    pub(crate) fn end(mut self) -> Option<i32> {
        self.input = None;
        self.program.wait().expect("it ends").code()
    }
}

impl Drop for Editor {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.program.kill();
        let _ = self.program.wait();
    }
}
