import type { Knex } from 'knex'

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
    -- The last position that a consumer was given. A position beyond it is not acknowledged: what lies between was read by
    -- nobody, or elsewhere. Readers that run during the migration were given no more than what is there.
    ALTER TABLE event_consumers ADD COLUMN given_position bigint NOT NULL DEFAULT 0;
    ALTER TABLE event_consumers NO FORCE ROW LEVEL SECURITY;
    ALTER TABLE event_heads NO FORCE ROW LEVEL SECURITY;
    UPDATE event_consumers SET given_position = greatest(event_consumers.position, coalesce((SELECT head.position
      FROM event_heads head WHERE head.account_id = event_consumers.account_id
        AND head.environment = event_consumers.environment), 0));
    ALTER TABLE event_heads FORCE ROW LEVEL SECURITY;
    ALTER TABLE event_consumers FORCE ROW LEVEL SECURITY;
    GRANT UPDATE (given_position) ON event_consumers TO countersign_app;
  `)
}

export async function down(): Promise<void> {
  throw new Error('migrations only go forward: restore a backup instead')
}
