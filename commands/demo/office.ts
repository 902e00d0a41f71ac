// The work of an insurer's people, for a demo that stays: cases in each state with their history, one of them overdue, and
// screenings that succeeded, failed and wait. All of it happens over HTTP.

import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Call } from './agent.ts'

type Members = Record<string, unknown>

const FIRST = 'first.adjuster@example.com'
const SECOND = 'second.adjuster@example.com'
// A due date lies in the future when it is set; until a person has opened the dashboard it is over.
const DUE_MS = 5_000
const SENT_AGAIN = 3
const SCREENED = 6
const WAITING = 12

interface Step {
  to: string
  reason_code?: string
  note?: string
  actor?: string
}

const review: Step = { to: 'in_review', note: 'I look at the photos of the damage.' }

/** What happens to a case each, in this order of cases; cases that are left stay open. */
const HISTORIES: readonly (readonly Step[])[] = [
  [review],
  [review, { to: 'info_requested', note: 'Please send a photo of the number plate.' }],
  [review, { to: 'escalated', reason_code: 'insufficient_evidence', note: 'The place does not fit the claim.' }],
  // Proposed: it takes another person.
  [review, { to: 'denied', reason_code: 'suspected_fraud', note: 'The same photo belongs to another claim.' }],
  [
    review,
    { to: 'denied', reason_code: 'suspected_fraud', note: 'The photo was edited.' },
    { to: 'denied', reason_code: 'suspected_fraud', note: 'I see it too.', actor: SECOND },
  ],
  [review, { to: 'approved', reason_code: 'risk_accepted', note: 'The repair shop confirms the damage.' }],
  [review, { to: 'closed_undecided', reason_code: 'insufficient_evidence', note: 'No answer for a month.' }],
  [{ to: 'withdrawn', reason_code: 'policyholder_withdrew' }],
  [
    review,
    { to: 'denied', reason_code: 'insufficient_evidence' },
    { to: 'in_review', reason_code: 'other', note: 'The policyholder sent another photo.', actor: SECOND },
  ],
]

/** @throws {Error} when the service refuses one of the steps. */
export async function workOnCases(call: Call): Promise<void> {
  const [overdue, ...others] = await listOf(call, '/v1/cases?limit=100')
  if (overdue === undefined) return
  const dueAt = new Date(Date.now() + DUE_MS).toISOString()
  await call('PATCH', `/v1/cases/${overdue.case_id}`, { actor: FIRST, due_at: dueAt, priority: 'urgent' })
  for (const [index, steps] of HISTORIES.entries()) {
    const id = others[index]?.case_id
    if (id === undefined) return
    for (const { actor = FIRST, ...step } of steps) {
      const assignee = step.to === 'in_review' ? { assignee: actor } : {}
      await call('POST', `/v1/cases/${id}/transitions`, { ...step, ...assignee, actor })
    }
  }
}

/** Sends photos again for claims of other people, without a device: each is named as a duplicate. */
export async function sendAgain(call: Call): Promise<void> {
  const claims = await listOf(call, '/v1/claims?limit=100')
  let sent = 0
  for (const { claim_id } of claims) {
    const [capture] = await listOf(call, `/v1/claims/${claim_id}/attestations?limit=1`)
    const type = (capture?.submission as { media_type?: unknown } | undefined)?.media_type
    if (capture?.media_id == null || type === 'video') continue
    sent += 1
    const again = { media_type: 'image', media: { media_id: capture.media_id } }
    await call('POST', '/v1/claims/attest', { claim: { reference: `CLM-AGAIN-${sent}` }, ...again })
    if (sent === SENT_AGAIN) return
  }
}

/** Screens photos of claims, a few that wait for their detector, and one that no detector reads. */
export async function screenPhotos(call: Call, detector: Detector): Promise<void> {
  const claims = await listOf(call, '/v1/claims?limit=100')
  const photos: { claim_id: unknown; media_id: unknown }[] = []
  let video: (typeof photos)[number] | undefined
  for (const { claim_id } of claims) {
    const [capture] = await listOf(call, `/v1/claims/${claim_id}/attestations?limit=1`)
    if (capture?.media_id == null) continue
    const screened = { claim_id, media_id: capture.media_id }
    const { media_type: type } = capture.submission as { media_type?: unknown }
    if (type === 'video') video = screened
    else photos.push(screened)
    if (video !== undefined && photos.length >= SCREENED + WAITING) break
  }
  const now = [...photos.splice(0, SCREENED), ...(video === undefined ? [] : [video])]
  for (const { claim_id, media_id } of now) await call('POST', '/v1/media/screen', { claim_id, media: { media_id } })
  detector.hold()
  if (photos.length > 0) await call('POST', '/v1/media/screenings/batches', photos.slice(0, WAITING))
}

async function listOf(call: Call, path: string): Promise<Members[]> {
  return (await call('GET', path)).data as Members[]
}

export interface Detector {
  url: string
  /** From now on it is busy, so that a batch of screenings goes on. */
  hold(): void
  close(): Promise<void>
}

/** A detector of synthetic media on loopback. Its scores follow from the number of bytes, and say nothing about a photo. */
export async function startDetector(): Promise<Detector> {
  let isBusy = false
  const server = createServer(async (request, response) => {
    let bytes = 0
    for await (const chunk of request) bytes += chunk.length
    if (isBusy) response.writeHead(429, { 'Retry-After': '3600' }).end()
    else {
      const score = (bytes % 100) / 100
      response.setHeader('Content-Type', 'application/json')
      response.end(JSON.stringify({ genai_score: score, deepfake_score: null }))
    }
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    hold() {
      isBusy = true
    },
    async close() {
      server.closeAllConnections()
      await new Promise((done) => server.close(done))
    },
  }
}
