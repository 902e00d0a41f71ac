// The input of the checker: rows of Postgres, and the journals. Plain data, so that a test can change it.

import { join } from 'node:path'
import { type AttributionFacts, readAttributions } from './attributions.ts'
import { type BudgetFacts, readBudgets } from './budgets.ts'
import { type ConsumerFacts, readConsumers } from './consumers.ts'
import { type InferenceFacts, readInferences } from './inferences.ts'
import type {
  Acknowledged,
  Answered,
  Asked,
  Endpoint,
  Entry,
  Injected,
  Looked,
  Mailed,
  Received,
  Sampled,
  Unanswered,
  Visited,
  Weighed,
} from './journal.ts'
import { readJournal } from './journal.ts'
import { type LedgerFacts, readLedgers } from './ledger.ts'
import type { PostgresServer } from './stores.ts'
import { readTrail } from './trail.ts'

/** Account and environment, as `<account> <environment>`. */
export type ScopeName = string

export interface AttestationFact {
  id: string
  scope: ScopeName
  /** The name that the capture gives itself. */
  name: string | null
  claimId: string
  batchId: string | null
  externalId: string | null
  mediaId: string
  jobId: string
  status: string
  riskStatus: string | null
  riskScore: number | null
  provenanceStatus: string | null
  acceptedAt: number
  evaluatedAt: number | null
  resultJws: string | null
}

export interface ClaimFact {
  id: string
  scope: ScopeName
  riskStatus: string
  riskScore: number | null
  provenanceStatus: string | null
}

export interface JobFact {
  id: string
  queue: string
  lane: string
  priority: number
  scope: ScopeName
  state: string
  fence: number
  lastError: string | null
  /** That its payload names. */
  attestationId: string | null
  mailId: string | null
  /** An import of an exclusion list, or a screening of prescribers. */
  exclusionId: string | null
}

export interface Step {
  id: string
  state: string
  fence: number
  runAt: number
  isLapse: boolean
  at: number
}

export interface EventFact {
  id: string
  scope: ScopeName
  type: string
  data: Record<string, unknown>
}

export interface DeliveryFact {
  id: string
  scope: ScopeName
  eventId: string
  endpointId: string
  status: string
  attempts: number
  jobId: string
}

export interface MediumFact {
  id: string
  scope: ScopeName
  sha256: string
}

export interface ScreeningFact {
  id: string
  scope: ScopeName
  sha256: string
  status: string
  genaiScore: number | null
  jobId: string
}

export interface MailFact {
  id: string
  scope: ScopeName
  status: string
}

export interface ExportFact {
  id: string
  scope: ScopeName
  state: string
  sha256: string | null
  jobId: string
}

export interface ImportFact {
  id: string
  scope: ScopeName
  status: string
  /** Whether it is in force. */
  isCurrent: boolean
}

/** A row of which only the owner matters. */
export interface Owned {
  id: string
  scope: ScopeName
}

export interface Evidence extends Journals {
  attestations: AttestationFact[]
  claims: ClaimFact[]
  media: MediumFact[]
  batches: (Owned & { accepted: number })[]
  screenings: ScreeningFact[]
  mails: MailFact[]
  exports: ExportFact[]
  imports: ImportFact[]
  exclusionScreenings: Owned[]
  jobs: JobFact[]
  /** In the order in which they were made. */
  steps: Step[]
  events: EventFact[]
  deliveries: DeliveryFact[]
  ledgers: LedgerFacts
  budgets: BudgetFacts
  inferences: InferenceFacts
  attributions: AttributionFacts
  consumers: ConsumerFacts
  /** Devices, roots, endpoints, keys. */
  others: Owned[]
  /** Public halves of the keys that sign results, by kid. */
  signers: Record<string, { environment: string; jwk: Record<string, unknown> }>
}

type Journals = ReturnType<typeof emptyJournals>

const SCOPE = `account_id || ' ' || environment AS scope`
const MS = (column: string) => `(extract(epoch FROM ${column}) * 1000)::float8`

/** @param hostile Accounts of attackers: of their rows only the owner is read. */
export async function readEvidence(
  { owner }: Pick<PostgresServer, 'owner'>,
  given: {
    directory: string
    hostile: readonly string[]
    decided: readonly string[]
    executedTwice: readonly string[]
    spending: Pick<BudgetFacts, 'executed' | 'released'>
    inferring: Pick<InferenceFacts, 'answered'>
    attributing: Pick<AttributionFacts, 'answered' | 'shown'>
    pulling: Omit<ConsumerFacts, 'consumers'>
  },
): Promise<Evidence> {
  const { directory, hostile } = given
  const others: Owned[] = []
  const isHostile = ({ scope }: { scope: ScopeName }) => hostile.includes(scope.split(' ')[0] ?? '')
  const honest = <Row extends Owned>(rows: Row[]): Row[] => {
    others.push(...rows.filter(isHostile).map(({ id, scope }) => ({ id, scope })))
    return rows.filter((row) => !isHostile(row))
  }
  const attestations = await owner<AttestationFact>(
    `SELECT id, ${SCOPE}, submission -> 'claim' ->> 'line' AS name, claim_id AS "claimId", batch_id AS "batchId",
       external_id AS "externalId", media_id AS "mediaId", job_id AS "jobId", status, risk_status AS "riskStatus",
       risk_score AS "riskScore", provenance_status AS "provenanceStatus", ${MS('accepted_at')} AS "acceptedAt",
       ${MS('evaluated_at')} AS "evaluatedAt", result_jws AS "resultJws" FROM attestations`,
  )
  const claims = await owner<ClaimFact>(
    `SELECT id, ${SCOPE}, risk_status AS "riskStatus", risk_score AS "riskScore", provenance_status AS "provenanceStatus"
     FROM claims`,
  )
  const media = await owner<MediumFact>(`SELECT id, ${SCOPE}, encode(sha256, 'hex') AS sha256 FROM media`)
  const batches = await owner<Owned & { accepted: number }>(`SELECT id, ${SCOPE}, accepted FROM batches`)
  const screenings = await owner<ScreeningFact>(
    `SELECT id, ${SCOPE}, encode(media_sha256, 'hex') AS sha256, status, genai_score::float8 AS "genaiScore",
       job_id AS "jobId" FROM screenings`,
  )
  const jobs = await owner<JobFact>(
    `SELECT id, queue, lane, priority, ${SCOPE}, state, fence, last_error AS "lastError",
       payload ->> 'attestationId' AS "attestationId", payload ->> 'mailId' AS "mailId",
       COALESCE(payload ->> 'exclusionImportId', payload ->> 'exclusionScreeningId') AS "exclusionId"
     FROM (SELECT * FROM jobs UNION ALL SELECT * FROM ended_jobs) jobs`,
  )
  const mails = await owner<MailFact>(`SELECT id, ${SCOPE}, status FROM mails`)
  const exports = await owner<ExportFact>(
    `SELECT id, account_id || ' live' AS scope, state, encode(sha256, 'hex') AS sha256, job_id AS "jobId" FROM account_exports`,
  )
  const imports = await owner<ImportFact>(
    `SELECT id, ${SCOPE}, status,
       EXISTS (SELECT FROM exclusion_pointers p WHERE p.account_id = i.account_id AND p.import_id = i.id) AS "isCurrent"
     FROM exclusion_imports i`,
  )
  const exclusionScreenings = await owner<Owned>(`SELECT id, ${SCOPE} FROM exclusion_screenings`)
  const events = await owner<EventFact>(`SELECT id, ${SCOPE}, type, data FROM events`)
  const deliveries = await owner<DeliveryFact>(
    `SELECT id, ${SCOPE}, event_id AS "eventId", endpoint_id AS "endpointId", status, attempts, job_id AS "jobId"
     FROM deliveries`,
  )
  for (const table of ['devices', 'root_cas', 'webhook_endpoints', 'api_keys']) {
    others.push(...(await owner<{ id: string; scope: string }>(`SELECT id, ${SCOPE} FROM ${table}`)))
  }
  const keys = await owner<{ kid: string; environment: string; jwk: Record<string, unknown> }>(
    `SELECT kid, environment, public_jwk AS jwk FROM signing_keys WHERE family = 'record'`,
  )
  const strange = new Set(jobs.filter(isHostile).map(({ id }) => id))
  return {
    attestations: honest(attestations),
    claims: honest(claims),
    media: honest(media),
    batches: honest(batches),
    screenings: honest(screenings),
    mails,
    exports,
    imports,
    exclusionScreenings,
    jobs: jobs.filter((job) => !isHostile(job)),
    steps: (await readTrail({ owner })).filter(({ id }) => !strange.has(id)),
    events: honest(events),
    deliveries: honest(deliveries),
    ledgers: await readLedgers({ owner }, given),
    budgets: await readBudgets({ owner }, given.spending),
    inferences: await readInferences({ owner }, given.inferring.answered),
    attributions: await readAttributions({ owner }, given.attributing),
    consumers: await readConsumers({ owner }, given.pulling),
    others,
    signers: Object.fromEntries(keys.map(({ kid, environment, jwk }) => [kid, { environment, jwk }])),
    ...sortEntries((await Promise.all(JOURNALS.map((name) => readJournal(join(directory, name))))).flat()),
  }
}

export const JOURNALS = ['clients.ndjson', 'receivers.ndjson', 'faults.ndjson', 'weights.ndjson'] as const

/** The part of the evidence that comes from the journals, without an entry. */
export function emptyJournals() {
  return {
    asked: [] as Asked[],
    answered: [] as Answered[],
    unanswered: [] as Unanswered[],
    endpoints: [] as Endpoint[],
    received: [] as Received[],
    acknowledged: [] as Acknowledged[],
    looked: [] as Looked[],
    mailed: [] as Mailed[],
    visited: [] as Visited[],
    faults: [] as Injected[],
    samples: [] as Sampled[],
    weights: [] as Weighed[],
  }
}

function sortEntries(entries: readonly Entry[]): Journals {
  const sorted = emptyJournals()
  for (const entry of entries) {
    if (entry.kind === 'asked') sorted.asked.push(entry)
    else if (entry.kind === 'answered') sorted.answered.push(entry)
    else if (entry.kind === 'unanswered') sorted.unanswered.push(entry)
    else if (entry.kind === 'endpoint') sorted.endpoints.push(entry)
    else if (entry.kind === 'received') sorted.received.push(entry)
    else if (entry.kind === 'acknowledged') sorted.acknowledged.push(entry)
    else if (entry.kind === 'looked') sorted.looked.push(entry)
    else if (entry.kind === 'mailed') sorted.mailed.push(entry)
    else if (entry.kind === 'visited') sorted.visited.push(entry)
    else if (entry.kind === 'fault') sorted.faults.push(entry)
    else if (entry.kind === 'weighed') sorted.weights.push(entry)
    else sorted.samples.push(entry)
  }
  return sorted
}
