//! An explanation as text, for terminals with a hundred columns.

use std::fmt::Write as _;

use dc0_core::board::Side;
use dc0_core::network::parameter_count;
use dc0_core::search::Proof;

use super::figures::{bar, chances, change, percent, signed, wdl};
use super::study::{Searched, Study};
use super::tree::{Branches, TreeNode, tree};
use crate::play::board::{self, Scene, board};
use crate::score::Calibrated;
use crate::variation::whole_moves;
use dc0_process::format::{amount, counted};
use dc0_process::style::{TermStyle, Tone, ascii, padded, width};

/// The width of the page.
const COLUMNS: usize = 98;

/// The width of bars.
const BAR: usize = 32;

pub(super) fn page(study: &Study, style: TermStyle) -> String {
    let parts = [position(study, style), net(study, style), search(study, style), text_tree(study, style)];
    let page = parts.map(|lines| lines.join("\n")).join("\n\n");
    if style.is_unicode { page } else { ascii(&page) }
}

fn heading(text: &str, style: TermStyle) -> String {
    style.tone(text, Tone::Bold)
}

/// The board, with the net and the search beside it.
fn position(study: &Study, style: TermStyle) -> Vec<String> {
    let game = study.game();
    let scene = Scene {
        position: game.position(),
        last: game.moves().last().copied(),
        is_flipped: study.side() == Side::Black,
        style,
    };
    let beside = beside(study);
    let mut lines = Vec::new();
    for (row, rank) in board(&scene).iter().enumerate() {
        let beside = beside.get(row).map_or("", String::as_str);
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
        format!("        {} {}, {parameters} parameters", tower.kind.name(), tower.size()),
        format!(
            "search  {} by {}",
            counted(search.simulations as usize, "simulation"),
            search.root.rule.title()
        ),
    ]
}

fn net(study: &Study, style: TermStyle) -> Vec<String> {
    let (output, side) = (&study.net, study.side());
    let wdl = output.wdl;
    let mut lines = vec![
        heading(&format!("The net alone, for {side:?}"), style),
        format!("  {}  {}", chances(wdl, BAR, style), shares(wdl)),
        format!("  value {} = P(win) - P(loss)", signed(wdl.value().into())),
        expected(study.net_score()),
    ];
    if let Some(plies) = output.moves_left {
        lines.push(format!("  about {plies:.0} plies left"));
    }
    let shown = output.moves.len().min(study.params.top as usize);
    let most = f64::from(output.moves[0].1);
    for (mv, prior) in &output.moves[..shown] {
        let (san, prior) = (study.game().position().san(*mv), f64::from(*prior));
        let bar = bar(prior / most, BAR, style);
        lines.push(format!("  {san:<8}{:>7}  {bar}", percent(prior)).trim_end().to_owned());
    }
    lines.extend(others(&output.moves[shown..].iter().map(|(_, prior)| *prior).collect::<Vec<_>>()));
    lines
}

fn shares(wdl: dc0_core::network::Wdl) -> String {
    let [win, draw, loss] = [wdl.win, wdl.draw, wdl.loss].map(|share| percent(share.into()));
    format!("win {win}  draw {draw}  loss {loss}")
}

/// What the values mean in games, by the fit of the net's values to results.
fn expected(score: Calibrated) -> String {
    let [win, draw, loss] = score.wdl().map(percent);
    format!("  in games {}: win {win}  draw {draw}  loss {loss}", score.text())
}

/// What is left out of a list of probabilities.
fn others(left_out: &[f32]) -> Option<String> {
    let sum: f32 = left_out.iter().sum();
    let share = percent(sum.into());
    let moves = if left_out.len() == 1 { "move" } else { "moves" };
    (!left_out.is_empty()).then(|| format!("  {:<8}{share:>7}  in {} other {moves}", "", left_out.len()))
}

fn search(study: &Study, style: TermStyle) -> Vec<String> {
    let search = &study.search;
    let root = search.root_value();
    let side = study.side();
    let wdl = wdl(root);
    let mut lines = vec![
        heading(
            &format!("The search, after {}, for {side:?}", counted(search.visits() as usize, "simulation")),
            style,
        ),
        format!("  {}  {}", chances(wdl, BAR, style), shares(wdl)),
        format!(
            "  value {}; the net alone said {}{}",
            signed(root.value),
            signed(study.net.wdl.value().into()),
            proven(search.proof())
        ),
        expected(study.search_score()),
        String::new(),
        style.tone(&titles(study), Tone::Dim),
    ];
    lines.extend(study.shown().iter().map(|searched| row(study, searched)));
    lines.extend(rest(study));
    if search.root_scores().is_some() {
        lines.push(style.tone(
            if study.counts_moves_left() {
                "  Q: mean value; U: exploration bonus; M: moves-left bonus; the largest Q + U + M is visited next"
            } else {
                "  Q: mean value; U: exploration bonus; the largest Q + U is visited next"
            },
            Tone::Dim,
        ));
    }
    lines
}

fn proven(proof: Option<Proof>) -> String {
    proof.map_or(String::new(), |proof| format!("; proven {}", proof.name()))
}

fn titles(study: &Study) -> String {
    let start =
        format!("  {:<8}{:>7}{:>8}{:>8}{:>8}{:>9}", "move", "visits", "target", "prior", "change", "Q");
    let middle = if study.search.root_scores().is_some() {
        let (moves_left, sum) =
            if study.counts_moves_left() { ("       M", "Q + U + M") } else { ("", "Q + U") };
        format!("{:>8}{moves_left}{sum:>width$}", "U", width = sum_columns(study))
    } else {
        String::new()
    };
    format!("{start}{middle}  expected moves")
}

/// Columns of the PUCT score, as wide as its title.
fn sum_columns(study: &Study) -> usize {
    if study.counts_moves_left() { 11 } else { 8 }
}

fn row(study: &Study, searched: &Searched) -> String {
    let (edge, position) = (&searched.edge, study.game().position());
    let q = searched.score.map(|score| score.q).or(edge.value);
    let q = if edge.visits == 0 && edge.proof.is_none() {
        "-".to_owned()
    } else {
        q.map_or("-".to_owned(), signed)
    };
    let mut text = format!(
        "  {:<8}{:>7}{:>8}{:>8}{:>8}{q:>9}",
        position.san(edge.played),
        edge.visits,
        percent(searched.target),
        percent(edge.prior.into()),
        change(searched.target - f64::from(study.net_prior(edge.played))),
    );
    if let Some(score) = searched.score {
        let moves_left =
            if study.counts_moves_left() { format!("{:>8}", signed(score.plies)) } else { String::new() };
        let (sum, width) = (signed(score.score), sum_columns(study));
        write!(text, "{:>8.3}{moves_left}{sum:>width$}", score.u).expect("writing to a string cannot fail");
    }
    let proof = edge.proof.map_or(String::new(), |proof| format!("proven {}: ", proof.name()));
    let columns = COLUMNS.saturating_sub(text.len() + 2 + proof.len());
    format!("{text}  {proof}{}", whole_moves(position, &searched.line, columns)).trim_end().to_owned()
}

/// What the table of moves leaves out.
fn rest(study: &Study) -> Option<String> {
    let left_out = &study.moves[study.shown().len()..];
    let visits: u32 = left_out.iter().map(|searched| searched.edge.visits).sum();
    let target: f64 = left_out.iter().map(|searched| searched.target).sum();
    let moves = if left_out.len() == 1 { "move" } else { "moves" };
    let (count, target) = (left_out.len(), percent(target));
    (count > 0).then(|| format!("  {:<8}{visits:>7}{target:>8}  in {count} other {moves}", ""))
}

fn text_tree(study: &Study, style: TermStyle) -> Vec<String> {
    let branches = tree(study);
    let params = &study.params;
    let about =
        format!("The tree, {} deep, values for {:?}", counted(params.depth as usize, "ply"), study.side());
    let mut drawn = Vec::new();
    draw(&branches, "", style, &mut drawn);
    let widest = drawn.iter().map(|(start, _)| width(start)).max().unwrap_or(0).max(12);
    let mut lines = vec![heading(&about, style)];
    let titles = format!("{}{:>8}{:>9}{:>8}", padded("", widest + 2), "visits", "Q", "prior");
    lines.push(style.tone(&titles, Tone::Dim));
    for (start, node) in &drawn {
        let numbers = match node {
            Some(node) => numbers(node, study.search.visits(), style),
            None => String::new(),
        };
        lines.push(format!("  {}{numbers}", padded(start, widest)).trim_end().to_owned());
    }
    lines
}

fn numbers(node: &TreeNode, all: u32, style: TermStyle) -> String {
    let share = f64::from(node.visits) / f64::from(all);
    let proof = node.proof.map_or(String::new(), |proof| format!(" proven {proof}"));
    let shared = if node.node_visits > node.visits {
        format!(" (of {}, also reached by other paths)", node.node_visits)
    } else {
        String::new()
    };
    let bar = bar(share, BAR, style);
    let (q, prior) = (signed(node.q), percent(node.prior.into()));
    format!("{:>8}{q:>9}{prior:>8}  {bar}{proof}{shared}", node.visits)
}

/// The moves of a position, each as a line that starts with its branch of the drawing.
fn draw<'a>(
    branches: &'a Branches,
    before: &str,
    style: TermStyle,
    lines: &mut Vec<(String, Option<&'a TreeNode>)>,
) {
    let [fork, last, bar, blank] =
        if style.is_unicode { ["├─ ", "└─ ", "│  ", "   "] } else { ["|- ", "`- ", "|  ", "   "] };
    let count = branches.shown.len();
    let has_rest = branches.others > 0 && count > 0;
    for (index, node) in branches.shown.iter().enumerate() {
        let is_last = index + 1 == count && !has_rest;
        lines.push((format!("{before}{}{}", if is_last { last } else { fork }, node.san), Some(node)));
        draw(&node.below, &format!("{before}{}", if is_last { blank } else { bar }), style, lines);
    }
    if has_rest {
        let (others, visits) = (branches.others, branches.other_visits);
        let unit = if visits == 1 { "visit" } else { "visits" };
        lines.push((format!("{before}{last}{others} more, {visits} {unit}"), None));
    }
}
