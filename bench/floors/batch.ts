// Accepts a batch and writes its rows: a line is parsed as it arrives, and 1,000 lines go into one INSERT per table,
// all in one transaction. No verdicts, no spool, no read of existing rows.

import { randomUUID } from 'node:crypto'
import { createInterface } from 'node:readline'
import { createDatabase, type Tx } from '#src/platform/db/database.ts'
import { newId } from '#src/platform/ids.ts'
import { serve, setting } from './floor.ts'

const LINES_AT_ONCE = 1_000
const db = createDatabase({ url: setting('DATABASE_URL') })
const accountId = setting('ACCOUNT_ID')
const environment = 'sandbox'

/** A floor trusts its input. */
interface Line {
  external_id: string
  claim: { reference: string; line: string; loss_location: { lat: number; lng: number } }
  media: { media_id: string }
  bundle: { device_id: string }
}

serve(async (req, res) => {
  const batchId = newId('bat', environment)
  let accepted = 0
  await db.tenant({ accountId, environment }, async (tx) => {
    await tx.query(
      `INSERT INTO batches (account_id, environment, id, accepted, rejected) VALUES ($1, $2, $3, 0, '[]')`,
      [accountId, environment, batchId],
    )
    let lines: Line[] = []
    for await (const text of createInterface({ input: req })) {
      try {
        lines.push(JSON.parse(text))
      } catch {
        continue
      }
      accepted += 1
      if (lines.length < LINES_AT_ONCE) continue
      await insert(tx, batchId, lines, accepted)
      lines = []
    }
    if (lines.length > 0) await insert(tx, batchId, lines, accepted)
  })
  const body = JSON.stringify({ batch_id: batchId, accepted })
  res.writeHead(202, { 'Content-Length': Buffer.byteLength(body) }).end(body)
})

async function insert(tx: Tx, batchId: string, lines: Line[], last: number): Promise<void> {
  const rows = lines.map(({ external_id, claim, media, ...submission }, index) => ({
    claim,
    media,
    externalId: external_id,
    submission: JSON.stringify({ claim, ...submission }),
    deviceId: submission.bundle.device_id,
    claimId: newId('clm', environment),
    id: newId('att', environment),
    jobId: randomUUID(),
    line: last - lines.length + index + 1,
  }))
  const scope = [accountId, environment]
  await Promise.all([
    tx.query(
      `INSERT INTO claims (account_id, environment, id, reference, line, loss_lat, loss_lng)
       SELECT $1, $2, * FROM unnest($3::text[], $4::text[], $5::text[], $6::float8[], $7::float8[])`,
      [
        ...scope,
        rows.map((row) => row.claimId),
        rows.map((row) => row.claim.reference),
        rows.map((row) => row.claim.line),
        rows.map((row) => row.claim.loss_location.lat),
        rows.map((row) => row.claim.loss_location.lng),
      ],
    ),
    tx.query(
      `INSERT INTO attestations (account_id, environment, batch_id, content_digest, id, claim_id, batch_line, external_id,
         media_id, device_id, submission, job_id)
       SELECT $1, $2, $3, $4, * FROM unnest($5::text[], $6::text[], $7::int[], $8::text[], $9::text[], $10::text[],
         $11::jsonb[], $12::uuid[])`,
      [
        ...scope,
        batchId,
        Buffer.alloc(32),
        rows.map((row) => row.id),
        rows.map((row) => row.claimId),
        rows.map((row) => row.line),
        rows.map((row) => row.externalId),
        rows.map((row) => row.media.media_id),
        rows.map((row) => row.deviceId),
        rows.map((row) => row.submission),
        rows.map((row) => row.jobId),
      ],
    ),
    tx.query(
      `INSERT INTO jobs (queue, priority, lane, account_id, environment, id, payload)
       SELECT 'attest', 1, $1, $1, $2, * FROM unnest($3::uuid[], $4::jsonb[])`,
      [...scope, rows.map((row) => row.jobId), rows.map((row) => JSON.stringify({ attestationId: row.id }))],
    ),
  ])
}
