// A small run without violations, made by hand: the checker's own tests change it.

import { generateKeyPairSync, randomBytes, sign } from 'node:crypto'
import { CHECKPOINT_TYP } from '#client/verify/checkpoint.ts'
import { signDelivery } from '#src/account/webhooks/signature.ts'
import type { ScopedType } from '#src/catalogue/ids.ts'
import { type Environment, newAccountId, newId } from '#src/platform/ids.ts'
import { appendLeaves, EMPTY_TREE, frontierBytes, leafHash, rootOf } from '#src/platform/ledger/merkle.ts'
import { scoreOf } from './detector.ts'
import { type AttestationFact, type EventFact, type Evidence, emptyJournals, type Step } from './evidence.ts'
import { idsIn } from './journal.ts'
import { addAttributions } from './sample-attributions.ts'
import { EXPECTED, kindOf, sha256Hex } from './tenant.ts'

const START = 1_800_000_000_000
const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })

/** Two accounts, two captures (the second one fails) and a screening each, their events delivered to one endpoint per account. */
export function sampleEvidence(): Evidence {
  const evidence: Evidence = {
    attestations: [],
    claims: [],
    media: [],
    batches: [],
    screenings: [],
    mails: [],
    exports: [],
    imports: [],
    exclusionScreenings: [],
    jobs: [],
    steps: [],
    events: [],
    deliveries: [],
    ledgers: {
      decided: [],
      executedTwice: [],
      decisions: [],
      leaves: [],
      heads: [],
      checkpoints: [],
      pending: 0,
      positions: [],
    },
    attributions: { answered: [], works: [], events: [], counted: [], shown: [] },
    inferences: {
      answered: [],
      traces: [],
      recorded: [],
      counted: [],
      locks: [],
      lockEntries: [],
      lockEvents: [],
    },
    consumers: { pulled: [], moved: [], waited: [], consumers: [] },
    budgets: { executed: [], released: [], executions: [], releases: [], mandates: [], cycles: [] },
    others: [],
    signers: { k1: { environment: 'sandbox', jwk: { ...publicKey.export({ format: 'jwk' }) } } },
    ...emptyJournals(),
  }
  for (const number of [1, 2]) addAccount(evidence, number)
  addBudgets(evidence)
  addConsumer(evidence)
  addInferences(evidence)
  addAttributions(evidence.attributions, (queue, scope) => addJob(evidence, queue, scope))
  return evidence
}

function addAccount(evidence: Evidence, number: number): void {
  const accountId = newAccountId('acc')
  const environment: Environment = 'sandbox'
  const scope = `${accountId} ${environment}`
  const secret = `whsec_${randomBytes(33).toString('base64')}`
  const endpointId = id('whe')
  const receiver = `${number}sandbox-all`
  const eventTypes = ['attestation.created', 'claim.provenance_updated', 'claim.escalated', 'screening.completed']
  const at = START
  evidence.endpoints.push({ kind: 'endpoint', at, accountId, environment, endpointId, receiver, secret, eventTypes })
  evidence.others.push({ id: endpointId, scope })
  for (const n of [0, 3])
    addCapture(evidence, { accountId, environment, scope, number, n, endpointId, receiver, secret })
  addScreening(evidence, { accountId, environment, scope, number, n: 9, endpointId, receiver, secret })
  addLedger(evidence, accountId)
  addPerson(evidence, number)
}

/** Who asked for a link twice: the first one was replaced before its mail was sent. */
function addPerson(evidence: Evidence, number: number): void {
  const at = START
  const exportId = `exp_${number}`
  const sha256 = sha256Hex(Buffer.from(`archive ${number}`))
  const scope = `${newAccountId('acc')} live`
  for (const status of ['dropped', 'sent']) {
    const mailId = `${status}_${number}`
    evidence.mails.push({ id: mailId, scope, status })
    addJob(evidence, 'mail', scope, { mailId })
    if (status === 'sent') evidence.mailed.push({ kind: 'mailed', at, mailId })
  }
  evidence.exports.push({ id: exportId, scope, state: 'ready', sha256, jobId: addJob(evidence, 'export', scope) })
  const importId = `exi_${number}`
  evidence.imports.push({ id: importId, scope, status: 'succeeded', isCurrent: true })
  addJob(evidence, 'exclusions', scope, { exclusionId: importId })
  evidence.visited.push({
    kind: 'visited',
    at,
    email: `${number}@faults.example`,
    isSignedIn: true,
    importId,
    exportId,
    sha256,
  })
}

interface Place {
  accountId: string
  environment: Environment
  scope: string
  number: number
  n: number
  endpointId: string
  receiver: string
  secret: string
}

function addCapture(evidence: Evidence, place: Place): void {
  const { accountId, environment, scope, number, n } = place
  const prefix = `${number}sandbox-`
  const { riskScore, riskStatus, provenanceStatus } = EXPECTED[kindOf(n)]
  const row: AttestationFact = {
    id: id('att'),
    scope,
    name: `${prefix}${n}`,
    claimId: id('clm'),
    batchId: null,
    externalId: `${prefix}${n}`,
    mediaId: id('med'),
    jobId: addJob(evidence, 'attest', scope),
    status: 'evaluated',
    riskStatus,
    riskScore,
    provenanceStatus,
    acceptedAt: START,
    evaluatedAt: START + 30,
    resultJws: null,
  }
  evidence.attestations.push({ ...row, resultJws: signResult(row) })
  evidence.claims.push({ id: row.claimId, scope, riskStatus, riskScore, provenanceStatus })
  const base = { prefix, first: n, count: 1, isNamed: true, key: null, wait: 0, sha256: null }
  const request = evidence.asked.length + 1
  evidence.asked.push({ kind: 'asked', n: request, at: START, accountId, environment, op: 'attest', ...base })
  const said = {
    retryAfter: null,
    code: null,
    isReplayed: false,
    batchId: null,
    mediaId: null,
    screeningId: null,
    accepted: null,
  }
  const ids = [row.id, row.claimId, row.mediaId]
  for (const status of [202, 200]) {
    const answer = { n: request, at: START + 5, ms: 5, status, attestationId: row.id, ids }
    evidence.answered.push({ kind: 'answered', ...answer, ...said })
  }
  const pending = { provenance_status: null, risk_status: 'pending', risk_score: null }
  const current = { provenance_status: provenanceStatus, risk_status: riskStatus, risk_score: riskScore }
  addJob(evidence, 'compare', scope, { attestationId: row.id })
  addEvent(evidence, place, 'attestation.created', { attestation_id: row.id, claim_id: row.claimId })
  addEvent(evidence, place, 'claim.provenance_updated', { claim_id: row.claimId, previous: pending, current })
  if (riskStatus === 'failed') addEvent(evidence, place, 'claim.escalated', { claim_id: row.claimId })
}

function addScreening(evidence: Evidence, place: Place): void {
  const { accountId, environment, scope, number, n } = place
  const sha256 = sha256Hex(Buffer.from(`photo ${number}`))
  const genaiScore = scoreOf(sha256)
  const row = { id: id('scr'), scope, sha256, status: 'scored', genaiScore, jobId: addJob(evidence, 'screen', scope) }
  evidence.screenings.push(row)
  const base = { prefix: '', first: 0, count: 0, isNamed: false, key: `screen-${n}`, wait: 0, sha256 }
  const request = evidence.asked.length + 1
  evidence.asked.push({ kind: 'asked', n: request, at: START, accountId, environment, op: 'screen', ...base })
  const said = { retryAfter: null, code: null, isReplayed: false, batchId: null, mediaId: null, accepted: null }
  const answer = {
    n: request,
    at: START + 5,
    ms: 5,
    status: 202,
    attestationId: null,
    screeningId: row.id,
    ids: [row.id],
  }
  evidence.answered.push({ kind: 'answered', ...answer, ...said })
  evidence.looked.push({ kind: 'looked', at: START + 10, sha256, isAnswered: true })
  addEvent(evidence, place, 'screening.completed', { screening_id: row.id, claim_id: null, genai_score: genaiScore })
}

function addEvent(evidence: Evidence, place: Place, type: string, data: Record<string, unknown>): void {
  const { scope, accountId, environment, endpointId, receiver, secret } = place
  const event: EventFact = { id: id('evt'), scope, type, data }
  evidence.events.push(event)
  const deliveryId = id('whd')
  const jobId = addJob(evidence, 'deliver', scope)
  evidence.deliveries.push({
    id: deliveryId,
    scope,
    eventId: event.id,
    endpointId,
    status: 'delivered',
    attempts: 1,
    jobId,
  })
  const body = JSON.stringify({ event_id: event.id, type, environment, account_id: accountId, data })
  const n = evidence.received.length + 1
  const headers = {
    'service-event-id': event.id,
    'service-delivery-id': deliveryId,
    ...signDelivery({ rawBody: Buffer.from(body), eventId: event.id, secrets: [secret], nowSeconds: START / 1_000 }),
  }
  evidence.received.push({ kind: 'received', n, at: START + 100, receiver, headers, body })
  evidence.acknowledged.push({ kind: 'acknowledged', n, at: START + 110, status: 204 })
  if (idsIn(body).length === 0) throw new Error('a sample without ids would prove nothing')
}

function addJob(
  evidence: Evidence,
  queue: string,
  scope: string,
  {
    attestationId = null,
    mailId = null,
    exclusionId = null,
  }: Partial<Pick<Evidence['jobs'][number], 'attestationId' | 'mailId' | 'exclusionId'>> = {},
): string {
  const job = crypto.randomUUID()
  const ended = { state: 'succeeded', fence: 1, lastError: null }
  evidence.jobs.push({ id: job, queue, lane: scope, priority: 0, scope, attestationId, mailId, exclusionId, ...ended })
  const states = [
    ['queued', 0],
    ['dispatched', 0],
    ['running', 1],
    ['succeeded', 1],
  ] as const
  for (const [index, [state, fence]] of states.entries()) {
    const step: Step = { id: job, state, fence, runAt: START, isLapse: false, at: START + 10 * (index + 1) }
    evidence.steps.push(step)
  }
  return job
}

// A root with two children, under each of which one action ran; a third was given back; and one cycle of a schedule.
function addBudgets({ budgets }: Evidence): void {
  const [root, a, b, schedule] = [id('mnd'), id('mnd'), id('mnd'), id('sch')]
  const scope = `${newAccountId('acc')} sandbox`
  const spent = (amount: string, bound: string) => ({ jti: id('jti'), amount, bound })
  const executions = [spent('7.50', a), spent('2.5', b), spent('4.00', b), spent('1', schedule)]
  const [, , returned, scheduled] = executions
  budgets.executions.push(...executions)
  budgets.executed.push(...executions)
  if (returned !== undefined) {
    budgets.releases.push(returned.jti)
    budgets.released.push(returned.jti)
  }
  if (scheduled !== undefined) budgets.cycles.push({ scheduleId: schedule, cycle: 1, jti: scheduled.jti })
  budgets.mandates.push(
    { id: root, scope, members: [root, a, b], limit: '12.0000', spent: '10.0000', maxCount: 2, count: 2 },
    { id: a, scope, members: [a], limit: '9.0000', spent: '7.5000', maxCount: null, count: 1 },
    { id: b, scope, members: [b], limit: '9.0000', spent: '2.5000', maxCount: null, count: 1 },
  )
}

/** Two readers that were given all events of one account, and callers that waited, one of them without access. */
function addConsumer({ consumers, ledgers }: Evidence): void {
  const scope = ledgers.positions[0]?.scope ?? ''
  const positions = ledgers.positions.flatMap((event) => (event.scope === scope ? (event.position ?? []) : []))
  const [half, last] = [3, positions.length]
  consumers.pulled.push(
    { scope, reader: 'a', after: 0, nextAfter: half, positions: positions.slice(0, half) },
    { scope, reader: 'a', after: half, nextAfter: half, positions: [] },
    { scope, reader: 'b', after: half, nextAfter: last, positions: positions.slice(half) },
  )
  consumers.moved.push({ scope, expected: 0, position: half })
  consumers.waited.push({ scope, isGuest: true, sawEvent: false }, { scope, isGuest: false, sawEvent: true })
  consumers.consumers.push({ scope, position: last })
}

/** Adds an inference that was counted and one that was withheld, with its lock. */
function addInferences({ inferences }: Evidence): void {
  const account = newAccountId('acc')
  const [plain, withheld, lock] = [id('trc'), id('trc'), id('lck')]
  inferences.traces.push(
    { id: plain, scope: `${account} live`, isWithheld: false },
    { id: withheld, scope: `${account} sandbox`, isWithheld: true },
  )
  inferences.answered.push(
    { request: 'one', traceId: plain, isWithheld: false, lockId: null },
    { request: 'two', traceId: withheld, isWithheld: true, lockId: lock },
    { request: 'two', traceId: withheld, isWithheld: true, lockId: lock },
  )
  inferences.recorded.push(plain, withheld)
  inferences.counted.push(plain)
  inferences.locks.push({ id: lock, scope: `${account} sandbox`, session: 'run-1', isLive: true })
  inferences.lockEntries.push(lock)
  inferences.lockEvents.push(lock)
}

/** Five decisions, their leaves, and a checkpoint of four of them; a position for each event of the account. */
function addLedger({ ledgers, events }: Evidence, accountId: string): void {
  const scope = `${accountId} sandbox`
  const decisions = [1, 2, 3, 4, 5].map((n) => ({ id: id('dec'), scope, hash: sha256Hex(Buffer.from(`entry ${n}`)) }))
  const hashes = decisions.map(({ hash }) => leafHash(Buffer.from(hash, 'hex')))
  const { tree } = appendLeaves(EMPTY_TREE, hashes)
  const older = rootOf(appendLeaves(EMPTY_TREE, hashes.slice(0, 4)).tree).toString('base64url')
  const claims = { account_id: accountId, env: 'sandbox', size: 4, root: older, at: new Date(START).toISOString() }
  ledgers.decided.push(...decisions.map((decision) => decision.id))
  ledgers.decisions.push(...decisions)
  ledgers.leaves.push(
    ...decisions.map((decision, position) => ({
      scope,
      position,
      decisionId: decision.id,
      hash: hashes[position]?.toString('hex') ?? '',
    })),
  )
  ledgers.heads.push({ scope, size: tree.size, frontier: frontierBytes(tree).toString('hex') })
  ledgers.checkpoints.push({ scope, size: 4, jws: signJws({ alg: 'ES256', kid: 'k1', typ: CHECKPOINT_TYP }, claims) })
  const own = events.filter((event) => event.scope === scope)
  ledgers.positions.push(...own.map((event, index) => ({ scope, id: event.id, position: index + 1 })))
}

/** Signs a result as the service does. */
export function signResult(row: AttestationFact): string {
  const [accountId, environment] = row.scope.split(' ')
  const payload = {
    account_id: accountId,
    environment,
    attestation_id: row.id,
    claim_id: row.claimId,
    evaluated_at: new Date(row.evaluatedAt ?? 0).toISOString(),
    provenance_status: row.provenanceStatus,
    risk_status: row.riskStatus,
    risk_score: row.riskScore,
  }
  return signJws({ alg: 'ES256', kid: 'k1' }, payload)
}

function signJws(header: object, payload: object): string {
  const encode = (value: unknown) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const text = `${encode(header)}.${encode(payload)}`
  const signature = sign('sha256', Buffer.from(text), { key: privateKey, dsaEncoding: 'ieee-p1363' })
  return `${text}.${signature.toString('base64url')}`
}

function id(type: ScopedType): string {
  return newId(type, 'sandbox')
}
