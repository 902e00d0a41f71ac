// The main use case, from the outside: everything here happens over HTTP, as an insurer would do it.

import { setTimeout as delay } from 'node:timers/promises'
import { type Attestation, type Client, createClient } from '../../capture-kit/client.ts'
import type { AttestBody } from '../../capture-kit/device.ts'
import { enrollFleet } from '../../capture-kit/enroll.ts'
import { compareResult, POINTS } from '../../capture-kit/findings.ts'
import { type FleetPlan, planFleet } from '../../capture-kit/fleet.ts'
import { type Crew, createCrew } from '../../capture-kit/fleet-captures.ts'
import { planVideos } from '../../capture-kit/footage.ts'
import type { Vendor } from '../../capture-kit/vendor.ts'
import { createWaits } from '../waits.ts'
import { createProgress } from './progress.ts'
import { type Receiver, startReceiver } from './receiver.ts'
import type { Finding, Outcome, Planned } from './report.ts'
import type { Scenes } from './scenes.ts'
import { readVideoResults, sendVideos } from './videos.ts'

export interface RehearsalOptions {
  claims: number
  seed: number
  scenes: Scenes
  baseUrl: string
  key: string
  /** The vendor of the fleet's phones; the deployment trusts its roots. */
  vendor: Vendor
  say(line: string): void
  signal: AbortSignal
}

const UPLOADS_AT_ONCE = 8
const BATCH_LINES = 10_000
// Something hangs then, rather than being slow: a delivery that has failed twice is sent again after five minutes.
const PATIENCE_MS = 15 * 60_000

/** @throws {Error} when the service can't be used; wrong results are in the outcome. */
export async function rehearse(options: RehearsalOptions): Promise<Outcome> {
  const { claims, seed, baseUrl, key, vendor, say, signal } = options
  const client = createClient({ url: baseUrl, key, signal })
  const receiver = await startReceiver()
  try {
    await registerEndpoint(options, receiver)
    const plan = planFleet({ seed, claims, now: new Date(), hasHardware: true })
    const crew = await createCrew({ plan, now: () => plan.now, vendor })
    const links = await prepareFleet(client, plan, crew)
    const enrolled = links.deviceIds.filter((id) => id !== undefined).length
    const proven = plan.devices.filter(({ hardware }) => hardware !== 'none').length
    say(
      `Enrolled ${enrolled} device${enrolled === 1 ? '' : 's'} under a certificate authority of their own, ` +
        `${proven} of them with evidence of their hardware.`,
    )

    const videos = planVideos(plan)
    const sent = await sendVideos(client, videos, { crew, deviceIds: links.deviceIds })
    say(`Filmed ${videos.length} videos, and sent them chunk by chunk.`)
    const bodies = await upload(client, { plan, crew, links }, options)
    const startedAt = performance.now()
    const batches = await submit(client, bodies)
    await untilSettled(client, batches, claims, options)
    const settledSeconds = (performance.now() - startedAt) / 1_000

    const results = new Map([...(await readResults(client, batches)), ...(await readVideoResults(client, sent))])
    const planned: Planned[] = [...plan.captures, ...videos]
    // A device that is revoked ends its intent tokens too.
    const revoked = plan.devices.filter(({ standing }) => standing === 'revoked').length
    const events = await untilDelivered(receiver, planned, revoked, options)
    const findings = planned.map((capture) => judge(capture, results.get(capture.externalId), receiver))
    const settled = findings.filter((finding) => finding.isSettled).length
    const summary = {
      submitted: planned.length,
      settled,
      lost: planned.length - settled,
      wrong: findings.filter((finding) => finding.differences.length > 0).length,
      events_delivered: receiver.eventIds.size,
      // Only the photos, which were submitted at once.
      claims_per_second: Math.round((Math.min(settled, claims) / settledSeconds) * 10) / 10,
    }
    const refused = batches.flatMap((batch) => batch.refused)
    const isAsPlanned =
      refused.length === 0 &&
      receiver.invalid.length === 0 &&
      receiver.eventIds.size === events.expected &&
      findings.every((finding) => finding.isSettled && finding.differences.length + finding.eventFaults.length === 0)
    return { summary, findings, events, refused, receiver, settledSeconds, isAsPlanned }
  } finally {
    await client.close().catch(() => {})
    await receiver.close()
  }
}

// What an insurer acts on. The receiver ends with this act, and the second one makes events of other types.
const EVENT_TYPES = ['attestation.created', 'claim.provenance_updated', 'claim.escalated', 'intent.revoked']

async function registerEndpoint({ baseUrl, key, signal }: RehearsalOptions, receiver: Receiver): Promise<void> {
  const response = await fetch(`${baseUrl}/v1/webhook-endpoints`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ url: receiver.url, event_types: EVENT_TYPES }),
    signal,
  })
  const answer = (await response.json()) as { signing_secret?: string; detail?: string }
  if (answer.signing_secret === undefined) throw new Error(`The webhook endpoint was refused: ${answer.detail}`)
  receiver.expectSecret(answer.signing_secret)
}

interface FleetLinks {
  deviceIds: (string | undefined)[]
  nonces: string[]
}

interface PreparedFleet {
  plan: FleetPlan
  crew: Crew
  links: FleetLinks
}

async function prepareFleet(client: Client, plan: FleetPlan, crew: Crew): Promise<FleetLinks> {
  await client.registerRoot('Demo fleet', crew.authority.rootDer)
  const deviceIds = await enrollFleet(client, plan, crew)
  const sessions = plan.sessions === 0 ? [] : await client.openSessions(plan.sessions)
  return { deviceIds, nonces: sessions.map((session) => session.session_nonce) }
}

async function upload(
  client: Client,
  { plan, crew, links }: PreparedFleet,
  { scenes, signal }: RehearsalOptions,
): Promise<AttestBody[]> {
  const progress = createProgress('Uploading photos', plan.captures.length)
  const bodies = new Array<AttestBody>(plan.captures.length)
  const waiting = plan.captures.values()
  try {
    await Promise.all(
      Array.from({ length: UPLOADS_AT_ONCE }, async () => {
        for (const capture of waiting) {
          signal.throwIfAborted()
          const shot = crew.shoot(capture, scenes)
          const { media_id } = await client.upload(shot.photo, 'image/jpeg')
          bodies[capture.index] = crew.compose(capture, shot, { media: { media_id }, ...links })
          progress.add(1)
        }
      }),
    )
  } finally {
    progress.end()
  }
  return bodies
}

interface Submitted {
  id: string
  /** Refused lines, a sentence each. */
  refused: string[]
}

async function submit(client: Client, bodies: readonly AttestBody[]): Promise<Submitted[]> {
  const batches: Submitted[] = []
  for (let start = 0; start < bodies.length; start += BATCH_LINES) {
    const { batch_id: id, rejected } = await client.submitBatch(bodies.slice(start, start + BATCH_LINES))
    const refused = rejected.map(({ line, errors }) => {
      const why = errors.map(({ pointer, detail }) => `${pointer} ${detail}`).join('; ')
      return `${bodies[start + line - 1]?.external_id}: ${why}`
    })
    batches.push({ id, refused })
  }
  return batches
}

async function untilSettled(
  client: Client,
  batches: readonly Submitted[],
  claims: number,
  options: Pick<RehearsalOptions, 'say' | 'signal'>,
) {
  const accepted = claims - batches.reduce((sum, batch) => sum + batch.refused.length, 0)
  const count = async () => {
    let settled = 0
    for (const { id } of batches) {
      const { counts } = await client.getBatch(id)
      settled += counts.succeeded + counts.failed + counts.cancelled
    }
    return settled
  }
  const [label, what] = ['Settling claims', 'the evaluation of all claims']
  await watch({ ...options, label, what, expected: accepted, count, everyMs: 100 })
}

async function readResults(client: Client, batches: readonly Submitted[]): Promise<Map<string, Attestation>> {
  const results = new Map<string, Attestation>()
  for (const { id } of batches) {
    for await (const line of client.readBatchResults(id)) {
      if (line.external_id) results.set(line.external_id, line)
    }
  }
  return results
}

function eventsOf({ expected }: Planned): string[] {
  const always = ['attestation.created', 'claim.provenance_updated']
  return expected.riskStatus === 'failed' ? [...always, 'claim.escalated'] : always
}

async function untilDelivered(
  receiver: Receiver,
  planned: readonly Planned[],
  revokedDevices: number,
  options: Pick<RehearsalOptions, 'say' | 'signal'>,
): Promise<{ expected: number }> {
  const expected = planned.reduce((sum, capture) => sum + eventsOf(capture).length, revokedDevices)
  const count = async () => receiver.eventIds.size
  const [label, what] = ['Receiving webhooks', 'the delivery of all events']
  await watch({ ...options, label, what, expected, count, everyMs: 50 })
  return { expected }
}

interface Watched {
  label: string
  /** Named while it has not ended. */
  what: string
  expected: number
  count(): Promise<number>
  everyMs: number
  say(line: string): void
  signal: AbortSignal
}

/** Returns also when there was no progress for very long; the report then says what is missing. */
async function watch({ label, what, expected, count, everyMs, say, signal }: Watched): Promise<void> {
  const progress = createProgress(label, expected)
  const end = createWaits({ say }).begin(what, 'ended')
  let seen = 0
  try {
    for (let movedAt = performance.now(); ; await delay(everyMs, undefined, { signal })) {
      const now = await count()
      if (now > seen) movedAt = performance.now()
      progress.add(now - seen)
      seen = now
      if (seen >= expected || performance.now() - movedAt > PATIENCE_MS) return
    }
  } finally {
    end()
    progress.end()
  }
}

function judge(capture: Planned, result: Attestation | undefined, receiver: Receiver): Finding {
  const isSettled = result?.status === 'succeeded'
  if (result === undefined || !isSettled) return { capture, result, isSettled: false, differences: [], eventFaults: [] }
  const planned = eventsOf(capture)
  const came = receiver.typesOf(result.claim_id)
  const eventFaults = [...new Set([...planned, ...came])].flatMap((type) => {
    const [wanted, got] = [planned, came].map((types) => types.filter((other) => other === type).length)
    return wanted === got ? [] : [`${type}: planned ${wanted}, received ${got}`]
  })
  const points = (result.factors ?? []).flatMap(({ code, points: found }) =>
    found === POINTS[code] ? [] : [`points of ${code}: planned ${POINTS[code] ?? 'none'}, found ${found ?? 'none'}`],
  )
  const differences = [...compareResult(capture.expected, result), ...points]
  return { capture, result, isSettled, differences, eventFaults }
}
