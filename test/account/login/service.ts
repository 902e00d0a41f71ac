// Signing in as a person does: a link is requested, its mail is sent to a real mail server, and the link of the mail is
// used.

import type { Role } from '#src/catalogue/access.ts'
import { newAccountId } from '#src/platform/ids.ts'
import { workOf } from '#src/services.ts'
import type { TestAnswer } from '../../support/http.ts'
import { createJobs } from '../../support/jobs.ts'
import { type Sent, startTestService, type TestService, type TestServiceOptions } from '../../support/service.ts'
import { type MailServer, startMailServer } from '../../support/smtp.ts'

export interface LoginService extends TestService {
  mail: MailServer
  request(email: string, sent?: Sent): Promise<TestAnswer>
  /** Runs the mail queue until it is empty; returns the mails that arrived. */
  deliver(): Promise<MailServer['received']>
  /** The token of the newest mail to an address. */
  tokenFor(email: string): Promise<string>
  use(token: string, sent?: Sent): Promise<TestAnswer>
  /** A browser that signed in by mail: its headers, as `signIn` returns them. */
  enter(email: string): Promise<{ answer: TestAnswer; headers: Record<string, string> }>
  /** A user of an account. */
  addUser(accountId: string, user: { email: string; role?: Role; isRemoved?: boolean }): Promise<string>
}

export async function startLoginService(
  env: NodeJS.ProcessEnv = {},
  options: Pick<TestServiceOptions, 'overrides'> = {},
): Promise<LoginService> {
  const mail = await startMailServer()
  const service = await startTestService({
    env: { SMTP_URL: mail.url, TRUSTED_PROXIES: '127.0.0.1', ...env },
    app: { trustedProxies: ['127.0.0.1'] },
    ...options,
  })
  const jobs = createJobs(service.test, 'mail')
  const work = workOf(service.services, 'mail')
  let clients = 0

  const post = (path: string, json: unknown, sent: Sent = {}) => {
    // A client of its own each, where a test does not choose one: limits count by client.
    clients += 1
    const headers = { 'X-Forwarded-For': `198.51.${Math.floor(clients / 250)}.${clients % 250}`, ...sent.headers }
    return service.call({}, path, { method: 'POST', json, ...sent, headers })
  }
  const self: LoginService = {
    ...service,
    mail,
    request: (email, sent) => post('/v1/auth/magic-link', { email }, sent),
    async deliver() {
      const before = mail.received.length
      await jobs.drain(work)
      return mail.received.slice(before)
    },
    async tokenFor(email) {
      await jobs.drain(work)
      const newest = mail.received.findLast(({ to }) => to.includes(email))
      const [, token = ''] = /\/login\/link#([A-Za-z0-9_-]{43})\s/.exec(newest?.parsed.text ?? '') ?? []
      return token
    },
    use: (token, sent) => post('/v1/auth/magic-link/verify', { token }, sent),
    async enter(email) {
      await self.request(email)
      const answer = await self.use(await self.tokenFor(email))
      return { answer, headers: browserOf(answer) }
    },
    async addUser(accountId, { email, role = 'owner', isRemoved = false }) {
      const id = newAccountId('usr')
      await service.test.owner(
        'INSERT INTO users (account_id, id, email, role, deprovisioned_at) VALUES ($1, $2, $3, $4, $5)',
        [accountId, id, email, role, isRemoved ? new Date() : null],
      )
      return id
    },
    async close() {
      await service.close()
      await mail.close()
    },
  }
  return self
}

/** The headers of a browser that keeps the cookies of an answer. */
export function browserOf({ headers, json }: TestAnswer): Record<string, string> {
  const kept = (headers['set-cookie'] ?? []).map((line) => line.split(';')[0] ?? '')
  return { Cookie: kept.join('; '), 'X-CSRF-Token': String(json.csrf_token ?? '') }
}
