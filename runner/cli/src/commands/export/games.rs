//! The stored games of a run as PGN.

use dc0_process::format::counted;
use std::collections::HashMap;
use std::io::Write;
use std::path::Path;

use dc0_core::board::GameTextError;
use dc0_core::store::{FileEntry, GameRow, HeaderRow, MatchGameRow, PositionRow, StoredGame, read_entry};

use super::args::{ExportPgnArgs, Games};
use super::{ExportError, Stop, write_text};
use dc0_process::console::Console;
use dc0_runs::view::{FinishedStep, GameFiles, RunView};
use dc0_runs::{Folder, FolderKind, Slot, StepContent, StepKind};

/// Writes the games of all steps that are asked for, in the order of the script, and returns lines that report what was written.
pub(super) fn write(args: &ExportPgnArgs, console: &Console) -> Result<Vec<String>, ExportError> {
    let (root, _) = super::found(&args.run, &[FolderKind::Run], "run")?;
    let folder = Folder::canonical(&root)?;
    let steps = RunView::new(folder.clone()).steps()?;
    let export = Export { run: folder, event: run_name(&root), nets: nets(&steps) };
    let wanted: Vec<(&FinishedStep, Slot)> = steps
        .iter()
        .filter_map(|step| Some((step, step.manifest.slot()?)))
        .filter(|(step, slot)| {
            let is_chosen =
                StepKind::named(&step.manifest.kind).is_some_and(|kind| args.games.includes(kind));
            is_chosen && args.number.is_none_or(|number| number == slot.number)
        })
        .collect();
    if wanted.is_empty() {
        return Err(ExportError::NoGames { run: root, wanted: args.wanted() });
    }
    let mut games = 0;
    write_text(&args.out, console, |out| {
        for (step, slot) in &wanted {
            games += export.step(step, *slot, out)?;
        }
        Ok(())
    })?;
    let (games, steps) = (counted(games as usize, "game"), counted(wanted.len(), "step"));
    Ok(vec![format!("wrote    {}: {games} of {steps}", args.out.display())])
}

/// What the games of all steps have in common.
struct Export {
    run: Folder,
    event: String,
    /// The nets: the digest of their weights, by whose first digits tables name them, and their names.
    nets: Vec<(String, String)>,
}

impl Export {
    /// Writes the games of a step, and returns their number.
    fn step(&self, step: &FinishedStep, slot: Slot, out: &mut dyn Write) -> Result<u64, Stop> {
        let event = format!("{}, {}", self.event, slot.name());
        let mut count = 0;
        for files in GameFiles::among(&step.manifest.files) {
            for game in self.games(files)? {
                out.write_all(game.pgn(&event).as_bytes())?;
                out.write_all(b"\n")?;
                count += 1;
            }
        }
        Ok(count)
    }

    fn games(&self, files: GameFiles<'_>) -> Result<Vec<StoredGame>, Stop> {
        let root = self.run.root();
        let mut by_game: HashMap<u32, Vec<PositionRow>> = HashMap::new();
        let positions = files.positions.map(|positions| read_entry::<PositionRow>(root, positions));
        for position in positions.transpose()?.into_iter().flatten() {
            by_game.entry(position.game).or_default().push(position);
        }
        let stored: Result<Vec<StoredGame>, (u32, GameTextError)> = if let Some(headers) = files.headers {
            let rows: Vec<GameRow> = read_entry(root, files.games)?;
            let headers: Vec<HeaderRow> = read_entry(root, headers)?;
            let stored = |(row, header): (&GameRow, HeaderRow)| {
                let positions = by_game.remove(&row.game).unwrap_or_default();
                StoredGame::of_import(row, header, &positions).map_err(|cause| (row.game, cause))
            };
            rows.iter().zip(headers).map(stored).collect()
        } else if files.positions.is_some() {
            let rows: Vec<GameRow> = read_entry(root, files.games)?;
            let stored = |row: &GameRow| {
                let positions = by_game.remove(&row.game).unwrap_or_default();
                StoredGame::of_self_play(row, &positions).map_err(|cause| (row.game, cause))
            };
            rows.iter().map(stored).collect()
        } else {
            let rows: Vec<MatchGameRow> = read_entry(root, files.games)?;
            let stored = |row: &MatchGameRow| StoredGame::of_match(row).map_err(|cause| (row.game, cause));
            rows.iter().map(stored).collect()
        };
        let mut games = stored.map_err(|(game, cause)| self.damaged(files.games, game, &cause))?;
        for game in &mut games {
            for name in [&mut game.white, &mut game.black] {
                let Some((digits, _)) = MatchGameRow::net_of(name) else { continue };
                if let Some((_, net)) = self.nets.iter().find(|(digest, _)| digest.starts_with(digits)) {
                    *name = format!("{net} ({name})");
                }
            }
        }
        Ok(games)
    }

    fn damaged(&self, file: &FileEntry, game: u32, cause: &GameTextError) -> ExportError {
        ExportError::Game { file: self.run.root().join(&file.path), game, cause: cause.to_string() }
    }
}

/// The nets of a run, by the digests of their weights.
fn nets(steps: &[FinishedStep]) -> Vec<(String, String)> {
    let net = |step: &FinishedStep| {
        let (slot, weights) = (step.manifest.slot()?, step.manifest.weights()?);
        Some((weights.blake3.clone(), slot.name()))
    };
    steps.iter().filter_map(net).collect()
}

fn run_name(root: &Path) -> String {
    root.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

impl Games {
    /// Whether these are games of a kind of step.
    fn includes(self, kind: &StepKind) -> bool {
        match self {
            Self::All => kind.content.is_new_games(),
            Self::SelfPlay => kind.content == StepContent::SelfPlay,
            Self::Imported => matches!(kind.content, StepContent::Imported(_)),
            Self::Matches => kind.content == StepContent::Match,
        }
    }
}

impl ExportPgnArgs {
    fn wanted(&self) -> String {
        let games = match self.games {
            Games::All => "games",
            Games::SelfPlay => "games of self-play",
            Games::Imported => "imported games",
            Games::Matches => "games of matches",
        };
        self.number.map_or_else(|| games.to_owned(), |number| format!("{games} with the number {number}"))
    }
}
