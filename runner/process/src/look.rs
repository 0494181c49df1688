//! What the terminal can show.

use clap::ValueEnum;

/// When colours are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Colours {
    /// On a terminal, unless `NO_COLOR` is set or it is dumb.
    Auto,
    /// Even into a file.
    Always,
    /// Not at all.
    Never,
}

/// Characters and colours that may be used. Colour never says anything that is not said without it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Look {
    /// Whether characters beyond ASCII are shown.
    pub is_unicode: bool,
    /// Whether colours are used.
    pub is_coloured: bool,
}

/// Weight of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    /// What matters most.
    Bold,
    /// What matters least.
    Dim,
    /// Something went wrong, or a king is in check.
    Alarm,
}

/// An environment variable that is set to something.
type Variable<'a> = &'a dyn Fn(&str) -> Option<String>;

impl Look {
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

    /// A text with the given parameters of SGR (ECMA-48), if there are colours.
    pub fn paint(self, text: &str, code: &str) -> String {
        if self.is_coloured && !text.is_empty() {
            format!("\x1b[{code}m{text}\x1b[0m")
        } else {
            text.to_owned()
        }
    }
}

/// Whether the locale's character set is UTF-8; the first variable that is set decides, as POSIX says.
fn is_utf8(variable: Variable<'_>) -> bool {
    let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(variable);
    let locale = locale.unwrap_or_default().to_ascii_lowercase();
    locale.contains("utf-8") || locale.contains("utf8")
}

/// The same text in ASCII, every sign one column wide as before: letters for pieces, plain signs for lines and bars, and `?` for what
/// has none.
pub fn ascii(text: &str) -> String {
    text.chars().map(ascii_of).collect()
}

fn ascii_of(sign: char) -> char {
    match sign {
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

/// Columns that a text takes, its colours left out; every character of the display is one wide.
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

/// A text with blanks behind it up to a width.
pub fn padded(text: &str, columns: usize) -> String {
    format!("{text}{}", " ".repeat(columns.saturating_sub(width(text))))
}

/// What every terminal can show.
pub const PLAIN: Look = Look { is_unicode: false, is_coloured: false };

#[cfg(test)]
mod tests {
    use super::{Colours, Look, PLAIN, Tone, padded, width};

    fn look(variables: &[(&str, &str)], is_terminal: bool) -> (bool, bool) {
        let variable = |name: &str| {
            let found = variables.iter().find(|(of, _)| *of == name);
            found.map(|(_, value)| (*value).to_owned())
        };
        let look = Look::new(false, Colours::Auto, is_terminal, &variable);
        (look.is_unicode, look.is_coloured)
    }

    #[test]
    fn the_locale_decides_about_characters_and_the_terminal_about_colours() {
        assert_eq!(look(&[("LANG", "de_DE.UTF-8")], true), (true, true));
        assert_eq!(look(&[("LANG", "de_DE.UTF-8")], false), (true, false));
        assert_eq!(look(&[("LANG", "en_US.utf8"), ("LC_ALL", "C")], true), (false, true));
        assert_eq!(look(&[("LC_CTYPE", "C.UTF-8"), ("TERM", "dumb")], true), (false, false));
        assert_eq!(look(&[("LANG", "C.UTF-8"), ("NO_COLOR", "1")], true), (true, false));
        assert_eq!(look(&[], true), (false, true));
    }

    #[test]
    fn the_user_has_the_last_word() {
        let utf8 = |name: &str| (name == "LANG").then(|| "C.UTF-8".to_owned());
        let of = |ascii, colours, terminal| Look::new(ascii, colours, terminal, &utf8);
        assert_eq!(of(true, Colours::Never, true), PLAIN);
        assert_eq!(of(false, Colours::Always, false), Look { is_unicode: true, is_coloured: true });
    }

    #[test]
    fn colours_take_no_room() {
        let look = Look { is_unicode: true, is_coloured: true };
        let text = look.tone("♞ e4", Tone::Bold);
        assert_eq!((text.as_str(), width(&text)), ("\x1b[1m♞ e4\x1b[0m", 4));
        assert_eq!(PLAIN.tone("e4", Tone::Alarm), "e4");
        assert_eq!(width(&padded(&text, 9)), 9);
    }
}
