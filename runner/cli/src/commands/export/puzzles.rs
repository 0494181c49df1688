//! Puzzles from the stored games of a run: positions with a single fastest mate, and endings with a single move that keeps the result.

use std::collections::{BTreeMap, HashSet};

use dc0_core::arena::{OnlyMove, mates_of_game, only_moves_of_game};
use dc0_core::board::{Epd, Game, Operands, Tablebase, TablebaseError};
use dc0_core::store::{FileEntry, GameRow, MatchGameRow, read_entry};

use super::args::ExportPuzzlesArgs;
use super::{ExportError, write_text};
use dc0_process::console::Console;
use dc0_runs::view::{FinishedStep, GameFiles, RunView};
use dc0_runs::{Folder, FolderKind};

/// Writes the puzzles of all finished games, in the order of the script, and returns lines that report what was written.
pub(super) fn write(args: &ExportPuzzlesArgs, console: &Console) -> Result<Vec<String>, ExportError> {
    let (root, _) = super::found(&args.run, &[FolderKind::Run], "run")?;
    let folder = Folder::canonical(&root)?;
    let tables = args.tablebases.as_deref().map(Tablebase::open).transpose()?;
    let longest = if args.without_mates { 0 } else { args.mates };
    let mut kinds: Vec<Kind> = (1..=longest).map(Kind::Mate).collect();
    if tables.is_some() {
        kinds.extend([OnlyMove::Wins, OnlyMove::Draws].map(Kind::Ending));
    }
    let counts = kinds.into_iter().map(|kind| (kind, 0)).collect();
    let mut suite = Suite { args, longest, tables, seen: HashSet::new(), counts, lines: Vec::new() };
    for step in RunView::new(folder.clone()).steps()? {
        if suite.is_full() {
            break;
        }
        add_step(&folder, &step, &mut suite)?;
    }
    if suite.lines.is_empty() {
        let mates = (longest > 0).then_some("games that end with a single fastest mate");
        let endings = suite.tables.is_some().then_some("games that reach an ending with a single right move");
        let wanted = [mates, endings].into_iter().flatten().collect::<Vec<_>>().join(", or ");
        return Err(ExportError::NoGames { run: root, wanted });
    }
    let content: String = suite.lines.iter().map(|epd| format!("{epd}\n")).collect();
    write_text(&args.out, console, |out| Ok(out.write_all(content.as_bytes())?))?;
    let counts: Vec<String> =
        suite.counts.iter().map(|(kind, count)| format!("{count} {}", kind.plural())).collect();
    Ok(vec![format!("wrote    {}: {}", args.out.display(), counts.join(", "))])
}

/// A kind of puzzle.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// A mate in so many moves.
    Mate(u32),
    /// A single move that keeps the result of an ending.
    Ending(OnlyMove),
}

impl Kind {
    fn name(self) -> String {
        match self {
            Self::Mate(moves) => format!("mate in {moves}"),
            Self::Ending(OnlyMove::Wins) => "only winning move".to_owned(),
            Self::Ending(OnlyMove::Draws) => "only drawing move".to_owned(),
        }
    }

    fn plural(self) -> String {
        match self {
            Self::Mate(moves) => format!("mates in {moves}"),
            Self::Ending(_) => format!("{}s", self.name()),
        }
    }
}

/// The puzzles so far.
struct Suite<'a> {
    args: &'a ExportPuzzlesArgs,
    /// The longest mates, in moves; 0 for none.
    longest: u32,
    tables: Option<Tablebase>,
    seen: HashSet<String>,
    /// Puzzles by their kinds.
    counts: BTreeMap<Kind, u32>,
    lines: Vec<Epd>,
}

impl Suite<'_> {
    fn is_full(&self) -> bool {
        self.counts.values().all(|count| *count >= self.args.count)
    }

    fn add_game(&mut self, game: &Game) -> Result<(), TablebaseError> {
        for epd in mates_of_game(game, self.longest) {
            self.add(Kind::Mate(epd.mate_in().unwrap_or(1)), epd);
        }
        let endings = self.tables.as_ref().map(|tables| only_moves_of_game(game, tables)).transpose()?;
        for (kind, epd) in endings.into_iter().flatten() {
            self.add(Kind::Ending(kind), epd);
        }
        Ok(())
    }

    fn add(&mut self, kind: Kind, mut epd: Epd) {
        let count = self.counts.entry(kind).or_default();
        if *count < self.args.count && self.seen.insert(epd.position.epd_fields()) {
            *count += 1;
            epd.operations.insert("id".to_owned(), Operands::Text(format!("{}, {count}", kind.name())));
            self.lines.push(epd);
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
            suite.add_game(&game)?;
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
