//! Invalid statements and unreadable files.

use std::fs;

use dc0_analysis::AnalysisError;

use super::runs::{database, rejected, run, table};

#[test]
fn statements_that_are_nested_too_deeply_are_refused() {
    let folder = run();
    let conditions = format!("select count(*) as n from games where game = 0{}", " or game = 1".repeat(300));
    let rows = database(folder.path()).query(&conditions).and_then(|frame| frame.rows()).expect("an answer");
    assert_eq!(rows.len(), 1);
    let within = format!("{}select 1{}", "with a as (".repeat(500), ") select * from a".repeat(500));
    for deep in [format!("select 1{} as n", " + 1".repeat(100)), within] {
        let error = rejected(&deep);
        assert!(error.is_bad_input() && error.to_string().contains("nested too deeply"), "{error}");
    }
}

#[test]
fn errors_name_what_is_wrong_with_a_statement() {
    let message = |statement| {
        let error = rejected(statement);
        assert!(error.is_bad_input(), "{statement}: {error}");
        error.to_string()
    };
    assert_eq!(message("select * from game"), "there is no table `game`; did you mean `games`?");
    assert_eq!(message("select resul from games"), "there is no column `resul`; did you mean `result`?");
    assert_eq!(
        message("select avg(resul) from games group by reason"),
        "there is no column `resul`; did you mean `result`?"
    );
    assert_eq!(
        message("select materal('x') from games"),
        "there is no function `materal`; did you mean `material`?"
    );
    assert!(message("select material(game) from games").contains("No function matches"));
    assert!(message("select cast(reason as integer) from games").contains("Could not convert"));
    assert!(
        message("selec * from games").starts_with("this is not SQL: "),
        "{}",
        message("selec * from games")
    );
    assert!(message("select 1e400").contains("a number is too large"));
    assert!(message("").ends_with("got nothing; runs are read-only"));
    assert!(message("select 1; select 2").contains("got 2 statements"));
    assert!(message("drop table games").contains("got a statement that begins with DROP"));
    let pivot =
        "a PIVOT needs its values here: `pivot games on reason in ('checkmate', 'ply_cap') using count(*)`";
    assert!(message("pivot games on reason using count(*);").contains(pivot));
    for listing in ["show tables", "describe", "select * from (show all tables)"] {
        assert!(message(listing).contains("`dc0-run sql RUN --tables` lists all tables"), "{listing}");
    }
}

#[test]
fn no_statement_reaches_other_files() {
    let (folder, other) = (run(), run());
    let file = other.path().join("games/iteration=0003/part-0a-00000.parquet");
    let file = file.display();
    for statement in [
        format!("select * from read_parquet('{file}')"),
        format!("select * from '{file}'"),
        format!("with inner_one as (select * from read_parquet('{file}')) select * from inner_one"),
        format!("select * from games where game in (select game from read_csv('{file}'))"),
        format!("select (select max(game) from read_parquet('{file}')) from games"),
        format!("select content from read_blob('{file}')"),
        "select * from glob('/*')".to_owned(),
    ] {
        let error = database(folder.path()).query(&statement).and_then(|frame| frame.rows());
        let error = error.expect_err("an error");
        assert!(
            matches!(error, AnalysisError::Table { .. } | AnalysisError::Statement { .. }),
            "{statement}: {error}"
        );
    }
}

#[test]
fn statements_change_no_settings_and_write_nothing() {
    let folder = run();
    for statement in [
        "set threads = 7",
        "copy games to 'x.csv'",
        "attach 'x.db'",
        "create table t as select 1",
        "install httpfs",
        "pragma threads = 3",
        "call pragma_version()",
    ] {
        let error = database(folder.path()).query(statement).expect_err("an error");
        assert!(matches!(error, AnalysisError::NotASelect { .. }), "{statement}: {error}");
    }
}

#[test]
fn a_damaged_file_is_named_in_the_error() {
    let folder = run();
    let path = folder.path().join("games/iteration=0003/part-0a-00000.parquet");
    let whole = fs::read(&path).expect("the file");
    let mut flipped = whole.clone();
    flipped[8..200].iter_mut().for_each(|byte| *byte ^= 0xff);
    for damaged in [&whole[..whole.len() / 2], b"", b"not Parquet at all", &flipped] {
        fs::write(&path, damaged).expect("writes");
        let frame =
            database(folder.path()).query("select uci(moves) as m, reason, network, start_fen from games");
        let error = frame.and_then(|frame| frame.rows()).expect_err("an error");
        assert!(error.to_string().contains("iteration=0003/part-0a-00000.parquet"), "{error}");
        assert!(!error.is_bad_input());
        assert!(
            database(folder.path()).query("select * from training").is_ok(),
            "other tables can still be read"
        );
    }
}

#[test]
fn a_file_that_is_being_written_is_ignored() {
    let folder = run();
    fs::write(folder.path().join("games/iteration=0003/part-0a-00001.parquet.77.tmp"), "half")
        .expect("writes");
    let count = database(folder.path()).query("select count(*) as n from games").expect("a frame");
    assert_eq!(table(&count), "n\n5");
}
