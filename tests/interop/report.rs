//! A report of a real run, opened in a browser. `cargo xtask test` installs the browser; without it the test that needs it fails
//! and says so.

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use crate::program::{PROGRAM, dc0_run, root, succeed};
use crate::{browser_package, chromium, stdout_of};
use serde_json::{Value, json};

/// Elements of HTML without an end tag.
const VOID_ELEMENTS: [&str; 5] = ["meta", "link", "input", "br", "!doctype"];

fn report(out: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(PROGRAM);
    command.args(["report", "--runs"]).arg(out).args(args);
    command.output().expect("the program starts")
}

/// Why the elements of a page are not properly nested; none if they are.
fn nesting_error(page: &str) -> Option<String> {
    let mut open: Vec<&str> = Vec::new();
    let mut rest = page;
    while let Some(start) = rest.find('<') {
        rest = &rest[start + 1..];
        if rest.starts_with("!--") {
            rest = rest.split_once("-->").map_or("", |(_, after)| after);
            continue;
        }
        let Some((tag, after)) = rest.split_once('>') else { return Some(format!("<{rest} has no end")) };
        rest = after;
        let name = tag.trim_start_matches('/').split([' ', '/', '\n']).next().unwrap_or_default();
        if let Some(ended) = tag.strip_prefix('/') {
            if open.pop() != Some(ended) {
                return Some(format!("</{ended}> ends nothing; open are {open:?}"));
            }
        } else if !tag.ends_with('/') && !VOID_ELEMENTS.contains(&name) {
            open.push(name);
            // The content of these is not HTML.
            if ["script", "style"].contains(&name) {
                let end = rest.find(&format!("</{name}>")).unwrap_or(rest.len());
                rest = &rest[end..];
            }
        }
    }
    (!open.is_empty()).then(|| format!("{open:?} have no end"))
}

fn inspect_in_browser(page: &Path) -> Value {
    let mut node = Command::new("node");
    node.arg(root().join("tests/interop/browser/report.mjs")).arg(chromium());
    let printed = stdout_of(node.arg(page).env("DC0_BROWSER", browser_package("")));
    serde_json::from_str(&printed).expect("one line of JSON")
}

#[test]
fn a_report_opens_in_a_browser_and_is_deterministic() {
    let out = tempfile::tempdir().expect("a folder");
    succeed(&mut dc0_run("experiments/smoke.rhai", out.path()));
    let charts = out.path().join("charts");
    let first = report(out.path(), &["smoke", "--charts", charts.to_str().expect("text")]);
    assert!(first.status.success(), "{}", String::from_utf8_lossy(&first.stderr));
    let file = out.path().join("smoke/report.html");
    let page = fs::read_to_string(&file).expect("the report");
    assert_eq!(nesting_error(&page), None);
    assert!(
        !page.contains("http://")
            || page.matches("http://").count() == page.matches("http://www.w3.org").count()
    );
    let again = out.path().join("again.html");
    let second = report(out.path(), &["smoke", "--out", again.to_str().expect("text")]);
    assert!(second.status.success(), "{}", String::from_utf8_lossy(&second.stderr));
    assert!(page == fs::read_to_string(&again).expect("the report"), "two reports of one run differ");
    let pictures = fs::read_dir(&charts).expect("charts").count();

    let seen = inspect_in_browser(&file);
    assert_eq!(seen["problems"], json!([]), "{seen}");
    let requests = seen["requests"].as_array().expect("requests");
    assert!(requests.iter().all(|url| url.as_str().is_some_and(|url| url.starts_with("file://"))), "{seen}");
    let figures = seen["figures"].as_u64().expect("a number");
    assert!(figures >= 15 && seen["tables"] == seen["figures"], "{seen}");
    assert_eq!(pictures as u64, 2 * figures);
    // Without JavaScript every chart is a picture.
    assert_eq!((&seen["narrow"], &seen["charts"]), (&seen["figures"], &seen["figures"]), "{seen}");
    assert!(seen["tooltip"].as_str().is_some_and(|text| text.starts_with("updates ")), "{seen}");
    assert_eq!(seen["zoom"], json!([true, false]), "{seen}");
    assert_eq!(seen["bars"], json!([false, true]), "{seen}");
    assert_eq!(
        (&seen["logarithmic"], &seen["hidden"]),
        (&json!("true"), &json!(["false", "true"])),
        "{seen}"
    );
    assert_eq!((&seen["focus"], &seen["follows"]), (&json!("board"), &json!(true)), "{seen}");
    assert_eq!((&seen["overflow"], &seen["links"]), (&json!([0, 0]), &json!(0)), "{seen}");
    let letters: Vec<f64> =
        seen["letters"].as_array().into_iter().flatten().filter_map(Value::as_f64).collect();
    let (least, most) = (letters.iter().copied().reduce(f64::min), letters.iter().copied().reduce(f64::max));
    assert!(most.expect("letters") < 1.2 * least.expect("letters"), "{seen}");
    let choices = seen["choices"].as_array().expect("choices");
    assert!(
        choices[0] != choices[1]
            && choices.iter().all(|shown| shown.as_array().is_some_and(|all| all.len() == 1))
    );
    let plies: Vec<u64> =
        seen["game"].as_array().expect("a game").iter().filter_map(|step| step[0].as_u64()).collect();
    assert_eq!(plies[..5], [0, 1, 2, 3, 2]);
    assert_eq!(plies.last().copied(), seen["plies"].as_u64());
    assert!(seen["pieces"].as_u64().is_some_and(|pieces| (2..=32).contains(&pieces)), "{seen}");
    let backgrounds = seen["backgrounds"].as_array().expect("colours");
    assert!(backgrounds[0] != backgrounds[1] && backgrounds[1] == backgrounds[2], "{seen}");
}

#[test]
fn unreportable_runs_are_rejected() {
    let out = tempfile::tempdir().expect("a folder");
    let script = "let run = open_run(\"first\"); let net = run.network(#{ tower: #{ blocks: 1, filters: 8 } });\n\
        run.self_play(net, #{ games: 2, max_plies: 6, search: #{ simulations: 2 } });";
    let file = out.path().join("first.rhai");
    fs::write(&file, script).expect("a script");
    let mut run = Command::new(PROGRAM);
    succeed(run.arg(&file).args(["--backend", "torch", "--out"]).arg(out.path()));
    assert_eq!(report(out.path(), &["first"]).status.code(), Some(0));

    let unknown = report(out.path(), &["fist"]);
    let message = String::from_utf8_lossy(&unknown.stderr).into_owned();
    assert!(unknown.status.code() == Some(2) && message.contains("first"), "{message}");
    let wrong = report(out.path(), &["first", "--out", "page.pdf"]);
    assert_eq!(wrong.status.code(), Some(2));

    let games = out.path().join("first/games/iteration=0000");
    let part = fs::read_dir(&games).expect("games").next().expect("a part").expect("an entry").path();
    let mut bytes = fs::read(&part).expect("a part");
    bytes.truncate(bytes.len() / 2);
    fs::write(&part, bytes).expect("a damaged part");
    let damaged = report(out.path(), &["first"]);
    let message = String::from_utf8_lossy(&damaged.stderr).into_owned();
    assert!(damaged.status.code() == Some(3) && message.contains(".parquet"), "{message}");
}

#[test]
fn unbalanced_html_is_detected() {
    assert_eq!(nesting_error("<p>a<br>b</p><script>if (a < b) {}</script><svg><path d=\"\"/></svg>"), None);
    assert!(
        nesting_error("<p><b></p></b>").is_some()
            && nesting_error("<p>").is_some()
            && nesting_error("</p>").is_some()
    );
}
