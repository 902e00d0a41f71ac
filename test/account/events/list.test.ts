// The list of events: for pages, by type, subject and time, for keys and for users by what their role may read.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { countEvents, listEvents } from '#src/account/events/rows.ts'
import type { NewEvent } from '#src/account/webhooks/emit.ts'
import type { Role } from '#src/catalogue/access.ts'
import { newId, type Scope } from '#src/platform/ids.ts'
import { call, type TestAnswer } from '../../support/http.ts'
import { makeLedger } from '../../support/ledger.ts'
import { readingRows } from '../../support/rows-read.ts'
import { createFixture, escalated, type Fixture } from '../webhooks/fixture.ts'

let fixture: Fixture
let position: () => Promise<void>
beforeAll(async () => {
  fixture = await createFixture()
  const log = makeLedger(fixture)
  position = () => log.appendAll('events')
})
afterAll(() => fixture.close())

const ACTOR = { type: 'key', id: 'key_test_x', label: null } as const
const statusChanged = (claimId: string, caseId: string): NewEvent => ({
  type: 'case.status_changed',
  data: {
    case_id: caseId,
    claim_id: claimId,
    from: 'open',
    to: 'in_review',
    reason_code: null,
    note_present: false,
    actor: ACTOR,
  },
})
const revoked = (sessionId: string): NewEvent => ({
  type: 'intent.revoked',
  data: { revocation_id: 'rev_test_x', scope: 'session', agent_session_id: sessionId, reason: 'lost', actor: ACTOR },
})
const disclosed = (): NewEvent => ({
  type: 'trace.disclosure_requested',
  data: {
    request_id: 'dsr_test_x',
    status: 'pending',
    scope_kind: 'trace',
    trace_id: newId('trc', 'sandbox'),
    model_version_id: null,
  },
})

async function makeReader() {
  const scope = await fixture.makeAccount()
  const key = fixture.addKey({ ...scope })
  return {
    scope,
    list: (query = '', headers = {}) => call(fixture.app, `/v1/events${query}`, { key, headers }),
    async emit(...events: NewEvent[]): Promise<string[]> {
      const emitted = await fixture.emit(events, scope)
      await position()
      return emitted.map(({ eventId }) => eventId ?? '')
    },
  }
}

async function readAs({ accountId }: Scope, role: Role, environment = 'sandbox') {
  const { headers } = await fixture.service.signIn(accountId, { role })
  const list = (path = '/v1/events') =>
    call(fixture.app, path, { headers: { ...headers, 'Service-Environment': environment } })
  return { list }
}

const idsOf = ({ json }: TestAnswer) => (json.data as { event_id: string }[]).map(({ event_id }) => event_id)
const typesOf = ({ json }: TestAnswer) => (json.data as { type: string }[]).map(({ type }) => type)

describe('listing events', () => {
  it('answers the newest first, page by page, and the oldest first when asked', async () => {
    const reader = await makeReader()
    const ids = await reader.emit(...Array.from({ length: 5 }, (_, index) => escalated(`clm_test_${index}`)))
    const first = await reader.list('?limit=3&include=total_count')
    expect(first.json).toMatchObject({ object: 'list', has_more: true, total_count: 5 })
    expect(idsOf(first)).toEqual(ids.toReversed().slice(0, 3))
    expect(idsOf(await reader.list(`?limit=3&cursor=${first.json.next_cursor}`))).toEqual(ids.toReversed().slice(3))
    const oldest = await reader.list('?order=asc&limit=2')
    expect(idsOf(oldest)).toEqual(ids.slice(0, 2))
    expect(idsOf(await reader.list(`?order=asc&cursor=${oldest.json.next_cursor}`))).toEqual(ids.slice(2))
    const mixed = await reader.list(`?order=desc&cursor=${oldest.json.next_cursor}`)
    expect([mixed.status, mixed.json.errors?.[0]?.pointer]).toEqual([400, '?cursor'])
  })

  it('finds events by their claim, and by the narrowest other id that they name', async () => {
    const reader = await makeReader()
    const [claim, other] = [newId('clm', 'sandbox'), newId('clm', 'sandbox')]
    const [caseId, session] = [newId('cas', 'sandbox'), newId('ses', 'sandbox')]
    const [first, second, , fourth] = await reader.emit(
      escalated(claim),
      statusChanged(claim, caseId),
      escalated(other),
      revoked(session),
    )
    expect(idsOf(await reader.list(`?subject_id=${claim}`))).toEqual([second, first])
    expect(idsOf(await reader.list(`?subject_id=${caseId}`))).toEqual([second])
    expect(idsOf(await reader.list(`?subject_id=${session}`))).toEqual([fourth])
    expect(idsOf(await reader.list(`?subject_id=${claim}&event_type=claim.escalated`))).toEqual([first])
    const foreign = await reader.list(`?subject_id=${newId('clm', 'live')}`)
    expect([foreign.status, foreign.json.code]).toEqual([403, 'environment_mismatch'])
  })

  it('finds them by several types and by time, and streams all that match', async () => {
    const reader = await makeReader()
    const ids = await reader.emit(escalated('clm_test_a'), revoked('s'), disclosed())
    expect(typesOf(await reader.list('?event_type=claim.escalated&event_type=intent.revoked')).sort()).toEqual([
      'claim.escalated',
      'intent.revoked',
    ])
    const [oldest] = (await reader.list('?order=asc&limit=1')).json.data as { created_at: string }[]
    const at = oldest?.created_at
    expect(idsOf(await reader.list(`?created_gte=${at}`))).toHaveLength(3)
    expect(idsOf(await reader.list(`?created_lt=${at}`))).toEqual([])
    const lines = await reader.list('?order=asc', { Accept: 'application/x-ndjson' })
    expect(
      lines.text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).event_id),
    ).toEqual(ids)
    expect((await reader.list('?event_type=claim.lost')).json.errors?.[0]?.pointer).toBe('?event_type')
  })

  it('shows a user what the role may read elsewhere, by the list, one by one and by pulling', async () => {
    const reader = await makeReader()
    const [, , disclosure = ''] = await reader.emit(escalated('clm_test_a'), revoked('s'), disclosed())
    const all = ['claim.escalated', 'intent.revoked', 'trace.disclosure_requested']
    for (const [role, types] of [
      ['owner', all],
      ['admin', all],
      ['approver', all],
      ['analyst', all.slice(0, 2)],
      ['developer', all],
    ] as const) {
      const user = await readAs(reader.scope, role)
      expect([role, typesOf(await user.list()).sort()]).toEqual([role, types])
      expect([role, typesOf(await user.list('/v1/events/pull')).sort()]).toEqual([role, types])
      const one = await user.list(`/v1/events/${disclosure}`)
      expect([role, one.status]).toEqual([role, types.length === 3 ? 200 : 404])
      const consumers = await user.list('/v1/event-consumers')
      expect([role, consumers.status]).toEqual([role, ['approver', 'analyst'].includes(role) ? 403 : 200])
    }
  })

  it('reads few rows of many, by type, by subject and from the end', { timeout: 60_000 }, async () => {
    const { scope } = await makeReader()
    const claim = newId('clm', 'sandbox')
    const id = newId('evt', 'sandbox')
    await fixture.owner(
      `INSERT INTO events (account_id, environment, id, type, data, position, created_at)
       SELECT $1, 'sandbox', left($2, -6) || to_char(n, 'FM000000'),
         CASE WHEN n % 10000 = 0 THEN 'intent.revoked' ELSE 'claim.escalated' END,
         jsonb_build_object('claim_id', CASE WHEN n % 5000 = 0 THEN $3 ELSE 'clm_' || n END, 'agent_session_id', 's' || n), n, now()
       FROM generate_series(1, 60000) AS n`,
      [scope.accountId, id, claim],
    )
    await fixture.owner('ANALYZE events')
    const none = { types: undefined, subjectId: undefined, from: undefined, to: undefined }
    const filters = [
      [none, 20],
      [{ ...none, types: ['intent.revoked'] }, 6],
      [{ ...none, subjectId: claim }, 12],
      [{ ...none, subjectId: 's777' }, 1],
      [{ ...none, subjectId: claim, types: ['intent.revoked'] }, 6],
    ] as const
    for (const [filter, expected] of filters) {
      const wanted = { environment: 'sandbox' as const, ...filter }
      for (const order of ['asc', 'desc'] as const) {
        const { answer, most } = await readingRows(fixture.db, scope, 'events', (tx) =>
          listEvents(tx, wanted, { order, after: undefined, limit: 20 }),
        )
        expect([filter, answer.length]).toEqual([filter, expected])
        expect(most).toBeLessThan(200)
      }
      if (filter === none) continue
      const { answer, most } = await readingRows(fixture.db, scope, 'events', (tx) => countEvents(tx, wanted))
      expect(answer).toBe(expected)
      expect(most).toBeLessThan(200)
    }
  })
})
