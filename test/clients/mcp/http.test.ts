// MCP over HTTP: the whole way of an action through a scripted agent in both eras, and who may call at all.

import { request as httpRequest } from 'node:http'
import type { CallToolResult } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createCaller } from '../../../clients/mcp/src/calls/caller.ts'
import { readCredential } from '../../../clients/mcp/src/calls/credential.ts'
import { type HttpServer, serveHttp } from '../../../clients/mcp/src/http.ts'
import { createServer } from '../../../clients/mcp/src/server.ts'
import { createCatalog, type Selection } from '../../../clients/mcp/src/tools/catalog.ts'
import { type ApprovalService, startApprovals } from '../../authorize/approvals/service.ts'
import type { TestCaller } from '../../support/callers.ts'
import { type Connected, connectHttp, ERAS } from './connect.ts'

const NONE: Selection = { toolsets: [], tools: [], isReadOnly: false, scopes: undefined }
const catalog = createCatalog(NONE)

let service: ApprovalService
let caller: TestCaller
/** On loopback, with a key of the environment, and on all addresses. */
let local: HttpServer
let open: HttpServer
const errors: string[] = []

beforeAll(async () => {
  service = await startApprovals()
  caller = await service.makeCaller()
  const listen = (host: string) =>
    serveHttp({
      host,
      port: 0,
      apiKey: caller.key,
      serverFor: (apiKey) => createServer({ catalog, caller: createCaller({ baseUrl: service.app.url, apiKey }) }),
      onError: ({ message }) => void errors.push(message),
    })
  local = await listen('127.0.0.1')
  open = await listen('0.0.0.0')
})
afterAll(async () => {
  await Promise.all([local.close(), open.close()])
  await service.close()
})

describe.each(ERAS)('a scripted agent in the %s era', (era) => {
  let on: Connected
  beforeAll(async () => {
    on = await connectHttp(local.url, era)
  })
  afterAll(() => on.close())

  const call = async (name: string, args: Record<string, unknown>) => {
    const { structuredContent, isError } = (await on.client.callTool({ name, arguments: args })) as CallToolResult
    return { ...(structuredContent as Record<string, unknown>), isError: isError === true }
  }

  it('authorizes, waits for a person, verifies and reports', async () => {
    const when = { field: 'context.transaction_amount', op: 'gt', value: 100 }
    await service.setPolicy(caller, { rules: [{ id: 'people', when, require: { approval: {} } }] })
    const action = {
      action_description: `Order paper for 120 EUR (${era})`,
      action_payload: { amount: '120', item: 'paper' },
      agent_session_id: `office-${era}`,
      device_id: 'server-1',
      context: { transaction_amount: 120 },
    }
    const authorized = await call('authorize_intent', action)
    expect(authorized).toMatchObject({ isError: false, approval_id: expect.stringMatching(/^apr_/) })
    const { approval_id: id, jti, intent_token } = authorized as unknown as Record<string, string>
    const early = await call('verify_intent', { ...action, intent_token })
    expect(early).toMatchObject({ isError: false, valid: false, reason: 'approval_pending' })

    // The agent waits while a person decides. It has no tool for that.
    const waited = call('get_approval', { approval_id: id, wait: 25 })
    const consent = await call('call_operation', { operation: 'approvals.approve', arguments: { approval_id: id } })
    expect(consent).toMatchObject({ isError: true, code: 'not_available' })
    const person = await service.join(caller)
    expect(await service.approve(person, String(id))).toMatchObject({ status: 200 })
    expect(await waited).toMatchObject({ isError: false, status: 'approved', action_payload: action.action_payload })

    const verified = await call('verify_intent', { ...action, intent_token })
    expect(verified).toMatchObject({ isError: false, valid: true })
    const reported = await call('report_outcome', { jti, status: 'succeeded' })
    expect(reported).toMatchObject({ isError: false, status: 'succeeded' })
    const { data } = (await call('list_decisions', { jti })) as unknown as { data: { kind: string; key_id?: string }[] }
    expect(data.map(({ kind }) => kind)).toEqual(
      expect.arrayContaining(['outcome', 'execute', 'approval_decision', 'approval', 'authorize']),
    )
  })
})

const LIST = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: {} })

/** A request as no client library would send it. */
function send(url: string, headers: Record<string, string> = {}, { path = '/mcp', body = LIST, method = 'POST' } = {}) {
  const { port } = new URL(url)
  const all = { Accept: 'application/json, text/event-stream', 'Content-Type': 'application/json', ...headers }
  return new Promise<{ status: number; text: string; challenge: string | undefined }>((resolve, reject) => {
    const request = httpRequest({ host: '127.0.0.1', port, method, path, headers: all }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk) => {
        text += chunk
      })
      response.on('end', () => {
        resolve({ status: response.statusCode ?? 0, text, challenge: response.headers['www-authenticate'] })
      })
    })
    request.on('error', reject)
    request.end(method === 'GET' ? undefined : body)
  })
}

describe('on loopback', () => {
  it('the key of the environment serves local callers', async () => {
    expect(await send(local.url)).toMatchObject({ status: 200, text: expect.stringContaining('verify_intent') })
  })

  it.each([
    ['a page of another site', { Origin: 'https://attacker.example' }],
    ['a sandboxed page', { Origin: 'null' }],
    ['a name that leads here by DNS', { Host: 'attacker.example' }],
    ['a name that begins like ours', { Host: 'localhost.attacker.example' }],
  ])('%s is refused', async (_title, headers) => {
    expect(await send(local.url, headers)).toMatchObject({ status: 403 })
  })

  it('a page of this machine may call', async () => {
    expect(await send(local.url, { Origin: 'http://localhost:6274' })).toMatchObject({ status: 200 })
  })

  it('a request with a credential of its own does not get that of the environment', async () => {
    for (const credential of ['Basic dXNlcjpwYXNz', 'Bearer', 'Bearer two words']) {
      expect(await send(local.url, { Authorization: credential }), credential).toMatchObject({ status: 401 })
    }
    const on = await connectHttp(local.url, 'modern', { headers: { Authorization: 'Bearer svc_test_of_nobody' } })
    expect(await on.client.callTool({ name: 'list_claims' })).toMatchObject({ isError: true })
    await on.close()
  })

  it.each([
    ['another path', {}, { path: '/' }, 404],
    ['a path that is no address', {}, { path: '//' }, 400],
    ['no JSON', {}, { body: '{' }, 400],
    ['an endless body', {}, { body: `"${'x'.repeat(5_000_000)}"` }, 413],
    ['a GET', {}, { method: 'GET' }, 405],
  ])('%s is refused', async (_title, headers, sent, status) => {
    expect(await send(local.url, headers, sent)).toMatchObject({ status })
  })
})

describe('a destructive call over HTTP', () => {
  const revoke = { scope: 'device', device_id: 'lost-1', reason: 'Lost' }
  const answer = () => ({ action: 'accept', content: { confirm: true } }) as const

  it('asks the person of a host of 2026', async () => {
    const on = await connectHttp(local.url, 'modern', { answer })
    const result = await on.client.callTool({ name: 'revoke_intents', arguments: revoke })
    expect(result).toMatchObject({ structuredContent: { device_id: 'lost-1' } })
    expect(on.asked).toEqual([expect.stringContaining('lost-1')])
    await on.close()
  })

  it('takes the id again from a host of 2025, which no request reaches', async () => {
    const on = await connectHttp(local.url, 'legacy', { answer })
    const refused = await on.client.callTool({ name: 'revoke_intents', arguments: revoke })
    expect(refused).toMatchObject({ isError: true, structuredContent: { code: 'confirmation_required' } })
    const confirmed = { ...revoke, confirm: 'lost-1' }
    const result = await on.client.callTool({ name: 'revoke_intents', arguments: confirmed })
    expect(result).toMatchObject({ structuredContent: { device_id: 'lost-1' } })
    expect(on.asked).toEqual([])
    await on.close()
  })
})

describe('on another address', () => {
  it('a request without a key is refused, and the key of the environment is not used', async () => {
    expect(await send(open.url)).toMatchObject({ status: 401, challenge: 'Bearer' })
  })

  it.each(ERAS)('each request acts with its own key (%s)', async (era) => {
    const other = await service.makeCaller()
    const claimId = await service.makeClaim(other)
    const url = open.url.replace('0.0.0.0', '127.0.0.1')
    const on = await connectHttp(url, era, { headers: { Authorization: `Bearer ${other.key}` } })
    const { structuredContent } = await on.client.callTool({ name: 'list_claims' })
    expect(structuredContent).toMatchObject({ data: [{ claim_id: claimId }] })
    await on.close()
  })
})

describe('the scopes of the key', () => {
  const narrowed = async (key: string, options: Selection = NONE, url = service.app.url) => {
    const said: string[] = []
    const asking = createCaller({ baseUrl: url, apiKey: key, maxRetries: 0 })
    const selection = await readCredential({ options, caller: asking, say: (line) => void said.push(line) })
    return { names: createCatalog(selection).tools.map(({ operation }) => operation.tool), said }
  }

  it('decide which tools are offered', async () => {
    const all = (await narrowed(caller.key)).names
    expect(all.length).toBe(24)
    const { names } = await narrowed(service.addKey({ accountId: caller.accountId, scopes: ['verify'] }))
    expect(names).toContain('verify_intent')
    expect(names).not.toContain('list_agents')
    const reading = service.addKey({ accountId: caller.accountId, scopes: ['verify', 'intent'], isReadOnly: true })
    expect((await narrowed(reading)).names).toEqual(expect.arrayContaining(['list_claims', 'list_agents']))
    expect((await narrowed(reading)).names).not.toContain('verify_intent')
  })

  it('are told by --scopes without the service, and are unknown while it is away', async () => {
    expect((await narrowed(caller.key, { ...NONE, scopes: ['intent'] }, 'http://127.0.0.1:1')).names).not.toContain(
      'list_claims',
    )
    const { names, said } = await narrowed(caller.key, NONE, 'http://127.0.0.1:1')
    expect(names.length).toBe(24)
    expect(said).toEqual([expect.stringContaining('connection_failed')])
    expect(said.join()).not.toContain(caller.key)
  })
})

it('nothing of it was an error of this program', () => {
  expect(errors.filter((message) => message.includes(caller.key))).toEqual([])
})
