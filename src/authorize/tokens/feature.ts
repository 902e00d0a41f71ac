import { defineFeature, type Platform } from '#src/platform/feature.ts'
import { rowRule } from '#src/platform/retention.ts'
import { NOTES } from './notes.ts'
import { tokenRoutes } from './routes.ts'
import { clearSealedTokens, purgeIntents } from './rows.ts'
import { SEALED_INTENTS } from './sealed.ts'
import { createStatusIndexes } from './status-index.ts'
import { createStatusLists } from './status-list.ts'
import { statusBitsRule } from './status-rows.ts'

export type TokensFeature = ReturnType<typeof tokensFeature>

// After they expired: as long as an action may report its outcome, and as its revocation may be looked up.
const INTENT_DAYS = 31

/** The issued intent tokens and their places in the public status lists. */
export function tokensFeature(p: Platform) {
  const statusIndexes = createStatusIndexes(p)
  return defineFeature(
    {
      name: 'tokens',
      data: [{ table: 'intents', key: ['jti'], secrets: ['sealed_facts', 'sealed_token'] }],
      sealed: [...SEALED_INTENTS],
      routes: tokenRoutes(createStatusLists(p)),
      notes: NOTES,
      retention: [
        rowRule(p.db, 'sealed_tokens', 0, clearSealedTokens),
        rowRule(p.db, 'intents', INTENT_DAYS, purgeIntents),
        statusBitsRule(p.db),
      ],
    },
    { statusIndexes },
  )
}
