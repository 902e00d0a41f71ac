import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createEvents } from '#src/account/events/events.ts'
import { findMoved } from '#src/account/events/rows.ts'
import type { Product } from '#src/catalogue/access.ts'
import type { Database } from '#src/platform/db/database.ts'
import { createPager } from '#src/platform/http/page.ts'
import { newId, type Scope } from '#src/platform/ids.ts'
import { createPolledWaits } from '#src/platform/polled-waits.ts'
import { actingIn } from '../../support/callers.ts'
import { call, type TestAnswer } from '../../support/http.ts'
import { makeLedger } from '../../support/ledger.ts'
import { until } from '../../support/until.ts'
import { createFixture, escalated, type Fixture } from '../webhooks/fixture.ts'

interface PulledEvent {
  event_id: string
  type: string
  position: number
  data: { claim_id?: string }
}

let fixture: Fixture
let position: () => Promise<void>
beforeAll(async () => {
  fixture = await createFixture()
  const log = makeLedger(fixture)
  position = () => log.appendAll('events')
})
afterAll(() => fixture.close())

async function makeReader({ products }: { products?: Product[] } = {}) {
  const scope = await fixture.makeAccount(products && { products })
  const key = fixture.addKey({ ...scope, ...(products && { products }) })
  const send = (method: string, path: string, json?: unknown, headers = {}) =>
    call(fixture.app, path, { key, method, headers, ...(json === undefined ? {} : { json }) })
  return {
    scope,
    send,
    pull: (query = '', headers = {}) => send('GET', `/v1/events/pull${query}`, undefined, headers),
    put: (name: string, json: unknown = {}, headers = {}) => send('PUT', `/v1/event-consumers/${name}`, json, headers),
    consumer: async (name: string) => (await send('GET', `/v1/event-consumers/${name}`)).json,
    emit: async (...claims: string[]) => {
      await fixture.emit(
        claims.map((claim) => escalated(claim)),
        scope,
      )
      await position()
    },
  }
}

const eventsOf = ({ json }: TestAnswer) => json.data as PulledEvent[]
const claimsOf = (answer: TestAnswer) => eventsOf(answer).map(({ data }) => data.claim_id)
const refusalOf = ({ status, json }: TestAnswer) => [status, json.code, json.errors?.[0]?.pointer]

/** As after 31 days, for the account's oldest events. */
async function expire({ accountId }: Scope, count: number) {
  await fixture.owner(
    `UPDATE events SET created_at = now() - interval '31 days', id = replace(id, substr(id, 10, 10), '0000000000')
     WHERE account_id = $1 AND id IN (SELECT id FROM events WHERE account_id = $1 ORDER BY position LIMIT $2)`,
    [accountId, count],
  )
  const rule = fixture.retention('events')
  await rule.purge(
    { accountId, environment: 'sandbox' },
    new Date(Date.now() - 30 * 86_400_000),
    new AbortController().signal,
  )
}

describe('pulling events', () => {
  it('answers the bodies that webhooks get, byte for byte, in the order of their positions', async () => {
    const reader = await makeReader()
    const { received, url } = await fixture.receiver()
    await fixture.makeEndpoint(url, ['*'], reader.scope)
    const [emitted] = await fixture.emit([escalated('clm_test_a')], reader.scope)
    await fixture.runOnce(emitted?.deliveryIds[0] ?? '')
    await position()
    await reader.emit('clm_test_b', 'clm_test_c')
    const pulled = await reader.pull()
    expect(pulled.json).toMatchObject({ object: 'event_pull', has_more: false, next_after: 3, latest: 3 })
    expect(eventsOf(pulled).map((event) => event.position)).toEqual([1, 2, 3])
    const [{ position: _position, ...first } = {}] = eventsOf(pulled)
    expect(JSON.stringify(first)).toBe(received[0]?.body.toString())
    expect((await reader.send('GET', `/v1/events/${emitted?.eventId}`)).json).toEqual(eventsOf(pulled)[0])
  })

  it('goes on where a page ended, and says truthfully whether there is more', async () => {
    const reader = await makeReader()
    await reader.emit(...['a', 'b', 'c', 'd', 'e'].map((name) => `clm_test_${name}`))
    const seen: unknown[] = []
    let after = 0
    for (const more of [true, true, false]) {
      const page = await reader.pull(`?limit=2&after=${after}`)
      expect(page.json.has_more).toBe(more)
      seen.push(...claimsOf(page))
      after = Number(page.json.next_after)
    }
    expect(seen).toEqual(['a', 'b', 'c', 'd', 'e'].map((name) => `clm_test_${name}`))
    expect((await reader.pull(`?after=${after}`)).json).toMatchObject({ data: [], has_more: false, next_after: 5 })
    // Exactly as many as were asked for: there is no more.
    expect((await reader.pull('?limit=5')).json.has_more).toBe(false)
  })

  it('answers some types only, however rare, and goes on after all that are not of them', async () => {
    const reader = await makeReader()
    await reader.emit('clm_test_a')
    await fixture.emit([{ type: 'ping', data: { webhook_endpoint_id: 'whe_test_x' } }], reader.scope)
    // Events of one millisecond have positions in any order.
    await position()
    await reader.emit('clm_test_b', 'clm_test_c')
    const typesOf = async (types: string, more = '') =>
      eventsOf(await reader.pull(`?event_type=${types}${more}`)).map(({ type }) => type)
    expect(await typesOf('ping')).toEqual(['ping'])
    expect(await typesOf('ping&event_type=claim.escalated', '&limit=2')).toEqual(['claim.escalated', 'ping'])
    expect((await reader.pull('?event_type=ping')).json).toMatchObject({ has_more: false, next_after: 4 })
    expect((await reader.pull('?event_type=claim.escalated&limit=2')).json).toMatchObject({
      has_more: true,
      next_after: 3,
    })
    expect(refusalOf(await reader.pull('?event_type=claim.lost'))).toEqual([400, 'invalid_request', '?event_type'])
  })

  it('shows no event before it has a position, none of another account, and none of a product that the account does not use', async () => {
    const reader = await makeReader()
    const other = await makeReader({ products: ['authorize'] })
    const [fresh] = await fixture.emit([escalated('clm_test_a')], reader.scope)
    expect((await reader.pull()).json).toMatchObject({ data: [], latest: 0, next_after: 0 })
    const one = (await reader.send('GET', `/v1/events/${fresh?.eventId}`)).json
    expect(one).toMatchObject({ event_id: fresh?.eventId, position: null })
    await position()
    await other.emit('clm_test_b')
    expect((await other.pull()).json).toMatchObject({ data: [], has_more: false, next_after: 1, latest: 1 })
    expect((await other.send('GET', `/v1/events/${fresh?.eventId}`)).status).toBe(404)
    expect((await other.send('GET', `/v1/events/${newId('evt', 'live')}`)).json.code).toBe('environment_mismatch')
  })
})

describe('a reader that waits', () => {
  it('is answered with the first event of its types, and else when its seconds are over', async () => {
    const reader = await makeReader()
    await reader.emit('clm_test_a')
    expect(claimsOf(await reader.pull('?after=0&wait=30'))).toEqual(['clm_test_a'])
    const waiting = reader.pull('?after=1&wait=30&event_type=ping')
    const preferring = reader.pull('?after=1', { Prefer: 'wait=30' })
    await reader.emit('clm_test_b')
    const preferred = await preferring
    expect([claimsOf(preferred), preferred.headers['preference-applied']]).toEqual([['clm_test_b'], 'wait=30'])
    await fixture.emit([{ type: 'ping', data: { webhook_endpoint_id: 'whe_test_x' } }], reader.scope)
    await position()
    expect(eventsOf(await waiting).map(({ type }) => type)).toEqual(['ping'])
    expect((await reader.pull('?after=3&wait=1')).json).toMatchObject({ data: [], next_after: 3 })
    expect(refusalOf(await reader.pull('?wait=31'))).toEqual([400, 'invalid_request', '?wait'])
  })

  it('reads again for events of its own account only', async () => {
    const reads: string[] = []
    const db: Pick<Database, 'tenant' | 'readTenant'> = {
      tenant: fixture.db.tenant,
      readTenant(scope, statements) {
        reads.push(scope.accountId)
        return fixture.db.readTenant(scope, statements)
      },
    }
    const waits = createPolledWaits({ db: fixture.db, reason: 'test', find: findMoved })
    const events = createEvents({ db, waits, pager: createPager({ key: Buffer.alloc(32) }) })
    const [busy, quiet] = [await makeReader(), await makeReader()]
    const pull = ({ scope }: typeof busy) =>
      events.pull(
        { ...actingIn(scope), products: ['attest'] },
        { after: 0, limit: 10, waitSeconds: 600 },
        new AbortController().signal,
      )
    const waiting = [pull(busy), pull(quiet)]
    await until(() => reads.length === 2)
    await busy.emit('clm_test_a')
    await waiting[0]
    expect(reads.filter((account) => account === quiet.scope.accountId)).toHaveLength(1)
    await quiet.emit('clm_test_b')
    await waiting[1]
    expect(reads.filter((account) => account === busy.scope.accountId)).toHaveLength(2)
    waits.close()
  })

  it('is told at once when there is no room to wait', async () => {
    const waits = createPolledWaits({
      db: fixture.db,
      reason: 'test',
      find: () => ({ text: 'SELECT NULL AS id WHERE false', values: [] }),
    })
    const subject = (id: number) => ({ accountId: 'acc_a', environment: 'sandbox' as const, id: String(id) })
    const all = Array.from({ length: 900 }, (_, id) => waits.ended(subject(id), 600_000))
    expect(await waits.ended(subject(901), 600_000)).toBe(false)
    waits.close()
    expect(new Set(await Promise.all(all))).toEqual(new Set([true]))
    expect(await waits.ended(subject(1), 600_000)).toBe(false)
  })
})

describe('events that retention has deleted', () => {
  it('are an explicit error for a reader that has not come so far, with the position to go on with', async () => {
    const reader = await makeReader()
    await reader.emit('clm_test_a', 'clm_test_b', 'clm_test_c', 'clm_test_d')
    await reader.put('slow', { position: 1 })
    await expire(reader.scope, 2)
    for (const query of ['?after=0', '?after=1', '?consumer=slow', '?after=1&event_type=ping']) {
      const { status, json } = await reader.pull(query)
      expect([query, status, json.code, json.resume_after]).toEqual([query, 410, 'events_expired', 2])
    }
    expect(claimsOf(await reader.pull('?after=2'))).toEqual(['clm_test_c', 'clm_test_d'])
    expect(claimsOf(await reader.pull())).toEqual(['clm_test_c', 'clm_test_d'])
    expect(await reader.consumer('slow')).toMatchObject({ position: 1, missed: 1, lag: 2 })
    expect((await reader.put('new', { position: 1 })).json).toMatchObject({ code: 'events_expired', resume_after: 2 })
    expect((await reader.put('new')).json).toMatchObject({ position: 2, lag: 2, missed: 0 })
    await expire(reader.scope, 2)
    expect((await reader.pull()).json).toMatchObject({ data: [], next_after: 4, latest: 4 })
    expect((await reader.pull('?after=3')).json).toMatchObject({ code: 'events_expired', resume_after: 4 })
  })

  it('differ from events that do not exist yet: a position beyond the newest is refused', async () => {
    const reader = await makeReader()
    await reader.emit('clm_test_a')
    expect(refusalOf(await reader.pull('?after=2'))).toEqual([400, 'invalid_request', '?after'])
    expect(refusalOf(await reader.put('x', { position: 2 }))).toEqual([400, 'invalid_request', '/position'])
    // As after a restore of the service.
    await reader.put('ahead', { position: 1 })
    await fixture.owner("UPDATE event_consumers SET position = 7 WHERE account_id = $1 AND name = 'ahead'", [
      reader.scope.accountId,
    ])
    expect(refusalOf(await reader.pull('?consumer=ahead'))).toEqual([400, 'invalid_request', '?consumer'])
    await reader.send('DELETE', '/v1/event-consumers/ahead')
    await reader.put('ahead', { position: 0 })
    expect(claimsOf(await reader.pull('?consumer=ahead'))).toEqual(['clm_test_a'])
    for (const after of ['-1', '1.5', '01', 'x', '9'.repeat(30)]) {
      expect(refusalOf(await reader.pull(`?after=${after}`))).toEqual([400, 'invalid_request', '?after'])
    }
  })
})

describe('a consumer', () => {
  it('has a position that only moves forward, from which events are read, and a lag', async () => {
    const reader = await makeReader()
    expect((await reader.put('claims-desk')).json).toMatchObject({
      position: 0,
      lag: 0,
      oldest_unread_created_at: null,
    })
    await reader.emit('clm_test_a', 'clm_test_b', 'clm_test_c')
    const pulled = await reader.pull('?consumer=claims-desk&limit=2')
    expect(claimsOf(pulled)).toEqual(['clm_test_a', 'clm_test_b'])
    const moved = (await reader.put('claims-desk', { position: pulled.json.next_after })).json
    expect(moved).toMatchObject({ position: 2, latest: 3, lag: 1, missed: 0 })
    expect([moved.oldest_unread_created_at, moved.acknowledged_at]).toEqual([expect.any(String), expect.any(String)])
    const back = await reader.put('claims-desk', { position: 1 })
    expect([back.status, back.json.code, back.json.position]).toEqual([409, 'consumer_moved', 2])
    // The same report once more changes nothing.
    expect((await reader.put('claims-desk', { position: 2 })).status).toBe(200)
    expect(claimsOf(await reader.pull('?consumer=claims-desk'))).toEqual(['clm_test_c'])
    expect(refusalOf(await reader.pull('?consumer=claims-desk&after=1'))).toEqual([400, 'invalid_request', '?after'])
    expect((await reader.pull('?consumer=nobody')).status).toBe(404)
  })

  it('is moved from one position by one of two processes only, however they race', async () => {
    const reader = await makeReader()
    await reader.emit(...Array.from({ length: 8 }, (_, n) => `clm_test_${n}`))
    await reader.put('pair', { position: 0 })
    await reader.pull('?consumer=pair')
    const reports = await Promise.all(
      Array.from({ length: 8 }, (_, n) => reader.put('pair', { position: n + 1, expected_position: 0 })),
    )
    const [won, ...more] = reports.filter(({ status }) => status === 200)
    expect(more).toEqual([])
    const lost = reports.filter(({ status }) => status === 409)
    expect(lost.map(({ json }) => [json.code, json.position])).toEqual(
      lost.map(() => ['consumer_moved', won?.json.position]),
    )
    expect(lost).toHaveLength(7)
    // Without an expectation the furthest report stays, in whatever order they come.
    await Promise.all([8, 5, 7, 6].map((to) => reader.put('pair', { position: to })))
    expect((await reader.consumer('pair')).position).toBe(8)
    expect((await reader.put('none', { position: 1, expected_position: 0 })).json.code).toBe('not_found')
  })

  it('is moved to no position that it was not given: events that another process reads beyond it are not skipped', async () => {
    const reader = await makeReader()
    await reader.emit(...Array.from({ length: 20 }, (_, n) => `clm_test_${n}`))
    await reader.put('pair')
    const first = await reader.pull('?consumer=pair&limit=6')
    expect(first.json).toMatchObject({ after: 0, next_after: 6, latest: 20 })
    // A second process reads on from there, and reports before the first has finished.
    const second = await reader.pull(`?after=${first.json.next_after}&limit=14`)
    expect(second.json).toMatchObject({ after: 6, next_after: 20 })
    for (const position of [second.json.next_after, second.json.latest, 7]) {
      expect(refusalOf(await reader.put('pair', { position }))).toEqual([400, 'invalid_request', '/position'])
    }
    expect(await reader.consumer('pair')).toMatchObject({ position: 0, lag: 20 })
    // Any position within what was given: a process may report each event.
    for (const position of [2, 6, 6]) expect((await reader.put('pair', { position })).status).toBe(200)
    const rest = await reader.pull('?consumer=pair&event_type=ping')
    expect(rest.json).toMatchObject({ data: [], after: 6, next_after: 20 })
    expect((await reader.put('pair', { position: 20, expected_position: rest.json.after })).status).toBe(200)
  })

  it('read and reported by two processes that overtake each other and stop in between skips no event', async () => {
    const reader = await makeReader()
    await reader.emit(...Array.from({ length: 60 }, (_, n) => `clm_test_${n}`))
    const claims = claimsOf(await reader.pull('?limit=100'))
    await reader.put('pair')
    const processed = new Set<unknown>()
    const skipped: unknown[] = []
    const report = async ({ json }: TestAnswer) => {
      const { status } = await reader.put('pair', { position: json.next_after, expected_position: json.after })
      expect([200, 409]).toContain(status)
      if (status !== 200) return
      const upTo = claims.slice(0, Number(json.next_after))
      skipped.push(...upTo.filter((claim) => !processed.has(claim)))
    }
    const run = async (id: number) => {
      const late: TestAnswer[] = []
      for (let round = id; (await reader.consumer('pair')).lag !== 0; round += 1) {
        const page = await reader.pull(`?consumer=pair&limit=${1 + (round % 7)}`)
        // It stops before it has processed anything, and another takes its place.
        if (round % 4 === 0) continue
        for (const claim of claimsOf(page)) processed.add(claim)
        // Every third report is late: later ones overtake it.
        if (round % 3 === 0) late.push(page)
        else await report(page)
      }
      for (const page of late) await report(page)
    }
    await Promise.all([run(1), run(2)])
    expect([skipped, processed.size]).toEqual([[], 60])
    expect((await reader.consumer('pair')).position).toBe(60)
  })

  it('whose next events were deleted before it read them goes on after them', async () => {
    const reader = await makeReader()
    await reader.emit('clm_test_a', 'clm_test_b', 'clm_test_c')
    await reader.put('slow', { position: 0 })
    await expire(reader.scope, 2)
    const { json } = await reader.pull('?consumer=slow')
    expect(json).toMatchObject({ code: 'events_expired', resume_after: 2 })
    expect((await reader.put('slow', { position: json.resume_after })).status).toBe(200)
    expect(claimsOf(await reader.pull('?consumer=slow'))).toEqual(['clm_test_c'])
  })

  it('is listed by name, deleted with an entry in the audit log, and made again at any position', async () => {
    const reader = await makeReader()
    await reader.emit('clm_test_a', 'clm_test_b')
    for (const name of ['b', 'a', 'c.1_x-y']) await reader.put(name, { position: 2 }, { 'Idempotency-Key': name })
    const page = await reader.send('GET', '/v1/event-consumers?limit=2')
    expect((page.json.data as { name: string }[]).map(({ name }) => name)).toEqual(['a', 'b'])
    const rest = await reader.send('GET', `/v1/event-consumers?limit=2&cursor=${page.json.next_cursor}`)
    expect([rest.json.has_more, (rest.json.data as unknown[]).length]).toEqual([false, 1])
    expect((await reader.send('DELETE', '/v1/event-consumers/a')).json).toEqual({
      event_consumer_id: 'a',
      deleted: true,
    })
    expect((await reader.send('DELETE', '/v1/event-consumers/a')).status).toBe(404)
    expect((await reader.put('a', { position: 0 })).json.position).toBe(0)
    const audited = await fixture.owner(
      `SELECT subject_id, before FROM audit_entries WHERE account_id = $1 AND action = 'event_consumer.deleted'`,
      [reader.scope.accountId],
    )
    expect(audited).toEqual([{ subject_id: 'a', before: { position: 2 } }])
    for (const name of ['A', '-a', 'a'.repeat(65), 'a%20b']) {
      const refused = await reader.put(name)
      expect([refused.status, refused.json.detail], name).toEqual([404, expect.stringContaining('1 to 64 of a-z, 0-9')])
    }
    // Those of another account are its own.
    expect((await (await makeReader()).consumer('b')).code).toBe('not_found')
  })
})

it('readers of one account never see a position before one that is smaller, while sequencers race', async () => {
  const reader = await makeReader()
  const log = makeLedger(fixture)
  const sequencers = [log.sequencer('events'), log.sequencer('events', { scopes: 1, rows: 3 })]
  const seen: PulledEvent[] = []
  let isDone = false
  const reading = (async () => {
    let after = 0
    while (!isDone || seen.length < 60) {
      const page = await reader.pull(`?after=${after}&limit=7`)
      seen.push(...eventsOf(page))
      after = Number(page.json.next_after)
    }
  })()
  const ordering = (async () => {
    while (!isDone) await Promise.all(sequencers.map((sequencer) => sequencer.round()))
    await position()
  })()
  // Each transaction commits after the next one has written and committed: ids come in another order than commits.
  for (let round = 0; round < 15; round += 1) {
    const inner = Promise.withResolvers<void>()
    const outer = fixture.db.tenant(reader.scope, async (tx) => {
      await fixture.emitIn(tx, reader.scope, [
        escalated(`clm_test_${round}_early`),
        escalated(`clm_test_${round}_second`),
      ])
      await inner.promise
    })
    await fixture.emit([escalated(`clm_test_${round}_late`), escalated(`clm_test_${round}_later`)], reader.scope)
    inner.resolve()
    await outer
  }
  await until(async () => {
    const [row] = await fixture.owner(
      'SELECT count(*)::int AS left FROM events WHERE account_id = $1 AND position IS NULL',
      [reader.scope.accountId],
    )
    return row?.left === 0
  })
  isDone = true
  await Promise.all([reading, ordering])
  expect(seen.map((event) => event.position)).toEqual(Array.from({ length: 60 }, (_, n) => n + 1))
  expect(new Set(seen.map(({ event_id }) => event_id)).size).toBe(60)
})
