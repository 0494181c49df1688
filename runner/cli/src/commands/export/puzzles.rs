//! Puzzles from the stored games of a run: positions with a single fastest mate.

use std::collections::HashSet;

use dc0_core::arena::mates_of_game;
use dc0_core::board::{Epd, Game, Operands};
use dc0_core::durable;
use dc0_core::store::{FileEntry, GameRow, MatchGameRow, read_entry};

use super::ExportError;
use super::args::ExportPuzzlesArgs;
use dc0_runs::view::{FinishedStep, GameFiles, RunView};
use dc0_runs::{Folder, FolderKind, RunError};

/// Writes the puzzles of all finished games, in the order of the script, and returns lines that report what was written.
pub(super) fn write(args: &ExportPuzzlesArgs) -> Result<Vec<String>, ExportError> {
    let (root, _) = super::found(&args.run, &[FolderKind::Run], "run")?;
    let folder = Folder::canonical(&root)?;
    let mut suite =
        Suite { args, seen: HashSet::new(), counts: vec![0; args.mates as usize], lines: Vec::new() };
    for step in RunView::new(folder.clone()).steps()? {
        if suite.is_full() {
            break;
        }
        add_step(&folder, &step, &mut suite)?;
    }
    if suite.lines.is_empty() {
        let wanted = "games that end with a single fastest mate".to_owned();
        return Err(ExportError::NoGames { run: root, wanted });
    }
    let content: String = suite.lines.iter().map(|epd| format!("{epd}\n")).collect();
    durable::write(&args.out, content.as_bytes()).map_err(RunError::io("write", &args.out))?;
    let counts: Vec<String> =
        (1..).zip(&suite.counts).map(|(moves, count)| format!("{count} mates in {moves}")).collect();
    Ok(vec![format!("wrote    {}: {}", args.out.display(), counts.join(", "))])
}

/// The puzzles so far.
struct Suite<'a> {
    args: &'a ExportPuzzlesArgs,
    seen: HashSet<String>,
    /// Puzzles by the moves of their mates, from 1.
    counts: Vec<u32>,
    lines: Vec<Epd>,
}

impl Suite<'_> {
    fn is_full(&self) -> bool {
        self.counts.iter().all(|count| *count >= self.args.count)
    }

    fn add_game(&mut self, game: &Game) {
        for mut epd in mates_of_game(game, self.args.mates) {
            let moves = epd.mate_in().unwrap_or(1);
            let count = &mut self.counts[moves as usize - 1];
            if *count < self.args.count && self.seen.insert(epd.position.epd_fields()) {
                *count += 1;
                let id = format!("mate in {moves}, {count}");
                epd.operations.insert("id".to_owned(), Operands::Text(id));
                self.lines.push(epd);
            }
        }
    }
}

fn add_step(run: &Folder, step: &FinishedStep, suite: &mut Suite<'_>) -> Result<(), ExportError> {
    for files in GameFiles::among(&step.manifest.files) {
        for (number, start, moves) in games(run, files)? {
            let game = Game::from_packed(&start, &moves).map_err(|cause| ExportError::Game {
                file: run.path(&files.games.path),
                game: number,
                cause: cause.to_string(),
            })?;
            suite.add_game(&game);
        }
    }
    Ok(())
}

/// The number, the start and the moves of each game of a file.
fn games(run: &Folder, files: GameFiles<'_>) -> Result<Vec<(u32, String, Vec<u16>)>, ExportError> {
    let (root, entry): (_, &FileEntry) = (run.root(), files.games);
    Ok(if files.positions.is_some() {
        let rows: Vec<GameRow> = read_entry(root, entry)?;
        rows.into_iter().map(|row| (row.game, row.start_fen, row.moves)).collect()
    } else {
        let rows: Vec<MatchGameRow> = read_entry(root, entry)?;
        rows.into_iter().map(|row| (row.game, row.start_fen, row.moves)).collect()
    })
}
