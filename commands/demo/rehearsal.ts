// The main job, from the outside: everything here happens over HTTP, as an insurer would do it.

import { statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { setTimeout as delay } from 'node:timers/promises'
import { type Attestation, type Client, createClient } from '../../capture-kit/client.ts'
import { createCrew, type Crew } from '../../capture-kit/crew.ts'
import type { AttestBody } from '../../capture-kit/device.ts'
import { compareResult } from '../../capture-kit/findings.ts'
import { type FleetPlan, planFleet } from '../../capture-kit/fleet.ts'
import { createProgress } from './progress.ts'
import { type Receiver, startReceiver } from './receiver.ts'
import type { Outcome } from './report.ts'
import { loadScenes, renderScenes, type Scenes } from './scenes.ts'

export interface RehearsalOptions {
  claims: number
  seed: number
  photos: string | undefined
  baseUrl: string
  key: string
  say(line: string): void
  signal: AbortSignal
}

const UPLOADS_AT_ONCE = 8
const BATCH_LINES = 10_000
// Beyond this the pictures repeat and only their EXIF differs: each is still a file of its own.
const MAX_SCENES = 48
const SETTLE_PATIENCE_MS = 120_000
const DELIVERY_PATIENCE_MS = 60_000

export async function rehearse(options: RehearsalOptions): Promise<Outcome> {
  const { claims, seed, photos, baseUrl, key, say, signal } = options
  const client = createClient({ url: baseUrl, key, signal })
  const receiver = await startReceiver()
  try {
    const scenes = photos === undefined ? await renderScenes(Math.min(claims, MAX_SCENES), seed, signal) : await loadScenes(photos)
    checkDisk(claims, scenes)
    say(
      photos === undefined
        ? `Rendered ${scenes.length} pictures of 12 megapixels.`
        : `Took ${scenes.length} pictures from ${photos}; the plan gives them their EXIF.`,
    )
    const endpoint = await registerEndpoint(baseUrl, key, receiver)
    const plan = planFleet({ seed, claims, now: new Date() })
    const crew = await createCrew({ plan, now: () => plan.now })
    const links = await prepareFleet(client, plan, crew)
    say(`Enrolled ${links.deviceIds.filter((id) => id !== undefined).length} devices under their own certificate authority.`)

    const bodies = await upload(client, plan, crew, scenes, links, signal)
    const startedAt = performance.now()
    const batches = await submit(client, bodies)
    await untilSettled(client, batches, claims, signal)
    const settledSeconds = (performance.now() - startedAt) / 1_000

    const results = await readResults(client, batches)
    const findings = plan.captures.map((capture) => {
      const result = results.get(capture.externalId)
      const isSettled = result?.status === 'evaluated'
      return { capture, result, isSettled, differences: isSettled ? compareResult(capture.expected, result) : [] }
    })
    const settled = findings.filter((finding) => finding.isSettled).length
    const wrong = findings.filter((finding) => finding.differences.length > 0).length
    const events = await untilDelivered(receiver, expectedEvents(plan), signal)
    const rejected = batches.reduce((sum, batch) => sum + batch.rejected, 0)
    const summary = {
      submitted: claims,
      settled,
      lost: claims - settled,
      wrong,
      events_delivered: receiver.eventIds.size,
      claims_per_second: Math.round((settled / settledSeconds) * 10) / 10,
    }
    const isAsPlanned =
      summary.lost === 0 && wrong === 0 && rejected === 0 && events.missing === 0 && events.surplus === 0 && receiver.invalid.length === 0
    return { summary, findings, events, receiver, endpoint, settledSeconds, isAsPlanned }
  } finally {
    await client.close().catch(() => {})
    await receiver.close()
  }
}

async function registerEndpoint(baseUrl: string, key: string, receiver: Receiver): Promise<string> {
  const response = await fetch(`${baseUrl}/v1/webhook-endpoints`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ url: receiver.url, event_types: ['*'] }),
  })
  const answer = (await response.json()) as { endpoint_id?: string; signing_secret?: string; detail?: string }
  if (answer.signing_secret === undefined) throw new Error(`the webhook endpoint was refused: ${answer.detail}`)
  receiver.expectSecret(answer.signing_secret)
  return answer.endpoint_id ?? ''
}

interface FleetLinks {
  deviceIds: (string | undefined)[]
  nonces: string[]
}

async function prepareFleet(client: Client, plan: FleetPlan, crew: Crew): Promise<FleetLinks> {
  await client.registerRoot('Demo fleet', crew.authority.rootDer)
  const deviceIds: (string | undefined)[] = []
  for (const [index, { name, standing }] of plan.devices.entries()) {
    const device = crew.devices[index]
    if (device === undefined || standing === 'not_enrolled' || standing === 'stranger') {
      deviceIds.push(undefined)
      continue
    }
    const { device_id: id } = await client.enroll(name, device.chain)
    if (standing === 'revoked') await client.revoke(id, 'reported stolen')
    deviceIds.push(id)
  }
  const sessions = plan.sessions === 0 ? [] : await client.openSessions(plan.sessions)
  return { deviceIds, nonces: sessions.map((session) => session.session_nonce) }
}

async function upload(
  client: Client,
  plan: FleetPlan,
  crew: Crew,
  scenes: Scenes,
  links: FleetLinks,
  signal: AbortSignal,
): Promise<AttestBody[]> {
  const progress = createProgress('Uploading photos', plan.captures.length)
  const bodies = new Array<AttestBody>(plan.captures.length)
  const waiting = plan.captures.values()
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
  progress.end()
  return bodies
}

async function submit(client: Client, bodies: readonly AttestBody[]): Promise<{ id: string; rejected: number }[]> {
  const batches: { id: string; rejected: number }[] = []
  for (let start = 0; start < bodies.length; start += BATCH_LINES) {
    const { batch_id: id, rejected } = await client.submitBatch(bodies.slice(start, start + BATCH_LINES))
    batches.push({ id, rejected: rejected.length })
  }
  return batches
}

async function untilSettled(client: Client, batches: readonly { id: string }[], claims: number, signal: AbortSignal): Promise<void> {
  const progress = createProgress('Settling claims', claims)
  let settled = 0
  for (let movedAt = performance.now(); settled < claims; await delay(100, undefined, { signal })) {
    let now = 0
    for (const { id } of batches) {
      const { counts } = await client.getBatch(id)
      now += (counts.evaluated ?? 0) + (counts.failed ?? 0) + (counts.cancelled ?? 0)
    }
    if (now > settled) movedAt = performance.now()
    progress.add(now - settled)
    settled = now
    // Whatever is not settled then is lost, and the report says so.
    if (performance.now() - movedAt > SETTLE_PATIENCE_MS) break
  }
  progress.end()
}

async function readResults(client: Client, batches: readonly { id: string }[]): Promise<Map<string, Attestation>> {
  const results = new Map<string, Attestation>()
  for (const { id } of batches) {
    for await (const line of client.readBatchResults(id)) {
      if (line.external_id) results.set(line.external_id, line)
    }
  }
  return results
}

function expectedEvents(plan: FleetPlan): number {
  const escalated = plan.captures.filter((capture) => capture.expected.riskStatus === 'failed').length
  return plan.captures.length * 2 + escalated
}

async function untilDelivered(receiver: Receiver, expected: number, signal: AbortSignal) {
  const progress = createProgress('Receiving webhooks', expected)
  let seen = 0
  for (let movedAt = performance.now(); seen < expected; await delay(50, undefined, { signal })) {
    const now = receiver.eventIds.size
    if (now > seen) movedAt = performance.now()
    progress.add(now - seen)
    seen = now
    if (performance.now() - movedAt > DELIVERY_PATIENCE_MS) break
  }
  progress.end()
  return { expected, missing: Math.max(0, expected - seen), surplus: Math.max(0, seen - expected) }
}

function checkDisk(claims: number, scenes: Scenes): void {
  const bytes = claims * (scenes.reduce((sum, scene) => sum + scene.length, 0) / scenes.length)
  const { bavail, bsize } = statfsSync(tmpdir())
  if (bytes * 1.2 > bavail * bsize) {
    const gigabytes = (value: number) => (value / 1e9).toFixed(1)
    throw new Error(`${claims} photos take ${gigabytes(bytes)} GB, and ${tmpdir()} has ${gigabytes(bavail * bsize)} GB left: use fewer --claims.`)
  }
}
