// A service with prescribers of tier 3 whose passkeys sign orders.

import { expect } from 'vitest'
import { npiCheckDigit } from '#src/authorize/prescribers/check-digits.ts'
import type { Role } from '#src/catalogue/access.ts'
import { createLog } from '#src/platform/log.ts'
import type { Authenticator } from '../../support/authenticator.ts'
import { listNobodyToday } from '../../support/exclusion-rows.ts'
import type { SignedIn } from '../../support/service.ts'
import { startPasskeys } from '../passkeys/service.ts'

export const ORDERS = '/v1/clinical/orders'
const PRESCRIBERS = '/v1/clinical/prescribers'
const LATER = '2099-06-30T00:00:00.000Z'
/** Values that must be found nowhere but in the order itself. */
export const PERSONAL = {
  patient: 'Patient/quorvex-7714',
  encounter: 'Encounter/quorvex-7714',
  medication: 'Oxycodone 10 mg Quorvextablet',
  sig: 'One Quorvextablet every 6 hours',
  last: 'Quorvexname',
}

export type Json = Record<string, unknown>
export interface Person extends SignedIn {
  authenticator: Authenticator
}
export interface Prescriber {
  id: string
  npi: string
  person: Person
}

export type OrderService = Awaited<ReturnType<typeof startOrders>>

export async function startOrders() {
  const lines: string[] = []
  const log = createLog({ process: 'web', level: 'debug' }, { write: (text) => void lines.push(text) })
  const service = await startPasskeys({ overrides: () => ({ log }), app: { log } })
  const caller = await service.makeCaller()
  await listNobodyToday(service.test, caller)
  const owner = await join('owner')
  let npis = 0
  let first: Person | undefined

  async function join(role: Role): Promise<Person> {
    const user = await service.signIn(caller.accountId, { role })
    const authenticator = service.makeAuthenticator()
    await service.register(user, authenticator)
    return { ...user, headers: { ...user.headers, 'Service-Environment': 'sandbox' }, authenticator }
  }

  const post = (path: string, json: object, headers: Record<string, string> = {}) =>
    service.call(caller, path, { method: 'POST', json, headers })
  const as = (user: SignedIn, path: string, json: object, headers: Record<string, string> = {}) =>
    service.send(user, 'POST', path, { json, headers })

  async function confirm(person: Person, id: string, fact_ids: string[]) {
    const challenge = await as(person, `${PRESCRIBERS}/${id}/facts/challenge`, { fact_ids })
    if (challenge.status !== 200) return challenge.status
    const { challenge_id, options } = challenge.json as { challenge_id: string; options: never }
    const passkey_assertion = { challenge_id, response: person.authenticator.assert(options) }
    return (await as(person, `${PRESCRIBERS}/${id}/facts/confirm`, { fact_ids, passkey_assertion })).status
  }

  /** A prescriber; of tier 3 unless facts are left out. */
  async function makePrescriber({
    role = 'approver',
    isConfirmed = true,
  }: {
    role?: Role
    isConfirmed?: boolean
  } = {}) {
    const person = await join(role)
    npis += 1
    const nine = `1${String(npis).padStart(8, '0')}`
    const npi = nine + npiCheckDigit(nine)
    const entered = await post(PRESCRIBERS, {
      ...{ user_id: person.userId, npi, first: 'Robin', last: PERSONAL.last, dob: '1971-03-09' },
      state_licenses: [{ us_state: 'CA', number: 'A1', expires_at: LATER }],
      dea: { number: 'AB1234563', schedules: ['II', 'III', 'IV', 'V'], expires_at: LATER },
    })
    expect(entered).toMatchObject({ status: 200 })
    const { prescriber_id: id } = entered.json as { prescriber_id: string }
    await post(`${PRESCRIBERS}/${id}/facts`, { kind: 'identity', method: 'in_person' })
    if (isConfirmed) {
      const { json } = await service.call(caller, `${PRESCRIBERS}/${id}/facts`)
      const ids = (json as { data: { fact_id: string }[] }).data.map(({ fact_id }) => fact_id)
      expect(await confirm(first ?? owner, id, ids)).toBe(200)
      first ??= person
    }
    return { id, npi, person } satisfies Prescriber
  }

  const bodyOf = (prescriber: Pick<Prescriber, 'id'>, change: Json = {}) => ({
    prescriber_id: prescriber.id,
    patient_ref: PERSONAL.patient,
    encounter_ref: PERSONAL.encounter,
    medication: { name: PERSONAL.medication, rxnorm: '1049502', schedule: 'II' },
    quantity: { value: '30.0', unit: 'tablet' },
    refills: 0,
    sig: PERSONAL.sig,
    ...change,
  })

  async function makeOrder(
    prescriber: Pick<Prescriber, 'id'>,
    change: Json = {},
  ): Promise<Json & { order_id: string }> {
    const answer = await post(ORDERS, bodyOf(prescriber, change))
    expect(answer).toMatchObject({ status: 200 })
    return answer.json as Json & { order_id: string }
  }

  /** An assertion of a person's passkey for an act on an order. */
  async function assertionFor(person: Person, id: string, act: 'sign' | 'cosign', by: 'session' | 'key' = 'session') {
    const path = `${ORDERS}/${id}/challenge`
    const answer = await (by === 'key' ? post(path, { act }) : as(person, path, { act }))
    expect(answer).toMatchObject({ status: 200, json: { act } })
    const { challenge_id, options } = answer.json as { challenge_id: string; options: never }
    return { challenge_id, response: person.authenticator.assert(options) }
  }

  async function signBy(person: Person, id: string, act: 'sign' | 'cosign' = 'sign') {
    return as(person, `${ORDERS}/${id}/${act}`, { passkey_assertion: await assertionFor(person, id, act) })
  }

  async function makeSigned(prescriber: Prescriber, change: Json = {}): Promise<string> {
    const { order_id: id } = await makeOrder(prescriber, change)
    expect(await signBy(prescriber.person, id)).toMatchObject({ status: 200 })
    return id
  }

  const patch = (id: string, json: Json, version: number | '*' = '*') =>
    service.call(caller, `${ORDERS}/${id}`, {
      method: 'PATCH',
      json,
      headers: { 'If-Match': version === '*' ? '*' : `"${version}"` },
    })
  const get = async (id: string) => (await service.call(caller, `${ORDERS}/${id}`)).json as Json

  return {
    ...{ service, caller, owner, lines, post, as, join, makePrescriber, bodyOf, makeOrder, makeSigned },
    ...{ assertionFor, signBy, patch, get },
    feature: service.services.authorize.orders,
    refusals: async (id: string) =>
      (await service.entries(caller, 'clinician_order'))
        .filter(({ subject_id, reason }) => subject_id === id && /refused$/.test(reason ?? ''))
        .map(({ reason, inputs }) => [reason, inputs.act, inputs.cause]),
    close: () => service.close(),
  }
}
