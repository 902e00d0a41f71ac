// Signing in and every other use of a secret over real processes, with receivers that answer with what they know and a
// mail server that quotes the mail. Afterwards no secret is anywhere but where it was shown or mailed: not
// in a table, in Redis, in a log line, a trace, a metric, another answer, a delivery or an export.

import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { unzip } from '../account/exports/zip.ts'
import { startHostileProvider } from '../account/sso/hostile-provider.ts'
import { createReceivers } from '../authorize/webhooks/receivers.ts'
import { fetchAgain } from '../support/again.ts'
import { type Collector, startCollector } from '../support/collector.ts'
import { testedEngines } from '../support/engines.ts'
import { createSecrets, formsOf } from '../support/secrets.ts'
import { type MailServer, startMailServer } from '../support/smtp.ts'
import { readRedis, readTables } from '../support/stored.ts'
import { type System, startSystem } from '../support/system.ts'
import { until } from '../support/until.ts'
import { refusedRequests } from './refused-requests.ts'

const PERSON = 'mika.unmistakable@example.com'
const REFUSED = 'refused.unmistakable@example.com'
const QUOTED = 'quoted.unmistakable@example.com'
const INVITED = 'noor.unmistakable@example.com'

const ACTION = {
  action_description: 'Pay 120.00 EUR to Example Garage',
  action_payload: { amount: '120.00', currency: 'EUR', counterparty: 'Example Garage' },
}
const PROCESSES = ['web', 'dispatch', 'deliver', 'mail', 'export', 'sequence', 'clock'] as const

type Json = Record<string, unknown>
interface Answered {
  status: number
  json: Json
  headers: Headers
}

// What is put into an engine is the same on both: of the row of a job its ids (`end-to-end.test.ts` runs both).
const engine = testedEngines().at(-1) ?? 'postgres'

describe(`secrets, on ${engine}`, () => {
  const secrets = createSecrets()
  // Nothing quotes these: they have no form of ours by which they could be taken out.
  const ofProvider = createSecrets()
  const receivers = createReceivers()
  const said: string[] = []
  /** Every answer that is not meant to show a secret, with the request. */
  const answers: { request: string; text: string }[] = []
  let collector: Collector
  let mail: MailServer
  let system: System

  beforeAll(async () => {
    collector = await startCollector()
    mail = await startMailServer()
    system = await startSystem({
      engine,
      only: PROCESSES,
      environment: {
        MASTER_KEY: secrets.keep('master key', randomBytes(32).toString('base64')),
        OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
        LOG_LEVEL: 'trace',
        SMTP_URL: mail.url,
        LOGIN_ECHO: '0',
        SIGNUP: 'open',
      },
      onLog: (text) => void said.push(text),
    })
    secrets.keep('API key', system.key)
  })
  afterAll(async () => {
    await system?.close()
    await mail?.close()
    await collector?.close()
    await receivers.close()
  })

  /** @param shows Whether the answer is where a secret is shown, and not searched. */
  async function ask(
    method: string,
    path: string,
    {
      json,
      body,
      headers = {},
      shows = false,
    }: { json?: unknown; body?: string; headers?: Record<string, string>; shows?: boolean } = {},
  ): Promise<Answered> {
    const content = json === undefined ? body : JSON.stringify(json)
    const answer = await fetchAgain(`${system.baseUrl}${path}`, {
      method,
      headers: { ...(content !== undefined && { 'content-type': 'application/json' }), ...headers },
      redirect: 'manual',
      ...(content !== undefined && { body: content }),
    })
    const text = await answer.text()
    const request = `${method} ${path.split(/[?]/)[0]?.slice(0, 40)}`
    if (!shows) answers.push({ request, text: JSON.stringify([...answer.headers]) + text })
    const isJson = /[/+]json/.test(answer.headers.get('content-type') ?? '')
    return { status: answer.status, json: isJson ? JSON.parse(text) : {}, headers: answer.headers }
  }

  async function done(...sent: Parameters<typeof ask>): Promise<Json> {
    const { status, json } = await ask(...sent)
    expect({ request: sent.slice(0, 2), isDone: status < 300, json: status < 300 || json }).toMatchObject({
      isDone: true,
    })
    return json
  }

  /** The tokens in the links of the mails to an address. */
  const mailed = (address: string) =>
    mail.received
      .filter(({ to }) => to.includes(address))
      .flatMap(({ parsed }) => /\/login\/(?:link|invite)#(\S{43})\s/.exec(parsed.text ?? '')?.[1] ?? [])

  const mailStates = async () =>
    (await system.database.owner<{ status: string }>('SELECT status FROM mails')).map(({ status }) => status)

  /** Signs in, and returns the headers of the browser. */
  function browserOf({ json, headers }: Answered): Record<string, string> {
    const cookies = headers.getSetCookie().map((line) => line.split(';')[0] ?? '')
    secrets.keep('session secret', cookies[0]?.split('=')[1] ?? '')
    const csrf = secrets.keep('CSRF token', String(json.csrf_token))
    return { cookie: cookies.join('; '), 'x-csrf-token': csrf }
  }

  it('are used, and stay nowhere but where they belong', async () => {
    const owner = await signIn()
    const account = String((await done('GET', '/v1/account', { headers: owner })).account_id)
    await system.database.owner(`UPDATE accounts SET plan = 'enterprise' WHERE id = $1`, [account])
    const key = await useKeys(owner)
    await useInvites(owner)
    await useWebhooks(key)
    await useIntents(key)
    await readEverything(owner, key)
    await provokeErrors(owner, key)
    await useSingleSignOn(owner, account)
    await useExport(owner)
    const ended = await ask('DELETE', '/v1/auth/session', { headers: owner })
    expect(ended.status).toBe(200)
    expect((await ask('GET', '/v1/auth/session', { headers: owner })).json.code).toBe('session_expired')

    await untilQuiet()
    const metrics = await readMetrics()
    const stored = await readTables(system.database)
    const kept = await readRedis()
    await system.supervisor.stop()
    expect(collector.spans.map(({ name }) => name)).toEqual(
      expect.arrayContaining(['run mail', 'run deliver', 'run export']),
    )
    expect(new Set(collector.spans.map(({ service }) => service)).size).toBeGreaterThan(4)

    const traced = Buffer.concat(collector.raw)
    const logged = said.join('')
    expect(logged.length).toBeGreaterThan(10_000)
    for (const name of PROCESSES) expect(logged).toContain(`"process":"${name}"`)
    expect(stored.get('public.mails')).toContain(PERSON)
    expect(mail.received.some(({ raw }) => secrets.findIn(raw).length > 0)).toBe(true)

    const leaks = [
      ...[...stored].map(([table, rows]) => [table, rows] as const),
      ...answers.map(({ request, text }) => [`the answer of ${request}`, text] as const),
      ['Redis', kept] as const,
      ['the logs', logged] as const,
      ['the traces', traced] as const,
      ['the metrics', metrics] as const,
    ].flatMap(([place, text]) =>
      [...secrets.findIn(text), ...ofProvider.findIn(text)].map((found) => `${place}: ${found}`),
    )
    expect([...new Set(leaks)]).toEqual([])
    for (const text of [logged, traced.toString('latin1'), metrics]) expect(text).not.toContain('unmistakable')
  })

  it('would be found in any form', () => {
    const [secret = ''] = secrets.values()
    for (const form of formsOf(secret).keys()) expect(secrets.findIn(`x${form}y`)).toHaveLength(1)
    for (const hidden of [
      secret.slice(5, 25),
      JSON.stringify({ a: Buffer.from(`header ${secret} footer`).toString('base64') }),
      Buffer.from(secret).toString('hex'),
      Buffer.concat([Buffer.from('...'), Buffer.from(secret, 'base64'), Buffer.from('...')]),
      Buffer.concat([Buffer.from('.'), Buffer.from(secret, 'base64')]).toString('base64url'),
    ]) {
      expect(secrets.findIn(hidden)).toHaveLength(1)
    }
    expect(secrets.findIn(randomBytes(100_000))).toEqual([])
  })

  async function signIn() {
    const post = (path: string, json: Json, shows = false) => ask('POST', path, { json, shows })
    mail.refusals.push(550)
    expect((await post('/v1/auth/magic-link', { email: REFUSED })).status).toBe(200)
    await until(async () => (await mailStates()).includes('failed'))
    // This server quotes the mail, link and all, in its refusal.
    mail.quotes.push(554)
    expect((await post('/v1/auth/magic-link', { email: QUOTED })).status).toBe(200)
    await until(async () => (await mailStates()).filter((status) => status === 'failed').length === 2)
    secrets.keep('login token of a refused mail', mailed(QUOTED)[0] ?? '')
    // The first delivery is refused for the moment, and tried again.
    mail.refusals.push(451)
    expect((await post('/v1/auth/magic-link', { email: PERSON })).status).toBe(200)
    await until(() => mailed(PERSON).length === 1)
    const token = secrets.keep('login token', mailed(PERSON)[0] ?? '')
    expect((await ask('GET', '/login/link')).status).toBe(200)

    const answer = await post('/v1/auth/magic-link/verify', { token }, true)
    expect(answer.status).toBe(200)
    const browser = browserOf(answer)
    expect((await ask('GET', '/v1/auth/session', { headers: browser, shows: true })).status).toBe(200)
    expect((await post('/v1/auth/magic-link/verify', { token })).status).toBe(400)
    expect((await post('/v1/auth/magic-link', { email: `${PERSON}\r\nBcc: x@example.com` })).status).toBe(400)
    return browser
  }

  /** Creates, rotates and revokes keys, and returns the headers of one that works. */
  async function useKeys(owner: Record<string, string>) {
    const make = async (environment: string, scopes: string[], headers = owner) => {
      const json = { name: `of ${environment}`, scopes, environment }
      const once = { ...headers, 'idempotency-key': `make ${environment} ${scopes}`.replaceAll(' ', '-') }
      const created = await done('POST', '/v1/account/keys', { json, headers: once, shows: true })
      // A repeat shows no secret.
      expect(await done('POST', '/v1/account/keys', { json, headers: once })).toMatchObject({ secret_shown: false })
      return { id: String(created.api_key_id), raw: secrets.keep(`key of ${environment}`, String(created.key)) }
    }
    const sandbox = await make('sandbox', ['all'])
    const live = await make('live', ['verify', 'admin'])
    const bearer = { authorization: `Bearer ${sandbox.raw}` }
    const byKey = await make('sandbox', ['verify'], bearer)
    const rotated = await done('POST', `/v1/account/keys/${byKey.id}/rotate`, {
      json: { grace_period_seconds: 0 },
      headers: bearer,
      shows: true,
    })
    secrets.keep('rotated key', String(rotated.key))
    expect((await ask('GET', '/v1/claims', { headers: { 'x-api-key': byKey.raw } })).status).toBe(401)
    await done('DELETE', `/v1/account/keys/${live.id}`, { headers: { ...owner, 'service-environment': 'live' } })
    expect((await ask('GET', '/v1/account', { headers: { 'x-api-key': live.raw } })).json.code).toBe('api_key_revoked')
    return bearer
  }

  async function useInvites(owner: Record<string, string>) {
    const invite = await done('POST', '/v1/org/users/invite', {
      json: { email: INVITED, role: 'developer' },
      headers: owner,
    })
    await until(() => mailed(INVITED).length === 1)
    await done('POST', `/v1/org/invites/${invite.invite_id ?? invite.id}/resend`, { headers: owner })
    await until(() => mailed(INVITED).length === 2)
    const [voided = '', token = ''] = mailed(INVITED)
    for (const one of [voided, token]) secrets.keep('invite token', one)
    expect((await ask('POST', '/v1/org/invites/accept', { json: { token: voided } })).status).toBe(400)
    const accepted = await ask('POST', '/v1/org/invites/accept', { json: { token }, shows: true })
    expect(accepted.status).toBe(200)
    browserOf(accepted)
    expect((await ask('POST', '/v1/org/invites/accept', { json: { token } })).status).toBe(400)
  }

  /** Two logins, of which the provider refuses the second with what it was sent, and a directory. */
  async function useSingleSignOn(owner: Record<string, string>, account: string) {
    const provider = await startHostileProvider()
    onTestFinished(() => provider.close())
    const domain = 'unmistakable.example'
    const json = {
      issuer: provider.issuer,
      client_id: 'client',
      client_secret: ofProvider.keep('client secret', randomBytes(24).toString('base64url')),
      domain,
    }
    await done('PUT', '/v1/auth/sso/config', { json, headers: owner })
    await system.database.owner('UPDATE sso_configs SET verified_at = now() WHERE account_id = $1', [account])
    const login = async (answer: (sent: string, idToken: string) => { status: number; text: string }) => {
      const headers = { accept: 'application/json' }
      const started = await ask('GET', `/v1/auth/sso/start?domain=${domain}`, { headers, shows: true })
      const cookie = started.headers.getSetCookie()[0]?.split(';')[0] ?? ''
      const { searchParams } = new URL(String(started.json.authorize_url))
      const [state = '', nonce = ''] = ['state', 'nonce'].map((name) => searchParams.get(name) ?? '')
      const code = randomBytes(24).toString('base64url')
      const kept = { state, nonce, code, 'login cookie': cookie.split('=')[1] ?? '' }
      for (const [kind, value] of Object.entries(kept)) ofProvider.keep(kind, value)
      const idToken = ofProvider.keep('ID token', await provider.token({ nonce, sub: 'one', email: `one@${domain}` }))
      provider.answers.token = (_request, response, body) => {
        ofProvider.keep('code verifier', new URLSearchParams(body).get('code_verifier') ?? '')
        const { status, text } = answer(body, idToken)
        response.writeHead(status, { 'content-type': 'application/json' }).end(text)
      }
      return ask('POST', '/v1/auth/sso/callback', { json: { code, state }, headers: { cookie }, shows: true })
    }
    const accessToken = ofProvider.keep('access token', randomBytes(24).toString('base64url'))
    const entered = await login((_sent, idToken) => ({
      status: 200,
      text: JSON.stringify({ access_token: accessToken, token_type: 'bearer', id_token: idToken }),
    }))
    expect(entered.status).toBe(200)
    browserOf(entered)
    const quoted = (sent: string, idToken: string) => JSON.stringify({ error: sent, error_description: idToken })
    const refused = await login((sent, idToken) => ({ status: 401, text: quoted(sent, idToken) }))
    expect(refused.status).toBeGreaterThan(399)
    answers.push({ request: 'a callback that the provider refuses', text: JSON.stringify(refused.json) })

    const token = await done('POST', '/v1/auth/scim-tokens', { headers: owner, shows: true })
    const directory = { authorization: `Bearer ${secrets.keep('directory token', String(token.token))}` }
    const user = { userName: `two@${domain}`, name: { givenName: 'Two' }, active: true }
    await done('POST', '/v1/scim/v2/Users', { json: user, headers: directory })
    expect((await ask('POST', '/v1/scim/v2/Users', { json: user, headers: directory })).status).toBe(409)
    await done('GET', '/v1/scim/v2/Users', { headers: directory })
  }

  /** A receiver that fails, and answers with every secret that there is. */
  const telling = () =>
    receivers.plain((response) => {
      const all = secrets.values()
      response.writeHead(500, all[0], { 'x-secret': all.join(', '), 'retry-after': all[0] ?? '' })
      response.end(JSON.stringify({ error: all }))
    })

  async function useWebhooks(headers: Record<string, string>) {
    const { url, questions } = await telling()
    const json = { url, event_types: ['*'] }
    const endpoint = await done('POST', '/v1/webhook-endpoints', { json, headers, shows: true })
    secrets.keep('signing secret', String(endpoint.signing_secret))
    await done('POST', `/v1/webhook-endpoints/${endpoint.webhook_endpoint_id}/test`, { headers })
    const path = `/v1/webhook-endpoints/${endpoint.webhook_endpoint_id}/deliveries`
    await until(async () => {
      const { data } = await done('GET', path, { headers })
      return JSON.stringify(data).includes('"response_status":500')
    })
    await done('GET', `/v1/webhook-endpoints/${endpoint.webhook_endpoint_id}`, { headers })
    await done('GET', '/v1/webhook-endpoints', { headers })
    for (const question of questions) answers.push({ request: 'a delivery', text: sentTo(question) })
  }

  async function useIntents(headers: Record<string, string>) {
    const failing = await telling()
    const quoting = await receivers.plain((response) => response.end(`{"decision":"deny","${secrets.values().at(-1)}`))
    const reasoning = await receivers.plain((response) => {
      response.end(JSON.stringify({ decision: 'deny', reason: `signed by ${secrets.values().at(-1)}` }))
    })
    for (let count = 0; count < 2; count += 1) {
      const { secret } = await done('POST', '/v1/policy/webhook-secret/rotate', { headers, shows: true })
      secrets.keep('policy webhook secret', String(secret))
    }
    await done('GET', '/v1/policy/webhook-secret', { headers })
    const bound = { agent_session_id: 'session-1', device_id: 'device-1' }
    const once = { ...headers, 'idempotency-key': 'authorize-1' }
    const asked = { json: { ...ACTION, ...bound }, headers: once, shows: true }
    const { intent_token: token } = await done('POST', '/v1/intent/authorize', asked)
    // A repeat by the same principal is shown the token again, as decided.
    expect(await done('POST', '/v1/intent/authorize', asked)).toMatchObject({ intent_token: token })
    const kept = secrets.keep('intent token', String(token))
    const verify = (json: Json) => done('POST', '/v1/intent/verify', { json: { ...ACTION, ...json }, headers })

    for (const { url } of [failing, quoting, reasoning]) {
      const rules = [{ id: 'ask', require: { webhook: { url } } }]
      await done('PUT', '/v1/policy', { json: { document: { rules } }, headers: { ...headers, 'if-match': '*' } })
      const { decision_id: id } = await verify({ intent_token: kept, execute: false })
      await done('GET', `/v1/decisions/${id}/explain`, { headers })
      for (const question of failing.questions) answers.push({ request: 'a question', text: sentTo(question) })
    }
    await done('PUT', '/v1/policy', { json: { document: { rules: [] } }, headers: { ...headers, 'if-match': '*' } })
    expect(await verify({ intent_token: kept, receipt: true })).toMatchObject({ valid: true })
    for (const other of [`${kept}x`, kept.slice(0, -8), `${kept.slice(0, 40)}.${kept}`, ...secrets.values()]) {
      const { valid, decision_id: id } = await verify({ intent_token: other, execute: false })
      // All but the token itself, which has been executed.
      expect(valid).toBe(other === kept)
      await done('GET', `/v1/decisions/${id}/explain`, { headers })
    }
    const evaluation = {
      subject: { type: 'agent_session', id: 'session-1' },
      action: { name: ACTION.action_description, properties: ACTION.action_payload },
      resource: { type: 'account', id: '1' },
      context: { intent_token: kept },
    }
    await done('POST', '/v1/access/evaluation', { json: evaluation, headers })
    await done('POST', '/v1/access/evaluations', { json: { ...evaluation, evaluations: [{}, {}] }, headers })
    const jti = String(JSON.parse(Buffer.from(kept.split('.')[1] ?? '', 'base64url').toString()).jti)
    await done('POST', `/v1/intent/executions/${jti}/outcome`, { json: { status: 'succeeded' }, headers })
    await done('POST', '/v1/intent/revocations', { json: { scope: 'token', jti, reason: 'test' }, headers })
    await done('GET', `/v1/intent/status/${jti}`, { headers })
  }

  /** Every route that reads a list or a state. */
  async function readEverything(owner: Record<string, string>, key: Record<string, string>) {
    const { paths } = await done('GET', '/v1/openapi.json')
    const plain = Object.entries(paths as Record<string, Json>).filter(
      ([path, methods]) => 'get' in methods && !path.includes('{') && path !== '/v1/auth/session',
    )
    expect(plain.length).toBeGreaterThan(40)
    for (const [path] of plain) for (const headers of [owner, key]) await ask('GET', path, { headers })
  }

  /** Each kind of error, with each secret. */
  async function provokeErrors(owner: Record<string, string>, key: Record<string, string>) {
    const codes = new Set<unknown>()
    const fail = async (...sent: Parameters<typeof ask>) => {
      const { status, json } = await ask(...sent)
      if (status >= 300) codes.add(json.code)
    }
    // The operator's own is in no request.
    const sent = secrets.values().slice(1)
    for (const secret of sent) {
      if (owner.cookie?.includes(secret) !== true) {
        await fail('GET', '/v1/claims', { headers: { cookie: `svc_session=${secret}` } })
      }
      for (const { method, path, ...rest } of refusedRequests(secret, ACTION, key)) await fail(method, path, rest)
    }
    // An internal error whose cause quotes the row.
    await system.database.owner(`CREATE FUNCTION quote_row() RETURNS trigger LANGUAGE plpgsql
      AS $$ BEGIN RAISE EXCEPTION 'this row is refused: %', NEW; END $$`)
    await system.database.owner(
      'CREATE TRIGGER quote_row BEFORE INSERT ON agents FOR EACH ROW EXECUTE FUNCTION quote_row()',
    )
    for (const secret of sent) {
      const part = secret.slice(-100)
      const json = { name: part, owner: part, metadata: { secret: secret.slice(0, 400), line: `a\n${part}` } }
      await fail('POST', '/v1/agents', { json, headers: key })
    }
    await system.database.owner('DROP TRIGGER quote_row ON agents')
    expect([...codes]).toEqual(
      expect.arrayContaining([
        'invalid_api_key',
        'api_key_revoked',
        'session_expired',
        'environment_mismatch',
        'not_found',
        'method_not_allowed',
        'invalid_request',
        'invalid_json',
        'precondition_failed',
        'unsupported_media_type',
        'idempotency_key_reused',
        'internal_error',
      ]),
    )
  }

  async function useExport(owner: Record<string, string>) {
    const { export_id: id } = await done('POST', '/v1/account/export', { headers: owner })
    await until(async () => (await done('GET', `/v1/account/exports/${id}`, { headers: owner })).status === 'succeeded')
    const archive = await fetchAgain(`${system.baseUrl}/v1/account/exports/${id}/download`, { headers: owner })
    const files = unzip(Buffer.from(await archive.arrayBuffer()))
    expect([...files.keys()].length).toBeGreaterThan(20)
    for (const [name, bytes] of files) answers.push({ request: `an export, ${name}`, text: bytes.toString('latin1') })
  }

  async function untilQuiet() {
    await until(async () => {
      const [row] = await system.database.owner<{ waiting: number }>(
        `SELECT (SELECT count(*) FROM jobs WHERE queue <> 'deliver' AND state NOT IN ('succeeded', 'dead', 'cancelled'))::int
           + (SELECT count(*) FROM ledger_pending)::int AS waiting`,
      )
      return row?.waiting === 0
    })
  }

  async function readMetrics(): Promise<string> {
    const ports = Object.values(system.supervisor.internalPorts)
    expect(ports).toHaveLength(PROCESSES.length)
    const texts = ports.map(async (port) => (await fetch(`http://127.0.0.1:${port}/metrics`)).text())
    return (await Promise.all(texts)).join('\n')
  }
})

function sentTo({ headers, rawBody }: { headers: object; rawBody: Buffer }): string {
  return JSON.stringify(headers) + rawBody.toString()
}
