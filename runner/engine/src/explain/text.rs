//! An explanation as text, for terminals of a hundred columns.

use std::fmt::Write as _;

use dc0_core::board::Side;
use dc0_core::network::parameter_count;
use dc0_core::search::Proof;

use super::figures::{bar, chances, line, percent, signed, wdl};
use super::study::{Searched, Study};
use super::tree::{Branches, Twig, tree};
use crate::play::board::{self, Scene, board};
use dc0_process::figures::amount;
use dc0_process::look::{Look, Tone, ascii, padded, width};

/// Columns of the page.
const COLUMNS: usize = 98;

/// Columns of bars.
const BAR: usize = 32;

pub(super) fn page(study: &Study, look: Look) -> String {
    let parts = [position(study, look), net(study, look), search(study, look), text_tree(study, look)];
    let page = parts.map(|lines| lines.join("\n")).join("\n\n");
    if look.is_unicode { page } else { ascii(&page) }
}

fn heading(text: &str, look: Look) -> String {
    look.tone(text, Tone::Bold)
}

/// The board, with what was asked beside it.
fn position(study: &Study, look: Look) -> Vec<String> {
    let game = study.game();
    let scene = Scene {
        position: game.position(),
        last: game.moves().last().copied(),
        is_flipped: study.side() == Side::Black,
        look,
    };
    let beside = beside(study);
    let mut lines = Vec::new();
    for (at, rank) in board(&scene).iter().enumerate() {
        let beside = beside.get(at).map_or("", String::as_str);
        lines.push(format!("{}   {beside}", padded(rank, board::WIDTH)).trim_end().to_owned());
    }
    lines
}

fn beside(study: &Study) -> Vec<String> {
    let (position, tower, search) = (study.game().position(), &study.spec.tower, &study.params.search);
    let parameters = amount(parameter_count(&study.spec) as f64);
    vec![
        format!("{:?} to move; values are for {:?} throughout", study.side(), study.side()),
        position.fen(),
        String::new(),
        format!("net     {}", study.name),
        format!("        {} {}×{}, {parameters} parameters", tower.kind.word(), tower.blocks, tower.filters),
        format!("search  {} simulations by {}", search.simulations, search.root.rule.title()),
    ]
}

fn net(study: &Study, look: Look) -> Vec<String> {
    let (opinion, side) = (&study.net, study.side());
    let wdl = opinion.wdl;
    let mut lines = vec![
        heading(&format!("The net, in one look, for {side:?}"), look),
        format!("  {}  {}", chances(wdl, BAR, look), shares(wdl)),
        format!("  value {} = P(win) - P(loss)", signed(wdl.value().into())),
    ];
    if let Some(plies) = opinion.moves_left {
        lines.push(format!("  about {plies:.0} plies left"));
    }
    let shown = opinion.moves.len().min(study.params.top as usize);
    let most = f64::from(opinion.moves[0].1);
    for (played, prior) in &opinion.moves[..shown] {
        let (san, prior) = (study.game().position().san(*played), f64::from(*prior));
        let bar = bar(prior / most, BAR, look);
        lines.push(format!("  {san:<8}{:>7}  {bar}", percent(prior)).trim_end().to_owned());
    }
    lines.extend(others(&opinion.moves[shown..].iter().map(|(_, prior)| *prior).collect::<Vec<_>>()));
    lines
}

fn shares(wdl: dc0_core::network::Wdl) -> String {
    let [win, draw, loss] = [wdl.win, wdl.draw, wdl.loss].map(|share| percent(share.into()));
    format!("win {win}  draw {draw}  loss {loss}")
}

/// What is left out of a list of probabilities.
fn others(left_out: &[f32]) -> Option<String> {
    let sum: f32 = left_out.iter().sum();
    let share = percent(sum.into());
    let moves = if left_out.len() == 1 { "move" } else { "moves" };
    (!left_out.is_empty()).then(|| format!("  {:<8}{share:>7}  in {} other {moves}", "", left_out.len()))
}

fn search(study: &Study, look: Look) -> Vec<String> {
    let search = &study.search;
    let (value, draw) = search.root_value();
    let side = study.side();
    let wdl = wdl(value, draw);
    let mut lines = vec![
        heading(&format!("The search, after {} simulations, for {side:?}", search.visits()), look),
        format!("  {}  {}", chances(wdl, BAR, look), shares(wdl)),
        format!(
            "  value {}; the net alone said {}{}",
            signed(value),
            signed(study.net.wdl.value().into()),
            proven(search.proof())
        ),
        String::new(),
        look.tone(&titles(study), Tone::Dim),
    ];
    lines.extend(study.shown().iter().map(|of| row(study, of)));
    lines.extend(rest(study));
    if search.root_scores().is_some() {
        lines.push(look.tone(
            if study.counts_plies() {
                "  Q: mean value; U: what exploring it is worth; M: what plies left count for; the largest Q + U + M is next"
            } else {
                "  Q: mean value; U: what exploring it is worth; the largest Q + U is visited next"
            },
            Tone::Dim,
        ));
    }
    lines
}

fn proven(proof: Option<Proof>) -> String {
    proof.map_or(String::new(), |proof| format!("; it is proven: a {}", word(proof)))
}

/// A result in a word.
pub(super) fn word(proof: Proof) -> &'static str {
    match proof {
        Proof::Loss => "loss",
        Proof::Draw => "draw",
        Proof::Win => "win",
    }
}

fn titles(study: &Study) -> String {
    let start =
        format!("  {:<8}{:>7}{:>8}{:>8}{:>8}{:>9}", "move", "visits", "target", "prior", "change", "Q");
    let middle = if study.search.root_scores().is_some() {
        let (plies, sum) = if study.counts_plies() { ("       M", "Q + U + M") } else { ("", "Q + U") };
        format!("{:>8}{plies}{sum:>width$}", "U", width = sum_columns(study))
    } else {
        String::new()
    };
    format!("{start}{middle}  expected moves")
}

/// Columns of the sum that PUCT goes by, as its title needs them.
fn sum_columns(study: &Study) -> usize {
    if study.counts_plies() { 11 } else { 8 }
}

fn row(study: &Study, of: &Searched) -> String {
    let (seen, position) = (&of.seen, study.game().position());
    let change = of.target - f64::from(study.net_prior(seen.played));
    let q = of.score.map(|score| score.q).or(seen.value);
    let q = if seen.visits == 0 && seen.proof.is_none() {
        "-".to_owned()
    } else {
        q.map_or("-".to_owned(), signed)
    };
    let mut text = format!(
        "  {:<8}{:>7}{:>8}{:>8}{:>8}{q:>9}",
        position.san(seen.played),
        seen.visits,
        percent(of.target),
        percent(seen.prior.into()),
        format!("{:+.1}%", 100.0 * change),
    );
    if let Some(score) = of.score {
        let plies = if study.counts_plies() { format!("{:>8}", signed(score.plies)) } else { String::new() };
        let (sum, width) = (signed(score.score), sum_columns(study));
        write!(text, "{:>8.3}{plies}{sum:>width$}", score.u).expect("text takes everything");
    }
    let proof = seen.proof.map_or(String::new(), |proof| format!("proven {}: ", word(proof)));
    let columns = COLUMNS.saturating_sub(text.len() + 2 + proof.len());
    format!("{text}  {proof}{}", line(position, &of.line, columns)).trim_end().to_owned()
}

/// What the table of moves leaves out.
fn rest(study: &Study) -> Option<String> {
    let left_out = &study.moves[study.shown().len()..];
    let visits: u32 = left_out.iter().map(|of| of.seen.visits).sum();
    let target: f64 = left_out.iter().map(|of| of.target).sum();
    let moves = if left_out.len() == 1 { "move" } else { "moves" };
    let (count, target) = (left_out.len(), percent(target));
    (count > 0).then(|| format!("  {:<8}{visits:>7}{target:>8}  in {count} other {moves}", ""))
}

fn text_tree(study: &Study, look: Look) -> Vec<String> {
    let branches = tree(study);
    let params = &study.params;
    let about = format!("The tree, {} plies deep, values for {:?}", params.depth, study.side());
    let mut drawn = Vec::new();
    draw(&branches, "", look, &mut drawn);
    let widest = drawn.iter().map(|(start, _)| width(start)).max().unwrap_or(0).max(12);
    let mut lines = vec![heading(&about, look)];
    let titles = format!("{}{:>8}{:>9}{:>8}", padded("", widest + 2), "visits", "Q", "prior");
    lines.push(look.tone(&titles, Tone::Dim));
    for (start, twig) in &drawn {
        let numbers = match twig {
            Some(twig) => numbers(twig, study.search.visits(), look),
            None => String::new(),
        };
        lines.push(format!("  {}{numbers}", padded(start, widest)).trim_end().to_owned());
    }
    lines
}

fn numbers(twig: &Twig, all: u32, look: Look) -> String {
    let share = f64::from(twig.visits) / f64::from(all);
    let proof = twig.proof.map_or(String::new(), |proof| format!(" proven {proof}"));
    let shared = if twig.node_visits > twig.visits {
        format!(" (of {}, reached in other ways too)", twig.node_visits)
    } else {
        String::new()
    };
    let bar = bar(share, BAR, look);
    let (q, prior) = (signed(twig.q), percent(twig.prior.into()));
    format!("{:>8}{q:>9}{prior:>8}  {bar}{proof}{shared}", twig.visits)
}

/// The moves of a position as lines that begin with the branches that lead to them.
fn draw<'a>(branches: &'a Branches, before: &str, look: Look, lines: &mut Vec<(String, Option<&'a Twig>)>) {
    let [fork, last, bar, blank] =
        if look.is_unicode { ["├─ ", "└─ ", "│  ", "   "] } else { ["|- ", "`- ", "|  ", "   "] };
    let count = branches.shown.len();
    let has_rest = branches.others > 0 && count > 0;
    for (at, twig) in branches.shown.iter().enumerate() {
        let is_last = at + 1 == count && !has_rest;
        lines.push((format!("{before}{}{}", if is_last { last } else { fork }, twig.san), Some(twig)));
        draw(&twig.below, &format!("{before}{}", if is_last { blank } else { bar }), look, lines);
    }
    if has_rest {
        let (others, visits) = (branches.others, branches.other_visits);
        let unit = if visits == 1 { "visit" } else { "visits" };
        lines.push((format!("{before}{last}{others} more, {visits} {unit}"), None));
    }
}
