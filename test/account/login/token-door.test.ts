import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { limitsOfClient } from '#src/account/login/attempts.ts'
import { createTokenDoor } from '#src/account/login/token-door.ts'
import { sha256 } from '#src/platform/crypto/digest.ts'
import { createTestDatabase, type TestDatabase } from '../../support/database.ts'

const AT = new Date('2026-11-20T15:00:00.000Z')
const MINUTE_MS = 60_000

let test: TestDatabase
beforeAll(async () => {
  test = await createTestDatabase({ poolSize: 8 })
})
afterAll(() => test.close())

const newToken = () => randomBytes(32).toString('base64url')

function makeDoor(name: string) {
  const token = newToken()
  const asked: string[] = []
  const door = createTokenDoor({
    async find(_tx, tokenHash) {
      asked.push(tokenHash.toString('hex'))
      return tokenHash.equals(sha256(token)) ? { id: name } : undefined
    },
    failures: limitsOfClient({ name: `${name} failures`, most: 2, withinMs: MINUTE_MS }),
    uses: { name: `${name} uses`, most: 3, withinMs: MINUTE_MS },
  })
  const open = (text: string, ip = '203.0.113.7') =>
    test.db.system('test', (tx) => door.open(tx, { token: text, origin: { ip, userAgent: null }, at: AT }))
  return { token, asked, door, open }
}

describe('the door of tokens', () => {
  it('looks a token up by its hash alone, and only what has the form of one', async () => {
    const { token, asked, open } = makeDoor('hash')
    expect(await open(token)).toEqual({ row: { id: 'hash' } })
    expect(asked).toEqual([sha256(token).toString('hex')])
    for (const text of ['', 'a', `${token}a`, token.slice(1), `${token.slice(0, 42)}+`]) {
      await open(text, `198.51.100.${text.length}`)
    }
    expect(asked).toHaveLength(1)
  })

  it('counts guesses for the client and uses for the token', async () => {
    const { token, open, door } = makeDoor('counts')
    for (const _ of [1, 2]) expect(await open(newToken())).toEqual({ row: undefined })
    expect(await open(newToken())).toEqual({ limited: { retryAfterSeconds: 60 } })
    for (const _ of [1, 2, 3]) expect(await open(token)).toEqual({ row: { id: 'counts' } })
    expect(() => door.check(token, AT)).not.toThrow()
    expect(await open(token)).toEqual({ limited: { retryAfterSeconds: 60 } })
    // Remembered: no connection is taken for it again.
    expect(() => door.check(token, AT)).toThrow(expect.objectContaining({ code: 'rate_limited' }))
    expect(await open(newToken(), '198.51.100.99')).toEqual({ row: undefined })
  })

  it('opens so often as its limit says, also for uses at the same moment', async () => {
    const { token, open } = makeDoor('together')
    const opened = await Promise.all(Array.from({ length: 12 }, () => open(token)))
    expect(opened.filter((one) => 'row' in one)).toHaveLength(3)
  })
})
