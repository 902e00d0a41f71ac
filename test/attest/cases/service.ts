// Cases as a caller sees them: the real application on a free port, real Postgres, and a clock that the test sets.

import type { OpenCase } from '#src/attest/cases/escalation.ts'
import type { TestCaller } from '../../support/callers.ts'
import type { TestAnswer } from '../../support/http.ts'
import { startTestService, type TestService } from '../../support/service.ts'

export const A = 'a@example.com'
export const B = 'b@example.com'
// A Friday.
export const NOW = new Date('2026-11-20T15:00:00.000Z')

export type Caller = TestCaller

export interface CaseService extends TestService {
  openCase: OpenCase
  post(caller: { key: string }, path: string, json: unknown, headers?: Record<string, string>): Promise<TestAnswer>
  patch(caller: { key: string }, id: string, json: unknown, headers?: Record<string, string>): Promise<TestAnswer>
  /** A case of a new claim, brought to the state by adjuster A. */
  makeCase(caller: Caller, state?: string, claim?: Record<string, unknown>): Promise<{ id: string; claimId: string }>
  move(caller: { key: string }, id: string, wish: Record<string, unknown>): Promise<TestAnswer>
  /** Everything that a refused request must leave unchanged. */
  fingerprint(): Promise<string>
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

export async function startCases(env: NodeJS.ProcessEnv = {}): Promise<CaseService> {
  const service = await startTestService({ scopes: ['escalate'], now: NOW, env })
  const { openCase } = service.services.attest.cases
  if (openCase === undefined) throw new Error('escalation opens no cases here')

  const post: CaseService['post'] = (caller, path, json, headers = {}) => service.call(caller, path, { json, headers })
  const move: CaseService['move'] = (caller, id, wish) =>
    post(caller, `/v1/cases/${id}/transitions`, { actor: A, ...wish })

  return {
    ...service,
    openCase,
    post,
    patch: (caller, id, json, headers = {}) =>
      service.call(caller, `/v1/cases/${id}`, { method: 'PATCH', json, headers }),
    async makeCase(caller, state = 'open', claim = {}) {
      const claimId = await service.makeClaim(caller, claim)
      const { json, text } = await post(caller, '/v1/cases', { claim_id: claimId, actor: A })
      const id = String(json.case_id)
      let last = text
      for (const wish of WAYS[state] ?? []) last = (await move(caller, id, wish)).text
      if (JSON.parse(last).status !== state) throw new Error(`no case is ${state}: ${last}`)
      return { id, claimId }
    },
    move,
    async fingerprint() {
      const digestOf = (table: string) => `(SELECT md5(string_agg(t::text, ' ' ORDER BY t::text)) FROM ${table} t)`
      const tables = ['claims', 'cases', 'case_entries', 'events', 'jobs', 'idempotency_keys']
      const [row] = await service.test.owner<{ text: string }>(`SELECT concat_ws('|', ${tables.map(digestOf)}) AS text`)
      return row?.text ?? ''
    },
  }
}
