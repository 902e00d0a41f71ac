// The whole service with keys from its own tables, and what tests of keys ask it.

import type { NewKey } from '#src/account/keys/new-key.ts'
import type { GrantableScope, Role } from '#src/catalogue/access.ts'
import type { Environment, Scope } from '#src/platform/ids.ts'
import { makeAccount } from '../../support/database.ts'
import type { TestAnswer } from '../../support/http.ts'
import { startTestService, type TestService } from '../../support/service.ts'

export const KEYS = '/v1/account/keys'

export interface Holder extends Scope {
  /** Of the key; the user's of a session. */
  id: string
  ask(path: string, sent?: { method?: string; json?: unknown; headers?: Record<string, string> }): Promise<TestAnswer>
  create(json?: Record<string, unknown>, headers?: Record<string, string>): Promise<TestAnswer>
  post(path: string, json?: unknown, headers?: Record<string, string>): Promise<TestAnswer>
}

export interface KeyHolder extends Holder {
  key: string
}

export interface KeysService {
  service: TestService
  /** An account, and a key of it that may manage keys. */
  makeHolder(wanted?: Partial<NewKey> & { environment?: Environment; in?: Scope }): Promise<KeyHolder>
  signIn(scope: Scope, role: Role, isSandboxOnly?: boolean): Promise<Holder>
  /** A request with a raw key. */
  send: TestService['call']
  audits(id: unknown): Promise<Record<string, unknown>[]>
  close(): Promise<void>
}

export async function startKeysService(options: { now?: Date } = {}): Promise<KeysService> {
  const service: TestService = await startTestService({
    ...options,
    app: {
      findKey: (raw, address) => service.services.account.keys.find(raw, address),
      now: () => service.clock.now,
    },
  })
  const { keys } = service.services.account

  function holderOf(scope: Scope, id: string, sign: { key?: string; headers?: Record<string, string> }): Holder {
    const ask: Holder['ask'] = (path, { headers = {}, ...sent } = {}) =>
      service.call({ key: sign.key }, KEYS + path, { ...sent, headers: { ...sign.headers, ...headers } })
    return {
      ...scope,
      id,
      ask,
      create: (json = {}, headers = {}) => ask('', { json: { name: 'made', scopes: ['verify'], ...json }, headers }),
      post: (path, json, headers = {}) =>
        ask(path, { method: 'POST', ...(json === undefined ? {} : { json }), headers }),
    }
  }

  return {
    service,
    async makeHolder({ environment = 'sandbox', in: place, ...wanted } = {}) {
      const scope = place ?? (await makeAccount(service.test, { environment }))
      const scopes: GrantableScope[] = scope.environment === 'live' ? ['admin'] : ['all']
      const { id, key } = await keys.create(scope, { name: 'holder', scopes, ...wanted })
      return { ...holderOf(scope, id, { key }), key }
    },
    async signIn(scope, role, isSandboxOnly = false) {
      const { userId, headers } = await service.signIn(scope.accountId, { role, isSandboxOnly })
      return holderOf(scope, userId, { headers: { ...headers, 'Service-Environment': scope.environment } })
    },
    send: service.call,
    audits: (id) =>
      service.test.owner(
        `SELECT action, actor_kind, actor_id, environment, before, after FROM audit_entries
         WHERE subject_id = $1 ORDER BY id`,
        [id],
      ),
    async close() {
      await keys.settle()
      await service.close()
    },
  }
}

export const findings = ({ status, json }: TestAnswer) => [
  status,
  json.code,
  ...(json.errors ?? []).map(({ pointer, code }) => `${pointer} ${code}`),
]

export const codeOf = ({ status, json }: TestAnswer) => [status, json.code]
