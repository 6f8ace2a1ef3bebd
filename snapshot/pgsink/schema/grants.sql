GRANT USAGE ON SCHEMA {schema} TO {writer}, {reader};
GRANT SELECT ON ALL TABLES IN SCHEMA {schema} TO {writer}, {reader};
GRANT INSERT ON {schema}.series TO {writer};
GRANT INSERT, UPDATE, DELETE ON {schema}.writers, {schema}.counters, {schema}.uniques, {schema}.buckets TO {writer};
GRANT INSERT, UPDATE ON {schema}.cached_totals, {schema}.cached TO {writer};
