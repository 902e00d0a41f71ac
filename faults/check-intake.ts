// I1: what clients were told agrees with the rows. Each capture names itself, so that its rows can be counted however
// it was sent, how often, and under which key. A capture that was cancelled before it was evaluated counts as never
// submitted.

import type { Finding } from './check.ts'
import type { AttestationFact, Evidence } from './evidence.ts'
import { groupBy } from './group.ts'
import type { Answered, Asked } from './journal.ts'

export function checkIntake(evidence: Evidence): Finding[] {
  const answers = groupBy(evidence.answered, ({ n }) => String(n))
  const rows = groupBy(evidence.attestations, ({ name }) => name ?? '')
  const asked = new Map<string, Asked>()
  const cancels = firstCancels(evidence.asked)
  const wrong: string[] = []

  for (const request of evidence.asked) {
    const successes = (answers.get(String(request.n)) ?? []).filter(isSuccess)
    for (const name of request.op === 'cancel' ? [] : namesOf(request)) {
      asked.set(name, request)
      const cancelledAt = cancels.get(name)
      wrong.push(...checkCapture(name, { request, successes, rows: rows.get(name) ?? [], cancelledAt }))
    }
    wrong.push(...checkRefusals(request, answers.get(String(request.n)) ?? []))
    if (request.op === 'batch') wrong.push(...checkBatch(request, successes, evidence))
    if (request.op === 'upload') wrong.push(...checkUpload(request, successes, evidence))
  }
  wrong.push(...checkRepeats(evidence.asked, answers))
  for (const row of evidence.attestations) {
    const request = asked.get(row.name ?? '')
    if (request === undefined) wrong.push(`phantom: no request submitted ${row.id}`)
    else if (scopeOf(request) !== row.scope)
      wrong.push(`${row.id} is in ${row.scope}, submitted by ${scopeOf(request)}`)
  }
  wrong.push(...checkPhantoms(evidence, answers))
  return wrong.map((what) => ({ invariant: 'I1', what }))
}

// Everything that clients send is valid: every refusal is an error.
function checkRefusals({ op, n }: Asked, answers: readonly Answered[]): string[] {
  if (op === 'foreign') return []
  return answers
    .filter(({ status, code }) => status >= 300 && status < 500 && code !== 'idempotency_in_progress')
    .map(({ status, code }) => `request ${n} (${op}) was refused with ${status} ${code}`)
}

interface Submitted {
  request: Asked
  successes: readonly Answered[]
  /** The ids of the capture, whichever request created them. */
  rows: readonly AttestationFact[]
  /** The number of the first request that cancelled it. */
  cancelledAt: number | undefined
}

function checkCapture(name: string, { request, successes, rows, cancelledAt }: Submitted): string[] {
  const wrong: string[] = []
  const standing = rows.filter(({ status }) => status !== 'cancelled')
  if (standing.length > 1)
    wrong.push(`${name} was accepted ${standing.length} times: ${standing.map(({ id }) => id).join(' ')}`)
  if (standing.length < rows.length && cancelledAt === undefined)
    wrong.push(`${name} is cancelled without a request: ${rows.map(({ id }) => id).join(' ')}`)
  if (successes.length > 0 && rows.length === 0) wrong.push(`lost: ${name} was answered with success and has no row`)
  const isAgain = cancelledAt !== undefined && request.n > cancelledAt
  if (isAgain && successes.length > 0 && standing.length === 0)
    wrong.push(`lost: ${name} was submitted again after it had been cancelled, and only what was cancelled is there`)
  for (const row of standing) {
    if (request.isNamed && row.externalId !== name) wrong.push(`${row.id} does not carry its external_id ${name}`)
  }
  for (const { attestationId } of successes) {
    if (attestationId !== null && rows.length > 0 && !rows.some(({ id }) => id === attestationId))
      wrong.push(`${name} is ${rows.map(({ id }) => id).join(' ')}, and was called ${attestationId}`)
  }
  return wrong
}

function firstCancels(asked: readonly Asked[]): Map<string, number> {
  const cancels = new Map<string, number>()
  for (const request of asked.filter(({ op }) => op === 'cancel')) {
    for (const name of namesOf(request)) cancels.set(name, Math.min(request.n, cancels.get(name) ?? request.n))
  }
  return cancels
}

function checkBatch(request: Asked, successes: readonly Answered[], { batches }: Evidence): string[] {
  return successes.flatMap(({ batchId, accepted }) => {
    const row = batches.find(({ id }) => id === batchId)
    if (row === undefined) return [`lost: the batch ${batchId} was answered and is not there`]
    const wrong = row.scope === scopeOf(request) ? [] : [`the batch ${batchId} is in ${row.scope}`]
    if (accepted !== request.count || row.accepted !== request.count) {
      wrong.push(
        `the batch ${batchId} accepted ${accepted} of ${request.count} lines, and its row says ${row.accepted}`,
      )
    }
    return wrong
  })
}

function checkUpload(request: Asked, successes: readonly Answered[], { media }: Evidence): string[] {
  return successes.flatMap(({ mediaId }) => {
    const row = media.find(({ id }) => id === mediaId)
    if (row === undefined) return [`lost: the medium ${mediaId} was answered and is not there`]
    return row.scope === scopeOf(request) && row.sha256 === request.sha256
      ? []
      : [`the medium ${mediaId} is another one`]
  })
}

// One key, one effect: all requests under it, however many, got one id.
function checkRepeats(asked: readonly Asked[], answers: ReadonlyMap<string, Answered[]>): string[] {
  const keyed = groupBy(
    asked.filter(({ key }) => key !== null),
    (request) => `${scopeOf(request)} ${request.op} ${request.key}`,
  )
  return [...keyed].flatMap(([key, requests]) => {
    const successes = requests.flatMap(({ n }) => (answers.get(String(n)) ?? []).filter(isSuccess))
    const names = new Set(successes.map(nameOf))
    return names.size > 1 ? [`the key ${key} did ${names.size} things: ${[...names].join(' ')}`] : []
  })
}

function nameOf({ attestationId, screeningId, batchId, mediaId }: Answered): string | null {
  return attestationId ?? screeningId ?? batchId ?? mediaId
}

// A try whose answer was lost may have had its effect; there may be no more rows than that.
function checkPhantoms(
  { asked, batches, media, unanswered }: Evidence,
  answers: ReadonlyMap<string, Answered[]>,
): string[] {
  const wrong: string[] = []
  const told = new Set([...answers.values()].flat().map(({ batchId }) => batchId))
  const lost = new Set(unanswered.map(({ n }) => n))
  for (const [scope, rows] of groupBy(batches, (row) => row.scope)) {
    const untold = rows.filter(({ id }) => !told.has(id))
    const open = asked.filter((request) => request.op === 'batch' && scopeOf(request) === scope)
    const chances = open.filter(
      ({ n }) => lost.has(n) || (answers.get(String(n)) ?? []).some(({ status }) => status >= 500),
    )
    if (untold.length > chances.length) wrong.push(`phantom: ${untold.length} batches of ${scope} that no answer named`)
  }
  const known = new Set(asked.map((request) => `${scopeOf(request)} ${request.sha256}`))
  const uploads = media.filter(({ scope, sha256 }) => !known.has(`${scope} ${sha256}`))
  for (const { id } of uploads) wrong.push(`phantom: no request uploaded ${id}`)
  return wrong
}

export function namesOf({ prefix, first, count }: Pick<Asked, 'prefix' | 'first' | 'count'>): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}${first + index}`)
}

export function scopeOf({ accountId, environment }: Pick<Asked, 'accountId' | 'environment'>): string {
  return `${accountId} ${environment}`
}

export function isSuccess({ status }: Answered): boolean {
  return status >= 200 && status < 300
}
