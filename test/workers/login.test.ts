// Signing in over real processes: the link is mailed by the queue on each engine. Afterwards nothing that signs anybody
// in is in the database, the logs or the traces, and no address is in the logs or the traces.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { fetchAgain } from '../support/again.ts'
import { type Collector, startCollector } from '../support/collector.ts'
import { type MailServer, startMailServer } from '../support/smtp.ts'
import { type System, startSystem, testedEngines } from '../support/system.ts'
import { until } from '../support/until.ts'

const PERSON = 'mika.unmistakable@example.com'
const REFUSED = 'refused.unmistakable@example.com'

describe.each(testedEngines())('signing in, on %s', (engine) => {
  let collector: Collector
  let mail: MailServer
  let system: System
  const said: string[] = []

  const post = (path: string, value: unknown, headers: Record<string, string> = {}) =>
    fetchAgain(`${system.baseUrl}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify(value),
    })

  beforeAll(async () => {
    collector = await startCollector()
    mail = await startMailServer()
    system = await startSystem({
      engine,
      only: ['web', 'dispatch', 'mail'],
      environment: {
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        LOG_LEVEL: 'trace',
        SMTP_URL: mail.url,
        LOGIN_ECHO: '0',
        SIGNUP: 'open',
      },
      onLog: (text) => void said.push(text),
    })
  })
  afterAll(async () => {
    await system?.close()
    await mail?.close()
    await collector?.close()
  })

  it('works by the mailed link, and leaves no secret anywhere', async () => {
    mail.refusals.push(550)
    expect((await post('/v1/auth/magic-link', { email: REFUSED })).status).toBe(200)
    await until(async () => (await statuses()).includes('failed'))
    // The first delivery is refused for the moment, and tried again.
    mail.refusals.push(451)
    expect((await post('/v1/auth/magic-link', { email: PERSON })).status).toBe(200)
    await until(() => mail.received.length === 1)
    const [, link = '', token = ''] =
      /(http:\S+\/login\/link#(\S{43}))\s/.exec(mail.received[0]?.parsed.text ?? '') ?? []
    expect(link).toBe(`${system.baseUrl}/login/link#${token}`)
    const page = await fetchAgain(link)
    expect(page.status).toBe(200)

    const answer = await post('/v1/auth/magic-link/verify', { token })
    expect(answer.status).toBe(200)
    const cookies = answer.headers.getSetCookie().map((line) => line.split(';')[0] ?? '')
    const secret = cookies[0]?.split('=')[1] ?? ''
    expect(secret).toHaveLength(43)
    const { csrf_token } = (await answer.json()) as { csrf_token: string }
    const headers = { cookie: cookies.join('; '), 'x-csrf-token': csrf_token }
    expect((await fetchAgain(`${system.baseUrl}/v1/auth/session`, { headers })).status).toBe(200)
    expect((await post('/v1/auth/magic-link/verify', { token })).status).toBe(400)
    expect((await post('/v1/auth/magic-link', { email: `${PERSON}\r\nBcc: x@example.com` })).status).toBe(400)
    const ended = await fetchAgain(`${system.baseUrl}/v1/auth/session`, { method: 'DELETE', headers })
    expect(ended.status).toBe(200)
    await until(async () => !(await statuses()).includes('pending'))

    const tables = await system.database.owner<{ name: string }>(
      `SELECT quote_ident(schemaname) || '.' || quote_ident(tablename) AS name FROM pg_tables
       WHERE schemaname NOT IN ('pg_catalog', 'information_schema')`,
    )
    const stored: string[] = []
    for (const { name } of tables) {
      const rows = await system.database.owner<{ row: string }>(`SELECT to_jsonb(t)::text AS row FROM ${name} AS t`)
      stored.push(...rows.map(({ row }) => row))
    }
    await system.supervisor.stop()
    expect(collector.spans.map(({ name }) => name)).toContain('run mail')

    const traced = Buffer.concat(collector.raw).toString('latin1')
    const logged = said.join('')
    expect(stored.join('\n')).toContain(PERSON)
    expect(logged.length).toBeGreaterThan(1_000)
    for (const text of [stored.join('\n'), logged, traced]) {
      for (const one of [token, secret]) {
        expect(text.includes(one)).toBe(false)
        // Bytes in a column are shown as hex.
        expect(text.includes(Buffer.from(one, 'base64url').toString('hex'))).toBe(false)
        expect(text.includes(Buffer.from(one).toString('hex'))).toBe(false)
      }
    }
    for (const text of [logged, traced]) expect(text).not.toContain('unmistakable')
  })

  const statuses = async () =>
    (await system.database.owner<{ status: string }>('SELECT status FROM mails')).map(({ status }) => status)
})
