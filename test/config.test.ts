import { randomBytes } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readConfig } from '#src/config.ts'
import { isGuessableKey } from '#src/platform/crypto/config.ts'

const PRODUCTION = {
  MODE: 'production',
  DATABASE_URL: 'postgres://login@127.0.0.1:1/none',
  REDIS_URL: 'redis://127.0.0.1:1',
  BLOB_STORE: 'disk:none',
  BASE_URL: 'https://api.example.test',
  SMTP_URL: 'smtps://mail.example.test',
  MAIL_FROM: 'no-reply@example.test',
  MASTER_KEY: randomBytes(32).toString('base64'),
}

describe('production', () => {
  it('refuses a public address without TLS, which development accepts', () => {
    expect(() => readConfig(PRODUCTION)).not.toThrow()
    const open = { ...PRODUCTION, BASE_URL: 'http://api.example.test' }
    expect(() => readConfig(open)).toThrow(/BASE_URL: must be https/)
    expect(() => readConfig({ ...open, BASE_URL: 'HTTP://api.example.test' })).toThrow(/BASE_URL/)
    expect(() => readConfig({ ...open, MODE: 'development' })).not.toThrow()
  })

  it.each([
    ['zeros', Buffer.alloc(32)],
    ['one byte again and again', Buffer.alloc(32, 7)],
    ['a phrase', Buffer.from('correct horse battery staple! 12')],
    ['hexadecimal digits', Buffer.from(randomBytes(16).toString('hex'))],
    ['a count', Buffer.from(Array.from({ length: 32 }, (_, index) => index))],
    ['half a key twice', Buffer.concat(Array(2).fill(Buffer.from('000102f3f4a5b6c7d8e9fa0b1c2d3e4f', 'hex')))],
  ])('refuses a master key of %s, which development accepts', (_, key) => {
    const weak = { ...PRODUCTION, MASTER_KEY: key.toString('base64') }
    expect(() => readConfig(weak)).toThrow(/MASTER_KEY: can be guessed/)
    expect(() => readConfig({ ...weak, MODE: 'development' })).not.toThrow()
  })

  it('accepts any randomly drawn master key', () => {
    const drawn = fc.noShrink(fc.integer()).map(() => randomBytes(32))
    fc.assert(fc.property(drawn, (key) => !isGuessableKey(key)))
  })
})

describe('INTERNAL_HOSTS', () => {
  it('is a list of names', () => {
    expect(readConfig({ ...PRODUCTION, INTERNAL_HOSTS: 'web, attest.internal' }).INTERNAL_HOSTS).toEqual([
      'web',
      'attest.internal',
    ])
    expect(() => readConfig({ ...PRODUCTION, INTERNAL_HOSTS: 'http://web' })).toThrow(/INTERNAL_HOSTS/)
  })
})
