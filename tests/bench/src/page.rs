//! (k) The app's page with a long session and under a flood of text: the checks of the page in
//! Chromium, with a simulated host.

use crate::figure::Figure;
use crate::{Result, browser};

/// What the names of these checks begin with.
const CHECKS: &str = "how fast";

/// A session of 2,000 messages is there before the user has gone on to something else.
const OPENED_MAX_MS: f64 = 1_000.0;

/// The longest time between two frames.
const FRAME_MAX_MS: f64 = 200.0;

/// How fast the page opens, scrolls and takes what streams in.
pub(crate) fn speed() -> Result<Vec<Figure>> {
    let said = browser::checks("app", CHECKS, &[])?;
    let page = Page::told_in(&said).ok_or_else(|| format!("nothing was measured:\n{said}"))?;
    let at_most = |what: &str, value, most| Figure::at_most("k", what, value, most, " ms");
    Ok(vec![
        at_most(
            "a session of 2,000 messages opens",
            page.opened,
            OPENED_MAX_MS,
        ),
        Figure::told(
            "k",
            "… in an empty window, the page's own start included",
            format!("{:.0} ms", page.cold),
        ),
        at_most(
            "… longest frame of scrolling it",
            page.scrolled,
            FRAME_MAX_MS,
        ),
        at_most(
            "longest frame of 10,000 text deltas",
            page.flooded,
            FRAME_MAX_MS,
        ),
    ])
}

/// What the checks tell, in milliseconds.
#[derive(Debug, PartialEq)]
struct Page {
    opened: f64,
    cold: f64,
    scrolled: f64,
    flooded: f64,
}

impl Page {
    fn told_in(said: &str) -> Option<Self> {
        let behind = |mark: &str| browser::number_behind(said, mark);
        Some(Self {
            opened: behind("  opened in ")?,
            cold: behind("from an empty window in ")?,
            scrolled: behind("frames of scrolling took ")?,
            flooded: behind("the longest frame took ")?,
        })
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn figures_are_read_from_what_the_checks_say() {
        let said = "      opened in 271 ms\n      from an empty window in 540 ms\n\
                    ok    how fast a session of 2,000 messages opens\n      \
                    the longest of 240 frames of scrolling took 34 ms\n      \
                    the longest frame took 133 ms, all of it 900 ms\n";
        let page = Page {
            opened: 271.0,
            cold: 540.0,
            scrolled: 34.0,
            flooded: 133.0,
        };
        assert_eq!(Page::told_in(said), Some(page));
        assert_eq!(Page::told_in("0 passed, 0 failed"), None);
    }
}
