//! The reasons that are stored in canonical English (X17), each with its code for texts in the
//! reader's language. Any other stored reason is the text of a provider or an auditor.

use crate::change::MARKED;
use crate::decision::{BlockedCause, PauseCause, Settlement};
use crate::goal::RESUMED;

/// Every canonical reason with its code.
#[must_use]
pub fn canonical() -> Vec<(String, &'static str)> {
    let pauses = [
        PauseCause::Aborted,
        PauseCause::Declined,
        PauseCause::Archived,
        PauseCause::FirstMessageMissing,
        PauseCause::ContextTooSmall,
        PauseCause::NoProgress,
    ];
    // An empty text leaves the words that stand in for it.
    let text = String::new;
    let blocked = [
        BlockedCause::TurnFailed { reason: text() },
        BlockedCause::Cap,
        BlockedCause::RepeatedTruncation,
        BlockedCause::ByAudit { note: text() },
        BlockedCause::AuditUnavailable,
        BlockedCause::EmptyReplies,
        BlockedCause::NoModel,
        BlockedCause::PromptRefused { text: text() },
    ];
    let ends = blocked.map(Settlement::Blocked).into_iter();
    let ends = ends.chain([Settlement::Complete, Settlement::BudgetLimited]);
    let of_user = [(RESUMED, "resumed"), (MARKED, "markedByUser")];
    let pauses = pauses.map(|cause| (cause.reason().to_owned(), cause.code()));
    let of_user = of_user.map(|(reason, code)| (reason.to_owned(), code));
    pauses
        .into_iter()
        .chain(ends.map(|end| (end.reason(), end.code())))
        .chain(of_user)
        .collect()
}

/// The code of a stored reason, if it is a canonical one.
#[must_use]
pub fn code_of(stored: &str) -> Option<&'static str> {
    let mut all = canonical().into_iter();
    all.find(|(reason, _)| reason == stored)
        .map(|(_, code)| code)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn canonical_reasons_are_recognised_and_others_are_not() {
        for (reason, code) in canonical() {
            assert_eq!(code_of(&reason), Some(code));
        }
        assert_eq!(code_of("APIError: quota exceeded"), None);
        assert_eq!(code_of(""), None);
    }

    #[test]
    fn every_reason_and_every_code_is_its_own() {
        let all = canonical();
        let reasons: BTreeSet<&String> = all.iter().map(|(reason, _)| reason).collect();
        let codes: BTreeSet<&str> = all.iter().map(|(_, code)| *code).collect();
        assert_eq!((reasons.len(), codes.len()), (all.len(), all.len()));
    }

    #[test]
    fn no_cause_is_left_out() {
        // A new one does not compile here until it stands in the list, too.
        let pauses = |cause: PauseCause| match cause {
            PauseCause::Aborted
            | PauseCause::Declined
            | PauseCause::Archived
            | PauseCause::FirstMessageMissing
            | PauseCause::ContextTooSmall
            | PauseCause::NoProgress => 6,
        };
        let blocked = |cause: BlockedCause| match cause {
            BlockedCause::TurnFailed { .. }
            | BlockedCause::Cap
            | BlockedCause::RepeatedTruncation
            | BlockedCause::ByAudit { .. }
            | BlockedCause::AuditUnavailable
            | BlockedCause::EmptyReplies
            | BlockedCause::NoModel
            | BlockedCause::PromptRefused { .. } => 8,
        };
        let of_loop = pauses(PauseCause::Aborted) + blocked(BlockedCause::Cap) + 2;
        assert_eq!(canonical().len(), of_loop + 2);
    }
}
