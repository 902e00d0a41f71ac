import { fork } from 'node:child_process'
import { randomBytes, randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import type { LogFields } from '#src/catalogue/log-fields.ts'
import { Failure } from '#src/failure.ts'
import { detached, note, within } from '#src/platform/context.ts'
import { createLog, redactSecrets } from '#src/platform/log.ts'

function makeLog() {
  const lines: Record<string, unknown>[] = []
  const log = createLog({ process: 'web', level: 'trace' }, { write: (line) => void lines.push(JSON.parse(line)) })
  return { log, lines }
}

describe('the log', () => {
  it('has one JSON object per line, with time, level and process', () => {
    const { log, lines } = makeLog()
    log.info('hello')
    expect(lines[0]).toEqual({
      level: 'info',
      time: expect.stringMatching(/^\d{4}-.*Z$/),
      process: 'web',
      msg: 'hello',
    })
  })

  it('carries the ids of the present work, also those that become known later', async () => {
    const { log, lines } = makeLog()
    await within({ requestId: 'req_1', route: 'GET /v1/claims' }, async () => {
      log.info('a')
      await Promise.resolve()
      note({ account: 'acc_1' })
      await within({ queue: 'attest', job: 'j', attempt: 2 }, async () => log.info({ attempt: 3 }, 'b'))
      log.info('c')
      detached(() => log.info('d'))
    })
    note({ account: 'acc_2' })
    log.info('e')
    const own = lines.map(({ level, time, process, ...rest }) => rest)
    expect(own).toEqual([
      { requestId: 'req_1', route: 'GET /v1/claims', msg: 'a' },
      { queue: 'attest', job: 'j', attempt: 3, msg: 'b' },
      { requestId: 'req_1', route: 'GET /v1/claims', account: 'acc_1', msg: 'c' },
      { msg: 'd' },
      { msg: 'e' },
    ])
  })

  it('accepts the fields of the catalogue only, also out of a variable', () => {
    const { log, lines } = makeLog()
    const counted = { claim: 'clm_1', claims: 2 }
    log.info({ claim: 'clm_1', attestations: 2 }, 'known')
    // @ts-expect-error: no field of the catalogue
    log.info({ claims: 2 }, 'unknown')
    // @ts-expect-error: no field of the catalogue
    log.info({ ...counted, attestations: 2 }, 'unknown')
    expect(lines).toHaveLength(3)
  })

  it.each([
    ['a header', { headers: { authorization: 'Bearer svc_live_abcdefgh12345678', 'x-api-key': 'plain-secret' } }],
    ['a secret by name', { secret: 'plain-secret', endpoint: { secret: 'plain-secret' }, token: 'plain-secret' }],
    ['a key in a field', { note: 'used svc_test_0123456789abcdefghijklmnopqrstuv' }],
    ['a webhook secret', { note: 'whsec_plainsecretplainsecret' }],
    ['a webhook secret with + and /', { note: 'whsec_plain+/plain-secret/' }],
    ['a connection string', { note: 'postgres://user:plain-secret@db.internal/x' }],
  ])('hides every secret: %s', (_name, fields) => {
    const { log, lines } = makeLog()
    // The type refuses such fields; what a driver or a cast lets through is hidden all the same.
    log.info(fields as LogFields, 'x')
    expect(JSON.stringify(lines)).not.toMatch(/plain-?secret|svc_(live|test)_[0-9a-z]|whsec_p/)
    expect(JSON.stringify(lines)).toContain('redacted')
  })

  it('removes tokens of links and sessions and signatures of tokens, and leaves ids, hashes in hex and long names', () => {
    const token = randomBytes(33).toString('base64url').slice(1)
    const signed = `eyJhbGciOiJFUzI1NiJ9.e30.${randomBytes(64).toString('base64url')}`
    for (const text of [token, `a ${token}.`, `"${token}"`, `{"a":"line\\n${token}"}`, `#${token}`, `a=${token};`]) {
      expect(redactSecrets(text)).toBe(text.replace(token, '[redacted]'))
    }
    expect(redactSecrets(`refused ${signed}!`)).toBe('refused eyJhbGciOiJFUzI1NiJ9.e30.[redacted]!')
    // As a JSON pointer has it.
    expect(redactSecrets('/a/whsec_abcdef~1ghijk+lm/b')).toBe('/a/whsec_[redacted]')
    const kept = [
      'dec_test_01kaj0nv2rgvhk6pc5y8eaj4mb',
      '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
      `mail-${randomUUID()}-1`,
      'f'.repeat(64),
      'a_name_of_a_member_that_is_longer_than_any_of_our_tokens',
      '/srv/app/src/platform/jobs/engineThatRuns.ts:12:3',
    ].join(' ')
    expect(redactSecrets(kept)).toBe(kept)
  })

  it('removes passwords from connection strings, and leaves text that only resembles one', () => {
    const lines: [string, string][] = [
      ['redis://:p4ss@h:1 and amqps://u:p%40ss@h', 'redis://:[redacted]@h:1 and amqps://u:[redacted]@h'],
      ['a://b://u:p@h', 'a://b:[redacted]@h'],
      ['x@y postgres://u:p@h x@y', 'x@y postgres://u:[redacted]@h x@y'],
      ['"postgres://u:p@h","to":"a@b"', '"postgres://u:[redacted]@h","to":"a@b"'],
      ['http://h:80/a b@c', 'http://h:80/a b@c'],
      ['http://u@h http://u:@h @ :@ ://:@', 'http://u@h http://u:@h @ :@ ://:@'],
    ]
    for (const [line, expected] of lines) expect(redactSecrets(line)).toBe(expected)
  })

  it.each([
    'a://:',
    'a://',
    'a',
    'a:',
    '@',
    'a://b:c@',
    'a://:x@"',
    'svc_live_',
    'svc_live_a ',
    'whsec_',
    '://:',
    'a-',
    'A',
    '\\\\nA',
    'aA.',
  ])('takes time linear in a line of %j', (piece) => {
    const bestOf = (length: number) => {
      const line = piece.repeat(length / piece.length)
      const times = [0, 1, 2].map(() => {
        const before = process.threadCpuUsage()
        redactSecrets(line)
        const { user, system } = process.threadCpuUsage(before)
        return (user + system) / 1_000
      })
      return Math.min(...times)
    }
    // Sixteen times as much: 256 times as long if it were quadratic.
    expect(bestOf(1_600_000) / Math.max(1, bestOf(100_000))).toBeLessThan(100)
  })

  it('shows the message and causes of an error, and no object attached to it', () => {
    const { log, lines } = makeLog()
    const cause = Object.assign(new Error('duplicate key'), {
      code: '23505',
      constraint: 'api_keys_hash_key',
      detail: 'Key (hash)=(x)',
      client: { password: 'p' },
    })
    log.error({ err: new Failure('internal_error', { detail: 'x', cause }) }, 'failed')
    expect(lines[0]).toMatchObject({
      err: { type: 'Failure', code: 'internal_error', cause: { code: '23505', constraint: 'api_keys_hash_key' } },
    })
    expect(JSON.stringify(lines)).not.toContain('Key (hash)')
    expect(JSON.stringify(lines)).not.toContain('password')
  })

  it('survives values that are not errors and circular ones', () => {
    const { log, lines } = makeLog()
    const loop = new Error('loop')
    loop.cause = loop
    for (const thrown of [loop, 'text', undefined, null, 42, new AggregateError([new Error('inner')], 'many')]) {
      log.error({ err: thrown }, 'x')
    }
    expect(lines).toHaveLength(6)
    expect(JSON.stringify(lines[5])).toContain('inner')
  })
})

it('the log does not block a process whose output is no longer read', async () => {
  const child = fork(fileURLToPath(new URL('./nobody-reads.ts', import.meta.url)), { silent: true })
  await once(child, 'message')
  child.stdout?.destroy()
  const ended = once(child, 'exit')
  child.send('go')
  const late = setTimeout(() => child.kill('SIGKILL'), 10_000)
  expect(await ended).toEqual([3, null])
  clearTimeout(late)
})
