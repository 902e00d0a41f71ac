import type { CapturedFacts } from './facts.ts'
import { type ScoredFactor, scored } from './table.ts'

/** `device_revoked`: the device was revoked when this was submitted, or already compromised by then. */
export function judgeRevocation(facts: CapturedFacts): ScoredFactor<'device_revoked'> | null {
  const { device, acceptedAt } = facts
  if (device === null || !isRevoked(facts)) return null
  return scored('device_revoked', {
    compared: 'state of the signing device at submission',
    expected: 'enrolled',
    found: 'revoked',
    device_id: device.id,
    revoked_at: device.revokedAt?.toISOString() ?? null,
    effective_at: device.revokeEffectiveAt?.toISOString() ?? null,
    accepted_at: acceptedAt.toISOString(),
  })
}

/** `device_not_enrolled`: unknown to the registry, or its certificate has lapsed. */
export function judgeDeviceEnrollment({ device }: CapturedFacts): ScoredFactor<'device_not_enrolled'> | null {
  if (device?.state === 'enrolled' || device?.state === 'revoked') return null
  return scored('device_not_enrolled', {
    compared: 'state of the signing device',
    expected: 'enrolled',
    found: device?.state ?? 'not_enrolled',
    why: device?.why ?? 'no_device',
    device_id: device?.id ?? null,
  })
}

// A capture submitted after the revocation is always revoked, even when the revocation takes effect later. One
// submitted before both times keeps its result however late a worker evaluates it: a phone lost today must not condemn
// last year's claims.
function isRevoked({ device, acceptedAt }: CapturedFacts): boolean {
  if (device?.state !== 'revoked') return false
  const since = [device.revokedAt, device.revokeEffectiveAt].filter((at) => at !== null)
  return since.length === 0 || since.some((at) => acceptedAt >= at)
}
