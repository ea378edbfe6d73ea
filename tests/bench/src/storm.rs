//! (i) A storm of changes in a page: the check of the npm package in Chromium, blown for a minute.

use crate::figure::Figure;
use crate::{Result, Scale, browser};

/// How long a storm is promised to stall nothing.
const LONG_MS: usize = 60_000;

/// The longest time between two frames.
const FRAME_MAX_MS: f64 = 200.0;

/// The check's name, or a part of it that no other has.
const CHECK: &str = "storm";

/// What a storm of a thousand changes a second does to a page.
pub(crate) fn frames(scale: Scale) -> Result<Vec<Figure>> {
    let length = scale.of(LONG_MS, 1_000);
    // The first storm is the figure, whatever else the machine does.
    let surroundings = [
        ("STORM_TRIES", "1".to_owned()),
        ("STORM_MS", length.to_string()),
    ];
    let said = browser::checks("guest-js", CHECK, &surroundings)?;
    let storm = Storm::told_in(&said).ok_or_else(|| format!("no storm blew:\n{said}"))?;
    let what = format!(
        "longest frame in {} s with {:.0} changes a second and 200 goals",
        length / 1_000,
        storm.changes * 1_000.0 / length_of(length)
    );
    Ok(vec![
        Figure::at_most("i", what, storm.frame_ms, FRAME_MAX_MS, " ms"),
        Figure::told(
            "i",
            "… while nothing changes, before",
            format!("{:.0} ms", storm.calm_ms),
        ),
        Figure::told(
            "i",
            "… the page's heap grew by",
            format!("{:.0} kB", storm.heap / 1_000.0),
        ),
    ])
}

/// What the check tells of a storm.
#[derive(Debug, PartialEq)]
struct Storm {
    changes: f64,
    frame_ms: f64,
    calm_ms: f64,
    heap: f64,
}

impl Storm {
    fn told_in(said: &str) -> Option<Self> {
        let behind = |mark: &str| browser::number_behind(said, mark);
        Some(Self {
            changes: behind("changes: ")?,
            frame_ms: behind("longest frame in ms: ")?,
            calm_ms: behind("without changes in ms: ")?,
            heap: behind("heap grown by bytes: ")?,
        })
    }
}

#[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
fn length_of(ms: usize) -> f64 {
    ms as f64
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;

    use super::*;

    #[test]
    fn a_storm_is_read_from_what_the_check_says() {
        let said = "storm    changes: 60000  longest frame in ms: 34  \
                    without changes in ms: 17  heap grown by bytes: -12\n\
                    ok    a storm of changes stalls nothing\n";
        let storm = Storm {
            changes: 60_000.0,
            frame_ms: 34.0,
            calm_ms: 17.0,
            heap: -12.0,
        };
        assert_eq!(Storm::told_in(said), Some(storm));
        assert_eq!(Storm::told_in("0 passed, 0 failed"), None);
    }
}
