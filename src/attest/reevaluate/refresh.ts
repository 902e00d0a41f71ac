// Updates the stored facts of a capture with what can become known after its evaluation. Everything else stays: the
// chain, the session, the counter, what the photo says, and what the device proved when the capture arrived.

import type { Facts } from '../factors/facts.ts'
import { lookUpRevocation, type RevocationSnapshot } from '../hardware/revocations.ts'

export interface Known {
  /** What the registry says of the device now. */
  device: Facts['device']
  /** What vendors' lists say now. */
  revocations: RevocationSnapshot
  now: Date
  policy: Facts['policy']
  /** What the latest screening of these bytes says now. */
  screening: NonNullable<Facts['screening']>
}

export function refresh(facts: Facts, { device, revocations, now, policy, screening }: Known): Facts {
  return { ...facts, policy, screening, device: refreshDevice(facts.device, device, { revocations, now }) }
}

// Only revocations are taken from the registry. A device that was enrolled, renewed or attested since then had another
// state at the time.
function refreshDevice(
  judged: Facts['device'],
  known: Facts['device'],
  { revocations, now }: Pick<Known, 'revocations' | 'now'>,
): Facts['device'] {
  const { hardwareTier = 'none', hardware } = judged ?? {}
  const device = known?.state === 'revoked' ? { ...known, hardwareTier } : judged
  if (device === null || hardware === undefined) return device
  if (hardware?.serials === undefined) return { ...device, hardware }
  return { ...device, hardware: { ...hardware, revocation: lookUpRevocation(hardware.serials, revocations, now) } }
}
