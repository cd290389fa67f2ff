-- The record of one run. Version in meta.schema_version; times are seconds since the epoch (UTC).
CREATE TABLE meta (               -- what the run is: written once
    key   TEXT PRIMARY KEY,       -- schema_version, setting, backbone, memory, memory_label, variant, seed, judge,
    value TEXT NOT NULL           -- config (YAML), metrics, categories, stream (JSON), tokenizer, created, paid
);
CREATE TABLE sessions (           -- every process that worked on the run, with what it ran on
    session  INTEGER PRIMARY KEY,
    started  REAL NOT NULL,
    ended    REAL,
    revision TEXT,                -- code revision, '+' appended if the tree was changed
    packages TEXT NOT NULL,       -- JSON: name -> version
    engine   TEXT NOT NULL,       -- JSON: the environment's provenance
    notes    TEXT NOT NULL DEFAULT '[]'   -- JSON: e.g. changed revision at resume, calls perhaps billed
);
CREATE TABLE attempts (           -- one row an attempt at a task that ended, retries included
    task    INTEGER NOT NULL,
    attempt INTEGER NOT NULL,     -- from 1
    failure TEXT NOT NULL,        -- as tasks.failure
    error   TEXT NOT NULL,
    seconds REAL NOT NULL,
    PRIMARY KEY (task, attempt)
);
CREATE TABLE tasks (              -- one row a task, committed with everything of that task
    number        INTEGER PRIMARY KEY,
    position      INTEGER NOT NULL UNIQUE,  -- place in the stream, from 1 (number unless shuffled)
    instruction   TEXT NOT NULL,
    id            TEXT NOT NULL,  -- the next five are reporting metadata
    scenario      TEXT NOT NULL,
    family        TEXT NOT NULL,
    categories    TEXT NOT NULL,  -- JSON list
    operations    TEXT NOT NULL,  -- JSON list
    attempt       INTEGER NOT NULL,
    "end"         TEXT,           -- finished | step_limit | stopped, NULL if it failed before an end
    failure       TEXT NOT NULL,  -- none | environment | backbone | context_overflow | refusal | interrupted
    error         TEXT NOT NULL,
    evaluation    TEXT NOT NULL,  -- done | failed | none
    metrics       TEXT NOT NULL,  -- JSON: official metrics, {} if none
    verdict       TEXT,           -- success | failure | unreadable
    reason        TEXT NOT NULL,
    written       INTEGER NOT NULL,         -- 1 if the memory wrote, 0 if frozen or failed
    write_error   TEXT NOT NULL,
    opening       TEXT NOT NULL,
    injected      TEXT NOT NULL,  -- memory text in the system message
    injected_lines  INTEGER NOT NULL,       -- of the whole episode: system text, tools' replies, notes
    injected_tokens INTEGER NOT NULL,       -- the same, bundled tokenizer, each text once
    injected_tokens_calls INTEGER NOT NULL, -- summed over the task's acting calls, as EvoWeave's table counts
    items         TEXT NOT NULL,  -- JSON list of [id, kind]
    events        TEXT NOT NULL,  -- JSON list of [kind, item, detail]
    counters      TEXT NOT NULL,  -- JSON: memory.counters() after the task
    steps         INTEGER NOT NULL,         -- actions that reached the world
    rounds        INTEGER NOT NULL,         -- acting calls
    seconds       REAL NOT NULL,  -- whole task
    seconds_world REAL NOT NULL,
    seconds_backbone REAL NOT NULL,
    seconds_memory REAL NOT NULL,           -- begin + write, backbone calls left out
    finished      REAL NOT NULL
);
CREATE TABLE steps (
    task        INTEGER NOT NULL,
    attempt     INTEGER NOT NULL,
    "index"     INTEGER NOT NULL, -- from 0
    kind        TEXT NOT NULL,
    thought     TEXT NOT NULL,
    action      TEXT NOT NULL,
    observation TEXT NOT NULL,
    PRIMARY KEY (task, attempt, "index")
);
CREATE TABLE changes (            -- documents that each task changed; text NULL: deleted
    position INTEGER NOT NULL,    -- place in the stream; 0: loaded before the first task
    document TEXT NOT NULL,
    text     TEXT,
    PRIMARY KEY (position, document)
);
CREATE TABLE embeddings (
    embedder TEXT NOT NULL,
    hash     TEXT NOT NULL,       -- sha256 of the text
    vector   BLOB NOT NULL,       -- float32, little endian
    PRIMARY KEY (embedder, hash)
);
CREATE TABLE messages (           -- every message once; histories repeat
    hash    TEXT PRIMARY KEY,     -- sha256 of role, newline, content
    role    TEXT NOT NULL,
    content TEXT NOT NULL
);
CREATE TABLE calls (
    key       TEXT PRIMARY KEY,   -- sha256: model, messages, parameters, seed, task, attempt, occurrence
    task      INTEGER NOT NULL,
    attempt   INTEGER NOT NULL,
    "index"   INTEGER NOT NULL,   -- order within the attempt, from 0
    role      TEXT NOT NULL,      -- act | plan | retrieve | judge | write
    model     TEXT NOT NULL,      -- asked for
    served    TEXT NOT NULL,      -- as the provider reports it
    messages  TEXT NOT NULL,      -- JSON list of message hashes
    temperature REAL NOT NULL,
    max_tokens INTEGER NOT NULL,
    text      TEXT NOT NULL,
    reasoning TEXT NOT NULL,
    finish    TEXT NOT NULL,
    input_tokens  INTEGER NOT NULL,
    cached_tokens INTEGER NOT NULL,
    output_tokens INTEGER NOT NULL,
    estimated INTEGER NOT NULL,
    cost      REAL,               -- US dollars, NULL: price unknown
    retries   INTEGER NOT NULL,
    seconds   REAL NOT NULL
);
CREATE TABLE intents (            -- calls under way: one left over may have been billed without a reply
    key     TEXT PRIMARY KEY,
    task    INTEGER NOT NULL,
    created REAL NOT NULL
);
