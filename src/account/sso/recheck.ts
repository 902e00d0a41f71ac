// The daily look for the TXT records of verified domains: an organization that gave its domain up must not keep its users.

import { recordAudit } from '#src/account/audit/record.ts'
import { lockTeam } from '#src/account/users/team-rows.ts'
import type { Database } from '#src/platform/db/database.ts'
import type { TxtLookup } from '#src/platform/net/lookup.ts'
import { tellOwners } from './changed-mail.ts'
import { checkDomain } from './domain.ts'
import { findUnchecked, lockConfig, noteCheck, type SsoConfig } from './rows.ts'

const DAY_MS = 24 * 3_600_000
/** Checks in a row that find another record, or none, before a verification ends. */
const MAX_FAILED = 3
const AT_ONCE = 50

interface RecheckDeps {
  db: Pick<Database, 'system'>
  now: () => Date
  lookupTxt: TxtLookup
}

/** Returns how many domains were looked up. */
export function createRecheck({ db, now, lookupTxt }: RecheckDeps) {
  return async (signal: AbortSignal): Promise<number> => {
    const due = await db.system('domains to look up', (tx) =>
      findUnchecked(tx, new Date(now().getTime() - DAY_MS), AT_ONCE),
    )
    for (const config of due) {
      if (signal.aborted) break
      await recheck(config)
    }
    return due.length
  }

  async function recheck(config: SsoConfig): Promise<void> {
    const check = await checkDomain(lookupTxt, config)
    await db.system('look up a domain', async (tx) => {
      const { accountId } = config
      await lockTeam(tx, accountId)
      const found = await lockConfig(tx, accountId)
      if (found?.verifiedAt == null || found.domainToken !== config.domainToken) return
      // A name server that does not answer says nothing of the domain.
      const failed = check === 'found' ? 0 : found.failedChecks + (check === 'missing' ? 1 : 0)
      const isVerified = failed < MAX_FAILED
      await noteCheck(tx, { accountId, failedChecks: isVerified ? failed : 0, isVerified }, now())
      if (isVerified) return
      const by = { accountId, kind: 'service' as const }
      const before = { domain: found.domain, enforce_sso: found.isEnforced }
      await recordAudit(tx, by, { action: 'sso.domain_ended', subjectId: found.id, before, isScoped: false })
      await tellOwners(tx, { accountId, environment: 'live' }, found)
    })
  }
}
