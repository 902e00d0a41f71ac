// Accounts with an owner who is signed in, and the task of the process clock.

import type { Service } from '../../attest/claims/service.ts'
import type { SignedIn } from '../../support/service.ts'

export const PATH = '/v1/account/closure'

export interface Owned {
  accountId: string
  key: string
  owner: SignedIn
}

export type ClosureFixture = ReturnType<typeof createClosureFixture>

export function createClosureFixture(service: Service) {
  const ask = ({ headers }: SignedIn, method: string, path: string, json?: unknown) =>
    service.call({}, path, { method, headers, ...(json !== undefined && { json }) })
  return {
    ask,

    async makeOwned(): Promise<Owned> {
      const { accountId } = await service.makeCaller()
      const scope = { accountId, environment: 'sandbox' as const }
      const { key } = await service.services.account.keys.create(scope, { name: 'k', scopes: ['all'] })
      return { accountId, key, owner: await service.signIn(accountId) }
    },

    close: ({ owner, accountId }: Owned) => ask(owner, 'POST', PATH, { confirm: accountId }),

    async runClock(signal = new AbortController().signal) {
      const task = service.services.features
        .flatMap(({ tasks = [] }) => tasks)
        .find(({ name }) => name === 'closed accounts')
      return task?.start()(signal)
    },

    async dueJobs(accountId: string) {
      const due = 'SELECT FROM jobs WHERE account_id = $1 AND run_at <= now()'
      return (await service.test.owner(due, [accountId])).length
    },

    backdate: (accountId: string, days: number) =>
      service.test.owner("UPDATE accounts SET closed_at = now() - $2 * interval '1 day' WHERE id = $1", [
        accountId,
        days,
      ]),
  }
}
