// Tokens under mandates and schedules, and with approvals: what tests of them do most.

import type { TestCaller } from '../../support/callers.ts'
import type { Intents } from './service.ts'

type Members = Record<string, unknown>
type Verifying = Members & { key?: string | undefined }

const DAY_MS = 86_400_000
// The same for all: a child ends with its parent at the latest.
const EXPIRES_AT = new Date(Date.now() + 30 * DAY_MS).toISOString()

export function createUnder(service: Intents) {
  const payload = (amount: string, more: Members = {}) => ({
    action_description: `Pay ${amount} EUR`,
    action_payload: { amount, currency: 'EUR', counterparty: 'Example Garage', ...more },
  })

  return {
    payload,
    /** Of 1,000.00 EUR in all, unless it says otherwise. Returns its id. */
    async mandate(caller: TestCaller, more: Members = {}): Promise<string> {
      const made = await service.done(caller, '/v1/mandates', {
        principal: 'buying@example.com',
        description: 'Spare parts',
        budget: { limit: '1000', currency: 'EUR', period: 'total' },
        expires_at: EXPIRES_AT,
        ...more,
      })
      return String(made.mandate_id)
    },
    /** 100 EUR a day to one counterparty; its third cycle is open. */
    async schedule(caller: TestCaller, more: Members = {}): Promise<string> {
      const made = await service.done(caller, '/v1/schedules', {
        counterparty: 'Example Garage',
        amount: { type: 'fixed', value: '100', currency: 'EUR' },
        frequency: 'daily',
        anchor_at: new Date(Date.now() - 2 * DAY_MS - 3_600_000).toISOString(),
        timezone: 'UTC',
        occurrences: 12,
        ...more,
      })
      return String(made.schedule_id)
    },
    /** A token for an amount. */
    issue: (caller: TestCaller, amount: string, bound: Members) =>
      service.issue(caller, { ...payload(amount), ...bound }),
    /** As a client does: a request that finds the service busy is sent again, with the same idempotency key. */
    async verify(caller: TestCaller, token: string, amount: string, { key, ...more }: Verifying = {}) {
      for (;;) {
        const answer = await service.post(
          caller,
          '/v1/intent/verify',
          { ...payload(amount), intent_token: token, ...more },
          key === undefined ? {} : { headers: { 'Idempotency-Key': key } },
        )
        if (answer.status === 200) return answer.json as Members
        if (answer.status !== 503) throw new Error(`verify answered ${answer.status}: ${JSON.stringify(answer.json)}`)
      }
    },
    outcome: (caller: TestCaller, jti: string, status: string) =>
      service.done(caller, `/v1/intent/executions/${jti}/outcome`, { status }),
    entries: service.entries,
    /** Moves columns of a row in time, as if it had been made earlier. */
    shift: (table: string, id: string, columns: Record<string, string>) => {
      const names = Object.keys(columns)
      const sets = names.map((name, index) => `${name} = now() + $${index + 2}::interval`)
      return service.test.owner(`UPDATE ${table} SET ${sets.join(', ')} WHERE id = $1`, [id, ...Object.values(columns)])
    },
  }
}

export type Under = ReturnType<typeof createUnder>
