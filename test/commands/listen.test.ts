import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest'
import { verifyWebhookSignature } from '#src/account/webhooks/signature.ts'
import type { Scope } from '#src/platform/ids.ts'
import { problemOf } from '../../commands/listen/forward.ts'
import { readListenOptions } from '../../commands/listen/options.ts'
import { createFixture, escalated, type Fixture } from '../account/webhooks/fixture.ts'
import { makeLedger } from '../support/ledger.ts'
import { until } from '../support/until.ts'

const COMMAND = fileURLToPath(new URL('../../commands/listen.ts', import.meta.url))

let fixture: Fixture
let scope: Scope
let key: string
let position: () => Promise<void>
const children: ChildProcess[] = []

beforeAll(async () => {
  fixture = await createFixture()
  scope = fixture.scope
  key = fixture.addKey(scope)
  const log = makeLedger(fixture)
  position = () => log.appendAll('events')
})
afterEach(() => {
  for (const child of children.splice(0)) child.kill('SIGKILL')
})
afterAll(() => fixture.close())

function listen(
  args: string[],
  { service = fixture.app.url, env = {} }: { service?: string; env?: NodeJS.ProcessEnv } = {},
) {
  const child = spawn(process.execPath, [COMMAND, '--service', service, ...args], {
    env: { ...process.env, COUNTERSIGN_KEY: key, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  children.push(child)
  let [out, err] = ['', '']
  child.stdout?.on('data', (data) => (out += data))
  child.stderr?.on('data', (data) => (err += data))
  const ended = once(child, 'close').then(([code]) => ({ code, out, err }))
  return {
    ended,
    err: () => err,
    lines: () => out.split('\n').filter((line) => line !== ''),
    until: (text: string) => until(() => err.includes(text), { what: `"${text}" in ${err}`, timeoutMs: 60_000 }),
    end: () => {
      child.kill('SIGINT')
      return ended
    },
  }
}

async function emit(...claims: string[]): Promise<string[]> {
  const emitted = await fixture.emit(
    claims.map((claim) => escalated(claim)),
    scope,
  )
  await position()
  return emitted.map(({ eventId }) => eventId ?? '')
}

const secretOf = async (env: NodeJS.ProcessEnv = {}) => (await listen(['--print-secret'], { env }).ended).out.trim()

it('forwards the events from then on, signed with the secret that it prints, and Ctrl-C ends it cleanly', async () => {
  await emit('clm_test_before')
  let code = 200
  const { received, url } = await fixture.receiver((response) => response.writeHead(code).end('x'.repeat(100_000)))
  const secret = await secretOf()
  expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{44}$/)
  expect([secret, await secretOf()]).toEqual([secret, secret])
  const run = listen(['--url', `${url}?token=in-the-query`, '--json'])
  await run.until('Forwarding all events')
  expect(run.err()).not.toContain('in-the-query')
  const [first] = await emit('clm_test_a')
  await until(() => run.lines().length === 1)
  code = 500
  const [second] = await emit('clm_test_b')
  await until(() => run.lines().length === 2)
  const { code: exitCode, err } = await run.end()
  expect([exitCode, err.split('\n').at(-2)]).toEqual([0, 'Ended. 2 events: 1 accepted, 1 not.'])
  expect(run.lines().map((line) => JSON.parse(line))).toMatchObject([
    {
      event_id: first,
      type: 'claim.escalated',
      accepted: true,
      status: 200,
      error: null,
      verified: true,
      problem: null,
    },
    { event_id: second, accepted: false, status: 500 },
  ])
  expect(received.map(({ json }) => json.event_id)).toEqual([first, second])
  for (const { body, headers } of received) {
    expect(verifyWebhookSignature({ rawBody: body, headers }, [secret], Date.now() / 1_000)).toEqual({ valid: true })
    expect(headers['service-event-type']).toBe('claim.escalated')
  }
})

it('compares each event with the catalogue', () => {
  const data = { claim_id: 'clm_test_a', risk_score: 80, factor_codes: ['gps_absent'] }
  expect(problemOf({ type: 'claim.escalated', data })).toBeUndefined()
  expect(problemOf({ type: 'claim.escalated', data: { ...data, risk_score: '80' } })).toMatch(/^data\.risk_score: /)
  expect(problemOf({ type: 'claim.escalated', data: { ...data, more: 1 } })).toMatch(/^data: .*more/)
  expect(problemOf({ type: 'claim.unknown', data })).toContain('claim.unknown')
})

it('forwards some types only, goes on where it was while the service is away, and outlives a program that is', async () => {
  let failures = 0
  let isAway = false
  // The way to the service: it breaks connections, and answers 503.
  const way = createServer(async (request, response) => {
    if (isAway) {
      failures += 1
      if (failures % 2 === 0) request.socket.destroy()
      else response.writeHead(503).end('{}')
      return
    }
    const { authorization = '' } = request.headers
    const answer = await fetch(`${fixture.app.url}${request.url}`, { headers: { authorization } })
    response.writeHead(answer.status).end(await answer.text())
  })
  way.listen(0, '127.0.0.1')
  await once(way, 'listening')
  const { received, url } = await fixture.receiver()
  const service = `http://127.0.0.1:${(way.address() as AddressInfo).port}/`
  const run = listen(['--url', url, '--events', 'claim.escalated'], { service })
  await run.until('Forwarding claim.escalated')
  await fixture.emit([{ type: 'ping', data: { webhook_endpoint_id: 'whe_test_x' } }], scope)
  isAway = true
  way.closeAllConnections()
  const sent = await emit('clm_test_c', 'clm_test_d')
  await run.until('The service is away')
  await until(() => failures >= 3)
  isAway = false
  await run.until('The service answers again')
  await until(() => run.lines().length === 2)
  expect(received.map(({ json }) => json.event_id)).toEqual(sent)
  expect((await run.end()).code).toBe(0)
  way.close()

  const lonely = listen(['--url', 'http://127.0.0.1:1/'], {})
  await lonely.until('Forwarding all events')
  await emit('clm_test_e')
  await until(() => lonely.lines().length === 1)
  expect(lonely.lines()[0]).toMatch(/claim\.escalated +evt_test_\w+ +\d+ +no answer \(.*ECONNREFUSED.*\)/)
  expect((await lonely.end()).code).toBe(0)
})

it('replays one event with the secret of an endpoint, and says by its exit code whether it was accepted', async () => {
  const [eventId = ''] = await emit('clm_test_f')
  let code = 204
  const { received, url } = await fixture.receiver((response) => response.writeHead(code).end())
  const { secret } = await fixture.makeEndpoint(url)
  const env = { WEBHOOK_SECRET: secret }
  expect(await secretOf(env)).toBe(secret)
  const accepted = await listen(['--url', url, '--replay', eventId], { env }).ended
  expect([accepted.code, accepted.out]).toEqual([0, expect.stringContaining(`${eventId} `)])
  const [{ body, headers } = { body: Buffer.of(), headers: {} }] = received
  expect(verifyWebhookSignature({ rawBody: body, headers }, [secret], Date.now() / 1_000)).toEqual({ valid: true })
  expect(JSON.parse(body.toString())).not.toHaveProperty('position')
  code = 400
  expect((await listen(['--url', url, '--replay', eventId]).ended).code).toBe(1)
  const unknown = await listen(['--url', url, '--replay', 'evt_test_x']).ended
  expect([unknown.code, unknown.err]).toEqual([1, expect.stringContaining('The service refuses')])
})

it.each([
  [[], {}, 'Where to?'],
  [['--url', 'localhost:3000'], {}, '--url'],
  [['--url', 'http://localhost:1', '--service', 'http://me:pw@localhost:1'], {}, '--service'],
  [['--url', 'http://localhost:1', '--events', 'claim.lost'], {}, 'attestation.created'],
  [['--url', 'http://localhost:1', '--after', 'x'], {}, '--after'],
  [['--url', 'http://localhost:1'], { COUNTERSIGN_KEY: '' }, 'Which key?'],
  [['--url', 'http://localhost:1'], { COUNTERSIGN_KEY: `svc_live_${'a'.repeat(32)}` }, 'sandbox only'],
  [['--url', 'http://localhost:1'], { WEBHOOK_SECRET: 'secret' }, 'whsec_'],
])('refuses the options %j with %j', (args, env, sentence) => {
  const read = () => readListenOptions(args, { COUNTERSIGN_KEY: `svc_test_${'a'.repeat(32)}`, ...env })
  expect(read).toThrow(sentence)
  expect(read).toThrow(expect.objectContaining({ code: 'ERR_USAGE' }))
})
