// Prescribers and orders of an account, written as the features write them, for tests of what verify makes of them.

import { randomBytes } from 'node:crypto'
import { sealContent } from '#src/authorize/orders/content.ts'
import { editOrder, endOrder, insertOrder, insertSignature, type OrderTerms } from '#src/authorize/orders/rows.ts'
import type { OrderStatus } from '#src/authorize/orders/state.ts'
import { npiCheckDigit } from '#src/authorize/prescribers/check-digits.ts'
import { hashCanonical } from '#src/authorize/tokens/format.ts'
import type { JsonObject } from '#src/platform/crypto/canonical.ts'
import { actorOf } from '#src/platform/http/principal.ts'
import { newId } from '#src/platform/ids.ts'
import type { TestCaller } from '../../support/callers.ts'
import { type ListedToday, listNobodyToday, listToday } from '../../support/exclusion-rows.ts'
import type { Intents } from './service.ts'

type Members = Record<string, unknown>

const LATER = '2099-06-30T00:00:00.000Z'

/** Personal values, which are in no log, event, mail or entry. */
export const PERSONAL = {
  first: 'Robinpersonal',
  last: 'Quorvpersonal',
  dob: '1971-03-09',
  patient: 'patient-personal-81',
  sig: 'One tablet every 6 hours personal',
  medication: 'Oxycodonpersonal 10 mg',
}

export const PAYLOAD: JsonObject = { to: 'Example Pharmacy', message: PERSONAL.sig, patient: PERSONAL.patient }
export const ORDER_ACTION = { action_description: `Send ${PERSONAL.medication}`, action_payload: PAYLOAD }

export interface Clinician {
  id: string
  userId: string
  npi: string
  headers: Record<string, string>
}

let npis = 0

export type Clinic = ReturnType<typeof createClinic>

export function createClinic(service: Intents) {
  const { db, owner } = service.test
  const { sealer } = service.services.platform

  function nextNpi(): string {
    npis += 1
    const nine = `2${String(npis).padStart(8, '0')}`
    return nine + npiCheckDigit(nine)
  }

  /** A prescriber of tier 3. */
  async function makePrescriber(caller: TestCaller): Promise<Clinician> {
    const user = await service.signIn(caller.accountId, { role: 'admin' })
    const npi = nextNpi()
    const { prescriber_id } = await service.done(caller, '/v1/clinical/prescribers', {
      user_id: user.userId,
      npi,
      first: PERSONAL.first,
      last: PERSONAL.last,
      dob: PERSONAL.dob,
      state_licenses: [{ us_state: 'CA', number: 'A1', expires_at: LATER }],
      dea: { number: 'AQ1234563', schedules: ['II', 'IV'], expires_at: LATER },
    })
    const id = String(prescriber_id)
    await service.done(caller, `/v1/clinical/prescribers/${id}/facts`, { kind: 'identity', method: 'in_person' })
    // What a second person confirms with a passkey.
    await owner(
      `UPDATE prescriber_facts SET confirmed_by = 'usr_second', confirmed_passkey_id = 'pky_second', confirmed_at = now()
       WHERE prescriber_id = $1`,
      [id],
    )
    await owner(
      `INSERT INTO passkeys (account_id, id, user_id, name, credential_id, public_key, algorithm, counter, aaguid, transports,
         is_backup_eligible, is_backed_up, created_at)
       VALUES ($1, $2, $3, 'Key', $4, $4, 'ES256', 0, gen_random_uuid(), '{}', false, false, now())`,
      [caller.accountId, `pky_${user.userId.slice(4)}`, user.userId, randomBytes(32)],
    )
    return { id, userId: user.userId, npi, headers: { ...user.headers, 'Service-Environment': 'sandbox' } }
  }

  const termsOf = (id: string, more: Partial<OrderTerms> = {}): OrderTerms => ({
    sealedContent: sealContent(sealer, id, {
      content: {
        patient_ref: PERSONAL.patient,
        encounter_ref: null,
        medication: { rxnorm: null, name: PERSONAL.medication },
        quantity: { value: '10', unit: null },
        refills: 0,
        sig: PERSONAL.sig,
      },
      action_payload: PAYLOAD,
      requested_schedule: 'II',
      substance: null,
      resource: null,
    }),
    orderHash: randomBytes(32).toString('base64url'),
    payloadHash: hashCanonical(PAYLOAD),
    schedule: 'II',
    scheduleSource: 'request',
    refills: 0,
    usState: 'CA',
    ...more,
  })

  async function insert(caller: TestCaller, prescriber: Clinician, more: Partial<OrderTerms> = {}): Promise<string> {
    const id = newId('ord', caller.environment)
    await db.tenant(caller, (tx) =>
      insertOrder(tx, caller, {
        ...termsOf(id, more),
        id,
        prescriberId: prescriber.id,
        createdBy: actorOf(caller.principal).id,
      }),
    )
    return id
  }

  /** Signs or co-signs the present content. */
  async function sign(
    caller: TestCaller,
    orderId: string,
    clinician: Clinician,
    { act, status }: { act: 'sign' | 'cosign'; status: OrderStatus },
  ): Promise<void> {
    await db.tenant(caller, async (tx) => {
      const [order] = await tx.query<{ hash: Buffer; revision: number }>(
        'SELECT order_hash AS hash, revision FROM orders WHERE id = $1 FOR UPDATE',
        [orderId],
      )
      if (order === undefined) throw new Error('no order')
      const signature = {
        ...{ orderId, act, revision: order.revision, orderHash: order.hash.toString('base64url') },
        ...{ prescriberId: clinician.id, userId: clinician.userId, passkeyId: 'pky', statementVersion: '1' as const },
      }
      await insertSignature(tx, caller, signature, status)
    })
  }

  const list = (caller: TestCaller, entry: ListedToday = {}) => listToday(service.test, caller, entry)
  const listNobody = (caller: TestCaller) => listNobodyToday(service.test, caller)

  return {
    listNobody,
    makePrescriber,
    insert,
    sign,
    /** An order of schedule II that is signed and co-signed. */
    async authorized(caller: TestCaller, more: Partial<OrderTerms> = {}) {
      await listNobody(caller)
      const [prescriber, cosigner] = [await makePrescriber(caller), await makePrescriber(caller)]
      const orderId = await insert(caller, prescriber, more)
      await sign(caller, orderId, prescriber, { act: 'sign', status: 'pending_cosign' })
      await sign(caller, orderId, cosigner, { act: 'cosign', status: 'authorized' })
      return { orderId, prescriber, cosigner }
    },
    /** A further order of a prescriber, signed and co-signed. */
    async another(
      caller: TestCaller,
      { prescriber, cosigner }: { prescriber: Clinician; cosigner: Clinician },
      more: Partial<OrderTerms> = {},
    ) {
      const orderId = await insert(caller, prescriber, more)
      await sign(caller, orderId, prescriber, { act: 'sign', status: 'pending_cosign' })
      await sign(caller, orderId, cosigner, { act: 'cosign', status: 'authorized' })
      return { orderId, prescriber, cosigner }
    },
    edit: (caller: TestCaller, orderId: string) =>
      db.tenant(caller, async (tx) => {
        await tx.query('SELECT FROM orders WHERE id = $1 FOR UPDATE', [orderId])
        await editOrder(tx, caller, orderId, termsOf(orderId))
      }),
    /** Ends the order unless it has ended; says whether. */
    end: (caller: TestCaller, orderId: string, status: 'declined' | 'cancelled') =>
      db.tenant(caller, async (tx) => {
        const [order] = await tx.query<{ status: OrderStatus }>('SELECT status FROM orders WHERE id = $1 FOR UPDATE', [
          orderId,
        ])
        if (order?.status !== 'authorized') return false
        await endOrder(tx, caller, orderId, { status, by: actorOf(caller.principal).id, reason: 'other' })
        return true
      }),
    suspend: (caller: TestCaller, { id }: Clinician) =>
      service.done(caller, `/v1/clinical/prescribers/${id}/suspend`, { reason: 'other' }),
    list,
    policy: async (caller: TestCaller, change: (document: Members) => Members) => {
      const { json } = await service.call(caller, '/v1/clinical/policy')
      const document = change(json.document as Members)
      const headers = { 'If-Match': `"${json.version}"` }
      return service.call(caller, '/v1/clinical/policy', { method: 'PUT', json: { document }, headers })
    },
  }
}
