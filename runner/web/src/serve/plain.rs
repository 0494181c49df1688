//! What readers without JavaScript see: the list of runs, and links to reports, which need none.

use dc0_analysis::charts::escape;
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::Value;

use super::library::Found;

/// The list of runs as a table, and the names of those that it cannot show.
pub(super) fn list(rows: &Value, glances: Option<&Value>, unshown: &Value) -> String {
    let row = |row: &Value| {
        let path = row["path"].as_str().unwrap_or_default();
        let glance = &glances.unwrap_or(&Value::Null)[path];
        let figure = |value: &Value, decimals: usize| {
            value.as_f64().map_or_else(|| "–".to_owned(), |value| format!("{value:.decimals$}"))
        };
        let cells = [
            row["state"].as_str().unwrap_or_default().to_owned(),
            figure(&glance["elo"]["elo"], 0),
            figure(&glance["loss"], 3),
            figure(&row["steps"], 0),
        ];
        let cells: String = cells.iter().map(|cell| format!("<td>{}</td>", escape(cell))).collect();
        let name = escape(row["name"].as_str().unwrap_or_default());
        format!("<tr><th scope=\"row\"><a href=\"/api/report/{}\">{name}</a></th>{cells}</tr>", address(path))
    };
    let rows: String = rows.as_array().into_iter().flatten().map(row).collect();
    format!(
        "<table><thead><tr><th scope=\"col\">run</th><th scope=\"col\">state</th><th scope=\"col\">Elo</th>\
         <th scope=\"col\">loss</th><th scope=\"col\">steps</th></tr></thead><tbody>{rows}</tbody></table>{}",
        not_shown(unshown)
    )
}

fn not_shown(names: &Value) -> String {
    let names: Vec<String> =
        names.as_array().into_iter().flatten().filter_map(Value::as_str).map(escape).collect();
    if names.is_empty() {
        return String::new();
    }
    format!(
        "<p>Not shown, because no address can hold such a name; rename the folder: {}</p>",
        names.join(", ")
    )
}

/// A link to the report of a run or sweep.
pub(super) fn report_link(found: &Found) -> String {
    format!(
        "<p><a href=\"/api/report/{}\">The report on {}</a></p>",
        address(&found.path),
        escape(&found.path)
    )
}

/// A link to the comparison of some runs.
pub(super) fn comparison_link(runs: &[Found]) -> String {
    let pairs: Vec<String> = runs.iter().map(|run| format!("run={}", encoded(&run.path))).collect();
    format!("<p><a href=\"/api/compare?{}\">The comparison</a></p>", pairs.join("&amp;"))
}

fn encoded(text: &str) -> String {
    utf8_percent_encode(text, NON_ALPHANUMERIC).to_string()
}

/// A path as part of an address.
pub(super) fn address(path: &str) -> String {
    path.split('/').map(encoded).collect::<Vec<_>>().join("/")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{address, list};

    #[test]
    fn names_are_escaped() {
        let rows = json!([{ "path": "a</noscript>", "name": "a</noscript>", "state": "rests", "steps": 3 }]);
        let glances = json!({ "a</noscript>": { "loss": 1.25, "elo": { "elo": -7.6 } } });
        let table = list(&rows, Some(&glances), &json!([]));
        assert!(!table.contains("</noscript>"), "{table}");
        assert!(table.contains("<td>rests</td><td>-8</td><td>1.250</td><td>3</td>"), "{table}");
        let table = list(&rows, None, &json!(["a\\b", "<.c>"]));
        assert!(table.contains("<td>–</td>") && table.contains(": a\\b, &lt;.c&gt;</p>"), "{table}");
        assert_eq!(address("net size/trials/0003-0"), "net%20size/trials/0003%2D0");
    }
}
