-- What is said when, where and to whom.
CREATE TABLE tasks (
    id              TEXT    PRIMARY KEY,
    definition_json TEXT    NOT NULL,
    enabled         INTEGER NOT NULL CHECK (enabled IN (0, 1)),
    -- The occurrence that is waited for.
    next_ms         INTEGER,
    created_ms      INTEGER NOT NULL,
    updated_ms      INTEGER NOT NULL
) STRICT;

-- What became of each occurrence, newest last. A row is the claim on its occurrence.
CREATE TABLE runs (
    id            INTEGER PRIMARY KEY AUTOINCREMENT,
    task_id       TEXT    NOT NULL,
    -- Null: it was run on request.
    occurrence_ms INTEGER,
    -- How many occurrences the row stands for: more than one where several were missed in a row.
    occurrences   INTEGER NOT NULL,
    state         TEXT    NOT NULL,
    is_live       INTEGER NOT NULL CHECK (is_live IN (0, 1)),
    reason        TEXT    NOT NULL,
    directory     TEXT    NOT NULL,
    archive       INTEGER NOT NULL CHECK (archive IN (0, 1)),
    claimed_ms    INTEGER NOT NULL,
    ended_ms      INTEGER,
    -- When somebody last looked after it.
    seen_ms       INTEGER NOT NULL,
    session_id    TEXT,
    goal_id       TEXT,
    message_id    TEXT,
    server_key    TEXT,
    -- Whose it is until its session is there.
    nonce         TEXT    NOT NULL,
    pid           INTEGER NOT NULL,
    host          TEXT    NOT NULL,
    started       TEXT    NOT NULL
) STRICT;
CREATE UNIQUE INDEX runs_once ON runs (task_id, occurrence_ms) WHERE state <> 'missed';
CREATE INDEX runs_by_task ON runs (task_id, id);
CREATE INDEX runs_live ON runs (id) WHERE is_live = 1;
