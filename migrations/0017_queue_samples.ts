// The queues of the last hour, for the page of operators.

import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- How long the oldest due job of a queue had waited, and how many jobs were in flight, each half a minute. Kept for an hour.
    CREATE TABLE queue_samples (
      queue text COLLATE "C" NOT NULL,
      sampled_at timestamptz NOT NULL,
      oldest_due_seconds integer NOT NULL,
      in_flight integer NOT NULL,
      CONSTRAINT queue_samples_pkey PRIMARY KEY (queue, sampled_at),
      CONSTRAINT queue_samples_oldest_check CHECK (oldest_due_seconds >= 0),
      CONSTRAINT queue_samples_in_flight_check CHECK (in_flight >= 0)
    );
    GRANT SELECT, INSERT, DELETE ON queue_samples TO countersign_system;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
