//! The pages and their assets; all are compiled into the program.

use dc0_analysis::web;

use super::reply::Reply;

const FRAME: &str = include_str!("page/frame.html");

/// A page: its title, its content, its script, and what readers without JavaScript see instead.
struct Page {
    title: &'static str,
    body: &'static str,
    script: &'static str,
    plain: String,
}

/// The list of runs.
pub(super) fn home(plain: String) -> Reply {
    page(&Page { title: "Runs", body: include_str!("page/home.html"), script: "home.js", plain })
}

/// A run.
pub(super) fn run(plain: String) -> Reply {
    page(&Page { title: "Run", body: include_str!("page/run.html"), script: "run.js", plain })
}

/// A sweep.
pub(super) fn sweep(plain: String) -> Reply {
    page(&Page { title: "Sweep", body: include_str!("page/sweep.html"), script: "sweep.js", plain })
}

/// Several runs in the same charts.
pub(super) fn compare(plain: String) -> Reply {
    page(&Page { title: "Comparison", body: include_str!("page/compare.html"), script: "compare.js", plain })
}

/// A game.
pub(super) fn play() -> Reply {
    let plain = "<p>Playing needs JavaScript.</p>".to_owned();
    page(&Page { title: "Play", body: include_str!("page/play.html"), script: "play.js", plain })
}

/// The page for addresses that do not exist.
pub(super) fn not_found() -> Reply {
    let body = "<h1>Not found</h1><p>There is no such page, run or sweep. <a href=\"/\">All runs</a></p>";
    Reply::html(404, filled(&Page { title: "Not found", body, script: "common.js", plain: String::new() }))
}

fn page(page: &Page) -> Reply {
    Reply::html(200, filled(page))
}

fn filled(page: &Page) -> String {
    let Page { title, body, script, plain } = page;
    // What is plain has names of runs, in which nothing may be replaced.
    FRAME
        .replace("{title}", title)
        .replace("{pieces}", &web::hidden_pieces())
        .replace("{script}", script)
        .replace("{body}", body)
        .replace("{plain}", plain)
}

/// A style sheet or a script.
pub(super) fn asset(name: &str) -> Option<Reply> {
    let script = |text: &'static str| Some(Reply::new(200, "text/javascript; charset=utf-8", text));
    match name {
        "style.css" => Some(Reply::new(
            200,
            "text/css; charset=utf-8",
            [web::COLOURS, include_str!("page/style.css")].concat(),
        )),
        "theme.js" => script(web::THEME),
        "common.js" => script(include_str!("page/common.js")),
        "board.js" => script(web::BOARD),
        "home.js" => script(include_str!("page/home.js")),
        "run.js" => script(include_str!("page/run.js")),
        "game_pages.js" => script(include_str!("page/game_pages.js")),
        "games.js" => script(include_str!("page/games.js")),
        "compare.js" => script(include_str!("page/compare.js")),
        "compared.js" => script(include_str!("page/compared.js")),
        "report.js" => script(include_str!("page/report.js")),
        "sweep.js" => script(include_str!("page/sweep.js")),
        "play.js" => script(include_str!("page/play.js")),
        _ => None,
    }
}
