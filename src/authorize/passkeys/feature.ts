import type { EndWithUser } from '#src/account/team/members.ts'
import { defineFeature, type Platform } from '#src/platform/feature.ts'
import { oldRows, rowRule } from '#src/platform/retention.ts'
import { createAssertions } from './assertions.ts'
import { loadWebauthn } from './ceremony.ts'
import { type PasskeySettings, relyingPartyOf } from './config.ts'
import { createPasskeyLetter } from './letter.ts'
import { NOTES } from './notes.ts'
import { createPasskeys } from './passkeys.ts'
import { passkeyRoutes } from './routes.ts'
import { deletePasskeysOf } from './rows.ts'

export type PasskeysFeature = ReturnType<typeof passkeysFeature>

// Days after their expiry: during them, reuse of a challenge is reported as reuse.
const CHALLENGE_DAYS = 1

/** The passkeys of users, and what users confirm with them. */
export function passkeysFeature(p: Platform, settings: PasskeySettings) {
  const rp = relyingPartyOf(settings, p.baseUrl)
  const passkeys = createPasskeys({ ...p, rp })
  const assertions = createAssertions({ ...p, rp })
  const endWithUser: EndWithUser = async (tx, user) => void (await deletePasskeysOf(tx, user))
  return defineFeature(
    {
      name: 'passkeys',
      data: [
        { table: 'passkeys', key: ['id'], isOfAccount: true },
        {
          table: 'passkey_registrations',
          key: ['session_id'],
          isOfAccount: true,
          unexported: 'begun registrations: random challenges that count for minutes',
        },
        {
          table: 'passkey_challenges',
          key: ['id'],
          unexported: 'random challenges and hashes that count for two minutes',
        },
      ],
      routes: passkeyRoutes({ ...p, passkeys, assertions }),
      notes: NOTES,
      retention: [
        rowRule(
          p.db,
          'passkey_challenges',
          CHALLENGE_DAYS,
          oldRows({ table: 'passkey_challenges', idType: 'pkc', age: 'expires_at' }),
        ),
      ],
      collect: {
        // In the process that verifies passkeys, before the first request does. A failure shows with that request.
        web: () => void loadWebauthn().catch(() => {}),
      },
    },
    { assertions, endWithUser, writeLetter: createPasskeyLetter(p) },
  )
}
