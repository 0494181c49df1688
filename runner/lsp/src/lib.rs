//! `dc0-run lsp`: a language server (LSP) that checks, completes and explains scripts while they are typed.
//!
//! One thread reads the editor's messages and answers them; another plans scripts and reports what is wrong with them. Nothing is
//! computed or written. The meaning of a position comes from the tokens of the text, so half-typed text works, too; functions and
//! parameters come from the declarations that the reference is printed from.

mod api_index;
mod checker;
mod completion;
mod context;
mod cursor;
mod definition;
mod diagnostics;
mod hover;
mod markdown;
mod members;
mod outbox;
mod parameter;
mod script;
mod server;
mod signature;
mod symbols;
mod text;
mod transport;
mod uri;
mod workspace;

#[cfg(test)]
mod tests;

use std::path::PathBuf;

use clap::Args;

use dc0_process::command::{Command, Failure, Program};
use dc0_process::exit::Exit;

/// Options of the language server.
#[derive(Debug, Args)]
pub struct LspArgs {
    /// The folder that holds runs, relative to the editor's folder: results of finished steps are used in checks.
    #[arg(long, value_name = "DIR", default_value = "datasets")]
    pub out: PathBuf,
    /// Talk over stdin and stdout. It always does; some editors pass the option anyway.
    #[arg(long)]
    pub stdio: bool,
}

impl Command for LspArgs {
    const NAME: &'static str = "lsp";
    const ABOUT: &'static str =
        "Run the language server for scripts, over stdin and stdout; docs/guides/editors.md shows how";

    fn run(&self, _program: &Program) -> Result<Exit, Failure> {
        let serve = || {
            let (connection, transport) = transport::Transport::start()?;
            let end = server::serve(connection, &self.out)?;
            transport.join().map(|()| end)
        };
        match serve() {
            Ok(server::SessionEnd::Clean) => Ok(Exit::Done),
            Ok(server::SessionEnd::Abrupt) => Ok(Exit::Failed),
            Err(cause) => {
                let message = format!("the editor cannot be read or written to: {cause}");
                Err(Failure::new(Exit::Failed, message))
            }
        }
    }
}
