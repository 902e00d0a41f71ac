// A team as its members see it: invites are mailed, and accepted with the token of the mail.

import type { NewKey } from '#src/account/keys/new-key.ts'
import type { Role } from '#src/catalogue/access.ts'
import { makeAccount } from '../../support/database.ts'
import type { TestAnswer } from '../../support/http.ts'
import type { Sent } from '../../support/service.ts'
import { browserOf, type LoginService, startLoginService } from '../login/service.ts'

export { browserOf }

type Headers = Record<string, string>

export interface TeamService extends LoginService {
  /** An account on the plan enterprise with a signed-in owner. */
  makeTeam(plan?: string): Promise<{ accountId: string; owner: Headers; ownerId: string }>
  send(headers: Headers, method: string, path: string, json?: unknown): Promise<TestAnswer>
  invite(headers: Headers, email: string, role?: Role): Promise<TestAnswer>
  /** The token of the newest invite that was mailed to an address; empty where there is none. */
  inviteTokenFor(email: string): Promise<string>
  accept(token: string, sent?: Sent): Promise<TestAnswer>
  /** Invites an address and accepts. */
  join(inviter: Headers, email: string, role?: Role): Promise<{ userId: string; headers: Headers; answer: TestAnswer }>
  newAddress(): string
  /** A live key that has a row, with the scope admin where none is named. */
  makeKey(accountId: string, wanted?: Partial<NewKey>): Promise<{ id: string; key: string }>
}

export async function startTeamService(
  env: NodeJS.ProcessEnv = {},
  options: Parameters<typeof startLoginService>[1] = {},
): Promise<TeamService> {
  const service = await startLoginService({ SIGNUP: 'open', ...env }, options)
  let addresses = 0
  let clients = 0
  const self: TeamService = {
    ...service,
    async makeTeam(plan = 'enterprise') {
      const { accountId } = await makeAccount(service.test, { plan })
      const { headers, userId } = await service.signIn(accountId)
      return { accountId, owner: headers, ownerId: userId }
    },
    send: (headers, method, path, json) =>
      service.call({}, path, { method, headers, ...(json === undefined ? {} : { json }) }),
    invite: (headers, email, role = 'analyst') => self.send(headers, 'POST', '/v1/org/users/invite', { email, role }),
    async inviteTokenFor(email) {
      await service.deliver()
      const newest = service.mail.received.findLast(({ to }) => to.includes(email))
      return /\/login\/invite#([A-Za-z0-9_-]{43})\s/.exec(newest?.parsed.text ?? '')?.[1] ?? ''
    },
    accept(token, sent = {}) {
      clients += 1
      const headers = { 'X-Forwarded-For': `198.18.${Math.floor(clients / 250)}.${clients % 250}`, ...sent.headers }
      return service.call({}, '/v1/org/invites/accept', { method: 'POST', json: { token }, ...sent, headers })
    },
    async join(inviter, email, role = 'analyst') {
      const invited = await self.invite(inviter, email, role)
      if (invited.status !== 200) throw new Error(`not invited: ${invited.text}`)
      const answer = await self.accept(await self.inviteTokenFor(email))
      if (answer.status !== 200) throw new Error(`not accepted: ${answer.text}`)
      const { user } = answer.json as { user: { user_id: string } }
      return { userId: user.user_id, headers: browserOf(answer), answer }
    },
    newAddress() {
      addresses += 1
      return `member${addresses}@example.com`
    },
    makeKey: (accountId, wanted) =>
      service.services.account.keys.create(
        { accountId, environment: 'live' },
        { name: 'backend', scopes: ['admin'], ...wanted },
      ),
  }
  return self
}
