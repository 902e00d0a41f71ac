import type { Tx } from '#src/platform/db/database.ts'
import type { Acting } from '#src/platform/http/principal.ts'
import { type NewEvidence, withChallenge } from '../hardware/evidence.ts'
import { consumeChallenges } from './challenge-rows.ts'
import { adoptVerdicts } from './hardware-rows.ts'
import { type EnrolledKey, enrollDevices, type NewDevice } from './rows.ts'

/**
 * Enrolls devices with what their evidence proved, and consumes its challenges. Evidence that proves nothing gives a
 * device of tier none, with the reasons.
 */
export async function enrollWithEvidence(
  tx: Tx,
  acting: Acting,
  devices: readonly (NewDevice & { evidence: NewEvidence | undefined })[],
  at: Date,
): Promise<EnrolledKey[]> {
  const proofs = devices.flatMap(({ id, spkiDigest, evidence }) =>
    evidence === undefined ? [] : [{ deviceId: id, spkiDigest, ...evidence }],
  )
  const states = await consumeChallenges(tx, proofs, at)
  const enrolled = await enrollDevices(tx, acting, devices, at)
  const verdicts = proofs.map(({ spkiDigest, verdict }, index) => ({
    spkiDigest,
    verdict: withChallenge(verdict, states[index] ?? 'unknown'),
  }))
  const adopted = new Set(await adoptVerdicts(tx, acting, verdicts, at))
  return enrolled.map((key) => ({ ...key, isChanged: key.isChanged || adopted.has(key.id) }))
}
