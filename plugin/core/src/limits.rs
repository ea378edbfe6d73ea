//! Every number the loop obeys, each with its reason, and the relations between them (X24).

mod tunable;

use std::time::Duration;

pub use self::tunable::{Kind, TUNABLES, Tunable};

/// The numbers of X24. Passed to the pure functions; built from [`Limits::DEFAULT`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Quiet after `idle` before a cycle: time for the user, or for an abort's late traces.
    pub idle_quiet: Duration,
    /// Quiet after a fresh goal on an idle session: that session will not say `idle` again.
    pub kickoff_quiet: Duration,
    /// Quiet after Resume: short enough to feel immediate.
    pub resume_quiet: Duration,
    /// Deadline of one call to the server.
    pub call_timeout: Duration,
    /// Deadline of one audit: OpenCode itself retries a provider for about 70 s.
    pub audit_timeout: Duration,
    /// Pauses before an audit that met connection trouble is tried again.
    pub audit_retry: [Duration; 2],
    /// How long a sent prompt may take to show as `busy` or as an answer.
    pub delivery_window: Duration,
    /// How long an unfinished tail must stand untouched before it counts as cut off.
    pub interrupted_grace: Duration,
    /// The longest any wait goes unexamined.
    pub recheck_max: Duration,
    /// A goal untouched for so long waits for a click instead of waking by itself.
    pub stale_after: Duration,
    /// No byte for so long on the event stream means it is dead; the server beats every 10 s.
    pub liveness: Duration,
    /// First pause before reconnecting; doubles.
    pub reconnect_min: Duration,
    /// Longest pause before reconnecting.
    pub reconnect_max: Duration,
    /// Messages read at a time.
    pub page_messages: u32,
    /// Messages read at most for one cycle.
    pub messages_max: u32,
    /// UTF-16 units of the turn's text that the audit sees.
    pub evidence_max: usize,
    /// UTF-16 units of an audit note.
    pub note_max: usize,
    /// UTF-16 units of a status reason.
    pub reason_max: usize,
    /// UTF-16 units of the auditor's copy of the objective.
    pub objective_max: usize,
    /// Automatic continuations until a Resume is asked for.
    pub turns_max: u32,
    /// Blocked verdicts in a row that settle the goal.
    pub blocked_max: u32,
    /// Failed audits in a row that settle the goal.
    pub audit_fail_max: u32,
    /// Truncated messages in a row that settle the goal.
    pub truncated_max: usize,
    /// Least distance between two continuations of a session, a Resume excepted.
    pub continue_gap: Duration,
    /// Wait before an empty turn is nudged.
    pub empty_quiet: Duration,
    /// Nudges over empty turns before the goal is blocked; 0 switches the brake off.
    pub empty_max: u32,
    /// Equal audits in a row from which the distance between continuations grows; 0: never.
    pub repeat_slow: u32,
    /// Equal audits in a row that pause the goal; 0: never.
    pub repeat_max: u32,
    /// First grown distance; doubles with each further equal audit.
    pub repeat_gap: Duration,
    /// Compactions in a row without work between that pause the goal; 0: never.
    pub compactions_max: u32,
    /// Cycles in a row without a confirmed prompt that stall the goal.
    pub unconfirmed_max: u32,
    /// Times one continuation is sent again.
    pub resend_max: u32,
    /// How long an idle session may lack the prompt that starts its goal.
    pub first_message_wait: Duration,
    /// A disposal so soon after an abort means that the server reloaded, not that the user stopped.
    pub disposal_window: Duration,
    /// How long a write may take to come back as `session.updated` before the loop reads again.
    pub write_echo: Duration,
}

impl Limits {
    /// The defaults of X24.
    pub const DEFAULT: Self = Self {
        idle_quiet: Duration::from_secs(15),
        kickoff_quiet: Duration::from_secs(3),
        resume_quiet: Duration::from_millis(250),
        call_timeout: Duration::from_secs(10),
        audit_timeout: Duration::from_secs(90),
        audit_retry: [Duration::from_secs(5), Duration::from_secs(20)],
        delivery_window: Duration::from_secs(5),
        interrupted_grace: Duration::from_secs(60),
        recheck_max: Duration::from_mins(5),
        stale_after: Duration::from_hours(24),
        liveness: Duration::from_secs(45),
        reconnect_min: Duration::from_millis(250),
        reconnect_max: Duration::from_secs(30),
        page_messages: 40,
        messages_max: 1_000,
        evidence_max: 6_000,
        note_max: 280,
        reason_max: 200,
        objective_max: 5_000,
        turns_max: 20,
        blocked_max: 3,
        audit_fail_max: 2,
        truncated_max: 2,
        continue_gap: Duration::from_secs(2),
        empty_quiet: Duration::from_secs(60),
        empty_max: 2,
        repeat_slow: 3,
        repeat_max: 6,
        repeat_gap: Duration::from_secs(30),
        compactions_max: 3,
        unconfirmed_max: 3,
        resend_max: 2,
        first_message_wait: Duration::from_secs(60),
        disposal_window: Duration::from_millis(200),
        write_echo: Duration::from_secs(1),
    };

    /// Checks the relations between the limits (X24).
    ///
    /// # Errors
    /// The first relation that does not hold, by name.
    pub fn check(&self) -> Result<(), BrokenRelation> {
        let relations = [
            (
                self.resume_quiet <= self.kickoff_quiet,
                BrokenRelation::ResumeAboveKickoff,
            ),
            (
                self.kickoff_quiet <= self.idle_quiet,
                BrokenRelation::KickoffAboveIdle,
            ),
            (
                self.idle_quiet <= self.recheck_max,
                BrokenRelation::IdleAboveRecheck,
            ),
            (
                self.interrupted_grace >= Duration::from_secs(2),
                BrokenRelation::GraceBelowTwoSeconds,
            ),
            (
                self.interrupted_grace >= self.idle_quiet.saturating_mul(3),
                BrokenRelation::GraceBelowThreeIdles,
            ),
            (
                self.reconnect_min <= self.reconnect_max,
                BrokenRelation::ReconnectMinAboveMax,
            ),
            (self.every_limit_counts(), BrokenRelation::Zero),
        ];
        relations
            .into_iter()
            .find(|(holds, _)| !holds)
            .map_or(Ok(()), |(_, broken)| Err(broken))
    }

    fn every_limit_counts(&self) -> bool {
        let times = [
            self.call_timeout,
            self.audit_timeout,
            self.delivery_window,
            self.liveness,
            // Failed reads and named waits are looked at again after these: zero never rests.
            self.idle_quiet,
            self.recheck_max,
        ];
        let counts = [
            self.turns_max,
            self.blocked_max,
            self.audit_fail_max,
            self.unconfirmed_max,
            // The server takes a page of none for a page of all.
            self.page_messages,
            self.messages_max,
        ];
        times.iter().all(|time| !time.is_zero())
            && counts.iter().all(|count| *count > 0)
            && self.truncated_max > 0
    }
}

/// A relation between two limits that does not hold.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BrokenRelation {
    /// `resume_quiet` is longer than `kickoff_quiet`.
    ResumeAboveKickoff,
    /// `kickoff_quiet` is longer than `idle_quiet`.
    KickoffAboveIdle,
    /// `idle_quiet` is longer than `recheck_max`.
    IdleAboveRecheck,
    /// `interrupted_grace` is under two seconds: an abort's message arrives up to 700 ms late.
    GraceBelowTwoSeconds,
    /// `interrupted_grace` is under three times `idle_quiet`.
    GraceBelowThreeIdles,
    /// `reconnect_min` is longer than `reconnect_max`.
    ReconnectMinAboveMax,
    /// A deadline or a count that must be above zero is zero.
    Zero,
}

impl BrokenRelation {
    /// The relation in one sentence, with the names of the command-line flags.
    #[must_use]
    pub fn sentence(self) -> &'static str {
        match self {
            Self::ResumeAboveKickoff => "resume-quiet-ms must not exceed kickoff-quiet-ms",
            Self::KickoffAboveIdle => "kickoff-quiet-ms must not exceed idle-quiet-ms",
            Self::IdleAboveRecheck => "idle-quiet-ms must not exceed recheck-max-ms",
            Self::GraceBelowTwoSeconds => "interrupted-grace-ms must be at least 2000",
            Self::GraceBelowThreeIdles => {
                "interrupted-grace-ms must be at least three times idle-quiet-ms"
            }
            Self::ReconnectMinAboveMax => "reconnect-min-ms must not exceed reconnect-max-ms",
            Self::Zero => "timeouts and counts must be above zero",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_keep_their_relations() {
        assert_eq!(Limits::DEFAULT.check(), Ok(()));
    }

    #[test]
    fn every_broken_relation_is_named() {
        let ms = Duration::from_millis;
        let default = || Limits::DEFAULT;
        let cases = [
            (
                Limits {
                    resume_quiet: ms(3_001),
                    ..default()
                },
                BrokenRelation::ResumeAboveKickoff,
            ),
            (
                Limits {
                    kickoff_quiet: ms(15_001),
                    ..default()
                },
                BrokenRelation::KickoffAboveIdle,
            ),
            (
                Limits {
                    recheck_max: ms(14_999),
                    ..default()
                },
                BrokenRelation::IdleAboveRecheck,
            ),
            (
                Limits {
                    idle_quiet: ms(250),
                    kickoff_quiet: ms(250),
                    interrupted_grace: ms(1_999),
                    ..default()
                },
                BrokenRelation::GraceBelowTwoSeconds,
            ),
            (
                Limits {
                    interrupted_grace: ms(44_999),
                    ..default()
                },
                BrokenRelation::GraceBelowThreeIdles,
            ),
            (
                Limits {
                    reconnect_min: ms(30_001),
                    ..default()
                },
                BrokenRelation::ReconnectMinAboveMax,
            ),
            (
                Limits {
                    turns_max: 0,
                    ..default()
                },
                BrokenRelation::Zero,
            ),
        ];
        for (limits, broken) in cases {
            assert_eq!(limits.check(), Err(broken), "{}", broken.sentence());
        }
    }
}
