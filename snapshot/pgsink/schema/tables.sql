-- Version 1. {schema} is the quoted name of the schema.

CREATE TABLE {schema}.meta (
    one     bool PRIMARY KEY DEFAULT true CHECK (one),
    version int  NOT NULL
);

-- One row for each series of the fleet, never deleted. key is the exact text
-- form, whose label values may be any bytes; label is the same for people, with
-- what is no UTF-8 replaced.
CREATE TABLE {schema}.series (
    id    bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
    key   bytea  NOT NULL,
    name  text   NOT NULL,
    label text   NOT NULL
);

-- An index entry has to fit into a third of a page. So keys are ordered by their
-- first KiB, and longer ones told apart by their hash.
CREATE UNIQUE INDEX series_key ON {schema}.series (
    substring(key, 1, 1024),
    (CASE WHEN octet_length(key) > 1024 THEN sha256(key) ELSE '' END)
);

-- A row outlives its writer as a tombstone, which says what has been added up.
CREATE TABLE {schema}.writers (
    writer  uuid        PRIMARY KEY,
    seq     bigint      NOT NULL,
    mark    uuid        NOT NULL,
    expires timestamptz NOT NULL,
    dead    timestamptz
);

CREATE INDEX writers_expires ON {schema}.writers (expires) WHERE dead IS NULL;
CREATE INDEX writers_dead ON {schema}.writers (dead) WHERE dead IS NOT NULL;

-- A series' total is the sum of carry + value. The zero writer has what the rows
-- of dead writers add up to. Half of a page is left for the next versions of its
-- rows: an update then touches no index, and the table stays at half the size
-- that it has with full pages.
CREATE TABLE {schema}.counters (
    series  bigint      NOT NULL,
    writer  uuid        NOT NULL,
    created bigint      NOT NULL,
    value   bigint      NOT NULL,
    seq     bigint      NOT NULL,
    updated timestamptz NOT NULL DEFAULT clock_timestamp(),
    carry   numeric     NOT NULL DEFAULT 0,
    PRIMARY KEY (series, writer)
) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05);

CREATE INDEX counters_writer ON {schema}.counters (writer);

-- hash and seed are the hll.Scheme of the sketch, whose format is that of
-- github.com/axiomhq/hyperloglog.
CREATE TABLE {schema}.uniques (
    series  bigint      NOT NULL,
    hash    smallint    NOT NULL,
    seed    bigint      NOT NULL,
    writer  uuid        NOT NULL,
    created bigint      NOT NULL,
    seq     bigint      NOT NULL,
    updated timestamptz NOT NULL DEFAULT clock_timestamp(),
    sketch  bytea       NOT NULL,
    PRIMARY KEY (series, hash, seed, writer, created)
);

CREATE INDEX uniques_writer ON {schema}.uniques (writer);

-- What was added to a series from start on, for as long as resolution says. Make
-- partitions by start before they are needed; what has none is in the default.
CREATE TABLE {schema}.buckets (
    start      timestamptz NOT NULL,
    series     bigint      NOT NULL,
    resolution interval    NOT NULL,
    writer     uuid        NOT NULL,
    count      bigint      NOT NULL,
    seq        bigint      NOT NULL,
    PRIMARY KEY (series, resolution, start, writer)
) PARTITION BY RANGE (start);

CREATE TABLE {schema}.buckets_default PARTITION OF {schema}.buckets DEFAULT;

CREATE INDEX buckets_writer ON {schema}.buckets (writer);
CREATE INDEX buckets_start ON {schema}.buckets USING brin (start);

CREATE TABLE {schema}.cached_totals (
    series  bigint  PRIMARY KEY,
    value   numeric NOT NULL,
    writers bigint  NOT NULL
) WITH (fillfactor = 50);

-- When the sums of cached_totals were begun.
CREATE TABLE {schema}.cached (
    one bool        PRIMARY KEY DEFAULT true CHECK (one),
    at  timestamptz NOT NULL DEFAULT '-infinity'
);

INSERT INTO {schema}.cached DEFAULT VALUES;

CREATE VIEW {schema}.sums AS
    SELECT series,
           sum(value) + sum(carry) AS value,
           count(*) FILTER (WHERE writer <> '00000000-0000-0000-0000-000000000000') AS writers
    FROM {schema}.counters
    GROUP BY series;

CREATE VIEW {schema}.totals AS
    SELECT s.label, s.name, t.value, t.writers, s.key
    FROM {schema}.series s JOIN {schema}.sums t ON t.series = s.id;
