import { describe, expect, it } from 'vitest'
import { relyingPartyOf } from '#src/authorize/passkeys/config.ts'
import { readConfig } from '#src/config.ts'

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
