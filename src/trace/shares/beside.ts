// A share beside the others of its trace, whose masks belong together: what a new one must be, and what it may show. Pure.

import { Failure, fieldFailure, invalidField } from '#src/failure.ts'
import { DAY_MS } from '#src/platform/retention.ts'
import type { TraceRow } from '../canaries/traces.ts'
import { isPoolable, LEAST_OF_TEXT } from './by-message.ts'
import { type Manifest, maskedNodes } from './graph.ts'
import type { Mask, Revealed } from './mask.ts'
import type { DisclosureMode, ScopeKind, ShareRow } from './rows.ts'
import type { MaskRule } from './rule.ts'

const MAX_SHARE_DAYS = 366
// Each is read whenever one of them is looked at.
const MAX_SHARES = 100

export interface NewShareRequest {
  name: string | undefined
  traceId: string
  jobId: string | undefined
  scopeKind: ScopeKind
  maskedNodeIds: readonly string[]
  maskRule: MaskRule | undefined
  reveals: readonly Revealed[]
  revealsPrompt: boolean
  disclosureMode: DisclosureMode
  expiresAt: Date
}

/** The masks of shares in a graph, in the order of the shares. */
export function masksIn(manifest: Manifest, shares: readonly Pick<ShareRow, 'masks' | 'reveals'>[]): Mask[] {
  return shares.map(({ masks, reveals }) => ({
    nodeIds: new Set(masks.length === 0 ? [] : maskedNodes(manifest, new Set(masks))),
    reveals,
  }))
}

/**
 * Whether a share shows the positions of its graph. What another share of the trace masks without them stays masked: who
 * finds the prompt computes every neuron.
 */
export function showsPositions(
  { revealsPrompt }: Pick<ShareRow, 'revealsPrompt'>,
  all: readonly Pick<ShareRow, 'revealsPrompt'>[],
  masks: readonly Mask[],
): boolean {
  return revealsPrompt && findGuarded(all, masks) === undefined
}

function findGuarded<Share extends Pick<ShareRow, 'revealsPrompt'>>(shares: readonly Share[], masks: readonly Mask[]) {
  return shares.find(({ revealsPrompt }, index) => !revealsPrompt && (masks[index]?.nodeIds.size ?? 0) > 0)
}

/** @throws {Failure} `invalid_request` */
export function checkWanted({ jobId, maskedNodeIds, maskRule, expiresAt }: NewShareRequest, at: Date): void {
  if (jobId === undefined && (maskedNodeIds.length > 0 || maskRule !== undefined)) {
    throw invalidField('/job_id', 'required', 'is required with a mask: without a job no graph is shared')
  }
  checkEnd(expiresAt, at)
}

/** @throws {Failure} `invalid_request` */
export function checkEnd(expiresAt: Date, at: Date): void {
  const latest = at.getTime() + MAX_SHARE_DAYS * DAY_MS
  if (expiresAt <= at || expiresAt.getTime() > latest) {
    throw invalidField('/expires_at', 'out_of_range', `must be later than now, and by at most ${MAX_SHARE_DAYS} days`)
  }
}

/** @throws {Failure} `invalid_request` */
export function checkPrompt({ revealsPrompt }: NewShareRequest, graph: Manifest | undefined): void {
  if (graph === undefined || revealsPrompt || isPoolable(graph)) return
  throw invalidField(
    '/reveals_prompt',
    'required',
    `must be true: the text of the graph has fewer than ${LEAST_OF_TEXT} tokens of content, which are found by trying`,
  )
}

/** @throws {Failure} `conflict` */
export function refuseUnlike({ jobId }: NewShareRequest, trace: TraceRow, before: readonly ShareRow[]): void {
  // Two graphs of one trace name different neurons. Their remainders differ by what one names and the other does not.
  const other = before.find((share) => share.traceId === trace.id && share.jobId !== null && share.jobId !== jobId)
  if (jobId !== undefined && other !== undefined) {
    throw conflictAt(
      '/job_id',
      `The share ${other.id} of this trace shows the graph of ${other.jobId}: all shares of a trace show the same.`,
    )
  }
  if (before.length >= MAX_SHARES) {
    throw new Failure(
      'conflict',
      `A trace and its model version have at most ${MAX_SHARES} shares, ended ones included.`,
    )
  }
}

/** @throws {Failure} `conflict` */
export function refuseBypass(before: readonly ShareRow[], masks: readonly Mask[]): void {
  const manual = before.find(
    (share, index) => share.disclosureMode === 'manual' && (masks[index]?.nodeIds.size ?? 0) > 0,
  )
  if (manual === undefined) return
  throw conflictAt(
    '/disclosure_mode',
    `A grant shows everything that a share masks, and this one would mask what ${manual.id} masks, whose requests people decide: use the mode manual.`,
  )
}

/** @throws {Failure} `conflict` */
export function refuseRevealing(before: readonly ShareRow[], masks: readonly Mask[]): void {
  const guarded = findGuarded(before, masks)
  if (guarded === undefined) return
  throw conflictAt(
    '/reveals_prompt',
    `With the prompt, which reveals_prompt gives away, somebody with the file of the model computes what ${guarded.id} masks: leave it out.`,
  )
}

const conflictAt = (pointer: string, detail: string): Failure =>
  fieldFailure('conflict', { pointer, code: 'conflict', detail })
