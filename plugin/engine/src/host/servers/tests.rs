use std::io::Read;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, Stdio};

use pretty_assertions::assert_eq;
use tempfile::TempDir;

use super::*;

/// Long enough for a loaded machine; a test that needs it all has failed.
const PATIENT: Duration = Duration::from_secs(20);

const NONCE: &str = "0123456789abcdef0123456789abcdef";

/// A child with a group of its own that never outlives its test.
struct Running {
    child: Child,
    /// The first line it printed.
    said: String,
}

impl Running {
    /// Runs `script`, which prints a line, in a shell that carries `nonce`.
    fn shell(script: &str, nonce: &str) -> Self {
        let mut child = Command::new("sh")
            .args(["-c", script])
            .env(NONCE_VARIABLE, nonce)
            .process_group(0)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        // Its environment cannot be seen before it runs.
        let said = first_line(child.stdout.as_mut().unwrap());
        Self { child, said }
    }

    /// A process that ends when it is asked to.
    fn quiet(nonce: &str) -> Self {
        Self::shell("echo up; read line", nonce)
    }

    fn pid(&self) -> u32 {
        self.child.id()
    }

    /// The signal that ended it; `None` if it still runs.
    fn ended_by(&mut self) -> Option<i32> {
        self.child
            .try_wait()
            .unwrap()
            .and_then(|status| status.signal())
    }

    /// Everything it and its group print, until the last of them has ended.
    fn output(&mut self) -> String {
        let mut text = String::new();
        let mut stdout = self.child.stdout.take().unwrap();
        stdout.read_to_string(&mut text).unwrap();
        text
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        signal_group(self.pid(), Signal::Kill);
        let _ = self.child.wait();
    }
}

struct Stage {
    folder: TempDir,
    servers: Servers,
}

impl Stage {
    fn set() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let servers = Servers::in_folder(folder.path().join("servers"));
        Self { folder, servers }
    }

    /// Writes down `record`, as a host would have done.
    fn hold(&self, record: &Record) -> PathBuf {
        let path = self.folder.path().join("servers").join("one.json");
        record.write(&path).unwrap();
        path
    }

    fn sweep(&self) -> usize {
        self.servers.end_orphans(PATIENT)
    }
}

/// What a host that crashed would have written about `server`.
fn orphaned(server: &Running) -> Record {
    Record {
        format: FORMAT,
        nonce: NONCE.to_owned(),
        server: Process::running(server.pid()),
        // Our number, but not our start: whoever that was is gone.
        owner: Process {
            started: "1".to_owned(),
            ..Process::this()
        },
    }
}

#[test]
fn a_server_that_outlived_its_host_is_ended_and_forgotten() {
    let stage = Stage::set();
    let mut server = Running::quiet(NONCE);
    let path = stage.hold(&orphaned(&server));
    assert_eq!(stage.sweep(), 1);
    assert_eq!(server.ended_by(), Some(libc_signal(Signal::Ask)));
    assert!(!path.exists());
    assert_eq!(stage.sweep(), 0);
}

#[test]
fn one_that_will_not_end_is_killed_with_its_group() {
    let stage = Stage::set();
    let mut server = Running::shell("trap '' TERM; echo up; sleep 600 & wait; sleep 600", NONCE);
    let path = stage.hold(&orphaned(&server));
    assert_eq!(stage.servers.end_orphans(Duration::from_millis(100)), 1);
    assert_eq!(server.ended_by(), Some(libc_signal(Signal::Kill)));
    assert_eq!(server.output(), "", "nobody holds its output any more");
    assert!(!path.exists());
}

#[test]
fn what_a_dead_server_left_in_its_group_is_ended_too() {
    let stage = Stage::set();
    let mut server = Running::shell("sh -c 'echo up; while :; do sleep 1; done' & true", NONCE);
    let record = orphaned(&server);
    server.child.wait().unwrap();
    stage.hold(&record);
    assert_eq!(stage.sweep(), 1);
    assert_eq!(server.output(), "");
}

#[test]
fn a_foreign_process_with_the_same_number_is_never_touched() {
    let stage = Stage::set();
    for nonce in ["", "another", &NONCE[..31], &format!("{NONCE}0")] {
        let mut foreign = Running::quiet(nonce);
        let path = stage.hold(&orphaned(&foreign));
        assert_eq!(stage.sweep(), 0, "{nonce:?}");
        assert_eq!(foreign.ended_by(), None, "{nonce:?}");
        assert!(!path.exists(), "our server is gone");
    }
}

#[test]
fn a_number_that_was_used_again_is_another_process() {
    let stage = Stage::set();
    // Even one that carries the nonce, as a tool that the server started would.
    let mut later = Running::quiet(NONCE);
    let mut record = orphaned(&later);
    record.server.started = "1".to_owned();
    let path = stage.hold(&record);
    assert_eq!(stage.sweep(), 0);
    assert_eq!(later.ended_by(), None);
    assert!(!path.exists());
}

#[test]
fn a_process_in_a_group_of_others_is_not_ended_with_them() {
    let stage = Stage::set();
    let mut leader = Running::shell("sleep 600 & echo $!; wait", NONCE);
    let member: u32 = leader.said.parse().unwrap();
    let mut record = orphaned(&leader);
    record.server = Process::running(member);
    stage.hold(&record);
    assert_eq!(stage.sweep(), 0);
    assert_eq!(leader.ended_by(), None);
}

#[test]
fn a_server_whose_host_lives_is_left_alone() {
    let stage = Stage::set();
    let mut server = Running::quiet(NONCE);
    let note = stage.servers.note(NONCE);
    note.write(server.pid());
    assert_eq!(stage.sweep(), 0);
    assert_eq!(server.ended_by(), None);
    assert!(note.path.exists());
}

#[test]
fn what_cannot_be_known_from_here_is_left_alone_and_forgotten_after_a_month() {
    let stage = Stage::set();
    let mut server = Running::quiet(NONCE);
    let mut elsewhere = orphaned(&server);
    elsewhere.server.host = "elsewhere".to_owned();
    let later = Record {
        format: FORMAT + 1,
        ..orphaned(&server)
    };
    let nowhere = Record {
        server: Process {
            started: String::new(),
            ..Process::running(server.pid())
        },
        ..orphaned(&server)
    };
    for record in [&elsewhere, &later, &nowhere] {
        let path = stage.hold(record);
        assert_eq!(stage.sweep(), 0);
        assert!(path.exists(), "{record:?}");
    }
    assert_eq!(server.ended_by(), None);

    let path = stage.hold(&elsewhere);
    let old = SystemTime::now() - ELSEWHERE_KEPT - Duration::from_secs(60);
    let file = fs::File::options().append(true).open(&path).unwrap();
    file.set_modified(old).unwrap();
    assert_eq!(stage.sweep(), 0);
    assert!(!path.exists());
    assert_eq!(server.ended_by(), None);
}

#[test]
fn rubbish_names_no_process() {
    let stage = Stage::set();
    assert_eq!(stage.sweep(), 0, "there is no folder yet");
    let mut server = Running::quiet(NONCE);
    let path = stage.hold(&orphaned(&server));
    let whole = fs::read_to_string(&path).unwrap();
    let system = whole.replace(&format!("\"pid\":{}", server.pid()), "\"pid\":1");
    for text in ["", "[]", "{}", &whole[..whole.len() / 2], &system] {
        fs::write(&path, text).unwrap();
        assert_eq!(stage.sweep(), 0, "{text}");
    }
    assert_eq!(server.ended_by(), None);
}

#[test]
fn a_note_is_its_owners_alone_names_the_last_process_and_goes_with_it() {
    let stage = Stage::set();
    let first = Running::quiet(NONCE);
    let second = Running::quiet(NONCE);
    let note = stage.servers.note(NONCE);
    note.write(first.pid());
    note.write(second.pid());
    let path = note.path.clone();
    let record = Record::read(&path).unwrap();
    assert_eq!(record.server, Process::running(second.pid()));
    assert_eq!(record.owner, Process::this());
    assert_eq!(record.nonce, NONCE);
    let mode = fs::metadata(&path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
    drop(note);
    assert!(!path.exists());
}

fn first_line(stdout: &mut impl Read) -> String {
    let mut line = Vec::new();
    let mut byte = [0];
    while stdout.read_exact(&mut byte).is_ok() && byte != *b"\n" {
        line.extend(byte);
    }
    String::from_utf8(line).unwrap()
}

fn libc_signal(signal: Signal) -> i32 {
    let signal = match signal {
        Signal::Ask => nix::sys::signal::Signal::SIGTERM,
        Signal::Kill => nix::sys::signal::Signal::SIGKILL,
    };
    signal as i32
}
