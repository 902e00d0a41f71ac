// An organization that signs its people in by an identity provider, as its people see it.

import { createHmac } from 'node:crypto'
import type { TestAnswer } from '../../support/http.ts'
import { startTeamService, type TeamService } from '../team/service.ts'

type Headers = Record<string, string>

/** What a provider of a test needs of the configuration. */
interface ProviderFacts {
  issuer: string
  clientId?: string
  clientSecret?: string
}

export interface Organization {
  accountId: string
  owner: Headers
  ownerId: string
  domain: string
}

/** A browser that has begun a login. */
export interface Begun {
  browser: Headers
  authorizeUrl: string
  state: string
  nonce: string
}

export interface SsoService extends TeamService {
  /** TXT records by name: their chunks, or the code of an error. */
  records: Map<string, string[][] | string>
  redirectUri: string
  configure(owner: Headers, provider: ProviderFacts, domain: string, more?: object): Promise<TestAnswer>
  /** Configures, sets the record and verifies. */
  connect(provider: ProviderFacts, domain?: string): Promise<Organization>
  verify(owner: Headers): Promise<TestAnswer>
  setRecord(configured: TestAnswer): void
  begin(domain: string, headers?: Headers): Promise<Begun>
  finish(begun: Pick<Begun, 'browser'>, sent: object, headers?: Headers): Promise<TestAnswer>
}

const BASE_URL = 'http://127.0.0.1:4999'

export async function startSsoService(env: NodeJS.ProcessEnv = {}): Promise<SsoService> {
  const records: SsoService['records'] = new Map()
  const service = await startTeamService(
    { OUTBOUND_ALLOW: '127.0.0.1', BASE_URL, ...env },
    {
      overrides: () => ({
        async lookupTxt(name: string) {
          const found = records.get(name) ?? 'ENOTFOUND'
          if (typeof found === 'string') throw Object.assign(new Error(found), { code: found })
          return found
        },
      }),
    },
  )
  let domains = 0
  let clients = 0
  const network = () => {
    clients += 1
    return { 'X-Forwarded-For': `203.0.${Math.floor(clients / 250)}.${clients % 250}` }
  }
  const self: SsoService = {
    ...service,
    records,
    redirectUri: `${service.services.platform.baseUrl}/login/sso`,
    configure: (owner, { issuer, clientId = 'client', clientSecret = 'a secret of this test' }, domain, more = {}) =>
      service.send(owner, 'PUT', '/v1/auth/sso/config', {
        issuer,
        client_id: clientId,
        client_secret: clientSecret,
        domain,
        ...more,
      }),
    verify: (owner) => service.send(owner, 'POST', '/v1/auth/sso/config/verify-domain'),
    setRecord({ json }) {
      const { name, value } = json.domain_record as { name: string; value: string }
      // Long values come in chunks.
      records.set(name, [['v=spf1 -all'], [value.slice(0, 20), value.slice(20)]])
    },
    async connect(provider, domain) {
      domains += 1
      const own = domain ?? `org${domains}.example`
      const team = await service.makeTeam()
      const configured = await self.configure(team.owner, provider, own)
      if (configured.status !== 200) throw new Error(`not configured: ${configured.text}`)
      self.setRecord(configured)
      const verified = await self.verify(team.owner)
      if (verified.status !== 200) throw new Error(`not verified: ${verified.text}`)
      return { ...team, domain: own }
    },
    async begin(domain, headers = {}) {
      const answer = await service.call({}, `/v1/auth/sso/start?domain=${domain}`, {
        headers: { Accept: 'application/json', ...network(), ...headers },
      })
      if (answer.status !== 200) throw new Error(`not begun: ${answer.text}`)
      return begunOf(answer)
    },
    finish: ({ browser }, json, headers = {}) =>
      service.call({}, '/v1/auth/sso/callback', {
        method: 'POST',
        json,
        headers: { ...network(), ...browser, ...headers },
      }),
  }
  return self
}

export function begunOf(answer: TestAnswer): Begun {
  const authorizeUrl = String(answer.json.authorize_url)
  const { searchParams } = new URL(authorizeUrl)
  const cookie = (answer.headers['set-cookie'] ?? []).map((line) => line.split(';')[0] ?? '').join('; ')
  return {
    browser: { Cookie: cookie },
    authorizeUrl,
    state: searchParams.get('state') ?? '',
    nonce: searchParams.get('nonce') ?? '',
  }
}

/** A token signed by HMAC, with any header. */
export function hmacToken(claims: object, secret: string | Buffer, header: object = { alg: 'HS256' }): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const signed = `${part(header)}.${part(claims)}`
  return `${signed}.${createHmac('sha256', secret).update(signed).digest('base64url')}`
}
