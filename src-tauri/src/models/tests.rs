//! What of a server's lists reaches the page.

use pretty_assertions::assert_eq;
use serde_json::json;

use super::*;

fn read_json(providers: &Value, agents: &Value) -> Value {
    let bytes = |value: &Value| serde_json::to_vec(value).unwrap();
    let config = json!({
        "model": "fake/vendor/big",
        "provider": { "fake": { "options": { "apiKey": "sk-secret" } } },
    });
    let models = read(&bytes(providers), &bytes(agents), &bytes(&config)).unwrap();
    serde_json::to_value(models).unwrap()
}

#[test]
fn a_configuration_without_a_model_leaves_the_choice_to_the_server() {
    for config in [
        "{}",
        r#"{"model":null}"#,
        r#"{"model":"none"}"#,
        "[]",
        "<html>",
    ] {
        assert_eq!(configured(config.as_bytes()), None, "{config}");
    }
}

#[test]
fn the_page_gets_names_limits_and_prices_and_never_a_key() {
    let providers = json!({
        "providers": [{
            "id": "fake", "name": "Fake", "source": "env", "env": ["FAKE_KEY"],
            "key": "sk-secret", "options": { "apiKey": "sk-secret", "baseURL": "http://secret" },
            "models": {
                "big": {
                    "id": "big", "name": "Big", "limit": { "context": 200_000, "output": 8_000 },
                    "cost": { "input": 1.5, "output": 6, "cache": { "read": 0.2, "write": 2 } },
                    "capabilities": {
                        "attachment": true, "reasoning": true,
                        "input": { "image": true, "pdf": false }
                    },
                    "variants": { "high": { "apiKey": "sk-secret" }, "low": {} },
                    "options": { "apiKey": "sk-secret" }, "headers": { "x": "sk-secret" }
                },
                "bare": {}
            }
        }],
        "default": { "fake": "big", "odd": 7 }
    });
    let agents = json!([
        {
            "name": "build", "description": "Builds", "mode": "primary", "native": true,
            "prompt": "secret", "options": { "apiKey": "sk-secret" }, "color": "#112233",
            "model": { "providerID": "fake", "modelID": "big" }
        },
        { "name": "helper", "mode": "subagent", "hidden": true },
        { "name": "odd", "mode": "unheard-of" },
        { "mode": "all" }
    ]);
    let models = read_json(&providers, &agents);
    assert!(!models.to_string().contains("secret"), "{models}");
    let big = json!({
        "id": "big", "name": "Big", "contextLimit": 200_000, "outputLimit": 8_000,
        "cost": { "input": 1.5, "output": 6.0, "cacheRead": 0.2, "cacheWrite": 2.0 },
        "variants": ["high", "low"], "attachments": true, "images": true, "pdf": false,
        "reasoning": true
    });
    let bare = json!({
        "id": "bare", "name": "bare", "contextLimit": null, "outputLimit": null, "cost": null,
        "variants": [], "attachments": false, "images": false, "pdf": false, "reasoning": false
    });
    assert_eq!(
        models,
        json!({
            "providers": [{ "id": "fake", "name": "Fake", "models": [bare, big] }],
            "configured": { "providerId": "fake", "modelId": "vendor/big" },
            "agents": [
                {
                    "name": "build", "description": "Builds", "mode": "primary", "hidden": false,
                    "model": { "providerId": "fake", "modelId": "big" }, "color": "#112233"
                },
                {
                    "name": "helper", "description": null, "mode": "subagent", "hidden": true,
                    "model": null, "color": null
                }
            ]
        })
    );
}

#[test]
fn an_odd_entry_spoils_no_other_and_an_odd_answer_is_told() {
    let providers =
        json!({ "providers": [7, { "name": "x" }, { "id": "p", "models": { "m": 7 } }] });
    let models = read_json(&providers, &json!([]));
    assert_eq!(
        models["providers"],
        json!([{ "id": "p", "name": "p", "models": [] }])
    );
    for (providers, agents) in [
        ("<html>", "[]"),
        ("{}", "[]"),
        (r#"{"providers":[]}"#, "{}"),
    ] {
        let refused = read(providers.as_bytes(), agents.as_bytes(), b"{}").unwrap_err();
        assert_eq!(refused.code(), crate::error::Code::Invalid);
    }
}
