// How far a token has come, as answers name it.

import { z } from 'zod'

export const INTENT_STATUSES = ['active', 'revoked', 'expired'] as const
export type IntentStatusName = (typeof INTENT_STATUSES)[number]

export const intentStatusView = z.enum(INTENT_STATUSES).meta({
  id: 'IntentTokenStatus',
  description: 'revoked: also after its exp; expired: also where its approval has ended, or was given too long ago.',
})
