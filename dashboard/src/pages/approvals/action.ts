// What a person decides about, and the proof that it is what the token is bound to: the hashes are computed here, from the very
// values that the page shows.

import type { Approval, Mandate } from '@countersign/client'
import { canonicalize, type Json } from '@countersign/client/verify'
import { hashOf } from '../../parts/hash.ts'
import type { Client } from '../../recipe/list-page.tsx'

export interface Proved {
  approval: Approval
  actionHash: string
  payloadHash: string
  /** Both hashes are those of the approval. */
  isGenuine: boolean
}

/** Reads an approval and computes its hashes. @throws {CountersignError} */
export async function readProved(
  client: Client,
  id: string,
  { waitSeconds, signal }: { waitSeconds?: number; signal?: AbortSignal } = {},
): Promise<Proved> {
  const query = waitSeconds === undefined ? {} : { wait: waitSeconds }
  return prove(await client.approvals.retrieve(id, query, signal === undefined ? {} : { signal }))
}

export async function prove(approval: Approval): Promise<Proved> {
  const [actionHash, payloadHash] = await Promise.all([
    hashOf(approval.actionDescription),
    hashOf(canonicalOf(approval.actionPayload)),
  ])
  const isGenuine = actionHash === approval.actionHash && payloadHash === approval.payloadHash
  return { approval, actionHash, payloadHash, isGenuine }
}

/** What a decision is about. Two reads of an approval that differ in it ask for different decisions. */
export function subjectOf({ approval, actionHash, payloadHash }: Proved): string {
  const { approvalId, jti, agentId, agentSessionId, deviceId, mandateId, scheduleId, requirePasskey } = approval
  const parts = [approvalId, actionHash, payloadHash, approval.actionHash, approval.payloadHash]
  return JSON.stringify([...parts, jti, agentId, agentSessionId, deviceId, mandateId, scheduleId, requirePasskey])
}

// A payload without a canonical form has no hash, so that it equals none.
function canonicalOf(payload: unknown): string | undefined {
  try {
    return canonicalize(payload as Json)
  } catch {
    return undefined
  }
}

/** The amount of an action with its currency, as the payload has them; undefined where it names none. */
export function amountIn(payload: Record<string, unknown>, mandate: Mandate | undefined): string | undefined {
  const { amount: amountPointer = '/amount', currency: currencyPointer = '/currency' } = mandate?.payloadPointers ?? {}
  const amount = memberAt(payload, amountPointer)
  const currency = memberAt(payload, currencyPointer)
  if (typeof amount !== 'string' && typeof amount !== 'number') return undefined
  return typeof currency === 'string' ? `${amount} ${currency}` : `${amount}`
}

/** RFC 6901. */
function memberAt(payload: unknown, pointer: string): unknown {
  return pointer
    .split('/')
    .slice(1)
    .map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
    .reduce<unknown>(
      (value, name) =>
        typeof value === 'object' && value !== null && Object.hasOwn(value, name)
          ? (value as Record<string, unknown>)[name]
          : undefined,
      payload,
    )
}
