// Loads what the service knows of who signed a capture: devices, trust anchors and the session of its nonce.
// verify-capture.ts checks certificates and signatures later, because no CPU work belongs between BEGIN and COMMIT.

import { type CaptureSession, findSessionsOf } from '#src/attest/captures/rows.ts'
import { type DeviceRow, findDeviceBySpki, findDevicesByIds } from '#src/attest/devices/rows.ts'
import { findCas } from '#src/attest/trust/rows.ts'
import { type Certificate, parseChain } from '#src/platform/crypto/x509.ts'
import type { Tx } from '#src/platform/db/database.ts'
import type { Submission } from './submission.ts'
import type { SubmittedRow } from './submission-rows.ts'
import { type CaptureContext, certificatesOf, deviceFacts } from './verify-capture.ts'

/** Returns one context per submission, in order. */
export async function loadContext(tx: Tx, submitted: readonly SubmittedRow[]): Promise<CaptureContext[]> {
  const named = submitted.flatMap(({ submission: { bundle } }) => bundle?.device_id ?? [])
  const nonces = submitted.flatMap(({ submission: { bundle } }) => bundle?.session_nonce ?? [])
  // Sent together: the connection pipelines the queries.
  const [devices, roots, sessions] = await Promise.all([
    named.length === 0 ? [] : findDevicesByIds(tx, [...new Set(named)]),
    findCas(tx, 'root_cas'),
    findSessionsOf(tx, nonces),
  ])
  const known: Known = {
    devices: new Map(devices.map((device) => [device.id, device])),
    sessions: new Map(sessions.map((session) => [session.nonce, session])),
    anchors: certificatesOf(roots.map(({ certificate }) => certificate)),
  }
  return Promise.all(submitted.map((one) => loadOne(tx, one, known)))
}

/** Rows that submissions loaded together may share. */
interface Known {
  devices: ReadonlyMap<string, DeviceRow>
  sessions: ReadonlyMap<string, CaptureSession>
  anchors: readonly Certificate[]
}

async function loadOne(tx: Tx, submitted: SubmittedRow, known: Known): Promise<CaptureContext> {
  const { bundle } = submitted.submission
  const { anchors } = known
  const sent = sentChain(submitted.submission)
  const named = known.devices.get(bundle?.device_id ?? '')
  const signing = bundle === undefined ? undefined : await findSigning(tx, named, sent[0])
  const session = known.sessions.get(bundle?.session_nonce ?? '')
  const device = bundle === undefined ? null : deviceFacts(bundle, { sent, named, signing }, submitted.acceptedAt)
  return { keyOwnerId: signing?.id ?? null, device, sent, named, signing, session, anchors }
}

function sentChain({ certificate_chain: encoded }: Submission): Certificate[] {
  const chain = parseChain((encoded ?? []).map((der) => Buffer.from(der, 'base64')))
  // Accept refused unreadable chains. A chain beyond limits that were tightened since proves nothing.
  return chain.ok ? chain.certificates : []
}

// The device id in a bundle is a claim; the key that signs is a fact. A revoked phone must not pass for an unknown one
// by naming another device. An honest capture takes one query.
async function findSigning(
  tx: Tx,
  named: DeviceRow | undefined,
  leaf: Certificate | undefined,
): Promise<DeviceRow | undefined> {
  if (leaf === undefined || named?.spkiDigest.equals(leaf.spkiDigest)) return named
  return findDeviceBySpki(tx, leaf.spkiDigest)
}
