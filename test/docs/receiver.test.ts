import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { signDelivery } from '#src/account/webhooks/signature.ts'
import { choosePorts } from '../../commands/ports.ts'
import { call } from '../support/http.ts'
import { until } from '../support/until.ts'

// The receiver of docs/webhooks/webhooks.md, unchanged: on the machine's own Node if it has the stated minimum version, and on
// the Node that the service ships.

const ROOT = resolve(import.meta.dirname, '../..')
const SECRET = 'whsec_AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8'
const snippet = /^```js\n(\/\/ receiver\.mjs\n[\s\S]*?)^```$/m.exec(
  readFileSync(join(ROOT, 'docs/webhooks/webhooks.md'), 'utf8'),
)?.[1]

describe.each(nodesOf())('the receiver of the guide on Node %s', (_version, node) => {
  let child: ChildProcess
  let printed = ''
  let port = 0
  const directory = mkdtempSync(join(tmpdir(), 'countersign-receiver-'))

  beforeAll(async () => {
    const { web } = await choosePorts({ port: 0, internalPort: 0 })
    port = web
    const file = join(directory, 'receiver.mjs')
    writeFileSync(file, (snippet ?? '').replace('4000', String(port)))
    child = spawn(node, [file], { env: { WEBHOOK_SECRET: SECRET }, stdio: ['ignore', 'pipe', 'pipe'] })
    const listen = (chunk: Buffer) => {
      printed += String(chunk)
    }
    child.stdout?.on('data', listen)
    child.stderr?.on('data', listen)
    await until(() => printed.includes('listening'))
  })
  afterAll(() => {
    child.kill('SIGKILL')
    rmSync(directory, { recursive: true, force: true })
  })

  it('accepts what the service signs', async () => {
    const rawBody = Buffer.from(JSON.stringify({ event_id: 'evt_test_1', type: 'ping' }))
    const headers = signDelivery({ rawBody, eventId: 'evt_test_1', secrets: [SECRET], nowSeconds: nowSeconds() })
    expect((await call({ port }, '/', { method: 'POST', body: rawBody, headers })).status).toBe(200)
    await until(() => printed.includes("event_id: 'evt_test_1'"))
  })

  it('refuses everything else, and continues', async () => {
    const rawBody = Buffer.from('{}')
    const sign = (secret: string, at: number) =>
      String(signDelivery({ rawBody, eventId: 'e', secrets: [secret], nowSeconds: at })['service-signature'])
    const good = sign(SECRET, nowSeconds())
    for (const signature of [
      undefined,
      '',
      '=',
      't=1',
      `t=${nowSeconds()}`,
      `t=${nowSeconds()},v1`,
      `t=${nowSeconds()},v1=`,
      `t=${nowSeconds()},v1=${'é'.repeat(64)}`,
      `t=${nowSeconds()},v1=${'0'.repeat(64)}`,
      sign('whsec_other', nowSeconds()),
      sign(SECRET, nowSeconds() - 301),
      good.replace('t=', 't=0x'),
    ]) {
      const headers: Record<string, string> =
        signature === undefined ? {} : { 'service-signature': Buffer.from(signature).toString('latin1') }
      const { status } = await call({ port }, '/', { method: 'POST', body: rawBody, headers })
      expect([signature, status]).toEqual([signature, 400])
    }
    const changed = await call({ port }, '/', { method: 'POST', body: '{ }', headers: { 'service-signature': good } })
    expect(changed.status).toBe(400)
    const headers = { 'service-signature': good }
    expect((await call({ port }, '/', { method: 'POST', body: rawBody, headers })).status).toBe(200)
  })
})

function nowSeconds(): number {
  return Math.floor(Date.now() / 1000)
}

/** The service's Node, and the machine's own if it is new enough. */
function nodesOf(): [version: string, path: string][] {
  const own = (process.env.PATH ?? '')
    .split(delimiter)
    .filter((folder) => !folder.includes('node_modules'))
    .map((folder) => join(folder, 'node'))
    .find(existsSync)
  return [process.execPath, ...(own === undefined ? [] : [own])].flatMap((path): [string, string][] => {
    const version = spawnSync(path, ['--version'], { encoding: 'utf8' }).stdout.trim()
    return Number(/^v(\d+)\./.exec(version)?.[1]) >= 20 ? [[version, path]] : []
  })
}
