import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- tripped_families: families that reached their threshold, that of the kill switch where it names one, when the trace
    -- was stored; null: none. Whether they count is judged when they are read. cut_after: the tokens of the completion of
    -- an input that ended by its length; null: it ended by itself, or the row says it in finish_reason.
    ALTER TABLE traces
      ADD COLUMN tripped_families text[] COLLATE "C",
      ADD COLUMN cut_after integer,
      ADD CONSTRAINT traces_tripped_families_check CHECK (cardinality(tripped_families) > 0),
      ADD CONSTRAINT traces_cut_after_check CHECK (cut_after IS NULL OR (source = 'server' AND model IS NULL));

    -- A reading counts for a day at most. Those of inputs had the length that their caller chose: they satisfy nothing.
    ALTER TABLE traces NO FORCE ROW LEVEL SECURITY;
    UPDATE traces SET
      tripped_families = (SELECT array_agg(reading->>'family') FROM jsonb_array_elements(readings) reading
        WHERE (reading->>'tripped')::boolean),
      cut_after = CASE WHEN source = 'server' AND model IS NULL THEN 0 END
    WHERE created_at > now() - interval '25 hours';
    ALTER TABLE traces FORCE ROW LEVEL SECURITY;

    CREATE INDEX traces_session_trips_idx ON traces (agent_session_id, account_id, environment, reading_at)
      WHERE tripped_families IS NOT NULL AND agent_session_id IS NOT NULL;
    CREATE INDEX traces_agent_trips_idx ON traces (agent_id, account_id, environment, reading_at)
      WHERE tripped_families IS NOT NULL AND agent_id IS NOT NULL;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
