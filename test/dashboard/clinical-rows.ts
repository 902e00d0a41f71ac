// Data of the pages of clinicians: a prescriber with facts, an order, both exclusion lists, and a review.

import { randomBytes } from 'node:crypto'
import { newId } from '#src/platform/ids.ts'
import type { TestCaller } from '../support/callers.ts'
import { listNobodyToday } from '../support/exclusion-rows.ts'
import type { TestService } from '../support/service.ts'

export interface ClinicalIds {
  order: string
  prescriber: string
  listImport: string
  review: string
  listScreening: string
}

export const LATER = '2099-06-30T00:00:00.000Z'

/** Enters a prescriber with all facts of tier 3, which nobody has confirmed. */
export async function enterPrescriber(
  service: TestService,
  caller: TestCaller,
  { userId, npi, last = 'Example' }: { userId: string; npi: string; last?: string },
): Promise<string> {
  const { prescriber_id: id } = await post(service, caller, '/v1/clinical/prescribers', {
    ...{ user_id: userId, npi, first: 'Robin', last, dob: '1980-05-01' },
    state_licenses: [{ us_state: 'CA', number: 'A123456', expires_at: LATER }],
    dea: { number: 'BE1234563', schedules: ['II', 'III', 'IV', 'V'], expires_at: LATER },
  })
  await post(service, caller, `/v1/clinical/prescribers/${id}/facts`, { kind: 'identity', method: 'in_person' })
  return String(id)
}

/** An order of schedule II, which takes two signatures. */
export async function enterOrder(service: TestService, caller: TestCaller, prescriberId: string): Promise<string> {
  const { order_id: id } = await post(service, caller, '/v1/clinical/orders', {
    prescriber_id: prescriberId,
    patient_ref: 'Patient/123',
    medication: { rxnorm: '1049502', name: 'Oxycodone 10 mg oral tablet', schedule: 'none' },
    quantity: { value: '30.0', unit: 'tablet' },
    refills: 0,
    sig: 'One tablet every 6 hours as needed for pain',
    us_state: 'CA',
    action_payload: { to: 'Example Pharmacy' },
  })
  return String(id)
}

async function post(service: TestService, caller: TestCaller, path: string, json: object) {
  const answer = await service.call(caller, path, { json })
  if (answer.status !== 200) throw new Error(`${path} answered ${answer.status}: ${answer.text}`)
  return answer.json as Record<string, unknown>
}

export async function makeClinicalData(service: TestService, caller: TestCaller): Promise<ClinicalIds> {
  const { accountId, environment } = caller
  const { userId } = await service.signIn(accountId, { role: 'approver' })
  const prescriber = await enterPrescriber(service, caller, { userId, npi: '1234567893' })
  const order = await enterOrder(service, caller, prescriber)
  await listNobodyToday(service.test, caller)
  const [first] = await service.test.owner<{ id: string }>('SELECT id FROM exclusion_imports WHERE account_id = $1', [
    accountId,
  ])
  const [review, listScreening] = [newId('exr', environment), newId('exs', environment)]
  const scope = [accountId, environment]
  await service.test.owner(
    `INSERT INTO exclusion_reviews (account_id, environment, id, prescriber_id, list, row_hash, list_date, matched_on, created_at)
     VALUES ($1, $2, $3, $4, 'sam', $5, current_date, 'name_state', now())`,
    [...scope, review, prescriber, randomBytes(32)],
  )
  await service.test.owner(
    `INSERT INTO exclusion_screenings (account_id, environment, id, cause, status, created_at)
     VALUES ($1, $2, $3, 'sam', 'succeeded', now())`,
    [...scope, listScreening],
  )
  await service.test.owner(
    `INSERT INTO exclusion_changes (account_id, environment, screening_id, prescriber_id, status_before, status, evidence, changed_at)
     VALUES ($1, $2, $3, $4, 'clear', 'review', '[]', now())`,
    [...scope, listScreening, prescriber],
  )
  return { order, prescriber, listImport: first?.id ?? '', review, listScreening }
}
