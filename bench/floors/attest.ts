// The work that every verification of a capture needs, one process, eight at a time: the signature over the canonical
// bundle, the chain up to the root, the photo's metadata and EXIF, and one transaction that settles. Its input is in
// memory before the clock starts, and it signs nothing.

import { createHash, verify, X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { open, readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { initSync, WasmReader } from '@contentauth/c2pa-wasm'
import canonicalize from 'canonicalize'
import exifr from 'exifr'
import sharp from 'sharp'
import { createDatabase } from '#src/platform/db/database.ts'
import { newId } from '#src/platform/ids.ts'
import { createDiskStore } from '#src/platform/store/disk.ts'
import type { VideoManifest } from '../../capture-kit/video.ts'
import type { FloorKind } from '../settling.ts'
import { setting, work } from './floor.ts'

const CONCURRENCY = 8
const SETTINGS = JSON.stringify({ verify: { remote_manifest_fetch: false, ocsp_fetch: false } })
let isLoaded = false
const db = createDatabase({ url: setting('DATABASE_URL') })
const scope = { accountId: setting('ACCOUNT_ID'), environment: 'sandbox' } as const
const root = new X509Certificate(Buffer.from(setting('ROOT'), 'base64'))
const store = createDiskStore({ root: setting('BLOB_STORE').replace(/^disk:/, '') })

interface Row {
  id: string
  claim_id: string
  job_id: string
  sha256: string
  submission: {
    bundle: { captured_at: string; video_manifest?: VideoManifest }
    signature: { value: string }
    certificate_chain: string[]
  }
}

let rows: Row[] = []

/** Loads what is queued; or settles it, and returns how many it settles per second. */
work(async ({ load = false, kind = 'photo' }: { load?: boolean; kind?: FloorKind }) => {
  if (load) rows = await findQueued()
  return load ? rows.length : settleAll(kind)
})

function findQueued(): Promise<Row[]> {
  return db.tenant(scope, (tx) =>
    tx.query<Row>(
      `SELECT a.id, a.claim_id, a.job_id, a.submission, encode(m.sha256, 'hex') AS sha256
       FROM attestations a JOIN media m ON m.id = a.media_id WHERE a.status = 'queued'`,
    ),
  )
}

async function settleAll(kind: FloorKind): Promise<number> {
  const waiting = rows.values()
  const startedAt = performance.now()
  await Promise.all(
    Array.from({ length: CONCURRENCY }, async () => {
      for (const row of waiting) await settle(row, kind)
    }),
  )
  return rows.length / ((performance.now() - startedAt) / 1_000)
}

async function settle(
  { id, claim_id: claimId, job_id: jobId, sha256, submission }: Row,
  kind: FloorKind,
): Promise<void> {
  const { bundle, signature, certificate_chain: chain } = submission
  const [leaf, intermediate] = chain.map((der) => new X509Certificate(Buffer.from(der, 'base64')))
  if (leaf === undefined || intermediate === undefined) throw new Error('a chain of two was sent')
  const at = new Date(bundle.captured_at)
  const isValid = verify(
    'sha256',
    Buffer.from(canonicalize(bundle) ?? ''),
    { key: leaf.publicKey, dsaEncoding: 'ieee-p1363' },
    Buffer.from(signature.value, 'base64url'),
  )
  const isTrusted =
    leaf.verify(intermediate.publicKey) &&
    intermediate.verify(root.publicKey) &&
    [leaf, intermediate, root].every((one) => one.validFromDate <= at && at <= one.validToDate)
  const seen = await READ[kind](store.path(scope, sha256), submission.bundle.video_manifest)
  const result = canonicalize({ id, claimId, sha256, isValid, isTrusted, seen })
  if (!isValid || !isTrusted) throw new Error('an honest capture')
  const { accountId, environment } = scope
  await db.tenant(scope, (tx) =>
    Promise.all([
      tx.query(
        `UPDATE attestations SET status = 'evaluated', evaluated_at = now(), risk_status = 'passed', risk_score = 0,
           provenance_status = 'verified', result_jws = $2 WHERE id = $1`,
        [id, result],
      ),
      tx.query(
        `UPDATE claims SET risk_status = 'passed', risk_score = 0, provenance_status = 'verified', updated_at = now()
         WHERE id = $1`,
        [claimId],
      ),
      tx.query(
        `INSERT INTO events (account_id, environment, id, type, dedup_key, data)
         SELECT $1, $2, * FROM unnest($3::text[], $4::text[], $5::text[], $6::jsonb[])`,
        [
          accountId,
          environment,
          [newId('evt', environment), newId('evt', environment)],
          ['attestation.created', 'claim.provenance_updated'],
          [`attestation.created:${id}`, null],
          [result, result],
        ],
      ),
      tx.query(`UPDATE jobs SET state = 'succeeded', settled_at = now() WHERE id = $1`, [jobId]),
    ]),
  )
}

const READ: { [K in FloorKind]: (path: string, manifest: VideoManifest | undefined) => Promise<string> } = {
  photo: takenAt,
  async c2pa(path) {
    if (!isLoaded)
      initSync({ module: readFileSync(createRequire(import.meta.url).resolve('@contentauth/c2pa-wasm/c2pa.wasm')) })
    isLoaded = true
    const reader = await WasmReader.fromBytes('image/jpeg', await readFile(path), SETTINGS)
    const store = reader.json()
    reader.free()
    if (!store.includes('c2pa')) throw new Error('a photo with a manifest')
    return `${await takenAt(path)} ${store.length}`
  },
  // The digest and link of each chunk, and the digest of the whole: the file is read once.
  async video(path, manifest) {
    if (manifest === undefined) throw new Error('a video has a manifest')
    const whole = createHash('sha256')
    const file = await open(path)
    let link = sha256(Buffer.from('cap-chain/v1'), Buffer.from(manifest.chain_seed, 'base64url'))
    for (const chunk of manifest.chunks) {
      const bytes = Buffer.allocUnsafe(chunk.bytes)
      await file.read(bytes, 0, bytes.length)
      whole.update(bytes)
      const numbers = Buffer.alloc(28)
      numbers.writeUInt32BE(chunk.index)
      numbers.writeBigUInt64BE(BigInt(chunk.first_pts_us), 4)
      numbers.writeBigUInt64BE(BigInt(chunk.last_pts_us), 12)
      numbers.writeBigUInt64BE(BigInt(chunk.bytes), 20)
      link = sha256(Buffer.from([1]), link, numbers, sha256(bytes))
    }
    await file.close()
    if (link.toString('hex') !== manifest.last_link) throw new Error('an honest video')
    return whole.digest('hex')
  },
}

async function takenAt(path: string): Promise<string> {
  const { exif } = await sharp(path).metadata()
  const tags = await exifr.parse(exif?.subarray(6) ?? Buffer.alloc(0), {
    pick: ['DateTimeOriginal', 'OffsetTimeOriginal'],
  })
  return String(tags.DateTimeOriginal)
}

function sha256(...parts: Uint8Array[]): Buffer {
  const digest = createHash('sha256')
  for (const part of parts) digest.update(part)
  return digest.digest()
}
