//! The options that UCI engines declare.

use crate::options::{Declared, Kind};

/// The keywords after an option's name.
const KEYWORDS: [&str; 4] = ["default", "min", "max", "var"];

/// Parses `option name NAME type TYPE …`; `None` for other lines and types that the protocol does not have.
pub(super) fn parse(line: &str) -> Option<Declared> {
    let rest = line.strip_prefix("option ")?.trim_start().strip_prefix("name ")?;
    let (name, rest) = rest.split_once(" type ")?;
    let (kind, rest) = rest.trim().split_once(' ').unwrap_or((rest.trim(), ""));
    let name = name.trim().to_owned();
    let kind = match kind {
        "button" => Kind::Button,
        // Its default may have any words.
        "string" => {
            let default = rest.trim().strip_prefix("default").map(str::trim);
            Kind::Text(default.map(|text| if text == "<empty>" { "" } else { text }.to_owned()))
        }
        "check" => Kind::Check(values(rest, "default").first().and_then(|text| text.parse().ok())),
        "spin" => {
            let number = |keyword| values(rest, keyword).first().and_then(|text| text.parse().ok());
            Kind::Spin(
                number("default"),
                number("min").unwrap_or(i64::MIN),
                number("max").unwrap_or(i64::MAX),
            )
        }
        "combo" => Kind::Combo(values(rest, "default").into_iter().next(), values(rest, "var")),
        _ => return None,
    };
    Some(Declared { name, kind })
}

/// The values of a keyword, of several words each.
fn values(text: &str, keyword: &str) -> Vec<String> {
    let mut values: Vec<Vec<&str>> = Vec::new();
    let mut is_wanted = false;
    for word in text.split_whitespace() {
        if KEYWORDS.contains(&word) {
            is_wanted = word == keyword;
            if is_wanted {
                values.push(Vec::new());
            }
        } else if let Some(value) = values.last_mut().filter(|_| is_wanted) {
            value.push(word);
        }
    }
    values.into_iter().map(|words| words.join(" ")).collect()
}

#[cfg(test)]
mod tests {
    use super::{Kind, parse};

    fn kind(line: &str) -> Kind {
        parse(line).expect("is an option").kind
    }

    #[test]
    fn every_type_of_option_is_parsed() {
        let spin = parse("option name Skill Level type spin default 20 min 0 max 20").unwrap();
        assert_eq!((spin.name.as_str(), spin.kind), ("Skill Level", Kind::Spin(Some(20), 0, 20)));
        assert_eq!(kind("option name Ponder type check default false"), Kind::Check(Some(false)));
        assert_eq!(kind("option name Clear Hash type button"), Kind::Button);
        assert_eq!(kind("option name A type string default <empty>"), Kind::Text(Some(String::new())));
        assert_eq!(kind("option name A type string default a min b"), Kind::Text(Some("a min b".to_owned())));
        assert_eq!(kind("option name A type string"), Kind::Text(None));
        let combo = kind("option name Style type combo default Very Solid var Very Solid var Risky");
        let choices = vec!["Very Solid".to_owned(), "Risky".to_owned()];
        assert_eq!(combo, Kind::Combo(Some("Very Solid".to_owned()), choices));
    }

    #[test]
    fn other_lines_are_no_options() {
        for line in ["id name option", "option", "option name A", "option name A type colour default red"] {
            assert_eq!(parse(line), None, "{line}");
        }
        assert_eq!(kind("option name A type spin default x min y"), Kind::Spin(None, i64::MIN, i64::MAX));
    }
}
