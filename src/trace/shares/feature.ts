import { defineFeature, type Platform } from '#src/platform/feature.ts'
import { oldRows, rowRule } from '#src/platform/retention.ts'
import { keptByPlan } from '../locks/feature.ts'
import { createShareChanges } from './changing.ts'
import { createDisclosureDecisions } from './deciding.ts'
import { createDisclosure } from './disclosure.ts'
import { purgePersons, purgeUnverified } from './disclosure-rows.ts'
import { createFindManifest, type FindManifest } from './manifests.ts'
import { EVENTS, NOTES } from './notes.ts'
import { SEALED_PERSON } from './person.ts'
import { publicShareRoutes } from './public-routes.ts'
import { shareRoutes } from './routes.ts'
import { createShares } from './shares.ts'
import { type AccountsOfShares, createShareTokens, createViewing } from './viewing.ts'

// After the end of their request.
const PERSON_DAYS = 30
const UNVERIFIED_DAYS = 1
const EXPIRE_EVERY_MS = 5_000

export type SharesFeature = ReturnType<typeof sharesFeature>

/** Traces shown to people without an account, with masked neurons, and the disclosure of these. */
export function sharesFeature(
  p: Platform,
  { accounts, findManifest = createFindManifest(p) }: { accounts: AccountsOfShares; findManifest?: FindManifest },
) {
  const shares = createShares({ ...p, findManifest })
  const tokens = createShareTokens({ ...p, accounts })
  const viewing = createViewing({ ...p, tokens, findManifest })
  const deciding = createDisclosureDecisions(p)
  const disclosure = createDisclosure({ ...p, tokens, deciding })
  return defineFeature(
    {
      name: 'shares',
      data: [
        { table: 'trace_shares', key: ['id'], secrets: ['token_hash', 'mask_salt'] },
        { table: 'share_views', key: ['id'] },
        {
          table: 'disclosure_requests',
          key: ['id'],
          secrets: ['sealed_person', 'code_nonce', 'code_hash', 'grant_nonce', 'grant_hash'],
        },
      ],
      sealed: [SEALED_PERSON],
      // What has a fixed path before what has an id in its place.
      routes: [
        ...publicShareRoutes({ viewing, disclosure }),
        ...shareRoutes({ shares, changes: createShareChanges(p), deciding, now: p.now, baseUrl: p.baseUrl }),
      ],
      notes: NOTES,
      events: EVENTS,
      tasks: [{ name: 'disclosures that ended', everyMs: EXPIRE_EVERY_MS, start: () => deciding.expire }],
      retention: [
        keptByPlan(p, accounts, 'share_views', oldRows({ table: 'share_views', idType: 'shv', age: 'viewed_at' })),
        keptByPlan(
          p,
          accounts,
          'trace_shares',
          oldRows({
            table: 'trace_shares',
            idType: 'shr',
            age: 'created_at',
            // Nothing is unmasked because a row was deleted.
            unless: [
              // Shares to come of other traces mask what is masked for their model version.
              `SELECT 1 WHERE trace_shares.scope_kind = 'model_version' AND (cardinality(trace_shares.masks) > 0
                 OR trace_shares.revoked_at IS NULL AND trace_shares.expires_at > now())`,
              // So do shares to come of this trace.
              'SELECT 1 FROM traces WHERE traces.id = trace_shares.trace_id AND cardinality(trace_shares.masks) > 0',
              `SELECT 1 FROM trace_shares later
               WHERE later.position > trace_shares.position AND later.trace_id = trace_shares.trace_id`,
            ],
          }),
        ),
        rowRule(p.db, 'disclosure_persons', PERSON_DAYS, purgePersons),
        rowRule(p.db, 'unverified_disclosures', UNVERIFIED_DAYS, purgeUnverified),
      ],
    },
    {
      shares,
      viewing,
      deciding,
      writers: { disclosure_code: disclosure.writeCodeLetter, disclosure_grant: deciding.writeGrantLetter },
    },
  )
}
