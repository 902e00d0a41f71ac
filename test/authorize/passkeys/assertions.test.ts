import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Bound } from '#src/authorize/passkeys/assertions.ts'
import { passkeyAssertion } from '#src/authorize/passkeys/bodies.ts'
import { parseWith } from '#src/platform/http/validate.ts'
import type { AssertionLies, Authenticator } from '../../support/authenticator.ts'
import type { TestCaller } from '../../support/callers.ts'
import type { SignedIn } from '../../support/service.ts'
import { BOUND, type PasskeyService, refusalOf, startPasskeys } from './service.ts'

const CHALLENGE = '/passkey_assertion/challenge_id'
const RESPONSE = '/passkey_assertion/response'
const DATA = `${RESPONSE}/response/authenticatorData`
const CLIENT_DATA = `${RESPONSE}/response/clientDataJSON`

let service: PasskeyService
let caller: TestCaller
let user: SignedIn
let authenticator: Authenticator
let passkeyId: string

beforeAll(async () => {
  service = await startPasskeys()
  caller = await service.makeCaller()
  user = await service.signIn(caller.accountId)
  authenticator = service.makeAuthenticator()
  passkeyId = await service.register(user, authenticator)
})
afterAll(() => service?.close())

/** What checking an assertion with these lies answers. */
async function checkWith(lies: AssertionLies): Promise<string> {
  const challenge = await service.issue(caller)
  return refusalOf(service.check(caller, challenge, authenticator.assert(challenge.options, lies)))
}

const sessionOf = ({ userId, sessionId }: SignedIn) =>
  ({
    ...caller,
    principal: { kind: 'session', userId, sessionId, role: 'owner', isSandboxOnly: false },
  }) as const

describe('an assertion', () => {
  it('confirms exactly what its challenge was issued for, and names the passkey, its user and the time', async () => {
    const challenge = await service.issue(caller)
    const checked = await service.check(caller, challenge, authenticator.assert(challenge.options))
    const { userId, biometric } = await service.consume(caller, checked)
    expect({ userId, biometric }).toEqual({
      userId: user.userId,
      biometric: { verified: true, credential: passkeyId, uv: true, at: expect.any(Number) },
    })
    expect(Math.abs(biometric.at - Date.now() / 1_000)).toBeLessThan(600)
    const [row] = await service.test.owner<{ counter: number; last_used_at: Date | null }>(
      'SELECT counter::int, last_used_at FROM passkeys WHERE id = $1',
      [passkeyId],
    )
    expect(row).toMatchObject({ counter: checked.counter, last_used_at: expect.any(Date) })
  })

  it.each<[what: string, bound: Partial<Bound>]>([
    ['another description', { action_hash: 'c'.repeat(43) }],
    ['another payload', { payload_hash: 'c'.repeat(43) }],
    ['another agent session', { agent_session_id: 'session-2' }],
    ['no agent session', { agent_session_id: null }],
    ['another device', { device_id: 'device-2' }],
    ['an approval', { approval_id: 'apr_test_1' }],
  ])('is refused for %s than its challenge', async (_, change) => {
    const challenge = await service.issue(caller)
    const response = authenticator.assert(challenge.options)
    const other = { ...BOUND, ...change }
    expect(await refusalOf(service.check(caller, challenge, response, other))).toBe(`${CHALLENGE} mismatch`)
    const theirs = await service.issue(caller, other)
    expect(await refusalOf(service.check(caller, theirs, response, other))).toBe(`${CLIENT_DATA} wrong_challenge`)
    expect(await refusalOf(service.check(caller, challenge, response))).toBe('accepted')
  })

  it.each<[what: string, lies: AssertionLies, expected: string]>([
    ['another origin', { origin: 'https://evil.example.test' }, `${CLIENT_DATA} wrong_origin`],
    ['an origin that begins alike', { origin: 'https://claims.example.test.evil' }, `${CLIENT_DATA} wrong_origin`],
    ['another relying party', { rpId: 'evil.test' }, `${DATA} wrong_rp_id`],
    ['the type of a registration', { type: 'webauthn.create' }, `${CLIENT_DATA} wrong_type`],
    ['a challenge as text of its base64url', { challenge: 'bm90IHRoaXM' }, `${CLIENT_DATA} wrong_challenge`],
    ['a page of another site around it', { clientData: { crossOrigin: true } }, `${CLIENT_DATA} cross_origin`],
    ['a crossOrigin that is no boolean', { clientData: { crossOrigin: 'false' } }, `${CLIENT_DATA} cross_origin`],
    ['a top origin', { clientData: { topOrigin: 'https://evil.test' } }, `${CLIENT_DATA} cross_origin`],
    ['no verified user', { isUserVerified: false }, `${DATA} user_not_verified`],
    ['no present user', { isUserPresent: false }, `${DATA} user_not_present`],
    ['a backup that its registration excluded', { isBackupEligible: true }, `${DATA} backup_eligibility_changed`],
    ['a backup of what can’t be backed up', { isBackedUp: true }, `${DATA} malformed`],
    ['bytes after the authenticator data', { trailing: Buffer.from([0]) }, `${DATA} malformed`],
    ['extensions that are not there', { flags: 0x80 }, `${DATA} malformed`],
    ['a credential that is not there', { flags: 0x40 }, `${DATA} malformed`],
    ['a signature of other bytes', { signature: flipLast }, `${RESPONSE}/response/signature invalid_signature`],
    ['malformed DER', { signature: (bytes) => bytes.subarray(1) }, `${RESPONSE}/response/signature invalid_signature`],
    [
      'DER with bytes after it',
      { signature: (bytes) => Buffer.concat([bytes, bytes]) },
      `${RESPONSE}/response/signature invalid_signature`,
    ],
    ['an integer with a zero too many', { signature: padFirst }, `${RESPONSE}/response/signature invalid_signature`],
    [
      'an empty SEQUENCE',
      { signature: () => Buffer.from([0x30, 0]) },
      `${RESPONSE}/response/signature invalid_signature`,
    ],
    ['the user handle of somebody else', { userHandle: 'dXNyXzE' }, `${RESPONSE}/response/userHandle mismatch`],
  ])('is refused with %s', async (_, lies, expected) => {
    expect(await checkWith(lies)).toBe(expected)
  })

  it('is accepted without a user handle, and with extensions', async () => {
    expect(await checkWith({ userHandle: undefined })).toBe('accepted')
    // {"credBlob": true}
    const extensions = Buffer.concat([Buffer.from([0xa1, 0x68]), Buffer.from('credBlob'), Buffer.from([0xf5])])
    expect(await checkWith({ flags: 0x80, trailing: extensions })).toBe('accepted')
  })

  it('is refused where client data are no JSON object', async () => {
    for (const text of ['', 'null', '[]', '{', '\u0000', '"webauthn.get"', '[['.repeat(1_000)]) {
      const challenge = await service.issue(caller)
      const response = authenticator.assert(challenge.options)
      response.response.clientDataJSON = Buffer.from(text).toString('base64url')
      expect([text, await refusalOf(service.check(caller, challenge, response))]).toEqual([
        text,
        `${CLIENT_DATA} malformed`,
      ])
    }
  })

  it('is refused where the id is not the credential’s', async () => {
    const challenge = await service.issue(caller)
    const response = authenticator.assert(challenge.options)
    const stranger = service.makeAuthenticator()
    const refused = (change: object) => refusalOf(service.check(caller, challenge, { ...response, ...change }))
    expect(await refused({ id: stranger.id, rawId: stranger.id })).toBe(`${RESPONSE}/id unknown_passkey`)
    expect(await refused({ rawId: stranger.id })).toBe(`${RESPONSE}/id mismatch`)
    // The same bytes in another spelling.
    expect(await refused({ id: `${response.id}A`, rawId: `${response.id}A` })).toMatch(/unknown_passkey|mismatch/)
    // A passkey of the account, whose key did not sign.
    await service.register(await service.signIn(caller.accountId), stranger)
    expect(await refused({ id: stranger.id, rawId: stranger.id })).toMatch(/userHandle mismatch|invalid_signature/)
  })

  it('is verified with the key of each algorithm', async () => {
    for (const algorithm of ['EdDSA', 'RS256'] as const) {
      const other = service.makeAuthenticator({ algorithm })
      await service.register(user, other)
      const challenge = await service.issue(caller)
      const response = other.assert(challenge.options)
      expect([algorithm, await refusalOf(service.check(caller, challenge, response))]).toEqual([algorithm, 'accepted'])
      const forged = other.assert(challenge.options, { signature: flipLast })
      expect(await refusalOf(service.check(caller, challenge, forged))).toBe(
        `${RESPONSE}/response/signature invalid_signature`,
      )
    }
  })

  it('is bounded before anything of it is decoded', () => {
    const huge = 'A'.repeat(1_400_000)
    const challenge_id = 'pkc_test_01m7x7ennfe7dsmvdzwjp06y9x'
    const good = authenticator.assert({ challenge: 'AAAA', rpId: 'example.test' })
    const codesOf = (response: object) => {
      const parsed = parseWith(passkeyAssertion, { challenge_id, response }, 'body')
      return parsed.ok ? [] : parsed.errors.map(({ pointer, code }) => `${pointer} ${code}`)
    }
    expect(codesOf(good)).toEqual([])
    for (const name of ['clientDataJSON', 'authenticatorData', 'signature', 'userHandle']) {
      const found = codesOf({ ...good, response: { ...good.response, [name]: huge } })
      expect(found).toEqual([`/response/response/${name} too_long`])
    }
    expect(codesOf({ ...good, id: huge, rawId: huge })).toEqual(['/response/id too_long', '/response/rawId too_long'])
    expect(codesOf({ ...good, id: 'a+b/' })).toEqual(['/response/id invalid_format'])
    expect(codesOf({ ...good, type: 'password' })).toEqual(['/response/type invalid_value'])
  })
})

describe('a challenge', () => {
  it('is good once, for two minutes, in its account and environment', async () => {
    const challenge = await service.issue(caller)
    const response = authenticator.assert(challenge.options)
    const checked = await service.check(caller, challenge, response)
    await service.consume(caller, checked)
    expect(await refusalOf(service.check(caller, challenge, response))).toBe(`${CHALLENGE} used`)
    expect(await refusalOf(service.consume(caller, checked))).toBe(`${CHALLENGE} used`)

    const old = await service.issue(caller)
    const late = authenticator.assert(old.options)
    const before = await service.check(caller, old, late)
    await service.test.owner('UPDATE passkey_challenges SET expires_at = clock_timestamp() WHERE id = $1', [
      old.challenge_id,
    ])
    expect(await refusalOf(service.check(caller, old, late))).toBe(`${CHALLENGE} expired`)
    expect(await refusalOf(service.consume(caller, before))).toBe(`${CHALLENGE} used`)

    const stranger = await service.makeCaller()
    const open = await service.issue(caller)
    const theirs = await service.issue(stranger)
    const signed = authenticator.assert(open.options)
    expect(await refusalOf(service.check(stranger, open, signed))).toBe(`${CHALLENGE} unknown_challenge`)
    expect(await refusalOf(service.check(stranger, theirs, authenticator.assert(theirs.options)))).toBe(
      `${RESPONSE}/id unknown_passkey`,
    )
    expect(await refusalOf(service.check({ ...caller, environment: 'live' }, open, signed))).toBe(
      'environment_mismatch',
    )
    expect(await refusalOf(service.check(caller, { challenge_id: 'pkc_1' }, signed))).toBe('not_found')
  })

  it('of a session lists its user’s passkeys and takes no other; of a key it takes those of every user', async () => {
    const other = await service.signIn(caller.accountId)
    const theirs = service.makeAuthenticator()
    await service.register(other, theirs)
    const session = sessionOf(other)
    const challenge = await service.issue(session)
    expect(challenge.options.allowCredentials.map(({ id }) => id)).toEqual([theirs.id])
    expect(challenge.options.userVerification).toBe('required')
    const [mine, yours] = [authenticator.assert(challenge.options), theirs.assert(challenge.options)]
    expect(await refusalOf(service.check(session, challenge, mine))).toBe(`${RESPONSE}/id unknown_passkey`)
    // Also where a key sends what a session asked for.
    expect(await refusalOf(service.check(caller, challenge, mine))).toBe(`${RESPONSE}/id unknown_passkey`)
    expect(await refusalOf(service.check(sessionOf(user), challenge, yours))).toBe(`${CHALLENGE} mismatch`)
    expect(await refusalOf(service.check(session, challenge, yours))).toBe('accepted')
    const ofKey = await service.issue(caller)
    expect(ofKey.options.allowCredentials).toEqual([])
    expect(await refusalOf(service.check(session, ofKey, authenticator.assert(ofKey.options)))).toBe(
      `${RESPONSE}/id unknown_passkey`,
    )
    expect(await refusalOf(service.check(caller, ofKey, theirs.assert(ofKey.options)))).toBe('accepted')
  })

  it('is consumed by exactly one of 100 at once', async () => {
    const always0 = service.makeAuthenticator()
    await service.register(user, always0)
    const challenge = await service.issue(caller)
    const checked = await service.check(caller, challenge, always0.assert(challenge.options, { counter: 0 }))
    const outcomes = await Promise.all(Array.from({ length: 100 }, () => refusalOf(service.consume(caller, checked))))
    expect(outcomes.filter((outcome) => outcome === 'accepted')).toHaveLength(1)
    expect(new Set(outcomes)).toEqual(new Set(['accepted', `${CHALLENGE} used`]))
  })
})

describe('the counter of a passkey', () => {
  it('may stay at 0', async () => {
    const always0 = service.makeAuthenticator()
    await service.register(user, always0)
    for (let use = 0; use < 2; use += 1) {
      const challenge = await service.issue(caller)
      const checked = await service.check(caller, challenge, always0.assert(challenge.options, { counter: 0 }))
      expect(await refusalOf(service.consume(caller, checked))).toBe('accepted')
    }
  })

  it('that goes back or stays is refused, spends the challenge and makes one entry in the audit log', async () => {
    const counting = service.makeAuthenticator()
    const id = await service.register(user, counting, { counter: 7 })
    for (const counter of [7, 6, 0]) {
      const challenge = await service.issue(caller)
      const response = counting.assert(challenge.options, { counter })
      expect(await refusalOf(service.check(caller, challenge, response))).toBe(`${DATA} counter_went_back`)
      expect(await refusalOf(service.check(caller, challenge, response))).toBe(`${CHALLENGE} used`)
    }
    const entries = (await service.audit(caller)).filter(({ action }) => action === 'passkey.counter_refused')
    expect(entries).toMatchObject([
      { subject_id: id, before: { counter: 7 }, after: { counter: 7, user_id: user.userId } },
      { subject_id: id, after: { counter: 6 } },
      { subject_id: id, after: { counter: 0 } },
    ])
    // Nobody without the key makes such an entry.
    const challenge = await service.issue(caller)
    const forged = counting.assert(challenge.options, { counter: 1, signature: flipLast })
    expect(await refusalOf(service.check(caller, challenge, forged))).toMatch(/invalid_signature$/)
    expect((await service.audit(caller)).filter(({ action }) => action === 'passkey.counter_refused')).toHaveLength(3)
  })

  it('is compared once more when it is consumed: the lower of two is refused after the higher', async () => {
    const counting = service.makeAuthenticator()
    await service.register(user, counting)
    const checkedAt = async (counter: number) => {
      const challenge = await service.issue(caller)
      return service.check(caller, challenge, counting.assert(challenge.options, { counter }))
    }
    const [five, six, seven] = [await checkedAt(5), await checkedAt(6), await checkedAt(7)]
    expect(await refusalOf(service.consume(caller, five))).toBe('accepted')
    expect(await refusalOf(service.consume(caller, seven))).toBe('accepted')
    expect(await refusalOf(service.consume(caller, six))).toBe(`${RESPONSE}/id unknown_passkey`)
    // What is refused changed nothing: the challenge is not spent.
    const [row] = await service.test.owner('SELECT consumed_at FROM passkey_challenges WHERE id = $1', [
      six.challengeId,
    ])
    expect(row).toEqual({ consumed_at: null })
  })
})

describe('POST /v1/intent/challenges', () => {
  const action = {
    action_description: 'Pay 120.00 EUR to Example Garage',
    action_payload: { amount: '120.00', currency: 'EUR' },
    agent_session_id: 'session-1',
    device_id: 'device-1',
  }
  const ask = (json: object, headers: Record<string, string> = {}) =>
    service.call(caller, '/v1/intent/challenges', { method: 'POST', json, headers })

  it('answers a challenge for exactly that action, which a repeat answers once more', async () => {
    const key = { 'Idempotency-Key': 'challenge-1' }
    const first = await ask(action, key)
    expect(first).toMatchObject({
      status: 200,
      json: { challenge_id: expect.stringMatching(/^pkc_test_/), options: { rpId: 'example.test', timeout: 120_000 } },
    })
    expect((await ask(action, key)).json).toEqual(first.json)
    const other = await ask(action)
    expect(other.json.challenge).not.toBe(first.json.challenge)
    // The hash of the action as tokens have it: the assertion is accepted for that one.
    const authenticator = service.makeAuthenticator()
    await service.register(user, authenticator)
    const { challenge_id, options } = other.json as {
      challenge_id: string
      options: { challenge: string; rpId: string }
    }
    const response = authenticator.assert(options)
    expect(await refusalOf(service.check(caller, { challenge_id }, response))).toMatch(/mismatch$/)
    const { action_hash, payload_hash } = await bindingsOf(action)
    const right = { ...BOUND, action_hash, payload_hash }
    expect(await refusalOf(service.check(caller, { challenge_id }, response, right))).toBe('accepted')
  })

  it('refuses what authorize refuses of an action', async () => {
    const foreign = 'ses_live_01m7x7eq9b2c4e4hv6x9s8n1q0'
    expect(await ask({ ...action, agent_session_id: foreign })).toMatchObject({
      json: { code: 'environment_mismatch' },
    })
    const deep = Array.from({ length: 40 }).reduce<object>((inner) => ({ inner }), {})
    for (const [change, code] of [
      [{ action_payload: deep }, 'too_deep'],
      [{ action_payload: { text: 'x'.repeat(70_000) } }, 'too_long'],
      [{ action_description: '' }, 'too_short'],
      [{ action_description: '\u200b\u2060' }, 'too_short'],
      [{ more: 1 }, 'unknown_field'],
    ] as const) {
      expect(await ask({ ...action, ...change })).toMatchObject({ status: 400, json: { errors: [{ code }] } })
    }
  })

  /** As authorize computes them. */
  async function bindingsOf(of: typeof action): Promise<{ action_hash: string; payload_hash: string }> {
    const answer = await service.call(caller, '/v1/intent/authorize', { method: 'POST', json: of })
    return (answer.json as { bindings: { action_hash: string; payload_hash: string } }).bindings
  }
})

// Of the DER sequence's first integer.
function padFirst(bytes: Buffer): Buffer {
  const [tag = 0, length = 0, integer = 0, size = 0] = bytes
  return Buffer.concat([Buffer.from([tag, length + 1, integer, size + 1, 0]), bytes.subarray(4)])
}

function flipLast(bytes: Buffer): Buffer {
  const changed = Buffer.from(bytes)
  changed.writeUInt8(changed.readUInt8(changed.length - 1) ^ 1, changed.length - 1)
  return changed
}
