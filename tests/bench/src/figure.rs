//! What was measured, beside what it should be.

use std::fmt::Write as _;

/// One line of the table.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Figure {
    /// The bench's letter.
    pub(crate) letter: &'static str,
    /// What was measured.
    pub(crate) what: String,
    /// Its value, with its unit.
    pub(crate) value: String,
    /// What it should be; `None` for a line that only informs.
    pub(crate) target: Option<Target>,
}

/// What a value should be.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Target {
    /// In words.
    pub(crate) text: String,
    /// Whether the value is so.
    pub(crate) met: bool,
}

impl Figure {
    /// A value that only informs.
    pub(crate) fn told(letter: &'static str, what: impl Into<String>, value: String) -> Self {
        Self {
            letter,
            what: what.into(),
            value,
            target: None,
        }
    }

    /// A ratio that should be at most `most`.
    pub(crate) fn at_most(
        letter: &'static str,
        what: impl Into<String>,
        value: f64,
        most: f64,
        unit: &str,
    ) -> Self {
        Self {
            letter,
            what: what.into(),
            value: format!("{value:.2}{unit}"),
            target: Some(Target {
                text: format!("at most {most}{unit}"),
                met: value <= most,
            }),
        }
    }

    /// A ratio that should be at least `least`.
    pub(crate) fn at_least(
        letter: &'static str,
        what: impl Into<String>,
        value: f64,
        least: f64,
        unit: &str,
    ) -> Self {
        Self {
            letter,
            what: what.into(),
            value: format!("{value:.1}{unit}"),
            target: Some(Target {
                text: format!("at least {least}{unit}"),
                met: value >= least,
            }),
        }
    }
}

/// All lines, aligned.
pub(crate) fn table(figures: &[Figure]) -> String {
    let head = ["", "measured", "value", "target", "verdict"].map(str::to_owned);
    let rows = figures.iter().map(|figure| {
        let (target, verdict) = match &figure.target {
            None => (String::new(), ""),
            Some(target) if target.met => (target.text.clone(), "met"),
            Some(target) => (target.text.clone(), "MISSED"),
        };
        let letter = format!("({})", figure.letter);
        [
            letter,
            figure.what.clone(),
            figure.value.clone(),
            target,
            verdict.to_owned(),
        ]
    });
    let rows: Vec<[String; 5]> = std::iter::once(head).chain(rows).collect();
    let width = |column: usize| {
        let widths = rows.iter().map(|row| row[column].chars().count());
        widths.max().unwrap_or_default()
    };
    let widths: Vec<usize> = (0..5).map(width).collect();
    let mut text = String::new();
    for row in &rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            // Writing to a string cannot fail.
            let _ = write!(line, "{cell:width$}  ");
        }
        text.push('\n');
        text.push_str(line.trim_end());
    }
    text
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_table_tells_value_target_and_verdict() {
        let figures = [
            Figure::at_most("a", "cycle against calls", 1.5, 2.0, "x"),
            Figure::at_least("e", "flood", 12.0, 20.0, "x"),
            Figure::told("g", "requests", "102".to_owned()),
        ];
        let expected = [
            "     measured             value  target        verdict",
            "(a)  cycle against calls  1.50x  at most 2x    met",
            "(e)  flood                12.0x  at least 20x  MISSED",
            "(g)  requests             102",
        ];
        assert_eq!(table(&figures), format!("\n{}", expected.join("\n")));
    }
}
