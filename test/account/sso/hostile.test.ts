// A provider that lies: no answer of it signs in anybody whom its account did not entrust to it.

import { generateKeyPairSync } from 'node:crypto'
import { exportJWK, exportSPKI, generateKeyPair, type JWTPayload } from 'jose'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { discoveryOf, type HostileProvider, startHostileProvider } from './hostile-provider.ts'
import { type Begun, hmacToken, type Organization, type SsoService, startSsoService } from './service.ts'

let service: SsoService
let provider: HostileProvider
let org: Organization
beforeAll(async () => {
  service = await startSsoService()
  provider = await startHostileProvider()
  org = await service.connect({ ...provider, clientSecret: 'the secret of the client' })
})
afterAll(async () => {
  await service?.close()
  await provider?.close()
})
beforeEach(() => {
  provider.answers = {}
})

const now = () => Math.floor(Date.now() / 1_000)
let people = 0
const newClaims = () => {
  people += 1
  return { sub: `sub-${people}`, email: `person${people}@${org.domain}` }
}

/** A login whose token endpoint answers the ID token that `make` returns. */
async function login(
  make: (begun: Begun) => Promise<string> | string,
  { iss, organization = org }: { iss?: string; organization?: Organization } = {},
) {
  const begun = await service.begin(organization.domain)
  const idToken = await make(begun)
  provider.answers.token = { access_token: 'x', token_type: 'bearer', id_token: idToken }
  return service.finish(begun, { code: 'a code', state: begun.state, ...(iss !== undefined && { iss }) })
}
const loginWith = (claims: JWTPayload, header = {}) =>
  login(({ nonce }) => provider.token({ nonce, ...newClaims(), ...claims }, header))

async function expectNothing(work: () => Promise<{ status: number; json: Record<string, unknown> }>, expected: object) {
  const before = [
    await service.count('users'),
    await service.count('user_sessions'),
    await service.count('audit_entries'),
  ]
  expect(await work()).toMatchObject(expected)
  const after = [await service.count('users'), await service.count('user_sessions')]
  expect(after).toEqual(before.slice(0, 2))
}
const refused = (cause: string) => ({ status: 403, json: { code: 'sso_login_refused', cause } })

describe('an ID token', () => {
  it('that is good signs in, with no more than it says', async () => {
    expect(await loginWith({})).toMatchObject({ status: 200, json: { role: 'analyst', method: 'sso' } })
    // Others' words are no addresses.
    for (const claims of [
      { preferred_username: `a@${org.domain}` },
      { upn: `a@${org.domain}` },
      { sub: `a@${org.domain}` },
    ]) {
      await expectNothing(() => loginWith({ ...claims, email: undefined }), refused('email_missing'))
    }
    for (const email of [7, null, '', 'no address', [`a@${org.domain}`], `a@${org.domain}\0`]) {
      await expectNothing(() => loginWith({ email }), refused('email_missing'))
    }
    await expectNothing(() => loginWith({ email_verified: 'false' }), refused('email_unverified'))
    expect((await loginWith({ email_verified: 'true' })).status).toBe(200)
  })

  it('with a wrong claim is refused by its cause, and recorded', async () => {
    const cases: [JWTPayload, string][] = [
      [{ iss: 'https://other.example' }, 'issuer_mismatch'],
      [{ iss: `${provider.issuer}/` }, 'issuer_mismatch'],
      [{ aud: 'another client' }, 'audience_mismatch'],
      [{ aud: [] }, 'audience_mismatch'],
      [{ aud: ['client', 'another'] }, 'azp_mismatch'],
      [{ azp: 'another' }, 'azp_mismatch'],
      [{ nonce: 'another' }, 'nonce_mismatch'],
      [{ exp: now() - 31 }, 'token_expired'],
      [{ iat: now() + 180 }, 'issued_at_out_of_bounds'],
      [{ iat: now() - 660 }, 'issued_at_out_of_bounds'],
      [{ sub: '' }, 'token_invalid'],
      [{ sub: 'x'.repeat(256) }, 'token_invalid'],
    ]
    for (const [claims, cause] of cases) await expectNothing(() => loginWith(claims), refused(cause))
    const entries = await service.test.owner<{ after: { cause: string } }>(
      `SELECT after FROM audit_entries WHERE account_id = $1 AND action = 'sso.login_refused'`,
      [org.accountId],
    )
    expect(entries.length).toBeGreaterThan(5)
  })

  it('with no signature, another algorithm, or a forged one is refused', async () => {
    const spki = await exportSPKI((await publicOf()).publicKey)
    const claimsOf = ({ nonce }: Begun) => ({
      iss: provider.issuer,
      aud: 'client',
      iat: now(),
      exp: now() + 300,
      nonce,
      ...newClaims(),
    })
    const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
    const none = (begun: Begun) => `${part({ alg: 'none' })}.${part(claimsOf(begun))}.`
    await expectNothing(() => login(none), refused('algorithm_not_allowed'))
    for (const secret of ['the secret of the client', spki, JSON.stringify(provider.jwk)]) {
      await expectNothing(() => login((begun) => hmacToken(claimsOf(begun), secret)), refused('algorithm_not_allowed'))
    }
    for (const algorithm of ['PS256', 'EdDSA', 'RS384']) {
      const { privateKey, publicKey } = await generateKeyPair(algorithm, { extractable: true })
      provider.answers.jwks = { keys: [{ ...(await exportJWK(publicKey)), kid: 'one', alg: algorithm }] }
      const own = await service.connect(provider)
      await expectNothing(
        () =>
          login(({ nonce }) => provider.token({ nonce, ...newClaims() }, { alg: algorithm }, privateKey), {
            organization: own,
          }),
        refused('algorithm_not_allowed'),
      )
    }
    provider.answers = {}
    const { privateKey } = await generateKeyPair('RS256')
    const forged = ({ nonce }: Begun) => provider.token({ nonce, ...newClaims() }, {}, privateKey)
    await expectNothing(() => login(forged), refused('signature_invalid'))
    const cut = async ({ nonce }: Begun) => (await provider.token({ nonce, ...newClaims() })).slice(0, -4)
    await expectNothing(() => login(cut), { status: 403 })
    for (const text of ['', 'x', 'a.b.c', 'a.b.c.d.e'])
      await expectNothing(() => login(() => text), { status: expect.toSatisfy((one) => one === 403 || one === 502) })
  })

  it('of an unknown key has the key set looked at once more a minute, and of a rotated one signs in', async () => {
    await loginWith({})
    const { privateKey, publicKey } = await generateKeyPair('RS256', { extractable: true })
    const jwk = { ...(await exportJWK(publicKey)), kid: 'two', use: 'sig', alg: 'RS256' }
    const rotated = ({ nonce }: Begun) => provider.token({ nonce, ...newClaims() }, { kid: 'two' }, privateKey)
    provider.answers.jwks = { keys: [provider.jwk, jwk] }
    expect((await login(rotated)).status).toBe(200)
    const asked = provider.asked.jwks
    const unknown = ({ nonce }: Begun) => provider.token({ nonce, ...newClaims() }, { kid: 'three' }, privateKey)
    for (let time = 0; time < 3; time += 1) await expectNothing(() => login(unknown), refused('key_unknown'))
    expect(provider.asked.jwks).toBe(asked)
  })
})

describe('a provider', () => {
  it('that was mixed up with another is refused before it gets the code (RFC 9207)', async () => {
    const asked = provider.asked.token
    await expectNothing(
      () => login(({ nonce }) => provider.token({ nonce, ...newClaims() }), { iss: 'https://other.example' }),
      refused('provider_mixed_up'),
    )
    expect(provider.asked.token).toBe(asked)
    expect(
      (await login(({ nonce }) => provider.token({ nonce, ...newClaims() }), { iss: provider.issuer })).status,
    ).toBe(200)
    provider.answers.discovery = {
      ...discoveryOf(provider.issuer),
      authorization_response_iss_parameter_supported: true,
    }
    const own = await service.connect(provider)
    await expectNothing(
      () => login(({ nonce }) => provider.token({ nonce, ...newClaims() }), { organization: own }),
      refused('provider_mixed_up'),
    )
  })

  it('that refuses the code or the client is told apart from one that fails, and each ends the start', async () => {
    const answer = (status: number, body: string, headers: Record<string, string> = {}) => {
      provider.answers.token = (_req, res) =>
        void res.writeHead(status, { 'Content-Type': 'application/json', ...headers }).end(body)
    }
    const unavailable = (cause: string) => ({ status: 502, json: { code: 'provider_unavailable', cause } })
    const cases: [() => void, object][] = [
      [() => answer(400, '{"error":"invalid_grant"}'), refused('code_refused')],
      [() => answer(401, '{"error":"invalid_client"}'), refused('client_refused')],
      [() => answer(401, '{}', { 'WWW-Authenticate': 'Basic realm="x"' }), refused('client_refused')],
      [() => answer(500, 'oops'), unavailable('invalid_answer')],
      [() => answer(200, '{"access_token":"x","token_type":"bearer"}'), unavailable('invalid_answer')],
      [() => answer(200, '[]'), unavailable('invalid_answer')],
      [() => answer(302, '', { Location: 'http://127.0.0.1:1/' }), unavailable('redirected')],
      [() => answer(200, JSON.stringify({ access_token: 'x'.repeat(300_000) })), unavailable('too_large')],
      [
        () => {
          provider.answers.token = (req) => void req.socket.destroy()
        },
        unavailable('unreachable'),
      ],
    ]
    for (const [prepare, expected] of cases) {
      const begun = await service.begin(org.domain)
      prepare()
      const sent = { code: 'a code', state: begun.state }
      await expectNothing(() => service.finish(begun, sent), expected)
      expect(await service.finish(begun, sent)).toMatchObject({
        status: 400,
        json: { errors: [{ pointer: '/state' }] },
      })
    }
  })

  it('whose key set has megabytes, is a redirect or hangs signs nobody in', { timeout: 60_000 }, async () => {
    const keys = (answer: NonNullable<HostileProvider['answers']['jwks']>) => {
      provider.answers.jwks = answer
    }
    const big = Buffer.alloc(10 * 1024 * 1024, 'x')
    const cases: [() => void, string][] = [
      [
        () => keys((_req, res) => void res.writeHead(200, { 'Content-Type': 'application/json' }).end(big)),
        'too_large',
      ],
      [() => keys((_req, res) => void res.writeHead(301, { Location: '/other' }).end()), 'redirected'],
      [() => keys({ keys: 'none' }), 'invalid_answer'],
      [() => keys(() => {}), 'timeout'],
    ]
    for (const [prepare, cause] of cases) {
      const own = await service.connect(provider)
      prepare()
      await expectNothing(
        () => login(({ nonce }) => provider.token({ nonce, ...newClaims() }), { organization: own }),
        { status: 502, json: { code: 'provider_unavailable', cause } },
      )
      provider.answers = {}
    }
  })

  it('gives an address by userinfo only for the same subject', async () => {
    const noEmail = ({ nonce }: Begun) => provider.token({ nonce, sub: 'info-1' })
    provider.answers.userinfo = { sub: 'another', email: `info@${org.domain}` }
    await expectNothing(() => login(noEmail), refused('email_missing'))
    provider.answers.userinfo = { sub: 'info-1', email: `info@${org.domain}`, email_verified: false }
    await expectNothing(() => login(noEmail), refused('email_unverified'))
    provider.answers.userinfo = { sub: 'info-1', email: `info@${org.domain}` }
    expect(await login(noEmail)).toMatchObject({ status: 200, json: { user: { email: `info@${org.domain}` } } })
  })
})

it('what single sign-on keeps secret is in no log, error, audit entry or answer', async () => {
  const begun = await service.begin(org.domain)
  const idToken = await provider.token({ nonce: begun.nonce, ...newClaims() })
  let sent = ''
  provider.answers.token = (_req, res, body) => {
    sent = body
    res.writeHead(200, { 'Content-Type': 'application/json' })
    res.end(JSON.stringify({ access_token: 'ACCESS-TOKEN-OF-THIS-TEST', token_type: 'bearer', id_token: idToken }))
  }
  const answer = await service.finish(begun, { code: 'CODE-OF-THIS-TEST', state: begun.state })
  expect(answer.status).toBe(200)
  const verifier = new URLSearchParams(sent).get('code_verifier') ?? ''
  expect(verifier).toMatch(/^[\w-]{43}$/)
  const secrets = [begun.nonce, verifier, 'CODE-OF-THIS-TEST', 'ACCESS-TOKEN', idToken, 'the secret of the client']
  const rows = await Promise.all(
    ['audit_entries', 'mails', 'sso_configs', 'sso_starts', 'jobs'].map((table) =>
      service.test.owner(`SELECT t::text FROM ${table} t`),
    ),
  )
  const everything = JSON.stringify([service.app.logged, rows, answer.text])
  for (const secret of [...secrets, begun.state]) expect(everything).not.toContain(secret)
})

async function publicOf() {
  const { publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
  return { publicKey: publicKey as never }
}
