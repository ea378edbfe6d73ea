use pretty_assertions::assert_eq;

use super::*;

fn plugin() -> Url {
    Url::parse("file:///data/opencode/goal-shell-env.js").unwrap()
}

#[test]
fn our_configuration_adds_an_agent_and_a_plugin() {
    let config = config(&plugin(), None);
    let agent = &config["agent"][AUDIT_AGENT];
    assert_eq!(agent["mode"], "primary");
    assert_eq!(agent["hidden"], true);
    assert_eq!(agent["prompt"], prompt::audit_system());
    assert_eq!(agent["permission"], json!({"*": "deny"}));
    assert_eq!(config["plugin"], json!([plugin().as_str()]));
}

#[test]
fn plugins_that_are_configured_already_are_kept() {
    let existing = r#"{"plugin":["theirs",["with","options"]],"model":"a/b"}"#;
    let config = config(&plugin(), Some(existing));
    let expected = json!(["theirs", ["with", "options"], plugin().as_str()]);
    assert_eq!(config["plugin"], expected);
    let merged = opencode_client::merge_config(Some(existing), &config).unwrap();
    let merged: Value = serde_json::from_str(&merged).unwrap();
    assert_eq!(
        (&merged["plugin"], &merged["model"]),
        (&expected, &json!("a/b"))
    );
}

#[test]
fn an_odd_configuration_is_left_to_the_merge_which_names_the_fault() {
    for odd in ["not json", "[]", "\"text\"", r#"{"plugin":7}"#] {
        assert_eq!(
            config(&plugin(), Some(odd))["plugin"],
            json!([plugin().as_str()]),
            "{odd}"
        );
    }
}

#[test]
fn the_plugin_blanks_every_variable_that_tells_a_secret() {
    for name in [
        PASSWORD_VARIABLE,
        CONFIG_VARIABLE,
        "OPENCODE_SERVER_USERNAME",
    ] {
        assert!(SHELL_ENV_PLUGIN.contains(&format!("{name:?}")), "{name}");
    }
}

#[test]
fn a_start_writes_the_plugin_and_takes_the_users_password() {
    let folder = tempfile::tempdir().unwrap();
    let data_dir = DataDir::resolve(Some(&folder.path().join("my data")), None).unwrap();
    let environment: Environment = [(PASSWORD_VARIABLE.into(), "theirs".into())].into();
    let directory = folder.path().to_owned();
    let options = |environment| {
        start_options("opencode".into(), directory.clone(), environment, &data_dir).unwrap()
    };
    let given = options(environment);
    assert!(matches!(given.password, PasswordSource::Given(it) if it.expose() == "theirs"));
    let empty: Environment = [(PASSWORD_VARIABLE.into(), "".into())].into();
    assert!(matches!(options(empty).password, PasswordSource::Random));
    let written = data_dir.path().join("opencode").join("goal-shell-env.js");
    assert_eq!(std::fs::read_to_string(&written).unwrap(), SHELL_ENV_PLUGIN);
    let named = &given.config.unwrap()["plugin"][0];
    assert!(
        named
            .as_str()
            .unwrap()
            .ends_with("my%20data/opencode/goal-shell-env.js"),
        "{named}"
    );
}

#[cfg(unix)]
#[tokio::test]
async fn a_data_folder_that_is_a_file_says_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "").unwrap();
    let error = prepare_data_folder(file.join("below")).await.unwrap_err();
    assert_eq!(error.code(), Code::DataFolder);
    assert!(error.message().contains("--data-dir"), "{error}");
    assert_eq!(prepare_data_folder(folder.path().join("new")).await, Ok(()));
    let left = std::fs::read_dir(folder.path().join("new")).unwrap();
    assert_eq!(left.count(), 0, "the probe is gone");
}
