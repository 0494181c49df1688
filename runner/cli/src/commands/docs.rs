//! `dc0-run docs`: the pages of the reference that are generated from the code.

use clap::Args;
use dc0_process::command::{Command, Failure, Program};
use dc0_process::exit::Exit;
use dc0_script::reference::{Page, markdown};

/// What `docs` prints.
#[derive(Debug, Args)]
pub(super) struct DocsArgs {
    /// The page.
    #[arg(value_enum, default_value_t = Page::Parameters)]
    pub page: Page,
}

impl Command for DocsArgs {
    const NAME: &'static str = "docs";
    const ABOUT: &'static str = "Print a page of the reference as Markdown";

    fn run(&self, program: &Program) -> Result<Exit, Failure> {
        program.console.result(&markdown(self.page));
        Ok(Exit::Done)
    }
}
