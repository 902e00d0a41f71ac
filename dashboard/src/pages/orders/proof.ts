// What a clinician signs, and the proof that it is what the page shows: the hash is computed here, from the very values that are
// shown.

import type { Order } from '@countersign/client'
import { canonicalize, type Json } from '@countersign/client/verify'
import { hashOf } from '../../parts/hash.ts'

const HASH_VERSION = 1

export interface Proved {
  order: Order
  /** Computed; empty where the browser computes none. */
  hash: string
  /** The hash is the one of the order. */
  isGenuine: boolean
}

export async function prove(order: Order): Promise<Proved> {
  const resourceHash = order.resource === null ? null : await hashOf(order.resource)
  const hash = await hashOf(canonicalOf(signedMembers(order, resourceHash)))
  const isGenuine = hash !== '' && hash === order.orderHash && order.hashVersion === HASH_VERSION
  return { order, hash, isGenuine }
}

/** The members that are hashed, by the names that the API has for them. */
function signedMembers(order: Order, resourceHash: string | null) {
  const { medication, quantity } = order
  return {
    version: HASH_VERSION,
    order_id: order.orderId,
    prescriber_id: order.prescriberId,
    patient_ref: order.patientRef,
    encounter_ref: order.encounterRef,
    medication: { rxnorm: medication.rxnorm, name: medication.name },
    schedule: order.schedule,
    us_state: order.usState,
    quantity: { value: quantity.value, unit: quantity.unit },
    refills: order.refills,
    sig: order.sig,
    action_payload: order.actionPayload,
    resource_hash: resourceHash,
  }
}

// Values without a canonical form have no hash, so that it equals none.
function canonicalOf(value: unknown): string | undefined {
  try {
    return canonicalize(value as Json)
  } catch {
    return undefined
  }
}

/** The signed contents as people read them: a name and a text each, in the order of the page. */
export function contentOf(order: Order): readonly (readonly [name: string, text: string | null])[] {
  const { medication, quantity } = order
  return [
    ['Medication', medication.name],
    ['RxNorm', medication.rxnorm],
    ['Quantity', quantity.unit === null ? quantity.value : `${quantity.value} ${quantity.unit}`],
    ['Refills', `${order.refills}`],
    ['Directions (sig)', order.sig],
    ['Schedule', order.schedule],
    ['Patient', order.patientRef],
    ['Encounter', order.encounterRef],
    ['State where it is dispensed', order.usState],
    ['Prescriber', order.prescriberId],
  ]
}

export interface Change {
  name: string
  before: string
  now: string
}

/** What is signed and differs between two reads of an order. */
export function changesBetween(before: Order, now: Order): Change[] {
  const all = (order: Order) => [
    ...contentOf(order),
    ['Payload of the action', order.actionPayload === null ? null : JSON.stringify(order.actionPayload)] as const,
    ['FHIR resource', order.resource] as const,
  ]
  const former = new Map(all(before))
  return all(now).flatMap(([name, text]) => {
    const was = former.get(name) ?? null
    return was === text ? [] : [{ name, before: was ?? 'none', now: text ?? 'none' }]
  })
}
