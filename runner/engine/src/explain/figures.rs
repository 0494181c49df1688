//! Numbers and bars for people.

use dc0_core::network::{PositionValue, Wdl};

use dc0_process::style::TermStyle;

/// A value in [−1, 1], always with its sign.
pub(super) fn signed(value: f64) -> String {
    let text = format!("{value:+.3}");
    if text == "-0.000" { "+0.000".to_owned() } else { text }
}

/// A share in [0, 1] as a percentage.
pub(super) fn percent(share: f64) -> String {
    format!("{:.1}%", 100.0 * share)
}

/// A difference of two shares as percentage points, always with its sign.
pub(super) fn change(difference: f64) -> String {
    let text = format!("{:+.1}%", 100.0 * difference);
    if text == "-0.0%" { "+0.0%".to_owned() } else { text }
}

/// A share of a width as a bar, in whole columns.
pub(super) fn bar(share: f64, columns: usize, style: TermStyle) -> String {
    let full = (share.clamp(0.0, 1.0) * columns as f64).round() as usize;
    let fill = if style.is_unicode { "█" } else { "#" };
    style.paint(&fill.repeat(full), "38;5;110")
}

/// WDL as a bar with three fills.
pub(super) fn chances(wdl: Wdl, columns: usize, style: TermStyle) -> String {
    let columns = columns as f32;
    let win = (wdl.win * columns).round() as usize;
    let loss = ((wdl.loss * columns).round() as usize).min(columns as usize - win);
    let draw = columns as usize - win - loss;
    let fills = if style.is_unicode { ["█", "▒", "░"] } else { ["#", "=", "."] };
    let parts = [(win, "38;5;255"), (draw, "38;5;248"), (loss, "38;5;244")];
    parts.iter().zip(fills).map(|((count, colour), fill)| style.paint(&fill.repeat(*count), colour)).collect()
}

/// WDL from P(win) − P(loss) and P(draw).
pub(super) fn wdl(PositionValue { value, draw }: PositionValue) -> Wdl {
    let decided = 1.0 - draw;
    let (win, loss) = (0.5 * (decided + value), 0.5 * (decided - value));
    Wdl { win: win as f32, draw: draw as f32, loss: loss as f32 }
}

#[cfg(test)]
mod tests {
    use dc0_core::network::{PositionValue, Wdl};

    use super::{bar, chances, change, signed, wdl};
    use dc0_process::style::PLAIN;

    #[test]
    fn nothing_has_no_negative_sign() {
        assert_eq!([signed(-0.0001), change(-0.0004), change(-0.0)], ["+0.000", "+0.0%", "+0.0%"]);
        assert_eq!([signed(-0.001), change(-0.0006), change(0.25)], ["-0.001", "-0.1%", "+25.0%"]);
    }

    #[test]
    fn numbers_and_bars_are_readable_without_colours() {
        assert_eq!((signed(0.1234), signed(-0.00001)), ("+0.123".to_owned(), "+0.000".to_owned()));
        assert_eq!((bar(0.5, 10, PLAIN), bar(1.5, 3, PLAIN)), ("#####".to_owned(), "###".to_owned()));
        assert_eq!(chances(Wdl { win: 0.5, draw: 0.25, loss: 0.25 }, 8, PLAIN), "####==..");
        assert_eq!(chances(Wdl { win: 0.5, draw: 0.0, loss: 0.5 }, 7, PLAIN).len(), 7);
        let half = wdl(PositionValue { value: 0.2, draw: 0.5 });
        assert!((half.win - 0.35).abs() < 1e-6 && (half.loss - 0.15).abs() < 1e-6);
    }
}
