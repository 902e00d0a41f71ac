// MedicationRequest in and out. The requests are our own, in the form of HL7's examples.

import { describe, expect, it } from 'vitest'
import { parseMedicationRequest, toMedicationRequest, toOperationOutcome } from '#src/authorize/orders/fhir.ts'
import { ORDER_STATUSES } from '#src/authorize/orders/state.ts'
import { Failure } from '#src/failure.ts'

const STATUS_URL = 'https://countersign.test/fhir/StructureDefinition/order-status'

const CODED = {
  resourceType: 'MedicationRequest',
  id: 'medrx-own-1',
  status: 'active',
  intent: 'order',
  medicationCodeableConcept: {
    coding: [
      { system: 'http://snomed.info/sct', code: '317896006', display: 'Digoxin 125 microgram oral tablet' },
      {
        system: 'http://www.nlm.nih.gov/research/umls/rxnorm',
        code: '197604',
        display: 'digoxin 0.125 MG Oral Tablet',
      },
    ],
  },
  subject: { reference: 'Patient/own-1', display: 'A Person' },
  encounter: { reference: 'Encounter/own-1' },
  requester: { identifier: { system: 'http://hl7.org/fhir/sid/us-npi', value: '1234567893' } },
  authoredOn: '2026-01-15',
  dosageInstruction: [
    { sequence: 1, text: 'One tablet daily', timing: { repeat: { frequency: 1, period: 1, periodUnit: 'd' } } },
    { sequence: 2, text: 'Two on the first day' },
  ],
  dispenseRequest: {
    validityPeriod: { start: '2026-01-15', end: '2026-07-15' },
    numberOfRepeatsAllowed: 3,
    quantity: {
      value: 30,
      unit: 'TAB',
      system: 'http://terminology.hl7.org/CodeSystem/v3-orderableDrugForm',
      code: 'TAB',
    },
  },
}
const CONTAINED = {
  ...CODED,
  status: 'draft',
  medicationCodeableConcept: undefined,
  contained: [{ resourceType: 'Medication', id: 'med', code: { text: 'Hydrocodone 5 mg' } }],
  medicationReference: { reference: '#med' },
}

const parse = (resource: unknown) => parseMedicationRequest(Buffer.from(JSON.stringify(resource)))

async function pointersOf(resource: unknown): Promise<string[]> {
  const error = await parse(resource).then(
    () => undefined,
    (thrown: unknown) => thrown,
  )
  if (error === undefined) return []
  if (!(error instanceof Failure)) throw error
  expect(error.code).toBe('invalid_request')
  return (error.errors ?? []).map(({ pointer }) => pointer)
}

describe('a MedicationRequest', () => {
  it('gives the members of an order', async () => {
    expect((await parse(CODED)).content).toEqual({
      patient_ref: 'Patient/own-1',
      encounter_ref: 'Encounter/own-1',
      medication: { rxnorm: '197604', name: 'Digoxin 125 microgram oral tablet' },
      quantity: { value: '30', unit: 'TAB' },
      refills: 3,
      sig: 'One tablet daily\nTwo on the first day',
    })
    const { content } = await parse(CONTAINED)
    expect(content.medication).toEqual({ rxnorm: null, name: 'Hydrocodone 5 mg' })
  })

  it('comes back with its extensions and the digits of its decimals, and with the status of the order', async () => {
    const text = JSON.stringify({ ...CONTAINED, extension: [{ url: 'https://own.test/weight', valueDecimal: 0 }] })
      .replace('"valueDecimal":0', '"valueDecimal":1.50')
      .replace('"value":30', '"value":30.00')
    const { content } = await parseMedicationRequest(Buffer.from(text))
    expect(content.quantity.value).toBe('30.00')
    for (const status of ORDER_STATUSES) {
      const shown = toMedicationRequest({ orderId: 'ord_test_1', status, npi: '1234567893', content, text }, STATUS_URL)
      expect(shown).toContain('"valueDecimal":1.50')
      expect(shown).toContain('"value":30.00')
      const { id, extension, ...rest } = JSON.parse(shown)
      expect(id).toBe('ord_test_1')
      expect(extension.at(-1)).toEqual({ url: STATUS_URL, valueCode: status })
      const own = ['draft', 'pending_cosign'].includes(status)
        ? 'draft'
        : ['authorized', 'executed'].includes(status)
          ? 'active'
          : 'cancelled'
      expect(rest.status).toBe(own)
    }
  })

  it('is made of an order in JSON, and can be read again', async () => {
    const { content } = await parse(CODED)
    const order = { orderId: 'ord_test_1', status: 'draft' as const, npi: '1234567893', text: null }
    const made = toMedicationRequest(
      { ...order, content: { ...content, quantity: { value: '2.50', unit: null } } },
      STATUS_URL,
    )
    expect(made).toContain('"value":2.50')
    expect((await parseMedicationRequest(Buffer.from(made))).content).toEqual({
      ...content,
      quantity: { value: '2.50', unit: null },
    })
  })

  const dispense = (change: object) => ({ ...CODED, dispenseRequest: { ...CODED.dispenseRequest, ...change } })
  const HOSTILE: [string, unknown, string][] = [
    ['an unknown element', { ...CODED, colour: 'red' }, '/colour'],
    [
      'an unknown element below',
      { ...CODED, dosageInstruction: [{ text: 'a', colour: 1 }] },
      '/dosageInstruction/0/colour',
    ],
    ['doNotPerform', { ...CODED, doNotPerform: true }, '/doNotPerform'],
    [
      'modifierExtension',
      { ...CODED, modifierExtension: [{ url: 'https://own.test/not', valueBoolean: true }] },
      '/modifierExtension',
    ],
    [
      'a modifierExtension below',
      { ...CODED, dosageInstruction: [{ text: 'a', modifierExtension: [{ url: 'x' }] }] },
      '/dosageInstruction/0/modifierExtension',
    ],
    ['implicitRules', { ...CODED, implicitRules: 'https://own.test/rules' }, '/implicitRules'],
    [
      'two medications',
      { ...CODED, medicationReference: { reference: '#med' }, contained: CONTAINED.contained },
      '/medicationReference',
    ],
    [
      'a dangling reference',
      { ...CONTAINED, medicationReference: { reference: '#m' } },
      '/medicationReference/reference',
    ],
    [
      'a medication elsewhere',
      { ...CONTAINED, medicationReference: { reference: 'Medication/1' } },
      '/medicationReference/reference',
    ],
    [
      'another contained resource',
      { ...CODED, contained: [{ resourceType: 'Patient', id: 'p' }] },
      '/contained/0/resourceType',
    ],
    ['status completed', { ...CODED, status: 'completed' }, '/status'],
    ['status signed', { ...CODED, status: 'signed' }, '/status'],
    ['another intent', { ...CODED, intent: 'proposal' }, '/intent'],
    ['negative refills', dispense({ numberOfRepeatsAllowed: -1 }), '/dispenseRequest/numberOfRepeatsAllowed'],
    ['refills as text', dispense({ numberOfRepeatsAllowed: 'two' }), '/dispenseRequest/numberOfRepeatsAllowed'],
    ['half a refill', dispense({ numberOfRepeatsAllowed: 1.5 }), '/dispenseRequest/numberOfRepeatsAllowed'],
    ['no quantity', dispense({ quantity: undefined }), '/dispenseRequest/quantity/value'],
    ['a quantity of nothing', dispense({ quantity: { value: 0 } }), '/dispenseRequest/quantity/value'],
    ['a negative quantity', dispense({ quantity: { value: -3 } }), '/dispenseRequest/quantity/value'],
    [
      'a body of R5',
      { ...CODED, medicationCodeableConcept: undefined, medication: { concept: { text: 'x' } } },
      '/medication',
    ],
    ['no patient', { ...CODED, subject: undefined }, '/subject'],
    ['a patient without reference', { ...CODED, subject: { display: 'x' } }, '/subject/reference'],
    ['an empty array', { ...CODED, note: [] }, '/note'],
    ['null', { ...CODED, note: null }, '/note'],
    [
      'a dose without text',
      { ...CODED, dosageInstruction: [{ text: 'a' }, { sequence: 2 }] },
      '/dosageInstruction/1/text',
    ],
    ['no requester', { ...CODED, requester: { reference: 'Practitioner/1' } }, '/requester/identifier/value'],
    ['no dose', { ...CODED, dosageInstruction: undefined }, '/dosageInstruction'],
    ['another resource', { resourceType: 'Medication', code: { text: 'x' } }, '/resourceType'],
    ['an array', [CODED], ''],
    [
      'a name of a prototype',
      JSON.parse(`{"__proto__":{"status":"draft"},${JSON.stringify(CODED).slice(1)}`),
      '/__proto__',
    ],
  ]
  it.each(HOSTILE)('with %s is refused at its place', async (_name, resource, pointer) => {
    expect(await pointersOf(resource)).toContain(pointer)
  })

  it('is refused as a whole where it is no JSON, or has a member twice', async () => {
    for (const text of ['', '{', '{"status":"draft","status":"active"}', '\ufeff{}']) {
      await expect(parseMedicationRequest(Buffer.from(text))).rejects.toMatchObject({ code: 'invalid_json' })
    }
  })

  it('is refused without a word of its values', async () => {
    const secret = 'SECRET-7f3a'
    const given = {
      ...CODED,
      status: secret,
      authoredOn: secret,
      subject: { reference: 5, display: secret },
      medicationReference: { reference: `#${secret}` },
      dispenseRequest: { numberOfRepeatsAllowed: secret, quantity: { value: secret } },
    }
    const error = (await parse(given).catch((thrown: unknown) => thrown)) as Failure
    expect(error).toBeInstanceOf(Failure)
    const outcome = toOperationOutcome(error.message, error.errors)
    expect(JSON.stringify([error.message, error.errors, outcome])).not.toContain(secret)
  })
})

describe('an OperationOutcome', () => {
  it('names each place as FHIRPath', () => {
    const finding = { pointer: '/dosageInstruction/0/text', code: 'required' as const, detail: 'is required' }
    expect(toOperationOutcome('x', [finding])).toEqual({
      resourceType: 'OperationOutcome',
      issue: [
        {
          severity: 'error',
          code: 'required',
          details: { text: '/dosageInstruction/0/text is required' },
          expression: ['MedicationRequest.dosageInstruction[0].text'],
        },
      ],
    })
    expect(toOperationOutcome('Too large.').issue).toMatchObject([{ code: 'processing' }])
  })
})
