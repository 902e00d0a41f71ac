import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { npiCheckDigit } from '#src/authorize/prescribers/check-digits.ts'
import type { Role } from '#src/catalogue/access.ts'
import type { Authenticator } from '../../support/authenticator.ts'
import type { TestCaller } from '../../support/callers.ts'
import type { SignedIn } from '../../support/service.ts'
import { type PasskeyService, startPasskeys } from '../passkeys/service.ts'

const PATH = '/v1/clinical/prescribers'
const LATER = '2099-06-30T00:00:00.000Z'
const LAST = 'Quorvexample'
const DOB = '1971-03-09'

interface Person extends SignedIn {
  authenticator: Authenticator
}
type Json = Record<string, unknown>

let service: PasskeyService
let caller: TestCaller
let owner: Person
let npis = 0

beforeAll(async () => {
  service = await startPasskeys()
  caller = await service.makeCaller()
  owner = await join('owner')
})
afterAll(() => service.close())

async function join(role: Role, account = caller): Promise<Person> {
  const user = await service.signIn(account.accountId, { role })
  const authenticator = service.makeAuthenticator()
  await service.register(user, authenticator)
  return { ...user, headers: { ...user.headers, 'Service-Environment': 'sandbox' }, authenticator }
}

function nextNpi(): string {
  npis += 1
  const nine = `1${String(npis).padStart(8, '0')}`
  return nine + npiCheckDigit(nine)
}

const post = (path: string, json: object, account = caller, headers: Record<string, string> = {}) =>
  service.call(account, path, { method: 'POST', json, headers })
const as = (user: Pick<SignedIn, 'headers'>, path: string, json: object) =>
  service.send(user as SignedIn, 'POST', path, { json })

async function enter(user: SignedIn, more: Json = {}): Promise<string> {
  const body = {
    ...{ user_id: user.userId, npi: nextNpi(), first: 'Robin', last: LAST, dob: DOB },
    state_licenses: [{ us_state: 'CA', number: 'A1', expires_at: LATER }],
    dea: { number: 'AB1234563', schedules: ['II', 'IV'], expires_at: LATER },
    ...more,
  }
  const answer = await post(PATH, body)
  expect(answer).toMatchObject({ status: 200 })
  const { prescriber_id: id } = answer.json as { prescriber_id: string }
  expect(await post(`${PATH}/${id}/facts`, { kind: 'identity', method: 'in_person' })).toMatchObject({ status: 200 })
  return id
}

async function factsOf(id: string, kind?: string): Promise<string[]> {
  const { json } = await service.call(caller, `${PATH}/${id}/facts`)
  const { data } = json as { data: { fact_id: string; kind: string; status: string }[] }
  return data
    .filter((fact) => fact.status === 'entered' && (kind ?? fact.kind) === fact.kind)
    .map(({ fact_id }) => fact_id)
}

async function confirmWith(person: Person, id: string, ids: string[], headers: Record<string, string> = {}) {
  const challenge = await as(person, `${PATH}/${id}/facts/challenge`, { fact_ids: ids })
  if (challenge.status !== 200) return challenge
  const { challenge_id, options } = challenge.json as { challenge_id: string; options: never }
  const passkey_assertion = { challenge_id, response: person.authenticator.assert(options) }
  return service.send(person, 'POST', `${PATH}/${id}/facts/confirm`, {
    json: { fact_ids: ids, passkey_assertion },
    headers,
  })
}

async function makePrescriber(role: Role = 'approver'): Promise<{ id: string; person: Person }> {
  const person = await join(role)
  const id = await enter(person)
  let answer = await confirmWith(owner, id, await factsOf(id))
  if (answer.status === 403) answer = await confirmWith(first.person, id, await factsOf(id))
  expect(answer).toMatchObject({ status: 200, json: { tier: 3 } })
  return { id, person }
}
let first: { id: string; person: Person }

const standing = (id: string) =>
  service.test.db.tenant(caller, (tx) => service.services.authorize.prescribers.prescribers.find(tx, caller, id))
const tierOf = async (id: string) => (await standing(id))?.tier

describe('prescribers', () => {
  beforeAll(async () => {
    first = await makePrescriber()
  })

  it('have one user and one NPI each, and a wrong check digit is answered with the right one', async () => {
    const user = await join('analyst')
    const npi = nextNpi()
    const body = { user_id: user.userId, npi, first: 'A', last: 'B' }
    const [a, b] = await Promise.all([post(PATH, body), post(PATH, body)])
    expect([a.status, b.status].toSorted()).toEqual([200, 409])
    const other = await join('analyst')
    expect(await post(PATH, { ...body, npi: nextNpi() })).toMatchObject({
      json: { code: 'prescriber_exists', member: 'user_id' },
    })
    expect(await post(PATH, { ...body, user_id: other.userId })).toMatchObject({
      json: { code: 'prescriber_exists', member: 'npi' },
    })
    expect(await post(PATH, { ...body, npi: '1234567890' })).toMatchObject({
      json: { errors: [{ pointer: '/npi', code: 'wrong_check_digit', detail: expect.stringContaining('would be 3') }] },
    })
    expect(await post(PATH, { ...body, user_id: 'usr_nobody', npi: nextNpi() })).toMatchObject({
      json: { errors: [{ pointer: '/user_id', code: 'unknown' }] },
    })
  })

  it('have the tier that their facts give at this moment: by kind, confirmation, expiry, passkey, suspension and membership', async () => {
    const { id, person } = first
    const undo: string[] = []
    const set = async (text: string) => service.test.owner(text)
    const cases: [string, string, string, number][] = [
      ...(['identity', 'licence', 'dea'] as const).flatMap((kind, index): [string, string, string, number][] => {
        const where = `prescriber_id = '${id}' AND kind = '${kind}'`
        const table = 'UPDATE prescriber_facts SET'
        return [
          [
            `${kind} ended`,
            `${table} ended_at = now(), ended_by = 'x', ended_reason = 'other' WHERE ${where}`,
            `${table} ended_at = NULL, ended_by = NULL, ended_reason = NULL WHERE ${where}`,
            index,
          ],
          [
            `${kind} expired`,
            `${table} expires_at = now() WHERE ${where}`,
            `${table} expires_at = now() + interval '1 day' WHERE ${where}`,
            index,
          ],
          [
            `${kind} unconfirmed`,
            `${table} confirmed_at = NULL, confirmed_by = NULL, confirmed_passkey_id = NULL WHERE ${where}`,
            `${table} confirmed_at = now(), confirmed_by = '${owner.userId}', confirmed_passkey_id = 'p' WHERE ${where}`,
            2,
          ],
        ]
      }),
      [
        'no passkey',
        `CREATE TABLE kept AS SELECT * FROM passkeys WHERE user_id = '${person.userId}'; DELETE FROM passkeys WHERE user_id = '${person.userId}'`,
        'INSERT INTO passkeys SELECT * FROM kept; DROP TABLE kept',
        2,
      ],
      [
        'user removed',
        `UPDATE users SET deprovisioned_at = now() WHERE id = '${person.userId}'`,
        `UPDATE users SET deprovisioned_at = NULL WHERE id = '${person.userId}'`,
        0,
      ],
      [
        'user removed and back',
        `UPDATE users SET reactivated_at = now() + interval '1 day' WHERE id = '${person.userId}'`,
        `UPDATE users SET reactivated_at = NULL WHERE id = '${person.userId}'`,
        2,
      ],
      [
        'suspended',
        `UPDATE prescribers SET suspended_at = now(), suspended_by = 'x', suspended_reason = 'other' WHERE id = '${id}'`,
        `UPDATE prescribers SET suspended_at = NULL, suspended_by = NULL, suspended_reason = NULL WHERE id = '${id}'`,
        0,
      ],
    ]
    expect(await standing(id)).toMatchObject({
      tier: 3,
      deaSchedules: ['II', 'IV'],
      suspended: false,
      userId: person.userId,
    })
    for (const [name, change, back, tier] of cases) {
      await set(change)
      undo.push(back)
      expect([name, await tierOf(id)]).toEqual([name, tier])
      await set(back)
      expect([name, 'undone', await tierOf(id)]).toEqual([name, 'undone', 3])
    }
    await service.test.owner(
      `UPDATE prescriber_facts SET expires_at = clock_timestamp() WHERE prescriber_id = $1 AND kind = 'dea'`,
      [id],
    )
    expect((await standing(id))?.deaSchedules).toEqual([])
    await service.test.owner(`UPDATE prescriber_facts SET expires_at = $2 WHERE prescriber_id = $1 AND kind = 'dea'`, [
      id,
      LATER,
    ])
  })

  it('are confirmed by a second person only: of tier 3, not the prescriber, and not who entered the fact', async () => {
    const person = await join('admin')
    const id = await enter(person)
    const ids = await factsOf(id)
    const causes = async (by: Person, facts = ids) => {
      const { status, json } = await confirmWith(by, id, facts)
      return [status, (json as Json).code, (json as Json).cause]
    }
    expect(await causes(owner)).toEqual([403, 'confirmer_not_eligible', 'tier'])
    expect(await causes(person)).toEqual([403, 'confirmer_not_eligible', 'own_facts'])
    const admin = await makePrescriber('admin')
    const own = await as(admin.person, `${PATH}/${id}/facts`, {
      kind: 'licence',
      us_state: 'NY',
      number: '7',
      expires_at: LATER,
    })
    const { fact_id } = own.json as { fact_id: string }
    expect(await causes(admin.person, [fact_id])).toEqual([403, 'confirmer_not_eligible', 'same_person'])
    expect((await confirmWith(admin.person, id, ids)).status).toBe(200)
    expect(await tierOf(id)).toBe(3)
    expect((await standing(id))?.subject.stateKeys).toHaveLength(2)
    expect((await post(`${PATH}/${id}/facts/confirm`, { fact_ids: ids })).status).toBe(401)
  })

  it('are confirmed for exactly the facts that the passkey signed', async () => {
    const person = await join('admin')
    const id = await enter(person)
    const [one = '', ...others] = await factsOf(id)
    const challenge = await as(first.person, `${PATH}/${id}/facts/challenge`, { fact_ids: [one] })
    const { challenge_id, options } = challenge.json as { challenge_id: string; options: never }
    const passkey_assertion = { challenge_id, response: first.person.authenticator.assert(options) }
    const path = `${PATH}/${id}/facts/confirm`
    expect(await as(first.person, path, { fact_ids: others, passkey_assertion })).toMatchObject({
      json: { errors: [{ pointer: '/passkey_assertion/challenge_id', code: 'mismatch' }] },
    })
    expect((await as(first.person, path, { fact_ids: [one], passkey_assertion })).status).toBe(200)
    expect(await as(first.person, path, { fact_ids: [one], passkey_assertion })).toMatchObject({
      status: 409,
      json: { code: 'invalid_state_transition', current_status: 'confirmed' },
    })
  })

  it('are confirmed once by concurrent confirmations, and two who confirm each other wait for no deadlock', async () => {
    const second = await makePrescriber()
    const id = await enter(await join('admin'))
    const ids = await factsOf(id)
    const both = await Promise.all([first, second].map(({ person }) => confirmWith(person, id, ids)))
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 409])
    expect(
      (await service.entries(caller, 'clinician_order')).filter(
        ({ subject_id, reason }) => subject_id === id && reason === 'prescriber_fact_confirmed',
      ),
    ).toHaveLength(1)
    const renew = async ({ id: of }: { id: string }) => {
      const { json } = await post(`${PATH}/${of}/facts`, { kind: 'identity', method: 'in_person' })
      return [(json as { fact_id: string }).fact_id]
    }
    const [mine, theirs] = [await renew(first), await renew(second)]
    const mutual = await Promise.all([
      confirmWith(first.person, second.id, theirs),
      confirmWith(second.person, first.id, mine),
    ])
    expect(mutual.map(({ status }) => status)).toEqual([200, 200])
  })

  it('lose their tier with a suspension, and get it back only when a second person has confirmed the facts again', async () => {
    const { id } = await makePrescriber()
    expect(await post(`${PATH}/${id}/suspend`, { reason: 'licence' })).toMatchObject({ json: { tier: 0, version: 2 } })
    expect(await post(`${PATH}/${id}/reinstate`, {})).toMatchObject({ json: { tier: 2, suspended_at: null } })
    expect(await post(`${PATH}/${id}/reinstate`, {})).toMatchObject({ status: 409 })
    expect(await confirmWith(first.person, id, await factsOf(id))).toMatchObject({ json: { tier: 3 } })
  })

  it('have a person that changes by If-Match, which ends the facts about the identity', async () => {
    const { id } = await makePrescriber()
    const change = (json: object, headers: Record<string, string>) =>
      service.call(caller, `${PATH}/${id}`, { method: 'PATCH', json, headers })
    expect(await change({ last: 'Other' }, {})).toMatchObject({ status: 428 })
    expect(await change({ last: 'Other' }, { 'If-Match': '"7"' })).toMatchObject({ status: 412 })
    const before = (await standing(id))?.subject
    expect(await change({ last: 'Other' }, { 'If-Match': '"1"' })).toMatchObject({
      json: { last: 'Other', tier: 0, version: 2 },
    })
    expect((await standing(id))?.subject.nameKey).not.toEqual(before?.nameKey)
    const taken = await service.call(caller, `${PATH}/${first.id}`)
    expect(await change({ npi: (taken.json as Json).npi }, { 'If-Match': '*' })).toMatchObject({
      json: { code: 'prescriber_exists' },
    })
  })

  it('have facts that one person ends, and a warning for another initial', async () => {
    const { id } = await makePrescriber()
    const { json } = await service.call(caller, `${PATH}/${id}/facts`)
    const dea = (json as { data: Json[] }).data.find(({ kind }) => kind === 'dea')
    expect(dea).toMatchObject({ status: 'confirmed', warnings: ['dea_initial_differs'] })
    const end = () => post(`${PATH}/${id}/facts/${dea?.fact_id}/end`, { reason: 'revoked' })
    const [a, b] = await Promise.all([end(), end()])
    expect([a.status, b.status]).toEqual([200, 200])
    expect(await tierOf(id)).toBe(2)
    const audit = await service.test.owner(
      `SELECT FROM audit_entries WHERE action = 'prescriber_fact.ended' AND subject_id = $1`,
      [id],
    )
    expect(audit).toHaveLength(1)
    expect(
      await post(`${PATH}/${id}/facts`, {
        kind: 'licence',
        us_state: 'CA',
        number: '1',
        expires_at: '2020-01-01T00:00:00Z',
      }),
    ).toMatchObject({
      json: { errors: [{ pointer: '/expires_at', code: 'in_the_past' }] },
    })
  })

  it('of another account or environment are not found', async () => {
    const other = await service.makeCaller()
    expect(await service.call(other, `${PATH}/${first.id}`)).toMatchObject({ status: 404 })
    expect(await service.call(caller, `${PATH}/${first.id.replace('_test_', '_live_')}`)).toMatchObject({ status: 403 })
  })

  it('leave names and birth dates in no event, audit entry, ledger entry or column', async () => {
    const tables = [
      'events',
      'audit_entries',
      'decisions',
      'prescribers',
      'prescriber_facts',
      'mails',
      'jobs',
      'passkey_challenges',
    ]
    for (const table of tables) {
      const rows = await service.test.owner<{ text: string }>(`SELECT t::text AS text FROM ${table} t`)
      for (const { text } of rows) {
        expect(text).not.toContain(LAST)
        expect(text).not.toContain(Buffer.from(LAST).toString('hex'))
        expect(text).not.toContain(DOB)
      }
    }
    const { logged } = service.app
    expect(logged.length).toBeGreaterThan(0)
    expect(JSON.stringify(logged)).not.toContain(LAST)
  })
})

describe('the clinical policy', () => {
  const path = '/v1/clinical/policy'
  const put = (document: unknown, headers: Record<string, string>, account = caller) =>
    service.call(account, path, { method: 'PUT', json: { document }, headers })

  it('has versions, refuses refills beyond the federal limits, and warns of a co-signature that nobody can give', async () => {
    const alone = await service.makeCaller()
    await service.test.owner(`UPDATE accounts SET plan = 'growth' WHERE id = $1`, [alone.accountId])
    const { json } = await service.call(alone, path)
    const { document, warnings } = json as { document: { schedules: Record<string, Json> }; warnings: string[] }
    expect([json, warnings]).toMatchObject([{ version: 0, changed_by: null }, ['cosigner_unavailable']])
    expect(document.schedules).toMatchObject({
      none: { tier: 2, cosign: false },
      I: { deny: true },
      II: { tier: 3, passkey: true, cosign: true, max_refills: 0 },
      III: { tier: 3, cosign: false, max_refills: 5 },
    })
    const changed = { ...document, allow_stale: true }
    expect(await put(changed, {}, alone)).toMatchObject({ status: 428 })
    const both = await Promise.all([
      put(changed, { 'If-Match': '"0"' }, alone),
      put({ ...changed, allow_stale: false }, { 'If-Match': '"0"' }, alone),
    ])
    expect(both.map(({ status }) => status).toSorted()).toEqual([200, 412])
    const refilled = structuredClone(document)
    Object.assign(refilled.schedules.II ?? {}, { max_refills: 1 })
    expect(await put(refilled, { 'If-Match': '*' }, alone)).toMatchObject({
      json: { errors: [{ pointer: '/document/schedules/II/max_refills' }] },
    })
    expect(await service.call(alone, `${path}/versions`)).toMatchObject({ json: { data: [{ version: 1 }] } })
    expect(await service.call(alone, `${path}/versions/0`)).toMatchObject({ json: { document } })
    expect(await service.call(caller, path)).toMatchObject({ json: { version: 0, warnings: [] } })
  })

  it('has a formulary, which a CSV file replaces whole or not at all', async () => {
    const send = (body: string, headers: Record<string, string> = { 'If-Match': '*' }) =>
      service.call(caller, '/v1/clinical/formulary', {
        method: 'PUT',
        body,
        headers: { 'Content-Type': 'text/csv', ...headers },
      })
    expect(await send('rxcui,schedule\n1,II\n', {})).toMatchObject({ status: 428 })
    expect(await send('\ufeffrxcui,schedule\r\n1049502,ii\r\n"7",none\r\n')).toMatchObject({
      json: { version: 1, entries: 2 },
    })
    const read = (rxcui: string) =>
      service.test.db.tenant(caller, (tx) =>
        service.services.authorize.prescribers.clinicalPolicy.formulary(tx, caller, rxcui),
      )
    expect([...(await read('1049502'))]).toEqual([['1049502', 'II']])
    for (const [body, pointer] of [
      ['1,II\n', '/0'],
      ['rxcui,schedule\n1,VI\n', '/1/schedule'],
      ['rxcui,schedule\n01,II\n', '/1/rxcui'],
      ['rxcui,schedule\n1,II\n1,III\n', '/2/rxcui'],
      ['rxcui,schedule\n1,II,x\n', '/1'],
      ['rxcui,schedule\n"1,II\n', ''],
    ] as const) {
      expect([body, await send(body)]).toMatchObject([body, { json: { errors: [{ pointer }] } }])
    }
    expect(await service.call(caller, '/v1/clinical/formulary/entries')).toMatchObject({
      json: {
        data: [
          { rxcui: '1049502', schedule: 'II' },
          { rxcui: '7', schedule: 'none' },
        ],
      },
    })
    expect(await send('rxcui,schedule\n')).toMatchObject({ json: { version: 2, entries: 0 } })
  })
})
