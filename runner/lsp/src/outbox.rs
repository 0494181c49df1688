//! Messages to the editor, from several threads.

use std::sync::Arc;

use lsp_server::{Connection, Message, Notification};
use lsp_types::notification::{LogMessage, Notification as _};
use lsp_types::{LogMessageParams, MessageType};

/// Where messages to the editor go.
#[derive(Clone)]
pub(super) struct Outbox(Arc<Connection>);

impl Outbox {
    pub(super) fn new(connection: Arc<Connection>) -> Self {
        Self(connection)
    }

    /// Sends a message.
    pub(super) fn send(&self, message: impl Into<Message>) {
        // If the editor is gone, the end of its input ends the session.
        let _ = self.0.sender.send(message.into());
    }

    /// Sends a line for the editor's log.
    pub(super) fn log(&self, message: String) {
        let params = LogMessageParams { typ: MessageType::WARNING, message };
        self.send(Notification::new(LogMessage::METHOD.to_owned(), params));
    }
}
