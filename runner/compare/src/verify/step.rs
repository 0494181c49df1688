//! Reads the files of a finished step: their digests, their tables, and whether these agree with the manifest and the rules of chess.

use std::collections::BTreeMap;
use std::path::Path;

use dc0_core::arena::{self, EloModel, MatchSummary, Requested, SprtParams, summarise_answers};
use dc0_core::board::{Game, Rules};
use dc0_core::import::{GameFormat, ImportStats, Lc0Params, PgnParams};
use dc0_core::network::checkpoint::Checkpoint;
use dc0_core::params::{Value, read};
use dc0_core::selfplay::{GameRow, PositionRow, SelfPlayStats, games_with_positions};
use dc0_core::store::{
    AnswerRow, FileEntry, HeaderRow, LineRow, MatchGameRow, PredictionRow, PuzzleRow, RejectRow, ShardFiles,
    StoreError, TableRow, TrainingRow, TreeRow, ValidationRow, legality, read_table, verify_file,
};
use dc0_core::trainer::{PredictionSums, check_state};
use dc0_runs::view::FinishedStep;
use dc0_runs::{Folder, Manifest, Remedy, SourceFormat, StepContent, StepKind};
use dc0_steps::kinds::endings;

use super::{Findings, chain};

/// What heals a file of a finished step that can be read, but has wrong content.
const WRONG: &str = "it is as it was written, so the program or the machine that wrote it was at fault; \
    delete it and give the run's command again, which does its step again";

/// The version since which matches compute intervals with exact quantiles. Older ones took them from a table of three decimals, or from
/// an expansion beyond 30 pairs.
const EXACT_QUANTILES: u32 = 8;

/// The first version of `validate` that counts the positions with a result.
const SCORED_POSITIONS: u32 = 2;

/// By how much an end of the score's interval of an older match may differ. The old quantiles are wrong by at most 0.023 % (with 26 pairs),
/// and an end within 0 and 1 is less than 1 from the middle.
const ROUNDED_QUANTILE: f64 = 2.3e-4;

/// The version since which normalised tests begin with a distribution that fulfils the hypothesis. Older ones ended at other ratios, which
/// were wrong beyond 230 Elo.
const NORMALIZED_TESTS: u32 = 9;

/// The version since which matches store all figures of today.
const ALL_FIGURES: u32 = 11;

/// The figures of matches that older versions lack.
const NEWER_FIGURES: [&str; 7] =
    ["mean_plies", "endings", "los", "normalized_elo", "normalized_elo_low", "normalized_elo_high", "sprt"];

/// Reads a step's files, and adds what is wrong with them. `root` is the folder that they are in.
pub(super) fn verify(root: &Folder, step: &FinishedStep, findings: &mut Findings) {
    let manifest = &step.manifest;
    findings.steps += 1;
    findings.files += manifest.files.len() as u64;
    let before = findings.problems.len();
    for entry in &manifest.files {
        if let Err(error) = verify_file(root.root(), entry) {
            findings.problems.push(match error {
                StoreError::Changed { faults } if faults.len() == 1 => {
                    format!("{}; delete what is left of it and give the run's command again, which does its step again", faults[0])
                }
                error => chain(&error),
            });
        }
    }
    // The content of damaged files says nothing about the step.
    if findings.problems.len() > before {
        return;
    }
    let mut reader = Reader { root, step, findings };
    let Some(kind) = StepKind::named(&manifest.kind) else { return reader.unknown_kind() };
    match kind.content {
        StepContent::Network => reader.network(),
        StepContent::SelfPlay => reader.self_play(false),
        StepContent::GameCopies => reader.self_play(true),
        StepContent::Imported(SourceFormat::Pgn) => reader.import::<PgnParams>(),
        StepContent::Imported(SourceFormat::Lc0) => reader.import::<Lc0Params>(),
        StepContent::Match => reader.arena(),
        StepContent::Searches => reader.search(),
        StepContent::Puzzles if manifest.summary.member("player").is_some() => reader.answers(),
        StepContent::Puzzles => reader.puzzles(),
        StepContent::Predictions => reader.predictions(),
    }
}

struct Reader<'a> {
    root: &'a Folder,
    step: &'a FinishedStep,
    findings: &'a mut Findings,
}

impl Reader<'_> {
    fn manifest(&self) -> &Manifest {
        &self.step.manifest
    }

    /// Adds that no more than digests can be checked.
    fn unknown_kind(&mut self) {
        let (path, kind) = (self.step.path.display(), &self.manifest().kind);
        let problem = format!(
            "{path}: its step is of the kind `{kind}`, which this dc0-run does not know, so only the digests of its files were checked; \
             verify the run with the dc0-run that made it"
        );
        self.findings.problems.push(problem);
    }

    /// Adds a fault in the content of a file.
    fn fault(&mut self, entry: &FileEntry, fault: &str) {
        let path = self.root.path(&entry.path);
        self.findings.problems.push(format!("{}: {fault}; {WRONG}", path.display()));
    }

    /// Reads a table, whose rows are checked one by one.
    fn table<R: TableRow>(&mut self, entry: &FileEntry) -> Vec<R> {
        match read_table::<R>(&self.root.path(&entry.path)) {
            Ok(rows) => {
                if rows.len() as u64 != entry.rows {
                    let fault = format!("it has {} rows, and its manifest says {}", rows.len(), entry.rows);
                    self.fault(entry, &fault);
                }
                rows
            }
            Err(error) => {
                self.findings.problems.push(chain(&error));
                Vec::new()
            }
        }
    }

    /// What ends games in this step besides the rules of chess.
    fn rules(&self) -> Rules {
        let max_plies = self.manifest().params.figure("max_plies");
        Rules { max_plies: max_plies.map_or(u32::MAX, |plies| plies as u32) }
    }

    /// Games of self-play, or copies of games with new targets: these ended by the ply cap of the step that played them, or come from
    /// outside, if no net played.
    fn self_play(&mut self, are_copies: bool) {
        let (rules, mut stats) = (self.rules(), SelfPlayStats::default());
        let files = self.manifest().files.clone();
        for shard in ShardFiles::of_iteration(&files) {
            let games: Vec<GameRow> = self.table(shard.games);
            let positions: Vec<PositionRow> = self.table(shard.positions);
            for (row, own) in self.with_positions(shard, &games, &positions) {
                let fault = if are_copies {
                    legality::reanalyzed_fault(row, own)
                } else {
                    legality::self_play_fault(row, own, &rules)
                };
                if let Some(fault) = fault {
                    self.fault(shard.games, &format!("game {}: {fault}", row.game));
                }
                stats.add_game(row, own);
            }
        }
        // Evaluations and batches are in no table.
        let known = [
            "games",
            "white_wins",
            "draws",
            "black_wins",
            "reasons",
            "positions",
            "simulations",
            "draw_rate",
            "mean_plies",
            "mean_entropy",
        ];
        self.summary(&stats.to_value(), &known);
    }

    /// Counts the rows of a shard, and gives each game with its positions; those that belong to no game are a fault.
    fn with_positions<'a>(
        &mut self,
        shard: ShardFiles<'_>,
        games: &'a [GameRow],
        positions: &'a [PositionRow],
    ) -> Vec<(&'a GameRow, &'a [PositionRow])> {
        self.findings.games += games.len() as u64;
        self.findings.positions += positions.len() as u64;
        let mut stray = |position: &PositionRow| {
            let fault = format!("it has positions of game {}, which is not stored", position.game);
            self.fault(shard.positions, &fault);
        };
        games_with_positions(games, positions).filter_map(|found| found.map_err(&mut stray).ok()).collect()
    }

    fn import<F: GameFormat>(&mut self) {
        let params = match read::<F>(&self.manifest().kind, &self.manifest().params) {
            Ok(params) => params,
            Err(error) => {
                let problem = Remedy::Step.damaged(&self.step.path, error);
                return self.findings.problems.push(chain(&problem));
            }
        };
        let (mut stats, mut rejects) = (ImportStats::default(), 0);
        let files = self.manifest().files.clone();
        for shard in ShardFiles::of_iteration(&files) {
            let (Some(headers), Some(rejected)) = (shard.headers, shard.rejects) else {
                let cause = "it lists a shard of games without its headers or rejects";
                let problem = Remedy::Step.damaged(&self.step.path, cause);
                return self.findings.problems.push(chain(&problem));
            };
            let games: Vec<GameRow> = self.table(shard.games);
            let positions: Vec<PositionRow> = self.table(shard.positions);
            let headers_of: Vec<HeaderRow> = self.table(headers);
            if !games.iter().map(|row| row.game).eq(headers_of.iter().map(|row| row.game)) {
                self.fault(headers, "its games are not those of the table of games");
                continue;
            }
            let games = self.with_positions(shard, &games, &positions);
            for ((row, own), header) in games.into_iter().zip(&headers_of) {
                if let Some(fault) = params.fault(row, header, own) {
                    self.fault(shard.games, &format!("game {}: {fault}", row.game));
                }
                stats.add_game(row, own.len());
                stats.add_notes(header);
            }
            for row in self.table::<RejectRow>(rejected) {
                if row.reject != rejects {
                    self.fault(rejected, &format!("its broken game {rejects} is missing"));
                }
                rejects = row.reject + 1;
                stats.add_reject(row.reason);
            }
        }
        // Games that were left out are in no table, so the number of games that were read is not known.
        let mut known = vec![
            "games",
            "white_wins",
            "draws",
            "black_wins",
            "reasons",
            "positions",
            "evals",
            "clocks",
            "rejected",
            "draw_rate",
            "mean_plies",
        ];
        // Summaries of older imports lack these.
        let pairs = ["eval_pairs", "opposed_pairs"];
        known.extend(pairs.iter().filter(|name| self.manifest().summary.member(name).is_some()));
        self.summary(&stats.to_value(), &known);
    }

    fn arena(&mut self) {
        let rules = self.rules();
        let Some(entry) = self.manifest().files.first().cloned() else { return };
        let rows: Vec<MatchGameRow> = self.table(&entry);
        for row in &rows {
            if let Some(fault) = legality::match_fault(row, &rules) {
                self.fault(&entry, &format!("game {}: {fault}", row.game));
            }
        }
        self.findings.games += rows.len() as u64;
        let mut found = arena::summarise(&rows, [Requested::default(); 2]);
        let version = self.manifest().kind_version;
        if version < EXACT_QUANTILES {
            self.keep_rounded(&mut found);
        }
        let test = self.manifest().params.member("sprt").filter(|test| !matches!(test, Value::None));
        let test = match test.map(|test| read::<SprtParams>("sprt", test)).transpose() {
            Ok(test) => test,
            Err(error) => {
                let problem = Remedy::Step.damaged(&self.step.path, error);
                return self.findings.problems.push(chain(&problem));
            }
        };
        found.sprt = test.as_ref().map(|test| test.test(&found.pentanomial));
        let mut found = found.to_value();
        found.put("endings", endings(&rows));
        let is_normalized = test.is_some_and(|test| test.model == EloModel::Normalized);
        let mut known = vec![
            "games",
            "wins",
            "draws",
            "losses",
            "score",
            "score_low",
            "score_high",
            "elo",
            "elo_low",
            "elo_high",
            "los",
            "normalized_elo",
            "pentanomial",
            "endings",
            "mean_plies",
        ];
        // These jump where an end of the score's interval comes to ½, 0 or 1, so no tolerance fits older ones.
        if version >= EXACT_QUANTILES {
            known.extend(["normalized_elo_low", "normalized_elo_high"]);
        }
        if version >= NORMALIZED_TESTS || !is_normalized {
            known.push("sprt");
        }
        if version < ALL_FIGURES {
            let is_stored = |name: &str| self.manifest().summary.member(name).is_some();
            known.retain(|name| !NEWER_FIGURES.contains(name) || is_stored(name));
        }
        self.summary(&found, &known);
    }

    /// Takes the ends of the score's interval from the manifest if they are those of the tables but for a rounded quantile. The ends of Elo
    /// follow from them.
    fn keep_rounded(&self, found: &mut MatchSummary) {
        for (name, end) in [("score_low", &mut found.score_low), ("score_high", &mut found.score_high)] {
            let stored = self.manifest().summary.figure(name);
            if let Some(stored) = stored.filter(|stored| (stored - *end).abs() <= ROUNDED_QUANTILE) {
                *end = stored;
            }
        }
    }

    fn search(&mut self) {
        let files = self.manifest().files.clone();
        let (mut positions, mut simulations) = (0, 0);
        let (mut best, mut values) = (Vec::new(), Vec::new());
        for entry in &files {
            let Some(rest) = entry.path.strip_prefix("searches/") else { continue };
            let lines: Vec<LineRow> = self.table(entry);
            for row in &lines {
                if let Some(fault) = legality::line_fault(row) {
                    self.fault(entry, &format!("search {}, line {}: {fault}", row.search, row.line));
                }
            }
            let trees = files.iter().find(|file| file.path.strip_prefix("trees/") == Some(rest));
            let tree_rows: Vec<TreeRow> = trees.map_or_else(Vec::new, |trees| self.table(trees));
            for row in lines.iter().filter(|row| row.line == 1) {
                positions += 1;
                simulations += i64::from(row.simulations);
                best.push(Value::Text(legality::move_text(row.played)));
                values.push(Value::Float(row.q.into()));
                let own = tree_rows.partition_point(|tree| tree.search < row.search)
                    ..tree_rows.partition_point(|tree| tree.search <= row.search);
                let game = Game::from_packed(&row.start_fen, &row.moves).ok();
                let fault = game.and_then(|game| legality::tree_fault(game.position(), &tree_rows[own]));
                if let (Some(fault), Some(trees)) = (fault, trees) {
                    self.fault(trees, &format!("search {}, {fault}", row.search));
                }
            }
        }
        self.findings.positions += positions as u64;
        let members = [
            ("positions", Value::Int(positions)),
            ("simulations", Value::Int(simulations)),
            ("best", Value::List(best)),
            ("values", Value::List(values)),
        ];
        let found = Value::of(members);
        self.summary(&found, &["positions", "simulations", "best", "values"]);
    }

    fn puzzles(&mut self) {
        let mut puzzles: u64 = 0;
        let mut policy_solved: u64 = 0;
        // How many were solved, by budget.
        let mut solved: BTreeMap<u32, u64> = BTreeMap::new();
        for entry in self.manifest().files.clone() {
            let rows: Vec<PuzzleRow> = self.table(&entry);
            for row in &rows {
                if let Some(fault) = legality::puzzle_fault(row) {
                    self.fault(&entry, &format!("puzzle {}: {fault}", row.puzzle));
                }
                *solved.entry(row.simulations).or_default() += u64::from(row.solved);
            }
            for budgets in rows.chunk_by(|a, b| a.puzzle == b.puzzle) {
                puzzles += 1;
                policy_solved += u64::from(budgets.iter().any(|row| row.policy_solved));
            }
        }
        self.findings.positions += puzzles;
        let share = |count: u64| Value::Float(count as f64 / puzzles.max(1) as f64);
        let members = [
            ("puzzles", Value::Int(puzzles as i64)),
            ("policy_solved", share(policy_solved)),
            ("budgets", Value::List(solved.keys().map(|budget| Value::Int(i64::from(*budget))).collect())),
            ("solved", Value::List(solved.values().map(|count| share(*count)).collect())),
        ];
        let found = Value::of(members);
        self.summary(&found, &["puzzles", "policy_solved", "budgets", "solved"]);
    }

    fn answers(&mut self) {
        let mut rows: Vec<AnswerRow> = Vec::new();
        for entry in self.manifest().files.clone() {
            let own: Vec<AnswerRow> = self.table(&entry);
            for row in &own {
                if let Some(fault) = legality::answer_fault(row) {
                    self.fault(&entry, &format!("puzzle {}: {fault}", row.puzzle));
                }
            }
            rows.extend(own);
        }
        self.findings.positions += rows.len() as u64;
        let found = summarise_answers(&rows);
        self.summary(&found, &["puzzles", "solved", "faults", "nodes", "milliseconds"]);
    }

    /// Means are added up by shards, as the step does.
    fn predictions(&mut self) {
        let mut found = PredictionSums::default();
        for entry in self.manifest().files.clone() {
            let mut shard = PredictionSums::default();
            for row in self.table::<PredictionRow>(&entry) {
                if let Some(fault) = legality::prediction_fault(&row) {
                    self.fault(&entry, &format!("game {}, ply {}: {fault}", row.game, row.ply));
                }
                shard.add(&row);
            }
            found.merge(&shard);
        }
        self.findings.positions += found.positions;
        let known = [
            "positions",
            "policy_loss",
            "policy_entropy",
            "policy_accuracy",
            "policy_top_three",
            "value_loss",
            "moves_left_loss",
            "brier",
            "calibration_error",
        ];
        let found = found.to_value();
        self.summary(&found, &known);
        if self.manifest().kind_version >= SCORED_POSITIONS {
            self.summary(&found, &["scored_positions"]);
        }
    }

    /// The net that a step has made, and the curves of its training.
    fn network(&mut self) {
        for entry in self.manifest().files.clone() {
            let path = self.root.path(&entry.path);
            let is_kind = |kind: &str| Path::new(&entry.path).extension().is_some_and(|found| found == kind);
            if entry.path.starts_with("training_states/") {
                if let Err(error) = check_state(&path) {
                    self.findings.problems.push(chain(&error));
                }
            } else if is_kind("safetensors") {
                if let Err(error) = Checkpoint::load(&path) {
                    self.findings.problems.push(chain(&error));
                }
            } else if entry.path.starts_with("training/") {
                let rows: Vec<TrainingRow> = self.table(&entry);
                if let Some(last) = rows.last() {
                    self.summary(
                        &last_update(last),
                        &["updates", "loss", "policy_loss", "value_loss", "policy_accuracy"],
                    );
                }
            } else if entry.path.starts_with("validation/") {
                let rows: Vec<ValidationRow> = self.table(&entry);
                if let Some(last) = rows.last() {
                    let found = [("validation_loss".to_owned(), measured(last.loss))];
                    self.summary(&Value::Group(found.into()), &["validation_loss"]);
                }
            }
        }
    }

    /// Compares figures of the manifest with those of the tables.
    fn summary(&mut self, tables: &Value, names: &[&str]) {
        for name in names {
            let (stored, found) = (self.manifest().summary.member(name), tables.member(name));
            if !stored.zip(found).is_none_or(|(stored, found)| is_same(stored, found)) || stored.is_none() {
                let stored = stored.map_or_else(|| "missing".to_owned(), ToString::to_string);
                let found = found.map_or_else(String::new, ToString::to_string);
                let cause = format!("its `{name}` is {stored}, and that of its tables {found}");
                let problem = Remedy::Step.damaged(&self.step.path, cause);
                self.findings.problems.push(chain(&problem));
            }
        }
    }
}

/// The figures of a training's last updates.
fn last_update(row: &TrainingRow) -> Value {
    let members = [
        ("updates", Value::Int(row.update.into())),
        ("loss", measured(row.loss)),
        ("policy_loss", measured(row.policy_loss)),
        ("value_loss", measured(row.value_loss)),
        ("policy_accuracy", measured(row.policy_accuracy)),
    ];
    Value::of(members)
}

/// A figure as summaries have it: `()` where the table has no number, because there was nothing to measure.
fn measured(figure: f64) -> Value {
    if figure.is_nan() { Value::None } else { Value::Float(figure) }
}

/// Whether two figures are the same, but for the rounding of sums in another order.
fn is_same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::List(a), Value::List(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| is_same(a, b)),
        (a, b) => match (a.as_f64(), b.as_f64()) {
            (Some(a), Some(b)) => a == b || (a - b).abs() <= 1e-9 * a.abs().max(b.abs()).max(1e-3),
            _ => a == b,
        },
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use dc0_core::params::Value;
    use dc0_runs::view::FinishedStep;
    use dc0_runs::{Folder, Manifest};

    use super::{Findings, verify};

    #[test]
    fn a_step_of_an_unknown_kind_is_reported() {
        let manifest = Manifest {
            version: 1,
            step: "ab".repeat(32),
            kind: "distill".to_owned(),
            kind_version: 1,
            params: Value::group(),
            inputs: Vec::new(),
            seed: 1,
            files: Vec::new(),
            summary: Value::group(),
        };
        let step = FinishedStep { path: "x/steps/0000-distill-abababab.json".into(), manifest };
        let mut findings = Findings::default();
        verify(&Folder::at(Path::new("x")), &step, &mut findings);
        let [problem] = &findings.problems[..] else { panic!("{:?}", findings.problems) };
        assert!(
            problem.contains("0000-distill-abababab.json: its step is of the kind `distill`"),
            "{problem}"
        );
    }
}
