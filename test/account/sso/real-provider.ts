// A certified OpenID provider in this process: oidc-provider on a port of its own, with RS256 and ES256 keys, PKCE required. A
// person signs in there at once, as the test says.

import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { exportJWK, generateKeyPair } from 'jose'
// @ts-expect-error: it has no types of its own
import Provider from 'oidc-provider'

export interface Person {
  sub: string
  email?: string
  email_verified?: boolean
}

export interface RealProvider {
  issuer: string
  clientId: string
  clientSecret: string
  /** Who signs in at the provider next, such as in a browser. */
  expect(person: Person): void
  /** Signs a person in at the provider, and returns where it leads back. */
  signIn(authorizeUrl: string, person: Person): Promise<URL>
  close(): Promise<void>
}

interface ProviderOptions {
  redirectUri: string
  algorithm?: 'RS256' | 'ES256'
}

export async function startRealProvider({ redirectUri, algorithm = 'RS256' }: ProviderOptions): Promise<RealProvider> {
  const people = new Map<string, Person>()
  const [rsa, ec] = await Promise.all([newKey('RS256'), newKey('ES256')])
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const issuer = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const clientId = 'countersign'
  const clientSecret = 'a secret of this client, made by the provider'
  const provider = new Provider(issuer, {
    clients: [
      {
        client_id: clientId,
        client_secret: clientSecret,
        redirect_uris: [redirectUri],
        response_types: ['code'],
        grant_types: ['authorization_code'],
        id_token_signed_response_alg: algorithm,
      },
    ],
    jwks: { keys: [rsa, ec] },
    pkce: { required: () => true },
    claims: { openid: ['sub'], email: ['email', 'email_verified'] },
    features: { devInteractions: { enabled: false } },
    findAccount: (_ctx: unknown, sub: string) => ({ accountId: sub, claims: async () => people.get(sub) }),
    interactions: { url: (_ctx: unknown, interaction: { uid: string }) => `/interaction/${interaction.uid}` },
    cookies: { keys: ['a key of this test'] },
    loadExistingGrant: async (ctx: OidcContext) => {
      const grant = new ctx.oidc.provider.Grant({
        clientId: ctx.oidc.client.clientId,
        accountId: ctx.oidc.session.accountId,
      })
      grant.addOIDCScope('openid email profile')
      await grant.save()
      return grant
    },
  })
  const answer = provider.callback()
  let next: Person | undefined
  server.on('request', (req, res) => {
    if (!req.url?.startsWith('/interaction/')) return answer(req, res)
    const login = { accountId: next?.sub }
    void provider.interactionFinished(req, res, { login }, { mergeWithLastSubmission: false })
  })
  const expectPerson = (person: Person) => {
    people.set(person.sub, person)
    next = person
  }
  return {
    issuer,
    clientId,
    clientSecret,
    expect: expectPerson,
    async signIn(authorizeUrl, person) {
      expectPerson(person)
      return follow(authorizeUrl, redirectUri)
    },
    close: () => closed(server),
  }
}

interface OidcContext {
  oidc: {
    provider: { Grant: new (of: object) => { addOIDCScope(scope: string): void; save(): Promise<string> } }
    client: { clientId: string }
    session: { accountId: string }
  }
}

async function newKey(algorithm: string) {
  const { privateKey } = await generateKeyPair(algorithm, { extractable: true })
  return { ...(await exportJWK(privateKey)), alg: algorithm, use: 'sig', kid: algorithm }
}

/** As a browser: keeps cookies, and stops where the provider leads back. */
async function follow(from: string, redirectUri: string): Promise<URL> {
  const cookies = new Map<string, string>()
  let at = new URL(from)
  for (let step = 0; step < 10; step += 1) {
    const sent = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const answer = await fetch(at, { redirect: 'manual', headers: { Cookie: sent } })
    for (const line of answer.headers.getSetCookie()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      cookies.set(name, value)
    }
    const location = answer.headers.get('location')
    if (location === null) throw new Error(`the provider answered ${answer.status}: ${await answer.text()}`)
    at = new URL(location, at)
    if (at.href.startsWith(redirectUri)) return at
  }
  throw new Error('the provider does not lead back')
}

async function closed(server: Server): Promise<void> {
  server.closeAllConnections()
  await new Promise((resolve) => server.close(resolve))
}
