//! Finding the program.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use opencode_client::{Environment, Found, FoundBy, NotFound, find_binary, locate, usual_folders};
use pretty_assertions::assert_eq;
use tempfile::TempDir;

/// A folder with one program in it for each way to find one.
struct Places(TempDir);

impl Places {
    fn new() -> Self {
        let places = Self(tempfile::tempdir().unwrap());
        for name in ["setting", "binary", "path", "on_path", "folder"] {
            std::fs::create_dir(places.at(name)).unwrap();
            program(&places.program(name));
        }
        std::fs::create_dir(places.at("empty")).unwrap();
        places
    }

    fn at(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn program(&self, name: &str) -> PathBuf {
        self.at(name).join(if cfg!(windows) {
            "opencode.exe"
        } else {
            "opencode"
        })
    }

    fn environment(&self, variables: &[(&str, &Path)]) -> Environment {
        let on_path = [self.at("empty"), self.at("on_path")];
        let path = std::env::join_paths(on_path).unwrap();
        let variables = variables
            .iter()
            .map(|(key, value)| (key.into(), value.into()));
        variables.chain([(OsString::from("PATH"), path)]).collect()
    }
}

#[cfg(unix)]
fn program(path: &Path) {
    use std::os::unix::fs::PermissionsExt as _;
    std::fs::write(path, "").unwrap();
    std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o755)).unwrap();
}

#[cfg(not(unix))]
fn program(path: &Path) {
    std::fs::write(path, "").unwrap();
}

#[test]
fn the_strongest_name_wins() {
    let places = Places::new();
    let (binary, path) = (places.program("binary"), places.program("path"));
    let both = places.environment(&[("OPENCODE_PATH", &path), ("OPENCODE_BINARY", &binary)]);
    let one = places.environment(&[("OPENCODE_PATH", &path)]);
    let none = places.environment(&[]);
    let folders = [places.at("empty"), places.at("folder")];
    let setting = places.program("setting");
    let cases = [
        (Some(setting.as_path()), &both, "setting", FoundBy::Setting),
        (None, &both, "binary", FoundBy::Variable("OPENCODE_BINARY")),
        (None, &one, "path", FoundBy::Variable("OPENCODE_PATH")),
        (None, &none, "on_path", FoundBy::Path),
        (None, &Environment::new(), "folder", FoundBy::Folder),
    ];
    for (setting, environment, place, by) in cases {
        let expected = Found {
            path: places.program(place),
            by,
        };
        assert_eq!(find_binary(setting, environment, &folders), Ok(expected));
    }
}

#[test]
fn a_named_folder_is_looked_into() {
    let places = Places::new();
    let environment = places.environment(&[("OPENCODE_PATH", &places.at("path"))]);
    assert_eq!(
        find_binary(None, &environment, &[]).unwrap().path,
        places.program("path")
    );
}

#[test]
fn a_name_that_leads_nowhere_is_an_error_and_no_reason_to_take_another() {
    let places = Places::new();
    let gone = places.at("gone");
    let environment = places.environment(&[("OPENCODE_BINARY", &gone)]);
    let by = FoundBy::Variable("OPENCODE_BINARY");
    let expected = NotFound::Named {
        by,
        path: gone.clone(),
    };
    assert_eq!(
        find_binary(None, &environment, &[places.at("folder")]),
        Err(expected.clone())
    );
    assert!(
        expected.to_string().contains("OPENCODE_BINARY"),
        "{expected}"
    );
    assert!(expected.to_string().contains("gone"), "{expected}");
    let expected = NotFound::Named {
        by: FoundBy::Setting,
        path: places.at("empty"),
    };
    assert_eq!(
        find_binary(Some(&places.at("empty")), &environment, &[]),
        Err(expected)
    );
}

#[test]
fn nothing_anywhere_says_what_to_do() {
    let error = find_binary(None, &Environment::new(), &[]).unwrap_err();
    assert_eq!(error, NotFound::Nowhere);
    assert!(error.to_string().contains("OPENCODE_BINARY"));
}

#[cfg(unix)]
#[test]
fn a_file_that_cannot_be_run_and_a_relative_folder_are_passed_over() {
    let places = Places::new();
    std::fs::write(places.at("empty").join("opencode"), "").unwrap();
    let found = find_binary(None, &places.environment(&[]), &[]).unwrap();
    assert_eq!(found.path, places.program("on_path"));
    let relative = Environment::from([(OsString::from("PATH"), OsString::from(".:bin"))]);
    assert_eq!(find_binary(None, &relative, &[]), Err(NotFound::Nowhere));
}

#[cfg(unix)]
#[test]
fn the_usual_folders_follow_home() {
    let home = Environment::from([(OsString::from("HOME"), OsString::from("/home/me"))]);
    let folders = usual_folders(&home);
    assert!(folders.contains(&PathBuf::from("/home/me/.opencode/bin")));
    assert!(folders.contains(&PathBuf::from("/usr/local/bin")));
    assert!(
        usual_folders(&Environment::new())
            .iter()
            .all(|folder| folder.is_absolute())
    );
}

#[cfg(unix)]
#[tokio::test]
async fn the_login_shell_is_asked_last() {
    let places = Places::new();
    let shell = places.at("empty").join("shell");
    let answer = places.program("folder");
    let script = format!(
        "#!/bin/sh\necho 'Welcome back'\necho '{}'\n",
        answer.display()
    );
    program(&shell);
    std::fs::write(&shell, script).unwrap();
    let nowhere = |shell: &Path| Environment::from([("SHELL".into(), shell.into())]);
    let within = std::time::Duration::from_secs(20);

    let found = locate(None, &nowhere(&shell), &[], within).await;
    let by = FoundBy::LoginShell;
    assert_eq!(found, Ok(Found { path: answer, by }));

    let on_path = places.environment(&[("SHELL", &shell)]);
    let found = locate(None, &on_path, &[], within).await.unwrap();
    assert_eq!(found.by, FoundBy::Path);

    let silent = locate(None, &nowhere(Path::new("/bin/false")), &[], within).await;
    assert_eq!(silent, Err(NotFound::Nowhere));
}
