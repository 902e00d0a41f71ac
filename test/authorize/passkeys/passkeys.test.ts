import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { coseMap, coseRsaKey, type RegistrationLies } from '../../support/authenticator.ts'
import type { TestCaller } from '../../support/callers.ts'
import { cookiesOf } from '../../support/http.ts'
import type { SignedIn } from '../../support/service.ts'
import { type PasskeyService, refusalOf, startPasskeys } from './service.ts'

const ATTESTATION = '/response/response/attestationObject'
const CLIENT_DATA = '/response/response/clientDataJSON'
const MINUTE_MS = 60_000

let service: PasskeyService
let caller: TestCaller
let user: SignedIn

beforeAll(async () => {
  service = await startPasskeys()
  caller = await service.makeCaller()
  user = await service.signIn(caller.accountId, { email: 'mika@example.com' })
})
afterAll(() => service?.close())

const registerBody = (response: unknown, name = 'Laptop') => ({ name, response })
const register = (by: SignedIn, response: unknown, headers: Record<string, string> = {}) =>
  service.send(by, 'POST', '/v1/passkeys/register', { json: registerBody(response), headers })
const list = async (by: SignedIn) => {
  const { json } = await service.send(by, 'GET', '/v1/passkeys')
  return (json as { data: { passkey_id: string; name: string }[] }).data
}

describe('a registration', () => {
  it('stores what the authenticator says, tells the user by mail, and is in the audit log', async () => {
    const aaguid = Buffer.from('adce000235bcc60a648b0b25f1f05503', 'hex')
    const authenticator = service.makeAuthenticator({ aaguid })
    const answer = await service.send(user, 'POST', '/v1/passkeys/registration-options')
    expect(answer).toMatchObject({
      status: 200,
      json: {
        options: {
          rp: { id: 'example.test' },
          user: { name: 'mika@example.com', id: Buffer.from(user.userId).toString('base64url') },
          pubKeyCredParams: [{ alg: -7 }, { alg: -8 }, { alg: -257 }],
          authenticatorSelection: { userVerification: 'required', residentKey: 'required' },
          attestation: 'none',
        },
      },
    })
    const { options } = answer.json as { options: Parameters<typeof authenticator.register>[0] }
    const response = authenticator.register(options, { isBackupEligible: true, isBackedUp: true, counter: 3 })
    const made = await register(user, response)
    const expected = {
      passkey_id: expect.stringMatching(/^psk_/),
      name: 'Laptop',
      credential_id: authenticator.id,
      algorithm: 'ES256',
      aaguid: 'adce0002-35bc-c60a-648b-0b25f1f05503',
      transports: ['internal'],
      backup_eligible: true,
      backed_up: true,
      counter: 3,
      created_at: expect.any(String),
      last_used_at: null,
    }
    expect(made).toMatchObject({ status: 200, json: expected })
    expect(await list(user)).toEqual([made.json])
    const id = String(made.json.passkey_id)
    expect(await service.audit(caller)).toMatchObject([{ action: 'passkey.registered', subject_id: id }])
    expect(await service.mails(caller)).toEqual([
      { kind: 'passkey_changed', recipient: 'mika@example.com', subject_id: `passkey.registered ${id}` },
    ])
    const letter = await service.services.authorize.passkeys.writeLetter({
      recipient: 'mika@example.com',
      subjectId: `passkey.registered ${id}`,
      scope: caller,
    })
    expect(letter?.paragraphs[0]).toContain('"Laptop"')

    // What was answered counts once.
    expect(await register(user, response)).toMatchObject({ status: 400, json: { errors: [{ code: 'expired' }] } })

    // The next options exclude it, and its answer is for another challenge.
    expect(await service.begin(user)).toMatchObject({ excludeCredentials: [{ id: authenticator.id }] })
    expect(await register(user, response)).toMatchObject({
      status: 400,
      json: { errors: [{ code: 'wrong_challenge' }] },
    })
    const again = authenticator.register(await service.begin(user))
    expect(await register(user, again)).toMatchObject({ status: 409, json: { code: 'conflict' } })
  })

  it('is repeated by its Idempotency-Key without another passkey', async () => {
    const authenticator = service.makeAuthenticator()
    const response = authenticator.register(await service.begin(user))
    const key = { 'Idempotency-Key': 'register-1' }
    const first = await register(user, response, key)
    const second = await register(user, response, key)
    expect(first.status).toBe(200)
    expect(second).toMatchObject({ status: 200, json: { passkey_id: first.json.passkey_id } })
    expect(second.headers['idempotent-replayed']).toBe('true')
  })

  it('begins once for an Idempotency-Key: a replay shows the challenge that is open, and voids none', async () => {
    const path = '/v1/passkeys/registration-options'
    const begin = (headers = {}) => service.send(user, 'POST', path, { headers })
    const key = { 'Idempotency-Key': 'begin-1' }
    const first = await begin(key)
    const replayed = { status: 200, headers: { 'idempotent-replayed': 'true' } }
    const challengeOf = ({ json }: typeof first) => (json as { options: { challenge: string } }).options.challenge
    expect(challengeOf(await begin(key))).toBe(challengeOf(first))
    const second = await begin()
    const third = await begin(key)
    expect(third).toMatchObject(replayed)
    expect([challengeOf(third), third.json.expires_at]).toEqual([challengeOf(second), second.json.expires_at])
    const { options } = second.json as { options: Awaited<ReturnType<PasskeyService['begin']>> }
    expect((await register(user, service.makeAuthenticator().register(options))).status).toBe(200)
    expect(await begin(key)).toMatchObject({ status: 409, json: { code: 'conflict' } })
  })

  it('takes a fresh session, and no key', async () => {
    const old = await service.signIn(caller.accountId)
    const options = await service.begin(old)
    const response = service.makeAuthenticator().register(options)
    await service.test.owner(`UPDATE user_sessions SET created_at = created_at - interval '10 minutes' WHERE id = $1`, [
      old.sessionId,
    ])
    const late = { status: 401, json: { code: 'session_required' } }
    expect(await service.send(old, 'POST', '/v1/passkeys/registration-options')).toMatchObject(late)
    expect(await register(old, response)).toMatchObject(late)
    const young = await service.signIn(caller.accountId)
    await service.test.owner(`UPDATE user_sessions SET created_at = created_at - interval '9 minutes' WHERE id = $1`, [
      young.sessionId,
    ])
    // It ends with the ten minutes.
    expect((await service.begin(young)) as { timeout?: number }).toMatchObject({ timeout: expect.any(Number) })
    const { json } = await service.send(young, 'POST', '/v1/passkeys/registration-options')
    expect((json as { options: { timeout: number } }).options.timeout).toBeLessThanOrEqual(MINUTE_MS)

    for (const path of ['registration-options', 'register']) {
      const answer = await service.call(caller, `/v1/passkeys/${path}`, { method: 'POST', json: {} })
      expect(answer).toMatchObject({ status: 401, json: { code: 'session_required' } })
    }
    expect(await service.call(caller, '/v1/passkeys')).toMatchObject({ status: 401 })
    // A link that was shown proves no address.
    const shown = await service.signIn(caller.accountId, { isSandboxOnly: true })
    expect(await service.send(shown, 'POST', '/v1/passkeys/registration-options')).toMatchObject({
      status: 403,
      json: { code: 'environment_mismatch' },
    })
  })

  it('belongs to the session that began it, and expires', async () => {
    const [one, other] = [await service.signIn(caller.accountId), await service.signIn(caller.accountId)]
    const response = service.makeAuthenticator().register(await service.begin(one))
    const refused = { status: 400, json: { errors: [{ pointer: CLIENT_DATA, code: 'expired' }] } }
    expect(await register(other, response)).toMatchObject(refused)
    await service.test.owner('UPDATE passkey_registrations SET expires_at = now() WHERE session_id = $1', [
      one.sessionId,
    ])
    expect(await register(one, response)).toMatchObject(refused)
  })

  it.each<[what: string, lies: RegistrationLies, expected: string]>([
    ['another origin', { origin: 'https://evil.test' }, `${CLIENT_DATA} wrong_origin`],
    ['the type of an assertion', { type: 'webauthn.get' }, `${CLIENT_DATA} wrong_type`],
    ['another challenge', { challenge: 'AAAA' }, `${CLIENT_DATA} wrong_challenge`],
    ['a page of another site around it', { clientData: { crossOrigin: true } }, `${CLIENT_DATA} cross_origin`],
    ['another relying party', { rpId: 'evil.test' }, `${ATTESTATION} wrong_rp_id`],
    ['no verified user', { isUserVerified: false }, `${ATTESTATION} user_not_verified`],
    ['no present user', { isUserPresent: false }, `${ATTESTATION} user_not_present`],
    ['bytes after the key', { trailing: Buffer.from([0xa0]) }, `${ATTESTATION} malformed`],
    ['a statement of another vendor', { format: 'tpm' }, `${ATTESTATION} unsupported_attestation`],
    [
      'certificates',
      { format: 'packed', statement: { alg: -7, sig: Buffer.alloc(70), x5c: [] } },
      `${ATTESTATION} unsupported_attestation`,
    ],
    [
      'a statement of its own that does not verify',
      { format: 'packed', statement: { alg: -7, sig: Buffer.alloc(70) } },
      `${ATTESTATION} invalid_signature`,
    ],
    ['none, and a statement', { statement: { alg: -7 } }, `${ATTESTATION} unsupported_attestation`],
    ['no key', { publicKey: Buffer.from([0xf6]) }, `${ATTESTATION} unsupported_key`],
    [
      'a key of another algorithm',
      {
        publicKey: coseMap([
          [1, 2],
          [3, -35],
          [-1, 2],
          [-2, zeros(48)],
          [-3, zeros(48)],
        ]),
      },
      `${ATTESTATION} unsupported_key`,
    ],
    [
      'a point that is not on the curve',
      {
        publicKey: coseMap([
          [1, 2],
          [3, -7],
          [-1, 1],
          [-2, ones(32)],
          [-3, ones(32)],
        ]),
      },
      `${ATTESTATION} unsupported_key`,
    ],
    [
      'ES256 with another curve',
      {
        publicKey: coseMap([
          [1, 2],
          [3, -7],
          [-1, 8],
          [-2, ones(32)],
          [-3, ones(32)],
        ]),
      },
      `${ATTESTATION} unsupported_key`,
    ],
    [
      'a short Ed25519 key',
      {
        publicKey: coseMap([
          [1, 1],
          [3, -8],
          [-1, 6],
          [-2, ones(31)],
        ]),
      },
      `${ATTESTATION} unsupported_key`,
    ],
    [
      'an Ed25519 key of small order',
      {
        publicKey: coseMap([
          [1, 1],
          [3, -8],
          [-1, 6],
          [-2, Buffer.alloc(32)],
        ]),
      },
      `${ATTESTATION} unsupported_key`,
    ],
    [
      'an RSA exponent of its modulus’ length',
      { publicKey: coseRsaKey(odd(256), odd(256)) },
      `${ATTESTATION} unsupported_key`,
    ],
    [
      'an RSA exponent of 33 bits',
      { publicKey: coseRsaKey(odd(256), Buffer.from([1, 0, 0, 0, 1])) },
      `${ATTESTATION} unsupported_key`,
    ],
    ['an RSA exponent of 1', { publicKey: coseRsaKey(odd(256), Buffer.from([1])) }, `${ATTESTATION} unsupported_key`],
    ['an even RSA exponent', { publicKey: coseRsaKey(odd(256), Buffer.from([4])) }, `${ATTESTATION} unsupported_key`],
    ['an RSA modulus of 1,024 bits', { publicKey: coseRsaKey(odd(128), EXPONENT) }, `${ATTESTATION} unsupported_key`],
    ['an RSA modulus of 8,192 bits', { publicKey: coseRsaKey(odd(1_024), EXPONENT) }, `${ATTESTATION} unsupported_key`],
    [
      'more members than a key has',
      {
        publicKey: coseMap([
          [1, 1],
          [3, -8],
          [-1, 6],
          [-2, ones(32)],
          [-70000, 'x'.repeat(300)],
        ]),
      },
      `${ATTESTATION} unsupported_key`,
    ],
  ])('is refused with %s', async (_, lies, expected) => {
    const response = service.makeAuthenticator().register(await service.begin(user), lies)
    const { status, json } = await register(user, response)
    const [first] = (json as { errors: { pointer: string; code: string }[] }).errors
    expect({ status, finding: `${first?.pointer} ${first?.code}` }).toEqual({ status: 400, finding: expected })
  })

  it('is bounded: a megabyte is refused before it is read', async () => {
    const response = service.makeAuthenticator().register(await service.begin(user))
    response.response.attestationObject = 'A'.repeat(900_000)
    expect(await register(user, response)).toMatchObject({
      status: 400,
      json: { errors: [{ pointer: ATTESTATION, code: 'too_long' }] },
    })
  })

  it('of a 21st passkey is refused, also where many come at once', async () => {
    const collector = await service.signIn(caller.accountId)
    // Sessions of one user, each with a registration of its own.
    const sessions = await Promise.all(Array.from({ length: 22 }, () => anotherSession(collector)))
    const responses = await Promise.all(
      sessions.map(async (session) => ({
        session,
        response: service.makeAuthenticator().register(await service.begin(session)),
      })),
    )
    const answers = await Promise.all(responses.map(({ session, response }) => register(session, response)))
    expect(answers.filter(({ status }) => status === 200)).toHaveLength(20)
    expect(answers.filter(({ status, json }) => status === 409 && json.code === 'limit_reached')).toHaveLength(2)
    expect(await service.send(collector, 'POST', '/v1/passkeys/registration-options')).toMatchObject({ status: 409 })
  })
})

describe('a passkey', () => {
  it('is named and removed by its user alone, and is worth nothing from then on', async () => {
    const authenticator = service.makeAuthenticator()
    const id = await service.register(user, authenticator)
    const stranger = await service.signIn(caller.accountId)
    const path = `/v1/passkeys/${id}`
    for (const [method, json] of [
      ['GET', undefined],
      ['PATCH', { name: 'Mine' }],
      ['DELETE', undefined],
    ] as const) {
      expect(await service.send(stranger, method, path, { json })).toMatchObject({ status: 404 })
    }
    expect(await service.send(user, 'PATCH', path, { json: { name: '  Phone ' } })).toMatchObject({
      status: 200,
      json: { passkey_id: id, name: 'Phone' },
    })
    const { data } = (await service.send(user, 'GET', '/v1/passkeys')).json as { data: object[] }
    expect((await service.send(user, 'GET', path)).json).toEqual(data[0])
    const challenge = await service.issue(caller)
    const [first, second] = [authenticator.assert(challenge.options), authenticator.assert(challenge.options)]
    const checked = await service.check(caller, challenge, first)
    expect(await service.send(user, 'DELETE', path)).toMatchObject({
      status: 200,
      json: { passkey_id: id, deleted: true },
    })
    const unknown = '/passkey_assertion/response/id unknown_passkey'
    // One that was checked before the removal committed, too.
    expect(await refusalOf(service.consume(caller, checked))).toBe(unknown)
    expect(await refusalOf(service.check(caller, challenge, second))).toBe(unknown)
    expect(await service.send(user, 'DELETE', path)).toMatchObject({ status: 404 })
    const ofThis = (await service.audit(caller)).filter(({ subject_id }) => subject_id === id)
    expect(ofThis).toMatchObject([
      { action: 'passkey.registered' },
      { action: 'passkey.renamed', before: { name: 'Test passkey' }, after: { name: 'Phone' } },
      { action: 'passkey.removed', before: { name: 'Phone' } },
    ])
    expect(await service.mails(caller)).toContainEqual({
      kind: 'passkey_changed',
      recipient: 'mika@example.com',
      subject_id: `passkey.removed ${id}`,
    })
  })

  it('is renamed once for an Idempotency-Key: a replay shows the name that it has since', async () => {
    const path = `/v1/passkeys/${await service.register(user, service.makeAuthenticator())}`
    const rename = (name: string, headers = {}) => service.send(user, 'PATCH', path, { json: { name }, headers })
    const key = { 'Idempotency-Key': 'rename-1' }
    expect((await rename('Phone', key)).json.name).toBe('Phone')
    expect((await rename('Tablet')).json.name).toBe('Tablet')
    expect(await rename('Phone', key)).toMatchObject({
      status: 200,
      json: { name: 'Tablet' },
      headers: { 'idempotent-replayed': 'true' },
    })
  })

  it('goes with its user: removed from the account, nothing is confirmed with it', async () => {
    const leaver = await service.signIn(caller.accountId, { role: 'approver' })
    const authenticator = service.makeAuthenticator()
    await service.register(leaver, authenticator)
    const challenge = await service.issue(caller)
    const checked = await service.check(caller, challenge, authenticator.assert(challenge.options))
    const begun = service.makeAuthenticator().register(await service.begin(leaver))
    const owner = await service.signIn(caller.accountId)
    expect(await service.send(owner, 'DELETE', `/v1/org/users/${leaver.userId}`)).toMatchObject({ status: 200 })
    expect(await refusalOf(service.consume(caller, checked))).toMatch(/unknown_passkey$/)
    const later = service.check(caller, challenge, authenticator.assert(challenge.options))
    expect(await refusalOf(later)).toMatch(/unknown_passkey$/)
    expect(await register(leaver, begun)).toMatchObject({ status: 401 })
    const rows = await service.test.owner('SELECT 1 FROM passkeys WHERE user_id = $1', [leaver.userId])
    expect(rows).toEqual([])
  })

  it('is listed in pages, to its user alone', async () => {
    const collector = await service.signIn(caller.accountId)
    const ids: string[] = []
    for (let made = 0; made < 3; made += 1) ids.push(await service.register(collector, service.makeAuthenticator()))
    const page = await service.send(collector, 'GET', '/v1/passkeys?limit=2&include=total_count')
    expect(page.json).toMatchObject({ has_more: true, total_count: 3 })
    const rest = await service.send(collector, 'GET', `/v1/passkeys?limit=2&cursor=${page.json.next_cursor}`)
    const found = [page, rest].flatMap(({ json }) => (json as { data: { passkey_id: string }[] }).data)
    expect(found.map(({ passkey_id }) => passkey_id)).toEqual(ids.toReversed())
    expect(await list(await service.signIn(caller.accountId))).toEqual([])
  })
})

/** Another browser of the same user. */
async function anotherSession({ userId }: SignedIn): Promise<SignedIn> {
  const { cookies } = service.services.platform
  const session = await service.test.db.system('sign in', (tx) =>
    service.services.account.sessions.create(tx, { accountId: caller.accountId, userId, method: 'magic_link' }),
  )
  return { userId, sessionId: session.id, headers: cookiesOf(session, { cookies }) }
}

const EXPONENT = Buffer.from([1, 0, 1])
function zeros(length: number): Buffer {
  return Buffer.alloc(length)
}
function ones(length: number): Buffer {
  return Buffer.alloc(length, 1)
}
function odd(length: number): Buffer {
  return Buffer.alloc(length, 0xff)
}
