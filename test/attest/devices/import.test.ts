import { connect } from 'node:net'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createBulkWork } from '#src/platform/bulk-work.ts'
import { createFairBudget, type Hold } from '#src/platform/fair-budget.ts'
import { AT, type Issued, make, makeChain } from '../../platform/crypto/pki.ts'
import { type AttestApp, startAttestApp } from '../../support/attest.ts'
import type { TestCaller } from '../../support/callers.ts'
import { call, return503, type TestAnswer } from '../../support/http.ts'
import { until } from '../../support/until.ts'

const FLEET = 1_000
const BUDGET_BYTES = 32 * 1024 * 1024
const { root, intermediate, leaf } = await makeChain()
const fleet: Issued[] = []
const budget = createFairBudget(BUDGET_BYTES)
const bulkWork = createBulkWork({ connections: 4 })
let app: AttestApp
let admin: TestCaller

beforeAll(async () => {
  app = await startAttestApp(AT, { importBudget: budget, bulkWork })
  for (let index = 0; index < FLEET; index += 1)
    fleet.push(await make({ name: `Phone ${index}`, issuer: intermediate }))
})
afterAll(() => app.close())
return503()
beforeEach(async () => {
  admin = await app.makeCaller()
  await app.rootCas.register(admin, { name: 'Root', certificate: root.der.toString('base64') })
})

interface Imported {
  accepted: number
  rejected: { line: number; errors: { pointer: string; code: string }[] }[]
  devices: { line: number; device_id: string }[]
}

describe('an import', () => {
  it('enrolls valid lines and reports invalid ones by line', async () => {
    const [first, second, third] = fleet as [Issued, Issued, Issued]
    const lines = [
      lineOf(first, 'Phone 1'),
      'not json',
      '',
      lineOf(second),
      '{"certificate_chain":["?"]}',
      '{"name":"a","name":"b"}',
      JSON.stringify({ certificate_chain: [third.der.toString('base64')] }),
      JSON.stringify({ certificate_chain: [], colour: 'red' }),
      '[1]',
      `{"name":"${'n'.repeat(70_000)}"}`,
      '{"name":"a\\u0000","certificate_chain":["AAAA"]}',
      Buffer.from([0x22, 0xff, 0x22]),
      lineOf(third),
    ]
    const { status, json } = await importLines(lines)
    expect(status).toBe(200)
    const result = json as unknown as Imported
    expect(result).toMatchObject({ object: 'device_batch', accepted: 3 })
    expect(result.devices.map(({ line }) => line)).toEqual([1, 4, 13])
    expect(result.rejected.map(({ line, errors }) => [line, errors[0]?.pointer, errors[0]?.code])).toEqual([
      [2, '', 'malformed'],
      [5, '/certificate_chain/0', 'invalid_base64'],
      [6, '/name', 'duplicate_key'],
      [7, '/certificate_chain', 'unknown_ca'],
      [8, '/certificate_chain', 'too_few'],
      [9, '', 'invalid_type'],
      [10, '', 'too_large'],
      [11, '/name', 'invalid_character'],
      [12, '', 'invalid_utf8'],
    ])
    const { json: device } = await app.call(admin.key, `/v1/admin/devices/${result.devices[0]?.device_id}`)
    expect(device).toMatchObject({ name: 'Phone 1', status: 'enrolled', certificate: { subject: 'CN=Phone 0' } })
  })

  it('of a thousand lines with one invalid line enrolls 999', async () => {
    const lines = fleet.map((device) => lineOf(device))
    lines[499] = '{"certificate_chain":['
    const { json } = await importLines(lines)
    expect(json).toMatchObject({ accepted: FLEET - 1, rejected: [{ line: 500, errors: [{ code: 'malformed' }] }] })
    expect(await countDevices()).toBe(FLEET - 1)
  })

  it('returns one device for one key, however often it occurs', async () => {
    const { json: enrolled } = await app.call(admin.key, '/v1/admin/devices', { json: bodyOf(leaf, 'First') })
    const [other] = fleet as [Issued]
    const { json } = await importLines([lineOf(leaf, 'A'), lineOf(other, 'B'), lineOf(leaf, 'C'), lineOf(other, 'D')])
    const { devices } = json as unknown as Imported
    expect(devices.map(({ line }) => line)).toEqual([1, 2, 3, 4])
    expect(devices[0]?.device_id).toBe(enrolled.device_id)
    expect(devices[2]?.device_id).toBe(enrolled.device_id)
    expect(devices[3]?.device_id).toBe(devices[1]?.device_id)
    expect(await names()).toEqual(['B', 'First'])
  })

  it('rejects the key of a revoked device by its line', async () => {
    const { json: enrolled } = await app.call(admin.key, '/v1/admin/devices', { json: bodyOf(leaf) })
    await app.devices.revoke(admin, String(enrolled.device_id), { reason: 'stolen' })
    const { json } = await importLines([lineOf(fleet[0] as Issued), lineOf(leaf), '?'])
    expect(json).toMatchObject({
      accepted: 1,
      devices: [{ line: 1 }],
      rejected: [
        { line: 2, errors: [{ pointer: '/certificate_chain/0', code: 'device_revoked' }] },
        { line: 3, errors: [{ code: 'malformed' }] },
      ],
    })
  })

  it('creates one device per key when two imports run concurrently, in any order of lines', async () => {
    const forward = fleet.map((device) => lineOf(device))
    const answers = await Promise.all([
      importLines(forward),
      importLines(forward.toReversed()),
      importLines(forward),
      app.call(admin.key, '/v1/admin/devices', { json: bodyOf(fleet[500] as Issued) }),
    ])
    expect(answers.map(({ status }) => status)).toEqual([200, 200, 200, 200])
    const [one, reversed, three] = answers.slice(0, 3).map(({ json }) => (json as unknown as Imported).devices)
    expect(one?.map(({ device_id: id }) => id)).toEqual(three?.map(({ device_id: id }) => id))
    expect(one?.map(({ device_id: id }) => id)).toEqual(reversed?.map(({ device_id: id }) => id).toReversed())
    expect(one?.[500]?.device_id).toBe(answers[3]?.json.device_id)
    expect(await countDevices()).toBe(FLEET)
  })

  it('reports an invalid line without one error for each of its values', async () => {
    const { status, json } = await importLines([
      JSON.stringify({ certificate_chain: Array(30_000).fill(1) }),
      lineOf(leaf),
    ])
    expect(status).toBe(200)
    expect(json).toMatchObject({
      accepted: 1,
      rejected: [{ line: 1, errors: [{ pointer: '', code: 'too_many_values' }] }],
    })
  })

  it('of no lines enrolls nothing', async () => {
    expect((await importLines([])).json).toEqual({ object: 'device_batch', accepted: 0, rejected: [], devices: [] })
  })

  it('does not block other requests while it verifies', async () => {
    const importing = importLines(fleet.map((device) => lineOf(device)))
    let isDone = false
    void importing.then(() => {
      isDone = true
    })
    let longestMs = 0
    while (!isDone) {
      const before = process.threadCpuUsage()
      await new Promise((resolve) => setImmediate(resolve))
      longestMs = Math.max(longestMs, process.threadCpuUsage(before).user / 1_000)
    }
    expect((await importing).status).toBe(200)
    // A thousand lines are half a second of work, never in one piece. Processor time: a busy machine lengthens the other.
    expect(longestMs).toBeLessThan(200)
  })
})

describe('a refused import stores nothing', () => {
  it('when it has more than 10,000 lines', async () => {
    const { status, json } = await importLines([lineOf(leaf), ...Array.from({ length: 10_000 }, () => '{}')])
    expect({ status, code: json.code }).toEqual({ status: 413, code: 'payload_too_large' })
    expect(await countDevices()).toBe(0)
  })

  it('when it has more than 1,000 lines with a publishable key', async () => {
    const key = app.addKey({ ...admin, isAccountBearing: false })
    const lines = [lineOf(leaf), ...Array.from({ length: 1_000 }, () => '{}')]
    expect((await importLines(lines, key)).status).toBe(413)
    expect((await importLines(lines.slice(1), key)).status).toBe(200)
    expect(await countDevices()).toBe(0)
  })

  it('when it has more than 64 MiB', async () => {
    const body = Buffer.alloc(64 * 1024 * 1024 + 1, 0x20)
    expect((await importLines([body])).json.code).toBe('payload_too_large')
  })

  it('when its connection breaks', async () => {
    const socket = connect(app.app.port, '127.0.0.1')
    const part = `${lineOf(leaf)}\n`
    socket.write(
      `POST /v1/admin/devices/batches HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${admin.key}\r\n` +
        `Content-Type: application/x-ndjson\r\nContent-Length: ${part.length + 10}\r\n\r\n${part}`,
    )
    await until(() => !isBudgetFree())
    socket.destroy()
    await until(() => isBudgetFree())
    expect(await countDevices()).toBe(0)
  })

  it('when imports of the account already hold all the memory that they may', async () => {
    const held = budget.open(admin.accountId)
    expect(held.take(BUDGET_BYTES / 2 - 4 * 1024)).toBe(true)
    try {
      const { status, headers } = await importLines(fleet.slice(0, 20).map((device) => lineOf(device)))
      expect(status).toBe(503)
      expect(headers['retry-after']).toBeDefined()
    } finally {
      held.release()
    }
    expect(isBudgetFree()).toBe(true)
    expect(await countDevices()).toBe(0)
  })
})

describe('beside bulk work', () => {
  it('of its own account, an import waits; beside that of another account, it does not', async () => {
    const other = await app.makeCaller()
    await app.rootCas.register(other, { name: 'Root', certificate: root.der.toString('base64') })
    const [first, second] = fleet.map((device) => lineOf(device)) as [string, string]
    const release = Promise.withResolvers<void>()
    const running = bulkWork(admin.accountId, 10_000, () => release.promise)
    let isAnswered = false
    const own = importLines([first]).finally(() => {
      isAnswered = true
    })
    await until(() => !isBudgetFree())
    expect((await importLines([second], other.key)).status).toBe(200)
    expect(isAnswered).toBe(false)
    release.resolve()
    await running
    expect((await own).status).toBe(200)
  })

  it('that holds all the memory of another account, an import has its own', async () => {
    const loud = budget.open('another account')
    while (loud.take(64 * 1024));
    const { status } = await importLines(fleet.slice(0, 20).map((device) => lineOf(device)))
    loud.release()
    expect(status).toBe(200)
  })

  it('that still arrives, an import loses its memory to another account when others have all', async () => {
    const other = await app.makeCaller()
    await app.rootCas.register(other, { name: 'Root', certificate: root.der.toString('base64') })
    const devices = fleet.slice(0, 100)
    const part = devices.map((device) => `${lineOf(device)}\n`).join('')
    const held = devices.reduce((sum, { der }) => sum + 1_024 + der.byteLength + intermediate.der.byteLength, 0)
    const socket = connect(app.app.port, '127.0.0.1')
    const answered = new Promise<string>((resolve) => socket.once('data', (bytes) => resolve(String(bytes))))
    socket.write(
      `POST /v1/admin/devices/batches HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${admin.key}\r\n` +
        `Content-Type: application/x-ndjson\r\nContent-Length: ${2 * part.length}\r\n\r\n${part}`,
    )
    await until(() => !isBudgetFree(held - 2))
    const begun: Hold[] = []
    for (let free = BUDGET_BYTES - held; free > 2_000; free = Math.ceil(free / 2)) {
      const hold = budget.open(`account ${begun.length}`)
      expect(hold.take(Math.floor(free / 2))).toBe(true)
      begun.push(hold)
    }
    const { status } = await importLines(
      fleet.slice(100, 110).map((device) => lineOf(device)),
      other.key,
    )
    for (const hold of begun) hold.release()
    expect(status).toBe(200)
    socket.write(part)
    expect(await answered).toMatch(/^HTTP\/1.1 503 /)
    socket.destroy()
  })
})

/** Whether the account holds no more than so much, where no other holds anything. */
function isBudgetFree(bytes = 0): boolean {
  const hold = budget.open(admin.accountId)
  const isFree = hold.take(BUDGET_BYTES / 2 - bytes)
  hold.release()
  return isFree
}

function importLines(lines: (string | Buffer)[], key = admin.key): Promise<TestAnswer> {
  const body = Buffer.concat(lines.flatMap((line) => [Buffer.from(line), Buffer.from('\n')]))
  return call(app.app, '/v1/admin/devices/batches', {
    key,
    method: 'POST',
    body,
    headers: { 'Content-Type': 'application/x-ndjson' },
  })
}

function lineOf(device: Issued, name?: string): string {
  return JSON.stringify(bodyOf(device, name))
}

function bodyOf(device: Issued, name?: string) {
  return { name, certificate_chain: [device, intermediate].map(({ der }) => der.toString('base64')) }
}

async function countDevices(): Promise<number> {
  return (await names()).length
}

async function names(): Promise<(string | null)[]> {
  const rows = await app.test.owner<{ name: string | null }>(
    'SELECT name FROM devices WHERE account_id = $1 ORDER BY name',
    [admin.accountId],
  )
  return rows.map(({ name }) => name)
}
