// The operator's commands as processes, beside a system that works.

import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { text } from 'node:stream/consumers'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createAccounts } from '#src/account/keys/accounts.ts'
import { createKeys } from '#src/account/keys/keys.ts'
import { emitMany } from '#src/account/webhooks/emit.ts'
import { verifyWebhookSignature } from '#src/account/webhooks/signature.ts'
import { newId, type Scope } from '#src/platform/ids.ts'
import { type System, startSystem } from '../support/system.ts'
import { until } from '../support/until.ts'

const ROOT = resolve(import.meta.dirname, '../..')
const [k1, k2] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')]

let system: System
let receiver: Server
let url: string
let directory: string
const received: { path: string; isSigned: boolean }[] = []
const secrets = new Map<string, string>()

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'countersign-operator-'))
  receiver = createServer(async (request, response) => {
    const body = await text(request)
    const path = request.url ?? ''
    const secret = secrets.get(path)
    const verdict =
      secret === undefined
        ? undefined
        : verifyWebhookSignature({ rawBody: Buffer.from(body), headers: request.headers }, [secret], Date.now() / 1_000)
    received.push({ path, isSigned: verdict?.valid === true })
    response.end()
  })
  receiver.listen(0, '127.0.0.1')
  await once(receiver, 'listening')
  url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
  system = await startSystem({
    engine: 'postgres',
    only: ['web', 'dispatch', 'deliver'],
    // The first step of a rotation: the new key opens, and does not seal.
    environment: { MASTER_KEY: k1, MASTER_KEYS_PREVIOUS: `k2=${k2}` },
  })
}, 120_000)
afterAll(async () => {
  await system?.close()
  receiver?.close()
  rmSync(directory, { recursive: true, force: true })
})

async function admin(words: string[], changes: Record<string, string> = {}) {
  const env = {
    ...process.env,
    // vitest sets both of these for itself.
    MODE: 'development',
    BASE_URL: '',
    DATABASE_URL: system.database.url,
    DATABASE_OWNER_URL: '',
    REDIS_URL: '',
    MASTER_KEY: k1,
    DATA_DIR: directory,
    ...changes,
  }
  const child = spawn(process.execPath, ['commands/admin.ts', ...words], {
    cwd: ROOT,
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [stdout, stderr, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return {
    status,
    stdout,
    stderr,
    json: stdout.startsWith('{') || stdout.startsWith('[') ? JSON.parse(stdout) : undefined,
  }
}

async function api(method: string, path: string, { key = system.key, body }: { key?: string; body?: object } = {}) {
  const answer = await fetch(`${system.baseUrl}${path}`, {
    method,
    headers: { Authorization: `Bearer ${key}`, ...(body && { 'Content-Type': 'application/json' }) },
    ...(body && { body: JSON.stringify(body) }),
  })
  return { status: answer.status, json: (await answer.json()) as Record<string, string> }
}

async function makeEndpoint(path: string, key = system.key): Promise<void> {
  const { json } = await api('POST', '/v1/webhook-endpoints', {
    key,
    body: { url: `${url}${path}`, event_types: ['*'] },
  })
  secrets.set(path, json.signing_secret ?? '')
}

const emit = (scope: Scope) =>
  system.database.db.tenant(scope, (tx) =>
    emitMany(tx, scope, [
      {
        type: 'claim.escalated',
        data: { claim_id: newId('clm', scope.environment), risk_score: 70, factor_codes: ['signature_invalid'] },
      },
    ]),
  )
const logLines = () =>
  readFileSync(join(directory, 'logs/admin.log'), 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line))
const count = (path: string) => received.filter((one) => one.path === path).length

it('account suspend stops requests and deliveries of running processes, and unsuspend loses none of them', async () => {
  const other = await createAccounts({ db: system.database.db }).create({ name: 'Other', plan: 'enterprise' })
  const otherScope: Scope = { accountId: other.id, environment: 'sandbox' }
  const { key: otherKey } = await createKeys({ db: system.database.db }).create(otherScope, {
    name: 'o',
    scopes: ['all'],
  })
  await makeEndpoint('/suspended')
  await makeEndpoint('/other', otherKey)
  const { accountId } = system.scope

  const unasked = await admin(['account', 'suspend', accountId, '--reason', 'unpaid'])
  expect(unasked).toMatchObject({ status: 1, stdout: '', stderr: expect.stringContaining('agree with --yes') })
  expect((await api('GET', '/v1/webhook-endpoints')).status).toBe(200)

  const done = await admin(['account', 'suspend', accountId, '--reason', 'unpaid', '--yes', '--json'])
  expect(done).toMatchObject({ status: 0, json: { id: accountId, suspensionReason: 'unpaid' } })
  expect(await api('GET', '/v1/webhook-endpoints')).toMatchObject({ status: 403, json: { code: 'account_suspended' } })
  await emit(system.scope)
  // Later events of another account are delivered, and this one's is not.
  for (let sent = 1; sent <= 3; sent += 1) {
    await emit(otherScope)
    await until(() => count('/other') === sent, { what: `delivery ${sent} of the other account` })
  }
  expect(count('/suspended')).toBe(0)

  expect(await admin(['account', 'unsuspend', accountId])).toMatchObject({ status: 0 })
  expect((await api('GET', '/v1/webhook-endpoints')).status).toBe(200)
  await until(() => count('/suspended') === 1, { what: 'the delivery that waited' })

  expect(logLines()).toMatchObject([
    { act: 'account suspend', account: accountId, reason: 'unpaid', user: expect.any(String) },
    { act: 'account unsuspend', account: accountId },
  ])
}, 120_000)

it('master-key reseal moves what running processes seal under the old key, while they deliver', async () => {
  const rotated = { MASTER_KEY: k2, MASTER_KEY_ID: 'k2', MASTER_KEYS_PREVIOUS: `k1=${k1}` }
  const paths = Array.from({ length: 24 }, (_, index) => `/during/${index}`)
  const writing = (async () => {
    for (const path of paths) await makeEndpoint(path)
  })()
  await until(() => secrets.has(paths[4] ?? ''), { what: 'some endpoints exist' })
  const [moved] = await Promise.all([admin(['master-key', 'reseal', '--json'], rotated), writing])
  expect(moved).toMatchObject({ status: 0, json: { keyId: 'k2', resealed: expect.any(Number) } })
  expect(moved.stderr).toMatch(/Pass 1: found \d+, sealed \d+ under k2/)
  // What was written after its last pass.
  expect(await admin(['master-key', 'reseal'], rotated)).toMatchObject({ status: 0 })

  const { json, stderr } = await admin(['master-key', 'status', '--json'], rotated)
  expect(stderr).toContain('Every value stands under k2')
  expect(json).toEqual([
    { table: 'signing_keys', column: 'sealed_private_key', keyId: 'k2', key: 'current', values: 4 },
    { table: 'webhook_endpoints', column: 'sealed_secret', keyId: 'k2', key: 'current', values: 26 },
  ])
  received.length = 0
  await emit(system.scope)
  await until(() => received.length === paths.length + 1, { what: 'the event at every endpoint' })
  expect(received.filter(({ isSigned }) => !isSigned)).toEqual([])

  const without = await admin(['master-key', 'reseal'], {
    MASTER_KEY: randomBytes(32).toString('base64'),
    MASTER_KEY_ID: 'k3',
  })
  expect(without).toMatchObject({ status: 1, stdout: '' })
  expect(without.stderr).toMatch(/30 values could not be opened/)
  expect(without.stderr).toMatch(/webhook_endpoints\.sealed_secret whe_test_\w+ of acc_\w+ \(sandbox\): .*k2/)
  expect(logLines().slice(-2)).toMatchObject([
    { act: 'master-key reseal', resealed: 0, unopened: 30 },
    { act: 'master-key reseal', failed: expect.any(String) },
  ])
}, 120_000)

it('signing-key revoke takes a token key out of the key set of a running web, and marks a record key in it', async () => {
  type Key = { kid: string; env: string; family: string; revoked?: { doubted_since: string } }
  const published = async () => {
    const answer = await fetch(`${system.baseUrl}/.well-known/jwks.json`)
    return ((await answer.json()) as { keys: Key[] }).keys.filter(({ env }) => env === 'live')
  }
  const since = '2026-01-01T00:00:00.000Z'
  const before = await published()
  for (const { kid } of before) {
    expect(await admin(['signing-key', 'revoke', kid, '--doubted-since', since, '--yes'])).toMatchObject({ status: 0 })
  }
  const hasChanged = async () => (await published()).filter(({ revoked }) => revoked !== undefined).length === 1
  await until(hasChanged, { what: 'the key set says so' })
  await until(async () => (await published()).length === 3, { what: 'the token key is gone' })
  const after = await published()
  const old = new Map(before.map(({ kid, family }) => [kid, family]))
  expect(after.filter(({ kid }) => old.has(kid))).toMatchObject([
    { family: 'record', revoked: { doubted_since: since } },
  ])
  expect(new Set(after.filter(({ kid }) => !old.has(kid)).map(({ family }) => family))).toEqual(
    new Set(['record', 'token']),
  )
}, 120_000)
