// Orders as documents: schedules, FHIR in and out, edits, races, expiry, and what of them is found elsewhere.

import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { hashOrder } from '#src/authorize/orders/content.ts'
import { type Json, ORDERS, type OrderService, PERSONAL, type Prescriber, startOrders } from './service.ts'

const FHIR = 'application/fhir+json'

let orders: OrderService
let prescriber: Prescriber
let second: Prescriber
let third: Prescriber

beforeAll(async () => {
  orders = await startOrders()
  prescriber = await orders.makePrescriber()
  second = await orders.makePrescriber()
  third = await orders.makePrescriber()
})
afterAll(() => orders.close())

describe('an order', () => {
  it('has the strictest schedule of request, formulary and table, and says which decided', async () => {
    const { service, caller, makeOrder } = orders
    await service.call(caller, '/v1/clinical/formulary', {
      method: 'PUT',
      body: 'rxcui,schedule\n7,III\n',
      headers: { 'Content-Type': 'text/csv', 'If-Match': '*' },
    })
    const cases: [Json, Json][] = [
      [
        { name: 'Fentanyl 100 mcg patch', schedule: 'none' },
        { schedule: 'II', schedule_source: 'table', schedule_substance: 'fentanyl', schedule_requested: 'none' },
      ],
      [
        { name: 'Something', rxnorm: '7' },
        { schedule: 'III', schedule_source: 'formulary', schedule_substance: null },
      ],
      [
        { name: 'Something', rxnorm: '7', schedule: 'II' },
        { schedule: 'II', schedule_source: 'request' },
      ],
      [{ name: 'Amoxicillin' }, { schedule: 'none', schedule_source: 'request' }],
    ]
    for (const [medication, expected] of cases) {
      expect(await makeOrder(prescriber, { medication })).toMatchObject(expected)
    }
  })

  it('has every member of its hash in its answer', async () => {
    const order = await orders.makeOrder(prescriber, { action_payload: { a: 1 }, us_state: 'CA' })
    expect(hashOrder(order as unknown as Parameters<typeof hashOrder>[0])).toBe(order.order_hash)
    expect(order.hash_version).toBe(1)
  })

  it('is refused with a place for each wrong member', async () => {
    const cases: [Json, string][] = [
      [{ prescriber_id: 'prs_test_01m7x7ennfe7dsmvdzwjp06y9x' }, '/prescriber_id'],
      [{ quantity: { value: '0' } }, '/quantity/value'],
      [{ quantity: { value: '-1' } }, '/quantity/value'],
      [{ refills: -1 }, '/refills'],
      [{ sig: '' }, '/sig'],
      [{ medication: { name: 'x', schedule: 'VI' } }, '/medication/schedule'],
      [{ action_payload: { x: 'x'.repeat(70_000) } }, '/action_payload'],
    ]
    for (const [change, pointer] of cases) {
      const answer = await orders.post(ORDERS, orders.bodyOf(prescriber, change))
      expect(answer, pointer).toMatchObject({ status: 400, json: { errors: [{ pointer }] } })
    }
  })

  it('is found by status, prescriber and schedule', async () => {
    const { order_id: id } = await orders.makeOrder(third, { medication: { name: 'Diazepam 5 mg' } })
    const list = async (query: string) => {
      const { json } = await orders.service.call(orders.caller, `${ORDERS}?${query}`)
      return (json as { data: { order_id: string }[] }).data.map(({ order_id }) => order_id)
    }
    expect(await list(`prescriber_id=${third.id}&schedule=IV&status=draft&status=expired`)).toEqual([id])
    expect(await list(`prescriber_id=${third.id}&status=authorized`)).toEqual([])
    await orders.service.test.owner('UPDATE orders SET expires_at = clock_timestamp() WHERE id = $1', [id])
    expect(await list(`prescriber_id=${third.id}&status=expired`)).toEqual([id])
    expect(await orders.get(id)).toMatchObject({ status: 'expired', allowed_acts: [] })
    expect(await orders.patch(id, { refills: 1 })).toMatchObject({
      status: 409,
      json: { code: 'invalid_state_transition', current_status: 'expired' },
    })
    expect(await orders.refusals(id)).toEqual([['order_refused', 'edit', 'invalid_state_transition']])
  })

  it('expires 72 hours after its creation', async () => {
    const { created_at, expires_at } = await orders.makeOrder(prescriber)
    expect(Date.parse(String(expires_at)) - Date.parse(String(created_at))).toBe(72 * 3_600_000)
  })

  it('is not edited without If-Match, nor by an outdated one', async () => {
    const { order_id: id } = await orders.makeOrder(prescriber)
    const bare = await orders.service.call(orders.caller, `${ORDERS}/${id}`, { method: 'PATCH', json: { refills: 0 } })
    expect(bare).toMatchObject({ status: 428 })
    expect(await orders.patch(id, { refills: 2 }, 7)).toMatchObject({ status: 412, json: { version: 1 } })
    expect(await orders.patch(id, { refills: 0 }, 1)).toMatchObject({ status: 200, json: { version: 1 } })
  })
})

describe('of two acts at once one wins, and the other is told what is possible:', () => {
  const statusesOf = async (acts: Promise<{ status: number; json: unknown }>[]) => {
    const answers = await Promise.all(acts)
    const won = answers.filter(({ status }) => status === 200)
    const lost = answers.filter(({ status }) => status !== 200)
    return {
      won: won.length,
      lost: lost.map(({ status, json }) => [status, (json as Json).code, (json as Json).allowed]),
    }
  }
  const cosign = async (id: string, by: Prescriber) => {
    const passkey_assertion = await orders.assertionFor(by.person, id, 'cosign')
    return () => orders.as(by.person, `${ORDERS}/${id}/cosign`, { passkey_assertion })
  }
  const conflict = (allowed: string[]) => [409, 'invalid_state_transition', allowed]

  it('two co-signatures', async () => {
    const id = await orders.makeSigned(prescriber)
    const acts = [await cosign(id, second), await cosign(id, third)]
    expect(await statusesOf(acts.map((act) => act()))).toEqual({ won: 1, lost: [conflict(['pending_cosign'])] })
    const { signatures } = (await orders.get(id)) as { signatures: unknown[] }
    expect(signatures).toHaveLength(2)
  })

  it('a co-signature and an edit', async () => {
    const id = await orders.makeSigned(prescriber)
    const act = await cosign(id, second)
    const { won, lost } = await statusesOf([act(), orders.patch(id, { sig: 'Another' }, 2)])
    expect(won).toBe(1)
    // The edit that lost names a version that has changed.
    expect([conflict(['pending_cosign']), [412, 'precondition_failed', undefined]]).toContainEqual(lost[0])
    const { status, signatures } = (await orders.get(id)) as { status: string; signatures: { voided_at: unknown }[] }
    expect(signatures.filter(({ voided_at }) => voided_at === null)).toHaveLength(status === 'authorized' ? 2 : 0)
  })

  it('a cancellation and a co-signature', async () => {
    const id = await orders.makeSigned(prescriber)
    const act = await cosign(id, second)
    const { won, lost } = await statusesOf([act(), orders.post(`${ORDERS}/${id}/cancel`, { reason: 'other' })])
    // A cancellation after the co-signature is possible: both are done then, one after the other.
    expect(won + lost.length).toBe(2)
    if (won === 1) expect(lost).toEqual([conflict(['pending_cosign'])])
    expect(await orders.get(id)).toMatchObject({ status: 'cancelled' })
  })

  it('a refusal and the execution, and two executions', async () => {
    const { service, caller, feature } = orders
    const execute = (id: string) =>
      service.test.db.tenant(caller, async (tx) => {
        const at = new Date()
        const read = await feature.orders.readFacts(tx, caller, id, { at, lock: true })
        const decisionId = 'dec_test_1'
        return read?.facts.status === 'authorized' && feature.orders.markExecuted(tx, caller, id, { decisionId, at })
      })
    const authorized = async () => {
      const id = await orders.makeSigned(prescriber)
      await (await cosign(id, second))()
      return id
    }
    const id = await authorized()
    const [declined, executed] = await Promise.all([
      orders.as(third.person, `${ORDERS}/${id}/decline`, { reason: 'dose' }),
      execute(id),
    ])
    expect(declined.status === 200).toBe(!executed)
    if (executed) {
      expect(declined.json).toMatchObject({
        code: 'invalid_state_transition',
        current_status: 'executed',
        allowed: ['draft', 'pending_cosign', 'authorized'],
      })
    }
    expect(await orders.get(id)).toMatchObject({ status: executed ? 'executed' : 'declined' })
    const other = await authorized()
    const both = await Promise.all([execute(other), execute(other)])
    expect(both.toSorted()).toEqual([false, true])
    expect(await orders.get(other)).toMatchObject({ status: 'executed', decision_id: 'dec_test_1', allowed_acts: [] })
  })
})

describe('a MedicationRequest', () => {
  const resourceOf = (change: Json = {}) => ({
    resourceType: 'MedicationRequest',
    status: 'active',
    intent: 'order',
    medicationCodeableConcept: {
      coding: [{ system: 'http://snomed.info/sct', code: '1', display: 'Fentanyl patch' }],
      text: 'A patch',
    },
    subject: { reference: PERSONAL.patient },
    requester: { identifier: { system: 'http://hl7.org/fhir/sid/us-npi', value: prescriber.npi } },
    extension: [{ url: 'https://own.test/batch', valueString: 'Q7' }],
    dosageInstruction: [{ text: PERSONAL.sig }],
    dispenseRequest: { numberOfRepeatsAllowed: 0, quantity: { value: 10, unit: 'patch' } },
    ...change,
  })
  const send = (body: string, path = ORDERS, more: Json = {}) =>
    orders.service.call(orders.caller, path, {
      method: path === ORDERS ? 'POST' : 'PATCH',
      body,
      headers: { 'Content-Type': `${FHIR}; charset=utf-8`, 'If-Match': '*', ...more },
    })

  it('comes back with its extensions and the digits of its decimals, and is signed as a whole', async () => {
    const text = JSON.stringify(resourceOf()).replace('"value":10', '"value":10.00')
    const made = await send(text)
    expect(made).toMatchObject({ status: 200, headers: { 'content-type': FHIR } })
    const { id } = made.json as { id: string }
    expect(made.text).toContain('"value":10.00')
    const order = await orders.get(id)
    expect(order).toMatchObject({
      ...{ schedule: 'II', schedule_source: 'table', schedule_substance: 'fentanyl' },
      ...{ resource: text, quantity: { value: '10.00', unit: 'patch' }, prescriber_id: prescriber.id },
    })
    expect(hashOrder(order as unknown as Parameters<typeof hashOrder>[0])).toBe(order.order_hash)
    const shown = await orders.service.call(orders.caller, `${ORDERS}/${id}`, { headers: { Accept: FHIR } })
    expect(shown).toMatchObject({ status: 200, headers: { 'content-type': FHIR, etag: 'W/"1"' } })
    expect(shown.json).toMatchObject({
      id,
      status: 'draft',
      extension: [{ valueString: 'Q7' }, { url: expect.stringContaining('order-status'), valueCode: 'draft' }],
    })
    const json = await orders.patch(id, { refills: 0 })
    expect(json).toMatchObject({ status: 415, json: { code: 'unsupported_media_type' } })
    const edited = await send(JSON.stringify(resourceOf({ note: [{ text: 'x' }] })), `${ORDERS}/${id}`)
    expect(edited).toMatchObject({ status: 200, json: { note: [{ text: 'x' }] } })
    expect((await orders.get(id)).order_hash).not.toBe(order.order_hash)
  })

  it('happens once for one Idempotency-Key, and is shown as FHIR where Accept asks for it', async () => {
    const key = { 'Idempotency-Key': 'fhir-1' }
    const [one, other] = [
      await send(JSON.stringify(resourceOf()), ORDERS, key),
      await send(JSON.stringify(resourceOf()), ORDERS, key),
    ]
    expect((other.json as Json).id).toBe((one.json as Json).id)
    expect(await send(JSON.stringify(resourceOf({ priority: 'stat' })), ORDERS, key)).toMatchObject({ status: 422 })
    const { order_id: id } = await orders.makeOrder(prescriber)
    const shown = await orders.service.call(orders.caller, `${ORDERS}/${id}`, { headers: { Accept: FHIR } })
    expect(shown.text).toContain('"value":30.0')
    expect(shown.json).toMatchObject({ requester: { identifier: { value: prescriber.npi } } })
  })

  it('is refused with an OperationOutcome that names the places', async () => {
    const cases: [Json, string][] = [
      [{ colour: 'red' }, 'MedicationRequest.colour'],
      [{ doNotPerform: true }, 'MedicationRequest.doNotPerform'],
      [{ modifierExtension: [{ url: 'x' }] }, 'MedicationRequest.modifierExtension'],
      [{ implicitRules: 'https://own.test' }, 'MedicationRequest.implicitRules'],
      [{ medicationReference: { reference: '#m' } }, 'MedicationRequest.medicationReference'],
      [{ status: 'completed' }, 'MedicationRequest.status'],
      [
        { dispenseRequest: { numberOfRepeatsAllowed: -1, quantity: { value: 1 } } },
        'MedicationRequest.dispenseRequest.numberOfRepeatsAllowed',
      ],
      [
        { medicationCodeableConcept: undefined, medication: { concept: { text: 'x' } } },
        'MedicationRequest.medication',
      ],
      [
        { requester: { identifier: { system: 'http://hl7.org/fhir/sid/us-npi', value: '1234567893' } } },
        'MedicationRequest.requester.identifier.value',
      ],
    ]
    for (const [change, place] of cases) {
      const answer = await send(JSON.stringify(resourceOf(change)))
      expect(answer, place).toMatchObject({ status: 400, headers: { 'content-type': FHIR } })
      const { resourceType, issue } = answer.json as { resourceType: string; issue: { expression: string[] }[] }
      expect(resourceType).toBe('OperationOutcome')
      expect(issue.flatMap(({ expression }) => expression)).toContain(place)
    }
    const nul = JSON.stringify(resourceOf({ dosageInstruction: [{ text: 'a\u0000' }] }))
    for (const body of ['{', '', nul]) expect(await send(body)).toMatchObject({ status: 400, json: { issue: [{}] } })
    const unknown = await orders.service.call(orders.caller, `${ORDERS}/ord_test_01m7x7k8d2e6ts0a9n3v8wq5hc`, {
      headers: { Accept: FHIR },
    })
    expect(unknown).toMatchObject({
      status: 404,
      headers: { 'content-type': FHIR },
      json: { issue: [{ code: 'not-found', details: { coding: [{ code: 'not_found' }] } }] },
    })
    expect(await orders.service.call({}, ORDERS, { method: 'POST', headers: { 'Content-Type': FHIR } })).toMatchObject({
      status: 401,
      json: { resourceType: 'OperationOutcome' },
    })
    const xml = await orders.service.call(orders.caller, ORDERS, {
      method: 'POST',
      body: '<a/>',
      headers: { 'Content-Type': 'application/fhir+xml' },
    })
    expect(xml).toMatchObject({ status: 415, json: { detail: expect.stringContaining(FHIR) } })
  })
})

it('nothing personal of an order is in logs, events, webhooks, the audit log, the ledger, mails or in the clear in a table', async () => {
  const { test } = orders.service
  const tables = await test.owner<{ name: string }>(
    `SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'`,
  )
  const rows = await Promise.all(
    tables.map(({ name }) => test.owner<{ text: string }>(`SELECT t::text AS text FROM ${name} t`)),
  )
  const texts = [...rows.flat().map(({ text }) => text), ...orders.lines]
  for (const value of Object.values(PERSONAL)) {
    const words = [value, Buffer.from(value).toString('hex')]
    expect(texts.filter((text) => words.some((word) => text.includes(word)))).toEqual([])
  }
  expect(orders.lines.length).toBeGreaterThan(100)
})
