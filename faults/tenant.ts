// One account in one environment: its devices, its photos, its webhook endpoints, and captures signed by its devices.

import { createHash } from 'node:crypto'
import type { Scope } from '#src/platform/ids.ts'
import { type Authority, createAuthority } from '../capture-kit/authority.ts'
import { createClient } from '../capture-kit/client.ts'
import { type AttestBody, createDevice, type Device } from '../capture-kit/device.ts'
import { renderPhoto } from '../capture-kit/photo.ts'
import { type Asked, clock, type Endpoint } from './journal.ts'

export interface Tenant extends Scope {
  name: string
  key: string
  /** A signed capture that names itself. */
  compose(name: string, n: number, isNamed: boolean, sessionNonce?: string): AttestBody
  /** A photo that this tenant has not uploaded yet. */
  photo(n: number): Buffer
}

export type CaptureKind = 'honest' | 'no_gps' | 'wrong_signer'

const KINDS: readonly CaptureKind[] = [
  'honest',
  'honest',
  'honest',
  'no_gps',
  'honest',
  'honest',
  'wrong_signer',
  'honest',
]

/** The kind of the n-th capture of a tenant: it follows from its number, so that the checker needs no table. */
export function kindOf(n: number): CaptureKind {
  return KINDS[n % KINDS.length] ?? 'honest'
}

/** Expected results by kind: the specification's points, with hardware_backing_absent (40) in each. */
export const EXPECTED: Record<CaptureKind, { riskScore: number; riskStatus: string; provenanceStatus: string }> = {
  honest: { riskScore: 40, riskStatus: 'review', provenanceStatus: 'verified' },
  no_gps: { riskScore: 70, riskStatus: 'failed', provenanceStatus: 'verified' },
  wrong_signer: { riskScore: 110, riskStatus: 'failed', provenanceStatus: 'broken' },
}

// Every so many captures, the next ones join a claim that has some already.
const SHARED_EVERY = 5

interface Request extends Scope {
  name: string
  key: string
  url: string
  /** Base address of the receivers; undefined where webhooks are impossible (live ones must be https). */
  receivers: string | undefined
  tell(entry: Endpoint | Asked): void
}

/** Registers a root, enrolls a device, uploads photos and makes endpoints, through the API. */
export async function settleTenant(request: Request): Promise<Tenant> {
  const { accountId, environment, name, key, url, receivers } = request
  const now = () => new Date()
  const client = createClient({ url, key })
  const authority: Authority = await createAuthority({ name: `Root of ${name}`, now })
  const device: Device = await createDevice({ authority, name: 'Phone', now })
  const forger: Device = await createDevice({
    authority: await createAuthority({ name: 'Forgers', now }),
    name: 'Forger',
    now,
  })
  await client.registerRoot(name, authority.rootDer)
  const { device_id: deviceId } = await client.enroll('Phone', device.chain)
  const scene = await renderPhoto({ seed: 1, width: 96, height: 72, exif: null })
  const photo = (n: number) => Buffer.concat([scene, Buffer.from(`${name} ${n}`)])
  const stored = await Promise.all(
    [1, 2, 3, 4].map(async (n) => {
      const bytes = photo(-n)
      request.tell(uploadOf(request, bytes))
      return { bytes, mediaId: (await client.upload(bytes, 'image/jpeg')).media_id }
    }),
  )
  if (receivers !== undefined) {
    await makeEndpoint({ ...request, receivers }, 'created', ['attestation.created'])
    await makeEndpoint({ ...request, receivers }, 'standing', [
      'claim.provenance_updated',
      'claim.escalated',
      'screening.completed',
      'trace.job_completed',
      'trace.diff_completed',
    ])
  }
  await client.close()

  return {
    accountId,
    environment,
    name,
    key,
    photo,
    compose(own, n, isNamed, sessionNonce) {
      const medium = stored[n % stored.length]
      if (medium === undefined) throw new Error('a tenant without photos')
      const kind = kindOf(n)
      const at = now()
      const body = device.capture({
        photo: medium.bytes,
        capturedAt: at,
        media: { media_id: medium.mediaId },
        gps: kind === 'no_gps' ? undefined : { lat: 52.1, lng: 4.3, accuracy_m: 5, mock: false },
        biometric: { gated: true, method: 'face' },
        deviceId,
        sessionNonce,
        claim: { ...claimOf(name, n), line: own },
        externalId: isNamed ? own : undefined,
      })
      return kind === 'wrong_signer' && body.bundle !== undefined
        ? { ...body, signature: forger.sign(body.bundle) }
        : body
    },
  }
}

function claimOf(name: string, n: number): { reference?: string } {
  return n % SHARED_EVERY === 0 ? { reference: `${name}-shared-${Math.floor(n / (SHARED_EVERY * 4))}` } : {}
}

async function makeEndpoint(
  { url, key, receivers, accountId, environment, name, tell }: Request & { receivers: string },
  word: string,
  eventTypes: string[],
): Promise<void> {
  const receiver = `${name}-${word}`
  const response = await fetch(`${url}/v1/webhook-endpoints`, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ url: `${receivers}/${receiver}`, event_types: eventTypes }),
  })
  if (response.status !== 200)
    throw new Error(`an endpoint could not be made: ${response.status} ${await response.text()}`)
  const made = (await response.json()) as { webhook_endpoint_id: string; signing_secret: string }
  tell({
    kind: 'endpoint',
    at: clock(),
    accountId,
    environment,
    endpointId: made.webhook_endpoint_id,
    receiver,
    secret: made.signing_secret,
    eventTypes,
  })
}

// Numbers of its own, below those of the load.
let uploads = 0

function uploadOf({ accountId, environment }: Scope, bytes: Uint8Array): Asked {
  uploads -= 1
  const nothing = { prefix: '', first: 0, count: 0, isNamed: false, key: null, wait: null }
  return {
    kind: 'asked',
    n: uploads,
    at: clock(),
    accountId,
    environment,
    op: 'upload',
    ...nothing,
    sha256: sha256Hex(bytes),
  }
}

export function sha256Hex(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
