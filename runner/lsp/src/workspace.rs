//! The scripts that are open in the editor, and those that they import.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use lsp_types::Uri;

use super::script::Script;
use super::text::Text;
use super::uri;
use dc0_runs::sources::normalised;
use dc0_script::jail::{read_script, script_file};

/// An open script.
pub(super) struct Document {
    /// The editor's URI of it.
    pub(super) uri: Uri,
    /// Its file, or where it would be saved.
    pub(super) path: PathBuf,
    /// The editor's version number of its text.
    pub(super) version: i32,
    /// Its text as it is in the editor.
    pub(super) text: Text,
    /// The same, parsed.
    pub(super) script: Arc<Script>,
}

/// An imported script.
pub(super) struct Module {
    /// Its file.
    pub(super) path: PathBuf,
    /// Its text.
    pub(super) text: Text,
    /// The same, parsed.
    pub(super) script: Script,
}

/// All open scripts.
#[derive(Default)]
pub(super) struct Workspace {
    /// The editor's workspace folder.
    pub(super) root: Option<PathBuf>,
    documents: BTreeMap<String, Document>,
}

impl Workspace {
    /// Adds a script that the editor has opened.
    pub(super) fn open(&mut self, uri: &Uri, version: i32, text: String) -> &Document {
        let name = uri.as_str().rsplit([':', '/']).next().unwrap_or("script").to_owned();
        let unsaved = || self.root.clone().unwrap_or_default().join(name).with_extension("rhai");
        let path = uri::to_path(uri).map_or_else(unsaved, |path| normalised(&path));
        let text = normalised_text(text);
        let script = Arc::new(Script::new(&text));
        let document = Document { uri: uri.clone(), path, version, text: Text::new(text), script };
        let key = uri.as_str().to_owned();
        self.documents.insert(key.clone(), document);
        &self.documents[&key]
    }

    /// Replaces the text of an open script; false if it is not open.
    pub(super) fn change(&mut self, uri: &Uri, version: i32, text: String) -> bool {
        let is_open = self.documents.contains_key(uri.as_str());
        if is_open {
            self.open(uri, version, text);
        }
        is_open
    }

    /// Removes a script that the editor has closed.
    pub(super) fn close(&mut self, uri: &Uri) -> Option<Document> {
        self.documents.remove(uri.as_str())
    }

    /// An open script.
    pub(super) fn get(&self, uri: &Uri) -> Option<&Document> {
        self.documents.get(uri.as_str())
    }

    /// All open scripts.
    pub(super) fn documents(&self) -> impl Iterator<Item = &Document> {
        self.documents.values()
    }

    /// The script that `importer` imports by a path; the editor's text takes precedence over the file.
    pub(super) fn module(&self, importer: &Path, path: &str) -> Option<Module> {
        let path = imported(importer, path)?;
        let open = self.documents.values().find(|document| document.path == path);
        let text = match open {
            Some(document) => document.text.clone(),
            None => Text::new(read_script(&path).ok()?),
        };
        let script = Script::new(text.as_str());
        Some(Module { path, text, script })
    }
}

/// A text without what the script engine and editors count differently, with the same lines and columns: a byte order mark becomes a
/// space, and a lone `\r`, which ends a line in editors, a `\n`.
fn normalised_text(text: String) -> String {
    let unmarked = text.strip_prefix('\u{feff}').map(|rest| format!(" {rest}")).unwrap_or(text);
    if !unmarked.contains('\r') {
        return unmarked;
    }
    let parts: Vec<String> = unmarked.split("\r\n").map(|part| part.replace('\r', "\n")).collect();
    parts.join("\r\n")
}

/// The file that an import refers to.
pub(super) fn imported(importer: &Path, path: &str) -> Option<PathBuf> {
    let is_relative = !path.is_empty() && Path::new(path).is_relative();
    is_relative.then(|| normalised(&importer.parent().unwrap_or(Path::new("")).join(script_file(path))))
}

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::str::FromStr;

    use super::{Uri, Workspace, imported};

    #[test]
    fn open_text_of_a_module_overrides_its_file() {
        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("m.rhai");
        std::fs::write(&file, "fn old() { }").expect("writes");
        let main = folder.path().join("main.rhai");
        let mut workspace = Workspace::default();
        let names = |workspace: &Workspace| {
            workspace.module(&main, "m").expect("a module").script.declarations[0].name.clone()
        };
        assert_eq!(names(&workspace), "old");
        let uri = super::uri::of_path(&file).expect("a URI");
        workspace.open(&uri, 1, "fn new() { }".to_owned());
        assert_eq!(names(&workspace), "new");
        workspace.close(&uri);
        assert_eq!(names(&workspace), "old");
        assert!(workspace.module(&main, "none").is_none());
    }

    #[test]
    fn texts_keep_their_lines_and_columns() {
        let mut workspace = Workspace::default();
        let uri = Uri::from_str("untitled:x").expect("a URI");
        for (text, expected) in [
            ("\u{feff}let a = 1;", " let a = 1;"),
            ("// a\rlet b = 1;\r\n\r\r\nlet c = 2;\r", "// a\nlet b = 1;\r\n\n\r\nlet c = 2;\n"),
            ("let d = \"\u{feff}\";", "let d = \"\u{feff}\";"),
        ] {
            assert_eq!(workspace.open(&uri, 1, text.to_owned()).text.as_str(), expected);
        }
    }

    #[test]
    fn unsaved_scripts_resolve_inside_the_workspace_folder() {
        let mut workspace = Workspace { root: Some("/folder".into()), ..Workspace::default() };
        let uri = Uri::from_str("untitled:Untitled-1").expect("a URI");
        assert_eq!(workspace.open(&uri, 1, String::new()).path, Path::new("/folder/Untitled-1.rhai"));
        assert_eq!(imported(Path::new("/a/b.rhai"), "../c/d"), Some("/c/d.rhai".into()));
        assert_eq!(imported(Path::new("/a/b.rhai"), "/etc/passwd"), None);
    }
}
