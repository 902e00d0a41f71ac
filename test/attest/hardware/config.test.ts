import { randomBytes } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { GOOGLE_LIST_URL } from '#src/attest/hardware/lists.ts'
import { readConfig } from '#src/config.ts'
import { createLog } from '#src/platform/log.ts'
import { createServices } from '#src/services.ts'
import { vendor } from './simulated.ts'

const DEVELOPMENT = {
  DATABASE_URL: 'postgres://nobody@127.0.0.1:1/none',
  MASTER_KEY: randomBytes(32).toString('base64'),
  BLOB_STORE: 'disk:none',
}
const PRODUCTION = {
  ...DEVELOPMENT,
  MODE: 'production',
  REDIS_URL: 'redis://127.0.0.1:1',
  BASE_URL: 'https://api.example.test',
  LOGIN_LINKS: 'off',
}

describe('the configuration of trusted vendors', () => {
  test('accepts a simulated vendor in development, and refuses it in production', () => {
    const config = readConfig({ ...DEVELOPMENT, ATTESTATION_TEST_ROOTS: vendor.roots, ATTESTATION_APPS: vendor.apps })
    expect(config.ATTESTATION_TEST_ROOTS).toHaveLength(2)
    expect(() => readConfig({ ...PRODUCTION, ATTESTATION_TEST_ROOTS: vendor.roots })).toThrow('ATTESTATION_TEST_ROOTS')
    expect(() => readConfig({ ...PRODUCTION, ATTESTATION_APPS: vendor.apps })).not.toThrow()
  })

  test.each([
    ['ATTESTATION_TEST_ROOTS', 'android:AAAA'],
    ['ATTESTATION_TEST_ROOTS', 'google:AAAA'],
    ['ATTESTATION_APPS', 'android:com.example.app'],
    ['ATTESTATION_APPS', 'apple:com.example.app'],
    ['ATTESTATION_APPS', `android:com.example.app:${'0'.repeat(63)}`],
    ['ANDROID_REVOCATION_URL', 'ftp://example.com/'],
  ])('is refused in a malformed value: %s is not %s', (key, value) => {
    expect(() => readConfig({ ...DEVELOPMENT, [key]: value })).toThrow(key)
  })

  test('fetches Google’s list in production, over https, and none in development by default', async () => {
    const urlOf = async (env: NodeJS.ProcessEnv) => {
      const services = createServices({ config: readConfig(env), log: createLog({ process: 'test', level: 'silent' }) })
      await services.close()
      return services.attest.hardware.revocationUrl
    }
    expect(await urlOf(DEVELOPMENT)).toBeUndefined()
    expect(await urlOf({ ...DEVELOPMENT, ANDROID_REVOCATION_URL: 'http://127.0.0.1:4000/' })).toBe(
      'http://127.0.0.1:4000/',
    )
    expect(await urlOf(PRODUCTION)).toBe(GOOGLE_LIST_URL)
    expect(() => readConfig({ ...PRODUCTION, ANDROID_REVOCATION_URL: 'http://example.com/' })).toThrow('https')
  })
})
