// A directory that pushes the users of an organization.

import type { TestAnswer } from '../../support/http.ts'
import type { HostileProvider } from '../sso/hostile-provider.ts'
import { startHostileProvider } from '../sso/hostile-provider.ts'
import { type Organization, type SsoService, startSsoService } from '../sso/service.ts'

export interface Directory extends Organization {
  token: string
  tokenId: string
  send(method: string, path: string, body?: unknown): Promise<TestAnswer>
  /** Makes a user; returns its id. */
  make(name: string, more?: object): Promise<string>
  patch(id: string, ...operations: object[]): Promise<TestAnswer>
}

export interface ScimService extends SsoService {
  provider: HostileProvider
  makeDirectory(): Promise<Directory>
}

export const USER = 'urn:ietf:params:scim:schemas:core:2.0:User'
export const PATCH = 'urn:ietf:params:scim:api:messages:2.0:PatchOp'

export async function startScimService(env: NodeJS.ProcessEnv = {}): Promise<ScimService> {
  const service = await startSsoService(env)
  const provider = await startHostileProvider()
  return {
    ...service,
    provider,
    async makeDirectory() {
      const org = await service.connect(provider)
      const { token, scim_token_id: tokenId } = (await service.send(org.owner, 'POST', '/v1/auth/scim-tokens')).json
      const send: Directory['send'] = (method, path, body) =>
        service.call({ key: String(token) }, `/v1/scim/v2${path}`, {
          method,
          ...(body !== undefined && {
            body: JSON.stringify(body),
            headers: { 'Content-Type': 'application/scim+json' },
          }),
        })
      return {
        ...org,
        token: String(token),
        tokenId: String(tokenId),
        send,
        async make(name, more = {}) {
          const body = { schemas: [USER], userName: `${name}@${org.domain}`, ...more }
          const made = await send('POST', '/Users', body)
          if (made.status !== 201) throw new Error(`not made: ${made.text}`)
          return String(made.json.id)
        },
        patch: (id, ...Operations) => send('PATCH', `/Users/${id}`, { schemas: [PATCH], Operations }),
      }
    },
    async close() {
      await service.close()
      await provider.close()
    },
  }
}
