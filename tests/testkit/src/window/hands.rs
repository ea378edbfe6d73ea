//! What a person does on a page: controls go by the names that a screen reader says.

use serde_json::{Value, json};

use super::webdriver::Page;

/// For scripts: `named` finds what can be seen and pressed by its name.
const NAMED: &str = "
    const nameOf = (element) => (
        element.getAttribute('aria-label')
        ?? document.getElementById(element.getAttribute('aria-labelledby') ?? '')?.textContent
        ?? element.textContent ?? ''
    ).replace(/\\s+/g, ' ').trim();
    const controls = 'button, a, label, summary, textarea, input, select, [role=button], '
        + '[role=option], [role=menuitem], [role=menuitemradio], [role=checkbox], [role=radio], '
        + '[role=switch], [role=combobox], [role=tab]';
    const named = (name) => [...document.querySelectorAll(controls)].find(
        (element) => nameOf(element) === name && element.checkVisibility());
";

impl Page {
    /// Presses the control of that name, as a pointer does. `false`: there is none to press.
    ///
    /// # Errors
    /// The driver's.
    pub async fn press_control(&self, name: &str) -> Result<bool, String> {
        let script = "const found = named(arguments[0]);
            if (!found || found.disabled) return false;
            found.scrollIntoView({ block: 'nearest' });
            const at = { bubbles: true, cancelable: true, composed: true, button: 0 };
            found.focus();
            found.dispatchEvent(new PointerEvent('pointerdown', at));
            found.dispatchEvent(new PointerEvent('pointerup', at));
            found.click();
            return true;";
        self.yes(script, name).await
    }

    /// Goes to the field of that name. `false`: there is none.
    ///
    /// # Errors
    /// The driver's.
    pub async fn focus_control(&self, name: &str) -> Result<bool, String> {
        let script = "const found = named(arguments[0]);
            found?.focus();
            return found !== undefined && document.activeElement === found;";
        self.yes(script, name).await
    }

    /// What stands in the field of that name; nothing if there is none.
    ///
    /// # Errors
    /// The driver's.
    pub async fn value_of(&self, name: &str) -> Result<String, String> {
        let script = format!("{NAMED} return named(arguments[0])?.value ?? '';");
        let value = self.run(&script, json!([name])).await?;
        Ok(value.as_str().unwrap_or_default().to_owned())
    }

    /// Whether the page shows `text`.
    ///
    /// # Errors
    /// The driver's.
    pub async fn shows(&self, text: &str) -> Result<bool, String> {
        self.yes(
            "return document.body.innerText.includes(arguments[0]);",
            text,
        )
        .await
    }

    /// Calls a command of the app's host, as the page does.
    ///
    /// # Errors
    /// The driver's, or the host's refusal.
    pub async fn invoke(&self, command: &str, arguments: Value) -> Result<Value, String> {
        let script = "const [command, args, done] = arguments;
            window.__TAURI_INTERNALS__.invoke(command, args)
                .then((ok) => done({ ok }), (error) => done({ error }));";
        let answer = self.run_async(script, json!([command, arguments])).await?;
        match answer.get("error") {
            Some(error) => Err(format!("{command}: {error}")),
            None => Ok(answer["ok"].clone()),
        }
    }

    async fn yes(&self, script: &str, argument: &str) -> Result<bool, String> {
        let script = format!("{NAMED} {script}");
        Ok(self.run(&script, json!([argument])).await? == json!(true))
    }
}
