//! The step that searches given positions: their best lines and their trees as tables.

use std::ops::Range;
use std::path::Path;

use dc0_core::board::{Game, Move};
use dc0_core::durable;
use dc0_core::event::{Event, Observer};
use dc0_core::network::Evaluator;
use dc0_core::params::{Param, Value};
use dc0_core::search::{ANALYSIS_RULES, AnalysisParams, LineRow, Search, TreeRow, analyse};
use dc0_core::selfplay::{Shard, lanes, shards_of};
use dc0_core::store::{read_entry, write_table};
use serde::{Deserialize, Serialize};

use super::metered::metered;
use super::{Shop, StepError, files};
use crate::handles::{Analysis, Network, ToSearch};
use dc0_runs::{Begun, Input, Product, RunError, ShardNote, StepCall, Workplace};

/// What a shard adds to the summary.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
struct Part {
    positions: u64,
    simulations: u64,
    evaluations: u64,
    proven: u64,
    /// The best move of each position.
    best: Vec<String>,
    /// Its value for the side to move.
    values: Vec<f64>,
}

pub(crate) fn call(
    network: &Network,
    what: &ToSearch,
    params: &AnalysisParams,
) -> Result<StepCall, StepError> {
    let what = match what {
        ToSearch::Games(games) => ("positions", durable::digest(texts(games).join("\n").as_bytes())),
        ToSearch::GoOn(before) => {
            let digests: Vec<&str> = before.0.files.iter().map(|file| file.blake3.as_str()).collect();
            ("searches", durable::digest(digests.join("\n").as_bytes()))
        }
    };
    let inputs = [("network", network.0.digest.clone()), what];
    let mut inputs = inputs.map(|(name, digest)| Input { name: name.to_owned(), digest }).to_vec();
    inputs.extend(files::tablebases(&params.search)?);
    Ok(StepCall { kind: "search", version: 1, params: params.to_value(), inputs })
}

/// Each game as its start and its moves.
fn texts(games: &[Game]) -> Vec<String> {
    let text = |game: &Game| {
        let moves = game.moves().iter().map(|played| format!(" {played}"));
        game.start().fen() + moves.collect::<String>().as_str()
    };
    games.iter().map(text).collect()
}

/// What a kill left of such a step.
pub(crate) fn begun(place: &Workplace, what: &ToSearch, params: &AnalysisParams) -> Result<Begun, RunError> {
    let of = shards_of(what.positions() as u32, params.shard_positions).len() as u32;
    let finished = place.finished_shards::<Part>(of)?;
    let amount = finished.values().map(|note| note.part.positions).sum();
    Ok(Begun { parts: finished.len() as u32, of, unit: "shards", amount })
}

pub(super) fn body(
    place: &Workplace,
    shop: &Shop,
    network: &Network,
    (what, params): (&ToSearch, &AnalysisParams),
) -> Result<Product, StepError> {
    let net = files::load(&place.folder, network)?;
    let shards = shards_of(what.positions() as u32, params.shard_positions);
    let finished = place.finished_shards::<Part>(shards.len() as u32)?;
    let done = finished.values().map(|note| note.part.positions).sum();
    let rest: Vec<Shard> =
        shards.iter().copied().filter(|shard| !finished.contains_key(&shard.index)).collect();
    let label = format!("searches by {}", network.name());
    let progress = shop.progress(place, &label, ("positions", done, what.positions() as u64));
    let tables = params.search.open_tablebases()?;
    let search = |evaluator: &mut Box<dyn Evaluator>, shard| {
        let begun = begin(place, what, params, shard)?.into_iter();
        let mut searches: Vec<Search> = begun.map(|search| search.with_tablebases(tables.clone())).collect();
        evaluator.start_shard();
        let evaluations = analyse(&mut searches, &mut **evaluator, &progress)?;
        progress.event(Event::Work { unit: "positions", amount: searches.len() as u64 });
        Ok((searches, evaluations))
    };
    let keep = |shard, searched: (Vec<Search>, u64)| keep(place, network, params, (shard, &searched));
    place.meter.plays_on(shop.lanes);
    let worker = || Ok::<_, StepError>(metered(shop.evaluators.make(&net)?, (&place.meter, 1), &net.spec));
    lanes::run(&rest, shop.lanes, &worker, &search, &keep)?;
    shop.close(&progress);
    product(place, shards.len() as u32)
}

/// The searches of a shard, as they begin.
fn begin(
    place: &Workplace,
    what: &ToSearch,
    params: &AnalysisParams,
    shard: Shard,
) -> Result<Vec<Search>, StepError> {
    let numbers = shard.game_numbers();
    match what {
        ToSearch::Games(games) => {
            let games = &games[numbers.start as usize..numbers.end as usize];
            let search = |game: &Game| Search::new(game.clone(), ANALYSIS_RULES, params.search.clone());
            Ok(games.iter().map(search).collect())
        }
        ToSearch::GoOn(before) => go_on(place.folder.root(), before, params, numbers),
    }
}

/// Searches made again of the tables of an earlier step.
fn go_on(
    root: &Path,
    before: &Analysis,
    params: &AnalysisParams,
    numbers: Range<u32>,
) -> Result<Vec<Search>, StepError> {
    let mut searches = Vec::new();
    for pair in before.0.files.chunks_exact(2) {
        let mut lines: Vec<LineRow> = read_entry(root, &pair[0])?;
        lines.retain(|line| line.line == 1 && numbers.contains(&line.search));
        if lines.is_empty() {
            continue;
        }
        let trees: Vec<TreeRow> = read_entry(root, &pair[1])?;
        for line in lines {
            let rows = trees.iter().position(|row| row.search == line.search).map_or(&[][..], |start| {
                let rows = &trees[start..];
                &rows[..rows.iter().take_while(|row| row.search == line.search).count()]
            });
            let game = game_of(&line)?;
            let search = Search::restore(game, ANALYSIS_RULES, params.search.clone(), rows)?;
            searches.push(search);
        }
    }
    Ok(searches)
}

/// The game that a line was searched in.
fn game_of(line: &LineRow) -> Result<Game, StepError> {
    let moves = line.moves.iter().filter_map(|packed| Move::from_packed(*packed));
    let moves: Vec<String> = moves.map(|played| played.to_string()).collect();
    Ok(Game::from_text(&format!("{} moves {}", line.start_fen, moves.join(" ")))?)
}

fn keep(
    place: &Workplace,
    network: &Network,
    params: &AnalysisParams,
    (shard, (searches, evaluations)): (Shard, &(Vec<Search>, u64)),
) -> Result<(), StepError> {
    let (name, number) = (files::short_digest(&network.0.digest), shard.index.to_string());
    let provenance = files::provenance(place, [("network", name), ("shard", &number)]);
    let numbered = || shard.game_numbers().zip(searches);
    let lines: Vec<LineRow> =
        numbered().flat_map(|(number, search)| LineRow::of(search, number, params.lines)).collect();
    let root = place.folder.root();
    let mut files = vec![write_table(root, &place.part("searches", shard.index), &lines, &provenance)?];
    if params.tree {
        let rows: Vec<TreeRow> =
            numbered().flat_map(|(number, search)| search.rows(number, params.untried)).collect();
        files.push(write_table(root, &place.part("trees", shard.index), &rows, &provenance)?);
    }
    Ok(place.keep_shard(shard.index, &ShardNote { files, part: Part::of(&lines, searches, *evaluations) })?)
}

impl Part {
    fn of(lines: &[LineRow], searches: &[Search], evaluations: u64) -> Self {
        let best: Vec<&LineRow> = lines.iter().filter(|line| line.line == 1).collect();
        let text =
            |packed: u16| Move::from_packed(packed).map(|played| played.to_string()).unwrap_or_default();
        Self {
            positions: searches.len() as u64,
            simulations: searches.iter().map(|search| u64::from(search.visits())).sum(),
            evaluations,
            proven: searches.iter().filter(|search| search.proof().is_some()).count() as u64,
            best: best.iter().map(|line| text(line.played)).collect(),
            values: best.iter().map(|line| f64::from(line.q)).collect(),
        }
    }
}

/// Adds the shards up in their order.
fn product(place: &Workplace, shards: u32) -> Result<Product, StepError> {
    let (mut whole, mut entries) = (Part::default(), Vec::new());
    for note in place.finished_shards::<Part>(shards)?.into_values() {
        entries.extend(note.files);
        whole.positions += note.part.positions;
        whole.simulations += note.part.simulations;
        whole.evaluations += note.part.evaluations;
        whole.proven += note.part.proven;
        whole.best.extend(note.part.best);
        whole.values.extend(note.part.values);
    }
    Ok(Product { files: entries, summary: whole.summary() })
}

impl Part {
    fn summary(self) -> Value {
        let text = |text: String| Value::Text(text);
        let members = [
            ("positions", Value::Int(self.positions as i64)),
            ("simulations", Value::Int(self.simulations as i64)),
            ("evaluations", Value::Int(self.evaluations as i64)),
            ("proven", Value::Int(self.proven as i64)),
            ("best", Value::List(self.best.into_iter().map(text).collect())),
            ("values", Value::List(self.values.into_iter().map(Value::Float).collect())),
        ];
        Value::Group(members.map(|(name, value)| (name.to_owned(), value)).into())
    }
}

/// A summary as `--check` assumes it.
pub fn assumed_searches(positions: u64, params: &AnalysisParams) -> Value {
    Part {
        positions,
        simulations: positions * u64::from(params.search.simulations),
        evaluations: positions * u64::from(params.search.simulations),
        best: vec!["e2e4".to_owned(); positions as usize],
        values: vec![0.0; positions as usize],
        ..Part::default()
    }
    .summary()
}
