// Cases as a caller sees them: the real application on a free port, real Postgres, and a clock that the test sets.

import { randomBytes } from 'node:crypto'
import { createCases } from '#src/attest/cases/cases.ts'
import { createOpenCase, type OpenCase } from '#src/attest/cases/escalation.ts'
import { caseRoutes } from '#src/attest/cases/routes.ts'
import { CASE_SETTINGS, type CaseSettings } from '#src/attest/cases/settings.ts'
import type { KeyRow } from '#src/platform/http/caller.ts'
import { createFindEffect } from '#src/platform/http/idempotency.ts'
import { createPager } from '#src/platform/http/page.ts'
import { newId, type Scope } from '#src/platform/ids.ts'
import { createKeyring, type TestCaller } from '../../support/callers.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'
import { call, startApp, type TestAnswer } from '../../support/http.ts'

export const A = 'a@example.com'
export const B = 'b@example.com'
// A Friday.
export const NOW = new Date('2026-11-20T15:00:00.000Z')

type Sent = NonNullable<Parameters<typeof call>[2]>
export type Caller = TestCaller

export interface CaseService {
  test: TestDatabase
  app: { port: number }
  clock: { now: Date }
  openCase: OpenCase
  makeCaller(row?: Partial<KeyRow>): Promise<Caller>
  addKey(row: Partial<KeyRow>): string
  call(caller: { key: string }, path: string, sent?: Sent): Promise<TestAnswer>
  post(caller: { key: string }, path: string, json: unknown, headers?: Record<string, string>): Promise<TestAnswer>
  patch(caller: { key: string }, id: string, json: unknown, headers?: Record<string, string>): Promise<TestAnswer>
  makeClaim(scope: Scope, columns?: Record<string, unknown>): Promise<string>
  /** A case of a new claim, brought to the state by adjuster A. */
  makeCase(caller: Caller, state?: string, claim?: Record<string, unknown>): Promise<{ id: string; claimId: string }>
  move(caller: { key: string }, id: string, wish: Record<string, unknown>): Promise<TestAnswer>
  events(scope: Scope): Promise<{ type: string; data: Record<string, unknown> }[]>
  /** Everything that a refused request must leave unchanged. */
  fingerprint(): Promise<string>
  close(): Promise<void>
}

// The transitions that lead to each state, from open.
const WAYS: Record<string, Record<string, unknown>[]> = {
  open: [],
  in_review: [{ to: 'in_review', assignee: A }],
  info_requested: [
    { to: 'in_review', assignee: A },
    { to: 'info_requested', note: 'Which car?' },
  ],
  escalated: [
    { to: 'in_review', assignee: A },
    { to: 'escalated', reason_code: 'insufficient_evidence' },
  ],
  approved: [
    { to: 'in_review', assignee: A },
    { to: 'approved', reason_code: 'other', note: 'ten characters' },
  ],
  denied: [
    { to: 'in_review', assignee: A },
    { to: 'denied', reason_code: 'insufficient_evidence' },
  ],
  withdrawn: [{ to: 'withdrawn', reason_code: 'policyholder_withdrew' }],
  closed_undecided: [
    { to: 'in_review', assignee: A },
    { to: 'closed_undecided', reason_code: 'insufficient_evidence' },
  ],
}

export async function startCases(settings: Partial<CaseSettings> = {}): Promise<CaseService> {
  const test = await createTestDatabase({ poolSize: 12 })
  const clock = { now: NOW }
  const now = () => clock.now
  const chosen = { ...CASE_SETTINGS, ...settings }
  const cases = createCases({ db: test.db, pager: createPager({ key: randomBytes(32) }), now, settings: chosen })
  const { findKey, addKey, makeCaller } = createKeyring(test, ['escalate'])
  const app = await startApp(caseRoutes(cases), {
    findKey,
    findEffect: createFindEffect(test.db),
  })

  const post: CaseService['post'] = ({ key }, path, json, headers = {}) => call(app, path, { key, json, headers })
  const move: CaseService['move'] = (caller, id, wish) =>
    post(caller, `/v1/cases/${id}/transitions`, { actor: A, ...wish })

  async function makeClaim({ accountId, environment }: Scope, columns: Record<string, unknown> = {}): Promise<string> {
    const row = { account_id: accountId, environment, id: newId('clm', environment), ...columns }
    const names = Object.keys(row)
    const places = names.map((_, index) => `$${index + 1}`)
    await test.owner(`INSERT INTO claims (${names.join(', ')}) VALUES (${places.join(', ')})`, Object.values(row))
    return row.id
  }

  return {
    test,
    app,
    clock,
    openCase: createOpenCase({ now, settings: chosen }),
    addKey,
    makeCaller,
    call: ({ key }, path, sent = {}) => call(app, path, { ...sent, key }),
    post,
    patch: ({ key }, id, json, headers = {}) => call(app, `/v1/cases/${id}`, { method: 'PATCH', key, json, headers }),
    makeClaim,
    async makeCase(caller, state = 'open', claim = {}) {
      const claimId = await makeClaim(caller, claim)
      const { json, text } = await post(caller, '/v1/cases', { claim_id: claimId, actor: A })
      const id = String(json.case_id)
      let last = text
      for (const wish of WAYS[state] ?? []) last = (await move(caller, id, wish)).text
      if (JSON.parse(last).state !== state) throw new Error(`no case is ${state}: ${last}`)
      return { id, claimId }
    },
    move,
    events: ({ accountId }) =>
      test.owner('SELECT type, data FROM events WHERE account_id = $1 ORDER BY id', [accountId]),
    async fingerprint() {
      const digestOf = (table: string) => `(SELECT md5(string_agg(t::text, ' ' ORDER BY t::text)) FROM ${table} t)`
      const tables = ['claims', 'cases', 'case_entries', 'events', 'jobs', 'idempotency_keys']
      const [row] = await test.owner<{ text: string }>(`SELECT concat_ws('|', ${tables.map(digestOf)}) AS text`)
      return row?.text ?? ''
    },
    async close() {
      await app.close()
      await test.close()
    },
  }
}
