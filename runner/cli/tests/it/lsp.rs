//! The language server as a process, driven over pipes by a simple editor: start and end, edits, requests and malformed input.

mod editor;

use std::fs;
use std::process::Command;

use editor::{Editor, uri};
use serde_json::{Value, json};

use super::experiment::piped;

const GOOD: &str =
    "let run = open_run(\"x\");\nlet net = run.network();\nrun.self_play(net, #{ games: 4 });\n";
const BAD: &str =
    "let run = open_run(\"x\");\nlet net = run.network();\nrun.self_play(net, #{ gamse: 4 });\n";

/// The labels of the offered completions.
fn labels(answer: &Value) -> Vec<&str> {
    let items = answer["result"].as_array().expect("a list of completions");
    items.iter().filter_map(|item| item["label"].as_str()).collect()
}

fn at(uri: &str, line: u32, character: u32) -> Value {
    json!({ "textDocument": { "uri": uri }, "position": { "line": line, "character": character } })
}

#[test]
fn exit_code_is_0_only_after_shutdown_and_exit() {
    let mut editor = Editor::initialized();
    editor.request("shutdown", Value::Null);
    editor.notify("exit", Value::Null);
    assert_eq!(editor.end(), Some(0));

    let mut editor = Editor::initialized();
    editor.notify("exit", Value::Null);
    assert_eq!(editor.end(), Some(1));

    assert_eq!(Editor::initialized().end(), Some(1));
    assert_eq!(Editor::start().end(), Some(1));
}

#[test]
fn requests_in_the_wrong_state_are_refused() {
    let mut editor = Editor::start();
    assert_eq!(editor.request("shutdown", Value::Null)["error"]["code"], -32002);
    editor.initialize();
    assert_eq!(editor.request("initialize", json!({ "capabilities": {} }))["error"]["code"], -32600);
    assert_eq!(editor.request("textDocument/formatting", json!({}))["error"]["code"], -32601);
    assert_eq!(editor.request("textDocument/hover", json!({ "textDocument": 3 }))["error"]["code"], -32602);
    editor.request("shutdown", Value::Null);
    assert_eq!(editor.request("textDocument/hover", at("file:///x", 0, 0))["error"]["code"], -32600);
}

#[test]
fn a_malformed_header_ends_the_session_with_its_cause() {
    let ended = piped(Command::new(env!("CARGO_BIN_EXE_dc0-run")).arg("lsp"), b"{nonsense\r\n\r\n");
    assert!(ended.stderr.contains("malformed header") && ended.stderr.contains("{nonsense"), "{ended:?}");
    assert_eq!(ended.code, Some(1));
}

#[test]
fn a_message_that_cannot_be_decoded_is_answered_and_the_session_goes_on() {
    let mut editor = Editor::initialized();
    for (content, code) in [("{nonsense", -32700), ("[]", -32600), ("{\"params\":{}}", -32600)] {
        editor.send_text(content);
        assert_eq!(editor.refusal()["error"]["code"], code, "{content}");
    }
    // Half of an emoji, as JavaScript escapes it.
    let uri = "file:///nowhere/x.rhai";
    let document =
        json!({ "uri": uri, "languageId": "rhai", "version": 1, "text": "let a = \"HALF\"; print(b);" });
    let opened = json!({ "method": "textDocument/didOpen", "params": { "textDocument": document } });
    editor.send_text(&opened.to_string().replace("HALF", "\\ud83d"));
    assert_eq!(editor.diagnostics(uri)[0]["range"]["start"], json!({ "line": 0, "character": 19 }));
    // A byte order mark takes a column, and no more.
    editor.change(uri, 2, "\u{feff}print(b);");
    let found = editor.diagnostics(uri);
    assert_eq!(
        (found.as_array().map(Vec::len), &found[0]["range"]["start"]["character"]),
        (Some(1), &json!(7)),
        "{found}"
    );
    editor.request("shutdown", Value::Null);
    editor.notify("exit", Value::Null);
    assert_eq!(editor.end(), Some(0));
}

#[test]
fn notifications_that_make_no_sense_are_logged_and_later_requests_answered() {
    let mut editor = Editor::initialized();
    editor.notify("textDocument/didOpen", json!({ "textDocument": 3 }));
    assert!(editor.until("window/logMessage")["params"]["message"].to_string().contains("didOpen"));
    editor.change("file:///never/opened.rhai", 2, "let");
    assert!(editor.until("window/logMessage")["params"]["message"].to_string().contains("not open"));
    editor.notify("$/cancelRequest", json!({ "id": 77 }));
    editor.notify("unheard/of", json!([1, 2]));
    assert_eq!(
        editor.request("textDocument/hover", at("file:///never/opened.rhai", 0, 0))["result"],
        Value::Null
    );
    editor.open("untitled:Untitled-1", "le¦");
    assert!(editor.diagnostics("untitled:Untitled-1").is_array());
    let part = json!({ "range": { "start": { "line": 0, "character": 0 }, "end": { "line": 0, "character": 1 } }, "text": "" });
    let document = json!({ "uri": "untitled:Untitled-1", "version": 2 });
    editor.notify("textDocument/didChange", json!({ "textDocument": document, "contentChanges": [part] }));
    assert!(editor.until("window/logMessage")["params"]["message"].to_string().contains("whole texts"));
    editor.request("shutdown", Value::Null);
    editor.notify("exit", Value::Null);
    assert_eq!(editor.end(), Some(0));
}

#[test]
fn diagnostics_follow_edits() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("a file é.rhai");
    let uri = uri(&file);
    assert!(uri.contains("a%20file%20%C3%A9.rhai"), "{uri}");
    let mut editor = Editor::initialized();
    editor.open(&uri, GOOD);
    assert_eq!(editor.diagnostics(&uri), json!([]));
    editor.change(&uri, 2, BAD);
    let found = editor.diagnostics(&uri);
    assert_eq!(found[0]["message"], "gamse: unknown parameter; did you mean `games`?");
    let expected = json!({ "start": { "line": 2, "character": 22 }, "end": { "line": 2, "character": 27 } });
    assert_eq!(found[0]["range"], expected);
    let params =
        json!({ "textDocument": { "uri": uri }, "range": expected, "context": { "diagnostics": found } });
    let actions = editor.request("textDocument/codeAction", params);
    assert_eq!(actions["result"][0]["edit"]["changes"][&uri][0]["newText"], "games");
    editor.change(&uri, 3, GOOD);
    assert_eq!(editor.diagnostics(&uri), json!([]));
    editor.change(&uri, 4, BAD);
    assert_eq!(editor.diagnostics(&uri).as_array().map(Vec::len), Some(1));
    editor.notify("textDocument/didClose", json!({ "textDocument": { "uri": uri } }));
    assert_eq!(editor.diagnostics(&uri), json!([]));
    assert_eq!(fs::read_dir(folder.path()).expect("lists").count(), 0, "nothing is written");
}

#[test]
fn diagnostics_after_quick_edits_are_those_of_the_last_text() {
    let mut editor = Editor::initialized();
    let uri = "file:///nowhere/quick.rhai";
    editor.open(uri, "loop { let x = 1; }");
    for version in 2..60 {
        let text = if version % 2 == 0 { "loop { let y = 2; }" } else { GOOD };
        editor.change(uri, version, text);
        editor.request("textDocument/completion", at(uri, 0, 4));
        editor.notify("$/cancelRequest", json!({ "id": version }));
    }
    editor.change(uri, 60, BAD);
    let last = editor.diagnostics_of(uri, 60);
    assert_eq!(last[0]["message"], "gamse: unknown parameter; did you mean `games`?");
}

#[test]
fn open_text_of_an_imported_script_is_used() {
    let folder = tempfile::tempdir().expect("a folder");
    let (main, module) = (folder.path().join("main.rhai"), folder.path().join("m.rhai"));
    fs::write(&module, "/// Doubles.\nfn twice(x) { x * 2 }\n").expect("writes");
    let (main, module) = (uri(&main), uri(&module));
    let mut editor = Editor::initialized();
    editor.open(&main, "import \"m\" as m;\nlet y = m::twice(2);\n");
    assert_eq!(editor.diagnostics(&main), json!([]));
    let hover = editor.request("textDocument/hover", at(&main, 1, 13));
    assert!(hover["result"]["contents"]["value"].to_string().contains("Doubles."), "{hover}");
    let definition = editor.request("textDocument/definition", at(&main, 1, 13));
    assert_eq!(
        (&definition["result"]["uri"], &definition["result"]["range"]["start"]["line"]),
        (&json!(module), &json!(1))
    );
    editor.open(&module, "fn twice(x) { x.nothing.here }\n");
    let found = editor.diagnostics_with_any(&main);
    let related = &found[0]["relatedInformation"][0]["location"];
    assert_eq!(
        (&found[0]["range"]["start"]["line"], &related["uri"]),
        (&json!(1), &json!(module)),
        "{found}"
    );
    let found = editor.diagnostics_with_any(&module);
    assert_eq!(found[0]["relatedInformation"][0]["location"]["uri"], json!(main), "{found}");
}

#[test]
fn completion_offers_methods_parameters_values_and_modules() {
    let folder = tempfile::tempdir().expect("a folder");
    fs::create_dir(folder.path().join("lib")).expect("a folder");
    fs::write(folder.path().join("lib/m.rhai"), "fn step(a, b) { a }\n").expect("writes");
    let uri = uri(&folder.path().join("main.rhai"));
    let mut editor = Editor::initialized();
    editor.open(&uri, "");
    let mut version = 1;
    let mut offers = |text: &str, expected: &str| {
        version += 1;
        editor.change(&uri, version, text);
        let line = text.lines().count().max(1) - 1;
        let character = text.lines().last().unwrap_or_default().encode_utf16().count();
        let answer = editor.request("textDocument/completion", at(&uri, line as u32, character as u32));
        assert!(labels(&answer).contains(&expected), "{expected} in {:?} of {text}", labels(&answer));
        answer
    };
    let start = "let run = open_run(\"é😀\");\nlet net = run.network();\n";
    offers(&format!("{start}run."), "self_play");
    let keys = offers(&format!("{start}let g = run.self_play(net, #{{ games: 4, "), "max_plies");
    assert!(!labels(&keys).contains(&"games"), "a member that is there is not offered again");
    let item =
        keys["result"].as_array().and_then(|items| items.iter().find(|item| item["label"] == "max_plies"));
    let item = item.expect("max_plies");
    assert!(item["detail"].to_string().contains("whole number"), "{item}");
    assert!(item["documentation"]["value"].to_string().contains("self_play"), "{item}");
    offers(&format!("{start}run.self_play(net, #{{ search: #{{ root: #{{ ru"), "rule");
    offers(&format!("{start}run.self_play(net, #{{ search: #{{ root: #{{ rule: \""), "gumbel");
    offers(&format!("{start}let v = run.arena(net, \""), "greedy");
    offers(&format!("{start}let v = run.arena(net, net, #{{}}); /* é */ v."), "score");
    offers("let p = params(#{ size: 3 /* é */ }); p.", "size");
    offers("import \"", "lib/m");
    offers("import \"lib/m\" as m;\nm::", "step");
    offers("network_preset(\"", "dc0-6x128");
    offers("for iteration in 0..3 { pri", "iteration");
    offers("le", "let");
}

#[test]
fn signatures_outlines_and_hovers_are_answered() {
    let mut editor = Editor::initialized();
    let uri = "file:///nowhere/x.rhai";
    editor.open(
        uri,
        "let p = params(#{ games: 4 });\nfn f(a, b) { a }\nlet run = open_run(\"x\");\nrun.train(1, ",
    );
    let signature = editor.request("textDocument/signatureHelp", at(uri, 3, 13));
    assert_eq!(signature["result"]["activeParameter"], 1);
    assert_eq!(signature["result"]["signatures"][0]["label"], "run.train(network, window, #{…})");
    let outline = editor.request("textDocument/documentSymbol", json!({ "textDocument": { "uri": uri } }));
    let names: Vec<_> =
        outline["result"].as_array().expect("symbols").iter().map(|symbol| &symbol["name"]).collect();
    assert_eq!(names, ["p", "f", "run"]);
    assert_eq!(outline["result"][0]["children"][0]["name"], "games");
    let hover = editor.request("textDocument/hover", at(uri, 3, 6));
    assert!(hover["result"]["contents"]["value"].to_string().contains("trains a net"), "{hover}");
}
