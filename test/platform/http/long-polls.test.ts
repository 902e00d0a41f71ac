import { randomUUID } from 'node:crypto'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { emitMany } from '#src/account/webhooks/emit.ts'
import { newId } from '#src/platform/ids.ts'
import { type ApprovalService, startApprovals } from '../../authorize/approvals/service.ts'
import type { TestCaller } from '../../support/callers.ts'
import { return503, type TestAnswer } from '../../support/http.ts'
import { makeLedger } from '../../support/ledger.ts'
import { until } from '../../support/until.ts'

const POLLS = 1_200
// As in production: one account gets three of them.
const CONNECTIONS = 4

describe('1,200 long polls that end together', () => {
  return503()
  let service: ApprovalService
  let opened = 0
  beforeAll(async () => {
    service = await startApprovals({
      poolSize: CONNECTIONS,
      overrides: ({ db }) => ({
        db: {
          ...db,
          tenant: (...given) => {
            opened += 1
            return db.tenant(...given)
          },
        },
      }),
    })
  })
  afterAll(() => service?.close())

  /** Sends all of them, and lets them end once they have read what they wait for. */
  async function poll(
    reader: TestCaller,
    paths: readonly string[],
    end: () => Promise<unknown>,
  ): Promise<TestAnswer[]> {
    let received = 0
    const count = () => {
      received += 1
    }
    subscribe('http.server.request.start', count)
    const answers = paths.map((path) => service.call(reader, path))
    await until(() => received >= paths.length, { what: `${paths.length} requests` })
    unsubscribe('http.server.request.start', count)
    await until(() => service.test.db.pools().tenant.waiting === 0, { what: 'the first reads' })
    opened = 0
    await end()
    const all = await Promise.all(answers)
    // Each in a transaction of its own would wait for a connection longer than a connection is waited for.
    expect(opened).toBeLessThan(POLLS / 2)
    return all
  }

  const statusesOf = (answers: readonly TestAnswer[]) =>
    Object.fromEntries(
      [...Map.groupBy(answers, ({ status }) => status)].map(([status, those]) => [status, those.length]),
    )

  it.each([
    ['of one', 1],
    ['of many', POLLS],
  ])('are all answered with the attestation: %s', async (_name, count) => {
    const reader = await service.makeCaller()
    const ids = await Promise.all(Array.from({ length: count }, () => queueAttestation(reader)))
    const paths = Array.from({ length: POLLS }, (_, index) => `/v1/attestations/${ids[index % count]}?wait=20`)
    const answers = await poll(reader, paths, () =>
      service.test.owner(
        `WITH ended AS (UPDATE jobs SET state = 'cancelled', settled_at = now() WHERE account_id = $1)
         UPDATE attestations SET status = 'cancelled' WHERE account_id = $1`,
        [reader.accountId],
      ),
    )
    expect(statusesOf(answers)).toEqual({ 200: POLLS })
  })

  it.each([
    ['a position', 'after=0'],
    ['a consumer', 'consumer=desk'],
  ])('are all answered with the new event: after %s', async (_name, query) => {
    const reader = await service.makeCaller()
    const log = makeLedger(service.test)
    await service.call(reader, '/v1/event-consumers/desk', { method: 'PUT', json: {} })
    const answers = await poll(reader, Array(POLLS).fill(`/v1/events/pull?${query}&wait=20`), async () => {
      await service.test.db.tenant(reader, (tx) =>
        emitMany(tx, reader, [{ type: 'ping', data: { webhook_endpoint_id: 'x' } }]),
      )
      await log.appendAll('events')
    })
    expect(statusesOf(answers)).toEqual({ 200: POLLS })
    const report = { method: 'PUT', json: { position: 1 } }
    expect((await service.call(reader, '/v1/event-consumers/desk', report)).status).toBe(
      query === 'after=0' ? 400 : 200,
    )
  })

  it.each([
    ['of one', 1],
    ['of many', POLLS / 4],
  ])('are all answered with the approval: %s', async (_name, count) => {
    const reader = await service.makeCaller()
    const ids: string[] = []
    while (ids.length < count) ids.push((await service.open(reader)).id)
    const paths = Array.from({ length: POLLS }, (_, index) => `/v1/approvals/${ids[index % count]}?wait=20`)
    const answers = await poll(reader, paths, () =>
      service.test.owner(
        `UPDATE approvals SET outcome = 'cancelled', decided_at = now(), is_told = true WHERE account_id = $1`,
        [reader.accountId],
      ),
    )
    expect(statusesOf(answers)).toEqual({ 200: POLLS })
  })

  it('are all answered with the screening', async () => {
    const reader = await service.makeCaller()
    const ids = await Promise.all(Array.from({ length: POLLS / 4 }, () => queueScreening(reader)))
    const paths = Array.from({ length: POLLS }, (_, index) => `/v1/media/screenings/${ids[index % ids.length]}?wait=20`)
    const answers = await poll(reader, paths, () =>
      service.test.owner(
        `WITH ended AS (UPDATE jobs SET state = 'cancelled', settled_at = now() WHERE account_id = $1)
         UPDATE screenings SET status = 'unavailable', reason = 'detector_failed', completed_at = now() WHERE account_id = $1`,
        [reader.accountId],
      ),
    )
    expect(statusesOf(answers)).toEqual({ 200: POLLS })
  })

  async function queueAttestation(reader: TestCaller): Promise<string> {
    const [id, media, job] = await queueJob(reader, 'att')
    const claim = await service.makeClaim(reader)
    await service.test.owner(
      `INSERT INTO attestations (account_id, environment, id, claim_id, media_id, content_digest, submission, job_id)
       VALUES ($1, $2, $3, $4, $5, sha256('x'), '{}', $6)`,
      [reader.accountId, reader.environment, id, claim, media, job],
    )
    return id
  }

  async function queueScreening(reader: TestCaller): Promise<string> {
    const [id, media, job] = await queueJob(reader, 'scr')
    await service.test.owner(
      `INSERT INTO screenings (account_id, environment, id, media_id, media_sha256, job_id)
       VALUES ($1, $2, $3, $4, sha256('x'), $5)`,
      [reader.accountId, reader.environment, id, media, job],
    )
    return id
  }

  async function queueJob({ accountId, environment }: TestCaller, type: 'att' | 'scr') {
    const [id, media, job] = [newId(type, environment), newId('med', environment), randomUUID()] as const
    await service.test.owner(
      `WITH job AS (INSERT INTO jobs (account_id, environment, id, queue, lane, priority, payload)
         VALUES ($1, $2, $3, 'attest', $1, 0, '{}'))
       INSERT INTO media (account_id, environment, id, sha256, size, content_type)
       VALUES ($1, $2, $4, sha256($4::text::bytea), 1, 'image/jpeg')`,
      [accountId, environment, job, media],
    )
    return [id, media, job] as const
  }
})
