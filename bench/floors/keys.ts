// Answers a claim with its attestation: one scoped transaction, one statement. No key, no cursor, no schemas.

import Koa from 'koa'
import { createDatabase } from '#src/platform/db/database.ts'
import { serve, setting } from './floor.ts'

const db = createDatabase({ url: setting('DATABASE_URL') })
const scope = { accountId: setting('ACCOUNT_ID'), environment: 'sandbox' } as const
const app = new Koa()
app.use(async (ctx) => {
  const id = ctx.path.slice('/v1/claims/'.length)
  const [row] = await db.tenant(scope, (tx) =>
    tx.query(
      `SELECT c.*, a.id AS attestation_id, a.batch_id, a.external_id, a.media_id, a.device_id, a.status, a.accepted_at,
         a.submission FROM claims c JOIN attestations a ON a.claim_id = c.id WHERE c.id = $1`,
      [id],
    ),
  )
  ctx.body = row
})
serve(app.callback())
