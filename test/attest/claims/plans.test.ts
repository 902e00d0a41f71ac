// A fresh installation has no statistics for its first minutes, and its first request is a batch of thousands: queries
// for one submission must touch a few pages all the same.

import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { acceptInteractive } from '#src/attest/claims/accept-interactive.ts'
import type { Database, Statement, Tx } from '#src/platform/db/database.ts'
import { newId, type Scope } from '#src/platform/ids.ts'
import { attestFixture, makeMedia, type Phone, shoot } from './phone.ts'
import type { Caller, Service } from './service.ts'

const ROWS = 4_000
// An insert reads each index of its table, three or four pages deep.
const FEW_PAGES = 160

let service: Service
let caller: Caller
let phone: Phone
let mediaId: string
const pages = new Map<string, number>()

beforeAll(async () => {
  ;({ service, caller, phone } = await attestFixture({ through: explained }))
  mediaId = await makeMedia(service, caller)
  await fill(caller)
})
afterAll(() => service.close())
beforeEach(() => pages.clear())

const expectFewPages = (statements: number) => {
  expect([...pages].filter(([, count]) => count > FEW_PAGES)).toEqual([])
  expect(pages.size).toBeGreaterThanOrEqual(statements)
}

it('accepting a capture, and accepting it again, touches few pages', async () => {
  const [session] = (await service.captures.issue(caller, { count: 1 })).sessions
  const media = { media_id: mediaId }
  const claim = { reference: 'reference 7' }
  const body = shoot(phone, { media, claim, externalId: 'own', sessionNonce: session?.session_nonce })
  expect((await service.attest(caller, body)).status).toBe(202)
  expect((await service.attest(caller, body)).status).toBe(202)
  expectFewPages(7)
})

it('accepting several concurrent captures touches few pages', async () => {
  const bodies = [11, 12, 13].map((n) => ({
    media_type: 'image' as const,
    media: { media_id: mediaId },
    external_id: `new ${n}`,
    claim: { reference: `reference ${n}` },
  }))
  await service.test.db.tenant(caller, (tx) =>
    explainedTx(tx, (watched) => acceptInteractive(watched, caller, bodies, { now: new Date() })),
  )
  expectFewPages(5)
})

it('evaluating a capture touches few pages', async () => {
  const judge = async (reference: string) => {
    const { json } = await service.attest(caller, shoot(phone, { claim: { reference } }))
    pages.clear()
    await service.run(String(json.attestation_id))
    return new Map(pages)
  }
  const before = await judge('reference 8')
  await judge('reference 10')
  // After autovacuum ran, a connection reads the catalogue of a table and its indexes anew: a hundred pages, but once.
  for (const [text, count] of pages) pages.set(text, Math.min(count, before.get(text) ?? count))
  expectFewPages(6)
})

it('reading an attestation and its claim, and finding it by its names, touches few pages', async () => {
  const body = shoot(phone, { claim: { reference: 'reference 9' }, externalId: 'named' })
  const { json } = await service.attest(caller, body)
  pages.clear()
  const paths = [
    `/v1/attestations/${json.attestation_id}`,
    `/v1/claims/${json.claim_id}`,
    `/v1/claims/${json.claim_id}/attestations`,
    '/v1/claims?external_id=named',
    '/v1/claims?batch_id=bat_test_00000000000000000000000000',
    '/v1/claims?risk_status=failed',
    // Each claim of a page is joined to its cases.
    '/v1/claims?limit=40',
  ]
  for (const path of paths) expect((await service.call(caller, path)).status).toBeLessThan(300)
  expectFewPages(7)
})

it('finding the claims of a device by both of its names touches few pages, once there are statistics', async () => {
  const [named, signed] = ['named', 'signed'].map(() => newId('dev', 'sandbox'))
  await service.test.owner(`UPDATE attestations SET device_id = $1 WHERE external_id = 'external 20'`, [named])
  await service.test.owner(`UPDATE attestations SET signer_id = $1 WHERE external_id = 'external 21'`, [signed])
  await service.test.owner('ANALYZE claims, attestations')
  for (const id of [named, signed]) {
    const { json } = await service.call(caller, `/v1/claims?device_id=${id}&include=total_count`)
    expect(json.total_count).toBe(1)
  }
  expectFewPages(2)
})

/** Rows as many submissions leave them: each its own claim and media, a third by one device. */
async function fill({ accountId, environment }: Scope): Promise<void> {
  const id = (type: string) => `'${type}_test_' || lpad(n::text, 26, '0')`
  const from = `FROM generate_series(1, ${ROWS}) AS n`
  const insert = (table: string, columns: string, values: string) =>
    service.test.owner(
      `INSERT INTO ${table} (account_id, environment, ${columns}) SELECT '${accountId}', '${environment}', ${values} ${from}`,
    )
  await insert('media', 'id, sha256, size, content_type', `${id('med')}, sha256(n::text::bytea), 1, 'image/jpeg'`)
  await insert('claims', 'id, reference', `${id('clm')}, 'reference ' || n`)
  await insert('capture_sessions', 'id, nonce, expires_at', `${id('cap')}, lpad(n::text, 43, 'x'), now()`)
  await insert(
    'jobs',
    'id, queue, lane, priority, payload',
    `gen_random_uuid(), 'attest', '${accountId}', 1, jsonb_build_object('attestationId', ${id('att')})`,
  )
  await insert('events', 'id, type, dedup_key, data', `${id('evt')}, 'attestation.created', 'key ' || n, '{}'`)
  await insert(
    'attestations',
    'id, claim_id, external_id, content_digest, media_id, device_id, submission, job_id',
    `${id('att')}, ${id('clm')}, 'external ' || n, '\\x00', ${id('med')}, CASE WHEN n % 3 = 0 THEN '${phone.id}' END, '{"media_type":"image"}', gen_random_uuid()`,
  )
}

/** Runs each statement twice: once with EXPLAIN, rolled back. Records the largest number of pages that it touched. */
function explained(db: Database): Database {
  const asked: Database = {
    ...db,
    readTenant: <Rows extends readonly unknown[]>(scope: Scope, statements: { [Index in keyof Rows]: Statement }) =>
      asked.tenant(scope, async (tx) => {
        const answers = statements.map(({ text, values }) => tx.query(text, values))
        return (await Promise.all(answers)) as { [Index in keyof Rows]: Rows[Index][] }
      }),
    tenant: (scope, work) => db.tenant(scope, (tx) => explainedTx(tx, work)),
  }
  return asked
}

function explainedTx<R>(tx: Tx, work: (tx: Tx) => Promise<R>): Promise<R> {
  let turn: Promise<unknown> = Promise.resolve()
  const wrap =
    (run: Tx['query']): Tx['query'] =>
    (text, values) => {
      const next = turn.then(async () => {
        if (/^\s*(?:SELECT|INSERT|UPDATE|WITH)/.test(text)) await explain(tx, text, values)
        return run<never>(text, values)
      })
      turn = next.catch(() => {})
      return next
    }
  return work({ ...tx, query: wrap(tx.query), adhoc: wrap(tx.adhoc) })
}

async function explain(tx: Tx, text: string, values: readonly unknown[] | undefined): Promise<void> {
  await tx.adhoc('SAVEPOINT explained')
  const [row] = await tx.adhoc<Explained>(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${text}`, values)
  await tx.adhoc('ROLLBACK TO SAVEPOINT explained')
  const plan = row?.['QUERY PLAN'][0]?.Plan
  if (plan === undefined) throw new Error('nothing was explained')
  const name = text.replaceAll(/\s+/g, ' ').trim()
  pages.set(name, Math.max(pages.get(name) ?? 0, plan['Shared Hit Blocks'] + plan['Shared Read Blocks']))
}

interface Explained {
  'QUERY PLAN': { Plan: { 'Shared Hit Blocks': number; 'Shared Read Blocks': number } }[]
}
