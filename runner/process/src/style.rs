//! The terminal's style: characters, colours and text width.

use clap::ValueEnum;

/// When colours are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Colours {
    /// On a terminal, unless `NO_COLOR` is set or it is dumb.
    Auto,
    /// Always, even in a file.
    Always,
    /// Never.
    Never,
}

/// Which characters and colours may be used. Colour never carries information that the text does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TermStyle {
    /// Whether characters beyond ASCII are shown.
    pub is_unicode: bool,
    /// Whether colours are used.
    pub is_coloured: bool,
}

/// The emphasis of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// Most important.
    Bold,
    /// Least important.
    Dim,
    /// An error, or a king in check.
    Alarm,
}

/// Looks up an environment variable.
type Variable<'a> = &'a dyn Fn(&str) -> Option<String>;

impl TermStyle {
    /// `variable` reads the environment.
    pub fn new(is_ascii: bool, colours: Colours, is_terminal: bool, variable: Variable<'_>) -> Self {
        let is_dumb = variable("TERM").is_some_and(|term| term == "dumb");
        let may_colour = is_terminal && !is_dumb && variable("NO_COLOR").is_none();
        Self {
            is_unicode: !is_ascii && !is_dumb && is_utf8(variable),
            is_coloured: match colours {
                Colours::Auto => may_colour,
                Colours::Always => true,
                Colours::Never => false,
            },
        }
    }

    /// A text in a tone, if there are colours.
    pub fn tone(self, text: &str, tone: Tone) -> String {
        let code = match tone {
            Tone::Bold => "1",
            Tone::Dim => "2",
            Tone::Alarm => "1;31",
        };
        self.paint(text, code)
    }

    /// A text with the given SGR parameters (ECMA-48), if there are colours.
    pub fn paint(self, text: &str, code: &str) -> String {
        if self.is_coloured && !text.is_empty() {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
}

/// Whether the locale's character set is UTF-8; the first variable that is set decides, as in POSIX.
fn is_utf8(variable: Variable<'_>) -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(variable);
    let locale = locale.unwrap_or_default().to_ascii_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}

/// The text in ASCII, one character for each: letters for pieces, plain characters for lines and bars, `?` for anything else.
pub fn ascii(text: &str) -> String {
    text.chars().map(ascii_char).collect()
}

fn ascii_char(character: char) -> char {
    match character {
        '♙' => 'P',
        '♘' => 'N',
        '♗' => 'B',
        '♖' => 'R',
        '♕' => 'Q',
        '♔' => 'K',
        '♟' => 'p',
        '♞' => 'n',
        '♝' => 'b',
        '♜' => 'r',
        '♛' => 'q',
        '♚' => 'k',
        '█' => '#',
        '▓' => '%',
        '▒' | '═' => '=',
        '░' | '·' | '…' => '.',
        '│' => '|',
        '├' | '└' | '┌' | '┐' | '┘' | '┤' | '┼' => '+',
        '─' | '–' | '−' => '-',
        '→' | '▸' => '>',
        '←' => '<',
        '×' => 'x',
        '√' => 'V',
        other if other.is_ascii() => other,
        _ => '?',
    }
}

/// The width of a text in columns, ignoring colour codes; every character is one column wide.
pub fn width(text: &str) -> usize {
    let mut shown = 0;
    let mut is_code = false;
    for character in text.chars() {
        match character {
            '\x1b' => is_code = true,
            'm' if is_code => is_code = false,
            _ => shown += usize::from(!is_code),
        }
    }
    shown
}

/// A text padded with trailing spaces to a width.
pub fn padded(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// The style that every terminal can show.
pub const PLAIN: TermStyle = TermStyle { is_unicode: false, is_coloured: false };

#[cfg(test)]
mod tests {
    use super::{Colours, PLAIN, TermStyle, Tone, padded, width};

    fn detected(variables: &[(&str, &str)], is_terminal: bool) -> (bool, bool) {
        let variable = |name: &str| {
            let found = variables.iter().find(|(key, _)| *key == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        let style = TermStyle::new(false, Colours::Auto, is_terminal, &variable);
        (style.is_unicode, style.is_coloured)
    }

    #[test]
    fn the_locale_decides_on_characters_and_the_terminal_on_colours() {
        assert_eq!(detected(&[("LANG", "de_DE.UTF-8")], true), (true, true));
        assert_eq!(detected(&[("LANG", "de_DE.UTF-8")], false), (true, false));
        assert_eq!(detected(&[("LANG", "en_US.utf8"), ("LC_ALL", "C")], true), (false, true));
        assert_eq!(detected(&[("LC_CTYPE", "C.UTF-8"), ("TERM", "dumb")], true), (false, false));
        assert_eq!(detected(&[("LANG", "C.UTF-8"), ("NO_COLOR", "1")], true), (true, false));
        assert_eq!(detected(&[], true), (false, true));
    }

    #[test]
    fn options_override_detection() {
        let utf8 = |name: &str| (name == "LANG").then(|| "C.UTF-8".to_owned());
        let style = |ascii, colours, terminal| TermStyle::new(ascii, colours, terminal, &utf8);
        assert_eq!(style(true, Colours::Never, true), PLAIN);
        assert_eq!(style(false, Colours::Always, false), TermStyle { is_unicode: true, is_coloured: true });
    }

    #[test]
    fn colours_add_no_width() {
        let style = TermStyle { is_unicode: true, is_coloured: true };
        let text = style.tone("♞ e4", Tone::Bold);
        assert_eq!((text.as_str(), width(&text)), ("\x1b[1m♞ e4\x1b[0m", 4));
        assert_eq!(PLAIN.tone("e4", Tone::Alarm), "e4");
        assert_eq!(width(&padded(&text, 9)), 9);
    }
}
