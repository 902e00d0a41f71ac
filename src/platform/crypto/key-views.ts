import { z } from 'zod'

const iso = z.iso.datetime()

/** How callers see the revocation of a signing key, in the key set and beside each record that it signed. */
export const keyRevocationView = z
  .object({
    revoked_at: iso,
    doubted_since: iso.describe('Signatures from this time on may be those of another holder of the key.'),
  })
  .meta({ id: 'KeyRevocation', description: 'The key was revoked, because others may have had it.' })
