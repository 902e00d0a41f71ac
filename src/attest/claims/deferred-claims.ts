// Writes the claims of a batch last. Every submission and every settled result of a claim needs its row, and a batch
// takes seconds. So its attestations get the ids that their claims have or will have, and the claims are locked only at
// the end of the transaction. The foreign key is checked at COMMIT.

import type { Tx } from '#src/platform/db/database.ts'
import { newId, type Scope } from '#src/platform/ids.ts'
import { findByReferences, moveAttestations, type NewClaim, upsertClaims } from './claim-rows.ts'
import type { NewAttestation } from './rows.ts'
import type { BatchLine } from './submission.ts'

export interface Placed {
  body: BatchLine
  attestation: NewAttestation
}

export interface DeferredClaims {
  /** Gives attestations their claims before they are inserted; an empty id where the claim accepts no more captures. */
  place(fresh: readonly Placed[]): Promise<void>
  /** Records what was inserted: only inserted attestations create claims or add to them. */
  keep(placed: readonly Placed[]): void
  /** Writes the claims. @throws {CLAIM_CLOSED} */
  write(): Promise<void>
}

/** Thrown when a claim was closed since it was read. The batch must start over, and will then find it closed. */
export const CLAIM_CLOSED = Symbol('a claim of the batch was closed meanwhile')

export async function deferClaims(tx: Tx, scope: Scope, batchId: string): Promise<DeferredClaims> {
  await tx.adhoc('SET CONSTRAINTS attestations_claim_fkey DEFERRED')
  /** Claim ids by reference; undefined where the claim is closed. */
  const ids = new Map<string, string | undefined>()
  const claims = new Map<string, NewClaim>()

  async function lookUp(fresh: readonly Placed[]): Promise<void> {
    const references = fresh.flatMap(({ body }) => body.claim?.reference ?? [])
    const unknown = [...new Set(references)].filter((reference) => !ids.has(reference))
    const found = new Map((await findByReferences(tx, unknown)).map((row) => [row.reference, row]))
    for (const reference of unknown) {
      const row = found.get(reference)
      ids.set(reference, row === undefined ? newId('clm', scope.environment) : row.isClosed ? undefined : row.id)
    }
  }

  return {
    async place(fresh) {
      await lookUp(fresh)
      for (const { body, attestation } of fresh) {
        const reference = body.claim?.reference
        attestation.claimId = reference === undefined ? newId('clm', scope.environment) : (ids.get(reference) ?? '')
      }
    },
    keep(placed) {
      for (const { body, attestation } of placed) {
        claims.set(attestation.claimId, statedClaim(attestation.claimId, body, claims.get(attestation.claimId)))
      }
    },
    async write() {
      const written = await upsertClaims(tx, scope, inLockOrder([...claims.values()]))
      const actual = new Map(written.map(({ id, reference }) => [reference, id]))
      for (const { id, reference } of claims.values()) {
        if (reference === null) continue
        const claimId = actual.get(reference)
        if (claimId === undefined) throw CLAIM_CLOSED
        // Another transaction has inserted the claim since it was read.
        if (claimId !== id) await moveAttestations(tx, { batchId, from: id, to: claimId })
      }
    },
  }
}

/** A claim as one submission states it; statements of an earlier submission stay. */
export function statedClaim(id: string, { claim = {} }: Pick<BatchLine, 'claim'>, earlier?: NewClaim): NewClaim {
  const { reference, line, loss_location: loss, loss_at: lossAt } = claim
  return {
    id,
    reference: reference ?? null,
    line: earlier?.line ?? line ?? null,
    lossLat: earlier?.lossLat ?? loss?.lat ?? null,
    lossLng: earlier?.lossLng ?? loss?.lng ?? null,
    lossAt: earlier?.lossAt ?? (lossAt === undefined ? null : new Date(lossAt).toISOString()),
  }
}

/** Every transaction locks claims in this order, so that they wait for each other and don't deadlock. */
export function inLockOrder(claims: readonly NewClaim[]): NewClaim[] {
  const keyOf = ({ reference }: NewClaim) => reference ?? ''
  return claims.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : keyOf(a) > keyOf(b) ? 1 : 0))
}
