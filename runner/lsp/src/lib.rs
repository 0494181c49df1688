//! `dc0-run lsp`: a server for editors (the Language Server Protocol) that checks scripts while they are typed, completes and explains.
//!
//! One thread reads what the editor says and answers; another one plans scripts and tells what is wrong with them. Nothing is
//! computed or written. What a place of a text means comes from its tokens, so that it is known in half-typed text, too; what
//! functions and parameters are comes from the declarations that the reference is printed from.

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
mod parameter;
mod scan;
mod script;
mod server;
mod signature;
mod symbols;
mod syntax;
mod text;
mod uri;
mod wire;
mod workspace;

#[cfg(test)]
mod tests;

use std::path::PathBuf;

use clap::Args;

use dc0_process::command::{Command, Failure, Program};
use dc0_process::exit::Exit;

/// How editors are served.
#[derive(Debug, Args)]
pub struct LspArgs {
    /// The folder that holds runs, relative to the editor's folder: results of finished steps are used in checks.
    #[arg(long, value_name = "DIR", default_value = "datasets")]
    pub out: PathBuf,
    /// Talk over stdin and stdout, as this always does; some editors say so.
    #[arg(long)]
    pub stdio: bool,
}

impl Command for LspArgs {
    const NAME: &'static str = "lsp";
    const ABOUT: &'static str = "Help an editor with scripts, over stdin and stdout (the Language Server Protocol); docs/guides/editors.md shows how";

    fn run(&self, _program: &Program) -> Result<Exit, Failure> {
        let outbox = wire::Outbox::new(Box::new(std::io::stdout()));
        let left = server::serve(&mut std::io::stdin().lock(), &outbox, &self.out);
        match left {
            Ok(server::Farewell::Proper) => Ok(Exit::Done),
            Ok(server::Farewell::Abrupt) => Ok(Exit::Failed),
            Err(cause) => {
                let message = format!("the editor cannot be read or written to: {cause}");
                Err(Failure::new(Exit::Failed, message))
            }
        }
    }
}
