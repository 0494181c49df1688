//! An explanation as one self-contained HTML page.

use std::fmt::Write as _;

use dc0_analysis::charts::escape;
use dc0_core::board::{Position, Side};
use dc0_core::network::{Wdl, parameter_count};

use super::figures::{change, percent, signed, wdl};
use super::picture::{STYLE, picture};
use super::squares::squares;
use super::study::{Searched, Study};
use crate::score::Calibrated;
use crate::variation::whole_moves;
use dc0_process::format::{amount, counted};

const PAGE_STYLE: &str = include_str!("page.css");

pub(super) fn page(study: &Study) -> String {
    let (side, position) = (study.side(), study.game().position());
    let title = format!("{side:?} to move, explained");
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
         <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{title}</title>\n\
         <style>\n{PAGE_STYLE}{STYLE}</style>\n</head>\n<body>\n<main>\n<h1>{title}</h1>\n\
         <p>{}. Values are P(win) − P(loss) for {side:?} throughout.</p>\n\
         <div class=\"two\">\n<section>\n{}\n<p>{}</p>\n</section>\n<section>\n{}\n</section>\n</div>\n\
         <section>\n{}\n</section>\n<section>\n<h2>The tree</h2>\n<div class=\"scroll\">{}</div>\n</section>\n</main>\n</body>\n</html>",
        escape(&about(study)),
        board(position, side),
        position.fen(),
        net(study),
        search(study),
        picture(study, ""),
    )
}

fn about(study: &Study) -> String {
    let (tower, parameters) = (&study.spec.tower, amount(parameter_count(&study.spec) as f64));
    format!(
        "Net: {} ({} {}, {parameters} parameters). Search: {}",
        study.name,
        tower.kind.name(),
        tower.size(),
        counted(study.params.search.simulations as usize, "simulation")
    )
}

fn board(position: &Position, side: Side) -> String {
    let squares = squares(position, None, side == Side::Black, (0.0, 0.0, 320.0));
    format!(
        "<svg class=\"explain\" viewBox=\"0 0 320 320\" width=\"320\" role=\"img\" aria-label=\"The board\">{squares}</svg>"
    )
}

fn net(study: &Study) -> String {
    let output = &study.net;
    let plies = output.moves_left.map_or(String::new(), |plies| format!("; about {plies:.0} plies left"));
    let mut html = format!(
        "<h2>The net alone</h2>\n{}<p>Value {}{plies}</p>\n{}<table><tr><th>move<th class=\"n\">probability<th>",
        chances(output.wdl),
        signed(output.wdl.value().into()),
        expected(study.net_score())
    );
    let most = f64::from(output.moves[0].1);
    for (mv, prior) in output.moves.iter().take(study.params.top as usize) {
        let (san, prior) = (study.game().position().san(*mv), f64::from(*prior));
        write!(
            html,
            "<tr><td>{san}<td class=\"n\">{}<td class=\"wide\"><div class=\"bar\" style=\"width:{:.1}%\"></div>",
            percent(prior),
            100.0 * prior / most
        )
        .expect("writing to a string cannot fail");
    }
    html + "</table>"
}

/// What the values mean in games, by the fit of the net's values to results.
fn expected(score: Calibrated) -> String {
    let [win, draw, loss] = score.wdl().map(percent);
    format!("<p>In games {}: win {win}, draw {draw}, loss {loss}</p>\n", score.text())
}

fn chances(wdl: Wdl) -> String {
    let parts = [("win", wdl.win), ("draw", wdl.draw), ("loss", wdl.loss)];
    let bar = parts
        .map(|(name, share)| format!("<span class=\"{name}\" style=\"width:{:.1}%\"></span>", 100.0 * share));
    let labels = parts.map(|(name, share)| format!("{name} {}", percent(share.into())));
    format!("<div class=\"chances\">{}</div><p>{}</p>\n", bar.concat(), labels.join(", "))
}

fn search(study: &Study) -> String {
    let root = study.search.root_value();
    let proof = study.search.proof().map_or(String::new(), |proof| format!("; proven {}", proof.name()));
    let scores = study.search.root_scores().is_some();
    let scores = match (scores, study.counts_moves_left()) {
        (false, _) => "",
        (true, false) => "<th class=\"n\">U<th class=\"n\">Q + U",
        (true, true) => "<th class=\"n\">U<th class=\"n\">M<th class=\"n\">Q + U + M",
    };
    let mut html = format!(
        "<h2>The search, after {}</h2>\n{}<p>Value {}; the net alone said {}{proof}</p>\n{}<div class=\"scroll\"><table>\
         <tr><th>move<th class=\"n\">visits<th class=\"n\">target<th class=\"n\">prior<th class=\"n\">change<th class=\"n\">Q{scores}\
         <th>expected moves",
        counted(study.search.visits() as usize, "simulation"),
        chances(wdl(root)),
        signed(root.value),
        signed(study.net.wdl.value().into()),
        expected(study.search_score()),
    );
    for searched in study.shown() {
        html += &row(study, searched);
    }
    let sum = if study.counts_moves_left() {
        "M: the moves-left bonus; the largest Q + U + M"
    } else {
        "the largest Q + U"
    };
    html + "</table></div>\n<p>Target: the policy target; change: target less the net's prior. Q: mean value; U: exploration bonus; "
        + sum
        + " is visited next.</p>"
}

fn row(study: &Study, searched: &Searched) -> String {
    let (edge, position) = (&searched.edge, study.game().position());
    let q = edge.value.map_or("–".to_owned(), signed);
    let mut html = format!(
        "\n<tr><td>{}<td class=\"n\">{}<td class=\"n\">{}<td class=\"n\">{}<td class=\"n\">{}<td class=\"n\">{q}",
        position.san(edge.played),
        edge.visits,
        percent(searched.target),
        percent(edge.prior.into()),
        change(searched.target - f64::from(study.net_prior(edge.played))),
    );
    if let Some(score) = searched.score {
        let moves_left = if study.counts_moves_left() {
            format!("<td class=\"n\">{}", signed(score.plies))
        } else {
            String::new()
        };
        write!(html, "<td class=\"n\">{:.3}{moves_left}<td class=\"n\">{}", score.u, signed(score.score))
            .expect("writing to a string cannot fail");
    }
    let proof = edge.proof.map_or(String::new(), |proof| format!("proven {}: ", proof.name()));
    html + format!("<td class=\"line\">{proof}{}", whole_moves(position, &searched.line, 60)).as_str()
}
