//! Owns running other programs: what a missing one is told, and what their output is read for.

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

/// Runs a command with the terminal of this one; an exit status other than 0 is an error with `advice`.
pub(crate) fn run(command: &mut Command, advice: &str) -> Result<()> {
    let status = command.status().with_context(|| missing(command))?;
    if !status.success() {
        bail!("`{}` failed. {advice}", line(command));
    }
    Ok(())
}

/// Runs a command, passes its standard output on line by line as it comes, and gives it back as well.
pub(crate) fn tee(command: &mut Command, advice: &str) -> Result<String> {
    let mut child = command.stdout(Stdio::piped()).spawn().with_context(|| missing(command))?;
    let mut text = String::new();
    if let Some(stdout) = child.stdout.take() {
        for row in BufReader::new(stdout).lines() {
            let row = row.with_context(|| format!("reading from `{}`", line(command)))?;
            println!("{row}");
            text.push_str(&row);
            text.push('\n');
        }
    }
    let status = child.wait().with_context(|| line(command))?;
    if !status.success() {
        bail!("`{}` failed. {advice}", line(command));
    }
    Ok(text)
}

/// Runs a command and gives back what it wrote to standard output.
pub(crate) fn output(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| missing(command))?;
    if !output.status.success() {
        bail!("`{}` failed:\n{}", line(command), String::from_utf8_lossy(&output.stderr));
    }
    String::from_utf8(output.stdout).with_context(|| format!("output of `{}`", line(command)))
}

/// True when `program --version` can be run.
pub(crate) fn is_installed(program: &str, arguments: &[&str]) -> bool {
    Command::new(program)
        .args(arguments)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

/// The cargo that started this program.
pub(crate) fn cargo() -> Command {
    Command::new(option_env!("CARGO").unwrap_or("cargo"))
}

fn missing(command: &Command) -> String {
    format!("cannot start `{}`", command.get_program().to_string_lossy())
}

fn line(command: &Command) -> String {
    let mut words = vec![command.get_program().to_string_lossy().into_owned()];
    words.extend(command.get_args().map(|word| word.to_string_lossy().into_owned()));
    words.join(" ")
}
