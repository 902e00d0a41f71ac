// A prescriber orders a controlled substance, and an agent sends the order to a pharmacy: not before a second clinician has
// co-signed exactly it, and not twice. Two doctors verify each other first, with passkeys. All of it happens over HTTP.

import { type Call, createCall, signIn } from './agent.ts'
import { createPasskey, type Passkey } from './passkey.ts'

type Members = Record<string, unknown>

interface ClinicOptions {
  baseUrl: string
  key: string
  /** A link that signs a doctor in, once, and the user whom it signs in. */
  linkOf(email: string): Promise<{ link: string; user: string }>
  say(line: string): void
  signal: AbortSignal
}

interface Doctor {
  person: Call
  passkey: Passkey
  prescriberId: string
}

const PRESCRIBERS = '/v1/clinical/prescribers'
const ORDERS = '/v1/clinical/orders'
const YEAR_MS = 366 * 86_400_000
const DOCTORS = [
  { email: 'first.doctor@localhost', npi: '1234567893', last: 'Adams', dea: 'BA1234563' },
  { email: 'second.doctor@localhost', npi: '1003000126', last: 'Baker', dea: 'BB1388568' },
]

/** Returns what differs from the plan, a sentence each. @throws {Error} when the service can't be used. */
export async function letDoctorsOrder({ baseUrl, key, linkOf, say, signal }: ClinicOptions): Promise<string[]> {
  const call = createCall({ baseUrl, signal, headers: { Authorization: `Bearer ${key}` } })
  const faults: string[] = []
  // No list is imported here: the policy says that orders may be executed all the same.
  const { document, version } = await call('GET', '/v1/clinical/policy')
  const allowed = { document: { ...(document as Members), allow_stale: true } }
  await call('PUT', '/v1/clinical/policy', allowed, { headers: { 'If-Match': `"${version}"` } })

  // Registered passkeys are of the page's host, which is localhost where the service runs on this machine.
  const origin = baseUrl.replace('//127.0.0.1', '//localhost')
  const doctors: Doctor[] = []
  for (const doctor of DOCTORS) {
    const { link, user } = await linkOf(doctor.email)
    const person = createCall({ baseUrl, signal, headers: await signIn(link, baseUrl, signal) })
    const passkey = createPasskey(origin)
    const { options } = await person('POST', '/v1/passkeys/registration-options')
    const response = passkey.register(options as Parameters<Passkey['register']>[0])
    await person('POST', '/v1/passkeys/register', { name: 'Demo', response })
    doctors.push({ person, passkey, prescriberId: await enter(call, user, doctor) })
  }
  const [first, second] = doctors
  if (first === undefined || second === undefined) throw new Error('The clinic has two doctors.')
  // Nobody has tier 3 yet, so an owner of the account confirms the first one, and they the second one.
  await confirm(call, second, first.prescriberId)
  await confirm(call, first, second.prescriberId)
  say('\nTwo doctors are verified. One orders a substance of schedule II, which another one has to co-sign.')

  const payload = { to: 'Example Pharmacy', medication: 'Oxycodone 10 mg', quantity: '20' }
  const action = { action_description: 'Send an order to Example Pharmacy', action_payload: payload }
  const { order_id } = await call('POST', ORDERS, {
    prescriber_id: first.prescriberId,
    patient_ref: 'Patient/demo',
    medication: { name: payload.medication },
    quantity: { value: payload.quantity, unit: 'tablet' },
    refills: 0,
    sig: 'One tablet every 6 hours',
    action_payload: payload,
  })
  const order = String(order_id)
  await sign(first, order, 'sign')
  const authorize = async () => {
    const holder = { agent_session_id: 'pharmacy-agent', device_id: 'clinic-1' }
    return (await call('POST', '/v1/intent/authorize', { ...action, ...holder, order_id })).intent_token
  }
  const verify = async (what: string, token: unknown, reason: string | null, given: Members = action) => {
    const answer = await call('POST', '/v1/intent/verify', { ...given, intent_token: token })
    say(`  ${what}: ${answer.valid === true ? 'may run' : `refused (${answer.reason})`}`)
    if (answer.reason !== reason) faults.push(`${what}: ${answer.reason ?? 'valid'} instead of ${reason ?? 'valid'}`)
  }
  const [token, another] = [await authorize(), await authorize()]
  const tampered = { ...action, action_payload: { ...payload, quantity: '200' } }
  await verify('The order, with ten times the quantity', token, 'payload_hash_mismatch', tampered)
  await verify('The order, signed by the prescriber alone', token, 'controlled_substance_cosign_required')
  await sign(second, order, 'cosign')
  await verify('The same, co-signed', token, null)
  await verify('The same again', token, 'token_already_executed')
  await verify('Another token of the order', another, 'token_already_executed')
  return faults
}

/** A prescriber with the facts of tier 3, entered and not yet confirmed. */
async function enter(call: Call, userId: string, { npi, last, dea }: (typeof DOCTORS)[number]): Promise<string> {
  const expires_at = new Date(Date.now() + YEAR_MS).toISOString()
  const { prescriber_id: id } = await call('POST', PRESCRIBERS, {
    ...{ user_id: userId, npi, first: 'Robin', last, dob: '1980-05-01' },
    state_licenses: [{ us_state: 'CA', number: 'A123456', expires_at }],
    dea: { number: dea, schedules: ['II', 'III', 'IV', 'V'], expires_at },
  })
  await call('POST', `${PRESCRIBERS}/${id}/facts`, { kind: 'identity', method: 'in_person' })
  return String(id)
}

async function confirm(call: Call, { person, passkey }: Doctor, id: string): Promise<void> {
  const { data } = await call('GET', `${PRESCRIBERS}/${id}/facts`)
  const fact_ids = (data as { fact_id: string }[]).map(({ fact_id }) => fact_id)
  const challenge = await person('POST', `${PRESCRIBERS}/${id}/facts/challenge`, { fact_ids })
  const passkey_assertion = assertionOf(passkey, challenge)
  await person('POST', `${PRESCRIBERS}/${id}/facts/confirm`, { fact_ids, passkey_assertion })
}

async function sign({ person, passkey }: Doctor, order: string, act: 'sign' | 'cosign'): Promise<void> {
  const challenge = await person('POST', `${ORDERS}/${order}/challenge`, { act })
  await person('POST', `${ORDERS}/${order}/${act}`, { passkey_assertion: assertionOf(passkey, challenge) })
}

function assertionOf(passkey: Passkey, { challenge_id, options }: Members) {
  return { challenge_id, response: passkey.assert(options as Parameters<Passkey['assert']>[0]) }
}
