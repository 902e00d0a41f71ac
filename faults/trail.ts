// The history of every job, step by step: a trigger of the run writes each change of the jobs table to a second table,
// in the same transaction. The service does not know of it. A job that is deleted while it runs has succeeded; its row is
// kept in a third table.

import type { Step } from './evidence.ts'
import type { PostgresServer } from './stores.ts'

export async function layTrail({ owner }: Pick<PostgresServer, 'owner'>): Promise<void> {
  await owner(`
    CREATE TABLE job_trail (
      seq bigint GENERATED ALWAYS AS IDENTITY,
      id uuid NOT NULL,
      state text NOT NULL,
      fence integer NOT NULL,
      attempts integer NOT NULL,
      run_at double precision NOT NULL,
      is_lapse boolean NOT NULL
    );
    CREATE FUNCTION note_job() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public AS $$
    BEGIN
      INSERT INTO job_trail (id, state, fence, attempts, run_at, is_lapse) VALUES (NEW.id,
        CASE WHEN NEW.state = 'dispatched' AND NEW.lease_until IS NOT NULL THEN 'running' ELSE NEW.state END, NEW.fence,
        NEW.attempts, extract(epoch FROM NEW.run_at) * 1000,
        CASE WHEN TG_OP = 'INSERT' THEN false
             ELSE OLD.lease_until IS NOT NULL AND NEW.state = 'queued' AND NEW.last_error = 'the lease lapsed' END);
      RETURN NULL;
    END $$;
    CREATE TRIGGER note_job AFTER INSERT OR UPDATE OF state, fence ON jobs FOR EACH ROW EXECUTE FUNCTION note_job();

    CREATE TABLE ended_jobs (LIKE jobs);
    CREATE FUNCTION note_end() RETURNS trigger LANGUAGE plpgsql SECURITY DEFINER SET search_path = public AS $$
    BEGIN
      OLD.state := 'succeeded';
      INSERT INTO ended_jobs SELECT OLD.*;
      INSERT INTO job_trail (id, state, fence, attempts, run_at, is_lapse)
        VALUES (OLD.id, OLD.state, OLD.fence, OLD.attempts, extract(epoch FROM OLD.run_at) * 1000, false);
      RETURN NULL;
    END $$;
    CREATE TRIGGER note_end AFTER DELETE ON jobs FOR EACH ROW
      WHEN (OLD.lease_until IS NOT NULL) EXECUTE FUNCTION note_end();
  `)
}

/** In the order in which they were made; each is dated by its commit, because no other transaction sees it earlier. */
export function readTrail({ owner }: Pick<PostgresServer, 'owner'>): Promise<Step[]> {
  return owner<Step & Record<string, unknown>>(
    `SELECT id, state, fence, run_at AS "runAt", is_lapse AS "isLapse",
       (extract(epoch FROM pg_xact_commit_timestamp(xmin)) * 1000)::float8 AS at
     FROM job_trail ORDER BY seq`,
  )
}
