//! What a person does on a page: controls go by the names that a screen reader says.

use serde_json::{Value, json};

use super::webdriver::Page;

/// For scripts: `named` finds what can be seen and pressed by its name. While a dialog is open,
/// nothing else can be reached.
const NAMED: &str = "
    const nameOf = (element) => (
        element.getAttribute('aria-label')
        ?? document.getElementById(element.getAttribute('aria-labelledby') ?? '')?.textContent
        ?? element.labels?.[0]?.textContent
        ?? element.textContent ?? ''
    ).replace(/\\s+/g, ' ').trim();
    const dialogs = document.querySelectorAll(
        '[role=dialog][data-state=open], [role=alertdialog][data-state=open]');
    const reached = [...dialogs].at(-1) ?? document;
    const controls = 'button, a, summary, textarea, input, select, [role=button], [role=option], '
        + '[role=menuitem], [role=menuitemradio], [role=checkbox], [role=radio], [role=switch], '
        + '[role=combobox], [role=tab]';
    const named = (name) => [...reached.querySelectorAll(controls)].find(
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
        self.holds(&format!("{NAMED} {script}"), name).await
    }

    /// Chooses among the answers of a card: the name begins so. `false`: there is none.
    ///
    /// # Errors
    /// The driver's.
    pub async fn choose_control(&self, beginning: &str) -> Result<bool, String> {
        let script = "const found = [...reached.querySelectorAll(controls + ', label')].find(
                (element) => nameOf(element).startsWith(arguments[0]) && element.checkVisibility());
            found?.click();
            return found !== undefined;";
        self.holds(&format!("{NAMED} {script}"), beginning).await
    }

    /// Goes to the field of that name, and selects what stands in it. `false`: there is none.
    ///
    /// # Errors
    /// The driver's.
    pub async fn focus_control(&self, name: &str) -> Result<bool, String> {
        let script = "const found = named(arguments[0]);
            found?.focus();
            found?.select();
            return found !== undefined && document.activeElement === found;";
        self.holds(&format!("{NAMED} {script}"), name).await
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
        let script = "return document.body.innerText.includes(arguments[0]);";
        self.holds(script, text).await
    }

    /// Whether a script answers `true` to `argument`.
    ///
    /// # Errors
    /// The driver's.
    pub async fn holds(&self, script: &str, argument: &str) -> Result<bool, String> {
        Ok(self.run(script, json!([argument])).await? == json!(true))
    }

    /// Calls a command of the app's host, as the page does: its answer, or what it refuses with.
    ///
    /// # Errors
    /// The driver's.
    pub async fn invoke(
        &self,
        command: &str,
        arguments: Value,
    ) -> Result<Result<Value, Value>, String> {
        let script = "const [command, args, done] = arguments;
            window.__TAURI_INTERNALS__.invoke(command, args)
                .then((ok) => done({ ok }), (error) => done({ error }));";
        let answer = self.run_async(script, json!([command, arguments])).await?;
        Ok(match answer.get("error") {
            Some(error) => Err(error.clone()),
            None => Ok(answer["ok"].clone()),
        })
    }
}
