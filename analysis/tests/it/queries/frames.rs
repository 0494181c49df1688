//! Frames built step by step.

use dc0_analysis::{AnalysisError, Frame};

use super::runs::{database, run, table};

#[test]
fn frames_give_the_same_rows_as_sql() {
    let folder = run();
    let games = database(folder.path()).table("games").expect("the table");
    let by = ["reason".to_owned()];
    let aggregates = [("n", "count(*)"), ("plies", "avg(len(moves))")]
        .map(|(name, text)| (name.to_owned(), text.to_owned()));
    let grouped = games
        .filter("iteration > 5")
        .expect("filters")
        .group_by(&by)
        .expect("groups")
        .agg(&aggregates)
        .expect("counts");
    assert_eq!(table(&grouped), "reason     n  plies\ncheckmate  1      2\nthreefold  2    2.5");
    assert_eq!(
        table(&grouped.sort("n desc").expect("sorts").head(1).expect("cuts")),
        "reason     n  plies\nthreefold  2    2.5"
    );
    let lengths = games
        .select(&["iteration".to_owned(), "game".to_owned(), "len(moves) as plies".to_owned()])
        .expect("selects");
    let on = ["iteration".to_owned(), "game".to_owned()];
    let both = lengths
        .join(&games.select(&[on[0].clone(), on[1].clone(), "result".to_owned()]).expect("selects"), &on)
        .expect("joins");
    assert_eq!(both.columns(), ["iteration", "game", "plies", "result"]);
    assert_eq!(both.rows().expect("rows").len(), 5);
}

#[test]
fn mistakes_show_at_once() {
    let folder = run();
    let games = database(folder.path()).table("games").expect("the table");
    let message = |frame: Result<Frame, AnalysisError>| frame.expect_err("an error").to_string();
    assert_eq!(message(games.filter("resul = 0")), "there is no column `resul`; did you mean `result`?");
    assert!(message(games.filter("result = 0 order by game")).starts_with("this is not SQL: "));
    assert!(message(games.sort("game limit 3")).starts_with("this is not SQL: "));
    let by = games.group_by(&["reson".to_owned()]).expect_err("an error").to_string();
    assert_eq!(by, "there is no column `reson`; did you mean `reason`?");
    assert_eq!(
        message(games.join(&games, &["gme".to_owned()])),
        "there is no column `gme`; did you mean `game`?"
    );
    assert_eq!(
        message(database(folder.path()).table("gams")),
        "there is no table `gams`; did you mean `games`?"
    );
}
