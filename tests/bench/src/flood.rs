//! (e) A command that prints a lot: events nobody here wants.

use std::hint::black_box;
use std::time::{Duration, Instant};

use opencode_client::{Decoder, FRAME_BYTES_MAX, Frame, Parsed, is_wanted, parse_frame};
use serde_json::Value;

use crate::figure::Figure;
use crate::{Result, Scale};

/// A real turn with a tool that prints.
const TRACE: &str = include_str!("../../fixtures/traces/normal_turn_bash_tool.sse");

/// Lines that the tool prints, each of them told with all that came before.
const LINES: usize = 300;

/// What the network gives at a time.
const CHUNK: usize = 16 * 1024;

pub(crate) fn speed(scale: Scale) -> Result<Vec<Figure>> {
    let flood = flood()?;
    let frames: Vec<&str> = flood
        .split("\n\n")
        .filter_map(|frame| frame.strip_prefix("data: "))
        .collect();
    let rounds = scale.of(200, 2);
    // In turns, so that whatever slows the machine slows all; the best of each is its own.
    let (mut ours, mut theirs, mut parsing) = (Duration::MAX, Duration::MAX, Duration::MAX);
    for _ in 0..rounds {
        ours = ours.min(event_path(flood.as_bytes()));
        theirs = theirs.min(every_event(flood.as_bytes()));
        parsing = parsing.min(timed(|| every_frame(&frames)));
    }
    let megabytes = f64::from(u32::try_from(flood.len())?) / 1e6;
    let per_second = |took: Duration| format!("{:.0} MB/s", megabytes / took.as_secs_f64());
    let ratio = |took: Duration| took.as_secs_f64() / ours.as_secs_f64();
    Ok(vec![
        Figure::at_least(
            "e",
            format!("a flood of {megabytes:.1} MB against parsing every frame"),
            ratio(theirs),
            20.0,
            "x",
        ),
        Figure::told("e", "… the event path", per_second(ours)),
        Figure::told("e", "… cutting and parsing every frame", per_second(theirs)),
        Figure::told(
            "e",
            "… parsing alone, the frames cut before",
            format!("{}, {:.1}x", per_second(parsing), ratio(parsing)),
        ),
    ])
}

fn timed(work: impl FnOnce()) -> Duration {
    let begun = Instant::now();
    work();
    begun.elapsed()
}

/// From the bytes of the network to the events, as the client does it.
fn event_path(flood: &[u8]) -> Duration {
    let mut decoder = Decoder::wanting(FRAME_BYTES_MAX, is_wanted);
    received(flood, |chunk| {
        for frame in decoder.push(chunk) {
            if let Frame::Data(data) = frame
                && let Parsed::Event(event) = parse_frame(&data)
            {
                black_box(event);
            }
        }
    })
}

/// The same bytes, each frame of them cut out and parsed.
fn every_event(flood: &[u8]) -> Duration {
    let mut decoder = Decoder::new(FRAME_BYTES_MAX);
    received(flood, |chunk| {
        for frame in decoder.push(chunk) {
            if let Frame::Data(data) = frame {
                black_box(serde_json::from_str::<Value>(&data).ok());
            }
        }
    })
}

/// How long `take` needs for all chunks. Each has just been written into the same buffer, as by a
/// read from a socket; that writing is not counted.
fn received(flood: &[u8], mut take: impl FnMut(&[u8])) -> Duration {
    let mut buffer = [0_u8; CHUNK];
    let mut took = Duration::ZERO;
    for chunk in flood.chunks(CHUNK) {
        let buffer = &mut buffer[..chunk.len()];
        buffer.copy_from_slice(chunk);
        took += timed(|| take(black_box(buffer)));
    }
    took
}

/// The frames are cut already: only the parsing counts.
fn every_frame(frames: &[&str]) {
    for frame in frames {
        black_box(serde_json::from_str::<Value>(frame).ok());
    }
}

/// The trace, with the tool's part and its twin told once for each line it prints.
fn flood() -> Result<String> {
    let frames: Vec<&str> = TRACE
        .split("\n\n")
        .filter(|frame| !frame.is_empty())
        .collect();
    // The tool, after its first line.
    let printed = r#""output":"one\n""#;
    let samples = frames.iter().filter(|frame| frame.contains(printed));
    let samples: Vec<&&str> = samples.take(2).collect();
    let at = frames.iter().position(|frame| frame.contains(printed));
    let at = at.ok_or("the tool of the trace prints nothing")?;
    let mut flood = String::new();
    let mut put = |frame: &str| {
        flood.push_str(frame);
        flood.push_str("\n\n");
    };
    for frame in &frames[..at] {
        put(frame);
    }
    let mut output = String::new();
    for line in 0..LINES {
        output.push_str(&format!("line {line:03} of the output of a test\\n"));
        for sample in &samples {
            put(&sample.replace(printed, &format!(r#""output":"{output}""#)));
        }
    }
    for frame in &frames[at..] {
        put(frame);
    }
    Ok(flood)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_flood_is_as_large_as_a_real_one_and_every_frame_of_it_is_json() {
        let flood = flood().unwrap();
        assert!(
            (3_000_000..4_000_000).contains(&flood.len()),
            "{}",
            flood.len()
        );
        let frames: Vec<Value> = flood
            .split_terminator("\n\n")
            .map(|frame| serde_json::from_str(frame.strip_prefix("data: ").unwrap()).unwrap())
            .collect();
        assert!(frames.len() > 2 * LINES);
    }
}
