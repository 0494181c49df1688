//! The session with an editor, from `initialize` to `exit`.

use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lsp_server::{Connection, ErrorCode, Message, Notification, Request, RequestId, Response};
use lsp_types::notification::{self, Notification as _};
use lsp_types::request::{self, Request as _};
use lsp_types::{
    CodeAction, CodeActionKind, CodeActionOptions, CodeActionOrCommand, CodeActionParams,
    CodeActionProviderCapability, CompletionOptions, CompletionResponse, Diagnostic,
    DidChangeTextDocumentParams, DocumentSymbolResponse, GotoDefinitionResponse, HoverContents,
    HoverProviderCapability, InitializeParams, InitializeResult, Location, MarkupContent, MarkupKind, OneOf,
    PositionEncodingKind, ServerCapabilities, ServerInfo, SignatureHelpOptions,
    TextDocumentContentChangeEvent, TextDocumentPositionParams, TextDocumentSyncCapability,
    TextDocumentSyncKind, TextEdit, Uri, VersionedTextDocumentIdentifier, WorkspaceEdit,
};
use serde::de::DeserializeOwned;

use super::api_index::ApiIndex;
use super::checker::{Checker, Job};
use super::completion::completions;
use super::cursor::Cursor;
use super::definition::definition;
use super::hover::{Hover, hover};
use super::outbox::Outbox;
use super::script::DeclarationKind;
use super::signature::signature;
use super::symbols::symbols;
use super::uri;
use super::workspace::{Document, Workspace};

/// How a session ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SessionEnd {
    /// The editor asked to shut down and then to exit.
    Clean,
    /// It did not.
    Abrupt,
}

/// Talks with one editor until it exits or closes its end.
pub(super) fn serve(connection: Connection, runs: &Path) -> io::Result<SessionEnd> {
    let connection = Arc::new(connection);
    let outbox = Outbox::new(Arc::clone(&connection));
    let api = Arc::new(ApiIndex::new());
    let mut server = Server {
        checker: Checker::start(Arc::clone(&api), outbox.clone())?,
        api,
        workspace: Workspace::default(),
        outbox,
        runs: runs.to_owned(),
        is_shut_down: false,
        has_snippets: false,
    };
    let end = if server.begin(&connection) { server.run(&connection) } else { SessionEnd::Abrupt };
    server.checker.end();
    Ok(end)
}

struct Server {
    api: Arc<ApiIndex>,
    checker: Checker,
    workspace: Workspace,
    outbox: Outbox,
    /// The folder that holds runs.
    runs: PathBuf,
    /// Whether the editor has asked to shut down.
    is_shut_down: bool,
    has_snippets: bool,
}

impl Server {
    /// Waits for `initialize`. Returns whether it came, with parameters that can be read.
    fn begin(&mut self, connection: &Connection) -> bool {
        while let Ok((id, params)) = connection.initialize_start() {
            let request = Request::new(id, request::Initialize::METHOD.to_owned(), params);
            let response = reply::<request::Initialize>(request, |params| self.initialize(&params));
            let is_done = response.response_result.is_ok();
            self.outbox.send(response);
            if is_done {
                return true;
            }
        }
        false
    }

    fn run(&mut self, connection: &Connection) -> SessionEnd {
        for message in &connection.receiver {
            match message {
                Message::Request(request) => {
                    let response = self.answer(request);
                    self.outbox.send(response);
                }
                Message::Notification(note) if note.method == notification::Exit::METHOD => break,
                Message::Notification(note) => self.notify(note),
                // The server sends no requests, so there is nothing to answer.
                Message::Response(_) => {}
            }
        }
        if self.is_shut_down { SessionEnd::Clean } else { SessionEnd::Abrupt }
    }

    /// Answers a request. A panic becomes an error response and does not end the session.
    fn answer(&mut self, request: Request) -> Response {
        let (id, method) = (request.id.clone(), request.method.clone());
        if method == request::Shutdown::METHOD && !self.is_shut_down {
            self.is_shut_down = true;
            return Response::new_ok(id, ());
        }
        if self.is_shut_down || method == request::Initialize::METHOD {
            let message = format!(
                "{method} is refused: the session is initialized once, and ends with `exit` after `shutdown`"
            );
            return Response::new_err(id, ErrorCode::InvalidRequest as i32, message);
        }
        let answered = catch_unwind(AssertUnwindSafe(|| self.text_request(request)));
        answered.unwrap_or_else(|_| {
            let message = format!("dc0-run itself is wrong in {method}; its message is on stderr");
            Response::new_err(id, ErrorCode::InternalError as i32, message)
        })
    }

    /// Answers a request about a position in a text.
    fn text_request(&self, request: Request) -> Response {
        match request.method.as_str() {
            request::Completion::METHOD => reply::<request::Completion>(request, |params| {
                let items = completions(self.cursor(&params.text_document_position)?, self.has_snippets);
                Some(CompletionResponse::Array(items))
            }),
            request::HoverRequest::METHOD => reply::<request::HoverRequest>(request, |params| {
                let cursor = self.cursor(&params.text_document_position_params)?;
                let Hover { markdown, range } = hover(cursor)?;
                let contents = MarkupContent { kind: MarkupKind::Markdown, value: markdown };
                let range = Some(cursor.document.text.span(&range));
                Some(lsp_types::Hover { contents: HoverContents::Markup(contents), range })
            }),
            request::SignatureHelpRequest::METHOD => {
                reply::<request::SignatureHelpRequest>(request, |params| {
                    signature(self.cursor(&params.text_document_position_params)?)
                })
            }
            request::GotoDefinition::METHOD => reply::<request::GotoDefinition>(request, |params| {
                let found = definition(self.cursor(&params.text_document_position_params)?)?;
                let open = self.workspace.documents().find(|document| document.path == found.path);
                let uri = open.map(|document| document.uri.clone()).or_else(|| uri::of_path(&found.path))?;
                Some(GotoDefinitionResponse::Scalar(Location { uri, range: found.text.span(&found.name) }))
            }),
            request::DocumentSymbolRequest::METHOD => {
                reply::<request::DocumentSymbolRequest>(request, |params| {
                    let document = self.workspace.get(&params.text_document.uri)?;
                    Some(DocumentSymbolResponse::Nested(symbols(document)))
                })
            }
            request::CodeActionRequest::METHOD => {
                reply::<request::CodeActionRequest>(request, |params| Some(self.corrections(&params)))
            }
            method => {
                let message = format!("dc0-run does not support the request {method}");
                Response::new_err(request.id, ErrorCode::MethodNotFound as i32, message)
            }
        }
    }

    fn cursor(&self, params: &TextDocumentPositionParams) -> Option<Cursor<'_>> {
        let document = self.workspace.get(&params.text_document.uri)?;
        let offset = document.text.offset(params.position);
        Some(Cursor { api: &self.api, workspace: &self.workspace, document, offset })
    }

    fn initialize(&mut self, params: &InitializeParams) -> InitializeResult {
        let folder = params.workspace_folders.iter().flatten().next().map(|folder| &folder.uri);
        #[expect(deprecated, reason = "older editors name the folder only here")]
        let folder = folder.or(params.root_uri.as_ref());
        self.workspace.root = folder.and_then(uri::to_path).or_else(|| std::env::current_dir().ok());
        let item =
            || params.capabilities.text_document.as_ref()?.completion.as_ref()?.completion_item.as_ref();
        self.has_snippets = item().and_then(|item| item.snippet_support).unwrap_or(false);
        InitializeResult {
            capabilities: capabilities(),
            server_info: Some(ServerInfo {
                name: "dc0-run".to_owned(),
                version: Some(env!("CARGO_PKG_VERSION").to_owned()),
            }),
        }
    }

    /// Handles a notification.
    fn notify(&mut self, note: Notification) {
        let handled = match note.method.as_str() {
            notification::DidOpenTextDocument::METHOD => params_of::<notification::DidOpenTextDocument>(note)
                .map(|params| {
                    let opened = params.text_document;
                    self.workspace.open(&opened.uri, opened.version, opened.text);
                    self.check_after(&opened.uri);
                }),
            notification::DidChangeTextDocument::METHOD => {
                params_of::<notification::DidChangeTextDocument>(note).and_then(|params| self.change(params))
            }
            notification::DidCloseTextDocument::METHOD => {
                params_of::<notification::DidCloseTextDocument>(note).map(|params| {
                    if let Some(closed) = self.workspace.close(&params.text_document.uri) {
                        self.checker.forget(&closed.path, closed.uri);
                        self.check_importers();
                    }
                })
            }
            notification::DidSaveTextDocument::METHOD | notification::DidChangeWatchedFiles::METHOD => {
                self.check_importers();
                Ok(())
            }
            _ => Ok(()),
        };
        if let Err(why) = handled {
            self.outbox.log(why);
        }
    }

    /// Takes the new text of a script.
    fn change(&mut self, params: DidChangeTextDocumentParams) -> Result<(), String> {
        let VersionedTextDocumentIdentifier { uri, version } = params.text_document;
        let name = uri.as_str();
        if params.content_changes.is_empty() {
            return Ok(());
        }
        let whole = params.content_changes.into_iter().next_back().filter(|change| change.range.is_none());
        let Some(TextDocumentContentChangeEvent { text, .. }) = whole else {
            return Err(format!("{name}: ignored a change of a part, for this server takes whole texts"));
        };
        if !self.workspace.change(&uri, version, text) {
            return Err(format!("{name} is changed, but is not open"));
        }
        self.check_after(&uri);
        Ok(())
    }

    /// Checks a script, and the open scripts that may import it.
    fn check_after(&mut self, uri: &Uri) {
        if let Some(document) = self.workspace.get(uri) {
            let job = self.job(document);
            self.checker.check(job);
        }
        self.check_importers_but(Some(uri));
    }

    fn check_importers(&mut self) {
        self.check_importers_but(None);
    }

    fn check_importers_but(&mut self, uri: Option<&Uri>) {
        let imports = |document: &&Document| {
            document.script.declarations.iter().any(|known| matches!(known.kind, DeclarationKind::Module(_)))
        };
        let others = self.workspace.documents().filter(|document| Some(&document.uri) != uri);
        let jobs: Vec<Job> = others.filter(imports).map(|document| self.job(document)).collect();
        for job in jobs {
            self.checker.check(job);
        }
    }

    fn job(&self, document: &Document) -> Job {
        let root = self.workspace.root.clone().unwrap_or_default();
        let runs_steps = |word: &str| matches!(word, "open_run" | "sweep" | "fork");
        let is_module =
            !(0..document.script.tokens.len()).any(|token| runs_steps(document.script.word(token)));
        // A script that runs no steps is a module, which scripts in the folders above may import, too.
        let folder = (is_module && document.path.starts_with(&root)).then(|| root.clone());
        let texts = self
            .workspace
            .documents()
            .map(|other| (other.path.clone(), other.text.as_str().to_owned()))
            .collect();
        let open = self
            .workspace
            .documents()
            .map(|other| (other.path.clone(), (other.uri.clone(), other.version)))
            .collect();
        Job {
            path: document.path.clone(),
            text: document.text.as_str().to_owned(),
            folder,
            texts,
            runs: root.join(&self.runs),
            open,
        }
    }

    /// Quick fixes for the problems that the editor asks about: the names that were most likely meant.
    fn corrections(&self, params: &CodeActionParams) -> Vec<CodeActionOrCommand> {
        let uri = &params.text_document.uri;
        let Some(document) = self.workspace.get(uri) else { return Vec::new() };
        let action = |problem: &Diagnostic| {
            let range = document.text.offset(problem.range.start)..document.text.offset(problem.range.end);
            let marked = document.text.as_str().get(range)?;
            let meant = correction(&problem.message, marked)?;
            let edit = TextEdit { range: problem.range, new_text: meant.clone() };
            Some(CodeActionOrCommand::CodeAction(CodeAction {
                title: format!("Change `{marked}` to `{meant}`"),
                kind: Some(CodeActionKind::QUICKFIX),
                diagnostics: Some(vec![problem.clone()]),
                edit: Some(WorkspaceEdit {
                    changes: Some([(uri.clone(), vec![edit])].into()),
                    ..WorkspaceEdit::default()
                }),
                is_preferred: Some(true),
                ..CodeAction::default()
            }))
        };
        params.context.diagnostics.iter().filter_map(action).collect()
    }
}

/// What a message suggests in place of the word that it marks, with quotes if that has some. None if the message is about another
/// word: it may mark a call whose map is written elsewhere.
fn correction(message: &str, marked: &str) -> Option<String> {
    let (before, after) = message.split_once("did you mean ")?;
    let quote = after.chars().next().filter(|first| matches!(first, '`' | '"'))?;
    let meant = after[1..].split_once(quote)?.0;
    let unquoted = marked.strip_prefix('"').and_then(|rest| rest.strip_suffix('"'));
    let wrong = unquoted.unwrap_or(marked);
    let parameter = before.split_once(": unknown parameter").map(|(path, _)| path.rsplit('.').next());
    let is_named = before.contains(&format!("`{wrong}`")) || before.contains(&format!("\"{wrong}\""));
    if parameter != Some(Some(wrong)) && !is_named {
        return None;
    }
    Some(if unquoted.is_some() { format!("\"{meant}\"") } else { meant.to_owned() })
}

fn capabilities() -> ServerCapabilities {
    let triggers = |letters: &[&str]| Some(letters.iter().map(ToString::to_string).collect());
    ServerCapabilities {
        position_encoding: Some(PositionEncodingKind::UTF16),
        text_document_sync: Some(TextDocumentSyncCapability::Kind(TextDocumentSyncKind::FULL)),
        completion_provider: Some(CompletionOptions {
            trigger_characters: triggers(&[".", ":", "{", "\"", ","]),
            ..CompletionOptions::default()
        }),
        hover_provider: Some(HoverProviderCapability::Simple(true)),
        signature_help_provider: Some(SignatureHelpOptions {
            trigger_characters: triggers(&["(", ","]),
            ..SignatureHelpOptions::default()
        }),
        definition_provider: Some(OneOf::Left(true)),
        document_symbol_provider: Some(OneOf::Left(true)),
        code_action_provider: Some(CodeActionProviderCapability::Options(CodeActionOptions {
            code_action_kinds: Some(vec![CodeActionKind::QUICKFIX]),
            ..CodeActionOptions::default()
        })),
        ..ServerCapabilities::default()
    }
}

/// Answers a request, or reports that its parameters are wrong.
fn reply<R: request::Request>(request: Request, answer: impl FnOnce(R::Params) -> R::Result) -> Response {
    let id: RequestId = request.id;
    match read_params::<R::Params>(request.params) {
        Ok(params) => Response::new_ok(id, answer(params)),
        Err(cause) => Response::new_err(
            id,
            ErrorCode::InvalidParams as i32,
            format!("the parameters of {}: {cause}", R::METHOD),
        ),
    }
}

/// The parameters of a notification, or what is wrong with them.
fn params_of<N: notification::Notification>(note: Notification) -> Result<N::Params, String> {
    read_params(note.params).map_err(|cause| format!("ignored: the parameters of {}: {cause}", N::METHOD))
}

fn read_params<T: DeserializeOwned>(params: serde_json::Value) -> Result<T, serde_json::Error> {
    serde_json::from_value(params)
}

#[cfg(test)]
mod tests {
    use super::correction;

    #[test]
    fn a_correction_is_of_the_word_that_the_message_names() {
        let unknown = "search.game: unknown parameter; did you mean `games`?";
        assert_eq!(correction(unknown, "game").as_deref(), Some("games"));
        assert_eq!(correction(unknown, "\"game\"").as_deref(), Some("\"games\""));
        assert_eq!(correction(unknown, "self_play"), None);
        let function = "there is no function `ff` in `h`; did you mean `f`?";
        assert_eq!(correction(function, "ff").as_deref(), Some("f"));
        let import = "import \"helpr\": there is no /x/helpr.rhai; did you mean \"helper\"?";
        assert_eq!(correction(import, "\"helpr\"").as_deref(), Some("\"helper\""));
        let preset =
            "network_preset: there is no net \"dc0-2x23\"; did you mean \"dc0-2x32\"? there are more";
        assert_eq!(correction(preset, "network_preset"), None);
        assert_eq!(correction("there is no variable `a`", "a"), None);
    }
}
