//! Running the programs of an action: `mount`, `umount`, `modprobe`.
//!
//! In: an argument list. Out: the output, or the reason of a failure. Called by `journal::action`.
//! No shell is involved.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, Command};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{MemfdFlags, memfd_create};

/// The time limit of a program: a hanging one must not block the rest of the journal.
const PATIENCE: Duration = Duration::from_secs(60);
/// Of what a failed program prints.
const MOST_CHARACTERS: usize = 300;
const GLANCE: Duration = Duration::from_millis(5);
/// The administrator's directories, also for a PATH without them, as under a bare sshd or sudo.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// The standard output of a program. An error holds its messages when it fails or does not end.
pub(super) fn output(argv: &[&str]) -> io::Result<String> {
    output_of(argv, "", PATIENCE)
}

/// The same, with another time limit.
pub(super) fn output_within(argv: &[&str], patience: Duration) -> io::Result<String> {
    output_of(argv, "", patience)
}

/// The same, with a text on the program's standard input.
pub(super) fn output_with(argv: &[&str], input: &str) -> io::Result<String> {
    output_of(argv, input, PATIENCE)
}

fn output_of(argv: &[&str], input: &str, patience: Duration) -> io::Result<String> {
    let (program, arguments) = argv
        .split_first()
        .ok_or_else(|| io::Error::other("no program is named"))?;
    // Into memory: a program with much output never blocks, and no thread has to read.
    let (mut stdin, stdout, stderr) = (memory()?, memory()?, memory()?);
    stdin.write_all(input.as_bytes())?;
    stdin.rewind()?;
    let mut command = Command::new(program);
    // SAFETY: between fork and exec it only makes one system call.
    unsafe { command.pre_exec(end_with_parent) };
    let mut child = command
        .args(arguments)
        .env_clear()
        .env("PATH", PATH)
        .env("LC_ALL", "C")
        .stdin(stdin)
        .stdout(stdout.try_clone()?)
        .stderr(stderr.try_clone()?)
        .spawn()
        .map_err(|cause| io::Error::new(cause.kind(), format!("cannot run {program}: {cause}")))?;
    match wait(&mut child, patience)? {
        Some(status) if status.success() => text(stdout),
        Some(status) => Err(io::Error::other(format!(
            "`{}` failed ({status}): {}",
            argv.join(" "),
            failure_text(&text(stdout)?, &text(stderr)?)
        ))),
        None => Err(io::Error::other(format!(
            "`{}` did not end within {} s",
            argv.join(" "),
            patience.as_secs()
        ))),
    }
}

/// The end of what a program that failed prints, and its messages: some, as `storcli64`, print the reason as output.
fn failure_text(stdout: &str, stderr: &str) -> String {
    let words = [stdout.trim(), stderr.trim()].join(" ");
    let start = words.char_indices().rev().nth(MOST_CHARACTERS - 1);
    words[start.map_or(0, |(index, _)| index)..]
        .trim()
        .to_string()
}

/// A program that outlived a killed keeper could change a device after its undo.
fn end_with_parent() -> io::Result<()> {
    rustix::process::set_parent_process_death_signal(Some(rustix::process::Signal::KILL))?;
    Ok(())
}

/// The exit status of the child; `None` when it had to be killed.
fn wait(child: &mut Child, patience: Duration) -> io::Result<Option<std::process::ExitStatus>> {
    let deadline = Instant::now() + patience;
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() >= deadline {
            child.kill()?;
            child.wait()?;
            return Ok(None);
        }
        thread::sleep(GLANCE);
    }
}

fn memory() -> io::Result<File> {
    Ok(memfd_create("output", MemfdFlags::CLOEXEC)?.into())
}

fn text(mut file: File) -> io::Result<String> {
    let mut bytes = Vec::new();
    file.rewind()?;
    file.read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

#[cfg(test)]
mod tests {
    use super::{failure_text, output, output_with};

    #[test]
    fn a_program_reads_its_input() {
        assert_eq!(
            output_with(&["cat", "/dev/stdin"], "<xml/>\n").unwrap(),
            "<xml/>\n"
        );
        assert_eq!(output(&["cat"]).unwrap(), "");
    }

    #[test]
    fn a_failure_keeps_the_end_of_output_and_messages() {
        let long = format!("{}\nDescription = Battery is absent", "é".repeat(400));
        let end = failure_text(&long, " \n");
        assert!(end.ends_with("é\nDescription = Battery is absent"), "{end}");
        assert!(end.chars().count() <= 300);
        assert_eq!(failure_text("short\n", ""), "short");
        assert_eq!(failure_text("", "a message\n"), "a message");
        assert_eq!(
            failure_text("Continue? [y/n]", "no answer\n"),
            "Continue? [y/n] no answer"
        );
    }

    #[test]
    fn a_failure_keeps_the_message_of_the_program() {
        let cause = output(&["ls", "/nowhere-at-all"]).unwrap_err().to_string();
        assert!(cause.contains("nowhere-at-all"), "{cause}");
        let cause = output(&["no-such-program"]).unwrap_err().to_string();
        assert!(cause.contains("cannot run no-such-program"), "{cause}");
    }

    #[test]
    fn nothing_is_given_to_a_shell() {
        let printed = output(&["printf", "%s", "$(id); `id`"]).unwrap();
        assert_eq!(printed, "$(id); `id`");
    }
}
