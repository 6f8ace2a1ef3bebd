-- For every version of the tables, where the extension hll is. {hll} is the
-- quoted name of its schema.

ALTER TABLE {schema}.uniques ADD COLUMN IF NOT EXISTS registers {hll}.hll;

CREATE OR REPLACE VIEW {schema}.distinct_counts AS
    SELECT s.label, s.name, u.hash, u.seed,
           {hll}.hll_cardinality({hll}.hll_union_agg(u.registers)) AS estimate,
           s.key
    FROM {schema}.series s JOIN {schema}.uniques u ON u.series = s.id
    GROUP BY s.id, u.hash, u.seed, {hll}.hll_log2m(u.registers);
