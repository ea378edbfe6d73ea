//! How the lines of a timeline are laid out: time, name, what happened, facts.

use goal_core::time::Wall;
use jiff::tz::TimeZone;

use crate::page::{Page, Tone};
use crate::text;

/// Columns of what happened; the longest word of the catalogue fits.
pub(super) const LABEL_COLUMNS: usize = 18;

/// Columns that a name has at least: the first line, about the server, knows no other name.
const NAME_COLUMNS_MIN: usize = 12;

/// Columns between two columns.
const GAP: &str = "  ";

/// A line before it is laid out.
#[derive(Clone, Debug)]
pub(super) struct Line {
    pub(super) at: Wall,
    /// What it is about: a session, or the server.
    pub(super) name: String,
    /// What happened.
    pub(super) label: String,
    pub(super) tone: Tone,
    pub(super) facts: String,
}

/// Lays lines out.
pub(super) struct Lines {
    zone: TimeZone,
    page: Page,
    /// The columns of the longest name so far.
    name_columns: usize,
}

impl Lines {
    pub(super) fn new(zone: TimeZone, page: Page) -> Self {
        Self {
            zone,
            page,
            name_columns: NAME_COLUMNS_MIN,
        }
    }

    /// From here on every line has room for this name.
    pub(super) fn make_room(&mut self, name: &str) {
        self.name_columns = self.name_columns.max(text::width(name));
    }

    pub(super) fn lay(&mut self, line: &Line) -> String {
        self.make_room(&line.name);
        let page = self.page;
        let clock = text::clock(line.at, &self.zone);
        let time = page.cell(&clock, 0, Tone::Faint);
        let name = text::column(&line.name, self.name_columns.min(page.name_columns_max()));
        let label = page.cell(&line.label, LABEL_COLUMNS, line.tone);
        let head = format!("{time}{GAP}{name}{GAP}{label}{GAP}");
        let plain = [&clock, &name, &line.label];
        let [time, name, label] = plain.map(|cell| text::width(cell));
        let columns = time + name + label.max(LABEL_COLUMNS) + 3 * GAP.len();
        page.hang(&head, columns, &line.facts)
    }
}
