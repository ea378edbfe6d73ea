//! What the app tells of its goal, as lines of the terminal.

use std::collections::BTreeMap;
use std::time::Duration;

use serde_json::Value;

use super::hands::Hands;
use crate::play;
use crate::tell::Tell;
use crate::trouble::Trouble;

/// The words of pages and command.
const WORDS: &str = include_str!("../../../../guest-js/locales/en.json");

/// The first line of the notification at the end.
pub(crate) const COMPLETE: &str = "Goal complete";

/// Between two looks at what was told.
const LOOK: Duration = Duration::from_millis(100);

/// The timeline so far.
pub(crate) struct Timeline {
    words: BTreeMap<String, String>,
    /// How much of what was told was heard.
    heard: usize,
    /// What was said last of what the goal does.
    doing: String,
    continuations: u64,
    verdicts: usize,
    notices: usize,
    ended: Option<Value>,
}

impl Timeline {
    /// Nothing was told yet.
    pub(crate) fn new() -> Self {
        Self {
            words: serde_json::from_str(WORDS).unwrap_or_default(),
            heard: 0,
            doing: String::new(),
            continuations: 0,
            verdicts: 0,
            notices: 0,
            ended: None,
        }
    }

    /// Tells what the app tells, until the goal has ended; gives the goal as it is then.
    ///
    /// # Errors
    /// If the page does not answer.
    pub(crate) async fn follow(
        &mut self,
        hands: &Hands<'_>,
        tell: &Tell,
    ) -> Result<Value, Trouble> {
        loop {
            self.hear(hands, tell).await?;
            if let Some(goal) = &self.ended {
                return Ok(goal.clone());
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Goes on until the app has told of the end outside its window, too.
    ///
    /// # Errors
    /// If the page does not answer.
    pub(crate) async fn follow_to_notice(
        &mut self,
        hands: &Hands<'_>,
        tell: &Tell,
    ) -> Result<(), Trouble> {
        while self.notices == 0 {
            tokio::time::sleep(LOOK).await;
            self.hear(hands, tell).await?;
        }
        tell.of("desktop", &format!("notification: {COMPLETE}"));
        Ok(())
    }

    /// Whether it was told as often as it happened.
    ///
    /// # Errors
    /// What was not.
    pub(crate) fn check(&self) -> Result<(), Trouble> {
        let told = (self.continuations, self.verdicts);
        if told == (u64::from(play::CONTINUATIONS), play::AUDITS) {
            return Ok(());
        }
        Err(Trouble::failed(format!(
            "the app told of {} continuations and {} verdicts",
            told.0, told.1
        )))
    }

    async fn hear(&mut self, hands: &Hands<'_>, tell: &Tell) -> Result<(), Trouble> {
        let told = hands.told(self.heard).await?;
        self.heard += told.len();
        for message in &told {
            for line in self.lines(message) {
                tell.of("goal", &line);
            }
        }
        Ok(())
    }

    fn lines(&mut self, message: &Value) -> Vec<String> {
        let goal = |place: &str| message[place]["goal"].clone();
        match message["type"].as_str() {
            Some("changed") if goal("changed").is_object() => self.changed(&goal("changed")),
            Some("verdict") => vec![self.verdict(&message["verdict"])],
            Some("settled") => {
                let goal = goal("settled");
                let line = self.end(&goal);
                self.ended = Some(goal);
                vec![line]
            }
            Some("notice") => {
                self.notices += 1;
                Vec::new()
            }
            Some(_) | None => Vec::new(),
        }
    }

    fn changed(&mut self, goal: &Value) -> Vec<String> {
        let mut lines = Vec::new();
        let turns = goal["turnsUsed"].as_u64().unwrap_or_default();
        if turns > self.continuations {
            self.continuations = turns;
            let occasion = match goal["phase"].as_str() {
                Some("continuing") => self.word("occasion", goal["why"].as_str()),
                Some(_) | None => String::new(),
            };
            let facts = [
                format!("continuation {turns} of {}", goal["turnsMax"]),
                tokens(goal),
                occasion,
            ];
            let label = self.word("phase", Some("continuing"));
            lines.push(line(&label, &facts));
        }
        let phase = goal["phase"].as_str().unwrap_or_default();
        // The first two are over at once, or were told above; the last is told as its end.
        if ["checking", "continuing", "settled", &self.doing].contains(&phase) {
            return lines;
        }
        phase.clone_into(&mut self.doing);
        let wait = match (phase, goal["next"].as_u64(), goal["at"].as_u64()) {
            ("quiet", Some(next), Some(now)) => {
                let seconds = next.saturating_sub(now).div_ceil(1_000);
                format!("next look in {seconds} s")
            }
            _ => String::new(),
        };
        lines.push(line(&self.word("phase", Some(phase)), &[wait]));
        lines
    }

    fn verdict(&mut self, verdict: &Value) -> String {
        self.verdicts += 1;
        let text = |name: &str| verdict[name].as_str().unwrap_or_default().to_owned();
        // The model is the same each time.
        let model = if self.verdicts == 1 {
            text("model")
        } else {
            String::new()
        };
        let label = self.word("verdict", verdict["verdict"].as_str());
        line(&label, &[text("note"), model])
    }

    fn end(&self, goal: &Value) -> String {
        let label = self.word("status", goal["status"].as_str());
        line(&label, &facts(goal))
    }

    fn word(&self, of: &str, code: Option<&str>) -> String {
        let code = code.unwrap_or_default();
        let word = self.words.get(&format!("{of}.{code}"));
        word.map_or_else(|| code.to_owned(), Clone::clone)
    }
}

/// The goal in one sentence.
pub(crate) fn summary(goal: &Value, audits: usize) -> String {
    let status = goal["status"].as_str().unwrap_or("unknown");
    let mut facts = facts(goal).to_vec();
    facts.push(format!("{audits} audits"));
    line(status, &facts)
}

fn facts(goal: &Value) -> [String; 3] {
    [
        goal["reason"].as_str().unwrap_or_default().to_owned(),
        tokens(goal),
        format!("{} continuations", goal["turnsUsed"]),
    ]
}

fn line(label: &str, facts: &[String]) -> String {
    let facts: Vec<&str> = facts
        .iter()
        .map(String::as_str)
        .filter(|fact| !fact.is_empty())
        .collect();
    format!("{label}  {}", facts.join(" · "))
        .trim_end()
        .to_owned()
}

fn tokens(goal: &Value) -> String {
    let thousands = |name: &str| goal[name].as_u64().map(|tokens| (tokens + 500) / 1_000);
    let used = thousands("tokensUsed").unwrap_or_default();
    match thousands("tokenBudget") {
        Some(budget) => format!("{used}K of {budget}K tokens"),
        None => format!("{used}K tokens"),
    }
}

#[cfg(test)]
mod tests {
    use pretty_assertions::assert_eq;
    use serde_json::json;

    use super::*;

    #[test]
    fn a_goal_is_told_from_phase_to_phase() {
        let mut timeline = Timeline::new();
        let mut goal = json!({
            "phase": "quiet", "why": "", "at": 500, "next": 3_400, "status": "active",
            "reason": "", "turnsUsed": 0, "turnsMax": 20, "tokensUsed": 0, "tokenBudget": 200_000,
        });
        let changed = |goal: &Value| json!({ "type": "changed", "changed": { "goal": goal } });
        let told = timeline.lines(&changed(&goal));
        assert_eq!(told, ["evaluating: quiet  next look in 3 s"]);
        assert_eq!(timeline.lines(&changed(&goal)), Vec::<String>::new());

        let verdict = json!({ "verdict": "continue", "note": "tests fail", "model": "a/b" });
        let told = timeline.lines(&json!({ "type": "verdict", "verdict": verdict }));
        assert_eq!(told, ["verdict: go on  tests fail · a/b"]);

        goal["turnsUsed"] = json!(1);
        goal["tokensUsed"] = json!(13_568);
        goal["phase"] = json!("continuing");
        goal["why"] = json!("progress");
        let told = timeline.lines(&changed(&goal));
        let facts = "continuation 1 of 20 · 14K of 200K tokens · there is work left";
        assert_eq!(told, [format!("continuing  {facts}")]);

        goal["status"] = json!("complete");
        goal["reason"] = json!("verified by audit");
        let told = timeline.lines(&json!({ "type": "settled", "settled": { "goal": goal } }));
        let facts = "verified by audit · 14K of 200K tokens · 1 continuations";
        assert_eq!(told, [format!("complete  {facts}")]);
        assert!(timeline.ended.is_some());
        assert!(timeline.check().is_err());
    }
}
