import { expect } from 'vitest'
import type { DecisionKind } from '#src/catalogue/decisions.ts'
import { DAY_MS } from '#src/platform/retention.ts'
import type { TestCaller } from '../../support/callers.ts'
import { type Sent, startTestService } from '../../support/service.ts'

export type Members = Record<string, unknown>
type Granted = Members & { mandate_id: string }

export const inDays = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString()
// Of every mandate that says nothing else: a child's expiry may not be after its parent's.
const EXPIRES_AT = inDays(30)

/** The body of a request that is accepted. */
export const wanted = (more: Members = {}) => ({
  principal: 'buying@example.com',
  description: 'Spare parts',
  constraints: { max_amount: 500, currency: 'EUR' },
  expires_at: EXPIRES_AT,
  ...more,
})

/** What a refusal names, sorted. */
export const codes = (json: Members) =>
  ((json.errors ?? []) as { pointer: string; code: string }[])
    .map(({ pointer, code }) => `${pointer} ${code}`)
    .toSorted()

/** Each request is refused as invalid, with exactly these findings. */
export async function expectRefused(
  cases: readonly [Members, string[]][],
  send: (members: Members) => Promise<{ status: number; json: Members }>,
): Promise<void> {
  for (const [members, expected] of cases) {
    const { status, json } = await send(members)
    expect({ members, status, errors: codes(json) }).toEqual({ members, status: 400, errors: expected })
  }
}

/** The service, with what tests of mandates do most, as the caller that `enter` made last. */
export async function startMandates() {
  const service = await startTestService()
  let caller: TestCaller | undefined
  const callerNow = () => {
    if (caller === undefined) throw new Error('call enter first')
    return caller
  }
  const post = (path: string, json: Members | undefined, sent: Sent = {}, by: { key?: string } = callerNow()) =>
    service.call(by, path, { method: 'POST', json, ...sent })

  return {
    ...service,
    post,
    /** A new account, whose key all others use. */
    async enter() {
      caller = await service.makeCaller()
      return caller
    },
    async grant(more: Members = {}): Promise<Granted> {
      const { status, json } = await post('/v1/mandates', wanted(more))
      expect({ status, json }).toMatchObject({ status: 200 })
      return json as Granted
    },
    get: async (id: string) => (await service.call(callerNow(), `/v1/mandates/${id}`)).json,
    patch: (id: string, json: Members, sent: Sent = {}) =>
      service.call(callerNow(), `/v1/mandates/${id}`, { method: 'PATCH', json, ...sent }),
    revoke: (id: string, sent: Sent = {}) => post(`/v1/mandates/${id}/revoke`, { reason: 'over' }, sent),
    checkIn: (id: string, sent: Sent = {}) => post(`/v1/mandates/${id}/heartbeat`, undefined, sent),
    /** The ids of a list. */
    async listed(query: string): Promise<string[]> {
      const { status, json } = await service.call(callerNow(), `/v1/mandates?${query}`)
      expect(status).toBe(200)
      return (json.data as Granted[]).map(({ mandate_id }) => mandate_id)
    },
    async makeAgent(): Promise<string> {
      const { json } = await post('/v1/agents', { name: 'Buyer', owner: 'buying@example.com' })
      return String(json.agent_id)
    },
    ledgerOf: (kind: DecisionKind) => service.entries(callerNow(), kind),
    /** Moves a mandate in time, as if it had been granted or had checked in earlier. */
    shift(id: string, columns: Members) {
      const sets = Object.keys(columns).map((name, index) => `${name} = now() + $${index + 2}::interval`)
      return service.test.owner(`UPDATE mandates SET ${sets.join(', ')} WHERE id = $1`, [id, ...Object.values(columns)])
    },
  }
}

export type MandatesService = Awaited<ReturnType<typeof startMandates>>
