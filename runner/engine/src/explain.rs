//! `dc0-run explain`: a net's evaluation of a position, the search of it, and the tree.
//!
//! `study` does the work, once, for the command and for scripts; the others turn its result into text, pictures and values.
//! docs/guides/explain.md says what users see.

mod args;
mod error;
mod figures;
mod inputs;
mod page;
mod params;
mod picture;
mod squares;
mod study;
mod text;
mod tree;
mod value;

use std::io::IsTerminal;

use dc0_core::durable;

use dc0_process::command::{Command, Failure, Program};
use dc0_process::console::Console;
use dc0_process::exit::Exit;
use dc0_process::style::TermStyle;

pub use args::{ExplainArgs, Format};
pub use error::ExplainError;
pub use inputs::position;
pub use params::ExplainParams;
pub use study::{StudiedNet, Study};
pub use value::value;

impl Command for ExplainArgs {
    const NAME: &'static str = "explain";
    const ABOUT: &'static str = "Explain a position: the net's evaluation, the search, and its tree";

    fn run(&self, program: &Program) -> Result<Exit, Failure> {
        program.show_warnings()?;
        explain(self, &program.console)?;
        Ok(Exit::Done)
    }
}

fn explain(args: &ExplainArgs, console: &Console) -> Result<(), ExplainError> {
    let study = inputs::study(args)?;
    let shown = match args.format {
        Format::Text => text::page(&study, style(args)),
        Format::Html => page::page(&study),
        Format::Svg => picture::standalone(&study),
        Format::Json => {
            serde_json::to_string_pretty(&value(&study)).expect("a value tree has text keys only")
        }
    };
    let Some(path) = &args.out else {
        console.result(shown.trim_end());
        return Ok(());
    };
    let text = format!("{}\n", shown.trim_end());
    durable::write(path, text.as_bytes()).map_err(|cause| ExplainError::Write { path: path.clone(), cause })
}

/// The output style: what the terminal can show. A file has no colours unless they are asked for.
fn style(args: &ExplainArgs) -> TermStyle {
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let is_terminal = args.out.is_none() && std::io::stdout().is_terminal();
    let style = TermStyle::new(args.ascii, args.color, is_terminal, &variable);
    // Output that is not a terminal may hold any text.
    TermStyle { is_unicode: !args.ascii && (style.is_unicode || !is_terminal), ..style }
}

#[cfg(test)]
mod tests;
