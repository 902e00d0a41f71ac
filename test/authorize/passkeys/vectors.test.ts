import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { readAlgorithm, readAuthenticatorFacts, readMap } from '#src/authorize/passkeys/authenticator-data.ts'
import { assertionResponse, registrationResponse } from '#src/authorize/passkeys/bodies.ts'
import { verifyPasskeyAssertion, verifyRegistration } from '#src/authorize/passkeys/ceremony.ts'
import { relyingPartyOf } from '#src/authorize/passkeys/config.ts'
import { readConfig } from '#src/config.ts'
import { Failure } from '#src/failure.ts'
import { makePasskeyVectors } from '../../support/passkey-vectors.ts'

const FOLDER = join(import.meta.dirname, '../../../vectors/passkeys')
const ASSERTIONS = join(FOLDER, 'assertions.json')
const bytes = (text: string) => Buffer.from(text, 'base64url')

interface Ceremony {
  challenge: string
  clientDataJSON: string
  answer: string
  reason: string
}
interface W3cCase {
  id: string
  registration: Ceremony & { credential_id: string; attestationObject: string }
  authentication: Ceremony & { authenticatorData: string; signature: string }
}

async function answerOf(work: () => Promise<unknown>): Promise<string> {
  try {
    await work()
    return 'accepted'
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return error.errors?.[0]?.code ?? error.code
  }
}

describe('the test vectors of the W3C', () => {
  const { rp_id, origin, cases } = JSON.parse(readFileSync(join(FOLDER, 'w3c.json'), 'utf8')) as {
    rp_id: string
    origin: string
    cases: W3cCase[]
  }
  const rp = { id: rp_id, origins: [origin] }

  it.each(cases.map((one) => [one.id, one] as const))('are answered as they say: %s', async (_, given) => {
    const { registration, authentication } = given
    const id = registration.credential_id
    const credential = { id, rawId: id, type: 'public-key' }
    const response = registrationResponse.parse({ ...credential, response: registration })
    const registered = () => verifyRegistration(response, { rp, challenge: bytes(registration.challenge), pointer: '' })
    expect([await answerOf(registered), registration.reason]).toEqual([registration.answer, registration.reason])

    const authData = readMap(bytes(registration.attestationObject))?.get('authData') as Uint8Array
    const facts = readAuthenticatorFacts(Buffer.from(authData))
    if (facts?.credential === undefined) throw new Error('the registration has no credential')
    expect(facts.credential.id.toString('base64url')).toBe(id)
    const { publicKey } = facts.credential
    const key = readAlgorithm(publicKey)
    if (typeof key === 'string') return expect(authentication.answer).toBe('unsupported_key')
    const known = { credentialId: bytes(id), publicKey, isBackupEligible: facts.isBackupEligible, ...key }
    const asserted = assertionResponse.parse({ ...credential, response: authentication })
    const verified = () =>
      verifyPasskeyAssertion(asserted, known, { rp, challenge: bytes(authentication.challenge), pointer: '' })
    expect([await answerOf(verified), authentication.reason]).toEqual([authentication.answer, authentication.reason])
  })
})

describe('our vectors of assertions', () => {
  const made = makePasskeyVectors()
  if (process.env.UPDATE === '1') writeFileSync(ASSERTIONS, `${JSON.stringify(made, null, 2)}\n`)

  it('are those of their script', () => {
    expect(JSON.parse(readFileSync(ASSERTIONS, 'utf8'))).toEqual(JSON.parse(JSON.stringify(made)))
    expect(new Set(made.cases.map(({ id }) => id)).size).toBe(made.cases.length)
  })

  it.each(made.cases.map((one) => [one.id, one] as const))('are answered as they say: %s', async (_, given) => {
    const { credential, rp_id: id, origins, challenge } = made
    const known = {
      credentialId: bytes(credential.id),
      publicKey: bytes(credential.public_key),
      algorithm: 'ES256',
      isBackupEligible: credential.backup_eligible,
    } as const
    const response = assertionResponse.parse(given.response)
    const verified = () =>
      verifyPasskeyAssertion(response, known, { rp: { id, origins }, challenge: bytes(challenge), pointer: '' })
    expect([await answerOf(verified), given.reason]).toEqual([given.answer, given.reason])
  })
})

describe('the configuration of passkeys', () => {
  const none = { WEBAUTHN_RP_ID: undefined, WEBAUTHN_ORIGINS: [] }
  const NEEDED = {
    DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
    MASTER_KEY: Buffer.alloc(32, 7).toString('base64'),
    BLOB_STORE: 'disk:none',
  }
  const problemsOf = (keys: NodeJS.ProcessEnv) => {
    try {
      readConfig({ ...NEEDED, ...keys })
      return ''
    } catch (error) {
      return String(error)
    }
  }

  it('follows the public address; this machine is called localhost, since browsers take no address', () => {
    const of = (baseUrl: string) => relyingPartyOf(none, baseUrl)
    expect(of('https://claims.example.com')).toEqual({
      id: 'claims.example.com',
      origins: ['https://claims.example.com'],
    })
    expect(of('https://claims.example.com:8443/below')).toEqual({
      id: 'claims.example.com',
      origins: ['https://claims.example.com:8443'],
    })
    for (const host of ['127.0.0.1', '0.0.0.0', '[::1]', 'localhost']) {
      expect(of(`http://${host}:8080`)).toEqual({ id: 'localhost', origins: ['http://localhost:8080'] })
    }
  })

  it('takes a domain above the origins, and apps', () => {
    const app = `android:apk-key-hash:${'a'.repeat(43)}`
    const keys = {
      WEBAUTHN_RP_ID: 'example.com',
      WEBAUTHN_ORIGINS: `https://a.example.com, https://example.com,${app}`,
    }
    expect(problemsOf(keys)).toBe('')
    expect(problemsOf({ WEBAUTHN_RP_ID: 'localhost', WEBAUTHN_ORIGINS: 'http://localhost:3000' })).toBe('')
  })

  it.each([
    ['WEBAUTHN_RP_ID', { WEBAUTHN_RP_ID: 'https://example.com' }],
    ['WEBAUTHN_RP_ID', { WEBAUTHN_RP_ID: 'example.com:443' }],
    ['WEBAUTHN_RP_ID', { WEBAUTHN_RP_ID: 'Example.com' }],
    ['WEBAUTHN_RP_ID', { WEBAUTHN_RP_ID: '192.0.2.1' }],
    ['WEBAUTHN_RP_ID', { WEBAUTHN_RP_ID: 'example.com', BASE_URL: 'https://example.org' }],
    ['WEBAUTHN_RP_ID', { WEBAUTHN_RP_ID: 'a.example.com', BASE_URL: 'https://example.com' }],
    ['WEBAUTHN_ORIGINS', { WEBAUTHN_ORIGINS: 'claims.example.com' }],
    ['WEBAUTHN_ORIGINS', { WEBAUTHN_ORIGINS: 'https://claims.example.com/' }],
    ['WEBAUTHN_ORIGINS', { WEBAUTHN_ORIGINS: 'http://claims.example.com' }],
    ['WEBAUTHN_ORIGINS', { WEBAUTHN_ORIGINS: '*' }],
    ['WEBAUTHN_ORIGINS', { WEBAUTHN_RP_ID: 'example.com', WEBAUTHN_ORIGINS: 'https://notexample.com' }],
    ['WEBAUTHN_ORIGINS', { BASE_URL: 'https://a.example.com', WEBAUTHN_ORIGINS: 'https://b.example.com' }],
  ])('refuses to start with a wrong %s: %j', (key, keys) => {
    expect(problemsOf(keys)).toContain(`${key}: `)
  })
})
