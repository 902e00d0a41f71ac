// Orders as MedicationRequest of FHIR R4. The structure is checked by @medplum/core over definitions that tools/fhir/cut.ts cuts;
// what it lacks is checked here: modifiers, values that an order can't have, and references to what is not contained. Findings name
// the place and never quote a value: values of an order are personal.

import { readFile } from 'node:fs/promises'
import { type FieldError, refusalOf } from '#src/failure.ts'
import type { Json, JsonObject } from '#src/platform/crypto/canonical.ts'
import { DEFAULT_BODY_VALUES, parseJsonBody } from '#src/platform/http/body.ts'
import type { OrderContent } from './content.ts'
import type { OrderStatus } from './state.ts'

export const FHIR_TYPE = 'application/fhir+json'

const RXNORM = 'http://www.nlm.nih.gov/research/umls/rxnorm'
const NPI = 'http://hl7.org/fhir/sid/us-npi'

/** More findings help nobody. */
const MAX_FINDINGS = 20
/** The limits of JSON bodies. */
const LIMITS = { maxBytes: 1024 * 1024, maxDepth: 34, maxValues: DEFAULT_BODY_VALUES }

// 300 ms and 10 MB, which processes without FHIR do without. Loaded once.
let loaded: Promise<Validate> | undefined
type Validate = (resource: JsonObject) => FieldError[]

/** What a MedicationRequest says that an order needs. */
export interface FhirOrder {
  content: OrderContent
  /** NPI of the requester. */
  npi: string
  /** Every concept of RxNorm, and every name, of the medication and its ingredients: each may be a controlled substance. */
  concepts: { rxnorms: string[]; names: string[] }
  /** Text as it came: extensions and the digits of decimals are in no other form. */
  text: string
}

/**
 * Reads a MedicationRequest.
 * @throws {Failure} `invalid_request` with pointers; `invalid_json`.
 */
export async function parseMedicationRequest(bytes: Buffer): Promise<FhirOrder> {
  const resource = parseJsonBody(bytes, LIMITS)
  if (!isObject(resource)) throw refusalOf([{ pointer: '', code: 'invalid_type', detail: 'must be an object' }])
  const validate = await loadValidator()
  const findings = [...ownFindings(resource), ...validate(resource)]
  if (findings.length > 0) throw refusalOf(withoutRepeats(findings).slice(0, MAX_FINDINGS))
  const text = bytes.toString()
  const order = contentOf(resource, text)
  if (Array.isArray(order)) throw refusalOf(order)
  return { ...order, concepts: conceptsOf(resource), text }
}

function loadValidator(): Promise<Validate> {
  loaded ??= load()
  return loaded
}

async function load(): Promise<Validate> {
  const [core, definitions] = await Promise.all([
    import('@medplum/core'),
    readFile(new URL('fhir-definitions.json', import.meta.url), 'utf8'),
  ])
  core.indexStructureDefinitionBundle(JSON.parse(definitions))
  return (resource) => {
    try {
      core.validateResource(resource as unknown as Parameters<typeof core.validateResource>[0])
      return []
    } catch (error) {
      if (!(error instanceof core.OperationOutcomeError)) throw error
      return (error.outcome.issue ?? []).map(({ expression, details, code }) =>
        findingOf(expression?.[0] ?? '', details?.text ?? '', code === 'invariant'),
      )
    }
  }
}

function findingOf(expression: string, text: string, isInvariant: boolean): FieldError {
  const pointer = expression
    .replace(/^[A-Za-z]+/, '')
    .replaceAll('~', '~0')
    .replace(/\[(\d+)\]/g, '/$1')
    .replaceAll('.', '/')
  if (text.startsWith('Missing required')) return { pointer, code: 'required', detail: 'is required by FHIR R4' }
  if (text.startsWith('Invalid additional')) {
    return { pointer, code: 'unknown_field', detail: 'is no element of FHIR R4 here' }
  }
  const key = isInvariant ? /^Constraint ([\w-]+) /.exec(text)?.[1] : undefined
  const detail = key === undefined ? 'does not have the form of FHIR R4' : `breaks the constraint ${key} of FHIR R4`
  return { pointer, code: 'invalid_value', detail }
}

/** What the validator accepts and an order can't be. */
function ownFindings(resource: JsonObject): FieldError[] {
  const { resourceType, status, intent, doNotPerform, contained, medicationReference } = resource
  const findings: FieldError[] = []
  const refuse = (pointer: string, detail: string) => findings.push({ pointer, code: 'invalid_value', detail })
  if (resourceType !== 'MedicationRequest') refuse('/resourceType', 'must be MedicationRequest')
  if (status !== 'draft' && status !== 'active') refuse('/status', 'must be draft or active: an order is signed here')
  if (intent !== 'order') refuse('/intent', 'must be order')
  if (doNotPerform !== undefined && doNotPerform !== false) {
    refuse('/doNotPerform', 'must be absent or false: a prohibition can not be authorized')
  }
  const choices = Object.keys(resource).filter((name) => /^_?medication[A-Z]/.test(name) && !name.startsWith('_'))
  if (choices.length > 1) refuse(`/${choices[1]}`, `must not be combined with ${choices[0]}`)
  const containedIds = new Set<Json>()
  for (const [index, one] of (Array.isArray(contained) ? contained : []).entries()) {
    if (!isObject(one) || one.resourceType !== 'Medication') {
      refuse(`/contained/${index}/resourceType`, 'must be Medication: nothing else may be contained')
    } else if (one.id !== undefined) containedIds.add(one.id)
  }
  const reference = isObject(medicationReference) ? medicationReference.reference : undefined
  if (typeof reference === 'string' && !(reference.startsWith('#') && containedIds.has(reference.slice(1)))) {
    refuse('/medicationReference/reference', 'must name a contained Medication: the signer has to see it')
  }
  walk(resource, '', findings)
  return findings
}

// Elements that change the meaning of others, anywhere, and arrays and objects that say nothing.
function walk(value: Json, pointer: string, findings: FieldError[]): void {
  if (typeof value !== 'object' || value === null || findings.length > MAX_FINDINGS) return
  const members = Array.isArray(value) ? [...value.entries()] : Object.entries(value)
  if (members.length === 0) findings.push({ pointer, code: 'invalid_value', detail: 'must not be empty' })
  for (const [name, member] of members) {
    const at = `${pointer}/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`
    if (name === 'modifierExtension' || name === 'implicitRules') {
      findings.push({
        pointer: at,
        code: 'not_allowed',
        detail: 'is not understood, so the order could mean something else',
      })
    }
    if (name === '__proto__') findings.push({ pointer: at, code: 'unknown_field', detail: 'is no element of FHIR R4' })
    walk(member, at, findings)
  }
}

function contentOf(resource: JsonObject, text: string): Pick<FhirOrder, 'content' | 'npi'> | FieldError[] {
  const findings: FieldError[] = []
  const need = <T>(value: T | undefined, pointer: string): T | undefined => {
    if (value === undefined) findings.push({ pointer, code: 'required', detail: 'is required for an order' })
    return value
  }
  const concept = conceptOf(resource)
  const at = resource.medicationReference === undefined ? '/medicationCodeableConcept' : '/contained'
  const coding = objects(concept?.coding).find(({ system }) => system === RXNORM)
  const name = need(
    textOf(concept?.text) ??
      objects(concept?.coding)
        .map(({ display }) => textOf(display))
        .find((one) => one !== undefined),
    `${at}/text`,
  )
  const patient = need(textOf(object(resource.subject)?.reference), '/subject/reference')
  const dispense = object(resource.dispenseRequest)
  const amount = object(dispense?.quantity)
  const value = need(
    typeof amount?.value === 'number' && amount.value > 0
      ? decimalAt(text, ['dispenseRequest', 'quantity', 'value'])
      : undefined,
    '/dispenseRequest/quantity/value',
  )
  const doses = objects(resource.dosageInstruction)
  // Each dose, so that none is signed that the signer does not see.
  const sigs = doses.map((dose, index) => need(textOf(dose.text), `/dosageInstruction/${index}/text`))
  if (doses.length === 0) need(undefined, '/dosageInstruction')
  const refills = dispense?.numberOfRepeatsAllowed ?? 0
  const requester = object(object(resource.requester)?.identifier)
  const npi = need(requester?.system === NPI ? textOf(requester.value) : undefined, '/requester/identifier/value')
  const isWhole = name !== undefined && patient !== undefined && value !== undefined && npi !== undefined
  if (findings.length > 0 || !isWhole) return findings
  const content = {
    patient_ref: patient,
    encounter_ref: textOf(object(resource.encounter)?.reference) ?? null,
    medication: { rxnorm: textOf(coding?.code) ?? null, name },
    quantity: { value, unit: textOf(amount?.unit) ?? textOf(amount?.code) ?? null },
    refills: Number(refills),
    sig: sigs.join('\n'),
  }
  return { content, npi }
}

function conceptsOf({ medicationCodeableConcept, contained }: JsonObject): FhirOrder['concepts'] {
  const medications = objects(contained)
  const ingredients = medications.flatMap(({ ingredient }) => objects(ingredient))
  const concepts = [
    object(medicationCodeableConcept),
    ...medications.map(({ code }) => object(code)),
    ...ingredients.map(({ itemCodeableConcept }) => object(itemCodeableConcept)),
  ]
  const codings = concepts.flatMap((concept) => objects(concept?.coding))
  const texts = [...concepts.map((concept) => concept?.text), ...codings.map(({ display }) => display)]
  return {
    rxnorms: codings.flatMap(({ system, code }) => (system === RXNORM ? (textOf(code) ?? []) : [])),
    names: texts.flatMap((text) => textOf(text) ?? []),
  }
}

function conceptOf({ medicationCodeableConcept, medicationReference, contained }: JsonObject): JsonObject | undefined {
  if (medicationCodeableConcept !== undefined) return object(medicationCodeableConcept)
  const id = textOf(object(medicationReference)?.reference)?.slice(1)
  return object(objects(contained).find((one) => one.id === id)?.code)
}

/** What of an order stands in a resource that the order is shown as. */
export interface ShownOrder {
  orderId: string
  status: OrderStatus
  npi: string
  content: OrderContent
  /** The resource that the order was made from; null for JSON. */
  text: string | null
}

/** `completed` would say that all of it was dispensed and taken; a co-signature that is missing is a draft in R4. */
const FHIR_STATUS: Record<OrderStatus, 'draft' | 'active' | 'cancelled'> = {
  draft: 'draft',
  pending_cosign: 'draft',
  authorized: 'active',
  executed: 'active',
  declined: 'cancelled',
  cancelled: 'cancelled',
  expired: 'cancelled',
}

/** The order as text of a MedicationRequest. @param statusUrl Of the extension that has our own status. */
export function toMedicationRequest({ orderId, status, npi, content, text }: ShownOrder, statusUrl: string): string {
  const own = text === null ? resourceOf(content, npi) : (parseExactly(text) as JsonObject)
  const extensions = objects(own.extension).filter(({ url }) => url !== statusUrl)
  const { resourceType, ...rest } = own
  return JSON.stringify({
    resourceType,
    ...rest,
    id: orderId,
    status: FHIR_STATUS[status],
    extension: [...extensions, { url: statusUrl, valueCode: status }],
  })
}

function resourceOf({ medication, quantity, ...order }: OrderContent, npi: string): JsonObject {
  const { rxnorm, name } = medication
  return {
    resourceType: 'MedicationRequest',
    intent: 'order',
    medicationCodeableConcept: {
      ...(rxnorm !== null && { coding: [{ system: RXNORM, code: rxnorm }] }),
      text: name,
    },
    subject: { reference: order.patient_ref },
    ...(order.encounter_ref !== null && { encounter: { reference: order.encounter_ref } }),
    requester: { identifier: { system: NPI, value: npi } },
    dosageInstruction: [{ text: order.sig }],
    dispenseRequest: {
      numberOfRepeatsAllowed: order.refills,
      quantity: {
        value: exactNumber(quantity.value) as Json,
        ...(quantity.unit !== null && { unit: quantity.unit }),
      },
    },
  }
}

// The types of TypeScript do not know the source of a number yet (ECMAScript proposal JSON.parse source text access).
const SourceJson = JSON as unknown as {
  parse(text: string, revive: (name: string, value: unknown, context: { source?: string }) => unknown): unknown
  rawJSON(text: string): unknown
}

const exactNumber = (digits: string) => SourceJson.rawJSON(digits)

/** Numbers keep the digits of their text: a decimal of FHIR says by them how precise it is. */
function parseExactly(text: string): unknown {
  return SourceJson.parse(text, (_name, value, { source }) =>
    typeof value === 'number' && source !== undefined ? exactNumber(source) : value,
  )
}

function decimalAt(text: string, path: readonly string[]): string | undefined {
  let value = SourceJson.parse(text, (_name, one, { source }) => (typeof one === 'number' ? source : one)) as
    | Json
    | undefined
  for (const name of path) value = object(value)?.[name]
  return typeof value === 'string' ? value : undefined
}

/** Codes of OperationOutcome for what is no finding about one place. */
const ISSUE_CODES: Record<number, string> = {
  401: 'login',
  403: 'forbidden',
  404: 'not-found',
  409: 'conflict',
  412: 'conflict',
  429: 'throttled',
  500: 'exception',
  503: 'transient',
}

interface RefusedRequest {
  status: number
  /** One of our codes, by which programs tell refusals apart. */
  code: string
  /** Address that explains the code. */
  system: string
}

/** Findings as FHIR clients read them. */
export function toOperationOutcome(detail: string, findings: readonly FieldError[] = [], refused?: RefusedRequest) {
  const issues = findings.map((one) => ({
    severity: 'error',
    code: one.code === 'required' ? 'required' : one.code === 'unknown_field' ? 'structure' : 'value',
    details: { text: `${one.pointer} ${one.detail}` },
    expression: [expressionOf(one.pointer)],
  }))
  const code = ISSUE_CODES[refused?.status ?? 0] ?? 'processing'
  const coding = refused && { coding: [{ system: refused.system, code: refused.code }] }
  const issue = issues.length > 0 ? issues : [{ severity: 'error', code, details: { ...coding, text: detail } }]
  return { resourceType: 'OperationOutcome', issue }
}

function expressionOf(pointer: string): string {
  const path = pointer.slice(1).split('/')
  return `MedicationRequest${path.map((name) => (/^\d+$/.test(name) ? `[${name}]` : name === '' ? '' : `.${name}`)).join('')}`
}

function withoutRepeats(findings: readonly FieldError[]): FieldError[] {
  const seen = new Set<string>()
  return findings.filter(({ pointer }) => !seen.has(pointer) && seen.add(pointer))
}

function isObject(value: Json | undefined): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

const object = (value: Json | undefined) => (isObject(value) ? value : undefined)
const objects = (value: Json | undefined) => (Array.isArray(value) ? value.filter(isObject) : [])
const textOf = (value: Json | undefined) => (typeof value === 'string' && value.trim() !== '' ? value : undefined)
