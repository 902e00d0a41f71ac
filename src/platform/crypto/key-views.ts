import { z } from 'zod'

const iso = z.iso.datetime()

/** How callers see the revocation of a signing key, in the key set and beside each record that it signed. */
export const keyRevocationView = z
  .object({
    revoked_at: iso,
    doubted_since: iso.describe('Another holder of the key may have made signatures from this time on.'),
  })
  .meta({ id: 'KeyRevocation', description: 'The key was revoked, because other parties may have had it.' })
