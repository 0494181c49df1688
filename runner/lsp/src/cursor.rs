//! A position in an open script that the editor asks about.

use super::api_index::ApiIndex;
use super::members::Members;
use super::script::Script;
use super::workspace::{Document, Module, Workspace};

/// A position in an open script.
#[derive(Clone, Copy)]
pub(super) struct Cursor<'a> {
    /// What scripts can call.
    pub(super) api: &'a ApiIndex,
    /// The open scripts.
    pub(super) workspace: &'a Workspace,
    /// The script.
    pub(super) document: &'a Document,
    /// The byte offset.
    pub(super) offset: usize,
}

impl<'a> Cursor<'a> {
    /// The script.
    pub(super) fn script(&self) -> &'a Script {
        &self.document.script
    }

    /// The reader of members.
    pub(super) fn members(&self) -> Members<'a> {
        Members { script: self.script(), api: self.api }
    }

    /// The token here; none inside a comment.
    pub(super) fn token(&self) -> Option<usize> {
        let script = self.script();
        script.at(self.offset).filter(|_| !script.is_in_comment(self.offset))
    }

    /// The text of the token before another one; empty before the first.
    pub(super) fn word_before(&self, token: usize) -> &'a str {
        token.checked_sub(1).map_or("", |before| self.script().word(before))
    }

    /// The script that an import's path refers to.
    pub(super) fn module(&self, path: &str) -> Option<Module> {
        self.workspace.module(&self.document.path, path)
    }

    /// The script whose function is named by a token after `::`.
    pub(super) fn module_of(&self, function: usize) -> Option<Module> {
        self.module(self.script().module_of(function)?)
    }
}
