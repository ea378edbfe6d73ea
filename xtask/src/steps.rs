//! The list of checks, in the order they run: what is cheap and often wrong comes first.

use crate::setup::Npm;

/// The name under which `--only` takes all layers of unit tests.
pub(crate) const UNIT: &str = "unit";

/// One check.
pub(crate) struct Step {
    /// Its name in the table and for `--only`.
    pub(crate) name: &'static str,
    /// What it does, in a few words.
    pub(crate) what: &'static str,
    /// How it is done.
    pub(crate) job: Job,
}

/// How a check is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Job {
    /// Cargo with these words.
    Cargo(&'static [&'static str]),
    /// Cargo's documentation, with every warning of rustdoc an error.
    Docs(&'static [&'static str]),
    /// cargo-deny with these words.
    Deny(&'static [&'static str]),
    /// The unit tests of one crate, which is named like the step.
    Unit,
    /// These paths hold what is committed: the build writes into them.
    Committed(&'static [&'static str]),
    /// This script of an npm package.
    Page(Npm, &'static str),
    /// Tests of the whole in memory, in the crate named like the step.
    Scenarios,
    /// Tests on a real OpenCode, in the crate named like the step.
    Real,
    /// The packages, made of what the step `build` has built.
    Bundle,
}

impl Step {
    /// Whether `--only name` means this step.
    pub(crate) fn answers_to(&self, name: &str) -> bool {
        self.name == name || (name == UNIT && self.job == Job::Unit)
    }

    /// Whether the step compiles the crates of the workspace, or runs what was compiled.
    pub(crate) fn compiles(&self) -> bool {
        match self.job {
            Job::Cargo(words) => !words.starts_with(&["fmt"]),
            Job::Docs(_) | Job::Unit | Job::Scenarios | Job::Real | Job::Bundle => true,
            Job::Deny(_) | Job::Committed(_) | Job::Page(..) => false,
        }
    }

    /// Whether the step runs what the step `build` has built.
    pub(crate) fn runs_built_code(&self) -> bool {
        matches!(
            self.job,
            Job::Unit | Job::Scenarios | Job::Real | Job::Bundle
        )
    }
}

/// The step that builds all programs and tests. Every later step selects the whole workspace, as
/// it does, so that cargo unites the same features each time and builds nothing twice.
pub(crate) const BUILD: &str = "build";

/// All checks.
pub(crate) const STEPS: &[Step] = &[
    Step {
        name: "fmt",
        what: "the format of all sources",
        job: Job::Cargo(&["fmt", "--all", "--check"]),
    },
    Step {
        name: "deny",
        what: "bans, licences and sources of all dependencies",
        job: Job::Deny(&[
            "--offline",
            "check",
            "--hide-inclusion-graph",
            "bans",
            "licenses",
            "sources",
        ]),
    },
    Step {
        name: "clippy",
        what: "lints, with every warning an error",
        job: Job::Cargo(&[
            "clippy",
            "--locked",
            "--workspace",
            "--all-targets",
            "--",
            "-D",
            "warnings",
        ]),
    },
    Step {
        name: "docs",
        what: "the documentation, with every warning an error",
        job: Job::Docs(&["doc", "--locked", "--workspace", "--no-deps"]),
    },
    Step {
        name: BUILD,
        what: "all programs and tests",
        job: Job::Cargo(&["build", "--locked", "--workspace", "--all-targets"]),
    },
    Step {
        name: "generated",
        what: "what the build writes is committed",
        job: Job::Committed(&["permissions"]),
    },
    Step {
        name: "plugin-alone",
        what: "the plugin without its default features",
        job: Job::Cargo(&[
            "clippy",
            "--locked",
            "--package",
            "tauri-plugin-goal",
            "--no-default-features",
            "--",
            "-D",
            "warnings",
        ]),
    },
    Step {
        name: "doctests",
        what: "the examples in the documentation",
        job: Job::Cargo(&["test", "--locked", "--workspace", "--doc"]),
    },
    unit("goal-core", "the pure loop"),
    unit("opencode-client", "the client of the OpenCode server"),
    unit("goal-engine", "the engine around the loop"),
    unit("openchamber", "the command"),
    unit("tauri-plugin-goal", "the Tauri plugin without a screen"),
    Step {
        name: "page",
        what: "the npm package: types, lints, tests, what it carries",
        job: Job::Page(Npm::GuestJs, "check"),
    },
    Step {
        name: "page-browser",
        what: "the npm package's kit in Chromium, pictured and checked for accessibility",
        job: Job::Page(Npm::GuestJs, "browser"),
    },
    Step {
        name: "app",
        what: "the app's page: types, lints, tests",
        job: Job::Page(Npm::App, "check"),
    },
    Step {
        name: "app-browser",
        what: "the app's page in Chromium: flows, pictures of every state, accessibility",
        job: Job::Page(Npm::App, "browser"),
    },
    unit("testkit", "what the tests stand on"),
    unit("xtask", "this tool"),
    unit(
        "tidy",
        "rules about the files, dependencies between the crates",
    ),
    Step {
        name: "scenarios",
        what: "the loop played through in memory",
        job: Job::Scenarios,
    },
    unit(
        "wire",
        "the engine over sockets, with a server that fails as servers do",
    ),
    unit("bench", "the benches, run quickly"),
    Step {
        name: "real",
        what: "goals on the real OpenCode, one test at a time",
        job: Job::Real,
    },
    Step {
        name: "minimal",
        what: "the example app in its real window",
        job: Job::Real,
    },
    Step {
        name: "openchamber-desktop",
        what: "the app: its host without a screen, then all of it in its real window",
        job: Job::Real,
    },
    Step {
        name: "demo",
        what: "the demo, played to its end and stopped in the middle",
        job: Job::Real,
    },
    Step {
        name: "bundle",
        what: "the Debian package: unpacked, and both programs started from there",
        job: Job::Bundle,
    },
];

/// The names of all steps, for messages.
pub(crate) fn names() -> Vec<&'static str> {
    STEPS.iter().map(|step| step.name).chain([UNIT]).collect()
}

const fn unit(name: &'static str, what: &'static str) -> Step {
    Step {
        name,
        what,
        job: Job::Unit,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workspace::{Workspace, ask};

    #[test]
    fn every_crate_of_the_workspace_is_a_layer() {
        let workspace = Workspace::locate();
        let mut tree = workspace.cargo();
        tree.args([
            "tree",
            "--locked",
            "--workspace",
            "--depth",
            "0",
            "--prefix",
            "none",
            "--format",
            "{p}",
        ]);
        let members = ask(tree).unwrap();
        let members = members
            .lines()
            .filter_map(|line| line.split_whitespace().next());
        for member in members {
            let tested = STEPS
                .iter()
                .any(|step| step.name == member && step.runs_built_code());
            assert!(tested, "the crate {member} has no step: add it to STEPS");
        }
    }

    #[test]
    fn no_two_steps_share_a_name() {
        let mut names = names();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), STEPS.len() + 1);
    }

    #[test]
    fn what_compiles_is_told_from_what_only_reads() {
        let reads: Vec<&str> = STEPS
            .iter()
            .filter(|step| !step.compiles())
            .map(|step| step.name)
            .collect();
        assert_eq!(
            reads,
            [
                "fmt",
                "deny",
                "generated",
                "page",
                "page-browser",
                "app",
                "app-browser"
            ]
        );
    }

    #[test]
    fn tests_run_after_the_build() {
        let place = |wanted: &str| STEPS.iter().position(|step| step.name == wanted).unwrap();
        let first = STEPS.iter().position(Step::runs_built_code).unwrap();
        assert!(place(BUILD) < first);
    }
}
