-- Why each cycle ended as it did, newest last.
CREATE TABLE decisions (
    id          INTEGER PRIMARY KEY AUTOINCREMENT,
    t_ms        INTEGER NOT NULL,
    session_id  TEXT    NOT NULL,
    goal_id     TEXT    NOT NULL,
    kind        TEXT    NOT NULL,
    why         TEXT    NOT NULL,
    detail_json TEXT    NOT NULL,
    tokens_used INTEGER NOT NULL,
    turns_used  INTEGER NOT NULL
) STRICT;
CREATE INDEX decisions_by_session ON decisions (session_id, id);

-- What the user is told: written before it is sent, marked after.
CREATE TABLE notices (
    id         INTEGER PRIMARY KEY AUTOINCREMENT,
    key        TEXT    NOT NULL UNIQUE,
    t_ms       INTEGER NOT NULL,
    session_id TEXT    NOT NULL,
    goal_id    TEXT    NOT NULL,
    code       TEXT    NOT NULL,
    args_json  TEXT    NOT NULL,
    state      TEXT    NOT NULL CHECK (state IN ('planned', 'sent', 'failed')),
    is_read    INTEGER NOT NULL DEFAULT 0 CHECK (is_read IN (0, 1))
) STRICT;
CREATE INDEX notices_planned ON notices (id) WHERE state = 'planned';

-- Which process drives which server. A released row stays: its fence only ever grows.
CREATE TABLE drivers (
    server_key   TEXT    PRIMARY KEY,
    held         INTEGER NOT NULL CHECK (held IN (0, 1)),
    nonce        TEXT    NOT NULL,
    pid          INTEGER NOT NULL,
    host         TEXT    NOT NULL,
    started      TEXT    NOT NULL,
    since_ms     INTEGER NOT NULL,
    heartbeat_ms INTEGER NOT NULL,
    fence        INTEGER NOT NULL
) STRICT;
