// Accepts a submission and writes its rows in one transaction: claim, attestation, job. No key, no schemas, no read of
// existing rows.

import { randomUUID } from 'node:crypto'
import Koa from 'koa'
import { createDatabase } from '#src/platform/db/database.ts'
import { newId } from '#src/platform/ids.ts'
import { readBody, serve, setting } from './floor.ts'

const db = createDatabase({ url: setting('DATABASE_URL') })
const accountId = setting('ACCOUNT_ID')
const environment = 'sandbox'
const app = new Koa()
app.use(async (ctx) => {
  const { external_id, claim, media, ...submission } = JSON.parse((await readBody(ctx.req)).toString())
  const claimId = newId('clm', environment)
  const id = newId('att', environment)
  const jobId = randomUUID()
  await db.tenant({ accountId, environment }, (tx) =>
    Promise.all([
      tx.query(
        `INSERT INTO claims (account_id, environment, id, reference, line, loss_lat, loss_lng)
         VALUES ($1, $2, $3, $4, $5, $6, $7)`,
        [
          accountId,
          environment,
          claimId,
          claim.reference,
          claim.line,
          claim.loss_location.lat,
          claim.loss_location.lng,
        ],
      ),
      tx.query(
        `INSERT INTO attestations (account_id, environment, id, claim_id, external_id, content_digest, media_id, device_id,
           submission, job_id) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
        [
          accountId,
          environment,
          id,
          claimId,
          external_id,
          Buffer.alloc(32),
          media.media_id,
          submission.bundle.device_id,
          JSON.stringify({ claim, ...submission }),
          jobId,
        ],
      ),
      tx.query(
        `INSERT INTO jobs (id, queue, lane, priority, account_id, environment, payload)
         VALUES ($1, 'attest', $2, 0, $2, $3, $4)`,
        [jobId, accountId, environment, JSON.stringify({ attestationId: id })],
      ),
    ]),
  )
  ctx.status = 202
  ctx.body = { attestation_id: id, claim_id: claimId, status: 'queued' }
})
serve(app.callback())
