//! The analysis server, used by the Python client of its guide; python-chess checks the answers.

use std::path::Path;

use crate::program::{PROGRAM, root};
use crate::{interop_command, stdout_of};

#[test]
fn the_client_of_the_guide_gets_answers_with_legal_moves() {
    let folder = Path::new(PROGRAM).parent().expect("a folder");
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let path =
        std::env::join_paths(std::iter::once(folder.to_owned()).chain(std::env::split_paths(&folders)));
    let mut command = interop_command("analysis_client.py");
    command.arg(root().join("docs/guides/analysis.md"));
    let summary = stdout_of(command.env("PATH", path.expect("folders without colons")));
    for part in ["the guide's game: 8 answers", "60 games: ", " 0 problems"] {
        assert!(summary.contains(part), "{part} in {summary}");
    }
}
