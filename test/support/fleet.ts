import { type Attestation, type Client, createClient } from '../../capture-kit/client.ts'
import type { AttestBody } from '../../capture-kit/device.ts'
import { enrollFleet } from '../../capture-kit/enroll.ts'
import { compareResult } from '../../capture-kit/findings.ts'
import { type FleetPlan, planFleet } from '../../capture-kit/fleet.ts'
import { createCrew } from '../../capture-kit/fleet-captures.ts'
import { renderPhoto } from '../../capture-kit/photo.ts'
import type { System } from './system.ts'
import { until } from './until.ts'

export interface Fleet {
  plan: FleetPlan
  client: Client
  /** One per capture of the plan, its media uploaded. */
  bodies: AttestBody[]
}

/** A planned fleet whose devices are enrolled and whose small photos are uploaded; nothing is submitted yet. */
export async function makeFleet(
  { baseUrl, key, vendor }: Pick<System, 'baseUrl' | 'key'> & Partial<Pick<System, 'vendor'>>,
  claims: number,
  seed = 1,
): Promise<Fleet> {
  const client = createClient({ url: baseUrl, key })
  const plan = planFleet({ seed, claims, now: new Date(), hasHardware: vendor !== undefined })
  const crew = await createCrew({ plan, now: () => plan.now, vendor })
  const scene = () => renderPhoto({ seed, width: 96, height: 72, exif: null })
  const scenes: [Buffer, ...Buffer[]] = [
    await scene(),
    await renderPhoto({ seed: seed + 1, width: 96, height: 72, exif: null }),
  ]
  await client.registerRoot('Fleet', crew.authority.rootDer)
  const deviceIds = await enrollFleet(client, plan, crew)
  const nonces =
    plan.sessions === 0 ? [] : (await client.openSessions(plan.sessions)).map((session) => session.session_nonce)

  const bodies = new Array<AttestBody>(claims)
  const waiting = plan.captures.values()
  await Promise.all(
    Array.from({ length: 8 }, async () => {
      for (const capture of waiting) {
        const shot = crew.shoot(capture, scenes)
        const { media_id } = await client.upload(shot.photo, 'image/jpeg')
        bodies[capture.index] = crew.compose(capture, shot, { media: { media_id }, deviceIds, nonces })
      }
    }),
  )
  return { plan, client, bodies }
}

export async function settledCount(client: Client, batchId: string): Promise<number> {
  const { counts } = await client.getBatch(batchId)
  return counts.succeeded + counts.failed
}

export async function untilSettled(client: Client, batchId: string, count: number, timeoutMs = 150_000): Promise<void> {
  await until(async () => (await settledCount(client, batchId)) >= count, {
    timeoutMs,
    everyMs: 100,
    what: `all ${count} lines of ${batchId} have settled`,
  })
}

/** The differences between the results and the plan, a sentence each. */
export async function differencesFromPlan({ plan, client }: Fleet, batchId: string): Promise<string[]> {
  const results = new Map<string | null, Attestation>()
  for await (const line of client.readBatchResults(batchId)) results.set(line.external_id, line)
  return plan.captures.flatMap((capture) => {
    const result = results.get(capture.externalId)
    if (result?.status !== 'succeeded') return [`${capture.externalId} is ${result?.status ?? 'missing'}`]
    return compareResult(capture.expected, result).map((difference) => `${capture.kind}: ${difference}`)
  })
}

/** Counts other than one: attestation.created, claim.provenance_updated per claim, claim.escalated per failed claim. */
export async function eventFaults({ database }: Pick<System, 'database'>): Promise<unknown[]> {
  return database.owner(`
    SELECT c.id, c.risk_status,
      count(*) FILTER (WHERE e.type = 'attestation.created') AS created,
      count(*) FILTER (WHERE e.type = 'claim.provenance_updated') AS updated,
      count(*) FILTER (WHERE e.type = 'claim.escalated') AS escalated
    FROM claims c LEFT JOIN events e ON e.data ->> 'claim_id' = c.id
    GROUP BY c.id, c.risk_status
    HAVING count(*) FILTER (WHERE e.type = 'attestation.created') <> 1
      OR count(*) FILTER (WHERE e.type = 'claim.provenance_updated') <> 1
      OR count(*) FILTER (WHERE e.type = 'claim.escalated') <> CASE c.risk_status WHEN 'failed' THEN 1 ELSE 0 END`)
}
