import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { newId } from '#src/platform/ids.ts'
import { AT, type Issued, make, makeChain } from '../../platform/crypto/pki.ts'
import { type AttestApp, startAttestApp } from '../../support/attest.ts'
import type { TestCaller } from '../../support/callers.ts'

const { root, intermediate, leaf } = await makeChain()
let app: AttestApp
let admin: TestCaller

beforeAll(async () => {
  app = await startAttestApp(AT)
})
afterAll(() => app.close())
beforeEach(async () => {
  app.clock.now = AT
  admin = await app.makeCaller()
  await app.rootCas.register(admin, { name: 'Root', certificate: root.der.toString('base64') })
})

describe('revoking a device', () => {
  it('is effective now when no time is given', async () => {
    const id = await enroll(leaf)
    const { status, json } = await revoke(id, { reason: 'lost' })
    expect(status).toBe(200)
    expect(json).toMatchObject({
      device_id: id,
      status: 'revoked',
      revoked_at: AT.toISOString(),
      revoke_effective_at: AT.toISOString(),
      revoke_reason: 'lost',
    })
    expect((await get(id)).json).toEqual(json)
  })

  it.each([
    ['long past', '2026-03-01T12:00:00+02:00', '2026-03-01T10:00:00.000Z'],
    ['a little ahead', '2026-11-20T12:05:00Z', '2026-11-20T12:05:00.000Z'],
    ['the earliest', '2000-01-01T00:00:00Z', '2000-01-01T00:00:00.000Z'],
  ])('may be effective at a time that is %s', async (_name, given, shown) => {
    const { status, json } = await revoke(await enroll(leaf), { reason: 'lost', effective_at: given })
    expect({ status, at: json.revoke_effective_at }).toEqual({ status: 200, at: shown })
  })

  it.each([
    ['more than 5 minutes ahead', { reason: 'x', effective_at: '2026-11-20T12:05:01Z' }, '/effective_at', 'in_future'],
    ['before 2000', { reason: 'x', effective_at: '1999-12-31T23:59:59Z' }, '/effective_at', 'out_of_range'],
    ['in the year 0', { reason: 'x', effective_at: '0000-01-01T00:00:00Z' }, '/effective_at', 'out_of_range'],
    ['without a zone', { reason: 'x', effective_at: '2026-11-20T12:00:00' }, '/effective_at', 'invalid_format'],
    ['on a day that is none', { reason: 'x', effective_at: '2026-02-30T12:00:00Z' }, '/effective_at', 'invalid_format'],
    ['as a number', { reason: 'x', effective_at: 1 }, '/effective_at', 'invalid_type'],
    ['without a reason', {}, '/reason', 'required'],
    ['for no reason', { reason: '' }, '/reason', 'too_short'],
    ['for too long a reason', { reason: 'r'.repeat(501) }, '/reason', 'too_long'],
    ['by an actor of whom nothing can be seen', { reason: 'x', actor: '\u200b\u2060' }, '/actor', 'too_short'],
    ['with U+0000', { reason: 'a\u0000' }, '/reason', 'invalid_character'],
    ['with an unknown field', { reason: 'x', force: true }, '/force', 'unknown_field'],
  ])('%s is refused', async (_name, json, pointer, code) => {
    const id = await enroll(leaf)
    const answer = await revoke(id, json)
    expect({ status: answer.status, errors: answer.json.errors }).toMatchObject({
      status: 400,
      errors: [{ pointer, code }],
    })
    expect((await get(id)).json.status).toBe('enrolled')
  })

  it('again with the same values returns the first answer', async () => {
    const id = await enroll(leaf)
    const first = await revoke(id, { reason: 'lost' })
    app.clock.now = new Date(AT.getTime() + 60_000)
    expect(await revoke(id, { reason: 'lost' })).toMatchObject({ status: 200, json: first.json })
  })

  it.each([
    ['for another reason', { reason: 'stolen' }],
    ['at another time', { reason: 'lost', effective_at: '2026-11-20T11:00:00Z' }],
  ])('again %s changes nothing', async (_name, second) => {
    const id = await enroll(leaf)
    const first = await revoke(id, { reason: 'lost' })
    const { status, json } = await revoke(id, second)
    expect({ status, code: json.code, allowed: json.allowed }).toEqual({
      status: 409,
      code: 'invalid_state_transition',
      allowed: [],
    })
    expect((await get(id)).json).toEqual(first.json)
  })

  it('many times concurrently takes effect once', async () => {
    const id = await enroll(leaf)
    const answers = await Promise.all(
      Array.from({ length: 8 }, (_, index) => revoke(id, { reason: `reason ${index}` })),
    )
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 409, 409, 409, 409, 409, 409, 409])
    const won = answers.find(({ status }) => status === 200)
    expect((await get(id)).json).toEqual(won?.json)
  })

  it('keeps its key out permanently, also in another certificate and after it expired', async () => {
    const id = await enroll(leaf)
    await revoke(id, { reason: 'lost' })
    const again = await make({ name: 'Reborn', issuer: intermediate, keys: leaf.keys })
    for (const device of [leaf, again]) {
      const { status, json } = await send('', { json: bodyOf(device) })
      expect({ status, code: json.code }).toEqual({ status: 409, code: 'device_revoked' })
      expect(json.errors).toMatchObject([{ pointer: '/certificate_chain/0', code: 'device_revoked' }])
      expect(json.detail).toContain(id)
    }
    app.clock.now = new Date('2027-06-01T00:00:00Z')
    expect((await get(id)).json.status).toBe('revoked')
  })

  it('prevails over concurrent enrollments of the same key', async () => {
    const id = await enroll(leaf)
    await Promise.all([
      revoke(id, { reason: 'lost' }),
      ...Array.from({ length: 6 }, () => send('', { json: bodyOf(leaf) })),
    ])
    expect((await get(id)).json.status).toBe('revoked')
  })
})

describe('the list of devices', () => {
  it('returns all devices page by page, newest first, and counts them on request', async () => {
    const ids: string[] = []
    for (let index = 0; index < 5; index += 1) {
      app.clock.now = new Date(AT.getTime() + index * 1000)
      ids.unshift(await enroll(await make({ name: `Phone ${index}`, issuer: intermediate })))
    }
    const first = await list('?limit=2&include=total_count')
    expect(first.json).toMatchObject({ object: 'list', has_more: true, total_count: 5 })
    const second = await list(`?limit=2&cursor=${first.json.next_cursor}`)
    const third = await list(`?limit=2&cursor=${second.json.next_cursor}`)
    expect(third.json).toMatchObject({ has_more: false, next_cursor: null })
    expect([first, second, third].flatMap(idsOf)).toEqual(ids)
    expect(third.json).not.toHaveProperty('total_count')
  })

  it('filters by state and by time', async () => {
    const enrolled = await enroll(leaf)
    app.clock.now = new Date('2026-11-21T12:00:00Z')
    const short = await enroll(await make({ name: 'Short', issuer: intermediate, until: '2026-11-22T00:00:00Z' }))
    const revoked = await enroll(await make({ name: 'Revoked', issuer: intermediate, until: '2026-11-22T00:00:00Z' }))
    await revoke(revoked, { reason: 'lost' })
    app.clock.now = new Date('2026-11-23T12:00:00Z')
    expect(idsOf(await list('?status=enrolled'))).toEqual([enrolled])
    expect(idsOf(await list('?status=expired'))).toEqual([short])
    expect(idsOf(await list('?status=revoked'))).toEqual([revoked])
    expect(idsOf(await list('?created_lt=2026-11-21T00:00:00Z'))).toEqual([enrolled])
    expect(idsOf(await list('?created_gte=2026-11-21T00:00:00Z&status=expired'))).toEqual([short])
    expect((await list('?status=expired&include=total_count')).json.total_count).toBe(1)
  })

  it('filters by several statuses', async () => {
    const [enrolled, revoked] = [await enroll(leaf), await enroll(await make({ name: 'Lost', issuer: intermediate }))]
    const short = await enroll(await make({ name: 'Short', issuer: intermediate, until: '2026-11-22T00:00:00Z' }))
    await revoke(revoked, { reason: 'lost' })
    app.clock.now = new Date('2026-11-23T12:00:00Z')
    const found = async (query: string) => new Set(idsOf(await list(query)))
    expect(await found('?status=enrolled&status=revoked')).toEqual(new Set([enrolled, revoked]))
    expect(await found('?status=expired&status=revoked')).toEqual(new Set([short, revoked]))
    expect(await found('?status=expired&status=revoked&status=enrolled')).toEqual(new Set([enrolled, short, revoked]))
  })

  it('has those that expire soon, the most urgent first, page by page and as lines', async () => {
    const ids: string[] = []
    for (const day of ['26', '24', '25', '25']) {
      app.clock.now = new Date(app.clock.now.getTime() + 1_000)
      ids.push(await enroll(await make({ name: day, issuer: intermediate, until: `2026-11-${day}T00:00:00Z` })))
    }
    await enroll(leaf)
    const [last = '', first = '', second = '', third = ''] = ids
    const before = 'expires_lt=2026-12-01T00:00:00Z'
    expect(idsOf(await list(`?${before}`))).toEqual([third, second, first, last])
    expect(idsOf(await list(`?${before}&expires_gte=2026-11-26T00:00:00Z`))).toEqual([last])
    const urgent = `?${before}&order_by=expires&order=asc`
    const page = await list(`${urgent}&limit=2&include=total_count`)
    expect({ ids: idsOf(page), total: page.json.total_count }).toEqual({ ids: [first, second], total: 4 })
    expect(idsOf(await list(`${urgent}&limit=2&cursor=${page.json.next_cursor}`))).toEqual([third, last])
    expect(idsOf(await list(`?${before}&order_by=expires`))).toEqual([last, third, second, first])
    const lines = await app.call(admin.key, `/v1/admin/devices${urgent}`, {
      headers: { accept: 'application/x-ndjson' },
    })
    const told = lines.text
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line))
    expect(told.map(({ device_id: id }) => id)).toEqual([first, second, third, last])
    expect(told[0]).toMatchObject({ expires_at: '2026-11-24T00:00:00.000Z' })
    for (const changed of [`${urgent.replace('asc', 'desc')}`, `?${before}`]) {
      expect((await list(`${changed}&cursor=${page.json.next_cursor}`)).status).toBe(400)
    }
  })

  it('counts a certificate as valid through its last second', async () => {
    await enroll(leaf)
    app.clock.now = new Date('2027-01-01T00:00:00Z')
    expect((await list('?status=enrolled')).json.data).toMatchObject([{ status: 'enrolled' }])
    app.clock.now = new Date('2027-01-01T00:00:00.001Z')
    expect((await list('?status=expired')).json.data).toMatchObject([{ status: 'expired' }])
  })

  it.each([
    ['an unknown filter', '?colour=red', '?colour'],
    ['an unknown status', '?status=lost', '?status'],
    ['an unknown order', '?order_by=name', '?order_by'],
    ['an expiry that is no time', '?expires_lt=soon', '?expires_lt'],
    ['a limit of 0', '?limit=0', '?limit'],
    ['a limit of 101', '?limit=101', '?limit'],
    ['a date that is none', '?created_gte=yesterday', '?created_gte'],
    ['an invented cursor', '?cursor=AAAA', '?cursor'],
  ])('refuses %s', async (_name, query, pointer) => {
    const { status, json } = await list(query)
    expect({ status, errors: json.errors }).toMatchObject({ status: 400, errors: [{ pointer }] })
  })

  it('refuses a cursor of another filter, and of another account', async () => {
    await enroll(leaf)
    await enroll(await make({ name: 'Two', issuer: intermediate }))
    const { json } = await list('?limit=1')
    const other = await app.makeCaller()
    expect((await list(`?limit=1&status=enrolled&cursor=${json.next_cursor}`)).status).toBe(400)
    expect((await list(`?limit=1&cursor=${json.next_cursor}`, other.key)).status).toBe(400)
  })

  it('shows an account only its own devices', async () => {
    await enroll(leaf)
    const other = await app.makeCaller()
    const live = app.addKey({ ...admin, environment: 'live' })
    expect((await list('', other.key)).json.data).toEqual([])
    expect((await list('', live)).json.data).toEqual([])
  })
})

describe('the name of a device', () => {
  const rename = (id: string, json: unknown, key = admin.key) =>
    app.call(key, `/v1/admin/devices/${id}`, { method: 'PATCH', json })
  const entries = async (id: string) => {
    const rows = await app.test.owner(
      'SELECT action, before, after FROM audit_entries WHERE subject_id = $1 ORDER BY id',
      [id],
    )
    return rows.filter(({ action }) => action === 'device.renamed')
  }

  it('can be changed and removed, which the audit log has once each', async () => {
    const id = await enroll(leaf)
    const { name } = (await get(id)).json
    expect(await rename(id, { name: '  Berlin 7 ' })).toMatchObject({ status: 200, json: { name: 'Berlin 7' } })
    expect(await rename(id, { name: 'Berlin 7' })).toMatchObject({ status: 200, json: { name: 'Berlin 7' } })
    expect(await rename(id, { name: null })).toMatchObject({ status: 200, json: { name: null } })
    expect((await get(id)).json).toMatchObject({ name: null, status: 'enrolled' })
    expect(await entries(id)).toMatchObject([
      { before: { name }, after: { name: 'Berlin 7' } },
      { before: { name: 'Berlin 7' }, after: { name: null } },
    ])
  })

  it('is refused where it is empty or missing, and for devices of others', async () => {
    const id = await enroll(leaf)
    for (const body of [{}, { name: '' }, { name: ' ' }, { name: 'x'.repeat(201) }, { name: 'a', version: 1 }]) {
      expect((await rename(id, body)).json.code).toBe('invalid_request')
    }
    expect((await rename(id, { name: 'a' }, (await app.makeCaller()).key)).json.code).toBe('not_found')
    expect((await rename(newId('dev', 'live'), { name: 'a' })).json.code).toBe('environment_mismatch')
    expect(await entries(id)).toEqual([])
  })
})

describe('a device of another account', () => {
  it('is not found, and can not be revoked', async () => {
    const id = await enroll(leaf)
    const other = await app.makeCaller()
    expect((await get(id, other.key)).json.code).toBe('not_found')
    expect((await revoke(id, { reason: 'x' }, other.key)).json.code).toBe('not_found')
    expect((await get(id)).json.status).toBe('enrolled')
  })

  it.each([
    ['of the other environment', newId('dev', 'live'), 403, 'environment_mismatch'],
    ['that does not exist', newId('dev', 'sandbox'), 404, 'not_found'],
    ['that is no device', newId('med', 'sandbox'), 404, 'not_found'],
    ['that is no id', 'phone-1', 404, 'not_found'],
  ])('%s', async (_name, id, status, code) => {
    for (const answer of [await get(id), await revoke(id, { reason: 'x' })]) {
      expect({ status: answer.status, code: answer.json.code }).toEqual({ status, code })
    }
  })
})

function send(path: string, sent: Parameters<AttestApp['call']>[2] = {}, key = admin.key) {
  return app.call(key, `/v1/admin/devices${path}`, sent)
}

function list(query: string, key = admin.key) {
  return send(query, {}, key)
}

function get(id: string, key = admin.key) {
  return send(`/${id}`, {}, key)
}

function revoke(id: string, json: unknown, key = admin.key) {
  return send(`/${id}/revoke`, { json }, key)
}

async function enroll(device: Issued): Promise<string> {
  const { status, json } = await send('', { json: bodyOf(device) })
  expect(status).toBe(200)
  return String(json.device_id)
}

function bodyOf(device: Issued) {
  return { certificate_chain: [device, intermediate].map(({ der }) => der.toString('base64')) }
}

function idsOf({ json }: { json: Record<string, unknown> }): string[] {
  return (json.data as { device_id: string }[]).map(({ device_id: id }) => id)
}
