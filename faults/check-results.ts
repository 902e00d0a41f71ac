// I6 for results; check-ledger.ts has the ledger. Each signed result verifies and equals its row; each event happened exactly once; a claim went from one standing to the next, step by step.

import { createPublicKey, type KeyObject, verify } from 'node:crypto'
import type { Finding } from './check.ts'
import type { AttestationFact, ClaimFact, EventFact, Evidence } from './evidence.ts'
import { groupBy } from './group.ts'
import { EXPECTED, kindOf } from './tenant.ts'

// The clocks of a signer and of Postgres may differ as two correct clocks do.
const CLOCKS_MS = 2_000

export async function checkResults(evidence: Evidence): Promise<Finding[]> {
  const keys = new Map(
    Object.entries(evidence.signers).map(([kid, { jwk }]) => [kid, createPublicKey({ key: jwk, format: 'jwk' })]),
  )
  const ended = endOfJobs(evidence)
  const wrong: string[] = []
  for (const row of evidence.attestations) {
    if (row.status === 'cancelled') continue
    wrong.push(...checkJudgement(row), ...checkTimes(row, ended.get(row.jobId)))
    wrong.push(...(await checkRecord(row, keys)))
  }
  wrong.push(...checkEvents(evidence))
  return wrong.map((what) => ({ invariant: 'I6', what }))
}

function checkJudgement({ id, name, riskScore, riskStatus, provenanceStatus }: AttestationFact): string[] {
  const planned = EXPECTED[kindOf(Number(name?.split('-').at(-1)))]
  const isSame =
    riskScore === planned.riskScore &&
    riskStatus === planned.riskStatus &&
    provenanceStatus === planned.provenanceStatus
  return isSame
    ? []
    : [`${id} is ${riskStatus} with ${riskScore}, planned was ${planned.riskStatus} with ${planned.riskScore}`]
}

// Evidence dated before its submission, or after its settlement, is wrong, whichever clock was off.
function checkTimes({ id, acceptedAt, evaluatedAt }: AttestationFact, settledAt: number | undefined): string[] {
  if (evaluatedAt === null || settledAt === undefined) return []
  const isBetween = evaluatedAt >= acceptedAt - CLOCKS_MS && evaluatedAt <= settledAt + CLOCKS_MS
  return isBetween
    ? []
    : [`${id} says that it was evaluated ${Math.round((evaluatedAt - settledAt) / 1_000)} s off its end`]
}

function endOfJobs({ steps }: Evidence): Map<string, number> {
  return new Map(steps.filter(({ state }) => state === 'succeeded').map(({ id, at }) => [id, at]))
}

async function checkRecord(row: AttestationFact, keys: ReadonlyMap<string, KeyObject>): Promise<string[]> {
  const [header = '', payload = '', signature = '', ...more] = (row.resultJws ?? '').split('.')
  const { kid, alg } = decode(header)
  const key = keys.get(String(kid))
  if (key === undefined || alg !== 'ES256' || more.length > 0)
    return [`${row.id} has a result signed by an unknown key`]
  const isGenuine = await new Promise<boolean>((done) =>
    verify(
      'sha256',
      Buffer.from(`${header}.${payload}`),
      { key, dsaEncoding: 'ieee-p1363' },
      Buffer.from(signature, 'base64url'),
      (error, isRight) => done(error === null && isRight),
    ),
  )
  if (!isGenuine) return [`${row.id} has a forged signature`]
  const said = decode(payload)
  const [accountId, environment] = row.scope.split(' ')
  const expected: Record<string, unknown> = {
    attestation_id: row.id,
    claim_id: row.claimId,
    account_id: accountId,
    environment,
    risk_score: row.riskScore,
    risk_status: row.riskStatus,
    provenance_status: row.provenanceStatus,
  }
  const differing = Object.keys(expected).filter((name) => said[name] !== expected[name])
  if (Date.parse(String(said.evaluated_at)) !== Math.floor(row.evaluatedAt ?? 0)) differing.push('evaluated_at')
  return differing.length === 0 ? [] : [`${row.id} was signed with other members: ${differing.join(', ')}`]
}

function checkEvents({ events, attestations, claims }: Evidence): string[] {
  const created = groupBy(
    events.filter(({ type }) => type === 'attestation.created'),
    ({ data }) => String(data.attestation_id),
  )
  const wrong = attestations.flatMap(({ id, status }) => {
    const count = created.get(id)?.length ?? 0
    const expected = status === 'cancelled' ? 0 : 1
    return count === expected ? [] : [`attestation.created happened ${count} times for ${id}, which is ${status}`]
  })
  const byClaim = groupBy(events, ({ data }) => String(data.claim_id))
  for (const claim of claims) wrong.push(...checkClaim(claim, byClaim.get(claim.id) ?? []))
  return wrong
}

function checkClaim(claim: ClaimFact, events: readonly EventFact[]): string[] {
  const wrong: string[] = []
  const escalations = events.filter(({ type }) => type === 'claim.escalated').length
  if (escalations !== (claim.riskStatus === 'failed' ? 1 : 0)) {
    wrong.push(`claim.escalated happened ${escalations} times for ${claim.id}, which is ${claim.riskStatus}`)
  }
  // The events contain their order: each begins where another ended.
  const next = groupBy(
    events.filter(({ type }) => type === 'claim.provenance_updated'),
    ({ data }) => standing(data.previous),
  )
  let at = standing({ provenance_status: null, risk_status: 'pending', risk_score: null })
  for (;;) {
    const steps = next.get(at) ?? []
    next.delete(at)
    const [step] = steps
    if (steps.length > 1)
      wrong.push(`claim.provenance_updated happened ${steps.length} times for ${claim.id} from ${at}`)
    if (step === undefined) break
    at = standing(step.data.current)
  }
  const { provenanceStatus, riskStatus, riskScore } = claim
  const own = standing({ provenance_status: provenanceStatus, risk_status: riskStatus, risk_score: riskScore })
  if (at !== own) wrong.push(`the events of ${claim.id} lead to ${at}, and it is ${own}`)
  if (next.size > 0) wrong.push(`${next.size} events of ${claim.id} follow from nothing`)
  return wrong
}

function standing(value: unknown): string {
  const { provenance_status, risk_status, risk_score } = value as Record<string, unknown>
  return `${risk_status} ${risk_score} ${provenance_status}`
}

function decode(part: string): Record<string, unknown> {
  try {
    return JSON.parse(Buffer.from(part, 'base64url').toString())
  } catch {
    return {}
  }
}
