//! `completions` and `man`: the command describes itself, for shells and for `man`.

use clap::CommandFactory as _;
use serde_json::json;

use crate::args::{Cli, Completions, Man};
use crate::failure::{Exit, Failure, Stop};
use crate::output::Output;

/// The name of the command.
const NAME: &str = "openchamber";

/// Prints what a shell needs to complete the command's words.
pub(super) fn completions(args: &Completions, output: &mut Output) -> Result<Exit, Stop> {
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), NAME, &mut script);
    print(script, output)
}

/// Prints a page of the manual: that of the command, or that of a verb.
pub(super) fn page(args: &Man, output: &mut Output) -> Result<Exit, Stop> {
    let mut command = Cli::command();
    command.build();
    let mut name = NAME.to_owned();
    for word in &args.verb {
        let found = command.find_subcommand(word).cloned();
        command = found.ok_or_else(|| {
            let word = crate::text::clip(&crate::text::one_line(word), 40);
            Failure::usage(say!("error.man", word = word))
        })?;
        name = format!("{name}-{word}");
    }
    let mut page = Vec::new();
    clap_mangen::Man::new(command)
        .title(&name)
        .render(&mut page)
        .map_err(|error| Failure::system(&error))?;
    print(page, output)
}

fn print(bytes: Vec<u8>, output: &mut Output) -> Result<Exit, Stop> {
    let text = String::from_utf8_lossy(&bytes);
    let text = text.trim_end();
    let object = json!({ "status": "ok", "text": text });
    output.result(&object, || vec![text.to_owned()])?;
    Ok(Exit::Fine)
}
