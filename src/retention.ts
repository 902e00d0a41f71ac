// What is forgotten, and when: the one table of it, which clock works through.

import { forgetDeliveries, forgetEvents } from './account/webhooks/retention.ts'
import { forgetBatches } from './attest/batches/retention.ts'
import { forgetC2paAnchors } from './attest/c2pa/retention.ts'
import { forgetChunks, forgetSessions, releaseStreams } from './attest/captures/retention.ts'
import { forgetCases } from './attest/cases/retention.ts'
import { forgetAttestations, forgetClaims } from './attest/claims/retention.ts'
import { forgetChallenges, forgetDevices, forgetRootCas } from './attest/devices/retention.ts'
import type { Eraser } from './attest/media/erase.ts'
import { forgetPolicies } from './attest/policy/retention.ts'
import { forgetReevaluations } from './attest/reevaluate/retention.ts'
import { forgetScreeningBatches, forgetScreeningSettings, forgetScreenings } from './attest/screen/retention.ts'
import type { Database } from './platform/db/database.ts'
import { forgetIdempotencyKeys } from './platform/http/idempotency.ts'
import type { Scope } from './platform/ids.ts'
import { forgetDeadJobs, forgetSettledJobs, forgetSilentWorkers } from './platform/jobs/retention.ts'
import { forgetInSteps, type Step } from './platform/retention.ts'
import type { BlobStore } from './platform/store/blobs.ts'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

// A capture may arrive 30 days after its nonce expired, and one more is for clocks that disagree.
const LATE_CAPTURE_DAYS = 31
// Uploads that nobody submits, chunks of streams among them.
const UNCLAIMED_DAYS = 7
// After they expired: long enough to look into an enrollment that failed.
const CHALLENGE_DAYS = 31
// Until plans say more: three months are what a quarterly reconciliation looks back on.
const DELIVERY_DAYS = 90
// As long as the events that it made.
const REEVALUATION_DAYS = 30
/** Of accounts whose keys are published, the sandbox for newcomers: everything of it goes. */
export const PUBLIC_DAYS = 7

export interface RetentionDeps {
  db: Database
  store: Pick<BlobStore, 'sweep'>
  eraser: Eraser
  /** Finishes erasures of claims that were begun and not ended. */
  finishClaims(scope: Scope, signal: AbortSignal): Promise<number>
}

/** What belongs to the deployment and not to a tenant. Its functions know how long. */
export interface DeploymentRule {
  what: string
  everyMs: number
  forget(): Promise<number>
}

/** What belongs to a tenant, in the order in which it is done: what refers goes before what it refers to. */
export interface TenantRule {
  what: string
  /** Null: until somebody erases it. */
  days: number | null
  /** Takes what is older than `before`. */
  forget(scope: Scope, before: Date, signal: AbortSignal): Promise<number>
}

export function deploymentRules({ db, store }: Pick<RetentionDeps, 'db' | 'store'>): DeploymentRule[] {
  return [
    { what: 'jobs', everyMs: MINUTE_MS, forget: () => forgetSettledJobs(db) },
    { what: 'workers', everyMs: MINUTE_MS, forget: () => forgetSilentWorkers(db) },
    { what: 'idempotency_keys', everyMs: MINUTE_MS, forget: () => forgetIdempotencyKeys(db) },
    { what: 'broken_uploads', everyMs: HOUR_MS, forget: () => store.sweep() },
  ]
}

/** Every hour, for each account and environment. */
export const TENANT_EVERY_MS = HOUR_MS

export function tenantRules({
  db,
  eraser,
  finishClaims,
}: Pick<RetentionDeps, 'db' | 'eraser' | 'finishClaims'>): TenantRule[] {
  const rows = (what: string, days: number | null, step: Step): TenantRule => ({
    what,
    days,
    forget: (scope, before, signal) => forgetInSteps(db, { what, scope, before, signal }, step),
  })
  return [
    { what: 'erasures_of_claims', days: 0, forget: (scope, _before, signal) => finishClaims(scope, signal) },
    { what: 'erasures_of_media', days: 0, forget: (scope, _before, signal) => eraser.finishUnfinished(scope, signal) },
    { what: 'dead_jobs', days: null, forget: (scope, before) => forgetDeadJobs(db, scope, before) },
    rows('attestations', null, forgetAttestations),
    rows('cases', null, forgetCases),
    rows('screenings', null, forgetScreenings),
    rows('screening_batches', null, forgetScreeningBatches),
    rows('screening_settings', null, forgetScreeningSettings),
    rows('claims', null, forgetClaims),
    rows('batches', null, forgetBatches),
    { what: 'streams', days: 0, forget: (scope, _before, signal) => releaseStreams({ db, eraser }, scope, signal) },
    rows('capture_chunks', UNCLAIMED_DAYS, forgetChunks),
    { what: 'unreferenced_media', days: UNCLAIMED_DAYS, forget: eraser.eraseUnreferenced },
    { what: 'erased_media', days: null, forget: eraser.forgetErased },
    rows('capture_sessions', LATE_CAPTURE_DAYS, forgetSessions),
    rows('device_challenges', CHALLENGE_DAYS, forgetChallenges),
    rows('devices', null, forgetDevices),
    rows('root_cas', null, forgetRootCas),
    rows('c2pa_anchors', null, forgetC2paAnchors),
    rows('deliveries', DELIVERY_DAYS, forgetDeliveries),
    rows('events', 30, forgetEvents),
    rows('reevaluations', REEVALUATION_DAYS, forgetReevaluations),
    rows('risk_policies', null, forgetPolicies),
  ]
}

/** Every day: it lists the whole store. */
export const STRAYS_EVERY_MS = DAY_MS

export function strayRules({ eraser }: Pick<RetentionDeps, 'eraser'>): TenantRule[] {
  // As long as media that nobody refers to. A database that was restored from a backup lacks the rows of what came after it:
  // for these days its operator can still bring them back.
  return [{ what: 'stray_blobs', days: 7, forget: eraser.eraseStrays }]
}

/** When `rule` takes what is in this tenant; undefined when it takes nothing. */
export function limitOf(
  { days }: Pick<TenantRule, 'days'>,
  { environment, isPublic }: { environment: Scope['environment']; isPublic: boolean },
  now: Date,
): Date | undefined {
  const mine = isPublic && environment === 'sandbox' ? Math.min(days ?? PUBLIC_DAYS, PUBLIC_DAYS) : days
  return mine === null ? undefined : new Date(now.getTime() - mine * DAY_MS)
}
